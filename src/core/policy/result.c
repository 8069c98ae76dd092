/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What became of a load; see result.h. */

#include "base/enum.h"
#include "core/policy/result.h"

static const char *const result_names[_UCS_RESULT_MAX] = {
        [UCS_RESULT_NONE] = "",
        [UCS_RESULT_SUCCESS] = "success",
        [UCS_RESULT_NO_CHANGE] = "no-change",
        [UCS_RESULT_REFUSED] = "refused",
        [UCS_RESULT_MALFORMED] = "malformed",
        [UCS_RESULT_BUSY] = "busy",
        [UCS_RESULT_IO_ERROR] = "io-error",
        [UCS_RESULT_MIXED_REVISIONS] = "mixed-revisions",
        [UCS_RESULT_DIGEST_REJECTED] = "digest-rejected",
        [UCS_RESULT_UNEXPECTED_REVISION] = "unexpected-revision",
        [UCS_RESULT_NOT_PERMITTED] = "not-permitted",
        [UCS_RESULT_TIMEOUT] = "timeout",
        [UCS_RESULT_CANCELLED] = "cancelled",
        [UCS_RESULT_REGRESSED] = "regressed",
        [UCS_RESULT_EXTERNAL] = "external",
};
DEFINE_ENUM_STRINGS(ucs_result, UcsResult, result_names);

static const char *advice_for_laggards(const UcsCpuSet *laggards) {
        if (!laggards || ucs_cpuset_count(laggards) == 0)
                return "Some CPUs kept the old revision; 'ucodectl status' names them, and what brings them up";
        if (ucs_cpuset_has(laggards, 0))
                return "CPU 0 is among those that kept the old revision, and the kernel goes by it: acknowledge the file and request the load again "
                       "(ucodectl acknowledge, ucodectl apply --force=ignore-health)";
        return "Take the CPUs that kept the old revision offline and online again, one at a time (chcpu -d N, chcpu -e N), which gives them the new one, "
               "then ucodectl check; a further load does not reach them";
}

const char *ucs_result_advice(UcsResult r, const UcsCpuSet *laggards) {
        switch (r) {
        case UCS_RESULT_NONE:
                return "";
        case UCS_RESULT_SUCCESS:
                return "Rebuild the initramfs so that the next boot starts with this revision too, and mind that mitigations "
                       "stay as they were at boot";
        case UCS_RESULT_NO_CHANGE:
                return "The kernel had nothing to do; compare the running revision with the file (ucodectl inspect)";
        case UCS_RESULT_REFUSED:
                return "The kernel found nothing usable in the file (not newer for this CPU, a minimum revision that is not met, or a "
                       "CPU that it does not load late); it will not be tried again until the file changes";
        case UCS_RESULT_MALFORMED:
                return "The kernel calls the file malformed; reinstall the package that owns it";
        case UCS_RESULT_BUSY:
                return "A CPU that the kernel needs was offline; bring it online, the load is tried again then";
        case UCS_RESULT_IO_ERROR:
                return "The load failed on the CPUs; read the kernel log, and plan a reboot with the update in the initramfs";
        case UCS_RESULT_MIXED_REVISIONS:
                return advice_for_laggards(laggards);
        case UCS_RESULT_DIGEST_REJECTED:
                return "The kernel does not know the digest of this patch at the running revision; update the firmware (BIOS) first";
        case UCS_RESULT_UNEXPECTED_REVISION:
                return "Another revision arrived than was meant: the file was replaced between check and load; find out by whom";
        case UCS_RESULT_NOT_PERMITTED:
                return "The reload file could not be opened for writing; look at the sandbox of the unit (ReadWritePaths=) and at the mount";
        case UCS_RESULT_TIMEOUT:
                return "The kernel did not answer in time; read the kernel log before anything else is tried";
        case UCS_RESULT_CANCELLED:
                return "Nothing was written";
        case UCS_RESULT_REGRESSED:
                return "The machine misbehaved after the load; the file is held back until it is acknowledged";
        case UCS_RESULT_EXTERNAL:
                return "Another program had the kernel load; find and mask it, so that loads keep to the windows";
        case _UCS_RESULT_MAX:
        case _UCS_RESULT_INVALID:
                break;
        }
        return "";
}

bool ucs_result_rejects(UcsResult r) {
        switch (r) {
        case UCS_RESULT_NO_CHANGE: /* harmless when the target runs; otherwise a repetition would be in vain */
        case UCS_RESULT_REFUSED:
        case UCS_RESULT_MALFORMED:
        case UCS_RESULT_BUSY: /* with a time after which it is tried again */
        case UCS_RESULT_IO_ERROR:
        case UCS_RESULT_MIXED_REVISIONS:
        case UCS_RESULT_DIGEST_REJECTED:
        case UCS_RESULT_UNEXPECTED_REVISION:
        case UCS_RESULT_NOT_PERMITTED:
        case UCS_RESULT_TIMEOUT:
        case UCS_RESULT_REGRESSED:
                return true;
        case UCS_RESULT_NONE:
        case UCS_RESULT_SUCCESS:
        case UCS_RESULT_CANCELLED:
        case UCS_RESULT_EXTERNAL:
        case _UCS_RESULT_MAX:
        case _UCS_RESULT_INVALID:
                break;
        }
        return false;
}

/* The kernel's words, where the revisions leave it open. 7.3 and 6.12 say EBUSY and EIO where 6.1 says EINVAL and EPERM. */
static UcsResult judge_errno(const UcsAttempt *a) {
        if (a->open_errno != 0)
                return UCS_RESULT_NOT_PERMITTED;

        switch (a->write_errno) {
        case 0:
                return a->digest_rejected ? UCS_RESULT_DIGEST_REJECTED : UCS_RESULT_NO_CHANGE;
        case ENOENT:
                return UCS_RESULT_REFUSED;
        case EBADFD:
                return UCS_RESULT_MALFORMED;
        case EBUSY:
        case EINVAL:
                return UCS_RESULT_BUSY;
        case EROFS:
        case EACCES:
                return UCS_RESULT_NOT_PERMITTED;
        case ETIMEDOUT:
                return UCS_RESULT_TIMEOUT;
        default:
                return a->digest_rejected ? UCS_RESULT_DIGEST_REJECTED : UCS_RESULT_IO_ERROR;
        }
}

static const UcsCpu *machine_cpu(const UcsMachine *m, uint32_t number) {
        for (size_t i = 0; i < m->n_cpus; i++)
                if (m->cpus[i].cpu == number)
                        return &m->cpus[i];
        return NULL;
}

UcsResult ucs_result_judge(const UcsAttempt *a, UcsCpuSet *ret_laggards) {
        unsigned n = 0, n_target = 0, n_changed = 0, n_elsewhere = 0;
        UcsCpuSet laggards = {};
        uint32_t first = 0;
        bool uniform = true;

        for (size_t i = 0; a->after && i < a->after->n_cpus; i++) {
                const UcsCpu *now = &a->after->cpus[i], *then;

                if (now->signature != a->signature || now->platform_mask != a->platform_mask)
                        continue;
                then = a->before ? machine_cpu(a->before, now->cpu) : NULL;
                if (n++ == 0)
                        first = now->revision;
                uniform = uniform && now->revision == first;
                if (then && then->revision != now->revision)
                        n_changed++;
                if (now->revision == a->target_revision)
                        n_target++;
                else {
                        ucs_cpuset_add(&laggards, now->cpu);
                        if (then && then->revision != now->revision)
                                n_elsewhere++;
                }
        }

        if (ret_laggards)
                *ret_laggards = laggards;

        if (n == 0)
                return a->open_errno == 0 && a->write_errno == 0 ? UCS_RESULT_IO_ERROR : judge_errno(a);
        if (n_target == n)
                return n_changed > 0 ? UCS_RESULT_SUCCESS : UCS_RESULT_NO_CHANGE;
        if (n_changed == 0 && n_target == 0)
                return judge_errno(a);
        if (n_target == 0 && uniform && n_elsewhere == n)
                return UCS_RESULT_UNEXPECTED_REVISION;
        if (n_target == 0 && n_elsewhere == 0)
                return judge_errno(a);
        return UCS_RESULT_MIXED_REVISIONS;
}
