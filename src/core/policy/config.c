/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The configuration as values; see config.h. What always holds: a key that someone set has their value, or
 * there was an error; nothing falls back in silence. An assignment that fails leaves the configuration as it
 * was. */

#include <assert.h>

#include "base/enum.h"
#include "core/policy/config-keys.h"

static const char *const require_strings[_UCS_REQUIRE_MAX] = {
        [UCS_REQUIRE_ALL] = "all",
        [UCS_REQUIRE_ANY] = "any",
};
DEFINE_ENUM_STRINGS(ucs_require, UcsRequire, require_strings);

static const char *const trust_strings[_UCS_TRUST_MAX] = {
        [UCS_TRUST_MINREV] = "minrev",
        [UCS_TRUST_APPROVED] = "approved",
        [UCS_TRUST_ANY] = "any",
};
DEFINE_ENUM_STRINGS(ucs_trust, UcsTrust, trust_strings);

static const char *const latency_critical_strings[_UCS_LATENCY_CRITICAL_MAX] = {
        [UCS_LATENCY_CRITICAL_BLOCK] = "block",
        [UCS_LATENCY_CRITICAL_ALLOW] = "allow",
};
DEFINE_ENUM_STRINGS(ucs_latency_critical, UcsLatencyCritical, latency_critical_strings);

/* Where a key's value came from. */
struct UcsConfigOrigin {
        char *last;  /* the last assignment; NULL: nobody set it */
        char **each; /* lists: one a value that someone set */
};

UcsConfig *ucs_config_free(UcsConfig *c) {
        if (!c)
                return NULL;
        for (size_t i = 0; i < ucs_config_n_keys; i++) {
                if (ucs_config_keys[i].type->reset)
                        ucs_config_keys[i].type->reset(&ucs_config_keys[i], c);
                if (c->origins) {
                        free(c->origins[i].last);
                        strv_free(c->origins[i].each);
                }
        }
        free(c->origins);
        free(c);
        return NULL;
}

/* The built-in default of what is no list. A default that does not parse would be our own mistake. */
static void key_default(const ConfigKey *k, UcsConfig *c) {
        _unused_ int r = 0;

        if (k->type->reset)
                k->type->reset(k, c);
        else
                r = k->type->parse(k, c, k->fallback, NULL, NULL);
        assert(r >= 0);
}

int ucs_config_new(UcsConfig **ret) {
        _cleanup_(ucs_config_freep) UcsConfig *c = NULL;

        c = new0(UcsConfig, 1);
        if (!c)
                return -ENOMEM;
        c->origins = new0(struct UcsConfigOrigin, ucs_config_n_keys);
        if (!c->origins)
                return -ENOMEM;
        for (size_t i = 0; i < ucs_config_n_keys; i++)
                key_default(&ucs_config_keys[i], c);
        *ret = TAKE_PTR(c);
        return 0;
}

/* --- assignment --- */

/* "Schedule, Load, …", or the keys of one section. */
static void names_append(UcsText *t, const char *section) {
        const char *before = NULL;

        for (size_t i = 0; i < ucs_config_n_keys; i++) {
                const ConfigKey *k = &ucs_config_keys[i];

                if (section ? !streq(k->section, section) : before && streq(k->section, before))
                        continue;
                ucs_text_appendf(t, "%s%s", before ? ", " : "", section ? k->name : k->section);
                before = k->section;
        }
}

int ucs_config_check_section(const char *section, UcsError *e) {
        _cleanup_text_ UcsText names = {};

        for (size_t i = 0; i < ucs_config_n_keys; i++)
                if (streq(ucs_config_keys[i].section, section))
                        return 0;
        names_append(&names, NULL);
        return ucs_error_set(e, -ENOENT, "there is no section [%.60s], expected one of %s", section,
                             names.data ?: "");
}

static int unknown_key(const char *section, const char *key, UcsError *e) {
        _cleanup_text_ UcsText names = {};
        int r;

        r = ucs_config_check_section(section, e);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ucs_config_n_keys; i++)
                if (streq(ucs_config_keys[i].name, key))
                        return ucs_error_set(e, -ENOENT, "there is no key %s= in [%s], expected it in [%s]",
                                             key, section, ucs_config_keys[i].section);
        names_append(&names, section);
        return ucs_error_set(e, -ENOENT, "there is no key %.60s= in [%s], expected one of %s", key, section,
                             names.data ?: "");
}

static const ConfigKey *key_find(const char *section, const char *key) {
        for (size_t i = 0; i < ucs_config_n_keys; i++)
                if (streq(ucs_config_keys[i].section, section) && streq(ucs_config_keys[i].name, key))
                        return &ucs_config_keys[i];
        return NULL;
}

static int key_assign(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                      UcsError *e) {
        UcsError detail = {};
        const char *hint;
        int r;

        r = k->type->parse(k, c, value, zones, &detail);
        if (r >= 0)
                return r;
        if (r == -ENOMEM)
                return ucs_error_set(e, r, "no memory for %s=", k->name);
        hint = strstr(value, " #") ? "; '#' begins a comment only at the start of a line" : "";
        if (detail.code != 0 && strstr(detail.text, "expected"))
                return ucs_error_set(e, -EINVAL, "[%s] %s=: %s%s", k->section, k->name, detail.text, hint);
        if (detail.code != 0)
                return ucs_error_set(e, -EINVAL, "[%s] %s=: %s; expected %s%s", k->section, k->name,
                                     detail.text, k->expected, hint);
        return ucs_error_set(e, -EINVAL, "[%s] %s=%.80s: expected %s%s", k->section, k->name, value,
                             k->expected, hint);
}

int ucs_config_assign(UcsConfig *c, const char *section, const char *key, const char *value,
                      const char *origin, const UcsZoneSource *zones, UcsError *e) {
        _cleanup_free_ char *last = NULL;
        struct UcsConfigOrigin *o;
        const ConfigKey *k;
        int r;

        k = key_find(section, key);
        if (!k)
                return unknown_key(section, key, e);
        o = &c->origins[k - ucs_config_keys];
        last = strdup(origin);
        if (!last)
                return ucs_error_set(e, -ENOMEM, "no memory for %s=", k->name);

        if (!*value) {
                key_default(k, c);
                o->each = strv_free(o->each);
        } else {
                r = key_assign(k, c, value, zones, e);
                if (r < 0)
                        return r;
                if (k->type->list && strv_push(&o->each, origin) < 0)
                        return ucs_error_set(e, -ENOMEM, "no memory for %s=", k->name);
        }
        free(o->last);
        o->last = TAKE_PTR(last);
        return 0;
}

int ucs_config_finish(UcsConfig *c, const UcsZoneSource *zones, UcsError *e) {
        for (size_t i = 0; i < ucs_config_n_keys; i++) {
                const ConfigKey *k = &ucs_config_keys[i];
                int r;

                if (!k->type->list || !k->fallback || c->origins[i].last)
                        continue;
                r = key_assign(k, c, k->fallback, zones, e);
                if (r < 0)
                        return r;
        }
        if (!c->zone) {
                if (!zones)
                        c->zone = ucs_zone_utc();
                else
                        return zones->load(zones->userdata, "", &c->zone, e);
        }
        return 0;
}

/* --- cat-config --- */

bool ucs_config_next(const UcsConfig *c, UcsConfigIterator *i, const char **ret_section,
                     const char **ret_key, char **ret_value, const char **ret_origin) {
        for (; i->key < ucs_config_n_keys; i->key++, i->index = 0) {
                const ConfigKey *k = &ucs_config_keys[i->key];
                const struct UcsConfigOrigin *o = &c->origins[i->key];
                char *value = NULL;
                int r = -ENOENT;

                if (k->type->list || i->index == 0)
                        r = k->type->format(k, c, i->index, &value);
                if (r == -ENOENT) {
                        if (i->index > 0)
                                continue;
                        value = strdup(""); /* an empty list is a value, too */
                }
                *ret_section = k->section;
                *ret_key = k->name;
                *ret_value = value;
                *ret_origin = i->index < strv_length(o->each) ? o->each[i->index] : o->last ?: "default";
                i->index++;
                return true;
        }
        return false;
}
