/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* sys/devices/system/cpu: masks, hotplug, topology, caches, microcode, vulnerabilities.
 *
 * Formats are those of the kernel's show functions. What belongs to a CPU but for `online` is gone while the
 * CPU is offline. Vulnerabilities are what the kernel found at boot: a load changes none of them. */

#include <errno.h>

#include "base/parse.h"
#include "loader.h"
#include "tree.h"

static void show_set(UcsText *t, const UcsCpuSet *set) {
        _cleanup_free_ char *s = NULL;

        if (ucs_cpuset_format(set, &s) < 0)
                t->failed = true;
        else
                ucs_text_appendf(t, "%s\n", s);
}

static void show_online(SimMachine *m, uint32_t cpu, UcsText *t) {
        UcsCpuSet set;

        sim_machine_online_set(m, &set);
        show_set(t, &set);
}

static void show_present(SimMachine *m, uint32_t cpu, UcsText *t) {
        if (m->n_cpus == 1)
                ucs_text_append(t, "0\n");
        else
                ucs_text_appendf(t, "0-%u\n", m->n_cpus - 1);
}

static void show_offline(SimMachine *m, uint32_t cpu, UcsText *t) {
        UcsCpuSet set = {};

        for (uint32_t i = 0; i < m->n_cpus; i++)
                if (!m->cpus[i].online)
                        ucs_cpuset_add(&set, i);
        show_set(t, &set);
}

static void show_isolated(SimMachine *m, uint32_t cpu, UcsText *t) {
        show_set(t, &m->settings.isolated);
}

/* Before 6.2 a mask that was never allocated was printed as a null pointer, padded. */
static void show_nohz_full(SimMachine *m, uint32_t cpu, UcsText *t) {
        if (ucs_cpuset_count(&m->settings.nohz_full) == 0 && !sim_kernel_is_modern(&m->settings))
                ucs_text_append(t, "  (null)\n");
        else
                show_set(t, &m->settings.nohz_full);
}

static void show_kernel_max(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_append(t, "8191\n");
}

static void show_smt_active(SimMachine *m, uint32_t cpu, UcsText *t) {
        bool active = false;

        for (uint32_t i = 0; i < m->n_cpus; i++)
                active = active || (m->cpus[i].online && m->cpus[i].first != i);
        ucs_text_append(t, active ? "1\n" : "0\n");
}

static void show_smt_control(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_append(t, m->settings.topology.threads > 1 ? "on\n" : "notsupported\n");
}

static int store_reload(SimMachine *m, uint32_t cpu, const char *text) {
        return sim_loader_write(m, text);
}

static int refuse_reload(const SimMachine *m) {
        return m->settings.refuse_open;
}

static bool has_driver(const SimMachine *m, uint32_t cpu) {
        return !m->settings.no_microcode_dir;
}

static bool has_reload(const SimMachine *m, uint32_t cpu) {
        return has_driver(m, cpu) && !m->settings.no_reload;
}

/* A CPU's own files. */

static bool is_online(const SimMachine *m, uint32_t cpu) {
        return sim_machine_cpu_online(m, cpu);
}

/* The kernel has no cpu0/online since 6.5, and before only when asked; the old generations here were. */
static bool can_plug(const SimMachine *m, uint32_t cpu) {
        return cpu > 0 || !sim_kernel_is_modern(&m->settings);
}

static bool has_cpu_microcode(const SimMachine *m, uint32_t cpu) {
        return is_online(m, cpu) && has_driver(m, cpu);
}

static void show_cpu_online(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_append(t, m->cpus[cpu].online ? "1\n" : "0\n");
}

static int store_cpu_online(SimMachine *m, uint32_t cpu, const char *text) {
        char copy[16];
        bool on;

        (void) snprintf(copy, sizeof(copy), "%s", text);
        if (ucs_parse_bool(str_strip(copy), &on) < 0)
                return -EINVAL;
        return sim_machine_plug(m, cpu, on);
}

static void show_revision(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "0x%x\n", m->cpus[cpu].revision);
}

static void show_processor_flags(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "0x%x\n", m->settings.platform);
}

static void show_core_id(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "%u\n", m->cpus[cpu].core);
}

static void show_package_id(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "%u\n", m->cpus[cpu].package);
}

static void show_die_id(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_append(t, "0\n");
}

/* Online CPUs of the same core, or of the same package. */
static void relatives(const SimMachine *m, uint32_t cpu, bool core, UcsCpuSet *ret) {
        *ret = (UcsCpuSet){};
        if (core) {
                for (uint32_t thread = 0; thread < m->settings.topology.threads; thread++) {
                        uint32_t sibling = sim_machine_sibling(m, cpu, thread);

                        if (m->cpus[sibling].online)
                                ucs_cpuset_add(ret, sibling);
                }
                return;
        }
        for (uint32_t i = 0; i < m->n_cpus; i++)
                if (m->cpus[i].online && m->cpus[i].package == m->cpus[cpu].package)
                        ucs_cpuset_add(ret, i);
}

static void show_core_list(SimMachine *m, uint32_t cpu, UcsText *t) {
        UcsCpuSet set;

        relatives(m, cpu, true, &set);
        show_set(t, &set);
}

static void show_package_list(SimMachine *m, uint32_t cpu, UcsText *t) {
        UcsCpuSet set;

        relatives(m, cpu, false, &set);
        show_set(t, &set);
}

/* Hexadecimal words of 32 CPUs, the highest first. */
static void show_mask(const SimMachine *m, UcsText *t, const UcsCpuSet *set) {
        for (uint32_t word = (m->n_cpus + 31) / 32; word-- > 0;)
                ucs_text_appendf(t, "%0*x%s", m->n_cpus < 32 ? (int) (m->n_cpus + 3) / 4 : 8,
                                 (uint32_t) (set->bits[word / 2] >> (word % 2 * 32)), word > 0 ? "," : "\n");
}

static void show_core_mask(SimMachine *m, uint32_t cpu, UcsText *t) {
        UcsCpuSet set;

        relatives(m, cpu, true, &set);
        show_mask(m, t, &set);
}

static void show_package_mask(SimMachine *m, uint32_t cpu, UcsText *t) {
        UcsCpuSet set;

        relatives(m, cpu, false, &set);
        show_mask(m, t, &set);
}

static void show_cache_size(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_appendf(t, "%lluK\n", (unsigned long long) m->settings.llc_kb);
}

static void show_cache_level(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_append(t, "3\n");
}

static void show_cache_type(SimMachine *m, uint32_t cpu, UcsText *t) {
        ucs_text_append(t, "Unified\n");
}

#define TEXT(name, intel, amd)                                                                              \
        static void show_##name(SimMachine *m, uint32_t cpu, UcsText *t) {                                  \
                ucs_text_append(t, m->settings.vendor == SIM_INTEL ? intel "\n" : amd "\n");                \
        }                                                                                                   \
        struct _semicolon_
#define SAFE "Not affected"

TEXT(vulnerability_none, SAFE, SAFE);
TEXT(gds, "Vulnerable: No microcode", SAFE);
TEXT(itlb, "KVM: Mitigation: VMX disabled", SAFE);
TEXT(l1tf, "Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT vulnerable", SAFE);
TEXT(mds, "Vulnerable: Clear CPU buffers attempted, no microcode; SMT vulnerable", SAFE);
TEXT(meltdown, "Mitigation: PTI", SAFE);
TEXT(mmio, "Vulnerable: Clear CPU buffers attempted, no microcode; SMT vulnerable", SAFE);
TEXT(retbleed, "Mitigation: IBRS", "Mitigation: untrained return thunk; SMT enabled with STIBP protection");
TEXT(srso, SAFE, "Vulnerable: Safe RET, no microcode");
TEXT(ssb, "Mitigation: Speculative Store Bypass disabled via prctl",
     "Mitigation: Speculative Store Bypass disabled via prctl");
TEXT(spectre_v1, "Mitigation: usercopy/swapgs barriers and __user pointer sanitization",
     "Mitigation: usercopy/swapgs barriers and __user pointer sanitization");
TEXT(spectre_v2,
     "Mitigation: IBRS; IBPB: conditional; STIBP: conditional; RSB filling; PBRSB-eIBRS: Not affected",
     "Mitigation: Retpolines; IBPB: conditional; STIBP: always-on; RSB filling; PBRSB-eIBRS: Not affected");
TEXT(taa, "Vulnerable: Clear CPU buffers attempted, no microcode; SMT vulnerable", SAFE);
TEXT(old_microcode, "Vulnerable", SAFE);

static bool has_old_microcode(const SimMachine *m, uint32_t cpu) {
        return m->settings.kernel >= SIM_KERNEL_7_3;
}

#define CPU "sys/devices/system/cpu/"
#define ONE CPU "cpu%/"
#define SHOW(path, show)                                                                                    \
        { path, 0444, SIM_FILE_TEXT, show, NULL, NULL, false }
#define SHOW_CPU(path, show)                                                                                \
        { ONE path, 0444, SIM_FILE_TEXT, show, NULL, is_online, true }

const SimFile sim_files_cpu[] = {
        SHOW(CPU "online", show_online),
        SHOW(CPU "present", show_present),
        SHOW(CPU "possible", show_present),
        SHOW(CPU "offline", show_offline),
        SHOW(CPU "isolated", show_isolated),
        SHOW(CPU "nohz_full", show_nohz_full),
        SHOW(CPU "kernel_max", show_kernel_max),
        SHOW(CPU "smt/active", show_smt_active),
        SHOW(CPU "smt/control", show_smt_control),
        { CPU "microcode", 0755, SIM_FILE_DIRECTORY, NULL, NULL, has_driver, false },
        { CPU "microcode/reload", 0200, SIM_FILE_TEXT, NULL, store_reload, has_reload, false,
          refuse_reload },

        { CPU "cpu%", 0755, SIM_FILE_DIRECTORY, NULL, NULL, NULL, false },
        { ONE "online", 0644, SIM_FILE_TEXT, show_cpu_online, store_cpu_online, can_plug, false },
        { ONE "microcode/version", 0444, SIM_FILE_TEXT, show_revision, NULL, has_cpu_microcode, true },
        { ONE "microcode/processor_flags", 0444, SIM_FILE_TEXT, show_processor_flags, NULL,
          has_cpu_microcode, true },
        SHOW_CPU("topology/core_id", show_core_id),
        SHOW_CPU("topology/physical_package_id", show_package_id),
        SHOW_CPU("topology/die_id", show_die_id),
        SHOW_CPU("topology/thread_siblings_list", show_core_list),
        SHOW_CPU("topology/thread_siblings", show_core_mask),
        SHOW_CPU("topology/core_cpus_list", show_core_list),
        SHOW_CPU("topology/core_cpus", show_core_mask),
        SHOW_CPU("topology/core_siblings_list", show_package_list),
        SHOW_CPU("topology/core_siblings", show_package_mask),
        SHOW_CPU("topology/package_cpus_list", show_package_list),
        SHOW_CPU("topology/package_cpus", show_package_mask),
        SHOW_CPU("topology/die_cpus_list", show_package_list),
        SHOW_CPU("cache/index3/size", show_cache_size),
        SHOW_CPU("cache/index3/level", show_cache_level),
        SHOW_CPU("cache/index3/type", show_cache_type),
        SHOW_CPU("cache/index3/id", show_package_id),
        SHOW_CPU("cache/index3/shared_cpu_list", show_package_list),
        SHOW_CPU("cache/index3/shared_cpu_map", show_package_mask),

        SHOW(CPU "vulnerabilities/gather_data_sampling", show_gds),
        SHOW(CPU "vulnerabilities/itlb_multihit", show_itlb),
        SHOW(CPU "vulnerabilities/l1tf", show_l1tf),
        SHOW(CPU "vulnerabilities/mds", show_mds),
        SHOW(CPU "vulnerabilities/meltdown", show_meltdown),
        SHOW(CPU "vulnerabilities/mmio_stale_data", show_mmio),
        { CPU "vulnerabilities/old_microcode", 0444, SIM_FILE_TEXT, show_old_microcode, NULL,
          has_old_microcode, false },
        SHOW(CPU "vulnerabilities/reg_file_data_sampling", show_vulnerability_none),
        SHOW(CPU "vulnerabilities/retbleed", show_retbleed),
        SHOW(CPU "vulnerabilities/spec_rstack_overflow", show_srso),
        SHOW(CPU "vulnerabilities/spec_store_bypass", show_ssb),
        SHOW(CPU "vulnerabilities/spectre_v1", show_spectre_v1),
        SHOW(CPU "vulnerabilities/spectre_v2", show_spectre_v2),
        SHOW(CPU "vulnerabilities/srbds", show_vulnerability_none),
        SHOW(CPU "vulnerabilities/tsx_async_abort", show_taa),
        {},
};
