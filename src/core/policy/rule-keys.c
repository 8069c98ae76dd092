/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys of a rule: how each is read, and when it holds; see rule-keys.h. Values only: which keys a rule must have is rules.c's. */

#include <string.h>

#include "base/enum.h"
#include "base/parse.h"
#include "core/policy/rule-keys.h"

#define VALUE_MAX 200 /* bytes of an item with its final NUL; lines are not longer */

static void *field_of(const RuleKey *k, const Rule *r) {
        return (char *) r + k->offset;
}

static RuleAnswer answer(bool yes) {
        return yes ? RULE_YES : RULE_NO;
}

/* --- words --- */

static int parse_action(const RuleKey *k, Rule *r, const char *item) {
        UcsRuleAction a = ucs_rule_action_from_string(item);

        if ((int) a < 0)
                return -EINVAL;
        r->action = a;
        return 0;
}

static int parse_vendor(const RuleKey *k, Rule *r, const char *item) {
        UcsVendor v = ucs_vendor_from_string(item);

        if ((int) v < 0 || v == UCS_VENDOR_UNKNOWN)
                return -EINVAL;
        r->vendor = v;
        return 0;
}

static RuleAnswer judge_vendor(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        return about->vendor == UCS_VENDOR_UNKNOWN ? RULE_UNKNOWN : answer(about->vendor == r->vendor);
}

/* A sentence for people: printable, and short enough for the places where it is shown. */
static int parse_text(const RuleKey *k, Rule *r, const char *item) {
        size_t max = k->offset == offsetof(Rule, reason) ? UCS_RULE_REASON_MAX : UCS_RULE_REFERENCE_MAX;
        UcsError shown = {};

        (void) ucs_error_set(&shown, -EINVAL, "%s", item); /* keeps what is printable UTF-8, and replaces the rest */
        if (strlen(item) > max || !streq(shown.text, item))
                return -EINVAL;
        return str_replace(field_of(k, r), item);
}

/* --- numbers --- */

/* A number in hexadecimal with 0x, as revisions, signatures and masks are written. */
static int parse_hex(const char *s, uint64_t *ret) {
        uint32_t v;
        int r;

        if (!str_startswith(s, "0x"))
                return -EINVAL;
        r = ucs_parse_u32(s, 16, &v);
        if (r < 0)
                return r;
        *ret = v;
        return 0;
}

/* Bytes: "2621440", "2560K", "8M", "1G". */
static int parse_bytes(const char *s, uint64_t *ret) {
        static const char suffixes[] = "KMG";
        char digits[VALUE_MAX];
        size_t n = strlen(s);
        const char *suffix;
        unsigned shift = 0;
        uint64_t v;
        int r;

        if (n == 0 || n >= sizeof(digits))
                return -EINVAL;
        memcpy(digits, s, n + 1);
        suffix = strchr(suffixes, digits[n - 1]);
        if (suffix) {
                shift = 10 * (unsigned) (suffix - suffixes + 1);
                digits[n - 1] = '\0';
        }
        r = ucs_parse_u64(digits, 10, &v);
        if (r < 0)
                return r;
        if (v > UINT64_MAX >> shift)
                return -ERANGE;
        *ret = v << shift;
        return 0;
}

typedef int (*ParseNumber)(const char *s, uint64_t *ret);

/* "V", "V..W", "<V", "<=V", ">V", ">=V", blanks behind the sign allowed. A range that holds nothing is a mistake. */
static int parse_range(const char *s, ParseNumber number, uint64_t max, RuleRange *ret) {
        RuleRange range = { 0, max };
        char low[VALUE_MAX];
        const char *dots;
        uint64_t v;
        int r;

        if (*s == '<' || *s == '>') {
                bool less = *s == '<', equal = s[1] == '=';

                s += equal ? 2 : 1;
                r = number(s + strspn(s, " \t"), &v);
                if (r < 0)
                        return r;
                if (!equal && v == (less ? 0 : max))
                        return -ERANGE;
                if (less)
                        range.high = equal ? v : v - 1;
                else
                        range.low = equal ? v : v + 1;
                *ret = range;
                return 0;
        }

        dots = strstr(s, "..");
        if (!dots) {
                r = number(s, &v);
                if (r < 0)
                        return r;
                *ret = (RuleRange){ v, v };
                return 0;
        }
        if ((size_t) (dots - s) >= sizeof(low))
                return -EINVAL;
        memcpy(low, s, (size_t) (dots - s));
        low[dots - s] = '\0';
        r = number(low, &range.low);
        if (r < 0)
                return r;
        r = number(dots + 2, &range.high);
        if (r < 0)
                return r;
        if (range.low > range.high)
                return -ERANGE;
        *ret = range;
        return 0;
}

static int ranges_add(RuleRanges *l, RuleRange range) {
        RuleRange *items = reallocarray(l->items, l->n + 1, sizeof(*items));

        if (!items)
                return -ENOMEM;
        items[l->n++] = range;
        l->items = items;
        return 0;
}

static bool ranges_have(const RuleRanges *l, uint64_t v) {
        for (size_t i = 0; i < l->n; i++)
                if (v >= l->items[i].low && v <= l->items[i].high)
                        return true;
        return false;
}

static int parse_signature(const RuleKey *k, Rule *r, const char *item) {
        uint64_t v;
        int e;

        e = parse_hex(item, &v);
        if (e < 0)
                return e;
        return v == 0 ? -EINVAL : ranges_add(&r->signatures, (RuleRange){ v, v });
}

static RuleAnswer judge_signature(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        return answer(ranges_have(&r->signatures, about->candidate->signature));
}

static int parse_mask(const RuleKey *k, Rule *r, const char *item) {
        uint64_t v;
        int e;

        e = parse_hex(item, &v);
        if (e < 0)
                return e;
        if (v == 0)
                return -EINVAL;
        r->platform_mask = (uint32_t) v;
        return 0;
}

static RuleAnswer judge_mask(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        return answer(r->platform_mask & about->candidate->platform_mask);
}

static int parse_revision(const RuleKey *k, Rule *r, const char *item) {
        RuleRange range;
        int e;

        e = parse_range(item, parse_hex, UINT32_MAX, &range);
        return e < 0 ? e : ranges_add(field_of(k, r), range);
}

/* Of a group whose CPUs differ, some may be in the range and some not. */
static RuleAnswer judge_from(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        bool lowest = ranges_have(&r->from, about->lowest), highest = ranges_have(&r->from, about->highest);

        if (about->lowest == 0 || about->highest == 0 || lowest != highest)
                return RULE_UNKNOWN;
        return answer(lowest);
}

static RuleAnswer judge_to(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        uint32_t revision = about->candidate->update.revision;

        return revision == 0 ? RULE_UNKNOWN : answer(ranges_have(&r->to, revision));
}

static int parse_llc(const RuleKey *k, Rule *r, const char *item) {
        RuleRange range;
        int e;

        e = parse_range(item, parse_bytes, UINT64_MAX, &range);
        return e < 0 ? e : ranges_add(&r->llc, range);
}

static RuleAnswer judge_llc(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        if (!about->kernel || !about->kernel->llc_known)
                return RULE_UNKNOWN;
        return answer(ranges_have(&r->llc, about->kernel->llc_per_core));
}

/* --- digests --- */

static int parse_digest(const RuleKey *k, Rule *r, const char *item) {
        uint8_t digest[UCS_DIGEST_SIZE], (*items)[UCS_DIGEST_SIZE];
        int e;

        e = ucs_digest_parse(item, digest);
        if (e < 0)
                return e;
        items = reallocarray(r->digests.items, r->digests.n + 1, sizeof(*items));
        if (!items)
                return -ENOMEM;
        memcpy(items[r->digests.n++], digest, sizeof(digest));
        r->digests.items = items;
        return 0;
}

static RuleAnswer judge_digest(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        static const uint8_t none[UCS_DIGEST_SIZE];

        if (ucs_digest_equal(about->candidate->digest, none))
                return RULE_UNKNOWN;
        for (size_t i = 0; i < r->digests.n; i++)
                if (ucs_digest_equal(about->candidate->digest, r->digests.items[i]))
                        return RULE_YES;
        return RULE_NO;
}

/* --- patterns --- */

bool rule_glob(const char *pattern, const char *s) {
        const char *star = NULL, *tried = NULL;

        while (*s) {
                if (*pattern == '*') {
                        star = pattern++;
                        tried = s;
                } else if (*pattern == '?' || *pattern == *s) {
                        pattern++;
                        s++;
                } else if (star) { /* let the last star take one more */
                        pattern = star + 1;
                        s = ++tried;
                } else
                        return false;
        }
        return pattern[strspn(pattern, "*")] == '\0';
}

static int parse_pattern(const RuleKey *k, Rule *r, const char *item) {
        return strv_push(field_of(k, r), item);
}

static RuleAnswer judge_pattern(const RuleKey *k, const Rule *r, const char *s) {
        char *const *l = *(char ***) field_of(k, r);

        if (!s || !*s)
                return RULE_UNKNOWN;
        for (; *l; l++)
                if (rule_glob(*l, s))
                        return RULE_YES;
        return RULE_NO;
}

static RuleAnswer judge_kernel(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        return judge_pattern(k, r, about->kernel ? about->kernel->release : NULL);
}

static RuleAnswer judge_sys_vendor(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        return judge_pattern(k, r, about->host ? about->host->sys_vendor : NULL);
}

static RuleAnswer judge_bios_vendor(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        return judge_pattern(k, r, about->host ? about->host->bios_vendor : NULL);
}

static RuleAnswer judge_product(const RuleKey *k, const Rule *r, const UcsRuleSubject *about) {
        return judge_pattern(k, r, about->host ? about->host->product_name : NULL);
}

/* --- the table --- */

#define FIELD(f) offsetof(Rule, f)
#define REVISIONS_EXPECTED "revisions such as 0x718, 0x10..0x20, <0x80 or >=0x2b000603, separated by commas"
#define PATTERN_EXPECTED "a pattern in which * stands for any text and ? for one character"

const RuleKey rule_keys[] = {
        { "Action", parse_action, NULL, FIELD(action), RULE_ONCE, "approve, block, allow, warn or reboot-risk" },
        { "Vendor", parse_vendor, judge_vendor, FIELD(vendor), RULE_ONCE, "intel or amd" },
        { "Signature", parse_signature, judge_signature, FIELD(signatures), RULE_LIST, "CPU signatures such as 0x406f1, separated by commas" },
        { "PlatformMask", parse_mask, judge_mask, FIELD(platform_mask), RULE_ONCE, "a platform mask such as 0x87" },
        { "From", parse_revision, judge_from, FIELD(from), RULE_LIST, REVISIONS_EXPECTED },
        { "To", parse_revision, judge_to, FIELD(to), RULE_LIST, REVISIONS_EXPECTED },
        { "SHA256", parse_digest, judge_digest, FIELD(digests), RULE_LIST, "digests of 64 hexadecimal digits, separated by commas" },
        { "Kernel", parse_pattern, judge_kernel, FIELD(kernels), RULE_REPEAT, PATTERN_EXPECTED },
        { "SysVendor", parse_pattern, judge_sys_vendor, FIELD(sys_vendors), RULE_REPEAT, PATTERN_EXPECTED },
        { "BiosVendor", parse_pattern, judge_bios_vendor, FIELD(bios_vendors), RULE_REPEAT, PATTERN_EXPECTED },
        { "Product", parse_pattern, judge_product, FIELD(products), RULE_REPEAT, PATTERN_EXPECTED },
        { "LastLevelCachePerCore", parse_llc, judge_llc, FIELD(llc), RULE_LIST, "bytes such as >2560K, <=1M or 2M..4M, separated by commas" },
        { "Reason", parse_text, NULL, FIELD(reason), RULE_ONCE, "at most 140 bytes of printable text" },
        { "Reference", parse_text, NULL, FIELD(reference), RULE_ONCE, "at most 120 bytes of printable text" },
};
const size_t rule_n_keys = ELEMENTSOF(rule_keys);

void rule_values_done(Rule *r) {
        free(r->signatures.items);
        free(r->from.items);
        free(r->to.items);
        free(r->llc.items);
        free(r->digests.items);
        strv_free(r->kernels);
        strv_free(r->sys_vendors);
        strv_free(r->bios_vendors);
        strv_free(r->products);
}
