"""Measured frame times: what two runs never agree on, kept apart from what they must.

Nothing here touches a digest, and nothing here may decide whether a test passes. The clock is read
elsewhere; this file is handed spans. It keeps a log-linear histogram (64 buckets to each power of
two) rather than the samples, so a session of a day takes the memory of one of a second, and any
percentile is within 1/128 of the true one (0.8 %). A reservoir of samples was the alternative: it
forgets the one long frame in a million that a player writes about.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, MutableSequence
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, final

from . import _arguments
from ._arguments import U64_MAX
from ._saved import Saved
from .time import Nanos

if TYPE_CHECKING:
    from fractions import Fraction

_EXPONENT = re.compile(r"[eE][-+]?\d{4}")
_BITS = 6
_HALF = 1 << _BITS
_BUCKETS = (64 - _BITS) * _HALF + _HALF

_PERCENTILES = (("p50_ns", 50), ("p90_ns", 90), ("p99_ns", 99), ("p99.9_ns", "99.9"))


def _bucket(nanos: int) -> int:
    """Spans below 128 ns have a bucket each; above, the leading 7 bits choose."""
    shift = max(nanos.bit_length() - _BITS - 1, 0)
    return (shift << _BITS) + (nanos >> shift)


def _middle(bucket: int) -> int:
    """The span in the middle of a bucket."""
    if bucket < 2 * _HALF:
        return bucket
    shift = (bucket >> _BITS) - 1
    return (((bucket & _HALF - 1) + _HALF) << shift) + (1 << shift - 1)


def percentage(p: SupportsFloat | str) -> Fraction:
    """A percentile as an exact number in ``0 .. 100``; a float is what it prints as.

    >>> percentage(99.9)
    Fraction(999, 10)

    Raises TypeError for what is no number and ValueError out of range.
    """
    from fractions import Fraction  # here: it would double the time `import fixedstep` takes

    text = p if isinstance(p, Fraction) else str(p)
    try:
        if not isinstance(text, str) or _EXPONENT.search(text) is None:
            share = Fraction(text)
        else:  # a power of ten that would be written out
            raise ValueError
    except (ValueError, ZeroDivisionError):
        raise TypeError(
            f"percentile must be a number from 0 to 100, not {type(p).__name__} "
            f"{_arguments.shown(p)}; 99.9 is the span that one frame in a thousand exceeds"
        ) from None
    if not 0 <= share <= 100:
        raise ValueError(
            f"percentile must be 0 .. 100 percent, not {_arguments.shown(p)}; 99.9 is one frame in "
            "a thousand"
        )
    return share


@final
class FrameTiming(Saved, kind="FrameTiming"):
    """A summary of measured frames, in constant memory.

    >>> timing = FrameTiming()
    >>> for nanos in (16_000_000, 17_000_000, 90_000_000):
    ...     timing.record(nanos, drawn=True)
    >>> timing.count, timing.max, timing.percentile(100)
    (3, 90000000, 90000000)
    >>> abs(timing.percentile(50) - 17_000_000) <= 17_000_000 // 128
    True

    Counters saturate at 2**64 - 1. The arguments are what repr() prints: they bring a summary back.
    """

    __slots__ = ("_counts", "_drawn", "_max", "_min", "_skipped", "_sum")
    _counts: MutableSequence[int]
    _min: int
    _max: int
    _sum: int
    _drawn: int
    _skipped: int

    def __new__(
        cls,
        *,
        min: SupportsIndex = 0,
        max: SupportsIndex = 0,
        sum: SupportsIndex = 0,
        drawn: SupportsIndex = 0,
        skipped: SupportsIndex = 0,
        buckets: Mapping[int, int] | None = None,
    ) -> FrameTiming:
        """From checked arguments. Not ``__init__``, which could be called again later."""
        self = super().__new__(cls)
        self._min = _arguments.nanos(min, "min")
        self._max = _arguments.nanos(max, "max")
        self._sum = _arguments.nanos(sum, "sum")
        self._drawn = _arguments.count(drawn, "drawn")
        self._skipped = _arguments.count(skipped, "skipped")
        self._counts = array("Q", bytes(8 * _BUCKETS))
        if buckets is not None and not isinstance(buckets, Mapping):
            raise TypeError(
                "buckets must be a mapping from buckets to counts, as a pickle holds it, not "
                f"{type(buckets).__name__} {_arguments.shown(buckets)}; leave it out"
            )
        for bucket, count in (buckets or {}).items():
            index = _arguments.count(bucket, "bucket", high=_BUCKETS - 1)
            self._counts[index] = _arguments.count(count, "count")
        self._check()
        return self

    def _check(self) -> None:
        """Refuse a summary that no frames can have: ``percentile`` would be wrong, or fail."""
        used = [bucket for bucket, count in enumerate(self._counts) if count]
        ends = [_bucket(self._min), _bucket(self._max)] if used else [self._min, self._max]
        frames, counted = self._drawn + self._skipped, sum(self._counts)
        saturated = U64_MAX in (self._drawn, self._skipped) or U64_MAX in self._counts
        if (
            ends != ([used[0], used[-1]] if used else [0, 0])
            or self._max < self._min
            or self._sum < self._max
            or (frames != counted and not saturated)
        ):
            raise ValueError(
                "min, max, sum, drawn, skipped and buckets must fit together, not "
                f"{self._min}, {self._max}, {self._sum} ns, {self._drawn} + {self._skipped} frames "
                f"and buckets of {counted}; pass what repr() printed"
            )

    def record(self, cpu_frame: Nanos, drawn: bool) -> None:
        """Count one frame: how long the caller worked on it, and whether it was drawn.

        ``cpu_frame`` is nanoseconds, ``0 .. 2**64 - 1``. Raises TypeError and OverflowError as
        `FrameLoop.begin_frame` does; nothing is counted then.
        """
        if type(cpu_frame) is not int or not 0 <= cpu_frame <= U64_MAX:
            cpu_frame = Nanos(_arguments.nanos(cpu_frame, "cpu_frame"))
        drawn = bool(drawn)  # first: what is neither true nor false raises, and counts nothing
        if not self.count or cpu_frame < self._min:
            self._min = cpu_frame
        if cpu_frame > self._max:
            self._max = cpu_frame
        self._sum = min(self._sum + cpu_frame, U64_MAX)
        bucket = _bucket(cpu_frame)
        self._counts[bucket] = min(self._counts[bucket] + 1, U64_MAX)
        if drawn:
            self._drawn = min(self._drawn + 1, U64_MAX)
        else:
            self._skipped = min(self._skipped + 1, U64_MAX)

    @property
    def count(self) -> int:
        """Frames recorded."""
        return min(self._drawn + self._skipped, U64_MAX)

    @property
    def min(self) -> Nanos:
        """The shortest frame, exactly; 0 before the first."""
        return Nanos(self._min)

    @property
    def max(self) -> Nanos:
        """The longest frame, exactly; 0 before the first."""
        return Nanos(self._max)

    @property
    def sum(self) -> Nanos:
        """All frames together, saturating."""
        return Nanos(self._sum)

    @property
    def drawn(self) -> int:
        """Frames that were drawn."""
        return self._drawn

    @property
    def skipped(self) -> int:
        """Frames that were not."""
        return self._skipped

    def percentile(self, p: SupportsFloat | str) -> Nanos:
        """The span that ``p`` percent of the frames do not exceed (nearest rank), within 1/128.

        ``p`` is 0 .. 100, read as it is written: 99.9 means 999 in a thousand, not the binary
        number beside it. 0 is the minimum and 100 the maximum, exactly; 0 before the first frame.
        Raises TypeError for what is no number and ValueError out of range.

        >>> timing = FrameTiming()
        >>> for nanos in range(1, 101):
        ...     timing.record(nanos, drawn=True)
        >>> timing.percentile(50), timing.percentile(99), timing.percentile("99.9")
        (50, 99, 100)
        """
        share = percentage(p)
        rank = -(-share.numerator * self.count // (share.denominator * 100))
        if rank == 0:
            return self.min
        if rank == self.count:
            return self.max
        seen = 0
        for bucket, count in enumerate(self._counts):
            seen += count
            if seen >= rank:
                return Nanos(min(max(_middle(bucket), self._min), self._max))
        return self.max  # reached only where the counters saturated

    def json(self) -> str:
        """One JSON object, in nanoseconds.

        >>> print(FrameTiming().json()[:70])
        {"count":0,"min_ns":0,"max_ns":0,"sum_ns":0,"drawn":0,"skipped":0,"p50
        """
        percentiles = "".join(f',"{name}":{self.percentile(p)}' for name, p in _PERCENTILES)
        return (
            f'{{"count":{self.count},"min_ns":{self.min},"max_ns":{self.max},'
            f'"sum_ns":{self.sum},"drawn":{self.drawn},"skipped":{self.skipped}{percentiles}}}'
        )

    def _arguments(self) -> dict[str, Any]:
        return {
            "min": self._min,
            "max": self._max,
            "sum": self._sum,
            "drawn": self._drawn,
            "skipped": self._skipped,
            "buckets": {bucket: count for bucket, count in enumerate(self._counts) if count},
        }
