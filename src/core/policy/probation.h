/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* After a load the machine is on probation: the kernel's log is read again after 1 minute, 10 minutes, 1 hour and at the end. Failures can
 * come hours later. The record is kept on disk; an unclean reset before the end counts as one of the bad signs. */

#include "core/policy/candidate.h"

typedef struct UcsProbation {
        uint64_t since_usec; /* CLOCK_REALTIME of the load; 0: there is none */
        uint64_t until_usec;
        uint64_t read_until_usec; /* the log has been read up to here */
        uint8_t digest[UCS_DIGEST_SIZE];
        char boot_id[40];
        bool clean; /* the daemon was stopped in order since */
} UcsProbation;

/* When the log is to be read next: the first of the moments that lies after `read_until_usec`; 0: there is no probation. */
uint64_t ucs_probation_next(const UcsProbation *p);

/* A daemon starts with this record in this boot: did the machine go down without being told to? */
bool ucs_probation_unclean(const UcsProbation *p, const char *boot_id);
