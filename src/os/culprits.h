/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who else on this machine would write to the kernel's reload file, outside of every window and unrecorded:
 *
 * - microcode.service (Red Hat's microcode_ctl), when it is enabled and not masked;
 * - /usr/libexec/microcode_ctl/reload_microcode, which that package's %post runs at every update;
 * - a line of tmpfiles.d(5) that writes 1 to it, in a file that is not masked;
 * - a postinst of dpkg that does (intel-microcode, amd64-microcode, or a local variant of theirs).
 *
 * Files are only looked at. Nothing is found that hides deeper: a script of somebody's own, cron, a configuration manager. */

#include "base/error.h"
#include "base/str.h"

/* A sentence for each, with how to mask it; NULL: none. 0 or -ENOMEM; what cannot be read is no culprit. */
int ucs_culprits_read(int root_fd, char ***ret);
