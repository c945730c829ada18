"""The tick server on a clock that is a number; the event loop is a real one."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Rate, Step, Timestamp
from fixedstep.host import TickServer
from fixedstep.sim import GameLoop, Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECOND = 10**9
MS = 10**6
BEGAN = 3 * SECOND
ENDS = 13 * SECOND


def nothing(_: object) -> None: ...


class World:
    """What the ticks saw; it calls ``each`` in every tick."""

    def __init__(self, each: Callable[[int], object]) -> None:
        self.each = each
        self.seen: list[Any] = []
        self.ticks: list[int] = []

    def step(self, input: Any, tick: Any) -> None:
        self.ticks.append(tick.number)
        self.seen += tick.messages
        self.each(tick.number)


class Network:
    """A thousand messages a second for a server of twenty ticks, for ten seconds of a number."""

    def __init__(self, each: Callable[[int], object] = nothing, **options: Any) -> None:
        self.at = BEGAN
        self.posted = 0
        self.each = each
        self.session = Session(World, self.tick, **{"rate": Rate(20), **options})
        self.server = TickServer(self.session, clock=self.clock, sleep=self.sleep)

    @property
    def world(self) -> World:
        return self.session.world

    def clock(self) -> Timestamp:
        return Timestamp(self.at)

    async def sleep(self, nanos: int) -> None:
        await asyncio.sleep(0)
        self.at += nanos
        while self.posted < (self.at - BEGAN) // MS:
            self.server.post(self.posted)
            self.posted += 1

    def tick(self, number: int) -> None:
        self.each(number)
        if self.at >= ENDS:
            self.server.stop()


def server_of(network: Network, step: Callable[[Step], object], **options: Any) -> TickServer:
    """A server of a plain step function on the clock of a network that sends nothing."""

    async def sleep(nanos: int) -> None:
        await asyncio.sleep(0)
        network.at += nanos

    return TickServer(step, clock=network.clock, sleep=sleep, **{"rate": Rate(20), **options})


# When ticks run.


@pytest.mark.parametrize("hz", [30, 50, 60, 64, 75, 90, 120, 144, 240, 500])
def test_each_frame_runs_one_tick_also_after_a_resync(hz: int) -> None:
    """It ran 120 ticks at 80 moments."""
    counts: list[int] = []
    at = BEGAN

    async def sleep(nanos: int) -> None:
        nonlocal at
        await asyncio.sleep(0)
        if server.report is not None:
            counts.append(server.report.ran)
        at += nanos
        if len(counts) == 100:
            at += 3 * SECOND
            server.game.exclude()
        if len(counts) == 600:
            server.stop()

    server = TickServer(nothing, rate=Rate(hz), clock=lambda: Timestamp(at), sleep=sleep)
    asyncio.run(server.run())
    assert counts[0] == counts[100] == 0  # the origins
    assert set(counts[1:100] + counts[101:]) == {1}
    assert server.game.stats.steps_dropped == 0


def test_no_message_is_lost_and_no_tick_when_no_handler_is_slow() -> None:
    network = Network()
    asyncio.run(network.server.run())
    assert network.world.ticks == list(range(200))
    assert network.session.stats.steps_dropped == 0
    assert network.session.stats.frames == 201, "a message does not make a frame"
    assert network.world.seen == list(range(len(network.world.seen)))
    assert len(network.world.seen) == network.posted == 10_000


def test_a_handler_that_blocks_costs_reported_ticks_and_no_message() -> None:
    def block(number: int) -> None:
        if number == 50:
            network.at += 300 * MS

    network = Network(block, max_delta=None)
    reports: list[Any] = []
    network.server = TickServer(
        network.session, on_drop=reports.append, clock=network.clock, sleep=network.sleep
    )
    asyncio.run(network.server.run())
    assert (network.session.stats.steps_dropped, network.session.stats.ticks) == (1, 199)
    assert [report.dropped for report in reports] == [1]
    assert network.world.ticks == list(range(199))
    assert network.world.seen == list(range(10_000))


def test_time_beyond_the_longest_frame_is_reported_too() -> None:
    """At 20 ticks a second five of them are the 250 ms that a frame counts: nothing is dropped."""

    def block(number: int) -> None:
        if number == 50:
            network.at += 300 * MS

    network = Network(block, rate=Rate(20))
    reports: list[Any] = []
    network.server = TickServer(
        network.session, on_drop=reports.append, clock=network.clock, sleep=network.sleep
    )
    asyncio.run(network.server.run())
    assert [(report.dropped, report.clamped) for report in reports] == [(0, 50 * MS)]


def test_a_tick_that_is_always_too_slow_still_yields() -> None:
    others = 0
    network = Network()

    def slow(step: Step) -> None:
        network.at += 30 * MS
        if step.tick >= 40:
            server.stop()

    server = server_of(network, slow, rate=Rate(100))

    async def main() -> None:
        nonlocal others
        run = asyncio.create_task(server.run())
        while not run.done():
            others += 1
            await asyncio.sleep(0)
        await run

    asyncio.run(main())
    assert server.game.tick >= 40
    assert others >= server.game.stats.frames
    assert server.game.stats.steps_dropped > 0


def test_a_coarse_clock_drops_no_ticks() -> None:
    """It moves every 15.625 ms, and a sleep ends before it shows it."""
    network = Network()
    quantum = 15_625_000
    network.server = TickServer(
        network.session,
        clock=lambda: Timestamp(network.at // quantum * quantum),
        sleep=network.sleep,
    )
    asyncio.run(network.server.run())
    assert network.session.stats.steps_dropped == 0
    assert 199 <= len(network.world.ticks) <= 201


def test_a_least_period_puts_several_ticks_into_a_frame() -> None:
    network = Network()

    def step(step: Step) -> None:
        if step.tick == 9_999:
            server.stop()

    server = server_of(network, step, rate=Rate(1_000), least_period=4 * MS)
    asyncio.run(server.run())
    assert server.game.tick == 10_000
    assert server.game.stats.frames == pytest.approx(2_501, abs=2)
    assert server.game.stats.steps_dropped == 0


def test_a_clock_that_goes_back_does_not_stop_the_server() -> None:
    network = Network()

    def step(step: Step) -> None:
        if step.tick == 5:
            network.at = SECOND
        if step.tick == 20:
            server.stop()

    network.at = 9_000 * SECOND
    server = server_of(network, step)
    asyncio.run(server.run())
    assert network.at < 3 * SECOND


# Stopping, running again.


def test_a_stop_wakes_a_sleeper_from_a_coroutine_and_from_a_thread() -> None:
    """A tick a minute; on the machine's own clock."""
    for from_thread in (False, True):
        server = TickServer(nothing, rate=Rate(1, 60))

        async def main(server: TickServer = server, from_thread: bool = from_thread) -> None:
            run = asyncio.create_task(server.run())
            while server.report is None:
                await asyncio.sleep(0)
            await asyncio.sleep(0.01)
            if from_thread:
                threading.Thread(target=server.stop).start()
            else:
                server.stop()
            await asyncio.wait_for(run, 30)

        asyncio.run(main())
        assert server.game.tick == 0


def test_a_resume_wakes_a_server_and_a_post_makes_no_frame() -> None:
    session = Session(World, nothing, rate=Rate(1, 60))
    server = TickServer(session)
    session.pause()

    async def main() -> None:
        run = asyncio.create_task(server.run())
        while server.report is None:
            await asyncio.sleep(0)
        session.resume()
        await asyncio.sleep(0.02)
        frames = session.stats.frames
        for number in range(100):
            server.post(number)
            await asyncio.sleep(0)
        assert session.stats.frames == frames
        server.stop()
        await asyncio.wait_for(run, 30)

    asyncio.run(main())
    assert session.state == "playing"


def test_two_hundred_thousand_messages_of_four_threads_all_arrive_in_order() -> None:
    session = Session(World, nothing, rate=Rate(500))
    server = TickServer(session)

    def post(name: int) -> None:
        for number in range(50_000):
            server.post((name, number))

    async def main() -> None:
        run = asyncio.create_task(server.run())
        threads = [threading.Thread(target=post, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads) or session._messages:
            await asyncio.sleep(0.005)
        server.stop()
        await run

    asyncio.run(main())
    seen = session.world.seen
    assert len(seen) == 200_000
    for name in range(4):
        assert [number for who, number in seen if who == name] == list(range(50_000))


def test_a_server_that_runs_again_goes_on_with_the_next_tick() -> None:
    """After a stop among the ticks of one frame, and what the others were is counted."""

    def each(number: int) -> None:
        if number == 5:
            network.at += 300 * MS
        if number in (8, 12):
            network.server.stop()

    network, ended = Network(each, budget=9, max_delta=None), []
    for _ in range(2):
        network.at += SECOND
        asyncio.run(network.server.run())
        ended.append(network.world.ticks[-1])
    assert network.world.ticks == list(range(13))
    assert ended == [8, 12]
    assert network.session.stats.steps_dropped == 0
    assert network.session.stats.ticks == 13
    assert network.session.abandoned == 3  # 9, 10 and 11, which the block had made due


def test_a_tick_that_raises_ends_the_run_of_a_plain_function() -> None:
    network = Network()

    def bad(step: Step) -> None:
        raise ArithmeticError

    server = server_of(network, bad)
    with pytest.raises(ArithmeticError):
        asyncio.run(server.run())
    assert server.game.state == "faulted"


def test_a_faulted_session_goes_on_without_ticks_until_it_is_restarted() -> None:
    def each(number: int) -> None:
        if number == 3 and not failed:
            failed.append(number)
            raise ValueError("out of cheese")

    failed: list[int] = []
    network = Network(each)

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        while network.session.state != "faulted":
            await asyncio.sleep(0)
        frames = network.session.stats.frames
        while network.session.stats.frames < frames + 5:
            await asyncio.sleep(0)
        network.session.restart()
        await run

    asyncio.run(main())
    assert network.world.ticks == list(range(len(network.world.ticks)))
    assert len(network.world.ticks) > 150


def test_messages_that_wait_at_a_stop_come_with_the_next_run() -> None:
    network = Network()
    network.server.post(-1)
    network.at = ENDS
    asyncio.run(network.server.run())
    assert network.world.seen[:1] == [-1]
    network.server.post(-2)
    network.at = ENDS
    asyncio.run(network.server.run())
    assert -2 in network.world.seen


def test_a_stop_between_two_frames_plans_no_other() -> None:
    network = Network()

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        while network.session.tick < 5:
            await asyncio.sleep(0)
        network.server.stop()
        await run

    asyncio.run(main())
    assert network.session.stats.ticks == len(network.world.ticks) == 5
    assert network.session.abandoned == 0


def test_a_stop_before_the_run_has_begun_is_not_forgotten() -> None:
    """It used to be, and a start that failed in the same turn of the event loop hung."""
    network = Network()

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        network.server.stop()
        await run

    asyncio.run(main())
    assert network.world.ticks == []
    asyncio.run(network.server.run())  # it ended one run, and not all
    assert len(network.world.ticks) == 200


def test_a_stop_when_nothing_runs_is_not_kept_for_the_next_run() -> None:
    """``finally: server.stop()`` behind a run that is over. The next run used to end at once."""
    network = Network()
    for number in range(2):
        network.server.stop()
        network.at = BEGAN
        asyncio.run(network.server.run())
        assert len(network.world.ticks) == 200 * (number + 1)


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
    assert len(network.world.ticks) == 200


def test_a_second_run_at_once_is_an_error_and_the_first_goes_on() -> None:
    """It used to run every tick twice."""
    network = Network()

    async def main() -> None:
        run = asyncio.create_task(network.server.run())
        while len(network.world.ticks) < 5:
            await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="runs already"):
            await network.server.run()
        await run

    asyncio.run(main())
    assert network.world.ticks == list(range(200))


@pytest.mark.parametrize("ends", ["cancel", "wait_for"])
def test_a_run_that_was_cancelled_can_be_followed_by_another(ends: str) -> None:
    network = Network()

    async def main() -> None:
        if ends == "cancel":
            run = asyncio.create_task(network.server.run())
            while len(network.world.ticks) < 5:
                await asyncio.sleep(0)
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
        else:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(network.server.run(), 0.001)
        network.server.post("kept")
        await network.server.run()

    asyncio.run(main())
    assert network.world.ticks == list(range(len(network.world.ticks)))
    assert len(network.world.ticks) >= 199
    assert "kept" in network.world.seen


# Arguments.


def test_what_cannot_be_run_is_an_error_before_the_run() -> None:
    async def waits(step: Step) -> None: ...

    class Hidden:
        async def __call__(self, step: Step) -> None: ...

    with pytest.raises(TypeError, match=r"rate must be a Rate, not int 20; Rate"):
        TickServer(nothing, rate=20)
    for wrong in (waits, Hidden()):
        with pytest.raises(TypeError, match="step must be a plain function, not the coroutine"):
            TickServer(wrong)
    with pytest.raises(TypeError, match="budget"):
        TickServer(nothing, budget="5")
    with pytest.raises(TypeError, match="rate= is for a plain step function"):
        TickServer(GameLoop(nothing), rate=Rate(20))
    with pytest.raises(TypeError, match="post needs a Session"):
        TickServer(nothing).post(1)
    with pytest.raises(TypeError, match="least_period"):
        TickServer(nothing, least_period=0.5)  # type: ignore[arg-type]


def test_the_example_loses_no_line_when_a_tick_blocks(source: Path) -> None:
    """On the real clock and real sockets. 400 ms are more than the budget of five may run."""
    options = ["--clients", "20", "--seconds", "1", "--block-ms", "400"]
    path = source.parent / "examples" / "tick_server.py"
    found = subprocess.run(
        [sys.executable, "-W", "error", str(path), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0
    warning = (
        r"0 ticks were dropped and \d+ ms were clamped up to tick \d+: frames took longer .*\n"
    )
    assert re.fullmatch(warning, found.stderr)
    assert "lines     400 handled, 0 lost\n" in found.stdout
    counts = re.search(r"ticks     (\d+), and (\d+) dropped", found.stdout)
    assert counts is not None
    assert int(counts[1]) >= 10
