/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was found for each group; see candidate.h. Owns and compares; what to do about it is policy's. */

#include "core/policy/candidate.h"
#include "base/parse.h"
#include "base/str.h"

UcsScan *ucs_scan_free(UcsScan *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_candidates; i++) {
                free(s->candidates[i].path);
                free(s->candidates[i].update.also);
        }
        free(s->candidates);
        free(s);
        return NULL;
}

static const UcsCandidate *first_of(const UcsScan *s, UcsFinding finding) {
        for (size_t i = 0; i < s->n_candidates; i++)
                if (s->candidates[i].finding == finding)
                        return &s->candidates[i];
        return NULL;
}

const UcsCandidate *ucs_scan_leading(const UcsScan *s) {
        if (!s || s->n_candidates == 0)
                return NULL;
        return first_of(s, UCS_FOUND_NEWER) ?: first_of(s, UCS_FOUND_BAD) ?: &s->candidates[0];
}

bool ucs_digest_equal(const uint8_t a[static UCS_DIGEST_SIZE], const uint8_t b[static UCS_DIGEST_SIZE]) {
        return memcmp(a, b, UCS_DIGEST_SIZE) == 0;
}

const char *ucs_digest_format(char buf[static UCS_DIGEST_HEX_MAX],
                              const uint8_t digest[static UCS_DIGEST_SIZE]) {
        static const char hex[] = "0123456789abcdef";

        for (size_t i = 0; i < UCS_DIGEST_SIZE; i++) {
                buf[2 * i] = hex[digest[i] >> 4];
                buf[2 * i + 1] = hex[digest[i] & 0xf];
        }
        buf[2 * UCS_DIGEST_SIZE] = '\0';
        return buf;
}

int ucs_digest_parse(const char *s, uint8_t ret[static UCS_DIGEST_SIZE]) {
        uint8_t digest[UCS_DIGEST_SIZE];

        if (strlen(s) != (size_t) 2 * UCS_DIGEST_SIZE)
                return -EINVAL;
        for (size_t i = 0; i < UCS_DIGEST_SIZE; i++) {
                char pair[3] = { s[2 * i], s[2 * i + 1] };
                uint32_t v;

                if (ucs_parse_u32(pair, 16, &v) < 0)
                        return -EINVAL;
                digest[i] = (uint8_t) v;
        }
        memcpy(ret, digest, sizeof(digest));
        return 0;
}
