/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Errors and authority; see bus-error.h. The bus daemon itself says who the sender is: /proc is not asked, the sandbox hides it. */

#include <errno.h>

#include "base/cleanup.h"
#include "daemon/bus-error.h"

static const sd_bus_error_map ucodesync_errors[] = {
        SD_BUS_ERROR_MAP(UCS_ERROR_NOT_SUPPORTED, EOPNOTSUPP),
        SD_BUS_ERROR_MAP(UCS_ERROR_NO_CANDIDATE, ENOENT),
        SD_BUS_ERROR_MAP(UCS_ERROR_BUSY, EBUSY),
        SD_BUS_ERROR_MAP(UCS_ERROR_NO_SUCH_HOLD, ENXIO),
        SD_BUS_ERROR_MAP(UCS_ERROR_BLOCKED, EAGAIN),
        SD_BUS_ERROR_MAP(UCS_ERROR_DENIED, EPERM),
        SD_BUS_ERROR_MAP(UCS_ERROR_REFUSED_BY_KERNEL, EIO),
        SD_BUS_ERROR_MAP(UCS_ERROR_CONFIG_INVALID, EINVAL),
        SD_BUS_ERROR_MAP(UCS_ERROR_TOO_MANY, E2BIG),
        SD_BUS_ERROR_MAP_END,
};

int bus_errors_register(void) {
        return sd_bus_error_add_map(ucodesync_errors);
}

int bus_require_root(sd_bus_message *message, uint32_t *ret_uid, sd_bus_error *error) {
        _cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
        uid_t uid;
        int r;

        r = sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID, &creds);
        if (r >= 0)
                r = sd_bus_creds_get_euid(creds, &uid);
        if (r < 0)
                return sd_bus_error_set_errnof(error, r, "Cannot tell who is asking: %m");
        if (uid != 0)
                return sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED, "Only root may change something, user %u asked", uid);
        *ret_uid = uid;
        return 0;
}
