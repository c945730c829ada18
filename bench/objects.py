"""What objects weigh: bytes that Python's allocator hands out for each, by tracemalloc."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from types import ModuleType

from fixedstep import native, reference

from .measure import Claim, Effort, Sample
from .workload import BUDGET, START, STEP, WrongWorkError, timestamps

_OBJECTS = 10_000
_MILLION = 10**6


def _weight(make: Callable[[int], object]) -> float:
    """Bytes an object, the list that holds them not counted."""
    held: list[object] = [None] * _OBJECTS
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for index in range(_OBJECTS):
        held[index] = make(index)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    if held[-1] is None or held[-1] is held[-2]:
        raise WrongWorkError("no new object was made")
    return (after - before) / _OBJECTS


def _weights(core: ModuleType) -> dict[str, float]:
    loop = core.FrameLoop(STEP, BUDGET, START)
    return {
        "FrameLoop": _weight(lambda _: core.FrameLoop(STEP, BUDGET, START)),
        "FramePlan": _weight(lambda index: loop.begin_frame(START + index * STEP.nanos)),
        "StateHash": _weight(lambda index: core.StateHash().absorb_u64(index)),
        "FrameStats": _weight(lambda _: core.FrameStats()),
    }


def _batched() -> float:
    """Bytes a plan of a million in columns."""
    now = timestamps(_MILLION)
    loop = native.FrameLoop(STEP, BUDGET, START)
    tracemalloc.start()
    plans = loop.begin_frames(now)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    if len(plans) != _MILLION:
        raise WrongWorkError(f"{len(plans)} plans")
    return kept / _MILLION


def _digested(frames: int) -> float:
    """Bytes at the peak of a digest that keeps no plan: the same for any number of frames."""
    now = timestamps(frames)
    loop, stats = native.FrameLoop(STEP, BUDGET, START), native.FrameStats()
    tracemalloc.start()
    loop.digest_frames(now, stats)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if stats.frames != frames:
        raise WrongWorkError(f"{stats.frames} frames")
    return float(peak)


def measure(effort: Effort) -> Sample:
    """Bytes."""
    values = {
        f"{label} {kind}": [weight]
        for label, core in (("native", native), ("reference", reference))
        for kind, weight in _weights(core).items()
    }
    values["plan of a batch"] = [_batched()]
    values["digest_frames 1e4, at the peak"] = [_digested(10**4)]
    values["digest_frames 1e6, at the peak"] = [_digested(_MILLION)]
    return Sample(values, {})


CLAIMS = (
    *(
        Claim(f"{kind}, native/reference", f"native {kind}", f"reference {kind}")
        for kind in ("FrameLoop", "FramePlan", "StateHash", "FrameStats")
    ),
    Claim("plan of a batch/FramePlan", "plan of a batch", "native FramePlan"),
    Claim(
        "peak of digest_frames, 1e6/1e4 frames",
        "digest_frames 1e6, at the peak",
        "digest_frames 1e4, at the peak",
    ),
)
