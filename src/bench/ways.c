/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reading the revision; see ways.h. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "bench/ways.h"
#include "os/root.h"

#define CPU_DIRECTORY "sys/devices/system/cpu"
#define PATH_SIZE 160U
#define TEXT_SIZE 64U
#define FIRST_BYTES 256U /* as far as the line "microcode" of the first record, and no further */
#define STALL_NSEC (10 * NSEC_PER_MSEC)

static int parse(const char *text, uint64_t *sum) {
        char *end;
        unsigned long v;

        v = strtoul(text, &end, 0);
        if (end == text)
                return -EBADMSG;
        *sum += v;
        return 0;
}

static int read_null(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        for (size_t i = 0; i < n; i++)
                (void) syscall(SYS_getppid);
        *ret_sum = 0;
        return 0;
}

static int read_stand_in(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        char path[PATH_SIZE], text[TEXT_SIZE];
        uint64_t sum = 0;
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++) {
                r = ucs_kept_read_again(&p->pool, &p->kept[i], text, sizeof(text));
                if (r < 0) {
                        (void) snprintf(path, sizeof(path), "cpu%u/%s", p->cpus[i], p->file);
                        r = ucs_kept_read_path(&p->pool, &p->kept[i], path, text, sizeof(text));
                }
                if (r >= 0)
                        r = parse(text, &sum);
        }
        *ret_sum = sum;
        return r < 0 ? r : 0;
}

/* What the kernel alone takes of "kept": the same calls, and nothing is done with the text. */
static int read_bare(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        char path[PATH_SIZE], text[TEXT_SIZE];

        *ret_sum = 0;
        for (size_t i = 0; i < n; i++) {
                if (p->bare_fds[i] < 0) {
                        (void) snprintf(path, sizeof(path), "cpu%u/%s", p->cpus[i], p->file);
                        p->bare_fds[i] = openat(p->cpu_fd, path, O_RDONLY | O_NOATIME | O_CLOEXEC); /* as kept ones are */
                        if (p->bare_fds[i] < 0 && errno == EPERM)
                                p->bare_fds[i] = openat(p->cpu_fd, path, O_RDONLY | O_CLOEXEC);
                }
                if (pread(p->bare_fds[i], text, sizeof(text) - 1, 0) <= 0)
                        return -errno;
        }
        return 0;
}

static int read_kept(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        uint64_t sum = 0;

        if (p->stands_in)
                return read_stand_in(p, n, ret_sum);
        for (size_t i = 0; i < n; i++) {
                uint32_t revision, mask;
                int r;

                r = ucs_revisions_read(p->revisions, p->cpus[i], &revision, &mask, NULL);
                if (r < 0)
                        return r;
                sum += revision;
        }
        *ret_sum = sum;
        return 0;
}

static int read_openat(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        uint64_t sum = 0;
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++) {
                _cleanup_fd_ int fd = -EBADF;
                char path[PATH_SIZE], text[TEXT_SIZE];
                ssize_t k;

                (void) snprintf(path, sizeof(path), "cpu%u/%s", p->cpus[i], p->file);
                fd = openat(p->cpu_fd, path, O_RDONLY | O_CLOEXEC);
                k = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
                if (k < 0)
                        return -errno;
                text[k] = '\0';
                r = parse(text, &sum);
        }
        *ret_sum = sum;
        return r;
}

static int read_fopen(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        uint64_t sum = 0;

        for (size_t i = 0; i < n; i++) {
                char path[PATH_SIZE];
                unsigned v;
                FILE *f;
                int k;

                (void) snprintf(path, sizeof(path), "%s/" CPU_DIRECTORY "/cpu%u/%s", p->path, p->cpus[i], p->file);
                f = fopen(path, "re");
                if (!f)
                        return -errno;
                k = fscanf(f, "%i", (int *) &v);
                (void) fclose(f);
                if (k != 1)
                        return -EBADMSG;
                sum += v;
        }
        *ret_sum = sum;
        return 0;
}

/* "microcode\t: 0x…" */
static int add_line(const char *line, uint64_t *sum) {
        const char *value = strchr(line, ':');

        return value ? parse(value + 1, sum) : -EBADMSG;
}

static int read_cpuinfo_first(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        char path[PATH_SIZE], text[FIRST_BYTES + 1];
        _cleanup_fd_ int fd = -EBADF;
        const char *line;
        uint64_t sum = 0;
        ssize_t k;
        int r;

        (void) snprintf(path, sizeof(path), "%s/proc/cpuinfo", p->path);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        k = fd >= 0 ? read(fd, text, FIRST_BYTES) : -1;
        if (k < 0)
                return -errno;
        text[k] = '\0';
        line = strstr(text, "\nmicrocode");
        r = line ? add_line(line, &sum) : -ENODATA;
        *ret_sum = sum;
        return r;
}

static int read_cpuinfo_kept(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        UcsCpuinfo info;
        int r;

        r = ucs_cpuinfo_file_first(p->cpuinfo, &info, NULL);
        if (r < 0)
                return r;
        *ret_sum = info.revision;
        return 0;
}

static int read_cpuinfo_whole(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        char path[PATH_SIZE];
        char *line = NULL;
        size_t size = 0;
        uint64_t sum = 0;
        int r = -ENODATA;
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s/proc/cpuinfo", p->path);
        f = fopen(path, "re");
        if (!f)
                return -errno;
        while (getline(&line, &size, f) > 0) {
                if (!str_startswith(line, "microcode"))
                        continue;
                r = add_line(line, &sum);
                if (r < 0)
                        break;
        }
        free(line);
        (void) fclose(f);
        *ret_sum = sum;
        return r;
}

static int read_accounts_baseline(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        *ret_sum = 0;
        return ucs_witness_arm(p->witness);
}

/* In the tree there is a load between baseline and reading; on this machine the stoppers run when they run. */
static int before_accounts(BenchPlace *p) {
        int r;

        r = ucs_witness_arm(p->witness);
        return r < 0 || !p->tree ? r : bench_tree_advance(p->tree, STALL_NSEC);
}

static int read_accounts(BenchPlace *p, size_t n, uint64_t *ret_sum) {
        UcsStall s;
        int r;

        ucs_stall_init(&s);
        r = ucs_witness_collect(p->witness, &s);
        for (size_t i = 0; r >= 0 && p->tree && i < s.n_cpus; i++)
                if (s.cpus[i].stall_nsec != STALL_NSEC)
                        r = -EBADMSG;
        ucs_stall_done(&s);
        *ret_sum = 0;
        return r;
}

const BenchWay bench_ways[] = {
        { "null-syscall", BENCH_EACH, false, false, NULL, read_null },
        { "kept", BENCH_EACH, false, false, NULL, read_kept },
        { "bare-pread", BENCH_EACH, false, false, NULL, read_bare },
        { "openat", BENCH_EACH, false, false, NULL, read_openat },
        { "fopen", BENCH_EACH, false, false, NULL, read_fopen },
        { "cpuinfo-first", BENCH_FIRST, true, false, NULL, read_cpuinfo_first },
        { "cpuinfo-first-kept", BENCH_FIRST, true, false, NULL, read_cpuinfo_kept },
        { "cpuinfo-whole", BENCH_WHOLE, false, false, NULL, read_cpuinfo_whole },
        { "accounts-baseline", BENCH_WHOLE, false, true, NULL, read_accounts_baseline },
        { "accounts-read", BENCH_WHOLE, false, true, before_accounts, read_accounts },
};
const size_t bench_n_ways = ELEMENTSOF(bench_ways);

BenchPlace *bench_place_close(BenchPlace *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; p->kept && i < p->n; i++)
                ucs_kept_close(&p->pool, &p->kept[i]);
        for (size_t i = 0; p->bare_fds && i < p->n; i++)
                fd_close(p->bare_fds[i]);
        ucs_kept_pool_done(&p->pool);
        ucs_revisions_free(p->revisions);
        ucs_cpuinfo_file_free(p->cpuinfo);
        ucs_witness_close(p->witness);
        fd_close(p->cpu_fd);
        free(p->kept);
        free(p->bare_fds);
        free(p->cpus);
        free(p);
        return NULL;
}

static int open_witness(BenchPlace *p, UcsError *ret_no_accounts) {
        UcsMachine m = { .cpus = new0(UcsCpu, p->n), .n_cpus = p->n };
        int r;

        if (!m.cpus)
                return -ENOMEM;
        for (size_t i = 0; i < p->n; i++)
                m.cpus[i] = (UcsCpu){ .cpu = p->cpus[i], .apic_id = UCS_ID_UNKNOWN, .package = UCS_ID_UNKNOWN };
        r = ucs_witness_open(p->root_fd, UCS_WITNESS_SCHEDSTAT, &m, &p->witness, ret_no_accounts);
        free(m.cpus);
        if (r >= 0 && ucs_witness_kind(p->witness) != UCS_WITNESS_SCHEDSTAT)
                p->witness = ucs_witness_close(p->witness);
        return r;
}

int bench_place_open(const char *path, int root_fd, BenchTree *tree, const uint32_t *cpus, size_t n, BenchPlace **ret,
                     UcsError *ret_no_accounts, UcsError *e) {
        _cleanup_(bench_place_closep) BenchPlace *p = new0(BenchPlace, 1);
        char first[PATH_SIZE];
        int r;

        if (!p)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        *p = (BenchPlace){ .path = path, .root_fd = root_fd, .tree = tree, .cpu_fd = -EBADF, .pool = { .spare_fd = -EBADF } };
        p->cpus = new0(uint32_t, n);
        p->kept = new0(UcsKept, n);
        p->bare_fds = new0(int, n);
        if (!p->cpus || !p->kept || !p->bare_fds)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        for (; p->n < n; p->n++) {
                p->cpus[p->n] = cpus[p->n];
                p->kept[p->n] = (UcsKept) UCS_KEPT_INIT;
                p->bare_fds[p->n] = -EBADF;
        }
        p->cpu_fd = ucs_root_openat(root_fd, CPU_DIRECTORY, O_PATH | O_DIRECTORY);
        if (p->cpu_fd < 0) {
                errno = -p->cpu_fd;
                return ucs_error_set(e, p->cpu_fd, "cannot open /" CPU_DIRECTORY ": %m");
        }
        (void) snprintf(first, sizeof(first), "cpu%u/microcode/version", p->cpus[0]);
        p->stands_in = ucs_root_exists(p->cpu_fd, first) <= 0;
        p->file = p->stands_in ? "topology/core_id" : "microcode/version";
        ucs_kept_pool_init(&p->pool, p->cpu_fd);
        r = ucs_revisions_new(p->cpu_fd, &p->revisions);
        if (r >= 0)
                r = ucs_cpuinfo_file_new(root_fd, &p->cpuinfo);
        if (r >= 0)
                r = open_witness(p, ret_no_accounts);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot prepare the readers: %m");
        }
        *ret = TAKE_PTR(p);
        return 0;
}
