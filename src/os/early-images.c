/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names in /boot; see early.h. A guess by what distributions do, and made to be right or to find nothing; what the boot loader is told comes before it. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "os/boot-loader.h"
#include "os/early-images.h"
#include "os/root.h"

#define BOOT "/boot"
#define TEXT_MAX 4096U
#define RELEASE_MAX sizeof(((UcsEarlyChain *) NULL)->release)

/* What stands round the release in the name of an initramfs. */
static const struct {
        const char *before, *after;
} shapes[] = {
        { "initrd.img-", "" },
        { "initramfs-", ".img" },
        { "initrd-", "" },
};

/* An initramfs whose name says no release: of the running kernel, for want of a better one. */
static const char *const nameless[] = { "initramfs-linux.img", "initrd.img", "initrd" };

/* Images of microcode alone, beside "*-ucode.img" (GRUB_EARLY_INITRD_LINUX_STOCK of grub-mkconfig). */
static const char *const separate[] = { "intel-uc.img", "amd-uc.img", "early_ucode.cpio", "microcode.cpio" };

DEFINE_CLEANUP(DIR *, closedir);

static int compare(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The names in /boot, sorted. What cannot be read is empty. */
static int list_boot(int root_fd, char ***ret) {
        _cleanup_(closedirp) DIR *d = NULL;
        _cleanup_strv_ char **l = NULL;
        struct dirent *de;
        int fd;

        fd = ucs_root_openat(root_fd, BOOT, O_RDONLY | O_DIRECTORY);
        if (fd >= 0) {
                d = fdopendir(fd);
                if (!d) {
                        fd_close(fd);
                        return -ENOMEM;
                }
        }
        while (d && (de = readdir(d)))
                if (de->d_name[0] != '.' && strv_push(&l, de->d_name) < 0)
                        return -ENOMEM;
        if (l)
                qsort(l, strv_length(l), sizeof(*l), compare);
        *ret = TAKE_PTR(l);
        return 0;
}

static bool has(char *const *names, const char *name) {
        for (; names && *names; names++)
                if (streq(*names, name))
                        return true;
        return false;
}

static bool is_separate(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(separate); i++)
                if (streq(name, separate[i]))
                        return true;
        return str_endswith(name, "-ucode.img");
}

static int push(UcsEarlyChain *c, const char *name) {
        char path[sizeof(BOOT "/") + 256];

        (void) snprintf(path, sizeof(path), BOOT "/%s", name);
        return strv_push(&c->paths, path);
}

static int push_separate(UcsEarlyChain *c, char *const *names) {
        for (; names && *names; names++)
                if (is_separate(*names) && push(c, *names) < 0)
                        return -ENOMEM;
        return 0;
}

/* The release in an initramfs's name; false: it is none. */
static bool release_of(const char *name, char ret[static RELEASE_MAX]) {
        for (size_t i = 0; i < ELEMENTSOF(shapes); i++) {
                const char *rest = str_startswith(name, shapes[i].before);
                size_t n = rest ? strlen(rest) : 0, after = strlen(shapes[i].after);

                if (n <= after || n - after >= RELEASE_MAX || !str_endswith(rest, shapes[i].after))
                        continue;
                (void) snprintf(ret, RELEASE_MAX, "%.*s", (int) (n - after), rest);
                return true;
        }
        return false;
}

/* Another kernel that can be booted, by its image. */
static bool is_kernel(char *const *names, const char *release) {
        char kernel[sizeof("vmlinuz-") + RELEASE_MAX];

        (void) snprintf(kernel, sizeof(kernel), "vmlinuz-%s", release);
        return !strstr(release, "rescue") && has(names, kernel);
}

/* The images of one release, by their names. 1: there are some. */
static int find_release(char *const *names, const char *release, UcsEarlyChain *c) {
        char found[RELEASE_MAX];

        for (char *const *n = names; n && *n && *release; n++)
                if (release_of(*n, found) && streq(found, release)) {
                        (void) snprintf(c->release, sizeof(c->release), "%s", release);
                        return push_separate(c, names) < 0 || push(c, *n) < 0 ? -ENOMEM : 1;
                }
        return 0;
}

static int find_running(char *const *names, const char *release, UcsEarlyChain *c) {
        int r = find_release(names, release, c);

        if (r != 0)
                return r < 0 ? r : 0;
        if (push_separate(c, names) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < ELEMENTSOF(nameless); i++)
                if (has(names, nameless[i]))
                        return push(c, nameless[i]);
        return 0;
}

static int find_other(char *const *names, const char *release, UcsEarlyChain *c) {
        const char *newest = NULL;
        char found[RELEASE_MAX];

        for (char *const *n = names; n && *n; n++) {
                if (!release_of(*n, found) || streq(found, release) || !is_kernel(names, found))
                        continue;
                if (newest && strverscmp(found, c->release) < 0)
                        continue;
                newest = *n;
                (void) snprintf(c->release, sizeof(c->release), "%s", found);
        }
        if (!newest)
                return 0;
        return push_separate(c, names) < 0 || push(c, newest) < 0 ? -ENOMEM : 0;
}

/* "%v" in a configured path is the running kernel's release. */
static int find_configured(char *const *configured, const char *release, UcsEarlyChain *c) {
        for (; *configured; configured++) {
                const char *v = strstr(*configured, "%v");
                _cleanup_free_ char *path = NULL;

                if (v && asprintf(&path, "%.*s%s%s", (int) (v - *configured), *configured, release, v + strlen("%v")) < 0)
                        return -ENOMEM;
                if (strv_push(&c->paths, path ?: *configured) < 0)
                        return -ENOMEM;
                if (v)
                        (void) snprintf(c->release, sizeof(c->release), "%s", release);
        }
        return 0;
}

/* All releases that an image in /boot names. */
static int list_releases(char *const *names, char ***ret) {
        char release[RELEASE_MAX];

        for (; names && *names; names++)
                if (release_of(*names, release) && !has(*ret, release) && strv_push(ret, release) < 0)
                        return -ENOMEM;
        return 0;
}

static bool same_paths(char *const *a, char *const *b) {
        for (; a && *a && b && *b; a++, b++)
                if (!streq(*a, *b))
                        return false;
        return !(a && *a) && !(b && *b);
}

/* Of what the boot loader is told, in place of what the names alone make likely. */
static int follow_boot_loader(int root_fd, char *const *names, const char *release, UcsEarlyChains *c) {
        _cleanup_(ucs_boot_next_done) UcsBootNext next = {};
        _cleanup_(ucs_early_chain_done) UcsEarlyChain chain = {};
        _cleanup_strv_ char **releases = NULL;
        int r;

        r = list_releases(names, &releases);
        if (r >= 0)
                r = ucs_boot_next_read(root_fd, releases, &next);
        if (r < 0)
                return r;
        (void) snprintf(c->next_by, sizeof(c->next_by), "%s", next.why);
        if (!next.known)
                return find_other(names, release, &c->other);

        (void) snprintf(chain.release, sizeof(chain.release), "%s", next.release);
        if (next.initrds)
                chain.paths = TAKE_PTR(next.initrds);
        else if (find_release(names, next.release, &chain) < 0)
                return -ENOMEM;
        if (!chain.paths) {
                (void) snprintf(c->next_by, sizeof(c->next_by), "%.100s names a kernel without an initramfs", next.why);
                return find_other(names, release, &c->other);
        }
        if (*release && (streq(chain.release, release) || (!*chain.release && same_paths(chain.paths, c->running.paths)))) {
                c->next = UCS_NEXT_RUNNING;
                ucs_early_chain_done(&c->running);
                c->running = chain;
        } else {
                c->next = UCS_NEXT_OTHER;
                c->other = chain;
        }
        chain.paths = NULL;
        return 0;
}

int ucs_early_chains(int root_fd, char *const *configured, UcsEarlyChains *ret) {
        _cleanup_(ucs_early_chains_done) UcsEarlyChains c = {};
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ char **names = NULL;
        const char *release = "";
        int r;

        if (ucs_root_read(root_fd, "proc/sys/kernel/osrelease", TEXT_MAX, &text, NULL, NULL) >= 0)
                release = str_strip(text);
        if (strchr(release, '/') || strlen(release) >= RELEASE_MAX)
                release = "";
        if (configured && *configured) {
                r = find_configured(configured, release, &c.running);
                if (r < 0)
                        return r;
        } else {
                r = list_boot(root_fd, &names);
                if (r < 0)
                        return r;
                r = find_running(names, release, &c.running);
                if (r < 0)
                        return r;
                r = follow_boot_loader(root_fd, names, release, &c);
                if (r < 0)
                        return r;
        }
        *ret = c;
        c.running.paths = c.other.paths = NULL;
        return 0;
}
