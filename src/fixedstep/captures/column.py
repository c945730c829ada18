"""Any table with one column of frame times or of time stamps, in a unit that the caller names.

The last resort for data from anywhere: whatever a script or a spreadsheet can put out. Without a
name, the file is one number a line, and a first line of words is taken as the column's name. Every
frame time counts, also the first, because nothing here says when the recording began; of time
stamps, the first is the origin. The unit is never guessed: 16 is a frame time in milliseconds and a
plausible one in microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .collector import quoted
from .decimal_text import UNITS
from .table import Layout, Table, fold, listed

if TYPE_CHECKING:
    from .capture import Capture
    from .source import Line, Source

_NUMBERS = ("nan", "inf", "infinity")
_KEYS = ("application", "processid", "swapchainaddress")
FORMAT = "column of numbers"
LOOKED_FOR = "one number on each line"


def read(source: Source, unit: str, name: str | None, stamps: bool) -> Capture:
    """What `fixedstep.captures.read` does, for this format. ``unit`` is a key of `UNITS`."""
    if unit not in UNITS:
        source.refuse(f"unit must be one of {', '.join(UNITS)}, not {quoted(str(unit))}")
    table = _Column(source, f"the column {quoted(name)}" if name is not None else LOOKED_FOR)
    table.found.forward = True
    names, separator, at = [""], "\n", 0
    keys: list[int | None] = [None, None, None]
    if name is not None:
        header = table.header()
        if header is None:
            source.refuse(f"holds no rows; looked for the column {quoted(name)}")
        line, names, separator = header
        if name.strip().lower() not in fold(names):
            source.refuse(
                f"has no column {quoted(name)}; its columns are {listed(names)}", line.number
            )
        at = table.only(names, name.strip().lower(), line)
        folded = fold(names)
        keys = [folded.index(key) if key in folded else None for key in _KEYS]
    else:
        table.other = table.first
        table.nothing = f"holds no numbers; looked for {LOOKED_FOR}"
    table.layout = (
        Layout(names, separator, clock=at, clock_unit=unit, keys=(keys[0], keys[1], keys[2]))
        if stamps
        else Layout(names, separator, times=(at,), unit=unit, keys=(keys[0], keys[1], keys[2]))
    )
    return table.read(FORMAT)


class _Column(Table):
    """A file of numbers alone."""

    words = 0

    def first(self, line: Line, fields: list[str]) -> bool:
        """Whether the line is the column's name, and no number that was damaged."""
        text = line.text.strip()
        if self.found.rows or self.words or not _is_name(text):
            marked = next((text.count(mark) + 1 for mark in ",;\t" if mark in text), 1)
            if marked > 1:
                self.refuse(
                    f"{quoted(text)} is not a decimal number; looked for {LOOKED_FOR}: here are "
                    f"{marked} fields, so name the column with the times (--column NAME)",
                    line.number,
                )
            return False
        self.words += 1
        return True


def _is_name(text: str) -> bool:
    # A number in quotes is none either, nor one whose quotes are not closed.
    text = text.strip("\"' ").lower()
    begins_as_number = text[:1].isdigit() or text[:1] in "+-." or text in _NUMBERS
    return not begins_as_number and "," not in text
