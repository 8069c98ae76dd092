/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The updates of a file as values; see update.h. */

#include <stdio.h>

#include "base/timefmt.h"
#include "core/ucode/bytes.h"
#include "core/ucode/update.h"

UcsUpdateFile *ucs_update_file_free(UcsUpdateFile *file) {
        if (!file)
                return NULL;
        for (size_t i = 0; i < file->n_updates; i++)
                free(file->updates[i].also);
        free(file->updates);
        free(file);
        return NULL;
}

int ucs_update_file_add(UcsUpdateFile *file, UcsUpdate *u) {
        UcsUpdate *p;

        /* grows at powers of two */
        if ((file->n_updates & (file->n_updates - 1)) == 0) {
                p = reallocarray(file->updates, 2 * file->n_updates ?: 1, sizeof(UcsUpdate));
                if (!p) {
                        free(u->also);
                        return -ENOMEM;
                }
                file->updates = p;
        }
        file->updates[file->n_updates++] = *u;
        return 0;
}

/* Two decimal digits, or -1. */
static int bcd_byte(uint32_t v) {
        return (v & 0xf) <= 9 && (v >> 4 & 0xf) <= 9 ? (int) ((v >> 4 & 0xf) * 10 + (v & 0xf)) : -1;
}

const char *ucs_update_date(char buf[static UCS_DATE_MAX], uint32_t bcd) {
        int month = bcd_byte(bcd >> 24), day = bcd_byte(bcd >> 16), century = bcd_byte(bcd >> 8),
            year = bcd_byte(bcd);
        unsigned same_month, same_day;
        int64_t same_year;

        buf[0] = '\0';
        if (month < 1 || month > 12 || day < 1 || century < 0 || year < 0)
                return NULL;
        /* a day that the calendar does not have comes back as another one */
        ucs_civil_from_days(ucs_days_from_civil(century * 100 + year, (unsigned) month, (unsigned) day),
                            &same_year, &same_month, &same_day);
        if (same_month != (unsigned) month || same_day != (unsigned) day)
                return NULL;
        (void) snprintf(buf, UCS_DATE_MAX, "%02d%02d-%02d-%02d", century % 100, year % 100, month % 100,
                        day % 100);
        return buf;
}
