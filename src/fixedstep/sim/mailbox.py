"""Results of background work on their way to a tick, and what becomes of those that come too late.

A path is searched on another thread, and meanwhile the guard dies, gets another destination, or the
level is over. The result must not reach a world it was not made for, nor any world in the middle of
a tick. So the work begins with a ticket, which says what it is for; the result is submitted with
it, from any thread; and a tick takes what has arrived as one batch, in order of the requests, after
each result was checked against what is true now.

Other threads call ``submit``, ``submit_error`` and ``counters``, so a lock guards the slots. The
mailbox starts no thread and runs no work: any executor does that. Which tick a result falls into
depends on the machine; a recording keeps the tick in which it was given.

An interrupt (Ctrl-C) may fall between any two instructions. Each change is therefore made by one
assignment, and what it leaves to do is done by the next call.

Every ticket holds a slot until a batch reclaims it, and what became of each is counted, with the
reason: `MailboxCounters`. A slot is reclaimed at batches alone, so that whether the seventeenth
request of a tick is admitted does not depend on how far a thread has come.

Cancelling stops a result from being applied; it stops no work. Where a worker is attached to the
ticket, the slot is held until it has reported, because work that goes on is what the capacity
bounds. Where nobody is attached, a cancelled ticket is reclaimed at the next batch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import Enum
from threading import RLock, get_ident
from typing import Any, NamedTuple, NoReturn, Protocol, SupportsIndex

from .._arguments import positive, shown
from .recordable import check_hashable, check_recordable


class MailboxFull(RuntimeError):
    """All slots are taken. The request was not admitted, and no ticket given."""


class MailboxClosed(RuntimeError):
    """The mailbox was shut down. The request was not admitted, and no ticket given."""


class WorkFailed(RuntimeError):
    """The error of background work, live and replayed: its text is the type of the exception.

    Live, ``__cause__`` is what the worker raised. A recording holds the type alone, so a game that
    has to tell errors apart compares the text: ``str(completion.error) == "TimeoutError"``.

    >>> str(WorkFailed("TimeoutError"))
    'TimeoutError'
    """


class Stale(Enum):
    """Why a result is not applied any more: what an ``is_current`` may say instead of False.

    >>> Stale("revision") is Stale.REVISION
    True
    """

    TARGET = "target"
    """What it was made for is gone."""
    REVISION = "revision"
    """What it was made from has changed."""


class Ticket(NamedTuple):
    """A request that was admitted. It may travel to another process and back.

    >>> Mailbox(world="level 1").reserve(target=12, revision=3)
    Ticket(request=1, world='level 1', target=12, revision=3)
    """

    request: int
    """Its number: requests of a mailbox count from 1."""
    world: Hashable
    """The world that asked."""
    target: Hashable
    """What the result is for; None for nothing in particular."""
    revision: Hashable
    """The state of the target that the work was given, in whatever the game counts it."""


class Completion(NamedTuple):
    """A result that is to be applied.

    >>> Completion(Ticket(1, 0, 12, None), result=[(0, 0), (1, 0)], error=None).ok
    True
    """

    ticket: Ticket
    """What it is for."""
    result: Any
    """What the worker returned; None where it failed."""
    error: WorkFailed | None
    """That the worker raised, or None."""

    @property
    def ok(self) -> bool:
        """Whether there is a result."""
        return self.error is None


class MailboxCounters(NamedTuple):
    """What became of every request and every result, since the mailbox was made.

    A request is given a slot (``reserved``) or refused (``full``, ``closed``). It holds the slot
    (``outstanding``) until that is ``reclaimed``, for one of seven reasons. A result is
    ``submitted`` and then refused at once (the last four counters), waiting, or part of what is
    reclaimed:

    >>> mailbox = Mailbox()
    >>> tickets = [mailbox.reserve(target) for target in ("guard", "guard", "door")]
    >>> [mailbox.submit(ticket, "a path") for ticket in (*tickets, tickets[2])]
    [False, True, True, False]
    >>> [done.ticket.target for done in mailbox.take_batch(lambda ticket: ticket.target != "door")]
    ['guard']
    >>> seen = mailbox.counters
    >>> seen.reclaimed, seen.applied, seen.superseded, seen.target, seen.duplicate
    (3, 1, 1, 1, 1)
    >>> seen.reserved == seen.reclaimed + seen.outstanding
    True
    >>> seen.submitted == seen.reclaimed - seen.unanswered + seen.waiting + seen.refused
    True
    """

    reserved: int = 0
    """Requests that were given a ticket and a slot."""
    full: int = 0
    """Requests refused because all slots were taken."""
    closed: int = 0
    """Requests refused after ``shutdown``."""

    outstanding: int = 0
    """Slots taken at present."""
    waiting: int = 0
    """Slots among those whose result has arrived, applicable or not."""

    applied: int = 0
    """Reclaimed: handed out in a batch, errors included."""
    cancelled: int = 0
    """Reclaimed: the ticket, or the work, was cancelled."""
    superseded: int = 0
    """Reclaimed: a later request for the same target was admitted."""
    world: int = 0
    """Reclaimed: the world was replaced."""
    target: int = 0
    """Reclaimed: the target is gone, or ``is_current`` said no without a reason."""
    revision: int = 0
    """Reclaimed: the target has changed."""
    shutdown: int = 0
    """Reclaimed: the mailbox was shut down."""
    unanswered: int = 0
    """How many of those reclaimed nobody had reported on: cancelled, or at shutdown."""

    submitted: int = 0
    """Results and reports of any kind, those refused included."""
    foreign: int = 0
    """Results refused: the ticket names a world it was not made in."""
    unknown: int = 0
    """Results refused: the ticket was not made here, or was altered."""
    duplicate: int = 0
    """Results refused: the ticket has one already."""
    late: int = 0
    """Results refused: the slot was reclaimed before."""

    @property
    def reclaimed(self) -> int:
        """Slots given back, for whatever reason."""
        outdated = self.superseded + self.world + self.target + self.revision
        return self.applied + self.cancelled + self.shutdown + outdated

    @property
    def stale(self) -> int:
        """Results that the world had moved on from."""
        return self.superseded + self.world + self.target + self.revision + self.foreign

    @property
    def refused(self) -> int:
        """Results that were not taken in."""
        return self.foreign + self.unknown + self.duplicate + self.late


class Future(Protocol):
    """What `Mailbox.attach` needs of a future; ``concurrent.futures`` and asyncio have it."""

    def add_done_callback(self, fn: Callable[[Any], object], /) -> object:
        """Call ``fn`` with the future when it is done."""

    def cancelled(self) -> bool:
        """Whether the work was cancelled before it began."""

    def exception(self) -> BaseException | None:
        """What the work raised, or None."""

    def result(self) -> Any:
        """What the work returned."""


class _Slot:
    """An admitted request. All of it is guarded by the mailbox's lock."""

    __slots__ = ("answered", "attached", "cancelled", "error", "result", "revoked", "ticket")

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.attached = False  # a worker will report
        self.answered = False  # it has
        self.cancelled = False
        self.revoked: str | None = None  # "superseded" or "world"
        self.result: Any = None
        self.error: WorkFailed | None = None

    @property
    def reclaimable(self) -> bool:
        return self.answered or (self.cancelled and not self.attached)

    @property
    def verdict(self) -> str | None:
        """Why it is not applied, as the counter's name; None if it may be."""
        return "cancelled" if self.cancelled else self.revoked


class Mailbox:
    """Results on their way from workers into ticks, at most ``capacity`` requests at a time.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> mailbox = Mailbox(capacity=16)
    >>> with ThreadPoolExecutor() as pool:
    ...     ticket = mailbox.reserve(target="guard", revision=4)
    ...     mailbox.attach(ticket, pool.submit(sorted, "path"))
    >>> for done in mailbox.take_batch(lambda ticket: ticket.revision == 4):
    ...     print(done.ticket.request, done.ticket.target, done.result)
    1 guard ['a', 'h', 'p', 't']

    ``reserve``, ``cancel``, ``take_batch`` and ``shutdown`` are for the thread that runs the world,
    which the first such call decides, until ``replace_world``; from another one they are a
    RuntimeError, unless Python runs with -O. ``submit``, ``submit_error`` and ``counters`` are for
    any thread. ``world`` is any hashable value that tells this world from the next. A mailbox
    cannot be copied or pickled, since work under way reports to this one.

    Raises TypeError for a capacity without ``__index__``, OverflowError out of ``0 .. 2**64 - 1``,
    ValueError for 0.
    """

    __slots__ = (
        "_account",
        "_capacity",
        "_closed",
        "_lock",
        "_newest",
        "_owner",
        "_refusals",
        "_request",
        "_slots",
        "_world",
    )

    def __init__(self, capacity: SupportsIndex = 16, world: Hashable = 0) -> None:
        self._capacity = positive(
            capacity, "capacity", "a whole number of requests", "16 is the default"
        )
        self._world = check_hashable(world, "world")
        # Reentrant: what is allocated under it can run a finalizer, which may report, and so can a
        # signal. A report changes a slot and never which slots there are.
        self._lock = RLock()
        self._slots: dict[int, _Slot] = {}  # by request number, and so in its order
        self._newest: dict[Hashable, _Slot] = {}  # by target: the slot that nothing supersedes
        self._request = 0
        self._closed = False
        self._owner: int | None = None
        self._refusals = dict.fromkeys(_REFUSALS, 0)
        # Reclaimed slots by reason, and the slot reclaimed last: replaced as a whole. That slot is
        # taken out of _slots afterwards, by the next call if an interrupt prevents it.
        self._account: tuple[dict[str, int], _Slot | None] = (dict.fromkeys(_REASONS, 0), None)

    def _check_thread(self, name: str) -> None:
        thread = get_ident()
        if self._owner is None:
            self._owner = thread
        elif self._owner != thread:
            raise RuntimeError(
                f"{name} was called from another thread than the one that runs the world; workers "
                "call submit or submit_error"
            )

    def reserve(self, target: Hashable, revision: Hashable = None) -> Ticket:
        """Admit a request, before its work begins. Older ones for the same target are superseded:
        their results will not be applied, even if this one is cancelled.

        ``target`` is a value that names what the result is for, such as a creation sequence or a
        handle; requests for None supersede nothing.

        Raises MailboxFull where ``capacity`` slots are taken, MailboxClosed after ``shutdown``, and
        what `check_recordable` raises for a target or revision that a recording cannot hold, or
        TypeError for one without a hash. Nothing is superseded then.
        """
        if __debug__:
            self._check_thread("reserve")
        _named(target, "target")
        _named(revision, "revision")
        with self._lock:
            self._settle()
            closed = self._closed
            full = len(self._slots) >= self._capacity
            if closed or full:
                self._refusals["closed" if closed else "full"] += 1
            else:
                return self._admit(target, revision, self._request + 1).ticket
        # The texts are made without the lock: the repr of a target is somebody else's code.
        if closed:
            raise MailboxClosed(
                f"the request for {shown(target)} came after shutdown; a new session has a "
                "mailbox of its own"
            )
        raise MailboxFull(
            f"the request for {shown(target)} found no room: all {self._capacity} slots are taken; "
            "ask again after a tick, or cancel what is no longer needed"
        )

    def _admit(self, target: Hashable, revision: Hashable, number: int) -> _Slot:
        slot = _Slot(Ticket(number, self._world, target, revision))
        self._request = max(self._request, number)
        self._slots[number] = slot
        if target is not None:
            before = self._newest.get(target)
            self._newest[target] = slot
            if before is not None:
                before.revoked = before.revoked or "superseded"
        return slot

    def _reserve_no_slot(
        self, target: Hashable, revision: Hashable, number: int | None = None
    ) -> Ticket:
        """A request of a replay, with the number it had. Its result is in the recording, so it
        takes no slot from others, whether or not the work is begun again. Counted as cancelled."""
        _named(target, "target")
        _named(revision, "revision")
        with self._lock:
            self._settle()
            slot = self._admit(target, revision, self._request + 1 if number is None else number)
            self._reclaim(slot, "cancelled")
        return slot.ticket

    def submit(self, ticket: Ticket, result: Any) -> bool:
        """Report a result, from any thread. Whether it may still be applied.

        It waits for the next batch that is taken. A result that cannot be applied any more is taken
        in too, since it says that the work is over; one that has no slot, or is the second for its
        slot, is refused. Both are counted, and neither is an error: a worker cannot know.

        Raises TypeError for anything but a Ticket, and what `check_recordable` raises for a result
        that a recording cannot hold. The slot is then still taken: submit what it can hold.
        """
        _checked(ticket)
        return self._report(ticket, check_recordable(result, "result"), None)

    def submit_error(self, ticket: Ticket, error: BaseException) -> bool:
        """Report that the work failed. It is handed out like a result, for the game to decide, with
        a `WorkFailed` as its error.

        Raises TypeError for anything but a Ticket and an exception.
        """
        _checked(ticket)
        if not isinstance(error, BaseException):
            raise TypeError(
                f"error must be an exception, not {type(error).__name__} {shown(error)}; "
                "submit takes results"
            )
        return self._report(ticket, None, _failed(error))

    def attach(self, ticket: Ticket, future: Future) -> None:
        """Have the future report to this ticket when it is done, whatever becomes of it.

        From now on a ticket that is cancelled keeps its slot until the future has reported. A
        future that was cancelled itself reports just that, and a result that a recording cannot
        hold is reported as the error it raises. Raises TypeError for anything but a Ticket.
        """
        _checked(ticket)
        with self._lock:
            slot = self._slots.get(ticket.request)
            if slot is not None and slot.ticket == ticket:
                slot.attached = True

        def report(future: Future) -> None:
            if future.cancelled():
                self._report(ticket, None, None, cancelled=True)
            elif (error := future.exception()) is not None:
                self._report(ticket, None, _failed(error))
            else:
                try:
                    self.submit(ticket, future.result())
                except (TypeError, ValueError, OverflowError) as unfit:
                    self._report(ticket, None, _failed(unfit))

        future.add_done_callback(report)

    def _report(
        self, ticket: Ticket, result: Any, error: WorkFailed | None, *, cancelled: bool = False
    ) -> bool:
        with self._lock:
            slot = self._slots.get(ticket.request)
            if slot is self._account[1]:
                slot = None  # reclaimed
            refusal = self._refusal(ticket, slot)
            if refusal is not None or slot is None:
                self._refusals[refusal or "unknown"] += 1
                return False
            if slot.verdict is None and not cancelled:
                slot.result = result
                slot.error = error
            slot.cancelled = slot.cancelled or cancelled
            slot.answered = True
            return slot.verdict is None

    def _refusal(self, ticket: Ticket, slot: _Slot | None) -> str | None:
        if slot is not None:
            if slot.ticket == ticket:
                return "duplicate" if slot.answered else None
            return "foreign" if slot.ticket.world != ticket.world else "unknown"
        if type(ticket.request) is int and 1 <= ticket.request <= self._request:
            return "late"
        return "foreign" if ticket.world != self._world else "unknown"

    def cancel(self, ticket: Ticket) -> bool:
        """Have the result of this request not applied. Whether there was anything to cancel.

        The work goes on; a future that has not begun can be cancelled by itself. Raises TypeError
        for anything but a Ticket.
        """
        if __debug__:
            self._check_thread("cancel")
        _checked(ticket)
        with self._lock:
            self._settle()
            slot = self._slots.get(ticket.request)
            if slot is None or slot.ticket != ticket or slot.cancelled:
                return False
            slot.cancelled = True
            return True

    def replace_world(self, world: Hashable) -> None:
        """Requests of the world so far are not applied any more; their slots are held until their
        results come, or they are cancelled.

        Raises ValueError for the world that is, since its results would be taken for new ones, and
        TypeError for a value without a hash.
        """
        check_hashable(world, "world")
        if world == self._world:
            raise ValueError(
                f"world must be another than the one so far, {shown(world)}; count the worlds, "
                "or number their restarts"
            )
        with self._lock:
            for slot in list(self._slots.values()):
                slot.revoked = slot.revoked or "world"  # the first reason is the one that counts
            self._newest.clear()
            self._world = world
            self._owner = None

    def take_batch(
        self, is_current: Callable[[Ticket], bool | Stale] | None = None
    ) -> tuple[Completion, ...]:
        """What has arrived and is to be applied now, by request number: once a tick, at its begin.

        ``is_current`` is asked about each ticket whether its target is there and its revision what
        it was; it answers with True, with False, or with a `Stale` that says which, for the
        counters. Without it, everything is current. What arrives meanwhile waits for the next
        batch. Slots are reclaimed here, of results applied and not.

        An exception from ``is_current`` comes through, and the results wait on.
        """
        if __debug__:
            self._check_thread("take_batch")
        with self._lock:
            self._settle()
            batch = [slot for slot in list(self._slots.values()) if slot.reclaimable]
            asked = [slot for slot in batch if slot.verdict is None]
        stale: dict[int, str] = {}
        if is_current is not None:
            for slot in asked:
                answer = is_current(slot.ticket)  # without the lock: it may call the mailbox
                if isinstance(answer, Stale):
                    stale[slot.ticket.request] = answer.value
                elif not answer:
                    stale[slot.ticket.request] = "target"
        completions = []
        with self._lock:
            for slot in batch:
                if slot.ticket.request not in self._slots:
                    continue  # reclaimed meanwhile
                reason = slot.verdict or stale.get(slot.ticket.request, "applied")
                self._reclaim(slot, reason)
                if reason == "applied":
                    completions.append(Completion(slot.ticket, slot.result, slot.error))
        return tuple(completions)

    def shutdown(self) -> int:
        """Admit nothing any more, apply nothing any more, and reclaim every slot. How many those
        were.

        What workers still report is counted as late. Calling it again does nothing.
        """
        if __debug__:
            self._check_thread("shutdown")
        with self._lock:
            self._settle()
            self._closed = True
            slots = list(self._slots.values())
            for slot in slots:
                self._reclaim(slot, slot.verdict or "shutdown")
            return len(slots)

    def _reclaim(self, slot: _Slot, reason: str) -> None:
        """Count a slot as reclaimed, and take it out."""
        counts = self._account[0].copy()
        counts[reason] += 1
        counts["unanswered"] += not slot.answered
        self._account = (counts, slot)
        self._settle()

    def _settle(self) -> None:
        """Take out the slot that was reclaimed last, if that is still to be done."""
        slot = self._account[1]
        if slot is not None:
            if self._newest.get(slot.ticket.target) is slot:
                del self._newest[slot.ticket.target]
            self._slots.pop(slot.ticket.request, None)
            self._account = (self._account[0], None)

    @property
    def counters(self) -> MailboxCounters:
        """What became of everything so far: one consistent reading, from any thread."""
        with self._lock:
            counts, last = self._account
            refusals = self._refusals.copy()
            slots = [slot for slot in list(self._slots.values()) if slot is not last]
        waiting = sum(slot.answered for slot in slots)
        seen = MailboxCounters(outstanding=len(slots), waiting=waiting, **counts, **refusals)
        return seen._replace(
            reserved=seen.reclaimed + len(slots),
            submitted=seen.reclaimed - seen.unanswered + waiting + seen.refused,
        )

    @property
    def capacity(self) -> int:
        """The most requests that may be outstanding."""
        return self._capacity

    @property
    def world(self) -> Hashable:
        """The world that requests are made for."""
        return self._world

    @property
    def closed(self) -> bool:
        """Whether it was shut down."""
        return self._closed

    def __len__(self) -> int:
        """How many slots are taken."""
        return len(self._slots) - (self._account[1] is not None)

    def __copy__(self) -> NoReturn:
        raise TypeError(
            "a mailbox cannot be copied, since work under way reports to this one; make a new one"
        )

    def __deepcopy__(self, memo: object, /) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a mailbox cannot be pickled, since work under way reports to this one; make a new one"
        )

    def __repr__(self) -> str:
        state = "shut down" if self._closed else f"{len(self)} of {self._capacity} slots taken"
        return f"<Mailbox of world {shown(self._world)}: {state}>"


_REASONS = (
    *("applied", "cancelled", "superseded", "world", "target", "revision", "shutdown"),
    "unanswered",
)
_REFUSALS = ("full", "closed", "foreign", "unknown", "duplicate", "late")


def _failed(error: BaseException) -> WorkFailed:
    failed = WorkFailed(type(error).__name__)
    failed.__cause__ = error
    return failed


def _named(value: Hashable, name: str) -> Hashable:
    return check_recordable(check_hashable(value, name), name)


def _checked(ticket: object) -> None:
    if not isinstance(ticket, Ticket):
        raise TypeError(
            f"ticket must be a Ticket, not {type(ticket).__name__} {shown(ticket)}; "
            "reserve returned one"
        )
