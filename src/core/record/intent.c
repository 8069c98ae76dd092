/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The intent's text: "key value" lines, each exactly once, between a line with the format's version and a line "end"; see intent.h. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "base/str.h"
#include "core/record/intent.h"

#define INTENT_FORMAT 1U

void ucs_intent_done(UcsIntent *i) {
        free(i->path);
        i->path = NULL;
}

int ucs_intent_format(const UcsIntent *i, char **ret, size_t *ret_size) {
        _cleanup_text_ UcsText t = {};
        char hex[UCS_DIGEST_HEX_MAX];

        if (strpbrk(i->path, "\n") || strpbrk(i->boot_id, "\n"))
                return -EINVAL;
        ucs_text_appendf(&t, "ucodesync-intent %u\nboot %s\ndigest %s\nsignature 0x%08x\nmask 0x%08x\nfrom 0x%08x\nto 0x%08x\nwhen %" PRIu64
                             "\nid %u\nuid %u\npath %s\nend\n",
                         INTENT_FORMAT, i->boot_id, ucs_digest_format(hex, i->digest), i->signature, i->platform_mask, i->from, i->to, i->when_usec, i->id,
                         i->uid, i->path);
        return ucs_text_take(&t, ret, ret_size);
}

static int parse_boot(const char *s, UcsIntent *i) {
        size_t n = strlen(s);

        if (n >= sizeof(i->boot_id))
                return -EBADMSG;
        memcpy(i->boot_id, s, n + 1);
        return 0;
}
static int parse_digest(const char *s, UcsIntent *i) {
        return ucs_digest_parse(s, i->digest);
}
static int parse_signature(const char *s, UcsIntent *i) {
        return ucs_parse_u32(s, 16, &i->signature);
}
static int parse_mask(const char *s, UcsIntent *i) {
        return ucs_parse_u32(s, 16, &i->platform_mask);
}
static int parse_from(const char *s, UcsIntent *i) {
        return ucs_parse_u32(s, 16, &i->from);
}
static int parse_to(const char *s, UcsIntent *i) {
        return ucs_parse_u32(s, 16, &i->to);
}
static int parse_when(const char *s, UcsIntent *i) {
        return ucs_parse_u64(s, 10, &i->when_usec);
}
static int parse_id(const char *s, UcsIntent *i) {
        return ucs_parse_u32(s, 10, &i->id);
}
static int parse_uid(const char *s, UcsIntent *i) {
        return ucs_parse_u32(s, 10, &i->uid);
}
static int parse_path(const char *s, UcsIntent *i) {
        return *s ? str_replace(&i->path, s) : -EBADMSG;
}

static const struct {
        const char *key;
        int (*parse)(const char *s, UcsIntent *i);
} keys[] = {
        { "boot ", parse_boot }, { "digest ", parse_digest }, { "signature ", parse_signature }, { "mask ", parse_mask }, { "from ", parse_from },
        { "to ", parse_to },     { "when ", parse_when },     { "id ", parse_id },               { "uid ", parse_uid },   { "path ", parse_path },
};

/* One line; `*seen` has a bit a key. */
static int parse_line(const char *line, UcsIntent *i, unsigned *seen) {
        for (size_t k = 0; k < ELEMENTSOF(keys); k++) {
                const char *value = str_startswith(line, keys[k].key);

                if (!value)
                        continue;
                if (*seen & 1U << k)
                        return -EBADMSG;
                *seen |= 1U << k;
                return keys[k].parse(value, i);
        }
        return -EBADMSG;
}

int ucs_intent_parse(const char *text, size_t size, UcsIntent *ret, UcsError *e) {
        _cleanup_free_ char *copy = strndup(text, size);
        _cleanup_(ucs_intent_done) UcsIntent i = {};
        const char *version;
        unsigned seen = 0, n = 1;
        char *line, *next;
        uint32_t v;
        int r;

        if (!copy)
                return -ENOMEM;
        if (strlen(copy) != size)
                return ucs_error_set(e, -EBADMSG, "there is a NUL byte in it, expected text");
        next = strchr(copy, '\n');
        if (next)
                *next++ = '\0';
        version = str_startswith(copy, "ucodesync-intent ");
        if (!next || !version || ucs_parse_u32(version, 10, &v) < 0)
                return ucs_error_set(e, -EBADMSG, "line 1: expected 'ucodesync-intent %u'", INTENT_FORMAT);
        if (v != INTENT_FORMAT)
                return ucs_error_set(e, -EPROTONOSUPPORT, "format version %u, this program reads %u", v, INTENT_FORMAT);

        for (line = next;; line = next) {
                n++;
                next = strchr(line, '\n');
                if (!next)
                        return ucs_error_set(e, -EBADMSG, "line %u is cut short", n);
                *next++ = '\0';
                if (streq(line, "end"))
                        break;
                r = parse_line(line, &i, &seen);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        return ucs_error_set(e, -EBADMSG, "line %u is not an entry of this format", n);
        }
        if (*next)
                return ucs_error_set(e, -EBADMSG, "line %u stands behind the end", n + 1);
        if (seen != (1U << ELEMENTSOF(keys)) - 1)
                return ucs_error_set(e, -EBADMSG, "an entry is missing");
        *ret = i;
        i.path = NULL;
        return 0;
}
