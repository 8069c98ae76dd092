/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Clocks and the TSC's rate; see clock.h. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "os/clock.h"
#include "os/root.h"

#define CLOCKSOURCE "sys/devices/system/clocksource/clocksource0/current_clocksource"
#define RATE_NSEC (20 * NSEC_PER_MSEC)
#define PAIRS 5
#define LEAF_CRYSTAL 0x15U

static uint64_t now_nsec(clockid_t clock) {
        struct timespec ts = {};

        (void) clock_gettime(clock, &ts);
        return (uint64_t) ts.tv_sec * NSEC_PER_SEC + (uint64_t) ts.tv_nsec;
}

uint64_t ucs_clock_realtime_usec(void) {
        return now_nsec(CLOCK_REALTIME) / NSEC_PER_USEC;
}

uint64_t ucs_clock_boottime_usec(void) {
        return now_nsec(CLOCK_BOOTTIME) / NSEC_PER_USEC;
}

uint64_t ucs_clock_monotonic_raw_nsec(void) {
        return now_nsec(CLOCK_MONOTONIC_RAW);
}

uint64_t ucs_clock_asleep_usec(void) {
        uint64_t monotonic = now_nsec(CLOCK_MONOTONIC), boottime = now_nsec(CLOCK_BOOTTIME);

        return boottime > monotonic ? (boottime - monotonic) / NSEC_PER_USEC : 0;
}

static bool clocksource_is_tsc(int root_fd) {
        _cleanup_free_ char *text = NULL;

        return ucs_root_read(root_fd, CLOCKSOURCE, 64, &text, NULL, NULL) >= 0 && streq(str_strip(text), "tsc");
}

#if defined(__x86_64__) || defined(__i386__)

typedef struct Pair {
        uint64_t tsc, nsec;
} Pair;

static uint64_t read_tsc(void) {
        uint64_t tsc;

        /* RDTSC is not ordered against the clock's own reading without the fences; RDTSCP is not everywhere */
        _mm_lfence();
        tsc = __rdtsc();
        _mm_lfence();
        return tsc;
}

/* The clock between two readings of the TSC, the tightest of a few: an interrupt in between only loses its own try. */
static Pair read_pair(void) {
        Pair best = {};
        uint64_t width = UINT64_MAX;

        for (int i = 0; i < PAIRS; i++) {
                uint64_t before = read_tsc(), nsec = ucs_clock_monotonic_raw_nsec(), after = read_tsc();

                if (after - before >= width)
                        continue;
                width = after - before;
                best = (Pair){ .tsc = before + width / 2, .nsec = nsec };
        }
        return best;
}

static uint64_t measure_tsc_hz(void) {
        struct timespec rest = { .tv_nsec = RATE_NSEC };
        Pair a, b;

        a = read_pair();
        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
                ;
        b = read_pair();
        if (b.tsc <= a.tsc || b.nsec <= a.nsec)
                return 0;
        return (uint64_t) ((double) (b.tsc - a.tsc) * (double) NSEC_PER_SEC / (double) (b.nsec - a.nsec));
}

#else

static uint64_t measure_tsc_hz(void) {
        return 0;
}

#endif

/* The file's offset is the leaf; 16 bytes are EAX, EBX, ECX, EDX (arch/x86/kernel/cpuid.c). */
static uint64_t crystal_tsc_hz(int root_fd, unsigned cpu) {
        _cleanup_fd_ int fd = -EBADF;
        uint32_t highest, leaf[4];
        char path[64];

        (void) snprintf(path, sizeof(path), "dev/cpu/%u/cpuid", cpu);
        fd = ucs_root_openat(root_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 || pread(fd, leaf, sizeof(leaf), 0) != sizeof(leaf))
                return 0;
        highest = leaf[0];
        if (highest < LEAF_CRYSTAL || pread(fd, leaf, sizeof(leaf), LEAF_CRYSTAL) != sizeof(leaf))
                return 0;
        /* TSC = crystal * EBX / EAX; a crystal of 0 is not enumerated */
        if (leaf[0] == 0 || leaf[1] == 0 || leaf[2] == 0)
                return 0;
        return (uint64_t) leaf[2] * leaf[1] / leaf[0];
}

uint64_t ucs_clock_tsc_hz(int root_fd, unsigned cpu) {
        if (!clocksource_is_tsc(root_fd))
                return 0;
        return ucs_root_is_host(root_fd) ? measure_tsc_hz() : crystal_tsc_hz(root_fd, cpu);
}
