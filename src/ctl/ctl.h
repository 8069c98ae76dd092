/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* ucodectl: what every verb needs. A verb is a row in main.c's table and a file verb-NAME.c; it prints a
 * table (libsmartcols) or one JSON value (json-c), and returns an exit code. Errors go to stderr, or as JSON
 * to stdout under --json.
 *
 * Further helpers, one idea each: ctl-args.h (options), ctl-decode.h (bus answers as JSON values),
 * ctl-screen.h (rows of label and text), ctl-table.h (tables), ctl-time.h (moments in the local zone),
 * ctl-loop.h (waiting for signals). */

#include <json-c/json.h>
#include <systemd/sd-bus.h>

#include "base/str.h"
#include "core/schedule/zone.h"

#define CTL_BUS_NAME "org.ucodesync1"
#define CTL_BUS_PATH "/org/ucodesync1"
#define CTL_MANAGER  "org.ucodesync1.Manager"
#define CTL_STALL    "org.ucodesync1.Stall"

typedef enum UcsExit {
        UCS_EXIT_DONE = 0,
        UCS_EXIT_FAILED = 1,
        UCS_EXIT_NOTHING = 2, /* nothing to do or to show, or blocked */
        UCS_EXIT_UNSUPPORTED = 3,
} UcsExit;

typedef enum UcsJson {
        UCS_JSON_OFF,
        UCS_JSON_PRETTY,
        UCS_JSON_SHORT,
} UcsJson;

typedef struct CtlArgs CtlArgs;

typedef struct UcsCtl {
        UcsJson json;
        bool quiet, legend, colors, unicode, ask_password;
        bool terminal;    /* stdout is one */
        size_t width;     /* columns to fill; SIZE_MAX: not a terminal, lines are as long as they are */
        const char *root; /* --root=, NULL: the machine's own */
        sd_bus *bus;      /* opened by ctl_bus() */
        UcsZone *zone;    /* opened by ctl_zone() */
        CtlArgs *args;    /* the options of the verb, see ctl_option() */
} UcsCtl;

/* Look at the terminal, the locale and the environment (NO_COLOR, TERM, COLUMNS). */
void ctl_init(UcsCtl *ctl);
void ctl_done(UcsCtl *ctl);

/* The system bus, connected on first use. -errno, reported already. */
int ctl_bus(UcsCtl *ctl, sd_bus **ret);

/* Call a method of org.ucodesync1.Manager. 0, or an exit code: reported already. `ret` may be NULL. */
int ctl_call(UcsCtl *ctl, sd_bus_message **ret, const char *member, const char *types, ...);

/* Print one JSON value to stdout as the options say, and put the object. Nothing under --quiet. */
void ctl_print_json(UcsCtl *ctl, json_object *o);

/* Print one line to stdout, made harmless for a terminal; nothing under --quiet or --json. */
void ctl_say(UcsCtl *ctl, const char *format, ...) _printf_(2, 3);

/* Report one error (sentence to stderr, or {"error": …} to stdout) and return `code`. */
int ctl_fail(UcsCtl *ctl, UcsExit code, const char *format, ...) _printf_(3, 4);

/* The same with the name that scripts match: "InvalidArgument", "NotRunning", or that of a D-Bus error. */
int ctl_fail_named(UcsCtl *ctl, UcsExit code, const char *name, const char *format, ...) _printf_(4, 5);

/* The same for a failed bus call: names the method, maps org.ucodesync1.Error.* to an exit code. */
int ctl_fail_bus(UcsCtl *ctl, const char *what, int r, const sd_bus_error *error);

/* A copy of `s` that may go to a terminal: control characters, direction overrides and broken UTF-8 become
 * '?', and so does what the locale cannot show. NULL only without memory. */
char *ctl_clean(const UcsCtl *ctl, const char *s);

/* An option of this verb, as the table in main.c declares it: its value, "" for one without, NULL when it
 * was not given. Verbs see no options in `argv`: it holds the verb and its operands. */
const char *ctl_option(const UcsCtl *ctl, const char *name);

typedef int (*CtlVerb)(UcsCtl *ctl, int argc, char **argv); /* argv[0] is the verb */

int verb_apply(UcsCtl *ctl, int argc, char **argv);
int verb_cancel(UcsCtl *ctl, int argc, char **argv);
int verb_cat_config(UcsCtl *ctl, int argc, char **argv);
int verb_check(UcsCtl *ctl, int argc, char **argv);
int verb_explain(UcsCtl *ctl, int argc, char **argv);
int verb_history(UcsCtl *ctl, int argc, char **argv);
int verb_inspect(UcsCtl *ctl, int argc, char **argv);
int verb_monitor(UcsCtl *ctl, int argc, char **argv);
int verb_processors(UcsCtl *ctl, int argc, char **argv);
int verb_rules(UcsCtl *ctl, int argc, char **argv);
int verb_stall(UcsCtl *ctl, int argc, char **argv);
int verb_status(UcsCtl *ctl, int argc, char **argv);
int verb_windows(UcsCtl *ctl, int argc, char **argv);
int verb_acknowledge(UcsCtl *ctl, int argc, char **argv);
int verb_log_level(UcsCtl *ctl, int argc, char **argv);
