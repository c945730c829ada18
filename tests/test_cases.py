"""Faults that people who write fixed-step loops have reported, each as numbers that must come out.

The ids are stable names of the cases; each stands for its whole kind. Sections: A budget and drops,
B frames without a step, C clocks, E alpha, F rates, J digests. Where a fault has a wrong number
that is easy to get (a float sum, a clamp, a truncated clock), the test computes that number too, so
that it is seen to differ from the right one.
"""

from __future__ import annotations

import struct
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import pytest

from fixedstep import Nanos, Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conftest import Core

    from fixedstep.reference import FrameLoop, FramePlan

MS = 1_000_000
SECOND = 10**9
HZ_60 = 16_666_667
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1


def due(plan: FramePlan) -> int:
    return plan.step_count + plan.dropped


def outcome(plan: FramePlan) -> tuple[int, int, int, int]:
    return due(plan), plan.step_count, plan.dropped, plan.remainder


def make_loop(
    core: Core, dt: int, budget: int = 5, last: int = 0, bank: int = 0, tick: int = 0
) -> FrameLoop:
    return core.FrameLoop(
        Timestep(dt), StepBudget(budget), Timestamp(last), tick=tick, remainder=bank
    )


def run(loop: FrameLoop, nows: Iterable[int]) -> list[FramePlan]:
    return [loop.begin_frame(Timestamp(now)) for now in nows]


def every(nanos: int, frames: int) -> list[int]:
    return [nanos * k for k in range(1, frames + 1)]


def f32(value: float) -> float:
    """The float32 nearest to a number."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


class Case(NamedTuple):
    """Frames with everything that must come out of each: (due, steps, dropped, remainder)."""

    name: str
    dt: int
    budget: int
    last: int
    nows: list[int]
    outcomes: list[tuple[int, int, int, int]]


CASES = [
    Case("A02-64Hz", 15_625_000, 8, 0, [28_800 * SECOND], [(1_843_200, 8, 1_843_192, 0)]),
    Case("A02-60Hz", HZ_60, 8, 0, [28_800 * SECOND], [(1_727_999, 8, 1_727_991, 16_090_667)]),
    Case(
        "A04-240Hz",
        4_166_667,
        8,
        0,
        [33_333_333, 66_666_666, 100_000_000],
        [(7, 7, 0, 4_166_664), (8, 8, 0, 4_166_661), (8, 8, 0, 4_166_659)],
    ),
    Case(
        "A04-1kHz",
        1_000_000,
        8,
        0,
        [33_333_333, 66_666_666, 100_000_000],
        [(33, 8, 25, 333_333), (33, 8, 25, 666_666), (34, 8, 26, 0)],
    ),
    Case(
        "A06",
        50 * MS,
        5,
        0,
        [30_000 * MS, 30_050 * MS, 30_100 * MS],
        [(600, 5, 595, 0), (1, 1, 0, 0), (1, 1, 0, 0)],
    ),
    Case(
        "A07",
        HZ_60,
        3,
        0,
        [SECOND, SECOND + HZ_60, SECOND + 2 * HZ_60],
        [(59, 3, 56, 16_666_647), (1, 1, 0, 16_666_647), (1, 1, 0, 16_666_647)],
    ),
    Case("A10", HZ_60, 5, 0, [1_200 * SECOND], [(71_999, 5, 71_994, 16_642_667)]),
    Case("A13-30", HZ_60, 30, 0, [SECOND], [(59, 30, 29, 16_666_647)]),
    Case("A13-5", HZ_60, 5, 0, [SECOND], [(59, 5, 54, 16_666_647)]),
    Case(
        "B03",
        100_000_000,
        5,
        0,
        [100_000_000, 199_999_999, 200_000_000],
        [(1, 1, 0, 0), (0, 0, 0, 99_999_999), (1, 1, 0, 0)],
    ),
    Case(
        "C01",
        10 * MS,
        5,
        100 * MS,
        [116 * MS, 110 * MS, 133 * MS],
        [(1, 1, 0, 6 * MS), (0, 0, 0, 6 * MS), (2, 2, 0, 9 * MS)],
    ),
    Case(
        "C02",
        40 * MS,
        5,
        3_600 * SECOND,
        [0, 40 * MS, 80 * MS],
        [(0, 0, 0, 0), (1, 1, 0, 0), (1, 1, 0, 0)],
    ),
    Case("C03", 10 * MS, 5, 0, [86_400 * SECOND], [(8_640_000, 5, 8_639_995, 0)]),
    Case(
        "C09",
        20 * MS,
        20,
        970 * MS,
        [980 * MS, 1_280 * MS, 1_290 * MS],
        [(0, 0, 0, 10 * MS), (15, 15, 0, 10 * MS), (1, 1, 0, 0)],
    ),
    Case("F11", SECOND, 5, 0, [3_500 * MS], [(3, 3, 0, 500 * MS)]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_frame_gives_what_the_case_says(core: Core, case: Case) -> None:
    loop = make_loop(core, case.dt, case.budget, case.last)
    plans = run(loop, case.nows)
    assert [outcome(plan) for plan in plans] == case.outcomes
    assert loop.tick == sum(steps for _, steps, _, _ in case.outcomes) > 0
    assert loop.last == case.nows[-1]


# A: budget and drops


def spiral(core: Core, budget: int) -> list[tuple[int, int, int, int, int]]:
    """Ten frames where a frame lasts 1 ms and 20 ms more for each step it ran."""
    loop = make_loop(core, 15_625_000, budget)
    now, rows = 16 * MS, []
    for _ in range(10):
        plan = loop.begin_frame(Timestamp(now))
        rows.append((now, *outcome(plan)))
        now += MS + 20 * MS * plan.step_count
    return rows


def test_a01_a_budget_ends_the_spiral(core: Core) -> None:
    assert spiral(core, budget=4) == [
        (16_000_000, 1, 1, 0, 375_000),
        (37_000_000, 1, 1, 0, 5_750_000),
        (58_000_000, 1, 1, 0, 11_125_000),
        (79_000_000, 2, 2, 0, 875_000),
        (120_000_000, 2, 2, 0, 10_625_000),
        (161_000_000, 3, 3, 0, 4_750_000),
        (222_000_000, 4, 4, 0, 3_250_000),
        (303_000_000, 5, 4, 1, 6_125_000),
        (384_000_000, 5, 4, 1, 9_000_000),
        (465_000_000, 5, 4, 1, 11_875_000),
    ]


def test_a01_without_a_budget_each_frame_owes_more(core: Core) -> None:
    """The control: the same frames with a budget that never engages."""
    steps = [row[2] for row in spiral(core, budget=U32_MAX)]
    assert steps == [1, 1, 1, 2, 2, 3, 4, 5, 6, 8]


def test_a03_the_step_cap_does_not_leak_into_the_frame_time(core: Core) -> None:
    """What a frame lasted is steps, dropped and remainder together, never steps times dt."""
    loop = make_loop(core, HZ_60, budget=8)
    before, lasted, dropped = 0, [], []
    for now in every(500 * MS, 4):
        plan = loop.begin_frame(Timestamp(now))
        lasted.append(due(plan) * HZ_60 + plan.remainder - before)
        before = plan.remainder
        dropped.append(plan.dropped)
        assert plan.step_count == 8
        assert plan.step_count * HZ_60 == 133_333_336
    assert lasted == [500 * MS] * 4
    assert dropped == [21, 22, 22, 22]
    assert sum(dropped) == 87
    assert loop.remainder == 16_666_627


@pytest.mark.parametrize(("budget", "steps", "dropped"), [(2, 40, 19), (1, 20, 39)])
def test_a08_a_small_budget_says_what_it_loses(
    core: Core, budget: int, steps: int, dropped: int
) -> None:
    plans = run(make_loop(core, HZ_60, budget), every(50 * MS, 20))
    assert [due(plan) for plan in plans] == [2] + [3] * 19
    assert sum(plan.step_count for plan in plans) == steps
    assert sum(plan.dropped for plan in plans) == dropped
    assert plans[-1].remainder == 16_666_647


def test_a09_slow_drawing_does_not_slow_the_simulation(core: Core) -> None:
    plans = run(make_loop(core, 25 * MS, budget=4), every(40 * MS, 25))
    steps = [plan.step_count for plan in plans]
    assert steps == [1, 2, 1, 2, 2] * 5
    assert sum(steps) == 40
    assert sum(plan.dropped for plan in plans) == 0
    assert plans[-1].remainder == 0
    clamped = bank = 0
    for _ in plans:  # the fault: a frame delta clamped to one step
        ran, bank = divmod(bank + min(40 * MS, 25 * MS), 25 * MS)
        clamped += ran
    assert clamped == 25


@pytest.mark.parametrize(
    ("seconds", "stall", "after"),
    [
        (1, (59, 5, 54, 16_666_647), 16_666_647),
        (10, (599, 5, 594, 16_666_467), 16_666_467),
        (30, (1_799, 5, 1_794, 16_666_067), 16_666_067),
    ],
)
def test_a11_one_stall_is_behind_for_one_frame(
    core: Core, seconds: int, stall: tuple[int, int, int, int], after: int
) -> None:
    """However long the stall was: the time it lost is gone, not worked off."""
    end = seconds * SECOND
    plans = run(make_loop(core, HZ_60), [end, end + HZ_60, end + 2 * HZ_60])
    assert outcome(plans[0]) == stall
    assert [outcome(plan) for plan in plans[1:]] == [(1, 1, 0, after)] * 2
    assert [plan.dropped > 0 for plan in plans] == [True, False, False]


def test_a12_no_cap_on_the_bank_eats_time(core: Core) -> None:
    plans = run(make_loop(core, HZ_60), every(50 * MS, 20))
    assert sum(plan.step_count for plan in plans) == 59
    assert sum(plan.dropped for plan in plans) == 0
    assert plans[-1].remainder == 16_666_647

    cap, bank, capped_steps, lost = 2 * SECOND // 60 - MS, 0, 0, 0
    for _ in plans:
        lost += max(bank + 50 * MS - cap, 0)
        steps, bank = divmod(min(bank + 50 * MS, cap), HZ_60)
        capped_steps += steps
    assert capped_steps < 59
    assert lost > 300 * MS


def test_a13_a_zero_budget_is_refused() -> None:
    """A loop that may never run a step is a mistake in the settings and not a schedule."""
    with pytest.raises(ValueError, match="budget"):
        StepBudget(0)


# B: frames without a step


def test_b02_the_first_step_waits_for_a_whole_step(core: Core) -> None:
    """Four frames of 8,333,333 ns are one nanosecond short of a step of 33,333,333."""
    plans = run(make_loop(core, 33_333_333), every(8_333_333, 12))
    assert [plan.step_count for plan in plans] == [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    assert [plan.remainder for plan in plans] == [
        8_333_333,
        16_666_666,
        24_999_999,
        33_333_332,
        8_333_332,
        16_666_665,
        24_999_998,
        33_333_331,
        8_333_331,
        16_666_664,
        24_999_997,
        33_333_330,
    ]


# C: clocks


def test_c01_time_counted_after_a_step_back_exceeds_real_time(core: Core) -> None:
    """The rule's price, stated: 39 ms are counted in 33 ms, since the next delta starts lower."""
    loop = make_loop(core, 10 * MS, last=100 * MS)
    plans = run(loop, [116 * MS, 110 * MS, 133 * MS])
    counted = sum(due(plan) for plan in plans) * 10 * MS + loop.remainder
    assert counted == 39 * MS > 33 * MS


def test_c05_a_wrapped_millisecond_counter_banks_nothing(core: Core) -> None:
    before, after = 4_294_967_290 * MS, 10 * MS
    raw = make_loop(core, HZ_60, last=before)
    assert outcome(raw.begin_frame(Timestamp(after))) == (0, 0, 0, 0)
    assert raw.last == after

    span = (10 - 4_294_967_290) % 2**32 * MS  # what an adapter of such a counter must hand over
    assert span == 16_000_000
    unwrapped = make_loop(core, HZ_60, last=before)
    assert outcome(unwrapped.begin_frame(Timestamp(before + span))) == (0, 0, 0, 16_000_000)
    assert before + span == 4_294_967_306_000_000 < 2**53 < U64_MAX


def test_c06_the_first_timestamp_is_an_origin(core: Core) -> None:
    first = 1_419_151_612 * SECOND
    anchored = make_loop(core, HZ_60, last=first)
    resynced = make_loop(core, HZ_60)
    resynced.resync(Timestamp(first))
    for loop in (anchored, resynced):
        plans = run(loop, [first, first + HZ_60])
        assert [outcome(plan) for plan in plans] == [(0, 0, 0, 0), (1, 1, 0, 0)]

    from_zero = make_loop(core, HZ_60)  # asked for, and so answered: 45 years
    plan = from_zero.begin_frame(Timestamp(first))
    assert outcome(plan) == (85_149_095_017, 5, 85_149_095_012, 301_661)


def test_c07_the_longest_span_saturates(core: Core) -> None:
    with pytest.raises(OverflowError, match="budget"):
        StepBudget(10**12)
    slow = make_loop(core, HZ_60, budget=U32_MAX, bank=5)
    plan = slow.begin_frame(Timestamp(U64_MAX))
    assert outcome(plan) == (1_106_804_622_286, U32_MAX, 1_102_509_654_991, 8_010_853)
    assert plan.remainder + due(plan) * HZ_60 == U64_MAX, "the bank stopped at its end"

    fast = make_loop(core, 1, budget=U32_MAX)
    assert outcome(fast.begin_frame(Timestamp(U64_MAX))) == (
        U64_MAX,
        U32_MAX,
        18_446_744_069_414_584_320,
        0,
    )


def test_c08_resolution_does_not_fade_with_uptime(core: Core) -> None:
    assert f32(41_943 + 0.0019) == 41_943, "float32 seconds: a step of 3.9 ms after half a day"
    assert f32(1_048_576 + 1 / 30) == 1_048_576, "and after twelve days a frame is nothing"

    late = 1_048_576 * SECOND
    plan = make_loop(core, 33_333_333, budget=1).begin_frame(Timestamp(late))
    assert due(plan) == 31_457_280
    exact = core.FrameLoop(Rate(30), StepBudget(1), start=Timestamp(0)).begin_frame(Timestamp(late))
    assert due(exact) == 31_457_280
    assert exact.remainder == 0

    loop = make_loop(core, 33_333_333, last=late)
    assert loop.begin_frame(Timestamp(late + 1)).remainder == 1


def test_c10_one_reading_a_frame_loses_nothing(core: Core) -> None:
    """Two readings a frame lose the gap between them, a thousand times a second."""
    once = make_loop(core, 10 * MS)
    counted = sum(due(plan) for plan in run(once, every(MS, 1000))) * 10 * MS + once.remainder
    assert counted == SECOND

    twice, total = make_loop(core, 10 * MS, last=1_000), 0
    for k in range(1000):
        total += due(twice.begin_frame(Timestamp((k + 1) * MS)))
        twice.resync(Timestamp((k + 1) * MS + 1_000))
    assert total * 10 * MS + twice.remainder == 999_000_000 == SECOND - 1000 * 1_000


# E: alpha


def test_e02_alpha_moves_on_frames_without_a_step(core: Core) -> None:
    plans = run(make_loop(core, 100 * MS), [130 * MS, 150 * MS, 190 * MS, 200 * MS])
    assert [plan.step_count for plan in plans] == [1, 0, 0, 1]
    assert [plan.alpha() for plan in plans] == [f32(0.3), 0.5, f32(0.9), 0.0]


def test_e03_two_steps_in_a_frame_leave_two_ends_to_draw_between(core: Core) -> None:
    plan = make_loop(core, HZ_60).begin_frame(Timestamp(40 * MS))
    assert outcome(plan) == (2, 2, 0, 6_666_666)
    position = previous = 0
    for step in plan.steps():
        previous, position = position, step.tick + 1
    assert (previous, position) == (1, 2)
    share = plan.remainder / HZ_60  # an exact consumer divides for itself, in double
    assert previous + (position - previous) * share == 1.3999999520000008
    assert plan.alpha() == f32(6_666_666 / HZ_60)
    assert previous + (position - previous) * plan.alpha() == pytest.approx(1.39999995, abs=1e-7)


@pytest.mark.parametrize(
    "dt", [HZ_60, 33_333_333, 33_554_432, 40_000_000, 50_000_000, 2**54 - 1, 2**54, 10**17, U64_MAX]
)
def test_e04_alpha_is_never_one(core: Core, dt: int) -> None:
    alpha = core.FramePlan(0, 0, 0, dt - 1, Timestep(dt)).alpha()
    assert alpha == 0.9999999403953552 == 1 - 2**-24
    if dt >= 33_554_432:
        assert f32(float(dt - 1) / float(dt)) == 1.0, "the fault: plain division rounds up to one"


# F: rates, rounding, drift


@pytest.mark.parametrize(
    ("dt", "ticks", "rest"),
    [
        (17_000_000, 211_764, 12_000_000),
        (16_666_600, 216_000, 14_400_000),
        (16_666_666, 216_000, 144_000),
        (16_666_667, 215_999, 16_594_667),
    ],
)
def test_f01_a_rounded_step_drifts_over_an_hour(core: Core, dt: int, ticks: int, rest: int) -> None:
    plan = make_loop(core, dt, budget=U32_MAX).begin_frame(Timestamp(3_600 * SECOND))
    assert (plan.step_count, plan.remainder) == (ticks, rest)


def test_f01_an_exact_rate_does_not(core: Core) -> None:
    loop = core.FrameLoop(Rate(60), StepBudget(U32_MAX), start=Timestamp(0))
    plan = loop.begin_frame(Timestamp(3_600 * SECOND))
    assert (plan.step_count, plan.remainder) == (216_000, 0)


def test_f01_a_tick_of_a_rate_is_due_at_the_next_whole_nanosecond(core: Core) -> None:
    loop = core.FrameLoop(Rate(60), start=Timestamp(0))
    for k, first_due in enumerate([16_666_667, 33_333_334, 50_000_000], 1):
        assert first_due == -(-k * SECOND // 60)
        assert loop.begin_frame(Timestamp(first_due - 1)).step_count == 0
        assert loop.begin_frame(Timestamp(first_due)).step_count == 1


@pytest.mark.parametrize(
    ("fps", "first_three"),
    [
        (60, [16_666_666, 33_333_333, 50_000_000]),
        (85, [11_764_705, 23_529_411, 35_294_117]),
        (90, [11_111_111, 22_222_222, 33_333_333]),
    ],
)
def test_f02_the_grid_of_a_rate_ends_its_second_exactly(
    core: Core, fps: int, first_three: list[int]
) -> None:
    """The times of the steps. A pacer's deadlines are these rounded up, when a step is due."""
    times = [step.sim_time for step in core.Steps(0, fps + 1, Rate(fps))]
    assert times[1:4] == first_three
    assert times[fps] == SECOND
    assert fps * (SECOND // fps) != SECOND, "the fault: a repeated whole period ends early"


def test_f03_a_clock_in_whole_milliseconds_loses_steps(core: Core) -> None:
    loop = make_loop(core, HZ_60)
    assert sum(plan.step_count for plan in run(loop, every(16_400_000, 1000))) == 983
    assert loop.remainder == 16_666_339
    truncated = make_loop(core, HZ_60)
    assert sum(plan.step_count for plan in run(truncated, every(16 * MS, 1000))) == 959


def test_f04_a_timer_of_300_seconds_takes_300_seconds(core: Core) -> None:
    exact = core.FrameLoop(Rate(60), StepBudget(U32_MAX), start=Timestamp(0))
    assert exact.begin_frame(Timestamp(300 * SECOND)).step_count == 18_000
    assert exact.simulated == 300 * SECOND

    rounded = make_loop(core, HZ_60, budget=U32_MAX)
    assert outcome(rounded.begin_frame(Timestamp(300 * SECOND))) == (17_999, 17_999, 0, 16_660_667)
    assert rounded.begin_frame(Timestamp(300_000_005_999)).step_count == 0
    assert rounded.begin_frame(Timestamp(300_000_006_000)).step_count == 1


def test_f05_ten_tenths_are_one(core: Core) -> None:
    tenths = list(accumulate([0.1] * 10))
    assert tenths[-1] < 1, "the fault: a float clock is not there after ten tenths"

    steps = make_loop(core, 100 * MS, budget=100).begin_frame(Timestamp(SECOND))
    assert outcome(steps) == (10, 10, 0, 0)

    plans = run(make_loop(core, SECOND), every(100 * MS, 10))
    assert [plan.step_count for plan in plans] == [0] * 9 + [1]
    assert plans[-1].alpha() == 0.0


def test_f09_34_milliseconds_are_not_30_hz(core: Core) -> None:
    rounded = make_loop(core, 34 * MS, budget=U32_MAX).begin_frame(Timestamp(60 * SECOND))
    assert outcome(rounded) == (1_764, 1_764, 0, 24_000_000)
    exact = core.FrameLoop(Rate(30), StepBudget(U32_MAX), start=Timestamp(0)).begin_frame(
        Timestamp(60 * SECOND)
    )
    assert outcome(exact) == (1_800, 1_800, 0, 0)


def test_f10_the_odd_half_step_is_kept(core: Core) -> None:
    plans = run(make_loop(core, 20 * MS), every(50 * MS, 4))
    assert [plan.step_count for plan in plans] == [2, 3, 2, 3]
    assert [plan.remainder for plan in plans] == [10 * MS, 0, 10 * MS, 0]


def test_f13_a_new_rate_does_not_price_old_ticks_again(core: Core) -> None:
    """A change of rate is a new loop; each loop's time is its own, and they add up."""
    fast = core.FrameLoop(Rate(60), StepBudget(U32_MAX), start=Timestamp(0))
    fast.begin_frame(Timestamp(10 * SECOND))
    slow = core.FrameLoop(Rate(30), StepBudget(U32_MAX), fast.last)
    slow.begin_frame(Timestamp(11 * SECOND))
    assert (fast.tick, slow.tick) == (600, 30)
    assert fast.simulated + slow.simulated == 11 * SECOND
    assert 630 * SECOND // 30 == 21 * SECOND, "the fault: all ticks at the new rate"


def test_f14_a_catch_up_step_is_as_long_as_any_other(core: Core) -> None:
    loop = make_loop(core, HZ_60)
    plan = loop.begin_frame(Timestamp(66_323_740))
    dts = [step.dt for step in plan.steps()]
    assert dts == [Nanos(HZ_60)] * 3
    assert loop.simulated == sum(dts) == 50_000_001
    assert loop.remainder == 16_323_739
    assert 3 * 66_323_740 == 198_971_220 != loop.simulated


# J: digests


@pytest.mark.parametrize(
    ("data", "digest", "wrong"),
    [
        pytest.param(b"\x80", 0xAF643D4C8602915F, 0x509C0CB379FDEC5F, id="J01-80"),
        pytest.param(b"\xff", 0xAF64724C8602EB6E, None, id="J01-ff"),
        pytest.param(b"a", 0xAF63DC4C8601EC8C, 0xAF63BD4C8601B7BE, id="J02-a"),
        pytest.param(b"foobar", 0x85944171F73967E8, 0x340D8765A4DDA9C2, id="J02-foobar"),
        pytest.param(b"", 0xCBF29CE484222325, 0x14650FB0739D0383, id="J03-empty"),
        pytest.param(b"a", 0xAF63DC4C8601EC8C, 0x789E3E398D3FF5FF, id="J03-a"),
        pytest.param("🦄🌈".encode(), 0xA243ED17175CA587, None, id="J04-utf8"),
        pytest.param(b"hello", 0xA430D84680AABD0B, None, id="J04-hello"),
    ],
)
def test_a_digest_is_fnv_1a_64_over_unsigned_bytes(
    core: Core, data: bytes, digest: int, wrong: int | None
) -> None:
    """Wrong digests: a sign-extended byte, FNV-1's order, a basis with a digit lost or swapped."""
    assert core.StateHash().absorb_bytes(data).finish() == digest != wrong


def test_j02_the_order_of_xor_and_multiply_is_what_tells_fnv_1a_apart(core: Core) -> None:
    fnv_1 = fnv_1a = 0xCBF29CE484222325
    for byte in b"foobar":
        fnv_1 = fnv_1 * 0x100000001B3 % 2**64 ^ byte
        fnv_1a = (fnv_1a ^ byte) * 0x100000001B3 % 2**64
    assert fnv_1 == 0x340D8765A4DDA9C2
    assert core.StateHash().absorb_bytes(b"foobar").finish() == fnv_1a


def test_j04_integers_have_a_width_and_an_order(core: Core) -> None:
    little = core.StateHash().absorb_u64(5)
    assert little.finish() == 0x0DE21504F16DC720
    assert little == core.StateHash().absorb_bytes((5).to_bytes(8, "little"))
    big = core.StateHash().absorb_bytes((5).to_bytes(8, "big"))
    assert big.finish() == 0xA8C7F332281A3146
    assert core.StateHash().absorb_u32(5) not in (little, big)
