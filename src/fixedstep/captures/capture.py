"""What a capture holds once it is read: frame times in nanoseconds, by stream of frames.

The same for every file format, so that whoever analyses frames need not know where they came from.
It refuses to interpret: no outlier is removed, no average is weighted. Percentiles here are exact
(nearest rank over all frames), since a file has an end; `fixedstep.FrameTiming` is for runs that
have none.

Frame times are kept in blocks, of which all but the newest lie in a temporary file once there are
many: a capture of any length takes the same memory. An approximate histogram instead would have
been simpler, and would answer "how long was the longest one per cent" with "about".
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import merge
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NoReturn

from .._arguments import U64_MAX
from ..timing import percentage
from .limits import MOST_FRAMES, MOST_GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import IO, BinaryIO

#: Frame times in a block: half a megabyte.
BLOCK = 1 << 16
#: How many values of each sorted run are in memory while runs are merged: a capture of a gigabyte
#: has a hundred runs, and takes 200 KiB here.
_MERGED_AT_ONCE = 1 << 8


class CaptureError(ValueError):
    """A capture that cannot be read exactly: names the file, the line, the fault and the fix."""


class Spans:
    """A long list of unsigned 64-bit numbers in constant memory: appended to, then read through.

    >>> spans = Spans([30, 10])
    >>> spans.append(20)
    >>> len(spans), spans.total, [list(block) for block in spans.blocks()], list(spans.ordered())
    (3, 60, [[30, 10, 20]], [10, 20, 30])
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self.total: int = 0
        """All of them together."""
        self._newest = array("Q")
        self._file: BinaryIO | None = None
        self._filed = 0
        for number in numbers:
            self.append(number)

    def append(self, number: int) -> None:
        """Add a number, ``0 .. 2**64 - 1``; OverflowError for another."""
        self._newest.append(number)
        self.total += number
        if len(self._newest) == BLOCK:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this
                weakref.finalize(self, _discard, self._file)
            self._newest.tofile(self._file)
            self._filed += BLOCK
            self._newest = array("Q")

    def __len__(self) -> int:
        return self._filed + len(self._newest)

    def _read(self, start: int, count: int) -> array[int]:
        assert self._file is not None
        found = array("Q")
        self._file.seek(8 * start)
        found.fromfile(self._file, count)
        return found

    def blocks(self) -> Iterator[array[int]]:
        """All of them in order, at most ``BLOCK`` at once."""
        for start in range(0, self._filed, BLOCK):
            yield self._read(start, BLOCK)
        if self._newest:
            yield self._newest

    def _run(self, start: int) -> Iterator[int]:
        for at in range(start, start + BLOCK, _MERGED_AT_ONCE):
            yield from self._read(at, min(_MERGED_AT_ONCE, start + BLOCK - at))

    def ordered(self) -> Iterator[int]:
        """All of them from the smallest to the largest."""
        newest = sorted(self._newest)
        if not self._filed:
            return iter(newest)
        runs = Spans()
        for block in self.blocks():
            if block is not self._newest:
                for number in sorted(block):
                    runs.append(number)
        return merge(newest, *(runs._run(start) for start in range(0, runs._filed, BLOCK)))


def _discard(file: IO[bytes]) -> None:
    """Close it. On a full disk that writes once more what nobody will read, and fails again."""
    with suppress(OSError):
        file.close()


@dataclass(frozen=True)
class Group:
    """The frames of one stream: of one swap chain, say, of one process.

    >>> group = Group("game.exe", "42", "swap chain 0x1A", Spans([10, 30, 20]))
    >>> group.frames, group.total, list(group.timestamps())
    (3, 60, [10, 40, 60])
    """

    application: str
    """The program's name, as the capture has it; empty where it has none."""
    process_id: str
    """Its process number, as the capture has it; empty where it has none."""
    stream: str
    """What tells it from other streams of the process: a swap chain, a thread, a run."""
    spans: Spans
    """Nanoseconds from each frame to the next, unsigned 64 bits."""

    @property
    def title(self) -> str:
        """The three names in one line.

        >>> Group("game.exe", "42", "swap chain 0x1A", Spans()).title
        'game.exe, process 42, swap chain 0x1A'
        """
        process = f"process {self.process_id}" if self.process_id else ""
        return ", ".join(filter(None, (self.application, process, self.stream))) or "all frames"

    @property
    def frames(self) -> int:
        """How many frame times there are."""
        return len(self.spans)

    @property
    def total(self) -> int:
        """All frame times together, in nanoseconds."""
        return self.spans.total

    @cached_property
    def deltas(self) -> memoryview:
        """The frame times as one read-only buffer of unsigned 64-bit integers, all in memory: 8
        bytes each. `Spans.blocks` gives them in parts."""
        whole = array("Q")
        for block in self.spans.blocks():
            whole.extend(block)
        return memoryview(whole).toreadonly()

    def timestamp_blocks(self) -> Iterator[array[int]]:
        """When each frame came, in nanoseconds after the origin, ``BLOCK`` or fewer at a time."""
        now = 0
        for block in self.spans.blocks():
            # The last of the block before is carried as a first that is then taken off.
            times = array("Q", accumulate(chain((now,), block)))
            now = times[-1]
            yield times[1:]

    def timestamps(self) -> array[int]:
        """When each frame came, in nanoseconds after the origin: what a schedule is fed, with
        ``start`` 0."""
        whole = array("Q")
        for block in self.timestamp_blocks():
            whole.extend(block)
        return whole

    def percentile(self, p: int | float | str | Fraction) -> int:
        """The frame time in nanoseconds that ``p`` percent of the frames do not exceed, exactly.

        Nearest rank: always a frame time that occurred. ``p`` is 0 .. 100, read as it is written;
        0 is the shortest frame, 100 the longest.

        >>> group = Group("game.exe", "42", "", Spans(range(1, 1001)))
        >>> group.percentile(50), group.percentile(99.9), group.percentile(100)
        (500, 999, 1000)

        Raises ValueError for a group without frame times or a ``p`` out of range, and TypeError for
        one that is no number.
        """
        return self.percentiles((p,))[0]

    def percentiles(self, shares: Sequence[int | float | str | Fraction]) -> list[int]:
        """Several percentiles for the work of one; see `percentile`."""
        return self.figures(shares, ())[0]

    def figures(
        self,
        percentiles: Sequence[int | float | str | Fraction],
        worst: Sequence[int | float | str | Fraction],
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Percentiles, and of the longest ``worst`` percent of the frames how many they are and
        their nanoseconds together: at least one frame, and the next whole number of them.

        >>> group = Group("game.exe", "42", "", Spans([10] * 99 + [90]))
        >>> group.figures((50, 100), (1, 1.5))
        ([10, 90], [(1, 90), (2, 100)])

        Raises what `percentile` raises.
        """
        shares = [percentage(p) for p in percentiles]
        if not self.frames:
            raise ValueError(
                "a group of one row has no frame time and so no percentile; check frames first"
            )
        # Ranks count from 1, the shortest frame.
        ranks = [max(self._frames_in(share), 1) for share in shares]
        counts = [max(self._frames_in(percentage(p)), 1) for p in worst]
        firsts = [self.frames - count + 1 for count in counts]
        wanted = set(ranks)
        at: dict[int, int] = {}
        sums = [0] * len(counts)
        tail = min(firsts, default=self.frames + 1)
        for rank, span in enumerate(self.spans.ordered(), 1):
            if rank in wanted:
                at[rank] = span
            if rank >= tail:
                for index, first in enumerate(firsts):
                    if rank >= first:
                        sums[index] += span
        return [at[rank] for rank in ranks], list(zip(counts, sums, strict=True))

    def _frames_in(self, share: Fraction) -> int:
        return -(-share.numerator * self.frames // (share.denominator * 100))


@dataclass(frozen=True)
class Capture:
    """A capture file, read."""

    format: str
    """Which format it was read as."""
    rows: int
    """Rows of frames in the file, those that gave no frame time included."""
    groups: tuple[Group, ...]
    """The streams of frames, in the order of their first rows."""
    warnings: tuple[str, ...]
    """What was left out or may be missing, one sentence each; empty when nothing was."""


class Refusals:
    """How a reader says no, with the place. Every reader has one for its file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, what: str, line: int | None = None) -> NoReturn:
        """Raise CaptureError."""
        where = self._name if line is None else f"{self._name}, line {line}"
        raise CaptureError(f"{where}: {what}")


class Collector:
    """Where a reader puts the frames it finds: by stream, in order, within bounds."""

    def __init__(self, refuse: Refusals) -> None:
        self._refuse = refuse
        self._groups: dict[tuple[str, str, str], Spans] = {}
        self.rows: int = 0
        self.warnings: list[str] = []
        self._frames = 0
        self._unmeasured = 0
        self._first_unmeasured: int | None = None

    def start(self, key: tuple[str, str, str], line: int | None) -> None:
        """A stream begins, with no frame time yet."""
        if len(self._groups) == MOST_GROUPS:
            self._refuse(
                f"more than {MOST_GROUPS} streams of frames, where captures have a few; the names "
                "of processes are damaged, or the file holds many captures: split it",
                line,
            )
        self._groups[key] = Spans()

    def frame(self, key: tuple[str, str, str], delta: int | None, line: int | None) -> None:
        """A frame time, in nanoseconds, of a stream that was started; None was not measured."""
        if delta is None:
            self._unmeasured += 1
            self._first_unmeasured = self._first_unmeasured or line
            return
        self._frames += 1
        if self._frames > MOST_FRAMES:
            self._refuse(
                f"more than {MOST_FRAMES} frames, which is 50 days at 240 frames a second; split "
                "the file",
                line,
            )
        spans = self._groups[key]
        if spans.total + delta > U64_MAX:
            self._refuse(
                f"the frame times of {key[0] or 'the capture'} add up to more than 2**64 - 1 "
                "nanoseconds, which is 584 years; the file is damaged",
                line,
            )
        spans.append(delta)

    def row(self, key: tuple[str, str, str], delta: int | None, line: int | None) -> None:
        """A row that says how long the frame before it took: the first of a stream is its origin,
        since what it tells began before the capture did."""
        self.rows += 1
        if key in self._groups:
            self.frame(key, delta, line)
        else:
            self.start(key, line)

    def capture(self, form: str, application: str = "") -> Capture:
        """All of it. ``application`` is for streams that did not know their program's name."""
        if self._unmeasured:
            where = f", the first in line {self._first_unmeasured}" * bool(self._first_unmeasured)
            self.warnings.append(
                f"rows without a frame time (NA) left out: {self._unmeasured}{where}; the time "
                "they took is missing"
            )
        groups = (
            Group(key[0] or application, *key[1:], spans) for key, spans in self._groups.items()
        )
        return Capture(form, self.rows, tuple(groups), tuple(self.warnings))
