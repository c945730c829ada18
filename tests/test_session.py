"""The session: what a frame does, what a tick gets, and what is left after a tick that failed.

The worlds here are small and made of integers, so that every number can be followed by hand. Time
comes in as numbers; nothing sleeps. Where the subject is work in the background, results arrive
when the test says so, and the threads are the mailbox's own tests' affair.
"""

from __future__ import annotations

import contextlib
import copy
import doctest
import importlib
import io
import json
import os
import queue
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import Nanos, Rate, StateHash, StepBudget, Timestamp, Timestep
from fixedstep.sim.history import History
from fixedstep.sim.input_bridge import (
    CANCEL,
    PRESS,
    RELEASE,
    ActionState,
    TickInput,
    Transition,
    TransitionQueue,
)
from fixedstep.sim.mailbox import Mailbox, MailboxClosed, MailboxFull, Stale
from fixedstep.sim.outbox import Outbox, OutboxOverflow
from fixedstep.sim.phases import Phase, PhaseOrderError, Phases
from fixedstep.sim.recording import RecordedFault, RecordedTick, Recording
from fixedstep.sim.replay import Divergence, PolicyMismatch, compare, play
from fixedstep.sim.session import (
    SHOW_CURRENT,
    Fault,
    FrameReport,
    Mode,
    Session,
    SessionModeError,
    Tick,
    WorkFailed,
)
from fixedstep.sim.tick_input import REST
from fixedstep.sim.tick_log import TickTrace
from fixedstep.sim.timers import Cadence, Deadline, TickExhausted, TimerQueue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MS = 10**6
SECOND = 10**9
U64_MAX = 2**64 - 1
FPS_60 = 16_666_667


class World:
    """Counts, and remembers what each tick saw."""

    def __init__(self, level: str = "first") -> None:
        self.level = level
        self.x = 0
        self.ticks: list[int] = []
        self.inputs: list[TickInput] = []
        self.timers = TimerQueue[str](16)


def make(body: Callable[[World, TickInput, Tick], Any] | None = None, **options: Any) -> Any:
    """A session whose ticks remember their input, and then do what ``body`` does."""

    def run_tick(world: World, tick_input: TickInput, tick: Tick) -> Any:
        assert tick.number == tick.step.tick
        world.ticks.append(tick.number)
        world.inputs.append(tick_input)
        world.x += 3
        return None if body is None else body(world, tick_input, tick)

    defaults: dict[str, Any] = {"actions": ["jump", "move"], "digests": digests}
    return Session(World, run_tick, "first", **(defaults | options))


def digests(world: World) -> dict[str, StateHash]:
    return {"x": StateHash().absorb_u64(world.x), "ticks": StateHash().absorb_u64(len(world.ticks))}


def frames(session: Session[str, World], *milliseconds: int) -> list[FrameReport]:
    return [session.frame(Timestamp(at * MS)) for at in milliseconds]


def jumps(world: World) -> list[tuple[int, int, bool]]:
    return [(i["jump"].pressed, i["jump"].released, i["jump"].held) for i in world.inputs]


# Time.


@pytest.mark.parametrize(
    ("milliseconds", "clamped", "dropped"),
    [(100, 0, 2), (250, 0, 11), (8_000, 7_750_000_000, 11)],
)
def test_debt_is_clamped_run_and_dropped_and_each_is_reported_apart(
    milliseconds: int, clamped: int, dropped: int
) -> None:
    """A quarter second a frame, four ticks a frame, sixty a second."""
    session = make()
    first, report = frames(session, 1_000, 1_000 + milliseconds)
    assert (first.ran, first.accepted, first.excluded) == (0, 0, 0), "a baseline, and no start-up"
    assert (report.ran, report.dropped, report.clamped) == (4, dropped, clamped)
    assert report.accepted == milliseconds * MS - clamped
    assert (report.tick, session.tick, session.world.ticks) == (4, 4, [0, 1, 2, 3])
    assert (report.mode, report.abandoned, report.regressed) == (Mode.PLAYING, 0, False)


def test_alpha_is_the_plans_while_playing() -> None:
    session = make(timestep=Timestep(100 * MS))
    alphas = [report.alpha for report in frames(session, 0, 130, 150, 190, 200)]
    assert [round(alpha, 6) for alpha in alphas] == [0, 0.3, 0.5, 0.9, 0]


def test_a_second_is_sixty_ticks_however_it_is_cut_into_frames() -> None:
    for fps in (24, 30, 60, 144, 1000):
        session = make(max_delta=None)
        for frame in range(fps + 1):
            session.frame(Timestamp(frame * SECOND // fps))
        assert session.tick == 60


def test_a_clock_that_goes_back_runs_nothing_and_is_reported() -> None:
    session = make()
    frames(session, 0, 20)
    before = session.tick
    (report,) = frames(session, 10)
    assert (report.regressed, report.ran, report.accepted, session.tick) == (True, 0, 0, before)


def test_the_steps_of_a_tick_have_its_number_and_its_time() -> None:
    steps = []
    session = make(lambda world, given_input, tick: steps.append(tick.step))
    frames(session, 0, 50)
    session.pause()
    session.step()
    session.resume()
    frames(session, 60, 110)
    assert [step.tick for step in steps] == list(range(session.tick)) == session.world.ticks
    assert len(steps) == 7
    assert [step.sim_time for step in steps] == [n * SECOND // 60 for n in range(7)]


# Input.


def test_an_edge_in_a_frame_without_a_tick_reaches_the_next_tick_once() -> None:
    """Case D01, through frames as a game has them."""
    session = make(timestep=Timestep(33_333_333))
    samples = [PRESS, ActionState(held=True), RELEASE, REST, REST, REST, REST, REST, REST]
    ran = [session.frame(Timestamp(0), {"jump": REST, "move": REST}).ran]
    for i, sample in enumerate(samples, 1):
        ran.append(session.frame(Timestamp(i * 8_333_333), {"jump": sample}).ran)
    assert ran == [0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert jumps(session.world) == [(1, 1, False), (0, 0, False)]


def test_catch_up_ticks_see_an_edge_once_and_what_is_held_in_each() -> None:
    """Cases D02 and D06: dropped steps consume nothing."""
    session = make(budget=StepBudget(3))
    session.frame(Timestamp(0), {"jump": REST, "move": REST})
    move = ActionState(axis=700)
    report = session.frame(Timestamp(200 * MS), {"jump": PRESS, "move": move})
    assert (report.ran, report.dropped) == (3, 9)
    assert jumps(session.world) == [(1, 0, True), (0, 0, True), (0, 0, True)]
    assert [given_input["move"].axis for given_input in session.world.inputs] == [700] * 3


def test_presses_before_one_tick_coalesce_into_a_count() -> None:
    """Case D03."""
    session = make()
    session.frame(Timestamp(0), {"jump": REST})
    events = [("jump", PRESS), ("jump", RELEASE), ("jump", PRESS)]
    session.frame(Timestamp(FPS_60), events)
    assert jumps(session.world) == [(2, 1, True)]


def test_ordered_input_reaches_the_oldest_tick() -> None:
    session = make(transitions=TransitionQueue(4))
    frames(session, 0)
    queue = session.input.transitions
    for character in "ab":
        queue.push(Transition("text", ord(character)))
    frames(session, 50)
    assert [len(i.transitions) for i in session.world.inputs] == [2, 0, 0]


def test_a_key_held_when_a_world_begins_does_nothing_until_it_was_let_go() -> None:
    session = make()
    for at, sample in enumerate([PRESS, ActionState(held=True), REST, PRESS]):
        session.frame(Timestamp(at * FPS_60), {"jump": sample})
    assert jumps(session.world) == [(0, 0, False), (0, 0, False), (1, 0, True)]


def held_then(session: Any, *between: Callable[[], Any]) -> list[ActionState]:
    """Hold a key, do things, keep holding it, let go, press again: what ticks saw of it after."""
    session.frame(Timestamp(0), {"jump": REST})
    session.frame(Timestamp(FPS_60), {"jump": PRESS})
    assert session.world.inputs[-1]["jump"] == PRESS
    for do in between:
        do()
    seen = len(session.world.inputs)
    at = FPS_60
    for sample in (ActionState(held=True), ActionState(held=True), REST, PRESS):
        at += FPS_60
        session.frame(Timestamp(at), {"jump": sample})
    return [given_input["jump"] for given_input in session.world.inputs[seen:]]


@pytest.mark.parametrize(
    "interruption",
    [
        pytest.param(["pause", "resume"], id="pause"),
        pytest.param(["hide", "show"], id="hidden"),
        pytest.param(["pause", "hide", "show", "resume"], id="both"),
    ],
)
def test_a_key_held_through_an_interruption_is_cancelled_and_must_be_let_go(
    interruption: list[str],
) -> None:
    """No release is made up, and the key that was held in the menu fires nothing after it."""
    session = make()
    seen = held_then(session, *(getattr(session, name) for name in interruption))
    assert seen[0] == CANCEL
    assert all(state.released == 0 for state in seen)
    assert [state.held for state in seen] == [False, False, True]
    assert seen[-1].pressed == 1


def test_a_loss_of_focus_cancels_input_before_the_next_tick() -> None:
    """The window reports it between frames, and no key release ever comes."""
    session = make()
    assert held_then(session, session.input.cancel)[:2] == [CANCEL, REST]


def test_input_of_the_interface_while_paused_does_not_reach_the_game() -> None:
    session = make()
    frames(session, 0)
    session.pause()
    for at in range(1, 5):
        session.frame(Timestamp(at * FPS_60), {"jump": PRESS})
    session.resume()
    session.frame(Timestamp(5 * FPS_60), {"jump": REST})
    session.frame(Timestamp(6 * FPS_60), {"jump": REST})
    assert jumps(session.world) == [(0, 0, False)]


def test_an_action_the_interface_consumed_does_not_enter_the_game() -> None:
    session = make()
    session.frame(Timestamp(0), {"jump": REST, "move": REST})
    consumed = {"jump"}
    sample = {"jump": PRESS, "move": ActionState(axis=5)}
    left = {name: state for name, state in sample.items() if name not in consumed}
    session.frame(Timestamp(FPS_60), left)
    (seen,) = session.world.inputs
    assert (seen["jump"], seen["move"]) == (REST, ActionState(axis=5))


# Modes.


def test_time_spent_paused_is_excluded_and_nothing_of_it_is_made_up_for() -> None:
    """Cases G01 and G04: ten seconds paused came back as three hundred ticks."""
    session = make(timestep=Timestep(33_333_333), budget=StepBudget(5))
    at = 0
    for _ in range(61):
        session.frame(Timestamp(at))
        at += 16_666_667
    assert session.tick == 30
    session.pause()
    for _ in range(100):
        report = session.frame(Timestamp(at))
        assert (report.mode, report.ran, report.dropped, report.accepted) == (Mode.PAUSED, 0, 0, 0)
        assert report.alpha == SHOW_CURRENT
        at += 100 * MS
    session.resume()
    after = []
    for _ in range(3):
        after.append(session.frame(Timestamp(at)))
        at += 16_666_667
    assert [report.ran for report in after] == [0, 0, 1], "a baseline, half a tick, a tick"
    assert after[0].accepted == 0
    last = at - 16_666_667
    assert session.accepted + session.clamped + session.excluded == last, "wall time goes on"
    assert session.excluded > 10 * SECOND


def test_a_known_pause_is_not_one_giant_frame() -> None:
    """Case G02: a window was dragged for five seconds, which the host knows."""
    session = make()
    frames(session, 1_000)
    session.hide()
    session.show()
    baseline, report = frames(session, 6_000, 6_017)
    assert (baseline.ran, baseline.clamped, baseline.dropped) == (0, 0, 0)
    assert baseline.excluded == 5 * SECOND
    assert (report.ran, report.dropped) == (1, 0)


def test_game_time_goes_on_where_it_was() -> None:
    """Case G06: on resuming, game time jumped to real time."""
    session = make(timestep=Rate(1), max_delta=None)
    frames(session, 0, *range(1_000, 8_000, 1_000))
    assert session.tick == 7
    session.pause()
    frames(session, 9_000, 12_000)
    session.resume()
    frames(session, 12_000)
    assert session.tick == 7
    frames(session, 13_000)
    assert session.tick == 8


def test_hidden_time_is_excluded_and_the_mode_stays() -> None:
    session = make()
    frames(session, 0, 20)
    session.hide()
    first, report = frames(session, 4_000, 8_020)
    assert (report.mode, session.hidden) == (Mode.PLAYING, True)
    assert (report.ran, report.dropped, report.clamped, report.accepted) == (0, 0, 0, 0)
    assert first.excluded + report.excluded == 8 * SECOND
    assert report.alpha == SHOW_CURRENT
    session.show()
    again, after = frames(session, 8_030, 8_050)
    assert (again.ran, after.ran, session.tick) == (0, 1, 2)


def test_showing_a_paused_session_does_not_resume_it() -> None:
    session = make()
    session.pause()
    session.hide()
    session.show()
    assert session.mode is Mode.PAUSED
    assert frames(session, 0, 100)[1].ran == 0


def test_a_pause_forgets_the_part_of_a_tick_that_was_owed() -> None:
    session = make(timestep=Timestep(10 * MS))
    frames(session, 0, 19)
    assert session.tick == 1
    session.pause()
    session.resume()
    assert [report.ran for report in frames(session, 20, 29, 30)] == [0, 0, 1]


def test_asking_for_the_mode_that_is_changes_nothing() -> None:
    """A pause menu that opens twice must not lose the debt and the input of a tick in between."""
    session = make()
    frames(session, 0, 10)
    session.input.sample({"jump": REST})
    session.input.sample({"jump": PRESS})
    session.resume()
    session.show()
    assert frames(session, 17)[0].ran == 1
    assert session.world.inputs[-1]["jump"].pressed == 1


def test_a_step_runs_exactly_one_tick_and_no_time() -> None:
    """Eight seconds paused are no tick, and then a step is one: number five."""
    session = make()
    frames(session, 0, 100)
    session.pause()
    assert frames(session, 8_100)[0].ran == 0
    report = session.step()
    assert (report.ran, report.tick, report.accepted, report.alpha) == (1, 5, 0, SHOW_CURRENT)
    assert session.world.inputs[-1] == TickInput.neutral(["jump", "move"])
    given_input = TickInput({"jump": PRESS, "move": REST})
    session.step(given_input)
    assert session.world.inputs[-1] is given_input
    assert session.world.ticks == list(range(6))
    assert session.mode is Mode.PAUSED


def test_a_step_does_not_take_what_waits_in_the_bridge() -> None:
    session = make()
    session.pause()
    session.input.sample({"jump": REST})
    session.input.sample({"jump": PRESS})
    session.step()
    assert session.world.inputs[-1].is_neutral
    assert session.input.take()["jump"].pressed == 1


@pytest.mark.parametrize(
    ("bad", "kind", "text"),
    [
        ({"jump": PRESS}, TypeError, "a TickInput, not dict"),
        (TickInput.neutral(["jump"]), ValueError, "have the actions jump, move, not jump"),
    ],
)
def test_a_step_with_another_input_runs_nothing(bad: Any, kind: type[Exception], text: str) -> None:
    session = make(mode=Mode.PAUSED)
    with pytest.raises(kind, match=text):
        session.step(bad)
    assert (session.tick, session.world.ticks) == (0, [])


def test_a_step_while_playing_is_refused() -> None:
    session = make()
    with pytest.raises(SessionModeError, match=r"needs a paused session.*Playing; pause it first"):
        session.step()
    assert session.tick == 0


def test_paused_deadlines_do_not_run_out_and_a_step_is_a_tick_of_them() -> None:
    """A cooldown of 30 ticks from an attack in tick 2 is over in tick 32, whatever the pause."""
    cooldown = Deadline()
    ready = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        if tick.number == 2:
            cooldown.arm(tick.number, 30)
        if cooldown.due(tick.number):
            ready.append(tick.number)

    session = make(body, mode=Mode.PAUSED)
    for _ in range(10):
        session.step()
    frames(session, *range(0, 100_000, 1_000))
    assert ready == []
    for _ in range(23):
        session.step()
    assert ready == [32]


def test_timers_of_the_world_are_due_in_its_ticks() -> None:
    """Case I01 and the rule that a timer made in a tick waits for the next, through a session."""
    fired = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        assert tick.due is not None
        for timer in tick.due:
            fired.append((tick.number, timer.payload))
            if timer.payload == "once":
                world.timers.schedule(tick.number, 0, "echo")
        if tick.number == 0:
            world.timers.schedule(0, 1, "every", period=1)
            world.timers.schedule(0, 2, "once")

    session = make(body, timers=lambda world: world.timers, timestep=Timestep(10 * MS))
    frames(session, 0, 40)
    assert fired == [(1, "every"), (2, "every"), (2, "once"), (3, "every"), (3, "echo")]
    session.restart()
    fired.clear()
    frames(session, 50, 70)
    assert session.tick == 2
    assert fired == [(1, "every")], "a new world has new timers"


def test_a_cadence_keeps_its_ticks_at_every_frame_rate() -> None:
    thinking = Cadence(4, 1)
    for fps in (20, 60, 240):
        thought: list[int] = []

        def body(
            world: World, given_input: TickInput, tick: Tick, thought: list[int] = thought
        ) -> None:
            if thinking.due(tick.number):
                thought.append(tick.number)

        session = make(body)
        for frame in range(fps + 1):
            session.frame(Timestamp(frame * SECOND // fps))
        assert thought == list(range(1, 60, 4))


# Worlds.


def test_the_first_tick_of_a_world_has_nothing_to_cancel() -> None:
    session = make()
    frames(session, 0, 20)
    session.activate("second", mode=Mode.PAUSED)
    session.resume()
    frames(session, 40, 60)
    first, second = session.world.inputs[0], session.input.take()
    assert first["jump"] == CANCEL, "resuming did that"
    assert second.is_neutral
    session.restart()
    session.activate("third")
    frames(session, 80, 100)
    assert session.world.inputs[0].is_neutral
    assert session.input.shut == {"jump", "move"}


def test_a_restart_makes_a_new_world_at_tick_0() -> None:
    session = make()
    frames(session, 0, 100)
    old, level = session.world, session.level
    session.restart()
    assert session.world is not old
    assert (session.world.level, session.level, session.tick) == ("first", level, 0)
    assert session.last_good is None
    assert len(session.trace) == 0
    baseline, report = frames(session, 5_000, 5_020)
    assert (baseline.ran, baseline.excluded, report.ran) == (0, 4_900 * MS, 1)
    assert session.world.ticks == [0]


def test_another_level_is_entered_in_the_mode_that_is_asked_for() -> None:
    session = make()
    frames(session, 0, 100)
    session.activate("second", mode=Mode.PAUSED)
    assert (session.world.level, session.level, session.mode) == ("second", "second", Mode.PAUSED)
    session.resume()
    session.restart()
    assert (session.world.level, session.mode) == ("second", Mode.PAUSED), "as it was entered"
    with pytest.raises(ValueError, match=r"must be Mode\.PLAYING or Mode\.PAUSED"):
        session.activate("third", mode=Mode.FAULTED)
    assert session.level == "second"


def test_a_level_that_cannot_be_made_leaves_everything_as_it_was() -> None:
    def make_world(level: str) -> World:
        if level == "broken":
            raise MemoryError("no room for the level")
        return World(level)

    outbox = Outbox()

    def run_tick(world: World, given_input: TickInput, tick: Tick) -> None:
        world.x += 1
        outbox.stage("sound")

    session = Session(make_world, run_tick, "first", actions=["jump"], outbox=outbox)
    session.frame(Timestamp(0))
    session.frame(Timestamp(20 * MS), {"jump": REST})
    world, world_id = session.world, session.world_id
    with pytest.raises(MemoryError):
        session.activate("broken", mode=Mode.PAUSED)
    assert session.world is world
    assert (session.world_id, session.mode, session.level) == (world_id, Mode.PLAYING, "first")
    report = session.frame(Timestamp(40 * MS), {"jump": PRESS})
    assert (report.ran, report.accepted, session.tick, world.x) == (1, 20 * MS, 2, 2)
    assert len(outbox.deliver()) == 2


def test_a_game_can_go_on_from_a_tick() -> None:
    session = make(tick=1_000)
    frames(session, 0, 20)
    assert session.world.ticks == [1_000]
    session.restart()
    assert session.tick == 0


# The end of numbers.


def test_the_last_tick_stops_the_session_and_nothing_wraps() -> None:
    session = make(tick=U64_MAX - 2)
    _, report = frames(session, 0, 100)
    assert session.world.ticks == [U64_MAX - 2, U64_MAX - 1]
    assert (report.ran, report.abandoned, report.mode) == (2, 2, Mode.FAULTED)
    assert session.tick == U64_MAX
    assert session.fault is not None
    assert (session.fault.tick, type(session.fault.error)) == (U64_MAX, TickExhausted)
    assert frames(session, 200)[0].ran == 0
    session.restart()
    assert frames(session, 300, 320)[1].ran == 1


# Faults.

STAGED = [("spark", False), ("boom", True)]


def faulting(at: int, phase: Phase, error: BaseException) -> Callable[..., None]:
    """Each tick stages two requests in BeginTick; tick ``at`` raises in ``phase``."""

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        assert tick.outbox is not None
        for kind, required in STAGED:
            tick.outbox.stage(kind, (world.x, 0), required=required)
        for entered in Phase:
            if entered is not Phase.BEGIN_TICK:
                tick.enter(entered)
            if tick.number == at and entered is phase:
                raise error
            world.x += 1

    return body


@pytest.mark.parametrize("phase", Phase, ids=lambda phase: phase.value)
def test_a_fault_in_any_phase_publishes_nothing_and_keeps_what_was_published(phase: Phase) -> None:
    """Tick 2 of four raises after it has staged a sound and a required record."""
    error = ValueError("out of cheese")
    session = make(faulting(2, phase, error), outbox=(outbox := Outbox()))
    _, report = frames(session, 0, 70)
    assert (report.mode, report.ran, report.abandoned, report.tick) == (Mode.FAULTED, 2, 2, 2)
    assert report.alpha == SHOW_CURRENT
    assert session.fault == Fault(2, phase, error)
    assert error.__traceback__ is not None, "kept whole, for a debugger"

    delivered = outbox.deliver()
    assert [(record.tick, record.kind) for record in delivered] == [
        (tick, kind) for tick in (0, 1) for kind, _ in STAGED
    ]
    assert outbox.deliver() == ()
    assert (outbox.staged, outbox.discarded) == (0, 2)

    for later in frames(session, 100, 200, 5_000):
        assert (later.mode, later.ran, later.alpha) == (Mode.FAULTED, 0, SHOW_CURRENT)
        assert later.tick == 2
        assert outbox.deliver() == ()
    assert len(session.world.ticks) == 3, "the unfinished world is there to be looked at"


def test_without_a_fault_the_same_ticks_publish_all() -> None:
    """The control of the test above."""
    session = make(faulting(9, Phase.COMMIT, ValueError()), outbox=(outbox := Outbox()))
    _, report = frames(session, 0, 70)
    assert (report.ran, report.mode) == (4, Mode.PLAYING)
    assert len(outbox.deliver()) == 8


def test_a_fault_after_staging_a_sound_keeps_earlier_frames_deliverable() -> None:
    session = make(faulting(4, Phase.GAMEPLAY, ValueError()), outbox=(outbox := Outbox()))
    frames(session, 0, 70, 140)
    assert [record.tick for record in outbox.deliver()] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_requests_are_delivered_once_whether_or_not_frames_are_drawn() -> None:
    """Several ticks a frame, frames without a tick, and a renderer that skips two of three."""
    session = make(faulting(10**6, Phase.COMMIT, ValueError()), outbox=(outbox := Outbox()))
    heard: list[tuple[int, object]] = []
    drawn = 0
    for frame, at in enumerate((0, 4, 8, 60, 61, 62, 130, 200, 210, 220)):
        frames(session, at)
        heard += [(record.tick, record.kind) for record in outbox.deliver()]
        drawn += frame % 3 == 0
    assert drawn == 4
    assert session.tick > 10
    assert heard == [(tick, kind) for tick in range(session.tick) for kind, _ in STAGED]


def test_requests_wait_for_a_host_that_delivers_less_often_than_it_frames() -> None:
    session = make(faulting(10**6, Phase.COMMIT, ValueError()), outbox=(outbox := Outbox()))
    frames(session, 0, 60, 120, 180)
    assert session.tick == 10
    assert len(outbox.deliver()) == 20


def test_a_restart_after_a_fault_is_a_new_world_without_the_old_ones_requests() -> None:
    session = make(faulting(2, Phase.COMMIT, ValueError()), outbox=(outbox := Outbox()))
    frames(session, 0, 70)
    failed = session.world
    session.restart()
    assert session.world is not failed
    assert (session.mode, session.fault, session.tick) == (Mode.PLAYING, None, 0)
    assert outbox.deliver() == ()
    _, report = frames(session, 100, 120)
    assert (report.ran, report.mode) == (1, Mode.PLAYING)
    assert {record.world for record in outbox.deliver()} == {session.world_id} == {2}


def test_the_last_good_frame_and_its_alpha_stay() -> None:
    session = make(faulting(3, Phase.MOTION, ValueError()), outbox=Outbox())
    _, good = frames(session, 0, 40)
    assert session.last_good == good
    assert 0 < good.alpha < 1
    frames(session, 80, 100)
    assert session.mode is Mode.FAULTED
    assert session.last_good == good


@pytest.mark.parametrize("name", ["pause", "resume", "step"])
def test_a_fault_is_not_mended_by_changing_the_mode(name: str) -> None:
    session = make(faulting(0, Phase.MOTION, ValueError()), outbox=Outbox())
    frames(session, 0, 20)
    with pytest.raises(SessionModeError, match="restart"):
        getattr(session, name)()
    assert session.mode is Mode.FAULTED
    session.hide()
    session.show()
    assert session.mode is Mode.FAULTED
    assert frames(session, 100, 200)[1].ran == 0


def test_a_step_can_fault_too() -> None:
    session = make(faulting(1, Phase.COMMIT, ValueError()), outbox=Outbox(), mode=Mode.PAUSED)
    assert session.step().ran == 1
    report = session.step()
    assert (report.ran, report.abandoned, report.mode) == (0, 1, Mode.FAULTED)
    assert session.last_good is not None
    assert session.last_good.tick == 1


def test_an_interrupt_faults_the_session_and_is_raised() -> None:
    """Ctrl-C in the middle of a tick leaves half a tick, and must still end the program."""
    session = make(faulting(1, Phase.MOTION, KeyboardInterrupt()), outbox=(outbox := Outbox()))
    frames(session, 0)
    with pytest.raises(KeyboardInterrupt):
        frames(session, 50)
    assert (session.mode, session.tick) == (Mode.FAULTED, 1)
    assert {record.tick for record in outbox.deliver()} == {0}
    assert frames(session, 60)[0].mode is Mode.FAULTED


def test_a_required_request_without_room_faults_before_anything_is_published() -> None:
    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        assert tick.outbox is not None
        for _ in range(3):
            tick.outbox.stage("exit", required=True)

    session = make(body, outbox=(outbox := Outbox(capacity=5)))
    frames(session, 0, 40)
    assert session.fault is not None
    assert type(session.fault.error) is OutboxOverflow
    assert (session.tick, len(outbox.deliver())) == (1, 3)


def test_a_tick_that_returns_something_is_a_fault() -> None:
    """A coroutine that nobody awaits would run nothing, tick after tick, without a word."""
    session = make(lambda world, given_input, tick: "done")
    frames(session, 0, 20)
    assert session.fault is not None
    assert "run_tick must return None, not str 'done'" in str(session.fault.error)
    assert session.tick == 0


def test_digests_that_prove_nothing_are_a_fault_at_the_end_of_the_tick() -> None:
    session = make(digests=lambda world: {})
    session.record(io.StringIO())
    frames(session, 0, 20)
    assert session.fault is not None
    assert session.fault.phase is Phase.END_TICK
    assert "must hold a field" in str(session.fault.error)


@pytest.mark.parametrize(
    ("name", "arguments"),
    {
        "frame": [Timestamp(0)],
        "step": [],
        "replay": [None],
        "pause": [],
        "resume": [],
        "hide": [],
        "show": [],
        "restart": [],
        "activate": ["second"],
        "record": [None],
        "stop_recording": [],
    }.items(),
)
def test_a_tick_cannot_change_the_session_that_runs_it(name: str, arguments: list[Any]) -> None:
    """Case of a menu that a script opens: it is a request for the frame, or half a batch runs in
    one mode and half in another."""

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        if tick.number == 1:
            getattr(session, name)(*arguments)

    session = make(body)
    frames(session, 0, 50)
    assert session.fault is not None
    assert f"{name} was called within tick 1" in str(session.fault.error)
    assert session.tick == 1
    session.restart()
    assert session.mode is Mode.PLAYING


# Phases and the trace.


def test_phases_go_forward_and_can_be_left_out() -> None:
    phases = Phases()
    assert phases.current is Phase.BEGIN_TICK
    phases.enter(Phase.MOTION)
    for earlier in (Phase.BEGIN_TICK, Phase.INTENT, Phase.MOTION):
        with pytest.raises(PhaseOrderError, match=f"{earlier.value} cannot follow Motion"):
            phases.enter(earlier)
    with pytest.raises(TypeError, match="must be a Phase, not str 'Commit'"):
        phases.enter("Commit")  # type: ignore[arg-type]
    phases.enter(Phase.END_TICK)
    assert phases.entered == (Phase.BEGIN_TICK, Phase.MOTION, Phase.END_TICK)


def test_a_tick_that_goes_back_a_phase_is_a_fault() -> None:
    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        tick.enter(Phase.COMMIT)
        tick.enter(Phase.MOTION)

    session = make(body)
    frames(session, 0, 20)
    assert session.fault is not None
    assert (session.fault.phase, type(session.fault.error)) == (Phase.COMMIT, PhaseOrderError)


def test_the_trace_holds_the_last_64_ticks_and_is_read_in_their_order() -> None:
    session = make(mode=Mode.PAUSED)
    for _ in range(150):
        session.step()
    assert session.trace.capacity == 64
    assert [traced.tick for traced in session.trace] == list(range(86, 150))
    assert {traced.phase for traced in session.trace} == {Phase.END_TICK}
    assert {traced.fault for traced in session.trace} == {""}


def test_the_trace_tells_what_a_tick_did_and_what_stopped_the_last() -> None:
    session = make(
        faulting(1, Phase.GAMEPLAY, ValueError("out of cheese")),
        outbox=Outbox(),
        mailbox=(mailbox := Mailbox()),
        timers=lambda world: world.timers,
        mode=Mode.PAUSED,
    )
    session.world.timers.schedule(0, 1, "wave")
    mailbox.submit(mailbox.reserve("guard"), "path")
    pressed = TickInput({"jump": PRESS, "move": REST})
    session.step(pressed)
    session.step()
    first, second = session.trace
    assert (first.tick, first.input, first.fault) == (0, pressed, "")
    assert (first.due, first.completions, first.staged) == (0, 1, 2)
    assert (second.tick, second.phase) == (1, Phase.GAMEPLAY)
    assert second.fault == "ValueError: out of cheese"
    assert (second.due, second.completions, second.staged) == (1, 0, 2)


def test_an_error_whose_text_fails_still_faults() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    session = make(faulting(0, Phase.INTENT, Mute()), outbox=Outbox())
    frames(session, 0, 20)
    (traced,) = session.trace
    assert traced.fault == "Mute"


def test_a_trace_needs_a_capacity() -> None:
    with pytest.raises(ValueError, match="capacity must be a whole number of ticks"):
        TickTrace(0)
    with pytest.raises(ValueError, match="capacity"):
        make(trace=0)


# Background work.


def background(**options: Any) -> tuple[Any, Mailbox, list[Any]]:
    """A session with a guard that wants paths; what its ticks were given."""
    applied: list[Any] = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        for ticket, result, error in tick.completions:
            applied.append((tick.number, ticket.target, result, type(error).__name__))
            world.x += 1000

    mailbox = Mailbox(capacity=4)
    session = make(body, mailbox=mailbox, mode=Mode.PAUSED, **options)
    return session, mailbox, applied


def test_results_are_applied_in_the_order_of_their_requests_by_the_next_tick() -> None:
    session, mailbox, applied = background()
    tickets = [mailbox.reserve(target) for target in ("a", "b", "c")]
    for index in (2, 0):
        mailbox.submit(tickets[index], index)
    mailbox.submit_error(tickets[1], OSError("no path"))
    session.step()
    session.step()
    assert applied == [
        (0, "a", 0, "NoneType"),
        (0, "b", None, "OSError"),
        (0, "c", 2, "NoneType"),
    ]


def test_a_step_can_hold_results_back() -> None:
    session, mailbox, applied = background()
    mailbox.submit(mailbox.reserve("a"), 7)
    session.step(hold_completions=True)
    assert applied == []
    session.step()
    assert applied == [(1, "a", 7, "NoneType")]


@pytest.mark.parametrize(
    ("answer", "counter"), [(Stale.TARGET, "target"), (Stale.REVISION, "revision")]
)
def test_a_result_for_what_is_gone_or_has_changed_is_not_applied(
    answer: Stale, counter: str
) -> None:
    asked = []

    def is_current(world: World, ticket: Any) -> bool | Stale:
        asked.append((world, ticket.target))
        return answer

    session, mailbox, applied = background(is_current=is_current)
    mailbox.submit(mailbox.reserve("guard", revision=1), "path")
    session.step()
    assert asked == [(session.world, "guard")]
    assert applied == []
    assert getattr(mailbox.counters, counter) == mailbox.counters.stale == 1
    assert len(mailbox) == 0


def test_a_result_for_an_earlier_world_is_not_applied() -> None:
    session, mailbox, applied = background()
    early, late = mailbox.reserve("guard"), mailbox.reserve("door")
    mailbox.submit(early, "path")
    session.restart()
    mailbox.submit(late, "path")
    session.step()
    assert applied == []
    assert (mailbox.counters.world, mailbox.counters.outstanding) == (2, 0)
    mailbox.submit(mailbox.reserve("guard"), "new path")
    session.step()
    assert applied == [(1, "guard", "new path", "NoneType")]


def test_a_result_after_shutdown_is_not_applied_and_the_session_goes_on() -> None:
    session, mailbox, applied = background()
    ticket = mailbox.reserve("guard")
    mailbox.shutdown()
    assert not mailbox.submit(ticket, "path")
    assert session.step().ran == 1
    assert applied == []
    assert mailbox.counters.late == 1


def test_a_mailbox_that_was_in_use_gets_a_world_of_its_own() -> None:
    one, mailbox, _ = background()
    assert mailbox.world == one.world_id
    other = make(mailbox=mailbox)
    assert mailbox.world == other.world_id != one.world_id


def test_a_full_mailbox_recovers_after_a_tick() -> None:
    """Four fit, the fifth is refused; cancelled, they make room at the next tick."""
    tickets: list[Any] = []
    refused: list[int] = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        if tick.number in (0, 1):
            for target in range(5):
                try:
                    tickets.append(tick.reserve((tick.number, target)))
                except MailboxFull:
                    refused.append(tick.number)
            for ticket in tickets:
                tick.cancel(ticket)

    session = make(body, mailbox=(mailbox := Mailbox(capacity=4)), mode=Mode.PAUSED)
    for _ in range(3):
        session.step()
    assert refused == [0, 1]
    assert mailbox.counters.reserved == mailbox.counters.reclaimed == 8
    assert len(mailbox) == 0


def test_a_request_needs_a_mailbox_and_a_tick_that_runs() -> None:
    kept: list[Tick] = []
    session = make(lambda world, given_input, tick: kept.append(tick), mode=Mode.PAUSED)
    session.step()
    with pytest.raises(RuntimeError, match="this session has no mailbox"):
        kept[0].reserve("guard")
    session = make(
        lambda world, given_input, tick: kept.append(tick), mode=Mode.PAUSED, mailbox=Mailbox()
    )
    session.step()
    with pytest.raises(RuntimeError, match="tick 0 is over"):
        kept[1].reserve("guard")


# Recording and replay.


def recorded_run(
    body: Callable[[World, TickInput, Tick], Any] | None = None,
    *,
    ticks: int = 20,
    between: Callable[[Any, int], Any] | None = None,
    phases: bool = False,
    **options: Any,
) -> str:
    """The recording of a paused session that is stepped with a varied input."""
    session = make(body, mode=Mode.PAUSED, **options)
    file = io.StringIO()
    session.record(file, phases=phases)
    for number in range(ticks):
        if between is not None:
            between(session, number)
        session.step(varied(number))
    assert session.fault is None
    session.stop_recording()
    return file.getvalue()


def varied(number: int) -> TickInput:
    jump = PRESS if number % 7 == 3 else REST
    return TickInput({"jump": jump, "move": ActionState(axis=number % 5 - 2)})


def walk(world: World, given_input: TickInput, tick: Tick) -> None:
    """A body in phases: input moves, and every press counts."""
    tick.enter(Phase.INTENT)
    wish = given_input["move"].axis + 2
    tick.enter(Phase.MOTION)
    world.x += wish
    tick.enter(Phase.GAMEPLAY)
    world.x += 100 * given_input["jump"].pressed


def ticks_of(text: str) -> list[RecordedTick]:
    return list(Recording(io.StringIO(text)))


@pytest.mark.parametrize("phases", [False, True])
def test_a_recording_plays_again_to_the_same_digest_in_every_tick(phases: bool) -> None:
    text = recorded_run(walk, phases=phases)
    assert len({tick.digests["x"] for tick in ticks_of(text)}) == 20, "every tick moved"
    session = make(walk, mode=Mode.PAUSED)
    again = io.StringIO()
    session.record(again, phases=phases)
    recording = Recording(io.StringIO(text))
    assert play(recording, session) == (None, 20, 0, 0)
    assert recording.missing == ""
    session.stop_recording()
    assert again.getvalue() == text, "and records to the same bytes"


def test_a_recording_of_frames_plays_tick_by_tick() -> None:
    """What was recorded at one frame rate knows nothing of frames. Case J05 for whole sessions."""
    texts = []
    for fps in (24, 144):
        session = make(walk, max_delta=None, budget=StepBudget(9))
        file = io.StringIO()
        session.record(file)
        session.frame(Timestamp(0), {"jump": REST, "move": REST})
        for frame in range(1, fps + 1):
            session.frame(Timestamp(frame * SECOND // fps), {"move": ActionState(axis=1)})
        assert session.tick == 60
        session.stop_recording()
        texts.append(file.getvalue())
    one, other = map(ticks_of, texts)
    assert len({tick.digests["x"] for tick in one}) == 60
    assert compare(one, other) == (None, 60, 0, 0)
    for text in texts:
        played = make(walk, mode=Mode.PAUSED, budget=StepBudget(1), max_delta=Nanos(5))
        assert play(Recording(io.StringIO(text)), played) == (None, 60, 0, 0)


def test_a_press_recorded_on_tick_10_is_played_on_tick_10() -> None:
    """Case J09: recorded on 10, pressed on 11."""
    session = make()
    file = io.StringIO()
    session.record(file)
    session.frame(Timestamp(0), {"jump": REST, "move": REST})
    for frame in range(1, 15):
        session.frame(Timestamp(frame * FPS_60), {"jump": PRESS if frame == 11 else REST})
    pressed = [
        i for i, given_input in enumerate(session.world.inputs) if given_input["jump"].pressed
    ]
    assert pressed == [10]
    played = make(mode=Mode.PAUSED)
    assert play(Recording(io.StringIO(file.getvalue())), played).divergence is None
    assert played.world.inputs == session.world.inputs


@pytest.mark.parametrize(
    ("phase", "changed"), [(Phase.INTENT, 0), (Phase.MOTION, 5), (Phase.GAMEPLAY, 12)]
)
def test_one_changed_field_in_one_tick_is_named_exactly(phase: Phase, changed: int) -> None:
    def other(world: World, given_input: TickInput, tick: Tick) -> None:
        walk_with(world, given_input, tick, phase if tick.number == changed else None)

    def walk_with(world: World, given_input: TickInput, tick: Tick, fault_in: Phase | None) -> None:
        for entered in (Phase.INTENT, Phase.MOTION, Phase.GAMEPLAY):
            tick.enter(entered)
            if entered is Phase.MOTION:
                world.x += given_input["move"].axis + 2
            if entered is Phase.GAMEPLAY:
                world.x += 100 * given_input["jump"].pressed
            world.x += entered is fault_in

    text = recorded_run(walk, phases=True)
    found = play(Recording(io.StringIO(text)), make(other, mode=Mode.PAUSED))
    assert found.divergence is not None
    assert found.divergence[:3] == (changed, phase, "x")
    assert found.compared == changed + 1
    without_phases = recorded_run(walk)
    found = play(Recording(io.StringIO(without_phases)), make(other, mode=Mode.PAUSED))
    assert found.divergence is not None
    assert found.divergence[:3] == (changed, None, "x")


def test_a_replay_that_faults_diverges_there_and_its_session_can_be_looked_at() -> None:
    text = recorded_run(walk)

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        walk(world, given_input, tick)
        if tick.number == 7:
            raise KeyError("x")

    session = make(body, mode=Mode.PAUSED)
    found = play(Recording(io.StringIO(text)), session)
    fault = "KeyError in Gameplay"
    assert found.divergence == Divergence(7, Phase.GAMEPLAY, "fault", None, fault)
    assert (session.mode, session.tick) == (Mode.FAULTED, 7)


def test_a_recording_of_a_run_that_faulted_ends_with_its_fault() -> None:
    session = make(faulting(5, Phase.COMMIT, KeyError("x")), outbox=Outbox())
    file = io.StringIO()
    session.record(file)
    frames(session, 0, 60, 120)
    assert not session.recording
    recording = Recording(io.StringIO(file.getvalue()))
    assert [tick.tick for tick in recording] == [0, 1, 2, 3, 4]
    assert recording.missing == ""
    assert recording.fault is not None
    assert recording.fault[:3] == (5, Phase.COMMIT, "KeyError")
    assert recording.fault.input == TickInput.neutral(["jump", "move"])


def crashing(error: Exception | None, phase: Phase = Phase.GAMEPLAY) -> Callable[..., None]:
    """A walk that crashes at the first press of jump, which comes in tick 3."""

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        walk(world, given_input, tick)
        if phase is not Phase.GAMEPLAY:
            tick.enter(phase)
        if error is not None and given_input["jump"].pressed:
            raise error

    return body


@pytest.fixture
def crash() -> str:
    """The recording of a session that a key press crashed."""
    session = make(crashing(KeyError("guard")), mode=Mode.PAUSED)
    session.record(file := io.StringIO())
    for number in range(4):
        session.step(varied(number))
    assert session.fault is not None
    assert file.getvalue().endswith(
        '"fault":[3,"Gameplay","KeyError"],'
        '"input":{"actions":{"jump":[1,0,1,0,0],"move":[0,1,0,0,0]}}}}\n'
    )
    return file.getvalue()


def test_a_crash_is_played_again_with_the_input_that_caused_it(crash: str) -> None:
    """Up to the exception itself, for a debugger; a run that ended before it would show nothing."""
    session = make(crashing(KeyError("guard")), mode=Mode.PAUSED)
    recording = Recording(io.StringIO(crash))
    assert play(recording, session) == (None, 4, 0, 0)
    assert recording.fault is not None
    assert session.fault is not None
    assert (session.mode, session.fault.tick) == (Mode.FAULTED, 3)
    assert str(session.fault.error) == "'guard'"
    assert session.world.inputs[3] == recording.fault.input == varied(3)


@pytest.mark.parametrize(
    ("body", "phase", "now"),
    [
        (crashing(None), Phase.GAMEPLAY, None),
        (crashing(ValueError()), Phase.GAMEPLAY, "ValueError in Gameplay"),
        (crashing(KeyError(), Phase.COMMIT), Phase.GAMEPLAY, "KeyError in Commit"),
    ],
    ids=["mended", "another error", "later"],
)
def test_a_crash_that_does_not_come_again_is_a_divergence(
    crash: str, body: Callable[..., None], phase: Phase, now: str | None
) -> None:
    found = play(Recording(io.StringIO(crash)), make(body, mode=Mode.PAUSED))
    assert found == (Divergence(3, phase, "fault", "KeyError in Gameplay", now), 4, 0, 0)


def test_two_crashes_are_told_apart_by_what_caused_them(crash: str) -> None:
    other = crash.replace('"move":[0,1,0,0,0]}}}}', '"move":[0,2,0,0,0]}}}}')
    assert other != crash
    runs = [Recording(io.StringIO(text)) for text in (crash, other)]
    divergence = compare(*runs).divergence
    assert divergence is not None
    assert (divergence.tick, divergence.field) == (3, "input")
    runs = [Recording(io.StringIO(crash)) for _ in range(2)]
    assert compare(*runs) == (None, 3, 0, 0)


def test_an_interrupted_tick_is_not_played_again() -> None:
    """Ctrl-C came from outside, so the same tick would get through."""
    session = make(faulting(2, Phase.MOTION, KeyboardInterrupt()), outbox=Outbox())
    session.record(file := io.StringIO())
    with pytest.raises(KeyboardInterrupt):
        frames(session, 0, 60)
    recording = Recording(io.StringIO(file.getvalue()))
    played = make(faulting(9, Phase.MOTION, ValueError()), outbox=Outbox(), mode=Mode.PAUSED)
    assert play(recording, played) == (None, 2, 0, 0)
    assert recording.fault == RecordedFault(2, Phase.MOTION, "KeyboardInterrupt")


def work(world: World, given_input: TickInput, tick: Tick) -> None:
    """Asks for two paths in two of three ticks, takes what it is given, goes without for want of
    room."""
    for ticket, result, error in tick.completions:
        assert isinstance(ticket.target, int)
        assert isinstance(ticket.revision, int)
        world.x += (result or 0) + (13 if error is not None else 0)
        world.x += 1_000 * ticket.target + ticket.revision
    for number in range(2) if tick.number % 3 else ():
        try:
            tick.reserve((2 * tick.number + number) % 7, revision=tick.number)
        except MailboxFull:
            world.x += 1_000_000


class Workers(Mailbox):
    """A mailbox that remembers its tickets, for a test to answer."""

    __slots__ = ("tickets",)

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.tickets: list[Any] = []

    def reserve(self, target: Any, revision: Any = None) -> Any:
        self.tickets.append(ticket := super().reserve(target, revision))
        return ticket


def answering(mailbox: Workers, pace: int) -> Callable[[Any, int], None]:
    """Results in another order than requests, some of them errors, at another pace."""

    def between(session: Any, number: int) -> None:
        if number % pace == 0 and mailbox.tickets:
            ticket = mailbox.tickets.pop(-1 if number % 2 else 0)
            if number % 5 == 4:
                mailbox.submit_error(ticket, OSError("no path"))
            else:
                mailbox.submit(ticket, number)

    return between


@pytest.mark.parametrize("pace", [1, 2, 3])
def test_background_work_is_replayed_in_the_ticks_it_was_applied_in_and_without_workers(
    pace: int,
) -> None:
    """Which results a tick has, and whether a request finds room, depends on threads; a replay has
    none and must come to the same digests."""
    text = recorded_run(
        work,
        ticks=60,
        mailbox=(mailbox := Workers(3)),
        between=answering(mailbox, pace),
    )
    ticks = ticks_of(text)
    assert sum(len(tick.completions) for tick in ticks) > 5
    assert sum(len(tick.refused) for tick in ticks) > 5, "and some found no room"
    session = make(work, mode=Mode.PAUSED, mailbox=Mailbox(3))
    assert play(Recording(io.StringIO(text)), session) == (None, 60, 0, 0)


@pytest.mark.parametrize("part", ["completions", "refused"])
def test_a_replay_without_what_was_recorded_of_background_work_diverges(part: str) -> None:
    """The control of the test above: both parts are needed."""
    text = recorded_run(
        work, ticks=60, mailbox=(mailbox := Workers(3)), between=answering(mailbox, 2)
    )
    lines = [json.loads(line) for line in text.splitlines()]
    assert any(line.pop(part, None) for line in lines)
    for line in lines:
        line.pop(part, None)
    stripped = "".join(json.dumps(line) + "\n" for line in lines)
    session = make(work, mode=Mode.PAUSED, mailbox=Mailbox(3))
    divergence = play(Recording(io.StringIO(stripped)), session).divergence
    assert divergence is not None
    assert divergence.field == "x"


def test_the_same_requests_at_another_pace_are_another_run() -> None:
    """The control: what the recording holds is what made the difference."""
    one, other = (
        ticks_of(
            recorded_run(
                work, ticks=30, mailbox=(mailbox := Workers(3)), between=answering(mailbox, pace)
            )
        )
        for pace in (1, 2)
    )
    divergence = compare(one, other).divergence
    assert divergence is not None
    assert divergence.field == "completions"


def test_requests_count_from_1_in_each_world_of_a_recording() -> None:
    """The mailbox outlives the world and counts on; a file that said so would never compare."""
    mailbox = Workers(3)
    texts = []
    session = make(work, mailbox=mailbox, mode=Mode.PAUSED)
    for _ in range(2):
        between = answering(mailbox, 1)
        session.record(file := io.StringIO())
        for number in range(12):
            between(session, number)
            session.step()
        session.restart()
        for ticket in mailbox.tickets:
            mailbox.cancel(ticket)
        mailbox.tickets.clear()
        texts.append(file.getvalue())
    assert '"completions":[[1,2,1,2]]' in texts[0]
    assert mailbox.counters.reserved > 20
    assert texts[0] == texts[1]


def test_a_failed_work_is_replayed_as_a_failure() -> None:
    kinds: list[type] = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        kinds.extend(type(completion.error) for completion in tick.completions)

    mailbox = Mailbox()
    mailbox.submit_error(mailbox.reserve("guard"), OSError("at 0x7f00"))
    session = make(body, mailbox=mailbox, mode=Mode.PAUSED)
    mailbox.submit_error(mailbox.reserve("guard"), OSError("at 0x7f00"))
    file = io.StringIO()
    session.record(file)
    session.step()
    assert "0x7f00" not in file.getvalue()
    played = make(body, mailbox=Mailbox(), mode=Mode.PAUSED)
    assert play(Recording(io.StringIO(file.getvalue())), played).compared == 1
    assert kinds == [OSError, WorkFailed]


def test_a_crash_over_a_result_is_played_again_with_that_result() -> None:
    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        with contextlib.suppress(MailboxFull):
            tick.reserve("path")
            tick.reserve("other path")
        for completion in tick.completions:
            raise LookupError(completion.result)

    session = make(body, mailbox=(mailbox := Workers(1)), mode=Mode.PAUSED)
    session.record(file := io.StringIO())
    session.step()
    mailbox.submit(mailbox.tickets[0], 7)
    session.step()
    assert file.getvalue().endswith(
        '"fault":[1,"BeginTick","LookupError"],"input":{},'
        '"completions":[[1,"path",null,7]],"refused":[1]}}\n'
    )
    played = make(body, mailbox=Mailbox(1), mode=Mode.PAUSED)
    assert play(Recording(io.StringIO(file.getvalue())), played) == (None, 2, 0, 0)
    assert str(played.fault.error) == "7"


def test_a_result_that_cannot_be_recorded_faults_in_begin_tick() -> None:
    """Found in the tick that took it, and not when somebody plays the recording."""
    session, mailbox, _ = background()
    session.record(file := io.StringIO())
    mailbox.submit(mailbox.reserve("guard"), [1, 2])
    session.step()
    assert session.fault is not None
    assert session.fault.phase is Phase.BEGIN_TICK
    assert "tuple(...) makes one of a list" in str(session.fault.error)
    assert file.getvalue().endswith('"fault":[0,"BeginTick","TypeError"]}}\n'), "not to be played"


def test_a_full_disk_ends_the_recording_and_not_the_game() -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            if len(self.getvalue()) > 1_000:
                raise OSError(28, "No space left on device")
            return super().write(text)

    session = make()
    session.record(file := Full())
    assert session.recording
    frames(session, 0)
    at = 0
    while session.recording:
        at += 20
        assert frames(session, at)[0].mode is Mode.PLAYING
        assert at < 2_000
    assert isinstance(session.recording_error, OSError)
    before = session.tick
    assert frames(session, at + 20)[0].ran > 0
    recording = Recording(io.StringIO(file.getvalue()))
    read = list(recording)
    assert 5 < len(read) < before
    assert recording.missing, "its end; what is there is whole"
    session.record(io.StringIO())
    assert session.recording_error is None


def test_a_closed_file_ends_the_recording_and_not_the_game() -> None:
    session = make(mode=Mode.PAUSED)
    session.record(file := io.StringIO())
    file.close()
    session.step()
    assert (session.recording, session.mode, session.tick) == (False, Mode.PAUSED, 1)
    assert isinstance(session.recording_error, ValueError)


def test_a_recording_ends_with_its_world() -> None:
    session = make(mode=Mode.PAUSED)
    session.record(file := io.StringIO(), notes={"seed": 42})
    session.step()
    session.restart()
    session.step()
    recording = Recording(io.StringIO(file.getvalue()))
    assert recording.policies.notes == {"seed": 42}
    assert len(list(recording)) == 1
    assert recording.missing == ""
    assert not session.recording


def test_the_header_has_the_policies_of_the_session() -> None:
    session = make(
        timestep=Rate(30),
        budget=StepBudget(7),
        max_delta=Nanos(100 * MS),
        outbox=Outbox(10, 11),
        mailbox=Mailbox(12),
        timers=lambda world: world.timers,
        transitions=TransitionQueue(13),
        tick=5,
    )
    session.record(file := io.StringIO())
    policies = Recording(io.StringIO(file.getvalue())).policies
    assert policies == session.policies()
    assert policies[:4] == (Rate(30), StepBudget(7), 100 * MS, ("jump", "move"))
    assert policies.capacities == {
        "outbox": 10,
        "staged": 11,
        "mailbox": 12,
        "timers": 16,
        "transitions": 13,
    }
    assert policies.first_tick == 5


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"timestep": Timestep(10)}, r"the timestep of the recording is Rate\(60, 1\)"),
        ({"actions": ["jump"]}, "the actions of the recording"),
        ({"outbox": Outbox(9)}, "the capacities of the recording"),
        ({"tick": 3}, "the tick of the recording is 0, and this session's is 3"),
    ],
)
def test_a_recording_is_not_played_in_a_session_made_otherwise(
    options: dict[str, Any], text: str
) -> None:
    session = make(walk, mode=Mode.PAUSED, **options)
    with pytest.raises(PolicyMismatch, match=text):
        play(Recording(io.StringIO(recorded_run(walk))), session)
    assert session.world.ticks == []


def test_a_replay_needs_a_pause_digests_and_the_next_tick() -> None:
    first, second = ticks_of(recorded_run(walk, ticks=2))
    session = make(walk, mode=Mode.PAUSED)
    with pytest.raises(ValueError, match="tick must be 0, this session's next, not 1"):
        session.replay(second)
    session.resume()
    with pytest.raises(SessionModeError, match="replay needs a paused session"):
        session.replay(first)
    with pytest.raises(ValueError, match="takes none; make it with digests="):
        make(mode=Mode.PAUSED, digests=None).replay(first)
    with pytest.raises(ValueError, match="record compares digests"):
        make(digests=None).record(io.StringIO())
    with pytest.raises(ValueError, match="has no mailbox"):
        make(mode=Mode.PAUSED).replay(first._replace(completions=((1, "a", 0, 0),)))
    broken = make(mode=Mode.PAUSED, mailbox=Mailbox()).replay(first._replace(completions=(7,)))
    assert broken[:3] == (0, Phase.BEGIN_TICK, "ValueError")


def test_a_long_replay_does_not_fill_the_outbox() -> None:
    """Nobody listens to a replay, and what a run asked for must not stop it."""

    def loud(world: World, given_input: TickInput, tick: Tick) -> None:
        assert tick.outbox is not None
        tick.outbox.stage("boom", required=True)

    text = recorded_run(
        loud, ticks=20, outbox=Outbox(5), between=lambda session, number: session.outbox.deliver()
    )
    session = make(loud, mode=Mode.PAUSED, outbox=Outbox(5))
    assert play(Recording(io.StringIO(text)), session) == (None, 20, 0, 0)


def test_drawing_between_ticks_changes_no_digest() -> None:
    """Extraction reads: at alpha 0.5 the world has the digest it had."""
    position = History(0)

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        position.capture()
        position.set(world.x)

    session = make(body, digests=lambda world: {"x": StateHash().absorb_u64(position.current)})
    session.record(file := io.StringIO())
    drawn = []
    for at in range(0, 200, 7):
        report = frames(session, at)[0]
        drawn.append(position.sample(report.alpha))
    assert any(value != round(value) for value in drawn), "something was drawn between two ticks"
    quiet = make(body, mode=Mode.PAUSED, digests=session._digests)
    position.teleport(0)
    assert play(Recording(io.StringIO(file.getvalue())), quiet).divergence is None


# Two cores.

_SCENARIO = """
import sys
import fixedstep
from fixedstep import Rate, StateHash, StepBudget, Timestamp
from fixedstep.sim.input_bridge import PRESS, RELEASE, ActionState
from fixedstep.sim.session import Session

def run_tick(world, given_input, tick):
    state = world["state"] * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
    world["state"] = state ^ given_input["jump"].pressed ^ tick.step.sim_time
    world["x"] += given_input["move"].axis

def digests(world):
    return {"x": StateHash().absorb_i64(world["x"]),
            "random": StateHash().absorb_u64(world["state"])}

session = Session(dict, run_tick, {"x": 0, "state": int(sys.argv[2])}, actions=["jump", "move"],
                  digests=digests)
with open(sys.argv[1], "x") as file:
    session.record(file, notes={"seed": int(sys.argv[2])})
    now = 0
    rest = ActionState()
    session.frame(Timestamp(0), {"jump": rest, "move": rest})
    for frame in range(400):
        now += (3 + frame * frame % 29) * 10**6 + (frame % 97 == 96) * 400_000_000
        if frame == 200:
            session.pause()
        if frame == 210:
            session.resume()
        events = [("jump", PRESS), ("jump", RELEASE)] if frame % 11 == 0 else [("jump", rest)]
        session.frame(Timestamp(now), [*events, ("move", ActionState(axis=frame % 7 - 3))])
    session.stop_recording()
print(fixedstep.backend().name, session.tick)
"""


def scenario(core: str, path: Path, seed: int = 42) -> tuple[str, int]:
    ended = subprocess.run(
        [sys.executable, "-c", _SCENARIO, str(path), str(seed)],
        env=os.environ | {"FIXEDSTEP_BACKEND": core},
        capture_output=True,
        text=True,
        check=True,
    )
    name, ticks = ended.stdout.split()
    return name, int(ticks)


def test_two_runs_of_a_scenario_are_equal_in_every_tick(tmp_path: Path) -> None:
    one = scenario("reference", tmp_path / "one")
    other = scenario("reference", tmp_path / "other")
    assert one == other
    assert one[1] > 200
    with (tmp_path / "one").open() as first, (tmp_path / "other").open() as second:
        assert compare(Recording(first), Recording(second)) == (None, one[1], 0, 0)
    scenario("reference", tmp_path / "seeded", seed=43)
    with (tmp_path / "one").open() as first, (tmp_path / "seeded").open() as second:
        divergence = compare(Recording(first), Recording(second)).divergence
    assert divergence is not None
    assert divergence[:3] == (0, None, "random"), "the control: another seed is another run"


@pytest.mark.parametrize("other", ["native"])
def test_two_cores_give_a_scenario_the_same_recording(tmp_path: Path, other: str) -> None:
    name, ticks = scenario("reference", tmp_path / "reference")
    assert scenario(other, tmp_path / other) == (other, ticks)
    assert name == "reference"
    assert (tmp_path / other).read_bytes() == (tmp_path / "reference").read_bytes()
    with (tmp_path / "reference").open() as file:
        recording = Recording(file)
        assert len({tick.digests["random"] for tick in recording}) == ticks > 200


# Documentation.

EXAMPLES = {
    "input_bridge": 15,
    "phases": 4,
    "recording": 15,
    "replay": 8,
    "session": 15,
    "tick_input": 12,
    "tick_trace": 4,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    results = doctest.testmod(importlib.import_module(f"fixedstep.sim.{name}"), verbose=False)
    assert results.failed == 0
    assert results.attempted >= EXAMPLES[name]


# Bad input.


@pytest.mark.parametrize(
    ("now", "sample", "kind"),
    [
        (0.5, {}, TypeError),
        (-1, {}, OverflowError),
        (2**64, {}, OverflowError),
        (None, {}, TypeError),
        (30 * MS, {"run": PRESS}, ValueError),
        (30 * MS, {"jump": True}, TypeError),
        (30 * MS, None, TypeError),
    ],
)
def test_a_bad_frame_raises_and_changes_nothing(
    now: Any, sample: Any, kind: type[Exception]
) -> None:
    session, twin = make(), make()
    for each in (session, twin):
        each.frame(Timestamp(0), {"jump": REST})
        each.frame(Timestamp(20 * MS), {"jump": ActionState(held=True)})
    with pytest.raises(kind):
        session.frame(now, sample)
    for each in (session, twin):
        each.frame(Timestamp(50 * MS), {"jump": RELEASE})
    assert session.world.inputs == twin.world.inputs
    assert (session.tick, session.accepted, session.excluded) == (
        twin.tick,
        twin.accepted,
        twin.excluded,
    )
    assert session.last_good == twin.last_good


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"timestep": 60}, TypeError),
        ({"budget": 4}, TypeError),
        ({"max_delta": 0.25}, TypeError),
        ({"max_delta": 2**63}, ValueError),
        ({"actions": "jump"}, TypeError),
        ({"tick": -1}, OverflowError),
        ({"mode": "Playing"}, ValueError),
        ({"mode": Mode.FAULTED}, ValueError),
        ({"on_regression": "wrap"}, ValueError),
    ],
)
def test_a_bad_configuration_is_refused_when_it_is_made(
    options: dict[str, Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        make(**options)


# Anything in any order.

NAMES = ["frame"] * 8 + ["pause", "resume", "hide", "show", "step", "restart", "activate"]
SPANS = [0, 1, FPS_60 - 1, FPS_60, 40 * MS, 100 * MS, 250 * MS, 9 * SECOND]


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(SPANS)), max_size=60))
def test_whatever_happens_time_and_ticks_are_accounted_for(steps: list[tuple[str, int]]) -> None:
    session = make()
    world, ran, now = session.world, 0, 5 * SECOND
    reports = [session.frame(Timestamp(now))]
    for name, span in steps:
        report = None
        if name == "frame":
            now += span
            report = session.frame(Timestamp(now))
            still = session.mode is not Mode.PLAYING or session.hidden
            assert (report.alpha == SHOW_CURRENT) is still
            assert still or 0 <= report.alpha < 1
        elif name == "activate":
            session.activate("other")
        elif name == "step":
            report = session.step() if session.mode is Mode.PAUSED else None
            assert report is None or report.ran == 1
        else:
            getattr(session, name)()
        if session.world is not world:
            world, ran = session.world, 0
        if report is not None:
            reports.append(report)
            ran += report.ran
            assert report.ran <= 4
            assert report.dropped == 0 or report.ran == 4
        assert session.tick == ran
        assert world.ticks == list(range(ran))
    totals = [sum(column) for column in zip(*((r[0], r[1], r[7]) for r in reports), strict=True)]
    assert totals == [session.accepted, session.clamped, session.excluded]
    assert sum(totals) == now - 5 * SECOND


def test_a_session_is_copied_with_its_world_or_not_at_all() -> None:
    """A shallow copy used to play in the same world, with the schedule of the first."""

    def run_tick(world: dict[str, int], tick_input: TickInput, tick: Tick) -> None:
        world["x"] = world.get("x", 0) + 1

    session: Session[Any, Any] = Session(dict, run_tick, {}, actions=["fire"])
    session.frame(Timestamp(0))
    with pytest.raises(TypeError, match=r"no shallow copy.*copy\.deepcopy"):
        copy.copy(session)
    copied = copy.deepcopy(session)
    for one in (session, copied):
        report = one.frame(Timestamp(50_000_000))
        assert (report.ran, one.world, one.tick) == (3, {"x": 3}, 3)


# What is given from outside besides input: room and refusals.


def collecting(asks: bool) -> Callable[[World, TickInput, Tick], None]:
    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        assert tick.outbox is not None
        if not asks or tick.outbox.room_for_required():
            tick.outbox.stage("coin", required=True)
            world.x += 100

    return body


@pytest.mark.parametrize("asks", [True, False])
def test_room_in_the_outbox_is_recorded_and_replayed(asks: bool) -> None:
    """Two fit between deliveries, and a frame of three ticks needs three. One who asks goes without
    the third; one who does not faults. Either is what the replay has to do, though it delivers
    after every tick; and neither is what happens at another frame rate, which is no way to play."""
    session = make(collecting(asks), outbox=(outbox := Outbox(capacity=2)))
    session.record(file := io.StringIO())
    for at in range(0, 200, 50):
        frames(session, at)
        outbox.deliver()
    session.stop_recording()
    text = file.getvalue()
    assert text.count('"room":') == (9 if asks else 1)
    played = make(collecting(asks), outbox=Outbox(capacity=2), mode=Mode.PAUSED)
    found = play(Recording(io.StringIO(text)), played)
    assert found.divergence is None
    assert found.compared == (9 if asks else 3)
    if asks:
        assert (session.world.x, played.world.x) == (627, 627)
        assert session.fault is None
    else:
        assert type(session.fault.error) is type(played.fault.error) is OutboxOverflow
    without = re.sub(r',"room":\d', "", text)
    fresh = make(collecting(asks), outbox=Outbox(capacity=2), mode=Mode.PAUSED)
    assert play(Recording(io.StringIO(without)), fresh).divergence is not None, "the control"


def test_a_difference_that_room_explains_is_told_as_that() -> None:
    texts = []
    for each in (50, 20):
        session = make(collecting(True), outbox=(outbox := Outbox(capacity=2)))
        session.record(file := io.StringIO())
        for at in range(0, 201, each):
            frames(session, at)
            outbox.deliver()
        session.stop_recording()
        texts.append(file.getvalue())
    found = compare(*(Recording(io.StringIO(text)) for text in texts)).divergence
    assert found is not None
    assert (found.tick, found.phase, found.field, found.first) == (2, None, "outbox room", 0)


def test_a_request_after_shutdown_is_refused_again_in_the_replay() -> None:
    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        try:
            tick.reserve("path")
        except MailboxClosed:
            world.x += 1_000
        except MailboxFull:
            world.x += 1

    session = make(body, mailbox=(mailbox := Mailbox()), mode=Mode.PAUSED)
    session.record(file := io.StringIO())
    session.step()
    mailbox.shutdown()
    session.step()
    session.stop_recording()
    assert session.world.x == 1_006
    assert '"refused":[0],"closed":true' in file.getvalue()
    played = make(body, mailbox=Mailbox(), mode=Mode.PAUSED)
    assert play(Recording(io.StringIO(file.getvalue())), played) == (None, 2, 0, 0)
    full = io.StringIO(file.getvalue().replace(',"closed":true', ""))
    fresh = make(body, mailbox=Mailbox(), mode=Mode.PAUSED)
    assert play(Recording(full), fresh).divergence is not None, "the control"


def test_a_crash_over_a_closed_mailbox_is_played_again() -> None:
    session = make(
        lambda w, i, tick: tick.reserve("path") and None, mailbox=Mailbox(), mode=Mode.PAUSED
    )
    session.record(file := io.StringIO())
    session.mailbox.shutdown()
    session.step()
    assert type(session.fault.error) is MailboxClosed
    played = make(
        lambda w, i, tick: tick.reserve("path") and None, mailbox=Mailbox(), mode=Mode.PAUSED
    )
    assert play(Recording(io.StringIO(file.getvalue())), played) == (None, 1, 0, 0)
    assert type(played.fault.error) is MailboxClosed


def test_work_that_a_replay_begins_all_the_same_takes_no_room() -> None:
    """The frame that draws the replay delivers the outbox and begins the work, as it always does;
    its workers are slower than the replay."""

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        assert tick.outbox is not None
        tick.outbox.stage("find a path", data=tick.reserve(tick.number))

    def run(session: Any, step: Callable[[int], object], answers: bool) -> None:
        waiting = []
        for number in range(8):
            step(number)
            for record in session.outbox.deliver():
                report = session.mailbox.callback(record.data)
                waiting.append(record.data)
                if answers:
                    session.mailbox.submit(waiting.pop(), 5)
                assert callable(report)

    session = make(body, mailbox=Mailbox(4), outbox=Outbox(), mode=Mode.PAUSED)
    session.record(file := io.StringIO())
    run(session, lambda number: session.step(), answers=True)
    ticks: list[Any] = list(Recording(io.StringIO(file.getvalue())))
    compared: list[Any] = []
    assert [tick.refused for tick in ticks] == [()] * 8
    played = make(body, mailbox=Mailbox(4), outbox=Outbox(), mode=Mode.PAUSED)
    run(played, lambda number: compared.append(played.replay(ticks[number])), answers=False)
    assert compared == ticks
    assert len(played.mailbox) == 0
    counts = played.mailbox.counters
    assert counts.reserved == counts.reclaimed == counts.cancelled == counts.unanswered == 8


# A recorder that breaks, in every way that a file can.


class Breaking(io.StringIO):
    """A file whose ``flush`` raises, once it is told to."""

    error: BaseException | None = None

    def flush(self) -> None:
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("error", [queue.Full(), OSError(28, "full"), KeyError("name"), EOFError()])
@pytest.mark.parametrize("then", ["frame", "stop_recording", "restart", "fault"])
def test_a_file_that_fails_in_any_way_ends_the_recording_and_not_the_game(
    error: Exception, then: str
) -> None:
    session = make(faulting(3, Phase.MOTION, ArithmeticError()), outbox=Outbox())
    session.record(file := Breaking())
    frames(session, 0, 20)
    file.error = error
    if then == "frame":
        [report] = frames(session, 40)
        assert (report.ran, report.mode) == (1, Mode.PLAYING)
    elif then == "fault":
        frames(session, 40, 60, 80)
        assert session.mode is Mode.FAULTED
        assert isinstance(session.fault.error, ArithmeticError)
    else:
        getattr(session, then)()
        assert session.mode is Mode.PLAYING
    assert session.recording_error is error
    assert not session.recording


def test_an_interrupt_in_the_recorder_ends_the_recording_and_loses_no_tick_number() -> None:
    """Ctrl-C while a line is flushed, which the program catches to ask whether to quit. The frame
    raised, so its other ticks are in no report; but those after it are numbered as they are run."""
    session = make()  # whose ticks assert that their two numbers agree
    session.record(file := Breaking())
    frames(session, 0, 20)
    file.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        frames(session, 90)
    assert (session.recording, session.mode) == (False, Mode.PLAYING)
    assert isinstance(session.recording_error, KeyboardInterrupt)
    [report] = frames(session, 140)
    assert (report.ran, report.mode, session.fault) == (3, Mode.PLAYING, None)
    assert session.world.ticks == list(range(session.tick))
    session.restart()
    session.record(again := io.StringIO())
    frames(session, 200, 300)
    session.stop_recording()
    played = make(mode=Mode.PAUSED)
    assert play(Recording(io.StringIO(again.getvalue())), played).divergence is None


@pytest.mark.parametrize("how", ["stop_recording", "restart"])
def test_an_interrupt_at_the_end_of_a_recording_leaves_a_session_that_goes_on(how: str) -> None:
    session = make()
    session.record(file := Breaking())
    frames(session, 0, 20)
    file.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        getattr(session, how)()
    assert not session.recording
    assert frames(session, 40)[0].ran == 1
    getattr(session, how)()


def test_the_file_of_the_recording_that_runs_is_refused() -> None:
    """Two headers in one file could not be read. The recording goes on."""
    session = make(mode=Mode.PAUSED)
    session.record(file := io.StringIO())
    session.step()
    with pytest.raises(ValueError, match="file must be another than that of the recording"):
        session.record(file)
    session.step()
    session.stop_recording()
    recording = Recording(io.StringIO(file.getvalue()))
    assert (len(list(recording)), recording.missing) == (2, "")
    file.seek(0)
    file.truncate()
    session.record(file)
    session.stop_recording()
    assert Recording(io.StringIO(file.getvalue())).policies.first_tick == 2


def test_another_recording_ends_the_one_before() -> None:
    session = make(mode=Mode.PAUSED)
    session.record(first := io.StringIO())
    session.step()
    session.record(second := io.StringIO())
    session.step()
    session.stop_recording()
    for number, file in enumerate((first, second)):
        recording = Recording(io.StringIO(file.getvalue()))
        assert [tick.tick for tick in recording] == [number]
        assert recording.missing == ""


# Rules that had no test of their own.


def test_no_recording_begins_in_a_faulted_session() -> None:
    session = make(faulting(0, Phase.MOTION, ArithmeticError()), outbox=Outbox(), mode=Mode.PAUSED)
    session.step()
    with pytest.raises(SessionModeError, match="record"):
        session.record(io.StringIO())


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_what_is_no_exception_faults_the_session_and_is_raised(error: BaseException) -> None:
    session = make(faulting(0, Phase.MOTION, error), outbox=Outbox())
    frames(session, 0)
    with pytest.raises(type(error)):
        frames(session, 20)
    assert session.mode is Mode.FAULTED
    assert session.fault.error is error


def test_a_still_frame_is_the_last_good_one_unless_the_session_is_faulted() -> None:
    session = make(faulting(1, Phase.MOTION, ArithmeticError()), outbox=Outbox())
    frames(session, 0, 20)
    session.pause()
    [paused] = frames(session, 30)
    assert session.last_good is paused
    session.hide()
    [hidden] = frames(session, 40)
    assert session.last_good is hidden
    session.show()
    session.resume()
    frames(session, 50)
    good = session.last_good
    frames(session, 70, 90)
    assert session.mode is Mode.FAULTED
    assert session.last_good is good


def test_a_replay_with_refused_requests_needs_a_mailbox() -> None:
    session = make(mode=Mode.PAUSED)
    tick = RecordedTick(0, TickInput.neutral(["jump", "move"]), (), {}, {"x": 1}, refused=(0,))
    with pytest.raises(ValueError, match="no mailbox"):
        session.replay(tick)
    assert session.tick == 0


def test_the_trace_tells_of_the_mailbox() -> None:
    """How full it was, and what it refused: what to look at when a guard stands and waits."""

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        for target in range(tick.number):
            with contextlib.suppress(MailboxFull):
                tick.reserve((tick.number, target))

    session = make(body, mailbox=Mailbox(2), mode=Mode.PAUSED)
    for _ in range(4):
        session.step()
    assert [(one.outstanding, one.refused) for one in session.trace] == [
        (0, 0),
        (1, 0),
        (2, 1),
        (2, 3),
    ]
