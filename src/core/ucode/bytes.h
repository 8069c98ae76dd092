/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Little-endian numbers at any alignment: how both vendors' formats are written. The caller has checked the
 * bounds. */

#include <endian.h>
#include <string.h>

#include "base/macro.h"

static inline uint16_t get_le16(const uint8_t *p) {
        uint16_t v;

        memcpy(&v, p, sizeof(v));
        return le16toh(v);
}

static inline uint32_t get_le32(const uint8_t *p) {
        uint32_t v;

        memcpy(&v, p, sizeof(v));
        return le32toh(v);
}
