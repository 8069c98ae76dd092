/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Birth and end of a mount; see mount.h.
 *
 * A few threads wait for the session's descriptor and for the order to stop, and never block in a request:
 * what takes time is answered by other threads (mount-wait.c). So a load that takes seconds, or hangs, holds
 * up nothing but its own write. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <unistd.h>

#include "mount-internal.h"

fuse_ino_t sim_mount_ino(const SimMount *mount, SimInstance i) {
        if (i.node == mount->root.node && i.cpu == mount->root.cpu)
                return FUSE_ROOT_ID;
        return (fuse_ino_t) (i.node + 1) << 16 | i.cpu;
}

SimInstance sim_mount_instance(const SimMount *mount, fuse_ino_t ino) {
        if (ino == FUSE_ROOT_ID)
                return mount->root;
        return (SimInstance){ (uint32_t) (ino >> 16) - 1, (uint32_t) ino & 0xffff };
}

const char *sim_mount_directory(const SimMount *mount) {
        return mount->directory;
}

static void *worker_run(void *userdata) {
        SimMount *mount = userdata;
        struct pollfd fds[] = {
                { .fd = fuse_session_fd(mount->session), .events = POLLIN },
                { .fd = mount->stop_fd, .events = POLLIN },
        };
        struct fuse_buf buf = {};
        uint64_t one = 1;
        int r;

        for (;;) {
                if (poll(fds, ELEMENTSOF(fds), -1) < 0 && errno != EINTR)
                        break;
                if (fds[1].revents)
                        break;
                r = fuse_session_receive_buf(mount->session, &buf);
                if (r == -EINTR || r == -EAGAIN)
                        continue;
                if (r <= 0) { /* unmounted by somebody else */
                        (void) !write(mount->exit_fd, &one, sizeof(one));
                        break;
                }
                fuse_session_process_buf(mount->session, &buf);
        }
        free(buf.mem);
        return NULL;
}

/* A simulator that was killed leaves a mount that answers ENOTCONN. */
static void take_away_dead(const char *directory) {
        struct stat st;

        while (stat(directory, &st) < 0 && (errno == ENOTCONN || errno == ECONNABORTED))
                if (umount2(directory, MNT_DETACH) < 0)
                        break;
}

static int session_start(SimMount *mount, UcsError *e) {
        static const char *const argv[] = {
                "ucodesim", "-o", "allow_other,default_permissions,fsname=ucodesim,subtype=machine"
        };
        struct fuse_args args = FUSE_ARGS_INIT((int) ELEMENTSOF(argv), (char **) argv);
        int fd;

        mount->session = fuse_session_new(&args, &sim_mount_ops, sizeof(sim_mount_ops), mount);
        fuse_opt_free_args(&args);
        if (!mount->session)
                return ucs_error_set(e, -ENOMEM, "No FUSE session for '%s'", mount->directory);
        if (fuse_session_mount(mount->session, mount->directory) != 0)
                return ucs_error_set(e, -EIO,
                                     "Could not mount on '%s' (is /dev/fuse there, and are we root?)",
                                     mount->directory);
        mount->mounted = true;
        fd = fuse_session_fd(mount->session);
        if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
                return -errno;
        return 0;
}

int sim_mount_new(SimMachine *m, const SimTree *t, const char *path, const char *directory, int exit_fd,
                  SimMount **ret, UcsError *e) {
        _cleanup_(sim_mount_freep) SimMount *mount = NULL;
        int r;

        mount = new0(SimMount, 1);
        if (!mount)
                return -ENOMEM;
        mount->machine = m;
        mount->tree = t;
        mount->exit_fd = exit_fd;
        mount->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        (void) pthread_mutex_init(&mount->lock, NULL);
        (void) pthread_cond_init(&mount->idle, NULL);
        if (mount->stop_fd < 0)
                return -errno;
        if (str_replace(&mount->directory, directory) < 0)
                return -ENOMEM;
        (void) pthread_mutex_lock(&m->lock);
        r = sim_tree_resolve(t, m, path, &mount->root);
        (void) pthread_mutex_unlock(&m->lock);
        if (r < 0 || !sim_tree_is_directory(t, mount->root))
                return ucs_error_set(e, -ENOENT, "The machine has no directory '%s'", path);

        take_away_dead(directory);
        r = session_start(mount, e);
        if (r < 0)
                return r;
        r = -pthread_create(&mount->waker, NULL, sim_mount_waker, mount);
        mount->waker_runs = r == 0;
        for (; mount->n_workers < SIM_WORKERS && r == 0; mount->n_workers++) {
                r = -pthread_create(&mount->workers[mount->n_workers], NULL, worker_run, mount);
                if (r < 0)
                        break;
        }
        if (r < 0)
                return r;
        sim_trace(m, "%s is /%s of the machine", directory, path);
        *ret = TAKE_PTR(mount);
        return 0;
}

SimMount *sim_mount_free(SimMount *mount) {
        uint64_t one = 1;

        if (!mount)
                return NULL;
        if (mount->waker_runs)
                (void) pthread_join(mount->waker, NULL);
        sim_mount_jobs_join(mount);
        if (mount->stop_fd >= 0)
                (void) !write(mount->stop_fd, &one, sizeof(one));
        for (unsigned i = 0; i < mount->n_workers; i++)
                (void) pthread_join(mount->workers[i], NULL);
        if (mount->mounted)
                fuse_session_unmount(mount->session);
        if (mount->session)
                fuse_session_destroy(mount->session);
        while (mount->handles)
                sim_mount_close(mount, mount->handles);
        if (mount->stop_fd >= 0)
                (void) close(mount->stop_fd);
        (void) pthread_cond_destroy(&mount->idle);
        (void) pthread_mutex_destroy(&mount->lock);
        free(mount->directory);
        free(mount);
        return NULL;
}
