/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl monitor: a line for each thing that changes, until it is interrupted. With --json each line is
 * one object: first a snapshot of everything, then "property", "signal", "started" and "stopped". Lines come
 * out one by one, for a pipe as for a terminal. */

#include <stdio.h>

#include "base/timefmt.h"
#include "ctl/ctl-loop.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-time.h"
#include "os/clock.h"

typedef struct Monitor {
        json_object *known[2]; /* the last values, of Manager and Stall; NULL: the daemon is not there */
} Monitor;

static const struct {
        const char *interface;
        const CtlField *fields;
} interfaces[] = {
        { CTL_MANAGER, ctl_manager_fields },
        { CTL_STALL, ctl_stall_fields },
};

static bool is_composite(const json_object *v) {
        return json_object_is_type(v, json_type_array) && json_object_array_length(v) > 0 &&
               json_object_is_type(json_object_array_get_idx(v, 0), json_type_object);
}

static char *value_text(UcsCtl *ctl, const CtlField *f, const json_object *v);

/* "window Outside … -; load …": elements and their members, in their order. */
static char *array_text(UcsCtl *ctl, const CtlField *f, const json_object *array) {
        _cleanup_text_ UcsText t = {};
        char *s;

        for (size_t i = 0; i < json_object_array_length(array); i++) {
                json_object *element = json_object_array_get_idx(array, i);
                const CtlField *member = f ? f->members : NULL;

                if (i > 0)
                        ucs_text_append(&t, is_composite(array) ? "; " : ", ");
                if (!json_object_is_type(element, json_type_object)) {
                        ucs_text_append(&t, json_object_get_string(element) ?: "none");
                        continue;
                }
                json_object_object_foreach(element, name, value) {
                        bool known = member && member->json && streq(member->json, name);
                        _cleanup_free_ char *text =
                                value ? value_text(ctl, known ? member : NULL, value) : NULL;

                        ucs_text_appendf(&t, "%s%s", t.length > 0 && t.data[t.length - 1] != ' ' ? " " : "",
                                         text ?: "-");
                        if (known)
                                member++;
                }
        }
        if (t.length == 0)
                ucs_text_append(&t, "none");
        return ucs_text_take(&t, &s, NULL) < 0 ? NULL : s;
}

/* A moment and a stall are for people; everything else as it is in JSON. */
static char *value_text(UcsCtl *ctl, const CtlField *f, const json_object *v) {
        char when[CTL_TIME_MAX], span[UCS_TIMESPAN_MAX];

        if (!v)
                return strdup("none");
        if (f && f->kind == CTL_MOMENT && json_object_is_type(v, json_type_int))
                return strdup(ctl_format_moment(ctl, when, json_object_get_uint64(v)));
        if (f && f->kind == CTL_SPAN && str_endswith(f->json, "_nsec") &&
            json_object_is_type(v, json_type_int))
                return strdup(ucs_format_stall(span, json_object_get_uint64(v)));
        if (json_object_is_type(v, json_type_boolean))
                return strdup(json_object_get_boolean(v) ? "yes" : "no");
        if (json_object_is_type(v, json_type_array))
                return array_text(ctl, f, v);
        return strdup(json_object_get_string((json_object *) v) ?: "");
}

static void line_text(UcsCtl *ctl, const char *what) {
        char when[CTL_TIME_MAX];

        ctl_say(ctl, "%s  %s", ctl_format_moment(ctl, when, ucs_clock_realtime_usec()), what);
        (void) fflush(stdout);
}

static json_object *line_new(const char *type) {
        json_object *o = json_object_new_object();

        (void) json_object_object_add(o, "time_usec", json_object_new_uint64(ucs_clock_realtime_usec()));
        (void) json_object_object_add(o, "type", json_object_new_string(type));
        return o;
}

static void line_json(UcsCtl *ctl, json_object *o) {
        ctl_print_json(ctl, o);
        (void) fflush(stdout);
}

static void tell_property(UcsCtl *ctl, const CtlField *fields, const char *name, json_object *before,
                          json_object *after) {
        _cleanup_free_ char *was = NULL, *is = NULL, *what = NULL;
        const CtlField *f = fields;

        if (ctl->json != UCS_JSON_OFF) {
                json_object *o = line_new("property");

                (void) json_object_object_add(o, "name", json_object_new_string(name));
                (void) json_object_object_add(o, "old", json_object_get(before));
                (void) json_object_object_add(o, "value", json_object_get(after));
                line_json(ctl, o);
                return;
        }
        while (f->json && !streq(f->json, name))
                f++;
        was = value_text(ctl, f->json ? f : NULL, before);
        is = value_text(ctl, f->json ? f : NULL, after);
        /* of what has members the new value is long enough */
        if (was && is &&
            (is_composite(before) || is_composite(after)
                     ? asprintf(&what, "%s: %s", name, is)
                     : asprintf(&what, "%s: %s %s %s", name, was, ctl_arrow(ctl), is)) < 0)
                what = NULL;
        line_text(ctl, what ?: "out of memory");
}

/* Take new values in, and say those that differ. */
static void learn(UcsCtl *ctl, Monitor *m, size_t i, json_object *changed) {
        json_object_object_foreach(changed, name, after) {
                json_object *before = NULL;

                (void) json_object_object_get_ex(m->known[i], name, &before);
                if (json_object_equal(before, after))
                        continue;
                tell_property(ctl, interfaces[i].fields, name, before, after);
                (void) json_object_object_add(m->known[i], name, json_object_get(after));
        }
}

static void on_changed(CtlLoop *l, sd_bus_message *message) {
        _cleanup_json_ json_object *changed = NULL;
        Monitor *m = l->userdata;
        const char *interface;

        if (sd_bus_message_read(message, "s", &interface) < 0)
                return;
        for (size_t i = 0; i < ELEMENTSOF(interfaces); i++)
                if (streq(interface, interfaces[i].interface) && m->known[i] &&
                    ctl_decode_dict(message, interfaces[i].fields, &changed) >= 0) {
                        learn(l->ctl, m, i, changed);
                        return;
                }
}

static void tell_signal(CtlLoop *l, const CtlSignal *s, sd_bus_message *message) {
        _cleanup_json_ json_object *arguments = json_object_new_object();
        _cleanup_text_ UcsText t = {};
        const CtlField *f = s->arguments;

        if (ctl_decode_members(message, s->arguments, arguments) < 0)
                return;
        if (l->ctl->json != UCS_JSON_OFF) {
                json_object *o = line_new("signal");

                (void) json_object_object_add(o, "name", json_object_new_string(s->json));
                (void) json_object_object_add(o, "arguments", TAKE_PTR(arguments));
                line_json(l->ctl, o);
                return;
        }
        ucs_text_append(&t, s->json);
        json_object_object_foreach(arguments, name, value) {
                _cleanup_free_ char *text = value_text(l->ctl, f->json ? f++ : NULL, value);

                ucs_text_appendf(&t, " %s=%s", name, text ?: "?");
        }
        line_text(l->ctl, t.data ?: "out of memory");
}

static void on_signal(CtlLoop *l, sd_bus_message *m) {
        if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Properties", "PropertiesChanged"))
                on_changed(l, m);
        for (const CtlSignal *s = ctl_signals; s->bus; s++)
                if (sd_bus_message_is_signal(m, s->interface, s->bus))
                        tell_signal(l, s, m);
}

static void forget(Monitor *m) {
        for (size_t i = 0; i < ELEMENTSOF(m->known); i++) {
                json_object_put(m->known[i]);
                m->known[i] = NULL;
        }
}

/* Everything as it is now, to compare with what comes. */
static int take_snapshot(CtlLoop *l) {
        Monitor *m = l->userdata;
        UcsCtl *ctl = l->ctl;
        int r;

        forget(m);
        for (size_t i = 0; i < ELEMENTSOF(interfaces); i++) {
                r = ctl_get_all(ctl, interfaces[i].interface, &m->known[i]);
                if (r != 0)
                        return r;
        }
        if (ctl->json != UCS_JSON_OFF) {
                json_object *o = line_new("snapshot");

                (void) json_object_object_add(o, "manager", json_object_get(m->known[0]));
                (void) json_object_object_add(o, "stall", json_object_get(m->known[1]));
                line_json(ctl, o);
        } else {
                _cleanup_free_ char *what = NULL;

                if (asprintf(&what, "state: %s, %s runs, on disk: %s",
                             ctl_string(m->known[0], "state") ?: "unknown",
                             ctl_revision(m->known[0], "running_revision"),
                             ctl_revision(m->known[0], "candidate_revision")) < 0)
                        what = NULL;
                line_text(ctl, what ?: "out of memory");
        }
        return 0;
}

static void tell_presence(UcsCtl *ctl, const char *type, const char *sentence) {
        if (ctl->json != UCS_JSON_OFF)
                line_json(ctl, line_new(type));
        else
                line_text(ctl, sentence);
}

static void on_owner(CtlLoop *l) {
        int r;

        if (!l->owner) {
                forget(l->userdata);
                tell_presence(l->ctl, "stopped", "ucodesyncd has stopped");
                return;
        }
        tell_presence(l->ctl, "started", "ucodesyncd has started");
        r = take_snapshot(l);
        if (r != 0)
                ctl_loop_end(l, r);
}

int verb_monitor(UcsCtl *ctl, int argc, char **argv) {
        Monitor m = {};
        CtlLoop l = { .on_signal = on_signal, .on_owner = on_owner, .userdata = &m };
        int r;

        if (ctl->json == UCS_JSON_PRETTY)
                ctl->json = UCS_JSON_SHORT; /* a line an object, whoever reads it */
        r = ctl_loop_begin(&l, ctl);
        if (r == 0 && l.owner)
                r = take_snapshot(&l);
        else if (r == 0)
                tell_presence(ctl, "stopped", "ucodesyncd is not running; waiting for it");
        if (r == 0) {
                r = ctl_loop_run(&l);
                if (l.interrupted)
                        r = UCS_EXIT_DONE;
                else if (l.disconnected)
                        r = ctl_fail_named(ctl, UCS_EXIT_FAILED, "NoBus", "the system bus is gone");
        }
        forget(&m);
        ctl_loop_done(&l);
        return r;
}
