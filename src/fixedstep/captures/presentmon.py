"""PresentMon CSV, 1.x and 2.x, and tools that share its columns: OCAT, FrameView, CapFrameX.

A frame time is the text of one column, milliseconds in decimal. The column with the time since the
start is not used: it is absent in some files, re-based with float noise in others, and across
interleaved swap chains its differences mean nothing.

It refuses to guess. Columns are found by name, a number is a number in full or an error with its
line, and rows are read one at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .capture import Capture, Collector
from .decimal_text import nanoseconds
from .limits import MOST_GROUPS
from .source import Line, Source, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = "PresentMon CSV"

_KEY_COLUMNS = ("application", "processid", "swapchainaddress")
#: In order of preference. PresentMon 2.0 alone called it FrameTime.
_DELTA_COLUMNS = ("msbetweenpresents", "frametime")
LOOKED_FOR = (
    "the columns Application, ProcessID, SwapChainAddress and MsBetweenPresents (or FrameTime)"
)


class _Columns(NamedTuple):
    separator: str
    keys: tuple[int, int, int]
    delta: int
    delta_name: str
    width: int


def is_header(names: Sequence[str]) -> bool:
    """Whether a line of CSV names the columns that are needed."""
    folded = {name.strip().lower() for name in names}
    return folded.issuperset(_KEY_COLUMNS) and not folded.isdisjoint(_DELTA_COLUMNS)


class _Reader:
    """One pass over one file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._refuse = source.refuse
        self._found = Collector(source.refuse)
        self._lines = source.lines(LOOKED_FOR, self._found.warnings)

    def _columns(self, line: Line) -> _Columns:
        separator = ";" if line.text.count(";") > line.text.count(",") else ","
        found = [name.strip() for name in self._source.fields(line, separator)]
        folded = [name.lower() for name in found]
        if not is_header(found):
            self._refuse(
                f"this is no {FORMAT}: looked for {LOOKED_FOR}, found "
                f"{shown(line.text.strip())}; nor is it another format that is read here (a plain "
                "column of numbers is, where its unit is given: --unit ms, or s, us, ns)",
                line.number,
            )
        delta_name = next(name for name in _DELTA_COLUMNS if name in folded)
        for name in (*_KEY_COLUMNS, delta_name):
            if folded.count(name) > 1:
                self._refuse(
                    f"the column {found[folded.index(name)]} is there {folded.count(name)} times, "
                    "and which one counts cannot be known; rename the others",
                    line.number,
                )
        application, process, chain = (folded.index(name) for name in _KEY_COLUMNS)
        delta = folded.index(delta_name)
        keys = application, process, chain
        return _Columns(separator, keys, delta, found[delta], len(found))

    def _in_columns(self, line: Line, fields: list[str], columns: _Columns) -> list[str]:
        """The fields, one for each column. PresentMon writes the name of a program without quotes,
        so a comma in it makes one more; where the name comes first and the number of the process
        stands where it has to, the pieces are put together again. Anything else moves the columns,
        and another one would be taken for the frame time."""
        more = len(fields) - columns.width
        if more <= 0 or not any(field.strip() for field in fields[columns.width :]):
            return fields
        application, process, _ = columns.keys
        if application != 0 or not fields[process + more].strip().isdecimal():
            self._refuse(
                f"has {len(fields)} fields, and its header names {columns.width}: a comma in a "
                "name or in a number makes one more; put quotes around it, or repair or remove the "
                "row",
                line.number,
            )
        return [columns.separator.join(fields[: more + 1]), *fields[more + 1 :]]

    def _cut_off(self, line: Line, fields: list[str], needed: int, width: int) -> bool:
        """Whether the last line lacks its end before what is needed of it. Says so if it does."""
        if needed < len(fields) - 1:  # a separator follows, so the value is whole
            if len(fields) < width:
                self._found.warnings.append(
                    f"line {line.number} is cut off after {len(fields)} of {width} fields; its "
                    "frame time is whole and counted, but frames after it may be missing"
                )
            return False
        self._found.warnings.append(
            f"line {line.number}, the last, has no line end, and its frame time may be cut; it is "
            "left out (if the line is whole, add a line end)"
        )
        return True

    def read(self) -> Capture:
        header = next(
            (x for x in self._lines if x.text.strip() and not x.text.startswith("//")), None
        )
        if header is None:
            self._refuse(f"holds no rows; looked for {LOOKED_FOR}")
        columns = self._columns(header)
        needed = max(*columns.keys, columns.delta)
        found = self._found
        width, part, suffix = 0, 1, ""
        for line in self._lines:
            if not line.text.strip():
                continue
            fields = self._source.fields(line, columns.separator)
            if not line.whole and self._cut_off(line, fields, needed, width):
                continue
            if needed >= len(fields):
                self._refuse(
                    f"has {len(fields)} fields, and {columns.delta_name} with what names its "
                    f"process needs {needed + 1}; the row is damaged: repair or remove it",
                    line.number,
                )
            text = fields[columns.delta].strip()
            if text == columns.delta_name and is_header(fields):
                part += 1
                if part > MOST_GROUPS:
                    self._refuse(
                        f"names the columns again, as more than {MOST_GROUPS} recordings in one "
                        "file would; split the file there",
                        line.number,
                    )
                suffix = f", part {part}"
                columns = self._columns(line)
                needed = max(*columns.keys, columns.delta)
                found.warnings.append(
                    f"line {line.number} names the columns again, so a new recording begins there; "
                    f"its frames are given as part {part}"
                )
                continue
            width = len(fields)
            fields = self._in_columns(line, fields, columns)
            text = fields[columns.delta].strip()
            application, process_id, chain = (fields[i].strip() for i in columns.keys)
            delta = self._delta(line, text, columns)
            found.row((application, process_id, f"swap chain {chain}{suffix}"), delta, line.number)
        if not found.rows:
            self._refuse("has columns but no rows; record again, with the application running")
        return found.capture(FORMAT)

    def _delta(self, line: Line, text: str, columns: _Columns) -> int | None:
        """The frame time of a row in nanoseconds; None where the tool could not measure it."""
        if text == "NA":
            return None
        try:
            # A semicolon separates where the comma is taken as the decimal point.
            return nanoseconds(text.replace(",", ".") if columns.separator == ";" else text)
        except ValueError as error:
            self._refuse(
                f"{columns.delta_name} {shown(text)} {error}; the row is damaged: repair or "
                "remove it",
                line.number,
            )


def read(source: Source) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    return _Reader(source).read()
