/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What sysfs and procfs say of a machine: /proc/cpuinfo record by record, lists of CPUs, load counters, lines of the kernel's log, and short
 * values of the configuration. The first byte chooses the reader. */

#include "base/cpuset.h"
#include "base/parse.h"
#include "base/timefmt.h"
#include "core/policy/candidate.h"
#include "core/policy/cpuinfo.h"
#include "core/policy/smt.h"
#include "core/record/symptom.h"
#include "core/schedule/load.h"
#include "fuzz.h"

static void try_cpuinfo(const char *text, size_t size) {
        size_t offset = 0;

        for (;;) {
                UcsCpuinfo c = {};
                UcsError e = {};
                size_t n = 0;
                int r;

                r = ucs_cpuinfo_parse(text + offset, size - offset, true, &c, &n, &e);
                if (r <= 0)
                        break;
                fuzz_check(n > 0 && n <= size - offset);
                offset += n;
        }

        /* without the end, no record is taken that its continuation could change */
        for (size_t n = 0; n < size && n < 64; n++) {
                UcsCpuinfo c;
                UcsError e = {};
                size_t used = 0;

                if (ucs_cpuinfo_parse(text, n, false, &c, &used, &e) > 0)
                        fuzz_check(used <= n);
        }
}

static void try_list(const char *text, size_t size) {
        UcsCpuSet set, back;
        char *list = NULL;
        UcsError e = {};

        if (ucs_cpuset_parse(text, &set, &e) < 0) {
                fuzz_check(e.text[0] != '\0');
                return;
        }
        fuzz_check(ucs_cpuset_format(&set, &list) == 0);
        fuzz_check(ucs_cpuset_parse(list, &back, NULL) == 0);
        fuzz_check(ucs_cpuset_equal(&set, &back));
        free(list);
}

static void try_load(const char *text, size_t size) {
        UcsLoadReading a = { .boottime_usec = 1 }, b = { .boottime_usec = 2000001 };
        UcsError e = {};

        (void) ucs_load_parse_pressure(text, &b, &e);
        (void) ucs_load_parse_stat(text, &b, &e);
        (void) ucs_load_parse_loadavg(text, 4, &b, &e);
        a.have_pressure = a.have_stat = a.have_loadavg = true;
        for (UcsLoadMetric m = 0; m < _UCS_LOAD_METRIC_MAX; m++) {
                UcsLoadSample s = ucs_load_sample(m, &a, &b);

                fuzz_check(!s.valid || s.metric != UCS_LOAD_AUTO);
        }
}

static void try_log(const char *text, size_t size) {
        fuzz_check(ucs_symptoms_of_line(text) < 1U << 12);
}

static void try_values(const char *text, size_t size) {
        char buf[UCS_TIMESPAN_MAX];
        uint8_t digest[UCS_DIGEST_SIZE];
        uint64_t u64;
        uint32_t u32;
        bool b;

        if (ucs_parse_timespan(text, &u64) >= 0)
                (void) ucs_format_timespan(buf, u64);
        if (ucs_parse_percent(text, &u32) >= 0)
                fuzz_check(u32 <= 1000000);
        (void) ucs_parse_bool(text, &b);
        (void) ucs_parse_u64(text, 16, &u64);
        (void) ucs_parse_u32(text, 10, &u32);
        (void) ucs_digest_parse(text, digest);
        (void) ucs_smt_control_parse(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const FuzzReader readers[] = { try_cpuinfo, try_list, try_load, try_log, try_values };

        return fuzz_one_of(readers, ELEMENTSOF(readers), data, size);
}
