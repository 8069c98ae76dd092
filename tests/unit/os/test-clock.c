/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Clocks, and the TSC's rate of this machine and of another. */

#include "os/clock.h"
#include "tree.h"

#define clock_test(name) ucs_test(clock, name, .init = tmproot_init, .fini = tmproot_done)

#define CLOCKSOURCE "sys/devices/system/clocksource/clocksource0/current_clocksource"

static void write_cpuid(uint32_t highest, uint32_t a, uint32_t b, uint32_t c) {
        /* an offset is a leaf, so that in a plain file the leaves would overlap if there were more of them */
        char bytes[0x15 + 16] = {};
        const uint32_t leaf0[] = { highest, 0, 0, 0 }, crystal[] = { a, b, c, 0 };

        memcpy(bytes, leaf0, sizeof(leaf0));
        memcpy(bytes + 0x15, crystal, sizeof(crystal));
        tmproot_write("dev/cpu/3/cpuid", bytes, sizeof(bytes));
}

clock_test(of_another_machine) {
        static const struct {
                const char *name, *clocksource; /* NULL: none */
                uint32_t highest, a, b, c;
                uint64_t hz;
        } table[] = {
                { "2.4 GHz of a 25 MHz crystal", "tsc\n", 0x16, 2, 192, 25000000, UINT64_C(2400000000) },
                { "another clocksource", "hpet\n", 0x16, 2, 192, 25000000, 0 },
                { "tsc-early", "tsc-early\n", 0x16, 2, 192, 25000000, 0 },
                { "no clocksource", NULL, 0x16, 2, 192, 25000000, 0 },
                { "an empty clocksource", "", 0x16, 2, 192, 25000000, 0 },
                { "no such leaf", "tsc\n", 0x14, 2, 192, 25000000, 0 },
                { "no crystal", "tsc\n", 0x16, 2, 192, 0, 0 },
                { "no ratio", "tsc\n", 0x16, 2, 0, 25000000, 0 },
                { "a zero to divide by", "tsc\n", 0x16, 0, 192, 25000000, 0 },
                { "large numbers", "tsc\n", 0x16, 1, UINT32_MAX, UINT32_MAX, (uint64_t) UINT32_MAX * UINT32_MAX },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                if (table[i].clocksource)
                        tmproot_text(CLOCKSOURCE, table[i].clocksource);
                else
                        tree_remove(CLOCKSOURCE);
                write_cpuid(table[i].highest, table[i].a, table[i].b, table[i].c);
                cr_expect_eq(ucs_clock_tsc_hz(tmproot, 3), table[i].hz, "%s: %ju", table[i].name,
                             (uintmax_t) ucs_clock_tsc_hz(tmproot, 3));
        }
        tmproot_text(CLOCKSOURCE, "tsc\n");
        cr_expect_eq(ucs_clock_tsc_hz(tmproot, 4), 0, "no such CPU");
        tmproot_write("dev/cpu/3/cpuid", "short", 5);
        cr_expect_eq(ucs_clock_tsc_hz(tmproot, 3), 0, "a short file");
}

ucs_test(clock, of_this_machine) {
        _cleanup_free_ char *source = NULL;
        _cleanup_fd_ int root = -EBADF;
        uint64_t hz;

        cr_assert_eq(ucs_root_open("/", &root, NULL), 0);
        hz = ucs_clock_tsc_hz(root, 0);
        if (ucs_root_read(root, CLOCKSOURCE, 64, &source, NULL, NULL) < 0 || !streq(str_strip(source), "tsc"))
                cr_expect_eq(hz, 0);
        else
                cr_expect(hz > 100 * UINT64_C(1000000) && hz < UINT64_C(10000000000), "%ju", (uintmax_t) hz);
}

ucs_test(clock, run) {
        uint64_t raw = ucs_clock_monotonic_raw_nsec(), boot = ucs_clock_boottime_usec();

        cr_expect(ucs_clock_monotonic_raw_nsec() >= raw);
        cr_expect(ucs_clock_boottime_usec() >= boot);
        cr_expect(boot > 0);
        cr_expect(ucs_clock_realtime_usec() > UINT64_C(1500000000) * USEC_PER_SEC);
}
