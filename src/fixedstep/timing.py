"""The histogram of a `FrameTiming`: which bucket counts a frame time, and what a percentile is.

The histogram is log-linear, with 64 buckets to each power of two. A session of a day takes the
memory of one of a second, and any percentile is within 1/128 of the true one (0.8 %). A reservoir
of samples was the alternative: it forgets the one long frame in a million that a player writes
about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsFloat

from . import _arguments
from .time import Nanos

if TYPE_CHECKING:
    from fractions import Fraction

    from ._state import TimingState

_BITS = 6
_HALF = 1 << _BITS
BUCKETS = (64 - _BITS) * _HALF + _HALF


def bucket_of(frame_time: int) -> int:
    """Spans below 128 ns have a bucket each; above, the leading 7 bits choose."""
    shift = max(frame_time.bit_length() - _BITS - 1, 0)
    return (shift << _BITS) + (frame_time >> shift)


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
    # here: they would double the time `import fixedstep` takes
    import re
    from fractions import Fraction

    text = p if isinstance(p, Fraction) else str(p)
    try:
        if not isinstance(text, str) or re.search(r"[eE][-+]?\d{4}", text) is None:
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


def percentile(state: TimingState, /, p: SupportsFloat | str) -> Nanos:
    """What ``FrameTiming.percentile`` returns for a summary with this state."""
    share = percentage(p)
    count = min(state["drawn"] + state["skipped"], _arguments.U64_MAX)
    rank = -(-share.numerator * count // (share.denominator * 100))
    if rank == 0:
        return Nanos(state["min"])
    if rank < count:
        seen = 0
        for bucket, frames in state["buckets"].items():
            seen += frames
            if seen >= rank:
                return Nanos(min(max(_middle(bucket), state["min"]), state["max"]))
    return Nanos(state["max"])  # the last frame, or counters that saturated


percentile.__qualname__ = "FrameTiming.percentile"  # what an error calls it
