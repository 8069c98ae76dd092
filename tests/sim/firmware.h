/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Firmware files as the kernel itself finds and reads them (drivers/base/firmware_loader/main.c). */

#include "settings.h"

typedef struct SimFirmware {
        char *path; /* below the firmware root */
        uint8_t *data;
        size_t size;
} SimFirmware;

void sim_firmware_done(SimFirmware *f);

/* Where to look: copies, so that nobody's lock is held while files are read. */
typedef struct SimFirmwareSearch {
        char *root, *path, *release; /* path: firmware_class.path or NULL */
        bool zst, xz;
} SimFirmwareSearch;

int sim_firmware_search_init(const SimSettings *s, SimFirmwareSearch *ret);
void sim_firmware_search_done(SimFirmwareSearch *s);

/* request_firmware_direct(): 0 or the kernel's negative errno, that of the last name tried. */
int sim_firmware_request(const SimFirmwareSearch *s, const char *name, SimFirmware *ret);
