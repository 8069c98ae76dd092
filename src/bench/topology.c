/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CPUs by CPUID; see topology.h. The calling thread moves to each CPU in turn, and back. */

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>

#include "bench/thread.h"
#include "bench/topology.h"
#include "os/root.h"
#include "os/topology.h"

#define CPU_DIRECTORY "sys/devices/system/cpu"

/* Of the CPU on which it runs. A topology leaf is valid if EBX[15:0] is not 0; EDX is the x2APIC id at any level. */
static uint32_t read_apic_id(void) {
        static const unsigned leaves[] = { 0x1f, 0x0b };
        unsigned a, b, c, d;

        for (size_t i = 0; i < ELEMENTSOF(leaves); i++)
                if (__get_cpuid_count(leaves[i], 0, &a, &b, &c, &d) && (b & 0xffff))
                        return d;
        return __get_cpuid(1, &a, &b, &c, &d) ? b >> 24 : 0;
}

static void read_names(BenchTopology *t) {
        unsigned r[12] = {}, a, b, c, d;
        char model[sizeof(r) + 1];

        if (__get_cpuid(0, &a, &b, &c, &d)) {
                memcpy(t->vendor, &b, 4);
                memcpy(t->vendor + 4, &d, 4);
                memcpy(t->vendor + 8, &c, 4);
        }
        if (__get_cpuid(1, &a, &b, &c, &d))
                t->hypervisor = c >> 31;
        for (unsigned i = 0; i < 3; i++)
                if (!__get_cpuid(0x80000002 + i, &r[4 * i], &r[4 * i + 1], &r[4 * i + 2], &r[4 * i + 3]))
                        return;
        memcpy(model, r, sizeof(r));
        model[sizeof(r)] = '\0';
        (void) strncpy(t->model, str_strip(model), sizeof(t->model) - 1);
}

static int compare_cluster(const void *a, const void *b) {
        const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

        return (x > y) - (x < y);
}

static uint32_t count_different(uint32_t *v, size_t n) {
        uint32_t different = n > 0;

        qsort(v, n, sizeof(*v), compare_cluster);
        for (size_t i = 1; i < n; i++)
                different += v[i] != v[i - 1];
        return different;
}

uint32_t bench_count_clusters(const BenchCpu *cpus, size_t n) {
        _cleanup_free_ uint32_t *v = new0(uint32_t, n);

        for (size_t i = 0; v && i < n; i++)
                v[i] = cpus[i].cluster;
        return v ? count_different(v, n) : 0;
}

static uint32_t count_packages(const BenchCpu *cpus, size_t n) {
        _cleanup_free_ uint32_t *v = new0(uint32_t, n);

        for (size_t i = 0; v && i < n; i++)
                v[i] = cpus[i].package;
        return v ? count_different(v, n) : 0;
}

/* Which CPUs are to be used. `cpu_fd` may be invalid: then nothing is known to be isolated. */
static int choose(const Bench *b, int cpu_fd, const UcsCpuSet *allowed, BenchTopology *t, UcsCpuSet *ret, UcsError *e) {
        UcsCpuSet chosen = {}, isolated = {}, nohz_full = {};

        if (cpu_fd >= 0) {
                (void) ucs_topology_read_list(cpu_fd, "isolated", &isolated, NULL);
                (void) ucs_topology_read_list(cpu_fd, "nohz_full", &nohz_full, NULL);
        }
        if (b->have_cpus) {
                FOREACH_CPU(cpu, &b->cpus)
                        if (!ucs_cpuset_has(allowed, cpu))
                                return ucs_error_set(e, -EINVAL, "CPU %u is not there or not among those that this process may use", cpu);
                chosen = b->cpus;
        } else
                FOREACH_CPU(cpu, allowed) {
                        if (!b->all_cpus && (ucs_cpuset_has(&isolated, cpu) || ucs_cpuset_has(&nohz_full, cpu)))
                                t->n_left_out++;
                        else
                                ucs_cpuset_add(&chosen, cpu);
                }
        if (ucs_cpuset_count(&chosen) == 0)
                return ucs_error_set(e, -ENODATA, "there is no CPU to measure on; isolated ones only with --all-cpus");
        *ret = chosen;
        return 0;
}

static int read_cpu(int cpu_fd, unsigned cpu, BenchCpu *ret, UcsError *e) {
        UcsTopology sys = {};
        int r;

        r = bench_thread_pin(cpu);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot run on CPU %u: %m", cpu);
        }
        *ret = (BenchCpu){ .cpu = cpu, .apic_id = read_apic_id(), .package = UCS_ID_UNKNOWN };
        ret->cluster = ret->apic_id >> 4;
        if (cpu_fd >= 0) {
                (void) ucs_topology_read(cpu_fd, cpu, &sys, NULL);
                ret->package = sys.package;
        }
        return 0;
}

int bench_topology_read(const Bench *b, BenchTopology *ret, UcsError *e) {
        _cleanup_topology_ BenchTopology t = {};
        _cleanup_fd_ int cpu_fd = -EBADF;
        UcsCpuSet allowed, chosen, online = {};
        int r;

        r = bench_thread_get_cpus(&allowed);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot tell which CPUs this process may use: %m");
        }
        cpu_fd = ucs_root_openat(b->root_fd, CPU_DIRECTORY, O_PATH | O_DIRECTORY);
        r = choose(b, cpu_fd, &allowed, &t, &chosen, e);
        if (r < 0)
                return r;

        t.cpus = new0(BenchCpu, ucs_cpuset_count(&chosen));
        if (!t.cpus)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        FOREACH_CPU(cpu, &chosen) {
                r = read_cpu(cpu_fd, cpu, &t.cpus[t.n], e);
                if (r < 0)
                        break;
                t.highest_apic_id = MAX(t.highest_apic_id, t.cpus[t.n].apic_id);
                t.n++;
        }
        (void) bench_thread_set_cpus(&allowed);
        if (r < 0)
                return r;

        read_names(&t);
        t.n_clusters = bench_count_clusters(t.cpus, t.n);
        t.n_packages = count_packages(t.cpus, t.n);
        t.n_online = cpu_fd >= 0 && ucs_topology_read_list(cpu_fd, "online", &online, NULL) >= 0 ? ucs_cpuset_count(&online) : (uint32_t) t.n;
        *ret = t;
        t = (BenchTopology){};
        return 0;
}

void bench_topology_done(BenchTopology *t) {
        free(t->cpus);
        *t = (BenchTopology){};
}
