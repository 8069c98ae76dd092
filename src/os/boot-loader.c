/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Boot loaders' files below a root; see boot-loader.h. What they mean is known to core/policy/boot-choice. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "os/boot-loader.h"
#include "os/root.h"

#define GRUBENV_MAX (64U * 1024U) /* 1024 bytes */
#define GRUBCFG_MAX (4U * 1024U * 1024U)
#define ENTRY_MAX (64U * 1024U)
#define ENTRIES_MAX 128U
#define EFI "/boot/efi/EFI"
#define VENDORS_MAX 32U /* directories in EFI */
#define LOADER_VARIABLE "/sys/firmware/efi/efivars/LoaderEntry%s-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

const char *const ucs_boot_directories[] = {
        "/boot/grub2",        "/boot/grub", "/boot/loader", "/boot/loader/entries", "/boot/efi/loader", "/boot/efi/loader/entries",
        "/efi/loader",        "/efi/loader/entries", NULL,
};

/* What `loader/` may lie in; paths in an entry begin there. */
static const char *const bases[] = { "/boot", "/efi", "/boot/efi" };

DEFINE_CLEANUP(DIR *, closedir);

typedef struct Entries {
        UcsBootEntry *entries;
        const char **bases; /* one an entry */
        size_t n;
        bool more; /* there are others, which were not looked at */
} Entries;

static void entries_done(Entries *l) {
        for (size_t i = 0; i < l->n; i++)
                ucs_boot_entry_done(&l->entries[i]);
        free(l->entries);
        free(l->bases);
}

void ucs_boot_next_done(UcsBootNext *n) {
        n->initrds = strv_free(n->initrds);
}

/* --- entries --- */

/* -ENOMEM only. A bad entry is none: the boot loader, too, goes on without it. */
static int add_entry(int root_fd, Entries *l, const char *base, const char *name) {
        _cleanup_free_ char *text = NULL;
        char path[sizeof("/boot/efi/loader/entries/") + NAME_MAX];
        UcsBootEntry b = {};
        UcsBootEntry *entries;
        const char **places;
        size_t size;
        int r;

        (void) snprintf(path, sizeof(path), "%s/loader/entries/%s", base, name);
        r = ucs_root_read_bytes(root_fd, path, ENTRY_MAX, &text, &size, NULL);
        if (r >= 0)
                r = ucs_boot_entry_parse(name, text, size, &b, NULL);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        entries = reallocarray(l->entries, l->n + 1, sizeof(*entries));
        if (entries)
                l->entries = entries;
        places = entries ? reallocarray(l->bases, l->n + 1, sizeof(*places)) : NULL;
        if (!places) {
                ucs_boot_entry_done(&b);
                return -ENOMEM;
        }
        l->bases = places;
        l->entries[l->n] = b;
        l->bases[l->n++] = base;
        return 0;
}

static DIR *open_directory(int root_fd, const char *path) {
        int fd = ucs_root_openat(root_fd, path, O_RDONLY | O_DIRECTORY);
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

        if (fd >= 0 && !d)
                fd_close(fd);
        return d;
}

static int read_entries(int root_fd, Entries *l) {
        unsigned looked = 0; /* at bad ones, too */

        for (size_t i = 0; i < ELEMENTSOF(bases); i++) {
                _cleanup_(closedirp) DIR *d = NULL;
                struct dirent *de;
                char path[64];

                (void) snprintf(path, sizeof(path), "%s/loader/entries", bases[i]);
                d = open_directory(root_fd, path);
                while (d && (de = readdir(d))) {
                        if (!str_endswith(de->d_name, ".conf"))
                                continue;
                        if (looked++ == ENTRIES_MAX) {
                                l->more = true;
                                return 0;
                        }
                        if (add_entry(root_fd, l, bases[i], de->d_name) < 0)
                                return -ENOMEM;
                }
        }
        return 0;
}

/* A path of an entry, below the root: from its own partition on, or, where /boot is no partition of its own, from the root on. */
static int push_initrd(int root_fd, char ***l, const char *base, const char *path) {
        char full[sizeof("/boot/efi") + UCS_BOOT_NAME_MAX];

        (void) snprintf(full, sizeof(full), "%s%s", base, path);
        return strv_push(l, ucs_root_exists(root_fd, full) <= 0 && ucs_root_exists(root_fd, path) > 0 ? path : full);
}

/* --- the answers, put together --- */

typedef struct Look {
        int root_fd;
        Entries entries;
        char *const *releases;
        UcsBootNext *next;
        bool settled; /* nothing that comes can make it known any more */
} Look;

_printf_(2, 3) static void unknown(Look *l, const char *format, ...) {
        va_list ap;

        l->settled = true;
        l->next->known = false;
        l->next->release[0] = '\0';
        l->next->initrds = strv_free(l->next->initrds);
        va_start(ap, format);
        (void) vsnprintf(l->next->why, sizeof(l->next->why), format, ap);
        va_end(ap);
}

/* One of them says: this kernel (`entry` NULL: by its release alone). */
static int answer(Look *l, const char *said_by, const UcsBootEntry *entry, const char *release) {
        _cleanup_strv_ char **initrds = NULL;
        UcsBootNext *n = l->next;

        for (char **s = entry ? entry->initrds : NULL; s && *s; s++)
                if (push_initrd(l->root_fd, &initrds, l->entries.bases[entry - l->entries.entries], *s) < 0)
                        return -ENOMEM;
        if (n->known) {
                if (!streq(n->release, release) || !strv_equal(n->initrds, initrds)) {
                        char before[UCS_BOOT_WHY_MAX];

                        memcpy(before, n->why, sizeof(before));
                        unknown(l, "%.70s and %.70s differ", before, said_by);
                }
                return 0;
        }
        n->known = true;
        (void) snprintf(n->release, sizeof(n->release), "%s", release);
        (void) snprintf(n->why, sizeof(n->why), "%s", said_by);
        n->initrds = TAKE_PTR(initrds);
        return 0;
}

/* --- GRUB --- */

/* GRUB takes entries of /boot by their name as it is. */
static const UcsBootEntry *find_entry(const Entries *l, const char *name) {
        for (size_t i = 0; i < l->n; i++)
                if (streq(l->bases[i], "/boot") && (streq(l->entries[i].id, name) ||
                                                    (str_endswith(name, ".conf") && strlen(l->entries[i].id) == strlen(name) - strlen(".conf") &&
                                                     str_startswith(name, l->entries[i].id))))
                        return &l->entries[i];
        return NULL;
}

static int ask_grub_variable(Look *l, const char *path, const char *variable, const char *value) {
        char said_by[UCS_BOOT_WHY_MAX];
        const UcsBootEntry *entry = find_entry(&l->entries, value);
        const char *release;

        (void) snprintf(said_by, sizeof(said_by), "%s in %.100s", variable, path);
        if (entry)
                return answer(l, said_by, entry, entry->release);
        release = ucs_grub_entry_release(value, l->releases);
        if (release)
                return answer(l, said_by, NULL, release);
        if (strspn(value, "0123456789>") == strlen(value))
                unknown(l, "%s is a place in GRUB's menu", said_by);
        else
                unknown(l, "%s is the name of no kernel that is known", said_by);
        return 0;
}

static int ask_grub(Look *l, const char *directory) {
        _cleanup_free_ char *env_text = NULL, *cfg = NULL;
        char path[sizeof(EFI "//grubenv") + NAME_MAX], cfg_path[sizeof(path)];
        UcsError e = {};
        UcsGrubEnv env;
        size_t size;
        int r;

        (void) snprintf(path, sizeof(path), "%s/grubenv", directory);
        (void) snprintf(cfg_path, sizeof(cfg_path), "%s/grub.cfg", directory);
        r = ucs_root_read_bytes(l->root_fd, path, GRUBENV_MAX, &env_text, &size, &e);
        if (r == -ENOENT || r == -ENOTDIR)
                return 0;
        if (r >= 0)
                r = ucs_grub_env_parse(env_text, size, &env, &e);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                unknown(l, "%.60s: %.90s", path, e.text);
                return 0;
        }
        r = ucs_root_read(l->root_fd, cfg_path, GRUBCFG_MAX, &cfg, NULL, &e);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT && r != -ENOTDIR && (*env.next_entry || *env.saved_entry)) { /* there is one, which may take no variable */
                unknown(l, "%.120s", e.text);
                return 0;
        }
        if (*env.next_entry && (!cfg || ucs_grub_cfg_follows(cfg, "next_entry")))
                return ask_grub_variable(l, path, "next_entry", env.next_entry);
        if (*env.saved_entry && (!cfg || ucs_grub_cfg_follows(cfg, "saved_entry")))
                return ask_grub_variable(l, path, "saved_entry", env.saved_entry);
        return 0;
}

static int ask_grub_of_vendors(Look *l) {
        _cleanup_(closedirp) DIR *d = open_directory(l->root_fd, EFI);
        struct dirent *de;

        for (unsigned n = 0; !l->settled && d && n < VENDORS_MAX && (de = readdir(d)); n++) {
                char path[sizeof(EFI "/") + NAME_MAX];

                if (de->d_name[0] == '.')
                        continue;
                (void) snprintf(path, sizeof(path), EFI "/%s", de->d_name);
                if (ask_grub(l, path) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* --- systemd-boot --- */

static bool firmware_has_a_say(int root_fd) {
        static const char *const names[] = { "OneShot", "Default" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                char path[sizeof(LOADER_VARIABLE) + 16];

                (void) snprintf(path, sizeof(path), LOADER_VARIABLE, names[i]);
                if (ucs_root_exists(root_fd, path) > 0)
                        return true;
        }
        return false;
}

static int ask_systemd_boot(Look *l, const char *base) {
        char path[64], pattern[UCS_BOOT_NAME_MAX];
        _cleanup_free_ char *text = NULL;
        const UcsBootEntry *entry;
        UcsError e = {};
        size_t size;
        int r;

        (void) snprintf(path, sizeof(path), "%s/loader/loader.conf", base);
        r = ucs_root_read_bytes(l->root_fd, path, ENTRY_MAX, &text, &size, &e);
        if (r == -ENOENT || r == -ENOTDIR)
                return 0;
        if (r >= 0)
                r = ucs_loader_conf_parse(text, size, pattern, &e);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                unknown(l, "%.60s: %.90s", path, e.text);
                return 0;
        }
        if (!*pattern)
                return 0;
        if (firmware_has_a_say(l->root_fd)) {
                unknown(l, "the firmware has a default of its own (bootctl)");
                return 0;
        }
        if (l->entries.more) { /* the first of them all may be another one */
                unknown(l, "there are more than %u entries for the default in %s", ENTRIES_MAX, path);
                return 0;
        }
        entry = ucs_boot_entry_pick(l->entries.entries, l->entries.n, pattern);
        if (!entry) {
                unknown(l, "the default in %s is no single entry that is known", path);
                return 0;
        }
        (void) snprintf(path, sizeof(path), "default in %s/loader/loader.conf", base);
        return answer(l, path, entry, entry->release);
}

int ucs_boot_next_read(int root_fd, char *const *releases, UcsBootNext *ret) {
        _cleanup_(ucs_boot_next_done) UcsBootNext next = {};
        Look l = { .root_fd = root_fd, .releases = releases, .next = &next };
        static const char *const grub[] = { "/boot/grub2", "/boot/grub" };
        int r;

        r = read_entries(root_fd, &l.entries);
        for (size_t i = 0; r >= 0 && !l.settled && i < ELEMENTSOF(grub); i++)
                r = ask_grub(&l, grub[i]);
        if (r >= 0 && !l.settled)
                r = ask_grub_of_vendors(&l);
        for (size_t i = 0; r >= 0 && !l.settled && i < ELEMENTSOF(bases); i++)
                r = ask_systemd_boot(&l, bases[i]);
        entries_done(&l.entries);
        if (r < 0)
                return r;
        *ret = next;
        next.initrds = NULL;
        return 0;
}
