/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which kernel the boot loader is told to take at the next boot, and with which initramfs, by the files below a root:
 *
 *     grubenv in /boot/grub2, /boot/grub and /boot/efi/EFI/<anything>: next_entry, else saved_entry; each only if the grub.cfg beside it, where there is one,
 *         takes its default from that variable
 *     loader/entries of /boot, /efi and /boot/efi: entries that those names mean (GRUB: of /boot only), and
 *     loader/loader.conf of the same: `default`, for systemd-boot
 *
 * Not looked at: GRUB's script, with its menu and its numbers; kernels that bring their initramfs in themselves (EFI/Linux); names in the firmware's variables, which
 * win over loader.conf: where there is one, nothing is known. Nothing is known either where several of these name different kernels. */

#include "core/policy/boot-choice.h"

#define UCS_BOOT_WHY_MAX 160

typedef struct UcsBootNext {
        bool known;
        char release[UCS_BOOT_RELEASE_MAX]; /* "": the entry says none */
        char **initrds;                     /* of the entry, as paths below the root; NULL: it has none, or none is known */
        char why[UCS_BOOT_WHY_MAX];         /* known: what says so, "saved_entry in /boot/grub2/grubenv"; else why it is not; "": nothing is told to anybody */
} UcsBootNext;

/* `releases`: of the kernels in /boot, for names of GRUB's menu; may be NULL. What cannot be read is unknown and no failure: 0 or -ENOMEM. */
int ucs_boot_next_read(int root_fd, char *const *releases, UcsBootNext *ret);
void ucs_boot_next_done(UcsBootNext *n);

/* Directories in which any of that changes, but for /boot/efi/EFI/; NULL-terminated. */
extern const char *const ucs_boot_directories[];
