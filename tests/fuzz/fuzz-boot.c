/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What boot loaders leave in files: GRUB's environment block and its grub.cfg, names in its menu, entries of the Boot Loader Specification, and systemd-boot's
 * loader.conf with patterns. The first byte chooses the reader. */

#include "core/policy/boot-choice.h"
#include "fuzz.h"

/* Memory of exactly this size, so that reading on is seen. */
static char *exact(const char *text, size_t size) {
        char *copy = malloc(size ?: 1);

        fuzz_check(copy);
        memcpy(copy, text, size);
        return copy;
}

static void try_env(const char *text, size_t size) {
        static const char head[] = "# GRUB Environment Block\n";
        char *block = malloc(size + sizeof(head));
        UcsError e = {};
        UcsGrubEnv env;

        fuzz_check(block);
        for (unsigned with = 0; with < 2; with++) { /* as it is, and with the head that it would hardly find */
                size_t n = with ? sizeof(head) - 1 : 0;
                char *data;

                memcpy(block, head, n);
                memcpy(block + n, text, size);
                data = exact(block, n + size);
                if (ucs_grub_env_parse(data, n + size, &env, &e) < 0)
                        fuzz_check(e.text[0] != '\0');
                else
                        fuzz_check(strlen(env.saved_entry) < UCS_BOOT_NAME_MAX && strlen(env.next_entry) < UCS_BOOT_NAME_MAX);
                free(data);
        }
        free(block);
}

static void try_menu(const char *text, size_t size) {
        char a[] = "6.1.0-13-amd64", b[] = "6.1.0-1", c[] = "1", *const releases[] = { a, b, c, NULL };
        const char *found = ucs_grub_entry_release(text, releases);

        fuzz_check(!found || strstr(text, found));
        fuzz_check(!ucs_grub_cfg_follows(text, "next_entry") || strstr(text, "next_entry"));
}

static void try_entry(const char *text, size_t size) {
        size_t n = strnlen(text, size);
        UcsBootEntry b = {};
        UcsError e = {};

        /* its name up to the first NUL byte, then the file */
        if (ucs_boot_entry_parse(n < 256 ? text : "x.conf", n < size ? text + n + 1 : text, n < size ? size - n - 1 : size, &b, &e) < 0) {
                fuzz_check(e.text[0] != '\0' && !b.initrds);
                return;
        }
        fuzz_check(strv_length(b.initrds) <= UCS_BOOT_INITRDS_MAX);
        for (char **s = b.initrds; s && *s; s++) {
                size_t k = strlen(*s);

                fuzz_check(**s == '/' && k < UCS_BOOT_NAME_MAX && !strstr(*s, "/../") && !strchr(*s, '$'));
                fuzz_check(k < 3 || !str_endswith(*s, "/.."));
        }
        fuzz_check(!strchr(b.release, '/') && !strstr(b.id, "/"));
        ucs_boot_entry_done(&b);
}

static void try_conf(const char *text, size_t size) {
        UcsBootEntry entries[] = { { .id = "arch", .version = "1" }, { .id = "arch-lts", .version = "2" }, { .id = "other" } };
        char pattern[UCS_BOOT_NAME_MAX], *data = exact(text, size);
        const UcsBootEntry *b;

        if (ucs_loader_conf_parse(data, size, pattern, NULL) >= 0)
                fuzz_check(strlen(pattern) < sizeof(pattern));
        free(data);
        b = ucs_boot_entry_pick(entries, ELEMENTSOF(entries), text);
        fuzz_check(!b || ucs_boot_id_matches(text, b->id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const FuzzReader readers[] = { try_env, try_menu, try_entry, try_conf };

        return fuzz_one_of(readers, ELEMENTSOF(readers), data, size);
}
