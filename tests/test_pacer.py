"""The frame pacer on a clock that is a number: what it waits for, skips and counts.

Nothing here reads the machine's clock or sleeps.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from fixedstep import FrameLoop, Nanos, Rate, Timestamp
from fixedstep.host import FramePacer, Waiter, now, sleep

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


@pytest.mark.parametrize(
    ("rate", "targets"),
    [
        (60, [16_666_667, 33_333_334, 50_000_000]),
        (85, [11_764_706, 23_529_412, 35_294_118]),
        (90, [11_111_112, 22_222_223, 33_333_334]),
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
    assert starts == [16_666_667, 33_333_334, 50_000_000]
    assert world.sleeps == 3


def test_h03_a_stall_is_one_late_frame_and_no_burst() -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    assert pacer.wait() == 16_666_667
    world.at += 250 * MS
    assert pacer.wait() == 266_666_667  # target 16, to the nanosecond
    report = pacer.report()
    assert (report.scheduled, report.on_time, report.late, report.skipped) == (16, 1, 1, 14)
    assert report.largest_lateness == 266_666_667 - 33_333_334
    assert pacer.next_target == 283_333_334
    assert pacer.wait() == 283_333_334


@pytest.mark.parametrize(("before", "skipped"), [(1, 13), (0, 14)])
def test_h03_one_nanosecond_decides_about_a_target(before: int, skipped: int) -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    pacer.wait()
    world.at = 266_666_667 - before
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
    assert report.scheduled == (world.at - 7) * hertz // SECOND
    gaps = [after - before for before, after in pairwise(starts)]
    assert min(gaps) >= work
    grid = {7 - k * SECOND // -hertz for k in range(60 * hertz + hertz)}
    if work < SECOND // hertz:
        assert report.late <= 80 * MS // (SECOND // hertz - work) + 1
        assert sum(start not in grid for start in starts) == report.late
    else:
        assert report.late == frames - report.on_time > frames // 2


@pytest.mark.parametrize("hertz", [60, 75, 144, 240])
def test_sleeps_on_a_coarse_grid_do_not_add_up(hertz: int) -> None:
    world = World(wake=on_grid(15_625_000))
    pacer = world.pacer(Rate(hertz))  # it only sleeps
    for _ in range(1_000):
        world.at += 200_000
        pacer.wait()
    report = pacer.report()
    assert report.largest_lateness > 0
    assert report.largest_lateness <= 15_625_000 + 200_000
    assert report.scheduled == (world.at - 200_000) * hertz // SECOND
    assert (report.skipped > 0) == (hertz > 64)


def test_an_early_wake_is_slept_on_again() -> None:
    world = World(wake=lambda at, span: at + max(span // 2, 1))
    pacer = world.pacer(Rate(60))
    pacer.wait()
    assert [pacer.wait(), pacer.wait()] == [16_666_667, 33_333_334]
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


def test_a_clock_that_goes_back_starts_a_new_grid() -> None:
    world = World(at=3_600 * SECOND)
    pacer = world.pacer(Rate(60))
    pacer.wait()
    pacer.wait()
    world.at = 5
    assert pacer.wait() == 5
    assert pacer.wait() == 5 + 16_666_667
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
    assert pacer.wait() == anchor + 16_666_667
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
    assert pacer.time_left() == 0  # there is no grid yet
    pacer.wait()
    assert pacer.time_left() == 16_666_667
    world.at += 16_666_667
    assert pacer.time_left() == 0
    world.at += 1_000
    assert pacer.time_left() == 0
    pacer.wait()
    world.at += 17 * MS  # and this one is late, for the control
    assert pacer.time_left() == 0
    pacer.wait()
    report = pacer.report()
    assert (report.on_time, report.late, world.sleeps) == (1, 1, 0)


def test_what_is_left_is_nothing_without_a_rate_or_after_a_clock_that_went_back() -> None:
    world = World(at=9 * SECOND)
    assert world.pacer(None).time_left() == 0
    pacer = world.pacer(Rate(60))
    pacer.wait()
    world.at = 5
    assert pacer.time_left() == 0
    assert pacer.wait() == 5
    assert pacer.report().resets == 1


def test_a_frame_that_asked_in_time_before_a_reset_says_nothing_of_the_next() -> None:
    world = World()
    pacer = world.pacer(Rate(60))
    pacer.wait()
    assert pacer.time_left() > 0
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


def test_a_reset_in_the_middle_of_a_sleep_starts_a_new_grid_with_the_next_wait() -> None:
    """A sleep that waits for events may deliver one that hides the window."""
    world = World(at=5_000)

    def sleep(span: Nanos) -> None:
        world.sleep(span)
        if world.sleeps == 2:
            pacer.reset()
        if world.sleeps == 3:
            pacer.set_rate(Rate(20))

    pacer = FramePacer(Rate(10), clock=world.clock, sleep=sleep)
    found = []
    for _ in range(7):
        found.append(pacer.wait() - 5_000)
        world.at += 7
    period = 10**8
    assert found == [
        *(0, period, 2 * period),  # reset in the second sleep
        2 * period + 7,
        3 * period + 7,  # another rate in the third
        3 * period + 14,
        3 * period + 14 + period // 2,
    ]
    report = pacer.report()
    assert (report.resets, report.on_time, report.late, report.skipped) == (2, 4, 0, 0)


def test_the_longest_lateness_that_is_made_up_is_exact() -> None:
    for late, skipped in ((10, 0), (11, 1)):
        world = World()
        pacer = world.pacer(Rate(10**8), max_lateness=10)
        pacer.wait()
        world.at = 10 + late
        pacer.wait()
        assert pacer.report().skipped == skipped


class Windows:
    """A Windows machine: its timer fires every 15.625 ms. A reading takes 10 microseconds.

    ``monotonic_ns`` shows the last time the timer fired, as Python does before 3.13. Sleeps end
    half a millisecond late, as from Python 3.11 on, or in Python 3.10 (``coarse``) when the timer
    fires next.
    """

    TIMER = 15_625_000

    def __init__(self, coarse: bool) -> None:
        self.at = 77 * SECOND + 123
        self.coarse = coarse

    def perf_counter_ns(self) -> int:
        self.at += 10_000
        return self.at

    def monotonic_ns(self) -> int:
        return self.perf_counter_ns() // self.TIMER * self.TIMER

    def sleep(self, seconds: float) -> None:
        span = round(seconds * 10**9)
        if self.coarse:
            milliseconds = -(-span // MS)
            self.at = -(-(self.at + milliseconds * MS) // self.TIMER) * self.TIMER
        else:
            self.at += span + 500_000

    def frames(self, pacer: FramePacer, count: int) -> list[int]:
        """When each of so many frames with 3 ms of work started, in true time."""
        starts = []
        for _ in range(count):
            pacer.wait()
            starts.append(self.at)
            self.at += 3 * MS
        return starts


def p99_off(starts: list[int], rate: int) -> int:
    """The 99th percentile of how far the gaps are from the period, in nanoseconds."""
    off = sorted(abs(after - before - SECOND // rate) for before, after in pairwise(starts))
    return off[len(off) * 99 // 100]


@pytest.mark.parametrize("coarse", [False, True], ids=["sleeps-0.5-ms-late", "sleeps-on-timer"])
@pytest.mark.parametrize("rate", [60, 100, 144])
def test_windows_gets_the_frame_rate_that_was_asked_for(
    rate: int, coarse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Windows(coarse)
    for name in ("monotonic_ns", "perf_counter_ns", "sleep"):
        monkeypatch.setattr(f"time.{name}", getattr(machine, name))
    pacer = FramePacer(Rate(rate))
    starts = machine.frames(pacer, 20 * rate + 1)
    assert abs(starts[-1] - starts[0] - 20 * SECOND) <= SECOND // 10
    assert p99_off(starts, rate) <= MS
    assert pacer.report().skipped <= rate // 10


@pytest.mark.parametrize("coarse", [False, True])
def test_the_coarse_clock_of_windows_cannot_do_it(coarse: bool) -> None:
    """The emulation has what made 144 frames a second 64: without it nothing was shown above."""
    machine = Windows(coarse)
    pacer = FramePacer(
        Rate(144),
        spin=Nanos(0),
        clock=lambda: Timestamp(machine.monotonic_ns()),
        sleep=lambda nanos: machine.sleep(nanos / 10**9),
    )
    starts = machine.frames(pacer, 1_000)
    assert 60 <= 999 * SECOND // (starts[-1] - starts[0]) <= 65
    assert p99_off(starts, 144) > 8 * MS


def test_the_spin_is_measured_bounded_and_forgotten() -> None:
    world = World(wake=lambda at, span: at + span + late)
    world.per_read = 10_000
    waiter = Waiter(clock=world.clock, sleep=world.sleep)

    def wait(times: int, span: int) -> None:
        for _ in range(times):
            waiter.wait_until(Timestamp(world.at + span))

    late = 300_000
    wait(1, 5 * MS)
    assert waiter.spin == 0  # one sleep may have been an accident
    wait(1, 5 * MS)
    assert 600_000 <= waiter.spin <= 650_000
    late = 900 * MS
    wait(1, 5 * MS)
    assert waiter.spin <= 650_000
    wait(1, 5 * MS)
    assert waiter.spin == 20 * MS
    late, slept = 300_000, world.sleeps
    wait(1_023, 5 * MS)
    assert world.sleeps == slept  # too little time is left to sleep
    wait(3, 5 * MS)
    assert world.sleeps == slept + 2
    assert 600_000 <= waiter.spin <= 650_000
    for _ in range(2):
        late = 900 * MS
        wait(2, 50 * MS)
        assert waiter.spin == 20 * MS
        late = 300_000
        wait(16, 50 * MS)  # sleeps that are long enough are measured again at once
        assert 600_000 <= waiter.spin <= 650_000


def test_a_spin_that_is_given_stays() -> None:
    world = World(wake=lambda at, span: at + span + MS)
    waiter = Waiter(spin=Nanos(0), clock=world.clock, sleep=world.sleep)
    for _ in range(20):
        waiter.wait_until(Timestamp(world.at + MS))
    assert (waiter.spin, world.sleeps) == (0, 20)
    with pytest.raises(TypeError, match="spin must be a whole number of nanoseconds"):
        Waiter(spin=0.5)  # type: ignore[arg-type]


def test_a_caller_that_sleeps_by_itself_is_told_how_long() -> None:
    waiter = Waiter()
    for _ in range(2):
        assert waiter.sleep_span(Nanos(5 * MS)) > 4 * MS - 900_000
        waiter.note_sleep(Nanos(5 * MS), Nanos(5 * MS + 100_000))
    assert waiter.sleep_span(Nanos(5 * MS)) == 5 * MS - 200_000
    assert waiter.sleep_span(Nanos(100_000)) == 0


@pytest.mark.parametrize("hertz", [30, 50, 60, 64, 75, 90, 120, 144, 240])
def test_a_loop_of_the_same_rate_runs_one_step_a_frame(hertz: int) -> None:
    """Also after a resync and the reset that belongs to it. Targets rounded down were a nanosecond
    short of the tick: frames ran 0, 1 and 2 steps."""
    world = World(at=987_654_321)
    pacer = world.pacer(Rate(hertz))
    loop = FrameLoop(Rate(hertz), start=pacer.wait())
    counts = []
    for frame in range(1, 600):
        world.at += MS
        if frame == 100:
            world.at += 1_234_567_890  # a level was loaded
            pacer.reset()
            loop.resync(pacer.wait())
        counts.append(loop.begin_frame(pacer.wait()).step_count)
    assert counts == [1] * 599


def test_the_default_clock_ticks_in_microseconds_or_better() -> None:
    readings = {now() for _ in range(100_000)}
    assert len(readings) > 100
    before = now()
    sleep(Nanos(1_000_000))
    assert now() - before >= 900_000


def test_a_deadline_that_is_no_timestamp_is_refused() -> None:
    with pytest.raises(
        TypeError, match="deadline must be a whole number of nanoseconds, not float"
    ):
        Waiter().wait_until(5.0)  # type: ignore[arg-type]
