/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/rules and os/host: which files count and how a mistake is called; the rules that are shipped, each on its case and on a neighbour of it; DMI
 * strings. */

#include "os/host.h"
#include "os/rules.h"
#include "tmproot.h"

#define IN_ROOT .init = tmproot_init, .fini = tmproot_done
#define ETC     "/etc/ucodesync/rules.d/"
#define LIB     "/usr/lib/ucodesync/rules.d/"
#define RULE    "Action=block\nSignature=0x1\nReason=x\n"

/* "name origin local" of each rule. */
static void expect_rules(const char *expected, const char *warnings) {
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
        _cleanup_text_ UcsText t = {}, told = {};
        _cleanup_strv_ char **w = NULL;
        UcsRuleMatch m;
        UcsError e = {};

        cr_assert_eq(ucs_rules_load(tmproot, &s, &w, &e), 0, "%s", e.text);
        for (size_t i = 0; ucs_rule_set_get(s, i, &m); i++)
                ucs_text_appendf(&t, "%s %s%s\n", m.name, m.origin, m.local ? " local" : "");
        cr_expect_str_eq(t.data ?: "", expected, "got:\n%s", t.data);
        for (char **p = w; p && *p; p++)
                ucs_text_appendf(&told, "%s\n", *p);
        cr_expect_str_eq(told.data ?: "", warnings, "got:\n%s", told.data);
}

static void expect_broken(int r, const char *error) {
        UcsRuleSet *s = NULL;
        char **w = NULL;
        UcsError e = {};

        cr_expect_eq(ucs_rules_load(tmproot, &s, &w, &e), r);
        expect_error(&e, error);
        cr_expect_null(s);
        cr_expect_null(w);
}

ucs_test(rules, files, IN_ROOT) {
        expect_rules("", "");
        tmproot_mkdir(ETC);
        expect_rules("", "");

        /* by name, wherever they are; the same name in /etc hides, so does a link to /dev/null, and an empty file */
        tmproot_text(LIB "50-b.conf", "[b]\n" RULE);
        tmproot_text(LIB "10-a.conf", "# one\n\n[a]\n" RULE "[a2]\n" RULE);
        tmproot_text(ETC "30-c.conf", "[c]\n" RULE);
        expect_rules("a " LIB "10-a.conf:3\na2 " LIB "10-a.conf:7\nc " ETC "30-c.conf:1 local\nb " LIB "50-b.conf:1\n", "");
        tmproot_text(ETC "50-b.conf", "[mine]\n" RULE);
        tmproot_symlink("/dev/null", ETC "10-a.conf");
        expect_rules("c " ETC "30-c.conf:1 local\nmine " ETC "50-b.conf:1 local\n", "");
        tmproot_unlink(ETC "50-b.conf");
        tmproot_text(ETC "50-b.conf", "");
        expect_rules("c " ETC "30-c.conf:1 local\n", "");

        /* nothing in /run counts */
        tmproot_text("/run/ucodesync/rules.d/20-d.conf", "[d]\n" RULE);
        expect_rules("c " ETC "30-c.conf:1 local\n", "");

        tmproot_text(ETC "60-e.rules", "nonsense");
        tmproot_text(ETC "70-f.conf", "[stop]\nAction=block\nReason=not now\n[all]\nAction=approve\n");
        expect_rules("c " ETC "30-c.conf:1 local\nstop " ETC "70-f.conf:1 local\nall " ETC "70-f.conf:4 local\n",
                     ETC "60-e.rules is ignored: the name of a drop-in ends in .conf\n" ETC
                         "70-f.conf:1: rule [stop] names nothing: it is about every update (block)\n" ETC
                         "70-f.conf:4: rule [all] names nothing: it is about every update (approve)\n");
}

ucs_test(rules, wrong_files, IN_ROOT) {
        static const struct {
                const char *text, *error;
        } rows[] = {
                { "Action=block\n", ":1: Action= stands outside of any section, expected a [Section] above it" },
                { "[a]\nAction=deny\n", ":2: Action=deny: expected approve, block, allow, warn or reboot-risk" },
                { "[a b]\n", ":1: 'a b' is no name for a rule, expected at most 40 of A-Z a-z 0-9 - _ ." },
                { "[]\n", ":1: '' is no name for a rule, expected at most 40 of A-Z a-z 0-9 - _ ." },
                { "[a]\n", ":1: rule [a] has no Action=, expected approve, block, allow, warn or reboot-risk" },
                { "[a]\n" RULE "[b]\nAction=block\n\n[c]\n" RULE, ":5: rule [b] has no Reason=, expected one: people will ask" },
                { "[a]\n" RULE "\n[a]\n" RULE, ":6: there is a rule [a] already (" LIB "x.conf:1), expected another name" },
                { "[a]\nAction=allow\nSignature=0x1\nReason=x\n", ":1: rule [a] allows something; only rules in /etc may, expected it there" },
                { "[a]\n Action=block\n", ":2: the line begins with a blank, expected Key=value or [Section] at its start" },
                { "[a]\nAction: block\n", ":2: 'Action: block' is no assignment, expected Key=value" },
                { "[a]\nAction=block ; yes\nReason=x\nTo=0x1 # no\n",
                  ":4: To=0x1 # no: expected revisions such as 0x718, 0x10..0x20, <0x80 or >=0x2b000603, separated by commas" },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                char expected[512];

                tmproot_text(LIB "x.conf", rows[i].text);
                (void) snprintf(expected, sizeof(expected), LIB "x.conf%s", rows[i].error);
                expect_broken(-EINVAL, expected);
        }

        /* the same in /etc is no mistake */
        tmproot_unlink(LIB "x.conf");
        tmproot_text(ETC "x.conf", rows[7].text);
        expect_rules("a " ETC "x.conf:1 local\n", "");

        tmproot_write(ETC "y.conf", "[a]\nAct\0ion=block\n", 18);
        expect_broken(-EINVAL, ETC "y.conf:2: there is a NUL byte in the line, expected text");
        tmproot_unlink(ETC "y.conf");
        tmproot_mkdir(ETC "y.conf");
        expect_broken(-EISDIR, ETC "y.conf is a directory, expected a regular file");
}

/* Every name and value as long as libinih takes it: nothing is cut without a word. */
ucs_test(rules, hostile_lines, IN_ROOT) {
        char text[70000], expected[256];
        size_t n;

        for (size_t length = 38; length <= 60; length++) {
                (void) snprintf(text, sizeof(text), "[%0*d]\n" RULE, (int) length, 7);
                tmproot_text(ETC "x.conf", text);
                (void) snprintf(expected, sizeof(expected), length <= 40 ? "%0*d " ETC "x.conf:1 local\n" : ETC "x.conf:1: '%0*d' is no name for a rule, expected at most 40 of A-Z a-z 0-9 - _ .",
                                (int) length, 7);
                if (length <= 40)
                        expect_rules(expected, "");
                else
                        expect_broken(-EINVAL, expected);
        }
        n = (size_t) snprintf(text, sizeof(text), "[a]\n" RULE "To=");
        while (n < sizeof(text) - 8)
                n += (size_t) snprintf(text + n, sizeof(text) - n, "0x1,");
        tmproot_text(ETC "x.conf", text);
        (void) snprintf(expected, sizeof(expected), ETC "x.conf:5: the line has %zu bytes, expected at most 199", n - 4 - strlen(RULE));
        expect_broken(-EINVAL, expected);
}

/* --- what is shipped --- */

typedef struct Shipped {
        const char *name, *action; /* "": it must stay silent */
        uint32_t signature, mask, from, to;
        uint64_t llc;
        const char *bios;
} Shipped;

#define MIB (UINT64_C(1) << 20)

static const Shipped shipped[] = {
        { "06-4f-01-bdx90", "block", 0x406f1, 0x01, 0x0b00001f, 0x0b000040, .llc = 3 * MIB },
        { "", "", 0x406f1, 0x01, 0x0b000021, 0x0b000040, .llc = 3 * MIB },
        { "", "", 0x406f1, 0x01, 0x0b00001f, 0x0b000040, .llc = 2621440 },
        { "06-4f-01-bdx90", "block", 0x406f1, 0x01, 0x0b00001f, 0x0b000040, .llc = 2621441 },
        { "06-4f-01-bdx90", "block", 0x406f1, 0x01, 0x0b00001f, 0x0b000040 }, /* a cache of unknown size */
        { "", "", 0x406f0, 0x01, 0x0b00001f, 0x0b000040, .llc = 3 * MIB },
        { "06-2d-07-0x718", "block", 0x206d7, 0x6d, 0x714, 0x718 },
        { "", "", 0x206d7, 0x6d, 0x714, 0x71a },
        { "", "", 0x206d6, 0x6d, 0x714, 0x718 },
        { "06-4e-03-old-firmware", "block", 0x406e3, 0xc0, 0x74, 0xdc },
        { "06-4e-03-old-firmware", "block", 0x506e3, 0x36, 0x7f, 0xe2 },
        { "", "", 0x506e3, 0x36, 0x80, 0xe2 },
        { "", "", 0x406e3, 0xc0, 0xd6, 0xdc },
        { "", "", 0x406e3, 0xc0, 0x74, 0x80 },
        { "", "", 0x406e4, 0xc0, 0x74, 0xdc },
        { "06-55-04-0x2000065", "reboot-risk", 0x50654, 0xb7, 0x200005e, 0x2000065 },
        { "", "", 0x50654, 0xb7, 0x200005e, 0x2000064 },
        { "06-8e-0c-dell", "block", 0x806ec, 0x94, 0xb8, 0xca, .bios = "Dell Inc." },
        { "", "", 0x806ec, 0x94, 0xb8, 0xca, .bios = "LENOVO" },
        { "", "", 0x806eb, 0xd0, 0xb8, 0xca, .bios = "Dell Inc." },
        { "06-8e-0c-dell", "block", 0x806ec, 0x94, 0xb8, 0xca }, /* nobody knows whose it is */
        { "06-8f-08-latency", "warn", 0x806f8, 0x87, 0x2b000590, 0x2b000603 },
        { "06-8f-08-latency", "warn", 0x806f8, 0x80, 0x2b000603, 0x2b000650 },
        { "", "", 0x806f8, 0x87, 0x2b000461, 0x2b000590 },
        { "", "", 0x806f8, 0x10, 0x2c000390, 0x2c000410 },
        { "06-af-03-0x3a3", "block", 0xa06f3, 0x01, 0x03000362, 0x030003a3 },
        { "06-af-03-0x3a3", "block", 0xa06f3, 0x01, 0x362, 0x3a3 },
        { "", "", 0xa06f3, 0x01, 0x03000392, 0x030003a3 },
        { "", "", 0xa06f3, 0x01, 0x392, 0x3a3 },
        { "", "", 0xa06f3, 0x01, 0x03000362, 0x03000382 },
        { "", "", 0x906eb, 0x02, 0x100, 0x110, .bios = "Dell Inc.", .llc = 3 * MIB },
};

static UcsRuleSet *load_shipped(void) {
        static const char *const files[] = { "06-2d-07", "06-4e-03", "06-4f-01", "06-55-04", "06-8e-0c", "06-8f-08", "06-af-03" };
        UcsRuleSet *s;

        cr_assert_eq(ucs_rule_set_new(&s), 0);
        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                _cleanup_free_ char *text = NULL;
                char path[512];
                UcsError e = {};
                size_t size;

                (void) snprintf(path, sizeof(path), UCS_SOURCE_ROOT "/conf/rules.d/%s.conf", files[i]);
                cr_assert_eq(ucs_root_read_bytes(tmproot, path, 65536, &text, &size, &e), 0, "%s", e.text);
                cr_assert_eq(ucs_rules_parse(s, path, text, size, false, &e), 0, "%s", e.text);
        }
        return s;
}

ucs_test(rules, shipped) {
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
        UcsRuleMatch m;
        size_t n_rules, spoke[16] = {};

        cr_assert_eq(ucs_root_open("/", &tmproot, NULL), 0);
        s = load_shipped();
        for (n_rules = 0; ucs_rule_set_get(s, n_rules, &m); n_rules++) {
                cr_expect(m.reason && m.reference && *m.criteria, "[%s] says nothing of itself", m.name);
                cr_expect_neq(m.action, UCS_RULE_APPROVE, "[%s]: trust is the administrator's", m.name);
        }
        cr_assert_lt(n_rules, ELEMENTSOF(spoke));

        for (size_t i = 0; i < ELEMENTSOF(shipped); i++) {
                const Shipped *x = &shipped[i];
                UcsCandidate k = { .signature = x->signature, .platform_mask = x->mask, .digest = { 1 }, .update.revision = x->to };
                UcsKernel kernel = { .llc_known = x->llc > 0, .llc_per_core = x->llc };
                UcsHost host = { .bios_vendor = (char *) x->bios };
                UcsRuleSubject about = { UCS_VENDOR_INTEL, &k, x->from, x->from, &kernel, &host };
                size_t at = 0, next = 0;

                if (ucs_rules_next(s, &about, &at, &m)) {
                        cr_expect_str_eq(m.name, x->name, "row %zu: [%s] speaks", i, m.name);
                        cr_expect_str_eq(ucs_rule_action_to_string(m.action), x->action, "row %zu", i);
                        spoke[at - 1]++;
                        next = at;
                        cr_expect_not(ucs_rules_next(s, &about, &next, &m), "row %zu: [%s] speaks, too", i, m.name);
                } else
                        cr_expect_str_eq(x->name, "", "row %zu: [%s] is silent", i, x->name);
        }
        for (size_t i = 0; i < n_rules; i++)
                cr_expect_gt(spoke[i], 0U, "rule %zu has no row", i);
        (void) close(tmproot);
}

/* --- DMI --- */

ucs_test(host, strings, IN_ROOT) {
        UcsHost h = {};

        cr_assert_eq(ucs_host_read(tmproot, &h), 0);
        cr_expect_null(h.sys_vendor);
        cr_expect_null(h.bios_vendor);
        cr_expect_null(h.product_name);
        tmproot_text("/sys/devices/virtual/dmi/id/sys_vendor", "Dell Inc.\n");
        tmproot_text("/sys/devices/virtual/dmi/id/bios_vendor", " \n");
        tmproot_text("/sys/devices/virtual/dmi/id/product_name", "PowerEdge R750 \n");
        cr_assert_eq(ucs_host_read(tmproot, &h), 0);
        cr_expect_str_eq(h.sys_vendor, "Dell Inc.");
        cr_expect_null(h.bios_vendor, "an empty string is unknown");
        cr_expect_str_eq(h.product_name, "PowerEdge R750");
        ucs_host_done(&h);
        cr_expect_null(h.sys_vendor);
}
