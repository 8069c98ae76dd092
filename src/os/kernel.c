/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel by what it offers; see kernel.h. Everything is looked at and nothing is tried out. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "os/kernel.h"
#include "os/root.h"

#define CPU_DIRECTORY "sys/devices/system/cpu"
#define FORCE_MINREV "sys/module/microcode/parameters/force_minrev"
#define NODE_DIRECTORY "sys/devices/system/node"
#define OLD_MICROCODE CPU_DIRECTORY "/vulnerabilities/old_microcode"
#define TEXT_MAX 4096U
#define COMMAND_LINE_MAX (64U * 1024U) /* COMMAND_LINE_SIZE is 2048 on x86 */
#define CONFIG_MAX (2U * 1024U * 1024U) /* some 300 KiB of a distribution */

static bool exists(int root_fd, const char *path) {
        return ucs_root_exists(root_fd, path) > 0;
}

static UcsKernelGeneration read_generation(int root_fd) {
        if (exists(root_fd, FORCE_MINREV) || exists(root_fd, OLD_MICROCODE))
                return UCS_KERNEL_MODERN;
        return exists(root_fd, "sys/module") ? UCS_KERNEL_OLD : UCS_KERNEL_UNKNOWN;
}

/* What the command line says of the loader; the last word about a thing counts. */
typedef struct Words {
        bool loader_off, digest_check_off;
        bool minrev_said, minrev; /* microcode.force_minrev, microcode=force_minrev */
} Words;

static void take_list(Words *w, char *list) {
        char *save = NULL;

        for (char *item = strtok_r(list, ",", &save); item; item = strtok_r(NULL, ",", &save))
                if (streq(item, "dis_ucode_ldr"))
                        w->loader_off = true;
                else if (streq(item, "force_minrev"))
                        w->minrev_said = w->minrev = true;
}

static void take_word(Words *w, char *word) {
        const char *value;

        if (streq(word, "dis_ucode_ldr"))
                w->loader_off = true;
        else if (streq(word, "microcode.amd_sha_check=off"))
                w->digest_check_off = true;
        else if (streq(word, "microcode.force_minrev")) /* a boolean without a value is true */
                w->minrev_said = w->minrev = true;
        else if ((value = str_startswith(word, "microcode.force_minrev="))) {
                if (ucs_parse_bool(value, &w->minrev) >= 0)
                        w->minrev_said = true;
        } else if ((value = str_startswith(word, "microcode=")))
                take_list(w, word + (value - word));
}

/* Words after "--" are init's. */
static Words read_command_line(int root_fd) {
        _cleanup_free_ char *text = NULL;
        char *save = NULL;
        Words w = {};

        if (ucs_root_read(root_fd, "proc/cmdline", COMMAND_LINE_MAX, &text, NULL, NULL) < 0)
                return w;
        for (char *p = strtok_r(text, " \t\n", &save); p && !streq(p, "--"); p = strtok_r(NULL, " \t\n", &save))
                take_word(&w, p);
        return w;
}

/* The text of this kernel's build options, or NULL. */
static char *read_config(int root_fd, const char *release) {
        static const char *const places[] = { "boot/config-%s", "lib/modules/%s/config", "usr/lib/modules/%s/config" };

        if (!*release || strchr(release, '/'))
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                const char *rest = strstr(places[i], "%s") + strlen("%s");
                char path[160], *text;

                (void) snprintf(path, sizeof(path), "%.*s%s%s", (int) (strlen(places[i]) - strlen(rest) - strlen("%s")), places[i], release, rest);
                if (ucs_root_read(root_fd, path, CONFIG_MAX, &text, NULL, NULL) >= 0)
                        return text;
        }
        return NULL;
}

static bool config_has(const char *config, const char *line) {
        size_t n = strlen(line);

        for (const char *p = config; p; p = strchr(p, '\n')) {
                p += *p == '\n';
                if (strncmp(p, line, n) == 0 && (p[n] == '\n' || p[n] == '\0'))
                        return true;
        }
        return false;
}

/* Build options do not change while the kernel runs. */
static void read_options(int root_fd, UcsKernel *k) {
        _cleanup_free_ char *release = NULL, *config = NULL;
        const char *name = "";

        if (ucs_root_read(root_fd, "proc/sys/kernel/osrelease", TEXT_MAX, &release, NULL, NULL) >= 0)
                name = str_strip(release);
        if (*name && streq(k->release, name))
                return;
        (void) snprintf(k->release, sizeof(k->release), "%s", name);
        k->compression_known = k->zstd = k->xz = k->minrev_built_in = false;
        config = read_config(root_fd, name);
        if (!config)
                return;
        k->compression_known = true;
        k->zstd = config_has(config, "CONFIG_FW_LOADER_COMPRESS_ZSTD=y");
        /* before 5.19 there was only xz, and no option of its own */
        k->xz = config_has(config, "CONFIG_FW_LOADER_COMPRESS_XZ=y") ||
                (config_has(config, "CONFIG_FW_LOADER_COMPRESS=y") && !strstr(config, "CONFIG_FW_LOADER_COMPRESS_XZ"));
        k->minrev_built_in = config_has(config, "CONFIG_MICROCODE_LATE_FORCE_MINREV=y");
}

static bool read_force_minrev(int root_fd, const UcsKernel *k, const Words *w) {
        _cleanup_free_ char *text = NULL;
        bool on;

        if (k->generation == UCS_KERNEL_OLD)
                return false;
        if (ucs_root_read(root_fd, FORCE_MINREV, TEXT_MAX, &text, NULL, NULL) >= 0 && ucs_parse_bool(str_strip(text), &on) >= 0)
                return on;
        return w->minrev_said ? w->minrev : k->minrev_built_in;
}

/* "25344K", as drivers/base/cacheinfo.c prints it. */
static int parse_size(char *s, uint64_t *ret) {
        size_t n = strlen(s);
        uint64_t kib;

        if (n == 0 || s[n - 1] != 'K')
                return -EINVAL;
        s[n - 1] = '\0';
        if (ucs_parse_u64(s, 10, &kib) < 0 || kib > UINT64_MAX / 1024)
                return -EINVAL;
        *ret = kib * 1024;
        return 0;
}

/* Cores among the online CPUs of a set; CPUs are sorted by number, siblings may lie far apart. */
static unsigned count_cores(const UcsMachine *m, const UcsCpuSet *set) {
        unsigned n = 0;

        for (size_t i = 0; i < m->n_cpus; i++) {
                const UcsCpu *c = &m->cpus[i];
                bool seen = !ucs_cpuset_has(set, c->cpu);

                for (size_t j = 0; j < i && !seen && c->core != UCS_ID_UNKNOWN; j++)
                        seen = ucs_cpuset_has(set, m->cpus[j].cpu) && m->cpus[j].package == c->package && m->cpus[j].core == c->core;
                n += !seen;
        }
        return n;
}

static void read_cache(int root_fd, const UcsMachine *m, UcsKernel *k) {
        _cleanup_free_ char *size = NULL, *list = NULL;
        UcsCpuSet sharing;
        uint64_t bytes;
        char path[96];
        unsigned n;

        k->llc_known = false;
        k->llc_per_core = 0;
        if (m->n_cpus == 0)
                return;
        (void) snprintf(path, sizeof(path), CPU_DIRECTORY "/cpu%" PRIu32 "/cache/index3/size", m->cpus[0].cpu);
        if (ucs_root_read(root_fd, path, TEXT_MAX, &size, NULL, NULL) < 0 || parse_size(str_strip(size), &bytes) < 0)
                return;
        (void) snprintf(path, sizeof(path), CPU_DIRECTORY "/cpu%" PRIu32 "/cache/index3/shared_cpu_list", m->cpus[0].cpu);
        if (ucs_root_read(root_fd, path, TEXT_MAX, &list, NULL, NULL) < 0 || ucs_cpuset_parse(list, &sharing, NULL) < 0)
                return;
        n = count_cores(m, &sharing);
        if (n == 0)
                return;
        k->llc_known = true;
        k->llc_per_core = bytes / n;
}

static bool read_list(int root_fd, const char *path, UcsCpuSet *ret) {
        _cleanup_free_ char *text = NULL;

        return ucs_root_read(root_fd, path, TEXT_MAX, &text, NULL, NULL) >= 0 && ucs_cpuset_parse(text, ret, NULL) >= 0;
}

/* Memory alone (CXL, or what may be plugged in). Node numbers are as small as CPU numbers. A list that is too long keeps its beginning. */
static void read_nodes(int root_fd, const UcsMachine *m, UcsKernel *k) {
        _cleanup_free_ char *list = NULL;
        UcsCpuSet possible, with_cpus;

        k->nodes_without_cpus[0] = '\0';
        if (m->vendor != UCS_VENDOR_AMD || !read_list(root_fd, NODE_DIRECTORY "/possible", &possible) ||
            !read_list(root_fd, NODE_DIRECTORY "/has_cpu", &with_cpus))
                return;
        FOREACH_CPU(node, &with_cpus)
                ucs_cpuset_remove(&possible, node);
        if (ucs_cpuset_format(&possible, &list) >= 0)
                (void) snprintf(k->nodes_without_cpus, sizeof(k->nodes_without_cpus), "%s", list);
}

void ucs_kernel_read(int root_fd, const UcsMachine *m, UcsKernel *k) {
        Words w = read_command_line(root_fd);

        read_options(root_fd, k);
        k->generation = read_generation(root_fd);
        k->force_minrev = read_force_minrev(root_fd, k, &w);
        k->digest_check = !w.digest_check_off;
        k->loader_off = w.loader_off;
        k->old_microcode = exists(root_fd, OLD_MICROCODE);
        k->all_cpus = k->generation != UCS_KERNEL_MODERN && !exists(root_fd, CPU_DIRECTORY "/smt/control");
        k->parallel = k->generation == UCS_KERNEL_MODERN || ucs_root_is_host(root_fd);
        read_cache(root_fd, m, k);
        read_nodes(root_fd, m, k);
}
