/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Boot loaders' files; see boot-choice.h. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "core/policy/boot-choice.h"

#define ENV_SIGNATURE "# GRUB Environment Block\n"

static bool has_nul(const char *text, size_t size) {
        return memchr(text, '\0', size) != NULL;
}

/* --- GRUB --- */

/* One VALUE, up to the end of its line or of the data. -EBADMSG: longer than `max` - 1, or with control characters. */
static int take_value(const char **p, const char *end, char *ret, size_t max) {
        size_t n = 0;
        bool fits = true;

        for (; *p < end && **p != '\n'; (*p)++) {
                if (**p == '\\' && *p + 1 < end)
                        (*p)++;
                fits = fits && n + 1 < max && !iscntrl((unsigned char) **p);
                if (fits)
                        ret[n++] = **p;
        }
        ret[n] = '\0';
        return fits ? 0 : -EBADMSG;
}

int ucs_grub_env_parse(const char *data, size_t size, UcsGrubEnv *ret, UcsError *e) {
        const char *end = data + size, *p = data;
        UcsGrubEnv env = {};
        const struct {
                const char *name;
                char *value;
        } variables[] = {
                { "saved_entry=", env.saved_entry },
                { "next_entry=", env.next_entry },
        };

        if (size < strlen(ENV_SIGNATURE) || memcmp(data, ENV_SIGNATURE, strlen(ENV_SIGNATURE)) != 0)
                return ucs_error_set(e, -EBADMSG, "it does not begin with '# GRUB Environment Block'");
        if (has_nul(data, size))
                return ucs_error_set(e, -EBADMSG, "it has a NUL byte");
        while (p < end) {
                char rest[UCS_BOOT_NAME_MAX], *value = rest;
                bool ours = false;

                for (size_t i = 0; i < ELEMENTSOF(variables); i++) {
                        size_t n = strlen(variables[i].name);

                        if ((size_t) (end - p) < n || memcmp(p, variables[i].name, n) != 0)
                                continue;
                        p += n;
                        value = variables[i].value;
                        ours = true;
                        break;
                }
                if (!ours && *p == '#') /* a comment, or what fills it up: no backslash protects its end */
                        while (p < end && *p != '\n')
                                p++;
                else if (take_value(&p, end, value, UCS_BOOT_NAME_MAX) < 0 && ours)
                        return ucs_error_set(e, -EBADMSG, "the name of an entry in it is no text of at most %d bytes", UCS_BOOT_NAME_MAX - 1);
                if (p < end)
                        p++;
        }
        *ret = env;
        return 0;
}

bool ucs_grub_cfg_follows(const char *text, const char *variable) {
        const char key[] = "default=";

        for (const char *p = text; (p = strstr(p, key)); p++) {
                const char *v = p + strlen(key), *rest;

                if (p > text && !isspace((unsigned char) p[-1]))
                        continue;
                v += *v == '"';
                rest = str_startswith(v, "${");
                rest = rest ? str_startswith(rest, variable) : NULL;
                if (rest && *rest == '}')
                        return true;
        }
        return false;
}

/* Whether a release may begin, or go on, with this character: then what stands before or behind it belongs to another one. */
static bool begins_before(char c) {
        return isalnum((unsigned char) c) || c == '.' || c == '_';
}

static bool goes_on(const char *rest) {
        static const char *const ends[] = { "-advanced", "-recovery", "-fallback", "-init-" };

        if (!isalnum((unsigned char) *rest) && !strchr("._+~-", *rest))
                return false;
        if (*rest == '\0')
                return false;
        for (size_t i = 0; i < ELEMENTSOF(ends); i++)
                if (str_startswith(rest, ends[i]))
                        return false;
        return true;
}

const char *ucs_grub_entry_release(const char *entry, char *const *releases) {
        const char *last = strrchr(entry, '>'), *found = NULL;

        entry = last ? last + 1 : entry;
        if (!str_startswith(entry, "gnulinux-") && !strstr(entry, "with Linux "))
                return NULL;
        for (; releases && *releases; releases++) {
                size_t n = strlen(*releases);

                if (n == 0 || (found && n <= strlen(found)))
                        continue;
                for (const char *p = entry; (p = strstr(p, *releases)); p++)
                        if ((p == entry || !begins_before(p[-1])) && !goes_on(p + n)) {
                                found = *releases;
                                break;
                        }
        }
        return found;
}

/* --- lines of "key value" --- */

/* The next line's key and value in `buf`, blanks cut off. False: there is none. `ret_value` "": it has none. */
static bool next_pair(const char **p, const char *end, char *buf, size_t size, char **ret_key, char **ret_value, bool *ret_cut) {
        while (*p < end) {
                const char *nl = memchr(*p, '\n', (size_t) (end - *p));
                size_t n = (size_t) ((nl ?: end) - *p);
                char *s, *v;

                *ret_cut = n >= size;
                memcpy(buf, *p, MIN(n, size - 1));
                buf[MIN(n, size - 1)] = '\0';
                *p += n + (nl ? 1 : 0);
                s = str_strip(buf);
                if (*s == '\0' || *s == '#')
                        continue;
                v = s + strcspn(s, " \t");
                if (*v)
                        *v++ = '\0';
                *ret_key = s;
                *ret_value = str_strip(v);
                return true;
        }
        return false;
}

static bool is_path(const char *s) {
        const char *p = s;

        if (*s != '/' || strlen(s) >= UCS_BOOT_NAME_MAX)
                return false;
        for (; *p; p++) {
                size_t n = strcspn(p + 1, "/");

                if (*p == '/' && ((n == 1 && p[1] == '.') || (n == 2 && p[1] == '.' && p[2] == '.')))
                        return false;
                if (iscntrl((unsigned char) *p))
                        return false;
        }
        return p[-1] != '/';
}

static int take_initrds(UcsBootEntry *b, char *value, UcsError *e) {
        char *save = NULL;

        for (char *s = strtok_r(value, " \t", &save); s; s = strtok_r(NULL, " \t", &save)) {
                if (strchr(s, '$'))
                        continue;
                if (!is_path(s))
                        return ucs_error_set(e, -EBADMSG, "%s: '%.80s' is not the absolute path of a file", b->id, s);
                if (strv_length(b->initrds) == UCS_BOOT_INITRDS_MAX)
                        return ucs_error_set(e, -E2BIG, "%s has more than %u files of initrd", b->id, UCS_BOOT_INITRDS_MAX);
                if (strv_push(&b->initrds, s) < 0)
                        return ucs_error_set(e, -ENOMEM, "no memory for %s", b->id);
        }
        return 0;
}

static bool is_release(const char *s) {
        if (!isdigit((unsigned char) *s) || strlen(s) >= UCS_BOOT_RELEASE_MAX)
                return false;
        for (; *s; s++)
                if (!isalnum((unsigned char) *s) && !strchr("._+~-", *s))
                        return false;
        return true;
}

/* ".../vmlinuz-RELEASE", or ".../RELEASE/linux" as kernel-install(8) puts it. */
static void take_linux(UcsBootEntry *b, char *value) {
        char *name = strrchr(value, '/');
        const char *rest, *release = NULL;

        if (!name)
                return;
        *name++ = '\0';
        rest = str_startswith(name, "vmlinuz-") ?: str_startswith(name, "linux-");
        if (rest)
                release = rest;
        else if (streq(name, "linux") && strrchr(value, '/'))
                release = strrchr(value, '/') + 1;
        if (release && is_release(release))
                (void) snprintf(b->release, sizeof(b->release), "%s", release);
}

/* "NAME+LEFT-DONE.conf", "NAME+LEFT.conf", "NAME.conf" */
static int take_name(UcsBootEntry *b, const char *name, UcsError *e) {
        size_t n = strlen(name), digits;
        const char *plus;

        if (n <= strlen(".conf") || n >= sizeof(b->id) || !str_endswith(name, ".conf") || strchr(name, '/') || *name == '.')
                return ucs_error_set(e, -EINVAL, "'%.80s' is no name of an entry", name);
        (void) snprintf(b->id, sizeof(b->id), "%.*s", (int) (n - strlen(".conf")), name);
        plus = strrchr(b->id, '+');
        digits = plus ? strspn(plus + 1, "0123456789") : 0;
        if (digits > 0 && (plus[1 + digits] == '\0' || (plus[1 + digits] == '-' && plus[2 + digits] != '\0' &&
                                                         strspn(plus + 2 + digits, "0123456789") == strlen(plus + 2 + digits)))) {
                b->exhausted = strspn(plus + 1, "0") == digits;
                b->id[plus - b->id] = '\0';
        }
        return 0;
}

void ucs_boot_entry_done(UcsBootEntry *b) {
        b->initrds = strv_free(b->initrds);
}

int ucs_boot_entry_parse(const char *name, const char *text, size_t size, UcsBootEntry *ret, UcsError *e) {
        _cleanup_(ucs_boot_entry_done) UcsBootEntry b = {};
        const char *p = text, *end = text + size;
        char line[4096], *key, *value;
        bool cut;
        int r;

        r = take_name(&b, name, e);
        if (r < 0)
                return r;
        if (has_nul(text, size))
                return ucs_error_set(e, -EBADMSG, "%s has a NUL byte", b.id);
        while (next_pair(&p, end, line, sizeof(line), &key, &value, &cut)) {
                if (cut && (streq(key, "initrd") || streq(key, "linux")))
                        return ucs_error_set(e, -EBADMSG, "%s has a line of more than %zu bytes", b.id, sizeof(line) - 1);
                if (streq(key, "initrd")) {
                        r = take_initrds(&b, value, e);
                        if (r < 0)
                                return r;
                } else if (streq(key, "linux"))
                        take_linux(&b, value);
                else if (streq(key, "version") && strlen(value) < sizeof(b.version))
                        (void) snprintf(b.version, sizeof(b.version), "%s", value);
                else if (streq(key, "sort-key"))
                        (void) snprintf(b.sort_key, sizeof(b.sort_key), "%.*s", (int) sizeof(b.sort_key) - 1, value);
                else if (streq(key, "machine-id"))
                        (void) snprintf(b.machine_id, sizeof(b.machine_id), "%.*s", (int) sizeof(b.machine_id) - 1, value);
        }
        if (!*b.release && is_release(b.version))
                (void) snprintf(b.release, sizeof(b.release), "%s", b.version);
        *ret = b;
        b.initrds = NULL;
        return 0;
}

/* --- systemd-boot --- */

int ucs_loader_conf_parse(const char *text, size_t size, char ret[static UCS_BOOT_NAME_MAX], UcsError *e) {
        const char *p = text, *end = text + size;
        char line[1024], found[UCS_BOOT_NAME_MAX] = "", *key, *value;
        bool cut;

        if (has_nul(text, size))
                return ucs_error_set(e, -EBADMSG, "it has a NUL byte");
        while (next_pair(&p, end, line, sizeof(line), &key, &value, &cut)) {
                if (!streq(key, "default"))
                        continue;
                if (cut || strlen(value) >= sizeof(found))
                        return ucs_error_set(e, -EBADMSG, "its default is longer than %zu bytes", sizeof(found) - 1);
                (void) snprintf(found, sizeof(found), "%s", value);
        }
        memcpy(ret, found, sizeof(found));
        return 0;
}

static int lower(char c) {
        return tolower((unsigned char) c);
}

/* A set "[a-c_]" at `p`: whether `c` is in it, and where it ends; NULL: it does not end. */
static const char *match_set(const char *p, int c, bool *ret) {
        bool in = false;

        for (p++; *p && *p != ']'; p++)
                if (p[1] == '-' && p[2] && p[2] != ']') {
                        in = in || (c >= lower(p[0]) && c <= lower(p[2]));
                        p += 2;
                } else
                        in = in || c == lower(*p);
        *ret = in;
        return *p ? p + 1 : NULL;
}

/* Back to the last star when it does not go on: never more than pattern times text. */
static bool glob(const char *p, const char *s) {
        const char *star = NULL, *from = NULL;

        while (*s) {
                const char *next = NULL;
                bool in;

                if (*p == '*') {
                        star = ++p;
                        from = s;
                        continue;
                }
                if (*p == '?')
                        next = p + 1;
                else if (*p == '[') {
                        next = match_set(p, lower(*s), &in);
                        next = next && in ? next : NULL;
                } else if (*p && lower(*p) == lower(*s))
                        next = p + 1;
                if (next) {
                        p = next;
                        s++;
                        continue;
                }
                if (!star)
                        return false;
                p = star;
                s = ++from;
        }
        while (*p == '*')
                p++;
        return !*p;
}

bool ucs_boot_id_matches(const char *pattern, const char *id) {
        char name[UCS_BOOT_NAME_MAX + sizeof(".conf")];

        (void) snprintf(name, sizeof(name), "%s.conf", id);
        return glob(pattern, id) || glob(pattern, name);
}

const UcsBootEntry *ucs_boot_entry_pick(const UcsBootEntry *entries, size_t n, const char *pattern) {
        const UcsBootEntry *best = NULL;

        for (size_t i = 0; i < n; i++) {
                const UcsBootEntry *b = &entries[i];
                int order;

                if (!ucs_boot_id_matches(pattern, b->id))
                        continue;
                if (!best) {
                        best = b;
                        continue;
                }
                if (b->exhausted != best->exhausted) { /* those come last */
                        best = b->exhausted ? best : b;
                        continue;
                }
                order = strverscmp(b->version, best->version);
                if (!streq(b->sort_key, best->sort_key) || !streq(b->machine_id, best->machine_id) || order == 0)
                        return NULL;
                if (order > 0)
                        best = b;
        }
        return best;
}
