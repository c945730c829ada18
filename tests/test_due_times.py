"""When steps fell due, against the obvious way: nanosecond by nanosecond.

The reason for `due_times` is a game that compares the times of clicks with ``step.sim_time``: after
a stall it hears every click as much too late as the stall was long. That game is here too, as the
control.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import Rate, StepBudget, Timestamp, Timestep, reference
from fixedstep._arguments import U32_MAX, U64_MAX
from fixedstep.sim import due_times

if TYPE_CHECKING:
    from tests.conftest import Core

MS = 10**6
#: Nine ticks in 100 ns: steps of 11 and 12 ns, on the small clock of these tests.
FINE = Rate(90_000_000)


def one_by_one(loop: Any, now: int) -> list[int]:
    """The nanoseconds up to ``now`` in which a step fell due, each as often as steps did."""
    watched, found = copy.copy(loop), []
    for at in range(loop.last, now + 1):
        plan = watched.begin_frame(Timestamp(at))
        found += [at] * (plan.step_count + plan.dropped)
    return found


@given(
    timestep=st.sampled_from([Timestep(10), Timestep(1), FINE, Rate(3 * 10**9)]),
    budget=st.integers(1, 5),
    elapsed=st.lists(st.integers(0, 70), min_size=1, max_size=12),
)
def test_due_times_are_those_that_a_look_at_every_nanosecond_finds(
    core: Core, timestep: Timestep | Rate, budget: int, elapsed: list[int]
) -> None:
    loop, now, seen = core.FrameLoop(timestep, StepBudget(budget), Timestamp(500)), 500, 0
    for more in elapsed:
        now += more
        due = one_by_one(loop, now)
        plan = loop.begin_frame(Timestamp(now))
        assert len(due) == plan.step_count + plan.dropped
        assert due_times(plan, Timestamp(now)) == due[: plan.step_count]
        seen += plan.step_count
    assert seen or now - 500 < 12


@pytest.mark.parametrize("timestep", [Timestep(16_666_667), Rate(60), Rate(60_000, 1_001)])
def test_a_timestep_knows_when_a_loop_has_planned_so_many_steps(
    core: Core, timestep: Timestep | Rate
) -> None:
    for steps in (1, 2, 3, 59, 60, 1_001, 10**6):
        due = 700 + timestep.due_after(steps)
        for now, planned in ((due - 1, steps - 1), (due, steps)):
            loop = core.FrameLoop(timestep, StepBudget(U32_MAX), Timestamp(700))
            assert loop.begin_frame(Timestamp(now)).step_count == planned
        assert due_times(loop.begin_frame(Timestamp(due)), Timestamp(due)) == []
    assert timestep.due_after(0) == 0


def test_the_steps_of_a_frame_fell_due_where_their_numbers_say(core: Core) -> None:
    rate, now = Rate(60), Timestamp(700 + 10**9)
    plan = core.FrameLoop(rate, StepBudget(99), Timestamp(700)).begin_frame(now)
    assert due_times(plan, now) == [700 + rate.due_after(tick + 1) for tick in range(60)]


def delays(core: Core, stall_ms: int, resync: bool, by_due_time: bool) -> list[int]:
    """A game at 60 frames a second that stalls once, and is clicked every 100 ms after that: how
    long each click waits for its tick, in nanoseconds, on the clock."""
    loop, clicks, waited = core.FrameLoop(Rate(60), start=Timestamp(0)), [], []
    for number in range(1, 200):
        now = number * 16_666_667 + (stall_ms * MS if number > 50 else 0)
        if number == 51 and resync:
            loop.resync(Timestamp(now))
        if number > 60 and number % 6 == 0:
            clicks.append(now - 5 * MS)
        plan = loop.begin_frame(Timestamp(now))
        for step, due in zip(plan.steps(), due_times(plan, Timestamp(now)), strict=True):
            taken = due if by_due_time else step.sim_time + step.dt
            while clicks and clicks[0] <= taken:
                waited.append(now - clicks.pop(0))
    return waited


@pytest.mark.parametrize("resync", [False, True])
@pytest.mark.parametrize("stall_ms", [0, 2_000, 10_000])
def test_a_click_after_a_stall_waits_for_one_step_and_no_longer(
    core: Core, stall_ms: int, resync: bool
) -> None:
    waited = delays(core, stall_ms, resync, by_due_time=True)
    assert len(waited) == 23
    assert max(waited) <= 2 * 16_666_667 + 5 * MS


def test_the_time_of_the_simulation_would_keep_a_click_waiting_for_the_stall(core: Core) -> None:
    assert len(delays(core, 0, resync=False, by_due_time=False)) == 23
    assert len(delays(core, 2_000, resync=False, by_due_time=False)) < 15
    assert delays(core, 10_000, resync=False, by_due_time=False) == []


def test_a_step_that_was_due_before_the_clock_began_was_due_at_0(core: Core) -> None:
    plan = core.FramePlan(0, 3, 0, 4, Timestep(10))
    assert due_times(plan, Timestamp(17)) == [0, 3, 13]


def test_a_time_out_of_range_is_refused() -> None:
    plan = reference.FramePlan(0, 3, 0, 4, Timestep(10))
    for bad, error in ((-1, OverflowError), (2**64, OverflowError), (1.5, TypeError)):
        with pytest.raises(error, match="now must be a whole number of nanoseconds"):
            due_times(plan, bad)  # type: ignore[arg-type]
    for timestep in (Timestep(10), Rate(60)):
        for bad, error in ((-1, OverflowError), (2**64, OverflowError), (1.5, TypeError)):
            with pytest.raises(error, match="steps must be a whole number"):
                timestep.due_after(bad)  # type: ignore[arg-type]
    assert Timestep(2**63).due_after(1) == 2**63
    assert Rate(1).due_after(U64_MAX // 10**9) < U64_MAX
    beyond: list[tuple[Timestep | Rate, int]] = [(Timestep(2**63), 2), (Rate(1), U64_MAX)]
    for timestep, steps in beyond:
        with pytest.raises(OverflowError, match="steps must be due within 18446744073709551615 n"):
            timestep.due_after(steps)


def test_only_a_plan_has_due_times() -> None:
    with pytest.raises(TypeError, match="plan must be a FramePlan"):
        due_times(None, Timestamp(5))  # type: ignore[arg-type]
