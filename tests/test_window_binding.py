"""A window that owns the loop, as a list of callbacks in the order a toolkit may send them."""

from __future__ import annotations

import doctest
import importlib
from typing import TYPE_CHECKING, Literal

import pytest

from fixedstep import Alpha, Rate, Timestamp
from fixedstep.host.binding import WindowBinding

if TYPE_CHECKING:
    from fixedstep import Step

MS = 10**6


class Window:
    """Records what it was asked for; its clock is a number."""

    def __init__(self, dormant: Literal["step", "resync"] = "step") -> None:
        self.at = 7_000_000_000
        self.reads = 0
        self.ticks: list[int] = []
        self.alphas: list[float] = []
        self.closes = 0
        self.fail = False
        self.close_in_step = False
        self.binding = WindowBinding(
            self.step,
            self.alphas.append,
            self.close,
            timestep=Rate(20),
            dormant=dormant,
            clock=self.clock,
        )

    def clock(self) -> Timestamp:
        self.reads += 1
        return Timestamp(self.at)

    def step(self, step: Step) -> None:
        if self.fail:
            raise ArithmeticError
        self.ticks.append(step.tick)
        if self.close_in_step:
            self.binding.request_close()

    def close(self) -> None:
        self.closes += 1

    def after(self, span: int) -> None:
        self.at += span
        self.binding.update()


def test_the_examples_are_true() -> None:
    results = doctest.testmod(importlib.import_module("fixedstep.host.binding"))
    assert results.attempted >= 7
    assert results.failed == 0


def test_a_draw_consumes_the_alpha_of_the_update_before_it() -> None:
    window = Window()
    window.after(0)
    window.after(75 * MS)
    window.at += 10 * MS  # the draw is late, and does not look
    reads = window.reads
    assert window.binding.draw()
    assert window.reads == reads
    assert (window.ticks, window.alphas) == ([0], [0.5])


def test_a_repaint_without_an_update_draws_the_same_picture() -> None:
    window = Window()
    window.after(0)
    window.after(60 * MS)
    for _ in range(3):
        window.at += 20 * MS
        window.binding.draw()
    assert len(set(window.alphas)) == 1
    assert window.alphas[0] == pytest.approx(0.2)
    window.binding.update()  # the control: an update does change it
    window.binding.draw()
    assert window.alphas[-1] != window.alphas[0]


def test_a_repaint_before_the_first_update_draws_at_zero() -> None:
    window = Window()
    window.binding.draw()
    assert (window.alphas, window.reads) == ([0.0], 0)


def test_a_close_request_is_latched_and_acted_on_in_the_next_update() -> None:
    window = Window()
    window.after(0)
    window.binding.request_close()
    window.binding.request_close()
    assert window.closes == 0
    assert window.binding.draw()  # still there
    window.after(50 * MS)
    window.after(50 * MS)
    assert (window.closes, window.ticks, window.binding.closed) == (1, [], True)
    assert not window.binding.draw()


def test_a_close_request_inside_a_step_lets_the_frame_end() -> None:
    window = Window()
    window.after(0)
    window.close_in_step = True
    window.after(150 * MS)
    assert (window.ticks, window.closes) == ([0, 1, 2], 0)
    window.after(0)
    assert window.closes == 1


def test_the_schedule_is_anchored_after_bring_up() -> None:
    window = Window()
    window.after(600 * MS)  # the device took its time
    assert (window.ticks, window.binding.stats.steps_dropped) == ([], 0)
    window.after(50 * MS)
    assert window.ticks == [0]


def test_a_stall_is_clamped_and_reported() -> None:
    window = Window()
    window.after(0)
    window.after(550 * MS)
    assert (window.ticks, window.binding.stats.steps_dropped) == ([0, 1, 2, 3, 4], 6)


def test_a_stall_that_was_known_is_resynced_and_keeps_the_remainder() -> None:
    window = Window()
    window.after(0)
    window.after(25 * MS)
    window.binding.resync()
    window.after(550 * MS)
    assert (window.ticks, window.binding.stats.steps_dropped) == ([], 0)
    assert window.binding.alpha == 0.5


def test_a_dormant_window_keeps_stepping_without_drawing() -> None:
    window = Window("step")
    window.after(0)
    window.binding.set_dormant(True)
    window.after(50 * MS)
    assert not window.binding.draw()
    window.binding.set_dormant(False)
    window.after(50 * MS)
    assert window.binding.draw()
    assert (window.ticks, len(window.alphas)) == ([0, 1], 1)


def test_a_dormant_window_resyncs_on_return() -> None:
    window = Window("resync")
    window.after(0)
    window.binding.set_dormant(True)
    window.after(900 * MS)
    assert not window.binding.draw()
    window.binding.set_dormant(False)
    window.after(900 * MS)
    assert (window.ticks, window.binding.stats.steps_dropped) == ([], 0)
    window.after(50 * MS)
    assert window.ticks == [0]


def test_a_dormant_window_still_closes() -> None:
    window = Window("resync")
    window.after(0)
    window.binding.set_dormant(True)
    window.binding.request_close()
    window.after(0)
    assert window.closes == 1


def test_a_step_that_raises_keeps_the_old_alpha() -> None:
    window = Window()
    window.after(0)
    window.after(10 * MS)
    before = window.binding.alpha
    window.fail = True
    with pytest.raises(ArithmeticError):
        window.after(75 * MS)
    assert window.binding.alpha == before > Alpha(0.0)


def test_a_pause_stops_time_and_keeps_the_picture_and_the_remainder() -> None:
    window = Window()
    window.after(0)
    window.after(75 * MS)
    window.binding.pause()
    window.binding.pause()
    for _ in range(5):
        window.at += 300 * MS
        assert window.binding.update() is None
        assert window.binding.draw()
    assert (window.ticks, set(window.alphas), window.binding.paused) == ([0], {0.5}, True)
    window.binding.resume()
    window.after(900 * MS)  # of the pause too: nobody knew that it was over before this update
    assert (window.ticks, window.binding.alpha) == ([0], 0.5)
    window.after(25 * MS)
    assert (window.ticks, window.binding.alpha) == ([0, 1], 0.0)
    assert window.binding.stats.steps_dropped == 0


def test_a_single_step_runs_one_tick_at_the_alpha_there_is() -> None:
    window = Window()
    window.after(0)
    window.after(75 * MS)
    window.binding.pause()
    window.binding.step_once()
    window.binding.step_once()
    assert window.ticks == [0]  # latched: it may have been asked for in a draw
    plan = window.binding.update()
    assert plan is not None
    assert (plan.first_tick, plan.step_count, plan.dropped, plan.remainder) == (
        1,
        1,
        0,
        25 * MS * 20,
    )
    window.after(0)
    assert (window.ticks, window.binding.alpha, window.binding.stats.ticks) == ([0, 1], 0.5, 2)
    window.binding.resume()
    window.after(0)
    window.after(25 * MS)
    assert (window.ticks, window.binding.alpha) == ([0, 1, 2], 0.0)


def test_a_single_step_of_a_rate_without_whole_nanoseconds_keeps_the_remainder() -> None:
    """The control of not feeding the loop a tick's length: 1/60 s is not whole nanoseconds."""
    window = Window()
    window.binding = WindowBinding(
        window.step, window.alphas.append, window.close, timestep=Rate(60), clock=window.clock
    )
    window.after(0)
    window.after(20 * MS)
    window.binding.pause()
    remainders = set()
    for _ in range(10):
        window.binding.step_once()
        plan = window.binding.update()
        assert plan is not None
        remainders.add(plan.remainder)
    assert remainders == {20 * MS * 60 - 10**9}
    assert window.ticks == list(range(11))


def test_a_single_step_is_for_a_pause_and_ends_with_it() -> None:
    window = Window()
    window.after(0)
    with pytest.raises(RuntimeError, match="a single tick is for a pause"):
        window.binding.step_once()
    window.binding.pause()
    window.binding.step_once()
    window.binding.resume()
    window.after(10 * MS)
    window.after(10 * MS)
    window.binding.pause()
    window.after(0)
    assert window.ticks == []


def test_a_resume_without_a_pause_loses_no_time() -> None:
    window = Window()
    window.after(0)
    window.binding.resume()
    window.after(50 * MS)
    assert window.ticks == [0]


def test_a_paused_window_still_closes() -> None:
    window = Window()
    window.after(0)
    window.binding.pause()
    window.binding.request_close()
    window.after(0)
    assert window.closes == 1


def test_bad_arguments_are_refused_before_the_first_callback() -> None:
    def nothing(*_: object) -> None: ...

    with pytest.raises(ValueError, match="dormant must be 'step' or 'resync', not 'sleep'"):
        WindowBinding(nothing, nothing, nothing, dormant="sleep")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="timestep"):
        WindowBinding(nothing, nothing, nothing, timestep=0.05)  # type: ignore[arg-type]


def test_a_dialog_within_a_step_runs_no_steps_and_closes_nothing() -> None:
    """Its own event loop goes on calling. The ticks used to run within each other, out of order,
    and the window went away in the middle of a step."""
    window = Window()
    log: list[str] = []

    def step(step: Step) -> None:
        log.append(f"begin {step.tick}")
        if step.tick == 0:
            window.binding.request_close()
            for _ in range(3):
                window.at += 40 * MS
                assert window.binding.update() is None
                assert window.binding.draw(), "a repaint shows the picture that there was"
        log.append(f"end {step.tick}")

    window.step = step  # type: ignore[method-assign]
    window.binding = WindowBinding(
        step, window.alphas.append, window.close, timestep=Rate(20), clock=window.clock
    )
    window.after(0)
    window.after(100 * MS)
    assert log == ["begin 0", "end 0", "begin 1", "end 1"]
    assert (window.closes, window.alphas) == (0, [0.0] * 3)
    window.after(10 * MS)
    assert window.closes == 1


def test_a_step_that_raises_does_not_lock_the_binding() -> None:
    window = Window()
    window.after(0)
    window.fail = True
    with pytest.raises(ArithmeticError):
        window.after(50 * MS)
    window.fail = False
    window.after(50 * MS)
    assert window.ticks == [1]


def test_a_close_that_raises_is_called_once() -> None:
    window = Window()
    calls = 0

    def close() -> None:
        nonlocal calls
        calls += 1
        raise OSError("the display is gone")

    window.binding = WindowBinding(window.step, window.alphas.append, close, clock=window.clock)
    window.binding.request_close()
    with pytest.raises(OSError, match="the display is gone"):
        window.binding.update()
    assert window.binding.update() is None
    assert (calls, window.binding.closed) == (1, True)
