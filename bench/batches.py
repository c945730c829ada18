"""Many frames in one call, and whether a frame costs the same at ten million as at a thousand."""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Iterator
from types import ModuleType

from fixedstep import native, reference

from .measure import Absent, Played, Side, clock
from .workload import BUDGET, OUTCOMES, START, STEP, timestamps
from .yardstick import digest_of_frames

SIZES = (10**3, 10**6, 10**7)
BYTES_A_PLAN = 28
_PAGE = 4096
#: As many frames as the reference is given: some 6 microseconds each.
REFERENCE_SIZE = 10**4


def _with_stats(core: ModuleType, now: array[int]) -> Played:
    loop, stats = core.FrameLoop(STEP, BUDGET, START), core.FrameStats()
    begun = clock()
    plans = loop.begin_frames(now, stats)
    nanos = clock() - begun
    return Played(nanos, (len(plans), loop.tick, stats.steps_dropped, stats.schedule_hash))


def _without_stats(core: ModuleType, now: array[int]) -> Played:
    loop = core.FrameLoop(STEP, BUDGET, START)
    begun = clock()
    plans = loop.begin_frames(now)
    nanos = clock() - begun
    return Played(nanos, (len(plans), loop.tick, loop.remainder))


def _digest_only(core: ModuleType, now: array[int]) -> Played:
    loop, stats = core.FrameLoop(STEP, BUDGET, START), core.FrameStats()
    begun = clock()
    loop.digest_frames(now, stats)
    nanos = clock() - begun
    return Played(nanos, (stats.frames, loop.tick, stats.steps_dropped, stats.schedule_hash))


def _single(core: ModuleType, instants: array[int]) -> Played:
    loop = core.FrameLoop(STEP, BUDGET, START)
    begun = clock()
    for now in instants:
        loop.begin_frame(now)
    nanos = clock() - begun
    return Played(nanos, (len(instants), loop.tick, loop.remainder))


def _loop_with_absorb(core: ModuleType, instants: array[int]) -> Played:
    loop, stats = core.FrameLoop(STEP, BUDGET, START), core.FrameStats()
    begun = clock()
    for now in instants:
        stats.absorb(loop.begin_frame(now))
    nanos = clock() - begun
    return Played(nanos, (stats.frames, loop.tick, stats.steps_dropped, stats.schedule_hash))


def _new_memory(advice: int | None) -> Played:
    """What the columns of the largest batch cost before anything is in them.

    The system hands out zeroed pages as they are touched, and does it faster where large ones were
    asked for.
    """
    size = BYTES_A_PLAN * SIZES[-1]
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as block:
        if advice is not None:
            block.madvise(advice)
        begun = clock()
        for page in range(0, size, _PAGE):
            block[page] = 1
        return Played(clock() - begun, block[page])


def _new_memories() -> Iterator[Side | Absent]:
    for kind, advice in (("small", None), ("large", getattr(mmap, "MADV_HUGEPAGE", None))):
        name = f"{BYTES_A_PLAN} bytes of new memory, {kind} pages 1e7"
        if not hasattr(mmap, "MAP_PRIVATE") or (kind == "large" and advice is None):
            yield Absent(name, "no such pages on this system")
        else:
            yield _memory_side(name, advice)


def _memory_side(name: str, advice: int | None) -> Side:
    return Side(name, SIZES[-1], lambda: _new_memory(advice), lambda touched: touched == 1)


def _side(
    name: str, play: Callable[[ModuleType, array[int]], Played], core: ModuleType, now: array[int]
) -> Side:
    tick, dropped, remainder, digest = OUTCOMES[len(now)]
    rest = (remainder,) if play in (_without_stats, _single) else (dropped, digest)
    outcome = (len(now), tick, *rest)
    return Side(name, len(now), lambda: play(core, now), lambda found: found == outcome)


def batches() -> Iterator[Side | Absent]:
    """Every form of batch at every size; the reference one by one; one by one at both ends."""
    yield _side("reference loop", _loop_with_absorb, reference, timestamps(REFERENCE_SIZE))
    for size in SIZES:
        now, label = timestamps(size), f"1e{len(str(size)) - 1}"
        yield _side(f"begin_frames with stats {label}", _with_stats, native, now)
        yield _side(f"begin_frames {label}", _without_stats, native, now)
        yield _side(f"digest_frames {label}", _digest_only, native, now)
        if size in (SIZES[0], SIZES[-1]):
            yield _side(f"one by one {label}", _single, native, now)
    yield from _new_memories()


def digests() -> Iterator[Side]:
    """Planning and digesting in C, against the same with the obvious hash."""
    now = timestamps(REFERENCE_SIZE)
    digest = OUTCOMES[len(now)][3]
    yield _side("digest_frames", _digest_only, native, now)
    yield Side(
        "byte by byte", len(now), lambda: digest_of_frames(now), lambda found: found == digest
    )
