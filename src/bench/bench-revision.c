/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodebench revision: what reading the revision costs, in every way (ways.h), of one CPU and of all, hot and cold, on this machine and on
 * trees of N CPUs on tmpfs; n null system calls beside each, since what can be compared between machines is the ratio.
 *
 * A row is one reading of its CPUs as a whole. Hot: the same has just been read. Cold: the kernel's caches of names and inodes are dropped before
 * (as root, and only where there are any: sysfs and procfs) and 64 MiB are written over the CPU's own.
 *
 * For the few milliseconds of a sample this thread is SCHED_FIFO where it may be, and rests as long afterwards: what is measured is the call, not
 * the competition. A sample in which it was preempted all the same is taken again. Every way must come to the same revisions, or there
 * is no figure. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

#include "bench/busy.h"
#include "bench/machine.h"
#include "bench/report.h"
#include "bench/stats.h"
#include "bench/thread.h"
#include "bench/ways.h"
#include "os/clock.h"
#include "os/root.h"

#define DESCRIPTORS 16384U /* as many as the daemon's unit allows itself */
#define HOT_DEFAULT 60U
#define HOT_LONG_DEFAULT 21U /* where one takes longer than LONG_NSEC */
#define LONG_NSEC NSEC_PER_MSEC
#define COLD_DEFAULT 9U
#define ROUNDS 3U /* the ways take turns, so that a bad moment hits all of them */
#define BATCH_NSEC (20 * NSEC_PER_USEC)
#define BATCH_MAX UINT64_C(1000)
#define TRIES 20U
#define REST_MAX_NSEC (50 * NSEC_PER_MSEC)
#define SAMPLES_MAX 1000U
#define EVICT_BYTES (64UL << 20)

static const uint32_t default_sizes[] = { 64, 512, 4096 };

typedef struct Run {
        const Bench *b;
        BenchReport *report;
        uint32_t n_hot, n_cold;
        bool fifo;      /* may be SCHED_FIFO for a while */
        uint8_t *evict; /* EVICT_BYTES */
        int drop_fd;    /* of vm/drop_caches; -EBADF: not permitted */
        uint64_t n_disturbed;
        bool cut_short;
} Run;

/* One way with one number of CPUs. */
typedef struct Cell {
        const BenchWay *way;
        uint32_t batch, wanted;
        size_t n_samples;
        uint64_t samples[SAMPLES_MAX];
} Cell;

/* How often this thread was preempted. */
static long preemptions(void) {
        struct rusage u;

        return getrusage(RUSAGE_THREAD, &u) < 0 ? 0 : u.ru_nivcsw;
}

static void make_cold(Run *run, const BenchPlace *p) {
        /* 2: names and inodes; what other programs have read of their files stays */
        if (!p->tree && run->drop_fd >= 0)
                (void) !pwrite(run->drop_fd, "2\n", 2, 0);
        memset(run->evict, (int) (run->evict[0] + 1), EVICT_BYTES);
        /* or the compiler would leave that out */
        __asm__ __volatile__("" : : "r"(run->evict) : "memory");
}

/* One sample: a batch of readings, in ns a reading; `ret_disturbed`: preempted meanwhile. */
static int take_once(BenchPlace *p, size_t n, bool cold, const BenchWay *way, uint32_t batch, uint64_t *ret_sum, uint64_t *ret_nsec,
                     bool *ret_disturbed) {
        uint64_t begin;
        long before;
        int r = 0;

        if (way->before)
                r = way->before(p);
        if (r >= 0 && !cold)
                r = way->read(p, n, ret_sum);
        before = preemptions();
        begin = ucs_clock_monotonic_raw_nsec();
        for (uint32_t i = 0; i < batch && r >= 0; i++)
                r = way->read(p, n, ret_sum);
        *ret_nsec = (ucs_clock_monotonic_raw_nsec() - begin) / batch;
        *ret_disturbed = preemptions() != before;
        return r;
}

static int take_sample(Run *run, BenchPlace *p, size_t n, bool cold, const BenchWay *way, uint32_t batch, uint64_t expected,
                       uint64_t *ret) {
        for (unsigned tries = 0;; tries++) {
                uint64_t sum = 0, begin;
                bool disturbed;
                int r;

                if (cold)
                        make_cold(run, p);
                begin = ucs_clock_monotonic_raw_nsec();
                if (run->fifo)
                        (void) bench_thread_become(SCHED_FIFO, BENCH_PRIORITY_PROBE, NULL);
                r = take_once(p, n, cold, way, batch, &sum, ret, &disturbed);
                if (run->fifo)
                        (void) bench_thread_become(SCHED_OTHER, 0, NULL);
                if (r < 0)
                        return r;
                if (run->fifo)
                        bench_sleep(MIN(ucs_clock_monotonic_raw_nsec() - begin, REST_MAX_NSEC));
                if (sum != 0 && expected != 0 && sum != expected)
                        return -EBADMSG;
                if (!disturbed)
                        return 0;
                if (tries + 1 == TRIES) {
                        run->n_disturbed++;
                        return 0;
                }
        }
}

/* How many readings make a sample that can be timed, and how many samples are wanted. */
static int prepare_cell(Run *run, BenchPlace *p, size_t n, bool cold, const BenchWay *way, Cell *ret) {
        uint64_t nsec = 0, batch = 1;
        uint32_t wanted = cold ? run->n_cold : run->n_hot;
        int r;

        /* opens what is kept, too */
        r = take_sample(run, p, n, false, way, 1, 0, &nsec);
        if (r < 0)
                return r;
        if (!cold && !way->before) {
                batch = BATCH_NSEC / MAX(nsec, UINT64_C(1));
                batch = MIN(batch, BATCH_MAX);
                batch = MAX(batch, UINT64_C(1));
        }
        if (nsec > LONG_NSEC)
                wanted = MIN(wanted, HOT_LONG_DEFAULT);
        ret->way = way;
        ret->batch = (uint32_t) batch;
        ret->wanted = MIN(wanted, SAMPLES_MAX);
        return 0;
}

static bool applies(const BenchPlace *p, const BenchWay *way, size_t n) {
        if (way->kernel_only && p->tree)
                return false;
        if (way->accounts && !p->witness)
                return false;
        switch (way->scope) {
        case BENCH_EACH:
                return true;
        case BENCH_FIRST:
                return n == 1;
        case BENCH_WHOLE:
                return n == p->n;
        }
        return false;
}

/* What the readings must add up to; 0: is not known, since another file stands in, or the way speaks of another file. */
static uint64_t expected_sum(const BenchPlace *p, size_t n) {
        uint64_t sum = 0;

        for (size_t i = 0; p->tree && i < n; i++)
                sum += bench_tree_revision(p->cpus[i]);
        return sum;
}

static void report_cells(Run *run, size_t n, bool cold, const char *where, Cell *cells, size_t n_cells) {
        double null_nsec = 0;

        for (size_t i = 0; i < n_cells; i++) {
                const uint64_t nsec = bench_median(cells[i].samples, cells[i].n_samples);
                json_object *o;

                if (cells[i].n_samples == 0)
                        continue;
                if (i == 0) /* the table begins with it */
                        null_nsec = (double) nsec;
                o = bench_report_object(run->report);
                (void) json_object_object_add(o, "way", json_object_new_string(cells[i].way->name));
                (void) json_object_object_add(o, "cpus", json_object_new_uint64(n));
                (void) json_object_object_add(o, "state", json_object_new_string(cold ? "cold" : "hot"));
                (void) json_object_object_add(o, "nsec_median", json_object_new_uint64(nsec));

                bench_report_row(run->report);
                bench_report_cell(run->report, "%s", where);
                bench_report_cell(run->report, "%zu", n);
                bench_report_cell(run->report, "%s", cold ? "cold" : "hot");
                bench_report_cell(run->report, "%s", cells[i].way->name);
                bench_report_cell(run->report, "%.2f", (double) nsec / 1e3);
                bench_report_cell(run->report, "%.0f", (double) nsec / (double) n);
                bench_report_cell(run->report, "%.2f", null_nsec > 0 ? (double) nsec / null_nsec : 0);
        }
}

static int measure_group(Run *run, BenchPlace *p, size_t n, bool cold, const char *where, UcsError *e) {
        _cleanup_free_ Cell *cells = new0(Cell, bench_n_ways);
        size_t n_cells = 0;
        int r;

        if (!cells)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        for (size_t i = 0; i < bench_n_ways; i++) {
                const BenchWay *way = &bench_ways[i];

                if (!applies(p, way, n))
                        continue;
                r = prepare_cell(run, p, n, cold, way, &cells[n_cells]);
                if (r < 0) {
                        bench_report_note(run->report, "'%s' cannot be read %s: %s", way->name, where, strerror(-r));
                        continue;
                }
                n_cells++;
        }
        for (uint32_t round = 0; round < ROUNDS; round++)
                for (size_t i = 0; i < n_cells; i++) {
                        Cell *c = &cells[i];

                        while (c->n_samples < (uint64_t) c->wanted * (round + 1) / ROUNDS) {
                                if (bench_interrupted())
                                        return -EINTR;
                                if (bench_out_of_time(run->b)) {
                                        run->cut_short = true;
                                        break;
                                }
                                r = take_sample(run, p, n, cold, c->way, c->batch, expected_sum(p, n), &c->samples[c->n_samples]);
                                if (r < 0) {
                                        errno = -r;
                                        return ucs_error_set(e, r, "%s: the revisions of %zu CPUs cannot be read, or not rightly: %m",
                                                             c->way->name, n);
                                }
                                c->n_samples++;
                        }
                }
        report_cells(run, n, cold, where, cells, n_cells);
        return 0;
}

/* One CPU and all of them where `one`, hot and cold. */
static int measure_place(Run *run, BenchPlace *p, bool one, const char *where, UcsError *e) {
        for (int cold = 0; cold < 2; cold++) {
                int r = 0;

                if (one && p->n > 1)
                        r = measure_group(run, p, 1, cold, where, e);
                if (r >= 0)
                        r = measure_group(run, p, p->n, cold, where, e);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int measure_here(Run *run, const BenchTopology *t, UcsError *e) {
        _cleanup_(bench_place_closep) BenchPlace *p = NULL;
        _cleanup_free_ uint32_t *cpus = new0(uint32_t, t->n);
        UcsError no_accounts = {};
        int r;

        if (!cpus)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        for (size_t i = 0; i < t->n; i++)
                cpus[i] = t->cpus[i].cpu;
        r = bench_place_open("", run->b->root_fd, NULL, cpus, t->n, &p, &no_accounts, e);
        if (r < 0)
                return r;
        if (p->stands_in)
                bench_report_note(run->report, "This machine has no cpuN/microcode/version: cpuN/%s stands in for it, of the same depth in sysfs",
                                  p->file);
        if (!p->witness)
                bench_report_note(run->report, "The accounts of migration/N are not to be read here: %s", no_accounts.text);
        return measure_place(run, p, true, "here", e);
}

static int measure_tree(Run *run, uint32_t n, UcsError *e) {
        _cleanup_(bench_tree_freep) BenchTree *tree = NULL;
        _cleanup_(bench_place_closep) BenchPlace *p = NULL;
        _cleanup_free_ uint32_t *cpus = new0(uint32_t, n);
        UcsError no_accounts = {};
        struct rlimit rl = {};
        int r;

        if (!cpus)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        for (uint32_t i = 0; i < n; i++)
                cpus[i] = i;
        r = bench_tree_new(n, &tree, e);
        if (r == -ENODEV) {
                bench_report_note(run->report, "No synthetic trees: %s", e->text);
                return 0;
        }
        if (r < 0)
                return r;
        r = bench_place_open(tree->path, tree->root_fd, tree, cpus, n, &p, &no_accounts, e);
        if (r < 0)
                return r;
        if (getrlimit(RLIMIT_NOFILE, &rl) >= 0 && p->pool.limit < n)
                bench_report_note(run->report, "Of %u CPUs only %u descriptors could be kept: the limit of open files is %llu", n, p->pool.limit,
                                  (unsigned long long) rl.rlim_cur);
        return measure_place(run, p, false, "tmpfs", e);
}

static void raise_descriptors(void) {
        struct rlimit rl;

        if (getrlimit(RLIMIT_NOFILE, &rl) < 0 || rl.rlim_cur >= DESCRIPTORS)
                return;
        rl.rlim_cur = MIN((rlim_t) DESCRIPTORS, rl.rlim_max);
        (void) setrlimit(RLIMIT_NOFILE, &rl);
}

static int measure(Run *run, const BenchTopology *t, UcsError *e) {
        const uint32_t *sizes = run->b->n_list > 0 ? run->b->list : default_sizes;
        const size_t n_sizes = run->b->n_list > 0 ? run->b->n_list : ELEMENTSOF(default_sizes);
        int r;

        r = measure_here(run, t, e);
        for (size_t i = 0; i < n_sizes && r >= 0; i++) {
                if (sizes[i] == t->n || sizes[i] == 1) {
                        bench_report_note(run->report, "No tree of %u CPUs: its rows would be taken for this machine's", sizes[i]);
                        continue;
                }
                r = measure_tree(run, sizes[i], e);
        }
        return r;
}

/* From what it took on the machine of docs/measurements.md: about 20 us a CPU and reading of a tree, and the cold ones. */
static uint64_t estimate_usec(const Run *run) {
        const uint32_t *sizes = run->b->n_list > 0 ? run->b->list : default_sizes;
        const size_t n_sizes = run->b->n_list > 0 ? run->b->n_list : ELEMENTSOF(default_sizes);
        uint64_t usec = run->n_cold * 16 * 30 * USEC_PER_MSEC;

        for (size_t i = 0; i < n_sizes; i++)
                usec += (uint64_t) sizes[i] * 20 * (run->n_hot + run->n_cold) + (uint64_t) run->n_cold * 7 * 15 * USEC_PER_MSEC;
        return usec;
}

int bench_revision(Bench *b, int argc, char **argv) {
        static const BenchColumn columns[] = {
                { "WHERE" }, { "CPUS", true }, { "STATE" }, { "WAY" }, { "us", true }, { "ns A CPU", true }, { "NULL CALLS A CPU", true },
        };
        Run run = {
                .b = b,
                .n_hot = b->repetitions ?: HOT_DEFAULT,
                .n_cold = b->repetitions ? MAX(1U, b->repetitions / 6) : COLD_DEFAULT,
                .drop_fd = -EBADF,
        };
        _cleanup_(bench_report_freep) BenchReport *report = NULL;
        _cleanup_free_ uint8_t *evict = NULL;
        _cleanup_topology_ BenchTopology t = {};
        _cleanup_fd_ int drop_fd = -EBADF;
        UcsError e = {};
        int r;

        r = bench_may_run(b, estimate_usec(&run));
        if (r != BENCH_DONE)
                return r;
        bench_be_nice(b);
        raise_descriptors();
        if (bench_topology_read(b, &t, &e) < 0)
                return bench_fail(b, BENCH_UNSUPPORTED, "NotSupported", "%s", e.text);
        evict = calloc(1, EVICT_BYTES);
        r = evict ? bench_report_new(b, "revision", bench_machine_describe(b, &t), columns, ELEMENTSOF(columns), &report) : -ENOMEM;
        if (r < 0)
                return bench_fail(b, BENCH_FAILED, "Failed", "out of memory");
        drop_fd = ucs_root_openat(b->root_fd, "proc/sys/vm/drop_caches", O_WRONLY);
        run.report = report;
        run.evict = evict;
        run.drop_fd = drop_fd;
        if (drop_fd < 0)
                bench_report_note(report, "Cold means the CPU's own caches only: the kernel's may not be dropped by this user");
        /* one CPU throughout: a migration would be part of the figure */
        (void) bench_thread_pin(t.cpus[0].cpu);
        run.fifo = bench_thread_become(SCHED_FIFO, BENCH_PRIORITY_PROBE, NULL) >= 0;
        (void) bench_thread_become(SCHED_OTHER, 0, NULL);

        r = measure(&run, &t, &e);
        if (bench_interrupted())
                return bench_fail(b, BENCH_INTERRUPTED, "Interrupted", "interrupted by a signal");
        if (r < 0)
                return bench_fail(b, BENCH_FAILED, "Failed", "%s", e.text);
        if (run.n_disturbed > 0)
                bench_report_note(report, "%llu samples were disturbed, and are in the figures: the host is busy", (unsigned long long) run.n_disturbed);
        if (run.cut_short)
                bench_report_note(report, "Cut short by --limit=");
        return bench_report_print(report);
}
