/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* /proc/cpuinfo as bytes, one record a CPU (arch/x86/kernel/cpu/proc.c, show_cpuinfo()): "key<tabs>: value" lines up to an empty line.
 * Other architectures print other keys: their records parse, and say nothing. */

#include "core/policy/machine.h"

#define UCS_CPUINFO_RECORD_MAX (64U * 1024U) /* some 2 to 4 KiB on today's CPUs, most of it flags */

typedef struct UcsCpuinfo {
        uint32_t cpu; /* UCS_ID_UNKNOWN: no "processor" line */
        UcsVendor vendor;
        uint32_t signature; /* CPUID.1:EAX; 0: family, model or stepping is missing, as on any CPU but x86 */
        uint32_t revision;  /* 0: no "microcode" line, as with kernels that do not know it */
        uint32_t package, core, apic_id; /* UCS_ID_UNKNOWN */
        bool hypervisor;                 /* among the flags */
} UcsCpuinfo;

/* Parse the first record of `text`. `last`: nothing comes behind `text`, so that its end is the record's end too.
 *
 * 1: a record, `ret_consumed` bytes long with its empty line. A known key whose value is not what the kernel prints leaves its field
 *    unknown and a sentence in `e` (the first such).
 * 0: no whole record; bring more text, or (with `last`) there is none left. Outputs untouched.
 * -EBADMSG: not text at all (a NUL byte), or no end within UCS_CPUINFO_RECORD_MAX. */
int ucs_cpuinfo_parse(const char *text, size_t size, bool last, UcsCpuinfo *ret, size_t *ret_consumed, UcsError *e);
