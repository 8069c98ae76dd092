/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Firmware as the kernel finds it: its search path, its order of names and suffixes
 * (drivers/base/firmware_loader/main.c), and a read that is not fooled by a file that is replaced meanwhile.
 *
 * The kernel tries the whole search path for the plain name, and goes on with .zst and then .xz only when
 * the last directory answered -ENOENT. A file that it cannot read (a link loop, a directory, an empty or
 * undecompressable file) it passes over without a word; so does ucs_firmware_read(), but it tells. Whether
 * the running kernel was built to read .zst and .xz (CONFIG_FW_LOADER_COMPRESS_ZSTD, _XZ) is published
 * nowhere: they are read here as if it were, `compression` says what it was, and a kernel without answers
 * the write with -ENOENT. The kernel reads in init's mount namespace, this process in its own. */

#include "base/str.h"
#include "core/policy/candidate.h"
#include "core/policy/kernel.h"
#include "os/decompress.h"

/* The directories in the kernel's order, below the root: firmware_class.path (when set),
 * /lib/firmware/updates/RELEASE, /lib/firmware/updates, /lib/firmware/RELEASE, /lib/firmware; or
 * `configured` (not NULL, not empty) as they are. RELEASE is from proc/sys/kernel/osrelease, else from
 * uname() when the root is this machine's own, else its two directories are left out. 0 or -ENOMEM. */
int ucs_firmware_search_path(int root_fd, char *const *configured, char ***ret);

typedef struct UcsFirmware {
        char *path;    /* as opened, below the root */
        uint8_t *data; /* decompressed; owned */
        size_t size;
        UcsCompression compression;
        uint8_t digest[UCS_DIGEST_SIZE]; /* of the file on disk, compressed or not */
        uint64_t changed_usec;           /* ctime, CLOCK_REALTIME */
        UcsError skipped; /* a file earlier in the search path that the kernel passes over; code 0: none */
} UcsFirmware;

UcsFirmware *ucs_firmware_free(UcsFirmware *f);
DEFINE_CLEANUP(UcsFirmware *, ucs_firmware_free);

/* Find and read `name` (ucs_firmware_name()) as the kernel would. -ENOENT: nowhere. -ENODATA: empty.
 * -EAGAIN: it kept changing while it was read. -EFBIG: larger than UCS_FIRMWARE_SIZE_MAX, on disk or
 * decompressed. -EBADMSG, -EOPNOTSUPP: cannot be decompressed (os/decompress.h). -EISDIR, -EINVAL: not a
 * regular file. -ELOOP, -EACCES, …: as the file system says. `e` names the file. */
int ucs_firmware_read(int root_fd, char *const *search_path, const char *name, UcsFirmware **ret,
                      UcsError *e);

/* A single file, by path (ucodectl inspect); compressed when its name ends so. Errors as above. */
int ucs_firmware_read_file(int root_fd, const char *path, UcsFirmware **ret, UcsError *e);

/* Find, read and judge the file of every group of the machine; groups with the same file share one reading
 * of it. Of several updates that one counts which `kernel` would take (NULL: nothing is known of it); where it
 * would take none of them, the newest. An unreadable or bad file is a finding, not a failure: 0 or -ENOMEM. */
int ucs_firmware_scan(int root_fd, char *const *search_path, const UcsMachine *m, const UcsKernel *kernel,
                      UcsScan **ret);
