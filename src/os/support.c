/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether this kernel can load late, and why not; see support.h. One table of questions, asked in its order: the first that knows the
 * answer gives it. Nothing is tried out: reload is looked at and never opened for writing. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "os/root.h"
#include "os/support.h"

#define CPU_DIRECTORY "sys/devices/system/cpu"
#define RELOAD_DIRECTORY CPU_DIRECTORY "/microcode"
#define TEXT_MAX 4096U
#define ENVIRON_MAX (256U * 1024U)
#define COMMAND_LINE_MAX (64U * 1024U) /* COMMAND_LINE_SIZE is 2048 on x86 */

/* The files themselves, looked at once. */
typedef struct Files {
        bool reload;    /* microcode/reload */
        bool read_only; /* and it cannot be written from here */
        bool per_cpu;   /* cpuN/microcode of some online CPU */
} Files;

static bool exists(int root_fd, const char *path) {
        return ucs_root_exists(root_fd, path) > 0;
}

static bool is_other_architecture(int root_fd, const UcsMachine *m, const Files *f) {
        if (m->vendor != UCS_VENDOR_UNKNOWN || f->reload || f->per_cpu)
                return false;
        for (size_t i = 0; i < m->n_cpus; i++)
                if (m->cpus[i].signature != 0)
                        return false;
#if defined(__x86_64__) || defined(__i386__)
        /* no cpuinfo to read, but this very program runs there */
        if (ucs_root_is_host(root_fd))
                return false;
#endif
        return true;
}

/* A file whose first line is not empty. */
static bool says_something(int root_fd, const char *path) {
        _cleanup_free_ char *text = NULL;

        return ucs_root_read(root_fd, path, TEXT_MAX, &text, NULL, NULL) >= 0 && strcspn(text, " \t\r\n") > 0;
}

/* container= of PID 1, not empty. Readable only with PID 1's own privileges; systemd copies it to run/systemd/container. */
static bool environment_names_container(int root_fd) {
        _cleanup_free_ char *text = NULL;
        size_t size;

        if (ucs_root_read_bytes(root_fd, "proc/1/environ", ENVIRON_MAX, &text, &size, NULL) < 0)
                return false;
        for (size_t i = 0; i < size; i += strlen(text + i) + 1) {
                const char *value = str_startswith(text + i, "container=");

                if (value && *value)
                        return true;
        }
        return false;
}

static bool is_container(int root_fd, const UcsMachine *m, const Files *f) {
        return says_something(root_fd, "run/host/container-manager") || says_something(root_fd, "run/systemd/container") ||
               exists(root_fd, "run/.containerenv") || exists(root_fd, ".dockerenv") || environment_names_container(root_fd);
}

static bool is_word(int root_fd, const char *path, const char *word) {
        _cleanup_free_ char *text = NULL;

        return ucs_root_read(root_fd, path, TEXT_MAX, &text, NULL, NULL) >= 0 && streq(str_strip(text), word);
}

static bool is_xen(int root_fd, const UcsMachine *m, const Files *f) {
        return is_word(root_fd, "sys/hypervisor/type", "xen") && !is_word(root_fd, "sys/hypervisor/guest_type", "HVM");
}

static bool is_read_only(int root_fd, const UcsMachine *m, const Files *f) {
        return f->reload && f->per_cpu && f->read_only;
}

static bool is_late_load(int root_fd, const UcsMachine *m, const Files *f) {
        return f->reload && f->per_cpu;
}

static bool is_kernel_option(int root_fd, const UcsMachine *m, const Files *f) {
        return f->per_cpu && !f->reload;
}

/* "dis_ucode_ldr" as a word of its own, or among the words of "microcode=" (Documentation/admin-guide/kernel-parameters.txt). */
static bool is_disabled(int root_fd, const UcsMachine *m, const Files *f) {
        static const char word[] = "dis_ucode_ldr";
        _cleanup_free_ char *text = NULL;
        char *save = NULL;

        if (ucs_root_read(root_fd, "proc/cmdline", COMMAND_LINE_MAX, &text, NULL, NULL) < 0)
                return false;
        for (char *p = strtok_r(text, " \t\n", &save); p; p = strtok_r(NULL, " \t\n", &save)) {
                const char *list = str_startswith(p, "microcode=");
                char *save_item = NULL;

                if (streq(p, word))
                        return true;
                if (!list)
                        continue;
                for (char *item = strtok_r(p + (list - p), ",", &save_item); item; item = strtok_r(NULL, ",", &save_item))
                        if (streq(item, word))
                                return true;
        }
        return false;
}

static bool is_virtual_machine(int root_fd, const UcsMachine *m, const Files *f) {
        return m->hypervisor;
}

static bool is_anything(int root_fd, const UcsMachine *m, const Files *f) {
        return true;
}

static const struct {
        bool (*asked)(int root_fd, const UcsMachine *m, const Files *f);
        UcsSupport support;
        UcsSupportReason reason;
} questions[] = {
        { is_other_architecture, UCS_SUPPORT_ADVISORY, UCS_REASON_ARCHITECTURE },
        { is_container, UCS_SUPPORT_ADVISORY, UCS_REASON_CONTAINER },
        { is_xen, UCS_SUPPORT_ADVISORY, UCS_REASON_XEN },
        { is_read_only, UCS_SUPPORT_ADVISORY, UCS_REASON_READ_ONLY },
        { is_late_load, UCS_SUPPORT_LATE_LOAD, UCS_REASON_NONE },
        { is_kernel_option, UCS_SUPPORT_ADVISORY, UCS_REASON_KERNEL_OPTION },
        { is_disabled, UCS_SUPPORT_ADVISORY, UCS_REASON_DISABLED_BY_COMMAND_LINE },
        { is_virtual_machine, UCS_SUPPORT_ADVISORY, UCS_REASON_VIRTUAL_MACHINE },
        { is_anything, UCS_SUPPORT_ADVISORY, UCS_REASON_NO_CPU_DRIVER },
};

/* Root passes by permission bits, but not by a read-only mount (ProtectKernelTunables= without ReadWritePaths=); in a user namespace root is
 * not the file's owner. Somebody else's lack of rights says nothing about the machine. */
static bool reload_is_read_only(int root_fd) {
        _cleanup_fd_ int fd = -EBADF, dir_fd = -EBADF;
        struct statvfs vfs;

        fd = ucs_root_openat(root_fd, RELOAD_DIRECTORY "/reload", O_PATH);
        if (fd >= 0 && fstatvfs(fd, &vfs) == 0 && (vfs.f_flag & ST_RDONLY))
                return true;
        if (geteuid() != 0)
                return false;
        dir_fd = ucs_root_openat(root_fd, RELOAD_DIRECTORY, O_PATH | O_DIRECTORY);
        return dir_fd >= 0 && faccessat(dir_fd, "reload", W_OK, AT_EACCESS) < 0 &&
               (errno == EROFS || errno == EACCES || errno == EPERM);
}

static void look_at_files(int root_fd, const UcsMachine *m, Files *ret) {
        Files f = {};

        f.reload = exists(root_fd, RELOAD_DIRECTORY "/reload");
        for (size_t i = 0; i < m->n_cpus && !f.per_cpu; i++) {
                char path[sizeof(CPU_DIRECTORY) + 32];

                (void) snprintf(path, sizeof(path), CPU_DIRECTORY "/cpu%u/microcode", m->cpus[i].cpu);
                f.per_cpu = exists(root_fd, path);
        }
        f.read_only = f.reload && reload_is_read_only(root_fd);
        *ret = f;
}

int ucs_support_read(int root_fd, const UcsMachine *m, UcsSupport *ret, UcsSupportReason *ret_reason) {
        size_t i = 0;
        Files f;

        look_at_files(root_fd, m, &f);
        while (!questions[i].asked(root_fd, m, &f))
                i++;
        *ret = questions[i].support;
        *ret_reason = questions[i].reason;
        return 0;
}
