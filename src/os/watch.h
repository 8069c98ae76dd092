/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* inotify over the firmware directories: each directory of the search path with intel-ucode/ or amd-ucode/
 * below it. What does not exist yet is watched through its nearest existing parent, but never so high that
 * the rest of the system wakes us. Events are hints: any of them, an overflow, a removal, only mean "scan
 * again when it has been quiet".
 *
 * What counts: in the firmware directories themselves, names that the kernel opens (os/watch.c has them) and
 * directories; on the way there, only the entry that is awaited, or that is a link. Links are followed, and
 * what they lead through is watched in the same way, so that a file that is replaced behind a link is seen.
 * Package managers' temporary names (X.dpkg-new, X.dpkg-tmp, X;5f3a) do not count.
 *
 * What is never watched for new entries: directories that everyone writes to, i.e. those that are
 * world-writable, and /, /dev, /etc, /home, /proc, /root, /run, /sys, /tmp, /var, /var/cache, /var/log,
 * /var/spool, /var/tmp. A search directory that could only be seen to appear there is blind, and so is what
 * is mounted over a directory later: `ucodectl check` finds what is in it. Blind is also one that this process
 * may not read, until its mode or owner changes: while there is such a one, attributes are watched in the
 * directory above it, too. */

#include "base/cleanup.h"
#include "base/error.h"

typedef struct UcsWatch UcsWatch;

/* Directories that are passed through or watched, all in all; what links lead to beyond that is blind. */
#define UCS_WATCH_DIRECTORIES_MAX 256U

/* `subdirectory` is "intel-ucode" or "amd-ucode". Keeps a duplicate of `root_fd` and copies of the rest.
 * -EMFILE, -ENOSPC: the system's limits on inotify (`e` names the sysctl); -ENOENT: there is no /proc. */
int ucs_watch_new(int root_fd, char *const *search_path, const char *subdirectory, UcsWatch **ret,
                  UcsError *e);
UcsWatch *ucs_watch_free(UcsWatch *w);
DEFINE_CLEANUP(UcsWatch *, ucs_watch_free);

int ucs_watch_fd(const UcsWatch *w); /* readable when there are events */

/* Drain the events and re-arm what appeared or vanished. 1: scan again; 0: nothing of ours changed; negative
 * errno: events were lost or not everything could be watched again, scan and look again later (what was
 * watched before still is). */
int ucs_watch_dispatch(UcsWatch *w);

/* Directories whose entries are watched now, for `ucodectl status` and the journal at debug level; and
 * firmware directories in which nothing can be noticed. NULL-terminated, owned by `w`, until the next
 * dispatch; NULL: none. */
char *const *ucs_watch_directories(const UcsWatch *w);
char *const *ucs_watch_blind(const UcsWatch *w);
