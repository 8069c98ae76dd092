/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine below a root, put together from sysfs and cpuinfo; see cpu.h. Nothing is written here, and no CPU's trouble stands in the
 * way of the others'. */

#include <fcntl.h>
#include <string.h>

#include "base/str.h"
#include "core/policy/smt.h"
#include "os/cpu.h"
#include "os/cpuinfo-file.h"
#include "os/kept.h"
#include "os/revision.h"
#include "os/root.h"
#include "os/support.h"
#include "os/topology.h"

#define CPU_DIRECTORY "/sys/devices/system/cpu"

struct UcsCpuReader {
        int root_fd;
        int cpu_fd; /* CPU_DIRECTORY, -EBADF: there is none */
        UcsKeptPool pool;
        UcsKept online;
        UcsRevisions *revisions;
        UcsCpuinfoFile *cpuinfo;
        UcsSmtSeen *seen; /* by CPU number, UCS_CPU_MAX */
        bool have_online; /* sysfs has the mask */
        bool have_files;  /* sysfs has revisions */
        bool have_details; /* somebody wanted all of cpuinfo */
        UcsCpu *scratch;  /* as many as the last machine had */
        UcsError told;    /* of a revision that sysfs has wrong */
};

/* The first complaint of several is the one that is told. */
static void complain(UcsError *first, const UcsError *e) {
        if (first->code == 0 && e->code != 0)
                *first = *e;
}

static int tell(const UcsError *first, UcsError *e) {
        if (first->code != 0 && e)
                *e = *first;
        return first->code != 0;
}

static void close_directory(UcsCpuReader *r) {
        ucs_kept_close(&r->pool, &r->online);
        ucs_kept_pool_done(&r->pool);
        r->revisions = ucs_revisions_free(r->revisions);
        r->cpu_fd = fd_close(r->cpu_fd);
}

UcsCpuReader *ucs_cpu_reader_free(UcsCpuReader *r) {
        if (!r)
                return NULL;
        close_directory(r);
        ucs_cpuinfo_file_free(r->cpuinfo);
        fd_close(r->root_fd);
        free(r->seen);
        free(r->scratch);
        free(r);
        return NULL;
}

int ucs_cpu_reader_new(int root_fd, UcsCpuReader **ret) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = NULL;
        int k;

        r = new0(UcsCpuReader, 1);
        if (!r)
                return -ENOMEM;
        r->root_fd = r->cpu_fd = r->pool.spare_fd = -EBADF;
        r->online = (UcsKept) UCS_KEPT_INIT;
        r->seen = new0(UcsSmtSeen, UCS_CPU_MAX);
        if (!r->seen)
                return -ENOMEM;
        for (size_t i = 0; i < UCS_CPU_MAX; i++)
                r->seen[i].first = UCS_ID_UNKNOWN;
        r->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (r->root_fd < 0)
                return -errno;
        k = ucs_cpuinfo_file_new(root_fd, &r->cpuinfo);
        if (k < 0)
                return k;
        *ret = TAKE_PTR(r);
        return 0;
}

static int open_directory(UcsCpuReader *r) {
        close_directory(r);
        r->cpu_fd = ucs_root_openat(r->root_fd, CPU_DIRECTORY, O_PATH | O_DIRECTORY);
        if (r->cpu_fd < 0)
                return 0; /* no sysfs: what cpuinfo has must do */
        ucs_kept_pool_init(&r->pool, r->cpu_fd);
        return ucs_revisions_new(r->cpu_fd, &r->revisions);
}

static int read_online(UcsCpuReader *r, UcsCpuSet *ret, UcsError *e) {
        if (r->cpu_fd < 0)
                return ucs_error_set(e, -ENOENT, CPU_DIRECTORY " is missing");
        return ucs_topology_read_online(&r->pool, &r->online, ret, e);
}

static int add_processor(const UcsCpuinfo *info, void *userdata) {
        if (info->cpu != UCS_ID_UNKNOWN)
                ucs_cpuset_add(userdata, info->cpu);
        return 0;
}

/* The sets of CPUs; whichever source serves, some CPU is online in the end. */
static int read_sets(UcsCpuReader *r, UcsMachine *m, UcsError *first) {
        const struct {
                const char *name;
                UcsCpuSet *set;
        } lists[] = {
                { "present", &m->present },
                { "isolated", &m->isolated },
                { "nohz_full", &m->nohz_full },
        };
        UcsError x = {};
        int k;

        r->have_online = read_online(r, &m->online, &x) >= 0;
        if (!r->have_online) {
                complain(first, &x);
                x = (UcsError){};
                (void) ucs_cpuinfo_file_walk(r->cpuinfo, add_processor, &m->online, &x);
                if (ucs_cpuset_count(&m->online) == 0)
                        return -ENODATA;
        }
        for (size_t i = 0; r->cpu_fd >= 0 && i < ELEMENTSOF(lists); i++) {
                x = (UcsError){};
                k = ucs_topology_read_list(r->cpu_fd, lists[i].name, lists[i].set, &x);
                if (k < 0 && k != -ENOENT)
                        complain(first, &x);
        }
        FOREACH_CPU(cpu, &m->online)
                ucs_cpuset_add(&m->present, cpu);
        return 0;
}

static void read_topology(UcsCpuReader *r, UcsCpu *c, UcsError *first) {
        UcsSmtSeen *seen = &r->seen[c->cpu];
        UcsTopology t;
        UcsError x = {};

        if (ucs_topology_read(r->cpu_fd, c->cpu, &t, &x) > 0)
                complain(first, &x);
        c->package = t.package;
        c->core = t.core;
        seen->first = MIN(seen->first, ucs_cpuset_next(&t.threads, 0));
        seen->n_threads = MAX(seen->n_threads, ucs_cpuset_count(&t.threads));
}

static int read_cpus(UcsCpuReader *r, UcsMachine *m, const UcsCpuinfo *info, UcsError *first) {
        const size_t n = ucs_cpuset_count(&m->online);
        UcsError missing = {};
        UcsCpu *p;

        m->cpus = new0(UcsCpu, n);
        p = reallocarray(r->scratch, n, sizeof(*p));
        if (p)
                r->scratch = p;
        if (!m->cpus || !p)
                return -ENOMEM;

        r->have_files = false;
        FOREACH_CPU(cpu, &m->online) {
                UcsCpu *c = &m->cpus[m->n_cpus++];
                UcsError x = {};
                int k;

                *c = (UcsCpu){
                        .cpu = cpu,
                        .signature = info->signature,
                        .package = UCS_ID_UNKNOWN,
                        .core = UCS_ID_UNKNOWN,
                        .apic_id = UCS_ID_UNKNOWN,
                };
                if (info->cpu == cpu) {
                        c->apic_id = info->apic_id;
                        c->revision = info->revision;
                }
                if (r->cpu_fd < 0)
                        continue;
                read_topology(r, c, first);
                k = ucs_revisions_read(r->revisions, cpu, &c->revision, &c->platform_mask, &x);
                r->have_files |= k != -ENOENT;
                complain(k == -ENOENT ? &missing : first, &x);
        }
        if (r->have_files) {
                complain(first, &missing); /* some have the file, so all should */
                return 0;
        }
        for (size_t i = 0; i < m->n_cpus; i++)
                m->cpus[i].revision = m->cpus[i].cpu == info->cpu ? info->revision : 0;
        return 0;
}

int ucs_cpu_read_machine(UcsCpuReader *r, UcsMachine **ret, UcsError *e) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsCpuinfo info = { .cpu = UCS_ID_UNKNOWN, .apic_id = UCS_ID_UNKNOWN };
        UcsError first = {}, x = {};
        UcsSmtControl control = UCS_SMT_UNKNOWN;
        int k;

        m = new0(UcsMachine, 1);
        if (!m)
                return -ENOMEM;
        k = open_directory(r);
        if (k < 0)
                return ucs_error_set(e, k, "cannot open " CPU_DIRECTORY);

        if (ucs_cpuinfo_file_first(r->cpuinfo, &info, &x) != 0)
                complain(&first, &x);
        k = read_sets(r, m, &first);
        if (k < 0)
                return ucs_error_set(e, k, "no CPU is known to be online: %s", first.text);
        m->vendor = info.vendor;
        m->hypervisor = info.hypervisor;
        if (info.cpu == UCS_ID_UNKNOWN)
                info.cpu = ucs_cpuset_next(&m->online, 0); /* s390 and friends number no record */

        k = read_cpus(r, m, &info, &first);
        if (k < 0)
                return k;
        if (r->cpu_fd >= 0)
                control = ucs_topology_read_smt_control(r->cpu_fd);
        ucs_smt_classify(&m->present, &m->online, r->seen, UCS_CPU_MAX, control, &m->offline_primaries, &m->offline_siblings);
        k = ucs_machine_regroup(m);
        if (k < 0)
                return k;
        k = ucs_support_read(r->root_fd, m, &m->support, &m->reason);
        if (k < 0)
                return k;
        *ret = TAKE_PTR(m);
        return tell(&first, e);
}

static UcsCpu *find_cpu(UcsCpu *cpus, size_t n, uint32_t cpu) {
        size_t low = 0, high = n;

        while (low < high) {
                const size_t mid = low + (high - low) / 2;

                if (cpus[mid].cpu == cpu)
                        return &cpus[mid];
                if (cpus[mid].cpu < cpu)
                        low = mid + 1;
                else
                        high = mid;
        }
        return NULL;
}

/* Everything afresh into the same machine, with what was learnt from the whole of cpuinfo. */
static int read_again(UcsCpuReader *r, UcsMachine *m, UcsError *e) {
        _cleanup_(ucs_machine_freep) UcsMachine *fresh = NULL;
        UcsMachine swap;
        int k;

        k = ucs_cpu_read_machine(r, &fresh, e);
        if (k < 0)
                return k;
        for (size_t i = 0; i < fresh->n_cpus; i++) {
                UcsCpu *c = &fresh->cpus[i];
                const UcsCpu *old = find_cpu(m->cpus, m->n_cpus, c->cpu);

                if (!old)
                        continue;
                c->signature = old->signature;
                c->apic_id = old->apic_id;
                if (!r->have_files && c->revision == 0)
                        c->revision = old->revision;
        }
        k = ucs_machine_regroup(fresh);
        if (k < 0)
                return k;
        if (r->have_details) {
                UcsError x = {};

                if (ucs_cpu_read_details(r, fresh, &x) != 0 && e)
                        complain(e, &x);
        }
        swap = *m;
        *m = *fresh;
        *fresh = swap;
        return 1;
}

/* Take over r->scratch, of as many CPUs as the machine has. The machine is as it was when there is no memory. */
static int commit_scratch(UcsCpuReader *r, UcsMachine *m) {
        UcsMachine fresh = { .cpus = r->scratch, .n_cpus = m->n_cpus };
        int k;

        if (memcmp(m->cpus, r->scratch, m->n_cpus * sizeof(*m->cpus)) == 0)
                return 0;
        k = ucs_machine_regroup(&fresh);
        if (k < 0)
                return k;
        free(m->groups);
        m->groups = fresh.groups;
        m->n_groups = fresh.n_groups;
        memcpy(m->cpus, r->scratch, m->n_cpus * sizeof(*m->cpus));
        return 0;
}

static void refresh_from_cpuinfo(UcsCpuReader *r, size_t n_cpus, UcsError *first) {
        UcsCpuinfo info;
        UcsError x = {};
        UcsCpu *c;
        int k;

        k = ucs_cpuinfo_file_first(r->cpuinfo, &info, &x);
        if (k != 0)
                complain(first, &x);
        c = k >= 0 ? find_cpu(r->scratch, n_cpus, info.cpu) : NULL;
        if (c)
                c->revision = info.revision;
}

int ucs_cpu_refresh(UcsCpuReader *r, UcsMachine *m, UcsError *e) {
        UcsError first = {};
        int k;

        if (r->have_online) {
                UcsCpuSet online;

                k = read_online(r, &online, e);
                if (k < 0)
                        return k;
                if (!ucs_cpuset_equal(&online, &m->online))
                        return read_again(r, m, e);
        }
        memcpy(r->scratch, m->cpus, m->n_cpus * sizeof(*m->cpus));
        if (r->have_files)
                for (size_t i = 0; i < m->n_cpus; i++) {
                        UcsCpu *c = &r->scratch[i];
                        UcsError x = {};
                        uint32_t mask;

                        if (ucs_revisions_read(r->revisions, c->cpu, &c->revision, &mask, &x) >= 0)
                                c->platform_mask = mask;
                        complain(&first, &x);
                }
        else
                refresh_from_cpuinfo(r, m->n_cpus, &first);
        k = commit_scratch(r, m);
        if (k < 0)
                return k;
        (void) tell(&first, e);
        return 0;
}

typedef struct Details {
        UcsCpu *cpus;
        size_t n_cpus;
        bool take_revisions;
        UcsRevisions *correct; /* AMD's, where sysfs has revisions */
        UcsError news;
} Details;

static void take_revision(Details *d, const UcsCpuinfo *info, UcsCpu *c) {
        uint32_t said;

        if (!d->take_revisions && (!d->correct || c->revision == 0 || info->revision == 0))
                return;
        c->revision = info->revision;
        if (d->correct && ucs_revisions_correct(d->correct, c->cpu, info->revision, &said) && d->news.code == 0)
                (void) ucs_error_set(&d->news, -ESTALE, "CPU %u runs 0x%x by /proc/cpuinfo; its version file says 0x%x, which is another CPU's",
                                     c->cpu, info->revision, said);
}

static int take_details(const UcsCpuinfo *info, void *userdata) {
        Details *d = userdata;
        UcsCpu *c = find_cpu(d->cpus, d->n_cpus, info->cpu);

        if (!c)
                return 0; /* came online after the mask was read */
        if (info->signature != 0)
                c->signature = info->signature;
        c->apic_id = info->apic_id;
        if (c->package == UCS_ID_UNKNOWN)
                c->package = info->package;
        if (c->core == UCS_ID_UNKNOWN)
                c->core = info->core;
        take_revision(d, info, c);
        return 0;
}

int ucs_cpu_read_details(UcsCpuReader *r, UcsMachine *m, UcsError *e) {
        Details d = { .cpus = r->scratch, .n_cpus = m->n_cpus, .take_revisions = !r->have_files,
                      .correct = r->have_files && m->vendor == UCS_VENDOR_AMD ? r->revisions : NULL };
        int k, complaint;

        memcpy(r->scratch, m->cpus, m->n_cpus * sizeof(*m->cpus));
        complaint = ucs_cpuinfo_file_walk(r->cpuinfo, take_details, &d, e);
        if (complaint < 0)
                return complaint;
        k = commit_scratch(r, m);
        if (k < 0)
                return k;
        r->have_details = true;
        if (d.news.code == 0 || streq(d.news.text, r->told.text))
                return complaint;
        r->told = d.news;
        return tell(&d.news, e);
}
