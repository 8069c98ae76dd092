/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sender and targets; see shooter.h. What the two sides share is either written by one thread alone, on its own cache lines, or an atomic. */

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench/interrupts.h"
#include "bench/shooter.h"
#include "bench/stats.h"
#include "bench/thread.h"
#include "os/clock.h"
#include "os/root.h"

#define INTERRUPTS_SIZE (8UL << 20)
#define CLOSE_NSEC (200 * NSEC_PER_USEC) /* between a reading of the counters and its call */
#define CLOSE_TRIES 8
#define WARM_CALLS 2U
#define SPINS_A_LOOK 1024U               /* at the clock */

typedef struct Target {
        alignas(128) atomic_ullong beat;
        atomic_ullong loaded; /* the number of the page that it has read last */
        struct Gun *gun;
        pthread_t thread;
} Target;

typedef struct Gun {
        alignas(128) atomic_ullong number; /* of the page to be loaded */
        uint8_t *volatile page;
        atomic_bool stop;

        alignas(128) BenchOp op;
        uint8_t *region;
        size_t page_size, n_pages, next;
        Target *targets;
        size_t n;
        uint64_t deadline_nsec;
        const BenchCpu *cpus; /* of the targets */
        int interrupts_fd;
        char *text;
} Gun;

/* What the child hands over. */
typedef struct Handover {
        int result;
        BenchShot shot;
        UcsError error;
} Handover;

static const char *const op_names[_BENCH_OP_MAX] = {
        [BENCH_OP_MPROTECT] = "mprotect",
        [BENCH_OP_MADVISE] = "madvise",
        [BENCH_OP_MUNMAP] = "munmap",
        [BENCH_OP_MEMBARRIER] = "membarrier",
};

const char *bench_op_name(BenchOp op) {
        return op_names[op];
}

static void *be_target(void *userdata) {
        Target *t = userdata;
        Gun *g = t->gun;
        unsigned long long seen = 0, beat = 0;

        while (!atomic_load_explicit(&g->stop, memory_order_relaxed)) {
                const unsigned long long number = atomic_load_explicit(&g->number, memory_order_acquire);

                if (number != seen) {
                        (void) *(volatile uint8_t *) g->page;
                        seen = number;
                        atomic_store_explicit(&t->loaded, number, memory_order_release);
                }
                atomic_store_explicit(&t->beat, ++beat, memory_order_release);
                bench_relax();
        }
        return NULL;
}

static bool out_of_time(const Gun *g) {
        return ucs_clock_monotonic_raw_nsec() >= g->deadline_nsec;
}

/* Every target has loaded the page. False: time is up. */
static bool wait_loaded(Gun *g, unsigned long long number) {
        for (size_t i = 0; i < g->n; i++)
                for (unsigned spins = 1; atomic_load_explicit(&g->targets[i].loaded, memory_order_acquire) != number; spins++) {
                        if (spins % SPINS_A_LOOK == 0 && out_of_time(g))
                                return false;
                        bench_relax();
                }
        return true;
}

/* Every target is on its CPU: it has beaten since we began to wait. */
static bool wait_beat(Gun *g, unsigned long long *beats) {
        for (size_t i = 0; i < g->n; i++)
                beats[i] = atomic_load_explicit(&g->targets[i].beat, memory_order_acquire);
        for (size_t i = 0; i < g->n; i++)
                for (unsigned spins = 1; atomic_load_explicit(&g->targets[i].beat, memory_order_acquire) == beats[i]; spins++) {
                        if (spins % SPINS_A_LOOK == 0 && out_of_time(g))
                                return false;
                        bench_relax();
                }
        return true;
}

static uint64_t read_ticks(void) {
        uint64_t ticks;

        _mm_lfence();
        ticks = __rdtsc();
        _mm_lfence();
        return ticks;
}

/* The call, on a page that everybody has loaded. */
static int pull(Gun *g, uint8_t *page) {
        switch (g->op) {
        case BENCH_OP_MPROTECT:
                return mprotect(page, g->page_size, PROT_READ);
        case BENCH_OP_MADVISE:
                return madvise(page, g->page_size, MADV_DONTNEED);
        case BENCH_OP_MUNMAP:
                return munmap(page, g->page_size);
        case BENCH_OP_MEMBARRIER:
                return (int) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
        case _BENCH_OP_MAX:
                break;
        }
        return -1;
}

/* The next page, loaded by every target. NULL: time is up. */
static uint8_t *aim(Gun *g) {
        uint8_t *page = g->region + g->next++ * g->page_size;
        const unsigned long long number = g->next;

        g->page = page;
        atomic_store_explicit(&g->number, number, memory_order_release);
        return wait_loaded(g, number) ? page : NULL;
}

/* Calls that are counted and not timed. */
static int count_calls(Gun *g, uint32_t calls, unsigned long long *beats, BenchShot *shot) {
        uint64_t tlb = 0, cal = 0;
        int r;

        for (uint32_t i = 0; i < calls; i++) {
                BenchInterrupts before, after;
                uint8_t *page = aim(g);
                uint64_t begin;

                if (!page)
                        break;
                for (int tries = 0; tries < CLOSE_TRIES; tries++) {
                        r = bench_interrupts_read(g->interrupts_fd, g->text, INTERRUPTS_SIZE, g->cpus, g->n, &before);
                        if (r < 0)
                                return r;
                        begin = ucs_clock_monotonic_raw_nsec();
                        if (!wait_beat(g, beats))
                                return 0;
                        if (ucs_clock_monotonic_raw_nsec() - begin < CLOSE_NSEC)
                                break;
                }
                if (pull(g, page) < 0)
                        return -errno;
                r = bench_interrupts_read(g->interrupts_fd, g->text, INTERRUPTS_SIZE, g->cpus, g->n, &after);
                if (r < 0)
                        return r;
                tlb += after.tlb - before.tlb;
                cal += after.cal - before.cal;
                shot->counted++;
                shot->tlb = (double) tlb / shot->counted;
                shot->cal = (double) cal / shot->counted;
        }
        return 0;
}

static int time_calls(Gun *g, uint32_t calls, uint64_t *ticks, unsigned long long *beats, BenchShot *shot) {
        BenchInterrupts before, after;
        int r;

        r = bench_interrupts_read(g->interrupts_fd, g->text, INTERRUPTS_SIZE, g->cpus, g->n, &before);
        if (r < 0)
                return r;
        while (shot->calls < calls) {
                uint8_t *page = aim(g);
                uint64_t begin;

                if (!page || !wait_beat(g, beats))
                        break;
                begin = read_ticks();
                r = pull(g, page);
                ticks[shot->calls] = read_ticks() - begin;
                if (r < 0)
                        return -errno;
                shot->calls++;
        }
        if (shot->calls == 0)
                return -ETIME;
        r = bench_interrupts_read(g->interrupts_fd, g->text, INTERRUPTS_SIZE, g->cpus, g->n, &after);
        if (r < 0)
                return r;
        shot->tlb_all = (double) (after.tlb - before.tlb) / shot->calls;
        shot->cal_all = (double) (after.cal - before.cal) / shot->calls;
        shot->ticks_median = bench_median(ticks, shot->calls);
        return 0;
}

static int load_gun(Gun *g, const Bench *b, uint32_t calls, UcsError *e) {
        g->page_size = (size_t) sysconf(_SC_PAGESIZE);
        g->n_pages = (size_t) 2 * WARM_CALLS + BENCH_COUNTED_CALLS + calls;
        g->region = mmap(NULL, g->n_pages * g->page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (g->region == MAP_FAILED)
                return -errno;
        (void) madvise(g->region, g->n_pages * g->page_size, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < g->n_pages; i++)
                g->region[i * g->page_size] = 1;
        if (g->op == BENCH_OP_MEMBARRIER && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) < 0)
                return ucs_error_set(e, -EOPNOTSUPP, "this kernel has no private expedited membarrier");
        g->text = malloc(INTERRUPTS_SIZE);
        if (!g->text)
                return -ENOMEM;
        g->interrupts_fd = ucs_root_openat(b->root_fd, "proc/interrupts", O_RDONLY);
        return g->interrupts_fd < 0 ? g->interrupts_fd : 0;
}

static int start_targets(Gun *g, UcsError *e) {
        void *targets = NULL;

        if (posix_memalign(&targets, alignof(Target), MAX(g->n, (size_t) 1) * sizeof(Target)) != 0)
                return -ENOMEM;
        memset(targets, 0, MAX(g->n, (size_t) 1) * sizeof(Target));
        g->targets = targets;
        for (size_t i = 0; i < g->n; i++) {
                int r;

                g->targets[i].gun = g;
                r = bench_thread_start(&g->targets[i].thread, g->cpus[i].cpu, SCHED_OTHER, 0, be_target, &g->targets[i], e);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* For one of the four parts. */
static void set_deadline(Gun *g) {
        g->deadline_nsec = ucs_clock_monotonic_raw_nsec() + BENCH_SHOT_MAX_NSEC / 4;
}

/* In the child. Whatever is left when it returns goes with the process. */
static int shoot(const Bench *b, BenchOp op, const BenchCpu *sender, const BenchCpu *cpus, size_t n, uint32_t calls, BenchShot *shot,
                 UcsError *e) {
        static Gun g;
        unsigned long long *beats = new0(unsigned long long, n);
        uint64_t *ticks = new0(uint64_t, calls);
        int r;

        g = (Gun){ .op = op, .cpus = cpus, .n = n };
        if (!beats || !ticks)
                return -ENOMEM;
        r = bench_thread_pin(sender->cpu);
        if (r >= 0)
                r = load_gun(&g, b, calls, e);
        if (r >= 0)
                r = start_targets(&g, e);
        if (r < 0)
                return r;
        /* once for nothing: every page that is still shared with the parent process is copied when it is written first, and that flushes, too */
        set_deadline(&g);
        r = count_calls(&g, WARM_CALLS, beats, shot);
        set_deadline(&g);
        if (r >= 0)
                r = time_calls(&g, WARM_CALLS, ticks, beats, shot);
        if (r < 0 && r != -ETIME)
                return r;
        *shot = (BenchShot){};
        set_deadline(&g);
        r = count_calls(&g, BENCH_COUNTED_CALLS, beats, shot);
        set_deadline(&g);
        return r < 0 ? r : time_calls(&g, calls, ticks, beats, shot);
}

int bench_shoot(const Bench *b, BenchOp op, const BenchCpu *sender, const BenchCpu *targets, size_t n, uint32_t calls, BenchShot *ret,
                UcsError *e) {
        Handover *h;
        int r, status;
        pid_t pid;

        h = mmap(NULL, sizeof(*h), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (h == MAP_FAILED)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        h->result = -EIO;
        pid = fork();
        if (pid == 0) {
                (void) signal(SIGINT, SIG_DFL);
                (void) signal(SIGTERM, SIG_DFL);
                (void) signal(SIGHUP, SIG_DFL);
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                h->result = shoot(b, op, sender, targets, n, calls, &h->shot, &h->error);
                _exit(0);
        }
        r = pid < 0 ? -errno : 0;
        while (r == 0 && waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        r = -errno;
        if (r == 0)
                r = h->result;
        if (r >= 0)
                *ret = h->shot;
        else if (h->error.code != 0)
                (void) ucs_error_set(e, r, "%s: %s", bench_op_name(op), h->error.text);
        else if (r == -ETIME)
                (void) ucs_error_set(e, r, "%s: CPU %u and %zu targets never ran at the same time; the host is too busy", bench_op_name(op),
                                     sender->cpu, n);
        else {
                errno = -r;
                (void) ucs_error_set(e, r, "%s from CPU %u to %zu targets: %m", bench_op_name(op), sender->cpu, n);
        }
        (void) munmap(h, sizeof(*h));
        return r;
}
