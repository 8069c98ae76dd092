/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the policy remembers: files that failed here, and the text in which it lies on disk. The text is "key value…" lines under a
 * first line with the format's version and above a last line "end", so that a file cut short is never taken for a whole one. */

#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "base/str.h"
#include "core/policy/policy.h"

#define STATE_FORMAT 1U

int ucs_scan_carry_over(UcsScan *scan, const UcsScan *before) {
        for (size_t i = 0; before && i < scan->n_candidates; i++) {
                UcsCandidate *now = &scan->candidates[i];

                if (now->finding != UCS_FOUND_BAD)
                        continue;
                for (size_t k = 0; k < before->n_candidates; k++) {
                        const UcsCandidate *then = &before->candidates[k];
                        int r;

                        if (then->finding != UCS_FOUND_NEWER || then->signature != now->signature ||
                            then->platform_mask != now->platform_mask)
                                continue;
                        r = str_replace(&now->path, then->path);
                        if (r < 0)
                                return r;
                        memcpy(now->digest, then->digest, sizeof(now->digest));
                        now->update = then->update;
                        now->changed_usec = then->changed_usec;
                        now->finding = UCS_FOUND_NEWER;
                        break;
                }
        }
        return 0;
}

const UcsRejection *ucs_state_rejection(const UcsState *state, const uint8_t digest[static UCS_DIGEST_SIZE]) {
        for (size_t i = 0; i < state->n_rejections; i++)
                if (ucs_digest_equal(state->rejections[i].digest, digest))
                        return &state->rejections[i];
        return NULL;
}

bool ucs_state_acknowledge(UcsState *state, const uint8_t digest[static UCS_DIGEST_SIZE]) {
        const UcsRejection *x = ucs_state_rejection(state, digest);
        size_t i;

        if (!x)
                return false;
        i = (size_t) (x - state->rejections);
        memmove(&state->rejections[i], &state->rejections[i + 1], (state->n_rejections - i - 1) * sizeof(*x));
        state->n_rejections--;
        return true;
}

void ucs_state_reject(UcsState *state, const UcsRejection *r) {
        (void) ucs_state_acknowledge(state, r->digest);
        if (state->n_rejections == UCS_REJECTIONS_MAX) {
                memmove(&state->rejections[0], &state->rejections[1], (UCS_REJECTIONS_MAX - 1) * sizeof(*r));
                state->n_rejections--;
        }
        state->rejections[state->n_rejections++] = *r;
}

/* A boot id as one word; none is "-". */
static const char *word(const char *boot_id) {
        return *boot_id && !strpbrk(boot_id, " \n") ? boot_id : "-";
}

static int parse_word(const char *s, char ret[static 40]) {
        size_t n = strlen(s);

        if (n >= 40)
                return -EBADMSG;
        memcpy(ret, s, n + 1);
        if (streq(s, "-"))
                ret[0] = '\0';
        return 0;
}

int ucs_state_format(const UcsState *state, char **ret, size_t *ret_size) {
        _cleanup_text_ UcsText t = {};
        char hex[UCS_DIGEST_HEX_MAX];

        ucs_text_appendf(&t, "ucodesync-state %u\n", STATE_FORMAT);
        if (state->pending_since_usec > 0)
                ucs_text_appendf(&t, "pending %" PRIu64 " %s 0x%08x %u\n", state->pending_since_usec,
                                 ucs_digest_format(hex, state->pending_digest), state->pending_revision, state->overdue);
        for (size_t i = 0; i < state->n_rejections; i++) {
                const UcsRejection *x = &state->rejections[i];

                ucs_text_appendf(&t, "%s %s %s %" PRIu64 " %" PRIu64 "\n", x->suspect ? "suspect" : "rejected", ucs_digest_format(hex, x->digest),
                                 ucs_result_to_string(x->result), x->when_usec, x->until_usec);
        }
        if (state->probation.since_usec > 0)
                ucs_text_appendf(&t, "probation %" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s %u\n", state->probation.since_usec,
                                 state->probation.until_usec, state->probation.read_until_usec, ucs_digest_format(hex, state->probation.digest),
                                 word(state->probation.boot_id), state->probation.clean);
        for (size_t i = 0; i < state->n_seen; i++)
                ucs_text_appendf(&t, "seen 0x%08x 0x%08x 0x%08x %s\n", state->seen[i].signature, state->seen[i].platform_mask,
                                 state->seen[i].revision, word(state->seen_boot));
        for (size_t i = 0; i < state->n_on_disk; i++)
                ucs_text_appendf(&t, "on-disk 0x%08x 0x%08x 0x%08x\n", state->on_disk[i].signature, state->on_disk[i].platform_mask,
                                 state->on_disk[i].revision);
        if (*state->early_boots.boot_id)
                ucs_text_appendf(&t, "early-boots %" PRIu32 " %s\n", state->early_boots.broken, word(state->early_boots.boot_id));
        ucs_text_append(&t, "end\n");
        return ucs_text_take(&t, ret, ret_size);
}

/* Cut `line` into exactly `n` words, in place. */
static bool split_words(char *line, char **words, size_t n) {
        char *save = NULL, *word = strtok_r(line, " ", &save);
        size_t i = 0;

        for (; word; word = strtok_r(NULL, " ", &save)) {
                if (i == n)
                        return false;
                words[i++] = word;
        }
        return i == n;
}

static int parse_pending(char **w, UcsState *s) {
        bool overdue;

        if (ucs_parse_u64(w[1], 10, &s->pending_since_usec) < 0 || ucs_digest_parse(w[2], s->pending_digest) < 0 ||
            ucs_parse_u32(w[3], 16, &s->pending_revision) < 0 || ucs_parse_bool(w[4], &overdue) < 0)
                return -EBADMSG;
        s->overdue = overdue;
        return s->pending_since_usec > 0 ? 0 : -EBADMSG;
}

static int parse_rejected(char **w, UcsState *s) {
        UcsRejection x = {};

        x.result = ucs_result_from_string(w[2]);
        if (s->n_rejections == UCS_REJECTIONS_MAX || ucs_digest_parse(w[1], x.digest) < 0 || !ucs_result_rejects(x.result) ||
            ucs_parse_u64(w[3], 10, &x.when_usec) < 0 || ucs_parse_u64(w[4], 10, &x.until_usec) < 0)
                return -EBADMSG;
        x.suspect = streq(w[0], "suspect");
        ucs_state_reject(s, &x);
        return 0;
}

static int parse_probation(char **w, UcsState *s) {
        UcsProbation *p = &s->probation;

        if (p->since_usec > 0 || ucs_parse_u64(w[1], 10, &p->since_usec) < 0 || ucs_parse_u64(w[2], 10, &p->until_usec) < 0 ||
            ucs_parse_u64(w[3], 10, &p->read_until_usec) < 0 || ucs_digest_parse(w[4], p->digest) < 0 || parse_word(w[5], p->boot_id) < 0 ||
            ucs_parse_bool(w[6], &p->clean) < 0)
                return -EBADMSG;
        return p->since_usec > 0 ? 0 : -EBADMSG;
}

static int parse_seen(char **w, UcsState *s) {
        UcsSeen x;

        if (s->n_seen == UCS_SEEN_MAX || ucs_parse_u32(w[1], 16, &x.signature) < 0 || ucs_parse_u32(w[2], 16, &x.platform_mask) < 0 ||
            ucs_parse_u32(w[3], 16, &x.revision) < 0 || parse_word(w[4], s->seen_boot) < 0)
                return -EBADMSG;
        s->seen[s->n_seen++] = x;
        return 0;
}

static int parse_on_disk(char **w, UcsState *s) {
        UcsOnDisk x;

        if (s->n_on_disk == UCS_SEEN_MAX || ucs_parse_u32(w[1], 16, &x.signature) < 0 || ucs_parse_u32(w[2], 16, &x.platform_mask) < 0 ||
            ucs_parse_u32(w[3], 16, &x.revision) < 0)
                return -EBADMSG;
        s->on_disk[s->n_on_disk++] = x;
        return 0;
}

static int parse_early_boots(char **w, UcsState *s) {
        UcsEarlyBoots *b = &s->early_boots;

        if (*b->boot_id || ucs_parse_u32(w[1], 10, &b->broken) < 0 || parse_word(w[2], b->boot_id) < 0)
                return -EBADMSG;
        return 0;
}

int ucs_state_parse(const char *text, size_t size, UcsState *ret, UcsError *e) {
        static const struct {
                const char *key;
                size_t n_words;
                int (*parse)(char **words, UcsState *s);
        } keys[] = {
                { "pending ", 5, parse_pending },     { "rejected ", 5, parse_rejected }, { "suspect ", 5, parse_rejected },
                { "probation ", 7, parse_probation }, { "seen ", 5, parse_seen },         { "on-disk ", 4, parse_on_disk },
                { "early-boots ", 3, parse_early_boots },
        };
        _cleanup_free_ char *copy = strndup(text, size);
        UcsState s = {};
        char *line, *next;
        unsigned n = 0;
        bool end = false;

        if (!copy)
                return -ENOMEM;
        if (strlen(copy) != size)
                return ucs_error_set(e, -EBADMSG, "there is a NUL byte in it, expected text");

        for (line = copy; line && *line; line = next) {
                int r = -EBADMSG;

                n++;
                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                else
                        return ucs_error_set(e, -EBADMSG, "line %u is cut short", n);
                if (n == 1) {
                        const char *version = str_startswith(line, "ucodesync-state ");
                        uint32_t v;

                        if (!version || ucs_parse_u32(version, 10, &v) < 0)
                                return ucs_error_set(e, -EBADMSG, "line 1: expected 'ucodesync-state %u'", STATE_FORMAT);
                        if (v != STATE_FORMAT)
                                return ucs_error_set(e, -EPROTONOSUPPORT, "format version %u, this program reads %u", v, STATE_FORMAT);
                        continue;
                }
                if (end)
                        return ucs_error_set(e, -EBADMSG, "line %u stands behind the end", n);
                if (streq(line, "end")) {
                        end = true;
                        continue;
                }
                for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                        if (str_startswith(line, keys[i].key)) {
                                char *words[7];

                                if (split_words(line, words, keys[i].n_words))
                                        r = keys[i].parse(words, &s);
                                break;
                        }
                if (r < 0)
                        return ucs_error_set(e, r, "line %u is not an entry of this format", n);
        }
        if (!end)
                return ucs_error_set(e, -EBADMSG, "the end is missing after line %u", n);
        *ret = s;
        return 0;
}
