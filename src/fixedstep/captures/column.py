"""A plain column of frame times: one number a line, in a unit that the caller names.

The last resort for data from anywhere: whatever a script or a spreadsheet can put out. Every number
is a frame time, also the first, because nothing here says when the recording began. A first line of
words is taken as the column's name. Refuses to guess the unit: 16 is a frame time in milliseconds
and a plausible one in microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .capture import Collector
from .decimal_text import UNITS, nanoseconds
from .source import shown

if TYPE_CHECKING:
    from .capture import Capture
    from .source import Source

_NUMBERS = ("nan", "inf", "infinity")
FORMAT = "column of numbers"
LOOKED_FOR = "one number on each line"


def read(source: Source, unit: str) -> Capture:
    """What `fixedstep.captures.read` does, for this format. ``unit`` is a key of `UNITS`."""
    if unit not in UNITS:
        source.refuse(f"unit must be one of {', '.join(UNITS)}, not {unit!r}")
    found = Collector(source.refuse)
    key = ("", "", "")
    found.start(key, None)
    words = 0
    for line in source.lines(LOOKED_FOR, found.warnings):
        text = line.text.strip()
        if not text or (not found.rows and not words and _is_name(text)):
            words += bool(text)
            continue
        if not line.whole:
            found.warnings.append(
                f"line {line.number}, the last, has no line end, and its number may be cut; it is "
                "left out (if the line is whole, add a line end)"
            )
            continue
        try:
            delta = nanoseconds(text, unit)
        except ValueError as error:
            fields = next((text.count(mark) + 1 for mark in ",;\t" if mark in text), 1)
            fix = "repair or remove the line"
            if fields > 1:
                fix = f"here are {fields} fields, so copy the column with the times to a file first"
            source.refuse(f"{shown(text)} {error}; looked for {LOOKED_FOR}: {fix}", line.number)
        found.rows += 1
        found.frame(key, delta, line.number)
    if not found.rows:
        source.refuse(f"holds no numbers; looked for {LOOKED_FOR}")
    return found.capture(FORMAT)


def _is_name(text: str) -> bool:
    """Whether a first line is the column's name, and no number that was damaged."""
    begins_as_number = text[0].isdigit() or text[0] in "+-." or text.lower() in _NUMBERS
    return not begins_as_number and "," not in text
