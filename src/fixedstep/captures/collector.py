"""Where a reader puts the rows it finds: one list of frame times for each stream, within bounds.

Most files tell the time twice: how long each frame took, and when it was. Here the two are
compared. Where the file's clock moved on by more than the frame time, rows are missing (PresentMon
forgets a swap chain that is idle for four seconds, and can be told to leave out dropped frames).
Such a gap is time that passed, so by default it is counted in the frame that it interrupted.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, chain
from operator import sub
from typing import TYPE_CHECKING, NoReturn

from .._arguments import U64_MAX
from .capture import Capture, CaptureError, FrameTimes, Gap, Gaps, Stream, SummaryError
from .limits import MAX_STREAMS, MOST_FRAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeGuard

    Key = tuple[str, str, str]
    Lines = Callable[[int], int | None]

#: What `fixedstep.captures.read` takes as ``gaps``.
GAPS = ("count", "skip")

#: Nanoseconds by which clock and frame times may differ in a row before rows are missing, beside
#: the digits of the two columns. The shortest frame that anybody waits for is ten times this.
_TOLERANCE = 100_000
_NAMED_GAPS = 10
#: From this share of the frames on, gaps are no accident: rows were filtered out. One in so many.
_FILTERED = 50
_COMPOSITORS = ("dwm.exe", "dwm")


def seconds(nanos: int) -> str:
    """Nanoseconds as seconds in a message.

    >>> seconds(25_253_940_000), seconds(38_000)
    ('25.25394 s', '0.000038 s')
    """
    text = f"{nanos // 10**9}.{nanos % 10**9:09d}".rstrip("0")
    return f"{text}0 s" if text.endswith(".") else f"{text} s"


class Refusals:
    """How a reader says no, with the place. Every reader has one for its file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, what: str, line: int | None = None) -> NoReturn:
        """Raise CaptureError."""
        where = self._name if line is None else f"{self._name}, line {line}"
        raise CaptureError(f"{where}: {what}")

    def summary(self, what: str) -> NoReturn:
        """Raise SummaryError."""
        raise SummaryError(f"{self._name}: {what}")


class _Track:
    """One stream while it is read."""

    def __init__(self, clock: int | None) -> None:
        self.times = FrameTimes()
        self.first = self.last = clock
        self.held: int | None = None
        self.holds = False
        self.gap_count = self.gap_total = self.overlap = 0
        self.gaps: list[Gap] = []
        self.first_overlap: int | None = None
        self.unmeasured = 0
        self.first_unmeasured: int | None = None
        self.drift = self.digits = 0

    def gap(self, line: int | None, start: int, length: int) -> None:
        """Rows are missing here."""
        self.gap_count += 1
        self.gap_total += length
        self.gaps.append(Gap(line, start, length))
        if len(self.gaps) > 100 * _NAMED_GAPS:
            self.gaps = self.longest()

    def longest(self) -> list[Gap]:
        """The longest gaps, in the order of the file."""
        return sorted(
            sorted(self.gaps, key=lambda gap: -gap.length)[:_NAMED_GAPS], key=lambda gap: gap.start
        )


class Collector:
    """The rows of one file, by stream and in order.

    ``forward`` says that a row's frame time is the time to the next row; otherwise it is the time
    since the row before, and the first row of a stream only sets its origin.
    """

    def __init__(self, refuse: Refusals, gaps: str = "count") -> None:
        self._refuse = refuse
        self._count_gaps = gaps == "count"
        self._tracks: dict[Key, _Track] = {}
        self.forward = False
        self.rows: int = 0
        self.warnings: list[str] = []
        self._frames = 0

    def start(self, key: Key, line: int | None, clock: int | None = None) -> None:
        """A stream begins, with no frame time yet."""
        if len(self._tracks) == MAX_STREAMS:
            self._refuse(
                f"more than {MAX_STREAMS} streams of frames, where captures have a few; the names "
                "of processes are damaged, or the file holds many captures: split it",
                line,
            )
        self._tracks[key] = _Track(clock)

    def add(
        self,
        key: Key,
        deltas: Sequence[int | None] | None,
        clocks: Sequence[int | None] | None,
        lines: Lines,
        digits: int = 0,
    ) -> None:
        """Rows of a stream, one or more.

        ``deltas`` are frame times in nanoseconds, None for one that was not measured; or None at
        all where the clock alone tells the time. ``clocks`` are nanoseconds by the file's clock,
        None where it cannot be read. ``lines`` gives the line of a row by its index, and ``digits``
        is the last digit of the two columns in nanoseconds.
        """
        count = len(deltas if deltas is not None else clocks or ())
        self.rows += count
        track = self._tracks.get(key)
        skip = 0
        if track is None:
            self.start(key, lines(0), clocks[0] if clocks else None)
            track = self._tracks[key]
            skip = 1
        if deltas is None:
            assert clocks is not None
            self._stamps(key, track, clocks[skip:], lines, skip)
            return
        if self.forward:
            held = deltas[-1]
            deltas = deltas[:-1] if skip else [track.held, *deltas[:-1]]
            track.held, track.holds = held, True
        else:
            deltas = deltas[skip:]
        if not deltas:
            return
        if clocks is not None:
            clocks = clocks[skip:]
            if self._agree(track, deltas, clocks, digits):
                clocks = None
        if clocks is None and _all_measured(deltas):
            self._put(key, track, deltas, lambda index: lines(index + skip))
            return
        for index, delta in enumerate(deltas):
            clock = clocks[index] if clocks else None
            self._frame(key, track, delta, clock, lines(index + skip), digits)

    def _agree(
        self,
        track: _Track,
        deltas: Sequence[int | None],
        clocks: Sequence[int | None],
        digits: int,
    ) -> bool:
        """Whether the clock says the same as all frame times. Then it is moved on."""
        if track.last is None or not (_all_measured(clocks) and _all_measured(deltas)):
            return False
        moved = map(sub, clocks, chain((track.last,), clocks))
        off = list(map(sub, moved, deltas))
        tolerance = _TOLERANCE + digits
        if max(off) > tolerance or min(off) < -tolerance:
            return False
        track.last = clocks[-1]
        track.drift += sum(off)
        track.digits = max(track.digits, digits)
        return True

    def _frame(
        self,
        key: Key,
        track: _Track,
        delta: int | None,
        clock: int | None,
        line: int | None,
        digits: int,
    ) -> None:
        if delta is None:
            track.unmeasured += 1
            track.first_unmeasured = track.first_unmeasured or line
            if clock is None or track.last is None or clock < track.last:
                return
            # The clock knows how long it took.
            took = clock - track.last
            track.gap(line, track.last - (track.first or 0), took)
            track.last = clock
            if self._count_gaps:
                self._put(key, track, (took,), lambda _: line)
            return
        if clock is not None and track.last is not None:
            off = clock - track.last - delta
            if off > _TOLERANCE + digits:
                track.gap(line, track.last - (track.first or 0), off)
                delta += off * self._count_gaps
            elif off < -_TOLERANCE - digits:
                track.overlap -= off
                track.first_overlap = track.first_overlap or line
            else:
                track.drift += off
        if clock is not None and track.first is None:
            track.first = clock
        track.last = clock
        self._put(key, track, (delta,), lambda _: line)

    def _stamps(
        self, key: Key, track: _Track, clocks: Sequence[int | None], lines: Lines, skip: int
    ) -> None:
        deltas = []
        for index, clock in enumerate(clocks, skip):
            assert clock is not None
            assert track.last is not None
            if clock < track.last:
                self._refuse(
                    f"the time goes back, from {track.last} ns to {clock} ns, so the rows are not "
                    "in order or from two recordings; split the file there",
                    lines(index),
                )
            deltas.append(clock - track.last)
            track.last = clock
        self._put(key, track, deltas, lambda index: lines(index + skip))

    def _put(self, key: Key, track: _Track, deltas: Sequence[int], lines: Lines) -> None:
        """Keep frame times, within bounds."""
        self._frames += len(deltas)
        if self._frames > MOST_FRAMES:
            self._refuse(
                f"more than {MOST_FRAMES} frames, which is 50 days at 240 frames a second; split "
                "the file",
                lines(0),
            )
        total = track.times.total
        more = sum(deltas)
        if total + more > U64_MAX:
            sums = accumulate(deltas, initial=total)
            at = next(index for index, so_far in enumerate(sums, -1) if so_far > U64_MAX)
            self._refuse(
                f"the frame times of {quoted(key[0]) if key[0] else 'the capture'} add up to more "
                "than 2**64 - 1 nanoseconds, which is 584 years; the file is damaged",
                lines(at),
            )
        track.times.extend(deltas, more)

    def frames(self, key: Key, deltas: Sequence[int]) -> None:
        """Frame times of a stream that was started, all of them whole frames."""
        self._put(key, self._tracks[key], deltas, lambda _: None)

    def capture(self, form: str, application: str = "") -> Capture:
        """All of it. ``application`` is for streams that did not know their program's name."""
        for key, track in self._tracks.items():
            if track.holds and track.held is None:
                track.unmeasured += 1
            elif track.holds:
                self.frames(key, (track.held,))  # type: ignore[arg-type]
        streams = [
            Stream(
                key[0] or application,
                *key[1:],
                track.times,
                gaps=Gaps(
                    track.gap_count, track.gap_total, tuple(track.longest()), self._count_gaps
                ),
                background=key[0].lower() in _COMPOSITORS,
            )
            for key, track in self._tracks.items()
        ]
        for stream, track in zip(streams, self._tracks.values(), strict=True):
            self._warn(stream, track)
        return Capture(form, self.rows, tuple(streams), tuple(self.warnings))

    def _warn(self, stream: Stream, track: _Track) -> None:
        gaps = stream.gaps
        if track.unmeasured:
            where = f", the first in line {track.first_unmeasured}" * bool(track.first_unmeasured)
            done = "their time is in the gaps" if gaps.count else "the time they took is missing"
            self.warnings.append(
                f"{_short(stream.title)}: rows without a frame time (NA): "
                f"{track.unmeasured}{where}; {done}"
            )
        if gaps.count:
            why = "rows are missing"
            if gaps.count > max(stream.frames // _FILTERED, _NAMED_GAPS):
                why = "rows are missing all over, as a filter such as --exclude_dropped leaves it"
            named = [
                (f"line {gap.line}, " if gap.line is not None else "")
                + f"{seconds(gap.length)} at {seconds(gap.start)}"
                for gap in sorted(gaps.longest, key=lambda gap: -gap.length)[:3]
            ]
            done = "counted in the frames that they interrupted" if gaps.counted else "left out"
            self.warnings.append(
                f"{_short(stream.title)}: {why}: by the file's own clock {gaps.count} "
                f"gap{'s' * (gaps.count > 1)} of {seconds(gaps.total)} together, {done} "
                f"({'; '.join(named)}{'; ...' * (gaps.count > 3)})"
            )
        if track.overlap:
            where = f", first in line {track.first_overlap}" * (track.first_overlap is not None)
            self.warnings.append(
                f"{_short(stream.title)}: the frame times are {seconds(track.overlap)} longer than "
                f"the file's own clock says{where}; the figures are those of the frame times"
            )
        if abs(track.drift) > max(10**6, track.digits * stream.frames):
            than = "longer" if track.drift < 0 else "shorter"
            self.warnings.append(
                f"{_short(stream.title)}: the frame times are {seconds(abs(track.drift))} {than} "
                "than the file's own clock says, a little in many rows"
            )


def _all_measured(numbers: Sequence[int | None]) -> TypeGuard[Sequence[int]]:
    return isinstance(numbers, array) or None not in numbers


def _short(title: str) -> str:
    return title if len(title) <= 120 else f"{title[:117]}..."


def quoted(text: str) -> str:
    """Text of a file in a message: quoted, and not too long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
