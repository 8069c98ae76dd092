/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the early loader will find: the images that a boot loader hands to a kernel, and the microcode at their uncompressed heads.
 *
 * Looked at are, in /boot, those of the running kernel (RELEASE of proc/sys/kernel/osrelease) and of the newest one beside it by version, of those
 * that have a vmlinuz-RELEASE and no "rescue" in the name:
 *
 *     initrd.img-RELEASE (Debian, Ubuntu), initramfs-RELEASE.img (dracut), initrd-RELEASE (openSUSE)
 *
 * or, for the running kernel only and where there is none of these, initramfs-linux.img, initrd.img, initrd. Before each come the images that boot
 * loaders put in front of it: *-ucode.img, and GRUB's intel-uc.img, amd-uc.img, early_ucode.cpio, microcode.cpio. The first member of the vendor's
 * name counts, and what is no archive ends the search, as in the kernel.
 *
 * Where the boot loader's files name the kernel of the next boot (os/boot-loader.h), its images take the place of those of the newest one: the files that its entry
 * lists, in that order, else by these names. Configure ImagePath= where both are wrong.
 *
 * An image is read by windows at its head, and the microcode in it once; the rest of it never. */

#include "core/policy/outlook.h"

typedef struct UcsEarlyReader UcsEarlyReader;

/* `root_fd` is borrowed. 0 or -ENOMEM. */
int ucs_early_reader_new(int root_fd, UcsEarlyReader **ret);
UcsEarlyReader *ucs_early_reader_free(UcsEarlyReader *r);
DEFINE_CLEANUP(UcsEarlyReader *, ucs_early_reader_free);

/* Look at them. A file that has not changed (device, inode, size, ctime) since the last time is not read again. `configured` (ImagePath=; may be NULL):
 * these files in this order instead, all for the running kernel; "%v" in one is RELEASE. What cannot be read is a finding and no failure: 0 or
 * -ENOMEM. */
int ucs_early_read(UcsEarlyReader *r, char *const *configured, const UcsMachine *m, UcsEarly *ret);
