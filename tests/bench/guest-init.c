/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The whole user space of the guest in which ucodebench is tried: mounts what it reads, runs it once for each line of /commands, and says
 * on the console what it printed and how it ended. Then the guest is switched off. */

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(char *line) {
        char *argv[32] = { "/ucodebench" }, *save = NULL;
        int n = 1, status = 0;
        pid_t pid;

        for (char *word = strtok_r(line, " \n", &save); word && n < 31; word = strtok_r(NULL, " \n", &save))
                argv[n++] = word;
        printf("\nBEGIN %s\n", argv[1]);
        fflush(stdout);
        pid = fork();
        if (pid == 0) {
                execv(argv[0], argv);
                perror("execv");
                _exit(127);
        }
        waitpid(pid, &status, 0);
        printf("\nEND %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
        fflush(stdout);
}

int main(void) {
        char line[512];
        FILE *f;

        mkdir("/proc", 0755);
        mkdir("/sys", 0755);
        mkdir("/dev", 0755);
        mkdir("/tmp", 0755);
        mount("proc", "/proc", "proc", 0, NULL);
        mount("sysfs", "/sys", "sysfs", 0, NULL);
        mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
        mkdir("/dev/shm", 01777);
        mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL);
        f = fopen("/commands", "re");
        while (f && fgets(line, sizeof(line), f))
                run(line);
        sync();
        reboot(RB_POWER_OFF);
        return 0;
}
