/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* proc: what the kernel says of itself, of its load, and of the threads that stop the machine.
 *
 * /proc/cpuinfo shows flags as of boot and the revision as of now, as the kernel's does. The load is a
 * steady share of all CPUs, set from outside; counters grow with the clock. One ordinary process calls
 * itself migration/0: only the flag of kernel threads tells. */

#include <errno.h>
#include <inttypes.h>

#include "base/timefmt.h"
#include "request.h"
#include "stall.h"
#include "tree.h"

#define TICK_NSEC (NSEC_PER_SEC / 100) /* USER_HZ */

/* From 6.18 on it is here that a minimum revision is forced, for the whole life of the kernel. */
static void show_cmdline(SimMachine *m, uint32_t cpu, UcsText *t) {
        bool minrev = m->settings.force_minrev && m->settings.kernel >= SIM_KERNEL_7_3;

        ucs_text_appendf(t, "%s%s\n", m->settings.cmdline, minrev ? " microcode=force_minrev" : "");
}

static void show_version(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "Linux version %s (sim@localhost) #1 SMP PREEMPT_DYNAMIC\n",
                         sim_kernel_release(&m->settings));
}

static void show_osrelease(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "%s\n", sim_kernel_release(&m->settings));
}

static void show_tainted(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "%" PRIu64 "\n", m->settings.tainted);
}

static void show_panic(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "%" PRIu64 "\n", m->settings.panic);
}

static void show_boot_id(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "%s\n", m->boot_id);
}

static void show_uptime(SimMachine *m, uint32_t cpu, UcsText *t) {
        uint64_t up = sim_machine_uptime_nsec(m), idle;

        sim_machine_fold(m);
        idle = (up - MIN(up, m->busy_nsec)) * sim_machine_n_online(m);
        ucs_text_appendf(t, "%" PRIu64 ".%02u %" PRIu64 ".%02u\n", up / NSEC_PER_SEC,
                         (unsigned) (up / TICK_NSEC % 100), idle / NSEC_PER_SEC,
                         (unsigned) (idle / TICK_NSEC % 100));
}

static void show_loadavg(SimMachine *m, uint32_t cpu, UcsText *t) {
        uint32_t hundredths = sim_machine_n_online(m) * m->settings.load_percent;

        for (int i = 0; i < 3; i++)
                ucs_text_appendf(t, "%u.%02u ", hundredths / 100, hundredths % 100);
        ucs_text_append(t, "1/400 31001\n");
}

/* user nice system idle iowait irq softirq steal guest guest_nice; guest time is part of user time. */
static void show_stat_line(const SimMachine *m, UcsText *t, const char *name, uint64_t n) {
        uint64_t up = sim_machine_uptime_nsec(m), busy = m->busy_nsec, system = (busy - m->guest_nsec) / 3;
        uint64_t used = busy + m->steal_nsec;

        ucs_text_appendf(t, "%s %" PRIu64 " 0 %" PRIu64 " %" PRIu64 " 0 0 0 %" PRIu64 " %" PRIu64 " 0\n",
                         name, (busy - system) * n / TICK_NSEC, system * n / TICK_NSEC,
                         (up - MIN(up, used)) * n / TICK_NSEC, m->steal_nsec * n / TICK_NSEC,
                         m->guest_nsec * n / TICK_NSEC);
}

static void show_stat(SimMachine *m, uint32_t cpu, UcsText *t) {
        char name[16];

        sim_machine_fold(m);
        show_stat_line(m, t, "cpu ", sim_machine_n_online(m));
        for (uint32_t i = 0; i < m->n_cpus; i++) {
                if (!m->cpus[i].online)
                        continue;
                (void) snprintf(name, sizeof(name), "cpu%u", i);
                show_stat_line(m, t, name, 1);
        }
        ucs_text_appendf(t,
                         "intr 0\nctxt 123456\nbtime %" PRIu64
                         "\nprocesses 31001\nprocs_running 1\nprocs_blocked 0\n",
                         (uint64_t) time(NULL) - sim_machine_uptime_nsec(m) / NSEC_PER_SEC);
}

static void show_pressure(SimMachine *m, uint32_t cpu, UcsText *t) {
        const SimSettings *s = &m->settings;
        uint32_t percent = s->pressure_percent < 0 ? s->load_percent : (uint32_t) s->pressure_percent;

        sim_machine_fold(m);
        ucs_text_appendf(t, "some avg10=%u.00 avg60=%u.00 avg300=%u.00 total=%" PRIu64 "\n", percent,
                         percent, percent, m->pressure_nsec / NSEC_PER_USEC);
        ucs_text_append(t, "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
}

static bool has_pressure(const SimMachine *m, uint32_t cpu) {
        return m->settings.psi != SIM_PSI_OFF;
}

static int refuse_pressure(const SimMachine *m) {
        return m->settings.psi == SIM_PSI_UNSUPPORTED ? EOPNOTSUPP : 0;
}

static void show_interrupt(const SimMachine *m, UcsText *t, const char *name, const char *what,
                           uint64_t base, bool nmi) {
        ucs_text_appendf(t, "%4s:", name);
        for (uint32_t i = 0; i < m->n_cpus; i++)
                if (m->cpus[i].online)
                        ucs_text_appendf(t, " %10" PRIu64, base + (nmi ? m->cpus[i].nmis : 0));
        ucs_text_appendf(t, "   %s\n", what);
}

static void show_interrupts(SimMachine *m, uint32_t cpu, UcsText *t) {
        char name[16];

        ucs_text_append(t, "     ");
        for (uint32_t i = 0; i < m->n_cpus; i++) {
                if (!m->cpus[i].online)
                        continue;
                (void) snprintf(name, sizeof(name), "CPU%u", i);
                ucs_text_appendf(t, " %-10s", name);
        }
        ucs_text_append(t, "\n");
        show_interrupt(m, t, "NMI", "Non-maskable interrupts", 0, true);
        show_interrupt(m, t, "LOC", "Local timer interrupts", sim_machine_uptime_nsec(m) / TICK_NSEC, false);
        show_interrupt(m, t, "RES", "Rescheduling interrupts", 4711, false);
        show_interrupt(m, t, "CAL", "Function call interrupts", 815, false);
        show_interrupt(m, t, "TLB", "TLB shootdowns", 42, false);
        show_interrupt(m, t, "MCE", "Machine check exceptions", m->machine_checks, false);
        show_interrupt(m, t, "MCP", "Machine check polls", sim_machine_uptime_nsec(m) / (300 * NSEC_PER_SEC),
                       false);
}

/* One record of /proc/cpuinfo (arch/x86/kernel/cpu/proc.c). */
static void show_cpuinfo(SimMachine *m, uint32_t cpu, UcsText *t) {
        const SimSettings *s = &m->settings;
        const SimTopology *topology = &s->topology;
        const SimCpu *c = &m->cpus[cpu];
        bool intel = s->vendor == SIM_INTEL;
        uint64_t mhz_thousandths = s->tsc_hz / 1000;

        ucs_text_appendf(t, "processor\t: %u\nvendor_id\t: %s\n", cpu,
                         intel ? "GenuineIntel" : "AuthenticAMD");
        ucs_text_appendf(t, "cpu family\t: %u\nmodel\t\t: %u\n", sim_signature_family(s->signature),
                         sim_signature_model(s->signature));
        ucs_text_appendf(t, "model name\t: %s\nstepping\t: %u\n",
                         intel ? "Intel(R) Xeon(R) Simulated CPU" : "AMD EPYC Simulated Processor",
                         s->signature & 0xf);
        if (!s->no_microcode_dir || s->revision > 0)
                ucs_text_appendf(t, "microcode\t: 0x%x\n", c->revision);
        ucs_text_appendf(t, "cpu MHz\t\t: %" PRIu64 ".%03u\ncache size\t: %" PRIu64 " KB\n",
                         mhz_thousandths / 1000, (unsigned) (mhz_thousandths % 1000), s->llc_kb);
        ucs_text_appendf(t, "physical id\t: %u\nsiblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\n",
                         c->package, topology->cores * topology->threads, c->core, topology->cores);
        ucs_text_appendf(t, "apicid\t\t: %u\ninitial apicid\t: %u\n", c->apic_id, c->apic_id);
        ucs_text_appendf(t, "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %d\nwp\t\t: yes\n",
                         intel ? 31 : 16);
        ucs_text_appendf(
                t,
                "flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse "
                "sse2%s syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl xtopology nonstop_tsc cpuid pni pclmulqdq "
                "ssse3 fma cx16 sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx f16c rdrand%s lahf_lm abm fsgsbase "
                "bmi1%s avx2 smep bmi2 erms invpcid%s rdseed adx smap clflushopt clwb%s\n",
                topology->threads > 1 ? " ht" : "", s->hypervisor ? " hypervisor" : "", intel ? " hle" : "",
                intel ? " rtm" : "", intel ? "" : " sha_ni topoext");
        ucs_text_append(
                t,
                intel ? "bugs\t\t: cpu_meltdown spectre_v1 spectre_v2 spec_store_bypass l1tf mds swapgs taa itlb_multihit "
                        "mmio_stale_data retbleed gds old_microcode\n"
                      : "bugs\t\t: sysret_ss_attrs spectre_v1 spectre_v2 spec_store_bypass retbleed srso\n");
        ucs_text_appendf(t, "bogomips\t: %" PRIu64 ".%02u\nclflush size\t: 64\ncache_alignment\t: 64\n",
                         s->tsc_hz / 500000, (unsigned) (s->tsc_hz / 5000 % 100));
        ucs_text_append(t, "address sizes\t: 46 bits physical, 48 bits virtual\npower management:\n\n");
}

/* The fields of /proc/TID/stat that anybody looks at: state, parent, flags (field 9); the rest as a sleeping
 * thread has them. */
static void show_task(UcsText *t, uint32_t tid, const char *comm, uint32_t parent, uint32_t flags) {
        ucs_text_appendf(
                t,
                "%u (%s) S %u 0 0 0 -1 %u 0 0 0 0 0 0 0 0 -100 0 1 0 2 0 0 18446744073709551615 0 0 0 0 0 0 0 "
                "2147483647 0 0 0 0 17 0 99 1 0 0 0 0 0 0 0 0 0 0 0\n",
                tid, comm, parent, flags);
}

#define PF_KTHREAD 0x00200000U
#define PF_KERNEL_THREAD                                                                                    \
        (PF_KTHREAD | 0x04008040U) /* with PF_NO_SETAFFINITY and what else such a thread has */

static void show_migration_comm(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "migration/%u\n", cpu);
}

static void show_migration_stat(SimMachine *m, uint32_t cpu, UcsText *t) {
        char comm[32];

        (void) snprintf(comm, sizeof(comm), "migration/%u", cpu);
        show_task(t, sim_migration_tid(cpu), comm, 2, PF_KERNEL_THREAD);
}

static void show_migration_schedstat(SimMachine *m, uint32_t cpu, UcsText *t) {
        uint64_t nsec, runs;

        sim_account_read(&m->cpus[cpu].account, &nsec, &runs);
        ucs_text_appendf(t, "%" PRIu64 " 0 %" PRIu64 "\n", nsec, runs);
}

#define TASK(name, tid, comm, parent, flags)                                                                \
        static void show_##name##_comm(SimMachine *m, uint32_t cpu, UcsText *t) {                           \
                ucs_text_append(t, comm "\n");                                                              \
        }                                                                                                   \
        static void show_##name##_stat(SimMachine *m, uint32_t cpu, UcsText *t) {                           \
                show_task(t, tid, comm, parent, flags);                                                     \
        }                                                                                                   \
        struct _semicolon_

TASK(init, 1, "systemd", 0, 0x00400100);
TASK(kthreadd, 2, "kthreadd", 0, PF_KERNEL_THREAD);
TASK(impostor, 31000, "migration/0", 1, 0x00400000);

static void show_some_schedstat(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_append(t, "1234567 89 10\n");
}

/* Words that end in a NUL byte each. */
static void show_environ(SimMachine *m, uint32_t cpu, UcsText *t) {
        static const char home[] = "HOME=/";

        ucs_text_append_bytes(t, home, sizeof(home));
        if (m->settings.container) {
                ucs_text_appendf(t, "container=%s", m->settings.container);
                ucs_text_append_bytes(t, "", 1);
        }
}

#define SHOW(path, show)                                                                                    \
        { "proc/" path, 0444, SIM_FILE_TEXT, show, NULL, NULL, false, NULL }
#define SHOW_TASK(tid, name)                                                                                \
        SHOW(tid "/comm", show_##name##_comm), SHOW(tid "/stat", show_##name##_stat),                       \
                SHOW(tid "/schedstat", show_some_schedstat)

const SimFile sim_files_proc[] = {
        SHOW("cmdline", show_cmdline),
        { "proc/cpuinfo", 0444, SIM_FILE_RECORDS, show_cpuinfo, NULL, NULL, false, NULL },
        SHOW("interrupts", show_interrupts),
        SHOW("loadavg", show_loadavg),
        { "proc/pressure/cpu", 0444, SIM_FILE_TEXT, show_pressure, NULL, has_pressure, false,
          refuse_pressure },
        SHOW("stat", show_stat),
        SHOW("uptime", show_uptime),
        SHOW("version", show_version),
        SHOW("sys/kernel/osrelease", show_osrelease),
        SHOW("sys/kernel/panic", show_panic),
        SHOW("sys/kernel/random/boot_id", show_boot_id),
        SHOW("sys/kernel/tainted", show_tainted),
        SHOW_TASK("1", init),
        { "proc/1/environ", 0400, SIM_FILE_TEXT, show_environ, NULL, NULL, false, NULL },
        SHOW_TASK("2", kthreadd),
        SHOW("#/comm", show_migration_comm),
        SHOW("#/stat", show_migration_stat),
        SHOW("#/schedstat", show_migration_schedstat),
        SHOW_TASK("31000", impostor),
        {},
};
