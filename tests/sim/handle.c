/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Open files; see handle.h. */

#include <errno.h>
#include <fcntl.h>

#include "cpuid.h"
#include "handle.h"

int sim_handle_open(const SimTree *t, SimMachine *m, SimInstance i, int flags, SimHandle **ret) {
        const SimFile *file = sim_tree_file(t, i);
        int mode = flags & O_ACCMODE;
        SimHandle *h;

        /* Root's privilege to open anything ends at files that have no function for it. */
        if ((mode != O_WRONLY && !(file->mode & 0444)) || (mode != O_RDONLY && !(file->mode & 0222)))
                return -EACCES;
        if (!file->show && file->refuse && file->refuse(m) > 0)
                return -file->refuse(m);
        if (file->kind == SIM_FILE_CPUID && !sim_machine_cpu_online(m, i.cpu))
                return -ENXIO;
        h = new0(SimHandle, 1);
        if (!h)
                return -ENOMEM;
        h->machine = m;
        h->file = file;
        h->instance = i;
        h->incarnation = m->cpus[i.cpu].incarnation;
        (void) pthread_mutex_init(&h->lock, NULL);
        *ret = h;
        return 0;
}

SimHandle *sim_handle_close(SimHandle *h) {
        if (!h)
                return NULL;
        ucs_text_done(&h->text);
        (void) pthread_mutex_destroy(&h->lock);
        free(h);
        return NULL;
}

/* Is the file of this descriptor still the one that was opened? */
static bool alive(const SimHandle *h) {
        const SimMachine *m = h->machine;

        if (h->file->of_cpu && m->cpus[h->instance.cpu].incarnation != h->incarnation)
                return false;
        return !h->file->exists || h->file->exists(m, h->instance.cpu);
}

/* Make text until there are `want` bytes of it or no more to make. */
static int look(SimHandle *h, uint64_t want) {
        SimMachine *m = h->machine;

        if (h->file->kind == SIM_FILE_TEXT)
                h->file->show(m, h->instance.cpu, &h->text);
        else
                for (; h->next_cpu < m->n_cpus && h->text.length < want && !h->text.failed; h->next_cpu++)
                        if (m->cpus[h->next_cpu].online)
                                h->file->show(m, h->next_cpu, &h->text);
        return h->text.failed ? -ENOMEM : 0;
}

static ssize_t read_text(SimHandle *h, char *buf, size_t size, uint64_t offset) {
        size_t n;
        int r = 0;

        if (offset == 0) {
                ucs_text_done(&h->text);
                h->text = (UcsText){};
                h->next_cpu = 0;
        }
        if (offset == 0 || h->file->kind == SIM_FILE_RECORDS)
                r = look(h, offset + size);
        if (r < 0)
                return r;
        if (offset >= h->text.length)
                return 0;
        n = MIN(size, h->text.length - (size_t) offset);
        memcpy(buf, h->text.data + offset, n);
        return (ssize_t) n;
}

/* The offset is the leaf, and in its upper half the subleaf; 16 bytes a leaf, further ones follow. */
static ssize_t read_cpuid(SimHandle *h, char *buf, size_t size, uint64_t offset) {
        size_t done = 0;

        if (size % 16 != 0)
                return -EINVAL;
        if (!sim_machine_cpu_online(h->machine, h->instance.cpu))
                return -ENXIO;
        for (; done < size; done += 16, offset++) {
                SimRegisters r =
                        sim_cpuid(h->machine, h->instance.cpu, (uint32_t) offset, (uint32_t) (offset >> 32));

                memcpy(buf + done, &r, sizeof(r));
        }
        return (ssize_t) done;
}

ssize_t sim_handle_read(SimHandle *h, char *buf, size_t size, uint64_t offset) {
        SimMachine *m = h->machine;
        ssize_t n;

        (void) pthread_mutex_lock(&h->lock);
        (void) pthread_mutex_lock(&m->lock);
        if (!alive(h))
                n = -ENODEV;
        else if (h->file->refuse && h->file->refuse(m) > 0)
                n = -h->file->refuse(m);
        else if (h->file->kind == SIM_FILE_CPUID)
                n = read_cpuid(h, buf, size, offset);
        else if (h->file->kind == SIM_FILE_KMSG)
                n = sim_kmsg_read(h, buf, size, offset);
        else
                n = read_text(h, buf, size, offset);
        (void) pthread_mutex_unlock(&m->lock);
        (void) pthread_mutex_unlock(&h->lock);
        return n;
}

int sim_handle_write(SimHandle *h, const char *data, size_t size, uint64_t offset) {
        SimMachine *m = h->machine;
        char text[4096];
        bool ok;

        if (h->file->kind == SIM_FILE_KMSG)
                return sim_kmsg_write(h, data, size, offset);
        (void) pthread_mutex_lock(&m->lock);
        ok = alive(h);
        (void) pthread_mutex_unlock(&m->lock);
        if (!ok)
                return -ENODEV;
        if (!h->file->store)
                return -EIO;
        if (size >= sizeof(text)) /* more than a page at once */
                return -EINVAL;
        memcpy(text, data, size);
        text[size] = '\0';
        return h->file->store(m, h->instance.cpu, text);
}
