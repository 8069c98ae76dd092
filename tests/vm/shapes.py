# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kinds of machine. Intel: signature 0x50654, platform 0; AMD: family 17h, 0x830f10, above or below the EntrySign cutoff 0x0830107c."""

from virtual import Shape

SKYLAKE, ROME = "Skylake-Server", "EPYC-Rome"
BASE, AMD_BASE = 0x02006000, 0x08301081

INTEL = Shape("intel", SKYLAKE, "4,cores=2,threads=2", BASE)
# The same once more, so that two share the work.
INTEL_TOO = Shape("intel-too", SKYLAKE, "4,cores=2,threads=2", BASE)
FOUR = Shape("four", SKYLAKE, "4,cores=2,threads=2", BASE)
AMD = Shape("amd", ROME, "4", AMD_BASE, vendor="amd")
# The kernel's timeouts are counted loops, minutes long under TCG: with this they end within seconds. sim_delay_ms= is not in ms then.
AMD_IMPATIENT = Shape("amd-impatient", ROME, "4", AMD_BASE, " lpj=8000", vendor="amd")
AMD_OLD = Shape("amd-old", ROME, "2", 0x08301000, vendor="amd")
MINREV = Shape("minrev", SKYLAKE, "2", BASE, ",force_minrev")
DISABLED = Shape("disabled", SKYLAKE, "2", BASE, " dis_ucode_ldr")
ODD = Shape("odd", SKYLAKE, "4,cores=2,threads=2", BASE, " psi=0 isolcpus=3")
MANY = Shape("many", SKYLAKE, "16,cores=8,threads=2", BASE)
TWO = Shape("two", SKYLAKE, "2,cores=2", BASE)
EIGHT = Shape("eight", SKYLAKE, "8,cores=4,threads=2", BASE)
CUT = Shape("cut", SKYLAKE, "2,cores=2", BASE)
