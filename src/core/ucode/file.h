/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whole files of either vendor.
 *
 * Strict as the kernel's late loader is (arch/x86/kernel/cpu/microcode/{intel,amd}.c): one bad update
 * anywhere in a file makes the whole file bad. Bytes in, values out; nothing is read and nothing is logged
 * here. */

#include "core/ucode/update.h"

#define UCS_FIRMWARE_SIZE_MAX (16U * 1024U * 1024U)

/* Whose file it is, by its first bytes; UNKNOWN for anything else. Says nothing about the rest. */
UcsVendor ucs_update_vendor(const void *data, size_t size);

/* Parse a whole file of either vendor (told by its first bytes). On failure `e` says what is wrong at which
 * offset. -EBADMSG: the kernel would refuse it (-EBADFD at the write); -ENODATA: empty; -ENOMEM. */
int ucs_update_file_parse(const void *data, size_t size, UcsUpdateFile **ret, UcsError *e);

/* The same for people who want to see what is in a file: a file that is whole but that the late loader
 * refuses is read, with `refusal` set (AMD: several containers, which the early loader takes; a
 * chipset-specific patch). Errors as above. */
int ucs_update_file_list(const void *data, size_t size, UcsUpdateFile **ret, UcsError *e);
