"""How results are written: the reprs and the JSON of the types, once for both cores.

A repr evaluates back to an equal object. The JSON is a fixed string format, written by hand rather
than through a JSON library: its bytes are compared between runs and versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._arguments import U64_MAX
from ._state import STATS
from .time import timestep_of
from .timing import percentile

if TYPE_CHECKING:
    from ._state import TimingState

_PERCENTILES = (("p50_ns", 50), ("p90_ns", 90), ("p99_ns", 99), ("p99.9_ns", "99.9"))


def frame_loop(
    scale: int, unit: int, budget: int, last: int | None, bank: int, tick: int, *rate: int
) -> str:
    if rate:  # the constructor has no speed
        numbers = ", ".join(map(str, (scale, unit, budget, last, bank, tick, *rate)))
        return f"FrameLoop._from_state({numbers})"
    return (
        f"FrameLoop({timestep_of(scale, unit)!r}, StepBudget({budget}), {last}, "
        f"tick={tick}, remainder={bank})"
    )


def frame_plan(
    first_tick: int, step_count: int, dropped: int, remainder: int, scale: int, unit: int
) -> str:
    return (
        f"FramePlan(first_tick={first_tick}, step_count={step_count}, dropped={dropped}, "
        f"remainder={remainder}, timestep={timestep_of(scale, unit)!r})"
    )


def steps(tick: int, count: int, scale: int, unit: int) -> str:
    return f"Steps({tick}, {count}, {timestep_of(scale, unit)!r})"


def state_hash(value: int) -> str:
    return f"StateHash(0x{value:016x})"


def frame_stats(*state: int) -> str:
    counts = zip(STATS, state[:-1], strict=False)
    numbers = "".join(f"{name}={count}, " for name, count in counts)
    return f"FrameStats({numbers}schedule_hash=0x{state[-1]:016x})"


def frame_stats_json(*state: int) -> str:
    numbers = "".join(
        f'"{name}":{number},' for name, number in zip(STATS, state[:-1], strict=False)
    )
    return f'{{{numbers}"schedule_hash":"0x{state[-1]:016x}"}}'


def frame_timing(state: TimingState) -> str:
    return f"FrameTiming({', '.join(f'{name}={value}' for name, value in state.items())})"


def frame_timing_json(state: TimingState) -> str:
    percentiles = "".join(f',"{name}":{percentile(state, p)}' for name, p in _PERCENTILES)
    return (
        f'{{"count":{min(state["drawn"] + state["skipped"], U64_MAX)},"min_ns":{state["min"]},'
        f'"max_ns":{state["max"]},"sum_ns":{state["sum"]},"drawn":{state["drawn"]},'
        f'"skipped":{state["skipped"]}{percentiles}}}'
    )
