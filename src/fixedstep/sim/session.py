"""The session: a world, its ticks, and the frames that drive them.

Each part of this folder knows the parts below it and none beside it; this is the one that knows
several. It decides what a frame does: how much time counts, how many ticks that makes, what input
and which results each is given, and what of a tick is published. And it decides what happens when
a tick fails.

A tick is one call of the game's own function, ``run_tick(world, tick_input, tick)``, in ordinary
Python, top to bottom. It returns None, or raises. Raising faults the session: the frame's other
ticks are not run, the exception stays to be read, what the tick staged for presentation is
discarded, and no tick runs until a new world is made. Nothing is rolled back. A hidden undo would
need a copy of the world in every tick, and would show a debugger anything but the state that
failed.

The number of the tick rises when a tick has succeeded, and not before. The schedule inside counts
the ticks it has planned, which is the same until a tick fails or is stepped by hand. Whenever debt
is reset (pause, resume, hide, show, a new world) the schedule is made again at the session's tick,
so the two differ only within a batch that failed, and the report of that frame says by how much.

``alpha`` says how to draw. While time runs it is the plan's: between the previous transforms and
the current ones. While it stands (paused, hidden, faulted) it is `SHOW_CURRENT`, 1.0, which no plan
gives, and which any interpolation turns into the exact current transforms: what is on screen is
then the tick that is being inspected. In a faulted world there is nothing to draw; the picture of
``last_good`` is the one to keep on screen.

It refuses to own a clock, a window or a thread, to call the game from a change of mode, and to be
used from within a tick: an effect on the session is a request for presentation like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import Enum
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    SupportsIndex,
    TypeVar,
)

from .. import FrameLoop, FramePlan
from .._arguments import U64_MAX, count, shown, timestamp
from ..time import Alpha, Nanos, Rate, Step, StepBudget, Timestamp, Timestep
from .frame_clock import LONGEST_FRAME, FrameClock
from .input_bridge import InputBridge, Sample, TransitionQueue
from .mailbox import Completion, Mailbox, MailboxClosed, MailboxFull, Stale, Ticket
from .phases import Phase, Phases
from .recording import (
    Digests,
    Plain,
    Policies,
    RecordedFault,
    RecordedTick,
    Recorder,
    finished,
    plain,
)
from .tick_input import TickInput
from .tick_log import TickTrace, TracedTick
from .timers import TickExhausted

if TYPE_CHECKING:
    from typing import TextIO

    from .outbox import Outbox
    from .timers import DueSet, TimerQueue

L = TypeVar("L")
W = TypeVar("W")

SHOW_CURRENT: Final = Alpha(float(1))
"""The alpha of a frame in which time stands: draw the current transforms exactly."""


class Mode(Enum):
    """What a session does with a frame.

    >>> Mode.PAUSED.value
    'Paused'
    """

    PLAYING = "Playing"
    """Time counts, ticks run, input reaches them. Unless hidden: then time is excluded."""
    PAUSED = "Paused"
    """Time is excluded; ``step`` runs one tick."""
    FAULTED = "Faulted"
    """Time is excluded, and no tick runs until ``restart`` or ``activate``."""


class SessionModeError(RuntimeError):
    """Something was asked of a session that its mode does not allow.

    >>> Session(dict, print, {}).step()
    Traceback (most recent call last):
        ...
    fixedstep.sim.session.SessionModeError: step needs a paused session, and this one is Playing; \
pause it first
    """


class Fault(NamedTuple):
    """Why a session stands.

    >>> def run_tick(world, tick_input, tick):
    ...     tick.enter(Phase.MOTION)
    ...     world["nowhere"]
    >>> session = Session(dict, run_tick, {}, mode=Mode.PAUSED)
    >>> session.step().mode.value, session.fault
    ('Faulted', Fault(tick=0, phase=<Phase.MOTION: 'Motion'>, error=KeyError('nowhere')))
    """

    tick: int
    """The tick that failed."""
    phase: Phase
    """Where in the tick."""
    error: BaseException
    """What it raised, with its traceback."""


class FrameReport(NamedTuple):
    """What a frame did. Time is in nanoseconds. Every tick that was due ran, was dropped, or was
    abandoned.

    >>> session = Session(dict, lambda world, tick_input, tick: None, {})
    >>> reports = [session.frame(Timestamp(now)) for now in (0, 8_000_000_000)]
    >>> reports[1].accepted, reports[1].clamped, reports[1].ran, reports[1].dropped
    (250000000, 7750000000, 4, 11)
    """

    accepted: Nanos
    """Time that counts."""
    clamped: Nanos
    """Time beyond the longest frame, which does not."""
    ran: int
    """Ticks that succeeded."""
    dropped: int
    """Ticks that were due and that the budget refused."""
    alpha: Alpha
    """How far to draw between the previous transforms and the current ones."""
    mode: Mode
    """The mode after the frame."""
    tick: int
    """How many ticks have succeeded: the number of the next one."""
    excluded: Nanos
    """Time that passed while paused, hidden, faulted or loading."""
    regressed: bool
    """Whether the clock went back."""
    abandoned: int
    """Ticks that were planned and that a fault stopped, the failed one included."""


class WorkFailed(Exception):
    """Stands in a replay for what background work raised, by the name of its type.

    >>> WorkFailed("OSError")
    WorkFailed('OSError')
    """


class Tick:
    """What a tick is given beside the world and the input. It ends with the tick.

    >>> from fixedstep.sim.outbox import Outbox
    >>> def run_tick(world, tick_input, tick):
    ...     tick.enter(Phase.GAMEPLAY)
    ...     _ = tick.outbox.stage("boom", anchor=(3, tick.number))
    >>> session = Session(dict, run_tick, {}, outbox=Outbox(), mode=Mode.PAUSED)
    >>> session.step().tick, session.step().tick
    (1, 2)
    >>> [record.anchor for record in session.outbox.deliver()]
    [(3, 0), (3, 1)]
    """

    __slots__ = (
        "_asked",
        "_mailbox",
        "_over",
        "_phases",
        "_refused",
        "_watch",
        "completions",
        "due",
        "number",
        "outbox",
        "step",
    )

    def __init__(
        self,
        number: int,
        step: Step,
        outbox: Outbox | None,
        mailbox: Mailbox | None,
        watch: _Watch | None,
    ) -> None:
        self.number = number
        """The number of this tick, from 0."""
        self.step = step
        """Its length and simulated time, in nanoseconds."""
        self.completions: tuple[Completion, ...] = ()
        """Results of background work to apply, in the order of their requests."""
        self.due: DueSet[Any] | None = None
        """The timers that are due, where the session has timers."""
        self.outbox = outbox
        """Where to stage requests for presentation, where the session has an outbox."""
        self._mailbox = mailbox
        self._phases = Phases()
        self._watch = watch
        self._asked = 0
        self._refused = 0
        self._over = False

    @property
    def phase(self) -> Phase:
        """The phase it is in."""
        return self._phases.current

    def enter(self, phase: Phase) -> None:
        """Go on to a later phase, so that a fault from here on carries its name.

        Raises PhaseOrderError for an earlier phase or the current one.
        """
        if self._watch is not None:
            self._watch.after(self._phases.current)
        self._phases.enter(phase)

    def reserve(self, target: Hashable, revision: Hashable = None) -> Ticket:
        """Admit a request for background work, as `Mailbox.reserve`.

        By this way and no other within a tick: a request that was refused is then recorded, and
        refused when it is replayed. The work itself begins outside: stage the ticket in the outbox,
        for the frame that delivers it to start. In a replay no work need begin, since its results
        are in the recording; what begins all the same holds no slot. A ticket's number counts over
        all worlds of the mailbox, so keep it out of digests: the target and the revision say which
        request it is.

        Raises what `Mailbox.reserve` raises, and RuntimeError without a mailbox or after the tick.
        """
        mailbox, watch = self._mailbox, self._watch
        if mailbox is None:
            raise RuntimeError(
                f"tick {self.number} reserved a request, and this session has no mailbox; "
                "make it with mailbox=Mailbox()"
            )
        if self._over:
            raise RuntimeError(
                f"tick {self.number} is over, and a request outside a tick is in no recording; "
                "reserve while it runs"
            )
        asked = self._asked
        self._asked += 1
        if watch is not None and watch.replayed is not None:
            if asked not in watch.replayed.refused:
                return mailbox._reserve_no_slot(target, revision)
            self._refused += 1
            watch.refused.append(asked)
            watch.closed = watch.replayed.closed
            what = f"the request for {shown(target)}"
            if watch.closed:
                raise MailboxClosed(f"{what} came after shutdown when it was recorded")
            raise MailboxFull(f"{what} found no room when it was recorded")
        try:
            return mailbox.reserve(target, revision)
        except (MailboxFull, MailboxClosed) as error:
            self._refused += 1
            if watch is not None:
                watch.refused.append(asked)
                watch.closed = isinstance(error, MailboxClosed)
            raise

    def cancel(self, ticket: Ticket) -> None:
        """Have the result of a request not applied, whether or not it has come yet.

        Tells nothing, unlike `Mailbox.cancel`, whose answer depends on when results arrive.
        """
        if self._mailbox is not None:
            self._mailbox.cancel(ticket)


class Session(Generic[L, W]):
    """Runs a world: frames in, ticks out.

    ``make_world(level)`` makes a world and ``run_tick(world, tick_input, tick)`` advances it by one
    tick; it returns None or raises. ``actions`` name the input. Parts that a game does not use are
    left out: ``timers(world)`` is the world's own `TimerQueue`, so that a new world has new timers;
    the ``outbox`` and the ``mailbox`` outlive worlds, and the session keeps them in step, asking
    ``is_current(world, ticket)`` about each result as `Mailbox.take_batch` does.
    ``digests(world)`` gives a `StateHash` for each named field, for recordings.

    >>> from fixedstep.sim.tick_input import ActionState
    >>> def run_tick(world, tick_input, tick):
    ...     world["x"] += 3 if tick_input["run"].held else 1
    >>> session = Session(dict, run_tick, {"x": 0}, actions=["run"])
    >>> for milliseconds in (0, 100):
    ...     report = session.frame(Timestamp(milliseconds * 10**6))
    >>> report.ran, report.dropped, report.alpha, report.tick, session.world
    (4, 2, 0.0, 4, {'x': 4})
    >>> session.pause()
    >>> session.step(TickInput({"run": ActionState(held=True)})).tick, session.world
    (5, {'x': 7})

    The first frame says where time starts. ``mode`` is the one a new world is entered in, and
    ``tick`` continues an earlier session. ``max_delta`` and ``on_regression`` are the
    `FrameClock`'s; ``trace`` is how many ticks `TickTrace` keeps, one at least.

    Raises what the parts raise for arguments that are none, and what ``make_world`` raises.
    """

    __slots__ = (
        "_clock",
        "_digests",
        "_entry_mode",
        "_fault",
        "_first_request",
        "_hidden",
        "_in_tick",
        "_input",
        "_is_current",
        "_last_good",
        "_level",
        "_loop",
        "_mailbox",
        "_make_world",
        "_mode",
        "_neutral",
        "_outbox",
        "_record_phases",
        "_recorder",
        "_recording_error",
        "_run_tick",
        "_tick",
        "_timers",
        "_timers_of",
        "_trace",
        "_world",
        "_world_id",
    )

    def __init__(
        self,
        make_world: Callable[[L], W],
        run_tick: Callable[[W, TickInput, Tick], None],
        level: L,
        *,
        actions: Iterable[str] = (),
        transitions: TransitionQueue | None = None,
        timestep: Timestep | Rate = Rate(60),  # noqa: B008 - immutable
        budget: StepBudget = StepBudget(4),  # noqa: B008 - immutable
        max_delta: Nanos | None = LONGEST_FRAME,
        on_regression: Literal["hold", "reanchor"] = "hold",
        timers: Callable[[W], TimerQueue[Any]] | None = None,
        outbox: Outbox | None = None,
        mailbox: Mailbox | None = None,
        is_current: Callable[[W, Ticket], bool | Stale] | None = None,
        digests: Callable[[W], Digests] | None = None,
        mode: Mode = Mode.PLAYING,
        tick: SupportsIndex = 0,
        trace: SupportsIndex = 64,
    ) -> None:
        self._make_world = make_world
        self._run_tick = run_tick
        self._timers_of = timers
        self._outbox = outbox
        self._mailbox = mailbox
        self._is_current = is_current
        self._digests = digests
        self._input = InputBridge(actions, transitions)
        self._neutral = TickInput.neutral(self._input.actions)
        self._clock = FrameClock(max_delta, on_regression)
        self._loop = self._clock.frame_loop(timestep, budget)
        self._trace = TickTrace(trace)
        self._hidden = False
        self._in_tick = False
        self._recorder: Recorder | None = None
        self._record_phases = False
        self._recording_error: BaseException | None = None
        self._world_id = 0
        self._tick = 0
        self._fault: Fault | None = None
        self._last_good: FrameReport | None = None
        self._enter(level, mode, count(tick, "tick"))

    # Frames and ticks.

    def frame(self, now: Timestamp, sample: Sample = ()) -> FrameReport:
        """Run one frame: count the time since the last one, and run the ticks it makes due.

        ``now`` is nanoseconds, ``0 .. 2**64 - 1``, read once a frame; ``sample`` is the input of
        the frame, as for `InputBridge.sample`, after the user interface took its own. It is used
        while playing, and ignored otherwise. A new world begins with all gates shut, as after a
        pause: an action counts after it was sampled at rest, so sample all of them in each frame,
        with `REST` for those at rest, and not only events.

        An exception of a tick is not raised here but is in ``fault``; one that is no ``Exception``
        (Ctrl-C) faults the session too, and is raised. Raises TypeError, OverflowError and
        ValueError for a bad time or sample, and RuntimeError within a tick; the session is then as
        it was.
        """
        self._outside("frame")
        now = Timestamp(timestamp(now))
        if self._mode is not Mode.PLAYING or self._hidden:
            return self._still_frame(now)
        self._input.sample(sample)
        clock = self._clock
        excluded = clock.excluded
        found = clock.sample(now)
        plan = self._loop.begin_frame(clock.frame_time)
        ran = 0
        try:
            for step in plan.steps():
                if not self._advance(step, self._input.take(), self._new_watch()):
                    break
                ran += 1
        except BaseException:
            self._loop = self._new_loop()  # or its ticks would be ahead of those that ran
            raise
        playing = self._mode is Mode.PLAYING
        report = FrameReport(
            found.accepted,
            found.clamped,
            ran,
            plan.dropped,
            plan.alpha() if playing else SHOW_CURRENT,
            self._mode,
            self._tick,
            Nanos(clock.excluded - excluded),
            found.regressed,
            plan.step_count - ran,
        )
        if playing:
            self._last_good = report
        return report

    def _still_frame(self, now: Timestamp) -> FrameReport:
        """A frame in which time stands: all of it is excluded."""
        excluded = self._clock.excluded
        self._clock.reset()
        self._clock.sample(now)
        passed = Nanos(self._clock.excluded - excluded)
        report = self._standing(0, passed, 0)
        if self._mode is not Mode.FAULTED:
            self._last_good = report
        return report

    def _standing(self, ran: int, excluded: Nanos, abandoned: int) -> FrameReport:
        none = Nanos(0)
        return FrameReport(
            none, none, ran, 0, SHOW_CURRENT, self._mode, self._tick, excluded, False, abandoned
        )

    def step(
        self, tick_input: TickInput | None = None, *, hold_completions: bool = False
    ) -> FrameReport:
        """Run exactly one tick while paused. No time passes.

        The tick sees ``tick_input``, neutral unless given, and nothing of the input bridge. It is
        given results of background work as any other, unless they are held back.

        Raises SessionModeError unless paused, and TypeError or ValueError for an input that does
        not have the session's actions; nothing was run then. An exception of the tick faults the
        session, as in a frame.
        """
        self._outside("step")
        self._need_pause("step")
        chosen = self._neutral if tick_input is None else self._checked(tick_input)
        watch = self._new_watch()
        ran = self._advance(self._next_step(), chosen, watch, hold_completions=hold_completions)
        report = self._standing(int(ran), Nanos(0), int(not ran))
        if ran:
            self._last_good = report
        return report

    def replay(self, recorded: RecordedTick, /) -> RecordedTick | RecordedFault:
        """Run one recorded tick while paused, on its input and completions; what came of it.

        `play` calls this for each tick of a recording, and compares.

        Raises as ``step`` does, and ValueError for another tick than the next, or without
        ``digests``.
        """
        self._outside("replay")
        self._need_pause("replay")
        self._need_digests("replay")
        chosen = self._checked(recorded.input)
        if recorded.tick != self._tick:
            raise ValueError(
                f"tick must be {self._tick}, this session's next, not {recorded.tick}; "
                "play a recording from its beginning, in a new world"
            )
        if self._mailbox is None and (recorded.completions or recorded.refused):
            raise ValueError(
                f"tick {recorded.tick} was recorded with background work, and this session has no "
                "mailbox; make it with mailbox=Mailbox()"
            )
        watch = self._make_watch(bool(recorded.phases), recorded)
        if not self._advance(self._next_step(), chosen, watch):
            assert self._fault is not None
            return _recorded(self._fault)
        return RecordedTick(
            recorded.tick,
            chosen,
            watch.completions,
            watch.by_phase,
            watch.digests,
            tuple(watch.refused),
            watch.closed,
            watch.room,
        )

    def _next_step(self) -> Step:
        return next(FramePlan(self._tick, 1, 0, 0, self._loop.timestep).steps())

    def _make_watch(self, with_phases: bool, replayed: RecordedTick | None = None) -> _Watch:
        assert self._digests is not None
        return _Watch(partial(self._digests, self._world), with_phases, replayed)

    def _new_watch(self) -> _Watch | None:
        return None if self._recorder is None else self._make_watch(self._record_phases)

    def _advance(
        self,
        step: Step,
        tick_input: TickInput,
        watch: _Watch | None,
        *,
        hold_completions: bool = False,
    ) -> bool:
        """Run one tick to its end or to its fault; whether it succeeded."""
        number, outbox = self._tick, self._outbox
        tick = Tick(number, step, outbox, self._mailbox, watch)
        self._in_tick = True
        try:
            if number == U64_MAX:
                raise TickExhausted(
                    f"tick {U64_MAX} is where numbers end, and is not run; restart the session"
                )
            if outbox is not None:
                outbox.begin_tick(number)
                if watch is not None and watch.replayed is not None:
                    outbox._play_room(watch.replayed.room)
            if self._mailbox is not None and not hold_completions:
                tick.completions = self._take_completions(self._mailbox, watch)
            if watch is not None:
                watch.given = True
            if self._timers is not None:
                tick.due = self._timers.begin_tick(number)
            result: object = self._run_tick(self._world, tick_input, tick)
            if result is not None:
                raise TypeError(
                    f"run_tick must return None, not {type(result).__name__} {shown(result)}; "
                    "raise to fault the session, and stage in the outbox what is for the frame"
                )
            if tick.phase is not Phase.END_TICK:
                tick.enter(Phase.END_TICK)
            if watch is not None:
                watch.end()
                watch.room = None if outbox is None else outbox._told_room
            staged = 0 if outbox is None else outbox.publish()
        except BaseException as error:
            self._stop(Fault(number, tick.phase, error), tick_input, tick, watch)
            if not isinstance(error, Exception):
                raise
            return False
        finally:
            self._in_tick = False
            tick._over = True
        self._tick = number + 1
        self._trace.add(_traced(tick, tick_input, "", staged))
        if watch is not None and self._recorder is not None:
            self._write(watch, number, tick_input)
        return True

    def _take_completions(self, mailbox: Mailbox, watch: _Watch | None) -> tuple[Completion, ...]:
        if watch is not None and watch.replayed is not None:
            mailbox.take_batch(_nothing_is_current)  # results of this run make room, and no more
            watch.completions = watch.replayed.completions
            return tuple(map(self._replayed, watch.completions))
        is_current = None if self._is_current is None else partial(self._is_current, self._world)
        taken = mailbox.take_batch(is_current)
        if watch is not None:
            watch.completions = tuple(map(self._written, taken))
        return taken

    def _written(self, completion: Completion) -> Plain:
        """A completion as a recording has it. Requests count from 1 in each world, as the mailbox,
        which outlives it, does not."""
        ticket, result, error = completion
        form = ticket.request - self._first_request, ticket.target, ticket.revision, result
        return plain(form if error is None else (*form, type(error).__name__), "a completion")

    def _replayed(self, written: Plain) -> Completion:
        match written:
            case (int(request), target, revision, result):
                error = None
            case (int(request), target, revision, result, str(name)):
                error = WorkFailed(name)
            case _:
                raise ValueError(
                    f"a completion is a request, target, revision and result, not {shown(written)}"
                )
        ticket = Ticket(request + self._first_request, self._world_id, target, revision)
        return Completion(ticket, result, error)

    def _stop(self, fault: Fault, tick_input: TickInput, tick: Tick, watch: _Watch | None) -> None:
        """Fault: nothing of this tick gets out, and what earlier ones published stays."""
        room = None if self._outbox is None else self._outbox._told_room
        staged = 0 if self._outbox is None else self._outbox.discard()
        self._fault = fault
        self._mode = Mode.FAULTED
        self._trace.add(_traced(tick, tick_input, _told(fault.error), staged))
        recorded = _recorded(fault)
        if watch is not None and watch.given and isinstance(fault.error, Exception):
            recorded = recorded._replace(
                input=tick_input,
                completions=watch.completions,
                refused=tuple(watch.refused),
                closed=watch.closed,
                room=room,
            )
        self._finish_recording(recorded)

    # Modes.

    def pause(self) -> None:
        """Stop time. Debt is forgotten and input cancelled; what passes from here is excluded.

        Does nothing while paused. Raises SessionModeError while faulted, RuntimeError in a tick.
        """
        self._outside("pause")
        self._need_no_fault("pause")
        if self._mode is not Mode.PAUSED:
            self._mode = Mode.PAUSED
            self._reset_debt()

    def resume(self) -> None:
        """Let time run from the next frame on. Nothing of the pause is made up for, and what is
        held must be let go before it counts again.

        Does nothing while playing. Raises SessionModeError while faulted, RuntimeError in a tick.
        """
        self._outside("resume")
        self._need_no_fault("resume")
        if self._mode is not Mode.PLAYING:
            self._mode = Mode.PLAYING
            self._reset_debt()

    def hide(self) -> None:
        """The window is not seen: time is excluded until ``show``, whatever the mode.

        Debt is forgotten and input cancelled. Raises RuntimeError in a tick.
        """
        self._outside("hide")
        if not self._hidden:
            self._hidden = True
            self._reset_debt()

    def show(self) -> None:
        """The window is seen again. Changes no mode: what was paused stays so.

        Debt is forgotten and input cancelled. Raises RuntimeError in a tick.
        """
        self._outside("show")
        if self._hidden:
            self._hidden = False
            self._reset_debt()

    def activate(self, level: L, *, mode: Mode = Mode.PLAYING) -> None:
        """Replace the world by one made from ``level``, at tick 0, and enter it in ``mode``.

        Time spent loading is excluded, input cancelled, background work for the old world revoked,
        and what the old world published and nobody took is forgotten; its timers went with it. A
        recording ends. Out of a fault, this is the way on.

        Raises what ``make_world`` raises; the old world and everything about it is then as it was.
        Raises RuntimeError in a tick.
        """
        self._outside("activate")
        self._enter(level, mode, 0)

    def restart(self) -> None:
        """Make the same level again and enter it as before: ``activate`` with what it was given."""
        self._outside("restart")
        self._enter(self._level, self._entry_mode, 0)

    def _enter(self, level: L, mode: Mode, tick: int) -> None:
        if type(mode) is not Mode or mode is Mode.FAULTED:
            raise ValueError(
                f"mode must be Mode.PLAYING or Mode.PAUSED, not {shown(mode)}; "
                "a new world has no fault"
            )
        world = self._make_world(level)
        timers = None if self._timers_of is None else self._timers_of(world)
        # From here on nothing can fail: the old world is left for the new one in one go.
        self._finish_recording(None)
        self._world_id += 1
        self._first_request = 0
        if self._outbox is not None:
            self._outbox.clear(self._world_id)
        if self._mailbox is not None:
            if self._mailbox.world == self._world_id:  # it was in use before, by another session
                self._world_id += 1
            self._mailbox.replace_world(self._world_id)
            self._first_request = self._mailbox.counters.reserved
        self._world = world
        self._timers = timers
        self._level = level
        self._mode = self._entry_mode = mode
        self._tick = tick
        self._fault = None
        self._last_good = None
        self._trace.clear()
        self._reset_debt()
        self._input.take()  # the cancelled edges: this world has seen nothing that could be void

    def _reset_debt(self) -> None:
        """Begin again at this tick with nothing owed, and with input let go."""
        self._clock.reset()
        self._loop = self._new_loop()
        self._input.cancel()

    def _new_loop(self) -> FrameLoop:
        loop = self._loop
        return FrameLoop(loop.timestep, loop.budget, self._clock.frame_time, tick=self._tick)

    # Recording.

    def policies(self, notes: Mapping[str, Plain] | None = None) -> Policies:
        """What a recording that begins now has in its header."""
        capacities: dict[str, int] = {}
        if self._outbox is not None:
            capacities["outbox"] = self._outbox.capacity
            capacities["staged"] = self._outbox.staged_capacity
        if self._mailbox is not None:
            capacities["mailbox"] = self._mailbox.capacity
        if self._timers is not None:
            capacities["timers"] = self._timers.capacity
        if self._input.transitions is not None:
            capacities["transitions"] = self._input.transitions.capacity
        return Policies(
            self._loop.timestep,
            self._loop.budget,
            self._clock.max_delta,
            self._input.actions,
            capacities,
            self._tick,
            {} if notes is None else notes,
        )

    def record(
        self, file: TextIO, *, notes: Mapping[str, Plain] | None = None, phases: bool = False
    ) -> None:
        """Record from the next tick on, into an open text file: input, completions and digests.

        ``notes`` go into the header: the level and seed, and whatever else a replay must repeat.
        With ``phases``, digests are also taken after each phase, so that a divergence has one.
        The recording ends with ``stop_recording``, a fault, or another world; an earlier one ends
        here. A file that fails ends it too, whatever it raises, and that is in ``recording_error``:
        the game goes on.

        Raises ValueError without ``digests`` or for the file of the recording that runs,
        SessionModeError while faulted, RuntimeError in a tick, what `Recorder` raises for notes
        that it cannot hold, and what the file raises.
        """
        self._outside("record")
        self._need_no_fault("record")
        self._need_digests("record")
        if self._recorder is not None and self._recorder.file is file:
            raise ValueError(
                "file must be another than that of the recording that runs, which is not ended; "
                "call stop_recording() first"
            )
        recorder = Recorder(file, self.policies(notes))
        self._finish_recording(None)
        self._recorder = recorder
        self._record_phases = phases
        self._recording_error = None

    def stop_recording(self) -> None:
        """End the recording, if there is one. Closing the file is the caller's."""
        self._outside("stop_recording")
        self._finish_recording(None)

    def _write(self, watch: _Watch, number: int, tick_input: TickInput) -> None:
        assert self._recorder is not None
        try:
            self._recorder.tick(
                number,
                tick_input,
                watch.digests,
                completions=watch.completions,
                phases=watch.by_phase,
                refused=watch.refused,
                closed=watch.closed,
                room=watch.room,
            )
        except BaseException as error:
            self._recorder = None  # its last line may be half of one
            self._recording_error = error
            if not isinstance(error, Exception):
                raise

    def _finish_recording(self, fault: RecordedFault | None) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            try:
                recorder.finish(fault)
            except BaseException as error:
                self._recording_error = error
                if not isinstance(error, Exception):
                    raise

    # What there is to read.

    @property
    def world(self) -> W:
        """The world. After a fault it is the unfinished one, for a debugger and not for drawing."""
        return self._world

    @property
    def world_id(self) -> int:
        """Which world of this process it is. It means nothing in another, and no file holds it."""
        return self._world_id

    @property
    def level(self) -> L:
        """What the world was made from."""
        return self._level

    @property
    def mode(self) -> Mode:
        """What a frame does."""
        return self._mode

    @property
    def hidden(self) -> bool:
        """Whether the window is not seen."""
        return self._hidden

    @property
    def tick(self) -> int:
        """How many ticks have succeeded in this world: the number of the next one."""
        return self._tick

    @property
    def fault(self) -> Fault | None:
        """Why the session stands; None unless faulted."""
        return self._fault

    @property
    def last_good(self) -> FrameReport | None:
        """The last report of this world without a fault: what a retained picture was drawn with."""
        return self._last_good

    @property
    def input(self) -> InputBridge:
        """The input on its way to ticks. Cancel it at a loss of focus and at new key bindings."""
        return self._input

    @property
    def outbox(self) -> Outbox | None:
        """The requests of ticks. Deliver them in every frame, drawn or not."""
        return self._outbox

    @property
    def mailbox(self) -> Mailbox | None:
        """The background work."""
        return self._mailbox

    @property
    def trace(self) -> TickTrace:
        """The last ticks of this world, oldest first, a failed one included."""
        return self._trace

    @property
    def accepted(self) -> int:
        """Nanoseconds that counted, in total, over all worlds."""
        return self._clock.accepted

    @property
    def clamped(self) -> int:
        """Nanoseconds beyond the longest frame, in total."""
        return self._clock.clamped

    @property
    def excluded(self) -> int:
        """Nanoseconds spent paused, hidden, faulted and loading, in total."""
        return self._clock.excluded

    @property
    def recording(self) -> bool:
        """Whether ticks are being recorded."""
        return self._recorder is not None

    @property
    def recording_error(self) -> BaseException | None:
        """What ended the last recording before its time; None if nothing did."""
        return self._recording_error

    # What must hold.

    def _checked(self, tick_input: TickInput) -> TickInput:
        if type(tick_input) is not TickInput:
            raise TypeError(
                f"input must be a TickInput, not {type(tick_input).__name__} {shown(tick_input)}; "
                "TickInput({'jump': PRESS}) is one"
            )
        if tuple(tick_input) != self._input.actions:
            raise ValueError(
                f"input must have the actions {_listed(self._input.actions)}, not "
                f"{_listed(tick_input)}; TickInput.neutral(session.input.actions) has"
            )
        return tick_input

    def _outside(self, what: str) -> None:
        if self._in_tick:
            raise RuntimeError(
                f"{what} was called within tick {self._tick}; stage a request in the outbox, and "
                "let the frame that delivers it decide"
            )

    def _need_pause(self, what: str) -> None:
        if self._mode is not Mode.PAUSED:
            raise SessionModeError(
                f"{what} needs a paused session, and this one is {self._mode.value}; "
                + ("restart or activate" if self._fault else "pause it first")
            )

    def _need_no_fault(self, what: str) -> None:
        if self._fault is not None:
            raise SessionModeError(
                f"{what} cannot mend tick {self._fault.tick}, which raised in "
                f"{self._fault.phase.value}; restart, or activate a level"
            )

    def _need_digests(self, what: str) -> None:
        if self._digests is None:
            raise ValueError(
                f"{what} compares digests of the world, and this session takes none; "
                "make it with digests=, a function that gives a StateHash for each field"
            )

    def __copy__(self) -> NoReturn:
        raise TypeError(
            "a session has no shallow copy, which would play in the same world; copy.deepcopy takes"
            " the world along, and Session(..., tick=session.tick) goes on in one that was saved"
        )

    def __repr__(self) -> str:
        hidden = ", hidden" if self._hidden else ""
        return (
            f"<Session {self._mode.value}{hidden} at tick {self._tick} of world {self._world_id}>"
        )


class _Watch:
    """What is noted of one tick, to be recorded or compared."""

    __slots__ = (
        "_take",
        "_with_phases",
        "by_phase",
        "closed",
        "completions",
        "digests",
        "given",
        "refused",
        "replayed",
        "room",
    )

    def __init__(
        self, take: Callable[[], Digests], with_phases: bool, replayed: RecordedTick | None
    ) -> None:
        self._take = take
        self._with_phases = with_phases
        self.replayed = replayed
        self.by_phase: dict[Phase, dict[str, int]] = {}
        self.digests: dict[str, int] = {}
        self.completions: tuple[Plain, ...] = ()
        self.refused: list[int] = []
        self.closed = False
        self.room: int | None = None
        self.given = False
        """Whether all that the tick is given was taken down, so that it can be played again."""

    def after(self, phase: Phase) -> None:
        """A phase is over."""
        if self._with_phases:
            self.by_phase[phase] = finished(self._take(), f"after {phase.value}")

    def end(self) -> None:
        """The tick is over."""
        self.digests = finished(self._take(), "at the end of the tick")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none at all"


def _nothing_is_current(ticket: Ticket) -> bool:
    return False


def _recorded(fault: Fault) -> RecordedFault:
    return RecordedFault(fault.tick, fault.phase, type(fault.error).__name__)


def _told(error: BaseException) -> str:
    """An exception by type and text. A text that fails must not hide what it was asked about."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _traced(tick: Tick, tick_input: TickInput, fault: str, staged: int) -> TracedTick:
    return TracedTick(
        tick.number,
        tick_input,
        tick.phase,
        fault,
        due=0 if tick.due is None else len(tick.due),
        completions=len(tick.completions),
        staged=staged,
        outstanding=0 if tick._mailbox is None else len(tick._mailbox),
        refused=tick._refused,
    )
