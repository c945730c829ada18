"""The cffi builder: compiles the C core and the CPython types over it into ``fixedstep._core``.

API mode, so the compiler checks every declaration below against the headers. One shared library
holds two modules: ``_core``, cffi's binding of the plain C functions, and ``_types``, the CPython
types (csrc/python/module.c says why), which PyPy does without. The docstrings of the types are read
from the reference core's source, without importing it, so that they are written once.
"""

from __future__ import annotations

import ast
import inspect
import sys
import sysconfig
from pathlib import Path

from cffi import FFI

CDEF = """
typedef struct {
    uint64_t scale, unit, last, bank, tick, rate_scale, rate_unit, fast_below;
    uint32_t budget, started;
} fs_loop;
typedef struct {
    uint64_t first_tick, dropped, remainder, scale, unit;
    uint32_t step_count;
} fs_plan;
typedef struct { uint64_t frames, ticks, steps_dropped, schedule_hash; } fs_stats;

fs_plan fs_loop_begin_frame(fs_loop *loop, uint64_t now);
void fs_loop_resync(fs_loop *loop, uint64_t now);
uint64_t fs_sim_time(uint64_t tick, uint64_t scale, uint64_t unit);
float fs_plan_alpha(const fs_plan *plan);

uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size);
uint64_t fs_hash_bytes_lanes(uint64_t state, const void *data, size_t size, unsigned lanes);
unsigned fs_hash_lanes(void);
uint64_t fs_hash_u64(uint64_t state, uint64_t value);
uint64_t fs_hash_u32(uint64_t state, uint32_t value);
uint64_t fs_hash_plan(uint64_t state, const fs_plan *plan);

void fs_stats_absorb(fs_stats *stats, const fs_plan *plan);
void fs_loop_begin_frames(fs_loop *loop, const uint64_t *timestamps, size_t count,
                          uint64_t *first_tick, uint32_t *step_count, uint64_t *dropped,
                          uint64_t *remainder, fs_stats *stats);
"""

#: What only PyPy calls: its own types pass numbers faster than a struct.
PYPY_CDEF = """
uint64_t fs_hash_plan_numbers(uint64_t state, uint64_t first_tick, uint32_t step_count,
                              uint64_t dropped, uint64_t remainder, uint64_t scale, uint64_t unit);
"""
PYPY_SOURCE = """
#include "csrc/core/fs_batch.h"

static uint64_t fs_hash_plan_numbers(uint64_t state, uint64_t first_tick, uint32_t step_count,
                                     uint64_t dropped, uint64_t remainder, uint64_t scale,
                                     uint64_t unit)
{
    const fs_plan plan = {
        .first_tick = first_tick,
        .dropped = dropped,
        .remainder = remainder,
        .scale = scale,
        .unit = unit,
        .step_count = step_count,
    };
    return fs_hash_plan(state, &plan);
}
"""

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "src" / "fixedstep" / "reference.py"
STATE = ROOT / "src" / "fixedstep" / "_state.py"
CPYTHON = sys.implementation.name == "cpython"
DOCS = ROOT / "csrc" / "python" / "fs_docs.h"


def _signature(function: ast.FunctionDef, name: str, constants: dict[str, ast.expr]) -> str:
    """The first line of a C docstring, from which CPython makes ``__text_signature__``."""
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    if arguments.vararg is not None:
        arguments.vararg.annotation = None
    # inspect takes literals only: a constant becomes its value, an object the text of its name
    arguments.defaults = [_literal(default, constants) for default in arguments.defaults]
    own, comma, rest = ast.unparse(arguments).partition(", ")
    if function.name in ("__new__", "__init__"):  # a class has no $self in its line
        return f"{name}({rest})\n--\n\n"
    return f"{name}(${own}{comma}{rest})\n--\n\n"


def _literal(default: ast.expr, constants: dict[str, ast.expr]) -> ast.expr:
    if isinstance(default, ast.Name):
        return constants[default.id]
    return default if isinstance(default, ast.Constant) else ast.Constant(ast.unparse(default))


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    return {
        target.id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def docstrings() -> dict[str, str]:
    """The text of each ``fs_doc_*`` array."""
    constants = _constants(ast.parse(STATE.read_text(encoding="utf-8")))
    docs = {}
    for kind in ast.parse(REFERENCE.read_text(encoding="utf-8")).body:
        if not isinstance(kind, ast.ClassDef):
            continue
        class_doc = ast.get_docstring(kind)
        for member in kind.body:
            if not isinstance(member, ast.FunctionDef):
                continue
            if member.name in ("__new__", "__init__"):
                docs[kind.name] = _signature(member, kind.name, constants) + (class_doc or "")
            elif not member.name.startswith("_"):
                doc = ast.get_docstring(member) or ""
                if not member.decorator_list:  # not a property
                    doc = _signature(member, member.name, constants) + doc
                docs[f"{kind.name}_{member.name}"] = doc
    return docs


def _c_string(text: str) -> str:
    lines = text.splitlines(keepends=True)
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for line in lines
    )
    return "\n".join(f'    "{line}"' for line in escaped)


def source() -> str:
    """The C that cffi puts in front of its own."""
    if not CPYTHON:
        return PYPY_SOURCE
    docs = "\n".join(
        f"const char fs_doc_{name}[] =\n{_c_string(inspect.cleandoc(text))};"
        for name, text in docstrings().items()
    )
    return f'#include "csrc/core/fs_batch.h"\n#include "csrc/python/fs_docs.h"\n\n{docs}\n'


def write_docs_header() -> None:
    """Declare the arrays in csrc/python/fs_docs.h, which is generated and not tracked. A file that
    is up to date stays as it is, or everything would be compiled again."""
    arrays = "\n".join(f"extern const char fs_doc_{name}[];" for name in docstrings())
    text = f"/* Made by csrc/build.py from the docstrings of the reference core. */\n{arrays}\n"
    if not DOCS.is_file() or DOCS.read_text(encoding="utf-8") != text:
        DOCS.write_text(text, encoding="utf-8")


if CPYTHON:
    write_docs_header()

HEADERS = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("csrc/*/*.h"))
SOURCES = sorted(
    str(p.relative_to(ROOT)) for p in ROOT.glob("csrc/*/*.c" if CPYTHON else "csrc/core/*.c")
)

#: The limited API does not exist on free-threaded builds: there the types use the full one.
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

ffi = FFI()
ffi.cdef(CDEF if CPYTHON else CDEF + PYPY_CDEF)
ffi.set_source(
    "fixedstep._core",
    source(),
    sources=SOURCES,
    include_dirs=["."],
    depends=[*HEADERS, "csrc/build.py", "src/fixedstep/reference.py", "src/fixedstep/_state.py"],
    define_macros=[("FS_FULL_API", None)] if FREE_THREADED else [],
    py_limited_api=not FREE_THREADED,
)
