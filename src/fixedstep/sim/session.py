"""The session: a world, and the game loop that runs its ticks.

A `Session` is a `GameLoop` whose ticks are given input, messages, due timers and results of
background work, and whose faults are kept for inspection.

An exception of a tick stops the session: the other ticks of the frame are abandoned, what the tick
staged for sound and picture is discarded, and no tick runs until a new world is made. The world is
left as the tick left it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Generic, NoReturn, SupportsIndex, TypeVar

from .._arguments import U64_MAX, shown
from ..time import Rate, Step
from .game_loop import Fault, FrameReport, GameLoop, GameStateError
from .input import Input, TickInput
from .mailbox import Mailbox, Stale, Ticket
from .outbox import Outbox
from .recordable import Recordable, check_recordable
from .tick import PHASES, RecordedTick, Tick, TickLog, TickObserver
from .timers import TickExhausted

W = TypeVar("W")


class Session(GameLoop, Generic[W]):
    """Runs the ticks of a world: ``World(level)`` makes it, ``world.step(input, tick)`` runs one.

    >>> class World:
    ...     def __init__(self, level):
    ...         self.x = level["x"]
    ...     def step(self, input, tick):
    ...         self.x += 3 if input["run"].held else 1
    >>> session = Session(World, {"x": 0}, buttons=["run"])
    >>> for milliseconds in (0, 50):
    ...     report = session.frame(milliseconds * 10**6)
    >>> report.ran, session.world.x
    (3, 3)
    >>> session.input.press("run")
    >>> session.frame(67 * 10**6).ran, session.world.x
    (1, 6)

    Without a level, ``World()`` is called. A world may have these members, which are read in every
    tick: ``timers``, a `TimerQueue`; ``outbox``, an `Outbox` in place of the session's;
    ``is_current(ticket)``, which says whether a result of background work still applies; and
    ``digests()``, a mapping of names to `StateHash`, integers or mappings, for recordings.

    ``buttons``, ``axes`` and ``relative`` name the input; see `Input`. ``outbox`` and ``mailbox``
    are made if they are not given. ``phases`` are the names a tick may ``enter``, in order, and
    ``tick_log`` is how many of the last ticks are kept. ``paused`` starts in a pause. The other
    arguments are those of `GameLoop`.

    An exception of a tick is not raised: it is in ``fault``. One that is no Exception, such as
    Ctrl-C, is raised too. Seed rules of frame and tick updates, where a pause forgets the time that
    is not yet a tick, are ``remainder="forget"``.
    """

    __slots__ = (
        "_entry_paused",
        "_hold_completions",
        "_input",
        "_level",
        "_mailbox",
        "_make_world",
        "_messages",
        "_new_rate",
        "_observer",
        "_outbox",
        "_phases",
        "_replayed",
        "_step_input",
        "_tick_log",
        "_world",
        "_world_id",
    )

    def __init__(
        self,
        make_world: Callable[..., W],
        level: Any = None,
        *,
        buttons: Iterable[str] = (),
        axes: Iterable[str] = (),
        relative: Iterable[str] = (),
        dead_zone: SupportsIndex | Mapping[str, SupportsIndex] = 100,
        outbox: Outbox | None = None,
        mailbox: Mailbox | None = None,
        phases: Iterable[str] = PHASES,
        tick_log: SupportsIndex = 64,
        paused: bool = False,
        **game_loop: Any,
    ) -> None:
        if not callable(make_world):
            raise TypeError(
                f"make_world must be a class or a function that makes a world, not "
                f"{type(make_world).__name__} {shown(make_world)}; pass World, not World()"
            )
        super().__init__(None, **game_loop)
        self._run_tick = self._run_world_tick
        self._make_world = make_world
        self._input = Input(buttons, axes, relative, dead_zone)
        self._input._later = self._later
        self._outbox: Outbox = _part(outbox, Outbox, "outbox")
        self._mailbox: Mailbox = _part(mailbox, Mailbox, "mailbox")
        self._phases = _checked_phases(phases)
        self._tick_log = TickLog(tick_log)
        self._messages: deque[Recordable] = deque()
        self._observer: TickObserver | None = None
        self._replayed: RecordedTick | None = None
        self._new_rate: Rate | None = None
        self._step_input: TickInput | None = None
        self._hold_completions = False
        self._world_id = 0
        self._level = level
        self._entry_paused = bool(paused)
        self._enter(self._made(level), level, self._entry_paused)

    # Ticks.

    def _run_world_tick(self, step: Step) -> None:
        number, world, outbox = self._tick, self._world, self._outbox
        world_outbox = getattr(world, "outbox", None)
        if world_outbox is not None:
            outbox = world_outbox
        if self._messages:
            messages = tuple(self._messages.popleft() for _ in range(len(self._messages)))
        else:
            messages = ()
        input = self._step_input if self._step_input is not None else self._input._take()
        tick = Tick(number, step, input, messages, outbox, self._mailbox, self._phases)
        self._tick_log._ticks.append(tick)
        replayed, observer = self._replayed, self._observer
        given = False
        try:
            if number == U64_MAX:
                raise TickExhausted(f"tick {U64_MAX} is the last number there is; restart the game")
            outbox.begin_tick(number)
            if replayed is not None:
                tick._replayed = replayed
                tick.messages, tick.input = replayed.messages, replayed.input
                tick.completions = replayed.completions
                outbox._restore_room(replayed.outbox_room)
                self._mailbox.take_batch(_nothing_is_current)
            elif self._mailbox._slots and not self._hold_completions:
                tick.completions = self._mailbox.take_batch(getattr(world, "is_current", None))
            timers = getattr(world, "timers", None)
            if timers is not None:
                tick.due = timers.begin_tick(number)
            given = True
            if observer is not None:
                tick._observer, tick._world = observer, world
                observer.begin(world, tick._given(self._new_rate))
            result = world.step(tick.input, tick)  # type: ignore[attr-defined]
            if result is not None:
                raise TypeError(
                    f"step must return None, not {type(result).__name__} {shown(result)}; raise to "
                    "stop the game, and stage what is for sound and picture in tick.outbox"
                )
            recorded = None if observer is None else tick._given(self._new_rate)
            tick._staged = outbox.publish()
        except BaseException as error:
            tick._over = True
            tick._fault = fault = Fault(number, tick.phase, error)
            repeatable = given and isinstance(error, Exception)
            recorded = tick._given(self._new_rate) if repeatable else None
            outbox.discard()
            if not isinstance(error, Exception):
                self._thrown = error
            self._fail(fault)
            if observer is not None:
                self._observer = None
                observer.fault(world, recorded, fault)
            return
        tick._over = True
        if observer is not None and recorded is not None:
            observer.end(world, recorded)
            self._new_rate = None

    def run_ticks(
        self,
        n: SupportsIndex = 1,
        /,
        *,
        input: TickInput | None = None,
        hold_completions: bool = False,
    ) -> FrameReport:
        """`GameLoop.run_ticks`, with ``input`` for each tick.

        By default the ticks see neutral input while time is stopped, and the session's own while it
        runs. ``hold_completions`` leaves results of background work for a later tick. Raises
        TypeError and ValueError for an input of another kind or with other actions.
        """
        if input is not None:
            self._check_input(input)
        elif self._stopped:
            input = self._input._neutral
        self._step_input, self._hold_completions = input, bool(hold_completions)
        try:
            return super().run_ticks(n)
        finally:
            self._step_input, self._hold_completions = None, False

    def _check_input(self, input: TickInput) -> None:
        if type(input) is not TickInput:
            raise TypeError(
                f"input must be a TickInput, not {type(input).__name__} {shown(input)}; "
                "TickInput({'jump': PRESS}) is one"
            )
        actions = self._input._neutral._actions
        if input._actions is not actions and input._actions != actions:
            raise ValueError(
                f"input must have the actions of this session, not {shown(list(input))}; "
                "TickInput.neutral(session.input.actions) has them"
            )

    def replay_tick(self, given: TickInput | RecordedTick, /) -> bool:
        """Run one tick on the given input, or on everything a recorded tick was given.

        No time passes and nothing is counted in the statistics: for rollback and replay. True if
        the tick ran to its end; else the session is faulted.

        Raises GameStateError while faulted or loading, TypeError and ValueError for another kind of
        input, RuntimeError within a frame.
        """
        if self._in_frame:
            raise self._not_now("replay_tick")
        if self._fault is not None or self._loading:
            raise GameStateError(
                f"replay_tick needs a session that can run, and this one is {self.state}; restart "
                "it first"
            )
        if isinstance(given, TickInput):
            given = RecordedTick(self._tick, given)
        if given.tick != self._tick:
            raise ValueError(
                f"tick must be {self._tick}, this session's next, not {given.tick}; replay from "
                "the beginning, in a new world"
            )
        self._check_input(given.input)
        if given.rate is not None:
            self.set_rate(given.rate)
        self._reconcile()
        try:
            self._in_frame = self._in_tick = True
            self._replayed = given
            self._run_world_tick(self._step_at(self._tick))
            ran = self._fault is None
            if ran:
                self._loop._skip_ticks(1)
                self._tick += 1
                self._stats_from += 1  # it is not counted in the statistics
                self._fresh = False
        finally:
            self._in_frame = self._in_tick = self._changed = False
            self._replayed = None
            self._apply_tick_verbs()
        if self._thrown is not None:
            error, self._thrown = self._thrown, None
            raise error
        return ran

    # Worlds.

    def restart(self) -> None:
        """Make the same level again, at tick 0. See `activate`."""
        self.activate(self._level, paused=self._entry_paused)

    def activate(self, level: Any = None, *, world: W | None = None, paused: bool = False) -> None:
        """Replace the world by one made from ``level``, or by ``world``, at tick 0.

        Input, messages, pending verbs, requests of the old world for sound and picture and its
        background work are dropped, and a recording ends. It also ends a fault and a loading state.
        The next frame sets the origin of time, so the time spent building the world is excluded.

        Raises what ``World(level)`` raises; the session is then unchanged. Raises RuntimeError
        within a frame.
        """
        if self._in_frame:
            raise self._not_now("activate")
        self._enter(self._made(level) if world is None else world, level, bool(paused))

    def restore(self, state: Mapping[str, Any], world: W | None = None) -> None:
        """Go on from a saved state, with the world that was saved with it.

        Without ``world`` the present one is kept. Input that is held must be released before it
        counts. Raises what `GameLoop.restore` raises; the session is then unchanged.
        """
        super().restore(state)
        self._close_observer("the world was replaced")
        if world is not None:
            self._replace_world(world)

    def _made(self, level: Any) -> W:
        return self._make_world() if level is None else self._make_world(level)

    def _enter(self, world: W, level: Any, paused: bool) -> None:
        self._reconcile()
        self._replace_world(world)
        self._level, self._entry_paused = level, paused
        self._tick = 0
        self._sim_origin = (0, Fraction(0))
        self._plain_steps = self._tick_length is None
        self._replace_loop(self._account[0], self._loop._state()[4])
        self._stats, self._stats_from = type(self._stats)(), 0
        self._begin_again(paused)

    def _replace_world(self, world: W) -> None:
        self._close_observer("the world was replaced")
        self._world_id += 1
        self._outbox.clear(self._world_id)
        if self._mailbox.world == self._world_id:  # in use by another session before
            self._world_id += 1
        self._mailbox.replace_world(self._world_id)
        self._world = world
        self._tick_log._ticks.clear()
        self._messages.clear()
        self._new_rate = None
        self._input._stop()
        self._input._take()  # the new world has seen nothing that could be cancelled
        if not self._stopped:
            self._input._go()

    # Messages.

    def post(self, message: Recordable, at: SupportsIndex | None = None) -> None:
        """Give the next tick a message; it is given once, in order, as ``tick.messages``.

        May be called from any thread. ``at`` is wall time in nanoseconds: the message then belongs
        to the first tick due at that time or later.

        Raises what `check_recordable` raises for a value that a recording cannot hold.
        """
        check_recordable(message, "message")
        if at is None:
            self._messages.append(message)
        else:
            self._later(at, lambda: self._messages.append(message))
        if self._wake is not None:
            self._wake()

    # Hooks of the game loop.

    def _time_stops(self) -> None:
        self._input._stop()

    def _time_runs(self) -> None:
        self._input._go()

    def _rate_changed(self) -> None:
        self._new_rate = self._rate

    # Recording.

    def _observe(
        self, observer: TickObserver | None, reason: str = "another recording began"
    ) -> None:
        """Give every tick from the next one on to a recorder."""
        self._close_observer(reason)
        self._observer = observer
        self._new_rate = None

    def _close_observer(self, reason: str) -> None:
        observer, self._observer = getattr(self, "_observer", None), None
        if observer is not None:
            observer.close(reason)

    # What there is to read.

    @property
    def world(self) -> W:
        """The world. After a fault it is unfinished: for a debugger, not for drawing."""
        return self._world

    @property
    def world_id(self) -> int:
        """The number of the world in this process, for tickets. No file holds it."""
        return self._world_id

    @property
    def level(self) -> Any:
        """What the world was made from."""
        return self._level

    @property
    def input(self) -> Input:
        """The input on its way to the ticks."""
        return self._input

    @property
    def outbox(self) -> Outbox:
        """Requests of ticks for sound and picture. Deliver them in every frame, drawn or not."""
        world_outbox: Outbox | None = getattr(self._world, "outbox", None)
        return self._outbox if world_outbox is None else world_outbox

    @property
    def mailbox(self) -> Mailbox:
        """The results of background work on their way to the ticks."""
        return self._mailbox

    @property
    def tick_log(self) -> TickLog:
        """The last ticks of this world, oldest first, a failed one included."""
        return self._tick_log

    @property
    def phases(self) -> tuple[str, ...]:
        """The names that a tick may enter, in order."""
        return self._phases

    @property
    def recording(self) -> bool:
        """Whether a recorder is attached."""
        return self._observer is not None

    def __copy__(self) -> NoReturn:
        raise TypeError(
            "a session cannot be copied: its world may hold anything; save it with "
            "session.state_dict() and a copy of session.world, and restore() both"
        )

    def __deepcopy__(self, memo: object, /) -> NoReturn:
        self.__copy__()


def _part(given: Any, kind: type[Any], name: str) -> Any:
    if given is None:
        return kind()
    if not isinstance(given, kind):
        raise TypeError(
            f"{name} must be {'an' if name[0] in 'aeio' else 'a'} {kind.__name__}, not "
            f"{type(given).__name__} {shown(given)}; leave it out for the default"
        )
    return given


def _checked_phases(phases: Iterable[str]) -> tuple[str, ...]:
    if isinstance(phases, str) or not hasattr(phases, "__iter__"):
        raise TypeError(f"phases must be names in order, not {shown(phases)}; ('Move', 'Hit')")
    names = tuple(phases)
    if not all(type(name) is str and name for name in names) or len(set(names)) != len(names):
        raise ValueError(f"phases must be different names, not {shown(names)}; ('Move', 'Hit')")
    return names


def _nothing_is_current(ticket: Ticket) -> bool | Stale:
    return False
