"""Frame times from files: what other tools recorded on real machines, and fixedstep's own traces.

`read` takes a capture, in one of the formats it knows, and gives the frame times of each stream of
frames in it. A file in any other format is refused with what was looked for and what was found:
frame times read by guess look like frame times. `fixedstep.captures.trace` writes and reads
recordings of a schedule's own timestamps.

No file here reads a clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import presentmon
from .capture import Capture, CaptureError, Group

if TYPE_CHECKING:
    import os

__all__ = ["Capture", "CaptureError", "Group", "read"]


def read(path: str | os.PathLike[str]) -> Capture:
    """The frame times in a capture file.

    Known today: PresentMon CSV of 1.x and 2.x, and what shares its columns (OCAT, CapFrameX CSV).

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run.csv")
    ...     _ = path.write_text(
    ...         "Application,ProcessID,SwapChainAddress,MsBetweenPresents,Dropped\\n"
    ...         "game.exe,42,0x1A,16.811,0\\n"
    ...         "game.exe,42,0x1A,16.497,0\\n"
    ...     )
    ...     capture = read(path)
    >>> capture.groups[0].application, list(capture.groups[0].deltas)
    ('game.exe', [16497000])

    Raises CaptureError, which names the file, the line and the fix, for content that cannot be read
    exactly, and OSError where the file cannot be opened.
    """
    return presentmon.read(path)
