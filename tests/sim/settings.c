/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of settings; see settings.h. A type is a pair of functions, text to value and value to text;
 * what a value means to the machine is not known here. */

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "base/parse.h"
#include "settings.h"

typedef struct Setting Setting;

typedef struct Type {
        int (*parse)(const Setting *d, void *p, const char *value);
        void (*format)(const Setting *d, const void *p, UcsText *t);
} Type;

struct Setting {
        const char *name, *argument; /* argument NULL: a switch */
        const Type *type;
        size_t offset;
        bool at_start_only;
        uint64_t max;
        const char *const *choices;
        const char *help;
};

static int parse_switch(const Setting *d, void *p, const char *value) {
        return value ? ucs_parse_bool(value, p) : (*(bool *) p = true, 0);
}

static void format_switch(const Setting *d, const void *p, UcsText *t) {
        ucs_text_append(t, *(const bool *) p ? "yes" : "no");
}

static int parse_hex(const Setting *d, void *p, const char *value) {
        return ucs_parse_u32(value, 16, p);
}

static void format_hex(const Setting *d, const void *p, UcsText *t) {
        ucs_text_appendf(t, "0x%x", *(const uint32_t *) p);
}

static int parse_number(const Setting *d, void *p, const char *value) {
        uint64_t v;
        int r;

        r = ucs_parse_u64(value, 10, &v);
        if (r < 0)
                return r;
        if (d->max > 0 && v > d->max)
                return -ERANGE;
        *(uint64_t *) p = v;
        return 0;
}

static void format_number(const Setting *d, const void *p, UcsText *t) {
        ucs_text_appendf(t, "%" PRIu64, *(const uint64_t *) p);
}

static int parse_percent(const Setting *d, void *p, const char *value) {
        uint32_t v;
        int r;

        r = ucs_parse_u32(value, 10, &v);
        if (r < 0)
                return r;
        if (v > 100)
                return -ERANGE;
        *(uint32_t *) p = v;
        return 0;
}

static void format_percent(const Setting *d, const void *p, UcsText *t) {
        ucs_text_appendf(t, "%" PRIu32, *(const uint32_t *) p);
}

/* A percentage, or "auto": as the load. */
static int parse_auto_percent(const Setting *d, void *p, const char *value) {
        uint32_t v;
        int r;

        if (streq(value, "auto")) {
                *(int64_t *) p = -1;
                return 0;
        }
        r = parse_percent(d, &v, value);
        if (r < 0)
                return r;
        *(int64_t *) p = v;
        return 0;
}

static void format_auto_percent(const Setting *d, const void *p, UcsText *t) {
        int64_t v = *(const int64_t *) p;

        if (v < 0)
                ucs_text_append(t, "auto");
        else
                ucs_text_appendf(t, "%" PRIi64, v);
}

static int parse_text(const Setting *d, void *p, const char *value) {
        return strchr(value, '\n') ? -EINVAL : str_replace(p, value);
}

static void format_text(const Setting *d, const void *p, UcsText *t) {
        const char *s = *(char *const *) p;

        ucs_text_append(t, s ?: "");
}

static int parse_list(const Setting *d, void *p, const char *value) {
        return ucs_cpuset_parse(value, p, NULL);
}

static void format_list(const Setting *d, const void *p, UcsText *t) {
        _cleanup_free_ char *s = NULL;

        if (ucs_cpuset_format(p, &s) < 0)
                t->failed = true;
        else
                ucs_text_append(t, s);
}

static int parse_choice(const Setting *d, void *p, const char *value) {
        for (int i = 0; d->choices[i]; i++)
                if (streq(d->choices[i], value)) {
                        *(int *) p = i;
                        return 0;
                }
        return -EINVAL;
}

static void format_choice(const Setting *d, const void *p, UcsText *t) {
        ucs_text_append(t, d->choices[*(const int *) p]);
}

static int parse_errno(const Setting *d, void *p, const char *value) {
        if (streq(value, "off")) {
                *(int *) p = 0;
                return 0;
        }
        for (int i = 1; i < 200; i++) {
                const char *name = strerrorname_np(i);

                if (name && streq(name, value)) {
                        *(int *) p = i;
                        return 0;
                }
        }
        return -EINVAL;
}

static void format_errno(const Setting *d, const void *p, UcsText *t) {
        int v = *(const int *) p;

        ucs_text_append(t, v == 0 ? "off" : strerrorname_np(v));
}

static int parse_topology(const Setting *d, void *p, const char *value) {
        SimTopology v;
        char rest;

        if (sscanf(value, "%4" SCNu32 "x%4" SCNu32 "x%4" SCNu32 "%c", &v.sockets, &v.cores, &v.threads,
                   &rest) != 3)
                return -EINVAL;
        if (v.sockets == 0 || v.cores == 0 || v.threads == 0)
                return -EINVAL;
        if ((uint64_t) v.sockets * v.cores * v.threads > SIM_CPU_MAX)
                return -ERANGE;
        *(SimTopology *) p = v;
        return 0;
}

static void format_topology(const Setting *d, const void *p, UcsText *t) {
        const SimTopology *v = p;

        ucs_text_appendf(t, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, v->sockets, v->cores, v->threads);
}

#define TYPE(name) static const Type type_##name = { parse_##name, format_##name }
TYPE(switch);
TYPE(hex);
TYPE(number);
TYPE(percent);
TYPE(auto_percent);
TYPE(text);
TYPE(list);
TYPE(choice);
TYPE(errno);
TYPE(topology);

static const char *const vendors[] = { "intel", "amd", NULL };
static const char *const kernels[] = { "5.10", "6.1", "6.12", "7.3", NULL };
static const char *const loads[] = { "serial", "parallel", NULL };
static const char *const psis[] = { "on", "off", "unsupported", NULL };
static const char *const digests[] = { "off", "fail", "silent", NULL };

#define START     true
#define ANY       false
#define AT(field) offsetof(SimSettings, field)
#define ROW(name, arg, type, field, when, help)                                                             \
        { name, arg, &type_##type, AT(field), when, 0, NULL, help }
#define LIMITED(name, arg, field, when, max, help)                                                          \
        { name, arg, &type_number, AT(field), when, max, NULL, help }
#define CHOICE(name, arg, field, when, choices, help)                                                       \
        { name, arg, &type_choice, AT(field), when, 0, choices, help }

static const Setting settings[] = {
        ROW("topology", "SxCxT", topology, topology, START,
            "sockets, cores a socket, threads a core; at most 4096 CPUs"),
        ROW("adjacent-threads", NULL, switch, adjacent_threads, START,
            "number the threads of a core 0,1 instead of 0,N/T"),
        CHOICE("vendor", "intel|amd", vendor, START, vendors, "whose processors"),
        ROW("signature", "0xHEX", hex, signature, START, "CPUID.1:EAX"),
        ROW("platform", "0xMASK", hex, platform, START, "processor_flags (Intel)"),
        ROW("revision", "0xHEX", hex, revision, START, "microcode revision after a boot"),
        ROW("early-from", "0xHEX", hex, early_from, START,
            "the early loader came from this revision (a log line)"),
        CHOICE("kernel", "5.10|6.1|6.12|7.3", kernel, START, kernels, "whose answers"),
        ROW("release", "TEXT", text, release, START, "uname -r of the simulated kernel"),
        ROW("cmdline", "TEXT", text, cmdline, ANY, "/proc/cmdline"),
        ROW("boot-id", "UUID", text, boot_id, ANY, "default: random"),
        LIMITED("uptime", "SEC", uptime_sec, START, UINT64_C(100000000), "time since the boot, at start"),
        LIMITED("llc-kb", "KB", llc_kb, START, 0, "last level cache of a socket"),
        LIMITED("tsc-hz", "HZ", tsc_hz, START, 0, "rate of the time stamp counter"),
        CHOICE("load", "serial|parallel", load, ANY, loads, "how this kernel loads"),
        LIMITED("cost-usec", "USEC", cost_usec, ANY, 10000000,
                "one core's load; 0: that of the 2019 machine"),
        ROW("real-stall", NULL, switch, real_stall, START,
            "the CPUs of this host stand still for the modelled time"),
        LIMITED("skew-usec", "USEC", skew_usec, ANY, 1000000, "how far the accounts of CPUs lie apart"),
        LIMITED("account-delay-usec", "USEC", account_delay_usec, ANY, 0,
                "accounts are charged so much later than runs are"),
        ROW("account-missing", "CPUS", list, account_missing, ANY, "CPUs whose accounts are never charged"),
        ROW("account-mixed", "CPUS", list, account_mixed, ANY, "CPUs whose stoppers do other work beside"),
        LIMITED("steal-usec", "USEC", steal_usec, ANY, 0,
                "taken from each CPU by a hypervisor during a load"),
        ROW("offline", "CPUS", list, offline, START, "offline at start (control: offline, online)"),
        ROW("isolated", "CPUS", list, isolated, ANY, "isolcpus="),
        ROW("nohz-full", "CPUS", list, nohz_full, ANY, "nohz_full="),
        ROW("fail-cpus", "CPUS", list, fail_cpus, ANY, "CPUs on which a load does not take"),
        ROW("timeout-cpus", "CPUS", list, timeout_cpus, ANY, "CPUs that do not come to the rendezvous"),
        ROW("hang", NULL, switch, hang, ANY, "a write does not return until this is off"),
        ROW("force-minrev", NULL, switch, force_minrev, ANY, "microcode.force_minrev (6.7 and newer)"),
        CHOICE("log-digest", "off|fail|silent", log_digest, ANY, digests,
               "AMD: the patch has no known digest"),
        ROW("answer", "ERRNO|off", errno, answer, ANY, "a write of 1 fails with this, and nothing is done"),
        ROW("refuse-open", "ERRNO|off", errno, refuse_open, ANY, "reload cannot be opened, e.g. EROFS"),
        ROW("features-change", NULL, switch, features_change, ANY, "a load takes HLE and RTM out of CPUID"),
        ROW("clocksource-flip", NULL, switch, clocksource_flip, ANY, "a load makes the TSC unstable"),
        ROW("arrive-revision", "0xHEX", hex, arrive_revision, ANY,
            "a load brings this revision, whatever the file says; 0: off"),
        ROW("hypervisor", NULL, switch, hypervisor, START, "CPUID says that this is a guest"),
        ROW("hypervisor-type", "TEXT", text, hypervisor_type, START, "/sys/hypervisor/type, e.g. xen"),
        ROW("hypervisor-guest-type", "TEXT", text, hypervisor_guest_type, START,
            "/sys/hypervisor/guest_type, e.g. PV or HVM"),
        ROW("container", "TEXT", text, container, START, "container= in the environment of PID 1"),
        ROW("realtime", NULL, switch, realtime, START, "/sys/kernel/realtime is there and 1"),
        ROW("no-reload", NULL, switch, no_reload, START, "kernel without late loading"),
        ROW("no-microcode-dir", NULL, switch, no_microcode_dir, START, "kernel without a microcode driver"),
        ROW("clocksource", "TEXT", text, clocksource, ANY, "current_clocksource"),
        ROW("sys-vendor", "TEXT", text, sys_vendor, START, "DMI"),
        ROW("bios-vendor", "TEXT", text, bios_vendor, START, "DMI"),
        ROW("product-name", "TEXT", text, product_name, START, "DMI"),
        LIMITED("tainted", "BITS", tainted, ANY, 0, "/proc/sys/kernel/tainted"),
        ROW("crash-kernel", NULL, switch, crash_kernel, START, "a crash kernel is loaded"),
        ROW("pstore", "TEXT", text, pstore, ANY, "a record of a crash that is kept in firmware"),
        ROW("sgx", NULL, switch, sgx, START, "/dev/sgx_enclave is there"),
        LIMITED("panic", "SEC", panic, ANY, 0, "/proc/sys/kernel/panic"),
        CHOICE("psi", "on|off|unsupported", psi, ANY, psis, "pressure stall information"),
        ROW("load-percent", "N", percent, load_percent, ANY, "share of CPU time in use"),
        ROW("guest-percent", "N", percent, guest_percent, ANY, "share of CPU time in guests"),
        ROW("pressure-percent", "N|auto", auto_percent, pressure_percent, ANY,
            "share of time in which a task waits; auto: as load"),
        ROW("firmware-root", "DIR", text, firmware_root, START,
            "what the kernel takes for /; default: the --mount= of the whole, or /"),
        ROW("firmware-path", "DIR", text, firmware_path, ANY,
            "firmware_class.path, below the firmware root"),
        ROW("compress", "zst,xz", text, compress, START, "compressed firmware that this kernel reads"),
};

int sim_settings_init(SimSettings *s) {
        *s = (SimSettings){
                .topology = { 2, 18, 2 },
                .vendor = SIM_INTEL,
                .signature = 0x50654,
                .platform = 0x80,
                .revision = 0x200003a,
                .kernel = SIM_KERNEL_7_3,
                .uptime_sec = 86400,
                .llc_kb = 25344,
                .tsc_hz = UINT64_C(2400000000),
                .load = SIM_LOAD_PARALLEL,
                .skew_usec = 20,
                .load_percent = 2,
                .pressure_percent = -1,
        };
        if (str_replace(&s->cmdline, "BOOT_IMAGE=/boot/vmlinuz root=/dev/vda1 ro quiet") < 0 ||
            str_replace(&s->clocksource, "tsc") < 0 || str_replace(&s->sys_vendor, "Simulated") < 0 ||
            str_replace(&s->bios_vendor, "Simulated") < 0 || str_replace(&s->product_name, "ucodesim") < 0)
                return -ENOMEM;
        return 0;
}

void sim_settings_done(SimSettings *s) {
        for (size_t i = 0; i < ELEMENTSOF(settings); i++)
                if (settings[i].type == &type_text)
                        (void) str_replace((char **) ((char *) s + settings[i].offset), NULL);
}

static const Setting *setting_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(settings); i++)
                if (streq(settings[i].name, name))
                        return &settings[i];
        return NULL;
}

int sim_settings_set(SimSettings *s, const char *name, const char *value, bool running, UcsError *e) {
        const Setting *d;
        int r;

        d = setting_find(name);
        if (!d)
                return ucs_error_set(e, -ENOENT, "There is no setting '%s'", name);
        if (running && d->at_start_only)
                return ucs_error_set(e, -EBUSY, "'%s' can only be set at start", name);
        if (!value && d->argument)
                return ucs_error_set(e, -EINVAL, "'%s' needs a value, %s", name, d->argument);
        r = d->type->parse(d, (char *) s + d->offset, value);
        if (r < 0)
                return ucs_error_set(e, r, "%s: '%s' is not %s", name, value ?: "",
                                     r == -ERANGE ? "within its limits" : d->argument ?: "yes or no");
        return 0;
}

int sim_settings_get(const SimSettings *s, const char *name, char **ret) {
        _cleanup_text_ UcsText t = {};
        const Setting *d;

        d = setting_find(name);
        if (!d)
                return -ENOENT;
        d->type->format(d, (const char *) s + d->offset, &t);
        return ucs_text_take(&t, ret, NULL);
}

void sim_settings_help(FILE *f) {
        char left[64];

        for (size_t i = 0; i < ELEMENTSOF(settings); i++) {
                const Setting *d = &settings[i];

                (void) snprintf(left, sizeof(left), "--%s%s%s", d->name, d->argument ? "=" : "",
                                d->argument ?: "");
                fprintf(f, "  %-32s %s%s\n", left, d->help, d->at_start_only ? "" : " *");
        }
        fprintf(f, "Settings with * can also be changed at run time: set NAME VALUE.\n");
}

const char *sim_kernel_release(const SimSettings *s) {
        static const char *const releases[] = {
                [SIM_KERNEL_5_10] = "5.10.0-32-amd64",
                [SIM_KERNEL_6_1] = "6.1.0-28-amd64",
                [SIM_KERNEL_6_12] = "6.12.0-1-amd64",
                [SIM_KERNEL_7_3] = "7.3.4",
        };

        return s->release ?: releases[s->kernel];
}
