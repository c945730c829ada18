"""Timers in ticks: order, delay, cancellation and what happens at the ends of the numbers.

The oracle is a list that is sorted whenever somebody asks, which is what a queue exists not to do.
"""

from __future__ import annotations

import copy
import json
import pickle
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle as Ids
from hypothesis.stateful import (
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from fixedstep import FrameLoop, Rate, StepBudget, Timestamp, Timestep, restore
from fixedstep.sim import History
from fixedstep.sim.frame_clock import FrameClock
from fixedstep.sim.timers import (
    Cadence,
    Deadline,
    DueSet,
    TickExhausted,
    Timer,
    TimerId,
    TimerQueue,
    TimerQueueFull,
)

U64_MAX = 2**64 - 1
MS = 1_000_000


def fired(queue: TimerQueue[str], ticks: range) -> list[tuple[int, str]]:
    """The ticks and payloads that come when each of ``ticks`` is begun."""
    return [(tick, timer.payload) for tick in ticks for timer in queue.begin_tick(tick)]


# order


def test_timers_of_one_tick_fire_in_the_order_they_were_scheduled() -> None:
    queue = TimerQueue[str](16)
    for name in ("c", "a", "b"):
        queue.schedule(0, 5, name)
    assert fired(queue, range(7)) == [(5, "c"), (5, "a"), (5, "b")]


def test_equal_due_ticks_reached_by_different_delays_keep_the_order_of_scheduling() -> None:
    queue = TimerQueue[str](16)
    queue.schedule(0, 5, "first")
    assert fired(queue, range(4)) == []
    queue.schedule(3, 2, "second")
    queue.schedule(3, 1, "sooner")
    assert fired(queue, range(4, 6)) == [(4, "sooner"), (5, "first"), (5, "second")]


def test_a_timer_of_a_period_keeps_its_place_among_equals() -> None:
    """Its place is that of its scheduling, not of its last firing: else it would depend on when
    the others came."""
    queue = TimerQueue[str](16)
    queue.schedule(0, 2, "old", period=2)
    queue.schedule(0, 4, "young")
    assert fired(queue, range(5)) == [(2, "old"), (4, "old"), (4, "young")]


def test_what_fell_due_in_ticks_left_out_comes_by_due_tick_first() -> None:
    queue = TimerQueue[str](16)
    queue.schedule(0, 9, "late")
    queue.schedule(0, 3, "early")
    queue.schedule(0, 9, "late too")
    due = queue.begin_tick(10)
    assert [(timer.due_tick, timer.payload) for timer in due] == [
        (3, "early"),
        (9, "late"),
        (9, "late too"),
    ]


def test_iterating_the_queue_gives_the_order_of_firing_and_takes_nothing() -> None:
    queue = TimerQueue[str](16)
    for delay, name in ((7, "c"), (2, "a"), (7, "d"), (3, "b")):
        queue.schedule(0, delay, name)
    assert [timer.payload for timer in queue] == ["a", "b", "c", "d"]
    assert [timer.sequence for timer in queue] == [1, 3, 0, 2]
    assert [name for _, name in fired(queue, range(9))] == ["a", "b", "c", "d"]
    assert list(queue) == []


# delay


def test_a_delay_of_zero_waits_one_tick() -> None:
    queue = TimerQueue[str](16)
    queue.begin_tick(5)
    queue.schedule(5, 0, "zero")
    queue.schedule(5, 1, "one")
    assert fired(queue, range(6, 8)) == [(6, "zero"), (6, "one")]


def test_the_due_set_does_not_grow_while_it_is_read() -> None:
    """Each firing schedules another at once; a set that grew would never end."""
    queue = TimerQueue[int](16)
    queue.schedule(0, 1, 0)
    seen = []
    for tick in range(1, 6):
        due = queue.begin_tick(tick)
        for timer in due:
            seen.append((tick, timer.payload))
            queue.schedule(tick, 0, timer.payload + 1)
            assert len(due) == 1
    assert seen == [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]


def test_a_full_queue_has_room_for_a_timer_that_schedules_its_successor() -> None:
    queue = TimerQueue[str](1)
    queue.schedule(0, 1, "again")
    for tick in range(1, 50):
        (timer,) = queue.begin_tick(tick)
        queue.schedule(tick, 0, timer.payload)
        assert len(queue) == 1


def test_an_attack_with_a_cooldown_of_30_is_ready_30_ticks_later() -> None:
    cooldown = Deadline()
    attacks = []
    for tick in range(100):
        if not cooldown.armed or cooldown.due(tick):
            attacks.append(tick)
            cooldown.arm(tick, 30)
    assert attacks == [0, 30, 60, 90]


# periods, and the cases from public reports


def ticks_of(delta: int, frames: int) -> list[range]:
    """The ticks of each of ``frames`` frames that are ``delta`` long, at 10 ms a tick."""
    loop = FrameLoop(Timestep(10 * MS), StepBudget(10), start=Timestamp(0))
    return [loop.begin_frame(Timestamp(delta * (n + 1))).ticks for n in range(frames)]


def test_a_timer_of_every_tick_fires_for_each_tick_of_a_long_frame() -> None:
    """bevyengine/bevy#13767: it fired once a frame."""
    (ticks,) = ticks_of(30 * MS, 1)
    assert len(ticks) == 3
    queue = TimerQueue[str](1)
    queue.schedule(0, 1, "beat", period=1)
    ran = range(ticks.start + 1, ticks.stop + 1)  # the case counts ticks from 1
    assert fired(queue, ran) == [(1, "beat"), (2, "beat"), (3, "beat")]


def test_a_timer_that_fired_at_the_tick_of_a_pause_does_not_fire_on() -> None:
    """bevyengine/bevy#4436: it reported its firing until the pause ended."""
    queue = TimerQueue[str](1)
    queue.schedule(0, 60, "once")
    assert fired(queue, range(61)) == [(60, "once")]
    due = queue.begin_tick(61)
    for _ in range(100):  # a hundred frames of a pause: no tick begins
        assert list(due) == []
    assert fired(queue, range(62, 161)) == []


@pytest.mark.parametrize(
    ("immediate", "delay", "ticks"), [(True, 0, [0, 10, 20, 30]), (False, 10, [10, 20, 30])]
)
def test_an_immediate_timer_fires_at_once_and_then_every_period(
    immediate: bool, delay: int, ticks: list[int]
) -> None:
    """bevyengine/bevy#21860: wanted."""
    queue = TimerQueue[str](1)
    queue.schedule(0, delay, "spawn", period=10, immediate=immediate)
    assert [tick for tick, _ in fired(queue, range(31))] == ticks


def test_an_immediate_timer_made_during_a_tick_waits_for_the_next() -> None:
    """The due set of the tick under way is settled; between ticks, the next may still have it."""
    queue = TimerQueue[str](4)
    due = queue.begin_tick(5)
    queue.schedule(5, 0, "during", period=10, immediate=True)
    assert list(due) == []
    queue.schedule(6, 0, "between", immediate=True)
    assert fired(queue, range(6, 17)) == [(6, "during"), (6, "between"), (16, "during")]


def test_lateness_does_not_add_up_over_sixty_firings() -> None:
    """pyglet/pyglet#811: armed anew from now, 60 firings of 200 ms, each handled 4.5 ms late, end
    at 12.27 s. The ticks are nanoseconds here."""
    queue = TimerQueue[str](1)
    queue.schedule(0, 200 * MS, "beat", period=200 * MS)
    deadlines, chained, handled = [], 0, 0
    for k in range(1, 61):
        handled = 200 * MS * k + 4_500_000
        (timer,) = queue.begin_tick(handled)
        deadlines.append(timer.due_tick)
        chained += 200 * MS + 4_500_000
    assert deadlines == [200_000_000 * k for k in range(1, 61)]
    assert (deadlines[-1], handled, chained) == (12_000_000_000, 12_004_500_000, 12_270_000_000)


def test_a_deadline_of_now_is_due_although_floats_could_not_tell() -> None:
    """python/cpython#116342: as a float, a nanosecond later is not later."""
    at = 1_709_510_400_000_000_000
    assert 1709510400.0 + 1e-9 == 1709510400.0
    deadline = Deadline()
    deadline.arm(at - 1, 1)
    assert not deadline.due(at - 1)
    assert deadline.due(at)


def test_a_deadline_on_a_coarse_clock_is_not_early_by_a_quantum() -> None:
    """python/cpython#110695: a timer of 100 ms fired after 78 ms."""
    deadline = Deadline()
    deadline.arm(0, 100_000_000)
    readings = [15_625_000 * k for k in range(10)]
    assert next(now for now in readings if deadline.due(now)) == 109_375_000
    assert not deadline.due(78_125_000)


def test_a_period_that_missed_turns_makes_up_for_one_a_tick() -> None:
    """So that a due set is never longer than the queue, and no firing is lost."""
    queue = TimerQueue[str](4)
    queue.schedule(0, 10, "beat", period=10)
    first = queue.begin_tick(35)
    assert [timer.due_tick for timer in first] == [10]
    later = [(tick, timer.due_tick) for tick in range(36, 51) for timer in queue.begin_tick(tick)]
    assert later == [(36, 20), (37, 30), (40, 40), (50, 50)]


def play(timestamps: list[int], pauses: range) -> list[tuple[int, str]]:
    """What fires in a game of 60 Hz whose frames end at ``timestamps``; in those of ``pauses`` it
    is paused, and its clock is reset."""
    clock = FrameClock(max_delta=None)
    loop = clock.frame_loop(Rate(60), StepBudget(1_000))
    queue = TimerQueue[str](4)
    queue.schedule(0, 45, "wave", period=45)
    queue.schedule(0, 100, "boss")
    seen = []
    for frame, now in enumerate(timestamps):
        if frame in pauses:
            clock.reset()
            continue
        clock.sample(Timestamp(now))
        for tick in loop.begin_frame(clock.frame_time).ticks:
            seen += [(tick, timer.payload) for timer in queue.begin_tick(tick)]
    return seen


@pytest.mark.parametrize("hz", [30, 60, 144, 1_000])
def test_timers_fire_at_the_same_ticks_at_every_frame_rate(hz: int) -> None:
    frames = [k * 10**9 // hz for k in range(5 * hz + 1)]
    seen = play(frames, range(0))
    assert seen == [
        (45, "wave"),
        (90, "wave"),
        (100, "boss"),
        *((tick, "wave") for tick in range(135, 300, 45)),
    ]


def test_a_pause_does_not_bring_a_timer_nearer() -> None:
    """One and the same number of ticks, with and without a pause of eight seconds in between."""
    running = play([k * 10**8 for k in range(31)], range(0))
    paused = play([k * 10**8 for k in range(12 + 80 + 19)], range(12, 92))
    assert running == paused
    assert len(running) == 4


# cancellation


def test_a_cancelled_timer_does_not_fire() -> None:
    queue = TimerQueue[str](4)
    bomb, _ = queue.schedule(0, 3, "bomb"), queue.schedule(0, 3, "door")
    assert queue.cancel(bomb) is True
    assert queue.cancel(bomb) is False
    assert fired(queue, range(10)) == [(3, "door")]


def test_cancelling_stops_a_timer_that_is_due_and_whose_turn_has_not_come() -> None:
    queue = TimerQueue[str](4)
    ids = [queue.schedule(0, 1, name) for name in ("a", "b", "c")]
    seen = []
    for timer in queue.begin_tick(1):
        seen.append(timer.payload)
        if timer.payload == "a":
            assert queue.cancel(ids[1]) is True
    assert seen == ["a", "c"]
    assert fired(queue, range(2, 5)) == []


def test_a_timer_that_was_delivered_cannot_be_stopped() -> None:
    queue = TimerQueue[str](4)
    timer_id = queue.schedule(0, 1, "shot")
    (timer,) = queue.begin_tick(1)
    assert timer.id == timer_id
    assert queue.cancel(timer_id) is False


def test_cancelling_a_period_stops_this_firing_and_all_to_come() -> None:
    queue = TimerQueue[str](4)
    queue.schedule(0, 5, "first")
    beat = queue.schedule(0, 5, "beat", period=5)
    seen = []
    for tick in range(5, 30):
        for timer in queue.begin_tick(tick):
            seen.append((tick, timer.payload))
            assert queue.cancel(beat) is True
    assert seen == [(5, "first")]
    assert len(queue) == 0


def test_a_period_can_cancel_itself_when_it_fires() -> None:
    queue = TimerQueue[str](4)
    beat = queue.schedule(0, 5, "beat", period=5)
    seen = []
    for tick in range(5, 30):
        for timer in queue.begin_tick(tick):
            seen.append(tick)
            if len(seen) == 3:
                assert queue.cancel(timer.id) is True
    assert timer.id == beat
    assert seen == [5, 10, 15]


def test_the_id_of_a_timer_that_is_over_never_stops_another() -> None:
    """A slot would be used again, and the old id would cancel its next owner."""
    queue = TimerQueue[str](1)
    old = queue.schedule(0, 1, "old")
    assert fired(queue, range(1, 3)) == [(1, "old")]
    new = queue.schedule(2, 1, "new")
    assert queue.cancel(old) is False
    assert new != old
    assert fired(queue, range(3, 4)) == [(3, "new")]


def test_an_id_from_before_clear_stops_nothing() -> None:
    """Its sequence is that of the first timer of the new world, too."""
    queue = TimerQueue[str](4)
    old = queue.schedule(0, 1, "old world")
    queue.clear()
    new = queue.schedule(0, 1, "new world")
    assert (old.sequence, new.sequence) == (0, 0)
    assert queue.cancel(old) is False
    assert fired(queue, range(3)) == [(1, "new world")]


def test_a_stale_target_is_for_the_consumer_to_see() -> None:
    """The queue fires for whoever it was told; whether the target lives is asked at delivery."""
    queue = TimerQueue[tuple[str, int]](4)
    alive = {7, 8}
    for entity in (7, 8):
        queue.schedule(0, 2, ("burn", entity))
    queue.begin_tick(1)
    alive.discard(7)
    hits = [timer.payload for timer in queue.begin_tick(2) if timer.payload[1] in alive]
    assert hits == [("burn", 8)]


def test_several_systems_read_one_due_set() -> None:
    queue = TimerQueue[str](8)
    ids = [queue.schedule(0, 1, name) for name in ("ai 1", "fx 1", "ai 2", "fx 2")]
    due = queue.begin_tick(1)
    assert [timer.payload for timer in due if timer.payload.startswith("ai")] == ["ai 1", "ai 2"]
    queue.cancel(ids[3])
    assert [timer.payload for timer in due if timer.payload.startswith("fx")] == ["fx 1"]
    assert len(due) == 4


@pytest.mark.parametrize("end", ["next tick", "clear"])
def test_a_due_set_is_over_with_its_tick(end: str) -> None:
    """Also for somebody who is in the middle of it."""
    queue = TimerQueue[str](4)
    for name in ("a", "b", "c"):
        queue.schedule(0, 1, name)
    due = queue.begin_tick(1)
    reading = iter(due)
    assert next(reading).payload == "a"
    if end == "clear":
        queue.clear()
    else:
        queue.begin_tick(2)
    assert list(reading) == []
    assert list(due) == []


# bounds


def test_a_full_queue_refuses_and_loses_nothing() -> None:
    queue = TimerQueue[str](2)
    first, _ = queue.schedule(0, 5, "a"), queue.schedule(0, 5, "b")
    before = list(queue)
    with pytest.raises(TimerQueueFull, match=r"'c' found no room: 2 timers wait"):
        queue.schedule(0, 5, "c")
    assert list(queue) == before
    assert queue.cancel(first)
    assert queue.schedule(0, 5, "c").sequence == 2, "a refused one took no number"
    assert fired(queue, range(6)) == [(5, "b"), (5, "c")]


def test_overflow_is_a_fault_and_no_bad_argument() -> None:
    assert issubclass(TimerQueueFull, RuntimeError)
    assert issubclass(TickExhausted, OverflowError)


def test_the_last_tick_can_be_waited_for_and_none_beyond() -> None:
    queue = TimerQueue[str](4)
    queue.schedule(U64_MAX - 1, 1, "last")
    with pytest.raises(TickExhausted, match="beyond the last tick"):
        queue.schedule(U64_MAX - 1, 2, "never")
    with pytest.raises(TickExhausted):
        queue.schedule(U64_MAX, 0, "never")
    with pytest.raises(TickExhausted):
        queue.schedule(U64_MAX, U64_MAX, "never")
    assert fired(queue, range(U64_MAX - 1, U64_MAX + 1)) == [(U64_MAX, "last")]


def test_a_period_that_leads_beyond_the_last_tick_leaves_the_queue_as_it_was() -> None:
    queue = TimerQueue[str](4)
    queue.schedule(U64_MAX - 5, 1, "once")
    queue.schedule(U64_MAX - 5, 1, "beat", period=10)
    queue.schedule(U64_MAX - 5, 1, "after")
    before = list(queue)
    assert len(before) == 3
    for _ in range(2):
        with pytest.raises(TickExhausted, match="a periodic timer"):
            queue.begin_tick(U64_MAX - 3)
        assert list(queue) == before
    assert queue.cancel(before[1].id)
    due = queue.begin_tick(U64_MAX - 3)
    assert [timer.payload for timer in due] == ["once", "after"]


def test_cancelled_timers_do_not_pile_up() -> None:
    """A heap cannot give up its middle, so the dead stay for a while: for a while only."""
    queue = TimerQueue[int](8)
    keep = queue.schedule(0, 2_000_000, -1)
    for n in range(10_000):
        assert queue.cancel(queue.schedule(0, 1_000_000 + n, n))
        assert len(queue._heap) <= 2 * len(queue) + 17
    assert len(queue) == 1
    assert [timer.id for timer in queue.begin_tick(2_000_000)] == [keep]


def test_the_order_survives_the_sweep_of_cancelled_timers() -> None:
    queue = TimerQueue[int](200)
    ids = {delay: queue.schedule(0, delay, delay) for delay in range(100, 0, -1)}
    for delay in range(100, 0, -1):
        if delay % 4:
            queue.cancel(ids[delay])
    assert len(queue._heap) < 100, "there was a sweep"
    expected = [(delay, delay) for delay in range(4, 101, 4)]
    seen = [(n, timer.payload) for n in range(101) for timer in queue.begin_tick(n)]
    assert seen == expected


@pytest.mark.parametrize("capacity", [0, -1, 2**64, 1.5, None, "16"])
def test_a_capacity_that_is_none_is_refused(capacity: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError), match="capacity must be"):
        TimerQueue[str](capacity)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"now_tick": 1.0}, TypeError, "now_tick must be"),
        ({"now_tick": -1}, OverflowError, "now_tick must be"),
        ({"now_tick": 2**64}, OverflowError, "now_tick must be"),
        ({"now_tick": 6}, ValueError, "now_tick must be the tick under way, 7, or later, not 6"),
        ({"delay": "3"}, TypeError, "delay must be"),
        ({"delay": -1}, OverflowError, "delay must be"),
        ({"period": 0}, ValueError, "period must be"),
        ({"period": -1}, OverflowError, "period must be"),
        ({"period": 0.5}, TypeError, "period must be"),
        ({"immediate": True}, ValueError, "delay must be 0 ticks for an immediate timer, not 3"),
    ],
)
def test_a_timer_that_is_refused_changes_nothing(
    arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    queue = TimerQueue[str](4)
    queue.schedule(0, 20, "there")
    queue.begin_tick(7)
    before = list(queue)
    with pytest.raises(error, match=text):
        queue.schedule(**{"now_tick": 7, "delay": 3, "payload": "no", **arguments})
    assert list(queue) == before
    assert queue.schedule(7, 3, "yes").sequence == 1


@pytest.mark.parametrize("tick", [7, 6, -1, 2**64, 8.0, None])
def test_a_tick_that_cannot_begin_changes_nothing(tick: Any) -> None:
    queue = TimerQueue[str](4)
    queue.schedule(0, 7, "now")
    queue.schedule(0, 8, "next")
    due = queue.begin_tick(7)
    with pytest.raises((TypeError, ValueError, OverflowError), match="tick must be"):
        queue.begin_tick(tick)
    assert [timer.payload for timer in due] == ["now"], "the due set is not over either"
    assert fired(queue, range(8, 9)) == [(8, "next")]


@pytest.mark.parametrize("wrong", [None, 0, (0, 0), "0"])
def test_only_an_id_cancels(wrong: Any) -> None:
    queue = TimerQueue[str](4)
    queue.schedule(0, 1, "there")
    with pytest.raises(TypeError, match="timer_id must be a TimerId"):
        queue.cancel(wrong)
    assert len(queue) == 1


def test_a_timer_cannot_be_changed_by_whoever_gets_it() -> None:
    queue = TimerQueue[str](4)
    queue.schedule(0, 1, "beat", period=1)
    (timer,) = queue.begin_tick(1)
    with pytest.raises(AttributeError):
        timer.due_tick = 99  # type: ignore[misc]
    assert isinstance(timer, Timer)
    assert timer == Timer(TimerId(0, 0), 1, "beat", 1)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda q: pickle.loads(pickle.dumps(q))])
def test_a_copy_goes_its_own_way(how: Any) -> None:
    queue = TimerQueue[str](4)
    queue.clear()  # so that ids are of the second generation
    beat = queue.schedule(0, 2, "beat", period=3)
    queue.schedule(0, 4, "once")
    assert fired(queue, range(3)) == [(2, "beat")]
    twin = how(queue)
    assert list(twin) == list(queue) != []
    expected = [(4, "once"), (5, "beat"), (8, "beat")]
    assert fired(queue, range(3, 10)) == expected
    assert queue.cancel(beat)
    assert fired(twin, range(3, 10)) == expected
    assert (len(queue), len(twin)) == (0, 1)
    assert twin.schedule(9, 1, "next").sequence == 2
    assert twin.cancel(beat)


# the other two


def test_a_loaded_queue_fires_as_if_it_had_never_been_saved() -> None:
    """The timer of a period was scheduled last and would come first if all were scheduled anew in
    the order of iteration, as a saved game used to be advised to do."""
    timers = TimerQueue[str](capacity=8)
    timers.schedule(0, 120, "door")
    trap = timers.schedule(0, 20, "trap", period=20)
    for tick in range(91):
        timers.begin_tick(tick)
    loaded = TimerQueue.from_dict(json.loads(json.dumps(timers.to_dict())))
    anew = TimerQueue[str](capacity=8)
    for timer in timers:
        anew.schedule(90, timer.due_tick - 90, timer.payload, period=timer.period)
    fired = [
        [(tick, due.payload) for tick in range(91, 130) for due in queue.begin_tick(tick)]
        for queue in (timers, loaded, anew)
    ]
    assert fired[0] == fired[1] == [(100, "trap"), (120, "door"), (120, "trap")]
    assert fired[2] == [(100, "trap"), (120, "trap"), (120, "door")]
    assert loaded.cancel(trap)
    assert loaded.schedule(130, 5, "new") == timers.schedule(130, 5, "new")


@pytest.mark.parametrize(
    "change",
    [
        {"capacity": 0},
        {"capacity": 1},
        {"generation": -1},
        {"sequence": 1},
        {"sequence": 1.0},
        {"begun": True},
        {"begun": -2},
        {"timers": None},
        {"timers": [[0, 30, None]]},
        {"timers": [[0, 30, 0, "x"]]},
        {"timers": [[0, -1, None, "x"]]},
        {"timers": [[1, 30, None, "x"], [0, 30, None, "y"]]},
        {"timers": [[0, 30, None, "x"], [0, 30, None, "y"]]},
        {"timers": ["abcd"]},
        {"more": 1},
    ],
)
def test_a_damaged_queue_is_refused(change: dict[str, Any]) -> None:
    timers = TimerQueue[str](capacity=8)
    timers.schedule(0, 30, "wave", period=60)
    timers.schedule(0, 90, "boss")
    assert list(TimerQueue.from_dict(timers.to_dict())) == list(timers)
    with pytest.raises(ValueError, match=r"must be|a queue has|a timer has"):
        TimerQueue.from_dict(timers.to_dict() | change)
    wrongs: list[Any] = [None, [], {}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="a queue has capacity, generation"):
            TimerQueue.from_dict(wrong)


def test_queues_are_equal_if_the_same_timers_wait_under_the_same_ids() -> None:
    def made(*delays: int) -> TimerQueue[str]:
        queue = TimerQueue[str](capacity=32)
        for delay in delays:
            queue.schedule(0, delay, "wave", period=60)
        return queue

    one, other = made(30, 90), made(30, 90)
    assert one == other
    assert one != made(90, 30)
    assert one != made(30)
    assert one != "queue"
    one.begin_tick(30)
    assert one != other
    other.begin_tick(30)
    assert one == other
    for queue in (one, other):  # the one has a dead entry in its heap, the other has not
        queue.cancel(queue.schedule(30, 5, "spark"))
    other._heap = [entry for entry in other._heap if entry[1] < 2]
    assert one == other
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_a_queue_survives_pickle_and_deepcopy_and_a_damaged_pickle_is_refused() -> None:
    queue = TimerQueue[list[int]](capacity=8)
    first = queue.schedule(0, 30, [1], period=60)
    queue.schedule(0, 90, [2])
    queue.begin_tick(30)
    for twin in (pickle.loads(pickle.dumps(queue)), copy.deepcopy(queue)):
        assert twin == queue
        assert [timer.payload for timer in twin.begin_tick(90)] == [[1], [2]]
        assert twin.cancel(first)
        assert twin != queue
    damaged = pickle.dumps(queue).replace(b"capacity", b"capacitz")
    with pytest.raises(ValueError, match="a queue has capacity"):
        pickle.loads(damaged)
    shared = next(iter(copy.deepcopy(queue))).payload
    assert shared is not next(iter(queue)).payload


def test_a_pickled_timer_is_equal_and_a_damaged_one_is_refused() -> None:
    queue = TimerQueue[str](capacity=4)
    first = queue.schedule(0, 30, "wave", period=60)
    (timer,) = queue
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps((first, timer), protocol)) == (first, timer)
    assert copy.deepcopy(timer) == timer
    for kind, state in (
        ("sim.TimerId", ("0", 0)),
        ("sim.TimerId", (0, -1)),
        ("sim.Timer", ((0, 0), 30, "wave", 60)),
        ("sim.Timer", (first, "30", "wave", 60)),
        ("sim.Timer", (first, 30, "wave", 0)),
    ):
        with pytest.raises((TypeError, ValueError, OverflowError), match="must be"):
            restore(kind, *state)


def test_a_deadline_is_due_from_its_tick_on() -> None:
    deadline = Deadline()
    deadline.arm(20, 100)
    assert [deadline.due(tick) for tick in (0, 119, 120, 121, U64_MAX)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert deadline.armed, "it stays armed after it expired"


def test_a_deadline_is_pending_while_it_is_armed_and_not_yet_due() -> None:
    """A weapon on cooldown, a player in the grace period: one word each."""
    deadline = Deadline()
    assert not any(deadline.pending(tick) for tick in (0, 119, U64_MAX)), "not armed"
    deadline.arm(20, 100)
    assert [deadline.pending(tick) for tick in (0, 119, 120, U64_MAX)] == [True, True, False, False]
    deadline.disarm()
    assert not deadline.pending(0)
    for wrong in (1.5, None, "1"):
        with pytest.raises(TypeError, match="tick must be"):
            deadline.pending(wrong)  # type: ignore[arg-type]


def test_a_deadline_of_no_delay_is_due_at_once() -> None:
    deadline = Deadline()
    deadline.arm(5, 0)
    assert deadline.due(5)


def test_a_deadline_that_is_not_armed_is_never_due() -> None:
    """An inactive state of its own: a tick number that stands for none would be due some day."""
    deadline = Deadline()
    assert not deadline.armed
    assert deadline.at is None
    assert not any(deadline.due(tick) for tick in (0, 1, U64_MAX))
    deadline.arm(0, 0)
    assert deadline.due(0)
    deadline.disarm()
    assert (deadline.armed, deadline.due(U64_MAX)) == (False, False)


@pytest.mark.parametrize(
    ("now", "delay", "error"),
    [
        (U64_MAX, 1, TickExhausted),
        (1, U64_MAX, TickExhausted),
        (-1, 0, OverflowError),
        (0, 2**64, OverflowError),
        (1.5, 0, TypeError),
        (0, "1", TypeError),
    ],
)
def test_a_deadline_that_cannot_be_armed_keeps_the_old_one(
    now: Any, delay: Any, error: type[Exception]
) -> None:
    deadline = Deadline()
    deadline.arm(100, 20)
    with pytest.raises(error):
        deadline.arm(now, delay)
    assert deadline.at == 120
    assert (deadline.due(119), deadline.due(120)) == (False, True)


def test_a_deadline_reaches_the_last_tick() -> None:
    deadline = Deadline()
    deadline.arm(U64_MAX - 30, 30)
    assert (deadline.due(U64_MAX - 1), deadline.due(U64_MAX)) == (False, True)


@pytest.mark.parametrize("deadline", [Deadline(), Deadline(0), Deadline(120)])
def test_a_deadline_is_a_plain_value(deadline: Deadline) -> None:
    assert eval(repr(deadline)) == deadline
    for twin in (
        copy.copy(deadline),
        copy.deepcopy(deadline),
        pickle.loads(pickle.dumps(deadline)),
    ):
        assert twin == deadline
        twin.arm(1, 1)
        assert twin != deadline
    assert deadline != 120


@given(period=st.integers(1, 50), phase=st.integers(0, 49), start=st.integers(0, 1_000))
def test_a_cadence_comes_once_in_every_period(period: int, phase: int, start: int) -> None:
    cadence = Cadence(period, phase % period)
    due = [tick for tick in range(start, start + 3 * period) if cadence.due(tick)]
    assert len(due) == 3
    assert {b - a for a, b in pairwise(due)} == {period}
    assert all(tick % period == phase % period for tick in due)


@pytest.mark.parametrize("hz", [30, 60, 144, 1_000])
def test_a_cadence_decides_at_the_same_ticks_at_every_frame_rate(hz: int) -> None:
    cadence = Cadence.spread(12, creation_sequence=31)
    loop = FrameLoop(Rate(60), StepBudget(5), start=Timestamp(0))
    thought, ticks = [], 0
    for k in range(2 * hz):
        plan = loop.begin_frame(Timestamp((k + 1) * 10**9 // hz))
        ticks += len(plan.ticks)
        thought += [tick for tick in plan.ticks if cadence.due(tick)]
    assert ticks == 120
    assert thought == [7, 19, 31, 43, 55, 67, 79, 91, 103, 115]


def test_things_made_in_a_row_take_turns() -> None:
    crowd = [Cadence.spread(8, n) for n in range(80)]
    work = [sum(cadence.due(tick) for cadence in crowd) for tick in range(24)]
    assert work == [10] * 24
    together = [Cadence(8) for _ in range(80)]
    assert sorted(sum(c.due(tick) for c in together) for tick in range(24)) == [0] * 21 + [80] * 3


@pytest.mark.parametrize(
    ("period", "phase", "error"),
    [(0, 0, ValueError), (4, 4, ValueError), (-1, 0, OverflowError), (4, -1, OverflowError),
     (2.5, 0, TypeError), (4, None, TypeError)],
)  # fmt: skip
def test_a_cadence_that_is_none_is_refused(period: Any, phase: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"(period|phase) must be"):
        Cadence(period, phase)


def test_a_cadence_is_a_plain_value() -> None:
    cadence = Cadence(4, 3)
    assert eval(repr(cadence)) == cadence == pickle.loads(pickle.dumps(cadence))
    assert hash(cadence) == hash(Cadence(4, 3))
    assert cadence != Cadence(4, 2)
    assert cadence != (4, 3)
    assert (cadence.period, cadence.phase) == (4, 3)


# against a list that is sorted whenever somebody asks


class Naive:
    """What a timer queue means, without any thought for cost."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.rows: list[list[Any]] = []  # due, sequence, payload, period
        self.due: list[tuple[int, int, Any]] = []
        self.delivered: set[int] = set()
        self.sequence = 0
        self.begun = -1

    def schedule(
        self, now: int, delay: int, payload: int, period: int | None, at_once: bool
    ) -> int:
        due = now if at_once and now > self.begun else now + max(delay, 1)
        self.rows.append([due, self.sequence, payload, period])
        self.sequence += 1
        return self.sequence - 1

    def begin_tick(self, tick: int) -> None:
        self.begun = tick
        self.delivered = set()
        taken = sorted(row for row in self.rows if row[0] <= tick)
        self.due = [(row[0], row[1], row[2]) for row in taken]
        for row in taken:
            if row[3] is None:
                self.rows.remove(row)
            else:
                row[0] += row[3]

    def cancel(self, sequence: int) -> bool:
        waiting = [row for row in self.rows if row[1] == sequence]
        open_ = [row for row in self.due if row[1] == sequence]
        for row in waiting:
            self.rows.remove(row)
        for due in open_:
            self.due.remove(due)
        return bool(waiting) or any(due[1] not in self.delivered for due in open_)


class QueueAgainstNaive(RuleBasedStateMachine):
    """Any sequence of calls: equal due sets, answers and rest."""

    ids = Ids("ids")

    @initialize(capacity=st.sampled_from([1, 2, 5, 40]))
    def start(self, capacity: int) -> None:
        self.queue = TimerQueue[int](capacity)
        self.naive = Naive(capacity)
        self.due: DueSet[int] = self.queue.begin_tick(0)
        self.naive.begin_tick(0)
        self.tick = 0
        self.payload = 0

    @rule(
        target=ids,
        ahead=st.sampled_from([0, 0, 0, 1, 3]),
        delay=st.sampled_from([0, 1, 2, 3]) | st.integers(0, 40),
        period=st.none() | st.integers(1, 6),
        at_once=st.booleans(),
    )
    def schedule(self, ahead: int, delay: int, period: int | None, at_once: bool) -> Any:
        now, self.payload = self.tick + ahead, self.payload + 1
        delay = 0 if at_once else delay
        try:
            timer_id = self.queue.schedule(
                now, delay, self.payload, period=period, immediate=at_once
            )
        except TimerQueueFull:
            assert len(self.naive.rows) == self.naive.capacity
            return multiple()
        assert len(self.naive.rows) < self.naive.capacity
        assert timer_id.sequence == self.naive.schedule(now, delay, self.payload, period, at_once)
        return timer_id

    @rule(timer_id=ids)
    def cancel(self, timer_id: TimerId) -> None:
        assert self.queue.cancel(timer_id) == (
            timer_id.generation == self.queue._generation and self.naive.cancel(timer_id.sequence)
        )

    @rule(timer_id=consumes(ids))
    def cancel_and_forget(self, timer_id: TimerId) -> None:
        self.cancel(timer_id)

    @rule(step=st.sampled_from([1, 1, 1, 1, 2, 7]))
    def begin(self, step: int) -> None:
        self.tick += step
        self.due = self.queue.begin_tick(self.tick)
        self.naive.begin_tick(self.tick)

    @rule(count=st.integers(0, 5))
    def deliver_some(self, count: int) -> None:
        expected = self.naive.due[:count]
        reading = iter(self.due)
        seen = [next(reading) for _ in expected]
        assert [(t.due_tick, t.sequence, t.payload) for t in seen] == expected
        self.naive.delivered |= {sequence for _, sequence, _ in expected}

    @rule()
    def go_on_with_a_copy(self) -> None:
        """The due set stays with the original, so what is due can no longer be cancelled."""
        self.queue = copy.copy(self.queue)
        self.due, self.naive.due = DueSet(0, {}), []

    @rule()
    def clear(self) -> None:
        self.queue.clear()
        self.naive = Naive(self.naive.capacity)
        assert list(self.due) == []
        self.start_again()

    def start_again(self) -> None:
        self.tick = 0
        self.due = self.queue.begin_tick(0)
        self.naive.begin_tick(0)

    @invariant()
    def the_same_timers_wait(self) -> None:
        if not hasattr(self, "queue"):
            return
        waiting = [(t.due_tick, t.sequence, t.payload, t.period) for t in self.queue]
        assert waiting == sorted(map(tuple, self.naive.rows))
        assert len(self.queue) == len(self.naive.rows) <= self.naive.capacity


TestQueueAgainstNaive = QueueAgainstNaive.TestCase
TestQueueAgainstNaive.settings = settings(stateful_step_count=40)


def test_the_machine_would_notice_another_order() -> None:
    """The control: a queue that breaks ties by payload, or forgets the minimum delay."""
    machine = QueueAgainstNaive()
    machine.start(5)
    machine.schedule(0, 3, None, False)
    machine.schedule(0, 3, None, False)
    machine.the_same_timers_wait()
    machine.naive.rows[0][1], machine.naive.rows[1][1] = 1, 0
    with pytest.raises(AssertionError):
        machine.the_same_timers_wait()
    machine.naive.rows[0][1], machine.naive.rows[1][1] = 0, 1
    machine.naive.rows[0][0] -= 1
    with pytest.raises(AssertionError):
        machine.the_same_timers_wait()


def test_state_of_the_library_in_a_world_is_digested_as_its_values(core: Any) -> None:
    timers: TimerQueue[str] = TimerQueue(4)
    timers.schedule(0, 30, "wave")
    same = TimerQueue.from_dict(timers.to_dict())
    later = copy.deepcopy(timers)
    later.schedule(0, 30, "wave")
    assert core.digest(timers) == core.digest(same) != core.digest(later)
    assert core.digest(Deadline(5)) == core.digest(Deadline(5)) != core.digest(Deadline(6))
    assert core.digest(Deadline()) != core.digest(Deadline(0))
    assert core.digest(Cadence(4, 3)) == core.digest(Cadence(4, 3)) != core.digest(Cadence(4, 2))
    moved = History(1)
    moved.set(2)
    assert core.digest(moved) == core.digest(History(2)) != core.digest(History(1))
