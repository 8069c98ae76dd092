/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What can be done to a running machine; a table of verbs. Everything else is a setting (settings.h). */

#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "base/timefmt.h"
#include "control.h"
#include "loader.h"
#include "stall.h"

#define WAIT_SEC 60U

typedef struct Command {
        const char *name, *arguments, *help;
        int (*run)(SimMachine *m, char *arguments, UcsText *answer, UcsError *e);
} Command;

static char *next_word(char **p) {
        char *word;

        while ((word = strsep(p, " ")))
                if (*word)
                        return word;
        return NULL;
}

static int need_set(char **p, UcsCpuSet *ret, UcsError *e) {
        const char *s = next_word(p);

        return s ? ucs_cpuset_parse(s, ret, e) : ucs_error_set(e, -EINVAL, "A list of CPUs is missing");
}

static int need_revision(char **p, uint32_t *ret, UcsError *e) {
        const char *s = next_word(p);

        if (!s || ucs_parse_u32(s, 16, ret) < 0)
                return ucs_error_set(e, -EINVAL, "'%s' is not a revision such as 0x200005e", s ?: "");
        return 0;
}

static int set_revision(SimMachine *m, char *p, UcsError *e) {
        UcsCpuSet cpus;
        uint32_t v;
        int r;

        r = need_revision(&p, &v, e);
        if (r < 0)
                return r;
        if (p) {
                r = need_set(&p, &cpus, e);
                if (r < 0)
                        return r;
        } else
                sim_machine_online_set(m, &cpus);
        FOREACH_CPU (cpu, &cpus)
                if (cpu < m->n_cpus)
                        m->cpus[cpu].revision = v;
        return 0;
}

static int run_set(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        const char *name = next_word(&p);
        int r;

        if (!name)
                return ucs_error_set(e, -EINVAL, "Which setting?");
        (void) pthread_mutex_lock(&m->lock);
        sim_machine_fold(m);
        if (streq(name, "revision"))
                r = set_revision(m, p, e);
        else
                r = sim_settings_set(&m->settings, name, p, true, e);
        (void) pthread_cond_broadcast(&m->wake);
        (void) pthread_mutex_unlock(&m->lock);
        return r;
}

/* "0x200005e 0-71", a line a revision. */
static int get_revisions(SimMachine *m, UcsText *answer) {
        UcsCpuSet left;

        sim_machine_online_set(m, &left);
        for (unsigned first; (first = ucs_cpuset_next(&left, 0)) < UCS_CPU_MAX;) {
                _cleanup_free_ char *list = NULL;
                UcsCpuSet same = {};

                FOREACH_CPU (cpu, &left)
                        if (m->cpus[cpu].revision == m->cpus[first].revision)
                                ucs_cpuset_add(&same, cpu);
                FOREACH_CPU (cpu, &same)
                        ucs_cpuset_remove(&left, cpu);
                if (ucs_cpuset_format(&same, &list) < 0)
                        return -ENOMEM;
                ucs_text_appendf(answer, "%s0x%x %s", answer->length > 0 ? "\n" : "",
                                 m->cpus[first].revision, list);
        }
        return 0;
}

/* "3 ENOENT SUCCESS EBUSY" */
static void get_writes(SimMachine *m, UcsText *answer) {
        ucs_text_appendf(answer, "%zu", m->n_answers);
        for (size_t i = 0; i < m->n_answers; i++)
                ucs_text_appendf(answer, " %s", m->answers[i].error == 0 ? "SUCCESS" : strerrorname_np(m->answers[i].error) ?: "?");
}

static void get_stall(SimMachine *m, UcsText *answer) {
        uint64_t write = m->n_answers > 0 ? m->answers[m->n_answers - 1].write_nsec : 0;

        ucs_text_appendf(answer,
                         "modelled_nsec=%" PRIu64 " stalled_nsec=%" PRIu64 " modelled_ticks=%" PRIu64
                         " stalled_ticks=%" PRIu64 " write_nsec=%" PRIu64,
                         m->modelled_nsec, m->stalled_nsec,
                         (uint64_t) ((__uint128_t) m->modelled_nsec * m->settings.tsc_hz / NSEC_PER_SEC),
                         (uint64_t) ((__uint128_t) m->stalled_nsec * m->settings.tsc_hz / NSEC_PER_SEC),
                         write);
}

static int run_get(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        const char *name = next_word(&p);
        _cleanup_free_ char *value = NULL;
        int r = 0;

        if (!name)
                return ucs_error_set(e, -EINVAL, "Which setting?");
        (void) pthread_mutex_lock(&m->lock);
        if (streq(name, "writes"))
                get_writes(m, answer);
        else if (streq(name, "stall"))
                get_stall(m, answer);
        else if (streq(name, "revisions"))
                r = get_revisions(m, answer);
        else if (streq(name, "boot-id"))
                ucs_text_append(answer, m->boot_id);
        else {
                r = sim_settings_get(&m->settings, name, &value);
                if (r == -ENOENT)
                        r = ucs_error_set(e, r, "There is no setting '%s'", name);
                else if (r == 0)
                        ucs_text_append(answer, value);
        }
        (void) pthread_mutex_unlock(&m->lock);
        return r;
}

static int plug(SimMachine *m, char *p, bool online, UcsError *e) {
        UcsCpuSet cpus;
        int r;

        r = need_set(&p, &cpus, e);
        if (r < 0)
                return r;
        FOREACH_CPU (cpu, &cpus) {
                r = sim_machine_plug(m, cpu, online);
                if (r < 0)
                        return ucs_error_set(e, r, "CPU %u: %s", cpu, strerror(-r));
        }
        return 0;
}

static int run_offline(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        return plug(m, p, false, e);
}

static int run_online(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        return plug(m, p, true, e);
}

static int run_reboot(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        uint32_t revision = 0;
        int r;

        if (p && *p) {
                r = need_revision(&p, &revision, e);
                if (r < 0)
                        return r;
        }
        (void) pthread_mutex_lock(&m->hotplug);
        (void) pthread_mutex_lock(&m->lock);
        m->settings.tainted = 0;
        (void) str_replace(&m->settings.clocksource, "tsc");
        sim_machine_boot(m, revision);
        (void) pthread_mutex_unlock(&m->lock);
        (void) pthread_mutex_unlock(&m->hotplug);
        return 0;
}

static int run_external(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        uint32_t revision;
        int r;

        r = need_revision(&p, &revision, e);
        return r < 0 ? r : sim_loader_external(m, revision);
}

static int run_stopper(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        const char *nsec, *runs;
        UcsCpuSet cpus;
        uint64_t n, k;
        int r;

        r = need_set(&p, &cpus, e);
        if (r < 0)
                return r;
        nsec = next_word(&p);
        runs = next_word(&p);
        if (!nsec || !runs || ucs_parse_u64(nsec, 10, &n) < 0 || ucs_parse_u64(runs, 10, &k) < 0)
                return ucs_error_set(e, -EINVAL, "stopper CPUS NSEC RUNS");
        (void) pthread_mutex_lock(&m->lock);
        FOREACH_CPU (cpu, &cpus)
                if (cpu < m->n_cpus)
                        sim_account_add(&m->cpus[cpu].account, n, k);
        (void) pthread_mutex_unlock(&m->lock);
        return 0;
}

static int run_log(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        const char *word = next_word(&p);
        uint32_t priority;

        if (!word || ucs_parse_u32(word, 10, &priority) < 0 || !p)
                return ucs_error_set(e, -EINVAL, "log PRIORITY TEXT");
        (void) pthread_mutex_lock(&m->lock);
        sim_log(m, priority, "%s", p);
        (void) pthread_mutex_unlock(&m->lock);
        return 0;
}

static int run_mce(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        (void) pthread_mutex_lock(&m->lock);
        m->machine_checks++;
        sim_log(m, 2, "mce: [Hardware Error]: Machine check events logged");
        sim_log(m, 2, "mce: [Hardware Error]: CPU %u: Machine Check: 0 Bank 5: be00000000800400",
                sim_machine_first_online(m));
        (void) pthread_mutex_unlock(&m->lock);
        return 0;
}

static int run_wait(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        const char *what = next_word(&p), *count = next_word(&p);
        struct timespec ts;
        uint64_t n;
        int r = 0;

        if (!what || !streq(what, "writes") || !count || ucs_parse_u64(count, 10, &n) < 0)
                return ucs_error_set(e, -EINVAL, "wait writes N");
        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        ts.tv_sec += WAIT_SEC;
        (void) pthread_mutex_lock(&m->lock);
        while (m->n_answers < n && !m->stopping && r == 0)
                r = -pthread_cond_timedwait(&m->wake, &m->lock, &ts);
        get_writes(m, answer);
        if (m->n_answers >= n)
                r = 0;
        (void) pthread_mutex_unlock(&m->lock);
        return r < 0 ? ucs_error_set(e, r, "Only %s after %u s", answer->data ?: "0", WAIT_SEC) : 0;
}

static int run_help(SimMachine *m, char *p, UcsText *answer, UcsError *e);

static const Command commands[] = {
        { "set", "NAME VALUE", "change a setting; \"revision 0xHEX [CPUS]\" is what CPUs run now", run_set },
        { "get", "NAME", "a setting; writes, stall, revisions, boot-id", run_get },
        { "offline", "CPUS", "take CPUs offline", run_offline },
        { "online", "CPUS", "bring CPUs back", run_online },
        { "reboot", "[0xHEX]",
          "a reset: a new boot id, the boot's revision or this one, an empty log, no taint", run_reboot },
        { "external", "0xHEX", "another program loads this revision", run_external },
        { "stopper", "CPUS NSEC RUNS", "other work of the stoppers", run_stopper },
        { "log", "PRIORITY TEXT", "a line of the kernel log", run_log },
        { "mce", "", "a machine check", run_mce },
        { "wait", "writes N", "until reload was written N times; at most a minute", run_wait },
        { "help", "", "this", run_help },
        { "quit", "", "unmount and end", NULL },
};

static int run_help(SimMachine *m, char *p, UcsText *answer, UcsError *e) {
        for (size_t i = 0; i < ELEMENTSOF(commands); i++)
                ucs_text_appendf(answer, "%s%s %s: %s", i > 0 ? "\n" : "", commands[i].name,
                                 commands[i].arguments, commands[i].help);
        return 0;
}

void sim_command_help(FILE *f) {
        for (size_t i = 0; i < ELEMENTSOF(commands); i++) {
                char left[64];

                (void) snprintf(left, sizeof(left), "%s %s", commands[i].name, commands[i].arguments);
                fprintf(f, "  %-32s %s\n", left, commands[i].help);
        }
}

int sim_command_run(SimMachine *m, char *line, UcsText *answer, bool *ret_quit, UcsError *e) {
        char *rest = line, *verb;

        *ret_quit = false;
        sim_trace(m, "command: %s", line);
        verb = next_word(&rest);
        if (!verb)
                return ucs_error_set(e, -EINVAL, "No command");
        for (size_t i = 0; i < ELEMENTSOF(commands); i++)
                if (streq(commands[i].name, verb)) {
                        if (commands[i].run)
                                return commands[i].run(m, rest, answer, e);
                        *ret_quit = true;
                        return 0;
                }
        return ucs_error_set(e, -ENOENT, "There is no command '%s'", verb);
}
