/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of witnesses, from the most exact to the one that always speaks; see witness.h. What a witness says of each CPU goes into the
 * same array, in the order of the machine's CPUs. */

#include <string.h>

#include "os/witness/kinds.h"

static const UcsWitnessOps *const witnesses[] = {
        &witness_kernel,
        &witness_perf,
        &witness_schedstat,
        &witness_write,
};

struct UcsWitness {
        const UcsWitnessOps *ops;
        void *state;
        UcsCpuStall *cpus; /* who they are; no evidence */
        size_t n_cpus;
};

static int remember_cpus(UcsWitness *w, const UcsMachine *m) {
        w->cpus = new0(UcsCpuStall, m->n_cpus);
        if (!w->cpus)
                return -ENOMEM;
        w->n_cpus = m->n_cpus;
        for (size_t i = 0; i < m->n_cpus; i++) {
                const UcsCpu *c = &m->cpus[i];

                w->cpus[i] = (UcsCpuStall){
                        .cpu = c->cpu,
                        .apic_id = c->apic_id,
                        .cluster = c->apic_id != UCS_ID_UNKNOWN ? c->apic_id >> 4 : UCS_ID_UNKNOWN,
                        .package = c->package,
                        .stall_nsec = UCS_UNKNOWN,
                        .entry_nsec = UCS_UNKNOWN,
                        .exit_nsec = UCS_UNKNOWN,
                        .runs = UCS_UNKNOWN,
                };
        }
        return 0;
}

/* Of several witnesses each has its say. */
static void complain(UcsError *missed, UcsWitnessKind kind, const UcsError *e) {
        const UcsError before = *missed;

        if (before.code == 0)
                (void) ucs_error_set(missed, e->code, "%s: %s", ucs_witness_to_string(kind), e->text);
        else
                (void) ucs_error_set(missed, before.code, "%s; %s: %s", before.text, ucs_witness_to_string(kind), e->text);
}

int ucs_witness_open(int root_fd, UcsWitnessKind kind, const UcsMachine *m, UcsWitness **ret, UcsError *e) {
        _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
        UcsError missed = {};
        int r;

        w = new0(UcsWitness, 1);
        if (!w)
                return -ENOMEM;
        r = remember_cpus(w, m);
        if (r < 0)
                return r;

        for (size_t i = 0; i < ELEMENTSOF(witnesses) && !w->ops; i++) {
                const UcsWitnessOps *ops = witnesses[i];
                UcsError x = {};

                /* UcsWitnessKind counts up in the order in which this table goes down; the last one always serves */
                if (i + 1 < ELEMENTSOF(witnesses) && !(kind == _UCS_WITNESS_INVALID ? ops->automatic : ops->kind <= kind))
                        continue;
                r = ops->open(root_fd, m, &w->state, &x);
                if (r == -ENOMEM)
                        return r;
                if (r >= 0) {
                        w->ops = ops;
                        break;
                }
                complain(&missed, ops->kind, &x);
        }
        /* to do without perf is the rule: nobody asked, and the accounts serve */
        if (missed.code != 0 && e && (kind != _UCS_WITNESS_INVALID || w->ops->kind == UCS_WITNESS_WRITE))
                *e = missed;
        *ret = TAKE_PTR(w);
        return 0;
}

UcsWitness *ucs_witness_close(UcsWitness *w) {
        if (!w)
                return NULL;
        if (w->ops)
                w->ops->close(w->state);
        free(w->cpus);
        free(w);
        return NULL;
}

UcsWitnessKind ucs_witness_kind(const UcsWitness *w) {
        return w->ops->kind;
}

int ucs_witness_arm(UcsWitness *w) {
        return w->ops->arm(w->state);
}

int ucs_witness_collect(UcsWitness *w, UcsStall *s) {
        UcsCpuStall *cpus;

        cpus = new0(UcsCpuStall, w->n_cpus);
        if (!cpus)
                return -ENOMEM;
        if (w->n_cpus > 0)
                memcpy(cpus, w->cpus, w->n_cpus * sizeof(*cpus));
        free(s->cpus);
        s->cpus = cpus;
        s->n_cpus = w->n_cpus;
        s->witness = w->ops->kind;
        return w->ops->collect(w->state, s);
}
