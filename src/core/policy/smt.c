/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Threads of a core among the offline CPUs; see smt.h.
 *
 * Firmware numbers threads in blocks: `stride` first threads, then their second ones at a distance of `stride`, and so on, then the
 * next block. A stride of 1 is "0,1 are core 0"; a stride of half the CPUs is "the siblings come after all cores"; what lies between
 * is one block a socket. CPU c is a first thread exactly when c % (threads * stride) < stride. The pattern is taken from the cores of
 * which all threads are seen, and counts only when every CPU that was seen agrees with it. */

#include "base/str.h"
#include "core/policy/smt.h"

typedef struct Pattern {
        uint32_t threads; /* a core; 0: no pattern */
        uint32_t stride;
} Pattern;

UcsSmtControl ucs_smt_control_parse(const char *s) {
        static const struct {
                const char *word;
                UcsSmtControl control;
        } words[] = {
                { "on", UCS_SMT_ON },
                { "off", UCS_SMT_OFF },
                { "forceoff", UCS_SMT_OFF },
                { "notsupported", UCS_SMT_NONE },
                { "notimplemented", UCS_SMT_NONE },
        };
        size_t n = strlen(s);

        while (n > 0 && (s[n - 1] == '\n' || s[n - 1] == ' '))
                n--;
        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strlen(words[i].word) == n && memcmp(words[i].word, s, n) == 0)
                        return words[i].control;
        return UCS_SMT_UNKNOWN;
}

static uint32_t position(const Pattern *p, uint32_t cpu) {
        return cpu % (p->threads * p->stride);
}

static bool is_first(const Pattern *p, uint32_t cpu) {
        return position(p, cpu) < p->stride;
}

/* The first thread of the core that `cpu` belongs to, were the pattern right. */
static uint32_t pattern_first(const Pattern *p, uint32_t cpu) {
        return cpu - position(p, cpu) + position(p, cpu) % p->stride;
}

/* Does everything that was seen agree? What was seen in one core must lie in one core of the pattern, and what the pattern puts into one
 * core must not have been seen in two (the small cores of a hybrid CPU). A core of which not all threads were ever seen has a
 * `first` that need not be its first thread. */
static bool pattern_agrees(const Pattern *p, const UcsSmtSeen *seen, size_t n_seen) {
        for (uint32_t c = 0; c < n_seen; c++) {
                uint32_t first;

                if (seen[c].first == UCS_ID_UNKNOWN)
                        continue;
                first = pattern_first(p, c);
                if (seen[c].n_threads > p->threads || pattern_first(p, seen[c].first) != first)
                        return false;
                if (seen[c].n_threads == p->threads && !is_first(p, seen[c].first))
                        return false;
                if (seen[first].first != UCS_ID_UNKNOWN && seen[first].first != seen[c].first)
                        return false;
        }
        return true;
}

/* From the first core of the largest number of threads: the distance of its first two. */
static Pattern pattern_from_cores(const UcsSmtSeen *seen, size_t n_seen) {
        Pattern p = {};

        for (uint32_t c = 0; c < n_seen; c++)
                if (seen[c].first != UCS_ID_UNKNOWN && seen[c].n_threads > MAX(p.threads, 1U) && seen[c].first != c)
                        p = (Pattern){ .threads = seen[c].n_threads, .stride = c - seen[c].first };
        if (p.threads > 0 && pattern_agrees(&p, seen, n_seen))
                return p;
        return (Pattern){};
}

/* With SMT switched off no core shows more than one thread. The kernel leaves exactly the first threads online, so of the two usual
 * ways to number two threads that one is right under which all online CPUs are first threads; when both are, neither counts. */
static Pattern pattern_from_switch(const UcsCpuSet *present, const UcsCpuSet *online) {
        const uint32_t n = ucs_cpuset_count(present);
        const Pattern usual[] = { { .threads = 2, .stride = 1 }, { .threads = 2, .stride = n / 2 } };
        Pattern found = {};
        unsigned n_found = 0;

        if (n < 2 || n % 2 != 0 || ucs_cpuset_next(present, n) != UCS_CPU_MAX)
                return found;
        for (size_t i = 0; i < ELEMENTSOF(usual); i++) {
                bool fits = true;

                FOREACH_CPU(cpu, online)
                        fits = fits && is_first(&usual[i], cpu);
                if (!fits || (n_found > 0 && usual[i].stride == found.stride))
                        continue;
                found = usual[i];
                n_found++;
        }
        return n_found == 1 ? found : (Pattern){};
}

void ucs_smt_classify(const UcsCpuSet *present, const UcsCpuSet *online, const UcsSmtSeen *seen, size_t n_seen,
                      UcsSmtControl control, UcsCpuSet *ret_primaries, UcsCpuSet *ret_siblings) {
        UcsCpuSet primaries = {}, siblings = {};
        Pattern p = {};

        if (control != UCS_SMT_NONE) {
                p = pattern_from_cores(seen, n_seen);
                if (p.threads == 0 && control == UCS_SMT_OFF)
                        p = pattern_from_switch(present, online);
        }
        FOREACH_CPU(cpu, present) {
                bool sibling;

                if (ucs_cpuset_has(online, cpu))
                        continue;
                if (cpu < n_seen && seen[cpu].first != UCS_ID_UNKNOWN && seen[cpu].first != cpu)
                        sibling = true;
                else
                        sibling = p.threads > 0 && !is_first(&p, cpu);
                ucs_cpuset_add(sibling ? &siblings : &primaries, cpu);
        }
        *ret_primaries = primaries;
        *ret_siblings = siblings;
}
