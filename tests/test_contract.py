"""The contract, as lints: what the schedule may not do, checked on its source.

A schedule that reads a clock, draws a random number or rounds in a float passes every other test
here and breaks a replay months later. So the bans are tests: an AST walk over floors 2 and 3, a
table of who may import whom, a scan of the C core, and what its objects ask of a linker. Each ban
states its reason, each exception its own, and a planted violation shows that the check would find
one.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import fixedstep

if TYPE_CHECKING:
    from collections.abc import Iterator

assert fixedstep.__file__ is not None
PACKAGE = Path(fixedstep.__file__).parent

# The floors. An arrow points down or sideways. Whatever is not named lies on floor 2, where the
# bans are: a new module has to be moved up here before it may read a clock.
FLOORS = {
    "sim": 3,
    "records": 4,
    "host": 4,
    "testing": 5,
    "captures": 5,
    "cli": 6,
    "__main__": 6,
}
PURE = 3

_CLOCK = "reads a clock: timestamps come in as numbers, or a run could not be repeated"
_CHANCE = "is random: equal inputs must give equal plans"
_THREAD = "starts threads: one loop belongs to one thread, and the caller has it"
_SYSTEM = "reaches the system: a schedule is a function of its timestamps and nothing else"
_DYNAMIC = "imports by name: what is imported could not be checked here"

MODULES = {
    "time": _CLOCK,
    "datetime": _CLOCK,
    "calendar": _CLOCK,
    "sched": _CLOCK,
    "timeit": _CLOCK,
    "random": _CHANCE,
    "secrets": _CHANCE,
    "uuid": _CHANCE,
    "threading": _THREAD,
    "_thread": _THREAD,
    "asyncio": _THREAD,
    "concurrent": _THREAD,
    "multiprocessing": _THREAD,
    "subprocess": _SYSTEM,
    "socket": _SYSTEM,
    "os": _SYSTEM,
    "posix": _SYSTEM,
    "sys": _SYSTEM,
    "io": _SYSTEM,
    "pathlib": _SYSTEM,
    "shutil": _SYSTEM,
    "tempfile": _SYSTEM,
    "logging": _SYSTEM,
    "ctypes": _SYSTEM,
    "importlib": _DYNAMIC,
    "imp": _DYNAMIC,
}
CALLS = {
    "open": _SYSTEM,
    "input": _SYSTEM,
    "print": _SYSTEM,
    "__import__": _DYNAMIC,
    "eval": _DYNAMIC,
    "exec": _DYNAMIC,
}
FLOAT = "is a float: rounding depends on its history, and integers do not round"
DIVISION = "divides into a float: // and % are exact"
UPWARDS = "imports a higher floor: what lies below must work without it"
COMPILED = "names the compiled core: a file that does must work without it or say why it cannot"

# (module, where in it, what) and why it may. Each must be used, or it goes.
ALLOWED = {
    ("_select", "<module>", "import os"): "FIXEDSTEP_BACKEND is read, in this file and no other",
    ("_select", "<module>", "import sys"): "PyPy has other types",
    ("native", "<module>", "import sys"): "says that PyPy and browsers have no C types",
    ("_portable", "<module>", "exec()"): "runs the source of reference.py under another name",
    ("_portable", "<module>", "import _core.ffi"): "its digests are the C core's, for PyPy",
    ("_portable", "<module>", "import _core.lib"): "its digests are the C core's, for PyPy",
    ("sim.mailbox", "<module>", "import threading"): "holds a lock, since others submit; no thread",
    ("native", "<module>", "import importlib"): "finds the compiled library and loads its types",
    ("native", "<module>", "fixedstep._core"): "is the one file that does",
    ("_saved", "restore", "import importlib"): "a pickle names a type of a higher floor: its own",
    ("native", "_seen_by_freezers", "import _core"): "and names it for those who only look",
    (
        "reference",
        "FramePlan.alpha",
        "/",
    ): "alpha is for drawing, and no digest sees it",
    ("time", "_Length.seconds", "/"): "for a game's own floats; no schedule and no digest uses it",
}


class Finding(NamedTuple):
    """One thing that a module may not do."""

    module: str
    where: str
    what: str
    reason: str
    line: int


def _absolute(module: str, package: bool, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The full names of what an import may bring in; a relative one counts from its module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        parts = ["fixedstep", *filter(None, module.split("."))]
        parts = parts[: len(parts) - node.level + package]
        base = ".".join([*parts, *filter(None, [node.module])])
    for alias in node.names:
        yield f"{base}.{alias.name}"


def floor(module: str) -> int:
    """The floor of a module, named from within the package."""
    return FLOORS.get(module.split(".")[0], 2)


def findings(module: str, source: str, package: bool = False) -> list[Finding]:
    """What ``module`` does against its contract."""
    found: list[Finding] = []
    pure = floor(module) <= PURE

    def report(node: ast.AST, where: str, what: str, reason: str) -> None:
        found.append(Finding(module, where, what, reason, getattr(node, "lineno", 0)))

    def visit_import(node: ast.Import | ast.ImportFrom, where: str) -> None:
        for name in _absolute(module, package, node):
            top, _, inside = name.partition(".")
            if top == "fixedstep":
                if floor(inside) > floor(module):
                    report(node, where, f"import {inside}", UPWARDS)
                if pure and inside.startswith(("_core", "_types")):
                    report(node, where, f"import {inside}", COMPILED)
            elif pure and top in MODULES:
                report(node, where, f"import {top}", MODULES[top])

    def visit(node: ast.AST, where: str) -> None:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            where = node.name if where == "<module>" else f"{where}.{node.name}"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            visit_import(node, where)
        elif not pure:
            pass
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in CALLS:
                report(node, where, f"{node.func.id}()", CALLS[node.func.id])
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, (float, complex)):
                report(node, where, repr(node.value), FLOAT)
            elif node.value == "fixedstep._core":
                report(node, where, "fixedstep._core", COMPILED)
        elif isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            report(node, where, "/", DIVISION)
        for child in ast.iter_child_nodes(node):
            visit(child, where)

    visit(ast.parse(source), "<module>")
    return found


def package_modules() -> list[tuple[str, Path]]:
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        found.append((name.removesuffix("__init__").rstrip("."), file))
    return found


def all_findings() -> list[Finding]:
    return [
        finding
        for name, file in package_modules()
        for finding in findings(name, file.read_text(encoding="utf-8"), file.stem == "__init__")
    ]


def test_every_floor_that_is_built_was_read() -> None:
    """A walk over an empty folder finds nothing wrong."""
    modules = dict(package_modules())
    assert len(modules) > 15
    for name in ("", "time", "_arguments", "reference", "native", "_select", "_plans", "timing"):
        assert floor(name) == 2
        assert len(modules[name].read_text(encoding="utf-8")) > 500
    assert floor("cli.demo") == floor("__main__") == 6
    assert floor("host.monotonic") == floor("records") == 4


def test_floors_two_and_three_keep_their_contract() -> None:
    unexpected = [
        f"{finding.module}.py:{finding.line} {finding.where}: {finding.what} {finding.reason}"
        for finding in all_findings()
        if (finding.module, finding.where, finding.what) not in ALLOWED
    ]
    assert unexpected == []


def test_every_exception_is_used() -> None:
    """One that is not would allow what nobody asked for."""
    used = [(finding.module, finding.where, finding.what) for finding in all_findings()]
    assert set(ALLOWED) <= set(used)
    assert used.count(("reference", "FramePlan.alpha", "/")) == 1, "one division, in one place"


def test_backend_reads_the_environment_and_nothing_else_of_the_system() -> None:
    tree = ast.parse((PACKAGE / "_select.py").read_text(encoding="utf-8"))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    }
    assert used == {"environ"}


def bare_choices(source: str) -> list[int]:
    """The lines of conditional expressions whose value nobody takes."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.IfExp)
    ]


def test_no_conditional_expression_is_a_statement() -> None:
    """PyPy 7.3.19 runs both of its branches where it ends the ``if`` at the end of a function."""
    assert bare_choices("if a:\n    f() if b else g()") == [2]
    assert bare_choices("x = f() if b else g()") == []
    assert {
        name for name, file in package_modules() if bare_choices(file.read_text("utf-8"))
    } == set()


def test_the_mailbox_takes_a_lock_and_nothing_else_of_threads() -> None:
    tree = ast.parse((PACKAGE / "sim" / "mailbox.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    taken = [ast.unparse(node) for node in imports if "threading" in ast.unparse(node)]
    assert taken == ["from threading import RLock, get_ident"]


@pytest.mark.parametrize(
    ("module", "planted", "what"),
    [
        ("timing", "import time", "import time"),
        ("reference", "from time import monotonic_ns", "import time"),
        ("sim.clock", "import time as our_time", "import time"),
        ("_plans", "import datetime", "import datetime"),
        ("sim", "def f():\n    import random", "import random"),
        ("reference", "import threading", "import threading"),
        ("_arguments", "import os.path", "import os"),
        ("native", "import os", "import os"),
        ("time", "import asyncio", "import asyncio"),
        ("text", "import subprocess", "import subprocess"),
        ("", "from socket import socket", "import socket"),
        ("reference", "import importlib", "import importlib"),
        ("reference", "t = __import__('time')", "__import__()"),
        ("timing", "with open('log') as log: pass", "open()"),
        ("reference", "print('dropped')", "print()"),
        ("reference", "HALF = 0.5", "0.5"),
        ("reference", "def f(x=1e9): ...", "1000000000.0"),
        ("sim.history", "x = 3j", "3j"),
        ("reference", "half = a / b", "/"),
        ("reference", "class FramePlan:\n    def ratio(self): return 1 / 3", "/"),
        ("timing", "a /= 2", "/"),
        ("reference", "from .sim import clock", "import sim.clock"),
        ("", "from . import cli", "import cli"),
        ("_select", "def f():\n    from .host import monotonic", "import host.monotonic"),
        ("time", "import fixedstep.records.trace", "import records.trace"),
        ("sim.session", "from ..host.monotonic import now", "import host.monotonic.now"),
        ("captures.trace", "from ..cli import options", "import cli.options"),
        ("host", "from fixedstep import cli", "import cli"),
        ("reference", "from ._core import lib", "import _core.lib"),
        ("reference", "NAME = 'fixedstep._core'", "fixedstep._core"),
    ],
)
def test_a_planted_violation_is_found(module: str, planted: str, what: str) -> None:
    found = findings(module, f"x = 1\n{planted}\n", package=module in ("", "sim", "host"))
    allowed = [f for f in found if (f.module, f.where, f.what) in ALLOWED]
    assert [finding.what for finding in found] == [what]
    assert allowed == []
    assert len(found[0].reason) > 20
    assert found[0].line >= 2


@pytest.mark.parametrize(
    ("module", "innocent"),
    [
        ("reference", "from .time import Timestamp"),
        ("reference", "from . import arguments, text"),
        ("sim.clock", "from ..time import Timestamp\nfrom . import timers"),
        ("reference", "x = 7 // 2 % 3 * 10**9"),
        ("reference", "'a text about time.monotonic() / 2.0'"),
        ("host.monotonic", "import time, os\nhalf = 1 / 2.0"),
        ("cli.demo", "from ..captures import trace\nfrom ..host import monotonic\nopen('x')"),
        ("__main__", "from .cli import main"),
    ],
)
def test_what_is_allowed_is_not_reported(module: str, innocent: str) -> None:
    assert findings(module, innocent) == []


# the C core

C_BANS = {
    r"\b(malloc|calloc|realloc|aligned_alloc|free)\b": "allocates: the caller owns all memory",
    r"\b(double|float|_Complex)\b": "has floats: rounding would depend on compiler and flags",
    r"<(time|sys/time|threads|pthread)\.h>": "reads a clock or starts threads",
    r"<(stdio|stdlib|unistd|fcntl|windows|errno|locale|setjmp|signal)\.h>": "reaches the system",
    r"<math\.h>|<fenv\.h>": "calculates in floats",
    r"<Python\.h>": "includes Python: the core is plain C, for any binding",
    r"\bPy[A-Z_]\w*": "names Python: the core is plain C, for any binding",
    r"\b__int128\b": "needs 128-bit integers, which MSVC does not have",
    r"\bstatic\s+(?!const\b|inline\b)(?:\w+\s+)+\**\w+\s*[=;\[]": "keeps state of its own",
}
# cpuid is too slow for each call; its answer decides how a digest is computed, never its value
LANES_FOUND = "static volatile unsigned fs_lanes_found;"
_ALPHA = re.compile(r"\bfloat\s+fs_plan_alpha\s*\([^)]*\)\s*(;|\{)")


def stripped(text: str) -> str:
    """C without comments and without the text of strings, line for line."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.DOTALL)


def without_alpha(text: str) -> tuple[str, int]:
    """The source with fs_plan_alpha cut out, and how often it was there."""
    cut = 0
    while match := _ALPHA.search(text):
        end = match.end()
        if match[1] == "{":
            depth = 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
        text = text[: match.start()] + text[end:]
        cut += 1
    return text, cut


def c_findings(name: str, text: str) -> list[str]:
    """What a file of the C core does against its contract, but for fs_plan_alpha's floats and
    the width of the vectors, which fs_hash_lanes.c keeps."""
    code = stripped(text)
    if name in ("fs_schedule.h", "fs_schedule.c"):
        code, _ = without_alpha(code)
    if name == "fs_hash_lanes.c":
        code = code.replace(LANES_FOUND, "")
    includes = "\n".join(line for line in text.splitlines() if line.lstrip().startswith("#"))
    return [
        f"{name}: {match[0]!r} {reason}"
        for pattern, reason in C_BANS.items()
        for match in re.finditer(pattern, includes if "<" in pattern else code)
    ]


def core_files(source: Path) -> list[Path]:
    return sorted((source / "core").glob("*.[ch]"))


def test_the_c_core_keeps_its_contract(source: Path) -> None:
    files = core_files(source)
    assert {"fs_schedule.h", "fs_hash.c", "fs_hash_wide.c", "fs_batch.c"} <= {f.name for f in files}
    found = [row for file in files for row in c_findings(file.name, file.read_text("utf-8"))]
    assert found == []


def test_the_width_of_the_vectors_is_the_only_state_of_the_c_core(source: Path) -> None:
    """The exception is one variable and not a file."""
    text = (source / "core" / "fs_hash_lanes.c").read_text("utf-8")
    assert stripped(text).count(LANES_FOUND) == 1
    assert c_findings("fs_hash_lanes.c", text) == []
    assert len(c_findings("fs_hash_lanes.c", text + "\nstatic volatile unsigned other;\n")) == 1
    assert len(c_findings("fs_hash.c", text)) == 1


def test_alpha_is_the_one_place_of_the_c_core_with_floats(source: Path) -> None:
    found = {}
    for file in core_files(source):
        code, cut = without_alpha(stripped(file.read_text("utf-8")))
        if cut:
            found[file.name] = cut
        assert not re.search(r"\b(float|double)\b", code)
    assert found == {"fs_schedule.c": 1, "fs_schedule.h": 1}


@pytest.mark.parametrize(
    "planted",
    [
        "void *p = malloc(8);",
        "double ratio;",
        "static inline float half(void) { return 0; }",
        "#include <time.h>",
        "#include <stdio.h>",
        "#  include <stdlib.h>",
        "#include <math.h>",
        "#include <Python.h>",
        "PyObject *object;",
        "unsigned __int128 wide;",
        "static uint64_t counter;",
        "static int table[3] = {1};",
        'char *s = "/*"; double x; /* */',
    ],
)
def test_a_planted_violation_in_c_is_found(planted: str) -> None:
    innocent = "/* a double, malloc(3), <time.h> */\n#include <stdint.h>\nint x; // float\n"
    assert c_findings("fs_hash.c", innocent) == []
    assert len(c_findings("fs_hash.c", innocent + planted)) == 1


def test_floats_beside_alpha_are_found(source: Path) -> None:
    """The exception is a function and not a file."""
    text = (source / "core" / "fs_schedule.c").read_text("utf-8")
    assert c_findings("fs_schedule.c", text) == []
    assert len(c_findings("fs_schedule.c", text + "\nfloat other(void);\n")) == 1
    assert c_findings("fs_hash.c", text) != []


# what its objects need

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
if not COMPILERS and shutil.which("cc"):
    COMPILERS = ["cc"]
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
# A stack protector is the distribution's wish and would call a function of its own.
OBJECT = [*STRICT, "-fno-stack-protector", "-c"]


def compile_c(compiler: str, options: list[str], *files: Path, output: Path) -> str:
    run = subprocess.run(
        [compiler, *options, *map(str, files), "-o", str(output)],
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stderr if run.returncode else ""


def symbols(objects: list[Path]) -> tuple[set[str], set[str]]:
    """What objects need from outside all of them, and what they define."""

    def names(flag: str) -> set[str]:
        run = subprocess.run(
            ["nm", flag, *map(str, objects)], capture_output=True, text=True, check=True
        )
        words = [line.split()[-1] for line in run.stdout.splitlines() if line.strip()]
        return {word.removeprefix("_") for word in words if not word.endswith(":")}

    defined = names("--defined-only")
    return names("-u") - defined, defined


def test_there_is_a_compiler_to_check_with(source: Path) -> None:
    """The tests below run once for each compiler that is found; with none they would not run."""
    assert COMPILERS


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_the_core_needs_memcpy_and_memset_at_most(
    source: Path, tmp_path: Path, compiler: str, level: str
) -> None:
    """It cannot read a clock: nothing that it links to offers one."""
    objects = []
    for file in sorted((source / "core").glob("*.c")):
        objects.append(tmp_path / f"{file.stem}.o")
        assert compile_c(compiler, [*OBJECT, level], file, output=objects[-1]) == ""
    undefined, defined = symbols(objects)
    assert {"fs_hash_bytes", "fs_loop_begin_frames", "fs_plan_alpha"} <= defined
    assert undefined <= {"memcpy", "memset"}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_planted_call_is_seen_by_the_symbol_check(
    source: Path, tmp_path: Path, compiler: str
) -> None:
    planted = tmp_path / "planted.c"
    planted.write_text("#include <time.h>\nlong now(void) { return (long)time(0); }\n")
    assert compile_c(compiler, OBJECT, planted, output=tmp_path / "planted.o") == ""
    assert symbols([tmp_path / "planted.o"]) == ({"time"}, {"now"})


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_header_of_the_core_stands_alone(source: Path, tmp_path: Path, compiler: str) -> None:
    headers = sorted((source / "core").glob("*.h"))
    assert len(headers) >= 4
    for header in headers:
        user = tmp_path / "user.c"
        user.write_text(f'#include "{header}"\n#include "{header}"\nint used;\n')
        assert compile_c(compiler, OBJECT, user, output=tmp_path / "user.o") == ""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_planted_warning_stops_the_compiler(source: Path, tmp_path: Path, compiler: str) -> None:
    planted = tmp_path / "planted.c"
    planted.write_text("unsigned char narrow(unsigned wide) { return wide; }\n")
    message = compile_c(compiler, OBJECT, planted, output=tmp_path / "planted.o")
    assert "conversion" in message


_DRIVER = """
#include "fs_batch.h"
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    const uint64_t now[] = {
        1000000000u, 1000000001u, 1016666667u, 1033333334u, 1050000002u, 4050000002u,
        4058000002u, 4074666669u, 3074666669u, 4074666669u, UINT64_MAX, UINT64_MAX,
    };
    fs_stats stats = {0, 0, 0, FS_FNV_OFFSET};
    fs_loop loop = {.scale = 1, .unit = 16666667u, .last = 1000000000u, .rate_scale = 1,
                    .rate_unit = 16666667u, .budget = 5, .started = 1};
    fs_loop_begin_frames(&loop, now, 12, NULL, NULL, NULL, NULL, &stats);
    printf("%016" PRIx64, stats.schedule_hash);

    fs_loop hostile = {.scale = UINT64_MAX, .unit = UINT64_MAX, .bank = UINT64_MAX - 1,
                       .tick = UINT64_MAX - 1, .rate_scale = UINT64_MAX, .rate_unit = UINT64_MAX,
                       .budget = UINT32_MAX, .started = 1};
    for (int k = 0; k < 64; k++) {
        const fs_plan plan = fs_loop_begin_frame(&hostile, UINT64_MAX >> k);
        const fs_plan next = fs_loop_begin_frame(&hostile, UINT64_MAX);
        if (fs_plan_alpha(&plan) >= 1 || fs_plan_alpha(&next) >= 1) {
            return 1;
        }
        stats.ticks ^= fs_sim_time(hostile.tick, UINT64_MAX >> k, UINT64_MAX - (uint64_t)k);
        stats.schedule_hash = fs_hash_bytes(stats.schedule_hash, now, sizeof now - (size_t)k);
    }
    return stats.schedule_hash == 0;
}
"""


TRAP = {
    "gcc": ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"],
    "clang": ["-fsanitize=undefined", "-fsanitize-trap=undefined"],
    "cc": [],
}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_core_alone_gives_the_canonical_digest_without_undefined_behaviour(
    source: Path, tmp_path: Path, compiler: str
) -> None:
    """A C program with no Python in it, compiled to stop at the first undefined operation."""
    driver, program = tmp_path / "driver.c", tmp_path / "driver"
    driver.write_text(_DRIVER)
    options = [*STRICT, "-O1", *TRAP[compiler], f"-I{source / 'core'}"]
    files = sorted((source / "core").glob("*.c"))
    assert compile_c(compiler, options, driver, *files, output=program) == ""
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "5d290b681d14462c")

    planted = tmp_path / "planted.c"
    planted.write_text("int main(int argc, char **argv) { (void)argv; return 1 << (31 + argc); }\n")
    assert compile_c(compiler, ["-O1", *TRAP[compiler]], planted, output=tmp_path / "p") == ""
    crash = subprocess.run([str(tmp_path / "p")], check=False)
    assert crash.returncode < 0 or not TRAP[compiler], "the control: an undefined shift is trapped"


_HASH_DRIVER = """
#include "fs_hash.h"
#include <stdio.h>

enum { LONGEST = 9400 };
static unsigned char data[LONGEST + 64];

static uint64_t definition(uint64_t state, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        state = (state ^ bytes[i]) * FS_FNV_PRIME;
    }
    return state;
}

static int differs_at(uint64_t start, const unsigned char *bytes, size_t size, uint64_t expected)
{
    const unsigned widths[] = {0, 8, 16};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        if (fs_hash_bytes_lanes(start, bytes, size, widths[i]) != expected) {
            printf("%u lanes, ", widths[i]);
            return 1;
        }
    }
    return fs_hash_bytes(start, bytes, size) != expected;
}

/* Every prefix at one alignment; the definition goes along, a byte at a time. */
static int differs(uint64_t start, size_t offset, size_t stride)
{
    uint64_t expected = definition(start, data + offset, 0);
    for (size_t size = 0; size <= LONGEST; size++) {
        if (size % stride < 3 && differs_at(start, data + offset, size, expected)) {
            printf("start %llx, offset %zu, size %zu", (unsigned long long)start, offset, size);
            return 1;
        }
        expected = definition(expected, data + offset + size, 1);
    }
    return 0;
}

int main(void)
{
    const uint64_t starts[] = {FS_FNV_OFFSET, 0, UINT64_MAX, UINT64_C(0x123456789abcdeff), 0x80};
    for (int content = 0; content < 7; content++) {
        uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
        for (size_t i = 0; i < sizeof data; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            const unsigned char random = (unsigned char)(x >> 40);
            const unsigned char kinds[] = {random, 0, 0xff, 0x80, 1, (unsigned char)i,
                                           (unsigned char)(random & 0x7f)};
            data[i] = kinds[content];
        }
        for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
            if (differs(starts[s], s * 3 + (size_t)content, content == 0 ? 1 : 61)) {
                return 1;
            }
        }
    }
    for (size_t offset = 0; offset < 32; offset++) {
        if (differs(FS_FNV_OFFSET, offset, 211)) {
            return 1;
        }
    }
    printf("equal");
    return 0;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("path", ["-DFS_HASH_PORTABLE", "-UFS_HASH_PORTABLE"])
def test_the_fast_hash_is_the_definition(
    source: Path, tmp_path: Path, compiler: str, path: str
) -> None:
    """For every length up to more than the largest block, at every alignment, over random bytes and
    over bytes that are all alike: however it is computed, it is FNV-1a."""
    driver, program = tmp_path / "driver.c", tmp_path / "driver"
    driver.write_text(_HASH_DRIVER)
    options = [*STRICT, "-O2", path, *TRAP[compiler], f"-I{source / 'core'}"]
    files = sorted((source / "core").glob("fs_hash*.c"))
    assert compile_c(compiler, options, driver, *files, output=program) == ""
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "equal")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_hash_that_is_wrong_at_one_length_is_found(
    source: Path, tmp_path: Path, compiler: str
) -> None:
    """The control: the definition, but for one length far up."""
    driver, wrong = tmp_path / "driver.c", tmp_path / "wrong.c"
    driver.write_text(_HASH_DRIVER)
    wrong.write_text(
        '#include "fs_hash.h"\n'
        "uint64_t fs_hash_bytes_lanes(uint64_t state, const void *data, size_t size,\n"
        "                             unsigned lanes)\n"
        "{\n"
        "    (void)lanes;\n"
        "    return fs_hash_bytes(state, data, size);\n"
        "}\n"
        "uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size)\n"
        "{\n"
        "    for (const unsigned char *at = data; at < (const unsigned char *)data + size; at++)\n"
        "        state = (state ^ *at) * FS_FNV_PRIME;\n"
        "    return state + (size == 8191);\n"
        "}\n"
    )
    options = [*STRICT, "-O2", f"-I{source / 'core'}"]
    assert compile_c(compiler, options, driver, wrong, output=tmp_path / "driver") == ""
    run = subprocess.run([str(tmp_path / "driver")], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout.endswith("size 8191")
