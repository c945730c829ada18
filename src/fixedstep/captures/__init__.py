"""Frame times from files: what other tools recorded on real machines, and fixedstep's own traces.

`read` takes a capture, in one of the formats it knows, and gives the frame times of each stream of
frames in it. A file in any other format is refused with what was looked for and what was found:
frame times read by guess look like frame times. `analyze` says what a schedule would have made
of them. `fixedstep.records.Recorder` writes the traces of a running game.

No file here reads a clock.
"""

from __future__ import annotations

from .analysis import AnalysisSettings, analyze, histogram, merge_histograms
from .capture import Capture, CaptureError, Gap, Gaps, Stream
from .formats import read

__all__ = [
    "AnalysisSettings",
    "Capture",
    "CaptureError",
    "Gap",
    "Gaps",
    "Stream",
    "analyze",
    "histogram",
    "merge_histograms",
    "read",
]
