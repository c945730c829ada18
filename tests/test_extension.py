"""The compiled extension among strangers: other interpreters, other libraries, other hands.

What it takes from an interpreter, what it shows to the process it is loaded into, and what a
program can do to its types. checks/wheels tries the wheels under several interpreters.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

if TYPE_CHECKING:
    from tests.conftest import Core

#: What csrc/python may not use: it is inline in newer headers, and does not count there what it
#: returns. CPython 3.10 and 3.11 count, so that after some thousand calls None has no reference
#: left and the process ends. fs_none and fs_not_implemented count through a call.
BANNED = (
    r"\bPy_RETURN_\w+",
    r"\breturn\s+(\(\s*PyObject\s*\*\s*\)\s*)?Py_(None|NotImplemented)\b",
    r"\bPy_(True|False|Ellipsis|X?NewRef|XINCREF|SETREF|XSETREF)\b",
)


def banned(text: str) -> list[str]:
    """The uses of what is banned, comments left out."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return [found[0] for pattern in BANNED for found in re.finditer(pattern, code)]


def test_no_macro_returns_a_constant_uncounted(source: Path) -> None:
    files = sorted((source / "python").glob("*.[ch]"))
    assert len(files) >= 7
    for file in files:
        assert banned(file.read_text(encoding="utf-8")) == [], file.name


@pytest.mark.parametrize(
    "planted",
    [
        "    Py_RETURN_NONE;",
        "    Py_RETURN_NOTIMPLEMENTED;",
        "if (x) { Py_RETURN_TRUE; }",
        "    return Py_None;",
        "    return (PyObject *)Py_NotImplemented;",
        "    return Py_NewRef(Py_None);",
        "    Py_XINCREF(x);",
        "    return x ? Py_True : y;",
    ],
)
def test_a_planted_macro_is_found(source: Path, planted: str) -> None:
    text = (source / "python" / "frame_loop.c").read_text(encoding="utf-8")
    assert banned(f"{text}\nstatic PyObject *planted(void)\n{{\n{planted}\n}}\n")
    assert not banned(f"{text}\n/* {planted} */")


def library(native: Core) -> Path:
    build_info: Any = native.build_info  # type: ignore[attr-defined]
    return Path(build_info()["extension"])


def exported(library: Path) -> set[str]:
    command = ["nm", "--dynamic", "--defined-only", str(library)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in said.splitlines()} - {"_init", "_fini"}


ON_LINUX = sys.platform == "linux" and shutil.which("nm") is not None
on_linux = pytest.mark.skipif(not ON_LINUX, reason="reads and preloads ELF libraries")


@on_linux
def test_the_extension_exports_its_two_modules_and_nothing_else(native: Core) -> None:
    assert exported(library(native)) == {"PyInit__core", "PyInit__types"}


STRANGER = """
#include <stdint.h>
#include <stddef.h>
uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size)
{
    (void)state; (void)data; (void)size;
    return 42;
}
void *fs_text(void *state, const char *name, void *numbers)
{
    (void)state; (void)name; (void)numbers;
    return (void *)16;
}
"""


@on_linux
def test_a_library_with_the_same_names_changes_nothing(
    native: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that has an fs_hash_bytes of its own, loaded before the core."""
    compiler = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    assert compiler is not None
    (tmp_path / "stranger.c").write_text(STRANGER)
    stranger = tmp_path / "libstranger.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", str(tmp_path / "stranger.c"), "-o", str(stranger)],
        check=True,
    )
    assert {"fs_hash_bytes", "fs_text"} <= exported(stranger)
    code = (
        "import ctypes; from fixedstep.native import FrameLoop, StateHash; "
        "from fixedstep._core import ffi, lib; "
        "print(ctypes.CDLL(None).fs_hash_bytes(0, 0, 0), FrameLoop(start=5), "
        "hex(StateHash().absorb_bytes(b'foobar').finish()), "
        "hex(lib.fs_hash_bytes(0xcbf29ce484222325, b'foobar', 6)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "LD_PRELOAD": str(stranger)},
    ).stdout.split(" ", 1)
    assert said[0] == "42", "the control: the stranger is there, and comes first"
    assert said[1] == (
        "FrameLoop(Timestep(16666667), StepBudget(5), 5, tick=0, remainder=0) "
        "0x85944171f73967e8 0x85944171f73967e8\n"
    )


TYPES = ["FrameLoop", "FramePlan", "Steps", "StateHash", "FrameStats", "FrameTiming"]


@pytest.mark.parametrize("name", TYPES)
def test_a_compiled_type_cannot_be_changed(native: Core, name: str) -> None:
    """An object without a state would crash the first method that reads it."""
    kind: Any = getattr(native, name)
    for attribute, value in (
        ("__new__", lambda kind: object.__new__(kind)),
        ("__init__", lambda self: None),
        ("_state", None),
        ("mine", 5),
    ):
        before = getattr(kind, attribute, None)
        with pytest.raises(TypeError, match="immutable type"):
            setattr(kind, attribute, value)
        assert getattr(kind, attribute, None) == before
    with pytest.raises(TypeError, match="immutable type"):
        del kind._state
    with pytest.raises(TypeError, match="not safe"):
        object.__new__(kind)


def test_a_patch_that_fails_leaves_the_type_usable(native: Core) -> None:
    with pytest.raises(TypeError), mock.patch.object(native.FrameLoop, "__new__"):
        pass
    assert native.FrameLoop(start=None).tick == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")
def test_hashing_a_large_bytearray_lets_signals_through(native: Core) -> None:
    """A gigabyte takes a second. Without a look at signals in between, one is seen at the end."""
    seen = []
    data = bytearray(1 << 28)
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        native.StateHash().absorb_bytes(data)
        during = len(seen)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert during >= 3
