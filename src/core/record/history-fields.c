/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys of a history entry and the escapes of their values; see history-fields.h. */

#include <string.h>

#include "core/record/history-fields.h"

#define FIELD(key, type, member) { key, type, offsetof(UcsHistoryEntry, member) }

const HistoryField history_fields[HISTORY_FIELDS] = {
        FIELD("when", FIELD_U64, when_usec),
        FIELD("id", FIELD_U32, id),
        FIELD("result", FIELD_RESULT, result),
        FIELD("signature", FIELD_HEX, signature),
        FIELD("mask", FIELD_HEX, platform_mask),
        FIELD("old", FIELD_HEX, old_revision),
        FIELD("target", FIELD_HEX, target_revision),
        FIELD("new", FIELD_HEX, new_revision),
        FIELD("digest", FIELD_DIGEST, digest),
        FIELD("predicted", FIELD_ERRNO, predicted_errno),
        FIELD("errno", FIELD_ERRNO, write_errno),
        FIELD("flags", FIELD_U64, flags),
        FIELD("uid", FIELD_U32, uid),
        FIELD("n-cpus", FIELD_U32, n_cpus),
        FIELD("witness", FIELD_WITNESS, witness),
        FIELD("stall", FIELD_U64, stall_nsec),
        FIELD("worst", FIELD_U64, worst_nsec),
        FIELD("write", FIELD_U64, write_nsec),
        FIELD("worst-cpu", FIELD_U32, worst_cpu),
        FIELD("tsc", FIELD_U64, tsc_hz),
        FIELD("path", FIELD_STRING, path),
        FIELD("cpus", FIELD_STRING, cpus),
        FIELD("note", FIELD_STRING, note),
        FIELD("boot", FIELD_BOOT_ID, boot_id),
        FIELD("witnesses", FIELD_WITNESSES, witnessed),
};

void history_escape(UcsText *t, const char *s) {
        for (; *s; s++) {
                unsigned char c = (unsigned char) *s;

                if (c <= ' ' || c == 0x7f || c == '\\')
                        ucs_text_appendf(t, "\\x%02x", c);
                else
                        ucs_text_append_bytes(t, s, 1);
        }
}

static int hex_digit(char c) {
        static const char digits[] = "0123456789abcdef";
        const char *p = c ? strchr(digits, c) : NULL;

        return p ? (int) (p - digits) : -1;
}

int history_unescape(char *s) {
        char *to = s;

        while (*s) {
                int high, low, c;

                if (*s != '\\') {
                        *to++ = *s++;
                        continue;
                }
                if (s[1] != 'x')
                        return -EBADMSG;
                high = hex_digit(s[2]);
                low = high < 0 ? -1 : hex_digit(s[3]);
                c = high * 16 + low;
                if (high < 0 || low < 0 || c == 0 || (c > ' ' && c != 0x7f && c != '\\'))
                        return -EBADMSG;
                *to++ = (char) c;
                s += 4;
        }
        *to = '\0';
        return 0;
}
