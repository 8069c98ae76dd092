/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a line is, and what libinih must not see; see ini-lines.h. The first thing that is wrong ends it. */

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "os/ini-lines.h"

/* libinih's own limits (ini.h: INI_MAX_LINE 200, with the NUL byte): longer lines are cut without a word. */
#define LINE_MAX_BYTES 199U

/* MAX_SECTION of ini.c, with the NUL byte: what is longer is cut. */
#define SECTION_MAX_BYTES 49U

/* One file that is being read, line by line. */
typedef struct Reader {
        const char *path;
        const char *next; /* the text that is left */
        unsigned line;    /* of what the reader gave out last; 0: nothing yet */
        const UcsIniHandler *handler;
        void *userdata;
        UcsError error; /* the first one */
} Reader;

static int line_error(Reader *rd, int code, const char *format, ...) _printf_(3, 4);
static int line_error(Reader *rd, int code, const char *format, ...) {
        char text[sizeof(rd->error.text)];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        return ucs_error_set(&rd->error, code, "%s:%u: %s", rd->path, rd->line, text);
}

static bool is_blank(char c) {
        return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* "[Name]" and nothing behind it but a comment. */
static int check_section(Reader *rd, const char *s, size_t n) {
        const char *end = memchr(s, ']', n);
        char name[LINE_MAX_BYTES + 1], origin[FILENAME_MAX];
        UcsError e = {};
        size_t k;
        int r;

        if (!end)
                return line_error(rd, -EINVAL, "'%.*s' has no end, expected [Section]", (int) MIN(n, 60U),
                                  s);
        for (k = (size_t) (end - s) + 1; k < n && is_blank(s[k]); k++)
                ;
        if (k < n && !(s[k] == ';' && is_blank(s[k - 1])))
                return line_error(
                        rd, -EINVAL,
                        "there is something behind '%.*s', expected nothing or a comment after ' ;'",
                        (int) MIN((size_t) (end - s) + 1, 60U), s);
        (void) snprintf(name, sizeof(name), "%.*s", (int) (end - s - 1), s + 1);
        (void) snprintf(origin, sizeof(origin), "%s:%u", rd->path, rd->line);
        r = rd->handler->section(rd->userdata, name, origin, &e);
        if (r < 0)
                return line_error(rd, r == -ENOENT ? -EINVAL : r, "%s", e.text);
        if (strlen(name) > SECTION_MAX_BYTES)
                return line_error(rd, -EINVAL, "the name of the section has %zu bytes, expected at most %u", strlen(name), SECTION_MAX_BYTES);
        return 0;
}

/* Everything that libinih would take for something else. `s` has no newline. */
static int check_line(Reader *rd, const char *s, size_t n) {
        size_t start, sign;

        if (n > LINE_MAX_BYTES)
                return line_error(rd, -EINVAL, "the line has %zu bytes, expected at most %u", n,
                                  LINE_MAX_BYTES);
        if (rd->line == 1 && n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
                s += 3;
                n -= 3;
        }
        for (start = 0; start < n && is_blank(s[start]); start++)
                ;
        if (start == n || s[start] == '#' || s[start] == ';')
                return 0;
        if (start > 0)
                return line_error(
                        rd, -EINVAL,
                        "the line begins with a blank, expected Key=value or [Section] at its start");
        if (s[0] == '[')
                return check_section(rd, s, n);
        for (sign = 0; sign < n && s[sign] != '=' && s[sign] != ':'; sign++)
                ;
        if (sign == n || s[sign] != '=' || sign == 0)
                return line_error(rd, -EINVAL, "'%.*s' is no assignment, expected Key=value",
                                  (int) MIN(n, 60U), s);
        return 0;
}

/* The next line for libinih, checked. NULL at the end, and after an error. */
static char *reader_line(char *buf, int size, void *userdata) {
        Reader *rd = userdata;
        size_t n;

        if (!*rd->next || rd->error.code != 0)
                return NULL;
        rd->line++;
        n = strcspn(rd->next, "\n");
        if (check_line(rd, rd->next, n) < 0)
                return NULL;
        if (n >= (size_t) size) { /* a libinih that was built with an even smaller buffer */
                (void) line_error(rd, -EINVAL, "the line has %zu bytes, expected at most %d", n, size - 1);
                return NULL;
        }
        memcpy(buf, rd->next, n);
        buf[n] = '\0';
        rd->next += n + (rd->next[n] == '\n');
        return buf;
}

/* One assignment. 0 tells libinih of a failure, 1 of success. */
static int reader_assign(void *userdata, const char *section, const char *key, const char *value) {
        Reader *rd = userdata;
        char origin[FILENAME_MAX];
        UcsError e = {};
        int r;

        if (rd->error.code != 0)
                return 0;
        if (!*section) {
                (void) line_error(rd, -EINVAL,
                                  "%.60s= stands outside of any section, expected a [Section] above it",
                                  key);
                return 0;
        }
        (void) snprintf(origin, sizeof(origin), "%s:%u", rd->path, rd->line);
        r = rd->handler->assign(rd->userdata, section, key, value, origin, &e);
        if (r >= 0)
                return 1;
        (void) line_error(rd, r == -ENOENT ? -EINVAL : r, "%s", e.text);
        return 0;
}

static int check_nul(const char *path, const char *text, size_t size, UcsError *e) {
        const char *nul = memchr(text, '\0', size);
        unsigned line = 1;

        if (!nul)
                return 0;
        for (const char *p = text; p < nul; p++)
                line += *p == '\n';
        return ucs_error_set(e, -EINVAL, "%s:%u: there is a NUL byte in the line, expected text", path,
                             line);
}

int ucs_ini_parse(const char *path, const char *text, size_t size, const UcsIniHandler *handler, void *userdata, UcsError *e) {
        Reader rd = { .path = path, .next = text, .handler = handler, .userdata = userdata };
        int r;

        r = check_nul(path, text, size, e);
        if (r < 0)
                return r;
        r = ini_parse_stream(reader_line, &rd, reader_assign, &rd);
        if (rd.error.code == 0 && r < 0)
                return ucs_error_set(e, -ENOMEM, "no memory to read %s", path);
        if (rd.error.code == 0 && r > 0) {
                rd.line = (unsigned) r;
                (void) line_error(&rd, -EINVAL,
                                  "the line is not understood, expected Key=value or [Section]");
        }
        if (rd.error.code != 0) {
                if (e)
                        *e = rd.error;
                return rd.error.code;
        }
        return 0;
}
