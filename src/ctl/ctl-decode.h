/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the bus answers, as JSON values: the one model that both the screens and --json are made from, so
 * that they cannot differ.
 *
 * Its rules (ucodectl(8), JSON): names in snake_case; moments in usec since the epoch; revisions, signatures
 * and platform masks as "0x…" strings of 8 digits; null for everything that is unknown, none or empty. Types
 * that this version does not expect are shown as they are. */

#include "ctl/ctl.h"

typedef enum CtlKind {
        CTL_PLAIN,    /* a count, a flag, a text */
        CTL_HEX,      /* "0x00050654" */
        CTL_REVISION, /* the same; 0 is none */
        CTL_MOMENT,   /* usec since the epoch; 0 is none, UINT64_MAX never */
        CTL_SPAN,     /* ns, ticks, bounds: the largest number is unknown or none */
        CTL_RATE,     /* Hz; 0 is unknown */
        CTL_ERRNO,    /* 0 success, positive errno, negative none */
} CtlKind;

typedef struct CtlField {
        const char *bus;  /* "StallNSec", "" in a struct */
        const char *json; /* "stall_nsec" */
        CtlKind kind;
        const struct CtlField *members; /* of a struct, in its order; `json` NULL ends them */
} CtlField;

extern const CtlField ctl_manager_fields[], ctl_stall_fields[], ctl_history_fields[];

/* Structs that methods and signals carry. */
extern const CtlField ctl_blocker_members[], ctl_processor_members[], ctl_window_members[],
        ctl_per_cpu_members[];

/* A signal's name and its arguments. */
typedef struct CtlSignal {
        const char *interface, *bus, *json;
        const CtlField *arguments;
} CtlSignal;
extern const CtlSignal ctl_signals[]; /* `bus` NULL ends them */

/* The next value of a message; `f` may be NULL. 0 or -errno. */
int ctl_decode(sd_bus_message *m, const CtlField *f, json_object **ret);

/* An a{sv} of names in `fields` as one object, in the order of the table; what is not in the table comes
 * last. */
int ctl_decode_dict(sd_bus_message *m, const CtlField *fields, json_object **ret);

/* The arguments of a signal or reply, added to `o`. */
int ctl_decode_members(sd_bus_message *m, const CtlField *members, json_object *o);

/* "NextWindowStartUSec" into "next_window_start_usec", for names that the tables lack. NULL without memory.
 */
char *ctl_snake_case(const char *name);

/* All properties of an interface. 0, or an exit code: reported already. */
int ctl_get_all(UcsCtl *ctl, const char *interface, json_object **ret);

/* Read from such a value: false and NULL where it is absent, null or of another type. */
bool ctl_u64(const json_object *o, const char *key, uint64_t *ret);
bool ctl_bool(const json_object *o, const char *key);
double ctl_double(const json_object *o, const char *key);
const char *ctl_string(const json_object *o, const char *key);
json_object *ctl_array(const json_object *o, const char *key, size_t *ret_n);

static inline void json_object_putp(json_object **o) {
        if (*o)
                json_object_put(*o);
}
#define _cleanup_json_ _cleanup_(json_object_putp)
