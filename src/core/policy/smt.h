/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which of the offline CPUs is the first thread of its core, and which is a further one. A kernel answers EBUSY for an offline first
 * thread, and may load without an offline sibling (arch/x86/kernel/cpu/microcode/core.c, setup_cpus()); but an offline CPU has no topology
 * directory, and the lists of the online ones do not name it.
 *
 * So it is inferred: from what was seen of that CPU while it was online, from the way in which the online threads are numbered,
 * and from smt/control. What cannot be told is a first thread: the daemon then waits where it need not, and never writes in vain. */

#include "core/policy/machine.h"

typedef enum UcsSmtControl {
        UCS_SMT_UNKNOWN, /* no such file (Linux before 4.19), or not a word that we know */
        UCS_SMT_ON,
        UCS_SMT_OFF,  /* "off", "forceoff": the kernel has taken the siblings offline */
        UCS_SMT_NONE, /* "notsupported", "notimplemented": one thread a core */
} UcsSmtControl;

/* A line of sys/devices/system/cpu/smt/control, blanks at its end are taken. */
UcsSmtControl ucs_smt_control_parse(const char *s);

/* What is known of one CPU. */
typedef struct UcsSmtSeen {
        uint32_t first;     /* lowest CPU that was ever seen in the same core, itself included; UCS_ID_UNKNOWN: never seen online */
        uint32_t n_threads; /* most threads that were ever seen in its core */
} UcsSmtSeen;

/* Split `present` less `online` in two. `seen` is indexed by CPU number, of `n_seen` entries; CPUs beyond were never seen. */
void ucs_smt_classify(const UcsCpuSet *present, const UcsCpuSet *online, const UcsSmtSeen *seen, size_t n_seen,
                      UcsSmtControl control, UcsCpuSet *ret_primaries, UcsCpuSet *ret_siblings);
