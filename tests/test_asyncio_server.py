"""The tick server on a clock that is a number; the event loop is a real one."""

from __future__ import annotations

import asyncio
import doctest
import importlib

import pytest

from fixedstep import Rate, Step, StepBudget, Timestamp
from fixedstep.host.asyncio_server import TickServer

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


def test_a_bad_rate_is_refused_before_the_run() -> None:
    with pytest.raises(TypeError, match="timestep"):
        TickServer(lambda step, messages: None, rate=20)  # type: ignore[arg-type]
