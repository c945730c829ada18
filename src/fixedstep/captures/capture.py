"""What a capture holds once it is read: frame times in nanoseconds, by stream of frames.

The same for every file format, so that whoever analyses frames need not know where they came from.
It refuses to interpret: no outlier is removed, no average is weighted. Percentiles here are exact
(nearest rank over all frames), since a file has an end; `fixedstep.FrameTiming` is for runs that
have none.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate


class CaptureError(ValueError):
    """A capture that cannot be read exactly: names the file, the line, the fault and the fix."""


@dataclass(frozen=True)
class Group:
    """The frames of one swap chain of one process.

    >>> group = Group("game.exe", "42", "0x1A", memoryview(array("Q", [10, 30, 20])))
    >>> group.frames, group.total, list(group.timestamps())
    (3, 60, [10, 40, 60])
    """

    application: str
    """The program's file name, as the capture has it."""
    process_id: str
    """Its process number, as the capture has it."""
    swap_chain: str
    """The address of its swap chain, as the capture has it."""
    deltas: memoryview
    """Nanoseconds from each frame to the next, unsigned 64 bits: one fewer than rows, since the
    first row of a group is the origin."""

    @property
    def frames(self) -> int:
        """How many frame times there are."""
        return len(self.deltas)

    @cached_property
    def total(self) -> int:
        """All frame times together, in nanoseconds."""
        return sum(self.deltas)

    @cached_property
    def _ordered(self) -> list[int]:
        return sorted(self.deltas)

    def percentile(self, p: int | float | str | Fraction) -> int:
        """The frame time in nanoseconds that ``p`` percent of the frames do not exceed, exactly.

        Nearest rank: always a frame time that occurred. ``p`` is 0 .. 100, read as it is written;
        0 is the shortest frame, 100 the longest.

        >>> group = Group("game.exe", "42", "0x1A", memoryview(array("Q", range(1, 1001))))
        >>> group.percentile(50), group.percentile(99.9), group.percentile(100)
        (500, 999, 1000)

        Raises ValueError for a group without frame times or a ``p`` out of range.
        """
        try:
            share = Fraction(p if isinstance(p, Fraction) else str(p))
        except ValueError:  # no number at all
            share = Fraction(-1)
        if not 0 <= share <= 100:
            raise ValueError(
                f"percentile must be 0 .. 100 percent, not {p!r}; 99.9 is one frame in a thousand"
            )
        if not self._ordered:
            raise ValueError(
                "a group of one row has no frame time and so no percentile; check frames first"
            )
        rank = -(-share.numerator * self.frames // (share.denominator * 100))
        return self._ordered[max(rank, 1) - 1]

    def timestamps(self) -> array[int]:
        """When each frame came, in nanoseconds after the first row: what a schedule is fed, with
        ``start`` 0."""
        return array("Q", accumulate(self.deltas))


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
