/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counting system calls; see syscalls.h. The child marks the begin and the end of what counts with a call that nobody else makes. */

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscalls.h"
#include "ucs-test.h"

#define MARK SYS_getpgid
#define MARK_ARGUMENT 0x7fffff01L

static void child(void (*prepare)(void), void (*counted)(void)) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
                _exit(77);
        (void) raise(SIGSTOP);
        if (prepare)
                prepare();
        (void) syscall(MARK, MARK_ARGUMENT);
        counted();
        (void) syscall(MARK, MARK_ARGUMENT);
        _exit(0);
}

int count_syscalls(void (*prepare)(void), void (*counted)(void), Syscalls *ret) {
        Syscalls s = {};
        unsigned marks = 0;
        int status;
        pid_t pid;

        pid = fork();
        cr_assert(pid >= 0);
        if (pid == 0)
                child(prepare, counted);
        cr_assert(waitpid(pid, &status, 0) == pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
                return -1;
        cr_assert(WIFSTOPPED(status) && ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);

        while (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
                struct __ptrace_syscall_info info = {};

                if (WSTOPSIG(status) != (SIGTRAP | 0x80) ||
                    ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY)
                        continue;
                if (info.entry.nr == MARK && info.entry.args[0] == MARK_ARGUMENT)
                        marks++;
                else if (marks == 1) {
                        s.total++;
                        s.by_number[info.entry.nr < SYSCALLS_MAX ? info.entry.nr : SYSCALLS_MAX - 1]++;
                }
        }
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0 && marks == 2, "the child ended early, status 0x%x, %u marks", status, marks);
        *ret = s;
        return 0;
}
