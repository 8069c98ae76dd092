/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl check: have the daemon read the firmware directories now, and say in one line what it found. */

#include "ctl/ctl-show.h"

int verb_check(UcsCtl *ctl, int argc, char **argv) {
        _cleanup_json_ json_object *o = NULL;
        const char *state, *candidate;
        int r;

        r = ctl_call(ctl, NULL, "Check", NULL);
        if (r != 0)
                return r;
        r = ctl_get_all(ctl, CTL_MANAGER, &o);
        if (r != 0)
                return r;
        if (ctl->json != UCS_JSON_OFF) {
                ctl_print_json(ctl, TAKE_PTR(o));
                return UCS_EXIT_DONE;
        }
        state = ctl_string(o, "state") ?: "unknown";
        candidate = ctl_string(o, "candidate_revision");
        if (candidate)
                ctl_say(ctl, "%s: %s is on disk, %s runs", state, candidate,
                        ctl_revision(o, "running_revision"));
        else
                ctl_say(ctl, "%s: nothing newer than %s is on disk", state,
                        ctl_revision(o, "running_revision"));
        return UCS_EXIT_DONE;
}
