"""Everything that is not the hot path, on both cores: where C gains little, nothing, or loses.

Each operation is a line of Python in a loop of `timeit`, because a call of a function around it
would add the same to both cores and hide the difference. What a line gives must look the same on
both.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from copy import copy, deepcopy
from timeit import Timer
from types import ModuleType
from typing import Any

from fixedstep import native, reference
from fixedstep.cli.bench.measure import Claim, Effort, Played, Sample, Side, interleave
from fixedstep.cli.bench.workload import BUDGET, START, STEP, WrongWorkError, timestamps

_TURNS = 1_000
#: Lines are many, and most are quick: a value of a line takes this part of the usual time.
_SHARE = 8

LINES = (
    "FrameLoop()",
    "FrameLoop(STEP, BUDGET, START)",
    "FrameStats()",
    "StateHash()",
    "StateHash(5)",
    "FramePlan(7, 2, 1, 4, STEP)",
    "loop.tick",
    "loop.simulated",
    "loop.timestep",
    "loop.budget",
    "plan.step_count",
    "plan.timestep",
    "plan.ticks",
    "plan.steps()",
    "len(plan.steps())",
    "next(plan.steps())",
    "plan.alpha()",
    "stats.schedule_hash",
    "stats.json()",
    "loop.resync(START)",
    "loop.begin_frame(START)",
    "loop.begin_frame(indexed)",
    "loop.begin_frames(())",
    "loop.begin_frames((START,))",
    "loop.begin_frames(hundred)",
    "plans[7]",
    "plans[7:9]",
    "list(plans)",
    "state.absorb_bytes(b'')",
    "state.absorb_bytes(b'abcd')",
    "state.absorb_bytes(four)",
    "state.absorb_bytes(view)",
    "state.absorb_bytes(view[:2])",
    "state.absorb_u64(5)",
    "state.absorb_u32(5)",
    "state.absorb_i64(-5)",
    "state.absorb_f32_bits(0.5)",
    "state.absorb_f64_bits(0.5)",
    "state.absorb_plan(plan)",
    "state.finish()",
    "copy(loop)",
    "deepcopy(loop)",
    "loop == twin",
    "plan == same_plan",
    "hash(plan)",
    "hash(state)",
    "repr(loop)",
    "repr(plan)",
    "repr(stats)",
    "pickle.dumps(loop)",
    "pickle.loads(saved)",
    "timing.record(16_000_000, True)",
)


class _Indexed:
    """A number that is no int: it has ``__index__`` and nothing else."""

    def __index__(self) -> int:
        return int(START)


def _names(core: ModuleType) -> dict[str, Any]:
    """What the lines refer to."""
    loop = core.FrameLoop(STEP, BUDGET, START)
    plan = loop.begin_frame(START + 2 * STEP.nanos + 5)
    hundred = timestamps(100)
    return {
        **{name: getattr(core, name) for name in ("FrameLoop", "FrameStats", "FramePlan")},
        "StateHash": core.StateHash,
        "STEP": STEP,
        "BUDGET": BUDGET,
        "START": START,
        "loop": loop,
        "twin": copy(loop),
        "plan": plan,
        "same_plan": core.FramePlan(0, 2, 0, 5, STEP),
        "stats": core.FrameStats(),
        "state": core.StateHash(),
        "timing": core.FrameTiming(),
        "indexed": _Indexed(),
        "hundred": hundred,
        "plans": core.FrameLoop(STEP, BUDGET, START).begin_frames(hundred),
        "four": bytearray(4),
        "view": memoryview(b"abcd"),
        "saved": pickle.dumps(loop),
        "pickle": pickle,
        "copy": copy,
        "deepcopy": deepcopy,
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
