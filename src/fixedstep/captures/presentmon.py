"""PresentMon CSV, 1.x and 2.x, and the files of tools that share its columns (OCAT, CapFrameX).

A frame time is the text of one column, milliseconds in decimal, turned into nanoseconds by rounding
half to even and never through a float: the same file gives the same integers everywhere. The column
with the time since start is not used: it is absent in some files, re-based with float noise in
others, and across interleaved swap chains its differences mean nothing.

It refuses to guess. Columns are found by name, a number is a number in full or an error with its
line, and rows are read one at a time, so a file of any size takes the memory of its frame times.
"""

from __future__ import annotations

import csv
import os
import re
from array import array
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ..arguments import U64_MAX
from .capture import Capture, CaptureError, Group

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

FORMAT = "PresentMon CSV"

_KEY_COLUMNS = ("application", "processid", "swapchainaddress")
#: In order of preference. PresentMon 2.0 alone called it FrameTime.
_DELTA_COLUMNS = ("msbetweenpresents", "frametime")
_LOOKED_FOR = "Application, ProcessID, SwapChainAddress and MsBetweenPresents (or FrameTime)"

#: Bytes in a line. A row of the widest known file has 700; without a bound, a file that has no line
#: ends would be read into memory whole.
_LONGEST_LINE = 65536

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NANOSECOND = Decimal("1e-6")
_EXACT = Context(prec=30, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation])
_RANGE = "is out of range: a frame takes at most 2**64 - 1 nanoseconds, which is 584 years"


def nanoseconds(milliseconds: str) -> int:
    """Decimal text in milliseconds as whole nanoseconds, rounded half to even.

    >>> nanoseconds("16.811")
    16811000
    >>> nanoseconds("0.0000005"), nanoseconds("0.0000015")
    (0, 2)

    Raises ValueError for what is no decimal number, is negative, or exceeds 2**64 - 1 ns.
    """
    if not _NUMBER.fullmatch(milliseconds):
        raise ValueError("is not a decimal number of milliseconds")
    try:
        value = Decimal(milliseconds, _EXACT)
        whole = int(value.quantize(_NANOSECOND, context=_EXACT).scaleb(6, context=_EXACT))
    except InvalidOperation:  # an exponent so large that not even its digits could be written out
        raise ValueError(_RANGE) from None
    if value < 0:
        raise ValueError("is negative, and no frame takes less than no time")
    if whole > U64_MAX:
        raise ValueError(_RANGE)
    return whole


class _Line(NamedTuple):
    number: int
    text: str
    whole: bool
    """Whether the line end is there: without it, the last value may be cut."""


class _Columns(NamedTuple):
    separator: str
    keys: tuple[int, int, int]
    delta: int
    delta_name: str


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


class _Reader:
    """One pass over one file."""

    def __init__(self, path: str | os.PathLike[str], file: BinaryIO) -> None:
        self._name = os.fspath(path)
        self._file = file
        self._warnings: list[str] = []

    def _refuse(self, what: str, line: int | None = None) -> NoReturn:
        where = self._name if line is None else f"{self._name}, line {line}"
        raise CaptureError(f"{where}: {what}")

    def _lines(self) -> Iterator[_Line]:
        number = 0
        while raw := self._file.readline(_LONGEST_LINE + 1):
            number += 1
            if number == 1:
                if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                    self._refuse("is UTF-16 text; save it as UTF-8, with or without a mark", 1)
                raw = raw.removeprefix(BOM_UTF8)
            whole = raw.endswith(b"\n")
            if number > 1 and raw.endswith(b"\0"):
                raw = raw.rstrip(b"\0")
                self._warnings.append(
                    f"line {number}, the last, ends in zero bytes, as a crash leaves them; frames "
                    "after it may be missing"
                )
            if b"\0" in raw:
                self._refuse("holds a zero byte, so this is no text; export the CSV again", number)
            if len(raw) > _LONGEST_LINE:
                start = raw[:60].decode("utf-8", "backslashreplace")
                self._refuse(
                    f"is longer than {_LONGEST_LINE} bytes and begins {_shown(start)}, so this is "
                    f"no CSV of frames; looked for the columns {_LOOKED_FOR}",
                    number,
                )
            # Program names may be in any old code page. Bytes that are not UTF-8 are shown as such:
            # two names that differ stay different, and none stops the reading.
            text = raw.decode("utf-8", "backslashreplace").rstrip("\r\n")
            yield _Line(number, text, whole)

    def _fields(self, line: _Line, separator: str) -> list[str]:
        """Each line is parsed alone: a quote that is never closed would otherwise take in the rest
        of the file."""
        try:
            return next(csv.reader((line.text,), delimiter=separator), [])
        except csv.Error as error:
            self._refuse(f"is no line of CSV ({error}); repair or remove it", line.number)

    def _columns(self, line: _Line) -> _Columns:
        separator = ";" if line.text.count(";") > line.text.count(",") else ","
        found = [name.strip() for name in self._fields(line, separator)]
        folded = [name.lower() for name in found]
        delta_name = next((name for name in _DELTA_COLUMNS if name in folded), None)
        if delta_name is None or not set(_KEY_COLUMNS) <= set(folded):
            self._refuse(
                f"this is no {FORMAT}: looked for the columns {_LOOKED_FOR}, found "
                f"{_shown(line.text.strip())}; captures of other tools are not read yet",
                line.number,
            )
        for name in (*_KEY_COLUMNS, delta_name):
            if folded.count(name) > 1:
                self._refuse(
                    f"the column {found[folded.index(name)]} is there {folded.count(name)} times, "
                    "and which one counts cannot be known; rename the others",
                    line.number,
                )
        application, process, chain = (folded.index(name) for name in _KEY_COLUMNS)
        delta = folded.index(delta_name)
        return _Columns(separator, (application, process, chain), delta, found[delta])

    def _cut_off(self, line: _Line, fields: list[str], needed: int, width: int) -> bool:
        """Whether the last line lacks its end before what is needed of it. Says so if it does."""
        if needed < len(fields) - 1:  # a separator follows, so the value is whole
            if len(fields) < width:
                self._warnings.append(
                    f"line {line.number} is cut off after {len(fields)} of {width} fields; its "
                    "frame time is whole and counted, but frames after it may be missing"
                )
            return False
        self._warnings.append(
            f"line {line.number}, the last, has no line end, and its frame time may be cut; it is "
            "left out (if the line is whole, add a line end)"
        )
        return True

    def read(self) -> Capture:
        lines = self._lines()
        header = next(
            (line for line in lines if line.text.strip() and not line.text.startswith("//")), None
        )
        if header is None:
            self._refuse(f"holds no rows; looked for the columns {_LOOKED_FOR}")
        columns = self._columns(header)
        needed = max(*columns.keys, columns.delta)
        groups: dict[tuple[str, str, str], array[int]] = {}
        totals: dict[tuple[str, str, str], int] = {}
        rows = width = unmeasured = first_unmeasured = 0
        for line in lines:
            if not line.text.strip():
                continue
            fields = self._fields(line, columns.separator)
            if not line.whole and self._cut_off(line, fields, needed, width):
                continue
            if needed >= len(fields):
                self._refuse(
                    f"has {len(fields)} fields, and {columns.delta_name} with what names its "
                    f"process needs {needed + 1}; the row is damaged: repair or remove it",
                    line.number,
                )
            rows += 1
            width = len(fields)
            application, process_id, swap_chain = (fields[i].strip() for i in columns.keys)
            key = application, process_id, swap_chain
            delta = self._delta(line, fields[columns.delta].strip(), columns)
            deltas = groups.get(key)
            if deltas is None:
                groups[key] = array("Q")
                totals[key] = 0
            elif delta is None:
                unmeasured += 1
                first_unmeasured = first_unmeasured or line.number
            else:
                totals[key] += delta
                if totals[key] > U64_MAX:
                    self._refuse(
                        f"the frame times of {key[0]} add up to more than 2**64 - 1 nanoseconds, "
                        "which is 584 years; the file is damaged",
                        line.number,
                    )
                deltas.append(delta)
        if not rows:
            self._refuse("has columns but no rows; record again, with the application running")
        if unmeasured:
            self._warnings.append(
                f"rows without a frame time (NA) left out: {unmeasured}, the first in line "
                f"{first_unmeasured}; the time they took is missing"
            )
        return Capture(
            FORMAT,
            rows,
            tuple(Group(*key, memoryview(deltas).toreadonly()) for key, deltas in groups.items()),
            tuple(self._warnings),
        )

    def _delta(self, line: _Line, text: str, columns: _Columns) -> int | None:
        """The frame time of a row in nanoseconds; None where the tool could not measure it."""
        if text == "NA":
            return None
        try:
            # A semicolon separates where the comma is taken as the decimal point.
            return nanoseconds(text.replace(",", ".") if columns.separator == ";" else text)
        except ValueError as error:
            self._refuse(
                f"{columns.delta_name} {_shown(text)} {error}; the row is damaged: repair or "
                "remove it",
                line.number,
            )


def read(path: str | os.PathLike[str]) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    with open(path, "rb") as file:
        return _Reader(path, file).read()
