"""When the steps of a plan fell due, on the clock that the frames are read from.

Use it to give events with a time, such as packets, to the steps of a `FrameLoop` that you drive by
hand, in the same way at every frame rate. A `Session` does that itself, for calls with ``at=``. Do
not compare the times of events with ``step.sim_time``: simulated time does not count what was
dropped, resynced or paused, so every event after a stall would wait for as long as the stall was.
"""

from __future__ import annotations

from .. import FramePlan
from .._arguments import timestamp, wrong_plan
from ..time import Timestamp


def due_times(plan: FramePlan, now: Timestamp) -> list[Timestamp]:
    """When each step of the plan fell due: the first nanosecond in which there was time for it.

    ``now`` is what ``begin_frame`` was given; each time is that or earlier, and 0 for a step that
    was due before the clock began. If nothing was dropped, the times of a step are the same at
    every frame rate. Give a step what happened up to its time. The plan must be of a `FrameLoop`:
    the steps of a `GameLoop` depend on its speed too.

    >>> from fixedstep import FrameLoop, Rate
    >>> loop = FrameLoop(Rate(60), start=0)
    >>> due_times(loop.begin_frame(40_000_000), 40_000_000)
    [16666667, 33333334]
    >>> due_times(loop.begin_frame(10**10), 10**10), loop.tick  # dropped the rest of ten seconds
    ([50000000, 66666667, 83333334, 100000000, 116666667], 7)

    Raises what ``begin_frame`` raises for ``now``, and TypeError for anything but a plan.
    """
    now = Timestamp(timestamp(now))
    if type(plan).__name__ != "FramePlan":
        raise wrong_plan(plan)
    *_, scale, unit = plan._state()
    due = plan.step_count + plan.dropped
    return [
        Timestamp(max(now - (plan.remainder + (due - k) * unit) // scale, 0))
        for k in range(1, plan.step_count + 1)
    ]
