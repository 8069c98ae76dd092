/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One table an enum: the strings in it are those of D-Bus, of the journal, of the configuration and of the documentation.
 * An enum that is named so ends in _UCS_X_MAX and _UCS_X_INVALID = -EINVAL. */

#include <errno.h>

#include "base/str.h"

#define DECLARE_ENUM_STRINGS(name, type)                                                                       \
        const char *name##_to_string(type v);                                                                  \
        type name##_from_string(const char *s)

/* to_string: NULL for a value outside the table. from_string: -EINVAL for an unknown or NULL string. */
#define DEFINE_ENUM_STRINGS(name, type, table)                                                                 \
        const char *name##_to_string(type v) {                                                                 \
                return (int) v >= 0 && (size_t) v < ELEMENTSOF(table) ? (table)[v] : NULL;                     \
        }                                                                                                      \
        type name##_from_string(const char *s) {                                                               \
                for (size_t i = 0; s && i < ELEMENTSOF(table); i++)                                            \
                        if ((table)[i] && streq((table)[i], s))                                                \
                                return (type) i;                                                               \
                return (type) -EINVAL;                                                                         \
        }                                                                                                      \
        struct _semicolon_
