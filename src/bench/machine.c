/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kind of machine; see machine.h. How interrupts are routed is told nowhere but in the boot's log: whether the CPU supports x2APIC
 * (CPUID) says nothing about the mode, and the mode nothing about the kernel's choice of routing. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "bench/machine.h"
#include "os/clock.h"
#include "os/root.h"

#define RECORD_MAX (16U * 1024U)
#define RECORDS_MAX 100000U
#define VALUE_MAX 64U
#define CLOCKSOURCE "sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Lines of the kernel's log; what follows is the value. The later kernels write a colon (6.6, arch/x86/kernel/apic/probe.c). */
static const struct {
        const char *key, *text;
} log_lines[] = {
        { "apic_routing", "Switched APIC routing to: " },
        { "apic_routing", "Switched APIC routing to " },
        { "apic_routing", "Setting APIC routing to " },
        { "ipi_shorthand", "IPI shorthand broadcast: " },
};

static void look_into(json_object *machine, char *record) {
        record[strcspn(record, "\n")] = '\0';
        for (size_t i = 0; i < ELEMENTSOF(log_lines); i++) {
                char *p = strstr(record, log_lines[i].text);

                if (!p)
                        continue;
                p += strlen(log_lines[i].text);
                if (*p == '\0' || *p == ':' || strlen(p) > VALUE_MAX)
                        continue;
                if (str_endswith(p, "."))
                        p[strlen(p) - 1] = '\0';
                (void) json_object_object_add(machine, log_lines[i].key, json_object_new_string(p));
                return;
        }
}

static void read_log(const Bench *b, json_object *machine) {
        _cleanup_free_ char *record = malloc(RECORD_MAX);
        _cleanup_fd_ int fd = ucs_root_openat(b->root_fd, "dev/kmsg", O_RDONLY | O_NONBLOCK | O_NOCTTY);

        for (unsigned i = 0; record && fd >= 0 && i < RECORDS_MAX; i++) {
                ssize_t n = read(fd, record, RECORD_MAX - 1);

                if (n < 0 && (errno == EPIPE || errno == EINTR))
                        continue; /* overwritten meanwhile: the next one that is there */
                if (n <= 0)
                        break;
                record[n] = '\0';
                look_into(machine, record);
        }
}

static void add_number(json_object *o, const char *key, uint64_t v) {
        (void) json_object_object_add(o, key, json_object_new_uint64(v));
}

json_object *bench_machine_describe(const Bench *b, const BenchTopology *t) {
        _cleanup_free_ char *source = NULL;
        json_object *o = json_object_new_object();
        struct utsname u = {};
        uint64_t hz;

        if (!o)
                return NULL;
        (void) uname(&u);
        (void) json_object_object_add(o, "vendor", json_object_new_string(t->vendor));
        (void) json_object_object_add(o, "model", json_object_new_string(t->model));
        add_number(o, "cpus", t->n);
        add_number(o, "online", t->n_online);
        add_number(o, "packages", t->n_packages);
        add_number(o, "clusters", t->n_clusters);
        (void) json_object_object_add(o, "hypervisor", json_object_new_boolean(t->hypervisor));
        (void) json_object_object_add(o, "kernel", json_object_new_string(u.release));
        if (ucs_root_read(b->root_fd, CLOCKSOURCE, VALUE_MAX, &source, NULL, NULL) < 0)
                source = NULL;
        (void) json_object_object_add(o, "clocksource", json_object_new_string(source ? str_strip(source) : "unknown"));
        hz = ucs_clock_tsc_hz(b->root_fd, t->cpus[0].cpu);
        (void) json_object_object_add(o, "tsc_hz", hz > 0 ? json_object_new_uint64(hz) : NULL);
        (void) json_object_object_add(o, "apic_routing", json_object_new_string("unknown"));
        (void) json_object_object_add(o, "ipi_shorthand", json_object_new_string("unknown"));
        read_log(b, o);
        if (t->n_left_out > 0)
                add_number(o, "cpus_left_out", t->n_left_out);
        return o;
}

const char *bench_machine_get(json_object *machine, const char *key) {
        json_object *o = NULL;

        return json_object_object_get_ex(machine, key, &o) && o ? json_object_get_string(o) : "unknown";
}

void bench_machine_print(json_object *m) {
        json_object *hz = NULL;
        const bool virtual = streq(bench_machine_get(m, "hypervisor"), "true");

        (void) json_object_object_get_ex(m, "tsc_hz", &hz);
        (void) printf("%s, %s; CPUs: %s of %s online, packages: %s, x2APIC clusters: %s%s\n", bench_machine_get(m, "vendor"),
                      bench_machine_get(m, "model"), bench_machine_get(m, "cpus"), bench_machine_get(m, "online"),
                      bench_machine_get(m, "packages"), bench_machine_get(m, "clusters"), virtual ? "; a virtual machine" : "");
        (void) printf("Linux %s; clocksource %s", bench_machine_get(m, "kernel"), bench_machine_get(m, "clocksource"));
        if (hz)
                (void) printf(", TSC %.3f GHz", json_object_get_double(hz) / 1e9);
        (void) printf("; APIC routing: %s; IPI shorthand: %s\n", bench_machine_get(m, "apic_routing"), bench_machine_get(m, "ipi_shorthand"));
}
