/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of witnesses, from the most exact to the one that always speaks; see witness.h. Each that is on sees the load by itself, of the
 * same CPUs in the same order, and none knows of the others: what they say is put together by ucs_stall_add().
 *
 * Baselines are taken from the most exact to the accounts, readings in the other direction: what is nearest to the write is the account, in which
 * everything counts that its thread does in between. */

#include <string.h>

#include "os/witness/kinds.h"

static const UcsWitnessOps *const witnesses[] = {
        &witness_kernel,
        &witness_perf,
        &witness_schedstat,
        &witness_write,
};

struct UcsWitness {
        struct {
                bool on;
                void *state;
        } running[ELEMENTSOF(witnesses)]; /* in the order of the table */
        UcsCpuStall *cpus;                /* who they are; no evidence */
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

/* UcsWitnessKind counts up in the order in which the table goes down; the last one is always on. */
static bool is_asked(size_t i, UcsWitnessKind kind) {
        const UcsWitnessOps *ops = witnesses[i];

        return i + 1 == ELEMENTSOF(witnesses) || (kind == _UCS_WITNESS_INVALID ? ops->automatic : ops->kind <= kind);
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

        for (size_t i = 0; i < ELEMENTSOF(witnesses); i++) {
                UcsError x = {};

                if (!is_asked(i, kind))
                        continue;
                r = witnesses[i]->open(root_fd, m, &w->running[i].state, &x);
                if (r == -ENOMEM)
                        return r;
                w->running[i].on = r >= 0;
                if (r < 0)
                        complain(&missed, witnesses[i]->kind, &x);
        }
        if (missed.code != 0 && e)
                *e = missed;
        *ret = TAKE_PTR(w);
        return 0;
}

UcsWitness *ucs_witness_close(UcsWitness *w) {
        if (!w)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(witnesses); i++)
                if (w->running[i].on)
                        witnesses[i]->close(w->running[i].state);
        free(w->cpus);
        free(w);
        return NULL;
}

UcsWitnessKind ucs_witness_kind(const UcsWitness *w) {
        size_t i = 0;

        while (!w->running[i].on)
                i++;
        return witnesses[i]->kind;
}

bool ucs_witness_on(const UcsWitness *w, UcsWitnessKind kind) {
        for (size_t i = 0; i < ELEMENTSOF(witnesses); i++)
                if (witnesses[i]->kind == kind)
                        return w->running[i].on;
        return false;
}

int ucs_witness_arm(UcsWitness *w) {
        int r = -ENODATA;

        for (size_t i = 0; i < ELEMENTSOF(witnesses); i++)
                if (w->running[i].on && witnesses[i]->arm(w->running[i].state) >= 0 && witnesses[i]->kind != UCS_WITNESS_WRITE)
                        r = 0;
        return ucs_witness_kind(w) == UCS_WITNESS_WRITE ? 0 : r;
}

/* A stall of nobody: who the CPUs are, and no evidence. */
/* `n_cpus`: all of them, or none for a witness that knows nothing of single ones. */
static int blank_stall(const UcsWitness *w, UcsWitnessKind kind, size_t n_cpus, UcsStall *ret) {
        ucs_stall_init(ret);
        ret->witness = kind;
        if (n_cpus == 0)
                return 0;
        ret->cpus = reallocarray(NULL, n_cpus, sizeof(*ret->cpus));
        if (!ret->cpus)
                return -ENOMEM;
        memcpy(ret->cpus, w->cpus, n_cpus * sizeof(*ret->cpus));
        ret->n_cpus = n_cpus;
        return 0;
}

/* Rows of CPUs: `write` has nothing to say in them, and others are mostly there. */
static size_t rows_of(const UcsWitness *w, size_t i) {
        for (size_t k = 0; witnesses[i]->kind == UCS_WITNESS_WRITE && k < ELEMENTSOF(witnesses); k++)
                if (k != i && w->running[k].on)
                        return 0;
        return w->n_cpus;
}

int ucs_witness_collect(UcsWitness *w, UcsStall *s) {
        UcsStall seen[ELEMENTSOF(witnesses)] = {};
        int r = 0;

        for (size_t i = ELEMENTSOF(witnesses); i > 0 && r >= 0; i--) {
                if (!w->running[i - 1].on)
                        continue;
                r = blank_stall(w, witnesses[i - 1]->kind, rows_of(w, i - 1), &seen[i - 1]);
                if (r >= 0)
                        r = witnesses[i - 1]->collect(w->running[i - 1].state, &seen[i - 1]);
        }

        free(s->cpus);
        s->cpus = NULL;
        s->n_cpus = 0;
        s->n_witnessed = 0;
        s->witness = UCS_WITNESS_NONE;
        memset(s->witnessed, 0, sizeof(s->witnessed));
        for (size_t i = 0; i < ELEMENTSOF(witnesses) && r >= 0; i++)
                if (w->running[i].on)
                        r = ucs_stall_add(s, &seen[i]);
        if (s->witness == UCS_WITNESS_NONE)
                s->witness = UCS_WITNESS_WRITE;
        for (size_t i = 0; i < ELEMENTSOF(witnesses); i++)
                ucs_stall_done(&seen[i]);
        return r < 0 ? r : 0;
}
