# SPDX-License-Identifier: LGPL-2.1-or-later
"""The linker's view of the purity of core: what libcore.a leaves undefined is in libbase.a or in libc, and nothing of it reads, writes,
waits or asks the clock. What sanitizers add is left out."""

import re
import shutil
import subprocess
from pathlib import Path

SANITIZER = re.compile(r"__(asan|ubsan|lsan|sanitizer|sancov|gcov|tsan|msan)_")

# libc names for which base and core have no use: descriptors and files, the clock and the calendar, the environment, processes and
# threads, locale, randomness, anything on a terminal. (open_memstream() and fclose() write to memory.)
IMPURE = re.compile(
    r"^_*(open(at)?(64)?(_2)?|creat|close|p?(read|write)v?(64)?(_chk)?|lseek(64)?|fopen(64)?|fdopen|freopen|popen|pclose|fgets|fread|getline|"
    r"opendir|readdir(64)?|f?l?stat(at)?(64)?|fstatat(64)?|access|faccessat|unlink(at)?|rename(at2?)?|mkdir(at)?|ioctl|fcntl(64)?|mmap(64)?|"
    r"v?printf(_chk)?|v?fprintf(_chk)?|v?dprintf|puts|putchar|perror|std(in|out|err)|v?syslog|err|warn|"
    r"time|gettimeofday|clock|clock_gettime|nanosleep|clock_nanosleep|u?sleep|tzset|(local|gm)time(_r)?|mktime|timegm|strftime|"
    r"(secure_)?getenv|(set|put|unset)env|environ|getpid|getuid|geteuid|fork|exec[vlpe]+|system|kill|raise|signal|sigaction|"
    r"pthread_\w+|thrd_\w+|rand(om)?(_r)?|srand(om)?|getrandom|setlocale|sysconf|uname|socket|connect|send(msg|to)?|recv(msg|from)?|syscall|"
    r"exit|_exit|quick_exit|atexit)$")


class Unavailable(Exception):
    pass


def run(*argv):
    if not shutil.which(argv[0]):
        raise Unavailable(f"{argv[0]} is not installed")
    return subprocess.run([str(a) for a in argv], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True).stdout


def libraries(top, build, tmp):
    """(libbase.a, libcore.a), of the build directory or freshly made, without sanitizers."""
    if not build:
        build = Path(tmp) / "build"
        run("meson", "setup", build, top, "-Dtests=false", "-Dman=disabled")
    run("ninja", "-C", build, "src/base/libbase.a", "src/core/libcore.a")
    return Path(build) / "src/base/libbase.a", Path(build) / "src/core/libcore.a"


def undefined(archive):
    return set(re.findall(r"^ +U (\S+)$", run("nm", "-u", archive), re.M))


def defined(archive, *options):
    return {s.split("@")[0] for s in re.findall(r"^\S+ [A-TV-Zivw] (\S+)$", run("nm", "--defined-only", *options, archive), re.M)}


# What judge() must find: core calls base, libc, the clock and somebody else.
SAMPLE_BASE = "#include <string.h>\nint base_f(const char *s);\nint base_f(const char *s) { return (int) strlen(s); }\n"
SAMPLE_CORE = ("#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\nint base_f(const char *s); int elsewhere(void); int core_f(void);\n"
               "int core_f(void) { return base_f(malloc(3)) + (int) time(NULL) + elsewhere() + !fopen(\"x\", \"r\"); }\n")
SAMPLE_FOUND = (["elsewhere"], ["fopen", "time"])


def sample(tmp):
    """(libbase.a, libcore.a) with known faults."""
    archives = []
    for name, text in (("base", SAMPLE_BASE), ("core", SAMPLE_CORE)):
        source, archive = Path(tmp) / f"{name}.c", Path(tmp) / f"lib{name}.a"
        source.write_text(text)
        run("gcc", "-c", source, "-o", source.with_suffix(".o"))
        run("ar", "crs", archive, source.with_suffix(".o"))
        archives.append(archive)
    return tuple(archives)


def judge(base, core):
    """(symbols of core from elsewhere, symbols of core and base that are no business of theirs), sorted."""
    libc = set()
    for name in ("libc.so.6", "libm.so.6"):
        libc |= defined(run("gcc", f"-print-file-name={name}").strip(), "-D")
    wanted = undefined(core)
    if not wanted or len(libc) < 1000 or not defined(core):
        raise Unavailable("the libraries have no symbols to look at")
    own = defined(core)
    foreign = {s for s in wanted - own - defined(base) - libc if not SANITIZER.match(s) and s != "_GLOBAL_OFFSET_TABLE_"}
    impure = {s for s in wanted | undefined(base) if IMPURE.match(s)}
    return sorted(foreign), sorted(impure)
