/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's answer, foretold: a row a case, with what each generation of the loader says to it. The machine of a row has four CPUs in two packages,
 * all online and at 0x100 (Intel) or above the EntrySign cutoff (AMD), and a file with 0x110; a row says what differs. tests/bus holds the same answers
 * against ucodesim, kernel by kernel. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/policy/preflight.h"
#include "ucs-test.h"

#define OLD 0x100U
#define NEW 0x110U
#define ROME 0x830f10U /* EntrySign cutoff 0x0830107c */
#define ROME_OLD 0x08301080U
#define ROME_NEW 0x08301090U

typedef struct Row {
        const char *name;
        bool amd;
        UcsFinding finding;
        int file_error; /* negative errno of the candidate's complaint */
        bool unreadable;
        const char *path;
        uint32_t signature, running[4], target, minimum;
        const char *primaries, *siblings;
        bool force_minrev, no_digest_check, all_cpus;
        uint64_t llc; /* UINT64_MAX: unknown */
        UcsSupportReason reason;
        /* expected, positive errno; of modern kernels and of old ones */
        int modern, old;
        bool loads, cpus;
        bool loads_old; /* where that differs */
        const char *says;
} Row;

#define LOADS .loads = true, .loads_old = true
#define NEWER .finding = UCS_FOUND_NEWER

static const Row rows[] = {
        { "newer", NEWER, LOADS },
        { "newer, AMD", .amd = true, NEWER, LOADS },
        { "no file", .finding = UCS_FOUND_NOTHING, .modern = ENOENT, .says = "no firmware file" },
        { "no file, AMD", .amd = true, .finding = UCS_FOUND_NOTHING, .modern = ENOENT },
        { "empty, a directory, a link loop, not to be unpacked", .finding = UCS_FOUND_BAD, .file_error = -ENODATA, .unreadable = true, .modern = ENOENT },
        { "the same, while another one is pending", NEWER, .file_error = -EBADMSG, .unreadable = true, .modern = ENOENT },
        { "same or older", .finding = UCS_FOUND_NOT_NEWER, .modern = ENOENT, .says = "newer" },
        { "same or older, AMD", .amd = true, .finding = UCS_FOUND_NOT_NEWER, .modern = 0 },
        { "another signature or platform", .finding = UCS_FOUND_NO_MATCH, .modern = ENOENT },
        { "another CPU's, AMD", .amd = true, .finding = UCS_FOUND_NO_MATCH, .modern = 0 },
        { "a bad checksum", .finding = UCS_FOUND_BAD, .file_error = -EBADMSG, .modern = EBADFD, .says = "bad, it is" },
        { "two containers, AMD", .amd = true, .finding = UCS_FOUND_BAD, .file_error = -EBADMSG, .modern = EBADFD },
        { "bad now, pending before", NEWER, .file_error = -EBADMSG, .modern = EBADFD },
        { "larger than anything", .finding = UCS_FOUND_BAD, .file_error = -EFBIG, .modern = EBADFD },

        { "a primary is offline", NEWER, .primaries = "3", .modern = EBUSY, .old = EINVAL, .cpus = true, .says = "offline: 3" },
        { "a primary is offline, AMD", .amd = true, NEWER, .primaries = "1,3", .modern = EBUSY, .old = EINVAL, .cpus = true, .says = "1,3" },
        { "before the file is looked up", .finding = UCS_FOUND_BAD, .file_error = -EBADMSG, .primaries = "3", .modern = EBUSY, .old = EINVAL, .cpus = true },
        { "before the minimum revision", .amd = true, NEWER, .primaries = "3", .force_minrev = true, .modern = EBUSY, .old = EINVAL, .cpus = true },
        { "a sibling is offline", NEWER, .siblings = "3", LOADS },
        { "a sibling is offline, AMD", .amd = true, NEWER, .siblings = "3", .modern = EIO, .old = 0, .cpus = true, .loads_old = true },
        { "a sibling is offline, AMD, but nothing is newer", .amd = true, .finding = UCS_FOUND_NOT_NEWER, .siblings = "3", .modern = 0 },
        { "a sibling, before SMT could be off", NEWER, .siblings = "3", .all_cpus = true, .modern = EBUSY, .old = EINVAL, .cpus = true },

        { "force_minrev, none named", NEWER, .force_minrev = true, .minimum = 0, .modern = ENOENT, .loads_old = true, .says = "names none" },
        { "force_minrev, not met", NEWER, .force_minrev = true, .minimum = OLD + 1, .modern = ENOENT, .loads_old = true, .says = "from 0x101 on" },
        { "force_minrev, met", NEWER, .force_minrev = true, .minimum = OLD, LOADS },
        { "force_minrev, AMD", .amd = true, NEWER, .force_minrev = true, .modern = ENOENT, .loads_old = true },
        { "force_minrev, AMD, before the file is looked at", .amd = true, .finding = UCS_FOUND_BAD, .file_error = -EBADMSG, .force_minrev = true, .modern = ENOENT },
        { "force_minrev, a bad file", .finding = UCS_FOUND_BAD, .file_error = -EBADMSG, .force_minrev = true, .modern = EBADFD },

        { "mixed, and CPU 0 is up to date", NEWER, .running = { NEW, NEW, OLD, NEW }, .modern = ENOENT, .says = "CPU 0 alone" },
        { "mixed, and CPU 0 lags behind", NEWER, .running = { OLD, NEW, NEW, NEW }, LOADS },
        { "mixed, AMD, each node's first is up to date", .amd = true, NEWER, .running = { ROME_NEW, ROME_OLD, ROME_NEW, ROME_OLD }, .modern = 0 },
        { "mixed, AMD, the second node's first lags behind", .amd = true, NEWER, .running = { ROME_NEW, ROME_NEW, ROME_OLD, ROME_NEW }, .modern = 0, .loads = true },
        { "CPU 0 cannot be read", NEWER, .running = { 0, OLD, OLD, OLD }, LOADS },

        { "BDX90", NEWER, .signature = 0x406f1, .running = { 0x0b00001f, 0x0b00001f, 0x0b00001f, 0x0b00001f }, .target = 0x0b000040, .llc = 3 << 20, .modern = ENOENT, .says = "BDX90" },
        { "BDX90, no longer", NEWER, .signature = 0x406f1, .running = { 0x0b000021, 0x0b000021, 0x0b000021, 0x0b000021 }, .target = 0x0b000040, .llc = 3 << 20, LOADS },
        { "BDX90, 2.5 MiB a core are not too much", NEWER, .signature = 0x406f1, .running = { 0x0b00001f, 0x0b00001f, 0x0b00001f, 0x0b00001f }, .target = 0x0b000040, .llc = 2621440, LOADS },
        { "BDX90, one byte more is", NEWER, .signature = 0x406f1, .running = { 0x0b00001f, 0x0b00001f, 0x0b00001f, 0x0b00001f }, .target = 0x0b000040, .llc = 2621441, .modern = ENOENT },
        { "BDX90, a cache of unknown size", NEWER, .signature = 0x406f1, .running = { 0x0b000020, 0x0b000020, 0x0b000020, 0x0b000020 }, .target = 0x0b000040, .llc = UINT64_MAX, .modern = ENOENT },
        { "its neighbour of another stepping", NEWER, .signature = 0x406f2, .running = { 0x0b00001f, 0x0b00001f, 0x0b00001f, 0x0b00001f }, .target = 0x0b000040, .llc = 3 << 20, LOADS },
        { "BDX90 before a bad file", .finding = UCS_FOUND_BAD, .file_error = -EBADMSG, .signature = 0x406f1, .llc = 3 << 20, .modern = ENOENT },

        { "EntrySign: across the cutoff", .amd = true, NEWER, .running = { 0x0830107b, 0x0830107b, 0x0830107b, 0x0830107b }, .modern = EIO, .old = EPERM, .says = "0x830107c" },
        { "EntrySign: from the cutoff itself", .amd = true, NEWER, .running = { 0x0830107c, 0x0830107c, 0x0830107c, 0x0830107c }, .modern = EIO, .old = EPERM },
        { "EntrySign: up to the cutoff", .amd = true, NEWER, .running = { 0x0830107b, 0x0830107b, 0x0830107b, 0x0830107b }, .target = 0x0830107c, LOADS },
        { "EntrySign: above", .amd = true, NEWER, .running = { 0x0830107d, 0x0830107d, 0x0830107d, 0x0830107d }, LOADS },
        { "EntrySign: switched off", .amd = true, NEWER, .running = { 0x0830107b, 0x0830107b, 0x0830107b, 0x0830107b }, .no_digest_check = true, LOADS },

        { ".zst that this kernel reads", NEWER, .path = "/lib/firmware/intel-ucode/06-9e-0b.zst", LOADS },
        { ".xz that this kernel does not read", NEWER, .path = "/lib/firmware/intel-ucode/06-9e-0b.xz", .modern = ENOENT, .says = ".xz" },

        { "advisory", NEWER, .reason = UCS_REASON_KERNEL_OPTION, .modern = ENOENT, .old = ENOENT },
        { "read-only", NEWER, .reason = UCS_REASON_READ_ONLY, .modern = EROFS, .old = EROFS },
};

static void expect(const Row *r, UcsKernelGeneration generation, int error, bool loads, bool cpus) {
        const char *name = ucs_kernel_generation_to_string(generation);
        UcsCpu cpus_of[4];
        UcsMachine m = { .vendor = r->amd ? UCS_VENDOR_AMD : UCS_VENDOR_INTEL, .support = r->reason ? UCS_SUPPORT_ADVISORY : UCS_SUPPORT_LATE_LOAD,
                         .reason = r->reason, .cpus = cpus_of, .n_cpus = 4 };
        UcsKernel kernel = { .generation = generation, .force_minrev = r->force_minrev, .digest_check = !r->no_digest_check, .all_cpus = r->all_cpus,
                             .compression_known = true, .zstd = true, .llc_known = r->llc != UINT64_MAX, .llc_per_core = r->llc };
        UcsCandidate k = { .finding = r->finding, .signature = r->signature ?: r->amd ? ROME : 0x906eb, .platform_mask = r->amd ? 0 : 2,
                           .path = (char *) (r->path ?: "/lib/firmware/x"), .unreadable = r->unreadable };
        UcsScan scan = { &k, 1 };
        UcsPreflight p;

        for (unsigned i = 0; i < 4; i++)
                cpus_of[i] = (UcsCpu){ .cpu = i, .signature = k.signature, .platform_mask = k.platform_mask, .package = i / 2, .core = i % 2,
                                       .revision = r->running[1] ? r->running[i] : r->amd ? ROME_OLD : OLD };
        if (r->finding == UCS_FOUND_NEWER)
                k.update = (UcsUpdate){ .vendor = m.vendor, .signature = k.signature, .revision = r->target ?: r->amd ? ROME_NEW : NEW, .min_revision = r->minimum };
        if (r->target)
                k.update.revision = r->target;
        if (r->file_error)
                (void) ucs_error_set(&k.error, r->file_error, "/lib/firmware/x: bad, it is");
        cr_assert_eq(ucs_cpuset_parse(r->primaries ?: "", &m.offline_primaries, NULL), 0);
        cr_assert_eq(ucs_cpuset_parse(r->siblings ?: "", &m.offline_siblings, NULL), 0);

        ucs_preflight(&m, &kernel, &scan, &p);
        cr_expect_eq(p.error, error, "%s, %s: %s, expected %s", r->name, name, strerrorname_np(p.error), strerrorname_np(error));
        cr_expect_eq(p.loads, loads, "%s, %s: it would %sload", r->name, name, p.loads ? "" : "not ");
        cr_expect_eq(p.cpus, cpus, "%s, %s: it is %sbecause of CPUs", r->name, name, p.cpus ? "" : "not ");
        cr_expect_eq(p.sentence[0] == '\0', loads, "%s, %s: '%s'", r->name, name, p.sentence);
        if (!loads && r->says)
                cr_expect_not_null(strstr(p.sentence, r->says), "%s, %s: '%s'", r->name, name, p.sentence);
}

ucs_test(preflight, table) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                const Row *r = &rows[i];

                expect(r, UCS_KERNEL_MODERN, r->modern, r->loads, r->cpus);
                expect(r, UCS_KERNEL_UNKNOWN, r->modern, r->loads, r->cpus); /* the stricter of the two */
                expect(r, UCS_KERNEL_OLD, r->old, r->loads_old, r->cpus && !r->loads_old);
        }
}

ucs_test(preflight, nothing_known) {
        UcsMachine m = { .support = UCS_SUPPORT_LATE_LOAD };
        UcsPreflight p;

        ucs_preflight(&m, NULL, NULL, &p);
        cr_expect_eq(p.error, ENOENT);
        cr_expect_not(p.loads);
}

/* Two kinds of CPUs in one machine: the kernel asks for the file of CPU 0 and is content. */
ucs_test(preflight, the_group_of_cpu_0_decides) {
        UcsCpu cpus[2] = { { .cpu = 0, .signature = 0x50654, .platform_mask = 1, .revision = 0x200 }, { .cpu = 1, .signature = 0x50657, .platform_mask = 1, .revision = 0x100 } };
        UcsMachine m = { .vendor = UCS_VENDOR_INTEL, .support = UCS_SUPPORT_LATE_LOAD, .cpus = cpus, .n_cpus = 2 };
        UcsCandidate k[2] = { { .finding = UCS_FOUND_NOT_NEWER, .signature = 0x50654, .platform_mask = 1 },
                              { .finding = UCS_FOUND_NEWER, .signature = 0x50657, .platform_mask = 1, .update.revision = 0x110 } };
        UcsScan scan = { k, 2 };
        UcsPreflight p;

        ucs_preflight(&m, &(UcsKernel){ .generation = UCS_KERNEL_MODERN }, &scan, &p);
        cr_expect_eq(p.error, ENOENT);
        cr_expect_not(p.loads);

        k[0].finding = UCS_FOUND_NEWER;
        k[0].update.revision = 0x210;
        k[1].finding = UCS_FOUND_NOT_NEWER;
        ucs_preflight(&m, &(UcsKernel){ .generation = UCS_KERNEL_MODERN }, &scan, &p);
        cr_expect(p.loads);
}

ucs_test(preflight, missing_cpus) {
        static const struct {
                const char *name;
                UcsKernelGeneration generation;
                bool amd, all_cpus;
                const char *expected;
        } table[] = {
                { "modern", UCS_KERNEL_MODERN, false, false, "1" },
                { "modern, AMD", UCS_KERNEL_MODERN, true, false, "1,3" },
                { "old", UCS_KERNEL_OLD, false, false, "1" },
                { "old, AMD", UCS_KERNEL_OLD, true, false, "1" },
                { "very old", UCS_KERNEL_OLD, false, true, "1,3" },
                { "unknown", UCS_KERNEL_UNKNOWN, false, false, "1" },
                { "unknown, AMD", UCS_KERNEL_UNKNOWN, true, false, "1,3" },
                { "unknown, without smt/control", UCS_KERNEL_UNKNOWN, false, true, "1,3" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsMachine m = { .vendor = table[i].amd ? UCS_VENDOR_AMD : UCS_VENDOR_INTEL };
                _cleanup_free_ char *list = NULL;
                UcsCpuSet missing;

                ucs_cpuset_add(&m.offline_primaries, 1);
                ucs_cpuset_add(&m.offline_siblings, 3);
                ucs_preflight_missing_cpus(&m, &(UcsKernel){ .generation = table[i].generation, .all_cpus = table[i].all_cpus }, &missing);
                cr_assert_eq(ucs_cpuset_format(&missing, &list), 0);
                cr_expect_str_eq(list, table[i].expected, "%s: %s", table[i].name, list);
        }
}

ucs_test(preflight, words) {
        for (UcsKernelGeneration g = 0; g < _UCS_KERNEL_MAX; g++)
                cr_expect_eq(ucs_kernel_generation_from_string(ucs_kernel_generation_to_string(g)), g);
        cr_expect_eq(ucs_kernel_generation_from_string("ancient"), _UCS_KERNEL_INVALID);
}
