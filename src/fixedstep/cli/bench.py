"""``fixedstep bench``: the two cores side by side on this machine, in about five seconds.

Both cores play the same frames in turns, so that whatever slows the machine down slows both: the
ratio is steadier than either time. Every figure is the median of its rounds, and the results of
each play must be equal on both cores. The comparison with other libraries is in ``bench/`` of the
source distribution.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from types import ModuleType

_FRAMES = 1_000
_KIB = 16
_ROUNDS = 9
#: Nanoseconds of timed work behind one value: 4 rows of 2 cores, 9 rounds and a warm-up in 5 s.
_VALUE = 50 * 10**6
#: One frame each of some 144, 60, 60 and 30 Hz, and now and then a stall that exceeds the budget.
_LENGTHS = 6_944_444, 16_666_667, 16_666_667, 33_333_333


class _Row(NamedTuple):
    name: str
    unit: str
    #: Frames or KiB of one play.
    units: int
    #: From a core and the timestamps, what to time; it returns what both cores must agree on.
    prepare: Callable[[ModuleType, Any], Callable[[], object]]


def _timestamps() -> Any:
    """One timestamp a frame; every 40th frame is a stall of 150 ms."""
    from array import array
    from itertools import accumulate

    lengths = (150_000_000 if k % 40 == 39 else _LENGTHS[k % 4] for k in range(_FRAMES))
    return array("Q", accumulate(lengths))


def _begin_frame(core: ModuleType, times: Any) -> Callable[[], object]:
    times = list(times)

    def play() -> object:
        loop = core.FrameLoop(start=0)
        for now in times:
            loop.begin_frame(now)
        return loop.tick, loop.remainder

    return play


def _body(core: ModuleType, times: Any) -> Callable[[], object]:
    times = list(times)

    def play() -> object:
        loop, stats = core.FrameLoop(start=0), core.FrameStats()
        for now in times:
            plan = loop.begin_frame(now)
            for _ in plan.steps():
                pass
            plan.alpha()
            stats.absorb(plan)
        return loop.tick, stats.steps_dropped, stats.schedule_hash

    return play


def _batch(core: ModuleType, times: Any) -> Callable[[], object]:
    def play() -> object:
        loop, stats = core.FrameLoop(start=0), core.FrameStats()
        plans = loop.begin_frames(times, stats)
        return len(plans), loop.tick, stats.steps_dropped, stats.schedule_hash

    return play


def _hash(core: ModuleType, times: Any) -> Callable[[], object]:
    data = bytes(range(256)) * 4 * _KIB
    return lambda: core.StateHash().absorb_bytes(data).finish()


_ROWS = (
    _Row("begin_frame", "ns a frame", _FRAMES, _begin_frame),
    _Row("begin_frame, steps, alpha, absorb", "ns a frame", _FRAMES, _body),
    _Row(f"begin_frames, {_FRAMES} in a call", "ns a frame", _FRAMES, _batch),
    _Row(f"absorb_bytes, {_KIB} KiB in a call", "ns a KiB", _KIB, _hash),
)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "bench",
        allow_abbrev=False,
        help="time the two cores on this machine, in about five seconds",
        description="Time the two cores on this machine, in about five seconds.",
    )
    parser.set_defaults(run=run)


def _measure(plays: list[Callable[[], object]]) -> list[list[float]]:
    """Nanoseconds of one play of each, a value a round, measured in turns."""
    from time import perf_counter_ns

    def timed(play: Callable[[], object], times: int) -> float:
        begun = perf_counter_ns()
        for _ in range(times):
            play()
        return (perf_counter_ns() - begun) / times

    times = [max(1, round(_VALUE / max(timed(play, 3), 1))) for play in plays]
    rounds = [list(map(timed, plays, times)) for _ in range(_ROUNDS + 1)]
    return [list(values) for values in zip(*rounds[1:], strict=True)]  # the first one warms up


def run(arguments: argparse.Namespace) -> int:
    """Time every row and print the table: 0, or 1 where the two cores differ."""
    from statistics import median

    from .. import reference
    from .cores import native_core
    from .layout import table

    native, why_not = native_core()
    if native is None:
        print(f"no native core, so the reference alone: {why_not}")
    cores = [reference] if native is None else [native, reference]
    names = [core.__name__.rpartition(".")[2] for core in cores]
    cells = [["", "", *names] + (["native / reference"] if native else [])]
    times = _timestamps()
    for row in _ROWS:
        plays = [row.prepare(core, times) for core in cores]
        if len({play() for play in plays}) != 1:
            arguments.code = 1
            print(f"fixedstep: {row.name}: the two cores differ", file=sys.stderr)
            return 1
        values = _measure(plays)
        cells.append([row.name, row.unit, *(f"{median(v) / row.units:,.1f}" for v in values)])
        if native:
            cells[-1].append(f"{median(a / b for a, b in zip(*values, strict=True)):.4f}")
    print(table(cells, left=2))
    return 0
