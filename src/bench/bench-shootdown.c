/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodebench shootdown: what a TLB-shootdown IPI costs, against the number of targets and of x2APIC clusters that they fall into.
 *
 * With x2APIC in cluster mode one write to the interrupt command register reaches up to 16 CPUs, those of one cluster (APIC id >> 4), so 20
 * CPUs of another socket take 2 writes instead of 20: commit 9d0fa6c5f43f (2011), measured there on Westmere-EX. To tell this from the
 * number of targets, the same number is measured packed (a cluster is filled, then the next) and spread (one of each cluster first),
 * and from one socket to all of another. All CPUs but the sender are a case of their own: the kernel then may use a shorthand, one
 * write whatever the clusters. Whether clusters matter at all is a question of the routing, which is stated beside.
 *
 * The cost is the call less the same call without a target. Beside each figure stands how many IPIs there were; where there were none, there
 * is no cost. */

#include <errno.h>
#include <stdio.h>

#include "bench/busy.h"
#include "bench/machine.h"
#include "bench/report.h"
#include "bench/shooter.h"

#define CALLS_DEFAULT 2000U
#define CALL_USEC 60U /* with its handshake, on a machine whose IPIs are slow */
#define SHOT_USEC (60 * USEC_PER_MSEC)
#define COUNTED_MIN 20U /* with fewer, on a host that is too busy for them, the timed calls say more */
#define FEW 0.5 /* IPIs a target: below this the median is that of calls that sent none */

typedef struct Config {
        char placement[40];
        BenchCpu *targets; /* owned */
        size_t n;
        uint32_t clusters;
} Config;

typedef struct Plan {
        Config *configs;
        size_t n;
} Plan;

static void plan_done(Plan *p) {
        for (size_t i = 0; i < p->n; i++)
                free(p->configs[i].targets);
        free(p->configs);
        *p = (Plan){};
}

/* The sender's cluster first, then by APIC id. */
static int compare_packed(const void *a, const void *b, void *sender) {
        const BenchCpu *x = a, *y = b, *s = sender;
        const int away_x = x->cluster != s->cluster, away_y = y->cluster != s->cluster;

        if (away_x != away_y)
                return away_x - away_y;
        return (x->apic_id > y->apic_id) - (x->apic_id < y->apic_id);
}

/* From `packed`: one of each cluster, then the second of each, … */
static void spread_out(const BenchCpu *packed, size_t n, BenchCpu *ret) {
        size_t placed = 0;

        for (size_t rank = 0; placed < n; rank++) {
                size_t in_cluster = 0;

                for (size_t i = 0; i < n; i++) {
                        in_cluster = i > 0 && packed[i].cluster == packed[i - 1].cluster ? in_cluster + 1 : 0;
                        if (in_cluster == rank)
                                ret[placed++] = packed[i];
                }
        }
}

static int add(Plan *p, const BenchCpu *targets, size_t n, const char *placement) {
        BenchCpu *copy = new0(BenchCpu, n);
        Config *c;

        c = copy ? reallocarray(p->configs, p->n + 1, sizeof(*c)) : NULL;
        if (!c) {
                free(copy);
                return -ENOMEM;
        }
        p->configs = c;
        if (n > 0)
                memcpy(copy, targets, n * sizeof(*copy));
        c += p->n++;
        *c = (Config){ .targets = copy, .n = n, .clusters = bench_count_clusters(targets, n) };
        (void) snprintf(c->placement, sizeof(c->placement), "%s", placement);
        return 0;
}

/* 1, 2, 4, …, all but one, all. */
static size_t next_count(size_t k, size_t others) {
        size_t next = k * 2;

        if (k >= others)
                return SIZE_MAX;
        if (k == others - 1)
                return others;
        return MIN(next, others - 1);
}

static int add_sockets(Plan *p, const BenchCpu *sender, const BenchCpu *packed, size_t n) {
        _cleanup_free_ BenchCpu *socket = new0(BenchCpu, n);

        if (!socket)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                size_t k = 0;
                char placement[40];
                bool first = packed[i].package != sender->package;
                int r;

                for (size_t j = 0; j < i && first; j++)
                        first = packed[j].package != packed[i].package;
                if (!first)
                        continue;
                for (size_t j = 0; j < n; j++)
                        if (packed[j].package == packed[i].package)
                                socket[k++] = packed[j];
                (void) snprintf(placement, sizeof(placement), "socket %d to %d", (int) sender->package, (int) packed[i].package);
                r = add(p, socket, k, placement);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int make_plan(const BenchTopology *t, Plan *p) {
        const BenchCpu *sender = &t->cpus[0];
        const size_t others = t->n - 1;
        _cleanup_free_ BenchCpu *packed = new0(BenchCpu, others), *spread = new0(BenchCpu, others);
        int r;

        if (!packed || !spread)
                return -ENOMEM;
        memcpy(packed, t->cpus + 1, others * sizeof(*packed));
        qsort_r(packed, others, sizeof(*packed), compare_packed, (void *) sender);
        spread_out(packed, others, spread);

        r = add(p, NULL, 0, "alone");
        for (size_t k = 1; k <= others && r >= 0; k = next_count(k, others)) {
                const bool all = k == others && t->n == t->n_online;

                r = add(p, packed, k, all ? "all others" : "packed");
                if (r >= 0 && !all && bench_count_clusters(spread, k) != bench_count_clusters(packed, k))
                        r = add(p, spread, k, "spread");
        }
        return r < 0 ? r : add_sockets(p, sender, packed, others);
}

/* Of the line of /proc/interrupts that is this call's. */
static double ipis_of(BenchOp op, double tlb, double cal) {
        return bench_op_flushes(op) ? tlb : cal;
}

static void report_shot(BenchReport *report, BenchOp op, const Config *c, const BenchShot *shot, uint64_t base_ticks, const char *shorthand) {
        const bool enough = shot->counted >= MIN(COUNTED_MIN, shot->calls);
        const double ipis = enough ? ipis_of(op, shot->tlb, shot->cal) : ipis_of(op, shot->tlb_all, shot->cal_all);
        const double whole = ipis_of(op, shot->tlb_all, shot->cal_all);
        /* what others sent meanwhile only adds: few over all calls is few */
        const bool none = c->n > 0 && MIN(ipis, whole) < FEW * (double) c->n;
        const int64_t over = (int64_t) (shot->ticks_median - base_ticks);
        json_object *o = bench_report_object(report);
        char note[256];

        (void) snprintf(note, sizeof(note), "%s%s%s%s; TLB %.2f, CAL %.2f a call over %u calls", none ? "no IPI (PV flush, INVLPGB or lazy TLB); " : "",
                        c->placement, streq(c->placement, "all others") ? ", shorthand " : "", streq(c->placement, "all others") ? shorthand : "",
                        shot->tlb_all, shot->cal_all, shot->calls);
        (void) json_object_object_add(o, "op", json_object_new_string(bench_op_name(op)));
        (void) json_object_object_add(o, "targets", json_object_new_uint64(c->n));
        (void) json_object_object_add(o, "clusters", json_object_new_uint64(c->clusters));
        (void) json_object_object_add(o, "ticks_median", json_object_new_uint64(shot->ticks_median));
        (void) json_object_object_add(o, "ticks_over_base", none ? NULL : json_object_new_int64(c->n > 0 ? over : 0));
        (void) json_object_object_add(o, "ipis_per_call", json_object_new_double(ipis));
        (void) json_object_object_add(o, "note", json_object_new_string(note));

        bench_report_row(report);
        bench_report_cell(report, "%s", bench_op_name(op));
        bench_report_cell(report, "%zu", c->n);
        bench_report_cell(report, "%u", c->clusters);
        bench_report_cell(report, "%llu", (unsigned long long) shot->ticks_median);
        if (c->n == 0)
                bench_report_cell(report, "-");
        else if (none)
                bench_report_cell(report, "no IPI");
        else
                bench_report_cell(report, "%lld", (long long) over);
        bench_report_cell(report, "%.2f", ipis);
        bench_report_cell(report, "%s", note);
}

static int measure(const Bench *b, const BenchTopology *t, const Plan *p, BenchReport *report, const char *shorthand, UcsError *e) {
        const uint32_t calls = b->calls ?: CALLS_DEFAULT;
        bool any = false;

        for (BenchOp op = 0; op < _BENCH_OP_MAX; op++) {
                uint64_t base_ticks = 0;

                for (size_t i = 0; i < p->n; i++) {
                        UcsError x = {};
                        BenchShot shot;
                        int r;

                        if (bench_interrupted())
                                return -EINTR;
                        if (bench_out_of_time(b)) {
                                bench_report_note(report, "Cut short by --limit=");
                                return 0;
                        }
                        r = bench_shoot(b, op, &t->cpus[0], p->configs[i].targets, p->configs[i].n, calls, &shot, &x);
                        if (r == -EOPNOTSUPP || r == -ETIME) {
                                bench_report_note(report, "%s", x.text);
                                if (i == 0)
                                        break; /* without a base there is nothing to compare with */
                                continue;
                        }
                        if (r < 0) {
                                *e = x;
                                return r;
                        }
                        if (i == 0) /* the plan begins with it */
                                base_ticks = shot.ticks_median;
                        if (shot.calls < calls)
                                bench_report_note(report, "Where less than %u calls were timed, time was up: the host is busy", calls);
                        report_shot(report, op, &p->configs[i], &shot, base_ticks, shorthand);
                        any = true;
                }
        }
        return any ? 0 : ucs_error_set(e, -ENODATA, "not one call could be timed");
}

int bench_shootdown(Bench *b, int argc, char **argv) {
        static const BenchColumn columns[] = {
                { "CALL" }, { "TARGETS", true }, { "CLUSTERS", true }, { "TICKS", true }, { "OVER BASE", true }, { "IPIS A CALL", true }, { "NOTE" },
        };
        _cleanup_(bench_report_freep) BenchReport *report = NULL;
        _cleanup_(plan_done) Plan plan = {};
        _cleanup_topology_ BenchTopology t = {};
        json_object *machine;
        UcsError e = {};
        int r;

        if (bench_topology_read(b, &t, &e) < 0)
                return bench_fail(b, BENCH_UNSUPPORTED, "NotSupported", "%s", e.text);
        if (t.n < 2)
                return bench_fail(b, BENCH_UNSUPPORTED, "NotSupported", "a shootdown takes two CPUs, and there is one");
        r = make_plan(&t, &plan);
        if (r < 0)
                return bench_fail(b, BENCH_FAILED, "Failed", "out of memory");
        r = bench_may_run(b, plan.n * _BENCH_OP_MAX * (SHOT_USEC + (uint64_t) (b->calls ?: CALLS_DEFAULT) * CALL_USEC));
        if (r != BENCH_DONE)
                return r;
        bench_be_nice(b);
        machine = bench_machine_describe(b, &t);
        if (!machine || bench_report_new(b, "shootdown", machine, columns, ELEMENTSOF(columns), &report) < 0)
                return bench_fail(b, BENCH_FAILED, "Failed", "out of memory");

        r = measure(b, &t, &plan, report, bench_machine_get(machine, "ipi_shorthand"), &e);
        if (bench_interrupted())
                return bench_fail(b, BENCH_INTERRUPTED, "Interrupted", "interrupted by a signal");
        if (r < 0)
                return bench_fail(b, BENCH_FAILED, "Failed", "%s", e.text);
        if (t.n_clusters == 1)
                bench_report_note(report, "All CPUs are in one x2APIC cluster: nothing can be said about clusters here");
        bench_report_note(report, "The sender is CPU %u. IPIs a call are counted over %u calls of their own; those in the note over the timed ones, with "
                                  "whatever others sent meanwhile", t.cpus[0].cpu, BENCH_COUNTED_CALLS);
        return bench_report_print(report);
}
