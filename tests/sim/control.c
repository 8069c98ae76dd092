/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The control socket and its client; see control.h. A thread a connection, because a command may block (a
 * load, the hotplug of a CPU that waits for a load, "wait"). */

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"

#define LINE_MAX_BYTES 4096

struct SimControl {
        SimMachine *machine;
        char *path;
        int listen_fd, stop_fd, exit_fd;
        pthread_t thread;
        bool runs;
        pthread_mutex_t lock;
        pthread_cond_t idle;
        unsigned n_connections;
};

typedef struct Connection {
        SimControl *control;
        int fd;
} Connection;

static int address(const char *path, struct sockaddr_un *ret) {
        *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
        if (strlen(path) >= sizeof(ret->sun_path))
                return -ENAMETOOLONG;
        strcpy(ret->sun_path, path);
        return 0;
}

/* A line, or all until the other side has no more to say; at most `size` - 1 bytes. */
static void read_line(int fd, char *buf, size_t size) {
        size_t used = 0;

        while (used < size - 1) {
                ssize_t n = read(fd, buf + used, size - 1 - used);

                if (n <= 0)
                        break;
                used += (size_t) n;
                if (memchr(buf, '\n', used))
                        break;
        }
        buf[used] = '\0';
        buf[strcspn(buf, "\n")] = '\0';
}

static void write_all(int fd, const char *data, size_t size) {
        while (size > 0) {
                ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

                if (n <= 0)
                        return;
                data += n;
                size -= (size_t) n;
        }
}

static void *connection_run(void *userdata) {
        Connection *connection = userdata;
        SimControl *c = connection->control;
        _cleanup_text_ UcsText answer = {};
        _cleanup_text_ UcsText reply = {};
        struct timeval timeout = { .tv_sec = 5 };
        char line[LINE_MAX_BYTES];
        UcsError e = {};
        uint64_t one = 1;
        bool quit = false;
        int r;

        (void) setsockopt(connection->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
        read_line(connection->fd, line, sizeof(line));
        r = sim_command_run(c->machine, line, &answer, &quit, &e);
        ucs_text_append(&reply, r < 0 ? "ERROR " : "OK ");
        ucs_text_append(&reply, r < 0 ? (e.code ? e.text : strerror(-r)) : answer.data ?: "");
        ucs_text_append(&reply, "\n");
        if (!reply.failed)
                write_all(connection->fd, reply.data, reply.length);
        (void) close(connection->fd);
        free(connection);
        if (quit)
                (void) !write(c->exit_fd, &one, sizeof(one));

        (void) pthread_mutex_lock(&c->lock);
        if (--c->n_connections == 0)
                (void) pthread_cond_broadcast(&c->idle);
        (void) pthread_mutex_unlock(&c->lock);
        return NULL;
}

static void connection_start(SimControl *c, int fd) {
        Connection *connection = new0(Connection, 1);
        pthread_attr_t attr;
        pthread_t thread;
        int r;

        if (!connection) {
                (void) close(fd);
                return;
        }
        *connection = (Connection){ c, fd };
        (void) pthread_mutex_lock(&c->lock);
        c->n_connections++;
        (void) pthread_mutex_unlock(&c->lock);
        (void) pthread_attr_init(&attr);
        (void) pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        r = pthread_create(&thread, &attr, connection_run, connection);
        (void) pthread_attr_destroy(&attr);
        if (r == 0)
                return;
        (void) close(fd);
        free(connection);
        (void) pthread_mutex_lock(&c->lock);
        c->n_connections--;
        (void) pthread_mutex_unlock(&c->lock);
}

static void *control_run(void *userdata) {
        SimControl *c = userdata;
        struct pollfd fds[] = {
                { .fd = c->listen_fd, .events = POLLIN },
                { .fd = c->stop_fd, .events = POLLIN },
        };

        for (;;) {
                int fd;

                if (poll(fds, ELEMENTSOF(fds), -1) < 0 && errno != EINTR)
                        return NULL;
                if (fds[1].revents)
                        return NULL;
                fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC);
                if (fd >= 0)
                        connection_start(c, fd);
        }
}

int sim_control_new(SimMachine *m, const char *path, int exit_fd, SimControl **ret, UcsError *e) {
        _cleanup_(sim_control_freep) SimControl *c = NULL;
        struct sockaddr_un sa;
        int r;

        r = address(path, &sa);
        if (r < 0)
                return ucs_error_set(e, r, "'%s' is too long for a socket", path);
        c = new0(SimControl, 1);
        if (!c)
                return -ENOMEM;
        *c = (SimControl){ .machine = m, .listen_fd = -EBADF, .stop_fd = -EBADF, .exit_fd = exit_fd };
        (void) pthread_mutex_init(&c->lock, NULL);
        (void) pthread_cond_init(&c->idle, NULL);
        c->stop_fd = eventfd(0, EFD_CLOEXEC);
        c->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (c->stop_fd < 0 || c->listen_fd < 0)
                return -errno;
        (void) unlink(path);
        if (bind(c->listen_fd, (struct sockaddr *) &sa, sizeof(sa)) < 0 || listen(c->listen_fd, 64) < 0)
                return ucs_error_set(e, -errno, "Could not listen on '%s': %s", path, strerror(errno));
        r = str_replace(&c->path, path);
        if (r < 0)
                return r;
        r = -pthread_create(&c->thread, NULL, control_run, c);
        if (r < 0)
                return r;
        c->runs = true;
        *ret = TAKE_PTR(c);
        return 0;
}

SimControl *sim_control_free(SimControl *c) {
        uint64_t one = 1;

        if (!c)
                return NULL;
        if (c->runs) {
                (void) !write(c->stop_fd, &one, sizeof(one));
                (void) pthread_join(c->thread, NULL);
        }
        (void) pthread_mutex_lock(&c->lock);
        while (c->n_connections > 0)
                (void) pthread_cond_wait(&c->idle, &c->lock);
        (void) pthread_mutex_unlock(&c->lock);
        if (c->path)
                (void) unlink(c->path);
        if (c->listen_fd >= 0)
                (void) close(c->listen_fd);
        if (c->stop_fd >= 0)
                (void) close(c->stop_fd);
        (void) pthread_cond_destroy(&c->idle);
        (void) pthread_mutex_destroy(&c->lock);
        free(c->path);
        free(c);
        return NULL;
}

int sim_control_send(const char *path, int argc, char **argv) {
        _cleanup_text_ UcsText line = {};
        _cleanup_text_ UcsText reply = {};
        struct sockaddr_un sa;
        const char *text;
        char buf[4096];
        ssize_t n;
        int fd;

        for (int i = 0; i < argc; i++) {
                ucs_text_append(&line, i > 0 ? " " : "");
                ucs_text_append(&line, argv[i]);
        }
        ucs_text_append(&line, "\n");
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (line.failed || fd < 0 || address(path, &sa) < 0 ||
            connect(fd, (struct sockaddr *) &sa, sizeof(sa)) < 0) {
                fprintf(stderr, "ucodesim: could not reach '%s': %s\n", path, strerror(errno));
                if (fd >= 0)
                        (void) close(fd);
                return EXIT_FAILURE;
        }
        write_all(fd, line.data, line.length);
        while ((n = read(fd, buf, sizeof(buf))) > 0)
                ucs_text_append_bytes(&reply, buf, (size_t) n);
        (void) close(fd);
        if (reply.failed || !reply.data) {
                fprintf(stderr, "ucodesim: no answer from '%s'\n", path);
                return EXIT_FAILURE;
        }
        text = str_startswith(reply.data, "OK ");
        if (!text) {
                fprintf(stderr, "ucodesim: %s", str_startswith(reply.data, "ERROR ") ?: reply.data);
                return EXIT_FAILURE;
        }
        if (*text != '\n')
                fputs(text, stdout);
        return EXIT_SUCCESS;
}
