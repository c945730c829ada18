"""From constructor arguments, or the state in a pickle, to the numbers a core works with.

Each of the five types of a core is a fixed tuple of integers. Here, once for both cores, is the
way in: ``frame_loop`` and its kin take what the constructor takes, ``*_state`` what a pickle
carries, and both give the checked tuple. The way out is ``text.py``. Refuses to know a core.
"""

from __future__ import annotations

from typing import SupportsIndex

from ._arguments import U32_MAX, count, positive, remainder, timestamp
from .time import ORIGIN, Rate, StepBudget, Timestamp, Timestep, budget_steps, scale_and_unit

FNV_OFFSET = 0xCBF29CE484222325

_DAMAGED = "the saved state is damaged"


def frame_loop(
    timestep: Timestep | Rate = Timestep.HZ_60,
    budget: StepBudget = StepBudget.DEFAULT,
    start: Timestamp = ORIGIN,
    *,
    tick: SupportsIndex = 0,
    remainder: SupportsIndex = 0,
) -> tuple[int, int, int, int, int, int]:
    """What ``FrameLoop(...)`` means: (scale, unit, budget, last, bank, tick)."""
    scale, unit = scale_and_unit(timestep)
    steps = budget_steps(budget)
    return frame_loop_state(scale, unit, steps, timestamp(start, "start"), remainder, tick)


def frame_loop_state(
    scale: object, unit: object, budget: object, last: object, bank: object, tick: object
) -> tuple[int, int, int, int, int, int]:
    """The state of a FrameLoop, checked."""
    scale, unit = _scale_and_unit(scale, unit)
    return (
        scale,
        unit,
        positive(budget, "budget", "a whole number", _DAMAGED, high=U32_MAX),
        timestamp(last, "last"),
        remainder(bank, unit),
        count(tick, "tick"),
    )


def frame_plan(
    first_tick: SupportsIndex,
    step_count: SupportsIndex,
    dropped: SupportsIndex,
    remainder: SupportsIndex,
    timestep: Timestep | Rate,
) -> tuple[int, int, int, int, int, int]:
    """What ``FramePlan(...)`` means: (first_tick, step_count, dropped, remainder, scale, unit)."""
    return frame_plan_state(first_tick, step_count, dropped, remainder, *scale_and_unit(timestep))


def frame_plan_state(
    first_tick: object,
    step_count: object,
    dropped: object,
    rest: object,
    scale: object,
    unit: object,
) -> tuple[int, int, int, int, int, int]:
    """The state of a FramePlan, checked."""
    scale, unit = _scale_and_unit(scale, unit)
    return (
        count(first_tick, "first_tick"),
        count(step_count, "step_count", high=U32_MAX),
        count(dropped, "dropped"),
        remainder(rest, unit),
        scale,
        unit,
    )


def steps(
    first_tick: SupportsIndex, step_count: SupportsIndex, timestep: Timestep | Rate
) -> tuple[int, int, int, int]:
    """What ``Steps(...)`` means: (tick, count, scale, unit)."""
    return steps_state(first_tick, step_count, *scale_and_unit(timestep))


def steps_state(
    first_tick: object, step_count: object, scale: object, unit: object
) -> tuple[int, int, int, int]:
    """The state of a Steps, checked."""
    scale, unit = _scale_and_unit(scale, unit)
    return (
        count(first_tick, "first_tick"),
        count(step_count, "step_count", high=U32_MAX),
        scale,
        unit,
    )


def state_hash(state: SupportsIndex = FNV_OFFSET) -> tuple[int]:
    """What ``StateHash(...)`` means: (value,)."""
    return state_hash_state(state)


def state_hash_state(value: object) -> tuple[int]:
    """The state of a StateHash, checked."""
    return (count(value, "state"),)


def frame_stats(
    frames: SupportsIndex = 0,
    ticks: SupportsIndex = 0,
    steps_dropped: SupportsIndex = 0,
    schedule_hash: SupportsIndex = FNV_OFFSET,
) -> tuple[int, int, int, int]:
    """What ``FrameStats(...)`` means: (frames, ticks, steps_dropped, schedule_hash)."""
    return frame_stats_state(frames, ticks, steps_dropped, schedule_hash)


def frame_stats_state(
    frames: object, ticks: object, steps_dropped: object, schedule_hash: object
) -> tuple[int, int, int, int]:
    """The state of a FrameStats, checked."""
    return (
        count(frames, "frames"),
        count(ticks, "ticks"),
        count(steps_dropped, "steps_dropped"),
        count(schedule_hash, "schedule_hash"),
    )


def _scale_and_unit(scale: object, unit: object) -> tuple[int, int]:
    return (
        positive(scale, "scale", "a whole number", _DAMAGED),
        positive(unit, "unit", "a whole number", _DAMAGED),
    )
