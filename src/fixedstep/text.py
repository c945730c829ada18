"""How results are written: the reprs and the JSON of the six types, once for both cores.

A repr evaluates back to an equal object. The JSON of ``FrameStats`` is a fixed string format,
written by hand rather than through a JSON library: its bytes are compared between runs and
versions.
"""

from __future__ import annotations

from .time import timestep_of


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


def frame_stats(frames: int, ticks: int, steps_dropped: int, schedule_hash: int) -> str:
    return (
        f"FrameStats(frames={frames}, ticks={ticks}, steps_dropped={steps_dropped}, "
        f"schedule_hash=0x{schedule_hash:016x})"
    )


def frame_stats_json(frames: int, ticks: int, steps_dropped: int, schedule_hash: int) -> str:
    return (
        f'{{"frames":{frames},"ticks":{ticks},"steps_dropped":{steps_dropped},'
        f'"schedule_hash":"0x{schedule_hash:016x}"}}'
    )
