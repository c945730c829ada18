"""The tick server on a clock that is a number; the event loop is a real one."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from fixedstep.host.asyncio_server import TickServer

from fixedstep import Rate, Step, StepBudget, Timestamp

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 10**9
MS = 10**6


class Network:
    """A thousand clients that send one message a second each, evenly spread over it."""

    def __init__(self, block_at: int | None = None, block: int = 300 * MS) -> None:
        self.at = 3 * SECOND
        self.posted = 0
        self.sleeps = 0
        self.seen: list[int] = []
        self.ticks: list[int] = []
        self.block_at = block_at
        self.block = block
        self.server: TickServer[int] = TickServer(
            self.step, rate=Rate(20), budget=StepBudget(5), clock=self.clock, sleep=self.sleep
        )

    def clock(self) -> Timestamp:
        return Timestamp(self.at)

    async def sleep(self, seconds: float) -> None:
        self.sleeps += 1
        await asyncio.sleep(0)
        self.at += round(seconds * SECOND)
        due = (self.at - 3 * SECOND) // MS
        while self.posted < due:
            self.server.post(self.posted)
            self.posted += 1

    def step(self, step: Step, messages: list[int]) -> None:
        self.ticks.append(step.tick)
        self.seen += messages
        if step.tick == self.block_at:
            self.at += self.block
        if self.at >= 13 * SECOND:
            self.server.stop()


def test_the_examples_are_true() -> None:
    results = doctest.testmod(importlib.import_module("fixedstep.host.asyncio_server"))
    assert results.attempted >= 4
    assert results.failed == 0


def test_ticks_keep_their_rate_when_no_handler_is_slow() -> None:
    network = Network()
    asyncio.run(network.server.run())
    assert network.ticks == list(range(200))
    assert network.server.stats.steps_dropped == 0
    assert network.server.pacing().late == 0


def test_a_handler_that_blocks_costs_reported_steps_and_no_message() -> None:
    network = Network(block_at=50)
    asyncio.run(network.server.run())
    stats, pacing = network.server.stats, network.server.pacing()
    assert (stats.steps_dropped, stats.ticks) == (1, 199)
    assert network.ticks == list(range(199))
    assert (pacing.late, pacing.skipped) == (1, 5)
    assert network.posted == 10_000
    assert len(network.seen) + network.server.waiting == 10_000
    assert network.seen == list(range(len(network.seen)))
    assert len(network.seen) >= 9_900


def test_a_server_that_runs_again_goes_on_with_the_next_tick() -> None:
    """After a step that raised, and after a stop among the steps of one frame. No number comes
    twice, and none is left out, so what a world counted stays true."""
    network, ended = Network(block_at=5), []

    def step(step: Step, messages: list[int]) -> None:
        network.step(step, messages)
        if step.tick == 3:
            raise ValueError("out of cheese")
        if step.tick in (8, 12):
            network.server.stop()

    network.server = TickServer(
        step, rate=Rate(20), budget=StepBudget(9), clock=network.clock, sleep=network.sleep
    )
    with pytest.raises(ValueError, match="out of cheese"):
        asyncio.run(network.server.run())
    for _ in range(2):
        network.at += SECOND
        asyncio.run(network.server.run())
        ended.append(network.ticks[-1])
    assert network.ticks == list(range(13))
    assert ended == [8, 12]
    assert network.server.stats.steps_dropped == 0
    assert network.server.stats.ticks == 13 + network.server.abandoned
    assert network.server.abandoned == 3  # 9, 10 and 11, which the block had made due


def test_a_frame_that_the_event_loop_wakes_late_is_on_time() -> None:
    """Its work was done. How late the loop is, is in the lateness; only work makes a frame late."""
    network = Network()
    sleep = network.sleep

    async def late(seconds: float) -> None:
        await sleep(seconds)
        network.at += 400_000 if seconds else 0

    network.server = TickServer(network.step, rate=Rate(20), clock=network.clock, sleep=late)
    asyncio.run(network.server.run())
    pacing = network.server.pacing()
    assert (pacing.on_time, pacing.late, pacing.skipped) == (pacing.scheduled, 0, 0)
    assert pacing.scheduled >= 199
    assert pacing.largest_lateness == 400_000


def test_a_step_that_is_always_too_slow_still_yields() -> None:
    network = Network()
    others = 0

    def slow(step: Step, messages: list[int]) -> None:
        network.at += 60 * MS
        if step.tick >= 40:
            network.server.stop()

    network.server = TickServer(slow, rate=Rate(20), clock=network.clock, sleep=network.sleep)

    async def main() -> None:
        nonlocal others
        run = asyncio.create_task(network.server.run())
        while not run.done():
            others += 1
            await asyncio.sleep(0)
        await run

    asyncio.run(main())
    assert network.server.stats.ticks >= 40
    assert others >= network.server.stats.frames


def test_a_stop_keeps_what_is_queued() -> None:
    network = Network()
    network.server.post(-1)
    network.at = 13 * SECOND
    asyncio.run(network.server.run())
    assert network.seen[:1] == [-1]
    network.server.post(-2)
    assert network.server.waiting >= 1


def test_a_step_that_raises_ends_the_run() -> None:
    network = Network()

    def bad(step: Step, messages: list[int]) -> None:
        raise ArithmeticError

    network.server = TickServer(bad, clock=network.clock, sleep=network.sleep)
    with pytest.raises(ArithmeticError):
        asyncio.run(network.server.run())


def test_a_coarse_clock_drops_no_steps() -> None:
    """It moves every 15.625 ms, and a sleep ends before it shows it."""
    network = Network()
    quantum = 15_625_000
    network.server = TickServer(
        network.step,
        rate=Rate(20),
        clock=lambda: Timestamp(network.at // quantum * quantum),
        sleep=network.sleep,
    )
    asyncio.run(network.server.run())
    assert network.server.stats.steps_dropped == 0
    assert 199 <= len(network.ticks) <= 200


def test_the_example_loses_no_line_when_a_step_blocks(source: Path) -> None:
    """On the real clock and real sockets. 300 ms are six ticks at least, and five may run."""
    options = ["--clients", "20", "--seconds", "1", "--block-ms", "300"]
    found = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            str(source.parent / "examples" / "tick_server.py"),
            *options,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert "lines     400 handled, 0 lost\n" in found.stdout
    counts = re.search(r"ticks     (\d+), and (\d+) dropped", found.stdout)
    assert counts is not None
    assert int(counts[1]) >= 10
    assert int(counts[2]) >= 1


def test_a_stop_between_two_frames_plans_no_other() -> None:
    """It used to plan one, whose ticks were counted and never ran."""
    network = Network()

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        while network.server.stats.ticks < 5:
            await asyncio.sleep(0)
        network.server.stop()
        await run

    asyncio.run(main())
    assert network.server.stats.ticks == len(network.ticks) == 5
    assert network.server.abandoned == 0


@pytest.mark.parametrize("ends", ["stop", "raise"])
def test_ticks_that_a_frame_did_not_come_to_are_counted(ends: str) -> None:
    network = Network(block_at=5)

    def step(step: Step, messages: list[int]) -> None:
        network.step(step, messages)
        if step.tick == 7 and ends == "raise":
            raise ArithmeticError
        if step.tick == 7:
            network.server.stop()

    server = network.server = TickServer(
        step, rate=Rate(20), budget=StepBudget(4), clock=network.clock, sleep=network.sleep
    )
    if ends == "raise":
        with pytest.raises(ArithmeticError):
            asyncio.run(server.run())
    else:
        asyncio.run(server.run())
    assert network.ticks == list(range(8))
    assert (server.stats.ticks, server.abandoned, server.stats.steps_dropped) == (10, 2, 2)


def test_a_stop_before_the_run_has_begun_is_not_forgotten() -> None:
    """It used to be, and a start that failed in the same turn of the event loop hung."""
    network = Network()

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        network.server.stop()
        await run

    asyncio.run(main())
    assert network.ticks == []
    asyncio.run(network.server.run())  # it ended one run, and not all
    assert len(network.ticks) == 200


def test_a_second_run_at_once_is_refused_and_the_first_goes_on() -> None:
    """It used to run every tick twice."""
    network = Network()

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        while len(network.ticks) < 5:
            await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="runs already"):
            await network.server.run()
        await run

    asyncio.run(main())
    assert network.ticks == list(range(200))


def test_a_run_that_was_cancelled_can_be_followed_by_another() -> None:
    network = Network()

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        while len(network.ticks) < 5:
            await asyncio.sleep(0)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await network.server.run()

    asyncio.run(main())
    assert network.ticks == list(range(len(network.ticks)))
    assert len(network.ticks) >= 199


def test_what_cannot_be_run_is_refused_before_the_run() -> None:
    async def waits(step: Step, messages: list[int]) -> None:
        pass

    with pytest.raises(TypeError, match=r"rate must be a Rate in ticks a second, not int 20; Rate"):
        TickServer(lambda step, messages: None, rate=20)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="step must be a plain function that runs the tick"):
        TickServer(waits)
    with pytest.raises(TypeError, match="budget"):
        TickServer(lambda step, messages: None, budget="5")  # type: ignore[arg-type]


def test_a_stop_when_nothing_runs_is_not_kept_for_the_next_run() -> None:
    """``finally: server.stop()`` behind a run that is over. The next run used to end at once."""
    network = Network()
    network.server.stop()
    asyncio.run(network.server.run())
    assert len(network.ticks) == 200
    network.server.stop()
    network.at = 3 * SECOND
    network.ticks.clear()
    asyncio.run(network.server.run())
    assert len(network.ticks) == 200


def test_a_run_that_never_began_is_in_nobodys_way() -> None:
    network = Network()

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        network.server.stop()
        await network.server.run()

    asyncio.run(main())
    assert len(network.ticks) == 200


def test_a_step_whose_answer_is_to_be_awaited_ends_the_run() -> None:
    """What ``async def`` makes is found at once; an object of one's own can hide it until it is
    called. Its ticks used to be counted and never to run."""

    class Hidden:
        async def __call__(self, step: Step, messages: list[int]) -> None: ...

    network = Network()
    network.server = TickServer(Hidden(), clock=network.clock, sleep=network.sleep)
    with pytest.raises(TypeError, match="nothing to be awaited"):
        asyncio.run(network.server.run())
    assert network.server.stats.ticks == 1
