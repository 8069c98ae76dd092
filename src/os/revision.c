/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Revisions of sysfs; see revision.h. */

#include <fcntl.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "base/parse.h"
#include "base/str.h"
#include "os/kept.h"
#include "os/revision.h"

#define DIRECTORY "/sys/devices/system/cpu/" /* for sentences only */
#define PATH_SIZE 64U
#define TEXT_SIZE 64U

typedef struct Slot {
        UcsKept version;
        bool have_mask;
        uint32_t platform_mask;
        uint32_t said, corrected; /* what the file says, and what counts instead; 0: nothing does */
} Slot;

struct UcsRevisions {
        int cpu_fd;
        UcsKeptPool pool;
        Slot *slots; /* by CPU number, n_slots */
        size_t n_slots;
};

int ucs_revisions_new(int cpu_fd, UcsRevisions **ret) {
        UcsRevisions *r;

        r = new0(UcsRevisions, 1);
        if (!r)
                return -ENOMEM;
        r->cpu_fd = fcntl(cpu_fd, F_DUPFD_CLOEXEC, 3);
        if (r->cpu_fd < 0) {
                int k = -errno;

                free(r);
                return k;
        }
        ucs_kept_pool_init(&r->pool, r->cpu_fd);
        *ret = r;
        return 0;
}

UcsRevisions *ucs_revisions_free(UcsRevisions *r) {
        if (!r)
                return NULL;
        for (size_t i = 0; i < r->n_slots; i++)
                ucs_kept_close(&r->pool, &r->slots[i].version);
        ucs_kept_pool_done(&r->pool);
        fd_close(r->cpu_fd);
        free(r->slots);
        free(r);
        return NULL;
}

static Slot *slot_of(UcsRevisions *r, unsigned cpu) {
        if (cpu >= r->n_slots) {
                const size_t n = MIN((size_t) cpu * 2 + 64, (size_t) UCS_CPU_MAX);
                Slot *p;

                if (cpu >= n)
                        return NULL;
                p = reallocarray(r->slots, n, sizeof(*p));
                if (!p)
                        return NULL;
                r->slots = p;
                for (; r->n_slots < n; r->n_slots++)
                        p[r->n_slots] = (Slot){ .version = UCS_KEPT_INIT };
        }
        return &r->slots[cpu];
}

/* "0x%x\n" (arch/x86/kernel/cpu/microcode/core.c, version_show() and processor_flags_show()). Cuts the newline off. */
static int parse_hex(char text[static TEXT_SIZE], size_t n, uint32_t *ret) {
        /* a text that fills the buffer is longer than that, and what was read of it could pass for a number */
        if (n == 0 || n == TEXT_SIZE - 1)
                return -EBADMSG;
        if (text[n - 1] == '\n')
                text[--n] = '\0';
        return strlen(text) == n && str_startswith(text, "0x") && ucs_parse_u32(text, 16, ret) >= 0 ? 0 : -EBADMSG;
}

static void name_file(char path[static PATH_SIZE], unsigned cpu, const char *name) {
        (void) snprintf(path, PATH_SIZE, "cpu%u/microcode/%s", cpu, name);
}

static int read_hex(UcsRevisions *r, UcsKept *file, const char *name, unsigned cpu, uint32_t *ret, UcsError *e) {
        char path[PATH_SIZE], text[TEXT_SIZE];
        int n;

        n = ucs_kept_read_again(&r->pool, file, text, sizeof(text));
        if (n < 0) {
                name_file(path, cpu, name);
                n = ucs_kept_read_path(&r->pool, file, path, text, sizeof(text));
        }
        if (n >= 0 && parse_hex(text, (size_t) n, ret) >= 0)
                return 0;

        name_file(path, cpu, name);
        if (n == -ENOENT || n == -ENOTDIR)
                return ucs_error_set(e, -ENOENT, DIRECTORY "%s of CPU %u is missing", path, cpu);
        if (n == 0)
                return ucs_error_set(e, -EBADMSG, DIRECTORY "%s of CPU %u is empty, expected 0x and digits", path, cpu);
        if (n > 0)
                return ucs_error_set(e, -EBADMSG, DIRECTORY "%s of CPU %u is '%.32s', expected 0x and digits", path, cpu, text);
        errno = -n;
        return ucs_error_set(e, n, "cannot read " DIRECTORY "%s of CPU %u: %m", path, cpu);
}

int ucs_revisions_read(UcsRevisions *r, unsigned cpu, uint32_t *ret_revision, uint32_t *ret_platform_mask, UcsError *e) {
        Slot *slot = slot_of(r, cpu);
        uint32_t revision = 0;
        int k;

        *ret_revision = *ret_platform_mask = 0;
        if (!slot)
                return ucs_error_set(e, -ENOMEM, "no memory for CPU %u", cpu);

        k = read_hex(r, &slot->version, "version", cpu, &revision, e);
        if (k < 0 || slot->version.renewed || revision != slot->said)
                slot->corrected = 0;
        slot->said = k < 0 ? 0 : revision;
        if (k == -ENOENT || slot->version.renewed)
                slot->have_mask = false; /* it was away meanwhile */
        if (k == -ENOENT)
                return k;
        *ret_revision = slot->corrected ?: slot->said;

        if (!slot->have_mask) {
                UcsKept once = UCS_KEPT_INIT;
                uint32_t mask = 0;
                UcsError x = {};
                int q;

                q = read_hex(r, &once, "processor_flags", cpu, &mask, &x);
                ucs_kept_close(&r->pool, &once);
                if (q < 0 && k >= 0) {
                        k = q == -ENOENT ? -EBADMSG : q; /* -ENOENT would say that there is no version file */
                        (void) ucs_error_set(e, k, "%s", x.text);
                }
                if (q < 0)
                        return k;
                slot->platform_mask = mask;
                slot->have_mask = true;
        }
        *ret_platform_mask = slot->platform_mask;
        return k;
}

bool ucs_revisions_correct(UcsRevisions *r, unsigned cpu, uint32_t revision, uint32_t *ret_said) {
        Slot *slot = cpu < r->n_slots ? &r->slots[cpu] : NULL;
        uint32_t corrected;

        if (!slot || slot->said == 0)
                return false;
        corrected = revision == slot->said ? 0 : revision;
        if (corrected == slot->corrected)
                return false;
        slot->corrected = corrected;
        if (corrected == 0)
                return false;
        *ret_said = slot->said;
        return true;
}
