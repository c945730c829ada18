"""Every kind of game in every kind of host through every verb: nothing is lost, doubled or drawn
backwards.

A cell is a game, a host, a policy for the remainder, and what happens. Its clock is a number. In
each, an account that is kept apart from the game's own must come to the same totals. Cells without
meaning are listed in ``WITHOUT_MEANING``.
"""

from __future__ import annotations

import asyncio
import copy
import importlib.util
import io
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Rate, StateHash, Step, Timestamp
from fixedstep.host import PygameWindow, TickServer
from fixedstep.records import Recorder, Recording, replay
from fixedstep.sim import GameLoop, Session

from .standins import MS, SECOND, Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable

GAMES = ("plain step", "session", "session with speeds", "recorded session")
HOSTS = ("headless", "window", "server")
ORIGIN = 5 * SECOND


class World:
    """Counts its ticks, moves by what it was given, and calls ``hook`` in each tick."""

    def __init__(self) -> None:
        self.ticks: list[int] = []
        self.x = 0

    def step(self, input: Any, tick: Any) -> None:
        if HOOKS:
            HOOKS.pop(0)()
        self.ticks.append(tick.number)
        self.x += 3 + input["fire"].pressed

    def digests(self) -> dict[str, StateHash]:
        return {"x": StateHash().absorb_i64(self.x).absorb_u64(len(self.ticks))}


HOOKS: list[Callable[[], object]] = []
"""Called one by one in the next ticks of any world."""


class Cell:
    """A game in a host, and the account that is kept beside it."""

    def __init__(self, kind: str, host: str, policy: str) -> None:
        HOOKS.clear()
        self.kind, self.host = kind, host
        self.plain: list[int] = []
        self.file = io.StringIO()
        self.at = ORIGIN
        options: dict[str, Any] = {"rate": Rate(60), "remainder": policy}
        if kind == "plain step":
            self.game: Any = GameLoop(self.step, **options)
        elif kind == "session with speeds":
            self.game = Session(World, buttons=["fire"], speeds=(0, 1, 5, 20), **options)
        else:
            self.game = Session(World, buttons=["fire"], **options)
        self.recorder = Recorder(self.file, self.game) if kind == "recorded session" else None
        self.due = Fraction(0)  # ticks that the accepted time is, exactly
        self.stops = 0  # how often a remainder may have been forgotten
        self.frames = 0
        self.extra = 0  # ticks of run_ticks
        self.totals = {"ran": 0, "dropped": 0, "abandoned": 0, "wall": 0, "excluded": 0}
        self.cut = False  # a change of speed within a tick: the account cannot follow
        self.place = Fraction(0)
        self.seen: Any = None
        self.scale: Any = None
        self.failed: int | None = None  # the tick that raised
        self.window: Any = None
        if host == "window":
            self.window = window_of(self)
        elif host == "server":
            self.server = TickServer(self.game, clock=lambda: Timestamp(self.at), sleep=self.sleep)

    def step(self, step: Step) -> None:
        if HOOKS:
            HOOKS.pop(0)()
        self.plain.append(step.tick)

    @property
    def ticks(self) -> list[int]:
        return self.plain if self.kind == "plain step" else self.game.world.ticks

    def look(self) -> None:
        """Take the report of the last frame into the account."""
        host = {"window": self.window, "server": getattr(self, "server", None)}.get(self.host)
        report = self.last if host is None else host.report
        if report is None or report is self.seen:
            return
        self.seen = report
        self.frames += 1
        rate, speed = self.scale or (self.game.rate, self.game.speed)
        self.due += Fraction(report.accepted * rate.numerator, rate.denominator * SECOND) * speed
        self.totals["ran"] += report.ran
        self.totals["dropped"] += report.dropped
        self.totals["abandoned"] += report.abandoned
        self.totals["excluded"] += report.excluded
        self.totals["wall"] += report.accepted + report.clamped + report.excluded
        if report.drawable:
            self.draw(report)

    def draw(self, report: Any) -> None:
        place = max(report.tick - 1 + Fraction(report.alpha), Fraction(0))
        assert place >= self.place, f"the picture went back, from {self.place} to {place}"
        self.place = place

    async def sleep(self, span: int) -> None:
        self.look()
        await asyncio.sleep(0)
        if self.at + span > self.until:
            self.at = self.until
            self.server.stop()
        else:
            self.at += span

    def advance(self, milliseconds: int) -> None:
        """Frames for so long."""
        self.scale = (self.game.rate, self.game.speed)
        self.until = self.at + milliseconds * MS
        if self.host == "headless":
            while self.at < self.until:
                self.last = None
                self.last = self.game.frame(Timestamp(self.at))
                self.look()
                self.at += 16_700_000
        elif self.host == "window":
            while self.at < self.until:
                self.at += self.window.wait()
                self.window.run_frame()
                self.look()
                self.at += 100_000  # the work of a frame
        else:
            asyncio.run(self.server.run())
        self.look()
        self.scale = None

    def take_over(self) -> None:
        """Go on from the game's own totals, after a frame that raised in place of a report."""
        game = self.game
        self.cut = True
        self.totals |= {"wall": game.wall, "excluded": game.excluded, "abandoned": game.abandoned}

    def run_ticks(self, number: int) -> None:
        report = self.game.run_ticks(number)
        self.extra += report.ran
        self.draw(report)

    def see(self, visible: bool) -> None:
        if self.window is not None:
            self.window._see(visible)
        elif visible:
            self.game.show()
        else:
            self.game.hide()
        self.stops += 1

    def check(self) -> None:
        """The totals agree."""
        game, totals = self.game, self.totals
        assert self.ticks == list(range(game.tick)), "a tick was lost or doubled"
        assert game.accepted + game.clamped + game.excluded == game.wall
        assert totals["wall"] == game.wall == game.last - ORIGIN
        assert totals["excluded"] == game.excluded
        assert totals["abandoned"] == game.abandoned
        if self.cut:
            return
        due = totals["ran"] + totals["dropped"] + totals["abandoned"]
        rest = Fraction(game.remainder, game.rate.denominator * SECOND)
        lost = self.due - due - rest
        if game._keep:
            assert abs(lost) <= Fraction(1, SECOND), "time was lost"
        else:
            assert -Fraction(1, SECOND) <= lost <= self.stops


def window_of(cell: Cell) -> Any:
    """pygame's window on a driver without a screen, or a stand-in where pygame is missing."""

    def clock() -> Timestamp:
        return Timestamp(cell.at)

    if importlib.util.find_spec("pygame") is None:
        window: Any = Toolkit(cell.game)
        window._clock = clock
        return window
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    try:
        pygame = importlib.import_module("pygame")
        pygame.display.quit()
        pygame.display.init()
        pygame.display.set_mode((8, 8))
    finally:
        del os.environ["SDL_VIDEODRIVER"]
    return PygameWindow(cell.game, lambda alpha: None, clock=clock, sleep=lambda span: None)


def fail() -> None:
    raise ZeroDivisionError("planted")


# What happens.


def pause_and_resume(cell: Cell) -> None:
    cell.game.pause()
    cell.game.pause()
    before = cell.game.tick
    cell.advance(400)
    assert cell.game.tick == before
    cell.game.resume()
    cell.stops += 2
    cell.advance(400)
    assert cell.game.tick > before


def run_three_ticks(cell: Cell) -> None:
    cell.run_ticks(3)
    cell.game.pause()
    cell.stops += 2
    cell.advance(100)
    before = cell.game.tick
    cell.run_ticks(3)
    assert cell.game.tick == before + 3
    cell.advance(100)
    cell.game.resume()


def verb_within_a_tick(cell: Cell) -> None:
    HOOKS[:] = [lambda: None, cell.game.pause]
    before = cell.game.tick
    cell.advance(300)
    assert (cell.game.tick, cell.game.state) == (before + 2, "paused")
    cell.stops += 2
    cell.game.resume()
    cell.cut = True  # the tick was due within a frame


def hide_and_show(cell: Cell) -> None:
    cell.see(False)
    before = cell.game.tick
    cell.advance(700)
    assert cell.game.tick == before
    cell.see(True)
    cell.advance(300)
    assert cell.game.tick > before


def change_of_rate(cell: Cell) -> None:
    for hz in (30, 120, 60):
        cell.game.set_rate(Rate(hz))
        before = cell.game.tick
        cell.advance(300)
        assert abs(cell.game.tick - before - hz * 3 // 10) <= 5


def change_of_speed(cell: Cell) -> None:
    for speed in (20, 5, 0, 1):
        if speed in (0, *cell.game.speeds):
            cell.game.set_speed(speed)
            cell.stops += 1
            before = cell.game.tick
            cell.advance(300)
            assert abs(cell.game.tick - before - 18 * speed) <= 2 * max(speed, 1)
    assert cell.game.state == "playing"


def a_stall(cell: Cell) -> None:
    for milliseconds in (120, 240, 900):

        def stall(span: int = milliseconds * MS) -> None:
            cell.at += span

        HOOKS[:] = [stall]
        cell.advance(1_200)
    assert cell.totals["dropped"] > 0
    assert cell.game.clamped > 600 * MS


def a_fault(cell: Cell) -> None:
    saved, due = cell.game.state_dict(), cell.due
    HOOKS[:] = [fail]
    cell.stops += 1
    cell.at += 60 * MS
    if cell.kind == "plain step":
        with pytest.raises(ZeroDivisionError):
            cell.advance(100)
    else:
        cell.advance(100)
    assert cell.game.state == "faulted"
    assert cell.game.abandoned >= 1
    assert cell.ticks == list(range(cell.game.tick))
    assert cell.game.accepted + cell.game.clamped + cell.game.excluded == cell.game.wall
    before = cell.failed = cell.game.tick
    if cell.kind != "plain step":
        cell.advance(200)
        assert cell.game.tick == before
        cell.game.restart()
    else:
        cell.game.restore({**saved, "tick": before})
    cell.place = Fraction(0)
    cell.advance(300)
    assert cell.game.state == "playing"
    assert cell.ticks == list(range(cell.game.tick))
    assert cell.due > due
    cell.take_over()


def save_and_load(cell: Cell) -> None:
    saved = cell.game.state_dict()
    world = None if cell.kind == "plain step" else copy.deepcopy(cell.game.world)
    kept = list(cell.ticks)
    remainder = cell.game.remainder
    cell.advance(300)
    if world is None:
        cell.game.restore(saved)
        cell.plain[:] = kept
    else:
        cell.game.restore(saved, world)
    # Under "forget" a load ends what was not yet a tick, as a pause does.
    assert (cell.game.tick, cell.game.remainder) == (len(kept), remainder * cell.game._keep)
    cell.place = Fraction(0)
    cell.cut = True
    cell.at += 900 * MS
    cell.advance(300)
    assert cell.game.tick > len(kept)


def input_and_messages(cell: Cell) -> None:
    cell.game.input.press("fire")
    cell.game.post({"a": 1})
    cell.advance(100)
    cell.game.input.release("fire")
    cell.advance(100)
    assert cell.game.world.x == 3 * cell.game.tick + 1


ACTIONS = (
    pause_and_resume,
    run_three_ticks,
    verb_within_a_tick,
    hide_and_show,
    change_of_rate,
    change_of_speed,
    a_stall,
    a_fault,
    save_and_load,
    input_and_messages,
)
WITHOUT_MEANING = {
    ("plain step", input_and_messages): "a plain step has neither input nor messages",
}
CELLS = [
    pytest.param(game, host, policy, action, id=f"{game}-{host}-{policy}-{action.__name__}")
    for game in GAMES
    for host in HOSTS
    for policy in ("keep", "forget")
    for action in ACTIONS
    if (game, action) not in WITHOUT_MEANING
]


@pytest.mark.parametrize(("game", "host", "policy", "action"), CELLS)
def test_a_cell_keeps_its_account(
    game: str, host: str, policy: str, action: Callable[[Cell], None]
) -> None:
    cell = Cell(game, host, policy)
    cell.advance(500)
    assert cell.game.tick >= 28
    cell.check()
    action(cell)
    cell.check()
    cell.advance(500)
    cell.check()
    assert cell.frames > 20
    if cell.recorder is not None:
        cell.recorder.close()
        assert cell.recorder.error is None
        recording = Recording(io.StringIO(cell.file.getvalue()))
        again = Session(World, buttons=["fire"], rate=Rate(60))
        HOOKS[:] = [] if cell.failed is None else [*[lambda: None] * cell.failed, fail]
        result = replay(recording, again)
        assert result.divergence is None
        assert again.tick > 28


def test_the_account_finds_a_tick_that_was_lost_and_time_that_was() -> None:
    """The control of the matrix."""
    for fault in ("tick", "time", "picture"):
        cell = Cell("session", "headless", "keep")
        cell.advance(500)
        if fault == "tick":
            cell.ticks.pop()
            with pytest.raises(AssertionError, match="lost or doubled"):
                cell.check()
        elif fault == "time":
            cell.game._replace_loop(cell.game.last, 0)
            cell.due += Fraction(1, 2)
            with pytest.raises(AssertionError, match="time was lost"):
                cell.check()
        else:
            cell.place += 2
            with pytest.raises(AssertionError, match="went back"):
                cell.advance(1)
