"""A plan and what it hands out: steps, ticks, alpha."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fixedstep
from fixedstep import Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from tests.conftest import Core

SECOND = 10**9
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1
ALPHA_MAX = 1 - 2**-24  # the float32 0x3F7FFFFF

EDGES = [0, 1, 2, 2**24, 2**24 + 1, 2**32, 2**53, 2**53 + 1, 2**63, U64_MAX - 1, U64_MAX]
u64 = st.sampled_from(EDGES) | st.integers(0, U64_MAX)


@st.composite
def units_and_remainders(draw: st.DrawFn) -> tuple[int, int]:
    """Every kind of pair with remainder < unit, the last remainders of a step among them."""
    unit = draw(u64.filter(bool))
    near_end = st.integers(0, min(unit - 1, 3)).map(lambda k: unit - 1 - k)
    return unit, draw(near_end | st.integers(0, unit - 1))


def test_a_plan_says_what_the_frame_must_do(core: Core) -> None:
    loop = core.FrameLoop(Timestep(10), StepBudget(3), start=Timestamp(0), tick=7)
    plan = loop.begin_frame(Timestamp(57))
    assert type(plan) is core.FramePlan
    assert (plan.first_tick, plan.step_count, plan.dropped, plan.remainder) == (7, 3, 2, 7)
    assert plan.timestep == Timestep(10)


def test_the_timestep_of_a_plan_is_that_of_its_loop(core: Core) -> None:
    for timestep in (Timestep(1), Timestep(U64_MAX), Rate(60), Rate(U64_MAX), Rate(60_000, 1001)):
        plan = core.FrameLoop(timestep, start=Timestamp(0)).begin_frame(Timestamp(5))
        assert plan.timestep == timestep
        assert type(plan.timestep) is type(timestep)


def test_steps_carry_tick_length_and_time_at_their_start(core: Core) -> None:
    steps = list(core.FramePlan(7, 3, 0, 0, Timestep(10)).steps())
    assert steps == [(7, 10, 70), (8, 10, 80), (9, 10, 90)]
    assert all(type(step) is fixedstep.Step for step in steps)
    assert (steps[0].tick, steps[0].dt, steps[0].sim_time) == (7, 10, 70)


def test_both_cores_make_the_same_step_type(core: Core) -> None:
    assert core.Step is fixedstep.Step


def test_a_plan_without_steps_hands_out_none(core: Core) -> None:
    plan = core.FramePlan(7, 0, 3, 5, Timestep(10))
    assert list(plan.steps()) == []
    assert len(plan.steps()) == 0
    assert len(plan.ticks) == 0


def test_steps_stay_exhausted(core: Core) -> None:
    """An iterator that comes back to life would run steps twice."""
    steps = core.FramePlan(0, 2, 0, 0, Timestep(10)).steps()
    assert [step.tick for step in steps] == [0, 1]
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(steps)
    assert len(steps) == 0


def test_steps_know_how_many_are_left(core: Core) -> None:
    steps = core.FramePlan(5, 3, 0, 0, Timestep(10)).steps()
    left = [len(steps)]
    for _ in steps:
        left.append(len(steps))
    assert left == [3, 2, 1, 0]


def test_steps_are_their_own_iterator(core: Core) -> None:
    steps = core.FramePlan(5, 3, 0, 0, Timestep(10)).steps()
    assert type(steps) is core.Steps
    assert iter(steps) is steps
    next(steps)
    assert [step.tick for step in steps] == [6, 7]


def test_asking_a_plan_again_starts_again(core: Core) -> None:
    plan = core.FramePlan(5, 3, 0, 0, Timestep(10))
    first = list(plan.steps())
    assert len(first) == 3
    assert list(plan.steps()) == first


def test_two_iterations_of_a_plan_do_not_disturb_each_other(core: Core) -> None:
    plan = core.FramePlan(0, 3, 0, 0, Timestep(10))
    one, two = plan.steps(), plan.steps()
    next(one)
    next(one)
    assert [step.tick for step in two] == [0, 1, 2]
    assert [step.tick for step in one] == [2]


def test_steps_outlive_their_plan_and_loop(core: Core) -> None:
    steps = core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frame(Timestamp(30)).steps()
    assert [step.tick for step in steps] == [0, 1, 2]


def test_the_ticks_of_steps_stop_at_their_end(core: Core) -> None:
    steps = list(core.FramePlan(U64_MAX - 1, 4, 0, 0, Timestep(1)).steps())
    assert [step.tick for step in steps] == [U64_MAX - 1, U64_MAX, U64_MAX, U64_MAX]
    assert steps[-1].sim_time == U64_MAX


def test_the_time_of_a_step_stops_at_its_end(core: Core) -> None:
    steps = list(core.FramePlan(1, 2, 0, 0, Timestep(2**63)).steps())
    assert [step.sim_time for step in steps] == [2**63, U64_MAX]
    assert [step.dt for step in steps] == [2**63, 2**63]


def test_the_largest_plan_does_not_cost_its_steps(core: Core) -> None:
    plan = core.FramePlan(10, U32_MAX, 0, 0, Timestep(1))
    assert len(plan.steps()) == U32_MAX
    assert next(plan.steps()).tick == 10
    assert plan.ticks[-1] == U32_MAX + 9


@given(first=u64, count=st.integers(0, 30), dt=u64.filter(bool))
def test_steps_are_tick_times_dt(core: Core, first: int, count: int, dt: int) -> None:
    plan = core.FramePlan(first, count, 0, 0, Timestep(dt))
    ticks = [min(first + k, U64_MAX) for k in range(count)]
    assert list(plan.steps()) == [(tick, dt, min(tick * dt, U64_MAX)) for tick in ticks]


def test_ticks_are_a_range(core: Core) -> None:
    assert core.FramePlan(7, 3, 0, 0, Timestep(10)).ticks == range(7, 10)
    assert core.FramePlan(7, 0, 0, 0, Timestep(10)).ticks == range(7, 7)


def test_ticks_have_step_count_numbers_even_at_the_end(core: Core) -> None:
    ticks = core.FramePlan(U64_MAX, 3, 0, 0, Timestep(10)).ticks
    assert ticks == range(U64_MAX, U64_MAX + 3)


# alpha


def nearest_f32(ratio: Fraction) -> float:
    return float(struct.unpack("<f", struct.pack("<f", float(ratio)))[0])


def test_alpha_is_the_share_of_a_step(core: Core) -> None:
    for remainder, alpha in ((0, 0.0), (25, 0.25), (50, 0.5), (75, 0.75)):
        assert core.FramePlan(0, 0, 0, remainder, Timestep(100)).alpha() == alpha


@pytest.mark.parametrize(
    "timestep",
    [
        Timestep(SECOND),
        Timestep.from_hz(29),
        Timestep.from_hz(25),
        Timestep(2**25),
        Timestep(2**54),
        Timestep(U64_MAX),
    ],
    ids=repr,
)
def test_alpha_does_not_round_up_to_one(core: Core, timestep: Timestep) -> None:
    """From 2**25 ns a division in double, narrowed to float32, does, and draws a step ahead."""
    plan = core.FramePlan(0, 0, 0, timestep.nanos - 1, timestep)
    assert plan.alpha() == ALPHA_MAX < 1
    plain = nearest_f32(Fraction(timestep.nanos - 1, timestep.nanos))
    assert plain == 1.0, "the fault this clamp is for"


def test_alpha_at_30_hz_is_not_one_either(core: Core) -> None:
    """There, division in double is safe by a hair, and division of two float32 is not."""
    unit = Timestep.from_hz(30).nanos
    in_float32 = nearest_f32(Fraction(unit - 1)) / nearest_f32(Fraction(unit))
    assert in_float32 == 1.0, "the fault that dividing in double is for"
    assert core.FramePlan(0, 0, 0, unit - 1, Timestep(unit)).alpha() == ALPHA_MAX


@pytest.mark.parametrize("unit", [1, 2, U64_MAX])
def test_alpha_is_zero_right_after_a_step(core: Core, unit: int) -> None:
    assert core.FramePlan(0, 1, 0, 0, Timestep(unit)).alpha() == 0.0


@pytest.mark.parametrize(
    ("remainder", "unit", "alpha"),
    [
        (1_143_769_907, 1_644_167_168, float.fromhex("0x1.642ca4p-1")),
        (18_151_097_448, 20_054_186_827, 0.9051026105880737),
    ],
)
def test_alpha_is_one_division_in_double(
    core: Core, remainder: int, unit: int, alpha: float
) -> None:
    """Multiplying by 1 / unit gives another float32 for the first, and a division with the 64 bits
    of x87 for the second."""
    assert core.FramePlan(0, 0, 0, remainder, Timestep(unit)).alpha() == alpha


def test_the_smallest_alpha_is_not_lost(core: Core) -> None:
    alpha = core.FramePlan(0, 0, 0, 1, Timestep(U64_MAX)).alpha()
    assert alpha == 2.0**-64 > 0


@given(pair=units_and_remainders())
@example(pair=(33_333_333, 33_333_332))
@example(pair=(SECOND, SECOND - 1))
@example(pair=(U64_MAX, U64_MAX - 1))
@example(pair=(2**53 + 1, 2**53))
def test_alpha_is_a_float32_in_zero_to_one(core: Core, pair: tuple[int, int]) -> None:
    unit, remainder = pair
    alpha = core.FramePlan(0, 0, 0, remainder, Timestep(unit)).alpha()
    assert type(alpha) is float
    assert 0 <= alpha <= ALPHA_MAX
    assert nearest_f32(Fraction(alpha)) == alpha
    in_double = struct.unpack("<f", struct.pack("<f", float(remainder) / float(unit)))[0]
    assert alpha == min(in_double, ALPHA_MAX)
    assert abs(Fraction(alpha) - Fraction(remainder, unit)) <= Fraction(1, 2**24)


@given(pair=units_and_remainders(), top=st.sampled_from([2, 60, 60_000]))
def test_the_alpha_of_a_rate_is_in_its_own_unit(
    core: Core, pair: tuple[int, int], top: int
) -> None:
    """Seconds to a unit of a Rate: the remainder counts parts of a nanosecond there."""
    bottom = max(pair[0] // SECOND, 1)
    rate = Rate(top, bottom)
    unit = rate.denominator * SECOND
    remainder = pair[1] % unit
    alpha = core.FramePlan(0, 0, 0, remainder, rate).alpha()
    assert abs(Fraction(alpha) - Fraction(remainder, unit)) <= Fraction(1, 2**24)
    assert alpha < 1


def test_alpha_is_no_part_of_the_digest(core: Core) -> None:
    """Two plans of equal alpha and unequal remainder differ; the digest sees the remainder."""
    plans = [core.FramePlan(0, 0, 0, rest, Timestep(U64_MAX)) for rest in (2**63, 2**63 + 1)]
    assert plans[0].alpha() == plans[1].alpha()
    assert core.StateHash().absorb_plan(plans[0]) != core.StateHash().absorb_plan(plans[1])
