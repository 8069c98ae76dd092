/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The history's text, read back: strict, because what it says decides whether a file is tried again. Every line ends in a newline,
 * every key is known and stands once, every value is one that the writer writes, and the last line counts the entries. */

#include <limits.h>
#include <string.h>

#include "base/parse.h"
#include "core/record/history-fields.h"

#define ERRNO_MAX 4095 /* MAX_ERRNO of the kernel's include/linux/err.h */

static int parse_u64(const char *s, uint64_t *ret) {
        uint64_t v;

        if (streq(s, "unknown"))
                v = UCS_UNKNOWN;
        else if (ucs_parse_u64(s, 10, &v) < 0 || v == UCS_UNKNOWN)
                return -EBADMSG;
        *ret = v;
        return 0;
}

static int parse_u32(const char *s, uint32_t *ret) {
        uint32_t v;

        if (streq(s, "none"))
                v = UINT32_MAX;
        else if (ucs_parse_u32(s, 10, &v) < 0 || v == UINT32_MAX)
                return -EBADMSG;
        *ret = v;
        return 0;
}

static int parse_errno(const char *s, int *ret) {
        uint32_t v;

        if (streq(s, "none")) {
                *ret = -1;
                return 0;
        }
        if (ucs_parse_u32(s, 10, &v) < 0 || v > ERRNO_MAX)
                return -EBADMSG;
        *ret = (int) v;
        return 0;
}

static int parse_string(char *s, char **ret) {
        int r;

        r = history_unescape(s);
        if (r < 0)
                return r;
        if (strlen(s) > UCS_HISTORY_STRING_MAX)
                return -EBADMSG;
        *ret = strdup(s);
        return *ret ? 0 : -ENOMEM;
}

static int parse_boot_id(char *s, char *ret, size_t size) {
        int r;

        r = history_unescape(s);
        if (r < 0)
                return r;
        if (!*s || strlen(s) >= size)
                return -EBADMSG;
        memcpy(ret, s, strlen(s) + 1);
        return 0;
}

/* "perf=12430000,write=unknown", each once. */
static int parse_witnesses(char *s, UcsWitnessed *ret) {
        for (;;) {
                char *comma = strchr(s, ','), *equal = strchr(s, '=');
                UcsWitnessKind k;

                if (comma)
                        *comma = '\0';
                if (!equal || (comma && equal > comma))
                        return -EBADMSG;
                *equal = '\0';
                k = ucs_witness_from_string(s);
                if ((int) k < 0 || ret[k].on || parse_u64(equal + 1, &ret[k].nsec) < 0)
                        return -EBADMSG;
                ret[k].on = true;
                if (!comma)
                        return 0;
                s = comma + 1;
        }
}

static int parse_field(const HistoryField *f, char *value, UcsHistoryEntry *e) {
        void *p = (char *) e + f->offset;

        switch (f->type) {
        case FIELD_U64:
                return parse_u64(value, p);
        case FIELD_U32:
                return parse_u32(value, p);
        case FIELD_HEX:
                return str_startswith(value, "0x") && ucs_parse_u32(value, 16, p) >= 0 ? 0 : -EBADMSG;
        case FIELD_ERRNO:
                return parse_errno(value, p);
        case FIELD_RESULT:
                *(UcsResult *) p = ucs_result_from_string(value);
                return (int) *(UcsResult *) p < 0 ? -EBADMSG : 0;
        case FIELD_WITNESS:
                *(UcsWitnessKind *) p = ucs_witness_from_string(value);
                return (int) *(UcsWitnessKind *) p < 0 ? -EBADMSG : 0;
        case FIELD_WITNESSES:
                return parse_witnesses(value, p);
        case FIELD_DIGEST:
                return ucs_digest_parse(value, p) < 0 ? -EBADMSG : 0;
        case FIELD_STRING:
                return parse_string(value, p);
        case FIELD_BOOT_ID:
                return parse_boot_id(value, p, sizeof(e->boot_id));
        }
        return -EBADMSG;
}

/* Cut the next "key=value" off `*line`. 1, 0 at the end, -EBADMSG (no '=', or a blank too many). */
static int next_pair(char **line, char **ret_key, char **ret_value) {
        char *s = *line, *space, *equal;

        if (!*s)
                return 0;
        if (*s != ' ')
                return -EBADMSG;
        s++;
        space = strchrnul(s, ' ');
        *line = space;
        equal = memchr(s, '=', (size_t) (space - s));
        if (!equal || equal == s)
                return -EBADMSG;
        /* the blank stays the mark of the next pair; the value is cut there by the caller's copy of the end */
        *equal = '\0';
        *ret_key = s;
        *ret_value = equal + 1;
        return 1;
}

static int parse_entry(char *line, unsigned n, UcsHistoryEntry *ret, UcsError *e) {
        UcsHistoryEntry entry = {};
        bool seen[HISTORY_FIELDS] = {};
        char *key, *value;
        int r;

        while ((r = next_pair(&line, &key, &value)) > 0) {
                const char end = *line;
                size_t i = 0;

                while (i < HISTORY_FIELDS && !streq(key, history_fields[i].key))
                        i++;
                if (i == HISTORY_FIELDS || seen[i]) {
                        r = ucs_error_set(e, -EBADMSG, "line %u: %s key '%.32s'", n, i < HISTORY_FIELDS ? "a second" : "unknown", key);
                        goto fail;
                }
                seen[i] = true;
                *line = '\0';
                r = parse_field(&history_fields[i], value, &entry);
                *line = end;
                if (r == -ENOMEM)
                        goto fail;
                if (r < 0) {
                        (void) ucs_error_set(e, r, "line %u: the value of '%s' is not one that is written there", n, key);
                        goto fail;
                }
        }
        if (r < 0) {
                (void) ucs_error_set(e, r, "line %u: expected ' key=value'", n);
                goto fail;
        }
        for (size_t i = 0; i < HISTORY_FIELDS; i++)
                if (!seen[i] && !history_field_optional(&history_fields[i])) {
                        r = ucs_error_set(e, -EBADMSG, "line %u: '%s' is missing", n, history_fields[i].key);
                        goto fail;
                }
        *ret = entry;
        return 0;

fail:
        ucs_history_entry_done(&entry);
        return r;
}

static int parse_buckets(char *s, uint64_t ret[static UCS_STALL_BUCKETS]) {
        for (size_t i = 0; i < UCS_STALL_BUCKETS; i++) {
                char *comma = strchr(s, ',');

                if (!comma != (i + 1 == UCS_STALL_BUCKETS))
                        return -EBADMSG;
                if (comma)
                        *comma = '\0';
                if (ucs_parse_u64(s, 10, &ret[i]) < 0)
                        return -EBADMSG;
                if (comma)
                        s = comma + 1;
        }
        return 0;
}

static int parse_totals(char *line, unsigned n, UcsHistory *h, UcsError *e) {
        struct {
                const char *key;
                uint64_t *p;
                bool seen;
        } keys[] = {
                { "applied", &h->applied_total },
                { "failed", &h->failed_total },
                { "stalls", &h->totals.count },
                { "total", &h->totals.total_nsec },
                { "max", &h->totals.max_nsec },
                { "over-budget", &h->totals.over_budget },
                { "buckets", NULL },
        };
        size_t n_seen = 0;
        char *key, *value;
        int r;

        while ((r = next_pair(&line, &key, &value)) > 0) {
                const char end = *line;
                size_t i = 0;

                while (i < ELEMENTSOF(keys) && !streq(key, keys[i].key))
                        i++;
                if (i == ELEMENTSOF(keys) || keys[i].seen)
                        break;
                keys[i].seen = true;
                n_seen++;
                *line = '\0';
                r = keys[i].p ? ucs_parse_u64(value, 10, keys[i].p) : parse_buckets(value, h->totals.buckets);
                *line = end;
                if (r < 0)
                        return ucs_error_set(e, -EBADMSG, "line %u: the value of '%s' is not a number that is written there", n, key);
        }
        if (r != 0 || n_seen != ELEMENTSOF(keys))
                return ucs_error_set(e, -EBADMSG, "line %u: expected the totals, each key once", n);
        return 0;
}

static int parse_version(const char *line, UcsError *e) {
        const char *version = str_startswith(line, HISTORY_MAGIC);
        uint32_t v;

        if (!version || ucs_parse_u32(version, 10, &v) < 0 || v == 0)
                return ucs_error_set(e, -EBADMSG, "line 1: expected '" HISTORY_MAGIC "%u'", HISTORY_FORMAT);
        if (v > HISTORY_FORMAT)
                return ucs_error_set(e, -EPROTONOSUPPORT, "line 1: format version %u, this program reads up to %u", v, HISTORY_FORMAT);
        return 0;
}

static int parse_end(const char *line, unsigned n, const UcsHistory *h, UcsError *e) {
        uint32_t v;

        if (ucs_parse_u32(line, 10, &v) < 0 || v != h->n_entries)
                return ucs_error_set(e, -EBADMSG, "line %u: expected 'end %zu'", n, h->n_entries);
        return 0;
}

static int parse_line(char *line, unsigned n, UcsHistory *h, bool *end, UcsError *e) {
        const char *rest;
        int r;

        if (n == 1)
                return parse_version(line, e);
        if (n == 2) {
                if (!str_startswith(line, "totals "))
                        return ucs_error_set(e, -EBADMSG, "line 2: expected the totals");
                return parse_totals(line + strlen("totals"), n, h, e);
        }
        if (*end)
                return ucs_error_set(e, -EBADMSG, "line %u: nothing may stand behind the end", n);
        rest = str_startswith(line, "end ");
        if (rest) {
                *end = true;
                return parse_end(rest, n, h, e);
        }
        if (!str_startswith(line, "entry "))
                return ucs_error_set(e, -EBADMSG, "line %u: expected 'entry' or 'end'", n);
        if (h->n_entries == UCS_HISTORY_MAX)
                return ucs_error_set(e, -EBADMSG, "line %u: more than %d entries", n, UCS_HISTORY_MAX);
        r = parse_entry(line + strlen("entry"), n, &h->entries[h->n_entries], e);
        if (r >= 0)
                h->n_entries++;
        return r;
}

int ucs_history_parse(const char *text, size_t size, UcsHistory *ret, UcsError *e) {
        _cleanup_(ucs_history_done) UcsHistory h = {};
        _cleanup_free_ char *copy = NULL;
        bool end = false;
        unsigned n = 0;
        char *line;

        copy = malloc(size + 1);
        h.entries = new0(UcsHistoryEntry, UCS_HISTORY_MAX);
        if (!copy || !h.entries)
                return -ENOMEM;
        if (size > 0)
                memcpy(copy, text, size);
        copy[size] = '\0';
        line = copy;

        while (line < copy + size) {
                char *newline = memchr(line, '\n', (size_t) (copy + size - line));
                int r;

                n++;
                if (!newline)
                        return ucs_error_set(e, -EBADMSG, "line %u is cut short", n);
                *newline = '\0';
                if (strlen(line) != (size_t) (newline - line))
                        return ucs_error_set(e, -EBADMSG, "line %u: there is a NUL byte in it, expected text", n);
                r = parse_line(line, n, &h, &end, e);
                if (r < 0)
                        return r;
                line = newline + 1;
        }
        if (!end)
                return ucs_error_set(e, -EBADMSG, "the end is missing after line %u", n);
        *ret = h;
        h = (UcsHistory){};
        return 0;
}
