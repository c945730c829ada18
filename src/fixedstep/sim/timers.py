"""Waiting, counted in ticks: deadlines, periods and timers that fire in the same order everywhere.

Count in ticks whatever a game waits for. A cooldown that counts seconds runs out while the game is
paused, and early on a machine that drops steps. Three things wait here, the simplest first:

`Deadline`    one moment, kept where it is needed: the cooldown inside a weapon.
`Cadence`     every so many ticks, computed from the tick number: expensive thinking.
`TimerQueue`  any number of moments, each with a payload: waves of enemies, delayed effects.

The queue returns what is due, ordered by due tick and then by the order of scheduling. It calls
nobody: a payload is a value, and the game handles it in the phase of the tick that suits it. A full
queue and a tick number beyond 64 bits are errors; no timer is dropped.

A timer is identified by the order in which it was scheduled, and the queue's generation, so that
two runs with the same timers have the same ids. Reused slot numbers would depend on the history.

The timers lie in a heap. ``bench/timers.py`` plays ticks in which every due timer is scheduled
anew, 1 to 600 ticks ahead, and every fourth of those cancelled and scheduled once more. Time a
tick, as a multiple of the heap's, and the heap's in microseconds (medians, CPython 3.11, with 0.03,
0.3 and 20 timers due a tick)::

    timers    scan every tick    scan when one is due    sorted list    heap
        10          4.0                 0.9                  1.1        0.3 us
       100          6                   4                    1.2        0.6 us
    10,000          9                  16                    2.4       40   us

A scan is as good at ten timers, provided it remembers the next due tick, and at no other size. A
sorted list, kept with ``bisect``, is nearly as good up to a hundred, and falls behind where moving
its items costs more than comparing them. What a heap cannot do is remove from its middle: a
cancelled timer leaves a dead entry there, until it comes to the top, or until the dead outnumber
the living and all are swept out. Checks, ids and `Timer` objects make the whole queue cost five
times its heap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, ClassVar, Generic, NamedTuple, SupportsIndex, TypeVar, final

from .._arguments import U64_MAX, integer, positive, shown
from .._saved import Saved, Value, register, restore

P = TypeVar("P")

_TICKS = "a whole number of ticks"
_NOW_FIX = "pass the number of the tick under way"
_DELAY_FIX = "30 is half a second at 60 ticks a second"
_SWEEP_FROM = 16


class TimerQueueFull(RuntimeError):
    """A queue was full. Nothing was scheduled and nothing lost."""


class TickExhausted(OverflowError):
    """A tick beyond 2**64 - 1 was needed. Ticks never wrap."""


def tick_after(tick: int, delay: int, what: str) -> int:
    """``tick + delay``, checked.

    >>> tick_after(70, 30, "a cooldown")
    100

    Raises TickExhausted for a sum beyond 2**64 - 1.
    """
    due = tick + delay
    if due > U64_MAX:
        raise TickExhausted(
            f"{what} at tick {tick} + {delay} = {due} would be beyond the last tick, "
            f"{U64_MAX}; use a shorter delay, or end the session"
        )
    return due


@final
class Deadline(Saved, kind="sim.Deadline"):
    """One moment in ticks, or none: the tick from which something may happen.

    >>> cooldown = Deadline()
    >>> cooldown.pending(5), cooldown.due(5)         # not armed
    (False, False)
    >>> cooldown.arm(now=90, delay=30)
    >>> [(cooldown.pending(tick), cooldown.due(tick)) for tick in (119, 120, 500)]
    [(True, False), (False, True), (False, True)]

    A weapon may fire while its cooldown is not ``pending``; a player who was hit cannot be hurt
    while the grace period is. A deadline is due at its tick and after it, until it is armed again
    or disarmed, so use a `TimerQueue`, or disarm, for what happens once. A delay of 0 is due at
    once. Any unit works in which both numbers are whole, nanoseconds too.

    Raises TypeError for anything without ``__index__`` and OverflowError out of ``0 .. 2**64 - 1``.
    """

    __slots__ = ("_at",)
    __match_args__ = ("at",)
    _at: int | None

    def __new__(cls, at: SupportsIndex | None = None) -> Deadline:
        """From a checked tick."""
        self = super().__new__(cls)
        self._at = None if at is None else integer(at, "at", _TICKS, "None is no deadline")
        return self

    def arm(self, now: SupportsIndex, delay: SupportsIndex) -> None:
        """Be due ``delay`` ticks after the tick ``now``, whatever was before.

        Raises TickExhausted where that lies beyond 2**64 - 1, and TypeError and OverflowError as
        the constructor does; the deadline is then as it was.
        """
        self._at = tick_after(
            integer(now, "now", _TICKS, _NOW_FIX),
            integer(delay, "delay", _TICKS, _DELAY_FIX),
            "a deadline",
        )

    def disarm(self) -> None:
        """Have no moment: ``due`` and ``pending`` are False until it is armed again."""
        self._at = None

    def due(self, tick: SupportsIndex) -> bool:
        """Whether it is armed, and its tick is ``tick`` or earlier."""
        now = integer(tick, "tick", _TICKS, _NOW_FIX)
        return self._at is not None and now >= self._at

    def pending(self, tick: SupportsIndex) -> bool:
        """Whether it is armed, and its tick is after ``tick``."""
        now = integer(tick, "tick", _TICKS, _NOW_FIX)
        return self._at is not None and now < self._at

    @property
    def armed(self) -> bool:
        """Whether there is a moment, past or future."""
        return self._at is not None

    @property
    def at(self) -> int | None:
        """The tick from which it is due, or None."""
        return self._at

    def __digest__(self) -> int | None:
        return self._at


@final
class Cadence(Value, kind="sim.Cadence"):
    """Every ``period`` ticks, on those that leave the remainder ``phase``.

    >>> thinking = Cadence(4, phase=3)
    >>> [tick for tick in range(12) if thinking.due(tick)]
    [3, 7, 11]

    It depends on the tick alone, and not on the frame rate or the load of the machine.
    Immutable. Raises TypeError for anything without ``__index__``, OverflowError out of
    ``0 .. 2**64 - 1``, and ValueError for a period of 0 or a phase that is not below the period.
    """

    __slots__ = ("_period", "_phase")
    __match_args__ = ("period", "phase")
    _period: int
    _phase: int

    def __new__(cls, period: SupportsIndex, phase: SupportsIndex = 0) -> Cadence:
        """From checked numbers of ticks."""
        every = positive(period, "period", _TICKS, "1 is every tick")
        first = integer(phase, "phase", _TICKS, "0 is the first tick")
        if first >= every:
            raise ValueError(
                f"phase must be below the period, {every} ticks, not {first}; "
                "Cadence.spread takes any number"
            )
        return cls._made(_period=every, _phase=first)

    @classmethod
    def spread(cls, period: SupportsIndex, creation_sequence: SupportsIndex) -> Cadence:
        """The cadence of the n-th thing made, so that those made in a row take turns.

        >>> [Cadence.spread(3, n).phase for n in range(5)]
        [0, 1, 2, 0, 1]
        """
        every = positive(period, "period", _TICKS, "1 is every tick")
        made = integer(
            creation_sequence,
            "creation_sequence",
            "a whole number",
            "count what the world creates: 0, 1, 2 and on",
        )
        return cls(every, made % every)

    def due(self, tick: SupportsIndex) -> bool:
        """Whether ``tick`` is one of them."""
        return integer(tick, "tick", _TICKS, _NOW_FIX) % self._period == self._phase

    def __digest__(self) -> tuple[int, int]:
        return self._period, self._phase

    @property
    def period(self) -> int:
        """Ticks from one to the next."""
        return self._period

    @property
    def phase(self) -> int:
        """The first of them, below the period."""
        return self._phase


class TimerId(NamedTuple):
    """What `TimerQueue.schedule` returns and `TimerQueue.cancel` takes.

    >>> TimerId(sequence=0, generation=0)
    TimerId(sequence=0, generation=0)

    Neither number is used twice: an id whose timer is over never comes to mean another timer.
    """

    sequence: int
    """How many timers the queue had scheduled before, since it was made or cleared."""
    generation: int
    """How often the queue had been cleared."""

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("sim.TimerId", *self)


@dataclass(frozen=True, slots=True)
class Timer(Generic[P]):
    """A timer that waits or is due. Immutable.

    >>> queue = TimerQueue[str](capacity=4)
    >>> _ = queue.schedule(0, 30, "wave", period=60)
    >>> [(timer.due_tick, timer.payload, timer.period) for timer in queue]
    [(30, 'wave', 60)]
    """

    id: TimerId
    """What cancels it; a periodic timer keeps its own."""
    due_tick: int
    """The tick it fires at."""
    payload: P
    """The value it was scheduled with."""
    period: int | None
    """Ticks from one firing to the next; None for a timer that fires once."""

    @property
    def sequence(self) -> int:
        """Its place among the timers that are due at one tick."""
        return self.id.sequence

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("sim.Timer", self.id, self.due_tick, self.payload, self.period)


class DueSet(Generic[P]):
    """The timers that are due at one tick: a snapshot, which `TimerQueue.begin_tick` takes.

    >>> queue = TimerQueue[str](capacity=4)
    >>> ids = [queue.schedule(0, 1, name) for name in ("door", "bomb", "lamp")]
    >>> due = queue.begin_tick(1)
    >>> for timer in due:
    ...     print(timer.payload)
    ...     if timer.payload == "door":
    ...         _ = queue.cancel(ids[1]), queue.schedule(1, 0, "next tick")
    door
    lamp
    >>> len(due)
    3

    Whether a timer was cancelled is asked when its turn comes. Several systems may iterate the
    set, each for its own payloads; all see the same order. The set is over, and iterates as empty,
    when the queue begins the next tick or is cleared.
    """

    __slots__ = ("_delivered", "_over", "_stopped", "_tick", "_timers")

    def __init__(self, tick: int, timers: dict[int, Timer[P]]) -> None:
        self._tick = tick
        self._timers = timers  # by sequence, in firing order
        self._delivered: set[int] = set()
        self._stopped: set[int] = set()
        self._over = False

    @property
    def tick(self) -> int:
        """The tick that was begun."""
        return self._tick

    def __len__(self) -> int:
        """How many timers were due, those cancelled since then included."""
        return len(self._timers)

    def __iter__(self) -> Iterator[Timer[P]]:
        for sequence, timer in self._timers.items():
            if self._over:
                return
            if sequence not in self._stopped:
                self._delivered.add(sequence)
                yield timer

    def _stop(self, sequence: int) -> bool:
        """Deliver it no more; whether it was still to be delivered."""
        if sequence in self._stopped or sequence not in self._timers:
            return False
        self._stopped.add(sequence)
        return sequence not in self._delivered

    def _end(self) -> None:
        self._over = True

    def __repr__(self) -> str:
        return f"<DueSet: {len(self._timers)} timers of tick {self._tick}>"


class TimerQueue(Generic[P]):
    """Timers with payloads, at most ``capacity`` of them waiting at a time.

    >>> timers = TimerQueue[str](capacity=16)
    >>> wave = timers.schedule(0, 30, "wave", period=60)
    >>> _ = timers.schedule(0, 90, "boss")
    >>> [(tick, timer.payload) for tick in range(100) for timer in timers.begin_tick(tick)]
    [(30, 'wave'), (90, 'wave'), (90, 'boss')]
    >>> timers.cancel(wave), len(timers)
    (True, 0)

    Begin every tick with ``begin_tick``, before anything schedules. Iterating the queue gives the
    waiting timers in the order they will fire, for a digest; ``to_dict`` is for a saved game. A
    copy or a pickle made between ticks is a snapshot; a copy shares the payloads, and neither has
    the due set. Queues are equal if the same timers wait under the same ids.

    Raises TypeError for a capacity without ``__index__``, OverflowError out of ``0 .. 2**64 - 1``
    and ValueError for 0.
    """

    __slots__ = ("_begun", "_capacity", "_due", "_generation", "_heap", "_sequence", "_timers")

    def __init__(self, capacity: SupportsIndex) -> None:
        self._capacity = positive(
            capacity, "capacity", "a whole number of timers", "a level's worst case is a good one"
        )
        self._generation = 0
        self._reset()

    def _reset(self) -> None:
        self._heap: list[tuple[int, int]] = []  # (due tick, sequence), the dead among them
        self._timers: dict[int, Timer[P]] = {}  # by sequence: those that wait
        self._sequence = 0
        self._begun = -1
        self._due: DueSet[P] = DueSet(0, {})

    def schedule(
        self,
        now_tick: SupportsIndex,
        delay: SupportsIndex,
        payload: P,
        *,
        period: SupportsIndex | None = None,
        immediate: bool = False,
    ) -> TimerId:
        """A timer that fires ``delay`` ticks after ``now_tick``, and every ``period`` ticks from
        there on if one is given.

        ``now_tick`` is the tick under way. A delay of 0 means 1: what is due at a tick is settled
        when the tick begins, or two timers of no delay could schedule each other for ever. With
        ``immediate`` the timer is due at ``now_tick`` itself if that tick is still to begin, as it
        is while a world is set up, and at the next one otherwise; the delay must be 0 then.

        >>> timers = TimerQueue[str](capacity=4)
        >>> _ = timers.schedule(0, 10, "later", period=10)
        >>> _ = timers.schedule(0, 0, "now", period=10, immediate=True)
        >>> [(n, timer.payload) for n in range(11) for timer in timers.begin_tick(n)]
        [(0, 'now'), (10, 'later'), (10, 'now')]

        Raises TypeError for a number without ``__index__``, OverflowError out of
        ``0 .. 2**64 - 1``, ValueError for a period of 0, a tick that is over, or ``immediate`` with
        a delay; TimerQueueFull if ``capacity`` timers wait, and TickExhausted for a due tick beyond
        2**64 - 1. Nothing is scheduled then.
        """
        now = integer(now_tick, "now_tick", _TICKS, _NOW_FIX)
        wait = integer(delay, "delay", _TICKS, _DELAY_FIX)
        every = (
            None if period is None else positive(period, "period", _TICKS, "None is a single timer")
        )
        if now < self._begun:
            raise ValueError(
                f"now_tick must be the tick under way, {self._begun}, or later, not {now}; "
                "a timer is counted from now on"
            )
        if immediate and wait:
            raise ValueError(
                f"delay must be 0 ticks for an immediate timer, not {wait}; leave one of them out"
            )
        if len(self._timers) >= self._capacity:
            raise TimerQueueFull(
                f"{shown(payload)} found no room: {self._capacity} timers wait, which is the "
                "queue's capacity; make it larger, or find who schedules without end"
            )
        due = now if immediate and now > self._begun else tick_after(now, wait or 1, "a timer")
        timer = Timer(TimerId(self._sequence, self._generation), due, payload, every)
        self._sequence += 1
        self._add(timer)
        return timer.id

    def _add(self, timer: Timer[P]) -> None:
        sequence = timer.id.sequence
        self._timers[sequence] = timer
        heappush(self._heap, (timer.due_tick, sequence))

    def cancel(self, timer_id: TimerId) -> bool:
        """Stop a timer: its firings to come, and one that is due at this tick and whose turn has
        not come yet. Whether there was anything to stop.

        >>> timers = TimerQueue[str](capacity=4)
        >>> bomb = timers.schedule(0, 30, "bomb")
        >>> timers.cancel(bomb), timers.cancel(bomb)
        (True, False)

        An id whose timer is over, or from before ``clear``, stops nothing. It must be this queue's:
        another one counts the same numbers. Raises TypeError for anything but a TimerId.
        """
        if type(timer_id) is not TimerId:
            raise TypeError(
                f"timer_id must be a TimerId, not {type(timer_id).__name__} {shown(timer_id)}; "
                "schedule returned one"
            )
        if timer_id.generation != self._generation:
            return False
        undelivered = self._due._stop(timer_id.sequence)
        waiting = self._timers.pop(timer_id.sequence, None) is not None
        if len(self._heap) > 2 * len(self._timers) + _SWEEP_FROM:
            self._heap = [(t.due_tick, t.id.sequence) for t in self._timers.values()]
            heapify(self._heap)
        return waiting or undelivered

    def begin_tick(self, tick: SupportsIndex) -> DueSet[P]:
        """The timers due at ``tick``, by due tick and then by the order they were scheduled in.

        Those that fire once leave the queue with this, and room for others; those with a period go
        on waiting, for the previous due tick plus the period. Due sets of ticks before are over.

        Where ticks were left out, what fell due in them comes now, and each timer once: one with a
        period that missed several turns makes up for them one a tick.

        Raises TypeError and OverflowError as ``schedule`` does, ValueError for a tick that has
        begun already, or an earlier one, and TickExhausted if a period leads beyond 2**64 - 1. The
        queue is then as it was.
        """
        now = integer(tick, "tick", _TICKS, _NOW_FIX)
        if now <= self._begun:
            raise ValueError(
                f"tick must be after {self._begun}, which has begun already, not {now}; begin each "
                "tick once, and clear the queue for a new world"
            )
        heap, timers = self._heap, self._timers
        due: dict[int, Timer[P]] = {}
        again: list[Timer[P]] = []
        while heap and heap[0][0] <= now:
            sequence = heappop(heap)[1]
            timer = timers.get(sequence)
            if timer is None:
                continue
            due[sequence] = timer
            if timer.period is not None:
                try:
                    following = tick_after(timer.due_tick, timer.period, "a periodic timer")
                except TickExhausted:
                    for back, popped in due.items():
                        heappush(heap, (popped.due_tick, back))
                    raise
                again.append(Timer(timer.id, following, timer.payload, timer.period))
        for sequence in due:
            del timers[sequence]
        for timer in again:
            self._add(timer)
        self._due._end()
        self._due = DueSet(now, due)
        self._begun = now
        return self._due

    def clear(self) -> None:
        """Drop all timers, those due at this tick too: for a new world, whose ticks begin anew.

        Ids from before stop nothing any more, and the sequence starts at 0, as in a new queue.
        """
        self._due._end()
        self._generation += 1
        self._reset()

    @property
    def capacity(self) -> int:
        """The most timers that may wait."""
        return self._capacity

    def __len__(self) -> int:
        """How many timers wait, those due at this tick left out unless they come again."""
        return len(self._timers)

    def __iter__(self) -> Iterator[Timer[P]]:
        return iter(sorted(self._timers.values(), key=_firing_order))

    def __copy__(self) -> TimerQueue[P]:
        copied = TimerQueue[P](self._capacity)
        copied._generation = self._generation
        copied._heap = self._heap.copy()
        copied._timers = self._timers.copy()
        copied._sequence = self._sequence
        copied._begun = self._begun
        return copied

    def __eq__(self, other: object) -> bool:
        if type(other) is not TimerQueue:
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("sim.TimerQueue", self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """What a saved game needs, between ticks: numbers, and the payloads as they are.

        Loading it with ``from_dict`` keeps the ids, and the order of timers that are due together.
        Scheduling the timers again would keep neither.

        >>> timers = TimerQueue[str](capacity=16)
        >>> _ = timers.schedule(0, 30, "wave", period=60)
        >>> timers.to_dict()["timers"]
        [[0, 30, 60, 'wave']]
        """
        return {
            "capacity": self._capacity,
            "generation": self._generation,
            "sequence": self._sequence,
            "begun": self._begun,
            "timers": [
                [number, timer.due_tick, timer.period, timer.payload]
                for number, timer in sorted(self._timers.items())
            ],
        }

    def __digest__(self) -> dict[str, Any]:
        return self.to_dict()

    @classmethod
    def from_dict(cls, written: object) -> TimerQueue[Any]:
        """The queue that ``to_dict`` wrote: the same timers under the same ids.

        >>> timers = TimerQueue[str](capacity=16)
        >>> wave = timers.schedule(0, 30, "wave", period=60)
        >>> loaded = TimerQueue.from_dict(timers.to_dict())
        >>> list(loaded) == list(timers), loaded.cancel(wave)
        (True, True)

        Raises ValueError for anything that ``to_dict`` does not write.
        """
        names = ("capacity", "generation", "sequence", "begun", "timers")
        if not isinstance(written, dict) or written.keys() != set(names):
            raise ValueError(f"a queue has {', '.join(names)}, not {shown(written)}")
        capacity, generation, sequence, begun, timers = (written[name] for name in names)
        for name, low in (("capacity", 1), ("generation", 0), ("sequence", 0), ("begun", -1)):
            if type(written[name]) is not int or not low <= written[name] <= U64_MAX:
                raise ValueError(f"{name} must be {low} .. {U64_MAX}, not {shown(written[name])}")
        if not isinstance(timers, list) or len(timers) > capacity:
            raise ValueError(f"timers must be a list of at most {capacity}, not {shown(timers)}")
        queue = cls(capacity)
        queue._generation, queue._sequence, queue._begun = generation, sequence, begun
        last = -1
        for timer in timers:
            if (
                not isinstance(timer, list)
                or len(timer) != 4
                or type(timer[0]) is not int
                or not last < timer[0] < sequence
                or type(timer[1]) is not int
                or not 0 <= timer[1] <= U64_MAX
                or not (timer[2] is None or (type(timer[2]) is int and 0 < timer[2] <= U64_MAX))
            ):
                raise ValueError(
                    "a timer has its number, below sequence and in order, the tick it is due at, "
                    f"its period or None, and its payload, not {shown(timer)}"
                )
            last, due, period, payload = timer
            queue._add(Timer(TimerId(last, generation), due, payload, period))
        return queue

    def __repr__(self) -> str:
        return f"<TimerQueue: {len(self)} of {self._capacity} timers>"


def _restored_id(sequence: Any, generation: Any) -> TimerId:
    kind, fix = "a whole number", "the saved TimerId is damaged"
    return TimerId(
        integer(sequence, "sequence", kind, fix), integer(generation, "generation", kind, fix)
    )


def _restored_timer(timer_id: Any, due_tick: Any, payload: Any, period: Any) -> Timer[Any]:
    fix = "the saved Timer is damaged"
    if type(timer_id) is not TimerId:
        raise TypeError(f"id must be a TimerId, not {shown(timer_id)}; {fix}")
    due = integer(due_tick, "due_tick", _TICKS, fix)
    every = None if period is None else positive(period, "period", _TICKS, fix)
    return Timer(timer_id, due, payload, every)


register("sim.TimerId", _restored_id, 2)
register("sim.Timer", _restored_timer, 4)
register("sim.TimerQueue", TimerQueue.from_dict, 1)


def _firing_order(timer: Timer[Any]) -> tuple[int, int]:
    return timer.due_tick, timer.id.sequence
