"""Requests of ticks: published with the tick or not at all, delivered once, bounded."""

from __future__ import annotations

import copy
import doctest
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, StepBudget, Timestamp, Timestep
from fixedstep.sim import outbox as module
from fixedstep.sim.outbox import Outbox, OutboxOverflow, Record


def test_the_examples_are_true() -> None:
    results = doctest.testmod(module)
    assert results.failed == 0
    assert results.attempted >= 16


def kinds(records: tuple[Record, ...]) -> list[Any]:
    return [record.kind for record in records]


def tick(outbox: Outbox, number: int, *optional: Any, required: tuple[Any, ...] = ()) -> None:
    """A tick that stages these and succeeds."""
    outbox.begin_tick(number)
    for kind in optional:
        outbox.stage(kind)
    for kind in required:
        outbox.stage(kind, required=True)
    outbox.publish()


# publication and delivery


def test_a_record_says_where_it_comes_from() -> None:
    outbox = Outbox(world="level 2")
    outbox.begin_tick(30)
    assert outbox.stage("damage", (1, 2), ("guard", 5))
    assert outbox.stage("death", anchor=(3, 4), required=True)
    assert outbox.publish() == 2
    assert outbox.deliver() == (
        Record("level 2", 30, 0, "damage", (1, 2), ("guard", 5)),
        Record("level 2", 30, 1, "death", (3, 4), None),
    )


def test_nothing_is_delivered_before_its_tick_succeeded() -> None:
    outbox = Outbox()
    tick(outbox, 0, "earlier")
    outbox.begin_tick(1)
    outbox.stage("sound")
    assert kinds(outbox.deliver()) == ["earlier"]
    assert outbox.deliver() == ()
    outbox.publish()
    assert kinds(outbox.deliver()) == ["sound"]


def test_a_fault_after_staging_a_sound_delivers_no_sound() -> None:
    outbox = Outbox()
    tick(outbox, 0, "footstep")
    tick(outbox, 1, "door")
    outbox.begin_tick(2)
    outbox.stage("explosion")
    outbox.stage("music", required=True)
    assert outbox.discard() == 2
    assert kinds(outbox.deliver()) == ["footstep", "door"], "those of earlier ticks stay"
    assert outbox.deliver() == ()
    assert (outbox.discarded, outbox.dropped, len(outbox)) == (2, 0, 0)


@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize("frames", [[4], [1, 1, 1, 1], [0, 3, 0, 1], [2, 0, 0, 2]])
def test_every_request_is_delivered_once_whether_or_not_a_frame_is_drawn(
    frames: list[int], drawn: bool
) -> None:
    """Several ticks in a frame, and frames that skip drawing: what is drawn has no part in it."""
    outbox, number, seen, pictures = Outbox(), 0, [], 0
    for ticks in frames:
        for _ in range(ticks):
            tick(outbox, number, f"a{number}", f"b{number}")
            number += 1
        seen += kinds(outbox.deliver())
        pictures += drawn
    assert pictures == (len(frames) if drawn else 0)
    assert seen == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"]
    assert outbox.deliver() == ()


@given(deltas=st.lists(st.integers(0, 60_000_000), min_size=1, max_size=60))
def test_the_same_requests_arrive_under_any_frame_times(deltas: list[int]) -> None:
    loop, outbox, now = (
        FrameLoop(Timestep(10_000_000), StepBudget(2**32 - 1), start=Timestamp(0)),
        Outbox(64),
        0,
    )
    seen: list[Record] = []
    for delta in deltas:
        now += delta
        for number in loop.begin_frame(Timestamp(now)).ticks:
            tick(outbox, number, *(["step"] if number % 2 else ["step", "dust"]))
        seen += outbox.deliver()
    expected = [
        (number, sequence)
        for number in range(sum(deltas) // 10_000_000)
        for sequence in range(1 if number % 2 else 2)
    ]
    assert [(record.tick, record.sequence) for record in seen] == expected
    assert outbox.dropped == 0


def test_requests_wait_for_a_frame_that_is_long_in_coming() -> None:
    outbox = Outbox()
    for number in range(20):
        tick(outbox, number, number)
    assert len(outbox) == 20
    assert kinds(outbox.deliver()) == list(range(20))


# bounds


def test_a_tick_stages_64_and_the_65th_is_dropped_and_counted() -> None:
    outbox = Outbox()
    outbox.begin_tick(0)
    assert [outbox.stage(n) for n in range(65)] == [True] * 64 + [False]
    assert (outbox.staged, outbox.dropped) == (64, 1)
    assert outbox.publish() == 64
    assert kinds(outbox.deliver()) == list(range(64))


def test_64_wait_for_delivery_and_more_are_dropped_and_counted() -> None:
    outbox = Outbox()
    tick(outbox, 0, *range(60))
    tick(outbox, 1, *range(100, 110))
    assert (len(outbox), outbox.dropped) == (64, 6)
    assert kinds(outbox.deliver()) == [*range(60), 100, 101, 102, 103], "the last ones went"
    tick(outbox, 2, *range(64))
    assert (len(outbox), outbox.dropped) == (64, 6), "and delivery made room"


def test_a_gap_in_the_sequence_tells_of_a_dropped_record() -> None:
    outbox = Outbox(staged_capacity=2)
    outbox.begin_tick(0)
    for name in ("spark", "smoke", "dust"):
        outbox.stage(name)
    outbox.stage("exit", required=True)
    outbox.publish()
    assert [(record.sequence, record.kind) for record in outbox.deliver()] == [
        (0, "spark"),
        (3, "exit"),
    ]
    assert outbox.dropped == 2


def test_a_required_record_takes_the_place_of_the_optional_one_staged_last() -> None:
    outbox = Outbox(staged_capacity=3)
    outbox.begin_tick(0)
    outbox.stage("spark")
    outbox.stage("smoke")
    outbox.stage("gate", required=True)
    assert outbox.stage("exit", required=True)
    assert outbox.stage("score", required=True)
    assert outbox.dropped == 2
    outbox.publish()
    assert kinds(outbox.deliver()) == ["gate", "exit", "score"]


def test_required_records_are_published_before_optional_ones_find_room() -> None:
    """In the order of staging none the less."""
    outbox = Outbox(capacity=3)
    tick(outbox, 0, "waiting")
    outbox.begin_tick(1)
    outbox.stage("spark")
    outbox.stage("exit", required=True)
    outbox.stage("smoke")
    assert outbox.publish() == 2
    assert kinds(outbox.deliver()) == ["waiting", "spark", "exit"]
    assert outbox.dropped == 1


def test_a_required_record_without_room_fails_and_changes_nothing() -> None:
    outbox = Outbox(capacity=3)
    tick(outbox, 0, "waiting")
    outbox.begin_tick(1)
    outbox.stage("spark")
    outbox.stage("gate", required=True)
    outbox.stage("exit", required=True)
    for _ in range(2):
        with pytest.raises(OutboxOverflow, match=r"'score' found no room in tick 1: 2 required"):
            outbox.stage("score", required=True)
        assert (outbox.staged, outbox.dropped, len(outbox)) == (3, 0, 1)
    assert outbox.stage("smoke"), "an optional one may still hope"
    assert outbox.publish() == 2
    delivered = outbox.deliver()
    assert kinds(delivered) == ["waiting", "gate", "exit"]
    assert [record.sequence for record in delivered] == [0, 1, 2], "the failed one took no number"


def test_a_tick_has_no_more_required_records_than_it_may_stage() -> None:
    outbox = Outbox(capacity=64, staged_capacity=2)
    outbox.begin_tick(0)
    for name in ("a", "b"):
        outbox.stage(name, required=True)
    with pytest.raises(OutboxOverflow, match="2 required staged of at most 2"):
        outbox.stage("c", required=True)
    assert issubclass(OutboxOverflow, RuntimeError)


def test_room_for_required_records_is_known_before_the_world_changes() -> None:
    """A commit that will stage three spawn effects asks first: what it does cannot be undone."""
    outbox = Outbox(capacity=5, staged_capacity=4)
    outbox.begin_tick(0)
    assert outbox.room_for_required() == 4
    outbox.stage("spark")
    assert outbox.room_for_required() == 4, "optional ones give way"
    outbox.stage("exit", required=True)
    assert outbox.room_for_required() == 3
    outbox.publish()
    outbox.begin_tick(1)
    assert outbox.room_for_required() == 3, "two wait, and are not given up"
    for n in range(3):
        outbox.stage(n, required=True)
    assert outbox.room_for_required() == 0
    with pytest.raises(OutboxOverflow):
        outbox.stage("one more", required=True)
    outbox.deliver()
    assert outbox.room_for_required() == 0, "settled when the tick begins, whoever delivers"
    outbox.publish()
    assert outbox.room_for_required() == 2


requests = st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=12)


@given(
    capacity=st.integers(1, 8),
    staged_capacity=st.integers(1, 6),
    ticks=st.lists(st.tuples(requests, st.booleans(), st.booleans()), max_size=12),
)
def test_every_request_is_accounted_for(
    capacity: int,
    staged_capacity: int,
    ticks: list[tuple[list[tuple[bool, int]], bool, bool]],
) -> None:
    """Staged = delivered + waiting + dropped + discarded, and no required one is ever dropped."""
    outbox = Outbox(capacity, staged_capacity)
    asked, promised, delivered = 0, [], list[Record]()
    for number, (wanted, succeeds, draws) in enumerate(ticks):
        outbox.begin_tick(number)
        required: list[tuple[int, int]] = []
        sequence = 0
        for is_required, kind in wanted:
            room = outbox.room_for_required()
            try:
                outbox.stage(kind, required=is_required)
            except OutboxOverflow:
                assert is_required
                assert room == 0
                continue
            assert room > 0 or not is_required
            if is_required:
                required.append((number, sequence))
            sequence += 1
        asked += sequence
        assert outbox.staged <= staged_capacity
        if succeeds:
            outbox.publish()
            promised += required
        else:
            outbox.discard()
        assert len(outbox) <= capacity
        if draws:
            delivered += outbox.deliver()
    delivered += outbox.deliver()
    places = [(record.tick, record.sequence) for record in delivered]
    assert places == sorted(set(places))
    assert set(promised) <= set(places)
    assert asked == len(delivered) + outbox.dropped + outbox.discarded


# records are values


def test_a_record_cannot_be_changed() -> None:
    outbox = Outbox()
    tick(outbox, 0, "hit")
    (record,) = outbox.deliver()
    with pytest.raises(AttributeError):
        record.kind = "miss"  # type: ignore[misc]
    assert hash(record) == hash(Record(0, 0, 0, "hit", None, None))
    assert pickle.loads(pickle.dumps(record)) == record


@pytest.mark.parametrize("name", ["kind", "anchor", "data"])
@pytest.mark.parametrize("value", [[3, 4], {"x": 3}, {3}, bytearray(b"34")])
def test_what_could_change_after_staging_is_refused(name: str, value: Any) -> None:
    """A list would be the entity's own, and move on with it until the record is delivered."""
    outbox = Outbox()
    outbox.begin_tick(0)
    with pytest.raises(TypeError, match=rf"{name} must be a value that cannot change"):
        outbox.stage(**{"kind": "hit", name: value})
    assert outbox.staged == 0
    frozen: dict[str, Any] = {"kind": "hit", name: tuple(value)}
    assert outbox.stage(**frozen)


def test_an_effect_is_where_its_entity_was() -> None:
    position = [3, 4]
    outbox = Outbox()
    outbox.begin_tick(0)
    outbox.stage("death", tuple(position))
    position[:] = [0, 0]
    outbox.publish()
    assert outbox.deliver()[0].anchor == (3, 4)


# order of calls


def test_nothing_is_staged_or_published_outside_a_tick() -> None:
    outbox = Outbox()
    for number in (5, 6):
        assert outbox.tick is None
        with pytest.raises(RuntimeError, match="'hit' was staged outside a tick"):
            outbox.stage("hit")
        with pytest.raises(RuntimeError, match="no tick to publish"):
            outbox.publish()
        assert outbox.discard() == 0
        assert outbox.deliver() == ()
        tick(outbox, number, "staged within")
        assert kinds(outbox.deliver()) == ["staged within"]


def test_a_tick_that_was_left_open_is_not_lost_silently() -> None:
    outbox = Outbox()
    outbox.begin_tick(0)
    outbox.stage("hit")
    with pytest.raises(RuntimeError, match="tick 0 is neither published nor discarded"):
        outbox.begin_tick(1)
    assert (outbox.tick, outbox.staged) == (0, 1)
    outbox.publish()
    outbox.begin_tick(1)
    assert kinds(outbox.deliver()) == ["hit"]


@pytest.mark.parametrize("number", [4, 3, 0, -1, 2**64, 5.0, None])
def test_a_tick_that_cannot_begin_changes_nothing(number: Any) -> None:
    outbox = Outbox()
    tick(outbox, 4, "hit")
    with pytest.raises((TypeError, ValueError, OverflowError), match="tick must be"):
        outbox.begin_tick(number)
    assert outbox.tick is None
    outbox.begin_tick(5)
    assert kinds(outbox.deliver()) == ["hit"]


def test_a_tick_that_failed_may_be_tried_again() -> None:
    outbox = Outbox()
    outbox.begin_tick(3)
    outbox.stage("wrong")
    outbox.discard()
    tick(outbox, 3, "right")
    assert [(r.kind, r.sequence) for r in outbox.deliver()] == [("right", 0)]


def test_another_world_begins_with_an_empty_outbox() -> None:
    outbox = Outbox(world="level 1")
    tick(outbox, 70, "old", "old too")
    outbox.begin_tick(71)
    outbox.stage("unfinished")
    assert outbox.clear("level 2") == 3
    assert (outbox.world, outbox.tick, outbox.discarded, len(outbox)) == ("level 2", None, 3, 0)
    tick(outbox, 0, "new")
    assert [(r.world, r.tick, r.kind) for r in outbox.deliver()] == [("level 2", 0, "new")]


@pytest.mark.parametrize("name", ["capacity", "staged_capacity"])
@pytest.mark.parametrize("value", [0, -1, 2**64, 1.5, None])
def test_a_capacity_that_is_none_is_refused(name: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError), match=f"{name} must be"):
        Outbox(**{name: value})


def test_a_world_is_a_value() -> None:
    unfit: Any = ["level 1"]
    with pytest.raises(TypeError, match="world must be a value"):
        Outbox(world=unfit)
    outbox = Outbox()
    tick(outbox, 0, "hit")
    with pytest.raises(TypeError, match="world must be a value"):
        outbox.clear(unfit)
    assert len(outbox) == 1


def test_it_says_what_it_holds() -> None:
    outbox = Outbox(capacity=8, staged_capacity=4)
    tick(outbox, 0, "a", "b")
    outbox.begin_tick(1)
    outbox.stage("c")
    assert repr(outbox) == "<Outbox: 2 of 8 published, 1 of 4 staged, 0 dropped>"
    assert (outbox.capacity, outbox.staged_capacity) == (8, 4)


def test_a_copy_of_an_outbox_is_a_snapshot() -> None:
    """It used to share the records: both published into the one, and the other was empty."""
    outbox = Outbox(capacity=4, staged_capacity=2)
    outbox.begin_tick(3)
    outbox.stage("old")
    outbox.publish()
    outbox.begin_tick(4)
    outbox.stage("new", required=True)
    copied = copy.copy(outbox)
    assert (copied.tick, copied.staged, len(copied)) == (4, 1, 1)
    for box in (outbox, copied):
        box.publish()
        assert [record.kind for record in box.deliver()] == ["old", "new"]
        assert box.deliver() == ()
    with pytest.raises(ValueError, match="tick"):
        copied.begin_tick(4)
