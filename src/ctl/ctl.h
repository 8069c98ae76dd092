/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* ucodectl: what every verb needs. A verb is a row in main.c's table and a file verb-NAME.c; it prints a table (libsmartcols) or one JSON
 * value (json-c), and returns an exit code. Errors go to stderr, or as JSON to stdout under --json. */

#include <json-c/json.h>
#include <systemd/sd-bus.h>

#include "base/str.h"

typedef enum UcsExit {
        UCS_EXIT_DONE = 0,
        UCS_EXIT_FAILED = 1,
        UCS_EXIT_NOTHING = 2, /* nothing to do, or blocked */
        UCS_EXIT_UNSUPPORTED = 3,
} UcsExit;

typedef enum UcsJson {
        UCS_JSON_OFF,
        UCS_JSON_PRETTY,
        UCS_JSON_SHORT,
} UcsJson;

typedef struct UcsCtl {
        UcsJson json;
        bool quiet, legend, colors, unicode, ask_password;
        const char *root; /* --root=, NULL: the machine's own */
        sd_bus *bus;      /* opened by ctl_bus() */
} UcsCtl;

/* The system bus, connected on first use. -errno, reported already. */
int ctl_bus(UcsCtl *ctl, sd_bus **ret);

/* Print one JSON value to stdout as the options say, and put the object. */
void ctl_print_json(UcsCtl *ctl, json_object *o);

/* Report one error (sentence to stderr, or {"error": …} to stdout) and return `code`. */
int ctl_fail(UcsCtl *ctl, UcsExit code, const char *format, ...) _printf_(3, 4);

/* The same for a failed bus call: names the method, maps org.ucodesync1.Error.* to an exit code. */
int ctl_fail_bus(UcsCtl *ctl, const char *what, int r, const sd_bus_error *error);

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
int verb_stall(UcsCtl *ctl, int argc, char **argv);
int verb_status(UcsCtl *ctl, int argc, char **argv);
int verb_windows(UcsCtl *ctl, int argc, char **argv);
int verb_acknowledge(UcsCtl *ctl, int argc, char **argv);
int verb_log_level(UcsCtl *ctl, int argc, char **argv);
