/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodesyncd: arguments, signals, and the life of the process. */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "daemon/log.h"
#include "daemon/manager.h"
#include "os/root.h"

static const char *arg_root = "/";

static const char help[] = "ucodesyncd [OPTIONS...]\n\n"
                           "Updates the microcode of this machine's CPUs at a moment that its owner chose.\n\n"
                           "     --root=DIR   work on the machine below DIR: sysfs, procfs, firmware, configuration, state\n"
                           "     --debug      log at debug level\n"
                           "  -h --help       show this help\n"
                           "     --version    show the version\n\n"
                           "See ucodesyncd(8).\n";

/* 1: go on; 0: done; negative: wrong arguments, said already. */
static int parse_argv(int argc, char **argv) {
        enum { ARG_ROOT = 0x100, ARG_DEBUG, ARG_VERSION };
        static const struct option options[] = {
                { "root", required_argument, NULL, ARG_ROOT },
                { "debug", no_argument, NULL, ARG_DEBUG },
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, ARG_VERSION },
                {},
        };
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case ARG_ROOT:
                        arg_root = optarg;
                        break;
                case ARG_DEBUG:
                        log_set_max_level(LOG_DEBUG);
                        break;
                case ARG_VERSION:
                        (void) printf("ucodesyncd %s\n", UCS_VERSION);
                        return 0;
                case 'h':
                        (void) fputs(help, stdout);
                        return 0;
                default:
                        return -EINVAL;
                }
        if (optind < argc) {
                (void) fprintf(stderr, "%s: unexpected argument '%s', see --help\n", argv[0], argv[optind]);
                return -EINVAL;
        }
        return 1;
}

/* One descriptor a CPU for its revision and one for its witness: ask for what the unit allows. */
static void raise_nofile(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
}

static int on_terminate(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        manager_exit(userdata, 0);
        return 0;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Manager *m = userdata;
        uint64_t now = 0;
        UcsError e = {};

        if (m->apply) {
                log_warning("A load is under way, the configuration is not read again now");
                return 0;
        }
        (void) sd_event_now(m->event, CLOCK_MONOTONIC, &now);
        (void) sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now);
        (void) manager_reload_config(m, &e); /* said there */
        (void) sd_notify(false, "READY=1");
        return 0;
}

static int add_signals(sd_event *event, Manager *m) {
        static const struct {
                int signal;
                sd_event_signal_handler_t handler;
        } signals[] = {
                { SIGTERM, on_terminate },
                { SIGINT, on_terminate },
                { SIGHUP, on_hangup },
        };
        int r;

        for (size_t i = 0; i < ELEMENTSOF(signals); i++) {
                r = sd_event_add_signal(event, NULL, signals[i].signal, signals[i].handler, m);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int run(int root_fd) {
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_(manager_freep) Manager *m = NULL;
        sigset_t mask;
        int r;

        /* before any thread: sd_event takes them from a descriptor */
        if (sigemptyset(&mask) < 0 || sigaddset(&mask, SIGTERM) < 0 || sigaddset(&mask, SIGINT) < 0 || sigaddset(&mask, SIGHUP) < 0 ||
            sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
                return -errno;

        r = sd_event_new(&event);
        if (r < 0)
                return r;
        (void) sd_event_set_watchdog(event, true);
        r = manager_new(event, root_fd, &m);
        if (r < 0)
                return r;
        r = add_signals(event, m);
        if (r < 0)
                return r;
        r = manager_start(m);
        if (r < 0)
                return r;

        (void) sd_notify(false, "READY=1");
        r = sd_event_loop(event);
        (void) sd_notify(false, "STOPPING=1");
        return r;
}

int main(int argc, char **argv) {
        UcsError e = {};
        int root_fd, r;

        log_init();
        r = parse_argv(argc, argv);
        if (r <= 0)
                return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

        raise_nofile();
        r = ucs_root_open(arg_root, &root_fd, &e);
        if (r < 0) {
                log_error("%s", e.text);
                return EXIT_FAILURE;
        }
        r = run(root_fd);
        if (r < 0)
                log_error("Leaving after a failure: %s", strerror(-r));
        fd_close(root_fd);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
