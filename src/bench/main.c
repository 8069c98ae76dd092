/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodebench: microbenchmarks in user space of what a microcode load costs, and of the ways to see it. Two tables, of verbs and of options;
 * each verb is a file of its own. Loads nothing, and needs neither the daemon nor its configuration. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/parse.h"
#include "bench/args.h"
#include "bench/report.h"
#include "os/clock.h"
#include "os/root.h"

#define LIMIT_DEFAULT_USEC (2 * USEC_PER_MINUTE)
#define LIMIT_MAX_USEC (30 * USEC_PER_MINUTE)
#define NICE_DEFAULT 10U

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
        interrupted = 1;
}

bool bench_interrupted(void) {
        return interrupted;
}

bool bench_out_of_time(const Bench *b) {
        return ucs_clock_monotonic_raw_nsec() - b->begin_nsec > b->limit_usec * NSEC_PER_USEC;
}

static int set_json(Bench *b, const char *value) {
        static const struct {
                const char *name;
                BenchJson json;
        } modes[] = {
                { "", BENCH_JSON_PRETTY },
                { "pretty", BENCH_JSON_PRETTY },
                { "short", BENCH_JSON_SHORT },
                { "off", BENCH_JSON_OFF },
        };

        for (size_t i = 0; i < ELEMENTSOF(modes); i++)
                if (streq(modes[i].name, value)) {
                        b->json = modes[i].json;
                        return 0;
                }
        return -EINVAL;
}

static int set_yes(Bench *b, const char *value) {
        b->yes = true;
        return 0;
}

static int set_quiet(Bench *b, const char *value) {
        b->quiet = true;
        return 0;
}

static int set_no_legend(Bench *b, const char *value) {
        b->legend = false;
        return 0;
}

static int set_all_cpus(Bench *b, const char *value) {
        b->all_cpus = true;
        return 0;
}

static int set_cpus(Bench *b, const char *value) {
        UcsCpuSet set;

        if (ucs_cpuset_parse(value, &set, NULL) < 0 || ucs_cpuset_count(&set) == 0)
                return -EINVAL;
        b->cpus = set;
        b->have_cpus = true;
        return 0;
}

static int set_count(const char *value, uint32_t min, uint32_t max, uint32_t *ret) {
        uint32_t v;

        if (ucs_parse_u32(value, 10, &v) < 0 || v < min || v > max)
                return -EINVAL;
        *ret = v;
        return 0;
}

static int set_span(const char *value, uint64_t max_usec, uint64_t *ret) {
        uint64_t v;

        if (ucs_parse_timespan(value, &v) < 0 || v == 0 || v > max_usec)
                return -EINVAL;
        *ret = v;
        return 0;
}

/* "1,3,10" */
static int set_list(Bench *b, const char *value, uint32_t max) {
        _cleanup_free_ char *copy = strdup(value);
        uint32_t list[BENCH_LIST_MAX];
        char *save = NULL;
        size_t n = 0;

        if (!copy)
                return -ENOMEM;
        for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
                if (n == BENCH_LIST_MAX || set_count(word, 1, max, &list[n]) < 0)
                        return -EINVAL;
                n++;
        }
        if (n == 0)
                return -EINVAL;
        memcpy(b->list, list, n * sizeof(*list));
        b->n_list = n;
        return 0;
}

static int set_nice(Bench *b, const char *value) {
        return set_count(value, 0, 19, &b->nice);
}

static int set_repetitions(Bench *b, const char *value) {
        return set_count(value, 1, 1000, &b->repetitions);
}

static int set_calls(Bench *b, const char *value) {
        return set_count(value, 10, 100000, &b->calls);
}

static int set_limit(Bench *b, const char *value) {
        return set_span(value, LIMIT_MAX_USEC, &b->limit_usec);
}

static int set_window(Bench *b, const char *value) {
        return set_span(value, USEC_PER_MINUTE, &b->window_usec);
}

/* Longer ones would run into the kernel's guards against real-time tasks (sched_rt_runtime_us, fair server: 950 ms in 1 s). */
static int set_lengths(Bench *b, const char *value) {
        return set_list(b, value, 500);
}

static int set_sizes(Bench *b, const char *value) {
        return set_list(b, value, UCS_CPU_MAX);
}

static const BenchOption options[] = {
        { "repetitions", "N", "witness revision", set_repetitions, "a number from 1 to 1000", "of each cell" },
        { "lengths", "MSEC,...", "witness", set_lengths, "a list of milliseconds from 1 to 500", "of the stalls (1,3,10,30,100,300)" },
        { "sizes", "CPUS,...", "revision", set_sizes, "a list of numbers of CPUs up to 8192", "of the synthetic trees (64,512,4096)" },
        { "calls", "N", "shootdown", set_calls, "a number from 10 to 100000", "timed in each configuration (2000)" },
        { "window", "TIME", "probe", set_window, "a time up to 1min", "how long to watch at most (10s)" },
        { "cpus", "LIST", NULL, set_cpus, "a list of CPUs such as 0-3,8", "only these CPUs" },
        { "all-cpus", NULL, NULL, set_all_cpus, NULL, "isolated and nohz_full CPUs, too" },
        { "limit", "TIME", NULL, set_limit, "a time up to 30min", "stop measuring after this time (2min)" },
        { "nice", "N", NULL, set_nice, "a number from 0 to 19", "priority of what is not real-time (10)" },
        { "yes", NULL, NULL, set_yes, NULL, "measure on a busy host, too" },
        { "json", "[=MODE]", NULL, set_json, "pretty, short or off", "print one JSON object, nothing else" },
        { "no-legend", NULL, NULL, set_no_legend, NULL, "leave headings and remarks out" },
        { "quiet", NULL, NULL, set_quiet, NULL, "print errors only" },
};

static const BenchVerbRow verbs[] = {
        { "shootdown", NULL, bench_shootdown, "What a TLB-shootdown IPI costs, by targets and x2APIC clusters" },
        { "revision", NULL, bench_revision, "Every way of reading the revision of the CPUs" },
        { "witness", NULL, bench_witness, "Known machine-wide stalls, as the witnesses see them" },
        { "probe", "-- COMMAND...", bench_probe, "Watch a command for machine-wide stalls" },
};

static const BenchTables tables = { options, ELEMENTSOF(options), verbs, ELEMENTSOF(verbs) };

/* An error in the command line is to be JSON, too. */
static void guess_json(Bench *b, int argc, char **argv) {
        for (int i = 1; i < argc && !streq(argv[i], "--"); i++) {
                const char *mode = str_startswith(argv[i], "--json");

                if (mode && (*mode == '=' || *mode == '\0') && set_json(b, mode + (*mode == '=')) < 0)
                        b->json = BENCH_JSON_PRETTY;
        }
}

void bench_be_nice(const Bench *b) {
        (void) setpriority(PRIO_PROCESS, 0, (int) b->nice);
}

static void catch_signals(void) {
        static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
        const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

        for (size_t i = 0; i < ELEMENTSOF(numbers); i++)
                (void) sigaction(numbers[i], &action, NULL);
}

int main(int argc, char **argv) {
        Bench b = {
                .legend = true,
                .limit_usec = LIMIT_DEFAULT_USEC,
                .nice = NICE_DEFAULT,
                .root_fd = -EBADF,
        };
        const BenchVerbRow *verb;
        UcsError e = {};
        char **verb_argv;
        int r, verb_argc;

        guess_json(&b, argc, argv);
        r = bench_args_parse(&b, &tables, argc, argv, &verb, &verb_argc, &verb_argv);
        if (verb) {
                b.begin_nsec = ucs_clock_monotonic_raw_nsec();
                catch_signals();
                if (ucs_root_open("/", &b.root_fd, &e) < 0)
                        r = bench_fail(&b, BENCH_FAILED, "Failed", "%s", e.text);
                else
                        r = verb->run(&b, verb_argc, verb_argv);
                fd_close(b.root_fd);
        }
        /* what could not be written was not said */
        if (fflush(stdout) != 0 || ferror(stdout)) {
                (void) fprintf(stderr, "ucodebench: the output cannot be written: %s\n", strerror(errno));
                r = BENCH_FAILED;
        }
        return r;
}
