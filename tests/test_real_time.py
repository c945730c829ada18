"""The real-time factor is what was counted, and no average of averages."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fixedstep import FrameLoop, Nanos, StepBudget, Timestamp, Timestep
from fixedstep.host.real_time import RealTimeFactor

SECOND = 10**9
MS = 10**6


def test_h05_a_second_at_full_speed_is_exactly_one() -> None:
    """A thousand steps of 1 ms in 1.05 s, and a thousand in 1 s. A moving average never gets to 1
    again after the first."""
    loop = FrameLoop(Timestep(MS), StepBudget(1), start=Timestamp(0))
    factor = RealTimeFactor(Timestamp(0))
    laps = []
    now = 0
    for span in (1_050_000, 1_000_000):
        for _ in range(1_000):
            now += span
            loop.begin_frame(Timestamp(now))
        laps.append(factor.lap(Timestamp(now), loop.simulated))
    assert loop.tick == 2_000
    assert now == 2_050 * MS
    assert laps == [Fraction(20, 21), 1]
    assert factor.overall == Fraction(40, 41)


def test_a_lap_without_time_has_no_factor_and_goes_on() -> None:
    factor = RealTimeFactor(Timestamp(5), Nanos(3))
    assert factor.lap(Timestamp(5), Nanos(9)) is None
    assert factor.overall is None
    assert factor.lap(Timestamp(9), Nanos(11)) == 2
    assert factor.overall == 2


def test_a_pause_is_a_factor_of_zero() -> None:
    factor = RealTimeFactor(Timestamp(0))
    factor.lap(Timestamp(SECOND), Nanos(SECOND))
    assert factor.lap(Timestamp(3 * SECOND), Nanos(SECOND)) == 0
    assert factor.overall == Fraction(1, 3)


@pytest.mark.parametrize(("now", "simulated"), [(9, 10), (20, 4)])
def test_a_reading_that_went_back_is_refused_and_the_lap_goes_on(now: int, simulated: int) -> None:
    factor = RealTimeFactor(Timestamp(0))
    factor.lap(Timestamp(10), Nanos(5))
    with pytest.raises(ValueError, match=f"now {now} ns after 10 ns, simulated {simulated} ns"):
        factor.lap(Timestamp(now), Nanos(simulated))
    assert factor.lap(Timestamp(20), Nanos(10)) == Fraction(1, 2)


def test_readings_that_are_no_nanoseconds_are_named() -> None:
    with pytest.raises(TypeError, match="start"):
        RealTimeFactor(1.5)  # type: ignore[arg-type]
    factor = RealTimeFactor(Timestamp(0))
    with pytest.raises(TypeError, match="simulated"):
        factor.lap(Timestamp(1), 0.5)  # type: ignore[arg-type]
    with pytest.raises(OverflowError, match="now"):
        factor.lap(Timestamp(-1), Nanos(0))
    assert factor.overall is None
