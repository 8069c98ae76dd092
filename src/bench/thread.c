/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Threads on given CPUs with given priorities; see thread.h. An UcsCpuSet has the memory layout of the kernel's CPU mask. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "bench/thread.h"
#include "os/root.h"

#define STACK_SIZE (256U * 1024U)
#define CGROUP_MAX (16U * 1024U)

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "UcsCpuSet is the kernel's mask on little-endian machines only"
#endif

/* cgroup v1 with RT_GROUP_SCHED gives each group a share of real time, and a new group none: then nobody in it may be SCHED_FIFO, root neither
 * (kernel/sched/rt.c, sched_rt_can_attach(); Documentation/scheduler/sched-rt-group.rst). */
static bool group_has_no_real_time(void) {
        _cleanup_free_ char *text = NULL;
        _cleanup_fd_ int root_fd = -EBADF;
        char *save = NULL;

        if (ucs_root_open("/", &root_fd, NULL) < 0 || ucs_root_read(root_fd, "proc/self/cgroup", CGROUP_MAX, &text, NULL, NULL) < 0)
                return false;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                _cleanup_free_ char *path = NULL, *runtime = NULL;
                char *controllers = strchr(line, ':'), *group;

                group = controllers ? strchr(++controllers, ':') : NULL;
                if (!group)
                        continue;
                *group++ = '\0';
                if (!streq(controllers, "cpu") && !strstr(controllers, "cpu,") && !str_endswith(controllers, ",cpu"))
                        continue;
                if (asprintf(&path, "sys/fs/cgroup/%s/%s/cpu.rt_runtime_us", controllers, group) < 0) {
                        path = NULL;
                        continue;
                }
                if (ucs_root_read(root_fd, path, 64, &runtime, NULL, NULL) >= 0 && streq(str_strip(runtime), "0"))
                        return true;
        }
        return false;
}

static int explain(int r, int policy, unsigned cpu, UcsError *e) {
        if (r == -EPERM && policy == SCHED_FIFO && group_has_no_real_time())
                return ucs_error_set(e, r, "SCHED_FIFO is not permitted here: cpu.rt_runtime_us of this control group is 0 (cgroup v1 with "
                                           "RT_GROUP_SCHED); run in the root group, or give this one a share");
        if (r == -EPERM && policy == SCHED_FIFO)
                return ucs_error_set(e, r, "SCHED_FIFO is not permitted: that takes root, CAP_SYS_NICE or RLIMIT_RTPRIO");
        errno = -r;
        if (cpu == UCS_CPU_MAX)
                return ucs_error_set(e, r, "cannot change the scheduling policy: %m");
        return ucs_error_set(e, r, "cannot start a thread on CPU %u: %m", cpu);
}

int bench_thread_start(pthread_t *ret, unsigned cpu, int policy, int priority, void *(*run)(void *), void *userdata, UcsError *e) {
        const struct sched_param param = { .sched_priority = priority };
        UcsCpuSet mask = {};
        pthread_attr_t attr;
        int r;

        ucs_cpuset_add(&mask, cpu);
        r = pthread_attr_init(&attr);
        if (r != 0)
                return explain(-r, policy, cpu, e);
        r = pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
        if (r == 0)
                r = pthread_attr_setschedpolicy(&attr, policy);
        if (r == 0)
                r = pthread_attr_setschedparam(&attr, &param);
        if (r == 0)
                r = pthread_attr_setstacksize(&attr, STACK_SIZE);
        if (r == 0)
                r = pthread_attr_setaffinity_np(&attr, sizeof(mask.bits), (const cpu_set_t *) mask.bits);
        if (r == 0)
                r = pthread_create(ret, &attr, run, userdata);
        (void) pthread_attr_destroy(&attr);
        return r == 0 ? 0 : explain(-r, policy, cpu, e);
}

int bench_thread_become(int policy, int priority, UcsError *e) {
        const struct sched_param param = { .sched_priority = priority };

        if (sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param) < 0)
                return explain(-errno, policy, UCS_CPU_MAX, e);
        return 0;
}

int bench_thread_get_cpus(UcsCpuSet *ret) {
        UcsCpuSet set = {};

        if (sched_getaffinity(0, sizeof(set.bits), (cpu_set_t *) set.bits) < 0)
                return -errno;
        *ret = set;
        return 0;
}

int bench_thread_set_cpus(const UcsCpuSet *set) {
        return sched_setaffinity(0, sizeof(set->bits), (const cpu_set_t *) set->bits) < 0 ? -errno : 0;
}

int bench_thread_pin(unsigned cpu) {
        UcsCpuSet set = {};

        ucs_cpuset_add(&set, cpu);
        return bench_thread_set_cpus(&set);
}

uint64_t bench_monotonic_nsec(void) {
        struct timespec ts = {};

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * NSEC_PER_SEC + (uint64_t) ts.tv_nsec;
}

void bench_sleep_until(uint64_t monotonic_nsec) {
        const struct timespec ts = { .tv_sec = (time_t) (monotonic_nsec / NSEC_PER_SEC), .tv_nsec = (long) (monotonic_nsec % NSEC_PER_SEC) };

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
                ;
}

void bench_sleep(uint64_t nsec) {
        bench_sleep_until(bench_monotonic_nsec() + nsec);
}
