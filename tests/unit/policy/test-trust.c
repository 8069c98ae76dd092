/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the rules mean for a load: the gates denied, minrev and unapproved over all groups, and what is advised. The machine has two groups:
 * 0x906eb runs 0x100 and has a file with 0x110; 0x506e3 runs 0x74, with 0xdc on disk where a row says so. */

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/policy/trust.h"
#include "ucs-test.h"

typedef struct Rules {
        const char *name, *lines;
} Rules;

static UcsRuleSet *make(const Rules *rules, size_t n) {
        UcsRuleSet *s;
        UcsError e = {};

        cr_assert_eq(ucs_rule_set_new(&s), 0);
        for (size_t i = 0; i < n && rules[i].name; i++) {
                char text[512], *save = NULL;

                cr_assert_eq(ucs_rule_set_begin(s, rules[i].name, "/etc/x.conf:1", true, &e), 0, "%s", e.text);
                (void) snprintf(text, sizeof(text), "%s", rules[i].lines);
                for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                        char *value = strchr(line, '=');

                        *value++ = '\0';
                        cr_assert_eq(ucs_rule_set_assign(s, line, value, &e), 0, "%s", e.text);
                }
                cr_assert_eq(ucs_rule_set_end(s, &e), 0, "%s", e.text);
        }
        return s;
}

#define BLOCK "Action=block\nReason=it hangs\nReference=https://a/1\n"
#define ALLOW "Action=allow\nReason=tried here\n"
#define APPROVE "Action=approve\n"

typedef struct Row {
        const char *name;
        UcsTrust trust;
        Rules rules[3];
        uint32_t minimum;
        bool both;          /* both groups have something newer */
        bool not_newer;     /* nothing newer; someone insists on the kernel's own answer */
        uint64_t flags;
        const char *blocked; /* of denied, minrev, unapproved */
        const char *sentence; /* of the first of them */
        const char *advice;
} Row;

static const Row rows[] = {
        { "no rules, minimum met", .minimum = 0x100, .blocked = "", .advice = "" },
        { "no rules, no minimum", .blocked = "minrev", .advice = "" },
        { "any trust", .trust = UCS_TRUST_ANY, .blocked = "", .advice = "" },
        { "blocked", .minimum = 0x100, .rules = { { "b", BLOCK "Signature=0x906eb\n" } }, .blocked = "denied",
          .sentence = "Rule 'b' blocks 0x110: it hangs (https://a/1)", .advice = "" },
        { "blocked, any trust", UCS_TRUST_ANY, { { "b", BLOCK } }, .blocked = "denied", .advice = "" },
        { "no flag gets past a block", UCS_TRUST_ANY, { { "b", BLOCK } }, .flags = 255 & ~32, .blocked = "denied", .advice = "" },
        { "an approval does not, either", UCS_TRUST_APPROVED, { { "b", BLOCK }, { "a", APPROVE } }, .blocked = "denied", .advice = "" },
        { "a block of another CPU", .minimum = 0x100, .rules = { { "b", BLOCK "Signature=0x506e3\n" } }, .blocked = "", .advice = "" },
        { "an allow gets past", .minimum = 0x100, .rules = { { "b", BLOCK }, { "l", ALLOW "Signature=0x906eb\n" } }, .blocked = "",
          .advice = "Blocked elsewhere, allowed here: it hangs (https://a/1) (rule 'b')\n" },
        { "the order does not matter", .minimum = 0x100, .rules = { { "l", ALLOW "Signature=0x906eb\n" }, { "b", BLOCK } }, .blocked = "",
          .advice = "Blocked elsewhere, allowed here: it hangs (https://a/1) (rule 'b')\n" },
        { "an allow without a block says nothing", .minimum = 0x100, .rules = { { "l", ALLOW "Signature=0x906eb\n" } }, .blocked = "", .advice = "" },
        { "an allow of another CPU does not", .minimum = 0x100, .rules = { { "b", BLOCK }, { "l", ALLOW "Signature=0x506e3\n" } }, .blocked = "denied", .advice = "" },
        { "an allow vouches for nothing", .rules = { { "b", BLOCK }, { "l", ALLOW "Signature=0x906eb\n" } }, .blocked = "minrev",
          .advice = "Blocked elsewhere, allowed here: it hangs (https://a/1) (rule 'b')\n" },
        { "approved instead of a minimum", .rules = { { "a", APPROVE "To=0x110\n" } }, .blocked = "", .advice = "" },
        { "approved though the minimum is not met", .minimum = 0x105, .rules = { { "a", APPROVE "To=0x110\n" } }, .blocked = "", .advice = "" },
        { "another revision is approved", .rules = { { "a", APPROVE "To=0x111\n" } }, .blocked = "minrev", .advice = "" },
        { "trust approved, nobody does", UCS_TRUST_APPROVED, .minimum = 0x100, .blocked = "unapproved", .sentence = "No rule approves revision 0x110 (Trust=approved)", .advice = "" },
        { "trust approved", UCS_TRUST_APPROVED, { { "a", APPROVE "Signature=0x906eb\nTo=0x110\n" } }, .blocked = "", .advice = "" },
        { "trust approved, flag", UCS_TRUST_APPROVED, .flags = UCS_APPLY_IGNORE_TRUST, .blocked = "", .advice = "" },
        { "two groups, one is blocked", UCS_TRUST_ANY, { { "b", BLOCK "Signature=0x506e3\nFrom=<0x80\n" } }, .both = true, .blocked = "denied",
          .sentence = "Rule 'b' blocks 0xdc: it hangs (https://a/1)", .advice = "" },
        { "two groups, the allow is for the other", UCS_TRUST_ANY, { { "b", BLOCK }, { "l", ALLOW "Signature=0x906eb\n" } }, .both = true, .blocked = "denied",
          .advice = "Blocked elsewhere, allowed here: it hangs (https://a/1) (rule 'b')\n" },
        { "two groups, one is approved", UCS_TRUST_APPROVED, { { "a", APPROVE "Signature=0x906eb\n" } }, .both = true, .blocked = "unapproved",
          .sentence = "No rule approves revision 0xdc (Trust=approved)", .advice = "" },
        { "two groups, both are approved", UCS_TRUST_APPROVED, { { "a", APPROVE } }, .both = true, .blocked = "", .advice = "" },
        { "two groups, one is vouched for", UCS_TRUST_MINREV, { { "a", APPROVE "Signature=0x506e3\n" } }, .minimum = 0x100, .both = true, .blocked = "", .advice = "" },
        { "a warning for both is one warning", UCS_TRUST_ANY, { { "w", "Action=warn\nReason=spikes\n" } }, .both = true, .blocked = "",
          .advice = "Be warned: spikes (rule 'w')\n" },
        { "risk of a reboot", UCS_TRUST_ANY, { { "r", "Action=reboot-risk\nReason=hung\nReference=https://a/2\n" } }, .blocked = "",
          .advice = "After this load a warm reboot may hang, power-cycle instead: hung (https://a/2) (rule 'r')\n" },
        { "nothing newer, and someone insists", UCS_TRUST_ANY, { { "b", BLOCK } }, .not_newer = true, .flags = UCS_APPLY_DESPITE_PREDICTION, .blocked = "denied", .advice = "" },
        { "nothing newer is not warned of", UCS_TRUST_ANY, { { "w", "Action=warn\nReason=spikes\n" } }, .not_newer = true, .blocked = "", .advice = "" },
};

static int no_zone(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        *ret = ucs_zone_utc();
        return 0;
}

ucs_test(trust, table) {
        const UcsBlockerSet about = ucs_blocker_bit(UCS_BLOCKER_DENIED) | ucs_blocker_bit(UCS_BLOCKER_MINREV) | ucs_blocker_bit(UCS_BLOCKER_UNAPPROVED);

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                const Row *row = &rows[i];
                UcsGroup groups[] = { { 0x906eb, 2, 2, 0x100, 0x100 }, { 0x506e3, 2, 2, 0x74, 0x74 } };
                UcsMachine machine = { .vendor = UCS_VENDOR_INTEL, .support = UCS_SUPPORT_LATE_LOAD, .groups = groups, .n_groups = 2 };
                UcsCandidate k[] = {
                        { .finding = row->not_newer ? UCS_FOUND_NOT_NEWER : UCS_FOUND_NEWER, .signature = 0x906eb, .platform_mask = 2, .path = (char *) "/a",
                          .digest = { 1 }, .update = { .vendor = UCS_VENDOR_INTEL, .revision = 0x110, .min_revision = row->minimum } },
                        { .finding = row->both ? UCS_FOUND_NEWER : UCS_FOUND_NOTHING, .signature = 0x506e3, .platform_mask = 2, .path = (char *) "/b",
                          .digest = { 2 }, .update = { .vendor = UCS_VENDOR_INTEL, .revision = 0xdc } },
                };
                UcsScan scan = { k, 2 };
                UcsZoneSource zones = { no_zone, NULL };
                _cleanup_(ucs_rule_set_freep) UcsRuleSet *rules = make(row->rules, ELEMENTSOF(row->rules));
                _cleanup_(ucs_config_freep) UcsConfig *config = NULL;
                _cleanup_strv_ char **advice = NULL;
                _cleanup_text_ UcsText said = {}, names = {};
                UcsWorld world = { .realtime_usec = 1, .boottime_usec = 1, .machine = &machine, .scan = &scan, .rules = rules };
                UcsState state = {};
                UcsDecision d;

                cr_assert_eq(ucs_config_new(&config), 0);
                cr_assert_eq(ucs_config_finish(config, &zones, NULL), 0);
                config->trust = row->trust;
                ucs_policy_explain(config, &state, &world, row->flags, &d);
                for (size_t n = 0; n < d.n_reports; n++) {
                        UcsBlockerSet bit = ucs_blocker_bit(d.reports[n].blocker);

                        if (!(bit & about & d.holding))
                                continue;
                        if (!names.data && row->sentence)
                                cr_expect_str_eq(d.reports[n].sentence, row->sentence, "%s: '%s'", row->name, d.reports[n].sentence);
                        ucs_text_appendf(&names, "%s%s", names.data ? " " : "", ucs_blocker_to_string(d.reports[n].blocker));
                }
                if (row->rules[0].name && strstr(row->blocked, "denied"))
                        cr_expect(str_startswith(names.data ?: "", "denied"), "%s: %s", row->name, names.data);
                else
                        cr_expect_str_eq(names.data ?: "", row->blocked, "%s: held back by '%s', expected '%s'", row->name, names.data, row->blocked);

                cr_assert_eq(ucs_trust_advise(&world, &advice), 0);
                for (char **s = advice; s && *s; s++)
                        ucs_text_appendf(&said, "%s\n", *s);
                cr_expect_str_eq(said.data ?: "", row->advice, "%s: '%s'", row->name, said.data);
        }
}

/* A load of this boot leaves a risk behind; warnings were for before. */
ucs_test(trust, after) {
        static const Rules rules[] = { { "r", "Action=reboot-risk\nReason=hung\nTo=0x2000065\nFrom=<0x2000065\n" }, { "w", "Action=warn\nReason=spikes\n" } };
        UcsGroup group = { 0x50654, 1, 2, 0x2000065, 0x2000065 };
        UcsMachine machine = { .vendor = UCS_VENDOR_INTEL, .groups = &group, .n_groups = 1 };
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = make(rules, ELEMENTSOF(rules));
        UcsWorld world = { .machine = &machine, .rules = s };
        UcsCandidate k = { .signature = 0x50654, .platform_mask = 1, .update.revision = 0x2000065 };
        char **l = NULL;

        cr_assert_eq(ucs_trust_advise_after(&world, &k, 0x2000030, &l), 0);
        cr_assert_eq(strv_length(l), 1U);
        cr_expect_str_eq(l[0], "A warm reboot may hang, power-cycle instead: hung (rule 'r')");
        l = strv_free(l);
        k.update.revision = 0x2000064;
        cr_assert_eq(ucs_trust_advise_after(&world, &k, 0x2000030, &l), 0);
        cr_expect_null(l);
}

/* Everything as long as it may be: the sentences are whole. */
ucs_test(trust, the_longest_sentences) {
        char lines[512], name[UCS_RULE_NAME_MAX + 1], reason[UCS_RULE_REASON_MAX + 1], reference[UCS_RULE_REFERENCE_MAX + 1];
        static const char *const actions[] = { "block", "reboot-risk" };
        UcsGroup group = { 0x50654, 1, 2, 1, 1 };
        UcsMachine machine = { .vendor = UCS_VENDOR_INTEL, .support = UCS_SUPPORT_LATE_LOAD, .groups = &group, .n_groups = 1 };
        UcsCandidate k = { .finding = UCS_FOUND_NEWER, .signature = 0x50654, .platform_mask = 1, .path = (char *) "/a", .update.revision = UINT32_MAX };
        UcsScan scan = { &k, 1 };

        (void) memset(name, 'n', sizeof(name));
        (void) memset(reason, 'a', sizeof(reason));
        (void) memset(reference, 'b', sizeof(reference));
        name[sizeof(name) - 1] = reason[sizeof(reason) - 1] = reference[sizeof(reference) - 1] = '\0';
        for (size_t i = 0; i < ELEMENTSOF(actions); i++) {
                _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
                _cleanup_(ucs_config_freep) UcsConfig *config = NULL;
                _cleanup_strv_ char **l = NULL;
                UcsWorld world = { .machine = &machine, .scan = &scan };
                UcsState state = {};
                UcsDecision d;
                const char *sentence = NULL;
                size_t n;

                (void) snprintf(lines, sizeof(lines), "Action=%s\nReason=%s\nReference=%s\n", actions[i], reason, reference);
                s = make(&(Rules){ name, lines }, 1);
                world.rules = s;
                cr_assert_eq(ucs_config_new(&config), 0);
                cr_assert_eq(ucs_config_finish(config, NULL, NULL), 0);
                ucs_policy_explain(config, &state, &world, 0, &d);
                cr_assert_eq(ucs_trust_advise(&world, &l), 0);
                for (n = 0; n < d.n_reports; n++)
                        if (d.reports[n].blocker == UCS_BLOCKER_DENIED)
                                sentence = d.reports[n].sentence;
                if (!sentence)
                        sentence = l ? l[0] : "";
                cr_expect(strstr(sentence, reason) && strstr(sentence, reference) && strstr(sentence, name) && sentence[strlen(sentence) - 1] == ')',
                          "%s: '%s'", actions[i], sentence);
        }
}
