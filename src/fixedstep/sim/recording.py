"""Recordings of a simulation: what each tick was given, and a digest of what became of it.

A tick is a function of the world, its input and the results of background work that it accepted. A
recording holds the last two for every tick, and digests of the world after it, one for each named
field, so that it can be played again and a difference has a place: this tick, this field, and this
phase where phases were digested too. What it holds of time is the number of the tick and nothing
else. Frames are left out: a recording that is keyed by frame or by clock plays differently on a
machine that draws faster.

JSON lines: a header with the policies that the run had, a line a tick, and an end::

    {"format":"fixedstep-replay","version":1,"library":"0.1.0","rate":[60,1],...}
    {"tick":0,"input":{"actions":{"jump":[1,0,1,0,0]}},"digests":{"player":"0x8b2f..."}}
    {"end":{"ticks":1}}

A tick that raised did not succeed and is no tick of the recording; what it was given is in the end,
beside its fault, so that a crash can be played again too.

Each line is handed to the system as it is written, so a program that dies loses the line it was at
and no other. Everything is plain ASCII, so a cut can fall anywhere. A reader takes what is whole,
says what is missing, and repairs nothing: damage before the end is an error with its line.

A file never holds a pointer, an ``id()`` or a position in a pool, since they mean nothing in the
next process: a value is an integer, a text, a bool, None, or a tuple of those, and anything else is
refused when it is recorded. Give entities a creation sequence and write that.

Streams come in open and stay open; this file opens nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, SupportsIndex, TextIO, TypeAlias

from .. import StateHash, __version__
from .._arguments import I64_MIN, U32_MAX, U64_MAX, count, integer, shown
from ..records import lines
from ..time import Nanos, Rate, StepBudget, Timestep
from .phases import Phase
from .tick_input import TickInput, action_names

FORMAT = "fixedstep-replay"
VERSION = 1

Plain: TypeAlias = "bool | int | str | tuple[Plain, ...] | None"
"""What a recording can hold, and gives back exactly: immutable, and the same everywhere."""

Digests: TypeAlias = Mapping[str, "StateHash | int"]
"""Digests by the name of what they digest, in the order in which they are compared."""

RESERVED = ("input", "completions", "refused", "outbox room", "phase", "fault")
"""Names that a divergence uses itself, and that no field can have."""

#: Characters in a line. Both sides keep to it, so that no file can fill the memory of its reader.
LONGEST_LINE = 2**20
#: Tuples within tuples, for the same reason: each level takes a piece of the reader's stack.
_DEEPEST = 64
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_PHASES = {phase.value: phase for phase in Phase}
_DIGEST = re.compile("0x[0-9a-f]{16}")
_DIGEST_FIX = "StateHash().absorb_i64(number) makes one of any number"
_SOMETIMES = {"closed", "completions", "refused", "room"}


class ReplayError(ValueError):
    """A recording that cannot be read exactly: names the line, the fault and the fix.

    >>> import io
    >>> Recording(io.StringIO(""))
    Traceback (most recent call last):
        ...
    fixedstep.sim.recording.ReplayError: the recording, line 1: the file is empty or ends within \
its header; there is nothing in it
    """


def plain(value: object, name: str = "value", room: int = _DEEPEST) -> Plain:
    """The value, if a recording can hold it.

    >>> plain((3, "path", (1, 2)))
    (3, 'path', (1, 2))
    >>> plain([1, 2])
    Traceback (most recent call last):
        ...
    TypeError: value must be None, a bool, an int, a str or a tuple of those to be recorded, not \
list [1, 2]; tuple(...) makes one of a list, and an entity is its creation sequence

    Raises TypeError for anything else, a float and a subclass included, OverflowError for an
    integer that 64 bits cannot hold, and ValueError for tuples more than ``room`` deep.
    """
    kind = type(value)
    if kind is tuple:
        if not room:
            raise ValueError(_too_deep(name))
        return tuple(plain(item, name, room - 1) for item in value)  # type: ignore[attr-defined]
    if kind is int:
        if not I64_MIN <= value <= U64_MAX:  # type: ignore[operator]
            raise OverflowError(
                f"{name} must be an integer of 64 bits to be recorded, not {shown(value)}; "
                "write it as text"
            )
    elif value is not None and kind is not bool and kind is not str:
        raise TypeError(
            f"{name} must be None, a bool, an int, a str or a tuple of those to be recorded, not "
            f"{kind.__name__} {shown(value)}; tuple(...) makes one of a list, and an entity is its "
            "creation sequence"
        )
    return value  # type: ignore[return-value]


def _too_deep(name: str) -> str:
    return (
        f"{name} must be no more than {_DEEPEST} tuples within each other to be recorded; give its "
        "parts names of their own"
    )


class Policies(NamedTuple):
    """What a run was configured with, for the header of its recording.

    >>> Policies(Rate(60), StepBudget(4), Nanos(250_000_000), ("jump",)).library == __version__
    True
    """

    timestep: Timestep | Rate
    """How long a tick is."""
    budget: StepBudget
    """The most ticks a frame could run."""
    max_delta: Nanos | None
    """The longest frame that was let through, in nanoseconds; None for no clamp."""
    actions: tuple[str, ...]
    """The actions of its input, in name order."""
    capacities: Mapping[str, int] = _NOTHING
    """The bounds of its queues, by name: what overflows in one run must in the other."""
    first_tick: int = 0
    """The number of the first tick in the recording."""
    notes: Mapping[str, Plain] = _NOTHING
    """What the game adds: its level, its seed, the cadence of its decisions."""
    library: str = __version__
    """The version of this library that ran."""


class RecordedTick(NamedTuple):
    """One tick of a recording.

    >>> RecordedTick(7, TickInput.neutral(["jump"]), (), {}, {"player": 1}).digests
    {'player': 1}
    """

    tick: int
    """Its number."""
    input: TickInput
    """What it was given."""
    completions: tuple[Plain, ...]
    """The results of background work that it accepted, in the order they were applied."""
    phases: dict[Phase, dict[str, int]]
    """Digests at the end of each phase, where they were taken."""
    digests: dict[str, int]
    """Digests at the end of the tick, by field."""
    refused: tuple[int, ...] = ()
    """Which of its requests for background work, counted from 0, found no room. Room depends on
    when earlier results arrived, so it is given from outside like they are."""
    closed: bool = False
    """Whether they were refused because the mailbox was shut down."""
    room: int | None = None
    """How many required records of its outbox it was told there was room for, where it was told and
    there was less than it may stage. Room depends on when frames deliver."""


class RecordedFault(NamedTuple):
    """The tick that ended a run by raising. It is no part of the recording: it did not succeed.

    >>> RecordedFault(7, Phase.MOTION, "KeyError").phase.value
    'Motion'
    """

    tick: int
    """Its number."""
    phase: Phase
    """Where it raised."""
    error: str
    """The type of the exception. Not its text, which may hold an address."""
    input: TickInput | None = None
    """What it was given; None where it cannot be played again: it was interrupted from outside."""
    completions: tuple[Plain, ...] = ()
    """As of a `RecordedTick`."""
    refused: tuple[int, ...] = ()
    """As of a `RecordedTick`."""
    closed: bool = False
    """As of a `RecordedTick`."""
    room: int | None = None
    """As of a `RecordedTick`."""


def field_name(name: object) -> str:
    """The name of a field, checked."""
    if type(name) is not str:
        raise TypeError(
            f"a field must be a str, not {type(name).__name__} {shown(name)}; 'player' is one"
        )
    if not name or name in RESERVED:
        raise ValueError(
            f"a field must have a name other than {', '.join(RESERVED)}, not {name!r}; "
            "'player' is one"
        )
    return name


def finished(digests: Digests, where: str) -> dict[str, int]:
    """Digests as integers, checked. Raises ValueError for none at all: they would prove nothing."""
    if not isinstance(digests, Mapping):
        raise TypeError(
            f"digests {where} must be a mapping from fields to StateHash, not "
            f"{type(digests).__name__} {shown(digests)}; {{'player': StateHash()...}} is one"
        )
    if not digests:
        raise ValueError(f"digests {where} must hold a field, or no difference would ever be seen")
    return {
        field_name(name): digest.finish()
        if isinstance(digest, StateHash)
        else integer(
            digest, f"the digest of {name!r} {where}", "a StateHash or a digest", _DIGEST_FIX
        )
        for name, digest in digests.items()
    }


class Recorder:
    """Writes a recording to an open text file, line by line, each flushed as it is written.

    >>> import io
    >>> file = io.StringIO()
    >>> policies = Policies(Timestep(10), StepBudget(3), None, ("jump",), notes={"seed": 42})
    >>> recorder = Recorder(file, policies)
    >>> recorder.tick(0, TickInput.neutral(["jump"]), {"player": StateHash().absorb_u64(7)})
    >>> recorder.finish()
    >>> for line in file.getvalue().splitlines()[1:]:
    ...     print(line)
    {"tick":0,"input":{},"digests":{"player":"0x4bd7a317074c5b62"}}
    {"end":{"ticks":1}}

    Closing the file is the caller's. What cannot be recorded raises before anything is written:
    TypeError, OverflowError, ValueError. An OSError of the file ends the recording, as a line after
    half of one could not be read; what was written before stays whole.
    """

    __slots__ = ("_broken", "_file", "_next", "_policies", "_written")

    def __init__(self, file: TextIO, policies: Policies) -> None:
        self._file = file
        self._policies = policies
        self._next = count(policies.first_tick, "first_tick")
        self._written = 0
        self._broken = ""
        self._write(_header(policies))

    @property
    def file(self) -> TextIO:
        """Where it writes."""
        return self._file

    @property
    def policies(self) -> Policies:
        """What the header says."""
        return self._policies

    @property
    def ticks(self) -> int:
        """Ticks written."""
        return self._written

    def tick(
        self,
        tick: SupportsIndex,
        tick_input: TickInput,
        digests: Digests,
        *,
        completions: Iterable[Plain] = (),
        phases: Mapping[Phase, Digests] | None = None,
        refused: Iterable[SupportsIndex] = (),
        closed: bool = False,
        room: SupportsIndex | None = None,
    ) -> None:
        """Write a tick that succeeded: the next number, and no other.

        Raises ValueError for another number, for an input with other actions than the header, and
        for digests without a field.
        """
        number = count(tick, "tick")
        if number != self._next:
            raise ValueError(
                f"tick must be {self._next}, the one after the last, not {number}; "
                "a recording leaves no tick out"
            )
        line: dict[str, Any] = {"tick": number}
        line |= self._given(tick_input, completions, refused, closed, room)
        if phases:
            line["phases"] = {
                phase.value: _written(finished(found, f"after {phase.value}"))
                for phase, found in phases.items()
            }
        line["digests"] = _written(finished(digests, "at the end of the tick"))
        self._write(line)
        self._next += 1
        self._written += 1

    def finish(self, fault: RecordedFault | None = None) -> None:
        """Write the end, which tells a whole recording from one that was cut off.

        ``fault`` is the tick that ended the run, where one did.
        """
        end: dict[str, Any] = {"ticks": self._written}
        if fault is not None:
            end["fault"] = [fault.tick, fault.phase.value, fault.error]
            if fault.input is not None:
                end |= self._given(
                    fault.input, fault.completions, fault.refused, fault.closed, fault.room
                )
        self._write({"end": end})
        self._broken = "it is finished"

    def _given(
        self,
        tick_input: TickInput,
        completions: Iterable[Plain],
        refused: Iterable[SupportsIndex],
        closed: bool,
        room: SupportsIndex | None,
    ) -> dict[str, Any]:
        """What a tick was given, as a line has it."""
        if type(tick_input) is not TickInput or tuple(tick_input) != self._policies.actions:
            raise ValueError(
                f"input must be a TickInput of the actions {', '.join(self._policies.actions)}, "
                f"not {shown(tick_input)}; the header names them"
            )
        given: dict[str, Any] = {"input": tick_input.plain()}
        if applied := [plain(value, "a completion") for value in completions]:
            given["completions"] = applied
        if without_room := [count(ordinal, "refused") for ordinal in refused]:
            given["refused"] = without_room
        if closed:
            given["closed"] = True
        if room is not None:
            given["room"] = count(room, "room")
        return given

    def _write(self, line: dict[str, Any]) -> None:
        if self._broken:
            raise RuntimeError(
                f"this recording takes no more ticks: {self._broken}; start another one"
            )
        text = json.dumps(line, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        if len(text) >= LONGEST_LINE:
            raise ValueError(
                f"tick {self._next} must fit a line of {LONGEST_LINE - 1} characters, not "
                f"{len(text)}; record fewer or smaller values"
            )
        self._broken = f"writing tick {self._next} failed"
        self._file.write(text + "\n")
        self._file.flush()
        self._broken = ""


def _header(policies: Policies) -> dict[str, Any]:
    timestep = policies.timestep
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "library": policies.library}
    if isinstance(timestep, Rate):
        header["rate"] = [timestep.numerator, timestep.denominator]
    else:
        header["timestep"] = timestep.nanos
    header["clamp"] = policies.max_delta
    header["budget"] = policies.budget.steps
    header["first_tick"] = policies.first_tick
    header["actions"] = list(action_names(policies.actions))
    header["capacities"] = {
        name: count(capacity, f"the capacity {name}")
        for name, capacity in policies.capacities.items()
    }
    header["notes"] = {
        field_name(name): plain(value, f"the note {name}") for name, value in policies.notes.items()
    }
    return header


def _written(digests: dict[str, int]) -> dict[str, str]:
    """As text: JSON readers round large numbers."""
    return {name: f"0x{digest:016x}" for name, digest in digests.items()}


def _tuples(value: Any, name: str, room: int = _DEEPEST) -> Any:
    """JSON has one kind of sequence, and a recording one too: the tuple."""
    if not isinstance(value, list):
        return value
    if not room:
        raise ValueError(_too_deep(name))
    return tuple(_tuples(item, name, room - 1) for item in value)


class Recording:
    """A recording being read: the header at once, then its ticks, one at a time.

    Iterate over it once. After its last tick it knows how it ended: ``missing`` says what a cut
    file lacks, and is "" for a whole one.

    >>> import io
    >>> file = io.StringIO()
    >>> recorder = Recorder(file, Policies(Rate(60), StepBudget(4), None, ("jump",)))
    >>> recorder.tick(0, TickInput.neutral(["jump"]), {"world": 7})
    >>> recording = Recording(io.StringIO(file.getvalue()))
    >>> recording.policies.timestep, [tick.digests for tick in recording]
    (Rate(60, 1), [{'world': 7}])
    >>> recording.missing
    'line 3, the end of the recording, is missing: the run may have gone on after tick 0'

    It takes a text stream at its beginning and keeps no more than a line of it, so a recording of a
    day is compared in constant memory. Raises ReplayError for anything that is not exactly a
    recording, while reading.
    """

    def __init__(self, file: TextIO, name: str = "the recording") -> None:
        self._file = file
        self._name = name
        self._line = 0
        self._started = False
        self.policies: Policies = self._header()
        """What the run was configured with."""
        self.ticks: int = 0
        """Ticks read so far."""
        self.fault: RecordedFault | None = None
        """The tick that ended the run by raising, once the end was read."""
        self.missing: str = "its ticks have not been read yet"
        """What is missing at the end; "" when nothing is."""

    def __iter__(self) -> Iterator[RecordedTick]:
        if self._started:
            raise RuntimeError(f"{self._name} was read already; open it again for another pass")
        self._started = True
        return self._ticks()

    def _ticks(self) -> Iterator[RecordedTick]:
        expected = self.policies.first_tick
        while True:
            line, cut = self._next()
            if line is None:
                self.missing = (
                    f"line {self._line} is cut off after {cut} characters: "
                    f"tick {expected}, or the end of the recording, is missing"
                    if cut
                    else f"line {self._line}, the end of the recording, is missing: the run may "
                    + (
                        f"have gone on after tick {expected - 1}"
                        if self.ticks
                        else "have had ticks"
                    )
                )
                return
            if isinstance(line, dict) and set(line) == {"end"}:
                self._end(line["end"], expected)
                return
            tick = self._tick(line, expected)
            expected += 1
            self.ticks += 1
            yield tick

    def _refuse(self, what: str) -> NoReturn:
        raise ReplayError(f"{self._name}, line {self._line}: {what}")

    def _next(self) -> tuple[Any, int]:
        """The next line as JSON, or None and how long its broken beginning is.

        Only a last line without its line end may be broken: that is what a crash leaves. One that
        lacks nothing but its line end is used, since an object says itself where it ends.
        """
        self._line += 1
        try:
            text = self._file.readline(LONGEST_LINE)
        except UnicodeDecodeError as error:
            self._refuse(f"is no text ({error.reason}), so this is no recording")
        if not text:
            return None, 0
        whole = text.endswith("\n")
        if not whole and len(text) == LONGEST_LINE:
            self._refuse(f"is longer than {LONGEST_LINE} characters; this is no recording")
        try:
            line = lines.loads(text, floats=False)
        except ValueError as error:
            if not whole:
                return None, len(text)
            self._refuse(
                f"{shown(text.rstrip())} is not JSON ({getattr(error, 'msg', error)}); "
                + ("a recording begins with its header" if self._line == 1 else self._restore())
            )
        return line, 0

    @staticmethod
    def _restore() -> str:
        return "restore the line from the recording, or end the file before it"

    def _number(self, value: object, name: str, low: int = 0, high: int = U64_MAX) -> int:
        if type(value) is not int or not low <= value <= high:
            self._refuse(
                f"{name} must be a whole number in {low} .. {high}, not {shown(value)}; "
                f"{self._restore()}"
            )
        return value

    def _header(self) -> Policies:
        header, _ = self._next()
        if header is None:
            self._refuse("the file is empty or ends within its header; there is nothing in it")
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            self._refuse(
                f"looked for a header with the format {FORMAT!r}, found {shown(header)}; "
                "Session.record writes recordings, and a trace of frames is none"
            )
        if header.get("version") != VERSION or type(header["version"]) is not int:
            self._refuse(
                f"version must be {VERSION}, not {shown(header.get('version'))}; "
                "read it with the release that wrote it"
            )
        step = {"timestep", "rate"} & set(header)
        known = {"format", "version", "library", "clamp", "budget", "first_tick", "actions"}
        if len(step) != 1 or set(header) != known | {"capacities", "notes"} | step:
            self._refuse(
                "a header has library, timestep or rate, clamp, budget, first_tick, actions, "
                f"capacities and notes, not {shown(list(header))}; {self._restore()}"
            )
        timestep: Timestep | Rate
        if "rate" in step:
            rate = header["rate"]
            if not isinstance(rate, list) or len(rate) != 2:
                self._refuse(f"rate must be ticks and seconds, not {shown(rate)}")
            timestep = Rate(
                self._number(rate[0], "rate", 1),
                self._number(rate[1], "rate", 1, U64_MAX // 10**9),
            )
        else:
            timestep = Timestep(self._number(header["timestep"], "timestep", 1))
        clamp = header["clamp"]
        actions, library = header["actions"], header["library"]
        capacities, notes = header["capacities"], header["notes"]
        if not isinstance(actions, list) or not isinstance(library, str):
            self._refuse(f"actions must be a list and library a text; {self._restore()}")
        if not isinstance(capacities, dict) or not isinstance(notes, dict):
            self._refuse(f"capacities and notes must be objects; {self._restore()}")
        try:
            names = action_names(actions)
            if names != tuple(actions):
                raise ValueError("actions must be in name order")
            noted = {
                field_name(name): plain(_tuples(value, name), name) for name, value in notes.items()
            }
        except (TypeError, ValueError, OverflowError) as error:
            self._refuse(f"{error}; {self._restore()}")
        return Policies(
            timestep,
            StepBudget(self._number(header["budget"], "budget", 1, U32_MAX)),
            None if clamp is None else Nanos(self._number(clamp, "clamp")),
            names,
            {name: self._number(size, f"the capacity {name}") for name, size in capacities.items()},
            self._number(header["first_tick"], "first_tick"),
            noted,
            library,
        )

    def _digests(self, written: object, where: str) -> dict[str, int]:
        if not isinstance(written, dict) or not written:
            self._refuse(f"{where} must have digests by field, not {shown(written)}")
        for name, digest in written.items():
            if not name or name in RESERVED:
                self._refuse(f"{shown(name)} is no name of a field; {self._restore()}")
            if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
                self._refuse(
                    f"the digest of {shown(name)} in {where} must be a string of 0x and 16 "
                    f"lower-case hexadecimal digits, not {shown(digest)}; {self._restore()}"
                )
        return {name: int(digest, 16) for name, digest in written.items()}

    def _phase(self, name: object) -> Phase:
        if not isinstance(name, str) or name not in _PHASES:
            self._refuse(f"{shown(name)} is no phase; {self._restore()}")
        return _PHASES[name]

    def _tick(self, line: Any, expected: int) -> RecordedTick:
        needed = {"tick", "input", "digests"}
        if not isinstance(line, dict) or not (
            needed <= set(line) <= needed | _SOMETIMES | {"phases"}
        ):
            self._refuse(
                f"a tick has tick, input, digests, and maybe {', '.join(sorted(_SOMETIMES))}, "
                f"phases, not {shown(line)}; {self._restore()}"
            )
        number = self._number(line["tick"], "tick")
        if number != expected:
            self._refuse(f"is tick {number}, but {expected} comes here; {self._restore()}")
        phases = line.get("phases", {})
        if not isinstance(phases, dict):
            self._refuse(f"phases must be an object; {self._restore()}")
        given = self._given(line)
        by_phase = {
            self._phase(name): self._digests(found, f"phase {name}")
            for name, found in phases.items()
        }
        digests = self._digests(line["digests"], f"tick {number}")
        return RecordedTick(tick=number, phases=by_phase, digests=digests, **given)

    def _given(self, line: dict[str, Any]) -> dict[str, Any]:
        """What a tick was given: its input, completions, refused requests, and room."""
        completions, refused = line.get("completions", []), line.get("refused", [])
        if not all(isinstance(part, list) for part in (completions, refused)):
            self._refuse(f"completions and refused must be lists; {self._restore()}")
        try:
            tick_input = TickInput.from_plain(self.policies.actions, line["input"])
            applied = tuple(
                plain(_tuples(value, "a completion"), "a completion") for value in completions
            )
        except (TypeError, ValueError, OverflowError) as error:
            self._refuse(f"{error}; {self._restore()}")
        if line.get("closed", True) is not True:
            self._refuse(f"closed must be true, not {shown(line['closed'])}; {self._restore()}")
        return {
            "input": tick_input,
            "completions": applied,
            "refused": tuple(self._number(ordinal, "refused") for ordinal in refused),
            "closed": "closed" in line,
            "room": self._number(line["room"], "room") if "room" in line else None,
        }

    def _end(self, end: Any, expected: int) -> None:
        parts = set(end) if isinstance(end, dict) else set()
        with_input = {"ticks", "fault", "input"}
        if not (
            {"ticks"} <= parts <= {"ticks", "fault"}
            or with_input <= parts <= with_input | _SOMETIMES
        ):
            self._refuse(
                "the end has ticks, maybe a fault, and with it maybe input, "
                f"{', '.join(sorted(_SOMETIMES))}, not {shown(end)}; {self._restore()}"
            )
        if self._number(end["ticks"], "ticks") != self.ticks:
            self._refuse(
                f"the recording ended after {end['ticks']} ticks, but {self.ticks} are here; "
                "restore the others"
            )
        if "fault" in end:
            fault = end["fault"]
            if not isinstance(fault, list) or len(fault) != 3 or not isinstance(fault[2], str):
                self._refuse(f"a fault has a tick, a phase and an error, not {shown(fault)}")
            number = self._number(fault[0], "the tick of the fault", expected, expected)
            self.fault = RecordedFault(number, self._phase(fault[1]), fault[2])
            if "input" in end:
                self.fault = self.fault._replace(**self._given(end))
        self._line += 1
        try:
            more = self._file.read(1)
        except UnicodeDecodeError:  # what is no text is more, too
            more = "?"
        if more:
            self._refuse("comes after the end of the recording; remove it")
        self.missing = ""
