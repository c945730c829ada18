"""One stream frame by frame, as a picture or a trace of it needs it: spans, steps, drops, alphas.

The plans are those that `analyze_one` counts, given one by one and not added up. In blocks, so that
a trace of any length can be written in constant memory. A picture has a few thousand points across
and a capture may have millions of frames: `thinned` keeps of neighbours the most extreme one, since
the one long frame in ten thousand is what is looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._select import core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..time import Rate, StepBudget, Timestep
    from .capture import Group


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


def frames(group: Group, timestep: Timestep | Rate, budget: StepBudget) -> Iterator[Frame]:
    """Every frame of a group, in order.

    >>> from fixedstep import StepBudget, Timestep
    >>> from fixedstep.captures import Group, Spans
    >>> [frame] = frames(Group("", "", "", Spans([25])), Timestep(10), StepBudget(1))
    >>> frame
    Frame(start=0, span=25, steps=1, dropped=1, alpha=0.5)
    """
    loop = core.FrameLoop(timestep, budget, start=0)
    start = 0
    for spans, times in zip(group.spans.blocks(), group.timestamp_blocks(), strict=True):
        for span, now, plan in zip(spans, times, loop.begin_frames(times), strict=True):
            yield Frame(start, span, plan.step_count, plan.dropped, plan.alpha())
            start = now


def thinned(frames: Iterable[Frame], count: int, most: int) -> list[Frame]:
    """At most ``most`` of ``count`` frames: of each run of neighbours the one that dropped most, or
    else took longest, so that none that stands out is lost.

    >>> even = [Frame(n, 10, 1, 0, 0.0) for n in range(9)]
    >>> long = even[:4] + [Frame(4, 90, 5, 4, 0.0)] + even[5:]
    >>> [frame.span for frame in thinned(long, 9, 3)]
    [10, 90, 10]
    """
    run = -(-count // most)
    kept: list[Frame] = []
    for index, frame in enumerate(frames):
        if index % run == 0:
            kept.append(frame)
        elif (frame.dropped, frame.span) > (kept[-1].dropped, kept[-1].span):
            kept[-1] = frame
    return kept
