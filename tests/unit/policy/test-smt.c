/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* First threads and siblings among offline CPUs. */

#include "base/str.h"
#include "core/policy/smt.h"
#include "ucs-test.h"

#define CPUS 128

/* Put the CPUs of one list into one core: as they are seen together when all of them are online. */
static void see_core(UcsSmtSeen seen[static CPUS], const char *list) {
        UcsCpuSet set;

        cr_assert_eq(ucs_cpuset_parse(list, &set, NULL), 0);
        FOREACH_CPU(cpu, &set) {
                seen[cpu].first = MIN(seen[cpu].first, ucs_cpuset_next(&set, 0));
                seen[cpu].n_threads = MAX(seen[cpu].n_threads, ucs_cpuset_count(&set));
        }
}

ucs_test(smt, control) {
        static const struct {
                const char *text;
                UcsSmtControl control;
        } table[] = {
                { "on\n", UCS_SMT_ON },          { "off\n", UCS_SMT_OFF },      { "forceoff\n", UCS_SMT_OFF },
                { "notsupported", UCS_SMT_NONE }, { "notimplemented\n", UCS_SMT_NONE },
                { "", UCS_SMT_UNKNOWN },         { "2\n", UCS_SMT_UNKNOWN },    { "offline\n", UCS_SMT_UNKNOWN },
                { "o", UCS_SMT_UNKNOWN },        { "\n\n", UCS_SMT_UNKNOWN },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                cr_expect_eq(ucs_smt_control_parse(table[i].text), table[i].control, "'%s'", table[i].text);
}

ucs_test(smt, classify) {
        static const struct {
                const char *name, *present, *online;
                const char *cores[8]; /* lists of CPUs seen together in one core */
                UcsSmtControl control;
                const char *primaries, *siblings;
        } table[] = {
                { "nothing offline", "0-3", "0-3", { "0,2", "1,3" }, UCS_SMT_ON, "", "" },
                { "no SMT", "0-3", "0-1", { "0", "1" }, UCS_SMT_NONE, "2-3", "" },
                { "no SMT file, single threads", "0-3", "0,2", { "0", "2" }, UCS_SMT_UNKNOWN, "1,3", "" },
                { "siblings after all cores, a sibling is off", "0-7", "0-6", { "0,4", "1,5", "2,6", "3" }, UCS_SMT_ON, "", "7" },
                { "siblings after all cores, a first thread is off", "0-7", "0-2,4-7", { "0,4", "1,5", "2,6", "7" }, UCS_SMT_ON, "3", "" },
                { "adjacent, a sibling is off", "0-7", "0-6", { "0-1", "2-3", "4-5", "6" }, UCS_SMT_ON, "", "7" },
                { "adjacent, a first thread is off", "0-7", "0-5,7", { "0-1", "2-3", "4-5", "7" }, UCS_SMT_ON, "6", "" },
                { "a whole core is off", "0-7", "0-2,4-6", { "0,4", "1,5", "2,6" }, UCS_SMT_ON, "3", "7" },
                { "a block a socket", "0-15", "0-11", { "0,4", "1,5", "2,6", "3,7", "8", "9", "10", "11" }, UCS_SMT_ON, "", "12-15" },
                { "four threads", "0-7", "0-4", { "0-3", "4" }, UCS_SMT_ON, "", "5-7" },
                { "four threads, blocks of two cores", "0-7", "0,2,4,6,7", { "0,2,4,6", "7" }, UCS_SMT_ON, "1", "3,5" },
                { "the threads agree with no numbering", "0-7", "0-5", { "0,3", "1,2", "4", "5" }, UCS_SMT_ON, "6-7", "" },
                { "the small cores of a hybrid CPU", "0-7", "0-6", { "0-1", "2-3", "4", "5", "6" }, UCS_SMT_ON, "7", "" },
                { "switched off, adjacent", "0-7", "0,2,4,6", { "0", "2", "4", "6" }, UCS_SMT_OFF, "", "1,3,5,7" },
                { "switched off, after all cores", "0-7", "0-3", { "0", "1", "2", "3" }, UCS_SMT_OFF, "", "4-7" },
                { "switched off, and a first thread too", "0-7", "0-1,3", { "0", "1", "3" }, UCS_SMT_OFF, "2", "4-7" },
                { "switched off, both numberings fit", "0-7", "0,2", { "0", "2" }, UCS_SMT_OFF, "1,3-7", "" },
                { "switched off, two threads in all", "0-1", "0", { "0" }, UCS_SMT_OFF, "", "1" },
                { "switched off, neither fits", "0-7", "1,2,7", { "1", "2", "7" }, UCS_SMT_OFF, "0,3-6", "" },
                { "switched off, holes among the CPUs", "0-3,8-11", "0-3", { "0", "1", "2", "3" }, UCS_SMT_OFF, "8-11", "" },
                { "a sibling seen earlier, in an odd numbering", "0-7", "0-5", { "0,3", "1,2", "4,7", "5,6" }, UCS_SMT_ON, "", "6-7" },
                { "the one online thread is the second", "0-3", "3", { "3" }, UCS_SMT_ON, "0-2", "" },
                { "72 threads of two sockets", "0-71", "0-70", { "0,36", "1,37", "17,53", "18,54", "35" }, UCS_SMT_ON, "", "71" },
                { "a list that names everything", "0-3", "0-1", { "0-127" }, UCS_SMT_ON, "", "2-3" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *p = NULL, *s = NULL;
                UcsCpuSet present, online, primaries, siblings;
                UcsSmtSeen seen[CPUS];

                for (size_t c = 0; c < CPUS; c++)
                        seen[c] = (UcsSmtSeen){ .first = UCS_ID_UNKNOWN };
                for (size_t k = 0; k < ELEMENTSOF(table[i].cores) && table[i].cores[k]; k++)
                        see_core(seen, table[i].cores[k]);
                cr_assert_eq(ucs_cpuset_parse(table[i].present, &present, NULL), 0);
                cr_assert_eq(ucs_cpuset_parse(table[i].online, &online, NULL), 0);

                ucs_smt_classify(&present, &online, seen, CPUS, table[i].control, &primaries, &siblings);
                cr_assert_eq(ucs_cpuset_format(&primaries, &p), 0);
                cr_assert_eq(ucs_cpuset_format(&siblings, &s), 0);
                cr_expect_str_eq(p, table[i].primaries, "%s: first threads %s", table[i].name, p);
                cr_expect_str_eq(s, table[i].siblings, "%s: siblings %s", table[i].name, s);
        }
}

/* Without a numbering every offline CPU counts as a first thread, also beyond the array. */
ucs_test(smt, unseen) {
        UcsCpuSet present = {}, online = {}, primaries, siblings;

        ucs_cpuset_add(&present, 0);
        ucs_cpuset_add(&present, UCS_CPU_MAX - 1);
        ucs_cpuset_add(&online, 0);
        ucs_smt_classify(&present, &online, NULL, 0, UCS_SMT_ON, &primaries, &siblings);
        cr_expect(ucs_cpuset_has(&primaries, UCS_CPU_MAX - 1));
        cr_expect_eq(ucs_cpuset_count(&primaries), 1);
        cr_expect_eq(ucs_cpuset_count(&siblings), 0);
}
