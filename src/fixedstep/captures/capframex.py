"""CapFrameX JSON: one file, one or more runs, each with its frame times in an array.

The numbers are milliseconds, written by a program that held them as binary floats; they are read
as the decimal text that they are. Each run is a recording of its own, reported by itself: between
two runs lies a time that nobody measured. TimeInSeconds is what the frame times are compared with.
Everything else in the file (sensors, hardware) is passed over.
"""

from __future__ import annotations

from array import array
from itertools import zip_longest
from operator import sub
from typing import TYPE_CHECKING, NamedTuple

from .._arguments import U64_MAX, shown
from .capture import FrameTimes
from .collector import Collector
from .decimal_text import (
    array_nanoseconds,
    decimals,
    is_json_number,
    last_digit,
    nanoseconds,
)
from .json_stream import Cursor, Number
from .limits import LONGEST_NAME, MOST_FRAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .capture import Capture
    from .source import Source

FORMAT = "CapFrameX JSON"

#: In place of a number that was not measured.
_NONE = U64_MAX
_TIME, _CLOCK = "MsBetweenPresents", "TimeInSeconds"
_UNIT = {_TIME: "ms", _CLOCK: "s"}


class _Column(NamedTuple):
    """An array of numbers."""

    numbers: FrameTimes
    digit: int
    """Nanoseconds in the last digit of the one with the most."""
    whole: bool
    """Whether none of them is `_NONE`."""


class Runs:
    """The reader of what stands below ``Runs``, and of the name in ``Info``."""

    def __init__(self, source: Source, cursor: Cursor, gaps: str) -> None:
        self._refuse = source.refuse
        self._cursor = cursor
        self._found = Collector(source.refuse, gaps)
        self._application = ""
        self._runs = 0

    def info(self) -> None:
        """At the value of ``Info``."""
        if self._cursor.next() != "{":
            self._cursor.skip()
            return
        for key in self._cursor.members():
            if key == "ProcessName" and self._cursor.next() == '"':
                name = self._cursor.value()
                if len(name) > LONGEST_NAME:
                    self._refuse(
                        f"ProcessName must be a text of at most {LONGEST_NAME} characters, not "
                        f"{shown(name)}; the capture is damaged: record again"
                    )
                self._application = name
            else:
                self._cursor.skip()

    def runs(self) -> None:
        """At the value of ``Runs``."""
        for _ in self._cursor.elements():
            self._runs += 1
            columns: dict[str, list[_Column]] = {_TIME: [], _CLOCK: []}
            for key in self._cursor.members():
                if key != "CaptureData" or self._cursor.next() != "{":
                    self._cursor.skip()
                    continue
                for column in self._cursor.members():
                    wanted = columns.get(column)
                    if column == _CLOCK and self._cursor.next() != "[":
                        wanted = None
                    if wanted is None or len(wanted) == 2:
                        self._cursor.skip()
                    else:
                        wanted.append(self._array(column))
            if len(columns[_TIME]) != 1:
                self._refuse(
                    f"run {self._runs} has {len(columns[_TIME])} arrays CaptureData.{_TIME}, and "
                    "needs one; it holds no frame times to read: record again"
                )
            self._run(columns[_TIME][0], columns[_CLOCK])

    def _array(self, column: str) -> _Column:
        """The numbers of an array."""
        unit = _UNIT[column]
        found = FrameTimes()
        most = 0
        whole = True
        for piece in self._cursor.numbers():
            values: Sequence[Any] = piece
            many = None
            if isinstance(piece, str):
                many = array_nanoseconds(piece, unit)
                if many is None:
                    values = [text.strip(" \t\r\n") for text in piece.split(",")]
            if many is None:
                at = len(found)
                one_by_one = [
                    self._one(column, at + index, value, isinstance(piece, str))
                    for index, value in enumerate(values)
                ]
                many = one_by_one, max(decimals(str(value)) for value in values)
                whole = whole and _NONE not in one_by_one
            found.extend(many[0])
            most = max(most, many[1])
            if len(found) > MOST_FRAMES:
                self._refuse(f"more than {MOST_FRAMES} frames; split the file")
        return _Column(found, last_digit(unit, most), whole)

    def _one(self, column: str, index: int, value: Any, plain: bool) -> int:
        if value is None or value == "NaN":
            return _NONE
        if plain and not is_json_number(value):
            self._refuse(
                f"run {self._runs}, {column} {index}: {shown(value)} is no number of JSON; the "
                "capture is damaged: record again"
            )
        try:
            return nanoseconds(value if plain or isinstance(value, Number) else "", _UNIT[column])
        except ValueError as error:
            if column == _CLOCK:
                return _NONE
            self._refuse(
                f"run {self._runs}, {column} {index}: {shown(value)} "
                f"{error}; the capture is damaged: record again"
            )

    def _run(self, times: _Column, clocks: list[_Column]) -> None:
        key = ("", "", f"run {self._runs}")
        digits = 2 * times.digit
        clock = _Column(FrameTimes(), 0, True)
        if len(clocks) == 1 and len(clocks[0].numbers) == len(times.numbers):
            digits += 2 * clocks[0].digit
            clock = _aligned(times, clocks[0], digits)
        elif clocks:
            self._found.warnings.append(
                f"run {self._runs}: {_CLOCK} and {_TIME} are not equally long, so gaps cannot be "
                "found"
            )
        for some, at in zip_longest(_measured(times), _measured(clock)):
            self._found.add(key, some, at, lambda _: None, digits)

    def capture(self) -> Capture:
        """All of it."""
        if not self._found.rows:
            self._refuse("has no frames in its runs; record again, with the application running")
        return self._found.capture(FORMAT, self._application)


def _aligned(times: _Column, clock: _Column, digits: int) -> _Column:
    """The clock of each frame time's end: some versions write that of its beginning, which shows in
    the first block."""
    none: array[int] = array("Q")
    at, took = next(clock.numbers.blocks(), none), next(times.numbers.blocks(), none)
    off = 100_000 + digits
    moved = list(map(sub, at[1:], at))

    def agreeing(times: Sequence[int]) -> int:
        return sum(abs(one - other) <= off for one, other in zip(moved, times, strict=False))

    if agreeing(took) <= agreeing(took[1:]):
        return clock
    later = FrameTimes()
    for index, block in enumerate(clock.numbers.blocks()):
        later.extend(block if index else block[1:])
    later.append(_NONE)
    return _Column(later, clock.digit, False)


def _measured(column: _Column) -> Iterator[Sequence[int | None]]:
    for block in column.numbers.blocks():
        if column.whole or _NONE not in block:
            yield block
        else:
            yield [None if number == _NONE else number for number in block]
