/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's answer, foretold in the kernel's own order: CPUs first, then what it does not load late at all, then the file, then the
 * revisions; see preflight.h. Each step says its answer or passes on. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"
#include "core/policy/preflight.h"
#include "core/ucode/choose.h"
#include "core/ucode/entrysign.h"

/* Erratum BDX90 (intel.c, is_blacklisted()): Broadwell-EX of more than 2.5 MiB of last-level cache a core hangs. */
#define BDX90_SIGNATURE 0x406f1U
#define BDX90_LLC_PER_CORE (2560U * 1024U)
#define BDX90_REVISION 0x0b000021U

typedef struct Flight {
        const UcsMachine *m;
        const UcsKernel *kernel;
        const UcsCandidate *k; /* of the CPU by which the kernel judges; NULL: none */
        uint32_t running;      /* what that CPU runs; 0: unknown */
        bool old, amd;
        UcsPreflight *ret;
} Flight;

/* Always true, so that a step ends in `return say(f, ENOENT, "…")`. */
_printf_(3, 4) static bool say(const Flight *f, int error, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(f->ret->sentence, sizeof(f->ret->sentence), format, ap);
        va_end(ap);
        f->ret->error = error;
        return true;
}

/* Nothing to be done: modern kernels say so with an errno, old ones call it success. */
static int nothing(const Flight *f, int error) {
        return f->old ? 0 : error;
}

static bool step_support(const Flight *f) {
        if (f->m->support == UCS_SUPPORT_LATE_LOAD)
                return false;
        return say(f, f->m->reason == UCS_REASON_READ_ONLY ? EROFS : ENOENT, "%s", ucs_support_reason_describe(f->m->reason));
}

static void add_all(UcsCpuSet *to, const UcsCpuSet *from) {
        FOREACH_CPU(cpu, from)
                ucs_cpuset_add(to, cpu);
}

static bool say_offline(const Flight *f, int error, const UcsCpuSet *cpus) {
        _cleanup_free_ char *list = NULL;

        (void) ucs_cpuset_format(cpus, &list);
        f->ret->cpus = true;
        return say(f, error, "CPUs that this kernel needs for a load are offline: %.160s", list ?: "some");
}

/* Before anything else: without them the file is not even looked at. */
static bool step_offline_cpus(const Flight *f) {
        UcsCpuSet missing = f->m->offline_primaries;

        if (f->kernel->all_cpus)
                add_all(&missing, &f->m->offline_siblings);
        if (ucs_cpuset_count(&missing) == 0)
                return false;
        return say_offline(f, f->old ? EINVAL : EBUSY, &missing);
}

static bool step_bdx90(const Flight *f) {
        const UcsKernel *kernel = f->kernel;

        if (f->amd || f->m->n_cpus == 0 || f->m->cpus[0].signature != BDX90_SIGNATURE || f->running >= BDX90_REVISION)
                return false;
        if (kernel->llc_known && kernel->llc_per_core <= BDX90_LLC_PER_CORE)
                return false;
        return say(f, nothing(f, ENOENT),
                   "Erratum BDX90: late loading hangs this CPU below revision 0x%x, and 0x%x runs; the kernel does not do it. Update at boot", BDX90_REVISION,
                   f->running);
}

/* AMD's updates name no minimum revision that Linux would read. */
static bool step_amd_minrev(const Flight *f) {
        if (!f->amd || f->old || !f->kernel->force_minrev)
                return false;
        return say(f, ENOENT, "The kernel insists on minimum revisions (force_minrev), and AMD's updates name none; update at boot");
}

/* In the kernel's firmware loader, before anyone has looked into the file. */
static bool step_unpack(const Flight *f) {
        const UcsKernel *kernel = f->kernel;
        const char *suffix = NULL;

        if (!kernel->compression_known || !f->k || !f->k->path)
                return false;
        if (!kernel->zstd && str_endswith(f->k->path, ".zst"))
                suffix = ".zst";
        else if (!kernel->xz && str_endswith(f->k->path, ".xz"))
                suffix = ".xz";
        if (!suffix)
                return false;
        return say(f, nothing(f, ENOENT), "This kernel was built without reading %s files: it does not see %.160s", suffix, f->k->path);
}

static bool step_file(const Flight *f) {
        const UcsCandidate *k = f->k;

        if (!k || k->finding == UCS_FOUND_NOTHING)
                return say(f, nothing(f, ENOENT), "There is no firmware file for this CPU");
        if (k->error.code != 0)
                return say(f, nothing(f, k->unreadable ? ENOENT : EBADFD), "The file is not right as it is now: %.200s", k->error.text);

        switch (k->finding) {
        case UCS_FOUND_NOTHING:
        case UCS_FOUND_BAD:
                return say(f, nothing(f, EBADFD), "The file is not right as it is now");
        case UCS_FOUND_NO_MATCH:
                return say(f, nothing(f, f->amd ? 0 : ENOENT), "Nothing in the file is for this CPU");
        case UCS_FOUND_NOT_NEWER:
                return say(f, nothing(f, f->amd ? 0 : ENOENT), "Nothing in the file is newer than what runs");
        case UCS_FOUND_NEWER:
                break;
        }
        return false;
}

/* Mixed revisions: the CPU that is asked is up to date, and the others stay as they are. */
static bool step_judged_by_one(const Flight *f) {
        if (f->running == 0 || f->running < f->k->update.revision)
                return false;
        return say(f, nothing(f, f->amd ? 0 : ENOENT),
                   "The kernel judges by CPU %u alone, which runs 0x%x already, and leaves the CPUs that lag behind as they are; offline and online again brings them up",
                   f->m->cpus[0].cpu, f->running);
}

static bool step_minrev(const Flight *f) {
        const UcsUpdate *u = &f->k->update;

        if (f->amd || f->old || !f->kernel->force_minrev || ucs_update_minrev_met(u, f->running))
                return false;
        if (u->min_revision == 0)
                return say(f, ENOENT, "The kernel insists on minimum revisions (force_minrev), and the vendor names none for 0x%x; update at boot", u->revision);
        return say(f, ENOENT, "The kernel insists on minimum revisions (force_minrev): 0x%x may be loaded from 0x%x on, 0x%x runs; update at boot", u->revision,
                   u->min_revision, f->running);
}

/* What crosses the cutoff is neither among the digests that kernels know nor signed in a way that a CPU below it understands. Up to the cutoff the
 * kernels know what AMD published; which digests this one has cannot be read, so that much is taken for granted. */
static bool step_entrysign(const Flight *f) {
        uint32_t cutoff = ucs_entrysign_cutoff(f->running);

        if (!f->amd || !f->kernel->digest_check || cutoff == 0 || !ucs_entrysign_needs_digest(f->k->signature, f->running) ||
            f->k->update.revision <= cutoff)
                return false;
        return say(f, f->old ? EPERM : EIO,
                   "0x%x is signed in a way that this CPU does not take as long as it runs 0x%x (EntrySign, up to 0x%x); update the firmware (BIOS) first",
                   f->k->update.revision, f->running, cutoff);
}

/* Intel's offline threads are brought along by their siblings; AMD's do not answer the NMI, and the load ends when the others are tired of waiting.
 * Old kernels load without them. */
static bool step_silent_siblings(const Flight *f) {
        if (!f->amd || f->old || ucs_cpuset_count(&f->m->offline_siblings) == 0)
                return false;
        return say_offline(f, EIO, &f->m->offline_siblings);
}

static bool (*const steps[])(const Flight *f) = {
        step_support, step_offline_cpus, step_bdx90,  step_amd_minrev, step_unpack,
        step_file,    step_judged_by_one, step_minrev, step_entrysign,  step_silent_siblings,
};

/* The candidate of the group that a CPU is in. Without such a group (nothing was read of the CPUs) the leading one. */
static const UcsCandidate *candidate_of(const UcsScan *scan, const UcsCpu *c) {
        for (size_t i = 0; scan && c && i < scan->n_candidates; i++)
                if (scan->candidates[i].signature == c->signature && scan->candidates[i].platform_mask == c->platform_mask)
                        return &scan->candidates[i];
        return ucs_scan_leading(scan);
}

/* AMD, modern: the first CPU of each node is asked, and one that has something newer is enough. A package stands for its nodes: sysfs has CPUs without
 * memory nodes, and firmware that makes several nodes of a package does not mix revisions within it. */
static const UcsCpu *judging_cpu(const UcsMachine *m, const UcsKernel *kernel, const UcsScan *scan) {
        const UcsCpu *first = m->n_cpus > 0 ? &m->cpus[0] : NULL;

        if (m->vendor != UCS_VENDOR_AMD || kernel->generation == UCS_KERNEL_OLD)
                return first;
        for (size_t i = 0; i < m->n_cpus; i++) {
                const UcsCpu *c = &m->cpus[i];
                const UcsCandidate *k = candidate_of(scan, c);
                bool leads = true;

                if (c->revision == 0 || !k || k->finding != UCS_FOUND_NEWER || c->revision >= k->update.revision)
                        continue;
                for (size_t j = 0; j < i && leads; j++)
                        leads = m->cpus[j].package != c->package;
                if (leads)
                        return c;
        }
        return first;
}

void ucs_preflight(const UcsMachine *m, const UcsKernel *kernel, const UcsScan *scan, UcsPreflight *ret) {
        const UcsCpu *judge;
        Flight f;

        kernel = kernel ?: &ucs_kernel_unknown;
        judge = judging_cpu(m, kernel, scan);
        f = (Flight){
                .m = m,
                .kernel = kernel,
                .k = candidate_of(scan, judge),
                .running = judge ? judge->revision : 0,
                .old = kernel->generation == UCS_KERNEL_OLD,
                .amd = m->vendor == UCS_VENDOR_AMD,
                .ret = ret,
        };

        *ret = (UcsPreflight){};
        for (size_t i = 0; i < ELEMENTSOF(steps); i++)
                if (steps[i](&f))
                        return;
        ret->loads = true;
}

void ucs_preflight_missing_cpus(const UcsMachine *m, const UcsKernel *kernel, UcsCpuSet *ret) {
        UcsCpuSet missing = m->offline_primaries;

        kernel = kernel ?: &ucs_kernel_unknown;
        if (kernel->all_cpus || (m->vendor == UCS_VENDOR_AMD && kernel->generation != UCS_KERNEL_OLD))
                add_all(&missing, &m->offline_siblings);
        *ret = missing;
}
