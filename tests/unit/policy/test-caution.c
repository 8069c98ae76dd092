/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Cautions: which kernels are warned of, on which machines, and which files are passed over. */

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/policy/caution.h"
#include "ucs-test.h"

static const struct {
        const char *release, *nodes;
        UcsVendor vendor;
        UcsFinding finding;
        UcsSupport support;
        bool old_microcode, warned;
} loads[] = {
        { "6.1.131", "2", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, true },
        { "6.1.132", "2", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "6.1.0-28-amd64", "2-5", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, true },
        { "5.15.0-300.el9uek.x86_64", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, true },
        { "5.14.0-503.el9.x86_64", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, true },
        { "6.8.0-45-generic", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, true },
        { "6.13.7", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, true },
        { "6.13.8", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "6.14", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "6.14.0-rc1", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "7.3.0", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "4.18.0-553.el8", "1", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, true },
        { "6.1.131", "", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "6.1.131", "2", UCS_VENDOR_INTEL, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "6.1.131", "2", UCS_VENDOR_AMD, UCS_FOUND_NOT_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "6.1.131", "2", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_ADVISORY, false, false },
        { "6.1.131", "2", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, true, false },
        { "", "2", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
        { "mainline", "2", UCS_VENDOR_AMD, UCS_FOUND_NEWER, UCS_SUPPORT_LATE_LOAD, false, false },
};

ucs_test(caution, memory_nodes) {
        for (size_t i = 0; i < ELEMENTSOF(loads); i++) {
                UcsCandidate c = { .finding = loads[i].finding };
                UcsMachine m = { .vendor = loads[i].vendor, .support = loads[i].support };
                UcsKernel k = { .old_microcode = loads[i].old_microcode };
                UcsWorld w = { .machine = &m, .kernel = &k, .scan = &(UcsScan){ &c, 1 } };
                _cleanup_strv_ char **l = NULL;

                (void) snprintf(k.release, sizeof(k.release), "%s", loads[i].release);
                (void) snprintf(k.nodes_without_cpus, sizeof(k.nodes_without_cpus), "%s", loads[i].nodes);
                cr_assert_eq(ucs_caution_load(&w, &l), 0);
                cr_assert_eq(l != NULL, loads[i].warned, "row %zu: %s", i, l ? *l : "nothing");
                if (l)
                        cr_expect(strstr(*l, loads[i].nodes) && strstr(*l, loads[i].release) && !l[1], "row %zu: %s", i, *l);
        }
}

ucs_test(caution, nothing_known) {
        UcsMachine m = { .vendor = UCS_VENDOR_AMD, .support = UCS_SUPPORT_LATE_LOAD };
        UcsWorld w = { .machine = &m };
        _cleanup_strv_ char **l = NULL;

        cr_expect(ucs_caution_load(&w, &l) == 0 && !l);
        cr_expect(ucs_caution_files(&w, &l) == 0 && !l);
}

/* Said once, whatever it hides: several groups share a file. */
ucs_test(caution, files_passed_over) {
        static char path[] = "/lib/firmware/amd-ucode/microcode_amd_fam17h.bin";
        UcsCandidate c[3] = { { .path = path }, { .path = path }, { .path = NULL } };
        UcsWorld w = { .scan = &(UcsScan){ c, ELEMENTSOF(c) } };
        _cleanup_strv_ char **none = NULL, **l = NULL;

        cr_expect(ucs_caution_files(&w, &none) == 0 && !none);
        for (size_t i = 0; i < ELEMENTSOF(c); i++)
                (void) ucs_error_set(&c[i].skipped, -ENODATA, "/lib/firmware/updates/x: the file is empty");
        cr_assert_eq(ucs_caution_files(&w, &l), 0);
        cr_assert(l && !l[1]);
        cr_expect(strstr(*l, "updates/x: the file is empty") && strstr(*l, path), "%s", *l);
}
