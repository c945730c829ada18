"""Traces: the timestamps that a `FrameLoop` was given, so that it can be planned again.

JSON lines: a header with the configuration of the loop, a line for each operation, and an end with
the statistics of the run and a digest of the file::

    {"format":"fixedstep-trace","version":1,"timestep":16666667,"budget":5,"start":1000}
    ["frame",16667700,"0x7a0f2b6f2f1c8e21"]
    ["resync",90000000]
    {"stats":{"frames":1,"ticks":1,...},"digest":"0x55ab..."}

``start`` is null for a loop that begins with its first frame. A frame may carry the digest of the
schedule after it, which tells the first frame that differs, also in a file without an end. Plans
are not in the file: they follow from the timestamps.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import fixedstep

from .. import _arguments
from .._arguments import U32_MAX, U64_MAX, shown
from ..time import Rate, StepBudget, Timestamp, Timestep
from .lines import RESTORE, Closing, LineReader, LineWriter, digest_text, timestep_fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

FORMAT = "fixedstep-trace"
VERSION = 1

#: Bytes in a line. The longest that the writer can make has 140.
LONGEST_LINE = 4096

_HEADER = {"format", "version", "budget", "start"}
_STATS = {"frames", "ticks", "steps_dropped", "schedule_hash"}


class TraceError(ValueError):
    """A trace that cannot be read exactly. Names the file, the line and the fix."""


class Operation(NamedTuple):
    """One line of a trace."""

    kind: str
    """``"frame"`` or ``"resync"``."""
    now: Timestamp
    """The timestamp it was given, in nanoseconds."""
    digest: int | None
    """The digest of the schedule after it, where the trace has one."""


class TraceWriter:
    """Writes a trace; see ``LineWriter`` for ``file`` and ``overwrite``. A `Recorder` has one."""

    def __init__(
        self,
        file: str | os.PathLike[str] | TextIO,
        timestep: Timestep | Rate,
        budget: StepBudget,
        start: Timestamp | None,
        *,
        overwrite: bool = False,
    ) -> None:
        header = {
            "format": FORMAT,
            "version": VERSION,
            **timestep_fields(timestep),
            "budget": budget.steps,
            "start": None if start is None else _arguments.timestamp(start, "start"),
        }
        self._lines = LineWriter(file, header, overwrite=overwrite)

    def frame(self, now: Timestamp, digest: int | None = None) -> None:
        """Write a ``begin_frame(now)``, and the digest of the schedule after it."""
        at = _arguments.timestamp(now)
        if digest is None:
            self._lines.line(f'["frame",{at}]')
        else:
            text = digest_text(_arguments.count(digest, "digest"))
            self._lines.line(f'["frame",{at},"{text}"]')

    def resync(self, now: Timestamp) -> None:
        """Write a ``resync(now)``."""
        self._lines.line(f'["resync",{_arguments.timestamp(now)}]')

    def finish(self, stats: fixedstep.FrameStats) -> None:
        """Write the end, which tells a whole trace from one that was cut off."""
        self._lines.end(
            {
                "stats": {
                    "frames": stats.frames,
                    "ticks": stats.ticks,
                    "steps_dropped": stats.steps_dropped,
                    "schedule_hash": digest_text(stats.schedule_hash),
                }
            }
        )

    def close(self) -> None:
        """Write nothing any more, not even the end."""
        self._lines.close()


class Trace(Closing):
    """A trace, read one operation at a time. Iterate over it once.

    >>> import io
    >>> from fixedstep import FrameLoop
    >>> from fixedstep.records import Recorder
    >>> file = io.StringIO()
    >>> with Recorder(file, FrameLoop(Timestep(10), 3, Timestamp(5))) as recorder:
    ...     plan = recorder.begin_frame(Timestamp(27))
    >>> trace = Trace(io.StringIO(file.getvalue()))
    >>> [(operation.kind, operation.now) for operation in trace]
    [('frame', 27)]
    >>> trace.timestep, trace.stats.ticks, trace.missing
    (Timestep(10), 2, '')

    ``file`` is a path, or an open stream of text or bytes at its beginning, such as ``gzip.open``
    returns; ``name`` is what errors call it. After the last operation ``stats`` and ``missing`` are
    known.

    Raises TraceError for anything that is not exactly a trace, and OSError where the file cannot be
    opened.
    """

    def __init__(
        self, file: str | os.PathLike[str] | TextIO | BinaryIO, name: str | None = None
    ) -> None:
        self._started = False
        self._reader = LineReader(file, name, "trace", TraceError, LONGEST_LINE)
        try:
            header = self._header()
            self.timestep: Timestep | Rate = self._reader.timestep(header)
            """What the loop was configured with."""
            self.budget: StepBudget = StepBudget(
                self._number(header, "budget", "steps", 1, U32_MAX)
            )
            """The most steps a frame could run."""
            self.start: Timestamp | None = (
                None
                if header["start"] is None
                else Timestamp(self._number(header, "start", "nanoseconds"))
            )
            """The timestamp the loop began with; None where it was its first frame's."""
        except BaseException:
            self.close()
            raise
        self.stats: fixedstep.FrameStats | None = None
        """The statistics of the run; None before the end was read, and without one."""
        self.missing: str = "its operations have not been read yet"
        """What is missing at the end; "" for a whole trace."""

    def _header(self) -> dict[str, Any]:
        hint = "Recorder(path, frame_loop) writes traces; recordings go to `fixedstep replay`"
        header = self._reader.header(FORMAT, VERSION, hint)
        step = "rate" if "rate" in header else "timestep"
        return self._reader.fields(header, "a header", {*_HEADER, step}, set())

    def _number(
        self, header: dict[str, Any], name: str, unit: str, low: int = 0, high: int = U64_MAX
    ) -> int:
        return self._reader.number(header[name], name, f"a whole number of {unit}", low, high)

    def __iter__(self) -> Iterator[Operation]:
        if self._started:
            raise RuntimeError("this trace was read already; open it again for another pass")
        self._started = True
        return self._operations()

    def _operations(self) -> Iterator[Operation]:
        try:
            while True:
                line, cut = self._reader.next()
                if line is None:
                    state = f"cut off after {cut} bytes" if cut else "missing"
                    self.missing = f"line {self._reader.line} is {state}; all before it is there"
                    return
                if isinstance(line, dict):
                    stats = self._stats(line)
                    self._reader.end()
                    self.stats, self.missing = stats, ""
                    return
                yield self._operation(line)
        finally:
            self.close()

    def _operation(self, line: list[Any]) -> Operation:
        kind = line[0] if line else None
        if kind not in ("frame", "resync") or not 2 <= len(line) <= (3 if kind == "frame" else 2):
            self._reader.refuse(
                '["frame",nanoseconds], ["frame",nanoseconds,digest] and ["resync",nanoseconds] '
                f"are the operations, not {shown(line)}; {RESTORE}"
            )
        now = Timestamp(self._reader.number(line[1], kind, "a whole number of nanoseconds"))
        return Operation(
            kind, now, self._reader.digest(line[2], "digest") if len(line) == 3 else None
        )

    def _stats(self, line: dict[str, Any]) -> fixedstep.FrameStats:
        reader = self._reader
        stats = reader.fields(line, "the end", {"stats", "digest"}, set())["stats"]
        stats = reader.fields(stats, "stats", _STATS, set())
        return fixedstep.FrameStats(
            reader.number(stats["frames"], "frames"),
            reader.number(stats["ticks"], "ticks"),
            reader.number(stats["steps_dropped"], "steps_dropped"),
            reader.digest(stats["schedule_hash"], "schedule_hash"),
        )

    def close(self) -> None:
        """Close the file, if it was opened here."""
        self._reader.close()
