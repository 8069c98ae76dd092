# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules, as a table: which files each looks at, and what it finds in one. And small pieces that break them, on which they are tried
before they judge the tree. They see text, not syntax: comments and strings are blanked out where they would be mistaken for code."""

import re
from dataclasses import dataclass
from typing import Callable

LINES_WANTED = 400
LINES_MAX = 500

# Who may include whom. Tests may include everything and are not asked.
MAY_INCLUDE = {
    "base": {"base"},
    "core": {"base", "core"},
    "os": {"base", "core", "os"},
    "daemon": {"base", "core", "os", "daemon"},
    "ctl": {"base", "core", "os", "ctl"},
    "bench": {"base", "core", "os", "bench"},
}

# What base and core take of the system: values, text and memory.
PURE_HEADERS = {
    "assert.h", "ctype.h", "endian.h", "errno.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h",
    "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h",
}

# Calls that are made nowhere in the product.
FORBIDDEN_CALLS = {
    "system", "popen", "strcpy", "strcat", "sprintf", "vsprintf", "gets", "atoi", "atol", "atoll", "atof", "strtok", "tmpnam", "tempnam",
    "mktemp", "alloca", "dup", "dup2", "pipe", "inotify_init", "epoll_create",
}

# Calls that make a descriptor, and what must stand in their arguments. ucs_root_openat() and its like add the flag themselves.
CLOSE_ON_EXEC = {
    "open": "O_CLOEXEC", "openat": "O_CLOEXEC", "creat": "O_CLOEXEC", "pipe2": "O_CLOEXEC", "dup3": "O_CLOEXEC",
    "socket": "SOCK_CLOEXEC", "accept4": "SOCK_CLOEXEC", "inotify_init1": "IN_CLOEXEC", "eventfd": "EFD_CLOEXEC",
    "timerfd_create": "TFD_CLOEXEC", "signalfd": "SFD_CLOEXEC", "memfd_create": "MFD_CLOEXEC", "epoll_create1": "EPOLL_CLOEXEC",
    "mkostemp": "O_CLOEXEC",
}


def blank(text, keep_strings=False):
    """Comments, and the insides of strings, replaced by blanks of the same length."""
    def repl(m):
        s = m[0]
        if s[0] == "/":
            return re.sub(r"[^\n]", " ", s)
        return s if keep_strings else s[0] + re.sub(r"[^\n]", " ", s[1:-1]) + s[-1]
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", repl, text, flags=re.S)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def is_c(path):
    return path.endswith((".c", ".h"))


def in_src(path):
    return path.startswith("src/") and is_c(path)


def layer(path):
    return path.split("/")[1]


def is_source(path):
    return (is_c(path) or path.endswith((".py", ".sh")) or re.match(r"(tools|tests|\.ci)/(.*/)?[\w-]+$", path) is not None) and \
            not path.startswith("docs/")


def find_direction(path, text):
    for m in re.finditer(r'^\s*#\s*include\s+"([^"]+)"', blank(text, keep_strings=True), re.M):
        target, where = m[1], f":{line_of(text, m.start())}"
        top = target.split("/")[0]
        if "/" not in target or ".." in target or top not in MAY_INCLUDE:
            yield f'{where}: "{target}" is not rooted in a layer of src/'
        elif top not in MAY_INCLUDE.get(layer(path), set()):
            yield f'{where}: {layer(path)} includes "{target}"'


def find_impure_include(path, text):
    for m in re.finditer(r"^\s*#\s*include\s+<([^>]+)>", blank(text, keep_strings=True), re.M):
        if m[1] not in PURE_HEADERS:
            yield f":{line_of(text, m.start())}: <{m[1]}> in {layer(path)}"


def find_forbidden_call(path, text):
    code = blank(text)
    for m in re.finditer(r"(?<![\w.>])(\w+)\s*\(", code):
        if m[1] in FORBIDDEN_CALLS:
            yield f":{line_of(code, m.start())}: {m[1]}()"
    for m in re.finditer(r'\b(setenv|putenv|unsetenv)\s*\(\s*"TZ', blank(text, keep_strings=True)):
        yield f':{line_of(text, m.start())}: {m[1]}("TZ")'


def arguments_at(code, start):
    """The text between the parenthesis at `start` and its mate."""
    depth = 0
    for i in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return code[start:i]
    return code[start:]


def find_close_on_exec(path, text):
    code = blank(text)
    for m in re.finditer(r"(?<![\w.>])(\w+)\s*(\()", code):
        flag = CLOSE_ON_EXEC.get(m[1])
        if flag and flag not in arguments_at(code, m.start(2)):
            yield f":{line_of(code, m.start())}: {m[1]}() without {flag}"
    for m in re.finditer(r'(?<![\w.>])f(?:d)?open\s*\([^;]*?"([rwa+b]*)"\s*\)', blank(text, keep_strings=True)):
        yield f':{line_of(text, m.start())}: fopen() without "e" in "{m[1]}"'
    for m in re.finditer(r"\bF_DUPFD\b", code):
        yield f":{line_of(code, m.start())}: F_DUPFD instead of F_DUPFD_CLOEXEC"


def find_size(path, text):
    if (n := text.count("\n")) > LINES_MAX:
        yield f": {n} lines, at most {LINES_MAX}"


def is_script_or_c(path, text):
    """A file without a suffix is a program if it says so, and data otherwise."""
    return is_c(path) or path.endswith((".py", ".sh")) or text.startswith("#!")


def find_no_license(path, text):
    if is_script_or_c(path, text) and not any("SPDX-License-Identifier: LGPL-2.1-or-later" in line for line in text.splitlines()[:3]):
        yield ": no SPDX line at its head"


def find_no_opening(path, text):
    """The first thing said, beyond the licence: a sentence or more on what the file is for."""
    if is_c(path):
        # each comment on one line, to tell lines of comment from lines of code
        lines = re.sub(r"/\*.*?\*/", lambda m: m[0].replace("\n", " "), text, flags=re.S).splitlines()
        first_code = next((n for n, line in enumerate(lines) if line.strip() and not re.match(r"\s*(#|/\*|//)", line)), len(lines))
        said = [re.sub(r".*SPDX.*", "", line) for line in lines[:first_code] if line.lstrip().startswith("/*")]
    else:
        head = "\n".join(text.splitlines()[:12])
        said = re.findall(r"^# ?(?!!)(?!.*SPDX)(.*)$", head, re.M) + re.findall(r'"""([^"]*)', head)
    if is_script_or_c(path, text) and len(re.findall(r"\w+", " ".join(said))) < 4:
        yield ": does not begin with a comment on what it is for"


def find_no_guard(path, text):
    if not re.search(r"^#pragma once$", text, re.M):
        yield ": no #pragma once"


def find_unfinished(path, text):
    for n, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TO" r"DO|FIX" r"ME|HA" r"CK|X" r"XX)\b", line):
            yield f":{n}: {line.strip()[:80]}"


@dataclass
class Rule:
    name: str
    applies: Callable[[str], bool]
    find: Callable[[str, str], object]


RULES = [
    Rule("includes go one way", in_src, find_direction),
    Rule("base and core include nothing impure", lambda p: in_src(p) and layer(p) in ("base", "core"), find_impure_include),
    Rule("forbidden calls", in_src, find_forbidden_call),
    Rule("descriptors close on exec", in_src, find_close_on_exec),
    Rule("file size", is_source, find_size),
    Rule("licence line", is_source, find_no_license),
    Rule("opening comment", is_source, find_no_opening),
    Rule("headers are included once", lambda p: p.endswith(".h"), find_no_guard),
    Rule("nothing is left unfinished", lambda p: is_source(p) or p.startswith(("conf/", "units/", "docs/")), find_unfinished),
]

HEAD = "/* SPDX-License-Identifier: LGPL-2.1-or-later */\n"
GOOD = HEAD + "\n/* What this is for, and what it will not do. */\n\n"

# (name, path, text, the rule that must speak; None: none may)
SAMPLES = [
    ("nothing wrong", "src/os/a.c", GOOD + '#include <fcntl.h>\n\n#include "core/x.h"\n\nint f(void) {\n        return open("system(", O_CLOEXEC);\n}\n', None),
    ("core includes os", "src/core/a.c", GOOD + '#include "os/root.h"\n', "includes go one way"),
    ("base includes core", "src/base/a.c", GOOD + '# include "core/x.h"\n', "includes go one way"),
    ("ctl includes daemon", "src/ctl/a.c", GOOD + '#include "daemon/log.h"\n', "includes go one way"),
    ("daemon includes ctl", "src/daemon/a.c", GOOD + '#include "ctl/ctl.h"\n', "includes go one way"),
    ("not rooted", "src/os/a.c", GOOD + '#include "root.h"\n', "includes go one way"),
    ("not rooted either", "src/os/a.c", GOOD + '#include "../os/root.h"\n', "includes go one way"),
    ("core asks the clock", "src/core/a.c", GOOD + "#include <time.h>\n", "base and core include nothing impure"),
    ("core uses libsystemd", "src/core/a.c", GOOD + "#include <systemd/sd-bus.h>\n", "base and core include nothing impure"),
    ("base has descriptors", "src/base/a.h", GOOD + "#pragma once\n#include <sys/stat.h>\n", "base and core include nothing impure"),
    ("commented out", "src/core/a.c", GOOD + "/* #include <time.h>\n   system(x); */\n", None),
    ("system()", "src/ctl/a.c", GOOD + "int f(void) {\n        return system (x);\n}\n", "forbidden calls"),
    ("sprintf()", "src/ctl/a.c", GOOD + 'void f(void) {\n        sprintf(b, "%d", 1);\n}\n', "forbidden calls"),
    ("snprintf() is not sprintf()", "src/ctl/a.c", GOOD + 'void f(void) {\n        snprintf(b, 1, "%d", 1);\n}\n', None),
    ("setenv(TZ)", "src/ctl/a.c", GOOD + 'void f(void) {\n        setenv("TZ", z, 1);\n}\n', "forbidden calls"),
    ("a member of that name", "src/ctl/a.c", GOOD + "void f(void) {\n        x->system(1);\n        y.dup(2);\n}\n", None),
    ("open without O_CLOEXEC", "src/os/a.c", GOOD + "int f(void) {\n        return open(g(p),\n                    O_RDONLY);\n}\n", "descriptors close on exec"),
    ("eventfd without EFD_CLOEXEC", "src/os/a.c", GOOD + "int f(void) {\n        return eventfd(0, 0);\n}\n", "descriptors close on exec"),
    ("fopen without e", "src/os/a.c", GOOD + 'void f(void) {\n        fopen(p, "r");\n}\n', "descriptors close on exec"),
    ("fopen with e", "src/os/a.c", GOOD + 'void f(void) {\n        fopen(p, "re");\n}\n', None),
    ("too long", "src/os/a.c", GOOD + "int x;\n" * (LINES_MAX + 1), "file size"),
    ("no licence", "src/os/a.c", "/* What this is for, and what it will not do. */\nint x;\n", "licence line"),
    ("no opening comment", "src/os/a.c", HEAD + "\nint x; /* what this is for, and what not */\n", "opening comment"),
    ("an opening comment after the includes", "src/os/a.h", HEAD + "#pragma once\n\n#include <errno.h>\n\n/* What this header is all about. */\n", None),
    ("no opening comment in a script", "tools/x", "#!/bin/bash\n# SPDX-License-Identifier: LGPL-2.1-or-later\n\nset -e\n", "opening comment"),
    ("an opening comment in a script", "tools/x", "#!/bin/bash\n# SPDX-License-Identifier: LGPL-2.1-or-later\n#\n# Does this and that for them.\n", None),
    ("data is not a script", "tests/x/list", "one\ntwo\n", None),
    ("no guard", "src/os/a.h", GOOD + "int x;\n", "headers are included once"),
    ("something to be done", "src/os/a.c", GOOD + "/* TO" "DO: later */\n", "nothing is left unfinished"),
]
