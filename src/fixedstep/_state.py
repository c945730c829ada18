"""From constructor arguments, or the state in a pickle, to the numbers a core works with.

Each type of a core is a fixed tuple of integers, and a FrameTiming has its buckets as well. Here,
once for both cores, is the way in: ``frame_loop`` and its kin take what the constructor takes,
``*_state`` what a pickle carries, and both give the checked tuple. The way out is ``text.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypedDict, TypeVar

from ._arguments import U32_MAX, U64_MAX, count, nanos, positive, remainder, shown, timestamp
from ._saved import made_from
from .time import Rate, StepBudget, Timestamp, Timestep, budget_steps, scale_and_unit
from .timing import BUCKETS, bucket_of

if TYPE_CHECKING:
    from collections.abc import Callable

_Function = TypeVar("_Function", bound="Callable[..., Any]")

FNV_OFFSET = 0xCBF29CE484222325
#: The numbers of a FrameStats, in the order of its arguments; the digest is the last.
STATS = ("frames", "ticks", "steps_dropped", "schedule_hash")

_SECOND = 10**9
_DAMAGED = "the saved state is damaged"

#: (scale, unit, budget, last, bank, tick), and (rate_scale, rate_unit) after it where a speed made
#: them differ from scale and unit. ``last`` is None before the first frame of a loop without start.
LoopState: TypeAlias = (
    "tuple[int, int, int, int | None, int, int] "
    "| tuple[int, int, int, int | None, int, int, int, int]"
)


class TimingState(TypedDict):
    """What a FrameTiming is: the arguments that make an equal one."""

    min: int
    max: int
    sum: int
    drawn: int
    skipped: int
    buckets: dict[int, int]
    """Those that counted a frame, in order."""


def _errors_name(type_name: str) -> Callable[[_Function], _Function]:
    """Let wrong arguments name the type: the C core calls these from its constructors."""

    def named(function: _Function) -> _Function:
        function.__qualname__ = type_name
        return function

    return named


@_errors_name("FrameLoop")
def frame_loop(
    timestep: Timestep | Rate = Timestep.HZ_60,
    budget: StepBudget | SupportsIndex = 5,
    start: Timestamp | None = None,
    *,
    tick: SupportsIndex = 0,
    remainder: SupportsIndex = 0,
) -> LoopState:
    """What ``FrameLoop(...)`` means."""
    scale, unit = scale_and_unit(timestep)
    steps = budget_steps(budget)
    last = None if start is None else timestamp(start, "start")
    return frame_loop_state(scale, unit, steps, last, remainder, tick)


def frame_loop_state(
    scale: object,
    unit: object,
    budget: object,
    last: object,
    bank: object,
    tick: object,
    *rate: object,
) -> LoopState:
    """The state of a FrameLoop, checked."""
    if len(rate) not in (0, 2):
        raise TypeError(
            f"the state of a FrameLoop has 6 or 8 numbers, not {6 + len(rate)}; {_DAMAGED}"
        )
    scale, unit = _positive(scale, unit) if rate else _of_a_rate(scale, unit)
    state = (
        scale,
        unit,
        positive(budget, "budget", "a whole number", _DAMAGED, high=U32_MAX),
        None if last is None else timestamp(last, "last"),
        remainder(bank, unit),
        count(tick, "tick"),
    )
    if not rate:
        return state
    rate_scale, rate_unit = _of_a_rate(*rate)
    if unit % rate_unit:
        raise ValueError(
            f"unit must be a multiple of the rate's, {rate_unit} here, not {unit}; {_DAMAGED}"
        )
    if (rate_scale, rate_unit) == (scale, unit):
        return state
    return (*state, rate_scale, rate_unit)


def frame_loop_scale(
    state: LoopState, scale: object, unit: object, budget: object, rate: Timestep | Rate
) -> LoopState:
    """What a loop's state becomes with another scale, unit and budget, and plans in ``rate``."""
    old_unit, last, bank, tick = state[1], *state[3:6]
    new_unit = positive(unit, "unit", "a whole number", "one step is that much of the bank")
    if new_unit != old_unit and (tick, bank) != (0, 0):
        raise ValueError(
            f"unit must stay {old_unit} once time has passed, not become {new_unit}; "
            "choose one that every rate and speed divides, before the first frame"
        )
    rate_scale, rate_unit = scale_and_unit(rate)
    if new_unit % rate_unit:
        raise ValueError(
            f"unit must be a multiple of the rate's, {rate_unit} for {rate!r}, not {new_unit}; "
            "choose one that every rate and speed divides"
        )
    return frame_loop_state(scale, new_unit, budget, last, bank, tick, rate_scale, rate_unit)


@_errors_name("FramePlan")
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
    scale, unit = _of_a_rate(scale, unit)
    return (
        count(first_tick, "first_tick"),
        count(step_count, "step_count", high=U32_MAX),
        count(dropped, "dropped"),
        remainder(rest, unit),
        scale,
        unit,
    )


@_errors_name("Steps")
def steps(
    first_tick: SupportsIndex, step_count: SupportsIndex, timestep: Timestep | Rate
) -> tuple[int, int, int, int]:
    """What ``Steps(...)`` means: (tick, count, scale, unit)."""
    return steps_state(first_tick, step_count, *scale_and_unit(timestep))


def steps_state(
    first_tick: object, step_count: object, scale: object, unit: object
) -> tuple[int, int, int, int]:
    """The state of a Steps, checked."""
    scale, unit = _of_a_rate(scale, unit)
    return (
        count(first_tick, "first_tick"),
        count(step_count, "step_count", high=U32_MAX),
        scale,
        unit,
    )


@_errors_name("StateHash")
def state_hash(state: SupportsIndex = FNV_OFFSET) -> tuple[int]:
    """What ``StateHash(...)`` means: (value,)."""
    return state_hash_state(state)


def state_hash_state(value: object) -> tuple[int]:
    """The state of a StateHash, checked."""
    return (count(value, "state"),)


@_errors_name("FrameStats")
def frame_stats(
    frames: SupportsIndex = 0,
    ticks: SupportsIndex = 0,
    steps_dropped: SupportsIndex = 0,
    schedule_hash: SupportsIndex = FNV_OFFSET,
) -> tuple[int, ...]:
    """What ``FrameStats(...)`` means: the numbers named in `STATS`."""
    return frame_stats_state(frames, ticks, steps_dropped, schedule_hash)


def frame_stats_state(*numbers: object) -> tuple[int, ...]:
    """The state of a FrameStats, checked."""
    if len(numbers) != len(STATS):
        raise TypeError(f"FrameStats takes {len(STATS)} numbers, not {len(numbers)}; {_DAMAGED}")
    return (*map(count, numbers, STATS),)


@_errors_name("FrameTiming")
def frame_timing(
    *,
    min: SupportsIndex = 0,
    max: SupportsIndex = 0,
    sum: SupportsIndex = 0,
    drawn: SupportsIndex = 0,
    skipped: SupportsIndex = 0,
    buckets: Mapping[int, int] | None = None,
) -> tuple[int, int, int, int, int, dict[int, int]]:
    """What ``FrameTiming(...)`` means: (min, max, sum, drawn, skipped, buckets)."""
    state = (
        nanos(min, "min"),
        nanos(max, "max"),
        nanos(sum, "sum"),
        count(drawn, "drawn"),
        count(skipped, "skipped"),
    )
    if buckets is not None and not isinstance(buckets, Mapping):
        raise TypeError(
            "buckets must be a mapping from buckets to counts, as a pickle holds it, not "
            f"{type(buckets).__name__} {shown(buckets)}; leave it out"
        )
    counts = {
        count(bucket, "bucket", high=BUCKETS - 1): count(frames, "count")
        for bucket, frames in (buckets or {}).items()
    }
    used = {bucket: counts[bucket] for bucket in sorted(counts) if counts[bucket]}
    _check_timing(*state, used)
    return (*state, used)


def _check_timing(
    shortest: int, longest: int, total: int, drawn: int, skipped: int, buckets: dict[int, int]
) -> None:
    """Refuse a summary that no frames can have: ``percentile`` would be wrong, or fail."""
    order = [*buckets]
    ends = [bucket_of(shortest), bucket_of(longest)] if order else [shortest, longest]
    counted = sum(buckets.values())
    saturated = U64_MAX in (drawn, skipped, *buckets.values())
    if (
        ends != ([order[0], order[-1]] if order else [0, 0])
        or longest < shortest
        or total < longest
        or (drawn + skipped != counted and not saturated)
    ):
        raise ValueError(
            "min, max, sum, drawn, skipped and buckets must fit together, not "
            f"{shortest}, {longest}, {total} ns, {drawn} + {skipped} frames "
            f"and buckets of {counted}; pass what repr() printed"
        )


def frame_timing_state(arguments: object) -> tuple[int, int, int, int, int, dict[int, int]]:
    """The state of a FrameTiming, checked."""
    return made_from("FrameTiming", frame_timing, lambda _: TimingState.__annotations__, arguments)


@_errors_name("FrameTiming.record")
def frame_timing_record(frame_time: SupportsIndex, drawn: object) -> tuple[int, bool]:
    """What ``FrameTiming.record(...)`` counts."""
    return nanos(frame_time, "frame_time"), bool(drawn)


def _positive(scale: object, unit: object) -> tuple[int, int]:
    return (
        positive(scale, "scale", "a whole number", _DAMAGED),
        positive(unit, "unit", "a whole number", _DAMAGED),
    )


def _of_a_rate(scale: object, unit: object) -> tuple[int, int]:
    """The scale and unit of a Timestep, or of a Rate in lowest terms."""
    top, bottom = _positive(scale, unit)
    if top != 1 and (bottom % _SECOND or gcd(top, bottom // _SECOND) != 1):
        raise ValueError(
            f"scale and unit must be those of a Timestep or a Rate, not {top} and {bottom}; "
            f"{_DAMAGED}"
        )
    return top, bottom
