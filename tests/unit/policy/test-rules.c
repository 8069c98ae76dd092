/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rules: what may be written, how a mistake is called, and when a rule speaks. A rule in a row is "Key=value" lines; the subject of a row is an
 * Intel update 0x100 -> 0x110 for signature 0x906eb and mask 0x2, unless it says otherwise. */

#include <stdio.h>
#include <string.h>

#include "core/policy/rule-keys.h"
#include "ucs-test.h"

/* Lines into the set; 0, or the error of the first that fails. */
static int add_rule(UcsRuleSet *s, const char *name, const char *lines, bool local, UcsError *e) {
        char origin[80];
        int r;

        (void) snprintf(origin, sizeof(origin), "/etc/%.40s.conf:1", name);
        r = ucs_rule_set_begin(s, name, origin, local, e);
        while (r >= 0 && *lines) {
                char line[512], *value;
                size_t n = strcspn(lines, "\n");

                (void) snprintf(line, sizeof(line), "%.*s", (int) n, lines);
                value = strchr(line, '=');
                cr_assert_not_null(value, "%s", line);
                *value++ = '\0';
                r = ucs_rule_set_assign(s, line, value, e);
                lines += n + (lines[n] == '\n');
        }
        return r < 0 ? r : ucs_rule_set_end(s, e);
}

static UcsRuleSet *make(const char *lines) {
        UcsRuleSet *s;
        UcsError e = {};

        cr_assert_eq(ucs_rule_set_new(&s), 0);
        cr_assert_eq(add_rule(s, "rule", lines, true, &e), 0, "%s: %s", lines, e.text);
        return s;
}

#define DIGEST "0102030000000000000000000000000000000000000000000000000000000000"
#define OTHER "ff02030000000000000000000000000000000000000000000000000000000000"
#define HEAD "Action=block\nReason=x\n"
#define REVISIONS "expected revisions such as 0x718, 0x10..0x20, <0x80 or >=0x2b000603, separated by commas"
#define BYTES "expected bytes such as >2560K, <=1M or 2M..4M, separated by commas"
#define TEN "0123456789"

ucs_test(rules, wrong) {
        static const struct {
                const char *lines, *error;
        } rows[] = {
                { "Action=deny\n", "Action=deny: expected approve, block, allow, warn or reboot-risk" },
                { "Action=\n", "Action=: expected approve, block, allow, warn or reboot-risk" },
                { "Action=Block\n", "Action=Block: expected approve, block, allow, warn or reboot-risk" },
                { "Action=block\nAction=warn\n", "Action= is there twice in [rule], expected it once" },
                { "Vendor=Intel\n", "Vendor=Intel: expected intel or amd" },
                { "Vendor=unknown\n", "Vendor=unknown: expected intel or amd" },
                { "Signature=406f1\n", "Signature=406f1: expected CPU signatures such as 0x406f1, separated by commas" },
                { "Signature=0x406f1,\n", "Signature=0x406f1,: expected CPU signatures such as 0x406f1, separated by commas" },
                { "Signature=0x406f1 0x506e3\n", "Signature=0x406f1 0x506e3: expected CPU signatures such as 0x406f1, separated by commas" },
                { "Signature=0x1406f1ffff\n", "Signature=0x1406f1ffff: expected CPU signatures such as 0x406f1, separated by commas" },
                { "Signature=0\n", "Signature=0: expected CPU signatures such as 0x406f1, separated by commas" },
                { "Signature=0x0\n", "Signature=0x0: expected CPU signatures such as 0x406f1, separated by commas" },
                { "Signature=0x1..0x2\n", "Signature=0x1..0x2: expected CPU signatures such as 0x406f1, separated by commas" },
                { "Signature=*\n", "Signature=*: expected CPU signatures such as 0x406f1, separated by commas" },
                { "PlatformMask=0\n", "PlatformMask=0: expected a platform mask such as 0x87" },
                { "PlatformMask=0x0\n", "PlatformMask=0x0: expected a platform mask such as 0x87" },
                { "PlatformMask=0x1\nPlatformMask=0x2\n", "PlatformMask= is there twice in [rule], expected it once" },
                { "From=80\n", "From=80: " REVISIONS },
                { "From=<0x0\n", "From=<0x0: " REVISIONS },
                { "From=>0xffffffff\n", "From=>0xffffffff: " REVISIONS },
                { "From=0x20..0x10\n", "From=0x20..0x10: " REVISIONS },
                { "From=0x10..\n", "From=0x10..: " REVISIONS },
                { "From=..0x10\n", "From=..0x10: " REVISIONS },
                { "From=0x10...0x20\n", "From=0x10...0x20: " REVISIONS },
                { "From=0x10..<0x20\n", "From=0x10..<0x20: " REVISIONS },
                { "From==0x10\n", "From==0x10: " REVISIONS },
                { "From=<<0x10\n", "From=<<0x10: " REVISIONS },
                { "From=<\n", "From=<: " REVISIONS },
                { "From=-0x1\n", "From=-0x1: " REVISIONS },
                { "To=0x1,,0x2\n", "To=0x1,,0x2: " REVISIONS },
                { "To=!0x1\n", "To=!0x1: " REVISIONS },
                { "SHA256=0102\n", "SHA256=0102: expected digests of 64 hexadecimal digits, separated by commas" },
                { "SHA256=" DIGEST "0\n", "SHA256=" DIGEST "0: expected digests of 64 hexadecimal digits, separated by commas" },
                { "Kernel=\n", "Kernel=: expected a pattern in which * stands for any text and ? for one character" },
                { "LastLevelCachePerCore=2.5M\n", "LastLevelCachePerCore=2.5M: " BYTES },
                { "LastLevelCachePerCore=>K\n", "LastLevelCachePerCore=>K: " BYTES },
                { "LastLevelCachePerCore=0x100\n", "LastLevelCachePerCore=0x100: " BYTES },
                { "LastLevelCachePerCore=99999999999G\n", "LastLevelCachePerCore=99999999999G: " BYTES },
                { "LastLevelCachePerCore=1k\n", "LastLevelCachePerCore=1k: " BYTES },
                { "LastLevelCachePerCore=<0\n", "LastLevelCachePerCore=<0: " BYTES },
                { "Reason=\n", "Reason=: expected at most 140 bytes of printable text" },
                { "Reason=a\x1b[31mb\n", "Reason=a?[31mb: expected at most 140 bytes of printable text" },
                { "Reason=a\xff\n", "Reason=a?: expected at most 140 bytes of printable text" },
                { "reason=a\n", "there is no key reason=, expected one of Action, Vendor, Signature, PlatformMask, From, To, SHA256, Kernel, SysVendor, "
                                "BiosVendor, Product, LastLevelCachePerCore, Reason, Reference" },
                { "", "/etc/rule.conf:1: rule [rule] has no Action=, expected approve, block, allow, warn or reboot-risk" },
                { "Reason=x\n", "/etc/rule.conf:1: rule [rule] has no Action=, expected approve, block, allow, warn or reboot-risk" },
                { "Action=block\n", "/etc/rule.conf:1: rule [rule] has no Reason=, expected one: people will ask" },
                { "Action=warn\n", "/etc/rule.conf:1: rule [rule] has no Reason=, expected one: people will ask" },
                { "Action=reboot-risk\n", "/etc/rule.conf:1: rule [rule] has no Reason=, expected one: people will ask" },
                { "Action=allow\nSignature=0x1\n", "/etc/rule.conf:1: rule [rule] has no Reason=, expected one: people will ask" },
                { "Action=allow\nReason=x\nVendor=intel\n", "/etc/rule.conf:1: rule [rule] allows everything, expected Signature= or SHA256= in it" },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
                UcsError e = {};
                UcsRuleMatch m;

                cr_assert_eq(ucs_rule_set_new(&s), 0);
                cr_expect_lt(add_rule(s, "rule", rows[i].lines, true, &e), 0, "%s is accepted", rows[i].lines);
                cr_expect_str_eq(e.text, rows[i].error, "%s: got '%s', expected '%s'", rows[i].lines, e.text, rows[i].error);
                cr_expect_not(ucs_rule_set_get(s, 0, &m), "a rule that is not right is in the set");
        }
}

ucs_test(rules, names_and_places) {
        static const char *const bad[] = { "", "a b", "a/b", "\xc3\xa4", "a]", TEN TEN TEN TEN "x", "rule\n" };
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
        UcsError e = {};

        cr_assert_eq(ucs_rule_set_new(&s), 0);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                cr_expect_eq(ucs_rule_set_begin(s, bad[i], "x:1", true, &e), -EINVAL, "'%s' is a name", bad[i]);
                cr_expect(strstr(e.text, "is no name for a rule, expected"), "%s", e.text);
        }
        cr_expect_eq(add_rule(s, TEN TEN TEN TEN, HEAD, false, &e), 0, "%s", e.text);
        cr_expect_eq(add_rule(s, "06-4f-01_BDX90.x", HEAD, false, &e), 0, "%s", e.text);

        /* the same name again: in another file it is another rule, in the same it is a slip */
        cr_expect_eq(add_rule(s, "06-4f-01_BDX90.x", HEAD, false, &e), 0, "%s", e.text);
        cr_expect_eq(ucs_rule_set_begin(s, "twice", "/a.conf:1", true, &e), 0);
        cr_expect_eq(ucs_rule_set_begin(s, "twice", "/a.conf:9", true, &e), -EINVAL);
        cr_expect_str_eq(e.text, "there is a rule [twice] already (/a.conf:1), expected another name");

        /* an allow that a package ships */
        ucs_rule_set_free(s);
        cr_assert_eq(ucs_rule_set_new(&s), 0);
        cr_expect_eq(add_rule(s, "a", "Action=allow\nReason=x\nSignature=0x1\n", false, &e), -EINVAL);
        cr_expect_str_eq(e.text, "/etc/a.conf:1: rule [a] allows something; only rules in /etc may, expected it there");

}

/* As long as it may be, and one byte more. */
ucs_test(rules, lengths) {
        static const struct {
                const char *key;
                size_t max;
        } keys[] = { { "Reason", UCS_RULE_REASON_MAX }, { "Reference", UCS_RULE_REFERENCE_MAX } };

        for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
                char value[200] = {};
                UcsError e = {};

                cr_assert_eq(ucs_rule_set_new(&s), 0);
                cr_assert_eq(ucs_rule_set_begin(s, "a", "x:1", false, &e), 0);
                (void) memset(value, 'y', keys[i].max + 1);
                cr_expect_eq(ucs_rule_set_assign(s, keys[i].key, value, &e), -EINVAL, "%s", keys[i].key);
                value[keys[i].max] = '\0';
                cr_expect_eq(ucs_rule_set_assign(s, keys[i].key, value, &e), 0, "%s", e.text);
        }
}

/* What a finished rule says of itself. */
ucs_test(rules, get) {
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
        UcsRuleMatch m;
        UcsError e = {};

        cr_assert_eq(ucs_rule_set_new(&s), 0);
        cr_assert_eq(add_rule(s, "one", "From=<0x80, 0x90\nAction=warn\nKernel=5.*\nKernel=6.*\nReason=r\nReference=https://a/1\n", false, &e), 0, "%s", e.text);
        cr_assert_eq(add_rule(s, "two", "Action=approve\n", true, &e), 0, "%s", e.text);
        cr_assert(ucs_rule_set_get(s, 0, &m));
        cr_expect_eq(m.action, UCS_RULE_WARN);
        cr_expect_str_eq(m.name, "one");
        cr_expect_str_eq(m.origin, "/etc/one.conf:1");
        cr_expect_str_eq(m.criteria, "From=<0x80, 0x90 Kernel=5.* Kernel=6.*");
        cr_expect_str_eq(m.reason, "r");
        cr_expect_str_eq(m.reference, "https://a/1");
        cr_expect_not(m.local);
        cr_assert(ucs_rule_set_get(s, 1, &m));
        cr_expect_str_eq(m.criteria, "");
        cr_expect_null(m.reason);
        cr_expect_null(m.reference);
        cr_expect(m.local);
        cr_expect_not(ucs_rule_set_get(s, 2, &m));
        cr_expect_not(ucs_rule_set_get(NULL, 0, &m));
}

typedef struct Subject {
        const char *name, *criteria; /* "Key=value\n"… */
        RuleAnswer expected;         /* YES: all actions speak; UNKNOWN: those against the load; NO: none */
        UcsVendor vendor;
        uint32_t signature, mask, lowest, highest, to;
        bool no_digest, unknown_from, unknown_to, unknown_host, unknown_kernel;
        uint64_t llc; /* 0: unknown */
} Subject;

static const Subject subjects[] = {
        { "nothing named", "", RULE_YES },
        { "vendor", "Vendor=intel\n", RULE_YES },
        { "another vendor", "Vendor=amd\n", RULE_NO },
        { "AMD", "Vendor=amd\n", RULE_YES, .vendor = UCS_VENDOR_AMD },
        { "signature", "Signature=0x906eb\n", RULE_YES },
        { "signature, capitals", "Signature=0x906EB\n", RULE_YES },
        { "another signature", "Signature=0x906ea\n", RULE_NO },
        { "one of several", "Signature=0x906ea,0x906eb ,\t0x906ec\n", RULE_YES },
        { "one of several lines", "Signature=0x906ea\nSignature=0x906eb\n", RULE_YES },
        { "none of several", "Signature=0x906ea, 0x906ec\n", RULE_NO },
        { "mask overlaps", "PlatformMask=0x87\n", RULE_YES },
        { "mask does not", "PlatformMask=0x85\n", RULE_NO },
        { "no mask at all", "PlatformMask=0xff\n", RULE_NO, .mask = UINT32_MAX },
        { "from this one", "From=0x100\n", RULE_YES },
        { "from another", "From=0x101\n", RULE_NO },
        { "from below", "From=<0x101\n", RULE_YES },
        { "from below, the end", "From=<0x100\n", RULE_NO },
        { "from at most", "From=<=0x100\n", RULE_YES },
        { "from above", "From=>0xff\n", RULE_YES },
        { "from above, the end", "From=>0x100\n", RULE_NO },
        { "from at least, with a blank", "From=>= 0x100\n", RULE_YES },
        { "from a range, low end", "From=0x100..0x200\n", RULE_YES },
        { "from a range, high end", "From=0x50..0x100\n", RULE_YES },
        { "from below a range", "From=0x101..0x200\n", RULE_NO },
        { "from a list", "From=<0x80, 0xf0..0x110\n", RULE_YES },
        { "revisions are unsigned", "From=>0x7fffffff\n", RULE_YES, .lowest = 0x80000001, .highest = 0x80000001 },
        { "all of a mixed group", "From=<0x200\n", RULE_YES, .highest = 0x150 },
        { "only the lowest of a mixed group", "From=<0x101\n", RULE_UNKNOWN, .highest = 0x150 },
        { "only the highest of a mixed group", "From=>0x140\n", RULE_UNKNOWN, .highest = 0x150 },
        { "none of a mixed group", "From=>0x160\n", RULE_NO, .highest = 0x150 },
        { "from a revision that cannot be read", "From=<0x80\n", RULE_UNKNOWN, .unknown_from = true },
        { "to this one", "To=0x110\n", RULE_YES },
        { "to another", "To=0x111\n", RULE_NO },
        { "to an unknown one", "To=0x718\n", RULE_UNKNOWN, .unknown_to = true },
        { "digest", "SHA256=" DIGEST "\n", RULE_YES },
        { "another digest", "SHA256=" OTHER "\n", RULE_NO },
        { "one of two digests", "SHA256=" OTHER "\nSHA256=" DIGEST "\n", RULE_YES },
        { "no digest", "SHA256=" DIGEST "\n", RULE_UNKNOWN, .no_digest = true },
        { "kernel", "Kernel=6.12.0-*.el10uek.x86_64\n", RULE_YES },
        { "another kernel", "Kernel=5.*\n", RULE_NO },
        { "one of two kernels", "Kernel=5.*\nKernel=6.*\n", RULE_YES },
        { "no kernel", "Kernel=5.*\n", RULE_UNKNOWN, .unknown_kernel = true },
        { "firmware", "BiosVendor=Dell Inc.\n", RULE_YES },
        { "a pattern covers all", "BiosVendor=Dell\n", RULE_NO },
        { "letter case counts", "BiosVendor=dell inc.\n", RULE_NO },
        { "vendor of the machine", "SysVendor=Dell*\n", RULE_YES },
        { "product", "Product=PowerEdge R7?0\n", RULE_YES },
        { "another product", "Product=PowerEdge R7?\n", RULE_NO },
        { "no DMI", "BiosVendor=Dell Inc.\n", RULE_UNKNOWN, .unknown_host = true },
        { "cache above", "LastLevelCachePerCore=>2560K\n", RULE_YES, .llc = 2621441 },
        { "cache, the end", "LastLevelCachePerCore=>2560K\n", RULE_NO, .llc = 2621440 },
        { "cache, a range", "LastLevelCachePerCore=2M..4M\n", RULE_YES, .llc = 4194304 },
        { "cache, bytes", "LastLevelCachePerCore=<=2621440\n", RULE_YES, .llc = 2621440 },
        { "cache, a gigabyte", "LastLevelCachePerCore=1G\n", RULE_YES, .llc = 1U << 30 },
        { "cache unknown", "LastLevelCachePerCore=>2560K\n", RULE_UNKNOWN },
        { "all must match", "Signature=0x906eb\nTo=0x111\n", RULE_NO },
        { "unknown and no is no", "LastLevelCachePerCore=>2560K\nTo=0x111\n", RULE_NO },
        { "unknown and yes is unknown", "LastLevelCachePerCore=>2560K\nTo=0x110\n", RULE_UNKNOWN },
};

static bool speaks(const Subject *x, const char *head) {
        UcsHost host = { .sys_vendor = (char *) "Dell Inc.", .bios_vendor = (char *) "Dell Inc.", .product_name = (char *) "PowerEdge R750" };
        UcsKernel kernel = { .release = "6.12.0-100.el10uek.x86_64", .llc_known = x->llc > 0, .llc_per_core = x->llc };
        UcsCandidate k = { .finding = UCS_FOUND_NEWER, .signature = x->signature ?: 0x906eb, .platform_mask = x->mask == UINT32_MAX ? 0 : x->mask ?: 2,
                           .update.revision = x->unknown_to ? 0 : x->to ?: 0x110 };
        UcsRuleSubject about = { .vendor = x->vendor ?: UCS_VENDOR_INTEL, .candidate = &k, .lowest = x->unknown_from ? 0 : x->lowest ?: 0x100,
                                 .highest = x->unknown_from ? 0 : x->highest ?: 0x100, .kernel = x->unknown_kernel ? NULL : &kernel,
                                 .host = x->unknown_host ? NULL : &host };
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
        char lines[1024];
        UcsRuleMatch m;
        size_t i = 0;
        bool found;

        if (!x->no_digest)
                memcpy(k.digest, (uint8_t[]){ 1, 2, 3 }, 3);
        (void) snprintf(lines, sizeof(lines), "%s%s", head, x->criteria);
        s = make(lines);
        found = ucs_rules_next(s, &about, &i, &m);
        cr_expect_eq(i, 1U);
        cr_expect_not(found && ucs_rules_next(s, &about, &i, &m), "%s: there is one rule", x->name);
        return found;
}

ucs_test(rules, speak) {
        static const struct {
                const char *head;
                RuleAnswer least;
        } actions[] = {
                { "Action=block\nReason=x\n", RULE_UNKNOWN },       { "Action=warn\nReason=x\n", RULE_UNKNOWN },
                { "Action=reboot-risk\nReason=x\n", RULE_UNKNOWN }, { "Action=approve\n", RULE_YES },
        };

        for (size_t i = 0; i < ELEMENTSOF(subjects); i++)
                for (size_t a = 0; a < ELEMENTSOF(actions); a++)
                        cr_expect_eq(speaks(&subjects[i], actions[a].head), subjects[i].expected >= actions[a].least, "%s: %.14s", subjects[i].name,
                                     actions[a].head);
}

ucs_test(rules, order) {
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
        UcsCandidate k = { .signature = 1, .update.revision = 2 };
        UcsRuleSubject about = { .vendor = UCS_VENDOR_AMD, .candidate = &k, .lowest = 1, .highest = 1 };
        UcsRuleMatch m;
        UcsError e = {};
        size_t i = 0;

        cr_expect_not(ucs_rules_next(NULL, &about, &i, &m));
        cr_assert_eq(ucs_rule_set_new(&s), 0);
        cr_assert_eq(add_rule(s, "a", HEAD "Vendor=intel\n", false, &e), 0);
        cr_assert_eq(add_rule(s, "b", HEAD, false, &e), 0);
        cr_assert_eq(add_rule(s, "c", "Action=approve\n", false, &e), 0);
        cr_assert_eq(add_rule(s, "d", HEAD, false, &e), 0);
        cr_expect(ucs_rules_find(s, &about, UCS_RULE_BLOCK, &m));
        cr_expect_str_eq(m.name, "b");
        cr_expect(ucs_rules_find(s, &about, UCS_RULE_APPROVE, &m));
        cr_expect_str_eq(m.name, "c");
        cr_expect_not(ucs_rules_find(s, &about, UCS_RULE_WARN, &m));

        /* one that is still being written is not asked */
        cr_assert_eq(ucs_rule_set_begin(s, "e", "x:1", false, &e), 0);
        cr_assert_eq(ucs_rule_set_assign(s, "Action", "warn", &e), 0);
        cr_expect_not(ucs_rules_find(s, &about, UCS_RULE_WARN, &m));
}

ucs_test(rules, glob) {
        static const struct {
                const char *pattern, *s;
                bool match;
        } rows[] = {
                { "", "", true },          { "", "a", false },         { "*", "", true },          { "*", "abc", true },     { "?", "", false },
                { "?", "a", true },        { "a*c", "abbbc", true },   { "a*c", "abbbcd", false }, { "a*b*c", "aXbYc", true }, { "*.el9*", "5.15.el9uek", true },
                { "a**", "a", true },      { "[a]", "a", false },      { "[a]", "[a]", true },     { "a\\*", "a*", false },  { "*ab", "aab", true },
                { "*ab*ab", "abab", true }, { "*ab*ab", "aba", false }, { "abc", "ab", false },
        };
        char s[4096];

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                cr_expect_eq(rule_glob(rows[i].pattern, rows[i].s), rows[i].match, "'%s' and '%s'", rows[i].pattern, rows[i].s);

        /* many stars do not multiply: this would never end if each tried all that the others leave */
        (void) memset(s, 'a', sizeof(s) - 1);
        s[sizeof(s) - 1] = '\0';
        cr_expect_not(rule_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", s));
}

ucs_test(rules, names) {
        for (UcsRuleAction a = 0; a < _UCS_RULE_ACTION_MAX; a++)
                cr_expect_eq(ucs_rule_action_from_string(ucs_rule_action_to_string(a)), a);
        cr_expect_lt((int) ucs_rule_action_from_string("deny"), 0);
        cr_expect_leq(rule_n_keys, 64U, "a bit a key");
        for (size_t i = 0; i < rule_n_keys; i++)
                cr_expect(rule_keys[i].parse && rule_keys[i].expected, "%s", rule_keys[i].name);
}

/* Too many to be meant. */
ucs_test(rules, too_many) {
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
        UcsError e = {};
        char name[16];

        cr_assert_eq(ucs_rule_set_new(&s), 0);
        for (unsigned i = 0; i < UCS_RULES_MAX; i++) {
                (void) snprintf(name, sizeof(name), "r%u", i);
                cr_assert_eq(ucs_rule_set_begin(s, name, "x:1", false, &e), 0, "%s", e.text);
        }
        cr_expect_eq(ucs_rule_set_begin(s, "one-more", "x:1", false, &e), -E2BIG);
}
