"""Android's ``dumpsys gfxinfo PACKAGE framestats``: time stamps of the last 120 frames of a window.

Each window has a table between two lines ``---PROFILEDATA---``, in nanoseconds. Vsync is the time
that the program was given for the frame, so frame times are its differences. The rest of the dump,
averages and histograms, is passed over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .collector import Collector, quoted
from .decimal_text import nanoseconds
from .limits import LONGEST_NAME
from .table import fold

if TYPE_CHECKING:
    from .capture import Capture
    from .source import Source

FORMAT = "Android framestats"
MARK = "---PROFILEDATA---"
LOOKED_FOR = f"{MARK} and the column Vsync"
_PROCESS = re.compile(r"\*\* Graphics info for pid ([0-9]+) \[(.*)\] \*\*")


def begins(text: str) -> bool:
    """Whether the beginning of a file is that of such a dump."""
    return MARK in text or "** Graphics info for pid " in text


def read(source: Source) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    found = Collector(source.refuse)
    process = application = window = ""
    inside = False
    names: list[str] = []
    tables = unset = 0
    for line in source.lines(LOOKED_FOR, found.warnings):
        text = line.text.strip()
        if match := _PROCESS.match(text):
            process, application = match[1], match[2][:LONGEST_NAME]
        elif text.lower().startswith("window:"):
            window = text[7:].strip()[:LONGEST_NAME]
        elif text == MARK:
            inside = not inside
            names = []
            tables += inside
        elif inside and not names:
            names = fold(text.split(","))
            if names.count("vsync") != 1:
                source.refuse(f"looked for the column Vsync, found {quoted(text)}", line.number)
        elif inside and text:
            fields = text.split(",")
            at = names.index("vsync")
            if not line.whole:
                found.warnings.append(
                    f"line {line.number}, the last, has no line end and may be cut; it is left out"
                )
                continue
            try:
                when = nanoseconds(fields[at] if at < len(fields) else "", "ns")
            except ValueError as error:
                source.refuse(
                    f"Vsync {quoted(fields[at] if at < len(fields) else '')} {error}; the row is "
                    "damaged: repair or remove it",
                    line.number,
                )
            if not when:
                unset += 1
                continue
            key = application, process, f"{window or 'window'}, table {tables}"
            found.add(key, None, [when], lambda _, number=line.number: number)  # type: ignore[misc]
    if unset:
        found.warnings.append(f"rows without a time stamp left out: {unset}")
    if not found.rows:
        source.refuse(
            "is a dump of gfxinfo without rows of frames; use the command "
            "`dumpsys gfxinfo PACKAGE framestats`, with the program on the screen"
        )
    return found.capture(FORMAT)
