/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Cautions; see caution.h. */

#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"
#include "core/policy/caution.h"

/* The first releases with the fix, by series; a series that is not among them never got it. */
static const unsigned fixed[][3] = {
        { 5, 4, 292 }, { 5, 10, 236 }, { 5, 15, 180 }, { 6, 1, 132 }, { 6, 6, 84 }, { 6, 12, 20 }, { 6, 13, 8 },
};
#define FIXED_MAJOR 6U
#define FIXED_MINOR 14U

/* By its number, which a distribution's kernel may have kept from before; unknown counts as fixed. */
static bool is_before_fix(const UcsKernel *k) {
        unsigned major, minor, patch = 0;

        if (k->old_microcode || sscanf(k->release, "%4u.%4u.%6u", &major, &minor, &patch) < 2)
                return false;
        for (size_t i = 0; i < ELEMENTSOF(fixed); i++)
                if (fixed[i][0] == major && fixed[i][1] == minor)
                        return patch < fixed[i][2];
        return major < FIXED_MAJOR || (major == FIXED_MAJOR && minor < FIXED_MINOR);
}

_printf_(2, 3) static int say(char ***l, const char *format, ...) {
        UcsError text = {}; /* keeps a sentence whole characters long */
        va_list ap;
        char buf[1024];

        va_start(ap, format);
        (void) vsnprintf(buf, sizeof(buf), format, ap);
        va_end(ap);
        (void) ucs_error_set(&text, -EINVAL, "%s", buf);
        for (char **s = *l; s && *s; s++)
                if (streq(*s, text.text))
                        return 0;
        return strv_push(l, text.text);
}

static bool has_newer(const UcsScan *scan) {
        const UcsCandidate *k = ucs_scan_leading(scan);

        return k && k->finding == UCS_FOUND_NEWER;
}

int ucs_caution_load(const UcsWorld *w, char ***ret) {
        _cleanup_strv_ char **l = NULL;
        int r;

        if (w->kernel && *w->kernel->nodes_without_cpus && w->machine->vendor == UCS_VENDOR_AMD && w->machine->support == UCS_SUPPORT_LATE_LOAD &&
            has_newer(w->scan) && is_before_fix(w->kernel)) {
                r = say(&l, "Be warned: Memory nodes without a CPU (%s) make kernels like this one (%s) read beyond a table as they load, which may damage "
                            "its memory; 6.14 does not, nor does one that took over e3e89178a9f4: update at boot",
                        w->kernel->nodes_without_cpus, w->kernel->release);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(l);
        return 0;
}

int ucs_caution_files(const UcsWorld *w, char ***ret) {
        _cleanup_strv_ char **l = NULL;

        for (size_t i = 0; w->scan && i < w->scan->n_candidates; i++) {
                const UcsCandidate *k = &w->scan->candidates[i];
                int r;

                if (k->skipped.code == 0 || !k->path)
                        continue;
                r = say(&l, "The kernel passes over a file without a word (%.200s) and takes %.120s", k->skipped.text, k->path);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(l);
        return 0;
}
