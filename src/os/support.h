/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whether this kernel can load late, and why not (DESIGN 4): asked in the order architecture, container, Xen, then the files
 * themselves; only their absence is explained by the hypervisor bit, the command line or the kernel's options. */

#include "core/policy/machine.h"

/* From `m` are taken: the online CPUs, vendor, signatures, hypervisor. What cannot be read counts as not being there. Always 0.
 *
 * The signs of a container are the documented ones alone: run/host/container-manager and container= in the environment of PID 1
 * (systemd.io/CONTAINER_INTERFACE), run/systemd/container (systemd's copy of it), run/.containerenv (podman-run(1)) and .dockerenv. Names of
 * control groups are nobody's interface. Xen: sys/hypervisor/type (Documentation/ABI/stable/sysfs-hypervisor-xen), but for fully
 * virtualized guests (guest_type "HVM"), which are virtual machines like any other. */
int ucs_support_read(int root_fd, const UcsMachine *m, UcsSupport *ret, UcsSupportReason *ret_reason);
