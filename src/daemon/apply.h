/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A load under way, for apply.c and what it is written down with. */

#include "daemon/aftermath.h"
#include "daemon/log.h"
#include "daemon/manager.h"
#include "os/reload.h"

struct Apply {
        Manager *manager;
        UcsRequest request;
        UcsReload *reload;
        sd_event_source *done, *hang;
        UcsMachine *before;
        UcsCandidate candidate; /* a copy: the scan may be replaced meanwhile; `path` is owned */
        uint32_t old_revision;
        uint64_t begun_usec;
        UcsPreflight foretold;
        Aftermath aftermath;
        UcsReloadOutcome outcome; /* from the end of the thread to the end of the load */
};
