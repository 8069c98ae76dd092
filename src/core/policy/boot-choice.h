/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a boot loader is told to boot next, as its files say it: GRUB's environment block and the head of its grub.cfg, entries of the Boot Loader
 * Specification (type #1), and systemd-boot's loader.conf. Pure: os/boot-loader reads the files and hands over bytes.
 *
 * No script is run and no menu is made: a name that only GRUB's script could resolve is not resolved, a variable has no value, and what is not of the
 * expected form is refused. */

#include "base/error.h"
#include "base/str.h"

#define UCS_BOOT_NAME_MAX 256   /* an entry's name, and a path in an entry, with the NUL */
#define UCS_BOOT_RELEASE_MAX 72 /* "6.1.0-13-amd64", with the NUL */
#define UCS_BOOT_INITRDS_MAX 16U

/* grubenv (GRUB manual, Environment block): "# GRUB Environment Block", then NAME=VALUE a line with backslashes before what they protect, filled up with
 * '#'. "": not set; of several assignments the last one counts. */
typedef struct UcsGrubEnv {
        char saved_entry[UCS_BOOT_NAME_MAX], next_entry[UCS_BOOT_NAME_MAX];
} UcsGrubEnv;

/* -EBADMSG: it is none, or has a NUL byte, or an entry's name is too long or has control characters. */
int ucs_grub_env_parse(const char *data, size_t size, UcsGrubEnv *ret, UcsError *e);

/* Whether grub.cfg takes its default from this variable: `set default="${saved_entry}"`, as grub-mkconfig writes it. With GRUB_DEFAULT=0 it takes
 * "0" instead, whatever is in the environment. */
bool ucs_grub_cfg_follows(const char *text, const char *variable);

/* The release of `releases` (NULL-terminated, may be NULL) that the name of a menu entry has: "gnulinux-advanced-ID>gnulinux-6.1.0-13-amd64-advanced-ID",
 * "Debian GNU/Linux, with Linux 6.1.0-13-amd64", as grub-mkconfig makes them (10_linux). The longest that stands for itself in what follows the last '>';
 * NULL: none, or it is another kind of name. */
const char *ucs_grub_entry_release(const char *entry, char *const *releases);

/* An entry of the Boot Loader Specification, as far as it matters here. */
typedef struct UcsBootEntry {
        char id[UCS_BOOT_NAME_MAX];            /* the file's name without ".conf" and without a counter of tries ("+3-1") */
        bool exhausted;                        /* that counter says that no try is left */
        char release[UCS_BOOT_RELEASE_MAX];    /* by the name of the kernel's image, else `version`; "": neither says one */
        char version[UCS_BOOT_RELEASE_MAX];
        char sort_key[64], machine_id[64];
        char **initrds;                        /* in order, as they stand there: absolute, and without "." and ".." */
} UcsBootEntry;

/* Values of `initrd` may have several paths with blanks between them, as GRUB takes them; what has a '$' is a variable of GRUB and left out. -EBADMSG: a
 * NUL byte, or a path that is relative, goes up or is too long; -E2BIG: too many of them; -EINVAL: `name` is no name of an entry; -ENOMEM. */
int ucs_boot_entry_parse(const char *name, const char *text, size_t size, UcsBootEntry *ret, UcsError *e);
void ucs_boot_entry_done(UcsBootEntry *b);

/* `default` of loader.conf; "": none. -EBADMSG: a NUL byte, or it is too long. */
int ucs_loader_conf_parse(const char *text, size_t size, char ret[static UCS_BOOT_NAME_MAX], UcsError *e);

/* loader.conf(5): a glob ('*', '?', '[a-z]') over the names of entries, with or without ".conf", where letter case does not matter. */
bool ucs_boot_id_matches(const char *pattern, const char *id);

/* The entry that systemd-boot takes for `pattern`. NULL: none matches, or several of which only its menu's whole order tells the first. */
const UcsBootEntry *ucs_boot_entry_pick(const UcsBootEntry *entries, size_t n, const char *pattern);
