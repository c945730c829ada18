"""Chrome and Perfetto traces in JSON: the time stamps of the event DrawFrame.

Both forms: an object with ``traceEvents``, and the bare array, which a browser that dies leaves
without its end. Several threads draw frames (each renderer, the browser's own window); the one with
the most is the page that was looked at, and the others are named in a warning. ``ts`` is
microseconds. Events need not be in order in the file, so the time stamps are sorted.

Refuses traces without that event: which of a thousand other names is a frame cannot be known.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from .._arguments import shown
from .capture import Capture, Collector, Spans
from .decimal_text import nanoseconds
from .json_stream import Cursor, Number
from .limits import LONGEST_NAME, MOST_FRAMES, MOST_GROUPS

if TYPE_CHECKING:
    from .source import Source

FORMAT = "Chrome trace"

_EVENT = "DrawFrame"
_FIELDS = ("name", "ph", "ts", "pid", "tid")


class Events:
    """The reader of a list of events."""

    def __init__(self, source: Source, cursor: Cursor) -> None:
        self._refuse = source.refuse
        self._cursor = cursor
        self._found = Collector(source.refuse)
        self._threads: dict[tuple[str, str], Spans] = {}
        self._events = self._frames = 0

    def events(self, bare: bool) -> None:
        """At the array of events. A ``bare`` one may lack its end, after any whole event."""
        cursor = self._cursor
        for _ in cursor.elements():
            # Twice: the text may end behind the comma, or before it.
            if not (bare and self._events and cursor.next() == ""):
                self._event(cursor.fields(_FIELDS))
                self._events += 1
            if bare and cursor.next() == "":
                self._found.warnings.append(
                    "the list of events has no end, as a recording that was stopped leaves it; "
                    "frames after it may be missing"
                )
                break

    def _event(self, event: object) -> None:
        if not isinstance(event, dict):
            self._refuse(
                f"event {self._events} is {shown(event)} and no object, so this is no trace"
            )
        if event.get("name") != _EVENT or event.get("ph") in ("E", "e", "f", "t"):
            return  # another event, or the end of one whose beginning has counted
        at = event.get("ts")
        try:
            now = nanoseconds(at if isinstance(at, Number) else "", "us")
        except ValueError as error:
            self._refuse(
                f"event {self._events}, {_EVENT}: ts {shown(at)} {error}; the trace is damaged"
            )
        key = (self._name(event, "pid"), self._name(event, "tid"))
        if key not in self._threads and len(self._threads) == MOST_GROUPS:
            self._refuse(f"more than {MOST_GROUPS} threads draw frames; the trace is damaged")
        self._threads.setdefault(key, Spans()).append(now)
        self._frames += 1
        if self._frames > MOST_FRAMES:
            self._refuse(f"more than {MOST_FRAMES} frames; split the trace")

    def _name(self, event: dict[str, object], field: str) -> str:
        name = event.get(field, "")
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            self._refuse(
                f"event {self._events}, {_EVENT}: {field} must be a number or a text of at most "
                f"{LONGEST_NAME} characters, not {shown(name)}; the trace is damaged"
            )
        return str(name)

    def capture(self) -> Capture:
        """The busiest thread's frames."""
        if not self._threads:
            self._refuse(
                f"is a trace of {self._events} events, none of them {_EVENT}, which is what frames "
                "are told by; record with the category disabled-by-default-devtools.timeline.frame"
            )
        busiest = max(self._threads, key=lambda key: len(self._threads[key]))
        others = [
            f"process {pid} thread {tid} ({len(times)})"
            for (pid, tid), times in self._threads.items()
            if (pid, tid) != busiest
        ]
        if others:
            some = ", ".join(others[:4]) + (", ..." if len(others) > 4 else "")
            self._found.warnings.append(f"frames of other threads left out: {some}")
        pid, tid = busiest
        key = (_EVENT, pid, f"thread {tid}")
        self._found.start(key, None)
        for before, now in pairwise(self._threads[busiest].ordered()):
            self._found.frame(key, now - before, None)
        self._found.rows = sum(map(len, self._threads.values()))
        return self._found.capture(FORMAT)
