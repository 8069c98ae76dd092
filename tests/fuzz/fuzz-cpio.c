/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Early images. Holds: the search ends, it always moves on, what it finds lies in the image, and a search
 * through a small window finds the same as one over the whole image. */

#include "core/ucode/early.h"
#include "fuzz.h"

static int find_by_steps(const uint8_t *image, size_t size, const char *name, UcsEarlyPlace *place) {
        size_t window = 0;

        *place = (UcsEarlyPlace){};
        for (;;) {
                uint64_t at = place->next;
                size_t n = at < size ? size - (size_t) at : 0;
                uint8_t *copy;
                UcsEarlyStep step;

                if (n > window)
                        n = window;
                copy = malloc(n ?: 1);
                if (!copy)
                        abort();
                if (n > 0)
                        memcpy(copy, image + at, n);
                step = ucs_early_step(copy, n, at, size, name, place);
                free(copy);
                switch (step) {
                case UCS_EARLY_END:
                        return -1;
                case UCS_EARLY_MEMBER:
                        return 0;
                case UCS_EARLY_SKIP:
                        fuzz_check(place->next > at);
                        window = 0;
                        break;
                case UCS_EARLY_MORE:
                        fuzz_check(place->next == at && place->need > n && place->need <= UCS_EARLY_WINDOW);
                        window = place->need;
                        break;
                }
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const UcsVendor vendors[] = { UCS_VENDOR_INTEL, UCS_VENDOR_AMD };

        for (size_t i = 0; i < 2; i++) {
                const char *name = ucs_early_name(vendors[i]);
                size_t offset = 0, length = 0;
                UcsEarlyPlace place;
                UcsUpdate u = {};
                bool found;

                found = ucs_early_find(data, size, name, &offset, &length) == 0;
                fuzz_check((find_by_steps(data, size, name, &place) == 0) == found);
                if (!found)
                        continue;
                fuzz_check(offset <= size && length <= size - offset);
                fuzz_check(place.data == offset && place.size == length);
                if (ucs_early_choose(vendors[i], data + offset, length, 0x000906eb, 2, &u, NULL) == 1)
                        fuzz_check(u.offset <= length && u.size <= length - u.offset);
                if (ucs_early_choose(vendors[i], data + offset, length, 0x00a20f10, 0, &u, NULL) == 1)
                        fuzz_check(u.offset <= length && u.size <= length - u.offset);
        }
        return 0;
}
