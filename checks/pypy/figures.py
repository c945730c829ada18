"""What the documented body of a frame and a digest of bytes take here; run by run.py on PyPy.

Prints the least of many short rounds, since the machine does other things too. Both digests must
be the reference's before anything is timed.
"""

from __future__ import annotations

import time

import fixedstep
from fixedstep import (
    FrameLoop,
    FrameStats,
    Rate,
    StateHash,
    StepBudget,
    Timestamp,
    Timestep,
    reference,
)

ROUNDS = 30


def body(loop: FrameLoop, stats: FrameStats, frames: int) -> int:
    """The documented body: plan, run the steps, interpolate, tally."""
    now = total = 0
    for frame in range(frames):
        now += 16_000_000 + frame % 7 * 200_000
        plan = loop.begin_frame(Timestamp(now))
        for step in plan.steps():
            total += step.tick
        plan.alpha()
        stats.absorb(plan)
    return total


def loops(timestep: Timestep | Rate) -> tuple[FrameLoop, FrameStats]:
    """A loop that begins at 0, and its tally."""
    return FrameLoop(timestep, StepBudget(5), Timestamp(0)), FrameStats()


def main() -> None:
    """Compare, then time."""
    loop, stats = loops(Rate(60))
    slow = reference.FrameLoop(Rate(60), StepBudget(5), Timestamp(0))
    tally = reference.FrameStats()
    assert body(loop, stats, 1_000) == body(slow, tally, 1_000) > 100_000
    assert stats == tally
    data = bytes(range(256)) * 4_096
    assert StateHash().absorb_bytes(data[:5_000]) == reference.StateHash().absorb_bytes(
        data[:5_000]
    )

    print(fixedstep.backend())
    for timestep in (Timestep.HZ_60, Rate(60)):
        least = 10**12
        for _ in range(ROUNDS):
            loop, stats = loops(timestep)
            began = time.perf_counter_ns()
            body(loop, stats, 20_000)
            least = min(least, time.perf_counter_ns() - began)
        print(f"body of a frame at {timestep}: {least // 20_000} ns")
    least = 10**12
    for _ in range(ROUNDS):
        began = time.perf_counter_ns()
        StateHash().absorb_bytes(data)
        least = min(least, time.perf_counter_ns() - began)
    print(f"absorb_bytes: {len(data) / least:.2f} GB/s")


if __name__ == "__main__":
    main()
