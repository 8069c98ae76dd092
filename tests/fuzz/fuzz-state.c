/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* State, history and intent files: what is taken is written back as the same text, and taken again. The first byte chooses the file. */

#include "core/policy/policy.h"
#include "core/record/history.h"
#include "core/record/intent.h"
#include "fuzz.h"

static void try_state(const char *text, size_t size) {
        UcsState *s = calloc(1, sizeof(*s)), *back = calloc(1, sizeof(*back));
        char *first = NULL, *second = NULL;
        size_t n;
        UcsError e = {};

        fuzz_check(s && back);
        if (ucs_state_parse(text, size, s, &e) >= 0) {
                fuzz_check(s->n_rejections <= UCS_REJECTIONS_MAX && s->n_seen <= UCS_SEEN_MAX);
                fuzz_check(ucs_state_format(s, &first, &n) == 0);
                fuzz_check(ucs_state_parse(first, n, back, &e) == 0);
                fuzz_check(ucs_state_format(back, &second, NULL) == 0);
                fuzz_check(strcmp(first, second) == 0);
        } else
                fuzz_check(e.text[0] != '\0' || e.code == 0);
        free(first);
        free(second);
        free(s);
        free(back);
}

static void try_history(const char *text, size_t size) {
        UcsHistory h = {}, back = {};
        char *first = NULL, *second = NULL;
        size_t n;
        UcsError e = {};

        if (ucs_history_parse(text, size, &h, &e) >= 0) {
                fuzz_check(ucs_history_format(&h, &first, &n) == 0);
                fuzz_check(ucs_history_parse(first, n, &back, &e) == 0);
                fuzz_check(ucs_history_format(&back, &second, NULL) == 0);
                fuzz_check(strcmp(first, second) == 0);
        }
        free(first);
        free(second);
        ucs_history_done(&h);
        ucs_history_done(&back);
}

static void try_intent(const char *text, size_t size) {
        UcsIntent i = {}, back = {};
        char *first = NULL, *second = NULL;
        size_t n;
        UcsError e = {};

        if (ucs_intent_parse(text, size, &i, &e) >= 0) {
                fuzz_check(ucs_intent_format(&i, &first, &n) == 0);
                fuzz_check(ucs_intent_parse(first, n, &back, &e) == 0);
                fuzz_check(ucs_intent_format(&back, &second, NULL) == 0);
                fuzz_check(strcmp(first, second) == 0);
        }
        free(first);
        free(second);
        ucs_intent_done(&i);
        ucs_intent_done(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static void (*const files[])(const char *text, size_t size) = { try_state, try_history, try_intent };

        if (size > 0)
                files[data[0] % 3]((const char *) data + 1, size - 1);
        return 0;
}
