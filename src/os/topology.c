/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CPU lists and topology of sysfs; see topology.h. */

#include <stdio.h>

#include "base/parse.h"
#include "os/root.h"
#include "os/topology.h"

#define DIRECTORY "/sys/devices/system/cpu/" /* for sentences only */
#define LIST_MAX (64U * 1024U)
#define NUMBER_MAX 64U
#define SYSFS_SIZE 4098U /* an attribute is at most a page: one byte more would be seen, and the NUL */

int ucs_topology_parse_list(const char *path, const char *text, UcsCpuSet *ret, UcsError *e) {
        static const char null[] = "(null)"; /* %*pbl of no mask at all: nohz_full before Linux 6.14 */
        const char *p = text + strspn(text, " ");
        int r;

        if (str_startswith(p, null) && strspn(p + strlen(null), " \n") == strlen(p + strlen(null))) {
                *ret = (UcsCpuSet){};
                return 0;
        }
        r = ucs_cpuset_parse(text, ret, e);
        return r < 0 ? ucs_error_prefix(e, r, DIRECTORY "%s", path) : 0;
}

int ucs_topology_read_list(int cpu_fd, const char *name, UcsCpuSet *ret, UcsError *e) {
        _cleanup_free_ char *text = NULL;
        int r;

        r = ucs_root_read(cpu_fd, name, LIST_MAX, &text, NULL, e);
        if (r < 0)
                return r;
        return ucs_topology_parse_list(name, text, ret, e);
}

int ucs_topology_read_online(UcsKeptPool *pool, UcsKept *file, UcsCpuSet *ret, UcsError *e) {
        char text[SYSFS_SIZE];
        UcsCpuSet set;
        int n;

        n = ucs_kept_read(pool, file, "online", text, sizeof(text));
        if (n < 0) {
                errno = -n;
                return ucs_error_set(e, n, "cannot read " DIRECTORY "online: %m");
        }
        if (n == (int) sizeof(text) - 1 || strlen(text) != (size_t) n)
                return ucs_error_set(e, -EBADMSG, DIRECTORY "online is not a CPU list of at most a page");
        n = ucs_topology_parse_list("online", text, &set, e);
        if (n < 0)
                return n;
        if (ucs_cpuset_count(&set) == 0)
                return ucs_error_set(e, -EBADMSG, DIRECTORY "online names no CPU");
        *ret = set;
        return 0;
}

/* 1: `*ret` is the number; 0: there is none (no file, or -1, which is "unknown" to the kernel); -errno with a sentence. */
static int read_id(int cpu_fd, unsigned cpu, const char *name, uint32_t *ret, UcsError *e) {
        _cleanup_free_ char *text = NULL;
        char path[64], *s;
        uint32_t v;
        int r;

        (void) snprintf(path, sizeof(path), "cpu%u/topology/%s", cpu, name);
        r = ucs_root_read(cpu_fd, path, NUMBER_MAX, &text, NULL, e);
        if (r == -ENOENT || r == -ENOTDIR)
                return 0;
        if (r < 0)
                return r;
        s = str_strip(text);
        if (streq(s, "-1"))
                return 0;
        if (ucs_parse_u32(s, 10, &v) < 0 || v == UCS_ID_UNKNOWN)
                return ucs_error_set(e, -EBADMSG, DIRECTORY "%s is '%.32s', expected a number", path, s);
        *ret = v;
        return 1;
}

/* thread_siblings_list has the older name and is in all kernels, core_cpus_list came with 5.3. 0, also when there is neither. */
static int read_threads(int cpu_fd, unsigned cpu, UcsCpuSet *ret, UcsError *e) {
        static const char *const names[] = { "thread_siblings_list", "core_cpus_list" };
        int r = -ENOENT;

        for (size_t i = 0; i < ELEMENTSOF(names) && r == -ENOENT; i++) {
                char path[64];

                (void) snprintf(path, sizeof(path), "cpu%u/topology/%s", cpu, names[i]);
                r = ucs_topology_read_list(cpu_fd, path, ret, e);
        }
        return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

int ucs_topology_read(int cpu_fd, unsigned cpu, UcsTopology *ret, UcsError *e) {
        UcsTopology t = { .package = UCS_ID_UNKNOWN, .core = UCS_ID_UNKNOWN };
        UcsError x[3] = {};
        int r[3];

        r[0] = read_id(cpu_fd, cpu, "physical_package_id", &t.package, &x[0]);
        r[1] = read_id(cpu_fd, cpu, "core_id", &t.core, &x[1]);
        r[2] = read_threads(cpu_fd, cpu, &t.threads, &x[2]);
        ucs_cpuset_add(&t.threads, cpu);
        *ret = t;

        for (size_t i = 0; i < ELEMENTSOF(r); i++)
                if (r[i] < 0) {
                        if (e)
                                *e = x[i];
                        return 1;
                }
        return 0;
}

UcsSmtControl ucs_topology_read_smt_control(int cpu_fd) {
        _cleanup_free_ char *text = NULL;

        if (ucs_root_read(cpu_fd, "smt/control", NUMBER_MAX, &text, NULL, NULL) < 0)
                return UCS_SMT_UNKNOWN;
        return ucs_smt_control_parse(text);
}
