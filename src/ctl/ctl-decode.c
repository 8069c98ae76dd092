/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages into JSON values; see ctl-decode.h. The type that a value has on the wire leads, the table only
 * says what it means: a daemon of another version may have more properties, longer structs and new words,
 * and none of that is an error here. */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ctl/ctl-decode.h"

static json_object *number(uint64_t v, uint64_t largest, CtlKind kind) {
        char hex[24];

        switch (kind) {
        case CTL_REVISION:
        case CTL_MOMENT:
        case CTL_RATE:
                if (v == 0)
                        return NULL;
                break;
        case CTL_PLAIN:
        case CTL_HEX:
        case CTL_SPAN:
        case CTL_ERRNO:
                break;
        }
        if ((kind == CTL_SPAN || kind == CTL_MOMENT) && v == largest)
                return NULL;
        if (kind == CTL_HEX || kind == CTL_REVISION) {
                (void) snprintf(hex, sizeof(hex), "0x%08" PRIx64, v);
                return json_object_new_string(hex);
        }
        return v <= INT64_MAX ? json_object_new_int64((int64_t) v) : json_object_new_uint64(v);
}

static int decode_basic(sd_bus_message *m, char type, CtlKind kind, json_object **ret) {
        union {
                uint8_t y;
                uint16_t q;
                int16_t n;
                uint32_t u;
                int32_t i;
                uint64_t t;
                int64_t x;
                int b;
                double d;
                const char *s;
        } v = {};
        int64_t s64;
        int r;

        r = sd_bus_message_read_basic(m, type, &v);
        if (r < 0)
                return r;
        switch (type) {
        case 'y':
                *ret = number(v.y, UINT8_MAX, kind);
                return 0;
        case 'q':
                *ret = number(v.q, UINT16_MAX, kind);
                return 0;
        case 'u':
                *ret = number(v.u, UINT32_MAX, kind);
                return 0;
        case 't':
                *ret = number(v.t, UINT64_MAX, kind);
                return 0;
        case 'b':
                *ret = json_object_new_boolean(v.b);
                return 0;
        case 'd':
                *ret = isfinite(v.d) ? json_object_new_double(v.d) : NULL; /* JSON has no other numbers */
                return 0;
        case 's':
        case 'o':
        case 'g':
                *ret = *v.s ? json_object_new_string(v.s) : NULL;
                return 0;
        case 'n':
                s64 = v.n;
                break;
        case 'i':
                s64 = v.i;
                break;
        case 'x':
                s64 = v.x;
                break;
        default: /* a file descriptor: nothing to show */
                *ret = NULL;
                return 0;
        }
        *ret = kind == CTL_ERRNO && s64 < 0 ? NULL : json_object_new_int64(s64);
        return 0;
}

static const CtlField *field_find(const CtlField *fields, const char *name) {
        for (const CtlField *f = fields; f && f->json; f++)
                if (streq(f->bus, name))
                        return f;
        return NULL;
}

int ctl_decode_members(sd_bus_message *m, const CtlField *members, json_object *o) {
        for (unsigned i = 0;; i++) {
                const CtlField *f = members && members->json ? members++ : NULL;
                json_object *v = NULL;
                char name[24];
                int r;

                r = sd_bus_message_at_end(m, false);
                if (r < 0)
                        return r;
                if (r > 0)
                        return 0;
                r = ctl_decode(m, f, &v);
                if (r < 0)
                        return r;
                (void) snprintf(name, sizeof(name), "member_%u", i);
                (void) json_object_object_add(o, f ? f->json : name, v);
        }
}

/* An a{s…} of other values than variants: the keys are words, and stay as they are. */
static int decode_words(sd_bus_message *m, const CtlField *f, const char *contents, json_object **ret) {
        const CtlField value = { "", "", f ? f->kind : CTL_PLAIN, NULL };
        _cleanup_json_ json_object *o = json_object_new_object();
        int r;

        r = sd_bus_message_enter_container(m, 'a', contents);
        if (r < 0)
                return r;
        while ((r = sd_bus_message_at_end(m, false)) == 0) {
                json_object *v = NULL;
                const char *key, *entry;
                char type;

                r = sd_bus_message_peek_type(m, &type, &entry);
                if (r < 0)
                        return r;
                r = sd_bus_message_enter_container(m, 'e', entry);
                if (r < 0)
                        return r;
                r = sd_bus_message_read(m, "s", &key);
                if (r < 0)
                        return r;
                r = ctl_decode(m, &value, &v);
                if (r < 0)
                        return r;
                (void) json_object_object_add(o, key, v);
                r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        r = sd_bus_message_exit_container(m);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

static int decode_array(sd_bus_message *m, const CtlField *f, const char *contents, json_object **ret) {
        _cleanup_json_ json_object *a = NULL;
        int r;

        if (str_startswith(contents, "{sv}"))
                return ctl_decode_dict(m, f ? f->members : NULL, ret);
        if (str_startswith(contents, "{s"))
                return decode_words(m, f, contents, ret);
        r = sd_bus_message_enter_container(m, 'a', contents);
        if (r < 0)
                return r;
        a = json_object_new_array();
        while ((r = sd_bus_message_at_end(m, false)) == 0) {
                json_object *v = NULL;

                r = ctl_decode(m, f, &v);
                if (r < 0)
                        return r;
                (void) json_object_array_add(a, v);
        }
        if (r < 0)
                return r;
        r = sd_bus_message_exit_container(m);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(a);
        return 0;
}

int ctl_decode(sd_bus_message *m, const CtlField *f, json_object **ret) {
        _cleanup_json_ json_object *o = NULL;
        const char *contents;
        char type;
        int r;

        r = sd_bus_message_peek_type(m, &type, &contents);
        if (r < 0)
                return r;
        if (r == 0)
                return -EBADMSG;
        if (type == 'a')
                return decode_array(m, f, contents, ret);
        if (type != 'v' && type != 'r' && type != 'e')
                return decode_basic(m, type, f ? f->kind : CTL_PLAIN, ret);

        r = sd_bus_message_enter_container(m, type, contents);
        if (r < 0)
                return r;
        if (type == 'v')
                r = ctl_decode(m, f, &o);
        else {
                o = json_object_new_object();
                r = ctl_decode_members(m, f ? f->members : NULL, o);
        }
        if (r < 0)
                return r;
        r = sd_bus_message_exit_container(m);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

char *ctl_snake_case(const char *name) {
        static const char *const words[] = {
                "USec", "NSec", "MSec", "CPUs", "GHz", "MHz", "KHz", "Hz"
        }; /* that capitals do not end */
        _cleanup_text_ UcsText t = {};
        char *s;

        for (const char *p = name; *p;) {
                const char *word = NULL;
                size_t n = 1;

                for (size_t i = 0; i < ELEMENTSOF(words) && !word; i++)
                        if (str_startswith(p, words[i]))
                                word = words[i];
                if (word)
                        n = strlen(word);
                /* a capital begins a word after a small letter or digit, and where a small letter follows it
                 */
                if (p > name && isupper((unsigned char) *p) &&
                    (word || !isupper((unsigned char) p[-1]) || islower((unsigned char) p[1])))
                        ucs_text_append(&t, "_");
                for (size_t i = 0; i < n; i++) {
                        char c = (char) tolower((unsigned char) p[i]);

                        ucs_text_append_bytes(&t, &c, 1);
                }
                p += n;
        }
        return ucs_text_take(&t, &s, NULL) < 0 ? NULL : s;
}

int ctl_decode_dict(sd_bus_message *m, const CtlField *fields, json_object **ret) {
        _cleanup_json_ json_object *known = json_object_new_object(), *more = json_object_new_object(),
                                   *o = json_object_new_object();
        int r;

        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                json_object *v = NULL;
                const CtlField *f;
                const char *name;

                r = sd_bus_message_read(m, "s", &name);
                if (r < 0)
                        return r;
                f = field_find(fields, name);
                r = ctl_decode(m, f, &v);
                if (r < 0)
                        return r;
                if (f)
                        (void) json_object_object_add(known, f->json, v);
                else {
                        _cleanup_free_ char *snake = ctl_snake_case(name);

                        if (snake)
                                (void) json_object_object_add(more, snake, v);
                        else
                                json_object_put(v);
                }
                r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        r = sd_bus_message_exit_container(m);
        if (r < 0)
                return r;

        for (const CtlField *f = fields; f && f->json; f++) {
                json_object *v;

                if (json_object_object_get_ex(known, f->json, &v))
                        (void) json_object_object_add(o, f->json, json_object_get(v));
        }
        json_object_object_foreach(more, key, value)(void)
                json_object_object_add(o, key, json_object_get(value));
        *ret = TAKE_PTR(o);
        return 0;
}

bool ctl_u64(const json_object *o, const char *key, uint64_t *ret) {
        json_object *v;

        if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_int))
                return false;
        *ret = json_object_get_uint64(v);
        return true;
}

bool ctl_bool(const json_object *o, const char *key) {
        json_object *v;

        return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_boolean) &&
               json_object_get_boolean(v);
}

double ctl_double(const json_object *o, const char *key) {
        json_object *v;

        return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_double)
                       ? json_object_get_double(v)
                       : -1;
}

const char *ctl_string(const json_object *o, const char *key) {
        json_object *v;

        return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string)
                       ? json_object_get_string(v)
                       : NULL;
}

json_object *ctl_array(const json_object *o, const char *key, size_t *ret_n) {
        json_object *v;

        if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_array)) {
                *ret_n = 0;
                return NULL;
        }
        *ret_n = json_object_array_length(v);
        return v;
}
