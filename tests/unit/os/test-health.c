/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine's condition, a source at a time: right, missing, garbage. And what a directory lies on, with real mounts. */

#include <sched.h>
#include <sys/mount.h>

#include "base/timefmt.h"
#include "os/health.h"
#include "os/volatile.h"
#include "tree.h"

#define health_test(name) ucs_test(health, name, .init = tmproot_init, .fini = tmproot_done)
#define STATE "var/lib/ucodesync"

static UcsHealth read_health(void) {
        UcsHealth h = { .machine_checks = 4711, .early_broken_boots = 7 };

        ucs_health_read(tmproot, STATE, &h);
        cr_expect_eq(h.machine_checks, 4711U, "left alone");
        cr_expect_eq(h.early_broken_boots, 7U, "left alone");
        return h;
}

health_test(nothing_is_known) {
        UcsHealth h = read_health();

        cr_expect_not(h.tainted_known || h.realtime_kernel || h.shutting_down || h.state_volatile || h.crash_kernel || h.sgx);
        cr_expect_eq(h.uptime_usec, 0U);
        cr_expect(h.panic_reboots, "an unknown kernel.panic is no reason for a warning");
        cr_expect_str_empty(h.clocksource);
        cr_expect_eq(ucs_health_read_machine_checks(tmproot), UCS_UNKNOWN);
}

health_test(figures) {
        static const struct {
                const char *path, *text;
                bool tainted_known, realtime, crash_kernel, panic, sgx;
                uint64_t tainted, uptime;
        } table[] = {
                { "proc/sys/kernel/tainted", "0\n", .tainted_known = true, .panic = true },
                { "proc/sys/kernel/tainted", "16\n", .tainted_known = true, .tainted = 16, .panic = true },
                { "proc/sys/kernel/tainted", "", .panic = true },
                { "proc/sys/kernel/tainted", "-1\n", .panic = true },
                { "proc/sys/kernel/tainted", "M\n", .panic = true },
                { "proc/uptime", "86400.23 1234.56\n", .uptime = 86400 * USEC_PER_SEC, .panic = true },
                { "proc/uptime", "0.01 0.00\n", .uptime = 1, .panic = true }, /* known, and no time at all */
                { "proc/uptime", "long\n", .panic = true },
                { "proc/uptime", "18446744073709551615.0 0\n", .panic = true },
                { "sys/kernel/realtime", "1\n", .realtime = true, .panic = true },
                { "sys/kernel/realtime", "0\n", .panic = true },
                { "sys/kernel/kexec_crash_loaded", "1\n", .crash_kernel = true, .panic = true },
                { "sys/kernel/kexec_crash_loaded", "0\n", .panic = true },
                { "proc/sys/kernel/panic", "0\n", .panic = false },
                { "proc/sys/kernel/panic", "10\n", .panic = true },
                { "proc/sys/kernel/panic", "-1\n", .panic = true },
                { "dev/sgx_enclave", "", .sgx = true, .panic = true },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsHealth h;

                tmproot_text(table[i].path, table[i].text);
                h = read_health();
                cr_expect_eq(h.tainted_known, table[i].tainted_known, "row %zu", i);
                cr_expect_eq(h.tainted, table[i].tainted, "row %zu", i);
                cr_expect_eq(h.uptime_usec, table[i].uptime, "row %zu: %lu", i, h.uptime_usec);
                cr_expect_eq(h.realtime_kernel, table[i].realtime, "row %zu", i);
                cr_expect_eq(h.crash_kernel, table[i].crash_kernel, "row %zu", i);
                cr_expect_eq(h.panic_reboots, table[i].panic, "row %zu", i);
                cr_expect_eq(h.sgx, table[i].sgx, "row %zu", i);
                tmproot_unlink(table[i].path);
        }
        tmproot_text("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
        cr_expect_str_eq(read_health().clocksource, "hpet");
}

health_test(shutdown) {
        static const struct {
                const char *text;
                uint64_t when;
        } table[] = {
                { "USEC=1796126400000000\nWARN_WALL=1\nMODE=reboot\n", 1796126400000000 },
                { "MODE=poweroff\nUSEC=17\n", 17 },
                { "", 0 },
                { "USEC=soon\n", 0 },
                { "XUSEC=17\n", 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsHealth h;

                tmproot_text("run/systemd/shutdown/scheduled", table[i].text);
                h = read_health();
                cr_expect(h.shutting_down, "row %zu: the file alone says that much", i);
                cr_expect_eq(h.shutdown_usec, table[i].when, "row %zu", i);
        }
        tmproot_unlink("run/systemd/shutdown/scheduled");
        cr_expect_not(read_health().shutting_down, "cancelled");
}

health_test(machine_checks) {
        static const struct {
                const char *text;
                uint64_t n;
        } table[] = {
                { "            CPU0       CPU1\n NMI:          5          5   Non-maskable interrupts\n MCE:          0          0   Machine check exceptions\n MCP:         99         99   Machine check polls\n", 0 },
                { " MCE:          1          0          2   Machine check exceptions\n", 3 },
                { " MCE: 7", 7 },
                { " MCE: 1 x 1\n", 1 },
                { " MCE:\n MCP: 5\n", 0 },
                { " MCE: 18446744073709551615 1\n", UCS_UNKNOWN - 1 },
                { " MCP: 5\n", UCS_UNKNOWN },
                { "", UCS_UNKNOWN },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                tmproot_text("proc/interrupts", table[i].text);
                cr_expect_eq(ucs_health_read_machine_checks(tmproot), table[i].n, "row %zu: %lu", i, ucs_health_read_machine_checks(tmproot));
        }
}

static void expect_state(bool is_volatile, const char *name) {
        UcsHealth h = read_health();

        cr_expect_eq(h.state_volatile, is_volatile, "%s", h.state_filesystem);
        if (name)
                cr_expect_str_eq(h.state_filesystem, name, "%s", h.state_filesystem);
}

static void mount_at(const char *type, const char *path, const char *options) {
        tmproot_mkdir(path);
        cr_assert(mount(type, tmproot_at(path), type, 0, options) == 0, "%s on %s: %s", type, path, strerror(errno));
}

/* A descriptor leads into the mounts of the namespace in which it was opened. */
static void reopen_root(void) {
        (void) close(tmproot);
        cr_assert_eq(ucs_root_open(tmproot_path, &tmproot, NULL), 0);
}

/* Mounts below the root; they go with the test. */
#define need_mounts()                                                                                       \
        do {                                                                                                \
                if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)      \
                        tmproot_skip("needs mounts");                                                       \
                reopen_root();                                                                              \
        } while (0)

health_test(state_on_what) {
        need_mounts();
        mount_at("tmpfs", "", NULL);
        reopen_root();
        expect_state(true, "tmpfs"); /* of a directory that is not there yet */
        tmproot_mkdir("var");
        expect_state(true, "tmpfs");
        tmproot_mkdir(STATE);
        expect_state(true, "tmpfs");
        mount_at("ramfs", STATE, NULL);
        expect_state(true, "ramfs");
        cr_expect_eq(umount(tmproot_at(STATE)), 0);
        cr_expect_eq(umount2(tmproot_path, MNT_DETACH), 0);
}

health_test(state_on_a_disk) {
        char name[32] = "x";

        need_mounts();
        tmproot_mkdir(STATE);
        if (ucs_volatile_read(tmproot, STATE, name, sizeof(name)))
                tmproot_skip("/tmp is on %s", name);
        cr_assert_eq(mount(tmproot_at(STATE), tmproot_at(STATE), NULL, MS_BIND, NULL), 0);
        expect_state(false, NULL);
        cr_assert_eq(mount(NULL, tmproot_at(STATE), NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
        cr_expect(read_health().state_volatile);
        cr_expect(str_startswith(read_health().state_filesystem, "read-only"), "%s", read_health().state_filesystem);
        cr_expect_eq(umount(tmproot_at(STATE)), 0);
}

/* An overlay says nothing of its upper layer but where it was. */
health_test(state_on_an_overlay) {
        static const struct {
                const char *upper, *mountinfo;
                bool is_volatile;
        } table[] = {
                { "memory", "30 1 0:40 / /memory rw - tmpfs tmpfs rw\n31 1 0:41 / /var/lib rw,relatime shared:1 - overlay overlay rw,lowerdir=/lower,upperdir=/memory/upper,workdir=/memory/work\n", true },
                { "memory", "31 1 0:41 / / rw - overlay overlay rw,lowerdir=/lower,upperdir=/memory/up\\040per,workdir=/memory/work\n30 1 0:40 / /memory rw - tmpfs tmpfs rw\n", true },
                /* where the upper directory was is something else now, or not to be seen */
                { "disk", "30 1 0:40 / /memory rw - tmpfs tmpfs rw\n31 1 0:41 / / rw - overlay overlay rw,upperdir=/memory/upper\n", false },
                { "memory", "31 1 0:41 / / rw - overlay overlay rw,upperdir=/gone/upper\n", false },
                { "memory", "30 1 0:40 / /memo rw - tmpfs tmpfs rw\n31 1 0:41 / / rw - overlay overlay rw,upperdir=/memory/upper\n", false },
                { "memory", "garbage\n\n - \n1 2 3 4 /x - \n", false },
                { "memory", NULL, false },
        };

        need_mounts();
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsText options = {};

                tmproot_mkdir("lower");
                tmproot_mkdir("disk");
                mount_at("tmpfs", "memory", "size=7m");
                tmproot_mkdir(tree_path("%s/upper", table[i].upper));
                tmproot_mkdir(tree_path("%s/work", table[i].upper));
                ucs_text_appendf(&options, "lowerdir=%s,upperdir=%s,workdir=%s", tmproot_at("lower"), tmproot_at(tree_path("%s/upper", table[i].upper)),
                                 tmproot_at(tree_path("%s/work", table[i].upper)));
                tmproot_mkdir("var/lib");
                if (mount("overlay", tmproot_at("var/lib"), "overlay", 0, options.data) < 0) {
                        ucs_text_done(&options);
                        (void) umount(tmproot_at("memory"));
                        tmproot_skip("no overlay here: %s", strerror(errno));
                }
                ucs_text_done(&options);
                if (table[i].mountinfo)
                        tmproot_text("proc/self/mountinfo", table[i].mountinfo);
                else
                        tree_remove("proc");
                cr_expect_eq(read_health().state_volatile, table[i].is_volatile, "row %zu", i);
                cr_expect_str_eq(read_health().state_filesystem, table[i].is_volatile ? "overlay on tmpfs" : "overlay", "row %zu", i);
                cr_expect_eq(umount(tmproot_at("var/lib")), 0);
                cr_expect_eq(umount(tmproot_at("memory")), 0);
        }
}
