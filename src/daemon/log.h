/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The edge at which things are said: to the journal with all its fields, or, when stderr does not lead to the journal, as one line there. */

#include <syslog.h>

#include "base/error.h"

typedef enum LogTarget {
        LOG_TARGET_JOURNAL,
        LOG_TARGET_CONSOLE,
} LogTarget;

/* The fields of an event. All of them are always sent, so that a catalog text never shows a bare field name; what does not apply is "-". */
typedef struct LogFields {
        const char *state, *blocked_by;
        uint32_t old_revision, new_revision; /* 0: does not apply */
        const char *path, *digest;
        uint64_t stall_nsec, stall_ticks, write_nsec; /* UCS_UNKNOWN: does not apply */
        uint32_t worst_cpu;                           /* UINT32_MAX: does not apply */
        const char *witness, *result, *predicted, *window;
        uint32_t uid; /* UINT32_MAX: does not apply */
} LogFields;

#define LOG_FIELDS_NONE                                                                                        \
        .stall_nsec = UCS_UNKNOWN, .stall_ticks = UCS_UNKNOWN, .write_nsec = UCS_UNKNOWN, .worst_cpu = UINT32_MAX, .uid = UINT32_MAX

void log_init(void);
void log_set_max_level(int level);
int log_max_level(void);
void log_set_target(LogTarget target);
LogTarget log_target(void);

/* An event with an id of message-ids.h. */
void log_event(int priority, const char *message_id, const LogFields *f, const char *format, ...) _printf_(4, 5);

/* A line without an id. */
void log_line(int priority, const char *format, ...) _printf_(2, 3);

#define log_error(...) log_line(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
