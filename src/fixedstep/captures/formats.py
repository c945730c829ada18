"""Which format a capture is in, told from its content: names of files say what people hoped.

Each format has a file of its own that turns a ``Source`` into a `Capture`; here is only the choice
between them. What is recognised and holds no frame times is refused with what it is; what is not
recognised is refused with the columns that were found, and how to name one. Nothing is tried twice:
a reader that was chosen and fails says why, and no other gets the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import (
    capframex,
    chrome_trace,
    framestats,
    fraps,
    mangohud,
    own_trace,
    presentmon,
    unreal,
)
from .collector import GAPS, quoted
from .column import read as read_column
from .decimal_text import is_number
from .json_stream import Cursor
from .source import opened
from .table import separator_of

if TYPE_CHECKING:
    import os

    from .capture import Capture
    from .source import Progress, Source

_OWN = re.compile(r'\{\s*"format"\s*:\s*"fixedstep-trace"')
_OTHER_OWN = re.compile(r'\{\s*"format"\s*:\s*"fixedstep-recording"')
_KNOWN = (
    "PresentMon, OCAT, FrameView and CapFrameX CSV, CapFrameX JSON, MangoHud, FRAPS and Unreal "
    "CSV, Android framestats, Chrome traces in JSON and fixedstep's own traces are read"
)
#: Names that tools give to the averages which they write beside a capture, and columns of them.
_SUMMARY_NAME = re.compile(r"(?:_summary|-stats)\.csv$", re.IGNORECASE)
_SUMMARY_COLUMN = re.compile(
    r"(?:average|avg|mean|min|max|percentile|%).*fps|fps.*(?:average|avg|%)"
)


def read(
    path: str | os.PathLike[str],
    unit: str | None = None,
    *,
    column: str | None = None,
    stamps: bool = False,
    gaps: str = "count",
    progress: Progress | None = None,
) -> Capture:
    """The frame times in a capture file.

    ``path`` may be ``"-"`` for standard input, and what is there may be packed with gzip. ``unit``
    (``"s"``, ``"ms"``, ``"us"`` or ``"ns"``) says that it is a plain column of numbers, in it, or a
    table whose ``column`` holds them. With ``stamps`` the numbers are not frame times but the times
    at which frames came. ``gaps`` is ``"count"`` to take time without rows, which the file's own
    clock shows, as part of the frame that it interrupted, or ``"skip"`` to leave it out. While the
    file is read, ``progress`` is called with the bytes so far and the size, None if it is unknown.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run.csv")
    ...     _ = path.write_text(
    ...         "Application,ProcessID,SwapChainAddress,MsBetweenPresents,Dropped\\n"
    ...         "game.exe,42,0x1A,16.811,0\\n"
    ...         "game.exe,42,0x1A,16.497,0\\n"
    ...     )
    ...     capture = read(path)
    >>> capture.streams[0].application, list(capture.streams[0].frame_times)
    ('game.exe', [16497000])

    Raises CaptureError, which names the file, the line and the fix, for content that cannot be read
    exactly, OSError where the file cannot be opened, and ValueError for ``gaps`` of another name,
    or ``column`` or ``stamps`` without a ``unit``.
    """
    if gaps not in GAPS:
        raise ValueError(f"gaps must be 'count' or 'skip', not {gaps!r:.60}")
    if unit is None and (column is not None or stamps):
        raise ValueError("unit must be given with column or stamps: 's', 'ms', 'us' or 'ns'")
    with opened(path, progress) as source:
        if unit is not None:
            return read_column(source, unit, column, stamps)
        return _read(source, gaps)


def _read(source: Source, gaps: str) -> Capture:
    head = source.head
    lines = [line for line in head.splitlines() if line.strip()]
    first = lines[0].lstrip() if lines else ""
    if first.startswith(("{", "[")):
        if _OWN.match(first):
            return own_trace.read(source)
        if _OTHER_OWN.match(first):
            source.refuse(
                "is a recording of ticks, which has no frame times; record a trace with "
                "fixedstep.records.Recorder, or compare it with `fixedstep diff`",
                1,
            )
        return _json(source, gaps)
    if framestats.begins(head):
        return framestats.read(source)
    if lines and mangohud.begins(lines[0]):
        return mangohud.read(source, gaps)
    for line in [line for line in lines if not line.startswith("//")][:8]:
        names = line.split(separator_of(line))
        if mangohud.is_header(names):
            return mangohud.read(source, gaps)
        if presentmon.is_header(names):
            break
    named = next((x for x in lines if not x.lower().startswith(("//", "sep="))), "")
    names = [name.strip('"') for name in named.split(separator_of(named))]
    if fraps.is_header(names):
        return fraps.read(source)
    if unreal.is_header(names):
        return unreal.read(source)
    if not presentmon.is_header(names):
        _refuse_logs(source, lines, [name.strip().lower() for name in names])
    return presentmon.read(source, gaps)


def _json(source: Source, gaps: str) -> Capture:
    cursor = Cursor(source)
    events = chrome_trace.Events(source, cursor)
    if cursor.next() == "[":
        events.events(bare=True)
        if cursor.next():
            cursor.end()
        return events.capture()
    runs = capframex.Runs(source, cursor, gaps)
    found: set[str] = set()
    for key in cursor.members():
        wanted = key in ("traceEvents", "Runs") and cursor.next() == "["
        if wanted and key in found:
            source.refuse(f"has {key} twice, and which one counts cannot be known; export it again")
        if wanted and key == "traceEvents":
            events.events(bare=False)
        elif wanted:
            runs.runs()
        elif key == "Info":
            runs.info()
        else:
            cursor.skip()
        found |= {key} if wanted else set()
    cursor.end()
    if len(found) != 1:
        source.refuse(
            "is JSON and no capture: looked for traceEvents (a Chrome trace) or Runs (CapFrameX), "
            f"found {' and '.join(sorted(found)) or 'neither'}; {_KNOWN}"
        )
    return events.capture() if "traceEvents" in found else runs.capture()


def _refuse_logs(source: Source, lines: list[str], names: list[str]) -> None:
    """Say what is known to hold no frame times."""
    if any("hardware monitoring log" in line.lower() for line in lines[:3]):
        source.refuse(
            "is a hardware monitoring log with one sample a second and no frame times: what it "
            "calls frametime is an average; record with PresentMon, CapFrameX or MangoHud",
            1,
        )
    if _SUMMARY_NAME.search(source.name) or any(map(_SUMMARY_COLUMN.search, names)):
        source.refuse.summary(
            "is a summary that a tool writes beside its captures, with averages and no frame "
            "times; read the capture itself"
        )
    if lines and is_number(lines[0].strip()):
        source.refuse(
            f"begins with the number {quoted(lines[0].strip())}, so it may be a plain column of "
            "numbers: say which unit they are in (--unit ms, or s, us, ns)",
            1,
        )
    if {"date", "time"} <= set(names):
        source.refuse(
            "is a log of sensors with the date and time of each sample, one every second or so, "
            "and no frame times; record with PresentMon, CapFrameX or MangoHud",
            1,
        )
