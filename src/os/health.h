/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The condition of the machine below a root, apart from its CPUs, into a UcsHealth. What cannot be read is unknown, and no failure. */

#include "core/policy/health.h"

/* Everything but the machine checks, `early_broken_boots` and what systemd-logind says, which stay as they are: a dozen small files.
 *
 * - tainted, uptime, kernel.panic of procfs (an unknown kernel.panic counts as one that reboots); kernel/realtime, kernel/kexec_crash_loaded and the
 *   current clocksource of sysfs; dev/sgx_enclave.
 * - shutdown: run/systemd/shutdown/scheduled, which systemd-logind writes for `shutdown +5` and removes when that is cancelled. A reboot that has begun
 *   without a schedule (`systemctl reboot`) leaves no file: daemon/logind asks for it.
 * - state: the file system that `state_directory` is on, or will be (the nearest directory above it that exists): tmpfs and ramfs are volatile, a file
 *   system or mount that is read-only is, and so is an overlay whose upper layer lies on a tmpfs that can be found in proc/self/mountinfo. */
void ucs_health_read(int root_fd, const char *state_directory, UcsHealth *h);

/* Machine check exceptions of all CPUs in this boot, the line MCE of proc/interrupts; UCS_UNKNOWN when there is none. Apart, because the kernel needs
 * milliseconds for that file on a large machine. */
uint64_t ucs_health_read_machine_checks(int root_fd);
