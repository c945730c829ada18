"""CapFrameX JSON: one file, one or more runs, each with its frame times in an array.

The numbers are milliseconds, written by a program that held them as binary floats; they are read
as the decimal text that they are. Each run is a recording of its own, reported by itself: between
two runs lies a time that nobody measured. Everything else in the file (sensors, hardware) is passed
over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arguments import shown
from .capture import Collector
from .decimal_text import nanoseconds
from .json_stream import Cursor, Number
from .limits import LONGEST_NAME

if TYPE_CHECKING:
    from .capture import Capture
    from .source import Source

FORMAT = "CapFrameX JSON"


class Runs:
    """The reader of what stands below ``Runs``, and of the name in ``Info``."""

    def __init__(self, source: Source, cursor: Cursor) -> None:
        self._refuse = source.refuse
        self._cursor = cursor
        self._found = Collector(source.refuse)
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
            arrays = 0
            for key in self._cursor.members():
                if key != "CaptureData" or self._cursor.next() != "{":
                    self._cursor.skip()
                    continue
                for column in self._cursor.members():
                    if column == "MsBetweenPresents":
                        arrays += 1
                        self._frames()
                    else:
                        self._cursor.skip()
            if arrays != 1:
                self._refuse(
                    f"run {self._runs} has {arrays} arrays CaptureData.MsBetweenPresents, and "
                    "needs one; it holds no frame times to read: record again"
                )

    def _frames(self) -> None:
        key = ("", "", f"run {self._runs}")
        for index, _ in enumerate(self._cursor.elements()):
            value = self._cursor.value()
            if value is None or (isinstance(value, Number) and value == "NaN"):
                delta = None
            else:
                try:
                    delta = nanoseconds(value if isinstance(value, Number) else "")
                except ValueError as error:
                    self._refuse(
                        f"run {self._runs}, MsBetweenPresents {index}: {shown(value)} "
                        f"{error}; the capture is damaged: record again"
                    )
            self._found.row(key, delta, None)

    def capture(self) -> Capture:
        """All of it."""
        if not self._found.rows:
            self._refuse("has no frames in its runs; record again, with the application running")
        return self._found.capture(FORMAT, self._application)
