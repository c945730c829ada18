"""The demo's ball, its keys and its words, and ``fixedstep demo --window``, without a window."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from fixedstep import Alpha, Nanos, Rate, Step
from fixedstep.cli import ball as program
from fixedstep.cli import main
from fixedstep.cli.ball import HEIGHT, RADIUS, WIDTH, Ball, Screen
from fixedstep.host import toolkits

from .standins import MS, SECOND, Toolkit

TICK = 50 * MS


class Shown:
    """A ball in a window without a toolkit, on a clock that is a number."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
        self.discs: list[tuple[float, float, int]] = []
        self.said: list[str] = []
        self.titles: list[str] = []
        screen = Screen(
            "PygameWindow",
            {},
            self.discs.clear,
            lambda x, y, radius, colour: self.discs.append((x, y, radius)),
            str,
            self.titles.append,
            lambda: self.said.append("left"),
        )

        def kind(*arguments: Any, clock: Any, sleep: Any, **others: Any) -> Toolkit:
            return Toolkit(*arguments, **others)

        monkeypatch.setattr("fixedstep.host.PygameWindow", kind, raising=False)
        options = {"rate": Rate(20), "stall": Nanos(600 * MS), **options}
        self.ball = Ball(screen, say=self.said.append, sleep=self.sleep, **options)
        window = self.ball.window
        assert isinstance(window, Toolkit)
        self.window = window
        self.game = self.ball.game

    def sleep(self, span: Nanos) -> None:
        self.window.at += span

    def frames(self, count: int) -> tuple[float, float]:
        """Where the ball is drawn after so many frames."""
        self.window.frames(count)
        return self.discs[-1][:2]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    return Shown(monkeypatch)


def step(tick: int, dt: int = TICK) -> Step:
    return Step(tick, Nanos(dt), Nanos(tick * dt))


@pytest.mark.parametrize("dt", [TICK, 10**9, 40 * 10**9])
def test_the_ball_stays_in_the_field_however_long_a_tick_is(shown: Shown, dt: int) -> None:
    places = set()
    for tick in range(500):
        shown.ball.step(step(tick, dt))
        x, y = shown.ball.at(Alpha(0.0))
        assert RADIUS <= x <= WIDTH - RADIUS
        assert RADIUS <= y <= HEIGHT - RADIUS
        places.add((x, y))
    assert len(places) > 20


def test_alpha_moves_the_ball_only_while_interpolation_is_on(shown: Shown) -> None:
    shown.frames(10)
    ball = shown.ball
    assert ball.at(Alpha(0.25)) != ball.at(Alpha(0.75))
    previous, current, drawn = shown.discs
    assert previous[0] <= drawn[0] <= current[0]
    assert ball.key("i")
    assert ball.at(Alpha(0.25)) == ball.at(Alpha(0.75)) == current[:2]
    assert ball.key("i")
    assert ball.at(Alpha(0.25)) != ball.at(Alpha(0.75))


def test_the_keys_pause_step_once_and_go_on(shown: Shown) -> None:
    shown.frames(7)
    assert shown.game.tick == 2
    shown.ball.key("p")
    still = shown.frames(60)
    assert shown.titles[-1].endswith("paused")
    assert shown.frames(60) == still
    assert shown.game.tick == 2
    shown.ball.key("n")
    assert shown.frames(60) != still
    assert shown.game.tick == 3
    shown.ball.key("p")
    shown.frames(61)
    assert shown.game.tick in (23, 24)
    assert shown.game.stats.steps_dropped == 0
    before = shown.game.tick
    shown.ball.key("n")  # pauses by itself
    shown.frames(60)
    assert (shown.game.tick, shown.game.paused) == (before + 1, True)


def test_the_stall_key_drops_ticks_and_says_so(shown: Shown) -> None:
    shown.frames(4)
    shown.ball.key("s")
    shown.frames(1)
    assert shown.said == [
        "a stall of 600 ms on purpose",
        "12 ticks were due in one frame: 5 ran, 7 were dropped, so the ball is 7 ticks behind the "
        "clock",
    ]
    shown.frames(30)
    assert "7 dropped" in shown.titles[-1]


def test_the_run_is_summed_up_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown(monkeypatch, limit=Nanos(SECOND))
    shown.ball.play()
    assert shown.said[0].startswith("20 ticks a second, 60 frames. Keys: I interpolation")
    assert shown.said[1:] == [
        "left",
        "61 frames ran 20 ticks and dropped 0; the longest frame took 16.7 ms",
    ]
    assert shown.window.closed


def test_escape_closes_and_a_key_without_use_does_nothing(shown: Shown) -> None:
    shown.frames(1)
    assert not shown.ball.key("q")
    assert shown.window.run_frame()
    assert shown.ball.key("escape")
    assert not shown.window.run_frame()


# fixedstep demo --window


@pytest.mark.parametrize("toolkit", ["pygame", "pyglet", "arcade"])
def test_the_command_names_the_extra_of_a_missing_toolkit(
    toolkit: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, toolkit, None)
    assert main(["demo", "--window", toolkit]) == 2
    assert capsys.readouterr() == (
        "",
        f"fixedstep: {toolkit} is not installed; pip install 'fixedstep[{toolkit}]' installs it\n",
    )


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The program, not opening a window but noting with what it would."""
    calls: list[Any] = []

    class Noted:
        def __init__(self, screen: Any, **options: Any) -> None:
            calls.append((screen, options))

        def play(self) -> None: ...

    monkeypatch.setattr(program, "open_screen", lambda toolkit: toolkit)
    monkeypatch.setattr(program, "Ball", Noted)
    return calls


def test_the_command_opens_the_ball_at_twenty_ticks_until_it_is_closed(opened: list[Any]) -> None:
    assert main(["demo", "--window", "pyglet"]) == 0
    ((screen, options),) = opened
    assert screen == "pyglet"
    assert (options["rate"], options["budget"].steps) == (Rate(20), 5)
    assert (options["limit"], options["stall"]) == (None, 600 * MS)


def test_the_command_hands_its_options_to_the_window(opened: list[Any]) -> None:
    arguments = ["--seconds", "1.5", "--hz", "7", "--budget", "2", "--stall-ms", "40"]
    assert main(["demo", "--window", "pyglet", *arguments]) == 0
    ((_, options),) = opened
    assert (options["rate"], options["budget"].steps) == (Rate(7), 2)
    assert (options["limit"], options["stall"]) == (1_500 * MS, 40 * MS)


def test_the_command_says_how_to_get_a_display(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(toolkit: str) -> Screen:
        raise toolkits.no_display(toolkit, "no X")

    monkeypatch.setattr(program, "open_screen", missing)
    assert main(["demo", "--window", "pyglet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fixedstep: pyglet finds no display for a window (no X); start it from")
    assert err.endswith("`xvfb-run -a fixedstep demo --window pyglet`\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--window", "tk"], "invalid choice: 'tk'"),
        (["--window", "pyglet", "--record", "x"], "--record is for the demo without --window"),
    ],
)
def test_what_a_window_cannot_do_is_said(
    arguments: list[str],
    said: str,
    opened: list[Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert opened == []


def test_a_window_that_fails_for_another_reason_says_so_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only what means that there is no display is told as that."""

    class NoSuchDisplayException(Exception): ...

    def fail(error: Exception) -> Any:
        raise error

    monkeypatch.setattr(program, "_arcade", lambda: fail(NoSuchDisplayException("too few")))
    with pytest.raises(toolkits.NoDisplay, match=r"arcade finds no display .*too few"):
        program.open_screen("arcade")
    missing = toolkits.MissingToolkit("not installed")
    for error in (ZeroDivisionError(), missing):
        monkeypatch.setattr(program, "_arcade", lambda error=error: fail(error))
        with pytest.raises(type(error)):
            program.open_screen("arcade")


def test_two_runs_of_the_ball_are_equal_and_another_tick_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def path(dt: int) -> list[tuple[float, float]]:
        ball = Shown(monkeypatch).ball
        found = []
        for tick in range(200):
            ball.step(step(tick, dt))
            found.append(ball.at(Alpha(0.5)))
        return found

    assert path(TICK) == path(TICK)
    assert path(TICK) != path(TICK + 1_000_000)
