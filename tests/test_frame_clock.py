"""The frame clock: what it lets through, what it refuses, and that the account is complete.

The oracle is a total counted beside the clock: every nanosecond by which the readings went
forward. It has to come back as accepted, clamped or excluded, and what was accepted has to come
back from the schedule as steps run, steps dropped and a remainder: no time in two places or in
none.
"""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, Nanos, Rate, StepBudget, Timestamp, Timestep
from fixedstep.sim import FrameClock, FrameSample
from fixedstep.testing import frame_timestamps, hostile_timestamps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fixedstep import FramePlan

MS = 1_000_000
SECOND = 10**9
HZ_60 = 16_666_667
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1

Policy = Literal["hold", "reanchor"]
POLICIES: list[Policy] = ["hold", "reanchor"]


def clock_with(cap: int | None, on_regression: Policy = "hold") -> FrameClock:
    return FrameClock(None if cap is None else Nanos(cap), on_regression)


def sample(clock: FrameClock, *nows: int) -> list[FrameSample]:
    return [clock.sample(Timestamp(now)) for now in nows]


def outcomes(clock: FrameClock, *nows: int) -> list[tuple[int, int]]:
    return [(found.accepted, found.clamped) for found in sample(clock, *nows)]


def frames(clock: FrameClock, loop: FrameLoop, *nows: int) -> list[tuple[int, int, int, int]]:
    """(due, steps, dropped, remainder) of each frame."""
    found = []
    for now in nows:
        clock.sample(Timestamp(now))
        plan = loop.begin_frame(clock.frame_time)
        found.append((due(plan), plan.step_count, plan.dropped, plan.remainder))
    return found


def due(plan: FramePlan) -> int:
    return plan.step_count + plan.dropped


# One sample a frame


def test_the_first_sample_is_a_baseline_and_no_time() -> None:
    assert clock_with(250).last is None
    clock = clock_with(250)
    assert clock.sample(Timestamp(100)) == FrameSample(Nanos(0), Nanos(0), regressed=False)
    assert clock.last == 100
    assert clock.submitted == clock.frame_time == 0


def test_a_frame_is_let_through_up_to_the_cap() -> None:
    clock = clock_with(250)
    assert outcomes(clock, 100, 100, 350, 1351, 1360) == [
        (0, 0),
        (0, 0),
        (250, 0),
        (250, 751),
        (9, 0),
    ]
    assert (clock.accepted, clock.clamped, clock.excluded) == (509, 751, 0)
    assert clock.submitted == 1360 - 100
    assert clock.frame_time == 509


def test_a_sample_says_what_it_found_by_name() -> None:
    clock = clock_with(250)
    sample(clock, 0)
    found = clock.sample(Timestamp(300))
    assert (found.accepted, found.clamped, found.regressed) == (250, 50, False)


def test_a_second_of_stall_passes_a_quarter_and_the_next_frame_is_normal() -> None:
    clock = FrameClock()
    assert outcomes(clock, 0, SECOND, SECOND + 10 * MS) == [
        (0, 0),
        (250 * MS, 750 * MS),
        (10 * MS, 0),
    ]


def test_a_cap_of_zero_stops_time() -> None:
    clock = clock_with(0)
    assert outcomes(clock, 0, U64_MAX) == [(0, 0), (0, U64_MAX)]
    assert (clock.frame_time, clock.clamped) == (0, U64_MAX)


def test_no_cap_lets_everything_through() -> None:
    clock = clock_with(None)
    assert clock.max_delta is None
    assert outcomes(clock, 0, U64_MAX) == [(0, 0), (U64_MAX, 0)]


def test_half_way_through_64_bits_a_nanosecond_is_a_nanosecond() -> None:
    assert outcomes(FrameClock(), 2**63, 2**63 + 1) == [(0, 0), (1, 0)]


# A clock that goes back


def test_hold_keeps_the_high_water_mark() -> None:
    clock = clock_with(100, "hold")
    found = sample(clock, 1000, 900, 950, 1001)
    assert [s.regressed for s in found] == [False, True, True, False]
    assert [s.accepted for s in found] == [0, 0, 0, 1]
    assert (clock.regressions, clock.submitted, clock.last) == (2, 1, 1001)


def test_reanchor_counts_from_the_lower_reading() -> None:
    clock = clock_with(100, "reanchor")
    found = sample(clock, 1000, 900, 950, 1001)
    assert [s.regressed for s in found] == [False, True, False, False]
    assert [s.accepted for s in found] == [0, 0, 50, 51]
    assert (clock.regressions, clock.submitted, clock.last) == (1, 101, 1001)


def test_the_same_reading_twice_is_no_regression() -> None:
    for policy in POLICIES:
        clock = clock_with(100, policy)
        assert [s.regressed for s in sample(clock, 7, 7, 8)] == [False] * 3
        assert clock.regressions == 0


# Reset


def test_after_a_reset_the_next_sample_is_a_baseline_and_the_gap_is_excluded() -> None:
    clock = clock_with(250)
    sample(clock, 100, 200)
    clock.reset()
    assert outcomes(clock, 9_200, 9_210) == [(0, 0), (10, 0)]
    assert (clock.accepted, clock.clamped, clock.excluded) == (110, 0, 9_000)
    assert clock.submitted == 9_210 - 100


def test_without_the_reset_the_same_gap_is_a_long_frame() -> None:
    """The control of the test above."""
    clock = clock_with(250)
    sample(clock, 100, 200, 9_200, 9_210)
    assert (clock.accepted, clock.clamped, clock.excluded) == (360, 8_750, 0)


def test_a_reset_before_the_first_sample_excludes_nothing() -> None:
    clock = FrameClock()
    clock.reset()
    assert outcomes(clock, 5_000, 5_010) == [(0, 0), (10, 0)]
    assert clock.excluded == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_a_reset_onto_an_earlier_clock_is_a_beginning_and_no_regression(policy: Policy) -> None:
    """Another session may count from another origin: nothing is known about the time between."""
    clock = clock_with(250, policy)
    sample(clock, 10_000, 10_100)
    clock.reset()
    found = sample(clock, 50, 60)
    assert [s.regressed for s in found] == [False, False]
    assert (clock.accepted, clock.excluded, clock.regressions, clock.last) == (110, 0, 0, 60)


def test_two_resets_are_one() -> None:
    clock = FrameClock()
    sample(clock, 0)
    clock.reset()
    clock.reset()
    sample(clock, 30, 40)
    assert (clock.excluded, clock.accepted) == (30, 10)


# What a clamp and a budget do together: 60 Hz, 250 ms, four steps


@pytest.mark.parametrize(
    ("elapsed", "clamped", "outcome"),
    [
        (100 * MS, 0, (6, 4, 2, 0)),
        (250 * MS, 0, (15, 4, 11, 0)),
        (8 * SECOND, 7_750 * MS, (15, 4, 11, 0)),
    ],
)
def test_clamped_time_and_dropped_steps_are_reported_apart(
    elapsed: int, clamped: int, outcome: tuple[int, int, int, int]
) -> None:
    clock = FrameClock()
    loop = clock.frame_loop(Rate(60), StepBudget(4))
    sample(clock, SECOND)
    assert frames(clock, loop, SECOND + elapsed) == [outcome]
    assert clock.clamped == clamped
    assert clock.submitted == elapsed


def test_a_tenth_of_a_second_is_six_steps_only_at_an_exact_rate() -> None:
    """The control: steps of whole nanoseconds are too long for a sixth one."""
    clock = FrameClock()
    loop = clock.frame_loop(Timestep.HZ_60, StepBudget(4))
    assert frames(clock, loop, 0, 100 * MS)[1] == (5, 4, 1, 16_666_665)


def test_eight_seconds_lose_7_75_to_the_clamp_and_eleven_steps_to_the_budget() -> None:
    clock = FrameClock()
    loop = clock.frame_loop(Rate(60), StepBudget(4))
    [_, (_, steps, dropped, remainder)] = frames(clock, loop, 0, 8 * SECOND)
    lost = clock.clamped + Fraction(dropped * SECOND, 60)
    assert lost == 7_750 * MS + Fraction(11 * SECOND, 60)
    assert lost + Fraction(steps * SECOND, 60) + remainder == 8 * SECOND


def test_a_pause_of_eight_seconds_owes_nothing() -> None:
    clock = FrameClock()
    loop = clock.frame_loop(Rate(60), StepBudget(4))
    assert frames(clock, loop, 0, 20 * MS) == [(0, 0, 0, 0), (1, 1, 0, 200 * MS)]
    clock.reset()
    outcome = frames(clock, loop, 8 * SECOND, 8 * SECOND + 20 * MS)
    assert outcome == [(0, 0, 0, 200 * MS), (1, 1, 0, 400 * MS)]
    assert clock.excluded == 8 * SECOND - 20 * MS
    assert clock.clamped == 0


def test_a_loop_made_later_starts_at_the_clocks_own_time() -> None:
    clock = FrameClock()
    sample(clock, 0, 40 * MS, 80 * MS)
    loop = clock.frame_loop(Rate(60), StepBudget(4))
    assert loop.last == clock.frame_time == 80 * MS
    assert frames(clock, loop, 100 * MS) == [(1, 1, 0, 200 * MS)]


@pytest.mark.parametrize("fps", [24, 30, 48, 60, 90, 144, 240, 1000])
def test_a_second_in_any_frames_is_sixty_ticks(fps: int) -> None:
    clock = FrameClock()
    loop = clock.frame_loop(Rate(60), StepBudget(4))
    grid = [7 * SECOND + k * SECOND // fps for k in range(fps + 1)]
    found = frames(clock, loop, *grid)
    assert sum(steps for _, steps, _, _ in found) == loop.tick == 60
    assert sum(dropped for _, _, dropped, _ in found) == 0
    assert loop.remainder == 0


# Configuration


@pytest.mark.parametrize("timestep", [Rate(2**36), Timestep(2**63), Rate(60), Timestep(1)])
def test_the_longest_clamp_that_cannot_overflow_is_taken(timestep: Timestep | Rate) -> None:
    """At the bound, a full frame on top of the largest remainder is still counted exactly."""
    scale, unit = _counted_in(timestep)
    longest = (U64_MAX - unit + 1) // scale
    clock = clock_with(longest)
    loop = clock.frame_loop(timestep, StepBudget(U32_MAX))
    full = FrameLoop._from_state(scale, unit, U32_MAX, 0, unit - 1, 0)
    assert full.timestep == loop.timestep
    plan = full.begin_frame(Timestamp(longest))
    assert due(plan) * unit + plan.remainder == longest * scale + unit - 1


@pytest.mark.parametrize("timestep", [Timestep(2**63), Timestep(2)])
def test_a_clamp_that_could_overflow_is_refused_with_the_numbers(timestep: Timestep) -> None:
    unit = timestep.nanos
    too_long = U64_MAX - unit + 2
    with pytest.raises(ValueError, match="passes 2\\*\\*64 - 1") as caught:
        clock_with(too_long).frame_loop(timestep)
    numbers = (too_long, unit - 1, too_long + unit - 1, U64_MAX, too_long - 1)
    for number in numbers:
        assert str(number) in str(caught.value)
    assert repr(timestep) in str(caught.value)
    full = FrameLoop._from_state(1, unit, U32_MAX, 0, unit - 1, 0)
    plan = full.begin_frame(Timestamp(too_long))
    assert due(plan) * unit + plan.remainder < too_long + unit - 1, "it would be lost"


def test_no_clamp_is_too_long_for_a_rate() -> None:
    clock = clock_with(U64_MAX)
    loop = clock.frame_loop(Rate(2**36), 1)
    assert frames(clock, loop, 0, U64_MAX)[1] == (
        min(U64_MAX * 2**36 // SECOND, U64_MAX),
        1,
        U64_MAX - 1,
        U64_MAX * 2**36 % SECOND,
    )


def _counted_in(timestep: Timestep | Rate) -> tuple[int, int]:
    if isinstance(timestep, Timestep):
        return 1, timestep.nanos
    return timestep.numerator, timestep.denominator * SECOND


def test_without_a_clamp_nothing_is_refused_and_a_rate_loses_nothing() -> None:
    clock = clock_with(None)
    loop = clock.frame_loop(Rate(U64_MAX), StepBudget(3))
    found = frames(clock, loop, 0, 2)
    assert found[1] == (2 * U64_MAX // SECOND, 3, 2 * U64_MAX // SECOND - 3, 2 * U64_MAX % SECOND)


def test_a_zero_rate_or_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="numerator must be a whole number, at least 1, not 0"):
        FrameClock().frame_loop(Rate(0), StepBudget(4))
    with pytest.raises(ValueError, match=r"budget must be .* at least 1, not 0"):
        FrameClock().frame_loop(Rate(60), StepBudget(0))


@pytest.mark.parametrize("timestep", [60, 16.7, None, "60 Hz"])
def test_a_rate_that_is_none_is_refused(timestep: Any) -> None:
    with pytest.raises(TypeError, match="timestep must be a Timestep or a Rate"):
        FrameClock().frame_loop(timestep)
    with pytest.raises(TypeError, match="budget must be a whole number of steps a frame"):
        FrameClock().frame_loop(Rate(60), 4.0)  # type: ignore[arg-type]


# Reported faults: clocks that go back, jump, wrap, or are read twice


def test_c01_a_backward_reading_banks_nothing_under_either_policy() -> None:
    """Counted from the lower reading, 39 ms for 33 ms that passed; from the highest, 33 ms."""
    steps = {}
    for policy in POLICIES:
        clock = clock_with(250 * MS, policy)
        loop = clock.frame_loop(Timestep(10 * MS))
        steps[policy] = frames(clock, loop, *(now * MS for now in (100, 116, 110, 133)))[1:]
        assert clock.regressions == 1
        assert clock.accepted == (39 * MS if policy == "reanchor" else 33 * MS)
    assert steps["reanchor"] == [(1, 1, 0, 6 * MS), (0, 0, 0, 6 * MS), (2, 2, 0, 9 * MS)]
    assert steps["hold"] == [(1, 1, 0, 6 * MS), (0, 0, 0, 6 * MS), (2, 2, 0, 3 * MS)]


def test_c02_a_clock_set_back_an_hour_costs_one_frame_with_reanchor_and_an_hour_with_hold() -> None:
    back = [3_600 * SECOND, 0, 40 * MS, 80 * MS]
    clock = clock_with(250 * MS, "reanchor")
    loop = clock.frame_loop(Timestep(40 * MS))
    assert [steps for _, steps, _, _ in frames(clock, loop, *back)] == [0, 0, 1, 1]

    held = clock_with(250 * MS, "hold")
    loop = held.frame_loop(Timestep(40 * MS))
    assert [steps for _, steps, _, _ in frames(held, loop, *back)] == [0, 0, 0, 0]
    assert held.regressions == 3
    assert frames(held, loop, 3_600 * SECOND + 40 * MS) == [(1, 1, 0, 0)]


def test_c03_a_clock_set_forward_a_day_is_one_clamped_frame() -> None:
    clock = FrameClock()
    loop = clock.frame_loop(Timestep(10 * MS))
    assert frames(clock, loop, 0, 86_400 * SECOND)[1] == (25, 5, 20, 0)
    assert clock.clamped == 86_400 * SECOND - 250 * MS

    free = clock_with(None)
    loop = free.frame_loop(Timestep(10 * MS))
    assert frames(free, loop, 0, 86_400 * SECOND)[1] == (8_640_000, 5, 8_639_995, 0)


def test_c05_a_counter_that_wraps_is_a_clock_that_goes_back_until_it_is_unwrapped() -> None:
    before, after = 4_294_967_290, 10
    raw = FrameClock()
    assert [s.regressed for s in sample(raw, before * MS, after * MS)] == [False, True]
    assert raw.accepted == 0

    unwrapped = FrameClock()
    loop = unwrapped.frame_loop(Timestep.HZ_60)
    passed = (after - before) % 2**32
    assert frames(unwrapped, loop, before * MS, (before + passed) * MS)[1] == (0, 0, 0, 16 * MS)


def test_c06_an_absolute_first_reading_is_no_delta_of_45_years() -> None:
    first = 1_419_151_612 * SECOND
    clock = FrameClock()
    loop = clock.frame_loop(Timestep.HZ_60)
    assert frames(clock, loop, first, first + HZ_60) == [(0, 0, 0, 0), (1, 1, 0, 0)]


@pytest.mark.parametrize(
    ("dt", "outcome"),
    [
        (HZ_60, (1_106_804_622_286, U32_MAX, 1_102_509_654_991, 8_010_853)),
        (1, (U64_MAX, U32_MAX, 18_446_744_069_414_584_320, 0)),
    ],
)
def test_c07_a_span_of_all_64_bits_saturates(dt: int, outcome: tuple[int, int, int, int]) -> None:
    clock = clock_with(None, "reanchor")
    loop = clock.frame_loop(Timestep(dt), StepBudget(U32_MAX))
    found = frames(clock, loop, 0, 5, 0, U64_MAX)
    if dt > 5:
        assert found[-1] == outcome
    else:  # five steps have run by then
        assert found[1] == (5, 5, 0, 0)
        assert found[-1] == (outcome[0] - 5, outcome[1], outcome[2] - 5, 0)
    assert clock.accepted == 5 + U64_MAX, "the total is exact beyond 64 bits"
    assert clock.frame_time == U64_MAX, "the schedule's clock stops at its end"


def test_c08_twelve_days_in_one_reading_are_exact() -> None:
    clock = clock_with(None)
    loop = clock.frame_loop(Rate(30), StepBudget(U32_MAX))
    assert frames(clock, loop, 0, 1_048_576 * SECOND)[1] == (31_457_280, 31_457_280, 0, 0)


def test_c09_a_hitch_is_caught_up_in_its_own_frame() -> None:
    clock = clock_with(300 * MS)
    loop = clock.frame_loop(Timestep(20 * MS), StepBudget(20))
    found = frames(clock, loop, *(now * MS for now in (970, 980, 1_280, 1_290)))
    assert found[1:] == [(0, 0, 0, 10 * MS), (15, 15, 0, 10 * MS), (1, 1, 0, 0)]


def test_c10_one_reading_a_frame_loses_nothing() -> None:
    clock = FrameClock()
    sample(clock, *range(0, 1_000 * MS + 1, MS))
    assert clock.accepted == SECOND

    twice = clock_with(250 * MS)
    for frame in range(1_000):  # the fault: a second reading, a microsecond on, is where to go on
        twice.sample(Timestamp(frame * MS))
        twice.reset()
        twice.sample(Timestamp(frame * MS + 1_000))
    twice.sample(Timestamp(SECOND))
    assert (twice.accepted, twice.excluded) == (999 * MS, MS)


# The account, on traces that nobody chose

caps = st.sampled_from([None, 0, 1, 250 * MS, U64_MAX]) | st.integers(0, 10 * SECOND)
resets = st.lists(st.booleans(), min_size=50, max_size=50)


def forward(nows: Sequence[int], resets: list[bool], policy: Policy) -> tuple[int, int]:
    """All that the readings went forward, and how much of that was after a reset."""
    total = excluded = 0
    mark = nows[0] if nows else 0
    for now, reset in zip(nows, [False, *resets], strict=False):
        total += max(now - mark, 0)
        if reset:
            excluded += max(now - mark, 0)
        mark = now if reset or policy == "reanchor" else max(now, mark)
    return total, excluded


@given(nows=hostile_timestamps(), resets=resets, cap=caps, policy=st.sampled_from(POLICIES))
def test_every_nanosecond_is_accepted_clamped_or_excluded(
    nows: list[Timestamp], resets: list[bool], cap: int | None, policy: Policy
) -> None:
    clock = clock_with(cap, policy)
    accepted = clamped = 0
    for i, now in enumerate(nows):
        if i and resets[i - 1]:
            clock.reset()
        found = clock.sample(now)
        accepted, clamped = accepted + found.accepted, clamped + found.clamped
        assert found.accepted <= (U64_MAX if cap is None else cap)
        assert (clock.accepted, clock.clamped) == (accepted, clamped)
        total, excluded = forward(nows[: i + 1], resets, policy)
        assert (clock.submitted, clock.excluded) == (total, excluded)
        assert clock.frame_time == min(accepted, U64_MAX)
    if cap is None:
        assert clock.clamped == 0
    if cap == 0:
        assert clock.accepted == 0


@given(
    nows=frame_timestamps(max_delta=Nanos(10 * SECOND)),
    resets=resets,
    cap=st.sampled_from([0, 1, 20 * MS, 250 * MS, 100 * SECOND]),
    timestep=st.sampled_from(
        [Timestep.HZ_60, Timestep(1), Rate(60), Rate(60_000, 1_001), Rate(144)]
    ),
    budget=st.sampled_from([1, 4, 5, U32_MAX]),
)
def test_accepted_time_is_run_dropped_or_left_over(
    nows: list[Timestamp],
    resets: list[bool],
    cap: int,
    timestep: Timestep | Rate,
    budget: int,
) -> None:
    """The whole way: from what the readings said to steps, with every loss in a report."""
    clock = clock_with(cap)
    loop = clock.frame_loop(timestep, StepBudget(budget))
    scale, unit = _counted_in(timestep)
    steps = dropped = 0
    for now, reset in zip(nows, resets, strict=False):
        if reset:
            clock.reset()
        clock.sample(now)
        plan = loop.begin_frame(clock.frame_time)
        steps, dropped = steps + plan.step_count, dropped + plan.dropped
    assert loop.tick == steps
    assert (steps + dropped) * unit + loop.remainder == clock.accepted * scale
    assert clock.submitted == nows[-1] - nows[0]


def test_a_trace_with_a_reset_a_clamp_and_drops_has_these_totals() -> None:
    """The control of the two tests above: a trace in which everything happens, counted by hand."""
    clock = clock_with(60 * MS)
    loop = clock.frame_loop(Rate(60), StepBudget(1))
    before, after = [0, 10 * MS, 90 * MS, 91 * MS], [129 * MS, 149 * MS]
    found = frames(clock, loop, *before)
    clock.reset()
    found += frames(clock, loop, *after)
    assert (clock.accepted, clock.clamped, clock.excluded) == (91 * MS, 20 * MS, 38 * MS)
    assert forward([*before, *after], [False] * 3 + [True, False], "hold") == (149 * MS, 38 * MS)
    assert [(steps, dropped) for _, steps, dropped, _ in found] == [
        (0, 0),
        (0, 0),
        (1, 3),
        (0, 0),
        (0, 0),
        (1, 0),
    ]


# Bad input


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        pytest.param(float("nan"), TypeError, id="nan"),
        pytest.param(float("inf"), TypeError, id="inf"),
        pytest.param(16.7, TypeError, id="float"),
        pytest.param(1.0, TypeError, id="whole-float"),
        pytest.param(Decimal(5), TypeError, id="Decimal"),
        pytest.param(Fraction(5), TypeError, id="Fraction"),
        pytest.param("5", TypeError, id="str"),
        pytest.param(None, TypeError, id="None"),
        pytest.param(-1, OverflowError, id="negative"),
        pytest.param(U64_MAX + 1, OverflowError, id="2**64"),
        pytest.param(10**5000, OverflowError, id="5001-digits"),
    ],
)
def test_a_bad_reading_is_refused_and_changes_nothing(bad: Any, error: type[Exception]) -> None:
    clock = FrameClock()
    sample(clock, 100, 90, 500)
    before = copy.copy(clock)
    with pytest.raises(error, match="now must be a whole number of nanoseconds"):
        clock.sample(bad)
    assert clock == before
    assert outcomes(clock, 510) == [(10, 0)]


def test_a_bad_reading_after_a_reset_leaves_the_baseline_to_the_next() -> None:
    clock = FrameClock()
    sample(clock, 100)
    clock.reset()
    with pytest.raises(OverflowError):
        clock.sample(Timestamp(-1))
    sample(clock, 400, 401)
    assert (clock.excluded, clock.accepted) == (300, 1)


@pytest.mark.parametrize("bad", [0.25, float("nan"), "250", Decimal(1)])
def test_a_cap_that_is_no_integer_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match="max_delta must be a whole number of nanoseconds"):
        FrameClock(bad)


@pytest.mark.parametrize("bad", [-1, U64_MAX + 1])
def test_a_cap_out_of_range_is_refused(bad: int) -> None:
    with pytest.raises(OverflowError, match=f"max_delta must be .* not {bad}"):
        FrameClock(Nanos(bad))


@pytest.mark.parametrize("bad", ["", "clamp", "HOLD", None, 1, b"hold", ["hold"]])
def test_another_policy_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="on_regression must be 'hold' or 'reanchor', not "):
        FrameClock(on_regression=bad)


# As an object


def _used() -> FrameClock:
    clock = clock_with(250, "reanchor")
    sample(clock, 100, 90, 500)
    clock.reset()
    sample(clock, 600, 610)
    clock.reset()
    return clock


def test_a_clock_prints_as_what_makes_it_again() -> None:
    clock = _used()
    assert (clock.accepted, clock.clamped, clock.excluded, clock.regressions) == (260, 160, 100, 1)
    assert eval(repr(clock)) == clock
    assert eval(repr(FrameClock())) == FrameClock()
    assert repr(clock) == (
        "FrameClock(max_delta=250, on_regression='reanchor', last=610, baseline=True, "
        "accepted=260, clamped=160, excluded=100, regressions=1)"
    )


def test_a_copy_goes_its_own_way() -> None:
    clock = _used()
    for twin in (copy.copy(clock), copy.deepcopy(clock), pickle.loads(pickle.dumps(clock))):
        assert twin == clock
        assert outcomes(twin, 700, 710) == [(0, 0), (10, 0)]
        assert twin != clock
        assert twin.excluded == clock.excluded + 90
    assert clock == _used()


def test_clocks_are_equal_by_everything_they_hold() -> None:
    one, other = FrameClock(), FrameClock()
    assert one == other
    sample(one, 5)
    assert one != other
    sample(other, 5)
    assert one == other
    other.reset()
    assert one != other
    assert clock_with(1) != clock_with(2)
    assert clock_with(1, "hold") != clock_with(1, "reanchor")
    assert one != "a clock"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_a_total_beyond_64_bits_comes_back() -> None:
    """Totals are sums, and exact; a saved one must not be refused for its size."""
    clock = clock_with(None, "reanchor")
    sample(clock, 0, U64_MAX, 0, U64_MAX)
    assert clock.accepted == 2 * U64_MAX
    assert pickle.loads(pickle.dumps(clock)) == clock == eval(repr(clock))


def test_a_second_init_leaves_a_clock_as_it_was() -> None:
    """It must not reconfigure a live clock, nor half of one when it is refused."""
    used = FrameClock(max_delta=Nanos(100))
    used.sample(Timestamp(1_000))
    before = repr(used)
    used.__init__(max_delta=5, on_regression="nonsense")  # type: ignore[call-arg]
    assert repr(used) == before
