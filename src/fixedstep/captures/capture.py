"""What a capture holds once it is read: frame times in nanoseconds, one list for each stream.

It is the same for every file format. Nothing is smoothed, and no outlier is removed. Percentiles
are exact (nearest rank over all frames), because a file has an end; `fixedstep.FrameTiming` is for
runs that have none.

Frame times are kept in blocks. Once there are many blocks, all but the newest lie in a temporary
file, so that a capture of any length takes the same memory.
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from ..timing import percentage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from fractions import Fraction
    from typing import IO, BinaryIO

#: Frame times in a block: half a megabyte.
BLOCK = 1 << 16
#: How many values of each sorted run are in memory while runs are merged: a capture of a gigabyte
#: has a hundred runs, and takes 200 KiB here.
_MERGED_AT_ONCE = 1 << 8


class CaptureError(ValueError):
    """A capture that cannot be read exactly: names the file, the line, the fault and the fix."""


class SummaryError(CaptureError):
    """A file of averages that a tool writes beside its captures. It has no frame times."""


class FrameTimes:
    """A long list of unsigned 64-bit numbers in constant memory: appended to, then read through.

    >>> times = FrameTimes([30, 10])
    >>> times.append(20)
    >>> len(times), times.total, list(times), list(times.ordered())
    (3, 60, [30, 10, 20], [10, 20, 30])
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self.total: int = 0
        """The sum of all of them."""
        self._newest = array("Q")
        self._file: BinaryIO | None = None
        self._filed = 0
        for number in numbers:
            self.append(number)

    def append(self, number: int) -> None:
        """Add a number, ``0 .. 2**64 - 1``; OverflowError for another."""
        self._newest.append(number)
        self.total += number
        if len(self._newest) >= BLOCK:
            self._spill()

    def extend(self, numbers: Sequence[int], total: int | None = None) -> None:
        """Add many numbers. ``total`` is their sum, where that is known."""
        self._newest.extend(array("Q", numbers))
        self.total += sum(numbers) if total is None else total
        while len(self._newest) >= BLOCK:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this
            weakref.finalize(self, _discard, self._file)
        self._newest[:BLOCK].tofile(self._file)
        self._filed += BLOCK
        self._newest = self._newest[BLOCK:]

    def __len__(self) -> int:
        return self._filed + len(self._newest)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.blocks())

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
        runs = FrameTimes()
        for block in self.blocks():
            if block is not self._newest:
                runs.extend(sorted(block))
        return merge(newest, *(runs._run(start) for start in range(0, runs._filed, BLOCK)))


def _discard(file: IO[bytes]) -> None:
    """Close the spill file; a failed last flush (full disk) does not matter."""
    with suppress(OSError):
        file.close()


class Gap(NamedTuple):
    """A place where rows are missing: the file's own clock moved on by more than the frame time."""

    line: int | None
    """The line of the first row after it; None in formats without lines."""
    start: int
    """Where it begins, in nanoseconds after the first row, by the file's clock."""
    length: int
    """Nanoseconds that no row accounts for."""


@dataclass(frozen=True)
class Gaps:
    """Where rows of a stream are missing, by the file's own clock."""

    count: int = 0
    """How many places there are."""
    total: int = 0
    """Nanoseconds in all of them together."""
    longest: tuple[Gap, ...] = ()
    """The longest ten, in the order of the file."""
    counted: bool = True
    """Whether the frame times include them, each in the frame that it interrupted."""


class Stream:
    """The frames of one stream: of one swap chain, say, of one process.

    >>> stream = Stream("game.exe", "42", "swap chain 0x1A", [10, 30, 20])
    >>> stream.frames, stream.total, list(stream.frame_times), list(stream.timestamps())
    (3, 60, [10, 30, 20], [10, 40, 60])

    Raises OverflowError for a frame time that is not 0 .. 2**64 - 1 nanoseconds.
    """

    def __init__(
        self,
        application: str,
        process_id: str,
        name: str,
        frame_times: Iterable[int],
        *,
        gaps: Gaps | None = None,
        background: bool = False,
    ) -> None:
        self.application = application
        """The program's name, as the capture has it; empty where it has none."""
        self.process_id = process_id
        """Its process number, as the capture has it; empty where it has none."""
        self.name = name
        """What tells it from other streams of the process: a swap chain, a thread, a run."""
        self.gaps: Gaps = gaps or Gaps()
        """Where rows are missing."""
        self.background = background
        """Whether this is the desktop's compositor or a browser's own window. Pictures show another
        stream if there is one."""
        self._times = (
            frame_times if isinstance(frame_times, FrameTimes) else FrameTimes(frame_times)
        )

    def __repr__(self) -> str:
        return f"<Stream {self.title}: {self.frames} frames>"

    @property
    def title(self) -> str:
        """The three names in one line.

        >>> Stream("game.exe", "42", "swap chain 0x1A", []).title
        'game.exe, process 42, swap chain 0x1A'
        """
        process = f"process {self.process_id}" if self.process_id else ""
        return ", ".join(filter(None, (self.application, process, self.name))) or "all frames"

    @property
    def frames(self) -> int:
        """How many frame times there are."""
        return len(self._times)

    @property
    def total(self) -> int:
        """The sum of all frame times, in nanoseconds."""
        return self._times.total

    @cached_property
    def frame_times(self) -> memoryview:
        """Nanoseconds from each frame to the next, as one read-only buffer of unsigned 64-bit
        integers. All of them are in memory then, 8 bytes each."""
        whole = array("Q")
        for block in self._times.blocks():
            whole.extend(block)
        return memoryview(whole).toreadonly()

    def frame_time_blocks(self) -> Iterator[array[int]]:
        """Nanoseconds from each frame to the next, in blocks of at most 65536."""
        return self._times.blocks()

    def timestamp_blocks(self) -> Iterator[array[int]]:
        """When each frame came, in nanoseconds after the origin, in blocks of at most 65536."""
        now = 0
        for block in self._times.blocks():
            # The last of the block before is carried as a first that is then taken off.
            times = array("Q", accumulate(chain((now,), block)))
            now = times[-1]
            yield times[1:]

    def timestamps(self) -> array[int]:
        """When each frame came, in nanoseconds after the origin: give these to a loop that was
        made with ``start`` 0."""
        whole = array("Q")
        for block in self.timestamp_blocks():
            whole.extend(block)
        return whole

    def percentile(self, p: int | float | str | Fraction) -> int:
        """The frame time in nanoseconds that ``p`` percent of the frames do not exceed, exactly.

        Nearest rank: always a frame time that occurred. ``p`` is 0 .. 100, read as it is written;
        0 is the shortest frame, 100 the longest.

        >>> stream = Stream("game.exe", "42", "", range(1, 1001))
        >>> stream.percentile(50), stream.percentile(99.9), stream.percentile(100)
        (500, 999, 1000)

        Raises ValueError for a stream without frame times or a ``p`` out of range, and TypeError
        for one that is no number.
        """
        return self.percentiles((p,))[0]

    def percentiles(self, shares: Sequence[int | float | str | Fraction]) -> list[int]:
        """Several percentiles for the work of one; see `percentile`."""
        return self._ranked(shares, ())[0]

    def _ranked(
        self,
        percentiles: Sequence[int | float | str | Fraction],
        worst: Sequence[int | float | str | Fraction],
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Percentiles, and of the longest ``worst`` percent of the frames how many they are and
        their nanoseconds together: at least one frame, and the next whole number of them.

        >>> stream = Stream("game.exe", "42", "", [10] * 99 + [90])
        >>> stream._ranked((50, 100), (1, 1.5))
        ([10, 90], [(1, 90), (2, 100)])
        """
        shares = [percentage(p) for p in percentiles]
        if not self.frames:
            raise ValueError(
                "a stream of one row has no frame time and so no percentile; check frames first"
            )
        # Ranks count from 1, the shortest frame.
        ranks = [max(self._frames_in(share), 1) for share in shares]
        counts = [max(self._frames_in(percentage(p)), 1) for p in worst]
        firsts = [self.frames - count + 1 for count in counts]
        wanted = set(ranks)
        at: dict[int, int] = {}
        sums = [0] * len(counts)
        tail = min(firsts, default=self.frames + 1)
        for rank, time in enumerate(self._times.ordered(), 1):
            if rank in wanted:
                at[rank] = time
            if rank >= tail:
                for index, first in enumerate(firsts):
                    if rank >= first:
                        sums[index] += time
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
    streams: tuple[Stream, ...]
    """The streams of frames, in the order of their first rows; in a Chrome trace, renderers come
    before other threads and the browser's own window comes last."""
    warnings: tuple[str, ...]
    """What was left out or may be missing, one sentence each; empty when nothing was."""
