"""What the adapters share, under a toolkit that is a list: no window, no display, no waiting.

The windows themselves are in test_toolkits.py.
"""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from importlib.metadata import metadata
from typing import Any

import pytest
from fixedstep.host.paced_window import PacedWindow

from fixedstep import Alpha, FrameLoop, FramePlan, Nanos, Rate, Step, Timestamp, Timestep
from fixedstep.host.arcade_window import ArcadeWindow
from fixedstep.host.pygame_window import PygameWindow
from fixedstep.host.pyglet_window import PygletWindow
from fixedstep.host.toolkits import MissingToolkit, load, no_display

MS = 10**6
TICK = 50 * MS


class Toolkit(PacedWindow):
    """Writes down what it is asked for, and does in a pump what the test puts there."""

    def __init__(self, **options: Any) -> None:
        self.at = 4_000_000_000
        self.log: list[str] = []
        self.sleeps: list[int] = []
        self.alphas: list[float] = []
        self.pumped = 0
        super().__init__(
            self.step, self.render, clock=self.clock, sleep=self.sleep, **{**OPTIONS, **options}
        )
        self.log.clear()

    def clock(self) -> Timestamp:
        self.log.append("clock")
        return Timestamp(self.at)

    def sleep(self, span: Nanos) -> None:
        self.log.append("sleep")
        self.sleeps.append(span)
        self.at += span

    def step(self, step: Step) -> None:
        self.log.append(f"step {step.tick}")

    def render(self, alpha: Alpha) -> None:
        self.log.append("render")
        self.alphas.append(alpha)

    def frame(self) -> FramePlan | None:
        self.log.clear()
        plan = self.begin_frame()
        self._draw_and_flip()
        return plan

    def _pump(self) -> None:
        self.log.append("events")
        self.at += self.pumped

    def _draw_and_flip(self) -> None:
        if self.binding.draw():
            self.log.append("flip")

    def _close(self) -> None:
        self.log.append("close")


OPTIONS: dict[str, Any] = {"timestep": Rate(20), "frames": Rate(60)}


def test_a_frame_waits_then_takes_events_then_updates_then_draws() -> None:
    window = Toolkit()
    for _ in range(3):
        window.frame()
    window.frame()
    assert window.log == [
        *("clock", "clock", "sleep", "clock"),
        "events",
        *("clock", "step 0"),
        *("render", "flip"),
    ]


def test_a_first_draw_that_compiles_for_long_drops_nothing() -> None:
    window = Toolkit()
    render = window.render

    def slow(alpha: Alpha) -> None:
        if not window.alphas:
            window.at += 700 * MS
        render(alpha)

    window.binding._render = slow
    window.frame()
    for _ in range(6):
        window.frame()
    assert window.alphas[0] == 0.0
    assert (window.binding.stats.ticks, window.binding.stats.steps_dropped) == (2, 0)
    assert window.pacer.report().late == 0


def test_a_handler_that_takes_long_is_seen_in_the_frame_it_delayed() -> None:
    """The clock is read after the events, not before them."""
    window = Toolkit()
    window.frame()
    window.pumped = 550 * MS
    plan = window.frame()
    assert plan is not None
    assert (plan.step_count, plan.dropped) == (5, 6)


def test_f03_frames_of_16_4_ms_lose_nothing_below_a_millisecond() -> None:
    """The display paces; the control is the same span in whole milliseconds."""
    window = Toolkit(timestep=Timestep(16_666_667), frames=None)
    window.frame()
    window.pumped = 16_400_000
    steps = 0
    for _ in range(1_000):
        plan = window.frame()
        assert plan is not None
        steps += plan.step_count
        remainder = plan.remainder
    assert (steps, remainder) == (983, 16_666_339)

    truncated = FrameLoop(Timestep(16_666_667), start=Timestamp(0))
    for k in range(1, 1_001):
        truncated.begin_frame(Timestamp(k * (16_400_000 // MS * MS)))
    assert truncated.tick == 959


def test_the_time_from_frame_to_frame_is_kept_with_what_was_drawn() -> None:
    window = Toolkit()
    for _ in range(61):
        window.frame()
    assert window.timing.count == window.timing.drawn == 60
    assert window.timing.sum == 1_000 * MS
    assert window.timing.max <= 16_666_667


def test_a_hidden_window_steps_on_at_the_hidden_rate_and_is_not_drawn() -> None:
    window = Toolkit(hidden=Rate(10))
    for _ in range(3):
        window.frame()
    window.set_visible(False)
    drawn = len(window.alphas)
    ticks = window.binding.stats.ticks
    for _ in range(11):
        window.frame()
    assert window.sleeps[-2:] == [100 * MS, 100 * MS]
    assert window.binding.stats.ticks == ticks + 20
    assert window.binding.stats.steps_dropped == 0
    assert len(window.alphas) == drawn
    assert window.timing.skipped == 11
    window.set_visible(True)
    window.frame()
    window.frame()
    assert window.sleeps[-1] == 16_666_667
    assert len(window.alphas) == drawn + 2
    assert window.pacer.report().resets == 2


def test_a_change_of_visibility_that_is_none_keeps_the_grid() -> None:
    window = Toolkit()
    window.frame()
    window.frame()
    window.set_visible(True)
    assert window.pacer.report().resets == 0
    assert window.pacer.next_target is not None


def test_a_hidden_window_that_resyncs_counts_no_frame_for_the_absence() -> None:
    window = Toolkit(dormant="resync")
    for _ in range(4):
        window.frame()
    window.set_visible(False)
    for _ in range(50):
        assert window.frame() is None
    window.set_visible(True)
    for _ in range(2):
        window.frame()
    assert window.timing.count == 4
    assert window.timing.max < 20 * MS
    assert window.binding.stats.steps_dropped == 0


def test_a_frame_cap_over_a_display_that_paces_by_itself() -> None:
    """The display shows a frame every 4 ms, the cap is 100 a second."""
    window = Toolkit(frames=Rate(100))
    window.pumped = 4 * MS
    for _ in range(101):
        window.frame()
    assert window.timing.sum == 100 * 10 * MS
    assert set(window.sleeps) == {6 * MS}


def test_a_close_button_tells_the_toolkit_to_leave_it_and_closes_in_the_next_update() -> None:
    window = Toolkit()
    window.frame()
    assert window._request_close() is True
    assert "close" not in window.log
    window.frame()
    assert window.log[-1] == "close"
    assert window.binding.closed


def test_bad_options_are_refused_before_a_window_is_touched() -> None:
    for option in ({"hidden": 20}, {"frames": 60}):
        with pytest.raises(TypeError, match="rate must be a Rate"):
            Toolkit(**option)
    with pytest.raises(ValueError, match="dormant"):
        Toolkit(dormant="sleep")


def nothing(_: object) -> None: ...


@pytest.mark.parametrize(
    ("toolkit", "run"),
    [
        ("pygame", lambda: PygameWindow(nothing, nothing).run()),
        ("pyglet", lambda: PygletWindow(nothing, nothing).run(None)),
        ("arcade", lambda: ArcadeWindow(nothing, nothing).run(None)),
    ],
)
def test_a_toolkit_that_is_missing_is_an_error_that_names_the_extra(
    toolkit: str, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, toolkit, None)
    text = rf"{toolkit} is not installed; pip install 'fixedstep\[{toolkit}\]' installs it"
    with pytest.raises(MissingToolkit, match=text):
        run()


def test_the_extras_that_the_errors_name_are_there() -> None:
    extras = metadata("fixedstep").get_all("Provides-Extra") or []
    assert {"pygame", "pyglet", "arcade"} <= set(extras)
    assert "tkinter" not in extras


def test_a_toolkit_that_is_broken_says_so_itself(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module that the toolkit itself misses is no reason to install the toolkit."""
    (tmp_path / "toolkit_of_a_test.py").write_text("import absent_part_of_a_test")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="absent_part_of_a_test") as caught:
        load("toolkit_of_a_test")
    assert not isinstance(caught.value, MissingToolkit)


def test_a_display_that_is_missing_is_an_error_that_says_how_to_get_one() -> None:
    text = str(no_display("pygame", "no X"))
    assert "(no X)" in text
    assert "ssh -X" in text
    assert "xvfb-run -a fixedstep demo --window pygame" in text


def test_no_toolkit_is_imported_before_a_window_is_wanted() -> None:
    program = (
        "import sys\n"
        "import fixedstep.host.ball.in_pygame, fixedstep.host.ball.in_pyglet\n"
        "import fixedstep.host.ball.in_arcade, fixedstep.cli.demo\n"
        "print(sorted({'pygame', 'pyglet', 'arcade'} & set(sys.modules)))\n"
        "print('fixedstep.host.arcade_window' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["[]", "True"]


@pytest.mark.parametrize("module", ["toolkits", "ball.model"])
def test_the_examples_are_true(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"fixedstep.host.{module}"))
    assert results.attempted >= (5 if module == "ball.model" else 0)
    assert results.failed == 0


def test_nothing_but_a_rate_can_pace_a_window_that_nobody_sees() -> None:
    with pytest.raises(TypeError, match="hidden must be a Rate, not None"):
        Toolkit(hidden=None)


def test_a_change_of_visibility_resets_the_grid_also_between_equal_rates() -> None:
    window = Toolkit(hidden=Rate(60))
    window.frame()
    for resets, visible in enumerate((False, True), 1):
        window.set_visible(visible)
        window.frame()
        assert window.pacer.report().resets == resets


@pytest.mark.parametrize(
    ("kind", "arguments"), [(PygameWindow, []), (PygletWindow, [None]), (ArcadeWindow, [None])]
)
def test_a_window_that_was_closed_is_not_run_again(kind: Any, arguments: list[Any]) -> None:
    """It used to open one that could not be closed, or to return without a word."""
    window = kind(nothing, nothing)
    window._close = lambda: None
    window.binding._close = lambda: None
    window.binding.request_close()
    window.binding.update()
    with pytest.raises(RuntimeError, match=f"this {kind.__name__} was closed"):
        window.run(*arguments)
