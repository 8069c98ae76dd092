/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodesim: a file system that is a machine. Reads the command line, starts the machine and its mounts,
 * waits for the end.
 *
 * --mount=DIR is the whole machine: its sys, proc and dev are mounted on DIR/sys, DIR/proc and DIR/dev, and
 * all else in DIR is what it was, with working inotify, fsync and rename. --only=SUBTREE before a
 * --mount=DIR puts that subtree on DIR itself. */

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/parse.h"
#include "control.h"
#include "mount.h"
#include "stall.h"

#define MOUNTS_MAX 16U

typedef struct Place {
        char *subtree, *directory;
} Place;

typedef struct Arguments {
        SimSettings settings;
        Place places[MOUNTS_MAX];
        size_t n_places;
        const char *only, *control, *whole;
        int ready_fd;
        bool verbose;
} Arguments;

static void arguments_done(Arguments *a) {
        for (size_t i = 0; i < a->n_places; i++) {
                free(a->places[i].subtree);
                free(a->places[i].directory);
        }
        sim_settings_done(&a->settings);
}

static void help(void) {
        printf("ucodesim [OPTION…]                 a machine as a file system, for tests\n"
               "ucodesim --send=SOCKET COMMAND…    a command to a running one\n\n"
               "  --mount=DIR                      mount sys, proc and dev below DIR; may come again\n"
               "  --only=SUBTREE                   the next --mount= is only this, e.g. sys/devices/system/cpu\n"
               "  --control=SOCKET                 listen for commands\n"
               "  --ready-fd=N                     write READY there, not on standard output\n"
               "  --verbose                        tell on standard error what happens\n\n");
        sim_settings_help(stdout);
        printf("\nCommands:\n");
        sim_command_help(stdout);
}

static int add_place(Arguments *a, const char *subtree, const char *directory, const char *below) {
        Place *p;

        if (a->n_places == MOUNTS_MAX)
                return -E2BIG;
        p = &a->places[a->n_places];
        if (str_replace(&p->subtree, subtree) < 0)
                return -ENOMEM;
        a->n_places++;
        return asprintf(&p->directory, "%s%s%s", directory, below ? "/" : "", below ?: "") < 0 ? -ENOMEM : 0;
}

/* The subtree that --only= named before, or the parts of a whole machine; their directories are made at
 * once. */
static int take_mount(Arguments *a, const char *value) {
        static const char *const parts[] = { "sys", "proc", "dev" };
        int r = 0;

        if (a->only) {
                r = add_place(a, a->only + strspn(a->only, "/"), value, NULL);
                a->only = NULL;
                return r;
        }
        a->whole = value;
        for (size_t i = 0; i < ELEMENTSOF(parts) && r == 0; i++) {
                r = add_place(a, parts[i], value, parts[i]);
                if (r == 0 && mkdir(a->places[a->n_places - 1].directory, 0755) < 0 && errno != EEXIST &&
                    errno != ENOTCONN)
                        r = -errno;
        }
        return r;
}

static int take_only(Arguments *a, const char *value) {
        a->only = value;
        return 0;
}

static int take_control(Arguments *a, const char *value) {
        a->control = value;
        return 0;
}

static int take_ready_fd(Arguments *a, const char *value) {
        uint32_t v;

        if (ucs_parse_u32(value, 10, &v) < 0 || v > INT_MAX)
                return -EINVAL;
        a->ready_fd = (int) v;
        return 0;
}

/* What is not a setting of the machine. */
static const struct {
        const char *name;
        int (*take)(Arguments *a, const char *value);
} own_options[] = {
        { "mount", take_mount },
        { "only", take_only },
        { "control", take_control },
        { "ready-fd", take_ready_fd },
};

static int parse_argument(Arguments *a, const char *s, UcsError *e) {
        const char *text = str_startswith(s, "--"), *value;
        char name[64];
        int r;

        if (!text || strcspn(text, "=") >= sizeof(name))
                return ucs_error_set(e, -EINVAL, "'%s' is not an option", s);
        value = strchr(text, '=');
        (void) snprintf(name, sizeof(name), "%.*s", (int) strcspn(text, "="), text);
        value = value ? value + 1 : NULL;

        if (streq(name, "verbose") && !value) {
                a->verbose = true;
                return 0;
        }
        for (size_t i = 0; i < ELEMENTSOF(own_options); i++) {
                if (!streq(own_options[i].name, name))
                        continue;
                r = value ? own_options[i].take(a, value) : -EINVAL;
                return r < 0 ? ucs_error_set(e, r, "--%s=%s: %s", name, value ?: "", strerror(-r)) : 0;
        }
        return sim_settings_set(&a->settings, name, value, false, e);
}

static int parse_arguments(Arguments *a, int argc, char **argv, UcsError *e) {
        int r;

        a->ready_fd = STDOUT_FILENO;
        r = sim_settings_init(&a->settings);
        for (int i = 1; i < argc && r == 0; i++)
                r = parse_argument(a, argv[i], e);
        if (r < 0)
                return r;
        if (a->n_places == 0)
                return ucs_error_set(e, -EINVAL, "No --mount=DIR; --help lists what there is");
        if (!a->settings.firmware_root && a->whole)
                r = str_replace(&a->settings.firmware_root, a->whole);
        return r;
}

static int check_real_stall(const SimSettings *s, UcsError *e) {
        uint64_t took;
        int r;

        if (!s->real_stall)
                return 0;
        r = sim_real_stall(100000, &took);
        if (r < 0)
                return ucs_error_set(e, r,
                                     "--real-stall: no SCHED_FIFO thread on every CPU of this host: %s",
                                     strerror(-r));
        return 0;
}

static void stop(SimMachine *m) {
        (void) pthread_mutex_lock(&m->lock);
        m->stopping = true;
        (void) pthread_cond_broadcast(&m->wake);
        (void) pthread_mutex_unlock(&m->lock);
}

static void wait_for_end(int signal_fd, int exit_fd) {
        struct pollfd fds[] = {
                { .fd = signal_fd, .events = POLLIN },
                { .fd = exit_fd, .events = POLLIN },
        };

        while (poll(fds, ELEMENTSOF(fds), -1) < 0 && errno == EINTR)
                ;
}

static int run(Arguments *a, int signal_fd, int exit_fd, UcsError *e) {
        _cleanup_(sim_machine_freep) SimMachine *m = NULL;
        _cleanup_(sim_tree_freep) SimTree *tree = NULL;
        SimMount *mounts[MOUNTS_MAX] = {};
        SimControl *control = NULL;
        int r;

        r = check_real_stall(&a->settings, e);
        if (r == 0)
                r = sim_tree_new(&tree);
        if (r == 0)
                r = sim_machine_new(&a->settings, &m, e);
        if (r < 0)
                return r;
        m->verbose = a->verbose;
        for (size_t i = 0; i < a->n_places && r == 0; i++)
                r = sim_mount_new(m, tree, a->places[i].subtree, a->places[i].directory, exit_fd, &mounts[i],
                                  e);
        if (r == 0 && a->control)
                r = sim_control_new(m, a->control, exit_fd, &control, e);
        if (r == 0) {
                if (write(a->ready_fd, "READY\n", 6) != 6)
                        sim_trace(m, "nobody wants to know that we are ready");
                wait_for_end(signal_fd, exit_fd);
        }

        stop(m);
        sim_control_free(control);
        for (size_t i = a->n_places; i-- > 0;)
                sim_mount_free(mounts[i]);
        return r;
}

int main(int argc, char **argv) {
        Arguments a = {};
        int signal_fd, exit_fd, r;
        UcsError e = {};
        sigset_t mask;

        if (argc > 1 && streq(argv[1], "--help"))
                return help(), EXIT_SUCCESS;
        if (argc > 1 && str_startswith(argv[1], "--send="))
                return sim_control_send(str_startswith(argv[1], "--send="), argc - 2, argv + 2);

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGTERM);
        (void) sigaddset(&mask, SIGINT);
        (void) sigaddset(&mask, SIGHUP);
        (void) pthread_sigmask(SIG_BLOCK, &mask, NULL);
        (void) signal(SIGPIPE, SIG_IGN);
        signal_fd = signalfd(-1, &mask, SFD_CLOEXEC);
        exit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

        r = parse_arguments(&a, argc, argv, &e);
        if (r == 0)
                r = run(&a, signal_fd, exit_fd, &e);
        if (r < 0)
                fprintf(stderr, "ucodesim: %s\n", e.code ? e.text : strerror(-r));
        arguments_done(&a);
        (void) close(signal_fd);
        (void) close(exit_fd);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
