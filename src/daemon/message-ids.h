/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The MESSAGE_ID of every event that is worth a record of its own, as sd_journal_send() takes it: 128 random bits, as 32
 * lower-case hexadecimal digits.
 *
 * Stable: people's filters and alerts name these numbers. An id is never changed, never given to another event and never
 * reused when its event goes away; a new event takes a new one (`journalctl --new-id128`, or `systemd-id128 new`). Each has an
 * entry in conf/ucodesync.catalog, and the catalog has no other: tests/units holds the two against each other. */

/* the daemon is up: version, machine, support */
#define UCS_MESSAGE_STARTED "17b948a0d22349f79cd4bb126ee202a5"
/* a file on disk holds something newer for this CPU */
#define UCS_MESSAGE_CANDIDATE_FOUND "acd9b0675c1e4d459e310adce2ffee78"
/* a file for this CPU is not what the kernel accepts, or could not be read */
#define UCS_MESSAGE_CANDIDATE_REJECTED "e65fda2ca03f4fd795b42dd914366575"
/* the set of blockers changed; not each tick */
#define UCS_MESSAGE_DEFERRED "07365167d94b49db82f60f13b49d058b"
/* a revision that was on disk is not any more: the vendor took it back */
#define UCS_MESSAGE_PACKAGE_DOWNGRADED "1fd99a4a7210431c962f148fea9a3a7e"
/* everything is open: the kernel is being asked to load */
#define UCS_MESSAGE_APPLY_STARTED "779d519343be45ef817e1c0948b4fe30"
/* the load ended well, on every CPU */
#define UCS_MESSAGE_APPLIED "cf1681e2c29d4212ab4d60dc41ae8f59"
/* the load ended otherwise */
#define UCS_MESSAGE_APPLY_FAILED "159a26cf7d264e7194d788a76f79835f"
/* the machine stood still for longer than MaxStallMSec= */
#define UCS_MESSAGE_STALL_OVER_BUDGET "c5e660b1458b4375a80b3d1dce5934a3"
/* CPUs of one group run different revisions */
#define UCS_MESSAGE_REVISIONS_MIXED "4a04a8cdcc4b4289aec89a16ae6d0a44"
/* CPUID differs before and after a load */
#define UCS_MESSAGE_FEATURES_CHANGED "111fc239c42f49838e61a0e6f5b5590f"
/* the revision changed within this boot, and not by us */
#define UCS_MESSAGE_EXTERNAL_LOAD "406e1ced3dbb4835807a7d3b13d8c42a"
/* a load was followed by trouble during probation */
#define UCS_MESSAGE_REGRESSED "339685723f644191805f62fd8df88053"
/* an update has been pending for longer than DeadlineSec= */
#define UCS_MESSAGE_OVERDUE "866c184128a34c7d908eac3cb64b8e6f"
/* a request got past blockers by its flags */
#define UCS_MESSAGE_OVERRIDE_USED "fdba1e168460445b96466d4cdc8003f1"
/* a configuration file has an error */
#define UCS_MESSAGE_CONFIG_INVALID "4d36247bff2c48d984addf0df80d2220"
/* someone holds updates back */
#define UCS_MESSAGE_HOLD_ADDED "2626704fc39b46a2831c4d8eaac486e8"
/* a hold was released, or ran out */
#define UCS_MESSAGE_HOLD_RELEASED "5f001031428d4aaab9e2c822d1e0a764"
/* late loading became possible, or impossible */
#define UCS_MESSAGE_SUPPORT_CHANGED "561678d5ecbd4d9fb6eb1b6998dea1b6"
/* what is pending needs a reboot to take effect */
#define UCS_MESSAGE_REBOOT_REQUIRED "59d6599cbb3c4fb4bd446d2b1aa5522a"
