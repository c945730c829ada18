"""The frame pacer on a clock that is a number: what it waits for, skips and counts.

Nothing here reads the machine's clock or sleeps.
"""

from __future__ import annotations

import doctest
import importlib
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from fixedstep import Nanos, Rate, Timestamp
from fixedstep.host import monotonic
from fixedstep.host.pacer import FramePacer

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND = 10**9
MS = 10**6


class World:
    """A clock that moves when somebody sleeps, works or, by ``per_read``, looks at it."""

    def __init__(self, at: int = 0, wake: Callable[[int, int], int] | None = None) -> None:
        self.at = at
        self.per_read = 0
        self.sleeps = 0
        self.reads = 0
        self._wake = wake or (lambda at, span: at + span)

    def clock(self) -> Timestamp:
        self.reads += 1
        self.at += self.per_read
        return Timestamp(self.at)

    def sleep(self, span: Nanos) -> None:
        assert span > 0
        self.sleeps += 1
        self.at = self._wake(self.at, span)

    def pacer(self, rate: Rate | None, max_lateness: int = 0, spin: int = 0) -> FramePacer:
        return FramePacer(
            rate,
            max_lateness=Nanos(max_lateness),
            spin=Nanos(spin),
            clock=self.clock,
            sleep=self.sleep,
        )


def on_grid(wake: int) -> Callable[[int, int], int]:
    """Sleeps that end only where a timer of ``wake`` nanoseconds fires."""
    return lambda at, span: -(-(at + span) // wake) * wake


@pytest.mark.parametrize("module", ["pacer", "monotonic"])
def test_the_examples_are_true(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"fixedstep.host.{module}"))
    assert results.attempted >= 3
    assert results.failed == 0


@pytest.mark.parametrize(
    ("rate", "targets"),
    [
        (60, [16_666_666, 33_333_333, 50_000_000]),
        (85, [11_764_705, 23_529_411, 35_294_117]),
        (90, [11_111_111, 22_222_222, 33_333_333]),
    ],
)
def test_f02_targets_are_not_whole_milliseconds(rate: int, targets: list[int]) -> None:
    pacer = World().pacer(Rate(rate))
    assert pacer.wait() == 0
    assert [pacer.wait() for _ in range(3)] == targets
    for _ in range(rate - 4):
        pacer.wait()
    assert pacer.wait() == SECOND


def test_h02_work_does_not_lower_the_rate() -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    starts = []
    for _ in range(3):
        world.at += 12 * MS
        starts.append(pacer.wait())
    assert starts == [16_666_666, 33_333_333, 50_000_000]
    assert world.sleeps == 3


def test_h03_a_stall_is_one_late_frame_and_no_burst() -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    assert pacer.wait() == 16_666_666
    world.at += 250 * MS
    assert world.at * 60 // SECOND == 15  # the trap: target 16 is not after now
    assert pacer.wait() == 266_666_666
    report = pacer.report()
    assert (report.scheduled, report.on_time, report.late, report.skipped) == (16, 1, 1, 14)
    assert report.largest_lateness == 266_666_666 - 33_333_333
    assert pacer.next_target == 283_333_333
    assert pacer.wait() == 283_333_333


@pytest.mark.parametrize(("before", "skipped"), [(1, 13), (0, 14)])
def test_h03_one_nanosecond_decides_about_a_target(before: int, skipped: int) -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    pacer.wait()
    world.at = 266_666_666 - before
    pacer.wait()
    assert pacer.report().skipped == skipped


def test_h04_ninety_hertz_keeps_its_fraction_for_an_hour() -> None:
    world = World()
    pacer = world.pacer(Rate(90))
    pacer.wait()
    for _ in range(324_000):
        last = pacer.wait()
    assert last == 3_600 * SECOND
    assert pacer.report().on_time == 324_000


@pytest.mark.parametrize("work", [200_000, 8 * MS, 12 * MS])
@pytest.mark.parametrize("hertz", [60, 75, 90, 120, 144, 240])
def test_a_minute_with_a_stall_ends_on_the_grid(hertz: int, work: int) -> None:
    """Every target is over exactly once, whatever the work and the stall."""
    world = World(at=7)
    pacer = world.pacer(Rate(hertz))
    frames = 0
    pacer.wait()
    starts = []
    while world.at < 60 * SECOND:
        world.at += work + (80 * MS if frames == 100 else 0)
        starts.append(pacer.wait())
        frames += 1
    report = pacer.report()
    assert report.late > 0  # the stall was one
    assert report.skipped > 0
    assert report.on_time + report.late == frames == len(starts)
    assert report.scheduled == ((world.at - 7 + 1) * hertz - 1) // SECOND
    gaps = [after - before for before, after in pairwise(starts)]
    assert min(gaps) >= work
    grid = {7 + k * SECOND // hertz for k in range(60 * hertz + hertz)}
    if work < SECOND // hertz:
        assert report.late <= 80 * MS // (SECOND // hertz - work) + 1
        assert sum(start not in grid for start in starts) == report.late
    else:
        assert report.late == frames - report.on_time > frames // 2


@pytest.mark.parametrize("hertz", [60, 75, 144, 240])
def test_sleeps_on_a_coarse_grid_do_not_add_up(hertz: int) -> None:
    world = World(wake=on_grid(15_625_000))
    pacer = world.pacer(Rate(hertz))
    for _ in range(1_000):
        world.at += 200_000
        pacer.wait()
    report = pacer.report()
    assert report.largest_lateness > 0
    assert report.largest_lateness <= 15_625_000 + 200_000
    assert report.scheduled == ((world.at - 200_000 + 1) * hertz - 1) // SECOND
    assert (report.skipped > 0) == (hertz > 64)


def test_an_early_wake_is_slept_on_again() -> None:
    world = World(wake=lambda at, span: at + max(span // 2, 1))
    pacer = world.pacer(Rate(60))
    pacer.wait()
    assert [pacer.wait(), pacer.wait()] == [16_666_666, 33_333_333]
    assert world.sleeps > 10
    assert pacer.report().largest_lateness == 0


def test_the_spin_is_the_end_of_the_wait_and_no_more() -> None:
    world = World()
    world.per_read = 100_000
    pacer = world.pacer(Rate(60), spin=1 * MS)
    pacer.wait()
    world.reads = 0
    pacer.wait()
    assert world.sleeps == 1
    assert 10 <= world.reads <= 12


@pytest.mark.parametrize("spin", [0, 50 * MS])
def test_a_clock_that_stands_still_is_an_error(spin: int) -> None:
    world = World(wake=lambda at, span: at)
    pacer = world.pacer(Rate(60), spin=spin)
    pacer.wait()
    with pytest.raises(RuntimeError, match="stands still at 0 ns, 16666666 ns before"):
        pacer.wait()
    assert world.sleeps <= 1_000
    assert pacer.report().scheduled == 0
    world.at = 16_666_666
    assert pacer.wait() == 16_666_666  # the target was still to come


def test_a_coarse_clock_is_not_a_still_one() -> None:
    """Up to 900 sleeps without a move are waited through."""
    calls = iter(range(10_000))
    world = World(wake=lambda at, span: at + 15_625_000 if next(calls) % 900 == 899 else at)
    pacer = world.pacer(Rate(1_000))
    pacer.wait()
    assert pacer.wait() == 15_625_000


def test_a_clock_that_goes_back_starts_a_new_grid() -> None:
    world = World(at=3_600 * SECOND)
    pacer = world.pacer(Rate(60))
    pacer.wait()
    pacer.wait()
    world.at = 5
    assert pacer.wait() == 5
    assert pacer.wait() == 5 + 16_666_666
    assert (pacer.report().resets, pacer.report().scheduled) == (1, 2)


def test_lateness_within_the_bound_is_made_up_and_beyond_it_is_not() -> None:
    for stall, skipped in ((40 * MS, 0), (200 * MS, 11)):
        world = World()
        pacer = world.pacer(Rate(60), max_lateness=50 * MS)
        pacer.wait()
        world.at += stall
        pacer.wait()
        assert pacer.report().skipped == skipped


def test_a_reset_keeps_the_count_and_skips_nothing() -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    pacer.wait()
    world.at += 10 * SECOND
    pacer.reset()
    anchor = world.at
    assert pacer.wait() == anchor
    assert pacer.wait() == anchor + 16_666_666
    report = pacer.report()
    assert (report.scheduled, report.skipped, report.resets) == (2, 0, 1)


def test_idle_and_hidden_rates_start_their_own_grid() -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    pacer.wait()
    pacer.set_rate(Rate(4))
    start = pacer.wait()
    assert pacer.wait() == start + 250 * MS
    pacer.set_rate(Rate(4))
    assert pacer.next_target == start + 500 * MS  # the same rate is no change
    assert pacer.report().resets == 1


def test_without_a_rate_the_display_paces() -> None:
    world = World(at=9)
    pacer = world.pacer(None)
    assert [pacer.wait() for _ in range(3)] == [9, 9, 9]
    assert (world.sleeps, pacer.report().scheduled, pacer.next_target) == (0, 0, None)


def test_a_rate_that_is_none_is_named() -> None:
    with pytest.raises(TypeError, match=r"rate must be a Rate .* not int 60; Rate\(60\)"):
        FramePacer(60)  # type: ignore[arg-type]
    pacer = World().pacer(Rate(60))
    with pytest.raises(TypeError, match="frames a second"):
        pacer.set_rate(30)  # type: ignore[arg-type]
    assert pacer.rate == Rate(60)


def test_what_is_left_is_for_a_caller_that_waits_by_itself() -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    assert pacer.left() == 0  # there is no grid yet
    pacer.wait()
    assert pacer.left() == 16_666_666
    world.at += 16_666_666
    assert pacer.left() == 0
    world.at += 1_000
    assert pacer.left() == 0
    pacer.wait()
    world.at += 17 * MS  # and this one is late, for the control
    assert pacer.left() == 0
    pacer.wait()
    report = pacer.report()
    assert (report.on_time, report.late, world.sleeps) == (1, 1, 0)


def test_what_is_left_is_nothing_without_a_rate_or_after_a_clock_that_went_back() -> None:
    world = World(at=9 * SECOND)
    assert world.pacer(None).left() == 0
    pacer = world.pacer(Rate(60))
    pacer.wait()
    world.at = 5
    assert pacer.left() == 0
    assert pacer.wait() == 5
    assert pacer.report().resets == 1


def test_a_frame_that_asked_in_time_before_a_reset_says_nothing_of_the_next() -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    assert pacer.left() > 0
    pacer.reset()
    pacer.wait()
    world.at += 20 * MS
    pacer.wait()
    assert pacer.report().late == 1


def test_a_report_is_a_snapshot() -> None:
    pacer = World().pacer(Rate(60))
    pacer.wait()
    before = pacer.report()
    pacer.wait()
    assert (before.lateness.count, pacer.report().lateness.count) == (0, 1)


def test_a_reset_in_the_middle_of_a_sleep_makes_its_end_the_origin() -> None:
    """A sleep that waits for events may deliver one that hides the window. It used to be a
    TypeError, or a frame later that was not paced."""
    world = World(at=5_000)
    pacer = world.pacer(Rate(10))
    pacer.wait()
    before = world.sleep

    def sleep(span: Nanos) -> None:
        before(span)
        if world.sleeps == 2:
            pacer.reset()
        if world.sleeps == 3:
            pacer.set_rate(Rate(20))

    world.sleep = sleep  # type: ignore[method-assign]
    pacer = FramePacer(Rate(10), clock=world.clock, sleep=lambda span: world.sleep(span))
    found = [pacer.wait() - 5_000 for _ in range(6)]
    assert found == [0, 10**8, 2 * 10**8, 3 * 10**8, 35 * 10**7, 4 * 10**8]
    report = pacer.report()
    assert (report.resets, report.on_time, report.late, report.skipped) == (2, 3, 0, 0)


def test_a_wait_within_a_wait_takes_the_target_and_the_outer_one_counts_none() -> None:
    world = World(at=5_000)
    nested: list[int] = []

    def sleep(span: Nanos) -> None:
        world.at += span
        if not nested:
            nested.append(0)
            nested.append(pacer.wait())

    pacer = FramePacer(Rate(10), clock=world.clock, sleep=sleep)
    pacer.wait()
    assert pacer.wait() == nested[1] == 10**8 + 5_000
    assert pacer.report().on_time == 1
    assert pacer.wait() == 2 * 10**8 + 5_000


def test_the_longest_lateness_that_is_made_up_is_exact() -> None:
    for late, skipped in ((10, 0), (11, 1)):
        world = World()
        pacer = world.pacer(Rate(10**8), max_lateness=10)
        pacer.wait()
        world.at = 10 + late
        pacer.wait()
        assert pacer.report().skipped == skipped


def test_a_deadline_that_is_no_timestamp_is_refused() -> None:
    with pytest.raises(
        TypeError, match="deadline must be a whole number of nanoseconds, not float"
    ):
        monotonic.wait_until(5.0)  # type: ignore[arg-type]
