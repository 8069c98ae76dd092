/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Accounts of the scheduler; see accounts.h. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "bench/accounts.h"
#include "os/root.h"

#define TEXT_MAX 96U

int bench_accounts_read(const Bench *b, const uint32_t *tids, size_t n, uint64_t *ret_nsec, UcsError *e) {
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *text = NULL;
                uint64_t waited, runs;
                char path[48];
                int r;

                (void) snprintf(path, sizeof(path), "proc/%u/schedstat", tids[i]);
                r = ucs_root_read(b->root_fd, path, TEXT_MAX, &text, NULL, e);
                if (r < 0)
                        return r;
                if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret_nsec[i], &waited, &runs) != 3)
                        return ucs_error_set(e, -EBADMSG, "/%s is not three numbers", path);
                /* the thread has run, or it could not have said that it is there */
                if (ret_nsec[i] == 0 && runs == 0)
                        return ucs_error_set(e, -EOPNOTSUPP, "/%s reads 0 0 0, this kernel keeps no accounts", path);
        }
        return 0;
}
