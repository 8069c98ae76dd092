/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Records of /proc/cpuinfo: those of kernels, other architectures, and what no kernel prints. */

#include "base/str.h"
#include "core/policy/cpuinfo.h"
#include "ucs-test.h"

#define UNKNOWN UCS_ID_UNKNOWN

#define INTEL                                                                                                  \
        "processor\t: 5\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"                          \
        "model name\t: Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz\nstepping\t: 4\nmicrocode\t: 0x200003a\n"      \
        "cpu MHz\t\t: 2300.000\nphysical id\t: 1\nsiblings\t: 36\ncore id\t\t: 8\ncpu cores\t: 18\n"           \
        "apicid\t\t: 80\ninitial apicid\t: 80\nflags\t\t: fpu vme de pse\nbugs\t\t:\n"                         \
        "address sizes\t: 46 bits physical, 48 bits virtual\npower management:\n\n"

static const UcsCpuinfo intel = { 5, UCS_VENDOR_INTEL, 0x50654, 0x200003a, 1, 8, 80, false };

/* Not memcmp(): a copy of a structure need not have its padding. */
static bool same(const UcsCpuinfo *a, const UcsCpuinfo *b) {
        return a->cpu == b->cpu && a->vendor == b->vendor && a->signature == b->signature && a->revision == b->revision && a->package == b->package &&
               a->core == b->core && a->apic_id == b->apic_id && a->hypervisor == b->hypervisor;
}

ucs_test(cpuinfo, records) {
        static const UcsCpuinfo nothing = { UNKNOWN, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false };
        static const struct {
                const char *name, *text;
                UcsCpuinfo expected;
                const char *complaint; /* a word of it; NULL: none */
        } table[] = {
                { "Intel", INTEL, { 5, UCS_VENDOR_INTEL, 0x50654, 0x200003a, 1, 8, 80, false }, NULL },
                { "AMD in a guest",
                  "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n"
                  "stepping\t: 1\nmicrocode\t: 0x1000065\nflags\t\t: sse2 hypervisor lahf_lm\n\n",
                  { 0, UCS_VENDOR_AMD, 0xa10f11, 0x1000065, UNKNOWN, UNKNOWN, UNKNOWN, true },
                  NULL },
                { "the word hypervisor as a part of another flag",
                  "vendor_id\t: GenuineIntel\nflags\t\t: xhypervisor hypervisors\n\n",
                  { UNKNOWN, UCS_VENDOR_INTEL, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  NULL },
                { "hypervisor as the last flag, two blanks before it",
                  "vendor_id\t: GenuineIntel\nflags\t\t: fpu  hypervisor\n\n",
                  { UNKNOWN, UCS_VENDOR_INTEL, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, true },
                  NULL },
                { "no microcode line: the kernel does not know it",
                  "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 4\n\n",
                  { 0, UCS_VENDOR_INTEL, 0x50654, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  NULL },
                { "another x86 vendor",
                  "processor\t: 0\nvendor_id\t: HygonGenuine\ncpu family\t: 24\nmodel\t\t: 0\nstepping\t: 2\n\n",
                  { 0, UCS_VENDOR_UNKNOWN, 0x900f02, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  NULL },
                { "stepping unknown",
                  "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: unknown\n\n",
                  { 0, UCS_VENDOR_INTEL, 0x50650, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  NULL },
                { "only the initial APIC id",
                  "processor\t: 0\ninitial apicid\t: 17\n\n",
                  { 0, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, 17, false },
                  NULL },
                { "arm64",
                  "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm\nCPU implementer\t: 0x41\n"
                  "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n",
                  { 0, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  NULL },
                { "s390x",
                  "vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 3241.00\nmax thread id   : 0\n"
                  "features\t: esan3 zarch stfle\nfacilities      : 0 1 2\n\n",
                  { UNKNOWN, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  NULL },
                { "powerpc",
                  "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2200.000000MHz\n"
                  "revision\t: 2.3 (pvr 004e 1203)\n\n",
                  { 0, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  NULL },
                { "no colon, no key, no value",
                  "garbage\n: 5\nmodel\nprocessor\t: 3\n\n",
                  { 3, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  NULL },
                { "a number that is none",
                  "processor\t: x\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 4\n\n",
                  { UNKNOWN, UCS_VENDOR_INTEL, 0x50654, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "processor" },
                { "a revision that is none",
                  "processor\t: 0\nmicrocode\t: 0xzz\n\n",
                  { 0, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "microcode" },
                { "a revision of 33 bits",
                  "processor\t: 0\nmicrocode\t: 0x100000000\n\n",
                  { 0, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "microcode" },
                { "an empty value",
                  "processor\t: 0\nmicrocode\t:\n\n",
                  { 0, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "microcode" },
                { "a family out of range takes the signature away",
                  "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 271\nmodel\t\t: 85\nstepping\t: 4\n\n",
                  { 0, UCS_VENDOR_INTEL, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "cpu family" },
                { "a stepping out of range does so too",
                  "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 16\n\n",
                  { 0, UCS_VENDOR_INTEL, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "stepping" },
                { "a negative model",
                  "processor\t: 0\ncpu family\t: 6\nmodel\t\t: -1\nstepping\t: 4\n\n",
                  { 0, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "model" },
                { "a CPU number beyond all CPUs",
                  "processor\t: 8192\n\n",
                  { UNKNOWN, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "processor" },
                { "the first complaint is kept",
                  "model\t\t: 256\nmicrocode\t: -\n\n",
                  { UNKNOWN, UCS_VENDOR_UNKNOWN, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, false },
                  "model is '256'" },
        };

        cr_expect_eq(nothing.cpu, UNKNOWN);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const UcsCpuinfo *x = &table[i].expected;
                UcsCpuinfo c = {};
                UcsError e = {};
                size_t n = 0;

                cr_expect_eq(ucs_cpuinfo_parse(table[i].text, strlen(table[i].text), false, &c, &n, &e), 1, "%s", table[i].name);
                cr_expect_eq(n, strlen(table[i].text), "%s: %zu bytes", table[i].name, n);
                cr_expect_eq(c.cpu, x->cpu, "%s: cpu %u", table[i].name, c.cpu);
                cr_expect_eq(c.vendor, x->vendor, "%s: vendor", table[i].name);
                cr_expect_eq(c.signature, x->signature, "%s: signature 0x%x", table[i].name, c.signature);
                cr_expect_eq(c.revision, x->revision, "%s: revision 0x%x", table[i].name, c.revision);
                cr_expect_eq(c.package, x->package, "%s: package %u", table[i].name, c.package);
                cr_expect_eq(c.core, x->core, "%s: core %u", table[i].name, c.core);
                cr_expect_eq(c.apic_id, x->apic_id, "%s: APIC id %u", table[i].name, c.apic_id);
                cr_expect_eq(c.hypervisor, x->hypervisor, "%s: hypervisor", table[i].name);
                if (table[i].complaint)
                        cr_expect(strstr(e.text, table[i].complaint), "%s: '%s'", table[i].name, e.text);
                else
                        cr_expect_eq(e.code, 0, "%s: '%s'", table[i].name, e.text);
        }
}

/* However the text is cut, a record is taken when its empty line is there, or at the very end, and never before. */
ucs_test(cpuinfo, cut_anywhere) {
        static const char two[] = INTEL INTEL;
        const size_t one = strlen(INTEL);

        for (size_t n = 0; n < sizeof(two) - 1; n++) {
                UcsCpuinfo c = {};
                UcsError e = {};
                size_t consumed = 0;
                int r;

                r = ucs_cpuinfo_parse(two, n, false, &c, &consumed, &e);
                cr_assert_eq(r, n >= one, "%zu bytes: %d", n, r);
                cr_assert_eq(consumed, n >= one ? one : 0);
                if (r == 1)
                        cr_assert(same(&c, &intel));

                r = ucs_cpuinfo_parse(two, n, true, &c, &consumed, &e);
                cr_assert_eq(r, n > 0, "%zu bytes at the end: %d", n, r);
        }
}

ucs_test(cpuinfo, walk) {
        static const char text[] = "\n\n" INTEL "\n" INTEL "processor\t: 7\n";
        static const uint32_t cpus[] = { 5, 5, 7 };
        size_t at = 0, n = 0;

        for (;;) {
                UcsCpuinfo c;
                UcsError e = {};
                size_t consumed;
                int r;

                r = ucs_cpuinfo_parse(text + at, sizeof(text) - 1 - at, true, &c, &consumed, &e);
                cr_assert(r >= 0);
                if (r == 0)
                        break;
                cr_assert(n < ELEMENTSOF(cpus));
                cr_expect_eq(c.cpu, cpus[n++]);
                at += consumed;
        }
        cr_expect_eq(n, ELEMENTSOF(cpus));
        cr_expect_eq(at, sizeof(text) - 1);
}

ucs_test(cpuinfo, not_text) {
        const size_t size = UCS_CPUINFO_RECORD_MAX + 1;
        _cleanup_free_ char *huge = malloc(size);
        UcsCpuinfo c = intel;
        size_t consumed = 42;
        UcsError e = {};

        cr_expect_eq(ucs_cpuinfo_parse("processor\0: 1\n\n", 16, false, &c, &consumed, &e), -EBADMSG);
        cr_expect(strstr(e.text, "NUL"));

        /* one line that never ends, and lines without an empty one */
        memset(huge, 'x', size);
        cr_expect_eq(ucs_cpuinfo_parse(huge, size, false, &c, &consumed, &e), -EBADMSG);
        cr_expect_eq(ucs_cpuinfo_parse(huge, size, true, &c, &consumed, &e), -EBADMSG);
        cr_expect_eq(ucs_cpuinfo_parse(huge, size - 2, false, &c, &consumed, &e), 0);
        for (size_t i = 1; i < size; i += 2)
                huge[i] = '\n';
        cr_expect_eq(ucs_cpuinfo_parse(huge, size, false, &c, &consumed, &e), -EBADMSG);
        cr_expect(strstr(e.text, "without an end"));

        cr_expect(same(&c, &intel), "outputs are untouched");
        cr_expect_eq(consumed, 42);

        /* a flags line of the largest size still is a record */
        memset(huge, ' ', size);
        memcpy(huge, "flags :", 7);
        memcpy(huge + size - 13, "hypervisor\n\n", 12);
        cr_expect_eq(ucs_cpuinfo_parse(huge, size - 1, false, &c, &consumed, &e), 1);
        cr_expect(c.hypervisor);
}
