"""The ball, its keys and its numbers, and ``fixedstep demo --window``, without a window."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from fixedstep.host.paced_window import PacedWindow

from fixedstep import Alpha, Nanos, Rate, Step, StepBudget, Timestamp
from fixedstep.cli import main
from fixedstep.host.ball.model import HEIGHT, RADIUS, WIDTH, Ball
from fixedstep.host.toolkits import no_display

if TYPE_CHECKING:
    from collections.abc import Callable

MS = 10**6
TICK = 50 * MS


class Window(PacedWindow):
    """A toolkit that does nothing but count: 60 frames a second of a number."""

    def __init__(self, ball: Ball, **options: Any) -> None:
        self.at = 0
        self.pictures: list[Any] = []
        super().__init__(
            ball.step,
            lambda alpha: self.pictures.append(ball.picture(alpha)),
            timestep=Rate(20),
            clock=lambda: Timestamp(self.at),
            sleep=self.sleep,
            **options,
        )
        ball.attach(self)

    def sleep(self, span: Nanos) -> None:
        self.at += span

    def frames(self, count: int) -> Any:
        for _ in range(count):
            self.begin_frame()
            self._draw_and_flip()
        return self.pictures[-1]

    def _pump(self) -> None: ...

    def _draw_and_flip(self) -> None:
        self.binding.draw()

    def _close(self) -> None: ...


def step(tick: int, dt: int = TICK) -> Step:
    return Step(tick, Nanos(dt), Nanos(tick * dt))


@pytest.mark.parametrize("dt", [TICK, 10**9, 40 * 10**9])
def test_the_ball_stays_in_the_field_however_long_a_tick_is(dt: int) -> None:
    ball = Ball()
    places = set()
    for tick in range(500):
        ball.step(step(tick, dt))
        x, y = ball.at(Alpha(0.0))
        assert RADIUS <= x <= WIDTH - RADIUS
        assert RADIUS <= y <= HEIGHT - RADIUS
        places.add((x, y))
    assert len(places) > 20


def test_two_runs_of_the_ball_are_equal_and_another_tick_is_not() -> None:
    def path(dt: int) -> list[tuple[float, float]]:
        ball = Ball()
        found = []
        for tick in range(200):
            ball.step(step(tick, dt))
            found.append(ball.at(Alpha(0.5)))
        return found

    assert path(TICK) == path(TICK)
    assert path(TICK) != path(TICK + 1_000_000)


def test_alpha_moves_the_ball_only_while_interpolation_is_on() -> None:
    ball = Ball()
    window = Window(ball)
    window.frames(10)
    early, late = ball.picture(Alpha(0.25)), ball.picture(Alpha(0.75))
    assert early.ball != late.ball
    assert early.previous == late.previous
    assert early.previous[0] < early.ball[0] < late.ball[0] < early.current[0]
    ball.key("i")
    assert ball.picture(Alpha(0.25)).ball == ball.picture(Alpha(0.75)).ball == early.current
    assert ball.picture(Alpha(0.25)).lines[1].endswith("interpolation off")
    ball.key("i")
    assert ball.picture(Alpha(0.25)).ball == early.ball


def test_the_keys_pause_step_once_and_go_on() -> None:
    ball = Ball()
    window = Window(ball)
    window.frames(7)
    assert window.binding.stats.ticks == 2
    ball.key("p")
    still = window.frames(60).ball
    assert window.pictures[-1].lines[1].endswith("  paused")
    assert window.frames(60).ball == still
    assert window.binding.stats.ticks == 2
    ball.key("n")
    moved = window.frames(60).ball
    assert window.binding.stats.ticks == 3
    assert moved != still
    ball.key("p")
    assert not window.frames(1).lines[1].endswith("paused")  # time runs again from here
    window.frames(60)
    assert window.binding.stats.ticks == 23
    assert window.binding.stats.steps_dropped == 0
    ball.key("n")  # pauses by itself
    window.frames(60)
    assert (window.binding.stats.ticks, window.binding.paused) == (24, True)


def test_the_stall_key_blocks_and_the_numbers_show_what_it_cost() -> None:
    window: Window
    ball = Ball(stall=Nanos(550 * MS), sleep=lambda span: window.sleep(span))
    window = Window(ball)
    window.frames(4)
    ball.key("s")
    assert "dropped    6   " in window.frames(1).lines[0]


def test_the_numbers_are_those_of_the_frames() -> None:
    window = Window(Ball())
    first = window.frames(1).lines[0]
    assert "ticks     0" in first
    assert "fps     -" in first
    later = window.frames(60).lines[0]
    for shown in ("ticks    20", "dropped    0", "fps  60.0", "p99  16.7 ms", "real time 1.00"):
        assert shown in later, later


def test_an_alpha_below_one_is_never_shown_as_one() -> None:
    ball = Ball()
    Window(ball)
    assert "alpha 0.99" in ball.picture(Alpha(0.999999)).lines[0]


def test_a_limit_closes_the_window_after_so_much_time() -> None:
    window = Window(Ball(limit=Nanos(500 * MS)))
    window.frames(28)
    assert not window.binding.closed
    window.frames(5)
    assert window.binding.closed


def test_escape_closes_and_a_key_without_use_does_nothing() -> None:
    ball = Ball()
    ball.key("p")  # before there is a window
    window = Window(ball)
    window.frames(1)
    ball.key("q")
    assert not window.frames(1).lines[1].endswith("off")
    ball.key("escape")
    window.frames(1)
    assert window.binding.closed


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
    """The ball's program, not opening a window but noting with what it would."""
    calls: list[Any] = []
    monkeypatch.setattr(
        import_module("fixedstep.host.ball.in_pyglet"),
        "play",
        lambda ball, **paced: calls.append((ball, paced)),
    )
    return calls


def test_the_command_opens_the_ball_at_twenty_ticks_until_it_is_closed(opened: list[Any]) -> None:
    assert main(["demo", "--window", "pyglet"]) == 0
    ((ball, paced),) = opened
    assert paced == {"timestep": Rate(20), "budget": StepBudget(5)}
    assert (ball._limit, ball._stall) == (None, 200 * MS)


def test_the_command_hands_its_options_to_the_window(opened: list[Any]) -> None:
    options = ["--seconds", "1.5", "--hz", "7", "--budget", "2", "--stall-ms", "40"]
    assert main(["demo", "--window", "pyglet", *options]) == 0
    ((ball, paced),) = opened
    assert paced == {"timestep": Rate(7), "budget": StepBudget(2)}
    assert (ball._limit, ball._stall) == (1_500 * MS, 40 * MS)


def test_the_command_says_how_to_get_a_display(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(ball: Ball, **paced: Any) -> None:
        raise no_display("pyglet", "no X")

    monkeypatch.setattr(import_module("fixedstep.host.ball.in_pyglet"), "play", play)
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


def test_a_window_that_fails_for_another_reason_says_so_itself() -> None:
    """Only what means that there is no display is told as that."""
    open_window: Callable[..., Any] = import_module("fixedstep.host.ball.in_pyglet").open_window

    class NoSuchDisplayException(Exception): ...

    def fail(error: Exception) -> Any:
        raise error

    with pytest.raises(RuntimeError, match=r"arcade finds no display .*too few"):
        open_window("arcade", lambda: fail(NoSuchDisplayException("too few")))
    with pytest.raises(ZeroDivisionError):
        open_window("arcade", lambda: fail(ZeroDivisionError()))
