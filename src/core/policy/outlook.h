/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the next boot will run, and whether it takes one to get what is on disk into the CPUs. Values in, values and sentences out: os/early reads
 * the images, daemon/outlook asks at every evaluation and carries out nothing of it. */

#include "core/policy/policy.h"
#include "core/record/history.h"

#define UCS_EARLY_GROUPS_MAX 32 /* groups of CPUs that are told apart; of further ones nothing is known */
#define UCS_EARLY_PATH_MAX 256

typedef enum UcsEarlyFinding {
        UCS_EARLY_NO_IMAGE, /* none was found: nothing is known about the next boot */
        UCS_EARLY_EMPTY,    /* at its head is no microcode of this vendor */
        UCS_EARLY_FOUND,    /* `revisions` */
        UCS_EARLY_BAD,      /* the early loader would give all of it up, or the image cannot be read: `error` */
} UcsEarlyFinding;

/* What the early loader would find in the images of one kernel, in the order in which a boot loader hands them over. */
typedef struct UcsEarlyImage {
        UcsEarlyFinding finding;
        char path[UCS_EARLY_PATH_MAX]; /* of the one that decides: with the microcode in it, or the last one */
        char release[72];              /* of the kernel that they belong to; "": its name says none */
        uint64_t changed_usec;         /* its ctime, CLOCK_REALTIME */
        uint32_t revisions[UCS_EARLY_GROUPS_MAX]; /* one a group of the machine; 0: nothing in it for these CPUs */
        UcsError error;
} UcsEarlyImage;

/* Which of the two the boot loader is told to take. */
typedef enum UcsNextKernel {
        UCS_NEXT_UNKNOWN, /* `other` is the newest one beside that which runs */
        UCS_NEXT_RUNNING, /* there is no `other` */
        UCS_NEXT_OTHER,
} UcsNextKernel;

typedef struct UcsEarly {
        UcsEarlyImage running; /* of the kernel that runs */
        UcsEarlyImage other;
        UcsNextKernel next;
        char next_by[160]; /* what says so: "saved_entry in /boot/grub2/grubenv"; UCS_NEXT_UNKNOWN: why it is, "": nothing says anything */
} UcsEarly;

/* The one that is shown: that of the kernel that is next; where that is unknown, of the running one, else the other one. */
const UcsEarlyImage *ucs_early_leading(const UcsEarly *e);

/* What it has for a group; 0: nothing, or unknown. */
uint32_t ucs_early_revision(const UcsEarlyImage *i, size_t group);

/* How to make the image afresh, by its name: "update-initramfs -u -k 6.1.0", "dracut -f --kver …". */
#define UCS_REBUILD_MAX 128
const char *ucs_early_rebuild(char buf[static UCS_REBUILD_MAX], const UcsEarlyImage *i);

#define UCS_OUTLOOK_SENTENCES_MAX 6
#define UCS_OUTLOOK_SENTENCE_SIZE 384

typedef struct UcsOutlook {
        uint32_t early_revision; /* of the group that is shown; 0: none, or unknown */
        char early_path[UCS_EARLY_PATH_MAX];

        /* Something newer than what runs is there, and does not get into the CPUs without a reboot (docs/architecture.md, The next boot). */
        bool reboot_required;
        uint32_t reboot_from, reboot_to; /* of the first such group */

        /* And a reboot would bring it: the image has it, and was written since this boot began. What may reboot by itself goes by this; after a
         * boot that was in vain it is false, so that none follows another. */
        bool reboot_helps;

        /* A revision was loaded late in this boot, and the image of the running kernel has only something older: what the next boot falls back
         * to. 0: no such thing. */
        uint32_t fallback_from, fallback_to;
        size_t fallback_sentence; /* which of the sentences is about it */

        char sentences[UCS_OUTLOOK_SENTENCES_MAX][UCS_OUTLOOK_SENTENCE_SIZE]; /* for people */
        size_t n_sentences;
} UcsOutlook;

/* `group`: index of the group that is shown. `boot_id` "": unknown, nothing was loaded late then. */
void ucs_outlook(const UcsWorld *world, const UcsDecision *d, const UcsHistory *history, const UcsEarly *early, size_t group, const char *boot_id,
                 UcsOutlook *ret);

/* The first look of a boot: did it come up older than the last late load, although the image had the revision before the boot began? Counts such boots in
 * a row in `state->early_boots`. True: the state changed and is to be saved. */
bool ucs_early_boots_judge(UcsState *state, const UcsWorld *world, const UcsHistory *history, const UcsEarly *early, const char *boot_id);
