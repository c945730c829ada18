"""The last ticks, for looking at after a fault: a ring that keeps so many and forgets the oldest.

It answers what a stack trace cannot, namely what the ticks before the fault did. It refuses to be
a recording: it is bounded, holds what is in memory anyway, and is read in tick order whatever was
overwritten (a ring that is read in slot order tells its story from the middle).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from .._arguments import U32_MAX, positive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .phases import Phase
    from .tick_input import TickInput


class TracedTick(NamedTuple):
    """What one tick did, in a few numbers.

    >>> from fixedstep.sim.session import Mode, Session
    >>> session = Session(dict, lambda world, tick_input, tick: None, {}, mode=Mode.PAUSED)
    >>> _ = session.step()
    >>> [(traced.tick, traced.phase.value, traced.fault) for traced in session.trace]
    [(0, 'EndTick', '')]
    """

    tick: int
    """Its number, from 0."""
    input: TickInput
    """What it was given."""
    phase: Phase
    """The last phase it was in: EndTick, unless it raised."""
    fault: str
    """The exception that stopped it, by type and text; "" for a tick that succeeded."""
    due: int
    """Timers that were due."""
    completions: int
    """Results of background work that it was given."""
    staged: int
    """Presentation requests that it staged."""
    outstanding: int = 0
    """Slots of the mailbox that were taken when it was over."""
    refused: int = 0
    """Requests for background work that it made and that were not admitted."""


class TickTrace:
    """The last ``capacity`` ticks, oldest first.

    >>> trace = TickTrace(2)
    >>> len(trace), trace.capacity
    (0, 2)

    Raises TypeError, OverflowError and ValueError for a capacity that is none.
    """

    __slots__ = ("_ticks",)

    def __init__(self, capacity: SupportsIndex = 64) -> None:
        kind = "a whole number of ticks"
        room = positive(capacity, "capacity", kind, "64 is the default", high=U32_MAX)
        self._ticks: deque[TracedTick] = deque(maxlen=room)

    def add(self, tick: TracedTick) -> None:
        """Keep a tick, and forget the oldest if that is one too many."""
        self._ticks.append(tick)

    def clear(self) -> None:
        """Forget all, for a new world, whose ticks count from its own beginning."""
        self._ticks.clear()

    @property
    def capacity(self) -> int:
        """How many ticks are kept."""
        assert self._ticks.maxlen is not None
        return self._ticks.maxlen

    def __iter__(self) -> Iterator[TracedTick]:
        return iter(tuple(self._ticks))

    def __len__(self) -> int:
        return len(self._ticks)
