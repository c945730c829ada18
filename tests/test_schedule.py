"""The accumulator: what is banked, what becomes a step, what is refused, what stays.

Each test is one rule of the machine, so that what fails here says which rule broke. Whole traces
are in test_vectors.py and test_cases.py, properties over the whole domain in test_differential.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from tests.conftest import Core

    from fixedstep.reference import FrameLoop

DT = 16_666_667
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1


def make_loop(core: Core, dt: int = DT, budget: int = 5, last: int = 0) -> FrameLoop:
    return core.FrameLoop(Timestep(dt), StepBudget(budget), Timestamp(last))


def frame(loop: FrameLoop, now: int) -> tuple[int, int, int, int]:
    plan = loop.begin_frame(Timestamp(now))
    return plan.first_tick, plan.step_count, plan.dropped, plan.remainder


def test_a_new_loop_has_the_documented_defaults(core: Core) -> None:
    loop = core.FrameLoop()
    assert loop.timestep == Timestep(DT)
    assert loop.budget == StepBudget(5)
    assert (loop.last, loop.tick, loop.remainder, loop.simulated) == (None, 0, 0, 0)


def test_a_budget_is_a_number_or_a_step_budget(core: Core) -> None:
    assert core.FrameLoop(Timestep(10), 3) == core.FrameLoop(Timestep(10), StepBudget(3))
    assert core.FrameLoop(budget=U32_MAX).budget == StepBudget(U32_MAX)


@pytest.mark.parametrize("timestep", [Timestep(10), Rate(60), Rate(1, 5)], ids=repr)
@pytest.mark.parametrize("now", [0, 5, 10**12, U64_MAX])
def test_without_a_start_the_first_frame_is_the_origin(
    core: Core, timestep: Timestep | Rate, now: int
) -> None:
    """A monotonic clock begins anywhere: its first reading is no time that passed."""
    loop = core.FrameLoop(timestep, 3, tick=7, remainder=4)
    assert loop.last is None
    assert frame(loop, now) == (7, 0, 0, 4)
    assert loop.last == now
    assert loop == core.FrameLoop(timestep, 3, Timestamp(now), tick=7, remainder=4)


@pytest.mark.parametrize("now", [0, 5, U64_MAX])
def test_without_a_start_the_first_resync_is_the_origin(core: Core, now: int) -> None:
    loop = core.FrameLoop(Timestep(10), 3)
    loop.resync(Timestamp(now))
    assert loop == core.FrameLoop(Timestep(10), 3, Timestamp(now))


def test_without_a_start_the_first_frame_of_a_batch_is_the_origin(core: Core) -> None:
    loop = core.FrameLoop(Timestep(10), 3)
    assert len(loop.begin_frames([])) == 0
    assert loop.last is None
    plans = loop.begin_frames(list(map(Timestamp, (1_000, 1_025, 1_031))))
    assert list(plans.step_count) == [0, 2, 1]
    assert loop == core.FrameLoop(Timestep(10), 3, Timestamp(1_031), tick=3, remainder=1)


def at_speed(
    core: Core, rate: Rate, speed: Fraction, fine: int, budget: int = U32_MAX
) -> FrameLoop:
    """A loop at a speed, its bank in parts of a ``fine``-th of the rate's unit."""
    loop = core.FrameLoop(rate, start=Timestamp(0))
    scale = rate.numerator * fine * speed
    assert scale.denominator == 1
    loop._set_scale(scale.numerator, rate.denominator * 10**9 * fine, budget, rate)
    return loop


def test_a_speed_changes_how_fast_ticks_fall_due_and_no_plan_shows_it(core: Core) -> None:
    loop = at_speed(core, Rate(60), Fraction(3, 2), 6)
    plan = loop.begin_frame(Timestamp(10**9 + 1))
    assert (plan.step_count, plan.timestep) == (90, Rate(60))
    assert (loop._bank, plan.remainder, loop.remainder) == (540, 90, 90)
    assert [step.sim_time for step in plan.steps()][59:61] == [983_333_333, 10**9]
    assert loop.simulated == 1_500_000_000
    normal = core.FramePlan(0, 90, 0, 90, Rate(60))
    assert plan == normal
    assert core.StateHash().absorb_plan(plan) == core.StateHash().absorb_plan(normal)
    assert plan.alpha() == normal.alpha()


def test_a_remainder_is_rounded_down_and_the_bank_keeps_the_rest(core: Core) -> None:
    """1/7 of normal speed: each nanosecond is 60/7 of the rate's unit."""
    loop = at_speed(core, Rate(60), Fraction(1, 7), 7)
    assert [loop.begin_frame(Timestamp(now)).remainder for now in (1, 2, 7)] == [8, 17, 60]
    assert loop._bank == 420


def test_speeds_that_change_lose_nothing(core: Core) -> None:
    rate, fine = Rate(60, 7), 12
    loop = at_speed(core, rate, Fraction(1), fine)
    owed, now, ticks = Fraction(0), 0, 0
    for index in range(200):
        speed = Fraction(1 + index % 5, (1, 2, 3, 4)[index % 4])
        loop._set_scale((rate.numerator * fine * speed).numerator, loop._unit, U32_MAX, rate)
        span = index * 7_654_321 % 90_000_001
        now += span
        owed += Fraction(span * 60, 7 * 10**9) * speed
        plan = loop.begin_frame(Timestamp(now))
        ticks += plan.step_count
        assert ticks == loop.tick == int(owed)
        assert plan.remainder == int((owed - ticks) * 7 * 10**9) == loop.remainder
        assert loop._bank == (owed - ticks) * loop._unit
    assert ticks > 100


def test_a_change_of_rate_keeps_the_fraction_of_a_step(core: Core) -> None:
    loop = at_speed(core, Rate(60), Fraction(1), 6)
    half = loop.begin_frame(Timestamp(25_000_000))
    loop._set_scale(20 * 6, loop._unit, 5, Rate(20))
    assert loop.begin_frame(Timestamp(25_000_000)).alpha() == half.alpha() == 0.5
    assert loop.timestep == Rate(20)
    assert loop.begin_frame(Timestamp(50_000_000)).step_count == 1


def test_the_batch_of_a_loop_at_a_speed_is_its_single_frames(core: Core) -> None:
    one, many = (at_speed(core, Rate(60), Fraction(5, 6), 6, budget=4) for _ in range(2))
    nows = [Timestamp(now) for now in (1, 50_000_000, 40_000_000, 10**9, 2**63, U64_MAX)]
    plans = many.begin_frames(nows)
    assert [one.begin_frame(now) for now in nows] == list(plans)
    assert one == many
    assert plans.timestep == Rate(60)


def test_ticks_are_counted_without_time_and_taken_back(core: Core) -> None:
    loop = make_loop(core, dt=10)
    loop.begin_frame(Timestamp(25))
    loop._skip_ticks(3)
    assert (loop.tick, loop.remainder, loop.last) == (5, 5, 25)
    loop._take_back(1)
    assert (loop.tick, loop.remainder, loop.last) == (4, 5, 25)
    loop._skip_ticks(U64_MAX)
    assert loop.tick == U64_MAX


def test_a_step_is_due_at_exact_equality(core: Core) -> None:
    loop = make_loop(core)
    assert frame(loop, DT - 1) == (0, 0, 0, DT - 1)
    assert frame(loop, DT) == (0, 1, 0, 0)


def test_a_frame_that_took_no_time_plans_nothing(core: Core) -> None:
    loop = make_loop(core, last=7)
    assert frame(loop, 7) == (0, 0, 0, 0)
    assert frame(loop, 7 + DT) == (0, 1, 0, 0)
    assert frame(loop, 7 + DT) == (1, 0, 0, 0)


def test_the_remainder_is_banked_for_the_next_frame(core: Core) -> None:
    loop = make_loop(core, dt=10)
    assert [frame(loop, now) for now in (7, 14, 21, 28, 35)] == [
        (0, 0, 0, 7),
        (0, 1, 0, 4),
        (1, 1, 0, 1),
        (2, 0, 0, 8),
        (2, 1, 0, 5),
    ]


def test_the_budget_refuses_and_says_how_much(core: Core) -> None:
    loop = make_loop(core, dt=10, budget=3)
    assert frame(loop, 30) == (0, 3, 0, 0)
    assert frame(loop, 70) == (3, 3, 1, 0)
    assert frame(loop, 1075) == (6, 3, 97, 5)


def test_refused_steps_are_never_banked(core: Core) -> None:
    """Banking them is what makes a slow frame cause a slower one."""
    loop = make_loop(core)
    stall = 200_000_000
    assert frame(loop, stall) == (0, 5, 6, 16_666_663)
    assert frame(loop, stall + DT) == (5, 1, 0, 16_666_663)
    assert frame(loop, stall + 2 * DT) == (6, 1, 0, 16_666_663)


def test_the_tick_counts_steps_that_run_and_not_those_refused(core: Core) -> None:
    loop = make_loop(core, dt=10, budget=2)
    loop.begin_frame(Timestamp(100))
    assert (loop.tick, loop.simulated) == (2, 20)


def test_a_backwards_clock_banks_nothing(core: Core) -> None:
    loop = make_loop(core, dt=10, last=1000)
    assert frame(loop, 1007) == (0, 0, 0, 7)
    assert frame(loop, 500) == (0, 0, 0, 7)


def test_a_backwards_clock_is_counted_from(core: Core) -> None:
    """The machine anchors low: after 1000, 900, 1001 it has banked 101, and it says so."""
    loop = make_loop(core, dt=10**6, last=1000)
    assert frame(loop, 900) == (0, 0, 0, 0)
    assert loop.last == 900
    assert frame(loop, 1001) == (0, 0, 0, 101)


def test_a_clock_that_falls_to_zero_recovers_at_once(core: Core) -> None:
    loop = make_loop(core, dt=10, last=U64_MAX)
    assert frame(loop, 0) == (0, 0, 0, 0)
    assert frame(loop, 10) == (0, 1, 0, 0)


@pytest.mark.parametrize("timestep", [Timestep(10), Rate(60), Rate(60_000, 1001)], ids=repr)
@pytest.mark.parametrize("now", [0, 499, 501, 10**12, U64_MAX])
def test_resync_moves_last_and_nothing_else(
    core: Core, timestep: Timestep | Rate, now: int
) -> None:
    loop = core.FrameLoop(timestep, StepBudget(4), Timestamp(100))
    loop.begin_frame(Timestamp(505))
    before = (loop.tick, loop.remainder, loop.simulated, loop.timestep, loop.budget)
    assert loop.remainder > 0
    loop.resync(Timestamp(now))
    assert (loop.tick, loop.remainder, loop.simulated, loop.timestep, loop.budget) == before
    assert loop.last == now


def test_resync_forgets_a_pause_and_keeps_the_remainder(core: Core) -> None:
    loop = make_loop(core, dt=10)
    assert frame(loop, 4) == (0, 0, 0, 4)
    loop.resync(Timestamp(10**10))
    assert frame(loop, 10**10 + 6) == (0, 1, 0, 0)


def test_without_resync_a_pause_is_a_stall(core: Core) -> None:
    """The control of the test above."""
    loop = make_loop(core, dt=10)
    loop.begin_frame(Timestamp(4))
    assert frame(loop, 10**10 + 6) == (0, 5, 10**9 - 5, 6)


def test_the_longest_jump_is_reported_whole(core: Core) -> None:
    loop = make_loop(core)
    assert frame(loop, U64_MAX) == (0, 5, U64_MAX // DT - 5, U64_MAX % DT)


def test_a_step_of_one_nanosecond_drops_all_but_one(core: Core) -> None:
    loop = make_loop(core, dt=1, budget=1)
    assert frame(loop, U64_MAX) == (0, 1, U64_MAX - 1, 0)


def test_the_longest_step_is_due_at_the_last_nanosecond(core: Core) -> None:
    loop = make_loop(core, dt=U64_MAX)
    assert frame(loop, U64_MAX - 1) == (0, 0, 0, U64_MAX - 1)
    assert frame(loop, U64_MAX) == (0, 1, 0, 0)


def test_the_bank_stops_at_its_end(core: Core) -> None:
    """Two spans that together pass 2**64 - 1: what is beyond is lost, and nothing wraps."""
    loop = make_loop(core, dt=U64_MAX)
    assert frame(loop, U64_MAX - 1) == (0, 0, 0, U64_MAX - 1)
    assert frame(loop, 0) == (0, 0, 0, U64_MAX - 1)
    assert frame(loop, 10**6) == (0, 1, 0, 0)


def test_the_bank_stops_one_nanosecond_beyond_its_end(core: Core) -> None:
    loop = core.FrameLoop(Timestep(U64_MAX), start=Timestamp(0), remainder=1)
    assert frame(loop, U64_MAX) == (0, 1, 0, 0)
    exact = core.FrameLoop(Timestep(U64_MAX), start=Timestamp(0), remainder=1)
    assert frame(exact, U64_MAX - 1) == (0, 1, 0, 0)


def test_a_rate_loses_nothing_where_the_product_needs_more_than_64_bits(core: Core) -> None:
    loop = core.FrameLoop(Rate(2**33), StepBudget(1), start=Timestamp(0))
    elapsed = 2**32  # times 2**33 is 2**65
    plan = loop.begin_frame(Timestamp(elapsed))
    assert (plan.step_count, plan.dropped, plan.remainder) == (
        1,
        2**65 // 10**9 - 1,
        2**65 % 10**9,
    )


def test_the_tick_stops_at_its_end(core: Core) -> None:
    loop = core.FrameLoop(Timestep(10), StepBudget(5), start=Timestamp(0), tick=U64_MAX - 2)
    assert frame(loop, 50) == (U64_MAX - 2, 5, 0, 0)
    assert loop.tick == U64_MAX
    assert frame(loop, 60) == (U64_MAX, 1, 0, 0)
    assert loop.tick == U64_MAX


def test_simulated_stops_at_its_end(core: Core) -> None:
    loop = core.FrameLoop(Timestep(2**63), StepBudget(5), start=Timestamp(0), tick=1)
    assert loop.simulated == 2**63
    loop.begin_frame(Timestamp(2**63))
    assert loop.tick == 2
    assert loop.simulated == U64_MAX


def test_the_largest_budget_is_honoured(core: Core) -> None:
    loop = make_loop(core, dt=1, budget=U32_MAX)
    assert frame(loop, U32_MAX - 1) == (0, U32_MAX - 1, 0, 0)
    assert frame(loop, 2 * U32_MAX) == (U32_MAX - 1, U32_MAX, 1, 0)


def test_a_loop_continues_from_a_tick_and_a_remainder(core: Core) -> None:
    whole = make_loop(core, dt=10)
    plans = [whole.begin_frame(Timestamp(now)) for now in (13, 29, 47, 60)]
    half = make_loop(core, dt=10)
    half.begin_frame(Timestamp(13))
    half.begin_frame(Timestamp(29))
    rest = core.FrameLoop(
        half.timestep, half.budget, half.last, tick=half.tick, remainder=half.remainder
    )
    assert [rest.begin_frame(Timestamp(now)) for now in (47, 60)] == plans[2:]
    assert rest == whole


def test_600_frames_of_one_step_are_600_ticks(core: Core) -> None:
    loop, stats = make_loop(core), core.FrameStats()
    for k in range(1, 601):
        stats.absorb(loop.begin_frame(Timestamp(k * DT)))
    assert (loop.tick, loop.remainder, stats.steps_dropped) == (600, 0, 0)
    assert stats.schedule_hash == 0x55CE27C8DCB97C4D


def test_a_pattern_of_frames_loses_nothing(core: Core) -> None:
    loop = make_loop(core)
    now = 0
    for k in range(60):
        now += (15_000_000, DT, 18_000_000, 33_333_334)[k % 4]
        assert loop.begin_frame(Timestamp(now)).dropped == 0
    assert now == 1_245_000_015
    assert (loop.tick, loop.remainder) == (74, 11_666_657)
    assert loop.tick * DT + loop.remainder == now


def test_a_stalled_run_has_its_frozen_digest(core: Core) -> None:
    """Three frames, the last a stall of 200 ms. The number must never change: with it, every digest
    that anybody recorded before would be wrong. Changing it on purpose needs a new format version
    and a new number here, computed by something other than this code."""
    loop, stats = make_loop(core), core.FrameStats()
    for now in (16_666_667, 33_333_334, 233_333_334):
        stats.absorb(loop.begin_frame(Timestamp(now)))
    assert (stats.frames, stats.ticks, stats.steps_dropped) == (3, 7, 6)
    assert stats.schedule_hash == 0xBEE1994BB6E96B49


def test_what_has_an_index_is_kept_as_an_integer(core: Core) -> None:
    """A bool is an int to ``isinstance``, and would be printed and pickled as True."""

    class Index:
        def __index__(self) -> int:
            return 1

    stamps: tuple[Any, ...] = (True, Index())
    for now in stamps:
        loop = core.FrameLoop(Timestep(10), start=Timestamp(now))
        assert (type(loop.last), repr(loop.last)) == (int, "1")
        loop = core.FrameLoop(Timestep(10), start=Timestamp(0))
        loop.begin_frame(Timestamp(now))
        assert (type(loop.last), repr(loop.last)) == (int, "1")
        loop.resync(Timestamp(0))
        loop.resync(Timestamp(now))
        assert (type(loop.last), repr(loop.last)) == (int, "1")
