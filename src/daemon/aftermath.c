/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Before and after; see aftermath.h. */

#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "core/record/symptom.h"
#include "daemon/aftermath.h"
#include "daemon/kernel-log.h"
#include "daemon/log.h"
#include "os/clock.h"
#include "os/cpu-features.h"
#include "os/root.h"

#define CLOCKSOURCE "sys/devices/system/clocksource/clocksource0/current_clocksource"

static void read_clocksource(int root_fd, char ret[static 32]) {
        _cleanup_free_ char *text = NULL;

        ret[0] = '\0';
        if (ucs_root_read(root_fd, CLOCKSOURCE, 64, &text, NULL, NULL) >= 0)
                (void) snprintf(ret, 32, "%.31s", str_strip(text));
}

static uint64_t read_taint(int root_fd) {
        _cleanup_free_ char *text = NULL;
        uint64_t v;

        if (ucs_root_read(root_fd, "proc/sys/kernel/tainted", 64, &text, NULL, NULL) < 0 || ucs_parse_u64(str_strip(text), 10, &v) < 0)
                return UCS_UNKNOWN;
        return v;
}

static unsigned first_cpu(const Manager *m) {
        return m->machine->n_cpus > 0 ? m->machine->cpus[0].cpu : 0;
}

void aftermath_mark(Manager *m, Aftermath *a) {
        _cleanup_strv_ char **skipped = NULL;

        a->since_usec = ucs_clock_realtime_usec();
        a->have_features = ucs_cpuid_features(m->root_fd, first_cpu(m), a->features) >= 0;
        read_clocksource(m->root_fd, a->clocksource);
        a->tainted = read_taint(m->root_fd);
        (void) kernel_log_since(m->kernel_log, a->since_usec, &skipped); /* moves the mark of dev/kmsg */
}

static void note(UcsText *t, const char *sentence) {
        ucs_text_appendf(t, "%s%s", t->length > 0 ? "; " : "", sentence);
}

void aftermath_look(Manager *m, Aftermath *a) {
        UcsCpuidLeaf now[UCS_FEATURE_LEAVES];
        _cleanup_strv_ char **lines = NULL;
        _cleanup_text_ UcsText t = {};
        char clocksource[32];
        uint64_t tainted;

        if (kernel_log_since(m->kernel_log, a->since_usec, &lines) >= 0)
                a->symptoms = ucs_symptoms(lines, 0, NULL);
        for (char **line = lines; line && *line; line++)
                if (ucs_symptoms_of_line(*line))
                        log_debug("Kernel: %s", *line);

        if (a->have_features && ucs_cpuid_features(m->root_fd, first_cpu(m), now) >= 0)
                (void) ucs_features_compare(a->features, now, &a->changed);
        if (a->changed && *a->changed)
                ucs_text_appendf(&t, "CPU features changed: %s", a->changed);
        else if (a->symptoms & UCS_SYMPTOM_FEATURES)
                note(&t, "the kernel says that CPU features changed");

        read_clocksource(m->root_fd, clocksource);
        if (!streq(clocksource, a->clocksource))
                ucs_text_appendf(&t, "%sthe clocksource changed from %s to %s", t.length > 0 ? "; " : "", *a->clocksource ? a->clocksource : "none",
                                 *clocksource ? clocksource : "none");

        tainted = read_taint(m->root_fd);
        if (tainted != UCS_UNKNOWN && a->tainted != UCS_UNKNOWN && tainted & ~a->tainted)
                ucs_text_appendf(&t, "%sthe kernel is tainted with bits 0x%" PRIx64, t.length > 0 ? "; " : "", tainted & ~a->tainted);

        if (t.length > 0)
                (void) ucs_text_take(&t, &a->note, NULL);
}

void aftermath_note_enclaves(const Manager *m, Aftermath *a) {
        _cleanup_text_ UcsText t = {};
        char *text;

        if (!m->health.sgx)
                return;
        if (a->note)
                ucs_text_append(&t, a->note);
        note(&t, "sgx-svn-unchanged: SGX attestation shows the old security version until the next boot (EUPDATESVN)");
        if (ucs_text_take(&t, &text, NULL) < 0)
                return;
        free(a->note);
        a->note = text;
}

void aftermath_done(Aftermath *a) {
        free(a->changed);
        free(a->note);
        *a = (Aftermath){};
}
