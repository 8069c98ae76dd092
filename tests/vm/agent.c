/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The guest's end of a virtio port: takes shell scripts, and answers with what they said and how they ended.
 *
 *   to the guest      "ID TIMEOUT LENGTH\n" and LENGTH bytes of script; TIMEOUT in seconds, 0: none
 *   from the guest    "ID STATUS OUT ERR\n" and OUT bytes of its output, ERR bytes of its errors
 *
 * Each script is a process group of its own beside the others, so that a second one can look at what a first one does; an answer is written as
 * one piece, under a lock. STATUS is the exit status, 128 and the signal, or 124 after the timeout. `agent NAME` finds the port by the
 * name that the host gave it. Runs as root in a guest that is made for tests, and nowhere else: there is no authorisation in here. */

#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPT_MAX (16u << 20)

static void fail(const char *what) {
        (void) fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
        exit(1);
}

static int open_port(const char *name) {
        char path[300], line[256];
        struct dirent *d;
        DIR *dir;

        dir = opendir("/sys/class/virtio-ports");
        if (!dir)
                fail("/sys/class/virtio-ports");
        while ((d = readdir(dir))) {
                bool found;
                FILE *f;

                (void) snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", d->d_name);
                f = d->d_name[0] != '.' ? fopen(path, "re") : NULL;
                if (!f)
                        continue;
                found = fgets(line, sizeof(line), f) && strncmp(line, name, strcspn(line, "\n")) == 0 && name[0];
                (void) fclose(f);
                if (found) {
                        int fd;

                        (void) snprintf(path, sizeof(path), "/dev/%s", d->d_name);
                        fd = open(path, O_RDWR | O_CLOEXEC);
                        if (fd < 0)
                                fail(path);
                        closedir(dir);
                        return fd;
                }
        }
        errno = ENODEV;
        fail(name);
        return -1;
}

/* A port without a host at its other end reads as 0 bytes at once: wait, the host may come back. */
static void read_all(int fd, void *buffer, size_t size) {
        char *p = buffer;

        while (size > 0) {
                const ssize_t n = read(fd, p, size);

                if (n < 0 && errno != EINTR && errno != EAGAIN)
                        fail("read");
                if (n == 0)
                        (void) usleep(50000);
                if (n > 0) {
                        p += n;
                        size -= (size_t) n;
                }
        }
}

static void write_all(int fd, const void *data, size_t size) {
        const char *p = data;

        while (size > 0) {
                const ssize_t n = write(fd, p, size);

                if (n < 0 && errno != EINTR && errno != EAGAIN)
                        fail("write");
                if (n > 0) {
                        p += n;
                        size -= (size_t) n;
                }
        }
}

static int memory(const char *name) {
        const int fd = memfd_create(name, 0);

        if (fd < 0)
                fail(name);
        return fd;
}

/* The script and what it leaves behind in its group; its exit status. */
static int run(int script, int out, int err, unsigned timeout) {
        bool timed_out = false;
        pid_t pid;
        int status;

        pid = fork();
        if (pid < 0)
                fail("fork");
        if (pid == 0) {
                char path[64];
                const int null = open("/dev/null", O_RDONLY);

                (void) setpgid(0, 0);
                (void) signal(SIGCHLD, SIG_DFL);
                (void) dup2(null, 0);
                (void) dup2(out, 1);
                (void) dup2(err, 2);
                (void) snprintf(path, sizeof(path), "/dev/fd/%d", script);
                (void) execl("/bin/bash", "bash", path, (char *) NULL);
                _exit(127);
        }
        if (timeout > 0) {
                struct timespec limit = { .tv_sec = timeout };
                sigset_t child;

                (void) sigemptyset(&child);
                (void) sigaddset(&child, SIGCHLD);
                while (sigtimedwait(&child, NULL, &limit) < 0 && errno == EINTR)
                        ;
                if (waitpid(pid, &status, WNOHANG) == pid)
                        goto ended;
                timed_out = true;
                (void) kill(-pid, SIGKILL);
        }
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
ended:
        if (timed_out)
                return 124;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static char *contents(int fd, size_t *ret_size) {
        struct stat st;
        char *data;

        if (fstat(fd, &st) < 0)
                fail("fstat");
        *ret_size = (size_t) st.st_size;
        data = malloc(*ret_size + 1);
        if (!data)
                fail("malloc");
        if (pread(fd, data, *ret_size, 0) != (ssize_t) *ret_size)
                fail("pread");
        return data;
}

static void handle(int port, unsigned id, unsigned timeout, const char *script, size_t length) {
        int in = memory("script"), out = memory("out"), err = memory("err"), lock, status;
        size_t n_out, n_err;
        char *o, *e, head[80];
        sigset_t child;

        (void) sigemptyset(&child);
        (void) sigaddset(&child, SIGCHLD);
        (void) sigprocmask(SIG_BLOCK, &child, NULL);
        (void) signal(SIGCHLD, SIG_DFL);

        write_all(in, script, length);
        status = run(in, out, err, timeout);
        o = contents(out, &n_out);
        e = contents(err, &n_err);

        /* any file that all of them have: the lock belongs to this opening of it */
        lock = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        if (lock < 0 || flock(lock, LOCK_EX) < 0)
                fail("lock");
        (void) snprintf(head, sizeof(head), "%u %d %zu %zu\n", id, status, n_out, n_err);
        write_all(port, head, strlen(head));
        write_all(port, o, n_out);
        write_all(port, e, n_err);
        _exit(0);
}

int main(int argc, char **argv) {
        int port;

        if (argc != 2) {
                (void) fprintf(stderr, "agent PORT-NAME\n");
                return 2;
        }
        port = open_port(argv[1]);
        (void) signal(SIGCHLD, SIG_IGN);

        for (;;) {
                unsigned id, timeout, length;
                char head[80];
                size_t n = 0;
                char *script;
                pid_t pid;

                do {
                        read_all(port, head + n, 1);
                } while (head[n] != '\n' && ++n < sizeof(head) - 1);
                head[n] = '\0';
                if (sscanf(head, "%u %u %u", &id, &timeout, &length) != 3 || length > SCRIPT_MAX) {
                        errno = EBADMSG;
                        fail(head);
                }
                script = malloc(length + 1);
                if (!script)
                        fail("malloc");
                read_all(port, script, length);
                pid = fork();
                if (pid < 0)
                        fail("fork");
                if (pid == 0)
                        handle(port, id, timeout, script, length);
                free(script);
        }
}
