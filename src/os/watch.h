/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* inotify over the firmware directories: each directory of the search path with intel-ucode/ or amd-ucode/ below it. What does not exist
 * yet is watched through its nearest existing parent, but never so high that the rest of the system wakes us. Events are hints: any
 * of them, an overflow, a removal, only mean "scan again when it has been quiet". Links: the directory that a link leads to is
 * watched too. */

#include "base/error.h"
#include "base/cleanup.h"

typedef struct UcsWatch UcsWatch;

/* `subdirectory` is "intel-ucode" or "amd-ucode". */
int ucs_watch_new(int root_fd, char *const *search_path, const char *subdirectory, UcsWatch **ret, UcsError *e);
UcsWatch *ucs_watch_free(UcsWatch *w);
DEFINE_CLEANUP(UcsWatch *, ucs_watch_free);

int ucs_watch_fd(const UcsWatch *w); /* readable when there are events */

/* Drain the events and re-arm what appeared or vanished. 1: scan again; 0: nothing of ours changed; negative errno. */
int ucs_watch_dispatch(UcsWatch *w);

/* Directories that are watched now, for `ucodectl status` and the journal at debug level; NULL-terminated, owned by `w`. */
char *const *ucs_watch_directories(const UcsWatch *w);
