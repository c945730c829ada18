"""Everything that is not the hot path, on both cores: where C gains little, nothing, or loses.

Each operation is a line of Python in a loop of `timeit`, because a call of a function around it
would add the same to both cores and hide the difference. What a line gives must look the same on
both.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from timeit import Timer
from types import ModuleType
from typing import Any

from fixedstep import native, reference

from .measure import Claim, Effort, Played, Sample, Side, interleave
from .workload import BUDGET, START, STEP, WrongWorkError, timestamps

_TURNS = 1_000
#: Lines are many, and most are quick: a value of a line takes this part of the usual time.
_SHARE = 8

LINES = (
    "FramePlan(7, 2, 1, 4, STEP)",
    "loop.timestep",
    "stats.json()",
    "loop.begin_frame(indexed)",
    "loop.begin_frames((START,))",
    "plans[7:9]",
    "state.absorb_bytes(b'abcd')",
    "state.absorb_bytes(four)",
    "repr(loop)",
    "repr(stats)",
    "pickle.dumps(loop)",
    "pickle.loads(saved)",
)


class _Indexed:
    """A number that is no int: it has ``__index__`` and nothing else."""

    def __index__(self) -> int:
        return int(START)


def _names(core: ModuleType) -> dict[str, Any]:
    """What the lines refer to."""
    loop = core.FrameLoop(STEP, BUDGET, START)
    plan = loop.begin_frame(START + 2 * STEP.nanos + 5)
    return {
        **{name: getattr(core, name) for name in ("FrameLoop", "FrameStats", "FramePlan")},
        "STEP": STEP,
        "BUDGET": BUDGET,
        "START": START,
        "loop": loop,
        "plan": plan,
        "stats": core.FrameStats(),
        "state": core.StateHash(),
        "indexed": _Indexed(),
        "plans": core.FrameLoop(STEP, BUDGET, START).begin_frames(timestamps(100)),
        "four": bytearray(4),
        "saved": pickle.dumps(loop),
        "pickle": pickle,
    }


def _look(value: object) -> str:
    """How a value shows itself, without where it lies."""
    return repr(value).replace(f"{reference.__name__}.", f"{native.__name__}.")


def _side(name: str, line: str, names: dict[str, Any]) -> Side:
    timer = Timer(line, "import gc; gc.enable()", globals=names)  # timeit turns it off

    def play() -> Played:
        return Played(round(timer.timeit(_TURNS) * 10**9), None)

    return Side(name, _TURNS, play, lambda found: True)  # checked below, where both cores are


def corners() -> Iterator[Side]:
    """Each line on both cores. Raises WrongWorkError if they differ."""
    for line in LINES:
        cores = {"native": _names(native), "reference": _names(reference)}
        looks = {_look(eval(line, names)) for names in cores.values()}
        if len(looks) != 1:
            raise WrongWorkError(f"{line}: the cores differ: {looks}")
        for label, names in cores.items():
            yield _side(f"{label}: {line}", line, names)


def measure(effort: Effort) -> Sample:
    """Nanoseconds a line."""
    return interleave(corners(), effort._replace(value=effort.value // _SHARE))


CLAIMS = tuple(Claim(line, f"native: {line}", f"reference: {line}") for line in LINES)
