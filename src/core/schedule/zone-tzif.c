/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reader of TZif files (RFC 9636). A version 1 file has one block of data with 32-bit times; later ones have a second block with
 * 64-bit times behind it and a footer. Only the last block that there is counts. Every count is checked against the bytes that are
 * left before anything is read. Versions above 4 are read as 4: the format grows compatibly. */

#include <errno.h>
#include <inttypes.h>

#include "base/str.h"
#include "core/schedule/zone-tzif.h"

#define HEADER_SIZE 44
#define FOOTER_MAX 256

typedef struct Header {
        uint8_t version;
        uint32_t n_ut, n_standard, n_leap, n_transitions, n_types, n_chars;
} Header;

/* What is left to read; `size` counts down. */
typedef struct Reader {
        const uint8_t *data;
        size_t size, total;
} Reader;

static const uint8_t *reader_take(Reader *r, size_t n) {
        const uint8_t *p = r->data;

        if (n > r->size)
                return NULL;
        r->data += n;
        r->size -= n;
        return p;
}

static int read_truncated(const Reader *r, const char *what, UcsError *e) {
        return ucs_error_set(e, -EBADMSG, "the file ends at byte %zu, inside %s", r->total, what);
}

static uint32_t load_be32(const uint8_t *p) {
        return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}

static int64_t load_time(const uint8_t *p, size_t time_size) {
        if (time_size == 4)
                return (int32_t) load_be32(p);
        return (int64_t) ((uint64_t) load_be32(p) << 32 | load_be32(p + 4));
}

static int read_header(Reader *r, Header *ret, UcsError *e) {
        size_t offset = r->total - r->size;
        const uint8_t *p;

        p = reader_take(r, HEADER_SIZE);
        if (!p)
                return read_truncated(r, "a header", e);
        if (memcmp(p, "TZif", 4) != 0)
                return ucs_error_set(e, -EBADMSG, "expected 'TZif' at byte %zu", offset);
        if (p[4] != 0 && p[4] < '2')
                return ucs_error_set(e, -EBADMSG, "unknown version 0x%02x at byte %zu, expected 0 or '2' to '4'", p[4],
                                     offset + 4);
        *ret = (Header){
                .version = p[4],
                .n_ut = load_be32(p + 20),
                .n_standard = load_be32(p + 24),
                .n_leap = load_be32(p + 28),
                .n_transitions = load_be32(p + 32),
                .n_types = load_be32(p + 36),
                .n_chars = load_be32(p + 40),
        };
        return 0;
}

/* The size of the block behind a header, or false where that is beyond a size_t. */
static bool block_size(const Header *h, size_t time_size, size_t *ret) {
        const size_t parts[][2] = {
                { h->n_transitions, time_size + 1 }, { h->n_types, 6 },    { h->n_chars, 1 },
                { h->n_leap, time_size + 4 },        { h->n_standard, 1 }, { h->n_ut, 1 },
        };
        size_t sum = 0;

        for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
                size_t n;

                if (__builtin_mul_overflow(parts[i][0], parts[i][1], &n) || __builtin_add_overflow(sum, n, &sum))
                        return false;
        }
        *ret = sum;
        return true;
}

static int check_counts(const Header *h, UcsError *e) {
        if (h->n_leap > 0)
                return ucs_error_set(e, -EBADMSG, "the zone counts leap seconds (%u of them), the system clock does not",
                                     h->n_leap);
        if (h->n_transitions > UCS_ZONE_TRANSITIONS_MAX)
                return ucs_error_set(e, -EBADMSG, "%u transitions, expected at most %u", h->n_transitions,
                                     UCS_ZONE_TRANSITIONS_MAX);
        if (h->n_types < 1 || h->n_types > UCS_ZONE_TYPES_MAX)
                return ucs_error_set(e, -EBADMSG, "%u local time types, expected 1 to %u", h->n_types,
                                     UCS_ZONE_TYPES_MAX);
        if (h->n_chars < 1)
                return ucs_error_set(e, -EBADMSG, "there are no abbreviations");
        if ((h->n_standard != 0 && h->n_standard != h->n_types) || (h->n_ut != 0 && h->n_ut != h->n_types))
                return ucs_error_set(e, -EBADMSG, "%u standard and %u UT indicators for %u local time types",
                                     h->n_standard, h->n_ut, h->n_types);
        return 0;
}

static int read_transitions(UcsZone *z, const uint8_t *times, const uint8_t *types, size_t n, size_t time_size,
                            UcsError *e) {
        z->transitions = new0(int64_t, n);
        z->type_of = new0(uint8_t, n);
        if (!z->transitions || !z->type_of)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        z->n_transitions = n;

        for (size_t i = 0; i < n; i++) {
                z->transitions[i] = load_time(times + i * time_size, time_size);
                if (i > 0 && z->transitions[i] <= z->transitions[i - 1])
                        return ucs_error_set(e, -EBADMSG, "transition %zu (%" PRId64 ") is not after the one before", i,
                                             z->transitions[i]);
                if (types[i] >= z->n_types)
                        return ucs_error_set(e, -EBADMSG, "transition %zu has type %u, there are only %zu", i, types[i],
                                             z->n_types);
                z->type_of[i] = types[i];
        }
        return 0;
}

static int read_types(UcsZone *z, const uint8_t *types, size_t n, const uint8_t *chars, size_t n_chars, UcsError *e) {
        if (chars[n_chars - 1] != '\0')
                return ucs_error_set(e, -EBADMSG, "the last abbreviation has no end");
        z->abbreviations = malloc(n_chars);
        if (!z->abbreviations)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        memcpy(z->abbreviations, chars, n_chars);

        for (size_t i = 0; i < n; i++) {
                const uint8_t *p = types + i * 6;
                int32_t offset = (int32_t) load_be32(p);

                if (offset < UCS_ZONE_WEST_MAX || offset > UCS_ZONE_EAST_MAX)
                        return ucs_error_set(e, -EBADMSG, "local time type %zu is %" PRId32 " s from UT, expected %d to %d",
                                             i, offset, UCS_ZONE_WEST_MAX, UCS_ZONE_EAST_MAX);
                if (p[4] > 1)
                        return ucs_error_set(e, -EBADMSG, "local time type %zu has summer time indicator %u", i, p[4]);
                if (p[5] >= n_chars)
                        return ucs_error_set(e, -EBADMSG, "local time type %zu has its abbreviation at %u of %zu", i,
                                             p[5], n_chars);
                z->types[i] = (UcsZoneType){ offset, p[5] };
        }
        z->n_types = n;
        return 0;
}

static int read_block(UcsZone *z, Reader *r, const Header *h, size_t time_size, UcsError *e) {
        const uint8_t *times, *type_of, *types, *chars;
        size_t size;
        int k;

        k = check_counts(h, e);
        if (k < 0)
                return k;
        if (!block_size(h, time_size, &size) || size > r->size)
                return read_truncated(r, "the data", e);

        times = reader_take(r, h->n_transitions * time_size);
        type_of = reader_take(r, h->n_transitions);
        types = reader_take(r, (size_t) h->n_types * 6);
        chars = reader_take(r, h->n_chars);
        /* whether a transition was written in standard or universal time matters to nobody who has it in seconds */
        (void) reader_take(r, (size_t) h->n_standard + h->n_ut);

        k = read_types(z, types, h->n_types, chars, h->n_chars, e);
        if (k < 0)
                return k;
        return read_transitions(z, times, type_of, h->n_transitions, time_size, e);
}

/* "\nCET-1CEST,M3.5.0,M10.5.0/3\n"; nothing between the newlines: the last type holds on. */
static int read_footer(UcsZone *z, Reader *r, UcsError *e) {
        const uint8_t *p, *end;
        char text[FOOTER_MAX];
        size_t n;

        p = reader_take(r, 1);
        if (!p)
                return read_truncated(r, "the footer", e);
        if (*p != '\n')
                return ucs_error_set(e, -EBADMSG, "expected the footer's newline at byte %zu", r->total - r->size - 1);
        end = memchr(r->data, '\n', r->size);
        if (!end)
                return read_truncated(r, "the footer", e);
        n = (size_t) (end - r->data);
        if (n == 0)
                return 0;
        if (n >= sizeof(text) || memchr(r->data, '\0', n))
                return ucs_error_set(e, -EBADMSG, "the footer at byte %zu is no text of less than %u characters",
                                     r->total - r->size, FOOTER_MAX);
        memcpy(text, r->data, n);
        text[n] = '\0';
        z->has_tail = true;
        return ucs_zone_tail_parse(text, &z->tail, e);
}

int ucs_zone_read_tzif(UcsZone *z, const void *data, size_t size, UcsError *e) {
        Reader r = { data, size, size };
        size_t skip;
        Header h = {};
        int k;

        k = read_header(&r, &h, e);
        if (k < 0)
                return k;
        if (h.version == 0)
                return read_block(z, &r, &h, 4, e);

        if (!block_size(&h, 4, &skip) || !reader_take(&r, skip))
                return read_truncated(&r, "the data of version 1", e);
        k = read_header(&r, &h, e);
        if (k < 0)
                return k;
        if (h.version == 0)
                return ucs_error_set(e, -EBADMSG, "the second header is of version 1");
        k = read_block(z, &r, &h, 8, e);
        if (k < 0)
                return k;
        return read_footer(z, &r, e);
}
