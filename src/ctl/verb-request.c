/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl cancel and acknowledge: one call each, about something that has a name. */

#include "base/parse.h"
#include "ctl/ctl-args.h"
#include "ctl/ctl-show.h"

int verb_cancel(UcsCtl *ctl, int argc, char **argv) {
        uint32_t id;
        int r;

        r = ctl_parse_count(ctl, "cancel", argv[1], 1, UINT32_MAX, &id);
        if (r != 0)
                return r;
        r = ctl_call(ctl, NULL, "Cancel", "u", id);
        if (r != 0)
                return r;
        if (ctl->json != UCS_JSON_OFF) {
                json_object *o = json_object_new_object();

                (void) json_object_object_add(o, "cancelled", json_object_new_int64(id));
                ctl_print_json(ctl, o);
        }
        ctl_say(ctl, "Request %u is taken back", id);
        return UCS_EXIT_DONE;
}

/* Someone who vouches for a file names it: without an operand the digest is shown, not taken. */
static int name_the_digest(UcsCtl *ctl) {
        _cleanup_json_ json_object *o = NULL;
        const char *digest;
        int r;

        r = ctl_get_all(ctl, CTL_MANAGER, &o);
        if (r != 0)
                return r;
        digest = ctl_string(o, "candidate_digest");
        if (!digest)
                return ctl_fail(ctl, UCS_EXIT_NOTHING,
                                "there is no update on disk that could be acknowledged");
        return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                              "name the file by its SHA-256; that of %s is %s",
                              ctl_string(o, "candidate_path") ?: "the one on disk", digest);
}

int verb_acknowledge(UcsCtl *ctl, int argc, char **argv) {
        int r;

        if (argc < 2)
                return name_the_digest(ctl);
        if (strlen(argv[1]) != 64 || argv[1][strspn(argv[1], "0123456789abcdefABCDEF")])
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument",
                                      "'%s' is no SHA-256 of 64 hexadecimal digits", argv[1]);
        r = ctl_call(ctl, NULL, "Acknowledge", "s", argv[1]);
        if (r != 0)
                return r;
        if (ctl->json != UCS_JSON_OFF) {
                json_object *o = json_object_new_object();

                (void) json_object_object_add(o, "acknowledged", json_object_new_string(argv[1]));
                ctl_print_json(ctl, o);
        }
        ctl_say(ctl, "The file may be tried again");
        return UCS_EXIT_DONE;
}
