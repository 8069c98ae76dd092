/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who made this machine, from the firmware's own tables: sys/devices/virtual/dmi/id (drivers/firmware/dmi-id.c). */

#include "core/policy/rules.h"

/* What is not there (no DMI, as on many virtual machines), empty or not readable stays NULL: unknown. 0 or -ENOMEM, `ret` untouched. */
int ucs_host_read(int root_fd, UcsHost *ret);
