/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Raw CPUID; see cpu-features.h. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "os/cpu-features.h"
#include "os/root.h"

#define EXTENDED 0x80000000U

/* One leaf, by whatever means; false: it cannot be read. */
typedef bool (*Ask)(const void *context, uint32_t leaf, uint32_t subleaf, UcsCpuidLeaf *ret);

static bool ask_file(const void *context, uint32_t leaf, uint32_t subleaf, UcsCpuidLeaf *ret) {
        uint32_t registers[4];

        if (pread(*(const int *) context, registers, sizeof(registers), (off_t) ((uint64_t) subleaf << 32 | leaf)) != sizeof(registers))
                return false;
        *ret = (UcsCpuidLeaf){ leaf, subleaf, registers[0], registers[1], registers[2], registers[3] };
        return true;
}

static bool ask_instruction(const void *context, uint32_t leaf, uint32_t subleaf, UcsCpuidLeaf *ret) {
#if defined(__x86_64__) || defined(__i386__)
        *ret = (UcsCpuidLeaf){ .leaf = leaf, .subleaf = subleaf };
        __cpuid_count(leaf, subleaf, ret->eax, ret->ebx, ret->ecx, ret->edx);
        return true;
#else
        return false;
#endif
}

static int read_features(Ask ask, const void *context, UcsCpuidLeaf *ret) {
        UcsCpuidLeaf basic, extended, structured, leaves[UCS_FEATURE_LEAVES];

        if (!ask(context, 0, 0, &basic) || !ask(context, EXTENDED, 0, &extended))
                return -EOPNOTSUPP;
        if (basic.eax < 7 || !ask(context, 7, 0, &structured))
                structured = (UcsCpuidLeaf){};

        for (size_t i = 0; i < UCS_FEATURE_LEAVES; i++) {
                const UcsCpuidLeaf *l = &ucs_feature_leaves[i];
                bool there = l->leaf & EXTENDED ? l->leaf <= extended.eax : l->leaf <= basic.eax;

                /* a CPU answers for a leaf beyond its last one with the last one's data */
                if (l->leaf == 7 && l->subleaf > structured.eax)
                        there = false;
                leaves[i] = *l;
                if (there && !ask(context, l->leaf, l->subleaf, &leaves[i]))
                        return -EOPNOTSUPP;
        }
        memcpy(ret, leaves, sizeof(leaves));
        return 0;
}

int ucs_cpuid_features(int root_fd, unsigned cpu, UcsCpuidLeaf *ret) {
        _cleanup_fd_ int fd = -EBADF;
        char path[64];

        (void) snprintf(path, sizeof(path), "dev/cpu/%u/cpuid", cpu);
        fd = ucs_root_openat(root_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0)
                return read_features(ask_file, &fd, ret);
        if (!ucs_root_is_host(root_fd))
                return -EOPNOTSUPP;
        return read_features(ask_instruction, NULL, ret);
}
