/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What people should know about a load or about the files on disk, beside what rules say (trust.h) and gates hold back: sentences, and nothing that
 * depends on them. */

#include "core/policy/policy.h"

/* About the load of what is newer: so far, a kernel that may damage itself by it.
 *
 * Kernels from before 6.14 (e3e89178a9f4 there; stable from 5.4.292, 5.10.236, 5.15.180, 6.1.132, 6.6.84, 6.12.20 and 6.13.8 on) ask the first CPU of
 * every possible memory node for its AMD revision, and read beyond the end of a table for a node that has none. That a vendor took the fix over
 * cannot be seen, so it is a caution and no blocker. NULL in `*ret`: nothing to say. 0 or -ENOMEM. */
int ucs_caution_load(const UcsWorld *w, char ***ret);

/* About the search path: files that the kernel passes over without a word, each once, and which one it takes instead. As above. */
int ucs_caution_files(const UcsWorld *w, char ***ret);
