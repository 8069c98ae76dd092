/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The errors of org.ucodesync1, one table with their errno; and who may change something. */

#include <systemd/sd-bus.h>

#define UCS_ERROR_NOT_SUPPORTED "org.ucodesync1.Error.NotSupported"
#define UCS_ERROR_NO_CANDIDATE "org.ucodesync1.Error.NoCandidate"
#define UCS_ERROR_BUSY "org.ucodesync1.Error.Busy"
#define UCS_ERROR_NO_SUCH_HOLD "org.ucodesync1.Error.NoSuchHold"
#define UCS_ERROR_BLOCKED "org.ucodesync1.Error.Blocked"
#define UCS_ERROR_DENIED "org.ucodesync1.Error.Denied"
#define UCS_ERROR_REFUSED_BY_KERNEL "org.ucodesync1.Error.RefusedByKernel"
#define UCS_ERROR_CONFIG_INVALID "org.ucodesync1.Error.ConfigInvalid"
#define UCS_ERROR_TOO_MANY "org.ucodesync1.Error.TooMany"

/* Make sd-bus know the table. 0 or -errno. */
int bus_errors_register(void);

/* Only root changes something. 0 with the caller's uid, or a negative errno with `error` set. */
int bus_require_root(sd_bus_message *message, uint32_t *ret_uid, sd_bus_error *error);
