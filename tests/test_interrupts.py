"""Ctrl-C at any instruction of a frame, a tick or a single tick leaves a game whose sums agree.

`sys.settrace` raises KeyboardInterrupt at one bytecode after the other. Afterwards the game goes
on, and no nanosecond and no tick may be lost or counted twice. A tick that the interrupt ends may
have run already: the game is faulted then.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Rate, StateHash, Step, Timestamp
from fixedstep.host import FramePacer, TickServer, pacer
from fixedstep.records import Recorder, Recording
from fixedstep.sim import GameLoop, Session

from .interrupts import interrupt

if TYPE_CHECKING:
    from collections.abc import Callable

MS = 10**6
GAME = tuple(os.path.join("sim", name) for name in ("game_loop.py", "session.py", "tick.py"))
RECORDS = os.path.join("fixedstep", "records", "")

pytestmark = pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer is at work already")


class World:
    """Counts the ticks that ran to their end, or nearly."""

    def __init__(self) -> None:
        self.ran = 0

    def step(self, input: Any, tick: Any) -> None:
        self.ran += 1


class Plain(GameLoop):
    """A game loop that counts as the world does."""

    def __init__(self) -> None:
        self.world = World()
        super().__init__(self.one)

    def one(self, step: Step) -> None:
        self.world.ran += 1


def session() -> Any:
    return Session(World, buttons=["jump"])


class Forgetful(Plain):
    """The planted fault: an interrupted frame is never settled."""

    def _reconcile(self) -> None:
        pass


def interrupted_at(boundary: int, make: Callable[[], Any]) -> list[str] | None:
    """What does not agree after an interrupt at this bytecode; None if there are not so many."""
    game = make()
    game.frame(Timestamp(0))
    game.frame(Timestamp(20 * MS))
    game.pause(at=60 * MS)
    game.resume(at=70 * MS)
    with interrupt(boundary, *GAME) as tried:
        game.frame(Timestamp(40 * MS))
        game.frame(Timestamp(90 * MS))
        game.run_ticks(1)
        game.frame(Timestamp(100 * MS))
    if not tried.hit:
        return None
    faulted = game.state == "faulted"
    if faulted:
        game.restore(game.state_dict())
    counted_from = game.tick if faulted else 0
    ahead = game.world.ran - game.tick  # the interrupted tick may have run to its end
    wrong = [] if ahead in ((0, 1) if faulted else (0,)) else [f"the world is {ahead} ahead"]
    for ms in (200, 260, 300, 350):
        game.frame(Timestamp(ms * MS))
    if game.world.ran - game.tick != ahead:
        wrong.append("ticks were lost or doubled later")
    if not game.wall == game.accepted + game.clamped + game.excluded == 350 * MS:
        wrong.append(f"wall time is {game.wall}")
    if game.stats.ticks != game.tick - counted_from:
        wrong.append(f"the statistics have {game.stats.ticks} ticks of {game.tick}")
    return wrong


def sweep(
    wrong_at: Callable[[int], list[str] | None], stride: int = 1
) -> tuple[int, dict[int, list[str]]]:
    """How many boundaries were tried, and what was wrong at which."""
    boundary, tried, wrong = 1, 0, {}
    while (found := wrong_at(boundary)) is not None:
        tried += 1
        if found:
            wrong[boundary] = found
        boundary += stride
    return tried, wrong


@pytest.mark.parametrize("make", [Plain, session])
def test_an_interrupt_anywhere_leaves_sums_that_agree(make: Callable[[], Any]) -> None:
    tried, wrong = sweep(lambda boundary: interrupted_at(boundary, make))
    assert tried > 1_000
    assert wrong == {}


def test_a_game_that_is_never_settled_is_found() -> None:
    """The control."""
    _, wrong = sweep(lambda boundary: interrupted_at(boundary, Forgetful), 7)
    assert wrong


# Ticks that are recorded.


class Recorded(World):
    """Has a digest."""

    def digests(self) -> dict[str, int]:
        return {"ran": StateHash().absorb_u64(self.ran).finish()}


def recorded_at(
    boundary: int, change: Callable[[str], str] = lambda text: text
) -> list[str] | None:
    """What is wrong with a recording of frames, one of which was interrupted."""
    file, game = io.StringIO(), Session(Recorded, buttons=["jump"])
    recorder = Recorder(file, game)
    game.frame(Timestamp(0))
    with interrupt(boundary, *GAME, RECORDS) as tried:
        game.input.press("jump")
        game.post(("hello", 1))
        game.frame(Timestamp(40 * MS))
    if not tried.hit:
        return None
    faulted = game.state == "faulted"
    if not faulted:
        game.frame(Timestamp(80 * MS))
    attached = game.recording
    recorder.close()
    recording = Recording(io.StringIO(change(file.getvalue())))
    try:
        ticks = [record.tick for record in recording]
    except ValueError as error:
        return [f"not read: {error}"]
    wrong = []
    if recording.missing and recorder.error is None:
        wrong.append(f"not whole: {recording.missing}")
    if ticks != list(range(len(ticks))):
        wrong.append(f"has the ticks {ticks}")
    # the interrupted tick may have run to its end, and is in the file then
    if attached and len(ticks) - game.tick not in ((0, 1) if faulted else (0,)):
        wrong.append(f"has {len(ticks)} ticks of {game.tick}, and nobody was told")
    if len(ticks) > game.world.ran:
        wrong.append(f"has {len(ticks)} ticks, of which {game.world.ran} ran")
    return wrong


def test_an_interrupt_anywhere_in_a_recorded_frame_leaves_a_recording_that_is_read() -> None:
    tried, wrong = sweep(recorded_at)
    assert tried > 1_000
    assert wrong == {}


def test_a_recording_without_one_of_its_lines_is_found() -> None:
    """The control."""

    def without_a_line(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(lines[:1] + lines[2:])

    _, wrong = sweep(lambda boundary: recorded_at(boundary, without_a_line), 50)
    assert wrong


# The pacer.


class Parted(FramePacer):
    """The planted fault: what is counted is counted one by one."""

    def wait(self) -> Timestamp:
        before = self._seen
        now = super().wait()
        seen = self._seen
        self._seen = seen._replace(on_time=before.on_time, late=before.late)
        self._seen = pacer._Seen(*seen)
        return now


def paced_at(boundary: int, make: type[FramePacer] = FramePacer) -> list[str] | None:
    """What does not agree in a pacer after an interrupt."""
    at = 0

    def sleep(span: int) -> None:
        nonlocal at
        at += span

    paced = make(Rate(60), spin=0, clock=lambda: Timestamp(at), sleep=sleep)  # type: ignore[arg-type]
    paced.wait()
    with interrupt(boundary, os.path.join("host", "pacer.py"), __file__) as tried:
        paced.wait()
        at += 100 * MS
        paced.wait()
        paced.time_left()
        paced.set_rate(Rate(4))
        paced.wait()
        paced.wait()
        paced.report()
    if not tried.hit:
        return None
    wrong = []
    for _ in range(3):
        before = at
        if paced.wait() < before or at - before > 250 * MS:
            wrong.append(f"waited for {at - before} ns")
        report = paced.report()
        if report.lateness.count != report.on_time + report.late:
            wrong.append(f"{report.lateness.count} frames were measured: {report}")
    # Every target from the origin on is over, or the next: none is counted twice, none is lost.
    if not paced._seen.origin and report.scheduled != paced._seen.next - 1:
        wrong.append(f"{paced._seen.next - 1} targets are over: {report}")
    if report.resets != bool(paced._seen.origin):
        wrong.append(f"{report.resets} resets, origin {paced._seen.origin}")
    return wrong


def test_an_interrupt_anywhere_leaves_a_pacer_whose_counts_agree() -> None:
    tried, wrong = sweep(paced_at)
    assert tried > 200
    assert wrong == {}


def test_a_pacer_that_counts_one_by_one_is_found() -> None:
    """The control."""
    _, wrong = sweep(lambda boundary: paced_at(boundary, Parted))
    assert wrong


# The server.


class Stuck(TickServer):
    """The planted fault: it runs until it says itself that it does not."""

    stuck = False

    async def _run(self) -> None:
        if self.stuck:
            raise RuntimeError("this server runs already")
        self.stuck = True
        await super()._run()
        self.stuck = False


def served_at(boundary: int, make: type[TickServer] = TickServer) -> list[str] | None:
    """What is wrong with a server after an interrupt, and a second run."""
    at, messages = 0, list[Any]()

    def clock() -> Timestamp:
        nonlocal at
        at += MS
        return Timestamp(at)

    async def sleep(span: int) -> None:
        nonlocal at
        at += span
        await asyncio.sleep(0)

    class Heard(World):
        def step(self, input: Any, tick: Any) -> None:
            super().step(input, tick)
            messages.extend(tick.messages)
            if self.ran % 3 == 0:
                server.stop()

    game = Session(Heard)
    server = make(game, clock=clock, sleep=sleep)
    with interrupt(boundary, os.path.join("host", "tick_server.py"), __file__) as tried:
        server.post("one")
        asyncio.run(server.run())
    if not tried.hit:
        return None
    wrong = []
    if game.state == "faulted":  # the interrupt came in the tick
        game.restart()
    server.post("two")
    try:
        asyncio.run(asyncio.wait_for(server.run(), 20))
    except (RuntimeError, TimeoutError, asyncio.TimeoutError) as error:
        wrong.append(f"did not run again: {error!r}")
    if messages[-1:] != ["two"]:
        wrong.append(f"heard {messages}")
    if game.wall != game.accepted + game.clamped + game.excluded:
        wrong.append(f"wall time is {game.wall}")
    return wrong


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")  # one that was not even begun
def test_an_interrupt_anywhere_leaves_a_server_that_runs_again() -> None:
    tried, wrong = sweep(served_at)
    assert tried > 300
    assert wrong == {}


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_a_server_that_believes_that_it_runs_is_found() -> None:
    """The control."""
    _, wrong = sweep(lambda boundary: served_at(boundary, Stuck), 3)
    assert wrong
