/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Firmware as the kernel finds it: its search path, its order of names and suffixes (drivers/base/firmware_loader/main.c), and a
 * read that is not fooled by a file that is replaced meanwhile. */

#include "core/policy/candidate.h"
#include "base/str.h"

/* The directories in the kernel's order, below the root: firmware_class.path, updates/$(uname -r), updates, $(uname -r), /lib/firmware; or
 * `configured` as they are. 0 or -errno. */
int ucs_firmware_search_path(int root_fd, char *const *configured, char ***ret);

typedef struct UcsFirmware {
        char *path;   /* as opened */
        uint8_t *data; /* decompressed; owned */
        size_t size;
        uint8_t digest[UCS_DIGEST_SIZE]; /* of the file on disk, compressed or not */
        uint64_t changed_usec;           /* ctime */
} UcsFirmware;

UcsFirmware *ucs_firmware_free(UcsFirmware *f);
DEFINE_CLEANUP(UcsFirmware *, ucs_firmware_free);

/* Find and read `name` (ucs_firmware_name()) as the kernel would. -ENOENT: nowhere. -EAGAIN: it kept changing while it was read.
 * -EFBIG: larger than UCS_FIRMWARE_SIZE_MAX. -EBADMSG: cannot be decompressed. -ELOOP, -EACCES, -EISDIR, …: as the file system says. */
int ucs_firmware_read(int root_fd, char *const *search_path, const char *name, UcsFirmware **ret, UcsError *e);

/* A single file, by path (ucodectl inspect). */
int ucs_firmware_read_file(int root_fd, const char *path, UcsFirmware **ret, UcsError *e);

/* Find, read and judge the file of every group of the machine. An unreadable or bad file is a finding, not a failure: 0 or -ENOMEM. */
int ucs_firmware_scan(int root_fd, char *const *search_path, const UcsMachine *m, UcsScan **ret);
