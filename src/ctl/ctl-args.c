/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The command line; see ctl-args.h. getopt_long() does the reading, with the options of all verbs at once
 * (their names mean the same everywhere); whether the verb takes what was given is looked at afterwards,
 * when the verb is known. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "base/parse.h"
#include "core/policy/blocker.h"
#include "ctl/ctl-args.h"

#define HINT      " (see 'ucodectl --help')"
#define LONG_BASE 256 /* getopt's value of the option in row i: above all letters */

struct CtlArgs {
        const CtlTables *tables;
        const char **values; /* one a row of the options: NULL, not given */
        char **operands;     /* the verb and its operands, NULL-terminated; points into main's argv */
        char *first;         /* the name of the default verb, where none was named */
        struct option *longs;
        char *shorts;
};

CtlArgs *ctl_args_free(CtlArgs *a) {
        if (!a)
                return NULL;
        free(a->values);
        free(a->operands);
        free(a->first);
        free(a->longs);
        free(a->shorts);
        free(a);
        return NULL;
}

const char *ctl_option(const UcsCtl *ctl, const char *name) {
        const CtlTables *t = ctl->args->tables;

        for (size_t i = 0; i < t->n_options; i++)
                if (streq(t->options[i].name, name))
                        return ctl->args->values[i];
        return NULL;
}

bool ctl_word_in(const char *words, const char *word) {
        size_t n = strlen(word);

        for (const char *p = words; (p = strstr(p, word)); p += n)
                if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
                        return true;
        return false;
}

/* How many letters differ, of a typing mistake (insert, drop, replace): Levenshtein's distance of short
 * words. */
static size_t distance(const char *a, const char *b) {
        size_t row[32], n = strlen(b);

        if (n >= ELEMENTSOF(row) || strlen(a) >= ELEMENTSOF(row))
                return SIZE_MAX;
        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 1; a[i - 1]; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= n; j++) {
                        size_t replace = diagonal + (a[i - 1] != b[j - 1]),
                               gap = MIN(row[j], row[j - 1]) + 1;

                        diagonal = row[j];
                        row[j] = MIN(replace, gap);
                }
        }
        return row[n];
}

/* The verb or option that was meant, perhaps. `column` gives the i-th name. */
static const char *nearest(const CtlTables *t, const char *(*column)(const CtlTables *t, size_t i),
                           const char *word) {
        const char *best = NULL, *name;
        size_t least = 3;

        for (size_t i = 0; (name = column(t, i)); i++) {
                size_t d = distance(word, name);

                if (d < least && d < strlen(name)) {
                        least = d;
                        best = name;
                }
        }
        return best;
}

static const char *verb_column(const CtlTables *t, size_t i) {
        return i < t->n_verbs ? t->verbs[i].name : NULL;
}

static const char *option_column(const CtlTables *t, size_t i) {
        return i < t->n_options ? t->options[i].name : NULL;
}

static int fail_unknown(UcsCtl *ctl, const CtlTables *t, const char *kind, const char *dashes,
                        const char *word, const char *(*column)(const CtlTables *, size_t)) {
        const char *meant = nearest(t, column, word);

        if (meant)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                      "unknown %s '%s%s', did you mean '%s%s'?" HINT, kind, dashes, word,
                                      dashes, meant);
        return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "unknown %s '%s%s'" HINT, kind,
                              dashes, word);
}

int ctl_parse_json(const char *mode, UcsJson *ret) {
        static const struct {
                const char *name;
                UcsJson json;
        } modes[] = {
                { "", UCS_JSON_PRETTY },
                { "pretty", UCS_JSON_PRETTY },
                { "short", UCS_JSON_SHORT },
                { "off", UCS_JSON_OFF },
        };

        for (size_t i = 0; i < ELEMENTSOF(modes); i++)
                if (streq(modes[i].name, mode)) {
                        *ret = modes[i].json;
                        return 0;
                }
        return -EINVAL;
}

UcsJson ctl_args_guess_json(int argc, char **argv) {
        UcsJson json = UCS_JSON_OFF;

        for (int i = 1; i < argc && !streq(argv[i], "--"); i++) {
                const char *mode = str_startswith(argv[i], "--json");

                if (mode && (*mode == '=' || *mode == '\0') &&
                    ctl_parse_json(mode + (*mode == '='), &json) < 0)
                        json = UCS_JSON_PRETTY;
        }
        return json;
}

/* The options of all verbs in getopt's form. 0 or -ENOMEM. */
static int args_new(const CtlTables *t, int argc, CtlArgs **ret) {
        CtlArgs *a = new0(CtlArgs, 1);
        char *p;

        if (!a)
                return -ENOMEM;
        a->tables = t;
        a->values = new0(const char *, t->n_options);
        a->operands = new0(char *, argc + 2);
        a->first = strdup(t->verbs[0].name);
        a->longs = new0(struct option, t->n_options + 1);
        a->shorts = p = new0(char, 2 * t->n_options + 2);
        if (!a->values || !a->operands || !a->first || !a->longs || !a->shorts) {
                ctl_args_free(a);
                return -ENOMEM;
        }
        *p++ = ':'; /* tell a missing value from an unknown option */
        for (size_t i = 0; i < t->n_options; i++) {
                const CtlOption *o = &t->options[i];

                a->longs[i] = (struct option){
                        .name = o->name,
                        .has_arg = !o->argument            ? no_argument
                                   : o->argument[0] == '[' ? optional_argument
                                                           : required_argument,
                        .val = LONG_BASE + (int) i,
                };
                if (o->letter) {
                        *p++ = o->letter;
                        if (o->argument)
                                *p++ = ':';
                }
        }
        *ret = a;
        return 0;
}

static int fail_option(UcsCtl *ctl, const CtlTables *t, int c, char **argv) {
        const char *word = argv[optind - 1];

        if (c == ':')
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                      "option '%s' needs a value" HINT, word);
        if (optopt >= LONG_BASE)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                      "option '--%s' takes no value" HINT,
                                      t->options[optopt - LONG_BASE].name);
        if (optopt) {
                char letter[] = { (char) optopt, '\0' };

                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "unknown option '-%s'" HINT,
                                      letter);
        }
        {
                _cleanup_free_ char *name = strdup(word + 2);

                if (!name)
                        return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
                name[strcspn(name, "=")] = '\0';
                return fail_unknown(ctl, t, "option", "--", name, option_column);
        }
}

/* The row of what getopt found. */
static size_t option_row(const CtlTables *t, int c) {
        if (c >= LONG_BASE)
                return (size_t) (c - LONG_BASE);
        for (size_t i = 0; i < t->n_options; i++)
                if (t->options[i].letter == c)
                        return i;
        return 0; /* getopt finds only letters of the table */
}

static int check_verb(UcsCtl *ctl, const CtlTables *t, const CtlVerbRow *verb, int n_operands) {
        for (size_t i = 0; i < t->n_options; i++)
                if (ctl->args->values[i] && t->options[i].verbs &&
                    !ctl_word_in(t->options[i].verbs, verb->name))
                        return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                              "'%s' takes no option --%s" HINT, verb->name,
                                              t->options[i].name);
        if (n_operands < verb->min_operands)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "'%s' needs %s" HINT,
                                      verb->name, verb->operands);
        if (verb->max_operands >= 0 && n_operands > verb->max_operands)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                      "'%s' does not take '%s'" HINT, verb->name,
                                      ctl->args->operands[1 + verb->max_operands]);
        return 0;
}

int ctl_args_parse(UcsCtl *ctl, const CtlTables *t, int argc, char **argv, const CtlVerbRow **ret_verb,
                   int *ret_argc, char ***ret_argv) {
        const CtlVerbRow *verb = NULL;
        int c, n = 0, r;
        CtlArgs *a;

        if (args_new(t, argc, &ctl->args) < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        a = ctl->args;

        opterr = 0;
        while ((c = getopt_long(argc, argv, a->shorts, a->longs, NULL)) != -1) {
                if (c == '?' || c == ':')
                        return fail_option(ctl, t, c, argv);
                a->values[option_row(t, c)] = optarg ?: "";
        }

        if (optind == argc)
                a->operands[n++] = a->first;
        while (optind < argc)
                a->operands[n++] = argv[optind++];

        for (size_t i = 0; i < t->n_verbs && !verb; i++)
                if (streq(t->verbs[i].name, a->operands[0]))
                        verb = &t->verbs[i];
        if (ctl_option(ctl, "help") || ctl_option(ctl, "version"))
                verb = a->operands[0] == a->first ? NULL : verb;
        else {
                if (!verb)
                        return fail_unknown(ctl, t, "verb", "", a->operands[0], verb_column);
                r = check_verb(ctl, t, verb, n - 1);
                if (r != 0)
                        return r;
        }
        *ret_verb = verb;
        *ret_argc = n;
        *ret_argv = a->operands;
        return 0;
}

int ctl_parse_count(UcsCtl *ctl, const char *what, const char *s, uint32_t min, uint32_t max,
                    uint32_t *ret) {
        uint32_t v;

        if (ucs_parse_u32(s, 10, &v) < 0 || v < min || v > max)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                      "%s: '%s' is not a number from %u to %u", what, s, min, max);
        *ret = v;
        return 0;
}

static int parse_force(UcsCtl *ctl, const char *list, uint64_t *ret) {
        _cleanup_free_ char *copy = strdup(list);
        char *rest = copy, *word;
        uint64_t flags = 0;

        if (!copy)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        while ((word = strsep(&rest, ","))) {
                uint64_t flag;

                if (ucs_apply_flag_from_string(word, &flag) < 0 || flag == UCS_APPLY_DRY_RUN) {
                        _cleanup_text_ UcsText known = {};

                        for (uint64_t f = 1; f < _UCS_APPLY_ALL; f <<= 1)
                                if (f != UCS_APPLY_DRY_RUN)
                                        ucs_text_appendf(&known, "%s%s", known.length > 0 ? ", " : "",
                                                         ucs_apply_flag_to_string(f));
                        return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                              "--force: '%s' is none of %s", word, known.data);
                }
                flags |= flag;
        }
        *ret |= flags;
        return 0;
}

int ctl_parse_flags(UcsCtl *ctl, uint64_t *ret) {
        const char *force = ctl_option(ctl, "force");
        uint64_t flags = 0;
        int r;

        if (ctl_option(ctl, "now"))
                flags |= UCS_APPLY_IGNORE_SCHEDULE | UCS_APPLY_IGNORE_LOAD;
        if (ctl_option(ctl, "dry-run"))
                flags |= UCS_APPLY_DRY_RUN;
        if (force) {
                r = parse_force(ctl, force, &flags);
                if (r != 0)
                        return r;
        }
        *ret = flags;
        return 0;
}
