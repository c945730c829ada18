"""A trace of fixedstep itself, read as a capture: what would another schedule have made of it?

A frame time is what the recorded loop banked: the time since the frame or the resync before it, and
nothing where the clock went back. So a trace analysed with its own configuration gives the steps
that it ran. The configuration in the file is not used here; `fixedstep verify` compares with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records.trace import Trace, TraceError
from ..time import saturating_since
from .capture import CaptureError
from .collector import Collector

if TYPE_CHECKING:
    from .capture import Capture
    from .source import Source

FORMAT = "fixedstep trace"


def read(source: Source) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    try:
        return _read(source, Trace(source.binary, source.name))
    except TraceError as error:
        raise CaptureError(str(error)) from None


def _read(source: Source, trace: Trace) -> Capture:
    found = Collector(source.refuse)
    key = ("", "", "")
    found.start(key, None)
    last = trace.start
    skipped = backwards = 0
    for operation in trace:
        if operation.kind == "frame":
            found.rows += 1
            before = operation.now if last is None else last
            found.frames(key, [saturating_since(operation.now, before)])
            backwards += operation.now < before
        else:
            skipped += 1
        last = operation.now
    if not found.rows:
        source.refuse("is a trace without frames; record again, with the loop running")
    if skipped:
        found.warnings.append(f"time before {skipped} resyncs left out, as the recorded loop did")
    if backwards:
        found.warnings.append(f"the clock went back before {backwards} frames; they took no time")
    if trace.missing:
        found.warnings.append(f"the trace is cut off: {trace.missing}")
    return found.capture(FORMAT)
