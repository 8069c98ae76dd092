/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a write to reload to a verdict on the file: name, lookup, what is refused before any lookup; see
 * request.h. */

#include <errno.h>

#include "firmware.h"
#include "request.h"

uint32_t sim_signature_family(uint32_t signature) {
        uint32_t base = signature >> 8 & 0xf;

        return base == 0xf ? base + (signature >> 20 & 0xff) : base;
}

uint32_t sim_signature_model(uint32_t signature) {
        uint32_t base = signature >> 4 & 0xf, family = signature >> 8 & 0xf;

        return family == 6 || family == 0xf ? base | (signature >> 12 & 0xf0) : base;
}

bool sim_request_wants(const SimMachine *m, uint32_t revision) {
        uint32_t package = UINT32_MAX;

        if (m->settings.vendor == SIM_INTEL || !sim_kernel_is_modern(&m->settings))
                return m->cpus[0].revision < revision;
        /* A node is a package here. CPUs of a package need not be numbered in one run, but the lowest number
         * of each comes first. */
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
                const SimCpu *c = &m->cpus[cpu];

                if (!c->online || (package != UINT32_MAX && c->package <= package))
                        continue;
                package = c->package;
                if (c->revision < revision)
                        return true;
        }
        return false;
}

/* Erratum BDX90: model 0x4f, stepping 1, more than 2.5 MiB of last level cache a core, below 0x0b000021. */
static bool blacklisted(SimMachine *m) {
        const SimSettings *s = &m->settings;

        if (s->vendor != SIM_INTEL || s->signature != 0x406f1 ||
            s->llc_kb * 1024 / s->topology.cores <= 2621440 || m->cpus[0].revision >= 0x0b000021)
                return false;
        sim_log(m, SIM_ERR,
                "microcode: Erratum BDX90: late loading with revision < 0x0b000021 (0x%x) disabled.",
                m->cpus[0].revision);
        sim_log(m, SIM_ERR,
                "microcode: Please consider either early loading through initrd/built-in or a potential BIOS update.");
        return true;
}

static void firmware_name(const SimSettings *s, char *buf, size_t size) {
        uint32_t family = sim_signature_family(s->signature);

        if (s->vendor == SIM_INTEL)
                (void) snprintf(buf, size, "intel-ucode/%02x-%02x-%02x", family,
                                sim_signature_model(s->signature), s->signature & 0xf);
        else if (family >= 0x15)
                (void) snprintf(buf, size, "amd-ucode/microcode_amd_fam%.2xh.bin", family);
        else
                (void) snprintf(buf, size, "amd-ucode/microcode_amd.bin");
}

SimVerdict sim_request(SimMachine *m, SimPatch *ret) {
        const SimSettings *s = &m->settings;
        SimFirmwareSearch search;
        SimFirmware f = {};
        SimVerdict verdict;
        char name[64];
        int r;

        if (blacklisted(m))
                return SIM_VERDICT_NOT_FOUND;
        /* AMD updates carry no minimum revision that Linux would read. */
        if (s->vendor == SIM_AMD && s->force_minrev && sim_kernel_is_modern(s))
                return SIM_VERDICT_NOT_FOUND;

        firmware_name(s, name, sizeof(name));
        r = sim_firmware_search_init(s, &search);
        if (r < 0)
                return SIM_VERDICT_BAD;
        (void) pthread_mutex_unlock(&m->lock);
        r = sim_firmware_request(&search, name, &f);
        (void) pthread_mutex_lock(&m->lock);
        sim_firmware_search_done(&search);
        if (r < 0) {
                sim_trace(m, "%s: %s", name, strerror(-r));
                return SIM_VERDICT_NOT_FOUND;
        }
        sim_trace(m, "%s: %zu bytes", f.path, f.size);
        verdict = s->vendor == SIM_INTEL ? sim_request_intel(m, f.data, f.size, ret)
                                         : sim_request_amd(m, f.data, f.size, ret);
        sim_firmware_done(&f);
        return verdict;
}
