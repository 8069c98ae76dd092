/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl: the client of ucodesyncd. Two tables, of verbs and of options, and what they have in common;
 * each verb is a file of its own. It decides nothing: what may be done is for the daemon to say. */

#include <errno.h>
#include <stdio.h>

#include "ctl/ctl-args.h"
#include "ctl/ctl-text.h"

#define FORCE_VERBS "apply explain"

static const CtlOption options[] = {
        { "now", 0, NULL, FORCE_VERBS, "do not wait for a window and for low load" },
        { "force", 0, "FLAG,...", FORCE_VERBS, "get past what holds it back, see ucodectl(8)" },
        { "dry-run", 0, NULL, FORCE_VERBS, "decide and check everything, write nothing" },
        { "wait", 0, NULL, "apply", "stay until it has ended, and say how" },
        { "next", 0, "N", "windows", "how many (5)" },
        { "after", 0, "TIME", "windows", "from then on, as '2026-12-05 02:00[ ZONE]' or '@SECONDS' (now)" },
        { "check", 0, "EXPRESSION", "windows", "explain an expression instead, without a daemon" },
        { "per-cpu", 0, NULL, "stall", "a row and a bar a CPU" },
        { "sort", 0, "ORDER", "stall", "rows by cpu, entry or cluster (cpu)" },
        { "svg", 0, "FILE", "stall", "write the bars as a picture; '-': to stdout" },
        { "lines", 'n', "N", "history", "how many (all)" },
        { "for", 0, "SIGNATURE[/MASK[/REVISION]]", "inspect", "judge the files for this CPU" },
        { "json", 0, "[=MODE]", NULL, "print JSON, nothing else: pretty, short, off" },
        { "root", 0, "DIR", NULL, "take files from below DIR instead of /" },
        { "no-ask-password", 0, NULL, NULL, "do not have polkit ask for a password" },
        { "no-legend", 0, NULL, NULL, "leave headings and summaries out" },
        { "no-pager", 0, NULL, NULL, "taken for company: there is no pager" },
        { "quiet", 'q', NULL, NULL, "print errors only" },
        { "help", 'h', NULL, NULL, "print this, or the part of it about a verb" },
        { "version", 0, NULL, NULL, "print the version" },
};

static const CtlVerbRow verbs[] = {
        { "status", NULL, 0, 0, verb_status, "What runs, what waits and why, how long it took (default)" },
        { "check", NULL, 0, 0, verb_check, "Read the firmware directories now" },
        { "explain", NULL, 0, 0, verb_explain, "What a load now would meet" },
        { "apply", NULL, 0, 0, verb_apply, "Ask for the update to be loaded" },
        { "cancel", "ID", 1, 1, verb_cancel, "Take a request back" },
        { "acknowledge", "[SHA256]", 0, 1, verb_acknowledge, "Allow a file again that failed here" },
        { "windows", NULL, 0, 0, verb_windows, "The maintenance windows that come" },
        { "processors", NULL, 0, 0, verb_processors, "What every CPU runs" },
        { "stall", NULL, 0, 0, verb_stall, "For how long the machine stood still" },
        { "history", NULL, 0, 0, verb_history, "What was done to this machine" },
        { "monitor", NULL, 0, 0, verb_monitor, "Print what changes, until interrupted" },
        { "inspect", "FILE|DIR...", 1, -1, verb_inspect, "What a microcode file holds, without a daemon" },
        { "cat-config", NULL, 0, 0, verb_cat_config, "The configuration of the next start or reload, and from where" },
        { "rules", NULL, 0, 0, verb_rules, "The rules about updates of the next start or reload, and from where" },
        { "log-level", "[LEVEL]", 0, 1, verb_log_level, "Show or set how much the daemon logs" },
};

static const CtlTables tables = { options, ELEMENTSOF(options), verbs, ELEMENTSOF(verbs) };

#define HELP_COLUMNS 30U

/* One line of --help: what to type, and behind HELP_COLUMNS what it does. */
static void help_line(const UcsCtl *ctl, const char *indent, const char *left, const char *right) {
        _cleanup_free_ char *a = ctl_clean(ctl, left), *b = ctl_clean(ctl, right);
        size_t columns;

        if (!a || !b)
                return;
        columns = strlen(indent) + ctl_text_columns(a, strlen(a));
        (void) printf("%s%s", indent, a);
        if (columns >= HELP_COLUMNS) {
                (void) putchar('\n');
                columns = 0;
        }
        (void) printf("%*s%s\n", (int) (HELP_COLUMNS - columns), "", b);
}

static void help_option(const UcsCtl *ctl, const char *indent, const CtlOption *o) {
        _cleanup_text_ UcsText t = {};

        if (o->letter)
                ucs_text_appendf(&t, "-%c ", o->letter);
        ucs_text_appendf(&t, "--%s", o->name);
        if (o->argument)
                ucs_text_appendf(&t, "%s%s", o->argument[0] == '[' ? "" : "=", o->argument);
        help_line(ctl, indent, t.data ?: o->name, o->help);
}

static void help_verb(const UcsCtl *ctl, const CtlVerbRow *v) {
        _cleanup_text_ UcsText t = {};

        ucs_text_appendf(&t, "%s%s%s", v->name, v->operands ? " " : "", v->operands ?: "");
        help_line(ctl, "  ", t.data ?: v->name, v->help);
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (options[i].verbs && ctl_word_in(options[i].verbs, v->name))
                        help_option(ctl, "      ", &options[i]);
}

static int help(const UcsCtl *ctl, const CtlVerbRow *only) {
        if (only)
                (void) printf("ucodectl %s [OPTIONS]\n\n", only->name);
        else
                (void) printf(
                        "ucodectl [VERB] [OPTIONS]\n\nAsk ucodesyncd about the microcode of this machine, or tell it what to do.\n\nVerbs:\n");
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (!only || only == &verbs[i])
                        help_verb(ctl, &verbs[i]);
        (void) printf("\nOptions:\n");
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (!options[i].verbs)
                        help_option(ctl, "  ", &options[i]);
        (void) printf(
                "\nExit: 0 done, 1 failed, 2 nothing to do or blocked, 3 not supported here. See ucodectl(8).\n");
        return UCS_EXIT_DONE;
}

static int run(UcsCtl *ctl, int argc, char **argv) {
        const CtlVerbRow *verb;
        const char *mode;
        char **verb_argv;
        int r, verb_argc;

        ctl->json = ctl_args_guess_json(argc, argv);
        r = ctl_args_parse(ctl, &tables, argc, argv, &verb, &verb_argc, &verb_argv);
        if (r != 0)
                return r;
        if (ctl_option(ctl, "help"))
                return help(ctl, verb);
        if (ctl_option(ctl, "version")) {
                (void) puts("ucodectl " UCS_VERSION);
                return UCS_EXIT_DONE;
        }
        mode = ctl_option(ctl, "json");
        ctl->json = UCS_JSON_OFF;
        if (mode && ctl_parse_json(mode, &ctl->json) < 0) {
                ctl->json = UCS_JSON_PRETTY;
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                      "--json: '%s' is none of pretty, short, off", mode);
        }
        ctl->quiet = ctl_option(ctl, "quiet");
        ctl->legend = !ctl_option(ctl, "no-legend");
        ctl->ask_password = !ctl_option(ctl, "no-ask-password");
        ctl->root = ctl_option(ctl, "root");
        return verb->run(ctl, verb_argc, verb_argv);
}

int main(int argc, char **argv) {
        UcsCtl ctl;
        int r;

        ctl_init(&ctl);
        r = run(&ctl, argc, argv);
        /* what could not be written was not said */
        if (fflush(stdout) != 0 || ferror(stdout)) {
                (void) fprintf(stderr, "ucodectl: the output cannot be written: %s\n", strerror(errno));
                r = UCS_EXIT_FAILED;
        }
        ctl_done(&ctl);
        ctl.args = ctl_args_free(ctl.args);
        return r;
}
