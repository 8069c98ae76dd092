/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tree made of the tables; see tree.h. A component of a path with a % or # in it stands for all CPUs at
 * once, so the tree has a few hundred nodes whatever the machine. A directory that no row describes exists
 * as long as something in it does. */

#include <errno.h>

#include "base/parse.h"
#include "tree.h"

struct SimNode {
        char *name;    /* without what stands for the number */
        char wildcard; /* '%', '#' or 0; it ends the name */
        const SimFile *file;
        uint32_t parent;
        uint32_t first_child, next_sibling; /* 0: none, the root is nobody's child */
};

struct SimTree {
        SimNode *nodes;
        uint32_t n_nodes;
};

SimTree *sim_tree_free(SimTree *t) {
        if (!t)
                return NULL;
        for (uint32_t i = 0; i < t->n_nodes; i++)
                free(t->nodes[i].name);
        free(t->nodes);
        free(t);
        return NULL;
}

static int node_add(SimTree *t, uint32_t parent, const char *name, size_t length, uint32_t *ret) {
        uint32_t *link;
        SimNode n = { .parent = parent };
        SimNode *nodes;

        nodes = reallocarray(t->nodes, t->n_nodes + 1, sizeof(*nodes));
        if (!nodes)
                return -ENOMEM;
        t->nodes = nodes;
        if (length > 0 && (name[length - 1] == '%' || name[length - 1] == '#'))
                n.wildcard = name[--length];
        n.name = strndup(name, length);
        if (!n.name)
                return -ENOMEM;
        t->nodes[t->n_nodes] = n;
        *ret = t->n_nodes++;
        if (*ret == 0)
                return 0;
        for (link = &t->nodes[parent].first_child; *link; link = &t->nodes[*link].next_sibling)
                ;
        *link = *ret;
        return 0;
}

static bool node_is(const SimNode *n, const char *name, size_t length) {
        size_t k = strlen(n->name);

        if (n->wildcard)
                return length == k + 1 && memcmp(name, n->name, k) == 0 && name[k] == n->wildcard;
        return length == k && memcmp(name, n->name, k) == 0;
}

static int add_path(SimTree *t, const SimFile *file) {
        const char *p = file->path;
        uint32_t at = 0;
        int r;

        while (*p) {
                size_t length = strcspn(p, "/");
                uint32_t child = t->nodes[at].first_child;

                while (child && !node_is(&t->nodes[child], p, length))
                        child = t->nodes[child].next_sibling;
                if (!child) {
                        r = node_add(t, at, p, length, &child);
                        if (r < 0)
                                return r;
                }
                at = child;
                p += length;
                p += *p == '/';
        }
        t->nodes[at].file = file;
        return 0;
}

int sim_tree_new(SimTree **ret) {
        const SimFile *const tables[] = { sim_files_cpu, sim_files_sys, sim_files_proc, sim_files_dev };
        _cleanup_(sim_tree_freep) SimTree *t = NULL;
        uint32_t root;
        int r;

        t = new0(SimTree, 1);
        if (!t)
                return -ENOMEM;
        r = node_add(t, 0, "", 0, &root);
        for (size_t i = 0; i < ELEMENTSOF(tables) && r == 0; i++)
                for (const SimFile *f = tables[i]; f->path && r == 0; f++)
                        r = add_path(t, f);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(t);
        return 0;
}

SimInstance sim_tree_root(void) {
        return (SimInstance){};
}

const SimFile *sim_tree_file(const SimTree *t, SimInstance i) {
        return t->nodes[i.node].file;
}

bool sim_tree_is_directory(const SimTree *t, SimInstance i) {
        const SimNode *n = &t->nodes[i.node];

        return !n->file || n->file->kind == SIM_FILE_DIRECTORY;
}

bool sim_tree_exists(const SimTree *t, const SimMachine *m, SimInstance i) {
        const SimNode *n = &t->nodes[i.node];

        if (i.node == 0)
                return true;
        if (n->wildcard && i.cpu >= m->n_cpus)
                return false;
        if (n->file)
                return !n->file->exists || n->file->exists(m, i.cpu);
        for (uint32_t child = n->first_child; child; child = t->nodes[child].next_sibling)
                if (sim_tree_exists(t, m, (SimInstance){ child, i.cpu }))
                        return true;
        return false;
}

/* A directory that only follows from paths comes and goes when all that is in it does. */
static bool node_is_dynamic(const SimTree *t, uint32_t node) {
        const SimNode *n = &t->nodes[node];

        if (n->file)
                return n->file->exists;
        for (uint32_t child = n->first_child; child; child = t->nodes[child].next_sibling)
                if (!node_is_dynamic(t, child))
                        return false;
        return true;
}

bool sim_tree_is_dynamic(const SimTree *t, SimInstance i) {
        return node_is_dynamic(t, i.node);
}

static uint32_t wildcard_number(const SimNode *n, uint32_t cpu) {
        return n->wildcard == '#' ? sim_migration_tid(cpu) : cpu;
}

/* The CPU that a name such as "cpu7" or "61" stands for. */
static bool wildcard_match(const SimNode *n, const char *name, uint32_t *ret) {
        const char *digits = str_startswith(name, n->name);
        uint32_t v;

        if (!digits || (digits[0] == '0' && digits[1]) || ucs_parse_u32(digits, 10, &v) < 0)
                return false;
        if (n->wildcard == '#') {
                if (v < sim_migration_tid(0) || (v - sim_migration_tid(0)) % 6 != 0)
                        return false;
                v = (v - sim_migration_tid(0)) / 6;
        }
        *ret = v;
        return true;
}

int sim_tree_lookup(const SimTree *t, const SimMachine *m, SimInstance directory, const char *name,
                    SimInstance *ret) {
        for (uint32_t child = t->nodes[directory.node].first_child; child;
             child = t->nodes[child].next_sibling) {
                const SimNode *n = &t->nodes[child];
                SimInstance i = { child, directory.cpu };

                if (n->wildcard ? !wildcard_match(n, name, &i.cpu) : !streq(n->name, name))
                        continue;
                if (!sim_tree_exists(t, m, i))
                        continue;
                *ret = i;
                return 0;
        }
        return -ENOENT;
}

int sim_tree_resolve(const SimTree *t, const SimMachine *m, const char *path, SimInstance *ret) {
        _cleanup_free_ char *copy = NULL;
        SimInstance at = sim_tree_root();
        char *save, *name;
        int r;

        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        for (name = strtok_r(copy, "/", &save); name; name = strtok_r(NULL, "/", &save)) {
                r = sim_tree_lookup(t, m, at, name, &at);
                if (r < 0)
                        return r;
        }
        *ret = at;
        return 0;
}

/* The cursor is the child's number above and the next CPU to be named below. */
bool sim_tree_entry(const SimTree *t, const SimMachine *m, SimInstance directory, uint64_t *cursor,
                    SimInstance *ret, char ret_name[static SIM_NAME_MAX]) {
        uint32_t child = (uint32_t) (*cursor >> 32), cpu = (uint32_t) *cursor;

        if (child == UINT32_MAX)
                return false;
        if (*cursor == 0)
                child = t->nodes[directory.node].first_child;
        for (; child; child = t->nodes[child].next_sibling, cpu = 0) {
                const SimNode *n = &t->nodes[child];

                for (; cpu < (n->wildcard ? m->n_cpus : 1); cpu++) {
                        SimInstance i = { child, n->wildcard ? cpu : directory.cpu };

                        if (!sim_tree_exists(t, m, i))
                                continue;
                        if (n->wildcard)
                                (void) snprintf(ret_name, SIM_NAME_MAX, "%s%u", n->name,
                                                wildcard_number(n, cpu));
                        else
                                (void) snprintf(ret_name, SIM_NAME_MAX, "%s", n->name);
                        *ret = i;
                        *cursor = (uint64_t) child << 32 | (cpu + 1);
                        return true;
                }
        }
        *cursor = (uint64_t) UINT32_MAX << 32;
        return false;
}
