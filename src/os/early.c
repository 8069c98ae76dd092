/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The early images; see early.h. What a file's head holds is remembered by the file's identity, so that looking again costs a directory and a few
 * stats. An image that is written while it is read is read again. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/timefmt.h"
#include "core/ucode/early.h"
#include "os/early-images.h"
#include "os/early.h"
#include "os/root.h"

/* An archive with more members at its head than this is a whole uncompressed system, in which the kernel would look on; ours do not. */
#define STEPS_MAX 4096U

/* All of a vendor's microcode is 22 MB in 2025. */
#define MEMBER_MAX (UINT64_C(64) * 1024 * 1024)

#define READ_TRIES 3
#define HEADS_MAX 16 /* files that are remembered */

/* How the search went on in one file. */
typedef enum HeadEnd {
        HEAD_MEMBER,  /* ended with the vendor's microcode */
        HEAD_NOTHING, /* ended with something that is no archive */
        HEAD_ON,      /* the file is all archive: the next one follows */
        HEAD_BAD,
} HeadEnd;

typedef struct Head {
        struct stat st;
        HeadEnd end;
        uint32_t revisions[UCS_EARLY_GROUPS_MAX];
        UcsError error;
} Head;

struct UcsEarlyReader {
        int root_fd;
        Head heads[HEADS_MAX];
        size_t n_heads, next;

        /* what they were read for */
        UcsVendor vendor;
        struct {
                uint32_t signature, platform_mask;
        } groups[UCS_EARLY_GROUPS_MAX];
        size_t n_groups;
};

int ucs_early_reader_new(int root_fd, UcsEarlyReader **ret) {
        UcsEarlyReader *r = new0(UcsEarlyReader, 1);

        if (!r)
                return -ENOMEM;
        r->root_fd = root_fd;
        *ret = r;
        return 0;
}

UcsEarlyReader *ucs_early_reader_free(UcsEarlyReader *r) {
        free(r);
        return NULL;
}

static bool same_file(const struct stat *a, const struct stat *b) {
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
               a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Other CPUs: what was remembered does not speak of them. */
static void forget_for(UcsEarlyReader *r, const UcsMachine *m) {
        size_t n = MIN(m->n_groups, (size_t) UCS_EARLY_GROUPS_MAX);
        bool same = r->vendor == m->vendor && r->n_groups == n;

        for (size_t i = 0; same && i < n; i++)
                same = r->groups[i].signature == m->groups[i].signature && r->groups[i].platform_mask == m->groups[i].platform_mask;
        if (same)
                return;
        r->n_heads = r->next = 0;
        r->vendor = m->vendor;
        r->n_groups = n;
        for (size_t i = 0; i < n; i++) {
                r->groups[i].signature = m->groups[i].signature;
                r->groups[i].platform_mask = m->groups[i].platform_mask;
        }
}

static int read_at(int fd, void *buf, size_t size, uint64_t offset, size_t *ret_n) {
        size_t done = 0;

        while (done < size) {
                ssize_t n = pread(fd, (char *) buf + done, size - done, (off_t) (offset + done));

                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                if (n == 0)
                        break;
                done += (size_t) n;
        }
        *ret_n = done;
        return 0;
}

/* The member's bytes, judged for each group. */
static int read_member(const UcsEarlyReader *r, int fd, const UcsEarlyPlace *place, Head *h) {
        _cleanup_free_ uint8_t *data = NULL;
        size_t n;
        int k;

        if (place->size > MEMBER_MAX)
                return ucs_error_set(&h->error, -EFBIG, "its microcode has %" PRIu64 " bytes, expected at most %" PRIu64, place->size, MEMBER_MAX);
        data = malloc(place->size ?: 1);
        if (!data)
                return ucs_error_set(&h->error, -ENOMEM, "no memory for its %" PRIu64 " bytes of microcode", place->size);
        k = read_at(fd, data, place->size, place->data, &n);
        if (k < 0)
                return ucs_error_set(&h->error, k, "it cannot be read: %s", strerror(-k));
        for (size_t i = 0; i < r->n_groups; i++) {
                UcsUpdate u;

                k = ucs_early_choose(r->vendor, data, n, r->groups[i].signature, r->groups[i].platform_mask, &u, &h->error);
                if (k < 0)
                        return k;
                h->revisions[i] = k > 0 ? u.revision : 0;
        }
        h->end = HEAD_MEMBER;
        return 0;
}

/* From header to header, as far as the file is archive. */
static int walk(const UcsEarlyReader *r, int fd, uint64_t image_size, Head *h) {
        const char *name = ucs_early_name(r->vendor);
        uint8_t window[UCS_EARLY_WINDOW];
        UcsEarlyPlace place = {};

        for (unsigned steps = 0; steps < STEPS_MAX; steps++) {
                uint64_t offset = place.next;
                size_t n = 0;
                int k = 0;

                if (offset < image_size)
                        k = read_at(fd, window, MIN(image_size - offset, (uint64_t) sizeof(window)), offset, &n);
                if (k < 0)
                        return ucs_error_set(&h->error, k, "it cannot be read: %s", strerror(-k));
                switch (ucs_early_step(window, n, offset, image_size, name, &place)) {
                case UCS_EARLY_SKIP:
                        continue;
                case UCS_EARLY_MEMBER:
                        return read_member(r, fd, &place, h);
                case UCS_EARLY_END:
                case UCS_EARLY_MORE: /* the file is shorter than it says, or a rest that is too short for a header */
                        h->end = offset >= image_size || n == 0 || window[0] == 0 ? HEAD_ON : HEAD_NOTHING;
                        return 0;
                }
        }
        return ucs_error_set(&h->error, -EFBIG, "no microcode is among the first %u archive members or pages of zeros at its head", STEPS_MAX);
}

/* 1: it changed while it was read. */
static int read_once(const UcsEarlyReader *r, const char *path, Head *h) {
        _cleanup_fd_ int fd = -EBADF;
        struct stat after;
        int k;

        *h = (Head){};
        k = ucs_root_open_file(r->root_fd, path, &fd, &h->st, &h->error);
        if (k >= 0)
                k = walk(r, fd, (uint64_t) h->st.st_size, h);
        if (k >= 0 || fd >= 0) {
                if (fstat(fd, &after) < 0 || !same_file(&after, &h->st))
                        return 1;
        }
        if (k < 0)
                h->end = HEAD_BAD;
        return 0;
}

static void read_head(UcsEarlyReader *r, const char *path, Head *ret) {
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;

        fd = ucs_root_openat(r->root_fd, path, O_PATH);
        for (size_t i = 0; fd >= 0 && fstat(fd, &st) >= 0 && i < r->n_heads; i++)
                if (same_file(&r->heads[i].st, &st)) {
                        *ret = r->heads[i];
                        return;
                }
        for (unsigned tries = 0; read_once(r, path, ret) > 0; tries++)
                if (tries == READ_TRIES) {
                        ret->end = HEAD_BAD;
                        (void) ucs_error_set(&ret->error, -EAGAIN, "it kept changing while it was read");
                        return;
                }
        if (ret->st.st_ino == 0 || ret->error.code == -ENOMEM)
                return;
        r->heads[r->next] = *ret;
        r->next = (r->next + 1) % HEADS_MAX;
        r->n_heads = MAX(r->n_heads, r->next > 0 ? r->next : (size_t) HEADS_MAX);
}

static void follow(UcsEarlyReader *r, const UcsEarlyChain *c, UcsEarlyImage *ret) {
        *ret = (UcsEarlyImage){};
        (void) snprintf(ret->release, sizeof(ret->release), "%s", c->release);
        for (char *const *path = c->paths; path && *path; path++) {
                Head h;

                read_head(r, *path, &h);
                (void) snprintf(ret->path, sizeof(ret->path), "%s", *path);
                ret->changed_usec = (uint64_t) h.st.st_ctim.tv_sec * USEC_PER_SEC + (uint64_t) h.st.st_ctim.tv_nsec / NSEC_PER_USEC;
                switch (h.end) {
                case HEAD_MEMBER:
                        ret->finding = UCS_EARLY_FOUND;
                        memcpy(ret->revisions, h.revisions, sizeof(ret->revisions));
                        return;
                case HEAD_BAD:
                        ret->finding = UCS_EARLY_BAD;
                        ret->error = h.error;
                        return;
                case HEAD_NOTHING:
                        ret->finding = UCS_EARLY_EMPTY;
                        return;
                case HEAD_ON:
                        ret->finding = UCS_EARLY_EMPTY;
                        continue;
                }
        }
}

int ucs_early_read(UcsEarlyReader *r, char *const *configured, const UcsMachine *m, UcsEarly *ret) {
        _cleanup_(ucs_early_chains_done) UcsEarlyChains chains = {};
        int k;

        *ret = (UcsEarly){};
        if (!ucs_early_name(m->vendor)) /* nothing could be for this machine */
                return 0;
        forget_for(r, m);
        k = ucs_early_chains(r->root_fd, configured, &chains);
        if (k < 0)
                return k;
        follow(r, &chains.running, &ret->running);
        follow(r, &chains.other, &ret->other);
        ret->next = chains.next;
        memcpy(ret->next_by, chains.next_by, sizeof(ret->next_by));
        return 0;
}
