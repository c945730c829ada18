"""Which format a capture is in, told from its content: names of files say what people hoped.

Each format has a file of its own that turns a ``Source`` into a `Capture`; here is only the choice
between them. What is recognised and holds no frame times is refused with what it is; what is not
recognised is refused with what was looked for. Nothing is tried twice: a reader that was chosen and
fails says why, and no other gets the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import capframex, chrome_trace, column, mangohud, own_trace, presentmon
from .decimal_text import is_number
from .json_stream import Cursor
from .source import opened, shown

if TYPE_CHECKING:
    import os

    from .capture import Capture
    from .source import Source

_OWN = re.compile(r'\{\s*"format"\s*:\s*"fixedstep-trace"')
_OTHER_OWN = re.compile(r'\{\s*"format"\s*:\s*"fixedstep-replay"')
_KNOWN = (
    "PresentMon, OCAT, FrameView and CapFrameX CSV, CapFrameX JSON, MangoHud CSV, Chrome traces in "
    "JSON and fixedstep's own traces are read"
)


def read(path: str | os.PathLike[str], unit: str | None = None) -> Capture:
    """The frame times in a capture file.

    ``path`` may be ``"-"`` for standard input, and what is there may be packed with gzip. ``unit``
    (``"s"``, ``"ms"``, ``"us"`` or ``"ns"``) says that it is a plain column of numbers, in it.

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
    exactly (TraceError, which is one, for a damaged trace of fixedstep), and OSError where the file
    cannot be opened.
    """
    with opened(path) as source:
        return column.read(source, unit) if unit is not None else _read(source)


def _read(source: Source) -> Capture:
    head = source.head
    lines = [line for line in head.splitlines() if line.strip()]
    first = lines[0].lstrip() if lines else ""
    if first.startswith(("{", "[")):
        if _OWN.match(first):
            return own_trace.read(source)
        if _OTHER_OWN.match(first):
            source.refuse(
                "is a recording of ticks, which has no frame times; record a trace with "
                "fixedstep.captures.Recorder, or compare it with `fixedstep diff`",
                1,
            )
        return _json(source)
    if any(mangohud.begins(line) for line in lines[:1]) or any(
        mangohud.is_header(line.split(",")) and not presentmon.is_header(line.split(","))
        for line in lines[:8]
    ):
        return mangohud.read(source)
    _refuse_logs(source, lines)
    return presentmon.read(source)


def _json(source: Source) -> Capture:
    cursor = Cursor(source)
    events = chrome_trace.Events(source, cursor)
    if cursor.next() == "[":
        events.events(bare=True)
        if cursor.next():
            cursor.end()
        return events.capture()
    runs = capframex.Runs(source, cursor)
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


def _refuse_logs(source: Source, lines: list[str]) -> None:
    """Say what is known to hold no frame times."""
    if any("hardware monitoring log" in line.lower() for line in lines[:3]):
        source.refuse(
            "is a hardware monitoring log with one sample a second and no frame times: what it "
            "calls frametime is an average; record with PresentMon, CapFrameX or MangoHud",
            1,
        )
    if lines and is_number(lines[0].strip()):
        source.refuse(
            f"begins with the number {shown(lines[0].strip())}, so it may be a plain column of "
            "numbers: say which unit they are in (--unit ms, or s, us, ns)",
            1,
        )
    names = {name.strip().strip('"').lower() for name in lines[0].split(",")} if lines else set()
    if {"date", "time"} <= names:
        source.refuse(
            "is a log of sensors with the date and time of each sample, one every second or so, "
            "and no frame times; record with PresentMon, CapFrameX or MangoHud",
            1,
        )
