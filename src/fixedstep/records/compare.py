"""Comparing runs: the first tick in which two recordings differ, or a session and its recording.

Only the first difference is worth knowing, since every later one may follow from it. Ticks are
compared by their numbers: two recordings that begin at different ticks are compared where both have
ticks. A replay runs a session's own ticks, so what passes in a replay passes in the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._arguments import shown
from ..sim.digests import Digests
from ..sim.input import TickInput
from ..sim.tick import RecordedTick
from .lines import digest_text
from .recording import (
    FaultRecord,
    Recording,
    TickDigester,
    TickRecord,
    given_text,
    root_digest,
)

if TYPE_CHECKING:
    from ..sim.game_loop import Fault
    from ..sim.session import Session

_SHOWN, _BEFORE = 400, 100


class ReplayMismatch(ValueError):
    """A session in which a recording cannot be replayed: it would not come to the same.

    >>> issubclass(ReplayMismatch, ValueError)
    True
    """


class Divergence(NamedTuple):
    """Where two runs differ first.

    >>> print(Divergence(7, "Motion", "digest", "units/3/hp", 1, None))
    tick 7, phase Motion, units/3/hp: first 0x0000000000000001, second nothing
    """

    tick: int
    """The first tick that differs."""
    phase: str
    """The first phase that differs, where phases were digested or a tick raised; else ""."""
    what: str
    """What differs: "input", "messages", "completions", "requests", "rate", "outbox_room",
    "phases", "digest" or "fault"."""
    path: str
    """For a digest, the names that lead to it, such as ``units/3/hp``; "" where only the digest of
    all was recorded."""
    first: Any
    """What the first run, or the recording, had; None for nothing."""
    second: Any
    """What the other had."""
    sides: tuple[str, str] = ("first", "second")
    """What the two runs are called."""

    @property
    def field(self) -> str:
        """What differs, for people: the path, or ``what`` where there is none."""
        if self.what != "digest":
            return self.what.replace("_", " ")
        return self.path or "the digest of all"

    def __str__(self) -> str:
        where = f", phase {self.phase}" if self.phase else ""
        one, other = format_sides(self.first, self.second)
        return (
            f"tick {self.tick}{where}, {self.field}: {self.sides[0]} {one}, {self.sides[1]} {other}"
        )


def format_sides(first: object, second: object) -> tuple[str, str]:
    """Both sides of a divergence, for people: digests in hexadecimal, None as "nothing", and of a
    long text what is around the first difference.

    >>> format_sides(255, None)
    ('0x00000000000000ff', 'nothing')
    """
    one, other = _text(first), _text(second)
    shorter = min(len(one), len(other))
    part = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    return _around(one, part), _around(other, part)


def _text(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping) and not isinstance(value, TickInput):
        return "digests by name"
    return digest_text(value) if type(value) is int else str(value)


def _around(text: str, part: int) -> str:
    if len(text) <= _SHOWN:
        return text
    start = min(max(0, part - _BEFORE), len(text) - _SHOWN)
    return f"characters {start} to {start + _SHOWN} of {len(text)}: {text[start:][:_SHOWN]}"


class Comparison(NamedTuple):
    """What came of comparing two runs.

    >>> compare([], [])
    Comparison(divergence=None, compared=0, only_first=0, only_second=0)
    """

    divergence: Divergence | None
    """The first; None where all that could be compared is equal."""
    compared: int
    """Ticks that both had, up to the divergence. With 0 nothing is known."""
    only_first: int
    """Ticks that only the first had, up to the divergence."""
    only_second: int
    """Ticks that only the second had, up to the divergence."""


def compare(first: Iterable[TickRecord], second: Iterable[TickRecord]) -> Comparison:
    """Compare two runs by the numbers of their ticks: `Recording`s, or lists of `TickRecord`.

    A run that is longer is not different: its other ticks are counted. A run that a fault ended
    differs where the other one went on, or raised elsewhere.

    >>> def run(*digests, start=1):
    ...     neutral = TickInput.neutral([])
    ...     return [TickRecord(RecordedTick(start + i, neutral), d, {"units": {"3": d}})
    ...             for i, d in enumerate(digests)]
    >>> compare(run(3, 6, 9, 12), run(3, 6, 9))
    Comparison(divergence=None, compared=3, only_first=1, only_second=0)
    >>> compare(run(3, 6, 9, 12), run(6, 9, 12, start=2)).compared
    3
    >>> print(compare(run(3, 6, 9), run(3, 7, 10)).divergence)
    tick 2, units/3: first 0x0000000000000006, second 0x0000000000000007

    Raises ValueError for a tick that is not after the one before it in the same run, and what
    `Recording` raises while it is read.
    """
    ones, others = _in_order(first, "first"), _in_order(second, "second")
    one, other = next(ones, None), next(others, None)
    compared = only_first = only_second = 0
    last_one = last_other = -1
    while one is not None or other is not None:
        if other is None or (one is not None and one.tick < other.tick):
            assert one is not None
            only_first += 1
            last_one, one = one.tick, next(ones, None)
        elif one is None or other.tick < one.tick:
            only_second += 1
            last_other, other = other.tick, next(others, None)
        else:
            compared += 1
            if difference := _difference(one, other):
                return Comparison(difference, compared, only_first, only_second)
            last_one, one = one.tick, next(ones, None)
            last_other, other = other.tick, next(others, None)
    fault = _last_ticks(first, second, last_one, last_other)
    return Comparison(fault, compared, only_first, only_second)


def _in_order(run: Iterable[TickRecord], name: str) -> Iterator[TickRecord]:
    last = -1
    for record in run:
        if record.tick <= last:
            again = "comes twice" if record.tick == last else f"comes after tick {last}"
            raise ValueError(
                f"tick {record.tick} of the {name} run {again}; give each tick once, in order"
            )
        last = record.tick
        yield record


def _difference(one: TickRecord, other: TickRecord) -> Divergence | None:
    found = _given(one.given, other.given) or _outcome(one, other)
    rooms = one.given.outbox_room, other.given.outbox_room
    if found is not None and found.what == "digest" and rooms[0] != rooms[1]:
        # No difference by itself, since few ticks depend on the room; here it is the cause.
        return _diverged(one.tick, "", "outbox_room", list(map(_room, rooms)))
    return found


def _diverged(tick: int, phase: str, what: str, sides: Sequence[Any]) -> Divergence:
    return Divergence(tick, phase, what, "", sides[0], sides[1])


def _room(room: int | None) -> str:
    return "all" if room is None else str(room)


def _given(one: RecordedTick, other: RecordedTick) -> Divergence | None:
    """The first difference in what a tick was given."""
    tick, states = one.tick, (one.input.to_dict(), other.input.to_dict())
    if states[0] != states[1]:  # an action that is only in one of them is neutral in the other
        return _diverged(tick, "", "input", list(map(str, states)))
    alone = one._replace(input=other.input, outbox_room=other.outbox_room)
    if alone == other and not other.completions and not other.messages:
        return None
    if given_text(alone) == given_text(other):
        return None
    for what in ("rate", "messages", "completions", "requests", "closed"):
        part = RecordedTick(0, other.input)
        sides = [part._replace(**{what: getattr(given, what)}) for given in (one, other)]
        if given_text(sides[0]) != given_text(sides[1]):
            if what == "closed":
                reasons = ["shut down" if given.closed else "full" for given in (one, other)]
                return _diverged(tick, "", "requests", reasons)
            return _diverged(tick, "", what, [_shown_part(what, side) for side in sides])
    raise AssertionError("given ticks that differ have a part that differs")


def _shown_part(what: str, given: RecordedTick) -> str:
    if what == "completions":
        return str(
            [
                (ticket.request, ticket.target, result, error and str(error))
                for ticket, result, error in given.completions
            ]
        )
    return str(getattr(given, what))


def _outcome(one: TickRecord, other: TickRecord) -> Divergence | None:
    """The first difference in what became of a tick."""
    tick = one.tick
    if one.phases and other.phases:
        for phase in dict.fromkeys((*one.phases, *other.phases)):
            if (phase in one.phases) != (phase in other.phases):
                had = [phase if phase in run.phases else None for run in (one, other)]
                return _diverged(tick, phase, "phases", had)
            if found := _digest(tick, phase, one.phases[phase], other.phases[phase]):
                return found
    if one.root == other.root:
        return None
    sides = [run.root if run.digests is None else run.digests for run in (one, other)]
    return _digest(tick, "", *sides) or Divergence(tick, "", "digest", "", one.root, other.root)


def _digest(tick: int, phase: str, one: int | Digests, other: int | Digests) -> Divergence | None:
    """The first difference of two digests, by name where both are by name."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        roots = [root_digest(side) if isinstance(side, Mapping) else side for side in (one, other)]
        return None if roots[0] == roots[1] else _diverged(tick, phase, "digest", roots)
    found = _first_path(one, other)
    return (
        None
        if found is None
        else Divergence(tick, phase, "digest", "/".join(found[0]), found[1], found[2])
    )


def _first_path(one: Digests, other: Digests) -> tuple[list[str], Any, Any] | None:
    for name in dict.fromkeys((*one, *other)):
        left, right = one.get(name), other.get(name)
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            if found := _first_path(left, right):
                return [name, *found[0]], found[1], found[2]
        elif left != right:
            return [name], left, right
    return None


def _last_ticks(first: object, second: object, last_one: int, last_other: int) -> Divergence | None:
    """The faults of two runs. One that ended before that tick, or whose end is missing, says
    nothing about it."""
    one, other = (getattr(run, "fault", None) for run in (first, second))
    if one is not None and other is not None and one.tick == other.tick:
        if None not in (one.given, other.given) and (found := _given(one.given, other.given)):
            return found
        return _faults(one, other)
    if one is not None and (other is None or one.tick < other.tick):
        return _faults(one, None) if last_other >= one.tick else None
    if other is not None:
        return _faults(None, other) if last_one >= other.tick else None
    return None


def _faults(one: FaultRecord | None, other: FaultRecord | None) -> Divergence | None:
    """Two ends of the same tick; None is one that got through it."""
    if one is not None and other is not None and one[:3] == other[:3]:
        return None
    fault = one or other
    assert fault is not None
    described = [
        "no fault" if end is None else f"{end.error} in {end.phase}" if end.phase else end.error
        for end in (one, other)
    ]
    return _diverged(fault.tick, fault.phase, "fault", described)


def replay(recording: Recording, session: Session[Any]) -> Comparison:
    """Run a recording in a session, with `Session.replay_tick`, and compare each tick.

    It stops at the first divergence, with the session there to be looked at. A tick that raised in
    the recording is run too, and must raise again; ``session.fault`` then has the exception. The
    requests of ticks for sound and picture are delivered to nobody.

    The session must be new, or restored to the tick at which the recording began. It may have
    larger capacities and more actions than the one that was recorded.

    >>> import io
    >>> from fixedstep import StateHash
    >>> from fixedstep.records import Recorder
    >>> from fixedstep.sim import Session
    >>> class World:
    ...     def __init__(self, speed):
    ...         self.x, self.speed = 0, speed
    ...     def step(self, input, tick):
    ...         self.x += self.speed
    ...     def digests(self):
    ...         return {"x": StateHash().absorb_u64(self.x)}
    >>> file, session = io.StringIO(), Session(World, 3)
    >>> with Recorder(file, session):
    ...     _ = session.run_ticks(10)
    >>> replay(Recording(io.StringIO(file.getvalue())), Session(World, 3))
    Comparison(divergence=None, compared=10, only_first=0, only_second=0)
    >>> print(replay(Recording(io.StringIO(file.getvalue())), Session(World, 4)).divergence)
    tick 0, x: recording 0xc7c2bf3b330983e6, replay 0x2cdcdc0dfc5d1141

    Raises ReplayMismatch for a session in which the recording cannot come to the same; nothing was
    run then, unless it is a rate that the session cannot have. Raises RecordingError as `Recording`
    does while it is read.
    """
    _check_session(recording, session)
    header = recording.header
    observer = _ReplayObserver(header.phases, header.digests_every, header.first_tick)
    translate = _Translation(header.request_base, session)
    compared = 0
    found: Divergence | None = None
    session._observe(observer)
    try:
        for record in recording:
            compared += 1
            again = _run(session, observer, translate(record.given))
            if isinstance(again, FaultRecord):
                found = _faults(None, again)
            else:
                requests = translate.back(again.given.requests)
                own = record.given._replace(requests=requests, closed=again.given.closed)
                found = _difference(record, again._replace(given=own))
            if found is not None:
                break
        fault = recording.fault
        if found is None and fault is not None and fault.given is not None:
            compared += 1
            again = _run(session, observer, translate(fault.given))
            found = _faults(fault, again if isinstance(again, FaultRecord) else None)
    finally:
        session._observe(None)
        recording.close()
    if found is not None:
        found = found._replace(sides=("recording", "replay"))
    return Comparison(found, compared, 0, 0)


def _check_session(recording: Recording, session: Session[Any]) -> None:
    header = recording.header
    if session.recording:
        raise ReplayMismatch("the session is being recorded; close its recorder first")
    if session.state in ("faulted", "loading"):
        raise ReplayMismatch(f"the session is {session.state}; replay in a new one")
    if not callable(getattr(session.world, "digests", None)):
        raise ReplayMismatch("the world has no digests() to compare; give it the one it had")
    for name, one, other in (
        ("rate", header.rate, session.rate),
        ("tick length", header.tick_length, session.tick_length),
        ("first tick", header.first_tick, session.tick),
        ("simulated time", header.sim_time, session.sim_time),
    ):
        if one != other:
            raise ReplayMismatch(
                f"the {name} of the recording is {shown(one)}, and this session's is "
                f"{shown(other)}; replay in a session made like the one that was recorded"
            )
    missing = [
        name
        for name in (*header.buttons, *header.axes, *header.relative)
        if name not in session.input._neutral
    ]
    if missing:
        raise ReplayMismatch(
            f"the recording has the action {shown(missing[0])}, and this session does not; name it "
            "in buttons=, axes= or relative="
        )


class _ReplayObserver(TickDigester):
    """What came of the tick that was replayed last."""

    def __init__(self, phases: tuple[str, ...], digests_every: int, first_tick: int) -> None:
        super().__init__(phases, digests_every, first_tick)
        self.found: TickRecord | FaultRecord | None = None

    def begin(self, world: Any, given: RecordedTick) -> None:
        """A tick is about to run."""
        self.found = None
        self._began(given.tick)

    def phase_ended(self, world: Any, phase: str) -> None:
        """A phase is over."""
        self._phase(world, phase)

    def end(self, world: Any, given: RecordedTick) -> None:
        """The tick has run to its end."""
        self.found = self._record(world, given)

    def fault(self, world: Any, given: RecordedTick | None, fault: Fault) -> None:
        """The tick raised."""
        self.found = FaultRecord(fault.tick, fault.phase, type(fault.error).__name__, given)

    def close(self, reason: str) -> None:
        """The replay is over."""


class _Translation:
    """From a recording to a session: what ticks were given, in terms of the session.

    Requests made while it was recorded are numbered from the session's own count. Those from before
    keep their number, which a saved world may hold.
    """

    def __init__(self, recorded_base: int, session: Session[Any]) -> None:
        self._recorded_base = recorded_base
        self._base = session.mailbox._request
        self._world = session.world_id
        self._neutral = session.input._neutral

    def __call__(self, given: RecordedTick) -> RecordedTick:
        completions = given.completions
        if completions:
            completions = tuple(
                completion._replace(
                    ticket=completion.ticket._replace(
                        request=self._number(completion.ticket.request), world=self._world
                    )
                )
                for completion in completions
            )
        return given._replace(
            input=TickInput.from_dict(self._neutral, given.input.to_dict()),
            completions=completions,
            requests=tuple(
                None if number is None else self._number(number) for number in given.requests
            ),
        )

    def _number(self, number: int) -> int:
        return number + (self._base if number > 0 else self._recorded_base)

    def back(self, requests: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The requests of a tick as the recording numbers them."""
        return tuple(None if number is None else number - self._base for number in requests)


def _run(
    session: Session[Any], observer: _ReplayObserver, given: RecordedTick
) -> TickRecord | FaultRecord:
    if given.rate is not None and given.rate != session.rate:
        try:
            session.set_rate(given.rate)
        except ValueError as error:
            raise ReplayMismatch(
                f"the recording goes on at {given.rate!r} in tick {given.tick}: {error}"
            ) from None
    session.replay_tick(given)
    session.outbox.deliver()
    assert observer.found is not None
    return observer.found
