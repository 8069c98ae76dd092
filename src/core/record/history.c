/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The history in memory, and its text for the disk; history-parse.c reads it. See history.h for the format. */

#include <inttypes.h>
#include <string.h>

#include "core/record/history-fields.h"

void ucs_history_entry_done(UcsHistoryEntry *e) {
        free(e->path);
        free(e->cpus);
        free(e->note);
        *e = (UcsHistoryEntry){};
}

void ucs_history_done(UcsHistory *h) {
        for (size_t i = 0; i < h->n_entries; i++)
                ucs_history_entry_done(&h->entries[i]);
        free(h->entries);
        *h = (UcsHistory){};
}

static void count_result(UcsHistory *h, UcsResult r) {
        switch (r) {
        case UCS_RESULT_SUCCESS:
                h->applied_total++;
                break;
        case UCS_RESULT_REFUSED:
        case UCS_RESULT_MALFORMED:
        case UCS_RESULT_BUSY:
        case UCS_RESULT_IO_ERROR:
        case UCS_RESULT_MIXED_REVISIONS:
        case UCS_RESULT_DIGEST_REJECTED:
        case UCS_RESULT_UNEXPECTED_REVISION:
        case UCS_RESULT_NOT_PERMITTED:
        case UCS_RESULT_TIMEOUT:
        case UCS_RESULT_REGRESSED:
                h->failed_total++;
                break;
        case UCS_RESULT_NONE:
        case UCS_RESULT_NO_CHANGE:
        case UCS_RESULT_CANCELLED:
        case UCS_RESULT_EXTERNAL:
        case _UCS_RESULT_MAX:
        case _UCS_RESULT_INVALID:
                break;
        }
}

static void cut(char *s) {
        if (s && strlen(s) > UCS_HISTORY_STRING_MAX)
                s[UCS_HISTORY_STRING_MAX] = '\0';
}

int ucs_history_add(UcsHistory *h, UcsHistoryEntry *e, uint64_t budget_nsec) {
        if (h->n_entries >= UCS_HISTORY_MAX) {
                const size_t drop = h->n_entries - UCS_HISTORY_MAX + 1;

                for (size_t i = 0; i < drop; i++)
                        ucs_history_entry_done(&h->entries[i]);
                memmove(h->entries, h->entries + drop, (h->n_entries - drop) * sizeof(*h->entries));
                h->n_entries -= drop;
        } else {
                UcsHistoryEntry *p = reallocarray(h->entries, h->n_entries + 1, sizeof(*p));

                if (!p)
                        return -ENOMEM;
                h->entries = p;
        }
        cut(e->path);
        cut(e->cpus);
        cut(e->note);
        ucs_stall_totals_add(&h->totals, e->stall_nsec, budget_nsec);
        count_result(h, e->result);
        h->entries[h->n_entries++] = *e;
        *e = (UcsHistoryEntry){};
        return 0;
}

static void format_witnesses(UcsText *t, const char *key, const UcsWitnessed *w) {
        bool any = false;

        for (UcsWitnessKind k = 0; k < _UCS_WITNESS_MAX; k++) {
                if (!w[k].on)
                        continue;
                if (any)
                        ucs_text_append(t, ",");
                else
                        ucs_text_appendf(t, " %s=", key);
                any = true;
                if (w[k].nsec == UCS_UNKNOWN)
                        ucs_text_appendf(t, "%s=unknown", ucs_witness_to_string(k));
                else
                        ucs_text_appendf(t, "%s=%" PRIu64, ucs_witness_to_string(k), w[k].nsec);
        }
}

static void format_field(UcsText *t, const HistoryField *f, const UcsHistoryEntry *e) {
        const void *p = (const char *) e + f->offset;
        char hex[UCS_DIGEST_HEX_MAX];
        const char *s;

        switch (f->type) {
        case FIELD_U64:
                if (*(const uint64_t *) p == UCS_UNKNOWN)
                        ucs_text_appendf(t, " %s=unknown", f->key);
                else
                        ucs_text_appendf(t, " %s=%" PRIu64, f->key, *(const uint64_t *) p);
                break;
        case FIELD_U32:
                if (*(const uint32_t *) p == UINT32_MAX)
                        ucs_text_appendf(t, " %s=none", f->key);
                else
                        ucs_text_appendf(t, " %s=%u", f->key, *(const uint32_t *) p);
                break;
        case FIELD_HEX:
                ucs_text_appendf(t, " %s=0x%08x", f->key, *(const uint32_t *) p);
                break;
        case FIELD_ERRNO:
                if (*(const int *) p < 0)
                        ucs_text_appendf(t, " %s=none", f->key);
                else
                        ucs_text_appendf(t, " %s=%d", f->key, *(const int *) p);
                break;
        case FIELD_RESULT:
                ucs_text_appendf(t, " %s=%s", f->key, ucs_result_to_string(*(const UcsResult *) p) ?: "");
                break;
        case FIELD_WITNESS:
                ucs_text_appendf(t, " %s=%s", f->key, ucs_witness_to_string(*(const UcsWitnessKind *) p) ?: "none");
                break;
        case FIELD_WITNESSES:
                format_witnesses(t, f->key, p);
                break;
        case FIELD_DIGEST:
                ucs_text_appendf(t, " %s=%s", f->key, ucs_digest_format(hex, p));
                break;
        case FIELD_STRING:
        case FIELD_BOOT_ID:
                s = f->type == FIELD_STRING ? *(char *const *) p : p;
                if (!s || (f->type == FIELD_BOOT_ID && !*s))
                        break;
                ucs_text_appendf(t, " %s=", f->key);
                history_escape(t, s);
                break;
        }
}

static void format_totals(UcsText *t, const UcsHistory *h) {
        ucs_text_appendf(t, "totals applied=%" PRIu64 " failed=%" PRIu64 " stalls=%" PRIu64 " total=%" PRIu64 " max=%" PRIu64
                            " over-budget=%" PRIu64 " buckets=",
                         h->applied_total, h->failed_total, h->totals.count, h->totals.total_nsec, h->totals.max_nsec,
                         h->totals.over_budget);
        for (size_t i = 0; i < UCS_STALL_BUCKETS; i++)
                ucs_text_appendf(t, "%s%" PRIu64, i > 0 ? "," : "", h->totals.buckets[i]);
        ucs_text_append(t, "\n");
}

int ucs_history_format(const UcsHistory *h, char **ret, size_t *ret_size) {
        const size_t from = h->n_entries > UCS_HISTORY_MAX ? h->n_entries - UCS_HISTORY_MAX : 0;
        _cleanup_text_ UcsText t = {}, entries = {};
        size_t starts[UCS_HISTORY_MAX + 1] = {}, n = 0, skip = 0;

        ucs_text_appendf(&t, HISTORY_MAGIC "%u\n", HISTORY_FORMAT);
        format_totals(&t, h);

        for (size_t i = from; i < h->n_entries; i++) {
                starts[n++] = entries.length;
                ucs_text_append(&entries, "entry");
                for (size_t k = 0; k < HISTORY_FIELDS; k++)
                        format_field(&entries, &history_fields[k], &h->entries[i]);
                ucs_text_append(&entries, "\n");
        }
        if (entries.failed)
                return -ENOMEM;
        starts[n] = entries.length;
        while (skip < n && entries.length - starts[skip] > UCS_HISTORY_TEXT_MAX)
                skip++;
        if (skip < n)
                ucs_text_append_bytes(&t, entries.data + starts[skip], entries.length - starts[skip]);
        ucs_text_appendf(&t, "end %zu\n", n - skip);
        return ucs_text_take(&t, ret, ret_size);
}
