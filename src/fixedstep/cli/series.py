"""One stream frame by frame, as a picture or a trace of it needs it: spans, steps, drops, alphas.

The plans are those that `analyze` counts, given one by one and not added up. In blocks, so that
a trace of any length can be written in constant memory. A picture has a thousand points across and
a capture may have millions of frames: `binned` keeps the sums and the extremes of neighbours.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from .._select import core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..captures import Stream
    from ..time import Rate, StepBudget, Timestep


class Frame(NamedTuple):
    """One frame and its plan."""

    start: int
    """When it began, in nanoseconds after the origin."""
    span: int
    """How long it took, in nanoseconds."""
    steps: int
    """How many steps it ran at its end."""
    dropped: int
    """How many steps the budget refused."""
    alpha: float
    """Where it then stood between two steps, ``[0, 1)``. For drawing only."""


def frames(stream: Stream, timestep: Timestep | Rate, budget: StepBudget) -> Iterator[Frame]:
    """Every frame of a stream, in order.

    >>> from fixedstep import StepBudget, Timestep
    >>> from fixedstep.captures import Stream
    >>> [frame] = frames(Stream("", "", "", [25]), Timestep(10), StepBudget(1))
    >>> frame
    Frame(start=0, span=25, steps=1, dropped=1, alpha=0.5)
    """
    loop = core.FrameLoop(timestep, budget, start=0)
    start = 0
    for spans, times in zip(stream.frame_time_blocks(), stream.timestamp_blocks(), strict=True):
        for span, now, plan in zip(spans, times, loop.begin_frames(times), strict=True):
            yield Frame(start, span, plan.step_count, plan.dropped, plan.alpha())
            start = now


class Bin(NamedTuple):
    """Frames that follow each other, as one column of a picture."""

    start: int
    """When the first began, in nanoseconds after the origin."""
    end: int
    """When the last ended."""
    frames: int
    """How many they are."""
    shortest: int
    """The shortest frame time."""
    longest: int
    """The longest frame time."""
    longest_at: int
    """When the frame that took it began."""
    fewest_steps: int
    """The fewest steps that a frame ran."""
    most_steps: int
    """The most steps that a frame ran."""
    most_due: int
    """The most steps that a frame owed: those that it ran, and those that were dropped."""
    steps: int
    """The steps of all frames together."""
    dropped: int
    """What the budget refused in all frames together."""


def binned(frames: Iterable[Frame], count: int, most: int) -> list[Bin]:
    """``count`` frames as at most ``most`` bins of equally many frames. Sums and extremes are kept,
    so that no long frame, no step and no drop is lost, and none appears.

    >>> every = [Frame(10 * n, 10, n % 2, 0, 0.0) for n in range(8)] + [Frame(80, 90, 5, 4, 0.0)]
    >>> bins = binned(every, 9, 3)
    >>> [(bin.shortest, bin.longest, bin.steps, bin.dropped) for bin in bins]
    [(10, 10, 1, 0), (10, 10, 2, 0), (10, 90, 6, 4)]
    """
    size = -(-count // most)
    every = iter(frames)
    found: list[Bin] = []
    while some := list(islice(every, size)):
        lengths = [frame.span for frame in some]
        steps = [frame.steps for frame in some]
        found.append(
            Bin(
                some[0].start,
                some[-1].start + some[-1].span,
                len(some),
                min(lengths),
                max(lengths),
                some[lengths.index(max(lengths))].start,
                min(steps),
                max(steps),
                max(frame.steps + frame.dropped for frame in some),
                sum(steps),
                sum(frame.dropped for frame in some),
            )
        )
    return found
