"""The frames that every row plays, and the proof that they are worth playing.

A benchmark of a trace in which nothing happens measures nothing, so the trace mixes what real frame
times mix: frames that run no step, one step, two steps, and stalls that exceed the budget. It is
made of integers by a generator written out here, so it is the same on every machine, and its digest
is frozen: ``trace`` plays it through the reference core and raises an error if the digest moved.

Steps are of 16,666,667 ns. Of 100 frames about 30 have the length of 144 Hz, 50 of 60 Hz, 17 of
30 Hz, each up to a millisecond early or late, and 3 are stalls of 150 ms, which owe 9 steps and get
5. In 5,000 frames 881 run no step, 3,039 one, 870 two, 12 three, and 198 exceed the budget: 1.16
steps a frame. Other libraries get the same instants, as the floats of seconds that they take.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import accumulate, cycle, islice
from typing import NamedTuple

from fixedstep import StepBudget, Timestamp, Timestep, reference

STEP = Timestep.HZ_60
BUDGET = StepBudget(5)
#: An hour after the machine was started, as a monotonic clock would show it.
START = Timestamp(3_600 * 10**9)

FRAMES = 5_000
TICKS = 5_805
DROPPED = 795
REMAINDER = 6_829_678
DIGEST = 0xB809B9AE9B513781
#: What the trace over and over comes to, found with the reference core.
#: By number of frames: tick, steps dropped, remainder, digest.
OUTCOMES = {
    10**3: (1_191, 193, 5_247_046, 0x5FD794A5E556CBD0),
    10**4: (11_612, 1_588, 13_659_356, 0xBF5130DD9995A641),
    10**6: (1_161_613, 158_468, 15_935_573, 0xEFB20775FA81AEDD),
    10**7: (11_616_137, 1_584_682, 9_355_727, 0x0FBC466A7595C01D),
}

_MIX = ((30, 6_944_444), (80, 16_666_667), (97, 33_333_333), (100, 150_000_000))
_JITTER = 10**6


class WrongWorkError(Exception):
    """A contender did not do the work it is timed for: its time would mean nothing."""


class Trace(NamedTuple):
    """The same instants for integer and for float contenders."""

    nanos: list[Timestamp]
    seconds: list[float]
    elapsed: list[float]


def frame_times() -> list[int]:
    """The lengths of the frames, in nanoseconds."""
    state, times = 1, []
    for _ in range(FRAMES):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        draw = (state >> 33) % 100
        length = next(length for below, length in _MIX if draw < below)
        times.append(length - _JITTER + (state >> 40) % (2 * _JITTER + 1))
    return times


def timestamps(count: int) -> array[int]:
    """``count`` instants: the trace, over and over."""
    instants = accumulate(cycle(frame_times()), initial=int(START))
    return array("Q", islice(instants, 1, count + 1))


def trace() -> Trace:
    """The trace, once it has been shown to run steps, to engage the budget and to move the digest.

    Raises WrongWorkError otherwise.
    """
    nanos = [Timestamp(now) for now in timestamps(FRAMES)]
    loop, stats = reference.FrameLoop(STEP, BUDGET, START), reference.FrameStats()
    counts: Counter[int] = Counter()
    over_budget = 0
    for now in nanos:
        plan = loop.begin_frame(now)
        stats.absorb(plan)
        counts[plan.step_count] += 1
        over_budget += plan.dropped > 0
    for steps in (0, 1, 2):
        if counts[steps] < FRAMES // 10:
            raise WrongWorkError(f"only {counts[steps]} of {FRAMES} frames run {steps} steps")
    if over_budget < FRAMES // 100:
        raise WrongWorkError(f"only {over_budget} of {FRAMES} frames exceed the budget")
    found = (loop.tick, stats.steps_dropped, loop.remainder, stats.schedule_hash)
    if found != (TICKS, DROPPED, REMAINDER, DIGEST):
        raise WrongWorkError(f"the trace is not the frozen one: {found}")
    seconds = [now / 10**9 for now in nanos]
    before = [START / 10**9, *seconds]
    return Trace(nanos, seconds, [b - a for a, b in zip(before, seconds, strict=False)])
