"""What the library adds to starting Python, and whether memory grows with the number of frames."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from fixedstep import native

from .measure import Effort, Sample, clock
from .workload import BUDGET, START, STEP, WrongWorkError

#: Calls after which the memory of the process is looked at again.
CALLS = 10**7
_WARM = 10**5
_STATM = Path("/proc/self/statm")
_FRAME = 16_000_000

_UPPER_FLOORS = tuple(
    f"fixedstep.{floor}" for floor in ("sim", "host", "captures", "testing", "cli")
)
_LIST_MODULES = "import sys, fixedstep; print(*sys.modules)"


def _start(code: str) -> int:
    begun = clock()
    subprocess.run([sys.executable, "-c", code], check=True)
    return clock() - begun


def starting(effort: Effort) -> Sample:
    """Milliseconds from starting an interpreter to its end, without and with ``import fixedstep``.

    Raises WrongWorkError if the import brings in a module of the upper floors.
    """
    ended = subprocess.run(
        [sys.executable, "-c", _LIST_MODULES], check=True, capture_output=True, text=True
    )
    loaded = ended.stdout.split()
    upper = [name for name in loaded if name.startswith(_UPPER_FLOORS)]
    if "fixedstep" not in loaded or upper:
        raise WrongWorkError(f"import fixedstep loads {upper}")
    values: dict[str, list[float]] = {"python": [], "with fixedstep": []}
    for turn in range(effort.starts + 1):
        bare, full = (_start("pass"), _start("import fixedstep"))
        if turn > 0:  # the first one reads the disk
            values["python"].append(bare / 10**6)
            values["with fixedstep"].append(full / 10**6)
    return Sample(values, {})


def resident() -> int:
    """Bytes of memory that the process has now."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(effort: Effort) -> Sample:
    """KiB of the process before and after many frames."""
    if not _STATM.exists():
        return Sample({}, {"after": f"no {_STATM} on this system"})
    core: Any = native  # whose begin_frame takes any int
    loop = core.FrameLoop(STEP, BUDGET, START)
    for now in range(START, START + _WARM * _FRAME, _FRAME):
        loop.begin_frame(now)
    before = resident()
    for now in range(START, START + CALLS * _FRAME, _FRAME):
        loop.begin_frame(now)
    after = resident()
    if loop.tick < CALLS * 9 // 10:
        raise WrongWorkError(f"only {loop.tick} steps in {CALLS} frames")
    return Sample({"before": [before / 1024], "after": [after / 1024]}, {})
