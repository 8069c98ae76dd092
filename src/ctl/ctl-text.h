/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What text does to a terminal: which characters must not reach it, and how many columns the rest takes. See
 * also ctl_clean(). */

#include "ctl/ctl.h"

/* A Unicode character that steers a terminal or the direction of the text around it. */
bool ctl_character_harmful(uint32_t c);

/* Columns that `length` bytes of clean UTF-8 take. */
size_t ctl_text_columns(const char *s, size_t length);

/* JSON text with the harmful characters in its strings as \uXXXX: the same value, safe to look at. 0 or
 * -ENOMEM. */
int ctl_json_escape(const char *json, char **ret);
