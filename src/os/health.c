/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine's condition; see health.h. One function a source; none of them knows what a figure means. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/timefmt.h"
#include "os/health.h"
#include "os/root.h"
#include "os/volatile.h"

#define TEXT_MAX 4096U
#define INTERRUPTS_MAX (64U * 1024U * 1024U) /* 11 bytes a CPU and line */

/* The first word of a small file, in `buf`. */
static bool read_word(int root_fd, const char *path, char *buf, size_t size) {
        _cleanup_free_ char *text = NULL;
        char *s;

        if (ucs_root_read(root_fd, path, TEXT_MAX, &text, NULL, NULL) < 0)
                return false;
        s = str_strip(text);
        s[strcspn(s, " \t\n")] = '\0';
        (void) snprintf(buf, size, "%s", s);
        return *s;
}

static bool read_number(int root_fd, const char *path, uint64_t *ret) {
        char word[32];

        return read_word(root_fd, path, word, sizeof(word)) && ucs_parse_u64(word, 10, ret) >= 0;
}

static bool is_one(int root_fd, const char *path) {
        uint64_t v;

        return read_number(root_fd, path, &v) && v == 1;
}

/* "86400.23 …", seconds; parts below a second do not matter, and 0 stands for unknown. */
static uint64_t read_uptime(int root_fd) {
        char word[32];
        uint64_t seconds;

        if (!read_word(root_fd, "proc/uptime", word, sizeof(word)))
                return 0;
        word[strcspn(word, ".")] = '\0';
        if (ucs_parse_u64(word, 10, &seconds) < 0 || seconds > UINT64_MAX / USEC_PER_SEC)
                return 0;
        return MAX(seconds * USEC_PER_SEC, UINT64_C(1));
}

/* kernel.panic may be negative: reboot at once. */
static bool panic_reboots(int root_fd) {
        char word[32];

        return !read_word(root_fd, "proc/sys/kernel/panic", word, sizeof(word)) || !streq(word, "0");
}

/* "USEC=1796126400000000\nWARN_WALL=1\nMODE=reboot\n" */
static void read_shutdown(int root_fd, UcsHealth *h) {
        _cleanup_free_ char *text = NULL;
        char *save = NULL;
        int r;

        h->shutting_down = false;
        h->shutdown_usec = 0;
        r = ucs_root_read(root_fd, "run/systemd/shutdown/scheduled", TEXT_MAX, &text, NULL, NULL);
        if (r == -ENOENT || r == -ENOTDIR)
                return;
        h->shutting_down = true;
        if (r < 0)
                return;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                const char *value = str_startswith(line, "USEC=");

                if (value && ucs_parse_u64(value, 10, &h->shutdown_usec) >= 0)
                        return;
        }
}

void ucs_health_read(int root_fd, const char *state_directory, UcsHealth *h) {
        h->tainted_known = read_number(root_fd, "proc/sys/kernel/tainted", &h->tainted);
        if (!h->tainted_known)
                h->tainted = 0;
        h->uptime_usec = read_uptime(root_fd);
        h->realtime_kernel = is_one(root_fd, "sys/kernel/realtime");
        h->crash_kernel = is_one(root_fd, "sys/kernel/kexec_crash_loaded");
        h->panic_reboots = panic_reboots(root_fd);
        h->sgx = ucs_root_exists(root_fd, "dev/sgx_enclave") > 0;
        if (!read_word(root_fd, "sys/devices/system/clocksource/clocksource0/current_clocksource", h->clocksource, sizeof(h->clocksource)))
                h->clocksource[0] = '\0';
        read_shutdown(root_fd, h);
        h->state_volatile = ucs_volatile_read(root_fd, state_directory, h->state_filesystem, sizeof(h->state_filesystem));
}

/* " MCE:          0          0   Machine check exceptions": a figure an online CPU, up to the first word that is none. */
uint64_t ucs_health_read_machine_checks(int root_fd) {
        _cleanup_free_ char *text = NULL;
        const char *p;
        uint64_t sum = 0;

        if (ucs_root_read(root_fd, "proc/interrupts", INTERRUPTS_MAX, &text, NULL, NULL) < 0)
                return UCS_UNKNOWN;
        p = strstr(text, "MCE:");
        if (!p)
                return UCS_UNKNOWN;
        for (p += strlen("MCE:"); *p && *p != '\n';) {
                char word[24];
                uint64_t v;
                size_t n;

                p += strspn(p, " \t");
                n = strcspn(p, " \t\n");
                if (n == 0 || n >= sizeof(word))
                        break;
                memcpy(word, p, n);
                word[n] = '\0';
                if (ucs_parse_u64(word, 10, &v) < 0)
                        break;
                if (__builtin_add_overflow(sum, v, &sum))
                        return UCS_UNKNOWN - 1;
                p += n;
        }
        return sum;
}
