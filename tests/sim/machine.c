/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Birth, boots and hotplug of the simulated machine, its clock and its log; see machine.h. What a load does
 * is loader.c's. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/random.h>
#include <time.h>

#include "base/timefmt.h"
#include "machine.h"

/* Records that are kept; the kernel's ring forgets the oldest as well. */
#define LOG_MAX 16384U

uint64_t sim_now_nsec(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * NSEC_PER_SEC + (uint64_t) ts.tv_nsec;
}

uint64_t sim_machine_uptime_nsec(const SimMachine *m) {
        return sim_now_nsec() - m->booted_nsec;
}

void sim_trace(const SimMachine *m, const char *format, ...) {
        va_list ap;

        if (!m->verbose)
                return;
        flockfile(stderr);
        fprintf(stderr, "[%10.6f] ", (double) sim_machine_uptime_nsec(m) / 1e9);
        va_start(ap, format);
        vfprintf(stderr, format, ap);
        va_end(ap);
        fputc('\n', stderr);
        funlockfile(stderr);
}

void sim_log(SimMachine *m, unsigned priority, const char *format, ...) {
        SimRecord *log;
        va_list ap;
        char *text;
        int n;

        va_start(ap, format);
        n = vasprintf(&text, format, ap);
        va_end(ap);
        if (n < 0)
                return;
        log = m->n_log < LOG_MAX ? reallocarray(m->log, m->n_log + 1, sizeof(*log)) : NULL;
        if (!log) {
                free(text);
                return;
        }
        m->log = log;
        m->log[m->n_log++] = (SimRecord){ priority, sim_machine_uptime_nsec(m) / NSEC_PER_USEC, text };
        sim_trace(m, "kernel: <%u>%s", priority, text);
        (void) pthread_cond_broadcast(&m->wake);
}

bool sim_machine_cpu_online(const SimMachine *m, uint32_t cpu) {
        return cpu < m->n_cpus && m->cpus[cpu].online;
}

uint32_t sim_machine_n_online(const SimMachine *m) {
        uint32_t n = 0;

        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                n += m->cpus[cpu].online;
        return n;
}

uint32_t sim_machine_first_online(const SimMachine *m) {
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                if (m->cpus[cpu].online)
                        return cpu;
        return 0; /* never: one is always online */
}

void sim_machine_online_set(const SimMachine *m, UcsCpuSet *ret) {
        *ret = (UcsCpuSet){};
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                if (m->cpus[cpu].online)
                        ucs_cpuset_add(ret, cpu);
}

uint32_t sim_machine_sibling(const SimMachine *m, uint32_t cpu, uint32_t thread) {
        const SimTopology *t = &m->settings.topology;

        return m->cpus[cpu].first + thread * (m->settings.adjacent_threads ? 1 : t->sockets * t->cores);
}

void sim_machine_fold(SimMachine *m) {
        uint64_t now = sim_now_nsec(), elapsed = now - m->folded_nsec;
        const SimSettings *s = &m->settings;

        m->busy_nsec += elapsed / 100 * s->load_percent;
        m->guest_nsec += elapsed / 100 * MIN(s->guest_percent, s->load_percent);
        m->pressure_nsec +=
                elapsed / 100 * (s->pressure_percent < 0 ? s->load_percent : (uint64_t) s->pressure_percent);
        m->folded_nsec = now;
}

static void make_boot_id(SimMachine *m) {
        uint8_t b[16];

        if (m->settings.boot_id) {
                (void) snprintf(m->boot_id, sizeof(m->boot_id), "%s", m->settings.boot_id);
                (void) str_replace(&m->settings.boot_id, NULL); /* the next boot is another one */
                return;
        }
        if (getrandom(b, sizeof(b), 0) != sizeof(b))
                memset(b, 0x5a, sizeof(b));
        b[6] = (uint8_t) ((b[6] & 0x0f) | 0x40);
        b[8] = (uint8_t) ((b[8] & 0x3f) | 0x80);
        (void) snprintf(m->boot_id, sizeof(m->boot_id),
                        "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
                        b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
                        b[15]);
}

static void log_clear(SimMachine *m) {
        for (size_t i = 0; i < m->n_log; i++)
                free(m->log[i].text);
        m->n_log = 0;
}

static void log_boot(SimMachine *m, uint32_t revision) {
        const SimSettings *s = &m->settings;

        sim_log(m, 5, "Linux version %s (sim@localhost) #1 SMP PREEMPT_DYNAMIC", sim_kernel_release(s));
        sim_log(m, SIM_INFO, "Command line: %s", s->cmdline);
        if (s->no_microcode_dir)
                return;
        if (sim_kernel_is_modern(s)) {
                sim_log(m, SIM_INFO, "microcode: Current revision: 0x%08x", revision);
                if (s->early_from > 0)
                        sim_log(m, SIM_INFO, "microcode: Updated early from: 0x%08x", s->early_from);
        } else if (s->vendor == SIM_INTEL)
                sim_log(m, SIM_INFO, "microcode: sig=0x%x, pf=0x%x, revision=0x%x", s->signature,
                        s->platform, revision);
}

void sim_machine_boot(SimMachine *m, uint32_t revision) {
        if (revision == 0)
                revision = m->settings.revision;
        m->booted_nsec = m->folded_nsec = sim_now_nsec();
        m->busy_nsec = m->guest_nsec = m->steal_nsec = m->pressure_nsec = 0;
        m->cached_revision = 0;
        m->features_changed = false;
        m->machine_checks = 0;
        make_boot_id(m);
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
                SimCpu *c = &m->cpus[cpu];

                c->revision = revision;
                c->incarnation++;
                c->nmis = 0;
                /* What a stopper has on its account after a while of uptime: differs a CPU, and is never
                 * nothing. */
                c->account = (SimAccount){ .nsec = 1500000 + 977 * (uint64_t) cpu, .runs = 90 + cpu % 7 };
        }
        log_clear(m);
        log_boot(m, revision);
        (void) pthread_cond_broadcast(&m->wake);
}

int sim_machine_plug(SimMachine *m, uint32_t cpu, bool online) {
        SimCpu *c;
        int r = 0;

        if (cpu >= m->n_cpus)
                return -EINVAL;
        (void) pthread_mutex_lock(&m->hotplug);
        (void) pthread_mutex_lock(&m->lock);
        c = &m->cpus[cpu];
        if (c->online != online) {
                if (!online && sim_machine_n_online(m) == 1)
                        r = -EBUSY;
                else {
                        c->online = online;
                        c->incarnation++;
                        /* A CPU that comes up gets what the kernel kept of the last load. */
                        if (online && m->cached_revision > c->revision &&
                            !ucs_cpuset_has(&m->settings.fail_cpus, cpu))
                                c->revision = m->cached_revision;
                        if (online)
                                sim_log(m, SIM_INFO, "smpboot: Booting Node %u Processor %u APIC 0x%x",
                                        c->package, cpu, c->apic_id);
                        else
                                sim_log(m, SIM_INFO, "smpboot: CPU %u is now offline", cpu);
                }
        }
        (void) pthread_mutex_unlock(&m->lock);
        (void) pthread_mutex_unlock(&m->hotplug);
        return r;
}

int sim_machine_answered(SimMachine *m, int error, uint64_t write_nsec) {
        struct timespec ts;
        SimAnswer *a;

        a = reallocarray(m->answers, m->n_answers + 1, sizeof(*a));
        if (!a)
                return -ENOMEM;
        (void) clock_gettime(CLOCK_REALTIME, &ts);
        m->answers = a;
        m->answers[m->n_answers++] = (SimAnswer){
                .realtime_usec = (uint64_t) ts.tv_sec * USEC_PER_SEC + (uint64_t) ts.tv_nsec / NSEC_PER_USEC,
                .error = error,
                .write_nsec = write_nsec,
        };
        (void) pthread_cond_broadcast(&m->wake);
        return 0;
}

int sim_machine_new(SimSettings *settings, SimMachine **ret, UcsError *e) {
        _cleanup_(sim_machine_freep) SimMachine *m = NULL;
        pthread_condattr_t attr;

        m = new0(SimMachine, 1);
        if (!m)
                return -ENOMEM;
        m->settings = *settings;
        *settings = (SimSettings){};
        (void) pthread_mutex_init(&m->lock, NULL);
        (void) pthread_mutex_init(&m->hotplug, NULL);
        (void) pthread_condattr_init(&attr);
        (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        (void) pthread_cond_init(&m->wake, &attr);
        (void) pthread_condattr_destroy(&attr);

        if (m->settings.vendor == SIM_AMD) {
                m->settings.platform = 0; /* AMD has none */
                if (m->settings.signature == 0x50654)
                        return ucs_error_set(e, -EINVAL,
                                             "An AMD machine needs --signature= and --revision=");
        }
        m->n_cpus = sim_settings_n_cpus(&m->settings);
        m->cpus = new0(SimCpu, m->n_cpus);
        if (!m->cpus)
                return -ENOMEM;
        sim_topology_build(&m->settings, m->cpus);
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                m->cpus[cpu].online = !ucs_cpuset_has(&m->settings.offline, cpu);
        if (sim_machine_n_online(m) == 0)
                return ucs_error_set(e, -EINVAL, "No CPU is online");
        sim_machine_boot(m, 0);
        m->booted_nsec -= m->settings.uptime_sec * NSEC_PER_SEC;
        m->folded_nsec -= m->settings.uptime_sec * NSEC_PER_SEC;
        *ret = TAKE_PTR(m);
        return 0;
}

SimMachine *sim_machine_free(SimMachine *m) {
        if (!m)
                return NULL;
        log_clear(m);
        free(m->log);
        free(m->answers);
        free(m->cpus);
        sim_settings_done(&m->settings);
        (void) pthread_cond_destroy(&m->wake);
        (void) pthread_mutex_destroy(&m->hotplug);
        (void) pthread_mutex_destroy(&m->lock);
        free(m);
        return NULL;
}
