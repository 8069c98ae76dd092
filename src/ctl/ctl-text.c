/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text that may go to a terminal. What comes over the bus can hold file names and sentences of others: a
 * control character in them could move the cursor, retitle the window or paint a false "success", and a
 * direction override shows one thing and means another. One function makes all of it harmless, and
 * everything that is printed for people goes through it. */

#include <errno.h>
#include <stdlib.h>
#include <wchar.h>

#include "ctl/ctl-text.h"

/* One character of UTF-8 at `s`: its length in bytes and value; 0 for what is none (too short, overlong,
 * surrogate, beyond U+10FFFF). */
static size_t decode_utf8(const char *s, uint32_t *ret) {
        static const struct {
                uint8_t mask, lead, more;
                uint32_t least;
        } forms[] = {
                { 0x80, 0x00, 0, 0x0 },
                { 0xe0, 0xc0, 1, 0x80 },
                { 0xf0, 0xe0, 2, 0x800 },
                { 0xf8, 0xf0, 3, 0x10000 },
        };
        const uint8_t *p = (const uint8_t *) s;

        for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
                uint32_t v;

                if ((p[0] & forms[i].mask) != forms[i].lead)
                        continue;
                v = p[0] & (uint8_t) ~forms[i].mask;
                for (size_t k = 1; k <= forms[i].more; k++) {
                        if ((p[k] & 0xc0) != 0x80)
                                return 0;
                        v = v << 6 | (p[k] & 0x3f);
                }
                if (v < forms[i].least || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
                        return 0;
                *ret = v;
                return forms[i].more + 1U;
        }
        return 0;
}

bool ctl_character_harmful(uint32_t c) {
        static const struct {
                uint32_t first, last;
        } ranges[] = {
                { 0x0000, 0x001f },   /* C0 */
                { 0x007f, 0x009f },   /* DEL, C1: U+009B is a CSI to some terminals */
                { 0x061c, 0x061c },   /* Arabic letter mark */
                { 0x200e, 0x200f },   /* left-to-right and right-to-left marks */
                { 0x2028, 0x202e },   /* line and paragraph separators, embeddings and overrides */
                { 0x2066, 0x2069 },   /* isolates */
                { 0xfff9, 0xfffb },   /* interlinear annotation */
                { 0xe0000, 0xe007f }, /* tags, invisible */
        };

        for (size_t i = 0; i < ELEMENTSOF(ranges); i++)
                if (c >= ranges[i].first && c <= ranges[i].last)
                        return true;
        return false;
}

char *ctl_clean(const UcsCtl *ctl, const char *s) {
        char *clean, *p;

        clean = p = malloc(strlen(s) + 1);
        if (!clean)
                return NULL;
        while (*s) {
                uint32_t c = 0;
                size_t n = decode_utf8(s, &c);

                if (n == 0 || ctl_character_harmful(c) || (n > 1 && !ctl->unicode)) {
                        *p++ = '?';
                        s += n ?: 1;
                        continue;
                }
                memcpy(p, s, n);
                p += n;
                s += n;
        }
        *p = '\0';
        return clean;
}

size_t ctl_text_columns(const char *s, size_t length) {
        size_t columns = 0;

        for (size_t i = 0; i < length;) {
                uint32_t c = 0;
                size_t n = decode_utf8(s + i, &c);
                int w = n > 0 ? wcwidth((wchar_t) c) : 1;

                columns += w < 0 ? 1U : (size_t) w;
                i += n ?: 1;
        }
        return columns;
}

/* In JSON text, a character beyond ASCII stands only inside of strings: there \uXXXX is the same character.
 */
int ctl_json_escape(const char *json, char **ret) {
        _cleanup_text_ UcsText t = {};

        while (*json) {
                uint32_t c = 0;
                size_t n = decode_utf8(json, &c);

                if (n == 0)
                        ucs_text_append(&t, "\\ufffd");
                else if (c >= 0x10000 && ctl_character_harmful(c))
                        ucs_text_appendf(&t, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
                else if (c != '\n' &&
                         ctl_character_harmful(
                                 c)) /* a newline is the layout's: strings have it escaped already */
                        ucs_text_appendf(&t, "\\u%04x", c);
                else
                        ucs_text_append_bytes(&t, json, n);
                json += n ?: 1;
        }
        return ucs_text_take(&t, ret, NULL);
}
