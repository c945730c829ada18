"""A trace of fixedstep itself, read as a capture: what would another schedule have made of it?

A frame time is what the recorded loop banked: the time since the frame or the resync before it, and
nothing where the clock went back. So a trace analysed with its own configuration gives the steps
that it ran. The configuration in the file is not used here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import trace
from ..time import saturating_since
from .collector import Collector

if TYPE_CHECKING:
    from .capture import Capture
    from .source import Source

FORMAT = "fixedstep trace"


def read(source: Source) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    reader = trace.Reader(source.name, source.binary)
    header = reader.header()
    found = Collector(source.refuse)
    key = ("", "", "")
    found.start(key, None)
    last = header.start
    skipped = backwards = 0
    for operation in reader.operations(header):
        if operation.kind == "frame":
            found.rows += 1
            found.frames(key, [saturating_since(operation.now, last)])
            backwards += operation.now < last
        else:
            skipped += 1
        last = operation.now
    if not found.rows:
        source.refuse("is a trace without frames; record again, with the loop running")
    if skipped:
        found.warnings.append(f"time before {skipped} resyncs left out, as the recorded loop did")
    if backwards:
        found.warnings.append(f"the clock went back before {backwards} frames; they took no time")
    if header.cut_line is not None:
        found.warnings.append(
            f"the trace is cut off: line {header.cut_line} is broken or missing; all before it "
            "were read"
        )
    return found.capture(FORMAT)
