/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two events in a trace. */

#include "base/str.h"
#include "core/record/trace.h"
#include "ucs-test.h"

#define IN "stop_in: (stop_machine_cpuslocked+0x0/0x50)\n"
#define OUT "stop_out: (load_late_locked+0x1af/0x340 <- stop_machine_cpuslocked)\n"

ucs_test(trace, pairs) {
        static const struct {
                const char *name, *text;
                int r;
                uint64_t ticks;
        } table[] = {
                { "empty", "", 0, 0 },
                { "only comments", "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:4\n", 0, 0 },
                { "one pair", "# tracer: nop\n  ucodesync-load-77      [002] ..... 45800000000: " IN "  ucodesync-load-77      [003] ..... 45829889604: " OUT, 1, 29889604 },
                { "the name is not known", "           <...>-77      [000] d..1. 100: " IN "           <...>-77      [000] d..1. 150: " OUT, 1, 50 },
                { "a name with blanks and a dash", "  a b-1 [0]-77  [000] ..... 100: " IN "  a: stop_in: (x-77  [000] ..... 150: " OUT, 1, 50 },
                { "another thread's", "  x-78  [000] ..... 100: " IN "  x-78  [000] ..... 150: " OUT, 0, 0 },
                { "another's in between", "  x-77  [000] ..... 100: " IN "  x-78  [001] ..... 110: " IN "  x-78  [001] ..... 120: " OUT "  x-77  [000] ..... 150: " OUT, 1, 50 },
                { "the longest of two", "  x-77 [0] . 100: " IN "  x-77 [0] . 150: " OUT "  x-77 [0] . 200: " IN "  x-77 [0] . 270: " OUT, 1, 70 },
                { "no end", "  x-77 [0] . 100: " IN, 0, 0 },
                { "no begin", "  x-77 [0] . 100: " OUT, 0, 0 },
                { "the last begin counts", "  x-77 [0] . 100: " IN "  x-77 [0] . 120: " IN "  x-77 [0] . 150: " OUT, 1, 30 },
                { "time runs backwards", "  x-77 [0] . 100: " IN "  x-77 [0] . 50: " OUT, 0, 0 },
                { "no newline at the end", "  x-77 [0] . 100: " IN "  x-77 [0] . 150: stop_out: (", 1, 50 },
                { "seconds instead of ticks", "  x-77 [0] . 1.000100: " IN "  x-77 [0] . 1.000150: " OUT, 0, 0 },
                { "a number of 65 bits", "  x-77 [0] . 18446744073709551616: " IN "  x-77 [0] . 5: " OUT, 0, 0 },
                { "half lines", ": " IN " 100: " IN "-77 100: " IN "[0] . 100: " IN "77 [0] . 100: " IN "x-77 0 . 100: " IN "-77 [0] . 150: " OUT, 0, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                uint64_t ticks = 42;

                cr_expect_eq(ucs_trace_stop_ticks(table[i].text, 77, &ticks), table[i].r, "%s", table[i].name);
                cr_expect_eq(ticks, table[i].r ? table[i].ticks : 42, "%s: %ju", table[i].name, (uintmax_t) ticks);
        }
}
