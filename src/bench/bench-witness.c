/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodebench witness: stalls of the whole machine whose length is known, and what each witness says of them.
 *
 * One repetition is one stall, made by hogs (hog.h) that note their own times, and seen at once by the three: "perf", the switches of those
 * very threads (os/perf-switch, as the daemon's witness of migration/N); "accounts", what the scheduler has charged them
 * (as the daemon's schedstat witness); "probe", FIFO threads that know nothing of the hogs (fifo-probe.h). The error is what the witness says
 * less what the hogs noted. Idle and twice oversubscribed, and without any stall, where every claim is false.
 *
 * A stall in which a hog had to make way for another task (the deadline server of Linux 6.12 for ordinary tasks, for one) is not the one that was
 * asked for: it is made again, and counted as spoiled. What the hypervisor takes away is part of the stall for everybody but the accounts. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "bench/accounts.h"
#include "bench/burn.h"
#include "bench/busy.h"
#include "bench/fifo-probe.h"
#include "bench/hog.h"
#include "bench/machine.h"
#include "bench/report.h"
#include "bench/stats.h"
#include "bench/thread.h"
#include "os/perf-switch.h"

#define REPETITIONS_DEFAULT 5U
#define TRIES_PER_REPETITION 5U
#define LEAD_NSEC (10 * NSEC_PER_MSEC)   /* from letting the hogs go to the stall, */
#define LEAD_PER_CPU_NSEC (100 * NSEC_PER_USEC) /* and for each CPU: its account is read in that time */
#define TAIL_NSEC (2 * NSEC_PER_MSEC)
#define QUIET_NSEC (100 * NSEC_PER_MSEC) /* how long is watched where nothing happens */
#define PAUSE_NSEC (50 * NSEC_PER_MSEC)
#define PAUSES 2U                        /* and of the stall's length so many: FIFO must stay well below 950 ms in 1 s */
#define BURNERS_PER_CPU 2U
#define GAPS_MAX 64U

typedef enum Sight {
        SIGHT_PERF,
        SIGHT_ACCOUNTS,
        SIGHT_PROBE,
        _SIGHT_MAX,
} Sight;

static const char *const sight_names[_SIGHT_MAX] = {
        [SIGHT_PERF] = "perf",
        [SIGHT_ACCOUNTS] = "accounts",
        [SIGHT_PROBE] = "probe",
};

static const uint32_t default_lengths[] = { 1, 3, 10, 30, 100, 300 };

static const struct {
        const char *name;
        unsigned burners_per_cpu;
} loads[] = {
        { "idle", 0 },
        { "load", BURNERS_PER_CPU },
};

typedef struct Repetition {
        uint64_t true_nsec;
        uint64_t seen_nsec[_SIGHT_MAX]; /* UCS_UNKNOWN: did not see anything, or is not there */
} Repetition;

typedef struct Run {
        const Bench *b;
        BenchTopology topology;
        BenchReport *report;
        uint32_t repetitions, spoiled;
        uint64_t longest_gap_nsec;
        bool cut_short;
        int64_t *apart; /* accounts less perf, of every stall that both saw */
        size_t n_apart;
} Run;

/* The longest machine-wide gap that the probe saw, whether it would claim it or not. */
static uint64_t probe_says(const BenchFifoProbe *p) {
        BenchGap gaps[GAPS_MAX];
        uint64_t longest = 0;
        size_t n;

        n = MIN(bench_fifo_probe_machine_wide(p, 1, gaps, GAPS_MAX), (size_t) GAPS_MAX);
        for (size_t i = 0; i < n; i++)
                longest = MAX(longest, gaps[i].to_nsec - gaps[i].from_nsec);
        return longest;
}

/* The intersection of the longest stays on a CPU. */
static uint64_t perf_says(const UcsPerfSwitches *perf, size_t n) {
        uint64_t last_in = 0, first_out = UINT64_MAX;

        for (size_t i = 0; i < n; i++) {
                UcsSwitches seen;

                if (ucs_perf_switches_read(perf, i, &seen) < 0 || seen.entry_nsec == UCS_UNKNOWN)
                        return UCS_UNKNOWN;
                last_in = MAX(last_in, seen.entry_nsec);
                first_out = MIN(first_out, seen.exit_nsec);
        }
        return first_out > last_in ? first_out - last_in : 0;
}

static uint64_t accounts_say(const uint64_t *before, const uint64_t *after, size_t n) {
        uint64_t shortest = UINT64_MAX;

        for (size_t i = 0; i < n; i++)
                shortest = MIN(shortest, after[i] - before[i]);
        return shortest;
}

/* 0, 1 (spoiled: `ret` untouched), or a negative errno. */
static int make_stall(Run *run, uint32_t length_msec, Repetition *ret, UcsError *e) {
        const size_t n = run->topology.n;
        _cleanup_(bench_fifo_probe_freep) BenchFifoProbe *probe = NULL;
        _cleanup_(bench_hogs_freep) BenchHogs *hogs = NULL;
        _cleanup_(ucs_perf_switches_closep) UcsPerfSwitches *perf = NULL;
        _cleanup_free_ uint64_t *before = new0(uint64_t, n), *after = new0(uint64_t, n);
        UcsError x = {};
        BenchStall stall;
        bool in_time, have_accounts;
        int r;

        if (!before || !after)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        r = bench_hogs_new(&run->topology, &hogs, e);
        if (r < 0)
                return r;
        if (ucs_perf_switches_open(bench_hogs_tids(hogs), n, &perf, &x) < 0)
                bench_report_note(run->report, "perf is missing: %s", x.text);
        r = bench_fifo_probe_start(&run->topology, (uint64_t) length_msec * NSEC_PER_MSEC + NSEC_PER_SEC, &probe, e);
        if (r < 0)
                return r;

        bench_hogs_release(hogs, LEAD_NSEC + n * LEAD_PER_CPU_NSEC, (uint64_t) length_msec * NSEC_PER_MSEC);
        /* they sleep now: their accounts stand still, and the next switch is the one into the stall */
        r = bench_accounts_read(run->b, bench_hogs_tids(hogs), n, before, &x);
        have_accounts = r >= 0;
        if (perf)
                ucs_perf_switches_mark(perf);
        in_time = !bench_hogs_begun(hogs);
        bench_hogs_wait(hogs);
        bench_sleep(TAIL_NSEC);
        (void) bench_fifo_probe_stop(probe);
        have_accounts = have_accounts && bench_accounts_read(run->b, bench_hogs_tids(hogs), n, after, &x) >= 0;
        if (!have_accounts)
                bench_report_note(run->report, "accounts are missing: %s", x.text);

        if (!in_time || bench_hogs_result(hogs, &stall) < 0 || stall.broken)
                return 1;
        run->longest_gap_nsec = MAX(run->longest_gap_nsec, stall.gap_nsec);
        *ret = (Repetition){
                .true_nsec = stall.to_nsec - stall.from_nsec,
                .seen_nsec = {
                        [SIGHT_PERF] = perf ? perf_says(perf, n) : UCS_UNKNOWN,
                        [SIGHT_ACCOUNTS] = have_accounts ? accounts_say(before, after, n) : UCS_UNKNOWN,
                        [SIGHT_PROBE] = probe_says(probe),
                },
        };
        return 0;
}

/* A window in which nothing is made to happen: only the probe can claim anything. */
static int make_nothing(Run *run, uint32_t length_msec, Repetition *ret, UcsError *e) {
        _cleanup_(bench_fifo_probe_freep) BenchFifoProbe *probe = NULL;
        int r;

        r = bench_fifo_probe_start(&run->topology, NSEC_PER_SEC, &probe, e);
        if (r < 0)
                return r;
        bench_sleep(QUIET_NSEC);
        (void) bench_fifo_probe_stop(probe);
        *ret = (Repetition){
                .seen_nsec = { [SIGHT_PERF] = UCS_UNKNOWN, [SIGHT_ACCOUNTS] = UCS_UNKNOWN, [SIGHT_PROBE] = probe_says(probe) },
        };
        return 0;
}

static void report_repetition(Run *run, const char *load, uint32_t length_msec, const Repetition *x) {
        for (Sight s = 0; s < _SIGHT_MAX; s++) {
                json_object *o;

                if (x->seen_nsec[s] == UCS_UNKNOWN)
                        continue;
                o = bench_report_object(run->report);
                (void) json_object_object_add(o, "witness", json_object_new_string(sight_names[s]));
                (void) json_object_object_add(o, "load", json_object_new_string(load));
                (void) json_object_object_add(o, "length_msec", json_object_new_uint64(length_msec));
                (void) json_object_object_add(o, "true_nsec", json_object_new_uint64(x->true_nsec));
                (void) json_object_object_add(o, "stall_nsec", json_object_new_uint64(x->seen_nsec[s]));
                (void) json_object_object_add(o, "error_nsec", json_object_new_int64((int64_t) (x->seen_nsec[s] - x->true_nsec)));
        }
        if (x->seen_nsec[SIGHT_PERF] != UCS_UNKNOWN && x->seen_nsec[SIGHT_ACCOUNTS] != UCS_UNKNOWN)
                run->apart[run->n_apart++] = llabs((int64_t) (x->seen_nsec[SIGHT_ACCOUNTS] - x->seen_nsec[SIGHT_PERF]));
}

static void report_cell(Run *run, const char *load, uint32_t length_msec, const Repetition *x, size_t n) {
        for (Sight s = 0; s < _SIGHT_MAX; s++) {
                _cleanup_free_ int64_t *errors = new0(int64_t, n);
                size_t k = 0;

                for (size_t i = 0; errors && i < n; i++)
                        if (x[i].seen_nsec[s] != UCS_UNKNOWN)
                                errors[k++] = (int64_t) (x[i].seen_nsec[s] - x[i].true_nsec);
                if (k == 0)
                        continue;
                bench_report_row(run->report);
                bench_report_cell(run->report, "%s", sight_names[s]);
                bench_report_cell(run->report, "%s", load);
                bench_report_cell(run->report, "%u", length_msec);
                bench_report_cell(run->report, "%zu", k);
                bench_report_cell(run->report, "%.1f", (double) bench_median_signed(errors, k) / 1e3);
                bench_report_cell(run->report, "%.1f", (double) bench_worst(errors, k) / 1e3);
        }
}

/* One length under one load. `length_msec` of 0: no stall. */
static int measure_cell(Run *run, const char *load, uint32_t length_msec, UcsError *e) {
        int (*make)(Run *, uint32_t, Repetition *, UcsError *) = length_msec > 0 ? make_stall : make_nothing;
        _cleanup_free_ Repetition *done = new0(Repetition, run->repetitions);
        size_t n = 0;
        int r;

        if (!done)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        for (uint32_t tries = 0; n < run->repetitions && tries < run->repetitions * TRIES_PER_REPETITION; tries++) {
                if (bench_interrupted())
                        break;
                if (bench_out_of_time(run->b)) {
                        run->cut_short = true;
                        break;
                }
                r = make(run, length_msec, &done[n], e);
                if (r < 0)
                        return r;
                bench_sleep(PAUSE_NSEC + PAUSES * (uint64_t) length_msec * NSEC_PER_MSEC);
                if (r > 0) {
                        run->spoiled++;
                        continue;
                }
                report_repetition(run, load, length_msec, &done[n]);
                n++;
        }
        report_cell(run, load, length_msec, done, n);
        return 0;
}

static int measure(Run *run, const uint32_t *lengths, size_t n_lengths, UcsError *e) {
        int r;

        for (size_t i = 0; i < ELEMENTSOF(loads); i++) {
                _cleanup_(bench_burn_stopp) BenchBurn *burn = NULL;

                if (loads[i].burners_per_cpu > 0) {
                        r = bench_burn_start(&run->topology, loads[i].burners_per_cpu, &burn, e);
                        if (r < 0)
                                return r;
                }
                r = measure_cell(run, loads[i].name, 0, e);
                for (size_t k = 0; k < n_lengths && r >= 0; k++)
                        r = measure_cell(run, loads[i].name, lengths[k], e);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void report_notes(Run *run) {
        BenchReport *r = run->report;

        if (run->n_apart > 0)
                bench_report_note(r, "Accounts and perf are %.1f us apart in the median of %zu stalls",
                                  (double) bench_median_signed(run->apart, run->n_apart) / 1e3, run->n_apart);
        if (run->spoiled > 0)
                bench_report_note(r, "%u stalls were spoiled and made again: another task ran in the middle of them",
                                  run->spoiled);
        if (run->longest_gap_nsec > 0)
                bench_report_note(r, "The longest interrupt, or time taken by the hypervisor, in the middle of a stall was %.0f us",
                                  (double) run->longest_gap_nsec / 1e3);
        if (run->cut_short)
                bench_report_note(r, "Cut short by --limit=");
        bench_report_note(r, "Length 0 is no stall at all: there the error is the longest machine-wide gap that was falsely seen. Errors are what "
                             "the witness says less what the hogs noted; the switches into and out of a hog lie between the two");
        if (run->topology.n < run->topology.n_online)
                bench_report_note(r, "%u CPUs were not stopped and not watched: machine-wide means the others",
                                  run->topology.n_online - (uint32_t) run->topology.n);
}

static uint64_t estimate_usec(uint32_t repetitions, const uint32_t *lengths, size_t n) {
        uint64_t msec = QUIET_NSEC / NSEC_PER_MSEC + 70;

        for (size_t i = 0; i < n; i++)
                msec += lengths[i] * (1 + PAUSES) + 70;
        return ELEMENTSOF(loads) * repetitions * msec * USEC_PER_MSEC;
}

int bench_witness(Bench *b, int argc, char **argv) {
        static const BenchColumn columns[] = {
                { "WITNESS" }, { "LOAD" }, { "STALL ms", true }, { "STALLS", true }, { "MEDIAN ERROR us", true }, { "WORST us", true },
        };
        const uint32_t *lengths = b->n_list > 0 ? b->list : default_lengths;
        const size_t n_lengths = b->n_list > 0 ? b->n_list : ELEMENTSOF(default_lengths);
        _cleanup_(bench_report_freep) BenchReport *report = NULL;
        _cleanup_free_ int64_t *apart = NULL;
        Run run = { .b = b, .repetitions = b->repetitions ?: REPETITIONS_DEFAULT };
        UcsError e = {};
        int r;

        r = bench_may_run(b, estimate_usec(run.repetitions, lengths, n_lengths));
        if (r != BENCH_DONE)
                return r;
        bench_be_nice(b);
        r = bench_topology_read(b, &run.topology, &e);
        if (r < 0)
                return bench_fail(b, BENCH_UNSUPPORTED, "NotSupported", "%s", e.text);
        apart = new0(int64_t, ELEMENTSOF(loads) * n_lengths * run.repetitions);
        r = apart ? bench_report_new(b, "witness", bench_machine_describe(b, &run.topology), columns, ELEMENTSOF(columns), &report) : -ENOMEM;
        if (r >= 0) {
                run.report = report;
                run.apart = apart;
                r = bench_thread_become(SCHED_FIFO, BENCH_PRIORITY_CONTROL, &e);
        }
        if (r >= 0)
                r = measure(&run, lengths, n_lengths, &e);
        (void) bench_thread_become(SCHED_OTHER, 0, NULL);
        if (r >= 0)
                report_notes(&run);
        bench_topology_done(&run.topology);
        if (bench_interrupted())
                return bench_fail(b, BENCH_INTERRUPTED, "Interrupted", "interrupted by a signal");
        if (r < 0)
                return bench_fail(b, r == -EPERM ? BENCH_UNSUPPORTED : BENCH_FAILED, r == -EPERM ? "NotSupported" : "Failed", "%s",
                                  e.code != 0 ? e.text : "out of memory");
        return bench_report_print(report);
}
