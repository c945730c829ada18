"""The value types: Timestep, Rate, StepBudget, and saturating arithmetic on instants.

They are written once, so nothing here depends on a core. How they copy, compare and print is in
test_objects.py with the other types; what they refuse is in test_errors.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fixedstep import (
    FrameLoop,
    Nanos,
    Rate,
    Step,
    StepBudget,
    Timestamp,
    Timestep,
    saturating_add,
    saturating_since,
)

SECOND = 10**9
U64_MAX = 2**64 - 1
u64 = st.sampled_from([0, 1, 2**32, 2**63, U64_MAX - 1, U64_MAX]) | st.integers(0, U64_MAX)


def test_the_named_values_are_what_they_say() -> None:
    assert Timestep.HZ_60.nanos == 16_666_667
    assert StepBudget.DEFAULT.steps == 5


@pytest.mark.parametrize("nanos", [1, 16_666_667, 2**63, U64_MAX])
def test_a_timestep_holds_its_nanoseconds(nanos: int) -> None:
    assert Timestep(nanos).nanos == nanos


@pytest.mark.parametrize("steps", [1, 5, 2**31, 2**32 - 1])
def test_a_budget_holds_its_steps(steps: int) -> None:
    assert StepBudget(steps).steps == steps


@pytest.mark.parametrize(
    ("hz", "nanos"),
    [
        (1, SECOND),
        (24, 41_666_667),
        (30, 33_333_333),
        (60, 16_666_667),
        (90, 11_111_111),
        (120, 8_333_333),
        (144, 6_944_444),
        (SECOND, 1),
        (2 * SECOND, 1),
        (1024, 976_563),  # a half rounds up, to an odd number
        (128_000, 7_813),
    ],
)
def test_from_hz_rounds_to_the_nearest_nanosecond(hz: int, nanos: int) -> None:
    assert Timestep.from_hz(hz) == Timestep(nanos)


@given(hz=st.integers(1, 2 * SECOND))
@example(hz=2 * SECOND)
@example(hz=800_000_000)
def test_from_hz_is_never_off_by_more_than_a_half(hz: int) -> None:
    exact = Fraction(SECOND, hz)
    nanos = Timestep.from_hz(hz).nanos
    assert abs(nanos - exact) <= Fraction(1, 2)
    if abs(nanos - exact) == Fraction(1, 2):
        assert nanos > exact, "a half rounds up"


def test_from_hz_stops_where_a_step_would_round_to_nothing() -> None:
    with pytest.raises(OverflowError, match="hz must be"):
        Timestep.from_hz(2 * SECOND + 1)


def test_a_rate_is_kept_in_lowest_terms() -> None:
    rate = Rate(120_000, 2_002)
    assert (rate.numerator, rate.denominator) == (60_000, 1_001)
    assert rate == Rate(60_000, 1_001)
    assert hash(rate) == hash(Rate(60_000, 1_001))


def test_a_rate_has_a_denominator_of_one_by_default() -> None:
    assert Rate(60) == Rate(60, 1)
    assert (Rate(60).numerator, Rate(60).denominator) == (60, 1)


def test_a_rate_is_made_of_a_fraction() -> None:
    assert Rate(Fraction(60_000, 1001)) == Rate(60_000, 1001)
    assert Rate(Fraction(60)) == Rate(60)
    for wrong, error in ((Fraction(0), ValueError), (Fraction(-1, 2), OverflowError)):
        with pytest.raises(error, match="numerator must be"):
            Rate(wrong)
    with pytest.raises(OverflowError, match="denominator must be"):
        Rate(Fraction(1, 2**64))
    both: Any = Rate
    with pytest.raises(TypeError, match="numerator must be a whole number, not Fraction"):
        both(Fraction(1, 2), 3)


def test_a_rate_and_a_timestep_of_one_length_are_equal() -> None:
    """One tick in five seconds is both, and a loop gives back the shorter word."""
    assert Rate(1, 5) == Timestep(5 * SECOND) == FrameLoop(Rate(1, 5)).timestep
    assert hash(Rate(1, 5)) == hash(Timestep(5 * SECOND))
    assert Rate(2, 5) != Timestep(5 * SECOND)
    assert Rate(2, 5) != Timestep(25 * SECOND // 10)  # equal for a while, but another remainder


@pytest.mark.parametrize(
    ("step", "seconds"),
    [
        (Rate(120), 1 / 120),
        (Rate(60_000, 1001), 1001 / 60_000),
        (Rate(1, 5), 5.0),
        (Timestep(20_000_000), 0.02),
        (Timestep.HZ_60, 0.016666667),
        (Rate(U64_MAX), 1 / U64_MAX),
    ],
)
def test_the_length_of_a_step_in_seconds_is_the_nearest_float(
    step: Rate | Timestep, seconds: float
) -> None:
    assert step.seconds == seconds


@given(
    step=st.builds(Rate, st.integers(1, SECOND), st.integers(1, 1_000))
    | st.builds(Timestep, st.integers(1, 10**12)),
    number=st.integers(0, 10**6),
)
@example(step=Rate(SECOND), number=10**6)
@example(step=Rate(3, 7), number=0)
def test_ticks_in_is_the_inverse_of_due_after(step: Rate | Timestep, number: int) -> None:
    due = step.due_after(number)
    assert step.ticks_in(due) == number
    if number:
        assert step.ticks_in(Nanos(due - 1)) == number - 1


def test_ticks_in_takes_spans_up_to_the_end_and_counts_within_64_bits() -> None:
    assert Timestep(1).ticks_in(Nanos(U64_MAX)) == U64_MAX
    assert Rate(SECOND).ticks_in(Nanos(U64_MAX)) == U64_MAX
    with pytest.raises(OverflowError, match=r"span must hold at most \d+ steps"):
        Rate(SECOND + 1).ticks_in(Nanos(U64_MAX))
    for wrong, error in ((-1, OverflowError), (2**64, OverflowError)):
        with pytest.raises(error, match="span must be a whole number of nanoseconds"):
            Rate(60).ticks_in(Nanos(wrong))
    any_span: Any = 0.5
    with pytest.raises(TypeError, match="span must be a whole number of nanoseconds"):
        Rate(60).ticks_in(any_span)


def test_a_rate_reaches_both_ends_of_its_range() -> None:
    assert Rate(U64_MAX).numerator == U64_MAX
    slowest = U64_MAX // SECOND
    assert Rate(1, slowest).denominator == slowest
    assert Rate(U64_MAX, slowest - 1).numerator == U64_MAX
    with pytest.raises(OverflowError, match="denominator must be"):
        Rate(1, slowest + 1)


def test_values_of_different_types_are_not_equal() -> None:
    values: list[Any] = [Timestep(5), Rate(5), StepBudget(5), 5, (5,)]
    for value in values:
        assert [other for other in values if other == value] == [value]


def test_values_take_what_has_an_index() -> None:
    assert Timestep(np.uint64(5)) == Timestep(5)
    assert type(Timestep(np.uint64(5)).nanos) is int
    assert Rate(np.int32(60)) == Rate(60)
    assert StepBudget(True) == StepBudget(1)


def test_a_step_is_a_named_tuple() -> None:
    step = Step(tick=2, dt=Nanos(10), sim_time=Nanos(20))
    tick, dt, sim_time = step
    assert (tick, dt, sim_time) == (step.tick, step.dt, step.sim_time) == (2, 10, 20)
    assert step._replace(tick=3) == (3, 10, 20)


@given(later=u64, earlier=u64)
def test_since_is_never_negative(later: int, earlier: int) -> None:
    span = saturating_since(Timestamp(later), Timestamp(earlier))
    assert span == max(later - earlier, 0)
    assert type(span) is int


@given(at=u64, span=u64)
def test_add_stops_at_the_end_of_time(at: int, span: int) -> None:
    assert saturating_add(Timestamp(at), Nanos(span)) == min(at + span, U64_MAX)


@given(at=u64, span=u64)
def test_add_and_since_undo_each_other_short_of_the_end(at: int, span: int) -> None:
    end = saturating_add(Timestamp(at), Nanos(span))
    assert saturating_since(end, Timestamp(at)) == min(span, U64_MAX - at)
