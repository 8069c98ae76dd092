/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel by what it offers: a table of trees. */

#include "core/policy/machine.h"
#include "os/kernel.h"
#include "tree.h"

#define kernel_test(name) ucs_test(kernel, name, .init = tmproot_init, .fini = tmproot_done)

#define PARAMETER "sys/module/microcode/parameters/force_minrev"
#define OLD_MICROCODE TREE_CPU "/vulnerabilities/old_microcode"
#define SMT TREE_CPU "/smt/control"
#define ANY "sys/module/firmware_class/parameters/path" /* makes sys/module be there */
#define RELEASE "proc/sys/kernel/osrelease"
#define CONFIG "boot/config-6.18.1-x"

/* Two cores with two threads each, the siblings after the cores. */
static UcsCpu some_cpus[] = { { .cpu = 0, .core = 0 }, { .cpu = 1, .core = 1 }, { .cpu = 2, .core = 0 }, { .cpu = 3, .core = 1 } };
static const UcsMachine some_machine = { .vendor = UCS_VENDOR_INTEL, .cpus = some_cpus, .n_cpus = 4 };

typedef struct File {
        const char *path, *text;
} File;

kernel_test(kernels) {
        static const struct {
                const char *name;
                File files[6];
                UcsKernel expected;
        } table[] = {
                { "nothing at all", {}, { .generation = UCS_KERNEL_UNKNOWN, .digest_check = true, .all_cpus = true } },
                { "4.14", { { ANY, "\n" } }, { .generation = UCS_KERNEL_OLD, .digest_check = true, .all_cpus = true } },
                { "6.1", { { ANY, "\n" }, { SMT, "on\n" } }, { .generation = UCS_KERNEL_OLD, .digest_check = true } },
                { "6.12", { { PARAMETER, "N\n" }, { SMT, "on\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true } },
                { "6.12, forced", { { PARAMETER, "Y\n" }, { SMT, "on\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .force_minrev = true } },
                { "6.12, the parameter knows better than the command line", { { PARAMETER, "N\n" }, { "proc/cmdline", "microcode.force_minrev=1\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true } },
                { "6.12, a parameter of garbage", { { PARAMETER, "perhaps\n" }, { "proc/cmdline", "microcode.force_minrev=y\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .force_minrev = true } },
                { "7.3", { { OLD_MICROCODE, "Not affected\n" }, { ANY, "\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true } },
                { "7.3, forced", { { OLD_MICROCODE, "" }, { "proc/cmdline", "ro microcode=force_minrev quiet\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .force_minrev = true } },
                { "7.3, forced among other words", { { OLD_MICROCODE, "" }, { "proc/cmdline", "microcode=dbg,force_minrev,base_rev=0x1\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .force_minrev = true } },
                { "longer and foreign words", { { OLD_MICROCODE, "" }, { "proc/cmdline", "xmicrocode=force_minrev microcode=force_minrevs other.microcode=force_minrev microcode.amd_sha_check=offset\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true } },
                { "words for init", { { OLD_MICROCODE, "" }, { "proc/cmdline", "quiet -- microcode=force_minrev dis_ucode_ldr\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true } },
                { "an old kernel knows no such option", { { ANY, "" }, { SMT, "on\n" }, { "proc/cmdline", "microcode.force_minrev\n" } }, { .generation = UCS_KERNEL_OLD, .digest_check = true } },
                { "no digests", { { OLD_MICROCODE, "" }, { "proc/cmdline", "microcode.amd_sha_check=off\n" } }, { .generation = UCS_KERNEL_MODERN, .parallel = true } },
                { "no loader", { { OLD_MICROCODE, "" }, { "proc/cmdline", "dis_ucode_ldr\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .loader_off = true } },
                { "no loader, the newer way", { { OLD_MICROCODE, "" }, { "proc/cmdline", "microcode=dis_ucode_ldr\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .loader_off = true } },
                { "build options: all", { { OLD_MICROCODE, "" }, { RELEASE, "6.18.1-x\n" }, { CONFIG, "# x\nCONFIG_MICROCODE_LATE_FORCE_MINREV=y\nCONFIG_FW_LOADER_COMPRESS=y\nCONFIG_FW_LOADER_COMPRESS_XZ=y\nCONFIG_FW_LOADER_COMPRESS_ZSTD=y" } },
                  { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .force_minrev = true, .minrev_built_in = true, .compression_known = true, .zstd = true, .xz = true } },
                { "build options: none", { { OLD_MICROCODE, "" }, { RELEASE, "6.18.1-x\n" }, { CONFIG, "# CONFIG_FW_LOADER_COMPRESS is not set\n# CONFIG_MICROCODE_LATE_FORCE_MINREV is not set\n" } },
                  { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .compression_known = true } },
                { "build options: zstd alone", { { OLD_MICROCODE, "" }, { RELEASE, "6.18.1-x\n" }, { CONFIG, "CONFIG_FW_LOADER_COMPRESS=y\n# CONFIG_FW_LOADER_COMPRESS_XZ is not set\nCONFIG_FW_LOADER_COMPRESS_ZSTD=y\n" } },
                  { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .compression_known = true, .zstd = true } },
                { "build options: before there was a choice", { { ANY, "" }, { SMT, "on\n" }, { RELEASE, "6.18.1-x\n" }, { "lib/modules/6.18.1-x/config", "CONFIG_FW_LOADER_COMPRESS=y\n" } },
                  { .generation = UCS_KERNEL_OLD, .digest_check = true, .compression_known = true, .xz = true } },
                { "the command line against the build options", { { OLD_MICROCODE, "" }, { RELEASE, "6.18.1-x\n" }, { CONFIG, "CONFIG_MICROCODE_LATE_FORCE_MINREV=y\n" }, { "proc/cmdline", "microcode.force_minrev=0\n" } },
                  { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true, .minrev_built_in = true, .compression_known = true } },
                { "another kernel's build options", { { OLD_MICROCODE, "" }, { RELEASE, "6.18.2-x\n" }, { CONFIG, "CONFIG_MICROCODE_LATE_FORCE_MINREV=y\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true } },
                { "a release that leads elsewhere", { { OLD_MICROCODE, "" }, { RELEASE, "../config-6.18.1-x\n" }, { CONFIG, "CONFIG_MICROCODE_LATE_FORCE_MINREV=y\n" } }, { .generation = UCS_KERNEL_MODERN, .digest_check = true, .parallel = true } },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const UcsKernel *x = &table[i].expected;
                UcsKernel k = {};

                for (size_t n = 0; n < ELEMENTSOF(table[i].files) && table[i].files[n].path; n++)
                        tmproot_text(table[i].files[n].path, table[i].files[n].text);
                for (unsigned again = 0; again < 2; again++) { /* what is kept says the same */
                        ucs_kernel_read(tmproot, &some_machine, &k);
#define SAME(field) cr_expect_eq(k.field, x->field, "%s: " #field " is %d", table[i].name, (int) k.field)
                        SAME(generation);
                        SAME(force_minrev);
                        SAME(minrev_built_in);
                        SAME(digest_check);
                        SAME(loader_off);
                        SAME(parallel);
                        SAME(compression_known);
                        SAME(zstd);
                        SAME(xz);
                        SAME(llc_known);
                        if (x->generation != UCS_KERNEL_MODERN)
                                SAME(all_cpus);
                        else
                                cr_expect_not(k.all_cpus, "%s", table[i].name);
                }
                for (size_t n = 0; n < ELEMENTSOF(table[i].files) && table[i].files[n].path; n++)
                        tmproot_unlink(table[i].files[n].path);
                tree_remove("sys");
        }
}

/* The parameter is writable at run time, and another kernel may be below the same root after a reboot. */
kernel_test(changes) {
        UcsKernel k = {};

        tmproot_text(PARAMETER, "N\n");
        tmproot_text(RELEASE, "6.18.1-x\n");
        tmproot_text(CONFIG, "CONFIG_FW_LOADER_COMPRESS_ZSTD=y\n");
        ucs_kernel_read(tmproot, &some_machine, &k);
        cr_expect_not(k.force_minrev);
        cr_expect(k.zstd);
        cr_expect_str_eq(k.release, "6.18.1-x");
        tmproot_text(PARAMETER, "Y\n");
        ucs_kernel_read(tmproot, &some_machine, &k);
        cr_expect(k.force_minrev);
        tmproot_text(RELEASE, "5.4.0\n");
        ucs_kernel_read(tmproot, &some_machine, &k);
        cr_expect_not(k.compression_known || k.zstd);
        cr_expect_str_eq(k.release, "5.4.0");
}

kernel_test(nodes) {
        static const struct {
                const char *possible, *has_cpu, *without;
                UcsVendor vendor;
        } table[] = {
                { "0-1\n", "0-1\n", "", UCS_VENDOR_AMD },
                { "0-2\n", "0-1\n", "2", UCS_VENDOR_AMD },
                { "0-7\n", "0,4\n", "1-3,5-7", UCS_VENDOR_AMD },
                { "0-1\n", "\n", "0-1", UCS_VENDOR_AMD },
                { "0-2\n", "0-1\n", "", UCS_VENDOR_INTEL },
                { "0-2\n", NULL, "", UCS_VENDOR_AMD },
                { "0-2\n", "some\n", "", UCS_VENDOR_AMD },
                { "0-99999\n", "0\n", "", UCS_VENDOR_AMD },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsKernel k = { .nodes_without_cpus = "left over" };
                UcsMachine m = some_machine;

                m.vendor = table[i].vendor;
                tree_remove("sys");
                tmproot_text("sys/devices/system/node/possible", table[i].possible);
                if (table[i].has_cpu)
                        tmproot_text("sys/devices/system/node/has_cpu", table[i].has_cpu);
                ucs_kernel_read(tmproot, &m, &k);
                cr_expect_str_eq(k.nodes_without_cpus, table[i].without, "row %zu: %s", i, k.nodes_without_cpus);
        }
}

kernel_test(cache) {
        static const struct {
                const char *size, *sharing;
                bool known;
                uint64_t per_core;
        } table[] = {
                { "6144K\n", "0-3\n", true, 3 << 20 },
                { "5120K\n", "0-3\n", true, 2621440 },
                { "6144K\n", "0,2\n", true, 6 << 20 },   /* one core */
                { "6144K\n", "0-3,64\n", true, 3 << 20 }, /* CPUs that are not there */
                { "6144K\n", "64\n", false, 0 },
                { "6144\n", "0-3\n", false, 0 },
                { "K\n", "0-3\n", false, 0 },
                { "18014398509481985K\n", "0-3\n", false, 0 },
                { "6144K\n", "all of them\n", false, 0 },
                { NULL, "0-3\n", false, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsKernel k = { .llc_known = true, .llc_per_core = 4711 };

                tree_remove("sys");
                if (table[i].size)
                        tmproot_text(TREE_CPU "/cpu0/cache/index3/size", table[i].size);
                tmproot_text(TREE_CPU "/cpu0/cache/index3/shared_cpu_list", table[i].sharing);
                ucs_kernel_read(tmproot, &some_machine, &k);
                cr_expect_eq(k.llc_known, table[i].known, "row %zu", i);
                cr_expect_eq(k.llc_per_core, table[i].per_core, "row %zu: %lu", i, k.llc_per_core);
        }
        ucs_kernel_read(tmproot, &(UcsMachine){}, &(UcsKernel){});
}
