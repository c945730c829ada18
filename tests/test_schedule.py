"""The accumulator: what is banked, what becomes a step, what is refused, what stays.

Each test is one rule of the machine, so that what fails here says which rule broke. Whole traces
are in test_vectors.py and test_cases.py, properties over the whole domain in test_differential.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    assert (loop.last, loop.tick, loop.remainder, loop.simulated) == (0, 0, 0, 0)


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
    loop = core.FrameLoop(Timestep(U64_MAX), remainder=1)
    assert frame(loop, U64_MAX) == (0, 1, 0, 0)
    exact = core.FrameLoop(Timestep(U64_MAX), remainder=1)
    assert frame(exact, U64_MAX - 1) == (0, 1, 0, 0)


def test_a_rate_stops_its_bank_where_the_product_would_wrap(core: Core) -> None:
    loop = core.FrameLoop(Rate(2**33), StepBudget(1))
    elapsed = 2**32  # times 2**33 is 2**65
    plan = loop.begin_frame(Timestamp(elapsed))
    assert (plan.step_count, plan.dropped, plan.remainder) == (
        1,
        U64_MAX // 10**9 - 1,
        U64_MAX % 10**9,
    )


def test_the_tick_stops_at_its_end(core: Core) -> None:
    loop = core.FrameLoop(Timestep(10), StepBudget(5), tick=U64_MAX - 2)
    assert frame(loop, 50) == (U64_MAX - 2, 5, 0, 0)
    assert loop.tick == U64_MAX
    assert frame(loop, 60) == (U64_MAX, 1, 0, 0)
    assert loop.tick == U64_MAX


def test_simulated_stops_at_its_end(core: Core) -> None:
    loop = core.FrameLoop(Timestep(2**63), StepBudget(5), tick=1)
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
