/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A fuzz target without a fuzzer: it is fed with the files that are named, each in memory of exactly its
 * size. A file NAME.hex holds many inputs, one a line in hexadecimal (the corpora that are kept in the
 * tree); '#' starts a comment. Prints how many there were. */

#include <errno.h>

#include "base/str.h"
#include "fuzz.h"

static void feed(const void *data, size_t size) {
        uint8_t *copy = malloc(size ?: 1);

        if (!copy)
                abort();
        if (size > 0)
                memcpy(copy, data, size);
        (void) LLVMFuzzerTestOneInput(copy, size);
        free(copy);
}

static int digit(char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place. The number of bytes, or -EINVAL. */
static ssize_t decode(char *line) {
        size_t n = strlen(line);

        if (n % 2 != 0)
                return -EINVAL;
        for (size_t i = 0; i < n; i += 2) {
                int high = digit(line[i]), low = digit(line[i + 1]);

                if (high < 0 || low < 0)
                        return -EINVAL;
                line[i / 2] = (char) (high << 4 | low);
        }
        return (ssize_t) (n / 2);
}

static int feed_lines(FILE *f, size_t *count) {
        _cleanup_free_ char *line = NULL;
        size_t allocated = 0;
        ssize_t n;

        while ((n = getline(&line, &allocated, f)) >= 0) {
                line[strcspn(line, "#\n")] = '\0';
                if (n > 0 && line[0] == '\0' && n > 1)
                        continue;
                n = decode(line);
                if (n < 0)
                        return -EINVAL;
                feed(line, (size_t) n);
                (*count)++;
        }
        return 0;
}

static int feed_whole(FILE *f, size_t *count) {
        _cleanup_text_ UcsText text = {};
        char buffer[65536];
        size_t n;

        while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0)
                ucs_text_append_bytes(&text, buffer, n);
        if (text.failed || ferror(f))
                return -EIO;
        feed(text.data, text.length);
        (*count)++;
        return 0;
}

int main(int argc, char **argv) {
        size_t count = 0;

        for (int i = 1; i < argc; i++) {
                FILE *f = fopen(argv[i], "re");
                int r;

                if (!f) {
                        (void) fprintf(stderr, "replay: cannot open %s: %m\n", argv[i]);
                        return EXIT_FAILURE;
                }
                r = str_endswith(argv[i], ".hex") ? feed_lines(f, &count) : feed_whole(f, &count);
                (void) fclose(f);
                if (r < 0) {
                        (void) fprintf(stderr, "replay: %s is not a corpus: %s\n", argv[i], strerror(-r));
                        return EXIT_FAILURE;
                }
        }
        printf("%zu inputs\n", count);
        return EXIT_SUCCESS;
}
