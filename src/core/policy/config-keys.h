/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The one table of configuration keys, for config.c: from it come assignment, defaults, the sentence about
 * what was expected, and `ucodectl cat-config`. A key that is not in it does not exist: what would have no
 * effect is not accepted. */

#include "core/policy/config.h"

typedef struct ConfigKey ConfigKey;

/* How a kind of value is read and written. Scalars have one value, at index 0. */
typedef struct ConfigType {
        bool list;

        /* Scalars replace the value, lists add one. -EINVAL or -ERANGE (`e` may have a detail), -ENOMEM; the
         * value is untouched then. */
        int (*parse)(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                     UcsError *e);

        /* The i-th value as it would be written. -ENOENT: there are no more. -ENOMEM. */
        int (*format)(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret);

        /* Lists, and what has no default as text: nothing, as before any assignment. NULL: parse the default
         * instead. */
        void (*reset)(const ConfigKey *k, UcsConfig *c);
} ConfigType;

struct ConfigKey {
        const char *section, *name;
        const ConfigType *type;
        size_t offset;        /* of the field in UcsConfig */
        const char *fallback; /* the default, as it would be written; NULL: none, or ucs_config_finish()
                                 finds it */
        uint64_t min, max;    /* in the field's unit */
        const char *expected; /* goes on after "expected " */
};

/* In the order of ucodesyncd.conf(5). */
extern const ConfigKey ucs_config_keys[];
extern const size_t ucs_config_n_keys;
