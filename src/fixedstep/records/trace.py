"""Trace files: the timestamps a schedule was given, so that it can be planned again.

JSON lines. A header says how the loop was configured, then one line an operation, then a footer
with the stats of the run::

    {"format":"fixedstep-trace","version":1,"timestep":16666667,"budget":5,"start":1000}
    ["frame", 16667700, "0x7a0f2b6f2f1c8e21"]
    ["resync", 90000000]
    {"stats":{"frames":1,"ticks":1,"steps_dropped":0,"schedule_hash":"0x7a0f2b6f2f1c8e21"}}

A frame may carry the schedule digest after it: that is what names the first frame on which a replay
differs, also in a file that has no footer. Lines, because a program that dies leaves whole ones
behind; every line is handed to the system as it is written. (It is not forced onto the disk: that
costs more than a frame has, so a loss of power may take the last seconds.)

It refuses to repair. A file that ends early is read up to its last whole line and says where it
ends; anything else that is not exactly a trace is an error with its line. Plans are not stored:
they follow from the timestamps, and a second copy could only disagree.
"""

from __future__ import annotations

import os
import re
from array import array
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, SupportsIndex, TextIO

import fixedstep

from .. import _arguments
from .._arguments import U32_MAX, U64_MAX, shown
from ..captures.capture import CaptureError
from ..captures.limits import LONGEST_TAIL, LONGEST_TRACE_LINE
from ..captures.source import opened
from ..time import Rate, StepBudget, Timestamp, Timestep
from . import lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

FORMAT = "fixedstep-trace"
VERSION = 1

_DIGEST = re.compile("0x[0-9a-f]{16}")
_FRAME, _FRAME_WITH_DIGEST, _RESYNC = range(3)


class TraceError(CaptureError):
    """A trace that cannot be read exactly: names the file, the line, the fault and the fix."""


class Operation(NamedTuple):
    """One line of a trace."""

    kind: str
    """``"frame"`` or ``"resync"``."""
    now: Timestamp
    """The timestamp it was given, in nanoseconds."""
    digest: int | None
    """The schedule digest after it, where the recording has one."""


class TraceWriter:
    """Writes a trace to an open text file, line by line, each flushed as it is written.

    >>> import io
    >>> file = io.StringIO()
    >>> writer = TraceWriter(file, Timestep(10), StepBudget(3), start=Timestamp(5))
    >>> writer.frame(Timestamp(27))
    >>> writer.resync(Timestamp(90))
    >>> print(file.getvalue(), end="")
    {"format":"fixedstep-trace","version":1,"timestep":10,"budget":3,"start":5}
    ["frame", 27]
    ["resync", 90]

    Closing the file is the caller's. Raises TypeError and OverflowError as `FrameLoop` does, before
    anything is written, and OSError when the file cannot take more.
    """

    def __init__(
        self, file: TextIO, timestep: Timestep | Rate, budget: StepBudget, start: Timestamp
    ) -> None:
        if isinstance(timestep, Rate):
            step = f'"rate":[{timestep.numerator},{timestep.denominator}]'
        else:
            step = f'"timestep":{timestep.nanos}'
        anchor = _arguments.timestamp(start, "start")
        self._file = file
        self._write(
            f'{{"format":"{FORMAT}","version":{VERSION},{step},"budget":{budget.steps},'
            f'"start":{anchor}}}'
        )

    def _write(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()

    def frame(self, now: Timestamp, digest: SupportsIndex | None = None) -> None:
        """Record a ``begin_frame(now)``; ``digest`` is the stats' ``schedule_hash`` after it."""
        at = _arguments.timestamp(now)
        if digest is None:
            self._write(f'["frame", {at}]')
        else:
            self._write(f'["frame", {at}, "0x{_arguments.count(digest, "digest"):016x}"]')

    def resync(self, now: Timestamp) -> None:
        """Record a ``resync(now)``."""
        self._write(f'["resync", {_arguments.timestamp(now)}]')

    def finish(self, stats: fixedstep.FrameStats) -> None:
        """Write the footer, which tells a whole recording from one that was cut off."""
        self._write(f'{{"stats":{stats.json()}}}')


class Trace:
    """A trace file, read. `read` makes one."""

    def __init__(self, timestep: Timestep | Rate, budget: StepBudget, start: Timestamp) -> None:
        self.timestep = timestep
        """What the loop was configured with."""
        self.budget = budget
        """The most steps a frame could run."""
        self.start = start
        """The timestamp the loop was anchored to."""
        self.stats: fixedstep.FrameStats | None = None
        """The footer; None in a file that was cut off."""
        self.cut_line: int | None = None
        """The broken or missing line of a file that was cut off; all before it were read."""
        # Three columns and not a list of operations: 17 bytes each instead of 150.
        self._kinds = bytearray()
        self._times = array("Q")
        self._digests = array("Q")

    def _append(self, operation: Operation) -> None:
        if operation.kind == "resync":
            kind = _RESYNC
        else:
            kind = _FRAME if operation.digest is None else _FRAME_WITH_DIGEST
        self._kinds.append(kind)
        self._times.append(operation.now)
        self._digests.append(operation.digest or 0)

    def __len__(self) -> int:
        return len(self._kinds)

    def operations(self) -> Iterator[Operation]:
        """The frames and resyncs, in order."""
        for kind, now, digest in zip(self._kinds, self._times, self._digests, strict=True):
            yield Operation(
                "resync" if kind == _RESYNC else "frame",
                Timestamp(now),
                digest if kind == _FRAME_WITH_DIGEST else None,
            )


class Reader:
    """One pass over one file."""

    def __init__(self, path: str | os.PathLike[str], file: BinaryIO) -> None:
        self._name = os.fspath(path)
        self._file = file
        self._line = 0

    def _refuse(self, what: str) -> NoReturn:
        raise TraceError(f"{self._name}, line {self._line}: {what}")

    def _number(
        self, value: object, name: str, unit: str, low: int = 0, high: int = U64_MAX
    ) -> int:
        """JSON has numbers that Python reads as integers and are none: 1.0, 1e3, true."""
        if type(value) is not int or not low <= value <= high:
            self._refuse(
                f"{name} must be {unit} in {low} .. {high}, not {shown(value)}; {self._restore()}"
            )
        return value

    def _digest(self, value: object, name: str) -> int:
        if not isinstance(value, str) or not _DIGEST.fullmatch(value):
            self._refuse(
                f"{name} must be a string of 0x and 16 lower-case hexadecimal digits, not "
                f"{shown(value)}; {self._restore()}"
            )
        return int(value, 16)

    def _next(self) -> tuple[Any, bool]:
        """The next line as JSON, and whether there is one to use.

        False at the end of the file, and for a last line that was cut off. JSON's arrays and
        objects say themselves where they end, so a line that lacks only its line end is used.
        """
        self._line += 1
        raw = self._file.readline(LONGEST_TRACE_LINE)
        ended = whole = raw.endswith(b"\n")
        tail = len(raw)
        while not ended and (more := self._file.readline(LONGEST_TRACE_LINE)):
            ended = more.endswith(b"\n")
            tail += len(more)
            if tail > LONGEST_TAIL:
                self._refuse(
                    f"has no end within {LONGEST_TAIL >> 20} MiB, so this is no trace, nor what a "
                    "crash leaves of one"
                )
        if not raw:
            return None, False
        if ended and not whole:
            self._refuse(
                f"is longer than {LONGEST_TRACE_LINE} bytes, so this is no line of a trace; "
                f"{self._restore()}"
            )
        try:
            text = (raw.removeprefix(BOM_UTF8) if self._line == 1 else raw).decode("utf-8")
            return lines.loads(text, floats=True), True
        except ValueError as error:  # a UnicodeDecodeError is a ValueError too
            if not whole:
                return None, False
            found = shown(raw.decode("utf-8", "backslashreplace").rstrip("\r\n"))
            self._refuse(
                f"{found} is not JSON ({getattr(error, 'msg', error)}); "
                + ("a trace begins with its header" if self._line == 1 else self._restore())
            )

    @staticmethod
    def _restore() -> str:
        return "restore the line from the recording, or end the file before it"

    def header(self) -> Trace:
        """The first line: how the loop was configured."""
        header, there = self._next()
        if not there:
            self._refuse(
                "the file is empty or ends within its header, so there is nothing in it to replay"
            )
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            self._refuse(
                f"looked for a header with the format {FORMAT!r}, found {shown(header)}; captures "
                "of other tools are no traces, and recordings of ticks go to `fixedstep diff`"
            )
        if header.get("version") != VERSION or type(header["version"]) is not int:
            self._refuse(
                f"version must be {VERSION}, not {shown(header.get('version'))}; "
                "read it with the release that wrote it"
            )
        step = {"timestep", "rate"} & set(header)
        known = {"format", "version", "budget", "start", *step}
        if len(step) != 1 or set(header) != known:
            self._refuse(
                "a header has format, version, timestep or rate, budget and start, and nothing "
                f"else, not {shown(list(header))}; restore it from the recording"
            )
        timestep: Timestep | Rate
        if "rate" in step:
            rate = header["rate"]
            if not isinstance(rate, list) or len(rate) != 2:
                self._refuse(
                    f"rate must be ticks and seconds, [60, 1] for 60 Hz, not {shown(rate)}; "
                    "restore it from the recording"
                )
            timestep = Rate(
                self._number(rate[0], "rate", "a whole number of ticks", 1),
                self._number(rate[1], "rate", "a whole number of seconds", 1, U64_MAX // 10**9),
            )
        else:
            timestep = Timestep(
                self._number(header["timestep"], "timestep", "a whole number of nanoseconds", 1)
            )
        budget = self._number(header["budget"], "budget", "a whole number of steps", 1, U32_MAX)
        start = self._number(header["start"], "start", "a whole number of nanoseconds")
        return Trace(timestep, StepBudget(budget), Timestamp(start))

    def _operation(self, line: list[Any]) -> Operation:
        kind = line[0] if line else None
        if kind not in ("frame", "resync") or not 2 <= len(line) <= (3 if kind == "frame" else 2):
            self._refuse(
                '["frame", nanoseconds], ["frame", nanoseconds, digest] and ["resync", '
                f"nanoseconds] are the operations, not {shown(line)}; {self._restore()}"
            )
        now = Timestamp(self._number(line[1], kind, "a whole number of nanoseconds"))
        digest = self._digest(line[2], "digest") if len(line) == 3 else None
        return Operation(kind, now, digest)

    def _footer(self, line: dict[str, Any]) -> fixedstep.FrameStats:
        stats = line.get("stats") if set(line) == {"stats"} else None
        names = ("frames", "ticks", "steps_dropped")
        if not isinstance(stats, dict) or set(stats) != {*names, "schedule_hash"}:
            self._refuse(
                "a footer has stats, with frames, ticks, steps_dropped and schedule_hash, not "
                f"{shown(line)}; {self._restore()}"
            )
        frames, ticks, dropped = (
            self._number(stats[name], name, "a whole number") for name in names
        )
        digest = self._digest(stats["schedule_hash"], "schedule_hash")
        return fixedstep.FrameStats(frames, ticks, dropped, digest)

    def read(self) -> Trace:
        """All of it."""
        trace = self.header()
        for operation in self.operations(trace):
            trace._append(operation)
        return trace

    def operations(self, trace: Trace) -> Iterator[Operation]:
        """What follows the header, one by one; the ending goes into ``trace``."""
        while trace.stats is None:
            line, there = self._next()
            if not there:
                trace.cut_line = self._line
                return
            if isinstance(line, list):
                yield self._operation(line)
            elif isinstance(line, dict):
                trace.stats = self._footer(line)
            else:
                self._refuse(f"{shown(line)} is no operation and no footer; {self._restore()}")
        self._line += 1
        if self._file.read(1):
            self._refuse("comes after the footer, which is the end of a trace; remove it")


def read(path: str | os.PathLike[str]) -> Trace:
    """The trace in a file; if it was cut off, up to its last whole line.

    All of it is in memory then, 17 bytes an operation; ``Reader`` gives one operation after the
    other and keeps none. ``path`` may be ``"-"`` for standard input, and what is there may be
    packed with gzip.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run.trace")
    ...     with path.open("x") as file:
    ...         writer = TraceWriter(file, Timestep(10), StepBudget(3), start=Timestamp(5))
    ...         writer.frame(Timestamp(27))
    ...     trace = read(path)
    >>> [operation.now for operation in trace.operations()], trace.stats, trace.cut_line
    ([27], None, 3)

    Raises TraceError, which names the file, the line and the fix, for anything that is not exactly
    a trace (CaptureError, which that is, for a damaged gzip file), and OSError where the file
    cannot be opened.
    """
    with opened(path) as source:
        return Reader(source.name, source.binary).read()
