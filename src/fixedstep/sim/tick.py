"""One tick: what the world is given beside its input, and what is kept of it afterwards."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Any, Final, NamedTuple, Protocol, SupportsIndex

from .._arguments import U32_MAX, positive, shown
from ..time import Rate, Step
from .game_loop import Fault
from .input import TickInput
from .mailbox import Completion, Mailbox, MailboxClosed, MailboxFull, Ticket
from .outbox import Outbox
from .recordable import Recordable
from .timers import DueSet

PHASES: Final = ("BeginTick", "Intent", "Motion", "Gameplay", "Commit", "EndTick")
"""The phases of a tick unless a game names its own, in order."""


class PhaseOrderError(RuntimeError):
    """A tick entered a phase that comes before the current one, or the same one again."""


class RecordedTick(NamedTuple):
    """Everything a tick was given: run it again with this and it must come to the same.

    >>> from fixedstep.sim.input import TickInput
    >>> RecordedTick(7, TickInput.neutral(["jump"])).messages
    ()
    """

    tick: int
    """Its number."""
    input: TickInput
    """Its input."""
    messages: tuple[Recordable, ...] = ()
    """The messages posted to it, oldest first."""
    completions: tuple[Completion, ...] = ()
    """The results of background work it was given, in order of their requests."""
    requests: tuple[int | None, ...] = ()
    """The number of each request it made for background work; None for one without a free slot.
    An input of the tick, because free slots depend on when earlier results arrived."""
    closed: bool = False
    """Whether its requests failed because the mailbox was shut down."""
    outbox_room: int | None = None
    """Required records it could still stage, if it asked and the answer was below the capacity of
    a tick; else None. An input of the tick, because it depends on when frames deliver."""
    rate: Rate | None = None
    """The rate from this tick on, where it changed; else None."""


class TickObserver(Protocol):
    """What a recording or a replay does with each tick. It must not raise, nor change the game."""

    def begin(self, world: Any, given: RecordedTick) -> None:
        """A tick is about to run; its requests and room are not known yet."""

    def phase_ended(self, world: Any, phase: str) -> None:
        """A phase of the tick is over."""

    def end(self, world: Any, given: RecordedTick) -> None:
        """The tick has run to its end."""

    def fault(self, world: Any, given: RecordedTick | None, fault: Fault) -> None:
        """The tick raised. ``given`` is None where it cannot be repeated."""

    def close(self, reason: str) -> None:
        """The world was replaced, or another observer takes over."""


class Tick:
    """What a world's ``step(input, tick)`` is given beside the input. It ends with the tick.

    >>> from fixedstep.sim import Session
    >>> class World:
    ...     def step(self, input, tick):
    ...         tick.enter("Gameplay")
    ...         tick.outbox.stage("boom", anchor=(3, tick.number))
    >>> session = Session(World)
    >>> session.run_ticks(2).tick
    2
    >>> [request.anchor for request in session.outbox.deliver()]
    [(3, 0), (3, 1)]
    """

    # What few ticks have stands in the class: one is made for every tick, and each attribute that
    # is set costs it 15 ns.
    completions: tuple[Completion, ...] = ()
    """Results of background work to apply, in order of their requests."""
    due: DueSet[Any] | tuple[()] = ()
    """The timers of ``world.timers`` that are due, in order."""
    _entered = 0
    _observer: TickObserver | None = None
    _world: Any = None
    _replayed: RecordedTick | None = None
    _requests: list[int | None] | tuple[()] = ()
    _closed = False
    _over = False
    _fault: Fault | None = None
    _staged = 0

    def __init__(
        self,
        number: int,
        step: Step,
        input: TickInput,
        messages: tuple[Recordable, ...],
        outbox: Outbox,
        mailbox: Mailbox,
        phases: tuple[str, ...],
    ) -> None:
        self.number: int = number
        """The number of this tick, from 0."""
        self.step: Step = step
        """Its length ``dt`` and its simulated time ``sim_time``, in nanoseconds."""
        self.input: TickInput = input
        """Its input."""
        self.messages: tuple[Recordable, ...] = messages
        """What was posted to it, oldest first."""
        self.outbox: Outbox = outbox
        """Where to stage sounds and effects."""
        self._mailbox = mailbox
        self._phases = phases

    @property
    def phase(self) -> str:
        """The phase it is in; "" for a game without phases."""
        return self._phases[self._entered] if self._phases else ""

    def enter(self, phase: str) -> None:
        """Go on to a later phase, so that a fault or a divergence from here on names it.

        Raises ValueError for a phase the game does not have, and PhaseOrderError for the current
        phase or an earlier one.
        """
        if phase not in self._phases:
            raise ValueError(
                f"phase must be one of {', '.join(self._phases) or '(none)'}, not {shown(phase)}; "
                "Session(..., phases=) names them"
            )
        place = self._phases.index(phase)
        if place <= self._entered:
            raise PhaseOrderError(
                f"{phase} cannot follow {self.phase}; the order is {', '.join(self._phases)}"
            )
        if self._observer is not None:
            self._observer.phase_ended(self._world, self.phase)
        self._entered = place

    def reserve(self, target: Hashable, revision: Hashable = None) -> Ticket:
        """Ask for background work, as `Mailbox.reserve`. Start the work outside the tick: stage
        the ticket in the outbox, and submit the work in the frame that delivers it.

        Within a tick always ask here, so that a recording has the request and its answer.

        Raises what `Mailbox.reserve` raises, and RuntimeError after the tick.
        """
        if self._over:
            raise RuntimeError(
                f"tick {self.number} is over, and a request outside a tick is in no recording; "
                "reserve while it runs"
            )
        if not self._requests:
            self._requests = []
        replayed = self._replayed
        if replayed is not None:
            asked = len(self._requests)
            if asked >= len(replayed.requests):  # it asks for more than it did
                number: int | None = self._mailbox._request + 1
            else:
                number = replayed.requests[asked]
            if number is not None:
                ticket = self._mailbox._reserve_no_slot(target, revision, number)
                self._requests.append(ticket.request)
                return ticket
            self._requests.append(None)
            self._closed = replayed.closed
            what = f"the request for {shown(target)}"
            if replayed.closed:
                raise MailboxClosed(f"{what} came after shutdown when it was recorded")
            raise MailboxFull(f"{what} found no free slot when it was recorded")
        try:
            ticket = self._mailbox.reserve(target, revision)
        except (MailboxFull, MailboxClosed) as error:
            self._requests.append(None)
            self._closed = isinstance(error, MailboxClosed)
            raise
        self._requests.append(ticket.request)
        return ticket

    def cancel(self, ticket: Ticket) -> None:
        """Do not apply the result of a request, whether or not it has come yet."""
        self._mailbox.cancel(ticket)

    def _given(self, rate: Rate | None) -> RecordedTick:
        return RecordedTick(
            self.number,
            self.input,
            self.messages,
            self.completions,
            tuple(self._requests),
            self._closed,
            self.outbox._observed_room,
            rate,
        )


class TickLogEntry(NamedTuple):
    """What one of the last ticks did.

    >>> from fixedstep.sim import Session
    >>> class World:
    ...     def step(self, input, tick): pass
    >>> session = Session(World)
    >>> _ = session.run_ticks(1)
    >>> [(entry.tick, entry.phase, entry.fault) for entry in session.tick_log]
    [(0, 'BeginTick', '')]
    """

    tick: int
    """Its number, from 0."""
    input: TickInput
    """What it was given."""
    phase: str
    """The last phase it was in."""
    fault: str
    """The exception that stopped it, by type and text; "" for a tick that succeeded."""
    due: int
    """Timers that were due."""
    messages: int
    """Messages it was given."""
    completions: int
    """Results of background work it was given."""
    staged: int
    """Requests it staged for sound and picture."""
    refused: int
    """Requests for background work that found no free slot."""


class TickLog:
    """The last ``capacity`` ticks, oldest first, to look at after a fault.

    A `Session` fills one:

    >>> from fixedstep.sim import Session
    >>> class World:
    ...     def step(self, input, tick): pass
    >>> session = Session(World, tick_log=2)
    >>> _ = session.run_ticks(5)
    >>> [entry.tick for entry in session.tick_log], session.tick_log.capacity
    ([3, 4], 2)

    Raises TypeError, OverflowError and ValueError for a bad capacity.
    """

    __slots__ = ("_ticks",)

    def __init__(self, capacity: SupportsIndex = 64) -> None:
        number = positive(
            capacity, "capacity", "a whole number of ticks", "64 is the default", high=U32_MAX
        )
        self._ticks: deque[Tick] = deque(maxlen=number)

    @property
    def capacity(self) -> int:
        """How many ticks are kept."""
        assert self._ticks.maxlen is not None
        return self._ticks.maxlen

    def __len__(self) -> int:
        return len(self._ticks)

    def __iter__(self) -> Iterator[TickLogEntry]:
        return map(_entry, tuple(self._ticks))


def _entry(tick: Tick) -> TickLogEntry:
    return TickLogEntry(
        tick.number,
        tick.input,
        tick.phase,
        "" if tick._fault is None else describe_error(tick._fault.error),
        len(tick.due),
        len(tick.messages),
        len(tick.completions),
        tick._staged,
        tuple(tick._requests).count(None),
    )


def describe_error(error: BaseException) -> str:
    """An exception by type and text. A text that fails must not hide the exception."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__
