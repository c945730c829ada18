"""A Rate is exact: that many ticks a second, however the time was split into frames.

A step in whole nanoseconds cannot say this (sixty of 16,666,667 ns are 20 ns too long), so the
tests here are what a Rate is for. The oracle is one division over the whole span, in Python's
unbounded integers; the loop has to arrive at the same number frame by frame.
"""

from __future__ import annotations

from array import array
from fractions import Fraction
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fixedstep import Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from tests.conftest import Core

SECOND = 10**9
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1
FRAMES_A_SECOND = [24, 30, 48, 60, 75, 90, 100, 120, 125, 144, 240, 1000]

numerators = st.sampled_from([1, 2, 3, 59, 60, SECOND, 2**32, 2**63, U64_MAX]) | st.integers(
    1, U64_MAX
)
denominators = st.sampled_from([1, 2, 1001, U64_MAX // SECOND]) | st.integers(1, U64_MAX // SECOND)
ticks = st.sampled_from([0, 1, 2**32, 2**63, U64_MAX - 1, U64_MAX]) | st.integers(0, U64_MAX)


@pytest.mark.parametrize("fps", FRAMES_A_SECOND)
def test_60_hz_is_60_ticks_a_second_at_any_frame_rate(core: Core, fps: int) -> None:
    loop = core.FrameLoop(Rate(60), start=Timestamp(0))
    plans = [loop.begin_frame(Timestamp(k * SECOND // fps)) for k in range(1, fps + 1)]
    assert sum(plan.step_count for plan in plans) == loop.tick == 60
    assert sum(plan.dropped for plan in plans) == 0
    assert loop.remainder == 0
    assert loop.simulated == SECOND


@pytest.mark.parametrize("fps", FRAMES_A_SECOND)
def test_a_step_of_whole_nanoseconds_is_not_60_ticks_a_second(core: Core, fps: int) -> None:
    """The control: what the test above would say of a Timestep."""
    loop = core.FrameLoop(Timestep.HZ_60, start=Timestamp(0))
    for k in range(1, fps + 1):
        loop.begin_frame(Timestamp(k * SECOND // fps))
    assert (loop.tick, loop.remainder) == (59, 16_666_647)


def test_ntsc_is_60000_ticks_in_1001_seconds(core: Core) -> None:
    loop = core.FrameLoop(Rate(60_000, 1_001), start=Timestamp(0))
    for k in range(1, 1_001 * 30 + 1):
        loop.begin_frame(Timestamp(k * SECOND // 30))
    assert loop.last == 1_001 * SECOND
    assert (loop.tick, loop.remainder) == (60_000, 0)
    assert loop.simulated == 1_001 * SECOND


def test_the_steps_of_60_hz_are_a_nanosecond_apart_in_length(core: Core) -> None:
    steps = list(core.FramePlan(0, 60, 0, 0, Rate(60)).steps())
    assert [step.sim_time for step in steps[:4]] == [0, 16_666_666, 33_333_333, 50_000_000]
    assert {step.dt for step in steps} == {16_666_666, 16_666_667}
    assert sum(step.dt for step in steps) == SECOND


@given(top=numerators, bottom=denominators, first=ticks, count=st.integers(1, 40))
def test_a_step_starts_at_the_floor_of_its_exact_time(
    core: Core, top: int, bottom: int, first: int, count: int
) -> None:
    rate = Rate(top, bottom)
    steps = list(core.FramePlan(first, count, 0, 0, rate).steps())
    assert len(steps) == count
    for k, step in enumerate(steps):
        tick = min(first + k, U64_MAX)
        assert step.tick == tick
        assert step.sim_time == min(tick * bottom * SECOND // top, U64_MAX)
    for step, following in pairwise(steps):
        if rate.numerator == 1:  # a whole number of nanoseconds: every step is as long
            assert step.dt == rate.denominator * SECOND
        else:
            assert step.dt == following.sim_time - step.sim_time
    if rate.numerator > 1 and first + count <= U64_MAX:
        end = min((first + count) * bottom * SECOND // top, U64_MAX)
        assert sum(step.dt for step in steps) == end - steps[0].sim_time, "the sum is exact"


@given(
    top=st.integers(1, 10**6),
    bottom=st.integers(1, 2000),
    deltas=st.lists(st.integers(0, 10**8), min_size=1, max_size=60),
)
def test_the_split_into_frames_does_not_matter(
    core: Core, top: int, bottom: int, deltas: list[int]
) -> None:
    shared = gcd(top, bottom)
    whole, rest = divmod(sum(deltas) * (top // shared), bottom // shared * SECOND)
    loop = core.FrameLoop(Rate(top, bottom), StepBudget(U32_MAX), start=Timestamp(0))
    now = planned = 0
    for delta in deltas:
        now += delta
        plan = loop.begin_frame(Timestamp(now))
        assert plan.dropped == 0
        planned += plan.step_count
    assert (planned, loop.remainder) == (whole, rest)
    assert loop.tick == whole

    at_once = core.FrameLoop(Rate(top, bottom), StepBudget(U32_MAX), start=Timestamp(0))
    at_once.begin_frame(Timestamp(now))
    assert at_once == loop


@given(top=numerators, bottom=denominators, tick=ticks)
def test_simulated_is_the_exact_time_of_the_tick(
    core: Core, top: int, bottom: int, tick: int
) -> None:
    loop = core.FrameLoop(Rate(top, bottom), start=Timestamp(0), tick=tick)
    assert loop.simulated == min(tick * bottom * SECOND // top, U64_MAX)


@pytest.mark.parametrize(
    ("timestep", "tick", "says"),
    [
        (Timestep(5), U64_MAX // 5, "the end itself, exactly"),
        (Timestep(7), U64_MAX // 7, "one nanosecond below the end"),
        (Timestep(7), U64_MAX // 7 + 1, "beyond the end"),
        (Rate(2), 3, "the smallest scale that is none of a Timestep"),
        (Rate(3), U64_MAX // SECOND, "the last product of 64 bits"),
        (Rate(3), U64_MAX // SECOND + 1, "the first product of 65"),
        (Rate(10**10), 10**18, "a product of 90 bits that divides without a rest"),
        (Rate(U64_MAX), U64_MAX, "the largest divisor, a quotient without a rest"),
        (Rate(5, U64_MAX // SECOND), 5, "the last quotient of 64 bits"),
        (Rate(5, U64_MAX // SECOND), 6, "a quotient of 65 bits, its upper half as the divisor"),
        (
            Rate(18_446_744_038_640_261_633, U64_MAX // SECOND),
            2**64 - 2**35,
            "the same, with a divisor so large that a long division would lose a bit",
        ),
        (Rate(1, U64_MAX // SECOND), U64_MAX, "the largest quotient"),
        (Rate(2 * SECOND), U64_MAX, "the last tick, which has no next one to measure to"),
    ],
    ids=str,
)
def test_the_time_of_a_tick_is_exact_up_to_its_end(
    core: Core, timestep: Timestep | Rate, tick: int, says: str
) -> None:
    """The edges of the arithmetic below: drawn numbers never meet the ones where a product just
    fits, or where a half of it equals what it is divided by."""
    scale = timestep.numerator if isinstance(timestep, Rate) else 1
    unit = timestep.denominator * SECOND if isinstance(timestep, Rate) else timestep.nanos
    exact = min(tick * unit // scale, U64_MAX)
    assert core.FrameLoop(timestep, start=Timestamp(0), tick=tick).simulated == exact
    step = next(core.Steps(tick, 1, timestep))
    assert step.sim_time == exact
    after = min(min(tick + 1, U64_MAX) * unit // scale, U64_MAX)
    assert step.dt == (unit if scale == 1 else after - exact)


def test_a_remainder_of_a_rate_is_in_parts_of_a_nanosecond(core: Core) -> None:
    loop = core.FrameLoop(Rate(60), start=Timestamp(0))
    plan = loop.begin_frame(Timestamp(SECOND // 60))
    assert plan.step_count == 0
    assert plan.remainder == loop.remainder == SECOND // 60 * 60 == SECOND - 40
    assert loop.begin_frame(Timestamp(SECOND // 60 + 1)).remainder == 20


def test_a_rate_is_the_same_rate_in_other_terms(core: Core) -> None:
    """Lowest terms, so that equal rates have equal remainders and digests."""
    loops = [
        core.FrameLoop(Rate(60), start=Timestamp(0)),
        core.FrameLoop(Rate(60_000, 1_000), start=Timestamp(0)),
    ]
    digests = []
    for loop in loops:
        stats = core.FrameStats()
        for k in range(1, 100):
            stats.absorb(loop.begin_frame(Timestamp(k * 7_000_001)))
        assert stats.ticks > 0
        digests.append(stats.schedule_hash)
    assert digests[0] == digests[1]
    assert loops[0] == loops[1]


def test_a_rate_of_one_tick_in_whole_seconds_is_a_timestep(core: Core) -> None:
    """Scale 1 is a Timestep to the machine, and so it is to the reader."""
    slow, same = (
        core.FrameLoop(Rate(1, 3), start=Timestamp(0)),
        core.FrameLoop(Timestep(3 * SECOND), start=Timestamp(0)),
    )
    assert slow == same
    assert slow.timestep == Timestep(3 * SECOND)
    plans = [loop.begin_frame(Timestamp(7 * SECOND)) for loop in (slow, same)]
    assert plans[0] == plans[1]
    assert (plans[0].step_count, plans[0].remainder) == (2, SECOND)


def test_a_rate_and_a_timestep_have_different_digests(core: Core) -> None:
    """The scale is digested where it is not 1: the same remainder means another time there."""
    rate = core.FramePlan(0, 1, 0, 5, Rate(3))
    step = core.FramePlan(0, 1, 0, 5, Timestep(SECOND))
    assert core.StateHash().absorb_plan(rate) != core.StateHash().absorb_plan(step)


@pytest.mark.parametrize("top", [U64_MAX, U64_MAX - 1, 2**63 + 1])
def test_the_fastest_rates_lose_nothing(core: Core, top: int) -> None:
    loop = core.FrameLoop(Rate(top), StepBudget(U32_MAX), start=Timestamp(0))
    plan = loop.begin_frame(Timestamp(2))
    due, rest = divmod(2 * top, SECOND)
    assert plan.step_count + plan.dropped == due > U32_MAX
    assert plan.remainder == rest
    assert plan.dropped > 0


@given(
    top=numerators,
    bottom=denominators,
    budget=st.sampled_from([1, 5, U32_MAX]),
    nows=st.lists(ticks, min_size=1, max_size=12),
)
@example(top=U64_MAX, bottom=1, budget=1, nows=[U64_MAX, 0, U64_MAX, 1, U64_MAX])
@example(top=U64_MAX, bottom=U64_MAX // SECOND, budget=5, nows=[U64_MAX, 0, U64_MAX])
@example(top=1, bottom=1, budget=5, nows=[1, U64_MAX])
def test_a_rate_is_exact_for_frames_of_any_length(
    native: Core,
    reference: Core,
    ffi: Any,
    lib: Any,
    top: int,
    bottom: int,
    budget: int,
    nows: list[int],
) -> None:
    """Against fractions of a tick, which do not know how many bits a product has."""
    rate = Rate(top, bottom)
    if rate.numerator == 1:  # the machine of a Timestep, whose bank stops at 2**64 - 1
        return
    scale, unit = rate.numerator, rate.denominator * SECOND
    loops = [core.FrameLoop(rate, budget, start=Timestamp(0)) for core in (native, reference)]
    batch = native.FrameLoop(rate, budget, start=Timestamp(0)).begin_frames(array("Q", nows))
    bare = ffi.new(
        "fs_loop *",
        {
            "scale": scale,
            "unit": unit,
            "rate_scale": scale,
            "rate_unit": unit,
            "budget": budget,
            "started": 1,
        },
    )
    owed, last = Fraction(0), 0
    for index, now in enumerate(nows):
        owed += Fraction(max(now - last, 0) * rate.numerator, unit)
        last = now
        due = int(owed)
        owed -= due
        steps = min(due, budget)
        expected = steps, min(due, U64_MAX) - steps, owed * unit
        plans = [loop.begin_frame(Timestamp(now)) for loop in loops]
        for plan in (*plans, batch[index], lib.fs_loop_begin_frame(bare, now)):
            assert (plan.step_count, plan.dropped, plan.remainder) == expected


def test_the_number_of_due_steps_stops_at_its_end_and_the_remainder_stays_exact(core: Core) -> None:
    loop = core.FrameLoop(Rate(U64_MAX), 1, start=Timestamp(0), remainder=SECOND - 1)
    plan = loop.begin_frame(Timestamp(U64_MAX))
    due, rest = divmod(U64_MAX**2 + SECOND - 1, SECOND)
    assert due > U64_MAX
    assert (plan.step_count, plan.dropped, plan.remainder) == (1, U64_MAX - 1, rest)
