"""Requests of ticks to sound and picture, delivered by frames: play a sound, shake the camera.

A tick must not play a sound itself: it may fail half way, several ticks run in a frame, and after a
rollback a tick runs again. So it stages requests here. They are published when the tick has
succeeded and discarded when it has not, and each frame delivers what was published, each request
once.

A request is a value: where the effect happened and how it looks is copied into it when it is
staged, since the entity it is about may be gone when it is delivered. The outbox calls nobody; what
a request means is for the game's presentation code to decide.

Two capacities bound it: what a tick may stage, and what may wait for delivery. Beyond them optional
requests are dropped and counted. A required one is never dropped: it takes the place of optional
ones, and `OutboxFull` is raised when it is staged, where the error still stops the tick, if there
are none left.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable
from typing import Any, ClassVar, NamedTuple, SupportsIndex

from .._arguments import U64_MAX, integer, positive, shown
from .._saved import register, restore
from .recordable import check_hashable

_REQUESTS = "a whole number of requests"
_CAPACITY_FIX = "64 is the default"


class OutboxFull(RuntimeError):
    """A required request found no room. Nothing was staged, dropped or published."""


class Request(NamedTuple):
    """One request. Immutable, and hashable as its parts are.

    >>> Request(world=0, tick=7, sequence=0, kind="hit", anchor=(3, 4), data=None).tick
    7
    """

    world: Hashable
    """The world it comes from."""
    tick: int
    """The tick that staged it."""
    sequence: int
    """How many requests the tick staged before it, dropped ones included."""
    kind: Hashable
    """What is requested."""
    anchor: Hashable
    """Where it happened, or None."""
    data: Hashable
    """What else belongs to it, or None."""

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("sim.Request", *self)


_made = tuple.__new__  # half the time of the constructor of a named tuple


class Outbox:
    """Requests of ticks for frames to deliver. A tick stages at most ``tick_capacity``, and at most
    ``capacity`` wait for delivery.

    >>> outbox = Outbox(capacity=64, tick_capacity=64)
    >>> outbox.begin_tick(7)
    >>> outbox.stage("hit", anchor=(3, 4))
    True
    >>> outbox.deliver()                    # the tick is not over yet
    ()
    >>> outbox.publish()
    1
    >>> outbox.deliver()
    (Request(world=0, tick=7, sequence=0, kind='hit', anchor=(3, 4), data=None),)
    >>> outbox.deliver()
    ()

    Where there is no room, an optional request is dropped. A required one takes the place of an
    optional one: of the last one that its own tick staged if the tick may stage no more, and of the
    oldest ones that wait for delivery if those are too many.

    ``world`` is any hashable value that tells this world from the next. Raises TypeError for a
    capacity without ``__index__``, OverflowError out of ``0 .. 2**64 - 1``, and ValueError for 0.
    """

    # Requests in the order of ticks and of staging; of those that are required, _must has the
    # sequence numbers within the open tick, and _kept tick and sequence of the published ones.
    __slots__ = (
        "_asked",
        "_capacity",
        "_delivered",
        "_discarded",
        "_dropped",
        "_kept",
        "_last",
        "_must",
        "_published",
        "_room",
        "_sequence",
        "_staged",
        "_tick",
        "_tick_capacity",
        "_world",
    )

    def __init__(
        self,
        capacity: SupportsIndex = 64,
        tick_capacity: SupportsIndex = 64,
        world: Hashable = 0,
    ) -> None:
        self._capacity = positive(capacity, "capacity", _REQUESTS, _CAPACITY_FIX)
        self._tick_capacity = positive(tick_capacity, "tick_capacity", _REQUESTS, _CAPACITY_FIX)
        self._dropped = 0
        self._discarded = 0
        self._reset(check_hashable(world, "world"))

    def _reset(self, world: Hashable) -> None:
        self._world = world
        self._published: list[Request] = []
        self._kept: set[tuple[int, int]] = set()
        self._last = -1  # the tick published last
        self._delivered = -1  # the last tick of which something may have been delivered
        self._close()

    def _close(self) -> None:
        self._tick: int | None = None
        self._staged: list[Request] = []
        self._must: set[int] = set()
        self._sequence = 0
        self._room = 0  # for required requests, in the whole tick
        self._asked = False  # whether the tick has learned how much

    def begin_tick(self, tick: SupportsIndex) -> None:
        """Let the tick with this number stage.

        After a rollback a tick begins again: what it and later ticks had published is discarded
        then, so that everything is delivered once. So only the requests of ticks that cannot be
        rolled back may be delivered (``deliver(through=...)``).

        >>> outbox = Outbox()
        >>> for tick in (40, 41, 42, 41, 42):
        ...     outbox.begin_tick(tick)
        ...     _ = outbox.stage("step"), outbox.publish()
        >>> [request.tick for request in outbox.deliver()]
        [40, 41, 42]

        Raises TypeError for anything without ``__index__``, OverflowError out of
        ``0 .. 2**64 - 1``, ValueError for a tick whose requests were delivered, or one before it,
        and RuntimeError while the tick before is neither published nor discarded.
        """
        # The test of a common number first: the call behind it is a tenth of an empty tick.
        number = (
            tick
            if type(tick) is int and 0 <= tick <= U64_MAX
            else integer(tick, "tick", "a tick number", "pass the number of the tick under way")
        )
        if self._tick is not None:
            raise RuntimeError(
                f"tick {self._tick} is neither published nor discarded, so tick {number} cannot "
                "begin; publish() after a tick that succeeded, discard() after one that did not"
            )
        if number <= self._delivered:
            raise ValueError(
                f"tick must be after {self._delivered}, whose requests were delivered, not "
                f"{number}; clear the outbox for a new world"
            )
        if number <= self._last:
            first = bisect_left(self._published, number, key=_tick_of)
            self._discarded += len(self._published) - first
            del self._published[first:]
            self._kept = {place for place in self._kept if place[0] < number}
            self._last = number - 1
        self._tick = number
        room = self._capacity - len(self._kept)
        self._room = room if room < self._tick_capacity else self._tick_capacity

    @property
    def _observed_room(self) -> int | None:
        """The room for required requests that the tick under way has learned of, if that was below
        ``tick_capacity``; else None. It depends on when frames deliver, so it is recorded as an
        input of the tick."""
        return self._room if self._asked and self._room < self._tick_capacity else None

    def _restore_room(self, room: int | None) -> None:
        """Give the tick under way the room that it had when it was recorded. What it publishes then
        may be more than ``capacity``, until it is delivered."""
        self._room = self._tick_capacity if room is None else min(room, self._tick_capacity)

    def stage(
        self,
        kind: Hashable,
        anchor: Hashable = None,
        data: Hashable = None,
        *,
        required: bool = False,
    ) -> bool:
        """Request something, if the tick succeeds. True if it was staged, False for an optional
        request that was dropped, and counted, because the tick has staged ``tick_capacity``.

        ``anchor`` is where it happens and ``data`` what else belongs to it, as values that cannot
        change: tuples, strings, numbers, named tuples of those. Both are None if left out.

        >>> outbox = Outbox(capacity=1)
        >>> outbox.begin_tick(0)
        >>> outbox.stage("level won", required=True)
        True
        >>> outbox.stage("boss music", required=True)
        Traceback (most recent call last):
            ...
        fixedstep.sim.outbox.OutboxFull: required request 'boss music' found no room in tick 0: \
1 required staged of at most 64, 0 required waiting of at most 1; deliver every frame, or make it \
larger

        Raises OutboxFull for a required one that could not be published, TypeError for a list, a
        dict or anything else without a hash, and RuntimeError outside a tick. Nothing is staged
        then.
        """
        tick = self._tick
        if tick is None:
            raise RuntimeError(f"{shown(kind)} was staged outside a tick; begin_tick comes first")
        try:
            hash((kind, anchor, data))
        except TypeError:
            for name, value in (("kind", kind), ("anchor", anchor), ("data", data)):
                check_hashable(value, name)
            raise
        staged, sequence = self._staged, self._sequence
        full = len(staged) >= self._tick_capacity
        if required:
            if len(self._must) >= self._room:
                self._asked = True
                raise OutboxFull(
                    f"required request {shown(kind)} found no room in tick {tick}: "
                    f"{len(self._must)} required staged of at most {self._tick_capacity}, "
                    f"{len(self._kept)} required waiting of at most {self._capacity}; deliver "
                    "every frame, or make it larger"
                )
            if full:
                self._drop_last_optional()
                full = False
            self._must.add(sequence)
        self._sequence = sequence + 1
        if full:
            self._dropped += 1
            return False
        staged.append(_made(Request, (self._world, tick, sequence, kind, anchor, data)))
        return True

    def _drop_last_optional(self) -> None:
        """Drop the optional request that the tick staged last; there is one."""
        staged, must = self._staged, self._must
        del staged[next(i for i in reversed(range(len(staged))) if staged[i].sequence not in must)]
        self._dropped += 1

    def room_for_required(self) -> int:
        """How many more required requests this tick can stage: ask before a change that will need
        them and cannot be undone.

        Settled when the tick begins. It depends on how often frames deliver, and so on the frame
        rate. The answer is recorded, and the same in a replay; but a world that acts on it is the
        same at every frame rate only if ``capacity`` holds the required requests of all ticks that
        a frame can run.

        >>> outbox = Outbox(capacity=3)
        >>> outbox.begin_tick(0)
        >>> _ = outbox.stage("spark"), outbox.stage("exit", required=True)
        >>> outbox.room_for_required()
        2
        """
        self._asked = True
        if self._tick is None:
            return min(self._tick_capacity, self._capacity - len(self._kept))
        return self._room - len(self._must)

    def publish(self) -> int:
        """End a tick that succeeded: what it staged can be delivered. Returns how many requests.

        All required ones are published. If they are too many together with those that wait, the
        oldest optional ones that wait are dropped and counted. Optional ones are published as far
        as there is room then; the others are dropped and counted.

        Raises RuntimeError outside a tick.
        """
        if self._tick is None:
            raise RuntimeError("there is no tick to publish; begin_tick comes first")
        requests, published, must = self._staged, self._published, self._must
        if not requests:
            self._last = self._tick
            self._close()
            return 0
        room = self._capacity - len(published)
        if len(requests) > room:
            if len(must) > room:
                self._drop_oldest_optional(len(must) - room)
            optional = max(room - len(must), 0)
            fitting = []
            for request in requests:
                if request.sequence in must:
                    fitting.append(request)
                elif optional:
                    fitting.append(request)
                    optional -= 1
            self._dropped += len(requests) - len(fitting)
            requests = fitting
        if must:
            self._kept.update((self._tick, sequence) for sequence in must)
        published += requests
        self._last = self._tick
        self._close()
        return len(requests)

    def _drop_oldest_optional(self, count: int) -> None:
        """Drop as many optional requests that wait, or all there are."""
        left = []
        for request in self._published:
            if count and (request.tick, request.sequence) not in self._kept:
                count -= 1
                self._dropped += 1
            else:
                left.append(request)
        self._published[:] = left

    def discard(self) -> int:
        """End a tick that failed: what it staged never happened. Returns how many requests.

        What earlier ticks published stays. Outside a tick this does nothing.
        """
        count = len(self._staged)
        self._discarded += count
        self._close()
        return count

    def deliver(self, through: SupportsIndex | None = None) -> tuple[Request, ...]:
        """Take the published requests, in the order of ticks and, within a tick, of staging; only
        those of ticks up to ``through`` if it is given.

        Call it in every frame, drawn or not. Each request is returned once. With rollback, pass the
        last confirmed tick.

        Raises TypeError for a tick without ``__index__`` and OverflowError out of
        ``0 .. 2**64 - 1``.
        """
        published, last = self._published, self._last
        end = len(published)
        if through is not None:
            last = min(last, integer(through, "through", "a tick number", "None is all ticks"))
            end = bisect_right(published, last, key=_tick_of)
        requests = tuple(published[:end])
        del published[:end]
        if self._kept:
            self._kept = {place for place in self._kept if place[0] > last}
        self._delivered = max(self._delivered, last)
        return requests

    def clear(self, world: Hashable) -> int:
        """Forget what is published and what is staged, for another world whose ticks begin anew.
        Returns how many requests; they count as discarded.

        Raises TypeError for a world without a hash.
        """
        world = check_hashable(world, "world")
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
        """The most requests that may wait for delivery."""
        return self._capacity

    @property
    def tick_capacity(self) -> int:
        """The most requests that a tick may stage."""
        return self._tick_capacity

    @property
    def staged(self) -> int:
        """How many requests the tick has staged."""
        return len(self._staged)

    @property
    def dropped(self) -> int:
        """How many optional requests found no room, in total."""
        return self._dropped

    @property
    def discarded(self) -> int:
        """How many requests went with a tick that failed, was rolled back or belonged to a world
        that ended, in total."""
        return self._discarded

    def __len__(self) -> int:
        """How many requests wait for delivery."""
        return len(self._published)

    def __copy__(self) -> Outbox:
        """A snapshot: what is delivered from the one stays in the other."""
        copied = object.__new__(Outbox)
        for name in Outbox.__slots__:
            value = getattr(self, name)
            setattr(copied, name, value.copy() if isinstance(value, (list, set)) else value)
        return copied

    def __deepcopy__(self, memo: object, /) -> Outbox:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("sim.Outbox", {name: getattr(self, name) for name in Outbox.__slots__})

    def __eq__(self, other: object) -> bool:
        if type(other) is not Outbox:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Outbox.__slots__)

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<Outbox: {len(self._published)} of {self._capacity} published, "
            f"{len(self._staged)} of {self._tick_capacity} staged, {self._dropped} dropped>"
        )


def _restored(state: object) -> Outbox:
    """What a pickle of an Outbox calls. Raises ValueError for a damaged one."""
    made = Outbox()
    if not isinstance(state, dict) or state.keys() != set(Outbox.__slots__):
        raise ValueError(f"the saved state of an Outbox is damaged: {shown(state)}")
    for name, value in state.items():
        kind = type(getattr(made, name))
        fits = (int, kind) if name == "_tick" else (kind,)
        if name != "_world" and type(value) not in fits:
            raise ValueError(f"{name} of a saved Outbox must be a {kind.__name__}: {shown(value)}")
        setattr(made, name, value)
    for request in (*made._published, *made._staged):
        if type(request) is not Request:
            raise ValueError(f"a saved Outbox holds requests, not {shown(request)}")
    return made


def _restored_request(world: Any, tick: Any, sequence: Any, *parts: Any) -> Request:
    numbers = (
        integer(each, "saved", "a whole number", "it is damaged") for each in (tick, sequence)
    )
    return Request(
        check_hashable(world, "world"), *numbers, *(check_hashable(part, "saved") for part in parts)
    )


register("sim.Outbox", _restored, 1)
register("sim.Request", _restored_request, 6)


def _tick_of(request: Request) -> int:
    return request.tick
