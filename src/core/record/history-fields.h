/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One table of the keys of a history entry, for the writer and for the parser: what is written can be read, and nothing else can.
 * Private to core/record. */

#include "base/str.h"
#include "core/record/history.h"

#define HISTORY_FORMAT 2U
#define HISTORY_MAGIC "ucodesync-history "

typedef enum FieldType {
        FIELD_U64,     /* decimal, or "unknown" for UCS_UNKNOWN */
        FIELD_U32,     /* decimal, or "none" for UINT32_MAX */
        FIELD_HEX,     /* uint32_t, 0x and 8 digits */
        FIELD_ERRNO,   /* int: decimal, or "none" for -1 */
        FIELD_RESULT,  /* ucs_result_to_string() */
        FIELD_WITNESS, /* ucs_witness_to_string() */
        FIELD_WITNESSES, /* UcsWitnessed[]: "perf=12430000,write=unknown" of those that were on; the key is left out for none */
        FIELD_DIGEST,  /* hexadecimal */
        FIELD_STRING,  /* char *, escaped; the key is left out for NULL */
        FIELD_BOOT_ID, /* char[40], escaped; the key is left out for "" */
} FieldType;

typedef struct HistoryField {
        const char *key;
        FieldType type;
        size_t offset; /* in UcsHistoryEntry */
} HistoryField;

#define HISTORY_FIELDS 25
extern const HistoryField history_fields[HISTORY_FIELDS];

/* May the key be missing? */
static inline bool history_field_optional(const HistoryField *f) {
        return f->type == FIELD_STRING || f->type == FIELD_BOOT_ID || f->type == FIELD_WITNESSES;
}

/* Blanks, control characters and backslashes become \xNN; all other bytes stay, whatever encoding they are of. */
void history_escape(UcsText *t, const char *s);

/* Undo that in place. -EBADMSG: a backslash that no history_escape() wrote, or one that stands for a NUL byte. */
int history_unescape(char *s);
