/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The command line, from two tables: verbs and options. An option may stand before or behind its verb; what
 * follows "--" are operands. The same tables print --help, and `ucodectl --help` is what the completions and
 * the man page are checked against. */

#include "ctl/ctl.h"

typedef struct CtlOption {
        const char *name;
        char letter;          /* 0: none */
        const char *argument; /* what --help calls its value; NULL: it has none; "[X]": it may have one */
        const char *verbs;    /* that take it, by blanks; NULL: all */
        const char *help;
} CtlOption;

typedef struct CtlVerbRow {
        const char *name;
        const char *operands;           /* for --help, NULL: none */
        int min_operands, max_operands; /* -1: any number */
        CtlVerb run;
        const char *help;
} CtlVerbRow;

typedef struct CtlTables {
        const CtlOption *options;
        size_t n_options;
        const CtlVerbRow *verbs; /* the first is the one that runs when none is named */
        size_t n_verbs;
} CtlTables;

/* Read the command line into ctl->args. 0, or an exit code: reported already. The verb's operands are in
 * `ret_argv` (owned by ctl->args), [0] being its name. With --help and --version nothing is checked, and
 * `*ret_verb` is NULL when no verb is named. */
int ctl_args_parse(UcsCtl *ctl, const CtlTables *tables, int argc, char **argv, const CtlVerbRow **ret_verb,
                   int *ret_argc, char ***ret_argv);
CtlArgs *ctl_args_free(CtlArgs *a);

/* A mode of --json=. -EINVAL: no such mode. */
int ctl_parse_json(const char *mode, UcsJson *ret);

/* What --json= asks for, before the command line is read: an error in it is to be JSON too. */
UcsJson ctl_args_guess_json(int argc, char **argv);

/* Is `word` one of `words`, which blanks separate? */
bool ctl_word_in(const char *words, const char *word);

/* Numbers of the command line; reported already when it is not 0. */
int ctl_parse_count(UcsCtl *ctl, const char *what, const char *s, uint32_t min, uint32_t max, uint32_t *ret);

/* --now, --force= and --dry-run as flags of Apply and Explain; reported already when it is not 0. */
int ctl_parse_flags(UcsCtl *ctl, uint64_t *ret);
