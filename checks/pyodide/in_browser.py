"""What run.py runs inside of Pyodide: the suite, as far as it can run there, and an async loop.

Left out is what a browser does not have: programs to start, threads, windows, NumPy (its wheels for
Pyodide come from another place), and the readers' limits on memory.
"""

from __future__ import annotations

import asyncio
import sys

import pytest

import fixedstep
from fixedstep import FrameLoop, FrameStats, Rate, Timestep
from fixedstep.host import FramePacer, TickServer, now

FILES = (
    "bulk_hash",
    "captures",
    "cases",
    "doctests",
    "drawing",
    "due_times",
    "frame_clock",
    "game_loop",
    "input",
    "interpolation",
    "interrupts",
    "objects",
    "outbox",
    "pacer",
    "plan",
    "rates",
    "real_time",
    "reentry",
    "replay",
    "rollback",
    "saved",
    "schedule",
    "session",
    "stats",
    "timers",
    "trace",
    "vectors",
)
_AWAITS = "asyncio.run waits, and only await can here"
_EXAMPLES = "test_doctests.py::test_the_examples_of_a_module_are_true"
#: What cannot pass in a browser, and why.
WITHOUT = {
    f"{_EXAMPLES}[fixedstep.host.tick_server]": _AWAITS,
    f"{_EXAMPLES}[fixedstep.sim.history]": "uses NumPy",
    f"{_EXAMPLES}[fixedstep.sim.mailbox]": "starts threads",
    "test_interrupts.py::test_an_interrupt_anywhere_leaves_a_server_that_runs_again": _AWAITS,
    "test_interrupts.py::test_a_server_that_believes_that_it_runs_is_found": _AWAITS,
    "test_objects.py::test_each_core_loads_the_pickles_of_both": "starts programs",
    "test_objects.py::test_an_object_made_around_its_constructor_crashes_nothing": (
        "starts programs"
    ),
    "test_replay.py::test_a_live_error_of_work_is_what_the_replay_gives": "starts threads",
    "test_plan.py::test_the_largest_plan_does_not_cost_its_steps": (
        "len() ends at 2**31 - 1 on 32 bits"
    ),
}


def nanoseconds_per_frame() -> int:
    """One planned and digested frame."""
    loop, stats = FrameLoop(Timestep.HZ_60, start=now()), FrameStats()
    began = now()
    for frame in range(20_000):
        stats.absorb(loop.begin_frame(fixedstep.Timestamp(began + frame * 16_000_000)))
    assert stats.ticks > 19_000
    return (now() - began) // 20_000


async def paced_loop() -> int:
    """As a page does it: a frame, then await. How many of 60 frames ran one step."""
    pacer = FramePacer(Rate(60))
    loop = FrameLoop(Rate(60), start=pacer.wait())
    single = 0
    for _ in range(60):
        await asyncio.sleep(pacer.time_left() / 10**9)
        single += loop.begin_frame(pacer.wait()).step_count == 1
    return single


async def server() -> int:
    """Ticks that a server ran in a second of 20."""
    ticks = []
    running = TickServer(lambda step: ticks.append(step.tick), rate=Rate(20))
    task = asyncio.ensure_future(running.run())
    await asyncio.sleep(1)
    running.stop()
    await task
    return len(ticks)


async def main() -> int:
    """The suite's exit code, or 1 where a loop did not run."""
    print(f"Python {sys.version.split()[0]} on {sys.platform}, {fixedstep.backend()}")
    single, ticks = await paced_loop(), await server()
    print(f"{single} of 60 frames ran one step; {ticks} ticks of a server in a second at 20")
    print(f"{nanoseconds_per_frame()} ns to plan and digest a frame")
    options = ["-q", "--core=reference", "--no-source", "--tb=short", "-p", "no:cacheprovider"]
    left_out = [f"--deselect=tests/{test}" for test in WITHOUT]
    code = pytest.main([*options, *left_out, *(f"tests/test_{name}.py" for name in FILES)])
    return int(code) or int(single < 50 or not 18 <= ticks <= 21)
