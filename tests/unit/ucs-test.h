/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Criterion runs each test in a worker whose exit status it ignores once the test has succeeded, so a leak is printed and
 * passes. ucs_test() asks the leak checker at the end of the test's own body, where a failure still counts. */

#include <criterion/criterion.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UCS_HAVE_LSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UCS_HAVE_LSAN 1
#endif

#ifdef UCS_HAVE_LSAN
#include <sanitizer/lsan_interface.h>
#define ucs_check_leaks() cr_assert(__lsan_do_recoverable_leak_check() == 0, "memory was leaked, see the report above")
#else
#define ucs_check_leaks() ((void) 0)
#endif

#define ucs_test(suite, name, ...)                                                                             \
        static void body_##suite##_##name(void);                                                               \
        Test(suite, name, ##__VA_ARGS__) {                                                                     \
                body_##suite##_##name();                                                                       \
                ucs_check_leaks();                                                                             \
        }                                                                                                      \
        static void body_##suite##_##name(void)
