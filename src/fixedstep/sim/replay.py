"""Replay: play a recording again, and find the first tick in which two runs part.

Two runs that differ differ in nearly everything a second later, so the only place worth knowing is
the first: the tick, the phase where phases were digested, and the field. Ticks are compared by
their numbers. A comparison by position in the file would blame the first tick of a recording that
merely starts later, and one that reports where a difference was noticed, rather than where it
began, sends people to look at the wrong code.

The player feeds a session's own tick function. There is no second way to run a tick that a replay
could pass while the game fails.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from .._arguments import shown
from .phases import Phase
from .recording import RESERVED, Policies, RecordedFault, RecordedTick, Recording

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .outbox import Outbox


class PolicyMismatch(ValueError):
    """A recording that belongs to a session configured otherwise.

    >>> issubclass(PolicyMismatch, ValueError)
    True
    """


class Divergence(NamedTuple):
    """Where two runs part, or a replay and its recording.

    >>> print(Divergence(7, Phase.MOTION, "player", 1, None))
    tick 7, phase Motion, player: 0x0000000000000001 and nothing
    """

    tick: int
    """The first tick that differs. Every later one may, for no other reason."""
    phase: Phase | None
    """The first phase that differs, where phases were digested."""
    field: str
    """What differs first: a field, or "input", "completions", "refused", "phase", "fault"."""
    first: object
    """What the one run, or the recording, had: a digest, an input; None if it had nothing."""
    second: object
    """What the other had."""

    def __str__(self) -> str:
        where = "" if self.phase is None else f", phase {self.phase.value}"
        one, other = told(self.first, self.second)
        return f"tick {self.tick}{where}, {self.field}: {one} and {other}"


#: How much of a long text is shown, and how much of that stands before the difference.
_SHOWN, _BEFORE = 400, 100


def told(first: object, second: object) -> tuple[str, str]:
    """Both sides of a divergence, for people: digests in hexadecimal, None as "nothing", and of a
    long input what is around the first difference.

    >>> told(255, None)
    ('0x00000000000000ff', 'nothing')
    """
    one, other = _text(first), _text(second)
    shorter = min(len(one), len(other))
    part = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    return _around(one, part), _around(other, part)


def _text(value: object) -> str:
    if value is None:
        return "nothing"
    return f"0x{value:016x}" if type(value) is int else str(value)


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
    """Ticks that both had, up to the divergence. At 0, nothing is known."""
    only_first: int
    """Ticks that only the first had; up to the divergence, if there is one."""
    only_second: int
    """Ticks that only the second had."""


def compare(first: Iterable[RecordedTick], second: Iterable[RecordedTick]) -> Comparison:
    """Compare two runs tick by tick, by the numbers of the ticks and nothing else.

    Both must be in tick order, as a `Recording` is. A run that is longer is not different: its
    other ticks are counted. A run that a fault ended differs where the other went on; its ``fault``
    is asked for when its ticks are over, so give a `Recording` itself and no iterator over it.

    >>> from fixedstep.sim.tick_input import TickInput
    >>> def run(*digests, start=1):
    ...     neutral = TickInput.neutral([])
    ...     return [RecordedTick(start + i, neutral, (), {}, {"x": d})
    ...             for i, d in enumerate(digests)]
    >>> compare(run(3, 6, 9, 12), run(3, 6, 9))
    Comparison(divergence=None, compared=3, only_first=1, only_second=0)
    >>> compare(run(3, 6, 9, 12), run(6, 9, 12, start=2)).compared
    3
    >>> print(compare(run(3, 6, 9), run(3, 7, 10)).divergence)
    tick 2, x: 0x0000000000000006 and 0x0000000000000007
    """
    ones, others = iter(first), iter(second)
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
    fault = _fault(first, second, last_one, last_other)
    return Comparison(fault, compared, only_first, only_second)


def first_divergence(
    first: Iterable[RecordedTick], second: Iterable[RecordedTick]
) -> Divergence | None:
    """The first tick, phase and field in which two runs differ; None if none does.

    As `compare`, which also says how much could be compared: None after comparing nothing is no
    proof.

    >>> first_divergence([], []) is None
    True
    """
    return compare(first, second).divergence


def _given(
    one: RecordedTick | RecordedFault, other: RecordedTick | RecordedFault
) -> Divergence | None:
    """The first difference in what a tick was given."""
    tick = one.tick
    if one.input != other.input:
        return Divergence(tick, Phase.BEGIN_TICK, "input", one.input, other.input)
    if one.completions != other.completions:
        start = Phase.BEGIN_TICK
        return Divergence(tick, start, "completions", one.completions, other.completions)
    if one.refused != other.refused:
        return Divergence(tick, None, "refused", one.refused, other.refused)
    if one.closed != other.closed:
        reasons = ["by shutdown" if given.closed else "for want of room" for given in (one, other)]
        return Divergence(tick, None, "refused", *reasons)
    return None


def _difference(one: RecordedTick, other: RecordedTick) -> Divergence | None:
    found = _given(one, other) or _outcome(one, other)
    if found is not None and one.room != other.room and found.field not in RESERVED:
        # No difference by itself, since few ticks mind how much room there is; but then the cause.
        return Divergence(one.tick, None, "outbox room", one.room, other.room)
    return found


def _outcome(one: RecordedTick, other: RecordedTick) -> Divergence | None:
    """The first difference in what became of a tick."""
    tick = one.tick
    both = bool(one.phases and other.phases)
    for phase in Phase if both else ():
        if (phase in one.phases) != (phase in other.phases):
            had = [phase.value if phase in run.phases else None for run in (one, other)]
            return Divergence(tick, phase, "phase", *had)
        if phase in one.phases and (
            found := _field(tick, phase, one.phases[phase], other.phases[phase])
        ):
            return found
    return _field(tick, Phase.END_TICK if both else None, one.digests, other.digests)


def _field(
    tick: int, phase: Phase | None, one: dict[str, int], other: dict[str, int]
) -> Divergence | None:
    for name in dict.fromkeys((*one, *other)):
        if one.get(name) != other.get(name):
            return Divergence(tick, phase, name, one.get(name), other.get(name))
    return None


def _fault(first: object, second: object, last_one: int, last_other: int) -> Divergence | None:
    """A run that a fault ended parts from one that got through that tick, or that raised elsewhere.

    One that ended before that tick, or whose end is missing, says nothing about it.
    """
    one, other = (getattr(run, "fault", None) for run in (first, second))
    if one is None and other is None:
        return None
    if one is not None and other is not None and one.tick == other.tick:
        if None not in (one.input, other.input) and (found := _given(one, other)):
            return found
        return _faults(one, other)
    if one is not None and (other is None or one.tick < other.tick):
        return _faults(one, None) if last_other >= one.tick else None
    assert other is not None
    return _faults(None, other) if last_one >= other.tick else None


def _faults(one: RecordedFault | None, other: RecordedFault | None) -> Divergence | None:
    """Two ends of the same tick; None is one that got through it."""
    faults = [fault for fault in (one, other) if fault is not None]
    if one is not None and other is not None and one[:3] == other[:3]:
        return None
    told = [None if end is None else f"{end.error} in {end.phase.value}" for end in (one, other)]
    phase = min((fault.phase for fault in faults), key=attrgetter("place"))
    return Divergence(faults[0].tick, phase, "fault", *told)


class Replayable(Protocol):
    """What can play a recording: a `Session`."""

    @property
    def tick(self) -> int:
        """The number of the next tick."""

    @property
    def outbox(self) -> Outbox | None:
        """The requests of its ticks."""

    def policies(self) -> Policies:
        """What it is configured with."""

    def replay(self, recorded: RecordedTick, /) -> RecordedTick | RecordedFault:
        """Run the next tick on what was recorded; what came of it."""


def play(recording: Recording, session: Replayable) -> Comparison:
    """Feed a recording to a session's own tick function, and compare each tick as it is run.

    It stops at the first divergence, with the session there to be looked at. A run that a fault
    ended is played through that fault too: the session is faulted then, with the exception and its
    traceback in ``session.fault``, and a tick that does not raise again is a divergence. The
    session must be paused, at the tick where the recording starts. What depends on frames (budget,
    clamp) may differ, since a recording knows no frames; what a tick sees may not. What ticks ask
    for of sound and picture is thrown away; to see a replay, call ``session.replay`` for each tick,
    and draw.

    >>> import io
    >>> from fixedstep import StateHash
    >>> from fixedstep.sim.session import Mode, Session
    >>> def counting(by):
    ...     def run_tick(world, tick_input, tick):
    ...         world["x"] = world.get("x", 0) + by
    ...     def digests(world):
    ...         return {"x": StateHash().absorb_u64(world["x"])}
    ...     return Session(dict, run_tick, {}, digests=digests, mode=Mode.PAUSED)
    >>> session, file = counting(3), io.StringIO()
    >>> session.record(file)
    >>> _ = [session.step() for _ in range(10)]
    >>> play(Recording(io.StringIO(file.getvalue())), counting(3))
    Comparison(divergence=None, compared=10, only_first=0, only_second=0)
    >>> print(play(Recording(io.StringIO(file.getvalue())), counting(4)).divergence)
    tick 0, x: 0xc7c2bf3b330983e6 and 0x2cdcdc0dfc5d1141

    Raises PolicyMismatch for a session with another timestep, other actions or capacities, or at
    another tick; nothing was run then. Raises ReplayError as `Recording` does.
    """
    recorded, own = recording.policies, session.policies()
    for name, one, other in (
        ("timestep", recorded.timestep, own.timestep),
        ("actions", recorded.actions, own.actions),
        ("capacities", dict(recorded.capacities), dict(own.capacities)),
        ("tick", recorded.first_tick, session.tick),
    ):
        if one != other:
            raise PolicyMismatch(
                f"the {name} of the recording is {shown(one)}, and this session's is "
                f"{shown(other)}; play it in a session made like the one that recorded it"
            )
    compared = 0
    for tick in recording:
        compared += 1
        found = _played(session, tick)
        if isinstance(found, RecordedFault):
            return Comparison(_faults(None, found), compared, 0, 0)
        if difference := _difference(tick, found):
            return Comparison(difference, compared, 0, 0)
    fault = recording.fault
    if fault is None or fault.input is None:
        return Comparison(None, compared, 0, 0)
    given = RecordedTick(
        fault.tick, fault.input, fault.completions, {}, {}, fault.refused, fault.closed, fault.room
    )
    found = _played(session, given)
    again = found if isinstance(found, RecordedFault) else None
    return Comparison(_faults(fault, again), compared + 1, 0, 0)


def _played(session: Replayable, tick: RecordedTick) -> RecordedTick | RecordedFault:
    found = session.replay(tick)
    if session.outbox is not None:
        session.outbox.deliver()
    return found
