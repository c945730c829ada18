"""The game loop: real time, game time and the accumulator in one object.

The random test near the end runs every verb from everywhere and checks the sums that must agree.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from fixedstep import FrameLoop, FramePlan, Rate, Step, Timestamp
from fixedstep.sim import SHOW_CURRENT, FrameReport, GameLoop, GameStateError, Session

MS = 10**6
SECOND = 10**9
ROUNDING = Fraction(1, 10**6)
RUNS = int(os.environ.get("FIXEDSTEP_RANDOM_RUNS", "150"))


def at(milliseconds: float) -> Timestamp:
    return Timestamp(round(milliseconds * MS))


class Ticks:
    """A step function that notes its steps and calls a verb in chosen ticks.

    A verb is a function, or the name of one of ``game``.
    """

    game: GameLoop

    def __init__(self, **verbs: Callable[[], object] | str) -> None:
        self.steps: list[Step] = []
        self.verbs = {int(name[1:]): verb for name, verb in verbs.items()}

    def __call__(self, step: Step) -> None:
        self.steps.append(step)
        if step.tick in self.verbs:
            verb = self.verbs[step.tick]
            if isinstance(verb, str):
                getattr(self.game, verb)()
            else:
                verb()


def nothing(step: Step) -> None:
    """A step of a game without a world."""


class World:
    """Counts its ticks and presses."""

    def __init__(self, level: Any = None) -> None:
        self.ticks = 0
        self.presses: list[tuple[int, int]] = []
        self.messages: list[tuple[int, Any]] = []

    def step(self, input: Any, tick: Any) -> None:
        self.ticks += 1
        if "jump" in input and input["jump"].pressed:
            self.presses.append((tick.number, input["jump"].pressed))
        self.messages += [(tick.number, message) for message in tick.messages]


def frames(game: GameLoop, *milliseconds: float) -> list[FrameReport]:
    return [game.frame(at(ms)) for ms in milliseconds]


def at_rate(game: GameLoop, hz: int, seconds: float, start: int = 0) -> list[FrameReport]:
    """Frames at a rate, the last one exactly at the end."""
    end = round(seconds * SECOND)
    times = [k * SECOND // hz for k in range(end * hz // SECOND + 1)]
    return [game.frame(Timestamp(start + now)) for now in dict.fromkeys([*times, end])]


# Frames.


def test_the_first_frame_sets_the_origin_and_runs_no_tick() -> None:
    step = Ticks()
    game = GameLoop(step)
    [first] = frames(game, 5_000)
    assert (first.ran, first.accepted, game.last) == (0, 0, at(5_000))
    assert frames(game, 5_050)[0].ran == 3
    assert [s.tick for s in step.steps] == [0, 1, 2]


def test_a_game_loop_plans_as_a_frame_loop_of_its_rate_does() -> None:
    game, loop = GameLoop(nothing, Rate(60)), FrameLoop(Rate(60), 5, Timestamp(0))
    game.frame(at(0))
    for ms in (3, 17, 100, 101, 180, 240):
        report, plan = game.frame(at(ms)), loop.begin_frame(at(ms))
        assert report.plan == plan
        assert report.alpha == (SHOW_CURRENT if game.tick == 0 else plan.alpha())
    assert game.tick == loop.tick == 14


def test_a_long_frame_is_clamped_and_the_budget_drops_the_rest() -> None:
    game = GameLoop(nothing)
    report = frames(game, 0, 8_000)[1]
    assert report.accepted == 250 * MS
    assert report.clamped == 7_750 * MS
    assert (report.ran, report.dropped, report.abandoned) == (5, 10, 0)


def test_bad_times_change_nothing() -> None:
    game = GameLoop(nothing)
    frames(game, 0, 10)
    saved = game.state_dict(), game.wall
    for bad, error in ((1.5, TypeError), (-1, OverflowError), (2**64, OverflowError)):
        with pytest.raises(error):
            game.frame(bad)  # type: ignore[arg-type]
    assert (game.state_dict(), game.wall) == saved


def test_a_clock_that_goes_back_adds_nothing_and_is_reported() -> None:
    game = GameLoop(nothing)
    reports = frames(game, 100, 110, 50, 60)
    assert [report.regressed for report in reports] == [False, False, True, False]
    assert [report.accepted for report in reports] == [0, 10 * MS, 0, 10 * MS]
    assert game.wall == game.accepted == 20 * MS


def test_a_frame_within_a_tick_is_an_error() -> None:
    game = GameLoop(lambda step: game.frame(at(5)))
    with pytest.raises(RuntimeError, match="frame was called within tick 0"):
        frames(game, 0, 100)
    assert game.state == "faulted"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"rate": 60}, TypeError, "Rate"),
        ({"speeds": (0,)}, ValueError, "above 0"),
        ({"speeds": (0.5,)}, TypeError, "Fraction"),
        ({"speeds": 5}, TypeError, "table"),
        ({"budget": 0}, ValueError, "budget"),
        ({"remainder": "drop"}, ValueError, "keep"),
        ({"tick_length": 0}, ValueError, "tick_length"),
        ({"rates": Rate(30)}, TypeError, "table"),
        ({"max_delta": -1}, OverflowError, "max_delta"),
        ({"rate": Rate(2**40), "speeds": (2**40,)}, ValueError, "speed"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_it(
    arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text) as caught:
        GameLoop(nothing, **arguments)
    assert len(str(caught.value)) < 300


def test_a_world_in_place_of_a_step_function_is_an_error_that_names_session() -> None:
    with pytest.raises(TypeError, match="Session"):
        GameLoop(World())  # type: ignore[arg-type]


# Pause.


@pytest.mark.parametrize(
    "make", [lambda **k: GameLoop(nothing, **k), lambda **k: Session(World, **k)]
)
@pytest.mark.parametrize(("remainder", "ticks"), [("keep", 0), ("forget", 0)])
def test_a_pause_between_two_frames_means_the_same_everywhere(
    make: Callable[..., GameLoop], remainder: str, ticks: int
) -> None:
    game = make(remainder=remainder)
    frames(game, 0, 10)
    game.pause()
    game.resume()
    report = frames(game, 20)[0]
    assert report.ran == ticks
    assert report.excluded == 10 * MS
    assert game.remainder == (10 * MS * 60 if remainder == "keep" else 0)


def test_the_picture_does_not_jump_back_at_the_end_of_a_pause() -> None:
    drawn = []
    for remainder in ("keep", "forget"):
        game = Session(World, rate=Rate(20), remainder=remainder)
        for ms in (0, 50, 100, 133):
            game.frame(at(ms))
        game.pause()
        for ms in (150, 170):
            game.frame(at(ms))
        game.resume()
        for ms in (180, 190, 240, 300):
            report = game.frame(at(ms))
            drawn.append(picture(game, report))
        assert drawn == sorted(drawn)
        drawn.clear()


def test_frames_seen_in_a_pause_end_it_at_the_last_one() -> None:
    game = GameLoop(nothing)
    frames(game, 0, 10)
    game.pause()
    frames(game, 500, 600)
    game.resume()
    report = frames(game, 610)[0]
    assert report.accepted == 10 * MS
    assert game.excluded == 590 * MS
    assert report.ran == 1  # 10 ms before the pause, and 10 after it


def test_forgetting_starts_again_with_nothing() -> None:
    game = GameLoop(nothing, remainder="forget")
    frames(game, 0, 10)
    game.pause()
    assert game.remainder == 0
    frames(game, 500, 600)
    game.resume()
    report = frames(game, 610)[0]
    assert (report.accepted, report.excluded, report.ran) == (0, 10 * MS, 0)
    assert report.alpha == SHOW_CURRENT


def test_pausing_is_idempotent_and_independent_of_hiding() -> None:
    game = GameLoop(nothing)
    game.pause()
    game.pause()
    game.hide()
    assert (game.state, game.paused, game.hidden) == ("hidden", True, True)
    game.show()
    states = [str(game.state)]
    for verb in (game.resume, game.resume, game.toggle_pause):
        verb()
        states.append(game.state)
    assert states == ["paused", "playing", "playing", "paused"]


def test_a_pause_within_a_tick_stops_at_the_moment_it_was_due() -> None:
    results = set()
    for hz in (7, 30, 60, 144):
        step = Ticks(t30="pause")
        step.game = game = GameLoop(step, max_delta=None, budget=1000)
        at_rate(game, hz, 1)
        results.add((game.tick, game.accepted, game.excluded))
    assert results == {(31, 516_666_667, 483_333_333)}


def test_five_single_steps_before_a_frame_run_five_ticks() -> None:
    step = Ticks()
    game = GameLoop(step)
    frames(game, 0)
    game.pause()
    for _ in range(5):
        game.run_ticks(1)
    report = frames(game, 100)[0]
    assert [s.tick for s in step.steps] == [0, 1, 2, 3, 4]
    assert (game.tick, game.stats.ticks, report.ran, game.accepted) == (5, 5, 0, 0)


def test_run_ticks_works_while_playing_and_leaves_the_remainder() -> None:
    game = GameLoop(nothing)
    frames(game, 0, 10)
    rest = game.remainder
    report = game.run_ticks(3)
    assert (report.ran, game.tick, game.remainder, game.accepted) == (3, 3, rest, 10 * MS)
    assert frames(game, 17)[0].plan.first_tick == 3


# Speeds and rates.


def test_speed_zero_is_a_pause_and_any_other_speed_resumes() -> None:
    game = GameLoop(nothing, speeds=(0, 1, 5, 20))
    game.set_speed(0)
    assert (game.paused, game.speed, game.effective_speed) == (True, 1, 0)
    game.set_speed(5)
    assert (game.paused, game.speed, game.effective_speed) == (False, 5, 5)
    game.hide()
    game.set_speed(20)
    assert (game.state, game.speed, game.effective_speed) == ("hidden", 20, 0)
    with pytest.raises(ValueError, match="speeds="):
        game.set_speed(3)
    with pytest.raises(TypeError):
        game.set_speed(0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(("speed", "ticks"), [(1, 60), (5, 300), (20, 1200)])
def test_every_speed_runs_all_its_ticks_under_the_default_budget(speed: int, ticks: int) -> None:
    game = GameLoop(nothing, Rate(60), speeds=(0, 1, 5, 20))
    game.set_speed(speed)
    reports = at_rate(game, 60, 1)
    assert game.tick == ticks
    assert sum(report.dropped for report in reports) == 0


def test_the_budget_grows_with_the_speed_up_to_max_ticks() -> None:
    game = GameLoop(nothing, Rate(60), budget=3, max_ticks=10, speeds=(1, Fraction(5, 2), 20))
    assert game.budget == 3
    game.set_speed(Fraction(5, 2))
    assert game.budget == 8
    game.set_speed(20)
    assert game.budget == 10


def test_plans_are_in_units_of_the_rate_whatever_the_speeds() -> None:
    plain = GameLoop(nothing, Rate(60))
    fine = GameLoop(
        nothing, Rate(60), speeds=(1, Fraction(9, 10), Fraction(1, 7)), rates=(Rate(1, 3),)
    )
    for ms in (0, 5, 21, 100, 131):
        one, other = plain.frame(at(ms)), fine.frame(at(ms))
        assert one == other
    assert plain.stats == fine.stats


def test_a_change_of_speed_keeps_the_fraction_of_a_tick() -> None:
    game = GameLoop(nothing, Rate(10), speeds=(1, Fraction(1, 3)))
    frames(game, 0, 50)
    game.set_speed(Fraction(1, 3))
    assert frames(game, 199)[0].ran == 0
    assert frames(game, 200)[0].ran == 1  # 50 ms at 1, and 150 at a third


def test_ticks_at_60_hz_and_then_at_30_hz_take_eleven_seconds() -> None:
    step = Ticks()
    game = GameLoop(step, Rate(60), max_delta=None, budget=1000)
    game.set_rate(Rate(30), at=10 * SECOND)
    at_rate(game, 60, 11)
    assert game.tick == 630
    assert step.steps[599].sim_time + step.steps[599].dt == 10 * SECOND
    assert (step.steps[600].dt, step.steps[600].sim_time) == (33_333_333, 10 * SECOND)
    assert step.steps[-1].sim_time + step.steps[-1].dt == 11 * SECOND == game.sim_time


def test_a_rate_that_the_unit_does_not_divide_is_named() -> None:
    game = GameLoop(nothing, Rate(60))
    with pytest.raises(ValueError, match="rates="):
        game.set_rate(Rate(60_000, 1001))
    announced = GameLoop(nothing, Rate(60), rates=(Rate(60_000, 1001),))
    frames(announced, 0, 8)
    announced.set_rate(Rate(60_000, 1001))
    assert announced.rate == Rate(60_000, 1001)
    plan = announced.frame(at(8)).plan
    assert plan.timestep == Rate(60_000, 1001)
    assert plan.alpha() == pytest.approx(0.48, abs=1e-6)


def test_a_tick_can_be_a_minute_of_simulated_time() -> None:
    game = GameLoop(None, Rate(1), tick_length=60 * SECOND, speeds=(0, 1, 5, 20), max_delta=None)
    game.begin_frame(at(0))
    game.set_speed(5)
    plan = game.begin_frame(at(500))
    assert [step.sim_time for step in game.steps(plan)] == [0, 60 * SECOND]
    assert game.sim_time == 120 * SECOND
    assert game.presentation_time == 150 * SECOND
    game.pause()
    game.begin_frame(at(5_500))
    assert game.presentation_time == 150 * SECOND
    assert game.wall == 5_500 * MS


def test_begin_frame_is_for_a_game_whose_caller_runs_the_ticks() -> None:
    with pytest.raises(TypeError, match="frame"):
        GameLoop(nothing).begin_frame(at(0))
    with pytest.raises(TypeError, match="step function"):
        GameLoop(None).run_ticks(1)


# Timed verbs, and verbs in ticks.


def test_timed_verbs_give_one_run_at_every_frame_rate() -> None:
    results = set()
    for hz in (7, 30, 60, 144, 1000):
        game = GameLoop(nothing, Rate(10), speeds=(0, 1, 5, 20), max_delta=None, budget=50)
        game.pause(at=700 * MS)
        game.resume(at=900 * MS + 1)
        game.set_speed(20, at=1_200 * MS)
        reports = at_rate(game, hz, 2)
        assert reports[-1].state == "playing"
        results.add((game.tick, game.accepted, game.excluded, game.remainder, game.stats.ticks))
    assert len(results) == 1
    assert results.pop()[:3] == (169, 1_799_999_999, 200_000_001)


def test_a_timed_pause_and_its_end_in_one_frame_leave_out_exactly_the_time_between() -> None:
    game = GameLoop(nothing, max_delta=None, budget=100)
    game.pause(at=200 * MS)
    game.resume(at=500 * MS)
    report = frames(game, 0, 1_000)[1]
    assert (report.accepted, report.excluded) == (700 * MS, 300 * MS)
    assert report.ran == 42


def test_a_verb_whose_time_is_over_takes_effect_with_the_next_frame() -> None:
    game = GameLoop(nothing)
    frames(game, 0, 100)
    game.pause(at=50 * MS)
    report = frames(game, 200)[0]
    assert (report.accepted, report.excluded, report.state) == (0, 100 * MS, "paused")


def test_end_frame_abandons_the_ticks_that_were_left() -> None:
    step = Ticks(t2=lambda: game.end_frame())
    game = GameLoop(step)
    report = frames(game, 0, 200)[1]
    assert (report.ran, report.dropped, report.abandoned) == (3, 7, 2)
    assert report.state == "playing"
    assert frames(game, 217)[0].plan.first_tick == 3
    game.end_frame()  # outside a tick it does nothing
    assert frames(game, 234)[0].abandoned == 0


def test_time_spent_excluded_is_left_out_until_the_next_frame() -> None:
    game = GameLoop(nothing)
    frames(game, 0, 10)
    game.exclude()
    report = frames(game, 5_000)[0]
    assert (report.excluded, report.accepted, report.ran) == (4_990 * MS, 0, 0)
    game.exclude(at=5_100 * MS)
    report = frames(game, 5_110)[0]
    assert (report.excluded, report.accepted) == (100 * MS, 10 * MS)


def test_loading_stops_time_and_keeps_the_picture() -> None:
    game = GameLoop(nothing)
    frames(game, 0, 100)
    game.start_loading()
    report = frames(game, 900)[0]
    assert (report.state, report.drawable, report.excluded) == ("loading", True, 800 * MS)
    with pytest.raises(GameStateError, match="loading"):
        game.run_ticks(1)
    game.finish_loading()
    assert frames(game, 950)[0].excluded == 50 * MS
    assert frames(game, 1_000)[0].ran == 3


# Faults.


def test_an_exception_of_a_step_is_raised_and_faults_the_game() -> None:
    def fail() -> None:
        raise KeyError("nowhere")

    step = Ticks(t2=fail)
    game = GameLoop(step)
    frames(game, 0)
    with pytest.raises(KeyError):
        frames(game, 100)
    assert (game.state, game.tick, game.stats.ticks, game.abandoned) == ("faulted", 2, 2, 3)
    assert game.fault is not None
    assert game.fault.tick == 2
    report = frames(game, 200)[0]
    assert (report.ran, report.excluded, report.drawable) == (0, 100 * MS, False)
    with pytest.raises(GameStateError, match="faulted"):
        game.run_ticks(1)
    game.restore(game.state_dict())
    del step.verbs[2]
    frames(game, 300)
    assert frames(game, 350)[0].plan.first_tick == 2


# What is due next.


@pytest.mark.parametrize("hz", [1, 30, 50, 60, 64, 75, 90, 120, 144, 240])
def test_a_frame_at_the_next_due_time_runs_exactly_one_tick(hz: int) -> None:
    game = GameLoop(nothing, Rate(hz), max_delta=None)
    game.frame(at(123))
    ran = []
    for frame in range(600):
        due = game.next_due
        assert due is not None
        if frame == 100:
            game.exclude()
            due = Timestamp(due + 77 * MS)
            assert game.frame(due).ran == 0
            due = game.next_due
            assert due is not None
        ran.append(game.frame(due).ran)
    assert ran == [1] * 600
    game.pause()
    assert game.next_due is None


# Saving.


def test_a_saved_game_goes_on_where_it_was() -> None:
    def make() -> GameLoop:
        return GameLoop(nothing, Rate(60), speeds=(1, Fraction(1, 3)), max_delta=None)

    game = make()
    game.set_speed(Fraction(1, 3))
    at_rate(game, 144, 1.001)
    saved = json.loads(json.dumps(game.state_dict()))
    again = make()
    again.restore(saved)
    assert again.state_dict() == saved
    assert again.frame(at(10_000)).alpha == SHOW_CURRENT
    for ms in range(7, 2_000, 7):
        one, other = game.frame(at(1_001 + ms)), again.frame(at(10_000 + ms))
        assert (one.ran, one.plan) == (other.ran, other.plan)
    assert game.tick == again.tick == 59


@pytest.mark.parametrize(
    "damage",
    [
        {"tick": -1},
        {"tick": 2**64},
        {"tick": 1.0},
        {"rate": [0, 1]},
        {"speed": [7, 1]},
        {"remainder": [1, 1]},
        {"remainder": [1, 7]},
        {"remainder": [1, 0]},
        {"sim_origin": [5, 0, 1]},
        {"sim_origin": [0, -1, 1]},
        {"paused": 1},
        {"paused": None},
    ],
)
def test_a_damaged_save_is_an_error_and_changes_nothing(damage: dict[str, Any]) -> None:
    game = GameLoop(nothing)
    frames(game, 0, 10)
    saved = game.state_dict()
    with pytest.raises(ValueError, match=r"saved"):
        game.restore({**saved, **damage})
    with pytest.raises(ValueError, match="saved"):
        game.restore({name: value for name, value in saved.items() if name not in damage})
    assert game.state_dict() == saved


# Sessions.


def test_timed_input_gives_one_run_at_every_frame_rate() -> None:
    results = []
    for hz in (7, 30, 60, 144):
        game = Session(World, buttons=["jump"], max_delta=None, budget=100)
        for ms in (100, 300, 500, 501, 777):
            game.input.press("jump", at=at(ms))
            game.input.release("jump", at=Timestamp(at(ms) + 5))
        game.post(["chat", 1], at=250 * MS)
        game.pause(at=600 * MS)
        game.input.press("jump", at=650 * MS)
        game.input.release("jump", at=660 * MS)
        game.resume(at=700 * MS)
        at_rate(game, hz, 1)
        results.append((game.tick, game.world.presses, game.world.messages))
        assert game.late == 0
    assert results[0] == (
        54,
        [(5, 1), (17, 1), (29, 1), (30, 1), (40, 1)],
        [(14, ["chat", 1])],
    )
    assert all(result == results[0] for result in results)


def test_untimed_input_goes_to_the_first_tick_of_the_frame() -> None:
    game = Session(World, buttons=["jump"])
    frames(game, 0, 5)
    for _ in range(3):
        game.input.press("jump")
        game.input.release("jump")
    frames(game, 10, 60)
    assert game.world.presses == [(0, 3)]


def test_taps_in_a_pause_do_not_count_after_it() -> None:
    game = Session(World, buttons=["jump"])
    frames(game, 0)
    game.pause()
    for ms in range(10, 110, 10):
        game.input.press("jump")
        game.input.release("jump")
        frames(game, ms)
    game.resume()
    frames(game, 200)
    assert game.world.ticks == 5
    assert game.world.presses == []
    game.input.press("jump")
    frames(game, 217)
    assert game.world.presses == [(5, 1)]


def test_late_input_is_counted_and_goes_to_the_next_tick() -> None:
    game = Session(World, buttons=["jump"])
    frames(game, 0, 100)
    game.input.press("jump", at=50 * MS)
    frames(game, 117)
    assert game.late == 1
    assert game.world.presses == [(5, 1)]


def test_input_of_a_dropped_tick_waits_for_the_next_that_runs() -> None:
    game = Session(World, buttons=["jump"])
    frames(game, 0)
    game.input.press("jump", at=240 * MS)
    report = frames(game, 250)[0]
    assert (report.ran, report.dropped) == (5, 10)
    assert game.world.presses == []
    frames(game, 267)
    assert game.world.presses == [(5, 1)]


def test_a_fault_of_a_world_is_kept_and_not_raised() -> None:
    class Failing(World):
        def step(self, input: Any, tick: Any) -> None:
            super().step(input, tick)
            if tick.number == 2:
                tick.enter("Motion")
                raise KeyError("nowhere")

    game = Session(Failing)
    report = frames(game, 0, 100)[1]
    assert (report.state, report.ran, report.dropped, report.abandoned) == ("faulted", 2, 1, 3)
    assert game.fault is not None
    assert (game.fault.tick, game.fault.phase) == (2, "Motion")
    assert [entry.fault for entry in game.tick_log] == ["", "", "KeyError: 'nowhere'"]
    game.restart()
    assert (game.state, game.tick, game.world.ticks) == ("playing", 0, 0)


def test_a_frame_of_250_ms_faults_no_game_with_many_particles() -> None:
    class Sparks(World):
        def step(self, input: Any, tick: Any) -> None:
            for n in range(30):
                tick.outbox.stage("spark", anchor=n)
            tick.outbox.stage("score", anchor=tick.number, required=True)

    game = Session(Sparks)
    report = frames(game, 0, 250)[1]
    assert (report.state, report.ran) == ("playing", 5)
    kept = [request.anchor for request in game.outbox.deliver() if request.kind == "score"]
    assert kept == [0, 1, 2, 3, 4]


def test_a_world_that_swaps_its_timers_keeps_them_firing() -> None:
    from fixedstep.sim import TimerQueue

    fired: list[tuple[int, str]] = []

    class Swapping(World):
        def __init__(self) -> None:
            self.timers: TimerQueue[str] = TimerQueue(4)

        def step(self, input: Any, tick: Any) -> None:
            fired.extend((tick.number, timer.payload) for timer in tick.due)
            if tick.number == 3:
                self.timers = TimerQueue(4)
                self.timers.schedule(3, 2, "new")

    game = Session(Swapping)
    frames(game, 0, 200, 300)
    assert fired == [(5, "new")]


# Everything at random.


def picture(game: GameLoop, report: FrameReport) -> Fraction:
    """Where something is drawn that moves by 1 a tick."""
    return (
        Fraction(game.tick)
        if report.alpha == SHOW_CURRENT
        else game.tick - 1 + Fraction(report.alpha)
    )


class Planted(GameLoop):
    """A game loop with one fault, by name."""

    __slots__ = ("fault_name",)

    def __init__(self, fault_name: str, step: Callable[[Step], object], **options: Any) -> None:
        super().__init__(step, **options)
        self.fault_name = fault_name

    def _move(self, to: int, wall: int, clamped: int, excluded: int) -> tuple[bool, int]:
        if self.fault_name == "excluded time is accepted":
            excluded = 0
        return super()._move(to, wall, clamped, excluded)

    def _settle(self, plan: FramePlan, allowed: int, ran: int, last: int) -> bool:
        if self.fault_name == "a verb in a tick is late" and not self._ending:
            self._changed = False
            self._apply_tick_verbs()
            return True
        return super()._settle(plan, allowed, ran, last)

    def _stop_or_go(self, *, baseline: bool) -> None:
        if self.fault_name == "the picture goes back":
            super()._stop_or_go(baseline=baseline)
            self._replace_loop(self._loop.last, 0)
        else:
            super()._stop_or_go(baseline=baseline)

    def run_ticks(self, n: Any = 1, /) -> FrameReport:
        if self.fault_name == "single ticks are not counted":
            for _ in range(n):
                self._run_tick(self._step_at(self._tick))  # type: ignore[misc]
            return super().run_ticks(0)
        return super().run_ticks(n)


class Script:
    """One random game: verbs at frames, in ticks and at times, a clock that may go back."""

    def __init__(self, seed: int, make: Callable[..., GameLoop] = GameLoop) -> None:
        chance = random.Random(seed)
        self.chance = chance
        self.in_ticks: dict[int, list[tuple[str, Any]]] = {}
        for _ in range(chance.randrange(6)):
            self.in_ticks.setdefault(chance.randrange(150), []).append(self.verb(in_tick=True))
        self.failing = chance.randrange(400)
        self.ran = self.before_restore = 0
        self.game = make(
            self.step,
            rate=chance.choice([Rate(60), Rate(30), Rate(1001, 17), Rate(7)]),
            budget=chance.choice([1, 3, 5, 50]),
            max_ticks=chance.choice([None, None, 9]),
            max_delta=chance.choice([None, 250 * MS, 40 * MS]),
            speeds=(0, 1, 5, Fraction(9, 10), Fraction(1, 3)),
            rates=(Rate(24_000, 1001), Rate(1, 17)),
            remainder=chance.choice(["keep", "forget"]),
        )

    def verb(self, *, in_tick: bool = False) -> tuple[str, Any]:
        names = ["pause", "resume", "toggle_pause", "hide", "show", "set_speed", "set_speed"]
        names += ["set_rate", "start_loading", "finish_loading", "exclude"]
        names += ["end_frame"] * 2 if in_tick else []
        name = self.chance.choice(names)
        if name == "set_speed":
            return name, self.chance.choice([0, 1, 5, Fraction(9, 10), Fraction(1, 3)])
        if name == "set_rate":
            return name, self.chance.choice([Rate(60), Rate(24_000, 1001), Rate(7)])
        return name, None

    def call(self, name: str, argument: Any, **when: Any) -> None:
        method = getattr(self.game, name)
        if argument is None:
            method(**when)
        else:
            method(argument, **when)

    def step(self, step: Step) -> None:
        if self.failing == self.ran:
            self.failing = -1
            raise ArithmeticError("planned")
        assert step.tick == self.game.tick
        self.ran += 1
        for name, argument in self.in_ticks.pop(self.ran, []):
            self.call(name, argument)

    def run(self) -> None:
        game, chance = self.game, self.chance
        now, wall, drawn = 1_000 * MS, 0, Fraction(0)
        game.frame(Timestamp(now))
        for _ in range(60):
            for _ in range(chance.choice([0, 0, 0, 1, 2])):
                if chance.random() < 0.5:
                    self.call(*self.verb())
                else:
                    self.call(*self.verb(), at=max(now + chance.randrange(-50, 400) * MS, 0))
            if chance.random() < 0.1 and game.state not in ("faulted", "loading"):
                try:
                    game.run_ticks(chance.randrange(4))
                except ArithmeticError:
                    assert game.state == "faulted"
            if game.state == "faulted" and chance.random() < 0.5:
                game.restore(game.state_dict())
                self.before_restore = self.ran
            before = now
            now += chance.choice(
                [0, 1, 4 * MS, 7_000_001, 16_666_667, 33 * MS, 250 * MS, 3 * SECOND]
            )
            if chance.random() < 0.03:
                now = max(now - chance.randrange(2 * SECOND), 0)
            wall += max(now - before, 0)
            try:
                report = game.frame(Timestamp(now))
            except ArithmeticError:
                assert game.state == "faulted"
            else:
                assert report.ran == report.plan.step_count
                assert report.accepted + report.clamped + report.excluded == max(now - before, 0)
                assert (report.tick, report.state) == (game.tick, game.state)
                assert game.max_delta is None or report.accepted <= game.max_delta
                if report.drawable:
                    # a plan rounds down in units of the rate: a change of rate moves it by that
                    assert picture(game, report) >= drawn - ROUNDING, "the picture goes back"
                    drawn = picture(game, report)
            assert game.wall == wall == game.accepted + game.clamped + game.excluded
            assert game.accepted >= 0
            assert game.tick == self.ran, "a tick is lost or doubled"
            assert game.stats.ticks == self.ran - self.before_restore
            assert (game.next_due is None) == (game.state != "playing")


@pytest.mark.parametrize("block", range(10))
def test_all_verbs_at_random_keep_the_sums(block: int) -> None:
    ran = 0
    for seed in range(block * RUNS, (block + 1) * RUNS):
        script = Script(seed)
        script.run()
        ran += script.ran
    assert ran > 10 * RUNS


def test_every_tick_that_falls_due_is_run_dropped_or_abandoned() -> None:
    """Against an independent total: at one speed, accepted time alone says what was due."""
    due = abandoned = 0
    for seed in range(RUNS):
        chance = random.Random(seed)
        step = Ticks(t5="pause", t9="end_frame", t20="hide")
        step.game = game = GameLoop(step, budget=3)
        now = single = 0
        for _ in range(80):
            name = chance.choice(["pause", "resume", "hide", "show", "exclude", "", "", ""])
            if name:
                when = {"at": now + chance.randrange(100) * MS} if chance.random() < 0.5 else {}
                getattr(game, name)(**when)
            if chance.random() < 0.1:
                report = game.run_ticks(2)
                single += report.ran + report.abandoned
            now += chance.choice([4, 17, 33, 300]) * MS
            game.frame(Timestamp(now))
        total = game.tick + game.stats.steps_dropped + game.abandoned
        assert total == game.accepted * 60 // SECOND + single
        due += total
        abandoned += game.abandoned
    assert due > 40 * RUNS
    assert abandoned > 0


@pytest.mark.parametrize(
    "fault",
    ["the picture goes back", "single ticks are not counted"],
)
def test_the_random_games_find_a_planted_fault(fault: str) -> None:
    def make(step: Callable[[Step], object], **options: Any) -> GameLoop:
        return Planted(fault, step, **options)

    def all_games() -> None:
        for seed in range(400):
            Script(seed, make).run()

    with pytest.raises(AssertionError):
        all_games()


def timed_run(seed: int, hz: int, make: Callable[..., GameLoop] = GameLoop) -> tuple[Any, ...]:
    """A game with timed verbs and verbs in ticks, at a frame rate: everything that came of it."""
    chance = random.Random(seed)
    in_ticks: dict[int, tuple[str, Any]] = {}
    steps: list[Step] = []

    def step(step: Step) -> None:
        steps.append(step)
        if step.tick in in_ticks:
            name, argument = in_ticks[step.tick]
            method = getattr(game, name)
            if argument is None:
                method()
            else:
                method(argument)

    game = make(
        step,
        rate=Rate(60),
        budget=2**20,
        max_delta=None,
        speeds=(0, 1, 5, Fraction(9, 10)),
        rates=(Rate(24_000, 1001),),
        remainder=chance.choice(["keep", "forget"]),
    )
    for _ in range(chance.randrange(8)):
        name = chance.choice(
            ["pause", "resume", "hide", "show", "set_speed", "set_rate", "exclude"]
        )
        argument = {
            "set_speed": chance.choice([1, 5, Fraction(9, 10)]),
            "set_rate": chance.choice([Rate(30), Rate(24_000, 1001)]),
        }.get(name)
        if chance.random() < 0.7 or name == "exclude":
            time = Timestamp(1 + chance.randrange(2 * SECOND))
            if name == "exclude":  # up to its time from the frame before, whose time differs
                continue
            method = getattr(game, name)
            if argument is None:
                method(at=time)
            else:
                method(argument, at=time)
        else:
            in_ticks[chance.randrange(100)] = (name, argument)
    at_rate(game, hz, 2)
    return game.tick, steps, game.accepted, game.excluded, game.remainder, game.state, game.sim_time


def test_timed_verbs_and_verbs_in_ticks_are_equal_at_all_frame_rates() -> None:
    ticks = 0
    for seed in range(RUNS):
        first, *others = (timed_run(seed, hz) for hz in (7, 30, 60, 144))
        ticks += first[0]
        assert all(other == first for other in others), seed
    assert ticks > 20 * RUNS


@pytest.mark.parametrize("fault", ["a verb in a tick is late", "excluded time is accepted"])
def test_the_runs_at_four_frame_rates_find_a_planted_fault(fault: str) -> None:
    def make(step: Callable[[Step], object], **options: Any) -> GameLoop:
        return Planted(fault, step, **options)

    found = any(
        timed_run(seed, 7, make) != timed_run(seed, 144, make)
        or timed_run(seed, 7, make) != timed_run(seed, 7)
        for seed in range(200)
    )
    assert found
