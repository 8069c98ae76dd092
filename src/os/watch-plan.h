/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which directories have to be watched, and for what, so that no change of the firmware goes unseen: a
 * picture of the moment, without inotify. watch.c makes one after another until two in a row agree. */

#include <sys/stat.h>

#include "base/str.h"

typedef struct WatchDirectory {
        int fd; /* O_PATH */
        dev_t device;
        ino_t inode;
        char *path;   /* below the root, links resolved */
        bool busy;    /* everyone writes here: never watched for entries, unless it is a leaf */
        bool leaf;    /* firmware lies here */
        bool files;   /* some of `names` are files, behind links */
        bool closed;  /* some of `names` are directories that this process may not read or enter */
        char **names; /* entries that count, beside those of a leaf */
} WatchDirectory;

/* The first one is the root. Each directory is there once, however many ways lead to it. */
typedef struct WatchPlan {
        WatchDirectory *directories;
        size_t n;
        char **blind; /* where a change could not be seen */
} WatchPlan;

/* 0, or -ENOMEM, -EMFILE, -ENFILE. What cannot be entered or read is no error: it is blind. */
int ucs_watch_plan_make(int root_fd, char *const *search_path, const char *subdirectory, WatchPlan *ret);
void ucs_watch_plan_done(WatchPlan *p);

/* A name that the kernel opens in intel-ucode/ or amd-ucode/ (arch/x86/kernel/cpu/microcode/{intel,amd}.c;
 * suffixes of drivers/base/firmware_loader/main.c): "06-55-04", "microcode_amd.bin",
 * "microcode_amd_fam19h.bin", with .zst or .xz behind. */
bool ucs_watch_name_counts(const char *name);
