"""Input on its way from frames to ticks: nothing lost, nothing seen twice, nothing leaked.

The D and N cases are faults that people reported in other engines, with their numbers; they run a
real `FrameLoop` over the frames, so that the ticks a frame has are the schedule's.
"""

from __future__ import annotations

import copy
import json
import pickle
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, Rate, StateHash, StepBudget, Timestamp, Timestep
from fixedstep.sim.input import (
    CANCEL,
    NEUTRAL,
    PRESS,
    RELEASE,
    ActionState,
    Input,
    TickInput,
    action_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HZ_60 = 16_666_667
ZERO = Timestamp(0)
U32_MAX = 2**32 - 1
I32_MAX = 2**31 - 1
HELD = ActionState(held=True)
HALF: Any = 0.5


def do(controls: Input, verbs: str, name: str = "jump") -> None:
    """The calls of a text: p is a press, r a release, d and u are polled down and up."""
    for verb in verbs:
        if verb in "pr":
            (controls.press if verb == "p" else controls.release)(name)
        else:
            controls.button(name, verb == "d")


def run_frames(
    loop: FrameLoop, controls: Input, frames: Sequence[tuple[int, str]]
) -> list[list[TickInput]]:
    """The inputs of the ticks of each frame."""
    ticks = []
    for now, verbs in frames:
        do(controls, verbs)
        ticks.append([controls._take() for _ in loop.begin_frame(Timestamp(now)).steps()])
    return ticks


def seen(ticks: list[list[TickInput]], action: str = "jump") -> list[tuple[int, int, bool]]:
    """Pressed, released and held, tick by tick."""
    return [(t[action].pressed, t[action].released, t[action].held) for row in ticks for t in row]


# What a tick sees.


@pytest.mark.parametrize("down_and_up", ["pr", "du"])
def test_a_press_and_its_release_in_frames_without_a_tick_are_seen_by_the_next_tick(
    down_and_up: str,
) -> None:
    """D01: at 120 frames and 30 ticks a second, three presses in four were never seen."""
    down, up = down_and_up[0], down_and_up[1]
    frames = [(8_333_333 * i, verbs) for i, verbs in enumerate([down, "", up, "", ""], 1)]
    ticks = run_frames(FrameLoop(Timestep(33_333_333), start=ZERO), Input(["jump"]), frames)
    assert [len(row) for row in ticks] == [0, 0, 0, 0, 1]
    assert seen(ticks) == [(1, 1, False)]


def test_no_tick_after_it_sees_the_edge_again() -> None:
    """D01, the other half."""
    controls = Input(["jump"])
    do(controls, "pr")
    assert [controls._take()["jump"] for _ in range(3)] == [
        ActionState(pressed=1, released=1),
        NEUTRAL,
        NEUTRAL,
    ]


def test_two_ticks_in_a_frame_move_a_menu_by_one_row() -> None:
    """D02: "just pressed" was true in both, and the cursor went two rows down."""
    ticks = run_frames(FrameLoop(Timestep(HZ_60), start=ZERO), Input(["jump"]), [(33_333_334, "p")])
    assert seen(ticks) == [(1, 0, True), (0, 0, True)]


@pytest.mark.parametrize(("verbs", "expected"), [("pr", (1, 1, False)), ("prp", (2, 1, True))])
def test_a_press_and_release_within_a_frame_do_not_cancel_out(
    verbs: str, expected: tuple[int, int, bool]
) -> None:
    """D03: a quick tap did nothing."""
    ticks = run_frames(FrameLoop(Timestep(HZ_60), start=ZERO), Input(["jump"]), [(HZ_60, verbs)])
    assert seen(ticks) == [expected]


def test_a_tap_spread_over_frames_without_a_tick_is_one_tap() -> None:
    """D04: the same above 60 frames a second."""
    frames = [(4_000_000, "p"), (8_000_000, "r"), (16_666_667, "")]
    ticks = run_frames(FrameLoop(Timestep(HZ_60), start=ZERO), Input(["jump"]), frames)
    assert [len(row) for row in ticks] == [0, 0, 1]
    assert seen(ticks) == [(1, 1, False)]


def test_dropped_steps_consume_nothing_and_repeat_nothing() -> None:
    """D06: eleven steps due, three run; the press belongs to the first of the three."""
    loop, controls = FrameLoop(Timestep(HZ_60), StepBudget(3), start=ZERO), Input(["jump"])
    controls.press("jump")
    plan = loop.begin_frame(Timestamp(200_000_000))
    assert (plan.step_count, plan.dropped, plan.remainder) == (3, 8, 16_666_663)
    assert [controls._take()["jump"].pressed for _ in plan.steps()] == [1, 0, 0]


@pytest.mark.parametrize("fps", [20, 60, 240])
def test_mouse_movement_is_summed_and_given_once_at_every_frame_rate(fps: int) -> None:
    """N21: 1,200 counts a second became 300 at 240 frames a second, and 3,600 at 20."""
    loop, controls = FrameLoop(Rate(60), StepBudget(5), start=ZERO), Input(relative=["look"])
    sent = got = 0
    for frame in range(1, fps + 1):
        while sent < 1200 * frame // fps:
            controls.move("look", 1)
            sent += 1
        for _ in loop.begin_frame(Timestamp(frame * 10**9 // fps)).steps():
            got += controls._take()["look"].axis
    assert (sent, loop.tick, got) == (1200, 60, 1200)


def test_a_key_tapped_between_ticks_is_not_swallowed() -> None:
    """N22: pressed in frame 2 and released in frame 3 of 5, at 240 frames a second."""
    frames = [(frame * 10**9 // 240, {2: "p", 3: "r"}.get(frame, "")) for frame in range(1, 6)]
    ticks = run_frames(FrameLoop(Rate(60), start=ZERO), Input(["jump"]), frames)
    assert seen(ticks) == [(1, 1, False)]


def test_key_repeat_adds_nothing() -> None:
    """N25: five repeats of a key were five presses."""
    controls = Input(["jump"])
    do(controls, "ppppp")
    assert controls._take()["jump"] == PRESS
    do(controls, "pp")
    assert controls._take()["jump"] == HELD
    do(controls, "rrr")
    assert controls._take()["jump"] == RELEASE


def test_a_release_of_what_is_up_adds_nothing() -> None:
    controls = Input(["jump"])
    do(controls, "rur")
    assert controls._take().is_neutral


def test_catch_up_ticks_reuse_held_and_axis_values() -> None:
    controls = Input(["jump"], ["walk"], ["look"])
    controls.press("jump")
    controls.axis("walk", -0.7)
    controls.move("look", 5)
    ticks = [controls._take() for _ in range(4)]
    assert [tick["jump"] for tick in ticks] == [PRESS, HELD, HELD, HELD]
    assert [tick["walk"] for tick in ticks] == [ActionState(axis=-700)] * 4
    assert [tick["look"].axis for tick in ticks] == [5, 0, 0, 0]


def test_ticks_that_see_the_same_see_the_same_object() -> None:
    """An input is immutable, so what did not change is not built again."""
    controls = Input(["jump"], ["walk"])
    assert controls._take() is controls._take()
    controls.press("jump")
    controls.axis("walk", 0.5)
    first, second, third = controls._take(), controls._take(), controls._take()
    assert first is not second
    assert second is third
    do(controls, "pd")
    controls.axis("walk", 0.5)
    assert controls._take() is third
    controls.axis("walk", 0.6)
    assert (controls._take()["walk"].axis, third["walk"].axis) == (600, 500)
    do(controls, "r")
    assert (controls._take()["jump"], third["jump"]) == (RELEASE, HELD)


def test_what_comes_later_does_not_change_an_input_that_was_given_out() -> None:
    for change in ("r", "p"):
        controls = Input(["jump", "fire"])
        controls.press("fire")
        do(controls, "p" if change == "r" else "")
        controls._take()
        taken = controls._take()
        before = dict(taken)
        do(controls, change)
        controls.cancel("fire")
        assert dict(taken) == before
        assert controls._take() != taken


def test_an_axis_is_rounded_to_thousandths_and_stays() -> None:
    controls = Input(axes=["walk"], dead_zone=0)
    for value, expected in [
        (0.7, 700),
        (-0.1234, -123),
        (1, 1000),
        (-1, -1000),
        (1.0003, 1000),
        (0.0004, 0),
        (True, 1000),
    ]:
        controls.axis("walk", value)
        assert [controls._take()["walk"].axis for _ in range(2)] == [expected] * 2


@pytest.mark.parametrize(
    ("dead_zone", "value", "expected"),
    [
        (100, 0.1, 0),
        (100, -0.1, 0),
        (100, 0.101, 101),
        (100, -0.101, -101),
        ({"walk": 20}, 0.021, 21),
        ({"walk": 20}, -0.02, 0),
        ({}, 0.1, 0),
        (0, 0.001, 1),
        (1000, 1.0, 0),
    ],
)
def test_a_dead_zone_is_rest_and_values_outside_are_kept(
    dead_zone: Any, value: float, expected: int
) -> None:
    controls = Input(axes=["walk"], dead_zone=dead_zone)
    controls.axis("walk", 0.9)
    controls.axis("walk", value)
    assert controls._take()["walk"] == ActionState(axis=expected)


def test_sums_and_counts_stop_at_their_end_and_do_not_wrap() -> None:
    controls = Input(["jump"], relative=["look"])
    for _ in range(3):
        controls.move("look", I32_MAX)
    assert controls._take()["look"].axis == I32_MAX
    for _ in range(3):
        controls.move("look", -(2**31))
    assert controls._take()["look"].axis == -(2**31)
    state = controls._state()
    state["pending"] = {"jump": [0, 0, U32_MAX, U32_MAX, 0]}
    controls._restore(state)
    do(controls, "pr")
    assert controls._take()["jump"] == ActionState(pressed=U32_MAX, released=U32_MAX)


def test_held_says_what_the_next_tick_will_see() -> None:
    controls = Input(["jump", "fire"])
    controls.press("jump")
    assert (controls.held("jump"), controls.held("fire")) == (True, False)
    controls.cancel("jump")
    assert not controls.held("jump")
    assert controls.blocked == {"jump"}


# Loss of focus.


def test_a_cancel_does_not_invent_a_release() -> None:
    """N26: a key was stuck after alt-tab."""
    controls = Input(["jump", "fire"])
    controls.press("jump")
    assert controls._take()["jump"].held
    controls.cancel()
    taken = controls._take()
    assert (taken["jump"], taken["fire"]) == (CANCEL, NEUTRAL)
    assert controls._take().is_neutral


def test_a_cancel_voids_edges_and_movement_that_no_tick_has_seen() -> None:
    controls = Input(["jump"], relative=["look"])
    do(controls, "prprpr")
    controls.move("look", 9)
    controls.cancel()
    taken = controls._take()
    assert (taken["jump"], taken["look"]) == (CANCEL, CANCEL)
    controls.move("look", 3)
    assert controls._take()["look"] == ActionState(axis=3), "movement is never blocked"


def test_the_first_press_after_a_loss_of_focus_counts() -> None:
    """Its release went to another window, so the key is down for all that events tell."""
    controls = Input(["jump"])
    controls.press("jump")
    controls.cancel()
    controls._take()
    controls.press("jump")
    assert controls._take()["jump"] == PRESS
    do(controls, "pp")
    assert controls._take()["jump"] == HELD, "repeats of the new press do not count"


def test_a_release_after_a_cancel_is_no_edge() -> None:
    """Some toolkits send the releases after the loss of focus."""
    controls = Input(["jump"])
    controls.press("jump")
    controls.cancel()
    controls.release("jump")
    assert controls._take()["jump"] == CANCEL
    assert not controls.blocked
    controls.press("jump")
    assert controls._take()["jump"] == PRESS


def test_a_polled_button_counts_after_a_cancel_once_it_was_up() -> None:
    """Polling cannot tell a key that stayed down from one that was pressed again."""
    controls = Input(["jump"])
    do(controls, "d")
    controls.cancel()
    do(controls, "dddd")
    assert controls._take()["jump"] == CANCEL
    do(controls, "d")
    assert controls._take().is_neutral
    do(controls, "ud")
    assert controls._take()["jump"] == PRESS


def test_a_button_at_rest_counts_at_once_after_a_cancel() -> None:
    for verb in "pd":
        controls = Input(["jump"])
        controls.cancel()
        do(controls, verb)
        assert controls._take()["jump"] == PRESS


def test_a_deflected_stick_is_blocked_by_a_cancel_until_it_rests() -> None:
    controls = Input(axes=["walk"])
    controls.axis("walk", 0.8)
    controls.cancel()
    for value in (0.8, -0.5, 0.3):
        controls.axis("walk", value)
    assert controls._take()["walk"] == CANCEL
    controls.axis("walk", 0.015)
    controls.axis("walk", 0.3)
    assert controls._take()["walk"] == ActionState(axis=300)


def test_an_axis_that_moved_and_rested_again_after_a_cancel_is_cancelled_all_the_same() -> None:
    controls = Input(axes=["walk"])
    for value in (0.8, None, 0, 0.8, 0):
        if value is None:
            controls.cancel()
        else:
            controls.axis("walk", value)
    assert controls._take()["walk"] == CANCEL
    assert controls._take().is_neutral


def test_a_cancel_of_one_action_leaves_the_others() -> None:
    controls = Input(["jump", "fire"])
    controls.press("jump")
    controls.press("fire")
    controls.cancel("jump")
    taken = controls._take()
    assert (taken["jump"], taken["fire"]) == (CANCEL, PRESS)
    assert controls.blocked == {"jump"}


def test_a_cancel_and_a_press_before_the_next_tick_are_both_seen() -> None:
    controls = Input(["jump"])
    controls.press("jump")
    controls.cancel()
    do(controls, "pr")
    assert controls._take()["jump"] == ActionState(pressed=1, released=1, cancelled=True)


def test_a_cancel_of_an_unknown_action_cancels_nothing() -> None:
    controls = Input(["jump"])
    controls.press("jump")
    for wrong in ("run", ["jump"]):
        with pytest.raises(ValueError, match="is no action; those there are, 'jump'"):
            controls.cancel("jump", wrong)  # type: ignore[arg-type]
    assert controls._take()["jump"] == PRESS


# Time that is stopped.


@pytest.mark.parametrize("tap", ["pr", "du", "ppr"])
def test_taps_while_time_is_stopped_are_not_given_to_the_tick_after_it(tap: str) -> None:
    """Ten taps in a pause arrived as pressed=10."""
    controls = Input(["jump"])
    controls._take()
    controls._stop()
    for _ in range(10):
        do(controls, tap)
    controls._go()
    assert controls._take().is_neutral
    do(controls, tap)
    assert controls._take()["jump"] == ActionState(pressed=1, released=1)


@pytest.mark.parametrize("verb", ["p", "d"])
def test_a_key_at_rest_all_through_a_pause_counts_in_the_first_frame_after_it(verb: str) -> None:
    controls = Input(["jump"])
    controls._stop()
    do(controls, "uuu" if verb == "d" else "")
    controls._go()
    do(controls, verb)
    assert controls._take()["jump"] == PRESS


@pytest.mark.parametrize(("down", "up"), ["pr", "du"])
def test_what_is_down_when_time_stops_must_be_released_before_it_counts(down: str, up: str) -> None:
    controls = Input(["jump"])
    do(controls, down)
    controls._take()
    controls._stop()
    do(controls, down)
    controls._go()
    do(controls, down)
    assert controls._take()["jump"] == CANCEL
    do(controls, down)
    assert controls._take().is_neutral
    do(controls, up)
    assert controls._take().is_neutral, "what was void has no release"
    do(controls, down)
    assert controls._take()["jump"] == PRESS


@pytest.mark.parametrize(("down", "up"), ["pr", "du"])
def test_what_is_pressed_while_time_is_stopped_must_be_released_before_it_counts(
    down: str, up: str
) -> None:
    controls = Input(["jump"])
    controls._stop()
    do(controls, down)
    assert not controls.held("jump")
    controls._go()
    do(controls, down)
    assert controls._take().is_neutral
    do(controls, up + down)
    assert controls._take()["jump"] == PRESS


def test_a_key_released_in_a_pause_counts_at_once_after_it() -> None:
    controls = Input(["jump"])
    controls.press("jump")
    controls._stop()
    controls.release("jump")
    controls._go()
    controls.press("jump")
    assert controls._take()["jump"] == ActionState(held=True, pressed=1, cancelled=True)


def test_a_pause_that_loses_the_focus_does_not_block_the_next_press() -> None:
    """Pause with P, switch to another window, come back, go on, and press the key anew."""
    controls = Input(["jump"])
    controls.press("jump")
    controls._stop()
    controls.cancel()
    controls._go()
    controls._take()
    controls.press("jump")
    assert controls._take()["jump"] == PRESS


def test_a_stick_that_rests_off_centre_is_not_blocked_for_ever() -> None:
    """A stick at 15 thousandths never opened its gate."""
    controls = Input(axes=["walk"])
    controls.axis("walk", 0.6)
    controls._stop()
    controls.axis("walk", 0.015)
    controls._go()
    controls.axis("walk", 0.4)
    assert controls._take()["walk"].axis == 400


def test_a_stick_deflected_in_a_pause_counts_after_it_rested() -> None:
    controls = Input(axes=["walk"])
    controls._stop()
    controls.axis("walk", 0.6)
    controls._go()
    controls.axis("walk", 0.7)
    assert controls._take().is_neutral
    controls.axis("walk", 0)
    controls.axis("walk", 0.7)
    assert controls._take()["walk"].axis == 700


def test_movement_while_time_is_stopped_is_void_and_after_it_counts() -> None:
    controls = Input(relative=["look"])
    controls.move("look", 4)
    controls._stop()
    controls.move("look", 7)
    controls._go()
    controls.move("look", 2)
    assert controls._take()["look"] == ActionState(axis=2, cancelled=True)


def test_stopping_twice_is_stopping_once() -> None:
    controls = Input(["jump"])
    controls.press("jump")
    controls._stop()
    once = copy.copy(controls)
    controls._stop()
    assert controls == once


# Times.


def test_a_call_with_a_time_is_made_by_the_loop_that_places_it() -> None:
    controls = Input(["jump", "fire"], ["walk"], ["look"])
    calls: list[tuple[int, Callable[[], object]]] = []
    controls._later = lambda at, call: calls.append((at, call))
    controls.press("jump", at=30)
    controls.axis("walk", 0.5, at=20)
    controls.release("jump", at=30)
    controls.move("look", -4, at=10)
    controls.press("fire", at=20)
    controls.cancel("fire", at=40)
    assert [at for at, _ in calls] == [30, 20, 30, 10, 20, 40]
    assert controls._take().is_neutral
    for _, call in calls:
        call()
    assert controls._take() == TickInput(
        {
            "jump": ActionState(pressed=1, released=1),
            "fire": CANCEL,
            "walk": ActionState(axis=500),
            "look": ActionState(axis=-4),
        }
    )


def test_a_timed_cancel_of_everything_cancels_each_action() -> None:
    controls = Input(["jump"], ["walk"])
    calls: list[Callable[[], object]] = []
    controls._later = lambda _, call: calls.append(call)
    controls.press("jump")
    controls.axis("walk", 1)
    controls.cancel(at=5)
    for call in calls:
        call()
    assert controls._take() == TickInput({"jump": CANCEL, "walk": CANCEL})


def test_a_time_without_a_loop_is_refused() -> None:
    controls = Input(["jump"])
    with pytest.raises(ValueError, match="at=5 needs the input of a session"):
        controls.press("jump", at=5)
    assert controls._take().is_neutral


# Names and values that are none.


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda i: i.press("jmup"), ValueError, "'jmup' is no button; those there are, 'jump'"),
        (lambda i: i.press("walk"), ValueError, "of kind axis: axis takes it"),
        (lambda i: i.release("look"), ValueError, "of kind relative axis: move takes it"),
        (lambda i: i.button(3, True), ValueError, "3 is no button"),
        (lambda i: i.axis("jump", 0), ValueError, "is no axis, but of kind button: press takes it"),
        (lambda i: i.move("walk", 0), ValueError, "is no relative axis"),
        (lambda i: i.held([]), ValueError, r"\[\] is no button"),
        (lambda i: i.button("jump", 0.3), TypeError, "is_down of 'jump' must be True or False"),
        (lambda i: i.button("jump", None), TypeError, "compare with a threshold"),
        (lambda i: i.axis("walk", 700), ValueError, r"-1.0 .. 1.0, not 700; divide"),
        (lambda i: i.axis("walk", 1.001), ValueError, "not 1.001"),
        (lambda i: i.axis("walk", float("nan")), ValueError, "not nan"),
        (lambda i: i.axis("walk", float("-inf")), ValueError, "not -inf"),
        (lambda i: i.axis("walk", 10**400), ValueError, "must be -1.0 .. 1.0"),
        (lambda i: i.axis("walk", "1"), TypeError, "must be a number in -1.0 .. 1.0, not str '1'"),
        (lambda i: i.axis("walk", None), TypeError, "not NoneType"),
        (lambda i: i.move("look", 0.5), TypeError, "delta of 'look' must be a whole number"),
        (lambda i: i.move("look", 2**31), OverflowError, "not 2147483648"),
        (lambda i: i.press("jump", at=0.5), TypeError, "at must be a whole number of nanoseconds"),
        (lambda i: i.release("jump", at=-1), OverflowError, "not -1"),
        (lambda i: i.axis("walk", 0.5, at="1"), TypeError, "at must be"),
        (lambda i: i.move("look", 5, at=2**64), OverflowError, "at must be"),
        (lambda i: i.cancel(at=0.5), TypeError, "at must be"),
    ],
)
def test_a_bad_call_says_so_and_changes_nothing(
    call: Callable[[Any], object], kind: type[Exception], text: str
) -> None:
    controls = Input(["jump"], ["walk"], ["look"])
    do(controls, "p")
    controls.axis("walk", 0.2)
    before = copy.copy(controls)
    with pytest.raises(kind, match=text) as raised:
        call(controls)
    assert len(str(raised.value)) < 300
    assert controls == before


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"buttons": "jump"}, TypeError, "the names of all actions, not str 'jump'"),
        ({"buttons": None}, TypeError, "not NoneType"),
        ({"axes": [3]}, TypeError, "an action must be a str, not int 3"),
        ({"relative": [""]}, ValueError, "must have a name"),
        ({"buttons": ["a", "b", "a"]}, ValueError, "'a' twice"),
        ({"buttons": ["a"], "axes": ["a"]}, ValueError, "'a' twice"),
        ({"buttons": ["\ud800"]}, ValueError, "UTF-8"),
        ({"dead_zone": 0.1}, TypeError, "dead_zone must be a whole number of thousandths"),
        ({"dead_zone": 1001}, OverflowError, "0 .. 1000, not 1001"),
        ({"dead_zone": -1}, OverflowError, "not -1"),
        ({"axes": ["x"], "dead_zone": {"x": None}}, TypeError, "dead_zone"),
        ({"buttons": ["x"], "dead_zone": {"x": 3}}, ValueError, "'x' is no axis"),
        ({"dead_zone": {3: 3}}, ValueError, "3 is no axis"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        Input(**arguments)


def test_an_error_about_many_actions_is_short() -> None:
    names = [f"action {number}" for number in range(1000)]
    with pytest.raises(ValueError, match=r"'action 0', .*, \.\.\., were named") as raised:
        Input(names).press("jump")
    assert len(str(raised.value)) < 300
    with pytest.raises(KeyError) as missing:
        TickInput.neutral(names)["jump"]
    assert len(str(missing.value)) < 300


def test_it_says_what_it_has() -> None:
    controls = Input(["jump", "fire"], ["walk"], ["look"])
    assert controls.actions == ("fire", "jump", "look", "walk")
    assert (controls.buttons, controls.axes) == (("fire", "jump"), ("walk",))
    assert controls.relative == ("look",)
    controls.press("jump")
    controls.press("fire")
    controls.cancel("fire")
    assert repr(controls) == (
        "<Input of 4 actions: {'fire': [0, 0, 0, 0, 1], 'jump': [1, 0, 1, 0, 0]}, blocked: 'fire'>"
    )


# Snapshots.


def busy() -> Input:
    """An input in every state that there is."""
    controls = Input(["jump", "fire", "duck"], ["walk", "turn"], ["look"])
    controls.press("jump")
    controls.axis("walk", 0.5)
    controls._stop()
    controls._go()
    controls._take()
    do(controls, "pr", "fire")
    do(controls, "p", "duck")
    controls.cancel("duck")
    controls.axis("turn", -1)
    controls.move("look", 3)
    return controls


def test_a_copy_is_a_snapshot() -> None:
    for copied in (copy.copy, copy.deepcopy):
        controls = busy()
        other = copied(controls)
        assert other == controls
        assert other.blocked == {"jump", "walk", "duck"}
        taken = other._take()
        do(other, "p", "duck")
        assert other != controls
        assert controls == busy()
        assert controls._take() == taken


def test_a_pickle_is_a_snapshot_and_a_damaged_one_is_refused() -> None:
    saved = pickle.dumps(busy())
    assert pickle.loads(saved) == busy()
    with pytest.raises(ValueError, match="an input has down, blocked"):
        pickle.loads(saved.replace(b"blocked", b"blocker"))


def test_inputs_are_equal_by_names_and_state() -> None:
    assert busy() == busy()
    assert busy() != "busy"
    differing = [
        Input(["a"]),
        Input(["b"]),
        Input(axes=["a"]),
        Input(axes=["a"], dead_zone=5),
        Input(relative=["a"]),
    ]
    for one, other in permutations(differing, 2):
        assert one != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(Input())


def test_a_saved_input_goes_on_where_it_was() -> None:
    controls = busy()
    state = json.loads(json.dumps(controls._state()))
    assert state == {
        "down": ["jump"],
        "blocked": ["duck", "jump", "walk"],
        "pending": {
            "duck": [0, 0, 0, 0, 1],
            "fire": [0, 0, 1, 1, 0],
            "look": [0, 3, 0, 0, 0],
            "turn": [0, -1000, 0, 0, 0],
        },
        "stopped": False,
    }
    restored = Input(["jump", "fire", "duck"], ["walk", "turn"], ["look"])
    do(restored, "p")
    restored._restore(state)
    assert restored == controls
    assert [restored._take() for _ in range(2)] == [controls._take() for _ in range(2)]
    assert restored == controls


@pytest.mark.parametrize(
    "damage",
    [
        {"more": 1},
        {"down": None},
        {"down": ["walk"]},
        {"down": ["run"]},
        {"down": [[]]},
        {"down": ["fire", "jump"]},
        {"blocked": ["look"]},
        {"blocked": ["duck", "walk"]},
        {"blocked": "jump"},
        {"pending": {"jump": [1, 0, 1, 0, 0]}},
        {"pending": {"fire": [1, 0, 1, 0, 0]}},
        {"pending": {"fire": [0, 5, 1, 0, 0]}},
        {"pending": {"walk": [0, 5, 0, 0, 0]}},
        {"pending": {"look": [0, 5, 1, 0, 0]}},
        {"pending": {"run": [0, 0, 1, 0, 0]}},
        {"pending": []},
        {"stopped": 1},
    ],
)
def test_a_damaged_save_is_a_value_error_and_changes_nothing(damage: dict[str, Any]) -> None:
    controls = busy()
    before = copy.copy(controls)
    with pytest.raises(ValueError, match=r"\w"):
        controls._restore({**controls._state(), **damage})
    with pytest.raises(ValueError, match=r"an input has down"):
        controls._restore(None)
    assert controls == before


# Any calls, any splits.

CALLS = st.lists(
    st.sampled_from(["p", "r", "d", "u", "cancel", "stop", "go", "take"]), min_size=1, max_size=60
)


@given(CALLS)
def test_a_button_is_what_a_plain_model_of_it_says(calls: list[str]) -> None:
    """The model has one word for where the button is, and counts; no sharing and no shortcuts."""
    controls, where, stopped = Input(["jump"]), "up", False
    pressed = released = 0
    cancelled = False
    for call in calls:
        if call == "take":
            expected = ActionState(where == "held", 0, pressed, released, cancelled)
            assert controls._take()["jump"] == expected
            pressed, released, cancelled = 0, 0, False
        elif call in ("cancel", "stop"):
            if where == "held" or pressed or released:
                pressed, released, cancelled = 0, 0, True
            if where != "up":
                where = "lost" if call == "cancel" or where == "lost" else "blocked"
            stopped = stopped or call == "stop"
            if call == "cancel":
                controls.cancel()
            else:
                controls._stop()
        elif call == "go":
            stopped = False
            controls._go()
        else:
            do(controls, call)
            if call in "ru":
                released += where == "held"
                where = "up"
            elif where == "up" or (where == "lost" and call == "p"):
                where = "blocked" if stopped else "held"
                pressed += not stopped
        assert controls.held("jump") == (where == "held")
        assert controls.blocked == ({"jump"} if where in ("blocked", "lost") else set())
        assert copy.copy(controls)._state() == controls._state()


@given(st.lists(st.tuples(st.sampled_from(["p", "r"]), st.integers(0, 3)), max_size=40))
def test_every_edge_is_seen_exactly_once_whatever_the_frames(
    frames: list[tuple[str, int]],
) -> None:
    """Conservation: the presses and releases of events are those of ticks, and what waits."""
    controls = Input(["jump"])
    changes = [
        verb
        for verb, before in zip(frames, [("r", 0), *frames], strict=False)
        if verb[0] != before[0]
    ]
    pressed = released = 0
    for verb, ticks in frames:
        do(controls, verb)
        rows = [controls._take()["jump"] for _ in range(ticks)]
        assert all(row.held == (verb == "p") for row in rows)
        assert not any(row.pressed or row.released for row in rows[1:])
        pressed += sum(row.pressed for row in rows)
        released += sum(row.released for row in rows)
    rest = controls._take()["jump"]
    verbs = [verb for verb, _ in changes]
    assert pressed + rest.pressed == verbs.count("p")
    assert released + rest.released == verbs.count("r")


def test_the_same_taps_are_seen_at_every_frame_rate() -> None:
    """A tap every 50 ms for two seconds at 60 ticks a second, at frame rates from 20 to 1000."""
    totals = {}
    for fps in (20, 30, 59, 60, 144, 1000):
        loop, controls = FrameLoop(Rate(60), StepBudget(5), start=ZERO), Input(["jump"])
        taps = ticks = 0
        for frame in range(1, 2 * fps + 1):
            now = frame * 10**9 // fps
            before = (frame - 1) * 10**9 // fps
            do(controls, "pr" * (now // 50_000_000 - before // 50_000_000))
            for _ in loop.begin_frame(Timestamp(now)).steps():
                taps += controls._take()["jump"].pressed
                ticks += 1
        totals[fps] = taps, ticks
    assert totals == dict.fromkeys(totals, (40, 120))


# The value.

EXAMPLES = [
    TickInput.neutral(["jump", "move"]),
    *(
        TickInput({"jump": state, "move": NEUTRAL})
        for state in (PRESS, RELEASE, CANCEL, HELD, ActionState(axis=1), ActionState(pressed=2))
    ),
    TickInput({"jump": NEUTRAL, "move": PRESS}),
    TickInput({"jump": NEUTRAL, "run": NEUTRAL}),
    TickInput({"jump": NEUTRAL}),
    TickInput({"jump": PRESS, "move": RELEASE}),
]


def digest(value: TickInput) -> int:
    return value.absorb_into(StateHash()).finish()


def test_tick_inputs_are_equal_hashed_and_digested_by_value() -> None:
    for first, second in permutations(EXAMPLES, 2):
        assert first != second
        assert digest(first) != digest(second)
    for value in EXAMPLES:
        twin = TickInput(dict(value))
        assert twin is not value
        assert (twin, hash(twin), digest(twin)) == (value, hash(value), digest(value))
        assert value != dict(value)
    assert len(set(EXAMPLES)) == len(EXAMPLES)


def test_the_order_in_which_a_game_lists_its_actions_is_no_part_of_a_digest() -> None:
    one = TickInput({"jump": PRESS, "move": ActionState(axis=3)})
    other = TickInput({"move": ActionState(axis=3), "jump": PRESS})
    controls = Input(["jump"], ["move"], dead_zone=0)
    controls.axis("move", 0.003)
    controls.press("jump")
    for value in (one, other, controls._take()):
        assert list(value) == list(value.to_dict()) == ["jump", "move"]
        assert digest(value) == digest(one)
        assert value == one
        assert hash(value) == hash(one)
        assert repr(value) == repr(one)


def test_the_digest_is_what_its_documentation_says() -> None:
    value = TickInput({"né": ActionState(True, -5, 2, 1, True), "a": NEUTRAL})
    by_hand = (
        (2).to_bytes(8, "little")
        + (1).to_bytes(8, "little")
        + b"a"
        + bytes(4 + 8 + 4 + 4 + 4)
        + (3).to_bytes(8, "little")
        + "né".encode()
        + (1).to_bytes(4, "little")
        + (-5).to_bytes(8, "little", signed=True)
        + b"".join(number.to_bytes(4, "little") for number in (2, 1, 1))
    )
    assert digest(value) == StateHash().absorb_bytes(by_hand).finish()


@pytest.mark.parametrize("value", EXAMPLES, ids=repr)
def test_a_tick_input_survives_json_pickle_copy_and_its_own_repr(value: TickInput) -> None:
    written = json.loads(json.dumps(value.to_dict()))
    assert TickInput.from_dict(value, written) == value
    assert TickInput.from_dict(list(value), written) == value
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.copy(value) is copy.deepcopy(value) is value
    assert eval(repr(value)) == value


def test_a_neutral_input_is_written_as_nothing() -> None:
    neutral = TickInput.neutral(["jump", "move"])
    assert neutral.is_neutral
    assert neutral.to_dict() == {}
    assert TickInput.neutral(neutral) == neutral
    assert [value.is_neutral for value in EXAMPLES].count(True) == 3
    assert "jump" in neutral
    assert "run" not in neutral


def test_a_tick_input_cannot_be_changed() -> None:
    value: Any = TickInput({"jump": PRESS})
    with pytest.raises(AttributeError, match="cannot be changed"):
        value._active = {}
    with pytest.raises(AttributeError, match="stays"):
        del value._active
    with pytest.raises(TypeError, match="item assignment"):
        value["jump"] = NEUTRAL
    with pytest.raises(KeyError, match="'run' is none of the actions 'jump'"):
        value["run"]
    states = {"jump": PRESS}
    made = TickInput(states)
    states["jump"] = NEUTRAL
    value.__init__({"jump": NEUTRAL})
    assert made["jump"] == value["jump"] == PRESS


@pytest.mark.parametrize(
    ("state", "kind", "text"),
    [
        (True, TypeError, "state of 'jump' must be an ActionState, not bool True"),
        (ActionState(axis=HALF), TypeError, r"thousandths.*float 0\.5; round\(value"),
        (ActionState(axis=2**31), OverflowError, "axis of 'jump'.*not 2147483648"),
        (ActionState(held=HALF), TypeError, "held of 'jump' must be True or False"),
        (ActionState(pressed=-1), OverflowError, "pressed of 'jump'"),
        (ActionState(released=2**32), OverflowError, "released of 'jump'"),
        (ActionState(cancelled=HALF), TypeError, "cancelled of 'jump'"),
    ],
)
def test_a_state_that_is_none_is_refused(state: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        TickInput({"jump": state})


def test_an_integer_of_another_kind_is_taken() -> None:
    class Whole:
        def __index__(self) -> int:
            return 7

    whole: Any = Whole()
    axis = TickInput({"move": ActionState(axis=whole)})["move"].axis
    assert (axis, type(axis)) == (7, int)
    assert action_state("move", ActionState(pressed=whole)).pressed == 7
    controls = Input(relative=["look"])
    controls.move("look", whole)
    assert controls._take()["look"].axis == 7


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        {"run": [0, 0, 0, 0, 0]},
        {"jump": [0, 0, 0, 0]},
        {"jump": [2, 0, 0, 0, 0]},
        {"jump": [0, 0, 0, 0, 2]},
        {"jump": [0, 2**31, 0, 0, 0]},
        {"jump": [0, 0, -1, 0, 0]},
        {"jump": [True, 0, 0, 0, 0]},
        {"jump": "11000"},
        {"jump": None},
    ],
)
def test_a_damaged_dict_is_a_value_error(damaged: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        TickInput.from_dict(["jump"], damaged)


def test_reading_a_tick_costs_what_is_written_however_many_actions_there_are() -> None:
    """A recording's header may name 70,000 actions; its ticks must not each pay for them."""
    import tracemalloc  # PyPy has none

    neutral = TickInput.neutral([f"{number:05}" for number in range(70_000)])
    written = {"00007": [1, 0, 1, 0, 0]}
    tracemalloc.start()
    try:
        read = [TickInput.from_dict(neutral, written) for _ in range(100)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200_000, "a copy of the names alone would be 2.6 MB for each"
    assert read[0] == read[99]
    assert hash(read[0]) == hash(read[99])
    assert (len(read[0]), read[0]["00007"], read[0]["69999"]) == (70_000, PRESS, NEUTRAL)
