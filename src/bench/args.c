/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The command line; see args.h. Long options only: each is a row of the table in main.c. */

#include <errno.h>
#include <stdio.h>

#include "bench/args.h"
#include "bench/report.h"

#define HELP_COLUMNS 26

static bool is_word_of(const char *words, const char *word) {
        const size_t n = strlen(word);

        for (const char *p = words; (p = strstr(p, word)); p += n)
                if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
                        return true;
        return false;
}

static void help_line(const char *indent, const char *name, const char *argument, const char *text) {
        char left[128];

        (void) snprintf(left, sizeof(left), "%s%s%s%s", indent, name,
                        argument && argument[0] != '[' && indent[strlen(indent) - 1] == '-' ? "=" : "", argument ?: "");
        (void) printf("%-*s %s\n", HELP_COLUMNS, left, text);
}

static void help(const BenchTables *t) {
        (void) printf("ucodebench VERB [OPTIONS]\n\nMicrobenchmarks of what a microcode load costs, and of the ways to see it.\n\nVerbs:\n");
        for (size_t i = 0; i < t->n_verbs; i++) {
                const BenchVerbRow *v = &t->verbs[i];
                char name[64];

                (void) snprintf(name, sizeof(name), "%s%s%s", v->name, v->operands ? " " : "", v->operands ?: "");
                help_line("  ", name, NULL, v->help);
                for (size_t k = 0; k < t->n_options; k++)
                        if (t->options[k].verbs && is_word_of(t->options[k].verbs, v->name))
                                help_line("      --", t->options[k].name, t->options[k].argument, t->options[k].help);
        }
        (void) printf("\nOptions:\n");
        for (size_t k = 0; k < t->n_options; k++)
                if (!t->options[k].verbs)
                        help_line("  --", t->options[k].name, t->options[k].argument, t->options[k].help);
        (void) printf("\nExit: 0 done, 1 failed, 2 refused on a busy host, 3 cannot be measured here; of probe, what COMMAND returns.\n"
                      "See ucodebench(1).\n");
}

static int bad(const Bench *b, const char *format, ...) _printf_(2, 3);
static int bad(const Bench *b, const char *format, ...) {
        char text[256];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        return bench_fail(b, BENCH_FAILED, "InvalidArgument", "%s (see 'ucodebench --help')", text);
}

/* "--name=value" or "--name value" at argv[*i]; moves `*i` to the last word that it took. */
static int take_option(Bench *b, const BenchTables *t, int argc, char **argv, int *i, const BenchOption **ret_option,
                       const char **ret_value) {
        const char *word = argv[*i] + 2, *equals = strchr(word, '=');
        const size_t n = equals ? (size_t) (equals - word) : strlen(word);
        const BenchOption *o = NULL;

        for (size_t k = 0; k < t->n_options && !o; k++)
                if (strlen(t->options[k].name) == n && strncmp(t->options[k].name, word, n) == 0)
                        o = &t->options[k];
        if (!o)
                return bad(b, "unknown option '--%.*s'", (int) MIN(n, (size_t) 64), word);
        if (equals && !o->argument)
                return bad(b, "--%s takes no value", o->name);
        *ret_value = equals ? equals + 1 : "";
        if (!equals && o->argument && o->argument[0] != '[') {
                if (*i + 1 >= argc)
                        return bad(b, "--%s wants %s", o->name, o->expected);
                *ret_value = argv[++*i];
        }
        *ret_option = o;
        return 0;
}

int bench_args_parse(Bench *b, const BenchTables *t, int argc, char **argv, const BenchVerbRow **ret_verb, int *ret_argc,
                     char ***ret_argv) {
        const BenchOption *given[64];
        const BenchVerbRow *verb = NULL;
        size_t n_given = 0;
        int i, r;

        *ret_verb = NULL;
        for (i = 1; i < argc; i++) {
                const BenchOption *o = NULL;
                const char *value;

                if (streq(argv[i], "--")) {
                        i++;
                        break;
                }
                if (streq(argv[i], "-h") || streq(argv[i], "--help")) {
                        help(t);
                        return BENCH_DONE;
                }
                if (streq(argv[i], "--version")) {
                        (void) puts("ucodebench " UCS_VERSION);
                        return BENCH_DONE;
                }
                if (argv[i][0] != '-' || argv[i][1] == '\0') {
                        if (verb)
                                break;
                        for (size_t k = 0; k < t->n_verbs; k++)
                                if (streq(t->verbs[k].name, argv[i]))
                                        verb = &t->verbs[k];
                        if (!verb)
                                return bad(b, "unknown verb '%.64s'", argv[i]);
                        continue;
                }
                if (argv[i][1] != '-')
                        return bad(b, "unknown option '%.64s'", argv[i]);
                r = take_option(b, t, argc, argv, &i, &o, &value);
                if (r != 0)
                        return r;
                if (o->set(b, value) < 0)
                        return bad(b, "--%s: '%.64s' is not %s", o->name, value, o->expected);
                if (n_given == ELEMENTSOF(given))
                        return bad(b, "too many options");
                given[n_given++] = o;
        }
        if (!verb)
                return bad(b, "which benchmark? A verb is missing");
        for (size_t k = 0; k < n_given; k++)
                if (given[k]->verbs && !is_word_of(given[k]->verbs, verb->name))
                        return bad(b, "%s takes no --%s", verb->name, given[k]->name);
        if (i < argc && !verb->operands)
                return bad(b, "%s takes no '%.64s'", verb->name, argv[i]);
        if (i >= argc && verb->operands)
                return bad(b, "%s wants %s", verb->name, verb->operands);
        *ret_verb = verb;
        *ret_argc = argc - i;
        *ret_argv = argv + i;
        return BENCH_DONE;
}
