/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* systemd-logind; see logind.h. Its signals are hints, which anybody on the bus could send: whatever comes, logind itself is asked for its properties, and they
 * alone count. It is never started by a question of ours. */

#include <errno.h>

#include "base/timefmt.h"
#include "daemon/log.h"
#include "daemon/logind.h"
#include "os/clock.h"

#define NAME "org.freedesktop.login1"
#define OBJECT "/org/freedesktop/login1"
#define INTERFACE "org.freedesktop.login1.Manager"

#define ANSWER_USEC USEC_PER_SEC

/* Less is the time between two readings of clocks, and no sleep. */
#define SLEEP_LEAST_USEC (100 * USEC_PER_MSEC)

/* What is asked, and where in Manager the answer goes. */
static const struct {
        const char *property;
        size_t flag;
} questions[] = {
        { "PreparingForShutdown", offsetof(Manager, health.shutdown_begun) },
        { "PreparingForSleep", offsetof(Manager, health.going_to_sleep) },
};

typedef struct Question {
        Manager *manager;
        size_t which;
        sd_bus_slot *answer; /* NULL: nothing is on its way */
} Question;

struct Logind {
        sd_bus_slot *sleep, *shutdown, *owner; /* the latter two while `following` */
        Question questions[ELEMENTSOF(questions)];
        bool following; /* something is pending */
        bool woke;      /* the machine has woken up, and its CPUs were not looked at since */
        uint64_t asleep_usec; /* that it has slept by then, in all */
};

static bool *flag_of(Manager *m, size_t which) {
        return (bool *) (void *) ((char *) m + questions[which].flag);
}

/* logind's own answer, or the bus's that there is no logind. */
static void take_answer(Manager *m, size_t which, sd_bus_message *reply) {
        int value = false;

        if (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NO_REPLY)) {
                log_debug("systemd-logind does not answer, %s stays as it is", questions[which].property);
                return;
        }
        if (sd_bus_message_is_method_error(reply, NULL))
                log_debug("systemd-logind does not tell %s: %s", questions[which].property, sd_bus_message_get_error(reply)->message);
        else if (sd_bus_message_read(reply, "v", "b", &value) < 0)
                return;
        *flag_of(m, which) = value;
}

static int make_question(Manager *m, size_t which, sd_bus_message **ret) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
        int r;

        r = sd_bus_message_new_method_call(m->bus, &call, NAME, OBJECT, "org.freedesktop.DBus.Properties", "Get");
        if (r < 0)
                return r;
        r = sd_bus_message_append(call, "ss", INTERFACE, questions[which].property);
        if (r < 0)
                return r;
        r = sd_bus_message_set_auto_start(call, false);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(call);
        return 0;
}

/* Firmware, and the kernel on its way up, may have loaded something else than what ran before: that is nobody's late load. */
static void look_after_sleep(Manager *m) {
        if (m->apply) /* its end looks at every CPU */
                return;
        if (manager_observe_cpus(m, DEPTH_WHOLE) <= 0)
                return;
        for (size_t i = 0; i < m->machine->n_groups; i++)
                for (size_t k = 0; k < m->state.n_seen; k++) {
                        const UcsGroup *g = &m->machine->groups[i];
                        const UcsSeen *s = &m->state.seen[k];

                        if (s->signature == g->signature && s->platform_mask == g->platform_mask && g->lowest_revision != 0 && s->revision != g->lowest_revision)
                                log_warning("The CPUs ran 0x%x when the machine went to sleep, and came back with 0x%x", s->revision, g->lowest_revision);
                }
        recover_seen(m, true);
        if (m->scan && manager_scan(m) < 0)
                log_error("Out of memory while scanning the firmware directories");
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        Question *q = userdata;
        Manager *m = q->manager;
        Logind *l = m->logind;

        take_answer(m, q->which, reply);
        q->answer = sd_bus_slot_unref(q->answer);
        for (size_t i = 0; i < ELEMENTSOF(questions); i++)
                if (l->questions[i].answer)
                        return 0;
        if (l->woke) {
                l->woke = false;
                look_after_sleep(m);
        }
        manager_evaluate(m, NULL);
        return 0;
}

/* A question that is on its way is asked again: its answer may be older than the reason to ask. */
static void ask_later(Manager *m) {
        for (size_t i = 0; i < ELEMENTSOF(questions); i++) {
                _cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
                Question *q = &m->logind->questions[i];
                int r;

                q->answer = sd_bus_slot_unref(q->answer);
                r = make_question(m, i, &call);
                if (r >= 0)
                        r = sd_bus_call_async(m->bus, &q->answer, call, on_answer, q, ANSWER_USEC);
                if (r < 0)
                        log_warning("systemd-logind cannot be asked for %s: %s", questions[i].property, strerror(-r));
        }
}

void logind_ask(Manager *m) {
        if (!m->logind)
                return;
        for (size_t i = 0; i < ELEMENTSOF(questions); i++) {
                _cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL, *reply = NULL;
                _cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
                int r;

                r = make_question(m, i, &call);
                if (r >= 0)
                        r = sd_bus_call(m->bus, call, ANSWER_USEC, &e, &reply);
                if (r >= 0)
                        take_answer(m, i, reply);
                else if (r == -ETIMEDOUT)
                        log_warning("systemd-logind does not answer, whether the machine is going down or to sleep is not known for certain");
                else
                        *flag_of(m, i) = false;
        }
}

/* The end of a sleep of which there is evidence: logind itself had said that it comes, or the clocks show it. */
static bool has_slept(Manager *m) {
        uint64_t asleep_usec = ucs_clock_asleep_usec();
        bool slept = m->health.going_to_sleep || asleep_usec > m->logind->asleep_usec + SLEEP_LEAST_USEC;

        m->logind->asleep_usec = asleep_usec;
        return slept;
}

static int on_prepare_for_sleep(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        int active;

        if (sd_bus_message_read(message, "b", &active) < 0)
                return 0;
        if (active || has_slept(m))
                m->logind->woke |= !active;
        else if (!m->logind->following)
                return 0; /* anybody's word, and nothing waits for an answer */
        ask_later(m);
        return 0;
}

static int on_change(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        ask_later(userdata);
        return 0;
}

/* A match that the bus refuses is no reason to leave: a load asks by itself. */
static int on_installed(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        if (sd_bus_message_is_method_error(message, NULL))
                log_warning("The signals of systemd-logind cannot be received: %s", sd_bus_message_get_error(message)->message);
        return 0;
}

int logind_new(Manager *m, Logind **ret) {
        _cleanup_free_ Logind *l = new0(Logind, 1);
        int r;

        if (!l)
                return -ENOMEM;
        for (size_t i = 0; i < ELEMENTSOF(questions); i++)
                l->questions[i] = (Question){ .manager = m, .which = i };
        l->asleep_usec = ucs_clock_asleep_usec();
        r = sd_bus_match_signal_async(m->bus, &l->sleep, NAME, OBJECT, INTERFACE, "PrepareForSleep", on_prepare_for_sleep, on_installed, m);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}

Logind *logind_free(Logind *l) {
        if (!l)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(questions); i++)
                sd_bus_slot_unref(l->questions[i].answer);
        sd_bus_slot_unref(l->sleep);
        sd_bus_slot_unref(l->shutdown);
        sd_bus_slot_unref(l->owner);
        free(l);
        return NULL;
}

void logind_follow(Manager *m) {
        bool wanted = m->decision.candidate && m->decision.life != UCS_LIFE_UNSUPPORTED;
        Logind *l = m->logind;
        int r;

        if (!l || wanted == l->following)
                return;
        l->following = wanted;
        l->shutdown = sd_bus_slot_unref(l->shutdown);
        l->owner = sd_bus_slot_unref(l->owner);
        m->health.shutdown_begun = false;
        if (!wanted)
                return;
        r = sd_bus_match_signal_async(m->bus, &l->shutdown, NAME, OBJECT, INTERFACE, "PrepareForShutdown", on_change, on_installed, m);
        if (r >= 0) /* one that ends says no more, one that starts may know more */
                r = sd_bus_add_match_async(m->bus, &l->owner,
                                           "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                                           "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" NAME "'",
                                           on_change, on_installed, m);
        if (r < 0)
                log_warning("The signals of systemd-logind cannot be received: %s", strerror(-r));
        ask_later(m);
}
