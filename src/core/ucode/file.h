/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For the parsers of core/ucode only: how a UcsUpdateFile grows. */

#include "core/ucode/update.h"

/* Takes over `u`, also when it fails: 0 or -ENOMEM. */
int ucs_update_file_add(UcsUpdateFile *file, UcsUpdate *u);
