/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Records of dev/kmsg; see kmsg.h. The device gives one record a read(2), a plain file gives what fits: both are cut into lines, and a
 * line without its end waits for the next reading. */

#include <ctype.h>
#include <fcntl.h>

#include "base/parse.h"
#include "os/kmsg.h"
#include "os/root.h"

#define RECORD_MAX (16U * 1024U) /* CONSOLE_EXT_LOG_MAX is 8192, PRINTK_MESSAGE_MAX 2048: the device refuses a smaller buffer */
#define OVERWRITTEN_MAX 64U

struct UcsKmsg {
        int fd;
        size_t size; /* of `text`, an unfinished line */
        char text[RECORD_MAX];
};

UcsKmsg *ucs_kmsg_close(UcsKmsg *k) {
        if (!k)
                return NULL;
        fd_close(k->fd);
        free(k);
        return NULL;
}

int ucs_kmsg_mark(UcsKmsg *k) {
        k->size = 0;
        return lseek(k->fd, 0, SEEK_END) < 0 ? -errno : 0;
}

int ucs_kmsg_open(int root_fd, UcsKmsg **ret, UcsError *e) {
        _cleanup_(ucs_kmsg_closep) UcsKmsg *k = NULL;
        int r;

        k = new0(UcsKmsg, 1);
        if (!k)
                return -ENOMEM;
        k->fd = ucs_root_openat(root_fd, "/dev/kmsg", O_RDONLY | O_NONBLOCK | O_NOCTTY);
        r = k->fd < 0 ? k->fd : ucs_kmsg_mark(k);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot open /dev/kmsg: %m");
        }
        *ret = TAKE_PTR(k);
        return 0;
}

static int hex_value(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return -1;
}

/* The kernel writes bytes that are not printable, and the backslash, as \xNN. */
static void unescape(char *s) {
        char *to = s;

        while (*s) {
                int c = (unsigned char) *s;

                if (s[0] == '\\' && s[1] == 'x' && hex_value(s[2]) >= 0 && hex_value(s[3]) >= 0) {
                        c = hex_value(s[2]) * 16 + hex_value(s[3]);
                        s += 3;
                }
                s++;
                *to++ = (char) (c < 0x20 || c == 0x7f ? '?' : c);
        }
        *to = '\0';
}

/* "priority,sequence,usec,flags[,more];text". NULL: a continuation (KEY=value), not such a line, or another program's. */
static char *message_of_kernel(char *line) {
        char *text, *comma;
        uint32_t priority;

        if (!isdigit((unsigned char) *line))
                return NULL;
        text = strchr(line, ';');
        comma = strchr(line, ',');
        if (!text || !comma || comma > text)
                return NULL;
        *comma = '\0';
        if (ucs_parse_u32(line, 10, &priority) < 0 || priority >> 3 != 0)
                return NULL;
        text++;
        unescape(text);
        return text;
}

/* Take the whole lines out of the buffer. */
static int take_lines(UcsKmsg *k, char ***lines, size_t *n) {
        size_t at = 0;
        int r = 0;

        while (*n < UCS_KMSG_LINES_MAX) {
                char *newline = memchr(k->text + at, '\n', k->size - at), *text;

                if (!newline) {
                        if (at == 0 && k->size == sizeof(k->text))
                                k->size = 0; /* no record is as long: go on behind it */
                        break;
                }
                *newline = '\0';
                text = message_of_kernel(k->text + at);
                if (text) {
                        r = strv_push(lines, text);
                        if (r < 0)
                                return r;
                        (*n)++;
                }
                at = (size_t) (newline - k->text) + 1;
        }
        k->size -= at;
        memmove(k->text, k->text + at, k->size);
        return 0;
}

int ucs_kmsg_read(UcsKmsg *k, char ***ret, UcsError *e) {
        _cleanup_strv_ char **lines = NULL;
        unsigned overwritten = 0;
        size_t n = 0;
        int r;

        for (;;) {
                ssize_t got;

                r = take_lines(k, &lines, &n);
                if (r < 0)
                        return r;
                if (n >= UCS_KMSG_LINES_MAX)
                        break;
                got = read(k->fd, k->text + k->size, sizeof(k->text) - k->size);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0 && errno == EPIPE && overwritten < OVERWRITTEN_MAX) {
                        overwritten++; /* the next read goes on at the oldest record that is left */
                        continue;
                }
                if (got == 0 || (got < 0 && errno == EAGAIN))
                        break;
                if (got < 0)
                        return ucs_error_set(e, -errno, "cannot read /dev/kmsg: %m");
                k->size += (size_t) got;
        }
        *ret = TAKE_PTR(lines);
        return overwritten > 0;
}
