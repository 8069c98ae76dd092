/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Differences between two readings of CPUID; see features.h. Names as in /proc/cpuinfo (arch/x86/include/asm/cpufeatures.h). */

#include "core/record/features.h"

const UcsCpuidLeaf ucs_feature_leaves[UCS_FEATURE_LEAVES] = {
        { .leaf = 0x1 },        { .leaf = 0x7, .subleaf = 0 }, { .leaf = 0x7, .subleaf = 1 }, { .leaf = 0x7, .subleaf = 2 },
        { .leaf = 0xd, .subleaf = 1 }, { .leaf = 0x80000001 }, { .leaf = 0x80000008 },        { .leaf = 0x80000021 },
};

typedef enum Register { EAX, EBX, ECX, EDX } Register;

/* Which registers of each leaf hold features: leaf 1 EBX has the APIC id, leaf 80000008h EAX and ECX address sizes and core counts, and
 * bit 27 of leaf 1 ECX (OSXSAVE) belongs to the kernel. */
static const uint32_t masks[UCS_FEATURE_LEAVES][4] = {
        { 0, 0, ~(1U << 27), UINT32_MAX },
        { 0, UINT32_MAX, ~(1U << 4), UINT32_MAX }, /* ECX bit 4: OSPKE, the kernel's */
        { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
        { 0, 0, 0, UINT32_MAX },
        { UINT32_MAX, 0, 0, 0 },
        { 0, 0, UINT32_MAX, UINT32_MAX },
        { 0, UINT32_MAX, 0, 0 },
        { UINT32_MAX, 0, 0, 0 },
};

static const struct {
        uint8_t leaf; /* index into the table of leaves */
        uint8_t reg;
        uint8_t bit;
        const char *name;
} names[] = {
        { 0, ECX, 12, "fma" },           { 0, ECX, 25, "aes" },          { 0, ECX, 28, "avx" },        { 0, ECX, 30, "rdrand" },
        { 1, EBX, 2, "sgx" },            { 1, EBX, 4, "hle" },           { 1, EBX, 5, "avx2" },        { 1, EBX, 11, "rtm" },
        { 1, EBX, 14, "mpx" },           { 1, EBX, 16, "avx512f" },      { 1, EBX, 18, "rdseed" },     { 1, EBX, 29, "sha_ni" },
        { 1, EDX, 9, "srbds_ctrl" },     { 1, EDX, 10, "md_clear" },     { 1, EDX, 11, "rtm_always_abort" }, { 1, EDX, 13, "tsx_force_abort" },
        { 1, EDX, 14, "serialize" },     { 1, EDX, 16, "tsxldtrk" },     { 1, EDX, 20, "ibt" },        { 1, EDX, 26, "spec_ctrl" },
        { 1, EDX, 27, "intel_stibp" },   { 1, EDX, 28, "flush_l1d" },    { 1, EDX, 29, "arch_capabilities" }, { 1, EDX, 30, "core_capabilities" },
        { 1, EDX, 31, "spec_ctrl_ssbd" }, { 3, EDX, 0, "psfd" },         { 3, EDX, 1, "ipred_ctrl" },  { 3, EDX, 2, "rrsba_ctrl" },
        { 3, EDX, 4, "bhi_ctrl" },       { 6, EBX, 12, "amd_ibpb" },     { 6, EBX, 14, "amd_ibrs" },   { 6, EBX, 15, "amd_stibp" },
        { 6, EBX, 24, "amd_ssbd" },      { 6, EBX, 25, "virt_ssbd" },    { 6, EBX, 28, "amd_psfd" },   { 7, EAX, 27, "sbpb" },
        { 7, EAX, 28, "ibpb_brtype" },   { 7, EAX, 29, "srso_no" },
};

static uint32_t leaf_register(const UcsCpuidLeaf *l, Register r) {
        const uint32_t values[] = { [EAX] = l->eax, [EBX] = l->ebx, [ECX] = l->ecx, [EDX] = l->edx };

        return values[r];
}

static const char *bit_name(size_t leaf, Register r, unsigned bit) {
        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (names[i].leaf == leaf && names[i].reg == r && names[i].bit == bit)
                        return names[i].name;
        return NULL;
}

int ucs_features_compare(const UcsCpuidLeaf *before, const UcsCpuidLeaf *after, char **ret) {
        static const char *const registers[] = { [EAX] = "eax", [EBX] = "ebx", [ECX] = "ecx", [EDX] = "edx" };
        _cleanup_text_ UcsText t = {};

        for (size_t i = 0; i < UCS_FEATURE_LEAVES; i++)
                for (Register r = EAX; r <= EDX; r++) {
                        uint32_t was = leaf_register(&before[i], r), is = leaf_register(&after[i], r), differs = (was ^ is) & masks[i][r];

                        for (unsigned bit = 0; bit < 32; bit++) {
                                const char *name;

                                if (!(differs >> bit & 1))
                                        continue;
                                name = bit_name(i, r, bit);
                                ucs_text_appendf(&t, "%s%c", t.length > 0 ? " " : "", is >> bit & 1 ? '+' : '-');
                                if (name)
                                        ucs_text_append(&t, name);
                                else
                                        ucs_text_appendf(&t, "leaf%x.%u:%s[%u]", before[i].leaf, before[i].subleaf, registers[r], bit);
                        }
                }
        return ucs_text_take(&t, ret, NULL);
}
