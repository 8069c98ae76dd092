/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether this kernel can load late, and why not: a table of machines. */

#include <sched.h>
#include <sys/mount.h>

#include "core/policy/machine.h"
#include "os/support.h"
#include "tree.h"

#define support_test(name) ucs_test(support, name, .init = tmproot_init, .fini = tmproot_done)

/* Two x86 CPUs, of which only number 5 is there to be asked. */
static UcsCpu some_cpus[] = { { .cpu = 5, .signature = 0x50654 }, { .cpu = 7, .signature = 0x50654 } };
static const UcsMachine some_machine = { .vendor = UCS_VENDOR_INTEL, .cpus = some_cpus, .n_cpus = 2 };

#define RELOAD TREE_CPU "/microcode/reload"
#define PER_CPU TREE_CPU "/cpu5/microcode/version"

typedef struct File {
        const char *path, *text;
        size_t size; /* 0: up to the NUL */
} File;

support_test(machines) {
        static const struct {
                const char *name;
                File files[6];
                bool hypervisor;
                UcsSupport support;
                UcsSupportReason reason;
        } table[] = {
                { "a server", { { RELOAD, "" }, { PER_CPU, "0x1\n" } }, false, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
                { "a guest whose kernel can", { { RELOAD, "" }, { PER_CPU, "0x1\n" } }, true, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
                { "only the second CPU has the files", { { RELOAD, "" }, { TREE_CPU "/cpu7/microcode/version", "" } }, false, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
                { "files and dis_ucode_ldr: files speak", { { RELOAD, "" }, { PER_CPU, "" }, { "proc/cmdline", "dis_ucode_ldr\n" } }, false, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
                { "no reload", { { PER_CPU, "0x1\n" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_KERNEL_OPTION },
                { "no reload in a guest", { { PER_CPU, "0x1\n" } }, true, UCS_SUPPORT_ADVISORY, UCS_REASON_KERNEL_OPTION },
                { "reload without a CPU's files", { { RELOAD, "" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_NO_CPU_DRIVER },
                { "nothing", {}, false, UCS_SUPPORT_ADVISORY, UCS_REASON_NO_CPU_DRIVER },
                { "nothing in a guest", {}, true, UCS_SUPPORT_ADVISORY, UCS_REASON_VIRTUAL_MACHINE },
                { "switched off", { { "proc/cmdline", "ro dis_ucode_ldr quiet\n" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_DISABLED_BY_COMMAND_LINE },
                { "switched off in a guest", { { "proc/cmdline", "dis_ucode_ldr" } }, true, UCS_SUPPORT_ADVISORY, UCS_REASON_DISABLED_BY_COMMAND_LINE },
                { "switched off, the newer way", { { "proc/cmdline", "microcode=dis_ucode_ldr\n" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_DISABLED_BY_COMMAND_LINE },
                { "among other words", { { "proc/cmdline", "a microcode=dbg,dis_ucode_ldr b\n" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_DISABLED_BY_COMMAND_LINE },
                { "a longer word", { { "proc/cmdline", "xdis_ucode_ldr dis_ucode_ldr=0 microcode=dis_ucode_ldrs\n" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_NO_CPU_DRIVER },
                { "another module's option", { { "proc/cmdline", "other.microcode=dis_ucode_ldr\n" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_NO_CPU_DRIVER },
                { "a command line with a NUL byte", { { "proc/cmdline", "dis_ucode_ldr\0x", 15 } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_NO_CPU_DRIVER },
                { "docker", { { ".dockerenv", "" }, { RELOAD, "" }, { PER_CPU, "" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_CONTAINER },
                { "podman", { { "run/.containerenv", "engine=\"podman\"\n" }, { PER_CPU, "" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_CONTAINER },
                { "systemd says so", { { "run/systemd/container", "lxc\n" }, { RELOAD, "" }, { PER_CPU, "" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_CONTAINER },
                { "the manager says so", { { "run/host/container-manager", "systemd-nspawn" } }, true, UCS_SUPPORT_ADVISORY, UCS_REASON_CONTAINER },
                { "PID 1 says so", { { "proc/1/environ", "HOME=/\0container=lxc\0TERM=linux\0", 32 }, { PER_CPU, "" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_CONTAINER },
                { "PID 1 says no", { { "proc/1/environ", "container=\0TERM=linux\0", 22 }, { RELOAD, "" }, { PER_CPU, "" } }, false, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
                { "a variable that ends so", { { "proc/1/environ", "xcontainer=lxc\0", 15 }, { RELOAD, "" }, { PER_CPU, "" } }, false, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
                { "an empty note of systemd's", { { "run/systemd/container", "\n" }, { RELOAD, "" }, { PER_CPU, "" } }, false, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
                { "a control group's name is no sign", { { "proc/1/cgroup", "0::/docker/0123\n" }, { RELOAD, "" }, { PER_CPU, "" } }, false, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
                { "Xen's control domain", { { "sys/hypervisor/type", "xen\n" }, { "sys/hypervisor/guest_type", "PV\n" } }, true, UCS_SUPPORT_ADVISORY, UCS_REASON_XEN },
                { "Xen before guest_type", { { "sys/hypervisor/type", "xen\n" }, { PER_CPU, "" } }, false, UCS_SUPPORT_ADVISORY, UCS_REASON_XEN },
                { "Xen PVH", { { "sys/hypervisor/type", "xen\n" }, { "sys/hypervisor/guest_type", "PVH\n" } }, true, UCS_SUPPORT_ADVISORY, UCS_REASON_XEN },
                { "a full guest of Xen", { { "sys/hypervisor/type", "xen\n" }, { "sys/hypervisor/guest_type", "HVM\n" } }, true, UCS_SUPPORT_ADVISORY, UCS_REASON_VIRTUAL_MACHINE },
                { "another hypervisor", { { "sys/hypervisor/type", "kvm\n" } }, true, UCS_SUPPORT_ADVISORY, UCS_REASON_VIRTUAL_MACHINE },
                { "a container below Xen", { { "sys/hypervisor/type", "xen\n" }, { ".dockerenv", "" } }, true, UCS_SUPPORT_ADVISORY, UCS_REASON_CONTAINER },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsMachine m = some_machine;
                UcsSupportReason reason = _UCS_SUPPORT_REASON_INVALID;
                UcsSupport support = _UCS_SUPPORT_INVALID;

                for (size_t k = 0; k < ELEMENTSOF(table[i].files) && table[i].files[k].path; k++) {
                        const File *f = &table[i].files[k];

                        tmproot_write(f->path, f->text, f->size ?: strlen(f->text));
                }
                m.hypervisor = table[i].hypervisor;
                cr_assert_eq(ucs_support_read(tmproot, &m, &support, &reason), 0);
                cr_expect_str_eq(ucs_support_reason_to_string(reason), ucs_support_reason_to_string(table[i].reason), "%s: %s",
                                 table[i].name, ucs_support_reason_to_string(reason));
                cr_expect_eq(support, table[i].support, "%s", table[i].name);
                for (size_t k = 0; k < ELEMENTSOF(table[i].files) && table[i].files[k].path; k++)
                        tmproot_unlink(table[i].files[k].path);
                tree_remove(TREE_CPU);
        }
}

support_test(other_architecture) {
        UcsCpu cpu = { .cpu = 0 };
        UcsMachine m = { .cpus = &cpu, .n_cpus = 1 };
        UcsSupportReason reason;
        UcsSupport support;

        cr_assert_eq(ucs_support_read(tmproot, &m, &support, &reason), 0);
        cr_expect_eq(reason, UCS_REASON_ARCHITECTURE);
        cr_expect_eq(support, UCS_SUPPORT_ADVISORY);

        /* before the question of containers; but an x86 CPU of a vendor without loader is one */
        tmproot_text(".dockerenv", "");
        cr_assert_eq(ucs_support_read(tmproot, &m, &support, &reason), 0);
        cr_expect_eq(reason, UCS_REASON_ARCHITECTURE);
        tmproot_unlink(".dockerenv");
        cpu.signature = 0x900f02;
        cr_assert_eq(ucs_support_read(tmproot, &m, &support, &reason), 0);
        cr_expect_eq(reason, UCS_REASON_NO_CPU_DRIVER);
}

static void read_only(UcsSupport support_expected, UcsSupportReason expected, const char *what) {
        UcsSupportReason reason;
        UcsSupport support;

        cr_assert_eq(ucs_support_read(tmproot, &some_machine, &support, &reason), 0);
        cr_expect_str_eq(ucs_support_reason_to_string(reason), ucs_support_reason_to_string(expected), "%s: %s", what,
                         ucs_support_reason_to_string(reason));
        cr_expect_eq(support, support_expected, "%s", what);
}

/* As ProtectKernelTunables= leaves it: a mount that is read-only, the same below it writable again. */
support_test(read_only_mount) {
        const char *directory;

        tmproot_text(RELOAD, "");
        tmproot_text(PER_CPU, "");
        tmproot_text("writable/reload", "");
        directory = tmproot_at(TREE_CPU "/microcode");
        if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount(directory, directory, NULL, MS_BIND, NULL) < 0)
                cr_skip("no mounts here");
        (void) close(tmproot); /* it still lies in the mount namespace of before */
        cr_assert_eq(ucs_root_open(tmproot_path, &tmproot, NULL), 0);
        read_only(UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE, "a mount");
        cr_assert_eq(mount(NULL, directory, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
        read_only(UCS_SUPPORT_ADVISORY, UCS_REASON_READ_ONLY, "a read-only mount");
        cr_assert_eq(mount(tmproot_at("writable"), directory, NULL, MS_BIND, NULL), 0);
        read_only(UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE, "writable again");
        cr_assert_eq(umount(directory), 0);
        cr_assert_eq(umount(directory), 0);
}
