"""Recordings: what each tick of a session was given, and a digest of what became of it.

A tick is a function of the world and of what it is given: input, messages, results of background
work, the numbers of its requests and the room in its outbox. A recording holds all of that, so that
the ticks can be run again, and digests of the world, so that a difference has a place. It holds no
frames and no wall time: the same ticks come from any frame rate.

JSON lines: a header, a line for each tick, and an end with a digest of the file::

    {"format":"fixedstep-recording","version":1,"library":"0.1.0","rate":[60,1],...}
    {"tick":0,"input":{"jump":[1,0,1,0,0]},"root":"0x8b2f...","digests":{"player":"0x51d0..."}}
    {"end":{"ticks":1,"reason":"closed"},"digest":"0x03aa..."}

A tick that raised is not a tick of the recording: it is in the end as ``fault``, with what it was
given, so that a crash can be replayed too.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from .. import __version__, digest
from .._arguments import I64_MAX, I64_MIN, shown
from ..sim.digests import DEEPEST_DIGESTS, Digests, world_digests
from ..sim.input import TickInput, action_names
from ..sim.mailbox import Completion, Ticket, WorkFailed
from ..sim.recordable import Recordable, check_recordable
from ..sim.tick import RecordedTick
from ..time import Nanos, Rate
from .lines import RESTORE, Closing, LineReader, LineWriter, digest_text, dumps

if TYPE_CHECKING:
    from typing import BinaryIO

    from ..sim.game_loop import Fault

FORMAT = "fixedstep-recording"
VERSION = 1

#: Characters in a line. The writer keeps to it as well.
LONGEST_LINE = 2**20
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_HEADER = {
    "format",
    "version",
    "library",
    "rate",
    "tick_length",
    "first_tick",
    "sim_time",
    "request_base",
    "buttons",
    "axes",
    "relative",
    "phases",
    "digests_every",
    "notes",
}
_GIVEN = {"messages", "completions", "requests", "closed", "outbox_room", "rate"}


class RecordingError(ValueError):
    """A recording that cannot be read exactly. Names the file, the line and the fix.

    >>> import io
    >>> Recording(io.StringIO(""))
    Traceback (most recent call last):
        ...
    fixedstep.records.recording.RecordingError: the recording, line 1: the file is empty or ends \
within its header, so there is nothing in it; Recorder(path, session) writes recordings; traces go \
to `fixedstep verify`
    """


class RecordingHeader(NamedTuple):
    """What a recording says about its session.

    >>> RecordingHeader(Rate(60), Nanos(16_666_666)).library == __version__
    True
    """

    rate: Rate
    """Ticks per second of wall time when the recording began."""
    tick_length: Nanos
    """The length of a tick in simulated nanoseconds, rounded down."""
    first_tick: int = 0
    """The number of the first tick."""
    sim_time: Nanos = Nanos(0)
    """Simulated time at the start of the first tick, in nanoseconds."""
    request_base: int = 0
    """The number of the last request for background work before the recording began."""
    buttons: tuple[str, ...] = ()
    """The buttons of the input, in name order."""
    axes: tuple[str, ...] = ()
    """The axes of the input, in name order."""
    relative: tuple[str, ...] = ()
    """The relative axes of the input, in name order."""
    phases: tuple[str, ...] = ()
    """The phases after which digests are recorded; none if they were not asked for."""
    digests_every: int = 1
    """Every so many ticks the digests are recorded by name; in the others only that of all."""
    notes: Mapping[str, Recordable] = _NOTHING
    """What the game added: its level, its seed."""
    library: str = __version__
    """The version of this library that recorded."""


class TickRecord(NamedTuple):
    """One tick of a recording: what it was given, and what became of it.

    >>> TickRecord(RecordedTick(7, TickInput.neutral(["jump"])), 1, {"player": 5}).tick
    7
    """

    given: RecordedTick
    """What the tick was given. Requests are numbered from 1 within the recording; 0 and less are
    from before it."""
    root: int
    """The digest of all its digests."""
    digests: Digests | None = None
    """Its digests by name; None in ticks that only have the root."""
    phases: Mapping[str, int | Digests] = _NOTHING
    """Digests after each phase, where they were asked for: by name, or only the root."""

    @property
    def tick(self) -> int:
        """Its number."""
        return self.given.tick


class FaultRecord(NamedTuple):
    """The tick that ended a run by raising.

    >>> FaultRecord(7, "Motion", "KeyError").given is None
    True
    """

    tick: int
    """Its number."""
    phase: str
    """The phase in which it raised; "" for a game without phases."""
    error: str
    """The type of the exception. Its text is left out, since it may hold an address."""
    given: RecordedTick | None = None
    """What it was given; None where it cannot be replayed, as after Ctrl-C."""


# Digests.


def root_digest(digests: Digests) -> int:
    """One digest of nested digests, whatever their order."""
    return digest(digests)


def _digests_text(digests: Digests) -> dict[str, Any]:
    return {
        name: digest_text(value) if type(value) is int else _digests_text(value)  # type: ignore[arg-type]
        for name, value in digests.items()
    }


# Values: JSON that gives back exactly what was written. None, bool, int, finite floats and text are
# themselves, a dict is an object, and everything else is an array that begins with its kind.


def encode(value: Any) -> Any:
    """A checked value as JSON can hold it.

    >>> encode([1, (2.5, b"x"), {"a": float("inf")}])
    ['list', 1, ['tuple', 2.5, ['bytes', '78']], {'a': ['float', '7ff0000000000000']}]
    """
    kind = type(value)
    if kind is float:
        return value if isfinite(value) else ["float", struct.pack(">d", value).hex()]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is list or kind is tuple:
        return [kind.__name__, *map(encode, value)]
    if kind is dict:
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(written: Any) -> Any:
    """What `encode` was given. Raises ValueError for what it does not write.

    >>> decode(encode([1, (-0.0, None), b"x"]))
    [1, (-0.0, None), b'x']
    """
    kind = type(written)
    if kind is dict:
        return {key: decode(item) for key, item in written.items()}
    if kind is not list:
        if kind is float and not isfinite(written):
            raise ValueError("a number is beyond every float")
        return written
    name, parts = (written[0], written[1:]) if written else (None, [])
    if name == "list":
        return [decode(item) for item in parts]
    if name == "tuple":
        return tuple([decode(item) for item in parts])
    if len(parts) == 1 and type(parts[0]) is str and parts[0] == parts[0].lower():
        if name == "bytes":
            return bytes.fromhex(parts[0])
        if name == "float" and len(parts[0]) == 16:
            (number,) = struct.unpack(">d", bytes.fromhex(parts[0]))
            return number
    raise ValueError(
        f"{shown(written)} is no value; lists begin with 'list', 'tuple', 'bytes' or 'float'"
    )


def _checked(value: Any, name: str) -> Any:
    return encode(check_recordable(value, name))


# Ticks.


def given_fields(given: RecordedTick, base: int) -> dict[str, Any]:
    """What a tick was given, as a line holds it. Requests are numbered from ``base``."""
    fields: dict[str, Any] = {"tick": given.tick, "input": given.input.to_dict()}
    if given.messages:
        fields["messages"] = [_checked(message, "a message") for message in given.messages]
    if given.completions:
        fields["completions"] = [
            [
                completion.ticket.request - base,
                _checked(completion.ticket.target, "a target"),
                _checked(completion.ticket.revision, "a revision"),
                _checked(completion.result, "a result"),
                None if completion.error is None else str(completion.error),
            ]
            for completion in given.completions
        ]
    if given.rate is not None:
        fields["rate"] = [given.rate.numerator, given.rate.denominator]
    return fields


def asked_fields(given: RecordedTick, base: int) -> dict[str, Any]:
    """What a tick was given only because it asked, and so is known only after it ran."""
    fields: dict[str, Any] = {}
    if given.requests:
        fields["requests"] = [
            None if number is None else number - base for number in given.requests
        ]
    if given.closed:
        fields["closed"] = True
    if given.outbox_room is not None:
        fields["outbox_room"] = given.outbox_room
    return fields


def given_text(given: RecordedTick) -> str:
    """All that a tick was given, as text: equal for equal values, NaN and types included."""
    return dumps(given_fields(given, 0) | asked_fields(given, 0))


class TickDigester:
    """Observes ticks and takes their digests: what a recording and a replay have in common."""

    def __init__(self, phases: tuple[str, ...], digests_every: int, first_tick: int) -> None:
        self._phase_names = phases
        self._every = digests_every
        self._first = first_tick
        self._tick = first_tick
        self._phases: dict[str, Any] = {}

    def _began(self, tick: int) -> None:
        self._tick = tick
        self._phases = {}

    def _by_name(self) -> bool:
        return (self._tick - self._first) % self._every == 0

    def _phase(self, world: Any, phase: str) -> None:
        if phase in self._phase_names:
            digests = world_digests(world)
            self._phases[phase] = digests if self._by_name() else root_digest(digests)

    def _record(self, world: Any, given: RecordedTick) -> TickRecord:
        digests = world_digests(world)
        root = root_digest(digests)
        return TickRecord(given, root, digests if self._by_name() else None, self._phases)


def header_fields(header: RecordingHeader) -> dict[str, Any]:
    """The header as its line holds it."""
    for name in header.notes:
        if type(name) is not str or not name:
            raise TypeError(f"a note must have a name that is a str, not {shown(name)}")
    return {
        "format": FORMAT,
        "version": VERSION,
        "library": header.library,
        "rate": [header.rate.numerator, header.rate.denominator],
        "tick_length": header.tick_length,
        "first_tick": header.first_tick,
        "sim_time": header.sim_time,
        "request_base": header.request_base,
        "buttons": header.buttons,
        "axes": header.axes,
        "relative": header.relative,
        "phases": header.phases,
        "digests_every": header.digests_every,
        "notes": {
            name: _checked(value, f"the note {shown(name)}") for name, value in header.notes.items()
        },
    }


class RecordingWriter(TickDigester):
    """Writes a recording. It checks everything that its reader checks."""

    def __init__(
        self,
        file: str | os.PathLike[str] | TextIO,
        header: RecordingHeader,
        *,
        overwrite: bool = False,
    ) -> None:
        super().__init__(header.phases, header.digests_every, header.first_tick)
        self._base = header.request_base
        self._given: dict[str, Any] = {}
        fields = header_fields(header)
        _within_a_line(dumps(fields))
        self._lines = LineWriter(file, fields, overwrite=overwrite)

    @property
    def ticks(self) -> int:
        """Ticks in the file. It is counted in lines, so that an interrupt cannot part the two."""
        return self._lines.lines - 1

    @property
    def _next(self) -> int:
        return self._first + self.ticks

    def begin(self, given: RecordedTick) -> None:
        """Keep what a tick is given, as it is before the tick runs."""
        if given.tick != self._next:
            raise ValueError(
                f"tick {given.tick} came where {self._next} comes: the line of a tick was lost"
            )
        self._began(given.tick)
        self._given = given_fields(given, self._base)

    def end(self, world: Any, given: RecordedTick) -> None:
        """Write the line of a tick that ran to its end."""
        record = self._record(world, given)
        line = self._given | asked_fields(given, self._base)
        line["root"] = digest_text(record.root)
        if record.digests is not None:
            line["digests"] = _digests_text(record.digests)
        if self._phase_names:
            line["phases"] = {
                name: digest_text(value) if type(value) is int else _digests_text(value)
                for name, value in self._phases.items()
            }
        text = dumps(line)
        _within_a_line(text)
        self._lines.line(text)

    def finish(
        self, reason: str, fault: Fault | None = None, given: RecordedTick | None = None
    ) -> None:
        """Write the end. A fault that the reader would not take is left out."""
        end: dict[str, Any] = {"ticks": self.ticks, "reason": reason}
        if fault is not None and fault.tick == self._next:
            end["fault"] = [fault.phase, type(fault.error).__name__]
            if given is not None and self._given.get("tick") == fault.tick:
                whole = self._given | asked_fields(given, self._base)
                if len(dumps(whole)) < LONGEST_LINE // 2:
                    end["given"] = whole
        self._lines.end({"end": end})

    def close(self) -> None:
        """Write nothing any more, not even the end."""
        self._lines.close()


def _within_a_line(text: str) -> None:
    if len(text) >= LONGEST_LINE:
        raise ValueError(
            f"a line of a recording must have fewer than {LONGEST_LINE} characters, not "
            f"{len(text)}; pass smaller messages and results, or fewer digests"
        )


class Recording(Closing):
    """A recording, read one tick at a time. Iterate over it once.

    >>> import io
    >>> from fixedstep import StateHash
    >>> from fixedstep.records import Recorder
    >>> from fixedstep.sim import Session
    >>> class World:
    ...     x = 0
    ...     def step(self, input, tick):
    ...         self.x += 1
    ...     def digests(self):
    ...         return {"x": StateHash().absorb_u64(self.x)}
    >>> file, session = io.StringIO(), Session(World)
    >>> with Recorder(file, session, notes={"seed": 42}):
    ...     _ = session.run_ticks(2)
    >>> recording = Recording(io.StringIO(file.getvalue()))
    >>> [record.tick for record in recording], recording.header.notes["seed"]
    ([0, 1], 42)
    >>> recording.reason, recording.missing
    ('closed', '')

    ``file`` is a path, or an open stream of text or bytes at its beginning, such as ``gzip.open``
    returns; ``name`` is what errors call it. One line is in memory at a time.

    Raises RecordingError for anything that is not exactly a recording, and OSError where the file
    cannot be opened.
    """

    def __init__(
        self, file: str | os.PathLike[str] | TextIO | BinaryIO, name: str | None = None
    ) -> None:
        self._started = False
        self._reader = LineReader(file, name, "recording", RecordingError, LONGEST_LINE)
        try:
            self.header: RecordingHeader = self._header()
            """What the recording says about its session."""
        except BaseException:
            self.close()
            raise
        self.ticks: int = 0
        """Ticks read so far."""
        self.fault: FaultRecord | None = None
        """The tick that ended the run by raising; known after the last tick."""
        self.reason: str = ""
        """Why the recording ended, such as "closed"; known after the last tick."""
        self.missing: str = "its ticks have not been read yet"
        """What is missing at the end; "" for a whole recording."""

    def __iter__(self) -> Iterator[TickRecord]:
        if self._started:
            raise RuntimeError("this recording was read already; open it again for another pass")
        self._started = True
        return self._ticks()

    def _ticks(self) -> Iterator[TickRecord]:
        try:
            while True:
                expected = self.header.first_tick + self.ticks
                line, cut = self._reader.next()
                if line is None:
                    state = f"cut off after {cut} bytes" if cut else "missing"
                    self.missing = (
                        f"line {self._reader.line} is {state}: tick {expected}, or the end of the "
                        "recording"
                    )
                    return
                if isinstance(line, dict) and "end" in line:
                    self._end(line, expected)
                    return
                record = self._tick(line, expected)
                self.ticks += 1
                yield record
        finally:
            self.close()

    def _header(self) -> RecordingHeader:
        reader = self._reader
        hint = "Recorder(path, session) writes recordings; traces go to `fixedstep verify`"
        header = reader.header(FORMAT, VERSION, hint)
        reader.fields(header, "a header", _HEADER, set())
        notes, library = header["notes"], header["library"]
        if not isinstance(notes, dict) or "" in notes or not isinstance(library, str):
            reader.refuse(f"notes must be an object of names, and library a text; {RESTORE}")
        try:
            kinds = []
            for kind in ("buttons", "axes", "relative"):
                if not isinstance(header[kind], list):
                    raise TypeError(f"{kind} must be a list")
                names = action_names(header[kind])
                if list(names) != header[kind]:
                    raise ValueError(f"{kind} must be in name order")
                kinds.append(names)
            self._resting = TickInput.neutral(name for kind in kinds for name in kind)
            found = {
                name: check_recordable(decode(value), f"the note {shown(name)}")
                for name, value in notes.items()
            }
        except (TypeError, ValueError, OverflowError) as error:
            reader.refuse(f"{error}; {RESTORE}")
        phases = header["phases"]
        if (
            not isinstance(phases, list)
            or any(type(phase) is not str or not phase for phase in phases)
            or len(set(phases)) != len(phases)
        ):
            reader.refuse(f"phases must be a list of different names; {RESTORE}")
        self._phases = set(phases)
        nanos = "a whole number of nanoseconds"
        return RecordingHeader(
            rate=reader.rate(header["rate"]),
            tick_length=Nanos(reader.number(header["tick_length"], "tick_length", nanos)),
            first_tick=reader.number(header["first_tick"], "first_tick"),
            sim_time=Nanos(reader.number(header["sim_time"], "sim_time", nanos)),
            request_base=reader.number(header["request_base"], "request_base", high=I64_MAX),
            buttons=kinds[0],
            axes=kinds[1],
            relative=kinds[2],
            phases=tuple(phases),
            digests_every=reader.number(header["digests_every"], "digests_every", low=1),
            notes=found,
            library=library,
        )

    def _digests(self, written: object, where: str, levels: int = DEEPEST_DIGESTS) -> Digests:
        if not isinstance(written, dict) or "" in written:
            self._reader.refuse(f"{where} must be digests by name, not {shown(written)}; {RESTORE}")
        digests: dict[str, int | Digests] = {}
        for name, value in written.items():
            if isinstance(value, dict):
                if not levels:
                    self._reader.refuse(f"{where} are nested too deep; {RESTORE}")
                digests[name] = self._digests(value, where, levels - 1)
            else:
                digests[name] = self._reader.digest(value, f"{shown(name)} in {where}")
        return digests

    def _tick(self, line: Any, expected: int) -> TickRecord:
        reader, header = self._reader, self.header
        needed = {"tick", "input", "root"}
        by_name = self.ticks % header.digests_every == 0
        if by_name:
            needed.add("digests")
        if header.phases:
            needed.add("phases")
        reader.fields(line, "a tick", needed, _GIVEN)
        number = reader.number(line["tick"], "tick")
        if number != expected:
            reader.refuse(f"is tick {number}, but {expected} comes here; {RESTORE}")
        given = self._given(line)
        root = reader.digest(line["root"], "root")
        digests = None
        if by_name:
            digests = self._digests(line["digests"], "digests")
            if root_digest(digests) != root:
                reader.refuse(f"root is not the digest of digests; {RESTORE}")
        phases: dict[str, int | Digests] = {}
        if header.phases:
            written = reader.fields(line["phases"], "phases", set(), self._phases)
            for name, value in written.items():
                where = f"the digests of phase {shown(name)}"
                phases[name] = (
                    self._digests(value, where) if by_name else reader.digest(value, where)
                )
        return TickRecord(given, root, digests, phases)

    def _given(self, line: dict[str, Any]) -> RecordedTick:
        reader = self._reader
        parts = {name: line.get(name, []) for name in ("messages", "completions", "requests")}
        for name, part in parts.items():
            if not isinstance(part, list):
                reader.refuse(f"{name} must be a list, not {shown(part)}; {RESTORE}")
        try:
            tick_input = TickInput.from_dict(self._resting, line["input"])
            messages = tuple(
                check_recordable(decode(message), "a message") for message in parts["messages"]
            )
            completions = tuple(map(self._completion, parts["completions"]))
        except RecordingError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            reader.refuse(f"{error}; {RESTORE}")
        if line.get("closed", True) is not True:
            reader.refuse(f"closed must be true, not {shown(line['closed'])}; {RESTORE}")
        return RecordedTick(
            line["tick"],
            tick_input,
            messages,
            completions,
            tuple(
                None if number is None else self._request(number, 1) for number in parts["requests"]
            ),
            "closed" in line,
            reader.number(line["outbox_room"], "outbox_room") if "outbox_room" in line else None,
            reader.rate(line["rate"]) if "rate" in line else None,
        )

    def _request(self, written: object, low: int = I64_MIN) -> int:
        return self._reader.number(written, "the number of a request", low=low, high=I64_MAX)

    def _completion(self, written: object) -> Completion:
        if (
            not isinstance(written, list)
            or len(written) != 5
            or not (written[4] is None or (isinstance(written[4], str) and written[3] is None))
        ):
            self._reader.refuse(
                "a completion has a request, a target, a revision, a result and an error, not "
                f"{shown(written)}; {RESTORE}"
            )
        target, revision, result = (
            check_recordable(decode(part), "a completion") for part in written[1:4]
        )
        error = None if written[4] is None else WorkFailed(written[4])
        return Completion(Ticket(self._request(written[0]), None, target, revision), result, error)

    def _end(self, line: dict[str, Any], expected: int) -> None:
        reader = self._reader
        end = reader.fields(line, "the end", {"end", "digest"}, set())["end"]
        reader.fields(end, "the end", {"ticks", "reason"}, {"fault", "given"})
        if reader.number(end["ticks"], "ticks") != self.ticks:
            reader.refuse(
                f"the recording ended after {end['ticks']} ticks, but {self.ticks} are here; "
                "restore the others"
            )
        if not isinstance(end["reason"], str) or ("given" in end and "fault" not in end):
            reader.refuse(f"reason must be a text, and given needs a fault; {RESTORE}")
        fault = None
        if "fault" in end:
            names = end["fault"]
            if not isinstance(names, list) or [type(name) for name in names] != [str, str]:
                reader.refuse(f"a fault has a phase and an error, not {shown(names)}; {RESTORE}")
            given = None
            if "given" in end:
                reader.fields(end["given"], "given", {"tick", "input"}, _GIVEN)
                reader.number(
                    end["given"]["tick"], "the tick of the fault", low=expected, high=expected
                )
                given = self._given(end["given"])
            fault = FaultRecord(expected, names[0], names[1], given)
        reader.end()
        self.fault, self.reason, self.missing = fault, end["reason"], ""

    def close(self) -> None:
        """Close the file, if it was opened here."""
        self._reader.close()
