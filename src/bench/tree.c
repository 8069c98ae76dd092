/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Synthetic machines; see tree.h. */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "bench/tree.h"
#include "os/root.h"

#define ACCOUNT_FIRST_NSEC UINT64_C(123456789)
#define FLAG_BYTES 900 /* of a record of cpuinfo: about as many as a processor of today has */

uint32_t bench_tree_revision(uint32_t cpu) {
        return UINT32_C(0x0b000000) + cpu;
}

/* Where the kernel puts migration/N at boot, with six threads a CPU. */
static uint32_t tid_of(uint32_t cpu) {
        return 19 + 6 * cpu;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
        (void) remove(path);
        return 0;
}

BenchTree *bench_tree_free(BenchTree *t) {
        if (!t)
                return NULL;
        fd_close(t->root_fd);
        if (t->path)
                (void) nftw(t->path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        free(t->path);
        free(t);
        return NULL;
}

static int make_directory(BenchTree *t) {
        static const char *const places[] = { "/dev/shm", "/run", "/tmp" };

        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                _cleanup_free_ char *path = NULL;
                struct statfs fs;

                if (statfs(places[i], &fs) < 0 || (unsigned long) fs.f_type != TMPFS_MAGIC)
                        continue;
                if (asprintf(&path, "%s/ucodebench-XXXXXX", places[i]) < 0) {
                        path = NULL;
                        return -ENOMEM;
                }
                if (!mkdtemp(path))
                        continue;
                t->path = TAKE_PTR(path);
                return ucs_root_open(t->path, &t->root_fd, NULL);
        }
        return -ENODEV;
}

static int make_path(const BenchTree *t, const char *path) {
        return mkdirat(t->root_fd, path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int write_text(const BenchTree *t, const char *path, const char *text, size_t n) {
        _cleanup_fd_ int fd = openat(t->root_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        if (fd < 0)
                return -errno;
        for (size_t done = 0; done < n;) {
                ssize_t k = write(fd, text + done, n - done);

                if (k < 0)
                        return -errno;
                done += (size_t) k;
        }
        return 0;
}

static int write_format(const BenchTree *t, const char *path, const char *format, ...) _printf_(3, 4);
static int write_format(const BenchTree *t, const char *path, const char *format, ...) {
        char text[256];
        va_list ap;
        int n;

        va_start(ap, format);
        n = vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        return n < 0 || n >= (int) sizeof(text) ? -EINVAL : write_text(t, path, text, (size_t) n);
}

static int write_account(const BenchTree *t, uint32_t cpu) {
        char path[48];

        (void) snprintf(path, sizeof(path), "proc/%u/schedstat", tid_of(cpu));
        return write_format(t, path, "%" PRIu64 " 0 %" PRIu64 "\n", t->account_nsec, t->account_runs);
}

static int make_cpu(const BenchTree *t, uint32_t cpu) {
        char path[80];
        int r;

        (void) snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u", cpu);
        r = make_path(t, path);
        if (r < 0)
                return r;
        (void) snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/microcode", cpu);
        r = make_path(t, path);
        if (r < 0)
                return r;
        (void) snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/microcode/version", cpu);
        r = write_format(t, path, "0x%x\n", bench_tree_revision(cpu));
        if (r < 0)
                return r;
        (void) snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/microcode/processor_flags", cpu);
        r = write_format(t, path, "0x1\n");
        if (r < 0)
                return r;

        (void) snprintf(path, sizeof(path), "proc/%u", tid_of(cpu));
        r = make_path(t, path);
        if (r < 0)
                return r;
        (void) snprintf(path, sizeof(path), "proc/%u/comm", tid_of(cpu));
        r = write_format(t, path, "migration/%u\n", cpu);
        if (r < 0)
                return r;
        (void) snprintf(path, sizeof(path), "proc/%u/stat", tid_of(cpu));
        r = write_format(t, path, "%u (migration/%u) S 2 0 0 0 -1 2129984 0 0 0 0 0 3 0 0 -100 0 1 0 2 0 0\n", tid_of(cpu), cpu);
        return r < 0 ? r : write_account(t, cpu);
}

static int make_cpuinfo(const BenchTree *t) {
        _cleanup_text_ UcsText text = {};

        for (uint32_t cpu = 0; cpu < t->n_cpus; cpu++) {
                ucs_text_appendf(&text,
                                 "processor\t: %u\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: synthetic\n"
                                 "stepping\t: 7\nmicrocode\t: 0x%x\ncpu MHz\t\t: 2000.000\ncache size\t: 107520 KB\nphysical id\t: %u\n"
                                 "apicid\t\t: %u\ninitial apicid\t: %u\nfpu\t\t: yes\nflags\t\t:",
                                 cpu, bench_tree_revision(cpu), cpu / 128, cpu, cpu);
                for (int n = 0; n < FLAG_BYTES; n += 8)
                        ucs_text_append(&text, " avx512f");
                ucs_text_append(&text, "\nbugs\t\t:\nbogomips\t: 4000.00\npower management:\n\n");
        }
        return text.failed ? -ENOMEM : write_text(t, "proc/cpuinfo", text.data, text.length);
}

int bench_tree_new(uint32_t n_cpus, BenchTree **ret, UcsError *e) {
        static const char *const directories[] = {
                "proc", "sys", "sys/devices", "sys/devices/system", "sys/devices/system/cpu",
        };
        _cleanup_(bench_tree_freep) BenchTree *t = new0(BenchTree, 1);
        int r;

        if (!t)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        *t = (BenchTree){ .root_fd = -EBADF, .n_cpus = n_cpus, .account_nsec = ACCOUNT_FIRST_NSEC, .account_runs = 1 };
        r = make_directory(t);
        if (r == -ENODEV)
                return ucs_error_set(e, r, "there is no tmpfs that may be written, of /dev/shm, /run and /tmp");
        for (size_t i = 0; i < ELEMENTSOF(directories) && r >= 0; i++)
                r = make_path(t, directories[i]);
        for (uint32_t cpu = 0; cpu < n_cpus && r >= 0; cpu++)
                r = make_cpu(t, cpu);
        if (r >= 0)
                r = make_cpuinfo(t);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot make a tree of %u CPUs in %s: %m", n_cpus, t->path ?: "a temporary directory");
        }
        *ret = TAKE_PTR(t);
        return 0;
}

int bench_tree_advance(BenchTree *t, uint64_t nsec) {
        int r = 0;

        t->account_nsec += nsec;
        t->account_runs++;
        for (uint32_t cpu = 0; cpu < t->n_cpus && r >= 0; cpu++)
                r = write_account(t, cpu);
        return r;
}
