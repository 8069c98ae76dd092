/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodesim: a file system that is a machine. Reads the command line, starts the machine and its mounts,
 * waits for the end.
 *
 * --mount=DIR is the whole machine: its sys, proc and dev are mounted on DIR/sys, DIR/proc and DIR/dev, and
 * all else in DIR is what it was, with working inotify, fsync and rename. --only=SUBTREE before a
 * --mount=DIR puts that subtree on DIR itself. */

#include <errno.h>
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

static int add_mount(Arguments *a, const char *directory) {
        static const char *const parts[] = { "sys", "proc", "dev" };
        int r = 0;

        if (a->only) {
                while (*a->only == '/')
                        a->only++;
                r = add_place(a, a->only, directory, NULL);
                a->only = NULL;
                return r;
        }
        a->whole = directory;
        for (size_t i = 0; i < ELEMENTSOF(parts) && r == 0; i++) {
                r = add_place(a, parts[i], directory, parts[i]);
                if (r == 0 && mkdir(a->places[a->n_places - 1].directory, 0755) < 0 && errno != EEXIST &&
                    errno != ENOTCONN)
                        r = -errno;
        }
        return r;
}

static int parse_argument(Arguments *a, char *s, UcsError *e) {
        const char *name, *value = NULL;
        uint32_t v;
        char *equals;
        int r;

        name = str_startswith(s, "--");
        if (!name)
                return ucs_error_set(e, -EINVAL, "'%s' is not an option", s);
        equals = strchr(s, '=');
        if (equals) {
                *equals = '\0';
                value = equals + 1;
        }
        if (streq(name, "verbose") && !value)
                return a->verbose = true, 0;
        if (value && streq(name, "only"))
                return a->only = value, 0;
        if (value && streq(name, "control"))
                return a->control = value, 0;
        if (value && streq(name, "ready-fd")) {
                r = ucs_parse_u32(value, 10, &v);
                if (r < 0 || v > 65535)
                        return ucs_error_set(e, -EINVAL, "'%s' is not a descriptor", value);
                return a->ready_fd = (int) v, 0;
        }
        if (value && streq(name, "mount")) {
                r = add_mount(a, value);
                return r < 0 ? ucs_error_set(e, r, "Could not prepare '%s': %s", value, strerror(-r)) : 0;
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
