"""Requests of ticks: published with the tick or not at all, delivered once, bounded."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, StepBudget, Timestamp, Timestep, restore
from fixedstep.sim.outbox import Outbox, OutboxFull, Request


def kinds(requests: tuple[Request, ...]) -> list[Any]:
    return [request.kind for request in requests]


def tick(outbox: Outbox, number: int, *optional: Any, required: tuple[Any, ...] = ()) -> None:
    """A tick that stages these and succeeds."""
    outbox.begin_tick(number)
    for kind in optional:
        outbox.stage(kind)
    for kind in required:
        outbox.stage(kind, required=True)
    outbox.publish()


# publication and delivery


def test_a_request_says_where_it_comes_from() -> None:
    outbox = Outbox(world="level 2")
    outbox.begin_tick(30)
    assert outbox.stage("damage", (1, 2), ("guard", 5))
    assert outbox.stage("death", anchor=(3, 4), required=True)
    assert outbox.publish() == 2
    assert outbox.deliver() == (
        Request("level 2", 30, 0, "damage", (1, 2), ("guard", 5)),
        Request("level 2", 30, 1, "death", (3, 4), None),
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
    loop = FrameLoop(Timestep(10_000_000), StepBudget(2**32 - 1), start=Timestamp(0))
    outbox, now = Outbox(64), 0
    seen: list[Request] = []
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
    assert [(request.tick, request.sequence) for request in seen] == expected
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


def test_a_gap_in_the_sequence_tells_of_a_dropped_request() -> None:
    outbox = Outbox(tick_capacity=2)
    outbox.begin_tick(0)
    for name in ("spark", "smoke", "dust"):
        outbox.stage(name)
    outbox.stage("exit", required=True)
    outbox.publish()
    assert [(request.sequence, request.kind) for request in outbox.deliver()] == [
        (0, "spark"),
        (3, "exit"),
    ]
    assert outbox.dropped == 2


def test_a_required_request_takes_the_place_of_the_optional_one_staged_last() -> None:
    outbox = Outbox(tick_capacity=3)
    outbox.begin_tick(0)
    outbox.stage("spark")
    outbox.stage("smoke")
    outbox.stage("gate", required=True)
    assert outbox.stage("exit", required=True)
    assert outbox.stage("score", required=True)
    assert outbox.dropped == 2
    outbox.publish()
    assert kinds(outbox.deliver()) == ["gate", "exit", "score"]


def test_required_requests_are_published_before_optional_ones_find_room() -> None:
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


def test_a_required_request_without_room_fails_and_changes_nothing() -> None:
    outbox = Outbox(capacity=3)
    tick(outbox, 0, required=("waiting",))
    outbox.begin_tick(1)
    outbox.stage("spark")
    outbox.stage("gate", required=True)
    outbox.stage("exit", required=True)
    for _ in range(2):
        with pytest.raises(OutboxFull, match=r"'score' found no room in tick 1: 2 required"):
            outbox.stage("score", required=True)
        assert (outbox.staged, outbox.dropped, len(outbox)) == (3, 0, 1)
    assert outbox.stage("smoke"), "an optional one is staged and may be dropped later"
    assert outbox.publish() == 2
    delivered = outbox.deliver()
    assert kinds(delivered) == ["waiting", "gate", "exit"]
    assert [request.sequence for request in delivered] == [0, 1, 2], "the failed one took no number"


def test_a_tick_has_no_more_required_requests_than_it_may_stage() -> None:
    outbox = Outbox(capacity=64, tick_capacity=2)
    outbox.begin_tick(0)
    for name in ("a", "b"):
        outbox.stage(name, required=True)
    with pytest.raises(OutboxFull, match="2 required staged of at most 2"):
        outbox.stage("c", required=True)
    assert issubclass(OutboxFull, RuntimeError)


def test_room_for_required_requests_is_known_before_the_world_changes() -> None:
    """A commit that will stage three spawn effects asks first: what it does cannot be undone."""
    outbox = Outbox(capacity=5, tick_capacity=4)
    outbox.begin_tick(0)
    assert outbox.room_for_required() == 4
    outbox.stage("spark")
    assert outbox.room_for_required() == 4, "optional ones give way"
    outbox.stage("exit", required=True)
    assert outbox.room_for_required() == 3
    outbox.publish()
    outbox.begin_tick(1)
    assert outbox.room_for_required() == 4, "one required waits, and an optional one gives way"
    for n in range(4):
        outbox.stage(n, required=True)
    assert outbox.room_for_required() == 0
    with pytest.raises(OutboxFull):
        outbox.stage("one more", required=True)
    outbox.deliver()
    assert outbox.room_for_required() == 0, "settled when the tick begins, whoever delivers"
    outbox.publish()
    assert outbox.room_for_required() == 1


@pytest.mark.parametrize("ticks", [5, 15])
def test_many_optional_requests_do_not_take_the_room_of_a_required_one(ticks: int) -> None:
    """30 particles and 1 required request a tick: one frame of 100 or 250 ms faulted the game."""
    outbox = Outbox()
    for number in range(ticks):
        tick(outbox, number, *["spark"] * 30, required=("score",))
        assert len(outbox) <= 64
    delivered = outbox.deliver()
    assert [request.tick for request in delivered if request.kind == "score"] == list(range(ticks))
    assert (len(delivered), outbox.dropped) == (64, 31 * ticks - 64)


def test_a_required_request_takes_the_place_of_the_oldest_that_waits() -> None:
    outbox = Outbox(capacity=4)
    tick(outbox, 0, "a0", required=("r0",))
    tick(outbox, 1, "a1", "b1")
    tick(outbox, 2, "a2", required=("r2",))
    assert kinds(outbox.deliver()) == ["r0", "a1", "b1", "r2"]
    assert outbox.dropped == 2
    tick(outbox, 3, "a3", required=("r3", "s3"))
    assert kinds(outbox.deliver()) == ["a3", "r3", "s3"], "those delivered hold no room"


def test_a_tick_that_failed_displaced_nothing() -> None:
    outbox = Outbox(capacity=1)
    tick(outbox, 0, "waiting")
    outbox.begin_tick(1)
    outbox.stage("exit", required=True)
    outbox.discard()
    assert kinds(outbox.deliver()) == ["waiting"]
    assert outbox.dropped == 0


# rollback


def test_ticks_that_run_again_after_a_rollback_are_delivered_once() -> None:
    """N40: sounds were heard twice. Ticks 40 to 42, then 41 and 42 again: three requests."""
    outbox = Outbox()
    for number in (40, 41, 42):
        tick(outbox, number, f"guess {number}", required=(f"must {number}",))
    for number in (41, 42):
        tick(outbox, number, f"right {number}")
    assert kinds(outbox.deliver()) == ["guess 40", "must 40", "right 41", "right 42"]
    assert (outbox.discarded, outbox.dropped) == (4, 0)
    assert outbox.room_for_required() == 64


def test_only_confirmed_ticks_are_delivered_and_only_others_begin_again() -> None:
    outbox = Outbox()
    for number in (40, 41, 42):
        tick(outbox, number, number)
    assert kinds(outbox.deliver(through=39)) == []
    assert kinds(outbox.deliver(through=40)) == [40]
    assert kinds(outbox.deliver(through=40)) == []
    with pytest.raises(ValueError, match="must be after 40, whose requests were delivered, not 40"):
        outbox.begin_tick(40)
    tick(outbox, 41, "right")
    assert kinds(outbox.deliver(through=2**64 - 1)) == ["right"]
    tick(outbox, 42, "next")
    assert kinds(outbox.deliver()) == ["next"]


def test_delivering_fewer_ticks_than_before_lets_none_of_them_begin_again() -> None:
    outbox = Outbox()
    for number in (40, 41):
        tick(outbox, number, number)
    outbox.deliver()
    outbox.deliver(through=39)
    with pytest.raises(ValueError, match="must be after 41"):
        outbox.begin_tick(41)


def test_a_tick_that_failed_when_it_ran_again_may_run_once_more() -> None:
    outbox = Outbox()
    for number in (40, 41, 42):
        tick(outbox, number, number)
    outbox.begin_tick(41)
    outbox.discard()
    assert kinds(outbox.deliver()) == [40]
    tick(outbox, 41, "right")
    assert kinds(outbox.deliver()) == ["right"]


def test_required_requests_that_a_rollback_discards_hold_no_room() -> None:
    outbox = Outbox(capacity=2)
    tick(outbox, 0, required=("a", "b"))
    outbox.begin_tick(0)
    assert outbox.room_for_required() == 2
    outbox.stage("c", required=True)
    outbox.publish()
    assert kinds(outbox.deliver()) == ["c"]


@pytest.mark.parametrize("through", [-1, 2**64, 1.5, "1"])
def test_a_tick_to_deliver_through_that_is_none_delivers_nothing(through: Any) -> None:
    outbox = Outbox()
    tick(outbox, 0, "hit")
    with pytest.raises((TypeError, OverflowError), match="through must be"):
        outbox.deliver(through)
    assert kinds(outbox.deliver()) == ["hit"]


requests = st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=12)


@given(
    capacity=st.integers(1, 8),
    tick_capacity=st.integers(1, 6),
    ticks=st.lists(
        st.tuples(requests, st.booleans(), st.booleans(), st.integers(0, 3)), max_size=12
    ),
)
def test_every_request_is_accounted_for(
    capacity: int,
    tick_capacity: int,
    ticks: list[tuple[list[tuple[bool, int]], bool, bool, int]],
) -> None:
    """Staged = delivered + waiting + dropped + discarded, and no required one is ever dropped,
    also if up to three ticks that nothing was delivered of run again."""
    outbox = Outbox(capacity, tick_capacity)
    asked, promised, delivered = 0, list[tuple[int, int]](), list[Request]()
    number = confirmed = 0
    for wanted, succeeds, draws, back in ticks:
        number = max(number - back, confirmed)
        promised = [place for place in promised if place[0] < number]
        outbox.begin_tick(number)
        required: list[tuple[int, int]] = []
        sequence = 0
        for is_required, kind in wanted:
            room = outbox.room_for_required()
            try:
                outbox.stage(kind, required=is_required)
            except OutboxFull:
                assert is_required
                assert room == 0
                continue
            assert room > 0 or not is_required
            if is_required:
                required.append((number, sequence))
            sequence += 1
        asked += sequence
        assert outbox.staged <= tick_capacity
        if succeeds:
            outbox.publish()
            promised += required
        else:
            outbox.discard()
        assert len(outbox) <= capacity
        number += 1
        if draws and number > confirmed + 1:
            delivered += outbox.deliver(through=number - 2)
            confirmed = number - 1
    delivered += outbox.deliver()
    places = [(request.tick, request.sequence) for request in delivered]
    assert places == sorted(set(places))
    assert set(promised) <= set(places)
    assert asked == len(delivered) + outbox.dropped + outbox.discarded


# requests are values


def test_a_request_cannot_be_changed() -> None:
    outbox = Outbox()
    tick(outbox, 0, "hit")
    (request,) = outbox.deliver()
    with pytest.raises(AttributeError):
        request.kind = "miss"  # type: ignore[misc]
    assert hash(request) == hash(Request(0, 0, 0, "hit", None, None))
    assert pickle.loads(pickle.dumps(request)) == request


@pytest.mark.parametrize("name", ["kind", "anchor", "data"])
@pytest.mark.parametrize("value", [[3, 4], {"x": 3}, {3}, bytearray(b"34")])
def test_what_could_change_after_staging_is_refused(name: str, value: Any) -> None:
    """A list would be the entity's own, and move on with it until the request is delivered."""
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
    assert kinds(outbox.deliver()) == ["hit"]
    tick(outbox, 5, "more")
    with pytest.raises((TypeError, ValueError, OverflowError), match="tick must be"):
        outbox.begin_tick(number)
    assert outbox.tick is None
    outbox.begin_tick(6)
    assert kinds(outbox.deliver()) == ["more"]


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


@pytest.mark.parametrize("name", ["capacity", "tick_capacity"])
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
    outbox = Outbox(capacity=8, tick_capacity=4)
    tick(outbox, 0, "a", "b")
    outbox.begin_tick(1)
    outbox.stage("c")
    assert repr(outbox) == "<Outbox: 2 of 8 published, 1 of 4 staged, 0 dropped>"
    assert (outbox.capacity, outbox.tick_capacity) == (8, 4)


def test_a_copy_of_an_outbox_is_a_snapshot() -> None:
    """It used to share the requests: both published into the one, and the other was empty."""
    outbox = Outbox(capacity=4, tick_capacity=2)
    outbox.begin_tick(3)
    outbox.stage("old")
    outbox.publish()
    outbox.begin_tick(4)
    outbox.stage("new", required=True)
    copied = copy.copy(outbox)
    assert (copied.tick, copied.staged, len(copied)) == (4, 1, 1)
    for box in (outbox, copied):
        box.publish()
        assert [request.kind for request in box.deliver()] == ["old", "new"]
        assert box.deliver() == ()
    with pytest.raises(ValueError, match="tick"):
        copied.begin_tick(4)


def test_a_pickled_outbox_goes_on_and_a_damaged_pickle_is_refused() -> None:
    outbox = Outbox(world="level 1")
    tick(outbox, 3, "hit", required=("exit",))
    outbox.begin_tick(4)
    outbox.stage("more")
    saved = pickle.dumps(outbox)
    twin = pickle.loads(saved)
    assert twin == outbox
    assert twin.publish() == 1
    assert kinds(twin.deliver()) == ["hit", "exit", "more"]
    assert twin != outbox
    with pytest.raises(ValueError, match="the saved state of an Outbox is damaged"):
        pickle.loads(saved.replace(b"_dropped", b"_droppex"))
    state = {name: getattr(outbox, name) for name in Outbox.__slots__}
    for name, wrong in (("_last", "3"), ("_kept", []), ("_tick", "4"), ("_published", [1])):
        with pytest.raises(ValueError, match="a saved Outbox"):
            restore("sim.Outbox", {**state, name: wrong})


def test_outboxes_are_equal_by_what_they_hold_and_counted() -> None:
    one, other = Outbox(), Outbox()
    assert one == other
    assert one != "outbox"
    tick(one, 3, "hit", required=("exit",))
    assert one != other
    tick(other, 3, "hit", required=("exit",))
    assert one == other == copy.deepcopy(one)
    tick(other, 3, "hit", "exit")
    assert one != other, "required is part of it"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_the_room_that_a_tick_learned_of_is_there_again_in_a_replay() -> None:
    outbox = Outbox(capacity=3)
    tick(outbox, 0, required=("a", "b"))
    outbox.begin_tick(1)
    assert outbox._observed_room is None, "the tick has not asked"
    assert outbox.room_for_required() == 1
    assert outbox._observed_room == 1
    replayed = Outbox(capacity=3)
    replayed.begin_tick(1)
    replayed._restore_room(1)
    assert replayed.room_for_required() == 1
    replayed.discard()
    tick(replayed, 0, required=("a", "b", "c"))
    replayed.begin_tick(1)
    replayed._restore_room(2)
    for kind in "de":
        replayed.stage(kind, required=True)
    assert replayed.publish() == 2, "more than fits, as it was recorded"
    assert kinds(replayed.deliver()) == ["a", "b", "c", "d", "e"]
