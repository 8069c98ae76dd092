/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Load counters: what is there is read, what is not is left out, and what is garbage is named. */

#include <sys/syscall.h>

#include "os/pressure.h"
#include "syscalls.h"
#include "tree.h"

#define pressure_test(name) ucs_test(pressure, name, .init = tmproot_init, .fini = tmproot_done)

#define PSI "some avg10=0.00 avg60=0.00 avg300=0.00 total=%u\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
#define STAT "cpu  100 0 50 800 20 0 10 %u 30 0\ncpu0 100 0 50 800 20 0 10 7 30 0\nintr 1 2 3\n"
#define LOADAVG "0.50 0.40 0.30 1/100 4711\n"

static void furnish(unsigned some, unsigned steal) {
        tree_printf("proc/pressure/cpu", PSI, some);
        tree_printf("proc/stat", STAT, steal);
        tree_printf("proc/loadavg", "%s", LOADAVG);
}

pressure_test(all_sources) {
        _cleanup_(ucs_pressure_freep) UcsPressure *p = NULL;
        UcsLoadReading r;
        UcsError e = {};

        furnish(1234, 7);
        cr_assert_eq(ucs_pressure_new(tmproot, &p), 0);
        cr_assert_eq(ucs_pressure_read(p, 2, &r, &e), 0, "%s", e.text);
        cr_expect_eq(e.code, 0);
        cr_expect(r.have_pressure && r.have_stat && r.have_loadavg);
        cr_expect_eq(r.some_usec, 1234);
        cr_expect_eq(r.loadavg_ppm, 250000);
        cr_expect(r.boottime_usec > 0);
        furnish(2000, 7);
        cr_assert_eq(ucs_pressure_read(p, 2, &r, &e), 0);
        cr_expect_eq(r.some_usec, 2000, "read afresh through the kept descriptor");
}

pressure_test(some_sources) {
        static const struct {
                const char *name, *path, *text; /* NULL: missing */
                bool pressure, stat, loadavg;
                const char *complaint; /* NULL: none */
        } table[] = {
                { "no PSI is no complaint", "proc/pressure", NULL, false, true, true, NULL },
                { "garbage in PSI", "proc/pressure/cpu", "some\n", false, true, true, "/proc/pressure/cpu: " },
                { "an empty PSI", "proc/pressure/cpu", "", false, true, true, "/proc/pressure/cpu is empty" },
                { "no stat", "proc/stat", NULL, true, false, true, "cannot read /proc/stat: No such file" },
                { "garbage in stat", "proc/stat", "cpu  x\n", true, false, true, "/proc/stat: " },
                { "a stat without a line's end", "proc/stat", "cpu  1 2 3", true, false, true, "/proc/stat has a line of more than" },
                { "no loadavg", "proc/loadavg", NULL, true, true, false, "cannot read /proc/loadavg" },
                { "garbage in loadavg", "proc/loadavg", "busy\n", true, true, false, "/proc/loadavg: " },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_pressure_freep) UcsPressure *p = NULL;
                UcsLoadReading r;
                UcsError e = {};

                furnish(1, 7);
                if (table[i].text)
                        tmproot_text(table[i].path, table[i].text);
                else
                        tree_remove(table[i].path);
                cr_assert_eq(ucs_pressure_new(tmproot, &p), 0);
                cr_assert_eq(ucs_pressure_read(p, 2, &r, &e), 0, "%s", table[i].name);
                cr_expect_eq(r.have_pressure, table[i].pressure, "%s", table[i].name);
                cr_expect_eq(r.have_stat, table[i].stat, "%s", table[i].name);
                cr_expect_eq(r.have_loadavg, table[i].loadavg, "%s", table[i].name);
                if (table[i].complaint)
                        cr_expect(strstr(e.text, table[i].complaint), "%s: %s", table[i].name, e.text);
                else
                        cr_expect_eq(e.code, 0, "%s: %s", table[i].name, e.text);
        }
}

pressure_test(nothing) {
        _cleanup_(ucs_pressure_freep) UcsPressure *p = NULL;
        UcsLoadReading r = { .some_usec = 42 };
        UcsError e = {};

        cr_assert_eq(ucs_pressure_new(tmproot, &p), 0);
        cr_expect_eq(ucs_pressure_read(p, 2, &r, &e), -ENODATA);
        cr_expect(strstr(e.text, "/proc/stat"), "%s", e.text);
        cr_expect_eq(r.some_usec, 42, "untouched");
        cr_expect_eq(ucs_pressure_steal_nsec(p), UCS_UNKNOWN);

        furnish(5, 7);
        cr_expect_eq(ucs_pressure_read(p, 2, &r, &e), 0, "it is looked for again");
        cr_expect_eq(r.some_usec, 5);
}

pressure_test(steal) {
        static const struct {
                const char *text;
                uint64_t ticks; /* UCS_UNKNOWN */
        } table[] = {
                { "cpu  1 2 3 4 5 6 7 8 9 10\n", 8 },
                { "cpu  1 2 3 4 5 6 7 0 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n", 0 },
                { "cpu  1 2 3 4 5 6 7 8\n", 8 },
                { "cpu  1 2 3 4 5 6 7\n", UCS_UNKNOWN },
                { "cpu0 1 2 3 4 5 6 7 8 9 10\n", UCS_UNKNOWN },
                { "cpu  1 2 3 4 5 6 7 x 9 10\n", UCS_UNKNOWN },
                { "cpu  1 2 3 4 5 6 7 18446744073709551615 9 10\n", UCS_UNKNOWN },
                { "\n", UCS_UNKNOWN },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_pressure_freep) UcsPressure *p = NULL;
                uint64_t expected = table[i].ticks;

                if (expected != UCS_UNKNOWN)
                        expected *= UINT64_C(1000000000) / (uint64_t) sysconf(_SC_CLK_TCK);
                tmproot_text("proc/stat", table[i].text);
                cr_assert_eq(ucs_pressure_new(tmproot, &p), 0);
                cr_expect_eq(ucs_pressure_steal_nsec(p), expected, "row %zu", i);
        }
}

static UcsPressure *counted;

static void prepare(void) {
        UcsLoadReading r;

        cr_assert_eq(ucs_pressure_new(tmproot, &counted), 0);
        cr_assert_eq(ucs_pressure_read(counted, 2, &r, NULL), 0);
}

static void read_once_more(void) {
        UcsLoadReading r;

        if (ucs_pressure_read(counted, 2, &r, NULL) < 0)
                _exit(1);
}

pressure_test(one_call_a_source) {
        Syscalls s;

        furnish(1, 7);
        if (count_syscalls(prepare, read_once_more, &s) < 0)
                cr_skip("ptrace(2) is not allowed here");
        cr_expect_eq(s.by_number[SYS_pread64], 3);
        cr_expect(s.total <= 4, "%u calls", s.total); /* the clock, where there is no vDSO */
}
