/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rest of sys: module parameters, DMI, hypervisor, clock sources, the mark of a real-time kernel. */

#include <errno.h>

#include "base/parse.h"
#include "tree.h"

static void show_line(UcsText *t, const char *s) {
        ucs_text_append(t, s ?: "");
        ucs_text_append(t, "\n");
}

static void show_force_minrev(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.force_minrev ? "Y" : "N");
}

static int store_force_minrev(SimMachine *m, uint32_t cpu, const char *text) {
        char copy[16];
        bool on;

        (void) snprintf(copy, sizeof(copy), "%s", text);
        if (ucs_parse_bool(str_strip(copy), &on) < 0)
                return -EINVAL;
        (void) pthread_mutex_lock(&m->lock);
        m->settings.force_minrev = on;
        (void) pthread_mutex_unlock(&m->lock);
        return 0;
}

/* A parameter of the module from 6.7 to 6.17; later kernels take it from the command line alone. */
static bool knows_minrev(const SimMachine *m, uint32_t cpu) {
        return m->settings.kernel == SIM_KERNEL_6_12 && !m->settings.no_microcode_dir;
}

static void show_firmware_path(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.firmware_path);
}

/* One line of text into a string of the settings. */
static int store_string(SimMachine *m, char **p, const char *text) {
        _cleanup_free_ char *copy = strdup(text);
        int r;

        if (!copy)
                return -ENOMEM;
        copy[strcspn(copy, "\n")] = '\0';
        (void) pthread_mutex_lock(&m->lock);
        r = str_replace(p, copy);
        (void) pthread_mutex_unlock(&m->lock);
        return r;
}

static int store_firmware_path(SimMachine *m, uint32_t cpu, const char *text) {
        return store_string(m, &m->settings.firmware_path, text);
}

static void show_sys_vendor(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.sys_vendor);
}

static void show_bios_vendor(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.bios_vendor);
}

static void show_product_name(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.product_name);
}

static void show_hypervisor_type(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.hypervisor_type);
}

static bool has_hypervisor_type(const SimMachine *m, uint32_t cpu) {
        return m->settings.hypervisor_type;
}

static void show_guest_type(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.hypervisor_guest_type);
}

static bool has_guest_type(const SimMachine *m, uint32_t cpu) {
        return m->settings.hypervisor_guest_type;
}

static void show_crash_loaded(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.crash_kernel ? "1" : "0");
}

static void show_pstore(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.pstore);
}

static bool has_pstore(const SimMachine *m, uint32_t cpu) {
        return m->settings.pstore && *m->settings.pstore;
}

static void show_realtime(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, "1");
}

static bool is_realtime(const SimMachine *m, uint32_t cpu) {
        return m->settings.realtime;
}

static void show_clocksource(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.clocksource);
}

static int store_clocksource(SimMachine *m, uint32_t cpu, const char *text) {
        return store_string(m, &m->settings.clocksource, text);
}

static void show_clocksources(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_line(t, m->settings.clocksource && streq(m->settings.clocksource, "tsc") ? "tsc hpet acpi_pm "
                                                                                      : "hpet acpi_pm ");
}

#define SHOW(path, show)                                                                                    \
        { path, 0444, SIM_FILE_TEXT, show, NULL, NULL, false }
#define SHOW_IF(path, show, exists)                                                                         \
        { path, 0444, SIM_FILE_TEXT, show, NULL, exists, false }
#define CLOCK "sys/devices/system/clocksource/clocksource0/"

const SimFile sim_files_sys[] = {
        { "sys/module/microcode/parameters/force_minrev", 0600, SIM_FILE_TEXT, show_force_minrev,
          store_force_minrev, knows_minrev, false },
        { "sys/module/firmware_class/parameters/path", 0644, SIM_FILE_TEXT, show_firmware_path,
          store_firmware_path, NULL, false },
        SHOW("sys/devices/virtual/dmi/id/sys_vendor", show_sys_vendor),
        SHOW("sys/devices/virtual/dmi/id/bios_vendor", show_bios_vendor),
        SHOW("sys/devices/virtual/dmi/id/product_name", show_product_name),
        SHOW("sys/class/dmi/id/sys_vendor", show_sys_vendor),
        SHOW("sys/class/dmi/id/bios_vendor", show_bios_vendor),
        SHOW("sys/class/dmi/id/product_name", show_product_name),
        SHOW_IF("sys/hypervisor/type", show_hypervisor_type, has_hypervisor_type),
        SHOW_IF("sys/hypervisor/guest_type", show_guest_type, has_guest_type),
        SHOW("sys/kernel/kexec_crash_loaded", show_crash_loaded),
        { "sys/fs/pstore", 0750, SIM_FILE_DIRECTORY, NULL, NULL, NULL, false },
        SHOW_IF("sys/fs/pstore/dmesg-efi-1", show_pstore, has_pstore),
        SHOW_IF("sys/kernel/realtime", show_realtime, is_realtime),
        { CLOCK "current_clocksource", 0644, SIM_FILE_TEXT, show_clocksource, store_clocksource, NULL,
          false },
        SHOW(CLOCK "available_clocksource", show_clocksources),
        {},
};
