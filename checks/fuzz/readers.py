"""The readers of files against files that nobody would write: run by run.py, one reader a process.

The rule for every input is: what the file says, or an error of the documented type that fits a
screen; never another exception, never a hang, never more memory than the limit in run.py. What a
file says is not worked out a second time here. It is held against itself: the same bytes in a gzip
file, as UTF-16, handed over in pieces of any size, or what was read written again and read again,
must say the same. Numbers are the exception: decimal text has an oracle in exact fractions.

It uses the plain Python core. What the readers do with the compiled one is the same calls.
"""

from __future__ import annotations

import gzip
import io
import sys
import time
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import accumulate
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import atheris

with atheris.instrument_imports(include=["fixedstep"]):
    from fixedstep import Rate, Timestep, captures, reference
    from fixedstep._arguments import U64_MAX
    from fixedstep.captures import (
        AnalysisSettings,
        CaptureError,
        analysis,
        decimal_text,
        json_stream,
    )
    from fixedstep.cli.verify import Verification
    from fixedstep.records import (
        Recorder,
        Recording,
        RecordingError,
        ReplayMismatch,
        TickRecord,
        Trace,
        TraceError,
        compare,
        replay,
    )
    from fixedstep.records.recording import asked_fields, given_fields, header_fields
    from fixedstep.records.trace import TraceWriter
    from fixedstep.sim import Session

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds of the processor for one input, of a few KiB. Time on the clock is the machine's: what
#: hangs for good is stopped by the limit in run.py.
LONGEST = 5
#: Characters of an error or a warning. It may quote from the file, and then in part.
LONGEST_MESSAGE = 1000
SETTINGS = AnalysisSettings(
    timesteps=(Timestep.HZ_60, Rate(60)), resync_over=10**9, histogram=True, stall_over=0
)
UNITS = tuple(decimal_text.UNITS)


class Dribble(io.BytesIO):
    """A file that hands over a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._size = size

    def read(self, size: int | None = -1, /) -> bytes:
        """At most so many bytes; all of them where no size is asked for."""
        return super().read(size if size is None or size < 0 else min(size, self._size))


def _clear(message: str) -> None:
    assert 20 < len(message) < LONGEST_MESSAGE, f"a message of {len(message)} characters"


def _read(data: bytes, unit: str | None, size: int = 1 << 16) -> Any:
    """A capture as plain values, or the text of its refusal."""
    sys.stdin = SimpleNamespace(buffer=Dribble(data, size))
    try:
        capture = captures.read("-", unit)
    except CaptureError as error:
        return str(error)
    groups = [(group.title, list(group.frame_times)) for group in capture.streams]
    return capture.format, capture.rows, groups, capture.warnings, capture


def _same(one: Any, other: Any) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert type(one) is type(other), (one, other)
    else:
        assert one[:4] == other[:4], (one, other)


def check_captures(data: bytes) -> None:
    """All formats, and the analysis of what was read."""
    unit = None
    found = _read(data, None)
    if isinstance(found, str):
        _clear(found)
        unit = UNITS[len(data) % 4]
        found = _read(data, unit)
    if isinstance(found, str):
        _clear(found)
    else:
        _capture(found[4], data)
    text = data.decode("utf-8", "replace")
    if data.startswith(b"\x1f\x8b") or len(data) % 3 == 0:
        json_stream._PIECE = 1 + len(data) % 61
        _same(_read(data, unit, 1 + len(data) % 7), found)
        json_stream._PIECE = 1 << 16
    elif len(data) % 3 == 1:
        _same(_read(gzip.compress(data, 1, mtime=0), unit), found)
    elif text.encode() == data and data[:1].isascii():
        _same(_read(text.encode("utf-16"), unit), found)


def _capture(capture: captures.Capture, data: bytes) -> None:
    for warning in capture.warnings:
        _clear(warning)
    assert capture.streams
    frames = sum(group.frames for group in capture.streams)
    assert frames <= capture.rows
    assert data.startswith(b"\x1f\x8b") or capture.rows <= len(data)
    for group in capture.streams:
        deltas = list(group.frame_times)
        assert list(group.timestamps()) == list(accumulate(deltas))
        assert sum(deltas) == group.total <= U64_MAX
        try:
            figures = analysis.report(group, SETTINGS, reference)
        except CaptureError as error:
            _clear(str(error))
            continue
        for schedule, (scale, unit) in zip(
            figures["schedules"], ((1, 16_666_667), (60, 10**9)), strict=True
        ):
            due = schedule["steps"] + schedule["dropped"]
            assert due * unit + schedule["remainder"] == group.total * scale


def check_decimal(data: bytes) -> None:
    """Decimal text against exact fractions."""
    unit = UNITS[data[0] % 4] if data else "ms"
    text = data[1:].decode("utf-8", "replace")
    found: int | None
    try:
        found = decimal_text.nanoseconds(text, unit)
    except ValueError:
        found = None
    exact, far = _exact(text, unit)
    assert found == exact or (found is None and far), (text, unit, found, exact)
    texts = f"1.25,{text}"
    many = decimal_text.array_nanoseconds(texts, unit)
    if many is not None:
        each = [_exact(one.strip(" \t\r\n"), unit)[0] for one in texts.split(",")]
        assert many[0] == each, (texts, unit, many, each)


def _exact(text: str, unit: str) -> tuple[int | None, bool]:
    """Nanoseconds, None for what must be refused, and whether the exponent is out of all use: what
    rounds to nothing may be refused there."""
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:
        return None, False
    if set(text) - set("0123456789+-.eE") or not isinstance(exponent, int):
        return None, False
    far = abs(exponent) > 5000
    number = int("".join(map(str, digits))) * (-1 if sign else 1)
    if number == 0:
        return 0, far
    if far:
        return (0 if exponent < 0 < number else None), True
    scaled = number * Fraction(10) ** (exponent + decimal_text.UNITS[unit])
    rounded = round(scaled)  # of fractions: half to even
    return (rounded if scaled > 0 and rounded <= U64_MAX else None), False


def check_trace(data: bytes) -> None:
    """Traces of schedules: read, planned again, written again, and read as a capture."""
    try:
        trace = Trace(io.BytesIO(data))
        operations = list(trace)
    except TraceError as error:
        _clear(str(error))
        as_capture = _read(data, None)
        assert isinstance(as_capture, str) or as_capture[0] != "fixedstep trace"
        return
    as_capture = _read(data, None)
    frames = sum(operation.kind == "frame" for operation in operations)
    if not isinstance(as_capture, str):
        assert as_capture[1] == frames > 0
    done = Verification(Trace(io.BytesIO(data)), {"reference": reference})
    assert (done.frames, done.frames + done.resyncs) == (frames, len(operations))
    file = io.StringIO()
    writer = TraceWriter(file, trace.timestep, trace.budget, trace.start)
    for kind, now, digest in operations:
        if kind == "frame":
            writer.frame(now, digest)
        else:
            writer.resync(now)
    if trace.stats is not None:
        writer.finish(trace.stats)
    again = Trace(io.StringIO(file.getvalue()))
    assert list(again) == operations
    assert (again.timestep, again.budget, again.start, again.stats) == (
        trace.timestep,
        trace.budget,
        trace.start,
        trace.stats,
    )
    assert bool(trace.missing) == (trace.stats is None)


def _recording(data: bytes, chunk: int) -> tuple[Recording, list[TickRecord]] | str:
    try:
        found = Recording(io.BufferedReader(io.BytesIO(data), chunk))  # a piece may end anywhere
        return found, list(found)
    except RecordingError as error:
        return str(error)


def check_recording(data: bytes) -> None:
    """Recordings of ticks: read, compared with themselves, replayed, written again."""
    found = _recording(data, 8192)
    pieces = _recording(data, 1 + len(data) % 61)
    if isinstance(found, str) or isinstance(pieces, str):
        assert type(found) is type(pieces), (found, pieces)
        _clear(str(found))
        return
    read, ticks = found
    assert (str(read.fault), read.missing) == (str(pieces[0].fault), pieces[0].missing)
    assert read.ticks == len(ticks)
    assert compare(ticks, pieces[1]) == (None, len(ticks), 0, 0)
    changed = [tick._replace(root=tick.root ^ 1, digests=None, phases={}) for tick in ticks[-1:]]
    parted = compare(ticks, ticks[:-1] + changed).divergence
    assert not ticks or (parted is not None and parted.tick == ticks[-1].tick and str(parted))
    header_fields(read.header)
    lines = [given_fields(tick.given, 0) | asked_fields(tick.given, 0) for tick in ticks]
    assert [line["tick"] for line in lines] == [tick.tick for tick in ticks]
    _replayed(data, read, len(ticks))


class _World:
    """Takes whatever comes."""

    x = 0

    def step(self, tick_input: Any, tick: Any) -> None:
        """Ask for as much work as the tick did."""
        self.x = tick.number

    def digests(self) -> dict[str, int]:
        """One number."""
        return {"x": self.x}


def _replayed(data: bytes, read: Recording, ticks: int) -> None:
    header = read.header
    session: Session[_World] = Session(
        _World,
        buttons=header.buttons,
        axes=header.axes,
        relative=header.relative,
        rate=header.rate,
    )
    try:
        played = replay(Recording(io.BytesIO(data)), session)
    except ReplayMismatch as error:
        _clear(str(error))
    else:
        assert played.compared >= ticks or played.divergence is not None
    file = io.StringIO()
    fresh: Session[_World] = Session(_World, buttons=header.buttons)
    with Recorder(file, fresh, notes=header.notes) as recorder:
        for tick in range(3):
            fresh.post(tick)
            fresh.run_ticks(1)
    assert recorder.error is None
    again = _recording(file.getvalue().encode(), 8192)
    assert not isinstance(again, str), again
    assert repr(again[0].header.notes) == repr(header.notes)


CHECKS: dict[str, Callable[[bytes], None]] = {
    "captures": check_captures,
    "decimal": check_decimal,
    "trace": check_trace,
    "recording": check_recording,
}


def _timed(check: Callable[[bytes], None]) -> Callable[[bytes], None]:
    def checked(data: bytes) -> None:
        started = time.process_time()
        check(data)
        spent = time.process_time() - started
        assert spent < LONGEST, f"{spent} seconds for {len(data)} bytes"

    return checked


if __name__ == "__main__":
    _check = _timed(CHECKS[sys.argv.pop(1)])
    atheris.Setup(sys.argv, _check)
    atheris.Fuzz()
