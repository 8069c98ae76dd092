/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How many system calls does a function make? It runs in a child under ptrace(2), so that nothing is counted that is not made, and
 * nothing that is made escapes. */

#define SYSCALLS_MAX 512 /* numbers above are counted together, in the last one */

typedef struct Syscalls {
        unsigned total;
        unsigned by_number[SYSCALLS_MAX];
} Syscalls;

/* Run `prepare` uncounted and then `counted`, in a child. 0; -1: this place allows no tracing (the test is then to be skipped). */
int count_syscalls(void (*prepare)(void), void (*counted)(void), Syscalls *ret);
