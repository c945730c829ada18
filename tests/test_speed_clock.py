"""The speed clock: exact at every speed, equal for every frame rate, and three clocks at once.

The oracle is one sum of Fractions over stretches of wall time, which knows nothing of frames: so
much wall time at such a speed makes exactly so much simulated time. The clock has to arrive there
frame by frame, whatever the frames were.

The first part plays one script on several imagined machines and holds it to numbers that were
worked out by hand; the second is reported faults; the third is what must hold for any script.
"""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, Nanos, Rate, StepBudget, Timestamp, Timestep, backend
from fixedstep.sim import FrameClock, SpeedClock, progress, progress_exact
from fixedstep.testing import FrameProfile, frame_profile, frame_traces, hostile_timestamps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.conftest import Core

    from fixedstep import FramePlan

MS = 1_000_000
SECOND = 10**9
MINUTE = 60 * SECOND
HZ_60 = 16_666_667
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1

Policy = Literal["up", "down", "nearest"]


def game_clock(**arguments: Any) -> SpeedClock:
    """A minute of simulated time for a second of wall time, at 1x, 5x and 20x."""
    return SpeedClock(quantum=MINUTE, base_rate=60, **arguments)


def outcome(plan: FramePlan) -> tuple[int, int, int, int]:
    """(due, steps, dropped, remainder)."""
    return plan.step_count + plan.dropped, plan.step_count, plan.dropped, plan.remainder


def advance(clock: SpeedClock, *nows: int) -> list[tuple[int, int, int, int]]:
    return [outcome(clock.advance(Timestamp(now))) for now in nows]


def at_speed(clock: SpeedClock, speed: int | Fraction) -> None:
    """Run at a speed of the table from here on; 0 pauses."""
    clock.set_speed(speed)
    if speed:
        clock.resume()


# The script of a session: speeds 1x, 1x, 5x, pause, 20x


class Phase(NamedTuple):
    """A stretch of the script, and the state in which every machine must leave it."""

    speed: int
    milliseconds: int
    minutes: int
    remainder: int
    wall_ms: int


PHASES = [
    Phase(1, 500, 0, 30 * SECOND, 500),
    Phase(1, 500, 1, 0, 1_000),
    Phase(5, 53_900, 270, 30 * SECOND, 54_900),
    Phase(0, 1_000, 270, 30 * SECOND, 55_900),
    Phase(20, 40_575, 1_082, 0, 96_475),
]
WHOLE_PHASES = FrameProfile("a frame a phase", [100 * SECOND])
FRAMES = {
    (16, 17): [31, 31, 3_267, 61, 2_460],
    (33, 34): [15, 15, 1_609, 30, 1_212],
    (40, 41): [13, 13, 1_331, 25, 1_002],
    (41, 42): [13, 13, 1_299, 25, 978],
    (6, 7, 7): [75, 75, 8_085, 150, 6_087],
    (1,): [500, 500, 53_900, 1_000, 40_575],
}
TOTALS = {
    (16, 17): 5_850,
    (33, 34): 2_881,
    (40, 41): 2_384,
    (41, 42): 2_328,
    (6, 7, 7): 14_472,
    (1,): 96_475,
}


def machine(pattern: Sequence[int]) -> FrameProfile:
    return frame_profile([milliseconds * MS for milliseconds in pattern])


def play(clock: SpeedClock, profile: FrameProfile) -> Iterator[list[FramePlan]]:
    """Play the script; yields the plans of each phase at its end."""
    for phase in PHASES:
        at_speed(clock, phase.speed)
        frames = profile.timestamps(Nanos(phase.milliseconds * MS), clock.last)
        yield [clock.advance(now) for now in frames]


@pytest.mark.parametrize("pattern", FRAMES)
def test_every_machine_leaves_each_phase_at_the_same_minute_and_remainder(
    pattern: tuple[int, ...],
) -> None:
    clock = game_clock()
    counted = []
    for phase, plans in zip(PHASES, play(clock, machine(pattern)), strict=True):
        counted.append(len(plans))
        assert clock.tick == phase.minutes
        assert clock.remainder_exact == plans[-1].remainder == phase.remainder
        assert clock.simulation == phase.minutes * MINUTE
        assert clock.presentation == phase.minutes * MINUTE + phase.remainder
        assert clock.wall == phase.wall_ms * MS
        assert sum(plan.dropped for plan in plans) == 0
        if phase.speed == 0:
            assert {plan.step_count for plan in plans} == {0}
    assert counted == FRAMES[pattern]
    assert sum(counted) == TOTALS[pattern]


def test_five_frames_for_the_whole_session_give_the_same_minutes() -> None:
    clock = game_clock()
    plans = list(play(clock, WHOLE_PHASES))
    assert [len(p) for p in plans] == [1] * 5
    assert [p[0].step_count for p in plans] == [0, 1, 269, 0, 812]
    other = game_clock()
    assert sum(len(plans) for plans in play(other, machine((16, 17)))) == 5_850
    assert clock == other


@pytest.mark.parametrize("pattern", [(16, 17), (33, 34), (40, 41)])
def test_on_a_usual_machine_no_frame_brings_more_than_a_minute(pattern: tuple[int, ...]) -> None:
    clock = game_clock()
    counts = {plan.step_count for plans in play(clock, machine(pattern)) for plan in plans}
    assert counts == {0, 1}


def test_the_session_needs_its_pause_and_its_remainder() -> None:
    """The control: a session without the pause, or one that forgets half a minute, ends apart."""
    clock = game_clock()
    for phase in PHASES:
        clock.set_speed(phase.speed or 20)
        clock.advance(Timestamp(clock.last + phase.milliseconds * MS))
    assert clock.tick == 1_102

    clock = game_clock()
    for phase in PHASES:
        at_speed(clock, phase.speed)
        clock.advance(Timestamp(clock.last + phase.milliseconds * MS))
        if phase is PHASES[2]:
            forgetful = clock._arguments() | {"remainder": 0}
            clock = SpeedClock(**forgetful)
    assert clock.tick == 1_081
    assert clock.remainder_exact == 30 * SECOND


class Milestone(NamedTuple):
    """The first frame that shows the army so far on its way."""

    share: Fraction
    frame: int
    wall_ms: int
    minute: int
    remainder_ms: int


DEPARTED, ARRIVES = 1, 1_081
MILESTONES: dict[tuple[int, ...], list[Milestone]] = {
    (16, 17): [
        Milestone(Fraction(1, 4), 3_392, 55_933, 271, 9_600),
        Milestone(Fraction(1, 2), 4_210, 69_430, 541, 6_000),
        Milestone(Fraction(3, 4), 5_028, 82_927, 811, 2_400),
        Milestone(Fraction(1), 5_847, 96_440, 1_081, 18_000),
    ],
    (33, 34): [
        Milestone(Fraction(1, 4), 1_670, 55_933, 271, 9_600),
        Milestone(Fraction(1, 2), 2_073, 69_434, 541, 10_800),
        Milestone(Fraction(3, 4), 2_476, 82_934, 811, 10_800),
        Milestone(Fraction(1), 2_879, 96_435, 1_081, 12_000),
    ],
    (40, 41): [
        Milestone(Fraction(1, 4), 1_383, 55_940, 271, 18_000),
        Milestone(Fraction(1, 2), 1_716, 69_427, 541, 2_400),
        Milestone(Fraction(3, 4), 2_050, 82_954, 811, 34_800),
        Milestone(Fraction(1), 2_383, 96_440, 1_081, 18_000),
    ],
}


@pytest.mark.parametrize("pattern", MILESTONES)
def test_the_army_passes_its_milestones_in_the_frames_that_are_due(
    pattern: tuple[int, ...],
) -> None:
    clock, frame = game_clock(), 0
    found: list[Milestone] = []
    for phase in PHASES:
        at_speed(clock, phase.speed)
        for now in machine(pattern).timestamps(Nanos(phase.milliseconds * MS), clock.last):
            clock.advance(now)
            frame += 1
            shown = progress_exact(clock.presentation_exact, DEPARTED * MINUTE, ARRIVES * MINUTE)
            if len(found) < 4 and shown >= Fraction(len(found) + 1, 4):
                found.append(
                    Milestone(
                        Fraction(len(found) + 1, 4),
                        frame,
                        clock.wall // MS,
                        clock.tick,
                        int(clock.remainder_exact) // MS,
                    )
                )
    assert found == MILESTONES[pattern]


@pytest.mark.parametrize("pattern", FRAMES)
def test_the_picture_stands_still_through_the_pause_and_the_frames_go_on(
    pattern: tuple[int, ...],
) -> None:
    """A pause in the middle of a minute, or it would show nothing of the remainder."""
    clock = game_clock()
    phases = play(clock, machine(pattern))
    for _ in range(3):
        next(phases)
    before, wall = clock.presentation_exact, clock.wall
    assert before % MINUTE == 30 * SECOND != 0
    shown = progress(before, DEPARTED * MINUTE, ARRIVES * MINUTE)
    assert shown == 269.5 / 1_080 == pytest.approx(0.24953703, abs=1e-8)

    paused = next(phases)
    assert len(paused) == FRAMES[pattern][3] > 0
    assert {plan.alpha() for plan in paused} == {0.5}
    assert clock.presentation_exact == before
    assert clock.wall == wall + SECOND


@pytest.mark.parametrize("pattern", FRAMES)
def test_a_click_after_half_a_minute_is_due_at_the_next_on_every_machine(
    pattern: tuple[int, ...],
) -> None:
    clock = game_clock()
    phases = play(clock, machine(pattern))
    next(phases)
    assert clock.quantize() == clock.quantize("up") == clock.quantize("nearest") == MINUTE
    assert clock.quantize("down") == 0
    next(phases)
    assert clock.remainder_exact == 0
    assert clock.quantize("up") == clock.quantize("down") == clock.quantize("nearest") == MINUTE


def test_advancing_by_nothing_right_after_a_click_brings_no_minute() -> None:
    clock = game_clock()
    clock.advance(Timestamp(1_500 * MS))
    before = copy.copy(clock)
    assert advance(clock, 1_500 * MS) == [(0, 0, 0, 30 * SECOND)]
    assert clock == before


# Due times of input


@pytest.mark.parametrize(
    ("milliseconds", "up", "down", "nearest"),
    [
        (0, 0, 0, 0),
        (1, 1, 0, 0),
        (499, 1, 0, 0),
        (500, 1, 0, 1),
        (501, 1, 0, 1),
        (999, 1, 0, 1),
        (1_000, 1, 1, 1),
        (1_001, 2, 1, 1),
    ],
)
def test_a_due_time_is_rounded_as_the_policy_says(
    milliseconds: int, up: int, down: int, nearest: int
) -> None:
    clock = game_clock()
    clock.advance(Timestamp(milliseconds * MS))
    assert clock.quantize() == clock.quantize("up") == up * MINUTE
    assert clock.quantize("down") == down * MINUTE
    assert clock.quantize("nearest") == nearest * MINUTE


def test_a_remainder_below_a_nanosecond_still_rounds_up() -> None:
    """What is left is a third of a nanosecond: invisible in whole ones, and not nothing."""
    clock = SpeedClock(quantum=10, base_rate=1, speeds=(Fraction(1, 3),), speed=Fraction(1, 3))
    plan = clock.advance(Timestamp(1))
    assert (plan.remainder, clock.remainder_exact) == (0, Fraction(1, 3))
    assert (clock.quantize("up"), clock.quantize("down"), clock.presentation) == (10, 0, 0)


def test_half_of_an_odd_quantum_is_half_way() -> None:
    """Half of 3 ns is no whole number, and exactly half goes to the next one."""
    clock = SpeedClock(quantum=3, base_rate=Fraction(1, 2), speeds=(1,))
    clock.advance(Timestamp(2))
    assert clock.remainder_exact == 1
    assert clock.quantize("nearest") == 0
    clock.advance(Timestamp(3))
    assert clock.remainder_exact == Fraction(3, 2)
    assert clock.quantize("nearest") == 3


# Speeds


def test_a_third_of_the_speed_loses_nothing_in_a_million_frames() -> None:
    third = Fraction(1, 3)
    clock = SpeedClock(MS, base_rate=1, speeds=(0, third, 1), speed=third)
    frames = 10**6
    steps = 0
    for now in range(HZ_60, HZ_60 * frames + 1, HZ_60):
        steps += clock.advance(Timestamp(now)).step_count
    exactly = Fraction(HZ_60 * frames, 3)
    assert clock.presentation_exact == exactly
    assert steps == clock.tick == exactly // MS
    assert clock.remainder_exact == exactly % MS
    assert frames * (HZ_60 // 3) < exactly, "the fault: rounding each frame down to nanoseconds"


def test_speeds_of_different_fractions_share_a_unit() -> None:
    """A seventh after a third after a fifth: no common decimal, and no loss."""
    table = (0, Fraction(1, 3), Fraction(1, 5), Fraction(2, 7), 1)
    clock = SpeedClock(1_000, base_rate=Fraction(11, 13), speeds=table)
    exactly, now = Fraction(0), 0
    for i in range(1, 400):
        speed = table[i % 5]
        at_speed(clock, speed)
        now += 101 * i
        clock.advance(Timestamp(now))
        exactly += Fraction(11, 13) * speed * 101 * i
        assert clock.presentation_exact == exactly
    assert clock.remainder_exact.denominator > 1


def test_a_change_of_speed_keeps_the_remainder_to_the_last_fraction() -> None:
    clock = SpeedClock(1_000, base_rate=1, speeds=(Fraction(1, 3), 2), speed=Fraction(1, 3))
    clock.advance(Timestamp(100))
    assert clock.remainder_exact == Fraction(100, 3)
    for speed in (2, Fraction(1, 3), 2):
        clock.set_speed(speed)
        assert clock.remainder_exact == Fraction(100, 3)
        assert clock.speed == speed
    clock.advance(Timestamp(101))
    assert clock.presentation_exact == Fraction(106, 3)


def test_a_speed_counts_from_the_last_advance() -> None:
    clock = game_clock()
    clock.advance(Timestamp(SECOND))
    clock.set_speed(20)
    assert clock.advance(Timestamp(2 * SECOND)).step_count == 20
    clock.pause()
    assert clock.advance(Timestamp(3 * SECOND)).step_count == 0
    clock.resume()
    assert clock.advance(Timestamp(4 * SECOND)).step_count == 20


def test_zero_is_a_pause_and_the_speed_is_remembered() -> None:
    clock = game_clock()
    clock.set_speed(5)
    clock.set_speed(0)
    assert (clock.speed, clock.effective_speed, clock.paused) == (5, 0, True)
    clock.set_speed(20)
    assert (clock.speed, clock.effective_speed, clock.paused) == (20, 0, True)
    assert clock.advance(Timestamp(SECOND)).step_count == 0
    clock.resume()
    assert (clock.speed, clock.effective_speed, clock.paused) == (20, 20, False)
    assert clock.advance(Timestamp(2 * SECOND)).step_count == 20


def test_pausing_twice_is_pausing_once() -> None:
    clock = game_clock()
    clock.pause()
    clock.pause()
    clock.resume()
    assert not clock.paused
    clock.resume()
    assert clock.advance(Timestamp(SECOND)).step_count == 1


def test_a_clock_can_start_paused_and_later_than_zero() -> None:
    clock = game_clock(start=Timestamp(7 * SECOND), speed=5, paused=True)
    assert (clock.wall, clock.effective_speed, clock.speed) == (0, 0, 5)
    clock.advance(Timestamp(9 * SECOND))
    assert (clock.wall, clock.presentation) == (2 * SECOND, 0)
    clock.resume()
    clock.advance(Timestamp(10 * SECOND))
    assert (clock.wall, clock.simulation) == (3 * SECOND, 5 * MINUTE)


def test_a_saved_game_goes_on_where_it_was() -> None:
    clock = game_clock(tick=1_081, remainder=18 * SECOND, wall=Nanos(96_440 * MS), speed=20)
    assert clock.advance(Timestamp(35 * MS)).first_tick == 1_081
    assert (clock.tick, clock.wall) == (1_082, 96_475 * MS)
    assert clock.remainder_exact == 0


def test_speeds_come_back_as_they_were_given() -> None:
    clock = SpeedClock(10, Fraction(1, 2), (0, Fraction(4, 2), Fraction(1, 2)), speed=2)
    assert clock.speeds == (0, 2, Fraction(1, 2))
    assert [type(speed) for speed in clock.speeds] == [int, int, Fraction]
    assert (clock.quantum, clock.base_rate, clock.budget) == (10, Fraction(1, 2), None)
    assert f"{clock.speed:>3}x" == "  2x", "a whole speed formats as an integer"


# Plans


def test_the_steps_of_a_plan_are_quanta() -> None:
    clock = game_clock(speed=5)
    clock.advance(Timestamp(SECOND))
    plan = clock.advance(Timestamp(1_500 * MS))
    assert [tuple(step) for step in plan.steps()] == [
        (5, MINUTE, 5 * MINUTE),
        (6, MINUTE, 6 * MINUTE),
    ]
    assert plan.timestep == Timestep(MINUTE)
    assert (plan.remainder, plan.alpha()) == (30 * SECOND, 0.5)


def test_without_a_budget_nothing_is_dropped_below_four_billion_quanta() -> None:
    clock = SpeedClock(1, base_rate=1)
    assert advance(clock, U32_MAX, 2 * U32_MAX + 1) == [
        (U32_MAX, U32_MAX, 0, 0),
        (U32_MAX + 1, U32_MAX, 1, 0),
    ]


def test_a_budget_drops_whole_quanta_and_reports_them() -> None:
    clock = game_clock(speed=20, budget=StepBudget(4))
    assert advance(clock, 525 * MS) == [(10, 4, 6, 30 * SECOND)]
    assert (clock.tick, clock.presentation) == (4, 4 * MINUTE + 30 * SECOND)
    clock.set_speed(1)
    assert advance(clock, 1_025 * MS) == [(1, 1, 0, 0)], "what was refused is gone, not banked"
    assert clock.budget == StepBudget(4)


def test_the_ends_of_64_bits_hold() -> None:
    clock = SpeedClock(2**63, base_rate=1, tick=1, remainder=2**63 - 1, wall=Nanos(U64_MAX - 1))
    assert (clock.simulation, clock.presentation) == (2**63, U64_MAX)
    assert clock.quantize("up") == U64_MAX, "the next quantum would be at 2**64"
    clock.advance(Timestamp(2))
    assert (clock.tick, clock.wall) == (2, U64_MAX)
    assert clock.simulation == clock.presentation == clock.presentation_exact == U64_MAX
    assert clock.remainder_exact == 1


def test_a_frame_longer_than_the_documented_longest_saturates_and_no_shorter_one() -> None:
    """The number in the docstring, at the speed and quantum it is given for."""
    longest = (2**64 - MINUTE) // 1_200
    assert longest // (86_400 * SECOND) == 177
    full = Fraction(MINUTE - 1)
    for more, lost in ((0, False), (U64_MAX - longest, True)):
        clock = game_clock(speed=20, remainder=full, budget=StepBudget(1))
        due, _, _, remainder = advance(clock, longest + more)[0]
        counted = due * MINUTE + remainder
        assert (counted < (longest + more) * 1_200 + full) is lost


def test_a_frame_clock_in_front_keeps_frames_short() -> None:
    frames, clock = FrameClock(), game_clock(speed=20)
    for now in (5 * SECOND, 10_000 * SECOND):
        frames.sample(Timestamp(now))
        plan = clock.advance(frames.frame_time)
    assert (plan.step_count, frames.clamped) == (5, 9_995 * SECOND - 250 * MS)


# Reported faults: rates, rounding, drift


@pytest.mark.parametrize(
    ("quantum", "nows", "outcomes"),
    [
        pytest.param(17 * MS, [3_600 * SECOND], [(211_764, 12_000_000)], id="F01-17ms"),
        pytest.param(16_666_600, [3_600 * SECOND], [(216_000, 14_400_000)], id="F01-ticks"),
        pytest.param(16_666_666, [3_600 * SECOND], [(216_000, 144_000)], id="F01-below"),
        pytest.param(HZ_60, [3_600 * SECOND], [(215_999, 16_594_667)], id="F01-above"),
        pytest.param(
            HZ_60, [300 * SECOND, 300_000_006_000], [(17_999, 16_660_667), (1, 0)], id="F04"
        ),
        pytest.param(100 * MS, [SECOND], [(10, 0)], id="F05"),
        pytest.param(34 * MS, [60 * SECOND], [(1_764, 24_000_000)], id="F09"),
        pytest.param(
            20 * MS,
            [50 * MS, 100 * MS, 150 * MS, 200 * MS],
            [(2, 10 * MS), (3, 0), (2, 10 * MS), (3, 0)],
            id="F10",
        ),
        pytest.param(SECOND, [3_500 * MS], [(3, 500 * MS)], id="F11"),
        pytest.param(HZ_60, [66_323_740], [(3, 16_323_739)], id="F14"),
    ],
)
def test_a_quantum_of_real_time_has_the_known_ticks_and_remainders(
    quantum: int, nows: list[int], outcomes: list[tuple[int, int]]
) -> None:
    clock = SpeedClock(quantum, base_rate=1)
    assert [(steps, rest) for _, steps, _, rest in advance(clock, *nows)] == outcomes


@pytest.mark.parametrize(
    ("hz", "seconds", "ticks"),
    [
        pytest.param(60, 3_600, 216_000, id="F01"),
        pytest.param(60, 300, 18_000, id="F04"),
        pytest.param(30, 60, 1_800, id="F09"),
    ],
)
def test_a_rate_is_exact_when_it_is_the_base_rate(hz: int, seconds: int, ticks: int) -> None:
    """A quantum of a second, and ``hz`` of them a second: an exact rate, without a Rate."""
    clock = SpeedClock(SECOND, base_rate=hz)
    assert advance(clock, seconds * SECOND) == [(ticks, ticks, 0, 0)]


def test_f01_ticks_of_60_hz_are_due_at_the_next_whole_nanosecond() -> None:
    clock = SpeedClock(SECOND, base_rate=60)
    for due in (16_666_667, 33_333_334, 50_000_000):
        assert [steps for _, steps, _, _ in advance(clock, due - 1, due)] == [0, 1]


def test_f03_whole_milliseconds_in_are_steps_lost() -> None:
    exact, truncated = SpeedClock(HZ_60, 1), SpeedClock(HZ_60, 1)
    for frame in range(1, 1_001):
        exact.advance(Timestamp(frame * 16_400_000))
        truncated.advance(Timestamp(frame * 16 * MS))
    assert exact.tick == 983
    assert exact.remainder_exact == 16_666_339
    assert truncated.tick == 959, "the fault"


def test_f05_ten_tenths_of_a_second_are_a_second() -> None:
    clock = SpeedClock(SECOND, base_rate=1)
    plans = [clock.advance(Timestamp(k * 100 * MS)) for k in range(1, 11)]
    assert [plan.step_count for plan in plans] == [0] * 9 + [1]
    assert plans[-1].alpha() == 0.0


def test_f05_a_tenth_of_the_speed_ten_times_is_one() -> None:
    """The float 0.1 is refused, and here is why: ten of them are less than one."""
    total = 0.0
    for _ in range(10):  # not sum(), which compensates since CPython 3.12
        total += 0.1
    assert total < 1
    clock = SpeedClock(SECOND, base_rate=1, speeds=(Fraction(1, 10),), speed=Fraction(1, 10))
    assert [steps for _, steps, _, _ in advance(clock, *range(SECOND, 11 * SECOND, SECOND))] == [
        *[0] * 9,
        1,
    ]


def test_f13_a_new_speed_does_not_price_old_ticks_again() -> None:
    """Ten seconds at 60 ticks a second and one at 30 are 630 ticks, and not 21 seconds."""
    clock = SpeedClock(SECOND, base_rate=60, speeds=(1, Fraction(1, 2)))
    clock.advance(Timestamp(10 * SECOND))
    assert clock.tick == 600
    clock.set_speed(Fraction(1, 2))
    clock.advance(Timestamp(11 * SECOND))
    assert (clock.tick, clock.wall) == (630, 11 * SECOND)
    assert clock.remainder_exact == 0
    assert 630 * SECOND // 30 == 21 * SECOND, "the fault: all ticks at the new rate"


# Reported faults: pause, resynchronization, speed, three clocks


def test_g01_time_spent_paused_is_not_played_afterwards() -> None:
    def until_the_pause() -> SpeedClock:
        clock = SpeedClock(33_333_333, base_rate=1, budget=StepBudget(5))
        for frame in range(1, 61):
            clock.advance(Timestamp(frame * HZ_60))
        assert clock.tick == clock.remainder_exact == 30
        return clock

    back = 60 * HZ_60 + 10 * SECOND
    clock = until_the_pause()
    clock.pause()
    clock.advance(Timestamp(back))
    clock.resume()
    assert advance(clock, back + HZ_60, back + 2 * HZ_60) == [
        (0, 0, 0, 16_666_697),
        (1, 1, 0, 31),
    ]
    faulty = until_the_pause()
    assert advance(faulty, back + HZ_60) == [(300, 5, 295, 16_666_797)]


def test_g02_a_known_gap_is_a_pause_and_no_long_frame() -> None:
    def dragged() -> SpeedClock:
        return SpeedClock(HZ_60, 1, start=Timestamp(SECOND), remainder=5 * MS, budget=StepBudget(5))

    clock = dragged()
    clock.pause()
    clock.advance(Timestamp(6 * SECOND))
    clock.resume()
    assert advance(clock, 6 * SECOND + HZ_60) == [(1, 1, 0, 5 * MS)]
    assert advance(dragged(), 6 * SECOND + HZ_60) == [(301, 5, 296, 4_999_900)]


def test_g04_a_pause_stops_the_simulated_clocks_and_not_the_wall() -> None:
    clock = SpeedClock(HZ_60, base_rate=1, remainder=4 * MS)
    clock.set_speed(0)
    before = clock.presentation_exact
    plans = [clock.advance(Timestamp(k * HZ_60)) for k in (1, 2, 3)]
    assert clock.wall == 50_000_001
    assert clock.presentation_exact == before == 4 * MS
    assert clock.simulation == 0
    assert [plan.step_count for plan in plans] == [0, 0, 0]
    running = SpeedClock(HZ_60, base_rate=1)
    assert {plan.alpha() for plan in plans} == {running.advance(Timestamp(4 * MS)).alpha()}
    assert (clock.speed, clock.effective_speed) == (1, 0)


def test_g05_a_pause_does_not_forget_the_chosen_speed() -> None:
    clock = SpeedClock(HZ_60, base_rate=1, speeds=(0, 1, 3))
    effective = []
    for speed in (3, 1):
        clock.set_speed(speed)
        effective.append(clock.effective_speed)
        clock.pause()
        effective.append(clock.effective_speed)
        clock.resume()
        effective.append(clock.effective_speed)
    assert effective == [3, 0, 3, 1, 0, 1]


def test_g06_simulated_time_goes_on_from_where_it_stopped() -> None:
    clock = SpeedClock(SECOND, base_rate=1)
    clock.advance(Timestamp(7 * SECOND))
    clock.pause()
    clock.advance(Timestamp(12 * SECOND))
    assert (clock.wall, clock.simulation) == (12 * SECOND, 7 * SECOND)
    clock.resume()
    assert clock.simulation == 7 * SECOND
    clock.advance(Timestamp(13 * SECOND))
    assert (clock.wall, clock.simulation) == (13 * SECOND, 8 * SECOND)


def test_a_clock_that_goes_back_adds_nothing_and_counts_from_there() -> None:
    clock = SpeedClock(10 * MS, base_rate=1, start=Timestamp(100 * MS))
    outcomes = advance(clock, 116 * MS, 110 * MS, 133 * MS)
    assert outcomes == [(1, 1, 0, 6 * MS), (0, 0, 0, 6 * MS), (2, 2, 0, 9 * MS)]
    assert clock.wall == 39 * MS
    assert clock.wall == clock.presentation, "the wall and the simulation saw the same time"


# What holds for any script and any frames

TABLE: tuple[int | Fraction, ...] = (0, Fraction(1, 3), Fraction(3, 7), 1, 5, 20)


class Segment(NamedTuple):
    """A stretch of wall time at one speed, and how it is cut into frames."""

    speed: int | Fraction
    nanos: int
    cuts: list[int]


@st.composite
def segments(draw: st.DrawFn) -> Segment:
    nanos = draw(st.sampled_from([0, 1, HZ_60, SECOND]) | st.integers(0, 10 * SECOND))
    cuts = st.lists(st.integers(0, nanos) | st.sampled_from([0, nanos]), max_size=12)
    return Segment(draw(st.sampled_from(TABLE)), nanos, sorted(draw(cuts)))


scripts = st.lists(segments(), min_size=1, max_size=8)
quanta = st.sampled_from([1, 7, MS, HZ_60, MINUTE]) | st.integers(1, MINUTE)
base_rates = st.sampled_from([1, 60, Fraction(1, 3), Fraction(60_000, 1_001)])


def follow(clock: SpeedClock, script: list[Segment], *, cut: bool) -> tuple[int, int]:
    """Play a script, in its frames or in one frame a segment: (quanta dropped, frames)."""
    dropped = frames = 0
    for segment in script:
        at_speed(clock, segment.speed)
        start = clock.last
        for at in [*(segment.cuts if cut else []), segment.nanos]:
            dropped += clock.advance(Timestamp(start + at)).dropped
            frames += 1
    return dropped, frames


@given(script=scripts, quantum=quanta, base_rate=base_rates)
def test_frames_have_no_part_in_what_is_simulated(
    script: list[Segment], quantum: int, base_rate: int | Fraction
) -> None:
    whole, cut = (SpeedClock(quantum, base_rate, TABLE) for _ in range(2))
    dropped_whole, _ = follow(whole, script, cut=False)
    dropped_cut, _ = follow(cut, script, cut=True)
    if dropped_whole == dropped_cut == 0:  # only 2**32 quanta in a frame are ever dropped
        assert whole == cut
    exactly = sum((Fraction(base_rate) * s.speed * s.nanos for s in script), Fraction(0))
    assert (cut.tick + dropped_cut) * quantum + cut.remainder_exact == exactly
    assert cut.wall == sum(segment.nanos for segment in script)
    if dropped_cut == 0:
        assert cut.tick == exactly // quantum
        assert cut.remainder_exact == exactly % quantum
        assert cut.presentation_exact == exactly
        assert cut.presentation == int(exactly)
        assert cut.simulation <= cut.presentation < cut.simulation + quantum
        for policy, due in (("down", cut.tick), ("up", -(-exactly // quantum))):
            assert cut.quantize(policy) == due * quantum  # type: ignore[arg-type]
        assert cut.quantize("nearest") == (exactly + Fraction(quantum, 2)) // quantum * quantum


def test_a_nanosecond_at_another_speed_is_seen() -> None:
    """The control of the test above: it would find a change of speed that is a nanosecond late."""
    script = [Segment(1, SECOND, []), Segment(5, SECOND, [3])]
    late = [Segment(1, SECOND + 1, []), Segment(5, SECOND - 1, [3])]
    one, other = (SpeedClock(MS, 60, TABLE) for _ in range(2))
    assert follow(one, script, cut=True)[1] == follow(other, late, cut=True)[1] == 3
    assert one.wall == other.wall
    assert one.presentation_exact - other.presentation_exact == 4 * 60
    assert one != other


class Press(NamedTuple):
    """A button that is pressed at a change of speed: pause, resume, or a speed."""

    button: str
    speed: int | Fraction = 0


buttons = st.sampled_from(["pause", "resume"]).map(Press) | st.sampled_from(TABLE).map(
    lambda speed: Press("speed", speed)
)


def press(clock: SpeedClock, presses: list[Press]) -> None:
    for pressed in presses:
        if pressed.button == "speed":
            clock.set_speed(pressed.speed)
        else:
            getattr(clock, pressed.button)()


@given(script=scripts, noise=st.lists(st.lists(buttons, max_size=4), max_size=8))
def test_only_the_last_word_at_a_moment_counts(
    script: list[Segment], noise: list[list[Press]]
) -> None:
    """Speeds tried out and taken back at one moment of wall time leave nothing behind."""
    plain, noisy = (SpeedClock(MS, 60, TABLE) for _ in range(2))
    for i, segment in enumerate(script):
        press(noisy, noise[i] if i < len(noise) else [])
        for clock in (plain, noisy):
            at_speed(clock, segment.speed or 1)
            if not segment.speed:
                clock.pause()
            clock.advance(Timestamp(clock.last + segment.nanos))
    assert plain == noisy


@given(presses=st.lists(buttons, max_size=8), speed=st.sampled_from(TABLE[1:]))
def test_pausing_and_choosing_a_speed_come_to_the_same_in_either_order(
    presses: list[Press], speed: int | Fraction
) -> None:
    one = SpeedClock(MS, 60, TABLE)
    one.advance(Timestamp(12_345))
    press(one, presses)
    other = copy.copy(one)
    one.pause()
    one.set_speed(speed)
    other.set_speed(speed)
    other.pause()
    assert one == other
    assert (one.speed, one.effective_speed) == (speed, 0)


@given(script=scripts, budget=st.integers(1, 6), base_rate=base_rates)
def test_simulated_time_is_run_dropped_or_left_over(
    script: list[Segment], budget: int, base_rate: int | Fraction
) -> None:
    clock = SpeedClock(HZ_60, base_rate, TABLE, budget=StepBudget(budget))
    dropped, _ = follow(clock, script, cut=True)
    exactly = sum((Fraction(base_rate) * s.speed * s.nanos for s in script), Fraction(0))
    assert (clock.tick + dropped) * HZ_60 + clock.remainder_exact == exactly


def test_a_small_budget_does_drop() -> None:
    """The control: the conservation above is not between zeros."""
    clock = SpeedClock(HZ_60, 60, TABLE, budget=StepBudget(2))
    script = [Segment(20, SECOND, [MS]), Segment(0, SECOND, [5])]
    assert follow(clock, script, cut=True) == (71_994 + 1, 4)
    assert clock.tick == 2 + 2


@given(nows=hostile_timestamps(), budget=st.integers(1, 6), quantum=quanta)
def test_at_one_to_one_it_is_a_frame_loop(nows: list[Timestamp], budget: int, quantum: int) -> None:
    """No second accumulator: on a clock that jumps and goes back, the plans are equal."""
    clock = SpeedClock(quantum, base_rate=1, budget=StepBudget(budget))
    loop = FrameLoop(Timestep(quantum), StepBudget(budget), start=Timestamp(0))
    for now in nows:
        assert clock.advance(now) == loop.begin_frame(now)
    assert (clock.tick, clock.last) == (loop.tick, loop.last)
    assert clock.remainder_exact == loop.remainder


@given(nows=frame_traces(), hz=st.integers(1, 1_000))
def test_a_base_rate_over_a_second_is_a_frame_loop_of_that_rate(
    nows: list[Timestamp], hz: int
) -> None:
    clock = SpeedClock(SECOND, base_rate=hz, start=nows[0])
    loop = FrameLoop(Rate(hz), StepBudget(U32_MAX), nows[0])
    for now in nows:
        assert clock.advance(now).step_count == loop.begin_frame(now).step_count
    assert clock.remainder_exact == loop.remainder


# Bad input

_TABLE_0_1_5_20 = "0, 1, 5, 20"
BAD_NUMBERS = [
    pytest.param(float("nan"), TypeError, id="nan"),
    pytest.param(float("inf"), TypeError, id="inf"),
    pytest.param(0.5, TypeError, id="float"),
    pytest.param(5.0, TypeError, id="whole-float"),
    pytest.param(Decimal(5), TypeError, id="Decimal"),
    pytest.param("5", TypeError, id="str"),
    pytest.param(None, TypeError, id="None"),
    pytest.param(1j, TypeError, id="complex"),
    pytest.param(-1, OverflowError, id="negative"),
    pytest.param(2**64, OverflowError, id="2**64"),
    pytest.param(10**5_000, OverflowError, id="5001-digits"),
]
BAD_EXACT = [
    *BAD_NUMBERS,
    pytest.param(Fraction(-1, 3), OverflowError, id="negative-third"),
    pytest.param(Fraction(2**66, 3), OverflowError, id="large-fraction"),
    pytest.param(Fraction(1, 2**64), OverflowError, id="fine-fraction"),
    pytest.param(Fraction(1, 10**5_000), OverflowError, id="5001-digit-fraction"),
]
BAD_WHOLE = [*BAD_NUMBERS, pytest.param(Fraction(5), TypeError, id="Fraction")]


def used_clock() -> SpeedClock:
    clock = game_clock(budget=StepBudget(7))
    clock.advance(Timestamp(1_250 * MS))
    clock.set_speed(5)
    clock.advance(Timestamp(1_300 * MS))
    return clock


@pytest.mark.parametrize(("bad", "error"), BAD_WHOLE)
def test_a_bad_reading_is_refused_and_changes_nothing(bad: Any, error: type[Exception]) -> None:
    for paused in (False, True):
        clock = used_clock()
        if paused:
            clock.pause()
        before = copy.copy(clock)
        with pytest.raises(error, match="now must be a whole number of nanoseconds"):
            clock.advance(bad)
        assert clock == before


@pytest.mark.parametrize(("bad", "error"), BAD_EXACT)
def test_a_bad_speed_is_refused_and_the_speed_stays(bad: Any, error: type[Exception]) -> None:
    clock = used_clock()
    with pytest.raises(error, match="speed must be a whole number or a Fraction") as caught:
        clock.set_speed(bad)
    assert _TABLE_0_1_5_20 in str(caught.value)
    assert clock == used_clock()


@pytest.mark.parametrize("bad", [2, 21, Fraction(1, 2), 2**64 - 1])
def test_a_speed_that_is_not_in_the_table_is_refused_and_the_table_listed(bad: Any) -> None:
    clock = used_clock()
    with pytest.raises(ValueError, match=f"one of {_TABLE_0_1_5_20}, not {bad}; "):
        clock.set_speed(bad)
    assert clock == used_clock()
    with pytest.raises(ValueError, match=f"one of {_TABLE_0_1_5_20}, not {bad}; "):
        game_clock(speed=bad)


def test_zero_has_to_be_in_the_table_too() -> None:
    clock = SpeedClock(10, 1, speeds=(1, 2))
    with pytest.raises(ValueError, match="speed must be one of 1, 2, not 0"):
        clock.set_speed(0)
    assert not clock.paused
    clock.pause()
    assert clock.paused


@pytest.mark.parametrize("bad", ["UP", "", "ceil", None, 1, ["up"]])
def test_another_rounding_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="policy must be 'up', 'down' or 'nearest', not "):
        used_clock().quantize(bad)


@pytest.mark.parametrize(("bad", "error"), BAD_WHOLE)
@pytest.mark.parametrize("name", ["quantum", "start", "tick", "wall"])
def test_a_bad_whole_number_makes_no_clock(name: str, bad: Any, error: type[Exception]) -> None:
    arguments = {"quantum": 10, "base_rate": 1} | {name: bad}
    with pytest.raises(error, match=f"{name} must be a whole number"):
        SpeedClock(**arguments)


@pytest.mark.parametrize(("bad", "error"), BAD_EXACT)
@pytest.mark.parametrize("name", ["base_rate", "speed", "remainder", "speeds"])
def test_a_bad_exact_number_makes_no_clock(name: str, bad: Any, error: type[Exception]) -> None:
    arguments: dict[str, Any] = {"quantum": 10, "base_rate": 1}
    arguments[name] = (1, bad) if name == "speeds" else bad
    with pytest.raises(error, match=f"{name} must be a whole number or a Fraction"):
        SpeedClock(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quantum": 0}, "quantum must be a whole number of simulated nanoseconds, at least 1"),
        ({"base_rate": 0}, "base_rate must be above 0"),
        ({"base_rate": Fraction(0)}, "base_rate must be above 0"),
        ({"speeds": ()}, r"speeds must hold one above 0, not only \(\)"),
        ({"speeds": (0, 0)}, r"speeds must hold one above 0, not only \(0, 0\)"),
        ({"speed": 0}, "speed must be the speed to run at, above 0, not 0; paused=True"),
        ({"remainder": 10}, "remainder must be below the quantum, 10 simulated ns, not 10"),
        ({"remainder": Fraction(1, 2)}, "remainder must be a multiple of 1/1 simulated ns"),
    ],
)
def test_what_makes_no_clock_is_refused_with_the_fix(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SpeedClock(**({"quantum": 10, "base_rate": 1} | arguments))


@pytest.mark.parametrize("bad", [5, None, "1, 5, 20", 1.5])
def test_speeds_must_be_a_table(bad: Any) -> None:
    with pytest.raises(TypeError, match="speeds must be a table of speeds, not"):
        SpeedClock(10, 1, bad)


def test_a_budget_must_be_a_budget() -> None:
    with pytest.raises(TypeError, match="budget must be a StepBudget, not int 5"):
        SpeedClock(10, 1, budget=5)  # type: ignore[arg-type]


def test_speeds_too_fine_for_64_bits_are_refused_with_the_numbers() -> None:
    fine = [Fraction(1, prime) for prime in (2**31 - 1, 2**19 - 1, 2**17 - 1)]
    common = (2**31 - 1) * (2**19 - 1) * (2**17 - 1)
    assert common > U64_MAX
    with pytest.raises(ValueError, match="use fewer or simpler fractions") as caught:
        SpeedClock(10, 1, (1, *fine))
    for number in (common, 10 * common, U64_MAX):
        assert str(number) in str(caught.value)


def test_a_unit_that_just_fits_is_taken_and_the_next_is_not() -> None:
    clock = SpeedClock(U64_MAX // 3, 1, (1, Fraction(1, 3)))
    assert clock.advance(Timestamp(5)).remainder == 5
    with pytest.raises(ValueError, match=f"counted in it is {2**64}, above"):
        SpeedClock(2**62, 1, (1, Fraction(1, 4)))


def test_a_rate_that_just_fits_is_taken_and_the_next_is_not() -> None:
    clock = SpeedClock(U64_MAX, U64_MAX // 5, (1, 5), speed=5)
    assert advance(clock, 1) == [(1, 1, 0, 0)]
    with pytest.raises(ValueError, match=f"speed 4 at base_rate {2**62} is {2**64} in units of"):
        SpeedClock(U64_MAX, 2**62, (1, 4))


def test_hundreds_of_speeds_with_nothing_in_common_get_an_error_that_can_be_read() -> None:
    """Their common denominator has more digits than Python prints."""
    fine = [Fraction(1, U64_MAX - k) for k in range(600)]
    with pytest.raises(ValueError, match="use fewer or simpler fractions"):
        SpeedClock(10, 1, (1, *fine))


# As an object


def test_a_clock_prints_as_what_makes_it_again() -> None:
    clock = used_clock()
    clock.pause()
    assert repr(clock) == (
        "SpeedClock(quantum=60000000000, base_rate=60, speeds=(0, 1, 5, 20), speed=5, "
        "start=1300000000, budget=StepBudget(7), paused=True, tick=1, remainder=30000000000, "
        "wall=1300000000)"
    )
    thirds = SpeedClock(10, Fraction(1, 3), (1, Fraction(1, 2)), speed=Fraction(1, 2))
    thirds.advance(Timestamp(1))
    assert "remainder=Fraction(1, 6)" in repr(thirds)
    for each in (clock, thirds, game_clock()):
        assert eval(repr(each)) == each


def test_a_copy_goes_its_own_way() -> None:
    clock = used_clock()
    for twin in (copy.copy(clock), copy.deepcopy(clock), pickle.loads(pickle.dumps(clock))):
        assert twin == clock
        assert twin.advance(Timestamp(1_400 * MS)) == used_clock().advance(Timestamp(1_400 * MS))
        assert twin != clock
    assert clock == used_clock()


def test_clocks_are_equal_by_everything_they_hold() -> None:
    different = [
        SpeedClock(10, 1),
        SpeedClock(11, 1),
        SpeedClock(10, 2),
        SpeedClock(10, 1, (0, 1)),
        SpeedClock(10, 1, speed=5),
        SpeedClock(10, 1, start=Timestamp(1)),
        SpeedClock(10, 1, budget=StepBudget(1)),
        SpeedClock(10, 1, paused=True),
        SpeedClock(10, 1, tick=1),
        SpeedClock(10, 1, remainder=1),
        SpeedClock(10, 1, wall=Nanos(1)),
    ]
    for i, one in enumerate(different):
        assert [one == other for other in different] == [k == i for k in range(len(different))]
    assert different[0] != "a clock"
    with pytest.raises(TypeError, match="unhashable"):
        hash(different[0])


# Both cores


def test_the_clocks_are_the_same_on_the_other_core(native: Core, pytestconfig: Any) -> None:
    """A process runs one core, so the other one gets a process: these files again, under it.

    The million frames are left out there; nothing in them depends on the core.
    """
    other = {"native": "reference", "reference": "native"}[backend().name]
    here = Path(__file__)
    files = [here.with_name("test_frame_clock.py"), here]
    deselected = [
        "test_the_clocks_are_the_same_on_the_other_core",
        "test_a_third_of_the_speed_loses_nothing_in_a_million_frames",
    ]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *map(str, files)]
    command += ["-k", " and ".join(f"not {name}" for name in deselected)]
    if pytestconfig.getoption("--allow-src"):
        command.append("--allow-src")
    run = subprocess.run(
        command,
        env=os.environ | {"FIXEDSTEP_BACKEND": other},
        cwd=here.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert f"fixedstep core: {other} (FIXEDSTEP_BACKEND={other})" in run.stdout
    assert "2 deselected" in run.stdout
    assert "skipped" not in run.stdout


def test_a_second_init_leaves_a_clock_as_it_was() -> None:
    """It must not reconfigure a live clock, nor half of one when it is refused."""
    used = SpeedClock(1_000, 1)
    used.advance(Timestamp(5_500))
    before = repr(used)
    used.__init__(2_000, 1, speed=7)  # type: ignore[misc]
    assert repr(used) == before
    assert used.advance(Timestamp(6_000)).first_tick == 5
