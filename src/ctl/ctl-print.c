/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How ucodectl speaks: the terminal and the locale it speaks to, one line, one JSON value, one error. Under
 * --json nothing but one JSON value goes to stdout, an error too; without it errors go to stderr. */

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/parse.h"
#include "ctl/ctl-text.h"

#define WIDTH_DEFAULT 80U
#define WIDTH_MIN     20U
#define WIDTH_MAX     1000U

static size_t terminal_width(void) {
        const char *columns = getenv("COLUMNS");
        struct winsize w = {};
        uint32_t n = 0;

        if (!columns || ucs_parse_u32(columns, 10, &n) < 0 || n == 0)
                n = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) >= 0 && w.ws_col > 0 ? w.ws_col : WIDTH_DEFAULT;
        return n < WIDTH_MIN ? WIDTH_MIN : MIN(n, WIDTH_MAX);
}

void ctl_init(UcsCtl *ctl) {
        const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

        /* Only what characters are: numbers and messages are the same everywhere. */
        (void) setlocale(LC_CTYPE, "");

        *ctl = (UcsCtl){
                .legend = true,
                .ask_password = true,
                .terminal = isatty(STDOUT_FILENO) > 0,
                .unicode = streq(nl_langinfo(CODESET), "UTF-8"),
        };
        ctl->colors = ctl->terminal && !(no_color && *no_color) && term && !streq(term, "dumb");
        ctl->width = ctl->terminal ? terminal_width() : SIZE_MAX;
}

void ctl_done(UcsCtl *ctl) {
        ctl->bus = sd_bus_flush_close_unref(ctl->bus);
        ctl->zone = ucs_zone_unref(ctl->zone);
}

static void print_clean(UcsCtl *ctl, FILE *f, const char *prefix, const char *text) {
        _cleanup_free_ char *clean = ctl_clean(ctl, text);

        (void) fprintf(f, "%s%s\n", prefix, clean ?: "out of memory");
}

void ctl_say(UcsCtl *ctl, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int r;

        if (ctl->quiet || ctl->json != UCS_JSON_OFF)
                return;
        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0)
                text = NULL;
        print_clean(ctl, stdout, "", text ?: "out of memory");
}

/* Also for errors, which --quiet does not silence. */
static void print_json_always(UcsCtl *ctl, json_object *o) {
        int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
        _cleanup_free_ char *text = NULL;

        if (ctl->json == UCS_JSON_PRETTY)
                flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
        if (ctl_json_escape(json_object_to_json_string_ext(o, flags), &text) >= 0)
                (void) puts(text);
        json_object_put(o);
}

void ctl_print_json(UcsCtl *ctl, json_object *o) {
        if (ctl->quiet)
                json_object_put(o);
        else
                print_json_always(ctl, o);
}

static void report(UcsCtl *ctl, UcsExit code, const char *name, const char *text) {
        json_object *error, *o;

        if (ctl->json == UCS_JSON_OFF) {
                (void) fflush(stdout);
                print_clean(ctl, stderr, "ucodectl: ", text);
                return;
        }
        error = json_object_new_object();
        (void) json_object_object_add(error, "name", json_object_new_string(name));
        (void) json_object_object_add(error, "message", json_object_new_string(text));
        (void) json_object_object_add(error, "exit", json_object_new_int(code));
        o = json_object_new_object();
        (void) json_object_object_add(o, "error", error);
        print_json_always(ctl, o);
}

static void report_va(UcsCtl *ctl, UcsExit code, const char *name, const char *format, va_list ap) {
        _cleanup_free_ char *text = NULL;

        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        report(ctl, code, name, text ?: "out of memory");
}

int ctl_fail_named(UcsCtl *ctl, UcsExit code, const char *name, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        report_va(ctl, code, name, format, ap);
        va_end(ap);
        return code;
}

int ctl_fail(UcsCtl *ctl, UcsExit code, const char *format, ...) {
        static const char *const names[] = {
                [UCS_EXIT_DONE] = "Done",
                [UCS_EXIT_FAILED] = "Failed",
                [UCS_EXIT_NOTHING] = "Nothing",
                [UCS_EXIT_UNSUPPORTED] = "NotSupported",
        };
        va_list ap;

        va_start(ap, format);
        report_va(ctl, code, names[code], format, ap);
        va_end(ap);
        return code;
}
