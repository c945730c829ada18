"""The session: what a frame does, what a tick is given, and what is left after a tick that failed.

The worlds here are small and made of integers, so that every number can be followed by hand. Time
comes in as numbers; nothing sleeps. The rules of frame and tick updates, where a pause forgets the
time that is not yet a tick, are those of ``remainder="forget"``, which ``make`` uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Nanos, Rate, StateHash, Timestamp
from fixedstep.sim import (
    CANCEL,
    NEUTRAL,
    PHASES,
    PRESS,
    SHOW_CURRENT,
    ActionState,
    Cadence,
    Deadline,
    Fault,
    FrameReport,
    GameStateError,
    History,
    Mailbox,
    MailboxFull,
    Outbox,
    OutboxFull,
    PhaseOrderError,
    Session,
    Stale,
    Tick,
    TickExhausted,
    TickInput,
    TickLog,
    TimerQueue,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MS = 10**6
SECOND = 10**9
U64_MAX = 2**64 - 1
FPS_60 = 16_666_667

Body = "Callable[[World, TickInput, Tick], Any]"


class World:
    """Counts, and remembers what each tick saw."""

    body: Any = None

    def __init__(self, level: str = "first") -> None:
        self.level = level
        self.x = 0
        self.ticks: list[int] = []
        self.inputs: list[TickInput] = []
        self.timers = TimerQueue[str](16)

    def step(self, input: TickInput, tick: Tick) -> Any:
        assert tick.number == tick.step.tick
        self.ticks.append(tick.number)
        self.inputs.append(input)
        self.x += 3
        return None if self.body is None else type(self).body(self, input, tick)

    def digests(self) -> dict[str, StateHash]:
        return {"x": StateHash().absorb_u64(self.x)}


def make(body: Any = None, world: type[World] = World, **options: Any) -> Session[Any]:
    """A session whose ticks remember their input, and then do what ``body`` does."""
    made = type("World", (world,), {"body": staticmethod(body) if body else None})
    defaults: dict[str, Any] = {
        "buttons": ["jump"],
        "axes": ["move"],
        "budget": 4,
        "remainder": "forget",
    }
    return Session(made, "first", **(defaults | options))


def frames(session: Session[Any], *milliseconds: int) -> list[FrameReport]:
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
    assert (report.state, report.abandoned, report.regressed) == ("playing", 0, False)


def test_alpha_is_the_plans_while_playing() -> None:
    session = make(rate=Rate(10))
    alphas = [report.alpha for report in frames(session, 0, 130, 150, 190, 200)]
    assert [round(alpha, 6) for alpha in alphas] == [SHOW_CURRENT, 0.3, 0.5, 0.9, 0]


def test_a_second_is_sixty_ticks_however_it_is_cut_into_frames() -> None:
    for fps in (24, 30, 60, 144, 1000):
        session = make(max_delta=None)
        for frame in range(fps + 1):
            session.frame(Timestamp(frame * SECOND // fps))
        assert session.tick == 60


def test_the_steps_of_a_tick_have_its_number_and_its_time() -> None:
    steps = []
    session = make(lambda world, given_input, tick: steps.append(tick.step))
    frames(session, 0, 50)
    session.pause()
    session.run_ticks(1)
    session.resume()
    frames(session, 60, 110)
    assert [step.tick for step in steps] == list(range(session.tick)) == session.world.ticks
    assert len(steps) == 7
    assert [step.sim_time for step in steps] == [n * SECOND // 60 for n in range(7)]


# Input.


def test_an_edge_in_a_frame_without_a_tick_reaches_the_next_tick_once() -> None:
    """Case D01, through frames as a game has them."""
    session = make(rate=Rate(30))
    ran = [frames(session, 0)[0].ran]
    for i in range(1, 10):
        if i == 1:
            session.input.press("jump")
        if i == 3:
            session.input.release("jump")
        ran.append(session.frame(Timestamp(i * 8_333_333)).ran)
    assert ran == [0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert jumps(session.world) == [(1, 1, False), (0, 0, False)]


def test_catch_up_ticks_see_an_edge_once_and_what_is_held_in_each() -> None:
    """Cases D02 and D06: dropped steps consume nothing."""
    session = make(budget=3)
    frames(session, 0)
    session.input.press("jump")
    session.input.axis("move", 0.7)
    report = frames(session, 200)[0]
    assert (report.ran, report.dropped) == (3, 9)
    assert jumps(session.world) == [(1, 0, True), (0, 0, True), (0, 0, True)]
    assert [given_input["move"].axis for given_input in session.world.inputs] == [700] * 3


def test_presses_before_one_tick_coalesce_into_a_count() -> None:
    """Case D03."""
    session = make()
    frames(session, 0)
    session.input.press("jump")
    session.input.release("jump")
    session.input.press("jump")
    session.frame(Timestamp(FPS_60))
    assert jumps(session.world) == [(2, 1, True)]


def test_ordered_input_reaches_the_oldest_tick_as_messages() -> None:
    seen = []
    session = make(lambda world, given_input, tick: seen.append(tick.messages))
    frames(session, 0)
    session.post("a")
    session.post(["b", 1])
    frames(session, 50)
    assert seen == [("a", ["b", 1]), (), ()]


def test_what_a_recording_cannot_hold_is_not_taken_as_a_message() -> None:
    session = make()
    with pytest.raises(TypeError, match="message must be"):
        session.post(session)  # type: ignore[arg-type]
    frames(session, 0, 20)
    assert session.tick == 1


def held_then(session: Any, *between: Callable[[], Any]) -> list[ActionState]:
    """Hold a polled key, do things, keep holding it, let go, press again: what ticks saw after."""
    session.frame(Timestamp(0))
    session.input.button("jump", True)
    session.frame(Timestamp(FPS_60))
    assert session.world.inputs[-1]["jump"] == PRESS
    for do in between:
        do()
    seen = len(session.world.inputs)
    at = FPS_60
    for down in (True, True, True, False, True):
        at += FPS_60
        session.input.button("jump", down)
        session.frame(Timestamp(at))
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
    assert [state.held for state in seen] == [False, False, False, True]
    assert seen[-1].pressed == 1


def test_a_loss_of_focus_cancels_input_before_the_next_tick() -> None:
    """The window reports it between frames, and no key release ever comes."""
    session = make()
    assert held_then(session, session.input.cancel)[:2] == [CANCEL, NEUTRAL]


def test_a_key_at_rest_through_a_pause_counts_in_the_first_frame_after_it() -> None:
    session = make(remainder="keep")
    frames(session, 0)
    session.pause()
    frames(session, 100, 200)
    session.resume()
    session.input.press("jump")
    frames(session, 220)
    assert jumps(session.world) == [(1, 0, True)]


def test_a_stick_that_rests_off_centre_counts_as_at_rest() -> None:
    session = make(axes=["move"])
    frames(session, 0)
    session.input.axis("move", 0.015)
    session.pause()
    session.resume()
    session.input.axis("move", 0.015)
    frames(session, 20, 37)
    session.input.axis("move", 0.9)
    frames(session, 54, 71)
    assert [i["move"].axis for i in session.world.inputs][-1] == 900


@pytest.mark.parametrize("fps", [20, 60, 240])
def test_a_mouse_moves_by_the_same_distance_at_every_frame_rate(fps: int) -> None:
    session = make(relative=["look"], budget=5)
    frames(session, 0)
    for frame in range(1, fps + 1):
        before, now = 1200 * (frame - 1) // fps, 1200 * frame // fps
        session.input.move("look", now - before)
        session.frame(Timestamp(frame * SECOND // fps))
    assert sum(i["look"].axis for i in session.world.inputs) == 1200


def test_key_repeat_is_one_press() -> None:
    session = make()
    frames(session, 0)
    for _ in range(5):
        session.input.press("jump")
    frames(session, 17)
    assert jumps(session.world) == [(1, 0, True)]


# Pausing and hiding.


def test_time_spent_paused_is_excluded_and_nothing_of_it_is_made_up_for() -> None:
    """Cases G01 and G04: ten seconds paused came back as three hundred ticks."""
    session = make(rate=Rate(30), budget=5)
    at = 0
    for _ in range(61):
        session.frame(Timestamp(at))
        at += 16_666_667
    assert session.tick == 30
    session.pause()
    for _ in range(100):
        report = session.frame(Timestamp(at))
        assert (report.state, report.ran, report.dropped, report.accepted) == ("paused", 0, 0, 0)
        assert report.alpha == SHOW_CURRENT
        at += 100 * MS
    session.resume()
    after = []
    for _ in range(3):
        after.append(session.frame(Timestamp(at)))
        at += 16_666_667
    assert [report.ran for report in after] == [0, 0, 1], "a baseline, half a tick, a tick"
    assert after[0].accepted == 0
    assert session.accepted + session.clamped + session.excluded == at - 16_666_667
    assert session.excluded > 10 * SECOND


def test_game_time_goes_on_where_it_was() -> None:
    """Case G06: on resuming, game time jumped to real time."""
    session = make(rate=Rate(1), max_delta=None)
    frames(session, 0, *range(1_000, 8_000, 1_000))
    assert session.tick == 7
    session.pause()
    frames(session, 9_000, 12_000)
    session.resume()
    frames(session, 12_000)
    assert session.tick == 7
    frames(session, 13_000)
    assert session.tick == 8


def test_hidden_time_is_excluded() -> None:
    session = make()
    frames(session, 0, 20)
    session.hide()
    first, report = frames(session, 4_000, 8_020)
    assert (report.state, session.hidden, session.paused) == ("hidden", True, False)
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
    assert session.state == "paused"
    assert frames(session, 0, 100)[1].ran == 0


def test_a_pause_forgets_the_part_of_a_tick_that_was_owed() -> None:
    session = make(rate=Rate(100))
    frames(session, 0, 19)
    assert session.tick == 1
    session.pause()
    session.resume()
    assert [report.ran for report in frames(session, 20, 29, 30)] == [0, 0, 1]


def test_asking_for_the_state_that_is_changes_nothing() -> None:
    """A pause menu that opens twice must not lose the debt and the input of a tick in between."""
    session = make()
    frames(session, 0, 10)
    session.input.press("jump")
    session.resume()
    session.show()
    assert frames(session, 17)[0].ran == 1
    assert session.world.inputs[-1]["jump"].pressed == 1


def test_a_single_tick_in_a_pause_takes_no_time_and_its_own_input() -> None:
    """Eight seconds paused are no tick, and then a step is one: number five."""
    session = make()
    frames(session, 0, 100)
    session.pause()
    assert frames(session, 8_100)[0].ran == 0
    report = session.run_ticks(1)
    assert (report.ran, report.tick, report.accepted, report.alpha) == (1, 5, 0, SHOW_CURRENT)
    assert session.world.inputs[-1] == TickInput.neutral(["jump", "move"])
    given_input = TickInput({"jump": PRESS, "move": NEUTRAL})
    session.run_ticks(1, input=given_input)
    assert session.world.inputs[-1] is given_input
    assert session.world.ticks == list(range(6))
    assert session.state == "paused"


def test_a_single_tick_leaves_what_waits_in_the_input() -> None:
    session = make()
    session.pause()
    session.resume()
    session.input.press("jump")
    session.pause()
    session.run_ticks(1)
    assert session.world.inputs[-1].is_neutral
    session.resume()
    frames(session, 0, 20)
    assert session.world.inputs[-1]["jump"] == CANCEL


@pytest.mark.parametrize(
    ("bad", "kind", "text"),
    [
        ({"jump": PRESS}, TypeError, "a TickInput, not dict"),
        (TickInput.neutral(["jump"]), ValueError, "actions of this session"),
    ],
)
def test_a_tick_with_another_input_is_not_run(bad: Any, kind: type[Exception], text: str) -> None:
    session = make(paused=True)
    with pytest.raises(kind, match=text):
        session.run_ticks(1, input=bad)
    with pytest.raises((TypeError, ValueError, AttributeError)):
        session.replay_tick(bad)
    assert (session.tick, session.world.ticks) == (0, [])


def test_paused_deadlines_do_not_run_out_and_a_step_is_a_tick_of_them() -> None:
    """A cooldown of 30 ticks from an attack in tick 2 is over in tick 32, whatever the pause."""
    cooldown = Deadline()
    ready = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        if tick.number == 2:
            cooldown.arm(tick.number, 30)
        if cooldown.due(tick.number):
            ready.append(tick.number)

    session = make(body, paused=True)
    session.run_ticks(10)
    frames(session, *range(0, 100_000, 1_000))
    assert ready == []
    session.run_ticks(23)
    assert ready == [32]


def test_timers_of_the_world_are_due_in_its_ticks() -> None:
    """Case I01 and the rule that a timer made in a tick waits for the next, through a session."""
    fired = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        for timer in tick.due:
            fired.append((tick.number, timer.payload))
            if timer.payload == "once":
                world.timers.schedule(tick.number, 0, "echo")
        if tick.number == 0:
            world.timers.schedule(0, 1, "every", period=1)
            world.timers.schedule(0, 2, "once")

    session = make(body, rate=Rate(100))
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
    frames(session, 0)
    session.input.press("jump")
    frames(session, 20)
    session.restart()
    frames(session, 40, 60)
    assert session.world.inputs[0].is_neutral
    assert session.input.blocked == {"jump"}, "still down: it must be released first"


def test_a_restart_makes_a_new_world_at_tick_0() -> None:
    session = make()
    frames(session, 0, 100)
    old, level = session.world, session.level
    session.restart()
    assert session.world is not old
    assert (session.world.level, session.level, session.tick) == ("first", level, 0)
    assert len(session.tick_log) == 0
    baseline, report = frames(session, 5_000, 5_020)
    assert (baseline.ran, baseline.excluded, report.ran) == (0, 4_900 * MS, 1)
    assert session.world.ticks == [0]
    assert session.stats.ticks == 1


def test_another_level_is_entered_paused_where_that_is_asked_for() -> None:
    session = make()
    frames(session, 0, 100)
    session.activate("second", paused=True)
    assert (session.world.level, session.level, session.state) == ("second", "second", "paused")
    session.resume()
    session.restart()
    assert (session.world.level, session.state) == ("second", "paused"), "as it was entered"


def test_a_world_built_while_the_old_one_is_shown_takes_its_place() -> None:
    session = make()
    frames(session, 0, 100)
    session.start_loading()
    report = frames(session, 2_000)[0]
    assert (report.state, report.drawable, report.ran) == ("loading", True, 0)
    world = World("second")
    session.activate("second", world=world)
    assert (session.world, session.state) == (world, "playing")
    assert frames(session, 2_100, 2_120)[1].ran == 1


def test_a_level_that_cannot_be_made_leaves_everything_as_it_was() -> None:
    class Picky(World):
        def __init__(self, level: str) -> None:
            if level == "broken":
                raise MemoryError("no room for the level")
            super().__init__(level)

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        tick.outbox.stage("sound")

    session = make(body, Picky)
    frames(session, 0, 20)
    world, world_id = session.world, session.world_id
    with pytest.raises(MemoryError):
        session.activate("broken", paused=True)
    assert session.world is world
    assert (session.world_id, session.state, session.level) == (world_id, "playing", "first")
    report = frames(session, 40)[0]
    assert (report.ran, report.accepted, session.tick, world.x) == (1, 20 * MS, 2, 6)
    assert len(session.outbox.deliver()) == 2


def test_a_saved_session_goes_on_with_its_world() -> None:
    session = make(remainder="keep")
    frames(session, 0, 105)
    saved, world = session.state_dict(), session.world
    again = make(remainder="keep")
    again.restore(saved, world)
    assert (again.world, again.tick, again.remainder) == (world, 4, session.remainder)
    assert frames(again, 7_000, 7_020)[1].plan.first_tick == 4


def test_a_session_cannot_be_copied_and_says_what_can() -> None:
    import copy

    for how in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="state_dict"):
            how(make())


# The end of numbers.


def test_the_last_tick_stops_the_session_and_nothing_wraps() -> None:
    session = make()
    session.restore({**session.state_dict(), "tick": U64_MAX - 2})
    _, report = frames(session, 0, 100)
    assert session.world.ticks == [U64_MAX - 2, U64_MAX - 1]
    assert (report.ran, report.state) == (2, "faulted")
    assert report.abandoned > 0
    assert session.tick == U64_MAX
    assert session.fault is not None
    assert (session.fault.tick, type(session.fault.error)) == (U64_MAX, TickExhausted)
    assert frames(session, 200)[0].ran == 0
    session.restart()
    assert frames(session, 300, 320)[1].ran == 1


# Faults.

STAGED = [("spark", False), ("boom", True)]


def faulting(at: int, phase: str, error: BaseException) -> Callable[..., None]:
    """Each tick stages two requests in BeginTick; tick ``at`` raises in ``phase``."""

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        for kind, required in STAGED:
            tick.outbox.stage(kind, (world.x, 0), required=required)
        for entered in PHASES:
            if entered != "BeginTick":
                tick.enter(entered)
            if tick.number == at and entered == phase:
                raise error
            world.x += 1

    return body


@pytest.mark.parametrize("phase", PHASES)
def test_a_fault_in_any_phase_publishes_nothing_and_keeps_what_was_published(phase: str) -> None:
    """Tick 2 of four raises after it has staged a sound and a required record."""
    error = ValueError("out of cheese")
    session = make(faulting(2, phase, error), outbox=(outbox := Outbox()))
    _, report = frames(session, 0, 70)
    assert (report.state, report.ran, report.abandoned, report.tick) == ("faulted", 2, 2, 2)
    assert not report.drawable
    assert session.fault == Fault(2, phase, error)
    assert error.__traceback__ is not None, "kept whole, for a debugger"

    delivered = outbox.deliver()
    assert [(record.tick, record.kind) for record in delivered] == [
        (tick, kind) for tick in (0, 1) for kind, _ in STAGED
    ]
    assert outbox.deliver() == ()

    for later in frames(session, 100, 200, 5_000):
        assert (later.state, later.ran, later.drawable) == ("faulted", 0, False)
        assert later.tick == 2
        assert outbox.deliver() == ()
    assert len(session.world.ticks) == 3, "the unfinished world is there to be looked at"


def test_without_a_fault_the_same_ticks_publish_all() -> None:
    """The control of the test above."""
    session = make(faulting(9, "Commit", ValueError()), outbox=(outbox := Outbox()))
    _, report = frames(session, 0, 70)
    assert (report.ran, report.state) == (4, "playing")
    assert len(outbox.deliver()) == 8


def test_requests_are_delivered_once_whether_or_not_frames_are_drawn() -> None:
    """Several ticks a frame, frames without a tick, and a renderer that skips two of three."""
    session = make(faulting(10**6, "Commit", ValueError()))
    heard: list[tuple[int, object]] = []
    for at in (0, 4, 8, 60, 61, 62, 130, 200, 210, 220):
        frames(session, at)
        heard += [(record.tick, record.kind) for record in session.outbox.deliver()]
    assert session.tick > 10
    assert heard == [(tick, kind) for tick in range(session.tick) for kind, _ in STAGED]


def test_a_restart_after_a_fault_is_a_new_world_without_the_old_ones_requests() -> None:
    session = make(faulting(2, "Commit", ValueError()))
    frames(session, 0, 70)
    failed = session.world
    session.restart()
    assert session.world is not failed
    assert (session.state, session.fault, session.tick) == ("playing", None, 0)
    assert session.outbox.deliver() == ()
    _, report = frames(session, 100, 120)
    assert (report.ran, report.state) == (1, "playing")
    assert {request.world for request in session.outbox.deliver()} == {session.world_id} == {2}


@pytest.mark.parametrize("name", ["pause", "resume", "hide", "show", "exclude"])
def test_no_verb_mends_a_fault(name: str) -> None:
    session = make(faulting(0, "Motion", ValueError()))
    frames(session, 0, 20)
    getattr(session, name)()
    assert session.state == "faulted"
    assert frames(session, 100, 200)[1].ran == 0
    with pytest.raises(GameStateError, match="new world"):
        session.run_ticks(1)
    with pytest.raises(GameStateError, match="restart"):
        session.replay_tick(TickInput.neutral(session.input.actions))


def test_a_single_tick_can_fault_too() -> None:
    session = make(faulting(1, "Commit", ValueError()), paused=True)
    assert session.run_ticks(1).ran == 1
    report = session.run_ticks(1)
    assert (report.ran, report.abandoned, report.state) == (0, 1, "faulted")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_an_interrupt_faults_the_session_and_is_raised(error: BaseException) -> None:
    """Ctrl-C in the middle of a tick leaves half a tick, and must still end the program."""
    session = make(faulting(1, "Motion", error))
    frames(session, 0)
    with pytest.raises(type(error)):
        frames(session, 50)
    assert (session.state, session.tick) == ("faulted", 1)
    assert {request.tick for request in session.outbox.deliver()} == {0}
    assert frames(session, 60)[0].state == "faulted"


def test_a_required_request_without_room_faults_before_anything_is_published() -> None:
    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        for _ in range(3):
            tick.outbox.stage("exit", required=True)

    session = make(body, outbox=(outbox := Outbox(capacity=5)))
    frames(session, 0, 40)
    assert session.fault is not None
    assert type(session.fault.error) is OutboxFull
    assert (session.tick, len(outbox.deliver())) == (1, 3)


def test_a_tick_that_returns_something_is_a_fault() -> None:
    """A coroutine that nobody awaits would run nothing, tick after tick, without a word."""
    session = make(lambda world, given_input, tick: "done")
    frames(session, 0, 20)
    assert session.fault is not None
    assert "step must return None, not str 'done'" in str(session.fault.error)
    assert session.tick == 0


@pytest.mark.parametrize(
    ("name", "arguments"),
    {
        "frame": [Timestamp(0)],
        "run_ticks": [1],
        "replay_tick": [TickInput.neutral(["jump", "move"])],
        "restart": [],
        "activate": ["second"],
        "state_dict": [],
    }.items(),
)
def test_a_tick_cannot_run_or_replace_its_own_session(name: str, arguments: list[Any]) -> None:
    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        if tick.number == 1:
            getattr(session, name)(*arguments)

    session = make(body)
    frames(session, 0, 50)
    assert session.fault is not None
    called = {"restart": "activate"}.get(name, name)
    assert f"{called} was called within tick 1" in str(session.fault.error)
    assert session.tick == 1
    session.restart()
    assert session.state == "playing"


def test_a_frame_within_the_reading_of_devices_runs_no_tick_of_a_faulted_session() -> None:
    session = make(faulting(0, "Motion", ValueError()))
    frames(session, 0, 20)
    assert frames(session, 40)[0].ran == 0


# Phases and the log.


def test_phases_go_forward_and_can_be_left_out_and_renamed() -> None:
    seen = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        seen.append(tick.phase)
        tick.enter("Move")
        for earlier in ("Think", "Move"):
            with pytest.raises(PhaseOrderError, match=f"{earlier} cannot follow Move"):
                tick.enter(earlier)
        with pytest.raises(ValueError, match="Think, Hit, Move, End"):
            tick.enter("Commit")
        tick.enter("End")
        seen.append(tick.phase)

    session = make(body, phases=("Think", "Hit", "Move", "End"))
    frames(session, 0, 20)
    assert session.fault is None
    assert seen == ["Think", "End"]
    with pytest.raises(ValueError, match="different names"):
        make(phases=("A", "A"))
    with pytest.raises(TypeError, match="phases"):
        make(phases="Move")


def test_a_tick_that_goes_back_a_phase_is_a_fault() -> None:
    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        tick.enter("Commit")
        tick.enter("Motion")

    session = make(body)
    frames(session, 0, 20)
    assert session.fault is not None
    assert (session.fault.phase, type(session.fault.error)) == ("Commit", PhaseOrderError)


def test_the_log_holds_the_last_64_ticks_in_order() -> None:
    session = make(paused=True)
    session.run_ticks(150)
    assert session.tick_log.capacity == 64
    assert [entry.tick for entry in session.tick_log] == list(range(86, 150))
    assert {entry.fault for entry in session.tick_log} == {""}


def test_the_log_tells_what_a_tick_did_and_what_stopped_the_last() -> None:
    session = make(
        faulting(1, "Gameplay", ValueError("out of cheese")),
        mailbox=(mailbox := Mailbox()),
        paused=True,
    )
    session.world.timers.schedule(0, 1, "wave")
    mailbox.submit(mailbox.reserve("guard"), "path")
    pressed = TickInput({"jump": PRESS, "move": NEUTRAL})
    session.run_ticks(1, input=pressed)
    session.run_ticks(1)
    first, second = session.tick_log
    assert (first.tick, first.input, first.fault) == (0, pressed, "")
    assert (first.due, first.completions, first.staged) == (0, 1, 2)
    assert (second.tick, second.phase) == (1, "Gameplay")
    assert second.fault == "ValueError: out of cheese"
    assert (second.due, second.completions) == (1, 0)


def test_an_error_whose_text_fails_still_faults() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    session = make(faulting(0, "Intent", Mute()))
    frames(session, 0, 20)
    (entry,) = session.tick_log
    assert entry.fault == "Mute"


def test_a_log_needs_a_capacity() -> None:
    with pytest.raises(ValueError, match="capacity must be a whole number of ticks"):
        TickLog(0)
    with pytest.raises(ValueError, match="capacity"):
        make(tick_log=0)


# Background work.


def background(**members: Any) -> tuple[Session[Any], Mailbox, list[Any]]:
    """A session with a guard that wants paths; what its ticks were given."""
    applied: list[Any] = []

    def body(world: World, given_input: TickInput, tick: Tick) -> None:
        for ticket, result, error in tick.completions:
            applied.append((tick.number, ticket.target, result, str(error)))
            world.x += 1000

    mailbox = Mailbox(capacity=4)
    world = type("World", (World,), members)
    return make(body, world, mailbox=mailbox, paused=True), mailbox, applied


def test_results_are_applied_in_the_order_of_their_requests_by_the_next_tick() -> None:
    session, mailbox, applied = background()
    tickets = [mailbox.reserve(target) for target in ("a", "b", "c")]
    for index in (2, 0):
        mailbox.submit(tickets[index], index)
    mailbox.submit_error(tickets[1], OSError("no path"))
    session.run_ticks(2)
    assert applied == [(0, "a", 0, "None"), (0, "b", None, "OSError"), (0, "c", 2, "None")]


def test_a_single_tick_can_hold_results_back() -> None:
    session, mailbox, applied = background()
    mailbox.submit(mailbox.reserve("a"), 7)
    session.run_ticks(1, hold_completions=True)
    assert applied == []
    session.run_ticks(1)
    assert applied == [(1, "a", 7, "None")]


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
    session.run_ticks(1)
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
    session.run_ticks(1)
    assert applied == []
    assert (mailbox.counters.world, mailbox.counters.outstanding) == (2, 0)
    mailbox.submit(mailbox.reserve("guard"), "new path")
    session.run_ticks(1)
    assert applied == [(1, "guard", "new path", "None")]


def test_a_result_after_shutdown_is_not_applied_and_the_session_goes_on() -> None:
    session, mailbox, applied = background()
    ticket = mailbox.reserve("guard")
    mailbox.shutdown()
    assert not mailbox.submit(ticket, "path")
    assert session.run_ticks(1).ran == 1
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

    session = make(body, mailbox=(mailbox := Mailbox(capacity=4)), paused=True)
    session.run_ticks(3)
    assert refused == [0, 1]
    assert mailbox.counters.reserved == mailbox.counters.reclaimed == 8
    assert len(mailbox) == 0
    assert [entry.refused for entry in session.tick_log] == [1, 1, 0]


def test_a_request_needs_a_tick_that_runs() -> None:
    kept: list[Tick] = []
    session = make(lambda world, given_input, tick: kept.append(tick), paused=True)
    session.run_ticks(1)
    with pytest.raises(RuntimeError, match="tick 0 is over"):
        kept[0].reserve("guard")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"outbox": []}, "outbox must be an Outbox, not list"),
        ({"mailbox": 3}, "mailbox must be a Mailbox, not int"),
        ({"buttons": "jump"}, "actions must be"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_a_part_that_is_none_is_named_when_the_session_is_made(
    options: dict[str, Any], text: str
) -> None:
    with pytest.raises(TypeError, match=text):
        make(**options)
    with pytest.raises(TypeError, match="make_world"):
        Session(World("level"))  # type: ignore[arg-type]


# Presentation.


def test_drawing_between_ticks_changes_nothing_of_the_world() -> None:
    class Moving(World):
        def __init__(self, level: str) -> None:
            super().__init__(level)
            self.place = History(0)

        def step(self, input: TickInput, tick: Tick) -> None:
            self.place.capture()
            self.place.set(self.place.current + 30)

    drawn, digests = [], []
    for draws in (False, True):
        session = Session(Moving, "first", remainder="forget")
        for ms in range(0, 1_000, 7):
            report = session.frame(Timestamp(ms * MS))
            if draws:
                drawn.append(session.world.place.at(report.alpha))
        digests.append(session.world.place.current)
    assert digests[0] == digests[1]
    assert drawn == sorted(drawn)
    assert len(set(drawn)) > 100


def test_a_bad_frame_raises_and_changes_nothing() -> None:
    session = make()
    frames(session, 0, 50)
    before = session.state_dict(), session.wall, len(session.world.ticks)
    for bad in ("now", None, -1, 2**64, 1.5):
        with pytest.raises((TypeError, OverflowError)):
            session.frame(bad)  # type: ignore[arg-type]
    assert (session.state_dict(), session.wall, len(session.world.ticks)) == before
    assert frames(session, 67)[0].accepted == Nanos(17 * MS)
