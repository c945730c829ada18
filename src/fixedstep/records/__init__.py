"""What is written down while a game runs, and read, replayed and compared afterwards.

A trace holds the timestamps of frames, a recording the ticks of a session. `Recorder` writes both.
"""

from .compare import Comparison, Divergence, ReplayMismatch, compare, replay
from .recorder import Recorder
from .recording import FaultRecord, Recording, RecordingError, RecordingHeader, TickRecord
from .trace import Operation, Trace, TraceError

__all__ = [
    "Comparison",
    "Divergence",
    "FaultRecord",
    "Operation",
    "Recorder",
    "Recording",
    "RecordingError",
    "RecordingHeader",
    "ReplayMismatch",
    "TickRecord",
    "Trace",
    "TraceError",
    "compare",
    "replay",
]
