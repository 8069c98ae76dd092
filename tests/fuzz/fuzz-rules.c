/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file of rules: the first byte says whether it is in /etc, the rest is its text. Holds: a mistake is called in one printable sentence with a
 * line; a set that is accepted is complete; what is unknown never lets more through. */

#include "core/policy/rules.h"
#include "os/ini-lines.h"
#include "fuzz.h"

typedef struct Target {
        UcsRuleSet *set;
        bool local;
} Target;

static int take_section(void *userdata, const char *section, const char *origin, UcsError *e) {
        Target *t = userdata;

        return ucs_rule_set_begin(t->set, section, origin, t->local, e);
}

static int take_assignment(void *userdata, const char *section, const char *key, const char *value, const char *origin, UcsError *e) {
        Target *t = userdata;

        return ucs_rule_set_assign(t->set, key, value, e);
}

static bool speaks(const UcsRuleSet *s, const UcsRuleSubject *about, const UcsRuleMatch *rule) {
        UcsRuleMatch m;
        size_t i = 0;

        while (ucs_rules_next(s, about, &i, &m))
                if (m.origin == rule->origin)
                        return true;
        return false;
}

static void check_rules(const UcsRuleSet *s, bool local) {
        static const char *const strings[] = { "Dell Inc.", "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" };
        static const uint32_t signatures[] = { 0x406f1, 0x206d7, 0x806ec, 0xa06f3 };
        UcsRuleMatch m;

        for (size_t i = 0; ucs_rule_set_get(s, i, &m); i++) {
                bool against = m.action != UCS_RULE_APPROVE && m.action != UCS_RULE_ALLOW;

                fuzz_check(ucs_rule_action_to_string(m.action) && *m.name && *m.origin && m.criteria && m.local == local);
                fuzz_check(m.reason || m.action == UCS_RULE_APPROVE);
                fuzz_check(m.action != UCS_RULE_ALLOW || (local && (strstr(m.criteria, "Signature=") || strstr(m.criteria, "SHA256="))));

                for (size_t k = 0; k < 12; k++) {
                        UcsHost host = { .sys_vendor = (char *) strings[k % 3], .bios_vendor = (char *) strings[k % 3], .product_name = (char *) strings[k % 3] };
                        UcsKernel kernel = { .release = "6.12.0-100.el10uek.x86_64", .llc_known = true, .llc_per_core = 1310720 * (k + 1) };
                        UcsCandidate c = { .signature = signatures[k % 4], .platform_mask = 1U << (k % 8), .digest = { (uint8_t) k, 1 },
                                           .update.revision = 0x718 };
                        UcsRuleSubject known = { UCS_VENDOR_INTEL, &c, 0x10 * (uint32_t) k + 1, 0x10 * (uint32_t) k + 1, &kernel, &host }, less = known;
                        bool said = speaks(s, &known, &m), said_less;

                        less.kernel = NULL;
                        less.host = NULL;
                        less.highest = 0;
                        said_less = speaks(s, &less, &m);
                        fuzz_check(against ? said_less || !said : said || !said_less);
                        if (!*m.criteria)
                                fuzz_check(said && said_less);
                }
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const UcsIniHandler handler = { take_section, take_assignment };
        Target t = {};
        UcsError e = {};
        char *text;
        int r;

        if (size == 0)
                return 0;
        t.local = data[0] & 1;
        text = malloc(size);
        if (!text || ucs_rule_set_new(&t.set) < 0)
                abort();
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';

        r = ucs_ini_parse("f", text, size - 1, &handler, &t, &e);
        if (r >= 0)
                r = ucs_rule_set_end(t.set, &e);
        if (r < 0) {
                fuzz_check(e.code == r && strncmp(e.text, "f:", 2) == 0 && e.text[2] >= '1' && e.text[2] <= '9');
                for (const char *p = e.text; *p; p++)
                        fuzz_check((unsigned char) *p >= ' ' && *p != 0x7f);
        } else
                check_rules(t.set, t.local);
        ucs_rule_set_free(t.set);
        free(text);
        return 0;
}
