"""Compiles yardstick.c and binds its two loops.

With the compiler and the flags that built Python, which are those an extension is built with, so
that the compiler is no part of what is compared. Bound with ctypes: a call of either function does
so much work that the way into it does not matter.
"""

from __future__ import annotations

import ctypes
import shlex
import subprocess
import sysconfig
import tempfile
from array import array
from functools import cache
from pathlib import Path

from .measure import Played, clock
from .workload import BUDGET, START, STEP

SOURCE = Path(__file__).with_name("yardstick.c")


def compiler() -> list[str]:
    """The command and its flags."""
    variables = (sysconfig.get_config_var(name) or "" for name in ("CC", "CFLAGS", "CCSHARED"))
    return shlex.split(" ".join(variables))


def compiler_version() -> str:
    """The compiler's first word on itself."""
    ended = subprocess.run([compiler()[0], "--version"], check=True, capture_output=True, text=True)
    return ended.stdout.splitlines()[0]


@cache
def _compiled() -> ctypes.CDLL:
    """The library; compiled when the first row asks for it, since most rows do not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "yardstick.so"
        sources = [str(SOURCE), str(SOURCE.parent.parent / "csrc" / "core" / "fs_schedule.c")]
        subprocess.run([*compiler(), "-shared", *sources, "-o", str(path)], check=True)
        library = ctypes.CDLL(str(path))
    size, u64, u32 = ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint32
    library.yardstick_hash.argtypes = (ctypes.c_char_p, size, size)
    library.yardstick_hash.restype = u64
    library.yardstick_digest.argtypes = (ctypes.c_void_p, size, u64, u32, u64)
    library.yardstick_digest.restype = u64
    return library


def hash_of_bytes(data: bytes, repeats: int, /) -> Played:
    """FNV-1a-64 as everybody writes it, ``repeats`` times over; the outcome is the digest."""
    library = _compiled()
    begun = clock()
    digest = library.yardstick_hash(data, len(data), repeats)
    return Played(clock() - begun, digest)


def digest_of_frames(now: array[int], /) -> Played:
    """Planning, and hashing each plan byte by byte; the outcome is the schedule digest."""
    library = _compiled()
    address, count = now.buffer_info()
    begun = clock()
    digest = library.yardstick_digest(address, count, STEP.nanos, BUDGET.steps, START)
    return Played(clock() - begun, digest)
