/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the early loader finds: the microcode in the uncompressed archives at the head of an initramfs
 * (Documentation/arch/x86/ microcode.rst), found as lib/earlycpio.c finds it. Pure: os/early reads the image
 * and hands over bytes.
 *
 * An archive is "newc" (magic 070701, or 070702 with checksums, which nobody checks), padded with zeros;
 * several may follow one another. What is no such header ends the search: there the compressed part begins.
 */

#include "core/ucode/update.h"

/* "kernel/x86/microcode/GenuineIntel.bin" or ".../AuthenticAMD.bin"; NULL for an unknown vendor. */
const char *ucs_early_name(UcsVendor vendor);

typedef enum UcsEarlyStep {
        UCS_EARLY_END,    /* no archive here: this is where the early part ends */
        UCS_EARLY_SKIP,   /* padding, or a member that is not the one: go on at `next` */
        UCS_EARLY_MEMBER, /* found: `size` bytes at `data` */
        UCS_EARLY_MORE,   /* the window is too short to tell: hand over `need` bytes from the same offset */
} UcsEarlyStep;

typedef struct UcsEarlyPlace {
        uint64_t data, size; /* of the member, offset in the image */
        uint64_t next;       /* offset of the next header; never before the current one */
        size_t need;
} UcsEarlyPlace;

/* For images that one does not want to read whole: what stands at `offset` of an image of `image_size`
 * bytes, of which `window` holds the `n` bytes from there on. Members are skipped by their headers;
 * UCS_EARLY_WINDOW bytes always suffice. A member that does not fit into the image ends the search, as in
 * the kernel. */
#define UCS_EARLY_WINDOW 4096U
UcsEarlyStep ucs_early_step(const uint8_t *window, size_t n, uint64_t offset, uint64_t image_size,
                            const char *name, UcsEarlyPlace *ret);

/* The same over a whole image, or its head: 0, or -ENOENT when no such member is in it. As in the kernel
 * `name` is only compared as far as it goes, and the first member counts. */
int ucs_early_find(const uint8_t *image, size_t size, const char *name, size_t *ret_offset,
                   size_t *ret_size);

/* The update that the early loader would take for this CPU from such a member, whatever runs before: the
 * revision that the next boot comes up with, unless the firmware of the board has a newer one. 1: `*ret`
 * (its `also` is empty) is it; 0: none is for this CPU; -EBADMSG with the reason when the loader gives the
 * whole member up.
 *
 * Intel: the highest of all that match; one bad update, or a rest at the end, and nothing is taken. AMD: of
 * the first container that has a match the last match; a bad section ends its container only. */
int ucs_early_choose(UcsVendor vendor, const uint8_t *data, size_t size, uint32_t signature,
                     uint32_t platform_mask, UcsUpdate *ret, UcsError *e);
