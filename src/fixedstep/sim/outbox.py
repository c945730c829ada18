"""What ticks ask of sound and picture, between the tick that asks and the frame that delivers.

A simulation must not play a sound: the tick may fail half way, and one cannot take a sound back;
or four ticks run in a frame, or a frame is never drawn. So a tick stages its requests here. They
are published when the tick has succeeded and dropped with it when it has not, and the frame takes
what is published, each request once, drawn or not.

A record is a value. Where an effect happened and how it looks is copied into it when it is staged,
since the entity it is about may be gone by the time it is delivered. It refuses to call anybody,
and to decide what a request means.

Two bounds hold: what one tick may stage, and what may wait for a frame. Beyond them a request is
dropped and counted, unless it is required. Room for a required one is claimed when it is staged,
where an error still stops the tick; that publishing could fail, in the last line of a tick whose
world has changed already, was the alternative.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, SupportsIndex

from .._arguments import integer, positive, shown

_RECORDS = "a whole number of records"
_CAPACITY_FIX = "64 is the default"


class OutboxOverflow(RuntimeError):
    """A required record found no room. Nothing was staged, dropped or published."""


class Record(NamedTuple):
    """One request. Immutable, and hashable as its parts are.

    >>> Record(world=0, tick=7, sequence=0, kind="hit", anchor=(3, 4), data=None).tick
    7
    """

    world: Hashable
    """The world it comes from."""
    tick: int
    """The tick that staged it."""
    sequence: int
    """How many the tick had staged before, dropped ones included: a gap tells of those."""
    kind: Hashable
    """What is asked for."""
    anchor: Hashable
    """Where it happened, or None."""
    data: Hashable
    """What else is to be known, or None."""


class Outbox:
    """Requests of ticks for the frame to deliver. A tick stages at most ``staged_capacity``, and at
    most ``capacity`` wait for delivery.

    >>> outbox = Outbox(capacity=64, staged_capacity=64)
    >>> outbox.begin_tick(7)
    >>> outbox.stage("hit", anchor=(3, 4))
    True
    >>> outbox.deliver()                    # the tick is not over yet
    ()
    >>> outbox.publish()
    1
    >>> outbox.deliver()
    (Record(world=0, tick=7, sequence=0, kind='hit', anchor=(3, 4), data=None),)
    >>> outbox.deliver()
    ()

    A required record takes the place of the optional one staged last where the tick has no room
    left; it never takes that of a published one. How much room the outbox has depends on how often
    a frame delivers, so ``capacity`` should hold what a frame's budget of ticks may stage.

    ``world`` is any hashable value that tells this world from the next. Raises TypeError for a
    capacity without ``__index__``, OverflowError out of ``0 .. 2**64 - 1``, and ValueError for 0.
    """

    __slots__ = (
        "_capacity",
        "_discarded",
        "_dropped",
        "_last",
        "_published",
        "_required",
        "_room",
        "_sequence",
        "_staged",
        "_staged_capacity",
        "_tick",
        "_told",
        "_world",
    )

    def __init__(
        self,
        capacity: SupportsIndex = 64,
        staged_capacity: SupportsIndex = 64,
        world: Hashable = 0,
    ) -> None:
        self._capacity = positive(capacity, "capacity", _RECORDS, _CAPACITY_FIX)
        self._staged_capacity = positive(
            staged_capacity, "staged_capacity", _RECORDS, _CAPACITY_FIX
        )
        self._dropped = 0
        self._discarded = 0
        self._reset(_value(world, "world"))

    def _reset(self, world: Hashable) -> None:
        self._world = world
        self._published: list[Record] = []
        self._last = -1  # the tick published last
        self._close()

    def _close(self) -> None:
        self._tick: int | None = None
        self._staged: list[tuple[Record, bool]] = []  # and whether it is required
        self._required = 0
        self._sequence = 0
        self._room = 0  # for required records, in the whole tick
        self._told = False  # whether the tick has learned how much

    def begin_tick(self, tick: SupportsIndex) -> None:
        """Let the tick with this number stage.

        Raises TypeError for anything without ``__index__``, OverflowError out of
        ``0 .. 2**64 - 1``, ValueError for a tick that is not after the one published last, and
        RuntimeError while the tick before is neither published nor discarded.
        """
        number = integer(tick, "tick", "a tick number", "pass the number of the tick under way")
        if self._tick is not None:
            raise RuntimeError(
                f"tick {self._tick} is neither published nor discarded, so tick {number} cannot "
                "begin; publish() after a tick that succeeded, discard() after one that did not"
            )
        if number <= self._last:
            raise ValueError(
                f"tick must be after {self._last}, which is published, not {number}; "
                "clear the outbox for a new world"
            )
        self._tick = number
        self._room = min(self._staged_capacity, self._capacity - len(self._published))

    @property
    def _told_room(self) -> int | None:
        """How many required records the tick under way has room for, if it has learned of that and
        there were fewer than it may stage. It depends on when frames deliver, so it is something
        that a tick is given from outside, and is recorded."""
        return self._room if self._told and self._room < self._staged_capacity else None

    def _play_room(self, room: int | None) -> None:
        """Give the tick under way the room that it had when it was recorded. What it publishes then
        may be more than fits, until it is delivered."""
        self._room = self._staged_capacity if room is None else min(room, self._staged_capacity)

    def stage(
        self,
        kind: Hashable,
        anchor: Hashable = None,
        data: Hashable = None,
        *,
        required: bool = False,
    ) -> bool:
        """Ask for something, if the tick succeeds. Whether it was staged: an optional request is
        dropped, and counted, where the tick has staged its share.

        ``anchor`` is where it happens and ``data`` what else belongs to it, as values that cannot
        change: tuples, strings, numbers, named tuples of those. Both are None if left out.

        >>> outbox = Outbox(capacity=1)
        >>> outbox.begin_tick(0)
        >>> outbox.stage("level won", required=True)
        True
        >>> outbox.stage("boss music", required=True)
        Traceback (most recent call last):
            ...
        fixedstep.sim.outbox.OutboxOverflow: required record 'boss music' found no room in tick 0: \
1 required staged of at most 64, 0 published of at most 1; deliver every frame, or make it larger

        Raises OutboxOverflow for a required one that could not be published, TypeError for a list,
        a dict or anything else without a hash, and RuntimeError outside a tick. Nothing is staged
        then.
        """
        if self._tick is None:
            raise RuntimeError(f"{shown(kind)} was staged outside a tick; begin_tick comes first")
        record = Record(
            self._world,
            self._tick,
            self._sequence,
            _value(kind, "kind"),
            _value(anchor, "anchor"),
            _value(data, "data"),
        )
        full = len(self._staged) >= self._staged_capacity
        if required:
            if self._required >= self._room:
                self._told = True
                raise OutboxOverflow(
                    f"required record {shown(kind)} found no room in tick {self._tick}: "
                    f"{self._required} required staged of at most {self._staged_capacity}, "
                    f"{len(self._published)} published of at most {self._capacity}; deliver every "
                    "frame, or make it larger"
                )
            if full:
                self._give_way()
                full = False
            self._required += 1
        self._sequence += 1
        if full:
            self._dropped += 1
            return False
        self._staged.append((record, bool(required)))
        return True

    def _give_way(self) -> None:
        """Drop the optional record that was staged last; there is one."""
        staged = self._staged
        index = next(i for i in range(len(staged) - 1, -1, -1) if not staged[i][1])
        del staged[index]
        self._dropped += 1

    def room_for_required(self) -> int:
        """How many more required records this tick can stage: ask before a change that will need
        them, and that could not be taken back.

        Settled when the tick begins. It depends on how often frames deliver, and so on the frame
        rate. What a tick is told is recorded, and told again when it is replayed; but a world that
        acts on it is the same at every frame rate only where there is room for all that the ticks
        of a frame can publish.

        >>> outbox = Outbox(capacity=3)
        >>> outbox.begin_tick(0)
        >>> _ = outbox.stage("spark"), outbox.stage("exit", required=True)
        >>> outbox.room_for_required()
        2
        """
        self._told = True
        if self._tick is None:
            return min(self._staged_capacity, self._capacity - len(self._published))
        return self._room - self._required

    def publish(self) -> int:
        """End the tick that succeeded: what it staged can be delivered. How many those are.

        All required ones are; optional ones as far as there is room, the rest are dropped and
        counted. Raises RuntimeError outside a tick.
        """
        if self._tick is None:
            raise RuntimeError("there is no tick to publish; begin_tick comes first")
        room = self._capacity - len(self._published) - self._required
        records = []
        for record, required in self._staged:
            if required or room > 0:
                records.append(record)
                room -= not required
        self._dropped += len(self._staged) - len(records)
        self._published += records
        self._last = self._tick
        self._close()
        return len(records)

    def discard(self) -> int:
        """End the tick that failed: what it staged never happened. How many those were.

        What earlier ticks published stays. Outside a tick there is nothing to do.
        """
        count = len(self._staged)
        self._discarded += count
        self._close()
        return count

    def deliver(self) -> tuple[Record, ...]:
        """Take what is published, in the order of ticks and, within one, of staging.

        Call it every frame, drawn or not: each record is handed out once and then gone.
        """
        records = tuple(self._published)
        self._published.clear()
        return records

    def clear(self, world: Hashable) -> int:
        """Forget what is published and what is staged, for another world whose ticks begin anew.
        How many those were; they count as discarded.

        Raises TypeError for a world without a hash.
        """
        world = _value(world, "world")
        count = len(self._published) + len(self._staged)
        self._discarded += count
        self._reset(world)
        return count

    @property
    def world(self) -> Hashable:
        """The world whose ticks stage."""
        return self._world

    @property
    def tick(self) -> int | None:
        """The tick that may stage; None between ticks."""
        return self._tick

    @property
    def capacity(self) -> int:
        """The most records that may wait for delivery."""
        return self._capacity

    @property
    def staged_capacity(self) -> int:
        """The most records that a tick may stage."""
        return self._staged_capacity

    @property
    def staged(self) -> int:
        """How many records the tick has staged."""
        return len(self._staged)

    @property
    def dropped(self) -> int:
        """How many optional records found no room, in total."""
        return self._dropped

    @property
    def discarded(self) -> int:
        """How many records went with a tick that failed or a world that ended, in total."""
        return self._discarded

    def __len__(self) -> int:
        """How many records wait for delivery."""
        return len(self._published)

    def __copy__(self) -> Outbox:
        """A snapshot: what is delivered from the one stays in the other."""
        copied = Outbox(self._capacity, self._staged_capacity, self._world)
        copied._published = self._published.copy()
        copied._last = self._last
        copied._tick = self._tick
        copied._staged = self._staged.copy()
        copied._required = self._required
        copied._sequence = self._sequence
        copied._room = self._room
        copied._told = self._told
        copied._dropped = self._dropped
        copied._discarded = self._discarded
        return copied

    def __repr__(self) -> str:
        return (
            f"<Outbox: {len(self._published)} of {self._capacity} published, "
            f"{len(self._staged)} of {self._staged_capacity} staged, {self._dropped} dropped>"
        )


def _value(value: Hashable, name: str) -> Hashable:
    """The value, if it has a hash: what has none can change, and a record must not."""
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"{name} must be a value that cannot change, not {type(value).__name__} "
            f"{shown(value)}; tuple(...) makes one of a list"
        ) from None
    return value
