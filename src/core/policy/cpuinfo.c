/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Records of /proc/cpuinfo; see cpuinfo.h. Nothing is copied: a record is walked line by line where it lies, and only the lines of the
 * table below are looked at. */

#include <string.h>

#include "base/parse.h"
#include "base/str.h"
#include "core/policy/cpuinfo.h"

#define FAMILY_MAX (0xfU + 0xffU) /* base and extended family, SDM vol. 2, CPUID */
#define MODEL_MAX 0xffU
#define STEPPING_MAX 0xfU

typedef struct Fields {
        UcsCpuinfo info;
        uint32_t family, model, stepping; /* UCS_ID_UNKNOWN */
        uint32_t apic_id, initial_apic_id;
} Fields;

/* A span of text within the record. */
typedef struct Span {
        const char *p;
        size_t n;
} Span;

static Span span_strip(Span s) {
        while (s.n > 0 && (*s.p == ' ' || *s.p == '\t')) {
                s.p++;
                s.n--;
        }
        while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
                s.n--;
        return s;
}

static bool span_equal(Span s, const char *word) {
        return strlen(word) == s.n && memcmp(s.p, word, s.n) == 0;
}

static int span_number(Span s, unsigned base, uint32_t max, uint32_t *ret) {
        char digits[24];
        uint32_t v;
        int r;

        if (s.n >= sizeof(digits))
                return -EINVAL;
        memcpy(digits, s.p, s.n);
        digits[s.n] = '\0';
        r = ucs_parse_u32(digits, base, &v);
        if (r < 0)
                return r;
        if (v > max)
                return -ERANGE;
        *ret = v;
        return 0;
}

static int take_number(Span s, void *field, uint32_t max) {
        return span_number(s, 10, max, field);
}

static int take_revision(Span s, void *field, uint32_t max) {
        return span_number(s, 16, max, field);
}

/* "unknown" is what the kernel prints for CPUs without CPUID. */
static int take_stepping(Span s, void *field, uint32_t max) {
        if (span_equal(s, "unknown")) {
                *(uint32_t *) field = 0;
                return 0;
        }
        return span_number(s, 10, max, field);
}

static int take_vendor(Span s, void *field, uint32_t max) {
        UcsVendor *v = field;

        if (span_equal(s, "GenuineIntel"))
                *v = UCS_VENDOR_INTEL;
        else if (span_equal(s, "AuthenticAMD"))
                *v = UCS_VENDOR_AMD;
        else
                *v = UCS_VENDOR_UNKNOWN;
        return 0;
}

static int take_flags(Span s, void *field, uint32_t max) {
        static const char word[] = "hypervisor";
        const char *p = s.p, *end = s.p + s.n;

        while (p < end) {
                const char *space = memchr(p, ' ', (size_t) (end - p)) ?: end;

                if (span_equal((Span){ p, (size_t) (space - p) }, word))
                        *(bool *) field = true;
                p = space < end ? space + 1 : end;
        }
        return 0;
}

static const struct {
        const char *key;
        int (*take)(Span s, void *field, uint32_t max);
        size_t offset;
        uint32_t max;
        const char *expected;
} keys[] = {
        { "processor", take_number, offsetof(Fields, info.cpu), UCS_CPU_MAX - 1, "a CPU number" },
        { "vendor_id", take_vendor, offsetof(Fields, info.vendor), 0, "a vendor" },
        { "cpu family", take_number, offsetof(Fields, family), FAMILY_MAX, "a family up to 270" },
        { "model", take_number, offsetof(Fields, model), MODEL_MAX, "a model up to 255" },
        { "stepping", take_stepping, offsetof(Fields, stepping), STEPPING_MAX, "a stepping up to 15" },
        { "microcode", take_revision, offsetof(Fields, info.revision), UINT32_MAX, "a revision such as 0x2006b06" },
        { "physical id", take_number, offsetof(Fields, info.package), UCS_ID_UNKNOWN - 1, "a number" },
        { "core id", take_number, offsetof(Fields, info.core), UCS_ID_UNKNOWN - 1, "a number" },
        { "apicid", take_number, offsetof(Fields, apic_id), UCS_ID_UNKNOWN - 1, "a number" },
        { "initial apicid", take_number, offsetof(Fields, initial_apic_id), UCS_ID_UNKNOWN - 1, "a number" },
        { "flags", take_flags, offsetof(Fields, info.hypervisor), 0, "flags" },
};

static void parse_line(Span line, Fields *f, UcsError *e) {
        const char *colon = memchr(line.p, ':', line.n);
        Span key, value;

        if (!colon)
                return;
        key = span_strip((Span){ line.p, (size_t) (colon - line.p) });
        value = span_strip((Span){ colon + 1, (size_t) (line.p + line.n - colon - 1) });

        for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                if (!span_equal(key, keys[i].key))
                        continue;
                if (keys[i].take(value, (char *) f + keys[i].offset, keys[i].max) < 0 && e && e->code == 0)
                        (void) ucs_error_set(e, -EBADMSG, "%s is '%.*s', expected %s", keys[i].key,
                                             (int) MIN(value.n, (size_t) 32), value.p, keys[i].expected);
                return;
        }
}

/* The length of the record with its empty line; 0: it does not end in `text`. `ret_lines`: without that line. */
static size_t record_length(const char *text, size_t size, bool last, size_t *ret_lines) {
        size_t at = 0;

        while (at < size) {
                const char *newline = memchr(text + at, '\n', size - at);

                if (!newline)
                        break;
                if (newline == text + at) {
                        *ret_lines = at;
                        return at + 1;
                }
                at = (size_t) (newline - text) + 1;
        }
        if (!last)
                return 0;
        *ret_lines = size;
        return size;
}

int ucs_cpuinfo_parse(const char *text, size_t size, bool last, UcsCpuinfo *ret, size_t *ret_consumed, UcsError *e) {
        Fields f = {
                .info = { .cpu = UCS_ID_UNKNOWN, .package = UCS_ID_UNKNOWN, .core = UCS_ID_UNKNOWN, .apic_id = UCS_ID_UNKNOWN },
                .family = UCS_ID_UNKNOWN,
                .model = UCS_ID_UNKNOWN,
                .stepping = UCS_ID_UNKNOWN,
                .apic_id = UCS_ID_UNKNOWN,
                .initial_apic_id = UCS_ID_UNKNOWN,
        };
        size_t skipped = 0, length, lines = 0, at = 0;

        /* empty lines in front: the second one between two records, where an architecture prints two */
        while (skipped < size && text[skipped] == '\n')
                skipped++;
        text += skipped;
        size -= skipped;
        if (size == 0)
                return 0;

        length = record_length(text, MIN(size, (size_t) UCS_CPUINFO_RECORD_MAX), last && size <= UCS_CPUINFO_RECORD_MAX, &lines);
        if (length == 0) {
                if (size >= UCS_CPUINFO_RECORD_MAX)
                        return ucs_error_set(e, -EBADMSG, "a record without an end within %u bytes", UCS_CPUINFO_RECORD_MAX);
                return 0;
        }
        if (memchr(text, '\0', length))
                return ucs_error_set(e, -EBADMSG, "there is a NUL byte in it, expected text");

        while (at < lines) {
                const char *newline = memchr(text + at, '\n', lines - at) ?: text + lines;

                parse_line((Span){ text + at, (size_t) (newline - text) - at }, &f, e);
                at = (size_t) (newline - text) + 1;
        }

        if (f.family != UCS_ID_UNKNOWN && f.model != UCS_ID_UNKNOWN && f.stepping != UCS_ID_UNKNOWN)
                f.info.signature = ucs_signature_make(f.family, f.model, f.stepping);
        f.info.apic_id = f.apic_id != UCS_ID_UNKNOWN ? f.apic_id : f.initial_apic_id;
        *ret = f.info;
        *ret_consumed = skipped + length;
        return 1;
}
