/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Rule files below a root, into a UcsRuleSet: {/etc,/usr/lib}/ucodesync/rules.d/NAME.conf in the order of their names (the same name in /etc masks
 * /usr/lib; a link to /dev/null or an empty file masks). What a line may be is in ini-lines.h, what a rule is in ucodesync-rules(5). */

#include "core/policy/rules.h"

/* All files, or none: a rule that someone wrote is never left out in silence. Without any file the set is empty. -EINVAL with "path:line: …, expected
 * …" for the first thing that is wrong in a file; another errno with the path for a file that cannot be read. `ret_warnings` (may be NULL; NULL when
 * there are none): strings for the journal, about files with another suffix and rules that speak about every update. */
int ucs_rules_load(int root_fd, UcsRuleSet **ret, char ***ret_warnings, UcsError *e);

/* The text of one file, added to the set: what ucs_rules_load() does with each. `local`: it counts as one of /etc. Errors as there. */
int ucs_rules_parse(UcsRuleSet *s, const char *path, const char *text, size_t size, bool local, UcsError *e);
