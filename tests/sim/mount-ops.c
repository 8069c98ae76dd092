/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* FUSE's requests, each in terms of the tree and of open files. Files are read past the page cache
 * (direct_io): what is read is what is so now, whatever stat() says of the size. */

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "base/timefmt.h"
#include "mount-internal.h"

#define STATIC_SEC 3600.0

static SimMount *mount_of(fuse_req_t req) {
        return fuse_req_userdata(req);
}

static double cache_sec(const SimMount *mount, SimInstance i) {
        const SimFile *f = sim_tree_file(mount->tree, i);

        return sim_tree_is_dynamic(mount->tree, i) || (f && f->kind == SIM_FILE_KMSG) ? 0 : STATIC_SEC;
}

/* As sysfs and procfs show themselves: a page, or nothing. With the machine's lock. */
static struct stat attributes(const SimMount *mount, SimInstance i) {
        const SimMachine *m = mount->machine;
        const SimFile *f = sim_tree_file(mount->tree, i);
        struct stat st = {
                .st_ino = sim_mount_ino(mount, i),
                .st_blksize = 4096,
        };

        if (sim_tree_is_directory(mount->tree, i)) {
                st.st_mode = S_IFDIR | (f ? f->mode : 0755);
                st.st_nlink = 2;
        } else {
                st.st_mode = S_IFREG | f->mode;
                st.st_nlink = 1;
                if (f->kind == SIM_FILE_KMSG)
                        st.st_size = (off_t) sim_kmsg_size(m);
                else if (str_startswith(f->path, "sys/"))
                        st.st_size = 4096;
        }
        st.st_ctim.tv_sec = st.st_mtim.tv_sec = st.st_atim.tv_sec =
                (time_t) ((uint64_t) time(NULL) - sim_machine_uptime_nsec(m) / NSEC_PER_SEC);
        return st;
}

static void op_init(void *userdata, struct fuse_conn_info *conn) {
        conn->want |= conn->capable & FUSE_CAP_ATOMIC_O_TRUNC; /* "echo 1 >file" */
        conn->want &= ~(unsigned) FUSE_CAP_READDIRPLUS;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name) {
        SimMount *mount = mount_of(req);
        SimMachine *m = mount->machine;
        struct fuse_entry_param e = {};
        SimInstance i;
        int r;

        (void) pthread_mutex_lock(&m->lock);
        r = sim_tree_lookup(mount->tree, m, sim_mount_instance(mount, parent), name, &i);
        if (r == 0) {
                e.ino = sim_mount_ino(mount, i);
                e.attr = attributes(mount, i);
                e.entry_timeout = e.attr_timeout = cache_sec(mount, i);
        }
        (void) pthread_mutex_unlock(&m->lock);
        if (r < 0)
                (void) fuse_reply_err(req, -r);
        else
                (void) fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
        SimMount *mount = mount_of(req);
        SimMachine *m = mount->machine;
        SimInstance i = sim_mount_instance(mount, ino);
        struct stat st;
        bool there;

        (void) pthread_mutex_lock(&m->lock);
        there = fi || ino == FUSE_ROOT_ID || sim_tree_exists(mount->tree, m, i);
        st = attributes(mount, i);
        (void) pthread_mutex_unlock(&m->lock);
        if (there)
                (void) fuse_reply_attr(req, &st, cache_sec(mount, i));
        else
                (void) fuse_reply_err(req, ENOENT);
}

/* Truncation is what a shell's > does and means nothing here; owners and modes stay as they are. */
static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int what,
                       struct fuse_file_info *fi) {
        if (what & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
                (void) fuse_reply_err(req, EPERM);
        else
                op_getattr(req, ino, fi);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
        SimMount *mount = mount_of(req);
        SimMachine *m = mount->machine;
        SimInstance i = sim_mount_instance(mount, ino);
        SimHandle *h;
        int r;

        (void) pthread_mutex_lock(&m->lock);
        if (!sim_tree_exists(mount->tree, m, i))
                r = -ENODEV;
        else
                r = sim_handle_open(mount->tree, m, i, fi->flags, &h);
        (void) pthread_mutex_unlock(&m->lock);
        if (r < 0) {
                (void) fuse_reply_err(req, -r);
                return;
        }
        fi->fh = (uint64_t) (uintptr_t) h;
        fi->direct_io = 1;
        sim_mount_opened(mount, h);
        if (fuse_reply_open(req, fi) < 0) /* the client is gone, and will not release it */
                sim_mount_close(mount, h);
}

static SimHandle *handle_of(const struct fuse_file_info *fi) {
        return (SimHandle *) (uintptr_t) fi->fh;
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
        sim_mount_close(mount_of(req), handle_of(fi));
        (void) fuse_reply_err(req, 0);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi) {
        SimHandle *h = handle_of(fi);
        _cleanup_free_ char *buf = NULL;
        ssize_t n;

        buf = malloc(size ?: 1);
        n = buf ? sim_handle_read(h, buf, size, (uint64_t) offset) : -ENOMEM;
        if (n == -EAGAIN && !(fi->flags & O_NONBLOCK))
                sim_mount_read_later(mount_of(req), req, h, size, (uint64_t) offset);
        else if (n < 0)
                (void) fuse_reply_err(req, (int) -n);
        else
                (void) fuse_reply_buf(req, buf, (size_t) n);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t offset,
                     struct fuse_file_info *fi) {
        sim_mount_write_later(mount_of(req), req, handle_of(fi), buf, size, (uint64_t) offset);
}

static void op_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct fuse_pollhandle *ph) {
        SimMount *mount = mount_of(req);
        SimHandle *h = handle_of(fi);
        unsigned events = POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;

        if (h->file->kind == SIM_FILE_KMSG) {
                (void) pthread_mutex_lock(&mount->machine->lock);
                if (!sim_kmsg_readable(h))
                        events &= ~(unsigned) (POLLIN | POLLRDNORM);
                (void) pthread_mutex_unlock(&mount->machine->lock);
        }
        if (ph && !(events & POLLIN))
                sim_mount_poll_later(mount, h, ph);
        else if (ph)
                fuse_pollhandle_destroy(ph);
        (void) fuse_reply_poll(req, events);
}

/* SEEK_DATA on dev/kmsg is "after the last clear", and nothing was ever cleared. */
static void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi) {
        if (whence == SEEK_DATA && handle_of(fi)->file->kind == SIM_FILE_KMSG)
                (void) fuse_reply_lseek(req, 0);
        else
                (void) fuse_reply_err(req, EINVAL);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                       struct fuse_file_info *fi) {
        SimMount *mount = mount_of(req);
        SimMachine *m = mount->machine;
        uint64_t cursor = (uint64_t) offset, before = cursor;
        _cleanup_free_ char *buf = NULL;
        char name[SIM_NAME_MAX];
        size_t used = 0;
        SimInstance i;

        buf = malloc(size ?: 1);
        if (!buf) {
                (void) fuse_reply_err(req, ENOMEM);
                return;
        }
        (void) pthread_mutex_lock(&m->lock);
        while (sim_tree_entry(mount->tree, m, sim_mount_instance(mount, ino), &cursor, &i, name)) {
                struct stat st = attributes(mount, i);
                size_t n = fuse_add_direntry(req, buf + used, size - used, name, &st, (off_t) cursor);

                if (n > size - used) {
                        cursor = before;
                        break;
                }
                used += n;
                before = cursor;
        }
        (void) pthread_mutex_unlock(&m->lock);
        (void) fuse_reply_buf(req, buf, used);
}

const struct fuse_lowlevel_ops sim_mount_ops = {
        .init = op_init,
        .lookup = op_lookup,
        .getattr = op_getattr,
        .setattr = op_setattr,
        .open = op_open,
        .release = op_release,
        .read = op_read,
        .write = op_write,
        .poll = op_poll,
        .lseek = op_lseek,
        .readdir = op_readdir,
};
