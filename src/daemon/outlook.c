/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The next boot, carried out; see outlook.h. What it takes a reboot for is judged in core/policy/outlook. The distribution's own files are written by a
 * unit of its own, ucodesync-reboot-required.service, for which a file in our runtime directory is the sign: this daemon's sandbox has no other
 * place in /run, and a request to systemd would take a capability or polkit. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>

#include "daemon/log.h"
#include "daemon/message-ids.h"
#include "daemon/outlook.h"
#include "os/boot-loader.h"
#include "os/culprits.h"
#include "os/root.h"
#include "os/state.h"

#define RUNTIME_DIRECTORY "run/ucodesync"
#define FILE_NAME "reboot-required"

int outlook_new(int root_fd, Outlook **ret) {
        Outlook *o = new0(Outlook, 1);
        int r;

        if (!o)
                return -ENOMEM;
        r = ucs_early_reader_new(root_fd, &o->reader);
        if (r < 0) {
                free(o);
                return r;
        }
        *ret = o;
        return 0;
}

Outlook *outlook_free(Outlook *o) {
        if (!o)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(o->watches); i++)
                sd_event_source_disable_unref(o->watches[i].source);
        ucs_early_reader_free(o->reader);
        strv_free(o->culprits);
        free(o);
        return NULL;
}

static bool contains(char *const *l, const char *s) {
        for (; l && *l; l++)
                if (streq(*l, s))
                        return true;
        return false;
}

/* Where nothing can be loaded late their writes come to nothing, and they are no culprits. */
static void observe_culprits(Manager *m) {
        _cleanup_strv_ char **now = NULL;

        if (m->machine->support == UCS_SUPPORT_LATE_LOAD && ucs_culprits_read(m->root_fd, &now) < 0) {
                log_error("Out of memory: who else has the kernel load is not looked for");
                return;
        }
        for (char **s = now; s && *s; s++)
                if (!contains(m->outlook->culprits, *s))
                        log_warning("Loads that this daemon has no say in: %s", *s);
        strv_free(m->outlook->culprits);
        m->outlook->culprits = TAKE_PTR(now);
}

static int on_images(sd_event_source *source, const struct inotify_event *event, void *userdata) {
        Manager *m = userdata;

        if (m->apply) /* its end looks by itself */
                return 0;
        outlook_observe(m);
        manager_evaluate(m, NULL);
        return 0;
}

/* What is watched already stays as it is, so that no change falls between two watches. */
static void watch_directory(Manager *m, OutlookWatch *w, const char *directory) {
        char path[64];
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;
        int r;

        fd = ucs_root_openat(m->root_fd, directory, O_PATH | O_DIRECTORY);
        if (fd >= 0 && fstat(fd, &st) >= 0 && w->source && st.st_dev == w->dev && st.st_ino == w->ino)
                return;
        w->source = sd_event_source_disable_unref(w->source);
        if (fd < 0)
                return;
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = sd_event_add_inotify(m->event, &w->source, path, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR, on_images, m);
        if (r < 0) {
                log_debug("%s cannot be watched, changes in it are found by 'ucodectl check' only: %s", directory, strerror(-r));
                return;
        }
        w->dev = st.st_dev;
        w->ino = st.st_ino;
}

/* An initramfs is made long after the files that go into it, and a kernel chosen at any time: look again when it is done. */
static void watch_images(Manager *m) {
        char *const *configured = m->config->early_image_path;
        char directory[UCS_EARLY_PATH_MAX] = "/boot", *slash;
        bool named = configured && *configured;
        OutlookWatch *w = m->outlook->watches;

        if (named && !strstr(*configured, "%v")) {
                (void) snprintf(directory, sizeof(directory), "%s", *configured);
                slash = strrchr(directory, '/');
                if (slash && slash > directory)
                        *slash = '\0';
        }
        watch_directory(m, w++, directory);
        for (const char *const *d = ucs_boot_directories; *d && w < m->outlook->watches + OUTLOOK_WATCHES_MAX; d++, w++)
                if (named) /* then the boot loader is not asked */
                        w->source = sd_event_source_disable_unref(w->source);
                else
                        watch_directory(m, w, *d);
}

void outlook_observe(Manager *m) {
        const UcsEarlyImage *i;

        observe_culprits(m);
        watch_images(m); /* first: what changes while they are read is looked at again */
        if (ucs_early_read(m->outlook->reader, m->config->early_image_path, m->machine, &m->outlook->early) < 0) {
                log_error("Out of memory: what the next boot will run is not known");
                return;
        }
        i = ucs_early_leading(&m->outlook->early);
        if (i->finding == UCS_EARLY_BAD)
                log_debug("The early loader takes nothing from %s: %s", i->path, i->error.text);
}

void outlook_start(Manager *m) {
        UcsWorld world;

        manager_world(m, NULL, &world);
        if (ucs_early_boots_judge(&m->state, &world, &m->history, &m->outlook->early, m->boot_id)) {
                if (m->state.early_boots.broken > 0)
                        log_warning("This boot came up older than what had been loaded late, although %s has it: %u in a row", m->outlook->early.running.path,
                                    m->state.early_boots.broken);
                manager_save_state(m);
        }
        m->health.early_broken_boots = m->state.early_boots.broken;
}

/* --- what is said --- */

static void say_fallback(Manager *m, const UcsOutlook *now) {
        Outlook *o = m->outlook;

        if (now->fallback_from == o->said_fallback_from && now->fallback_to == o->said_fallback_to)
                return;
        o->said_fallback_from = now->fallback_from;
        o->said_fallback_to = now->fallback_to;
        if (now->fallback_from != 0)
                log_warning("%s", now->sentences[now->fallback_sentence]);
}

/* Why it takes a reboot. */
static const char *reboot_reason(const Manager *m) {
        const UcsDecision *d = &m->decision;

        if (m->machine->support != UCS_SUPPORT_LATE_LOAD)
                return ucs_support_reason_describe(m->machine->reason);
        for (size_t i = 0; i < d->n_reports; i++)
                if (d->reports[i].clears_usec == 0 && d->reports[i].blocker != UCS_BLOCKER_LOAD)
                        return d->reports[i].sentence;
        return "no file that could be loaded late has it";
}

static void say_reboot(Manager *m, const UcsOutlook *now) {
        const UcsOutlook *before = &m->outlook->shown;

        if (!now->reboot_required || (before->reboot_required && before->reboot_to == now->reboot_to))
                return;
        log_event(LOG_NOTICE, UCS_MESSAGE_REBOOT_REQUIRED,
                  &(LogFields){ LOG_FIELDS_NONE, .state = ucs_life_to_string(m->decision.life), .old_revision = now->reboot_from,
                                .new_revision = now->reboot_to, .path = *now->early_path ? now->early_path : NULL },
                  "0x%x takes a reboot, 0x%x runs: %s%s", now->reboot_to, now->reboot_from, reboot_reason(m),
                  now->reboot_helps ? "; the early image has it" : "");
}

/* --- the distribution's file --- */

static void tell_distribution(Manager *m, const UcsOutlook *now) {
        bool wanted = m->config->reboot_required_file && now->reboot_helps;
        Outlook *o = m->outlook;
        UcsError e = {};
        char text[256];
        int r, n;

        if (o->file_known && o->file_there == wanted)
                return;
        o->file_known = true;
        o->file_there = wanted;
        if (!wanted) {
                (void) ucs_state_remove(m->root_fd, RUNTIME_DIRECTORY, FILE_NAME);
                return;
        }
        /* the line for the message of the day, the package, and for whom it may concern */
        n = snprintf(text, sizeof(text), "*** System restart required ***\n%s\nCPU microcode 0x%x, 0x%x runs\n",
                     m->machine->vendor == UCS_VENDOR_AMD ? "amd64-microcode" : "intel-microcode", now->reboot_to, now->reboot_from);
        r = ucs_state_write(m->root_fd, RUNTIME_DIRECTORY, FILE_NAME, text, (size_t) n, &e);
        if (r < 0)
                log_warning("The distribution is not told that a reboot is needed: %s", e.text);
}

void outlook_follow(Manager *m) {
        const UcsGroup *g = manager_group(m);
        UcsOutlook now;
        UcsWorld world;

        if (m->apply || !m->scan)
                return;
        manager_world(m, NULL, &world);
        ucs_outlook(&world, &m->decision, &m->history, &m->outlook->early, g ? (size_t) (g - m->machine->groups) : 0, m->boot_id, &now);
        say_fallback(m, &now);
        say_reboot(m, &now);
        tell_distribution(m, &now);
        m->outlook->shown = now;
}

char *outlook_culprits(const Manager *m) {
        _cleanup_text_ UcsText t = {};
        char *text;

        for (char **s = m->outlook->culprits; s && *s; s++)
                ucs_text_appendf(&t, "; %s", *s);
        return t.length > 0 && ucs_text_take(&t, &text, NULL) >= 0 ? text : NULL;
}
