/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel makes of the firmware file for CPU 0, before it stops anything: the first half of a late
 * load.
 *
 * The simulator reads the formats with its own eyes (request-intel.c, request-amd.c) and not with those of
 * the product: what one of the two takes and the other refuses shows in every test that uses both. */

#include "machine.h"

typedef enum SimVerdict {
        SIM_VERDICT_NOTHING,  /* nothing to do, and no error (AMD) */
        SIM_VERDICT_NEW,      /* load it, without the blessing of a minimum revision */
        SIM_VERDICT_NEW_SAFE, /* load it, the minimum revision is met */
        SIM_VERDICT_NOT_FOUND,
        SIM_VERDICT_BAD, /* the file is no good */
} SimVerdict;

typedef struct SimPatch {
        uint32_t revision, date;
} SimPatch;

/* Look the file up and judge it. With both locks; `lock` is open while files are read. */
SimVerdict sim_request(SimMachine *m, SimPatch *ret);

SimVerdict sim_request_intel(SimMachine *m, const uint8_t *data, size_t size, SimPatch *ret);
SimVerdict sim_request_amd(SimMachine *m, const uint8_t *data, size_t size, SimPatch *ret);

/* The revisions that the loader asks: that of CPU 0 (Intel), those of the first CPU of each node (AMD). Is
 * one below `revision`? */
bool sim_request_wants(const SimMachine *m, uint32_t revision);

uint32_t sim_signature_family(uint32_t signature);
uint32_t sim_signature_model(uint32_t signature);

static inline uint32_t sim_le32(const uint8_t *p) {
        return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}
