# SPDX-License-Identifier: LGPL-2.1-or-later
"""What goes wrong between ucodectl and the daemon: each error of the interface with its exit code, as a sentence and as JSON; no daemon, no
bus, a daemon that dies in the middle."""

from harness import case, contains, ctl, equal, error, fake, private_bus, state
from scenarios import pending

ERRORS = [
    ("org.ucodesync1.Error.NotSupported", 3),
    ("org.ucodesync1.Error.NoCandidate", 2),
    ("org.ucodesync1.Error.Busy", 2),
    ("org.ucodesync1.Error.Blocked", 2),
    ("org.ucodesync1.Error.Denied", 2),
    ("org.ucodesync1.Error.NoSuchHold", 1),
    ("org.ucodesync1.Error.RefusedByKernel", 1),
    ("org.ucodesync1.Error.ConfigInvalid", 1),
    ("org.ucodesync1.Error.TooMany", 1),
    ("org.ucodesync1.Error.SomethingNew", 1),
    ("org.freedesktop.DBus.Error.AccessDenied", 1),
    ("org.freedesktop.DBus.Error.InvalidArgs", 1),
]

# a verb, and the method that it calls
CALLS = [
    (["check"], "Check"), (["explain"], "Explain"), (["apply"], "Apply"), (["apply", "--wait"], "Apply"), (["cancel", "7"], "Cancel"),
    (["acknowledge", "c0" * 32], "Acknowledge"), (["windows"], "NextWindows"), (["processors"], "ListProcessors"),
    (["stall", "--per-cpu"], "GetPerCPU"), (["history"], "ListHistory"),
]

ALL = [["status"], ["stall"], ["log-level"], ["log-level", "debug"], *(c[0] for c in CALLS)]


@case
def each_error_has_its_exit_code_in_text_and_json():
    for name, code in ERRORS:
        with fake(pending(errors={"Apply": [name, "someone said\x1b[31m no"]})):
            r = ctl("apply")
            equal((r.code, r.out), (code, ""), name)
            equal(r.err, "ucodectl: Apply: someone said?[31m no\n", name)
            equal(error(ctl("apply", "--json=short"), name, code), "Apply: someone said\x1b[31m no", name)


@case
def every_verb_passes_an_error_on():
    for args, method in CALLS:
        with fake(pending(errors={method: ["org.ucodesync1.Error.Blocked", "not now"]})):
            r = ctl(*args)
            equal((r.code, r.out, r.err), (2, "", f"ucodectl: {method}: not now\n"), args)
            equal(error(ctl(*args, "--json=short"), "org.ucodesync1.Error.Blocked", 2), f"{method}: not now", args)


@case
def without_a_daemon_every_verb_says_how_to_start_it():
    for args in ALL:
        r = ctl(*args)
        equal((r.code, r.out), (1, ""), args)
        contains(r.err, "ucodesyncd is not running", "systemctl enable --now ucodesyncd")
        equal(r.err.count("\n"), 1, args)
        contains(error(ctl(*args, "--json=short"), "NotRunning"), "systemctl enable --now ucodesyncd")
        equal(ctl(*args, "--quiet").code, 1, args)


@case
def without_a_bus_every_verb_says_so():
    before, state["address"] = state["address"], "unix:path=/nowhere/bus"
    try:
        for args in [*ALL, ["monitor"]]:
            r = ctl(*args)
            equal((r.code, r.out), (1, ""), args)
            contains(r.err, "the system bus cannot be reached")
            error(ctl(*args, "--json=short"), "NoBus")
    finally:
        state["address"] = before


@case
def a_daemon_that_leaves_in_the_middle_of_a_call():
    for args, method in CALLS:
        scenario = pending(errors={method: [None, None]}, script={method: [{"exit": True}]})
        with fake(scenario):
            r = ctl(*args)
            equal((r.code, r.out), (1, ""), args)
            contains(r.err, "ucodesyncd went away, or did not answer in time")
        with fake(scenario):
            error(ctl(*args, "--json=short"), "NoReply")


@case
def a_daemon_that_is_not_enabled():
    for name in ("org.freedesktop.systemd1.NoSuchUnit", "org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.ServiceUnknown"):
        with fake(pending(errors={"GetAll": [name, "Unit dbus-org.ucodesync1.service not found."]})):
            contains(ctl().err, "ucodesyncd is not running")


@case
def another_bus_is_another_daemon():
    with fake(pending()):
        equal(ctl("-q").code, 2)
        with private_bus():
            equal(ctl("-q").code, 1)


@case
def output_that_cannot_be_written_is_a_failure():
    import subprocess
    from harness import environment
    with fake(pending()), open("/dev/full", "w") as full:
        r = subprocess.run([state["ucodectl"]], stdout=full, stderr=subprocess.PIPE, text=True, env=environment())
        equal(r.returncode, 1)
        contains(r.stderr, "the output cannot be written: No space left on device")
