"""What the windows share, under a toolkit that is a list: no window, no display, no waiting.

The toolkits' own windows are in test_toolkits.py.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from functools import partial
from importlib.metadata import metadata
from typing import Any

import pytest

from fixedstep import FrameLoop, Rate, Step, Timestamp, Timestep
from fixedstep.host import ArcadeWindow, PygameWindow, PygletWindow
from fixedstep.host._refresh import RefreshSnap
from fixedstep.host.toolkits import MissingToolkit, load, no_display
from fixedstep.sim import SHOW_CURRENT, GameLoop, Session, TickInput

from .standins import MS, SECOND, Toolkit

TICK = 50 * MS


def nothing(_: object) -> None: ...


class Clicks:
    """A world that keeps what its ticks were given."""

    def __init__(self) -> None:
        self.inputs: list[TickInput] = []

    def step(self, input: TickInput, tick: Any) -> None:
        self.inputs.append(input)

    def pressed(self, name: str) -> list[int]:
        return [given[name].pressed for given in self.inputs]


def of_session(**options: Any) -> Toolkit:
    """A window of a session with one button on key 1."""
    session = Session(Clicks, buttons=["fire"], rate=Rate(20))
    return Toolkit(session, nothing, **{"keys": {1: "fire"}, "fps": 60, **options})


# The order within a frame.


def test_a_frame_takes_events_then_hotkeys_then_the_sample_then_ticks_then_draws() -> None:
    log: list[str] = []

    class World:
        def step(self, input: Any, tick: Any) -> None:
            log.append(f"tick {tick.number}")

    window = Toolkit(
        Session(World, rate=Rate(20)),
        lambda alpha: log.append("draw"),
        lambda input: log.append("sample"),
        hotkey=lambda event: log.append(f"hotkey {event}"),
    )
    window.frame()
    log.clear()
    window.events = [lambda: window._takes("p")]
    window.frame()
    assert log == ["hotkey p", "sample", "tick 0", "draw"]
    assert window.log[-2:] == ["events", "flip"]


def test_a_first_draw_that_compiles_for_long_drops_nothing() -> None:
    window = Toolkit(nothing, rate=Rate(20), fps=60)
    window.flip = 700 * MS
    window.frame()
    window.flip = 0
    assert window.alphas == [SHOW_CURRENT]
    assert sum(window.frames(6)) == 2
    assert window.game.stats.steps_dropped == 0
    assert window.game.clamped == 0


def test_the_schedule_begins_after_the_window_was_opened() -> None:
    window = Toolkit(nothing, rate=Rate(20))
    window.at += 600 * MS
    assert window.frame().ran == 0
    assert window.frame().ran == 1
    assert window.game.wall == TICK


def test_a_handler_that_takes_long_is_seen_in_the_frame_it_delayed() -> None:
    """The clock is read after the events, not before them."""
    window = Toolkit(nothing, rate=Rate(20), max_delta=None)
    window.frame()

    def slow() -> None:
        window.at += 500 * MS

    window.events = [slow]
    report = window.frame()
    assert (report.ran, report.dropped) == (5, 6)


def test_a_long_frame_is_clamped_and_told() -> None:
    window = Toolkit(nothing, rate=Rate(20))
    window.frame()
    window.at += 550 * MS
    report = window.frame()
    assert (report.ran, report.dropped, report.clamped) == (5, 0, 300 * MS)


def test_f03_frames_of_16_4_ms_lose_nothing_below_a_millisecond() -> None:
    """The display paces; the control is the same span in whole milliseconds."""
    loop = GameLoop(nothing, Rate(10**9, 16_666_667))
    window = Toolkit(loop)
    window._vsync = True
    window.frame()
    window.flip = 16_400_000
    window.frame()
    ran = window.frames(1_000)
    # After the 2 ms to the second frame, the shortest there is.
    assert (sum(ran), loop.remainder // 10**9) == divmod(2 * MS + 1_000 * 16_400_000, 16_666_667)

    truncated = FrameLoop(Timestep(16_666_667), start=Timestamp(0))
    for k in range(1, 1_001):
        truncated.begin_frame(Timestamp(k * 16 * MS))
    assert truncated.tick == 959


def test_a_repaint_without_a_frame_draws_the_same_picture() -> None:
    window = Toolkit(nothing, rate=Rate(20), fps=60)
    assert window.alpha == 1.0, "before the first frame: the newest state, which is all there is"
    window.frames(3)
    before = window.alpha
    window.at += 20 * MS
    for _ in range(3):
        window._show(window.alpha)
    assert set(window.alphas[-4:]) == {before}
    window.frame()
    assert window.alphas[-1] != before, "the control: a frame does change it"


def test_a_dialog_within_a_tick_runs_no_ticks_and_closes_nothing() -> None:
    """Its own event loop goes on calling. The ticks used to run within each other."""
    log: list[str] = []

    def step(step: Step) -> None:
        log.append(f"begin {step.tick}")
        if step.tick == 0:
            window.close()
            for _ in range(3):
                window.at += 40 * MS
                assert window.run_frame()
        log.append(f"end {step.tick}")

    window = Toolkit(step, rate=Rate(20))
    window.frame()
    window.at += 100 * MS
    window.run_frame()
    assert log == ["begin 0", "end 0", "begin 1", "end 1"]
    assert "close" not in window.log
    assert not window.run_frame()
    assert window.log[-1] == "close"


def test_a_tick_that_raises_comes_out_and_the_picture_stays() -> None:
    def step(step: Step) -> None:
        raise ArithmeticError(step.tick)

    window = Toolkit(step, rate=Rate(20))
    window.frame()
    drawn = len(window.alphas)
    with pytest.raises(ArithmeticError):
        window.frame()
    assert window.run_frame(), "a window is not locked by it"
    assert window.game.state == "faulted"
    assert len(window.alphas) == drawn


def test_a_faulted_session_keeps_its_last_picture_and_still_takes_input_and_keys() -> None:
    samples: list[Any] = []
    keys: list[int] = []

    class World:
        def step(self, input: Any, tick: Any) -> None:
            raise ValueError("planted")

    window = Toolkit(Session(World, rate=Rate(20)), nothing, samples.append, hotkey=keys.append)
    window.frames(2)
    drawn = len(window.alphas)
    window.events = [lambda: window._takes(1)]
    window.frames(3)
    assert len(window.alphas) == drawn
    assert (len(samples), keys) == (5, [1])
    window.game.restart()
    window.frame()
    assert len(window.alphas) == drawn + 1


# When frames start.

RATES = [30, 50, 60, 64, 75, 90, 120, 144, 240]


@pytest.mark.parametrize("hz", RATES)
def test_each_frame_runs_one_tick_also_after_a_resync(hz: int) -> None:
    window = Toolkit(nothing, rate=Rate(hz))
    assert window.frames(1) == [0]
    assert window.frames(99) == [1] * 99
    window.at += 3 * SECOND
    window.game.exclude()
    assert window.frames(1) == [0]
    assert window.frames(500) == [1] * 500
    assert window.game.stats.steps_dropped == 0


@pytest.mark.parametrize("hz", [60, 90, 144])
def test_the_control_frames_of_a_rounded_period_run_none_now_and_then(hz: int) -> None:
    window = Toolkit(nothing, rate=Rate(hz))
    counts = set()
    for _ in range(600):
        window.run_frame()
        counts.add(window.report.ran)  # type: ignore[union-attr]
        window.at += SECOND // hz  # the next tick is due at the ceiling
    assert counts == {0, 1}


def test_a_change_of_speed_and_a_stall_keep_one_tick_a_frame() -> None:
    game = GameLoop(nothing, Rate(60), speeds=(1, 2))
    window = Toolkit(game)
    window.frames(10)
    game.set_speed(2)
    assert set(window.frames(50)) == {1}
    window.at += 200 * MS
    assert window.frame().ran > 1
    assert set(window.frames(50)) == {1}


def test_a_slow_game_still_sees_ten_frames_a_second() -> None:
    window = Toolkit(nothing, rate=Rate(1))
    assert sum(window.frames(21)) == 2
    assert set(window.sleeps) == {100 * MS}


def test_a_paused_game_is_drawn_sixty_times_a_second() -> None:
    window = Toolkit(nothing, rate=Rate(20))
    window.frames(5)
    window.game.pause()
    began, drawn = window.at, len(window.alphas)
    window.frames(61)
    assert len(window.alphas) == drawn + 61
    assert SECOND <= window.at - began <= SECOND + TICK


def test_a_display_that_does_not_block_is_capped() -> None:
    """A vsync that is switched off in the driver: it ran at 100,464 frames a second."""
    window = Toolkit(nothing, rate=Rate(60))
    window._vsync = True
    window.frames(1_001)
    assert window.timing.min == 2 * MS


def test_a_frame_cap_over_a_display_that_paces_by_itself() -> None:
    """The display shows a frame every 4 ms, the cap is 100 a second."""
    window = Toolkit(nothing, rate=Rate(20), fps=Rate(100))
    window._vsync = True
    window.frame()
    window.flip = 4 * MS
    window.frame()
    window.sleeps.clear()
    window.frames(100)
    assert set(window.sleeps) == {6 * MS}


def test_a_clock_that_goes_back_does_not_stop_the_window() -> None:
    for options in ({}, {"fps": 60}):
        window = Toolkit(nothing, rate=Rate(20), **options)
        window.at = 9_000 * SECOND
        window.frames(3)
        window.at = SECOND
        assert window.wait() == 0
        assert window.frame().regressed
        assert sum(window.frames(30)) >= 8
        assert window.at < 4 * SECOND


def test_the_time_from_frame_to_frame_is_kept_with_what_was_drawn() -> None:
    window = Toolkit(nothing, rate=Rate(20), fps=60)
    window.frames(61)
    assert window.timing.count == window.timing.drawn == 60
    assert window.timing.sum == SECOND
    assert window.timing.max <= 16_666_667


def test_the_clock_and_the_sleep_of_run_are_those_given() -> None:
    def step(step: Step) -> None:
        if step.tick == 119:
            window.close()

    window = Toolkit(step, rate=Rate(20))
    window.run()
    assert window.closed
    assert window.game.tick == 120
    assert window.at == 10 * SECOND
    window.game.restore({**window.game.state_dict(), "tick": 0})
    again = Toolkit(window.game)
    window = again
    asyncio.run(again.run_async())
    assert window.game.tick == 120
    assert again.closed


def test_run_async_lets_other_coroutines_run() -> None:
    others = 0
    window = Toolkit(nothing, rate=Rate(1000))

    async def other() -> None:
        nonlocal others
        while not window.closed:
            others += 1
            if others > 50:
                window.close()
            await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(window.run_async(), other())

    asyncio.run(main())
    assert window.game.tick > 20


def test_a_game_that_ran_before_leaves_out_the_time_between_two_windows() -> None:
    first = Toolkit(nothing, rate=Rate(20))
    first.frames(4)
    second = Toolkit(first.game)
    second.at = first.at + 900 * SECOND
    assert second.frames(3) == [0, 1, 1]
    assert second.game.clamped == 0


# Hidden, without the keyboard, closed.


def test_a_hidden_window_runs_at_its_own_rate_without_drawing_and_excludes_time() -> None:
    window = Toolkit(nothing, rate=Rate(20), fps=60)
    window.frames(10)
    window._see(False)
    ticks, drawn, skipped = window.game.tick, len(window.alphas), window.timing.skipped
    window.frames(11)
    assert window.sleeps[-2:] == [100 * MS] * 2
    assert (window.game.tick, len(window.alphas)) == (ticks, drawn)
    assert window.timing.skipped == skipped + 11
    assert not window.visible
    window._see(True)
    window.frames(61)
    assert window.game.tick == ticks + 20
    assert len(window.alphas) == drawn + 61
    assert window.game.stats.steps_dropped == 0
    assert window.game.excluded > SECOND


def test_a_window_that_runs_in_the_background_goes_on_while_it_is_hidden() -> None:
    window = Toolkit(nothing, rate=Rate(20), run_in_background=True)
    window.frames(3)
    window._see(False)
    drawn = len(window.alphas)
    assert sum(window.frames(10)) in (19, 20)
    assert len(window.alphas) == drawn
    assert window.game.excluded == 0
    assert window.game.stats.steps_dropped == 0


def test_a_hidden_window_that_was_paused_is_paused_when_it_is_back() -> None:
    window = Toolkit(nothing, rate=Rate(20))
    window.frames(3)
    window.game.pause()
    window._see(False)
    window.frames(3)
    window._see(True)
    window.frames(3)
    assert window.game.state == "paused"


def test_a_change_of_visibility_that_is_none_keeps_the_grid() -> None:
    window = Toolkit(nothing, rate=Rate(20), fps=60)
    window.frames(2)
    window.at += 3 * MS
    left = window.wait()
    window._see(True)
    assert window.wait() == left


def test_a_rate_for_a_window_without_the_keyboard_survives_hiding() -> None:
    window = Toolkit(nothing, rate=Rate(20), fps=60, unfocused_fps=15)
    window.frames(2)
    window._focus(False)
    window.frames(3)
    assert window.sleeps[-1] in (66_666_667, 66_666_666)
    window._see(False)
    window.frames(3)
    assert window.sleeps[-1] == 100 * MS
    window._see(True)
    window.frames(3)
    assert window.sleeps[-1] in (66_666_667, 66_666_666)
    window._focus(True)
    window.frames(3)
    assert window.sleeps[-1] in (16_666_667, 16_666_666)


def test_a_close_is_latched_and_the_next_frame_closes_once() -> None:
    window = Toolkit(nothing, rate=Rate(20))
    window.frames(2)
    window.close()
    window.close()
    assert "close" not in window.log
    assert window.wait() == 0
    assert not window.run_frame()
    assert not window.run_frame()
    assert window.log.count("close") == 1
    assert window.game.tick == 1


@pytest.mark.parametrize("change", ["hide", "pause"])
def test_a_window_that_is_hidden_or_paused_still_closes(change: str) -> None:
    window = Toolkit(nothing, rate=Rate(20))
    window.frames(2)
    if change == "hide":
        window._see(False)
    else:
        window.game.pause()
    window.events = [window.close]
    window.frame()
    assert not window.run_frame()
    assert window.log.count("close") == 1


def test_a_close_that_raises_is_called_once() -> None:
    window = Toolkit(nothing)

    def close() -> None:
        window.log.append("close")
        raise OSError("the display is gone")

    window._close = close  # type: ignore[method-assign]
    window.close()
    with pytest.raises(OSError, match="the display is gone"):
        window.run_frame()
    assert not window.run_frame()
    assert (window.log.count("close"), window.closed) == (1, True)


@pytest.mark.parametrize("kind", [PygameWindow, PygletWindow, ArcadeWindow])
def test_a_window_that_was_closed_is_not_run_again(kind: Any) -> None:
    options = {} if kind is PygameWindow else {"window": None}
    window = kind(nothing, nothing, **options)
    window._close = lambda: None
    window.close()
    window.run_frame()
    with pytest.raises(RuntimeError, match=f"this {kind.__name__} was closed"):
        window.run()


# Input.


def test_a_key_is_pressed_once_however_often_it_repeats() -> None:
    window = of_session()
    window.frames(10)
    window.events = [lambda: window._key(1, True)] * 5
    window.frames(9)
    window.events = [lambda: window._key(1, False), lambda: window._key(2, True)]
    window.frames(9)
    inputs = window.game.world.inputs
    assert sum(given["fire"].pressed for given in inputs) == 1
    assert sum(given["fire"].released for given in inputs) == 1


def test_three_taps_in_a_frame_are_three_presses_in_the_next_tick() -> None:
    window = of_session()
    window.frame()
    window.events = [partial(window._key, 1, down) for down in (True, False) * 3]
    window.frames(7)
    assert window.game.world.pressed("fire") == [3, 0]


def test_taps_in_a_pause_do_not_arrive_after_it() -> None:
    """Ten used to arrive as ``pressed=10`` in the first tick after it."""
    window = of_session()
    window.frames(4)
    window.game.pause()
    for _ in range(10):
        window.events = [lambda: window._key(1, True), lambda: window._key(1, False)]
        window.frames(2)
    window.game.resume()
    window.frames(10)
    assert sum(window.game.world.pressed("fire")) == 0


def test_a_key_first_pressed_after_a_pause_counts_at_once() -> None:
    """A key sampled at rest all through the pause used to be ignored."""
    session = Session(Clicks, buttons=["fire"], rate=Rate(20))
    down = False
    window = Toolkit(session, nothing, lambda input: input.button("fire", down), fps=60)
    window.frames(4)
    session.pause()
    window.frames(30)
    session.resume()
    down = True
    window.frames(4)
    assert sum(session.world.pressed("fire")) == 1


def test_the_first_press_after_a_loss_of_focus_counts() -> None:
    window = of_session()
    window.frames(4)
    window.events = [lambda: window._key(1, True)]
    window.frames(4)
    window.events = [lambda: window._focus(False)]
    window.frames(10)
    assert not window.game.input.held("fire")
    window.events = [lambda: window._focus(True)]
    window.frames(4)
    before = sum(window.game.world.pressed("fire"))
    window.events = [lambda: window._key(1, True)]
    window.frames(4)
    assert sum(window.game.world.pressed("fire")) == before + 1
    assert any(given["fire"].cancelled for given in window.game.world.inputs)


def test_hotkeys_can_pause_and_resume() -> None:
    """Handled in the sample, a pause could not be ended."""
    window = of_session()

    def hotkey(event: Any) -> bool:
        window.game.toggle_pause()
        return True

    window._hotkey = hotkey
    states = []
    for _ in range(4):
        window.events = [lambda: window._takes("p")]
        window.frames(3)
        states.append(window.game.state)
    assert states == ["paused", "playing"] * 2


def test_five_run_ticks_before_a_frame_run_five() -> None:
    """``step_once`` called five times ran one."""
    window = Toolkit(nothing, rate=Rate(20), fps=60)
    window.frames(5)
    window.game.pause()
    window.frames(2)
    before, remainder = window.game.tick, window.game.remainder
    for _ in range(5):
        window.game.run_ticks(1)
    window.frames(3)
    assert (window.game.tick, window.game.remainder) == (before + 5, remainder)


def test_a_frame_called_within_the_sample_lets_no_tick_run_in_a_faulted_session() -> None:
    class World:
        ticks = 0

        def step(self, input: Any, tick: Any) -> None:
            self.ticks += 1
            raise ValueError("planted")

    session = Session(World, rate=Rate(20))
    window: Toolkit = Toolkit(session, nothing, lambda input: session.frame(Timestamp(window.at)))
    window.frames(1)
    window.at += 60 * MS
    window.frames(5)
    assert session.world.ticks == 1


def test_a_drag_of_three_seconds_is_clamped_or_left_out() -> None:
    """A desktop that blocks the program while a window is moved sends an event after it."""
    results = []
    for known in (False, True):
        window = Toolkit(nothing, rate=Rate(60))
        window.frames(60)

        def drag(window: Toolkit = window, known: bool = known) -> None:
            window.at += 3 * SECOND
            if known:
                window.game.exclude()

        window.events = [drag]
        report = window.frame()
        results.append((report.ran, report.dropped, report.clamped > 0, report.excluded > 0))
    assert results == [(5, 10, True, False), (0, 0, False, True)]


# Drops.


def test_drops_are_told_each_time_and_logged_every_five_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[int] = []
    window = Toolkit(nothing, rate=Rate(60), on_drop=lambda report: told.append(report.dropped))
    window.frame()
    with caplog.at_level(logging.WARNING, "fixedstep"):
        for _ in range(70):
            window.at += 150 * MS
            window.frame()
    assert len(told) == 70
    assert sum(told) == window.game.stats.steps_dropped
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == 3
    assert texts[0].startswith(
        "4 ticks were dropped and 0 ms were clamped up to tick 5: frames took"
    )
    assert sum(int(text.split()[0]) for text in texts) <= sum(told)


# Faults.


def test_the_traceback_of_a_tick_that_raised_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class World:
        def step(self, input: Any, tick: Any) -> None:
            raise ZeroDivisionError("a fault of the game")

    window = Toolkit(Session(World))
    with caplog.at_level(logging.WARNING, "fixedstep"):
        for _ in range(5):
            window.frame()
    (record,) = caplog.records
    assert record.getMessage().startswith("tick 0 raised ZeroDivisionError; the game is faulted")
    assert "a fault of the game" in (caplog.text)
    window.game.restart()
    with caplog.at_level(logging.WARNING, "fixedstep"):
        for _ in range(5):
            window.frame()
    assert len(caplog.records) == 2, "the new world has a fault of its own"


# Frame times snapped to the display.


def test_snapped_frames_of_a_jittering_display_run_even_ticks_and_lose_no_time() -> None:
    jitter = [0, 900_000, -900_000, 500_000, -500_000]
    counts = {}
    for snap in (False, Rate(60)):
        game = GameLoop(nothing, Rate(60))
        window = Toolkit(game, snap=snap)
        window._vsync = True
        window._start_snap(None)
        ideal, ran = window.at, []
        for frame in range(600):
            window.at = ideal + frame * SECOND // 60 + jitter[frame % 5]
            window.run_frame()
            ran.append(window.report.ran)  # type: ignore[union-attr]
        counts[bool(snap)] = ran[2:]
        assert abs(game.wall - (window.at - ideal)) <= 5 * MS
    assert set(counts[False]) >= {0, 2}
    assert counts[True].count(1) >= 594


def test_a_snapped_clock_never_drifts_from_the_real_one() -> None:
    snap = RefreshSnap(Rate(60))
    at = 10**9
    for frame in range(10_000):
        at += 16_683_350 + (frame % 7 - 3) * 200_000  # a display of 59.94 Hz that says 60
        assert abs(snap.snapped(Timestamp(at)) - at) <= 16_666_667 // 4 + 1_000_000


# Arguments.


@pytest.mark.parametrize(
    ("game", "options", "error", "text"),
    [
        (nothing, {"fps": 0.5}, TypeError, "fps must be frames per second, an int or a Rate"),
        (nothing, {"hidden_fps": None}, TypeError, "hidden_fps must be a rate, not None"),
        (nothing, {"rate": 60}, TypeError, "rate must be a Rate"),
        (nothing, {"sample": nothing}, TypeError, "sample= needs a Session"),
        (nothing, {"keys": {1: "fire"}}, TypeError, "keys= needs a Session"),
        (nothing, {"on_drop": 3}, TypeError, "on_drop must be a function of one FrameReport"),
        (GameLoop(nothing), {"budget": 3}, TypeError, "budget= is for a plain step function"),
        (GameLoop(None), {}, TypeError, "this game has no step function"),
        (Session(Clicks, buttons=["a"]), {"keys": {1: "b"}}, ValueError, "keys name the button"),
    ],
)
def test_bad_options_are_errors_before_a_window_is_touched(
    game: Any, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        Toolkit(game, nothing, **options)


def test_a_coroutine_function_is_no_step() -> None:
    async def step(step: Step) -> None: ...

    class Hidden:
        async def __call__(self, step: Step) -> None: ...

    for wrong in (step, Hidden()):
        with pytest.raises(TypeError, match="step must be a plain function, not the coroutine"):
            Toolkit(wrong)


# Toolkits.


@pytest.mark.parametrize(
    ("toolkit", "run"),
    [
        ("pygame", lambda: PygameWindow(nothing, nothing).run()),
        ("pyglet", lambda: PygletWindow(nothing, nothing, window=None).run()),
        ("arcade", lambda: ArcadeWindow(nothing, nothing, window=None).run()),
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
        "import fixedstep.host.pygame_window, fixedstep.host.pyglet_window\n"
        "import fixedstep.host.arcade_window, fixedstep.cli.demo\n"
        "print(sorted({'pygame', 'pyglet', 'arcade'} & set(sys.modules)))\n"
        "print('fixedstep.host.arcade_window' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["[]", "True"]
