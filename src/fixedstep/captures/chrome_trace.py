"""Chrome and Perfetto traces in JSON: the time stamps of the event DrawFrame, by thread.

Both forms: an object with ``traceEvents``, and the bare array, which a browser that dies leaves
without its end. Several threads draw frames: each renderer, and the browser for its own window.
Each is a stream, renderers first, named by the trace's own metadata. ``ts`` is microseconds. Events
need not be in order in the file, so the time stamps are sorted.

The traces that ``fixedstep analyze --trace`` writes are read back too. A trace with neither kind of
event is refused: which of a thousand other names is a frame cannot be known.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from .._arguments import U64_MAX, shown
from .capture import Capture, FrameTimes, Stream
from .collector import Collector, quoted
from .decimal_text import nanoseconds
from .json_stream import Cursor, Number, Object
from .limits import LONGEST_NAME, MAX_STREAMS, MOST_FRAMES

if TYPE_CHECKING:
    from typing import Any

    from .source import Source

FORMAT = "Chrome trace"

_EVENT = "DrawFrame"
#: The frames of a trace that ``fixedstep analyze --trace`` wrote, by category and names.
OWN_CATEGORY = "fixedstep.frame"
_FIELDS = ("name", "ph", "ts", "dur", "pid", "tid", "cat")
#: Names of processes and threads that are kept: a browser has a few hundred.
_MOST_NAMES = 1 << 14


class _Place(NamedTuple):
    pid: str
    tid: str


class Events:
    """The reader of a list of events."""

    def __init__(self, source: Source, cursor: Cursor) -> None:
        self._refuse = source.refuse
        self._cursor = cursor
        self._found = Collector(source.refuse)
        self._threads: dict[_Place, FrameTimes] = {}
        self._processes: dict[str, str] = {}
        self._names: dict[_Place, str] = {}
        self._pages: set[str] = set()
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
        if not isinstance(event, Object):
            self._refuse(
                f"event {self._events} is {shown(event)} and no object, so this is no trace"
            )
        name = event.get("name")
        if event.get("ph") == "M":
            self._metadata(event)
        elif name == "TracingStartedInBrowser":
            self._started(event)
        elif name == _EVENT and event.get("ph") not in ("E", "e", "f", "t"):
            self._once(event)
            self._put(event, self._time(event, "ts"))  # the end of one has counted with its start
        elif event.get("cat") == OWN_CATEGORY and event.get("ph") == "X":
            self._once(event)
            at = self._time(event, "ts")
            times = self._threads.get(_Place(self._name(event, "pid"), self._name(event, "tid")))
            if times is None:
                self._put(event, at)
            end = at + self._time(event, "dur")
            if end > U64_MAX:
                self._refuse(f"event {self._events}: ts and dur exceed 64 bits; it is damaged")
            self._put(event, end)

    def _metadata(self, event: dict[str, Any]) -> None:
        arguments = event.get("args")
        name = arguments.get("name") if isinstance(arguments, dict) else None
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            return
        if len(self._names) + len(self._processes) > _MOST_NAMES:
            return
        if event.get("name") == "process_name":
            self._processes[self._name(event, "pid")] = name
        elif event.get("name") == "thread_name":
            self._names[_Place(self._name(event, "pid"), self._name(event, "tid"))] = name

    def _started(self, event: dict[str, Any]) -> None:
        """The processes that draw the page which is traced."""
        found: Any = event.get("args")
        for key in ("data", "frames"):
            found = found.get(key) if isinstance(found, dict) else None
        for frame in found[:_MOST_NAMES] if isinstance(found, list) else ():
            if isinstance(frame, dict) and isinstance(frame.get("processId"), str):
                self._pages.add(frame["processId"])

    def _time(self, event: dict[str, Any], field: str) -> int:
        at = event.get(field)
        try:
            return nanoseconds(at if isinstance(at, Number) else "", "us")
        except ValueError as error:
            self._refuse(
                f"event {self._events}, {_EVENT}: {field} {shown(at)} {error}; the trace is damaged"
            )

    def _once(self, event: Object) -> None:
        if event.twice:
            self._refuse(
                f"event {self._events}, a frame, has {quoted(event.twice)} twice, and which one "
                "counts cannot be known; the trace is damaged"
            )

    def _put(self, event: dict[str, Any], now: int) -> None:
        place = _Place(self._name(event, "pid"), self._name(event, "tid"))
        if place not in self._threads and len(self._threads) == MAX_STREAMS:
            self._refuse(f"more than {MAX_STREAMS} threads draw frames; the trace is damaged")
        self._threads.setdefault(place, FrameTimes()).append(now)
        self._frames += 1
        if self._frames > MOST_FRAMES:
            self._refuse(f"more than {MOST_FRAMES} frames; split the trace")

    def _name(self, event: dict[str, Any], field: str) -> str:
        name = event.get(field, "")
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            self._refuse(
                f"event {self._events}: {field} must be a number or a text of at most "
                f"{LONGEST_NAME} characters, not {shown(name)}; the trace is damaged"
            )
        return str(name)

    def _rank(self, place: _Place) -> int:
        """Renderers first, and among them that of the page; then others; then the browser."""
        process = self._processes.get(place.pid, "")
        main = {name for (pid, _), name in self._names.items() if pid == place.pid}
        if place.pid in self._pages:
            return 0
        if process == "Renderer" or "CrRendererMain" in main:
            return 1
        return 3 if process == "Browser" or "CrBrowserMain" in main else 2

    def capture(self) -> Capture:
        """The frames of each thread."""
        if not self._threads:
            self._refuse(
                f"is a trace of {self._events} events, none of them {_EVENT}, which is what frames "
                "are told by; record with the category disabled-by-default-devtools.timeline.frame"
            )
        ranks = {place: self._rank(place) for place in self._threads}
        streams = []
        for place in sorted(self._threads, key=ranks.__getitem__):
            times = FrameTimes()
            for before, now in pairwise(self._threads[place].ordered()):
                times.append(now - before)
            name = self._names.get(place, "")
            streams.append(
                Stream(
                    self._processes.get(place.pid, ""),
                    place.pid,
                    f"{name}, thread {place.tid}" if name else f"thread {place.tid}",
                    times,
                    background=ranks[place] == 3,
                )
            )
        return Capture(FORMAT, self._frames, tuple(streams), tuple(self._found.warnings))
