/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The init of a small initramfs: loads /modules/00, /modules/01, … in this order, mounts /dev/vda, and becomes the init of what is there. It parses
 * no command line and knows one machine, the one that tests/vm makes. */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const char *what) {
        (void) printf("initramfs: %s: %s\n", what, strerror(errno));
        (void) sleep(1);
        return 1;
}

int main(void) {
        for (int i = 0; i < 100; i++) {
                char path[32];
                int fd;

                (void) snprintf(path, sizeof(path), "/modules/%02d", i);
                fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        break;
                if (syscall(SYS_finit_module, fd, "", 0) < 0)
                        (void) printf("initramfs: %s: %s\n", path, strerror(errno));
                (void) close(fd);
        }
        if (mount("devtmpfs", "/dev", "devtmpfs", MS_NOSUID, NULL) < 0)
                return fail("devtmpfs");
        for (int i = 0; i < 600 && access("/dev/vda", F_OK) < 0; i++)
                (void) usleep(100000);
        if (mount("/dev/vda", "/root", "ext4", 0, NULL) < 0)
                return fail("/dev/vda");
        if (mount("/dev", "/root/dev", NULL, MS_MOVE, NULL) < 0)
                return fail("/dev");
        if (chdir("/root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 || chdir("/") < 0)
                return fail("/root");
        (void) execl("/sbin/init", "/sbin/init", (char *) NULL);
        return fail("/sbin/init");
}
