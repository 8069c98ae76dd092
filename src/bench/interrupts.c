/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* TLB and CAL of /proc/interrupts; see interrupts.h. */

#include <ctype.h>
#include <errno.h>
#include <unistd.h>

#include "bench/interrupts.h"

static bool is_wanted(const BenchCpu *cpus, size_t n, unsigned cpu) {
        for (size_t i = 0; i < n; i++)
                if (cpus[i].cpu == cpu)
                        return true;
        return false;
}

/* "  TLB:   123   456   TLB shootdowns", its columns named by the first line, "     CPU0   CPU1": offline CPUs have none. */
static int sum_line(const char *head, const char *line, const BenchCpu *cpus, size_t n, uint64_t *ret) {
        uint64_t sum = 0;

        while ((head = strstr(head, "CPU"))) {
                char *end;
                unsigned long cpu;
                unsigned long long v;

                head += strlen("CPU");
                cpu = strtoul(head, &end, 10);
                if (end == head)
                        return -EBADMSG;
                head = end;
                v = strtoull(line, &end, 10);
                if (end == line)
                        return -EBADMSG;
                line = end;
                if (is_wanted(cpus, n, (unsigned) cpu))
                        sum += v;
        }
        *ret = sum;
        return 0;
}

/* The line of that name, behind its colon. */
static const char *find_line(const char *text, const char *name) {
        for (const char *line = strchr(text, '\n'); line; line = strchr(line, '\n')) {
                const char *p;

                line++;
                p = str_startswith(line + strspn(line, " "), name);
                if (p && *p == ':')
                        return p + 1;
        }
        return NULL;
}

int bench_interrupts_parse(const char *text, const BenchCpu *cpus, size_t n, BenchInterrupts *ret) {
        const char *tlb = find_line(text, "TLB"), *cal = find_line(text, "CAL");
        _cleanup_free_ char *head = strndup(text, strcspn(text, "\n"));
        BenchInterrupts sum;
        int r;

        if (!head)
                return -ENOMEM;
        if (!tlb || !cal)
                return -EBADMSG;
        r = sum_line(head, tlb, cpus, n, &sum.tlb);
        if (r >= 0)
                r = sum_line(head, cal, cpus, n, &sum.cal);
        if (r >= 0)
                *ret = sum;
        return r;
}

int bench_interrupts_read(int fd, char *buf, size_t size, const BenchCpu *cpus, size_t n, BenchInterrupts *ret) {
        size_t done = 0;

        while (done < size - 1) {
                const ssize_t k = pread(fd, buf + done, size - 1 - done, (off_t) done);

                if (k < 0)
                        return -errno;
                if (k == 0) {
                        buf[done] = '\0';
                        return bench_interrupts_parse(buf, cpus, n, ret);
                }
                done += (size_t) k;
        }
        return -EFBIG;
}
