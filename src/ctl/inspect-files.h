/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For `ucodectl inspect`: which files an operand stands for, and their bytes. Unlike os/firmware it does not
 * look along the kernel's search path and makes no digest, and one buffer serves all files. */

#include "ctl/ctl.h"

typedef struct CtlFiles {
        int root_fd;
        char *directory; /* relative paths are below it; NULL with --root: they are below the root */
        uint8_t *buffer;
        size_t allocated;
        uint8_t *decompressed;
} CtlFiles;

/* -errno, with `e`. */
int ctl_files_open(CtlFiles *f, const UcsCtl *ctl, UcsError *e);
void ctl_files_done(CtlFiles *f);

/* The operand itself, or every regular file below the directory that it names, in the order of their whole
 * paths. A link counts as the file that it leads to, one to a directory not at all; a directory that cannot
 * be read stands for itself. 0 or -ENOMEM. */
int ctl_files_list(const CtlFiles *f, const char *operand, char ***ret);

/* The bytes of a file, decompressed when its name ends in .zst or .xz; they are good until the next call.
 * -errno, with a sentence that does not name the file: -EFBIG (more than UCS_FIRMWARE_SIZE_MAX), -EAGAIN
 * (changed while it was read), those of os/decompress.h, … */
int ctl_files_read(CtlFiles *f, const char *path, const uint8_t **ret, size_t *ret_size, UcsError *e);
