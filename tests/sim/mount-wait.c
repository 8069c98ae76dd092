/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Requests that are answered later: writes that block, reads of dev/kmsg without a record, polls.
 *
 * Whoever takes a waiting read off the list is the one who replies to it: the waker, or the interrupt of a
 * client that was killed. A blocked write is not interrupted, as the kernel's load is not; its client stays
 * until the load is over. */

#include <errno.h>

#include "mount-internal.h"

typedef struct Job {
        SimMount *mount;
        fuse_req_t req;
        SimHandle *handle;
        size_t size;
        uint64_t offset;
        char data[];
} Job;

struct SimWaiter {
        SimWaiter *next;
        fuse_req_t req;
        SimHandle *handle;
        size_t size;
        uint64_t offset;
};

struct SimWatch {
        SimWatch *next;
        SimHandle *handle;
        struct fuse_pollhandle *ph;
};

static void job_done(SimMount *mount) {
        (void) pthread_mutex_lock(&mount->lock);
        if (--mount->n_jobs == 0)
                (void) pthread_cond_broadcast(&mount->idle);
        (void) pthread_mutex_unlock(&mount->lock);
}

static void *job_run(void *userdata) {
        Job *job = userdata;
        SimMount *mount = job->mount;
        int r;

        r = sim_handle_write(job->handle, job->data, job->size, job->offset);
        if (r < 0)
                (void) fuse_reply_err(job->req, -r);
        else
                (void) fuse_reply_write(job->req, job->size);
        free(job);
        job_done(mount);
        return NULL;
}

void sim_mount_write_later(SimMount *mount, fuse_req_t req, SimHandle *h, const char *data, size_t size,
                           uint64_t offset) {
        pthread_attr_t attr;
        pthread_t thread;
        Job *job;
        int r;

        job = malloc(sizeof(*job) + size);
        if (!job) {
                (void) fuse_reply_err(req, ENOMEM);
                return;
        }
        *job = (Job){ .mount = mount, .req = req, .handle = h, .size = size, .offset = offset };
        memcpy(job->data, data, size);

        (void) pthread_mutex_lock(&mount->lock);
        mount->n_jobs++;
        (void) pthread_mutex_unlock(&mount->lock);
        (void) pthread_attr_init(&attr);
        (void) pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        r = pthread_create(&thread, &attr, job_run, job);
        (void) pthread_attr_destroy(&attr);
        if (r != 0) {
                free(job);
                (void) fuse_reply_err(req, r);
                job_done(mount);
        }
}

void sim_mount_jobs_join(SimMount *mount) {
        (void) pthread_mutex_lock(&mount->lock);
        while (mount->n_jobs > 0)
                (void) pthread_cond_wait(&mount->idle, &mount->lock);
        (void) pthread_mutex_unlock(&mount->lock);
}

/* May come before the waiter is listed, and after it was answered: then it is not in the list. */
static void waiter_interrupted(fuse_req_t req, void *userdata) {
        SimMount *mount = userdata;
        SimWaiter **link, *w;

        (void) pthread_mutex_lock(&mount->lock);
        for (link = &mount->waiters; *link && (*link)->req != req; link = &(*link)->next)
                ;
        w = *link;
        if (w)
                *link = w->next;
        (void) pthread_mutex_unlock(&mount->lock);
        if (w) {
                (void) fuse_reply_err(req, EINTR);
                free(w);
        }
}

void sim_mount_read_later(SimMount *mount, fuse_req_t req, SimHandle *h, size_t size, uint64_t offset) {
        bool interrupted;
        SimWaiter *w;

        w = new0(SimWaiter, 1);
        if (!w) {
                (void) fuse_reply_err(req, ENOMEM);
                return;
        }
        fuse_req_interrupt_func(req, waiter_interrupted, mount);
        (void) pthread_mutex_lock(&mount->lock);
        interrupted = fuse_req_interrupted(req);
        if (!interrupted) {
                *w = (SimWaiter){ mount->waiters, req, h, size, offset };
                mount->waiters = w;
        }
        (void) pthread_mutex_unlock(&mount->lock);
        if (interrupted) {
                (void) fuse_reply_err(req, EINTR);
                free(w);
                return;
        }
        /* A record may have come before the waiter was listed. */
        (void) pthread_mutex_lock(&mount->machine->lock);
        (void) pthread_cond_broadcast(&mount->machine->wake);
        (void) pthread_mutex_unlock(&mount->machine->lock);
}

void sim_mount_poll_later(SimMount *mount, SimHandle *h, struct fuse_pollhandle *ph) {
        SimWatch *w = new0(SimWatch, 1);

        if (!w) {
                fuse_pollhandle_destroy(ph);
                return;
        }
        (void) pthread_mutex_lock(&mount->lock);
        *w = (SimWatch){ mount->watches, h, ph };
        mount->watches = w;
        (void) pthread_mutex_unlock(&mount->lock);
        (void) pthread_mutex_lock(&mount->machine->lock);
        (void) pthread_cond_broadcast(&mount->machine->wake);
        (void) pthread_mutex_unlock(&mount->machine->lock);
}

void sim_mount_opened(SimMount *mount, SimHandle *h) {
        (void) pthread_mutex_lock(&mount->lock);
        h->next = mount->handles;
        h->link = &mount->handles;
        if (h->next)
                h->next->link = &h->next;
        mount->handles = h;
        (void) pthread_mutex_unlock(&mount->lock);
}

void sim_mount_close(SimMount *mount, SimHandle *h) {
        (void) pthread_mutex_lock(&mount->lock);
        *h->link = h->next;
        if (h->next)
                h->next->link = h->link;
        for (SimWatch **link = &mount->watches; *link;) {
                SimWatch *w = *link;

                if (w->handle != h) {
                        link = &w->next;
                        continue;
                }
                *link = w->next;
                fuse_pollhandle_destroy(w->ph);
                free(w);
        }
        (void) pthread_mutex_unlock(&mount->lock);
        (void) sim_handle_close(h);
}

/* Take a waiter that can be answered now (or any, at the end) off the list. With both locks. */
static SimWaiter *ready_waiter(SimMount *mount) {
        for (SimWaiter **link = &mount->waiters; *link; link = &(*link)->next)
                if (mount->machine->stopping || sim_kmsg_readable((*link)->handle)) {
                        SimWaiter *w = *link;

                        *link = w->next;
                        return w;
                }
        return NULL;
}

static SimWatch *ready_watch(SimMount *mount) {
        for (SimWatch **link = &mount->watches; *link; link = &(*link)->next)
                if (mount->machine->stopping || sim_kmsg_readable((*link)->handle)) {
                        SimWatch *w = *link;

                        *link = w->next;
                        return w;
                }
        return NULL;
}

static void answer_waiter(SimMount *mount, SimWaiter *w) {
        _cleanup_free_ char *buf = malloc(w->size ?: 1);
        ssize_t n = buf ? sim_handle_read(w->handle, buf, w->size, w->offset) : -ENOMEM;

        if (n < 0) /* still none: the machine goes away */
                (void) fuse_reply_err(w->req, n == -EAGAIN ? ENODEV : (int) -n);
        else
                (void) fuse_reply_buf(w->req, buf, (size_t) n);
        free(w);
}

void *sim_mount_waker(void *userdata) {
        SimMount *mount = userdata;
        SimMachine *m = mount->machine;
        SimWaiter *waiter;
        SimWatch *watch;
        bool stopping;

        for (;;) {
                (void) pthread_mutex_lock(&m->lock);
                for (;;) {
                        (void) pthread_mutex_lock(&mount->lock);
                        waiter = ready_waiter(mount);
                        watch = ready_watch(mount);
                        (void) pthread_mutex_unlock(&mount->lock);
                        stopping = m->stopping;
                        if (waiter || watch || stopping)
                                break;
                        (void) pthread_cond_wait(&m->wake, &m->lock);
                }
                (void) pthread_mutex_unlock(&m->lock);
                if (waiter)
                        answer_waiter(mount, waiter);
                if (watch) {
                        (void) fuse_lowlevel_notify_poll(watch->ph);
                        fuse_pollhandle_destroy(watch->ph);
                        free(watch);
                }
                if (stopping && !waiter && !watch)
                        return NULL;
        }
}
