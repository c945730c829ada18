"""The game loop: real time, game time and the accumulator in one object.

Call `GameLoop.frame` once per frame with the current time. It decides how much of the time since
the last frame counts (a pause does not, a long stall only up to a limit), runs the ticks that fall
due, and reports what it did. Windows, servers and tests all drive this one object.

Every nanosecond of wall time is accepted, clamped or excluded, and every tick that falls due is
run, dropped or abandoned. The sums always agree.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import lcm
from typing import Any, Final, Literal, NamedTuple, SupportsIndex, TypeAlias

from .. import FrameLoop, FramePlan, FrameStats
from .._arguments import U32_MAX, U64_MAX, count, nanos, positive, shown, timestamp
from ..time import LONGEST_FRAME, Alpha, Nanos, Rate, Step, StepBudget, Timestamp, budget_steps
from .exact import Exact, exact, int_if_whole

SHOW_CURRENT: Final = Alpha(float(1))
"""The alpha of a frame whose newest state must be drawn exactly, without interpolation."""

State = Literal["faulted", "loading", "hidden", "paused", "playing"]

#: The time of the last frame, and wall time, clamped and excluded time in total.
_Account: TypeAlias = tuple[int | None, int, int, int]

_SECOND = 10**9
_SIXTY = Rate(60)
_NOTHING = Nanos(0)
_RATE_FIX = "Rate(60) is 60 ticks a second"
_SPEED_FIX = "Fraction(1, 2) is half speed"
_LENGTH_FIX = "60 * 10**9 is a minute"


class GameStateError(RuntimeError):
    """The game cannot do this in its current state. The text names the state and the way out."""


class Fault(NamedTuple):
    """The exception that stopped a game.

    >>> Fault(tick=3, phase="Motion", error=KeyError("nowhere")).tick
    3
    """

    tick: int
    """The tick that raised."""
    phase: str
    """The phase of the tick, where the game names its phases; else ""."""
    error: BaseException
    """What was raised, with its traceback."""


class FrameReport(NamedTuple):
    """What one frame did. Times are in nanoseconds.

    >>> game = GameLoop(lambda step: None)
    >>> reports = [game.frame(Timestamp(now)) for now in (0, 8_000_000_000)]
    >>> reports[1].accepted, reports[1].clamped, reports[1].ran, reports[1].dropped
    (250000000, 7750000000, 5, 10)
    """

    plan: FramePlan
    """The ticks that ran, those the budget dropped, and the remainder, in units of the rate."""
    ran: int
    """Ticks that ran to their end."""
    abandoned: int
    """Ticks that were due and that a fault or ``end_frame`` stopped, a failed one included."""
    accepted: Nanos
    """Time that counted."""
    clamped: Nanos
    """Time beyond ``max_delta``, which did not count."""
    excluded: Nanos
    """Time that passed while the game was paused, hidden, faulted or loading."""
    regressed: bool
    """Whether the clock went back."""
    alpha: Alpha
    """Where to draw between the previous state (0) and the current one (1)."""
    drawable: bool
    """False while the world is faulted: keep the last picture."""
    tick: int
    """Ticks that have run in all: the number of the next one."""
    state: State
    """The state after the frame."""

    @property
    def dropped(self) -> int:
        """Ticks that were due and that the budget did not allow."""
        return self.plan.dropped


class _Verb(NamedTuple):
    """A change of state that waits for its time."""

    at: int
    order: int
    name: str
    argument: Any


class GameLoop:
    """Runs ``step`` at a fixed rate, whatever the frame rate.

    ``step(step)`` runs one tick; it is given a `Step` with the number of the tick, its length and
    its simulated time. With ``step=None`` the caller runs the ticks of `begin_frame` himself.

    >>> game = GameLoop(lambda step: print("tick", step.tick), rate=Rate(20))
    >>> _ = game.frame(0)                       # the first frame sets the origin
    >>> game.frame(75_000_000).alpha
    tick 0
    0.5
    >>> game.pause()
    >>> _ = game.frame(900_000_000)             # excluded
    >>> _ = game.run_ticks(1)                   # a single tick, in a pause
    tick 1

    ``rate`` is in ticks per second of wall time at speed 1. ``tick_length`` is the length of a tick
    in simulated nanoseconds, 1 / rate by default: ``Rate(1)`` and a minute make a strategy game.
    ``budget`` limits the ticks of a frame at speed 1, and ``ceil(budget * speed)`` at others;
    ``max_ticks`` is an absolute limit above it. ``max_delta`` is how much time one frame may count,
    in nanoseconds, or None. ``speeds`` are the speeds the player can choose, integers or Fractions;
    ``rates`` are other rates that ``set_rate`` will be given, where their denominators differ.
    ``remainder`` says what happens to time that is not yet a tick when time stops: ``"keep"`` or
    ``"forget"``.

    Each verb takes ``at=``, a wall time in nanoseconds: it then takes effect at exactly that time.
    Called within a tick, a verb takes effect at the moment the tick was due. Otherwise it takes
    effect with the next frame.

    Raises TypeError, OverflowError and ValueError for arguments of the wrong kind or range.
    """

    __slots__ = (
        "_abandoned",
        "_account",
        "_account_next",
        "_baseline",
        "_budget",
        "_busy",
        "_changed",
        "_denominator",
        "_ending",
        "_fault",
        "_fresh",
        "_hidden",
        "_in_frame",
        "_in_tick",
        "_inbox",
        "_keep",
        "_late",
        "_loading",
        "_loop",
        "_max_delta",
        "_max_ticks",
        "_order",
        "_paused",
        "_placed",
        "_plain_steps",
        "_rate",
        "_regressed",
        "_run_tick",
        "_sim_origin",
        "_speed",
        "_speed_denominator",
        "_speeds",
        "_stats",
        "_stats_from",
        "_stopped",
        "_thrown",
        "_tick",
        "_tick_length",
        "_tick_verbs",
        "_timed",
        "_verbs",
        "_wake",
    )

    def __init__(
        self,
        step: Callable[[Step], object] | None,
        rate: Rate = _SIXTY,
        *,
        tick_length: SupportsIndex | None = None,
        budget: StepBudget | SupportsIndex = 5,
        max_ticks: SupportsIndex | None = None,
        max_delta: SupportsIndex | None = LONGEST_FRAME,
        speeds: Iterable[Exact] = (1,),
        rates: Iterable[Rate] = (),
        remainder: Literal["keep", "forget"] = "keep",
    ) -> None:
        if step is not None and not callable(step):
            raise TypeError(
                f"step must be a function of one Step, or None, not {type(step).__name__} "
                f"{shown(step)}; to run a world, use Session(World)"
            )
        if remainder not in ("keep", "forget"):
            raise ValueError(
                f"remainder must be 'keep' or 'forget', not {shown(remainder)}; 'keep' loses no "
                "time over a pause"
            )
        table = _table(rates)
        self._run_tick = step
        self._rate = _checked_rate(rate)
        self._speeds = _speed_table(speeds)
        self._denominator = lcm(*(each.denominator for each in (self._rate, *table)))
        self._speed_denominator = lcm(*(speed.denominator for speed in self._speeds))
        if self._unit > U64_MAX:
            raise ValueError(
                f"rates and speeds have the common denominator {self._unit // _SECOND}, and a tick "
                f"counted in it does not fit 64 bits; use fewer or simpler fractions"
            )
        self._tick_length = (
            None
            if tick_length is None
            else positive(tick_length, "tick_length", "simulated nanoseconds", _LENGTH_FIX)
        )
        self._budget = budget_steps(budget)
        self._max_ticks = (
            U32_MAX
            if max_ticks is None
            else positive(max_ticks, "max_ticks", "ticks a frame", "None is no limit", high=U32_MAX)
        )
        self._max_delta = U64_MAX if max_delta is None else nanos(max_delta, "max_delta")
        self._keep = remainder == "keep"
        self._speed = Fraction(1) if Fraction(1) in self._speeds else self._speeds[0]
        for each in (self._rate, *table):
            for speed in self._speeds:
                self._scale(each, speed)
        self._wake: Callable[[], object] | None = None  # a host that may be asleep sets it
        # The simulated time at which a tick starts, and that tick: moved by set_rate.
        self._sim_origin = (0, Fraction(0))
        self._plain_steps = tick_length is None  # the steps of a plan have the right times
        self._paused = self._hidden = self._loading = False
        self._fault: Fault | None = None
        self._stopped = False
        # Untimed verbs called between frames apply at once; the others wait here.
        self._verbs: list[_Verb] = []
        self._tick_verbs: list[tuple[str, Any]] = []
        self._inbox: deque[tuple[int, Callable[[], object]]] = deque()  # from any thread
        self._timed: list[Timed] = []
        self._placed: list[tuple[int, Timed]] = []
        self._order = 0
        self._in_frame = self._in_tick = self._changed = self._ending = self._regressed = False
        self._busy = True  # the next frame is not a common one
        self._baseline = False  # the next frame counts no time
        self._fresh = True  # no tick has run since the start, or since time was forgotten
        # (time of the last frame, wall time, clamped, excluded): one object, replaced as a whole,
        # so that an interrupt between two instructions leaves sums that agree.
        self._account: _Account = (None, 0, 0, 0)
        self._account_next: _Account = self._account
        self._abandoned = self._late = 0
        self._thrown: BaseException | None = None
        self._tick = 0
        self._stats = FrameStats()
        self._stats_from = 0  # the tick at which they begin
        self._loop = FrameLoop(self._rate, 1)
        self._apply_scale()

    # Frames and ticks.

    def frame(self, now: Timestamp, /) -> FrameReport:
        """Run one frame: count the time since the last one and run the ticks that fall due.

        ``now`` is wall time in nanoseconds, ``0 .. 2**64 - 1``, read once per frame. The first
        frame sets the origin and runs no tick.

        An exception of a tick makes the game faulted and is raised. Raises TypeError and
        OverflowError for a bad time, and RuntimeError within a frame; the game is then unchanged.
        """
        if type(now) is not int or not 0 <= now <= U64_MAX:
            now = Timestamp(timestamp(now))
        last, wall, clamped, excluded = self._account
        if self._busy or self._inbox or not 0 <= now - last <= self._max_delta:  # type: ignore[operator]
            return self._long_frame(now)
        # The common frame: time runs, all of it counts, and nothing is timed. An interrupt (Ctrl-C)
        # that ends it leaves _busy set, and the next frame settles what was left open.
        self._busy = True
        self._account_next = account = (now, wall + now - last, clamped, excluded)  # type: ignore[operator]
        plan = self._loop.begin_frame(now)
        self._account = account
        planned = plan.step_count
        if planned:
            first, abandoned = self._tick, self._abandoned
            try:
                self._in_frame = True
                self._run(plan, planned)
                report = None
                if self._changed:
                    dropped = 0
                    if self._settle(plan, planned, self._tick - first, last):  # type: ignore[arg-type]
                        dropped = plan.dropped
                    before = (last, wall, clamped, excluded)
                    report = self._advance(now, before, first, abandoned, dropped)
                self._in_frame = False
            except BaseException:  # not "finally": an interrupt in it would leave the flag set
                self._in_frame = False
                raise
            if report is not None:
                return report
        self._stats.absorb(plan)
        self._busy = False
        return _report(
            FrameReport,
            (
                plan,
                planned,
                0,
                now - last,  # type: ignore[operator]
                _NOTHING,
                _NOTHING,
                False,
                SHOW_CURRENT if self._fresh else plan.alpha(),
                True,
                self._tick,
                "playing",
            ),
        )

    def begin_frame(self, now: Timestamp, /) -> FramePlan:
        """Plan one frame of a game without a step function: the caller runs the ticks.

        Run every tick of the plan; the game has counted them. Raises TypeError for a game that has
        a step function or a world, which `frame` runs.

        >>> game = GameLoop(None, rate=Rate(1), tick_length=60 * 10**9, speeds=(0, 1, 5, 20))
        >>> _ = game.begin_frame(0)
        >>> game.set_speed(20)
        >>> [step.tick for step in game.steps(game.begin_frame(100_000_000))]
        [0, 1]
        """
        if self._run_tick is not None:
            raise TypeError("begin_frame is for a game without a step function; call frame(now)")
        return self.frame(now).plan

    def steps(self, plan: FramePlan, /) -> Iterator[Step]:
        """The steps of a plan, with the game's own tick length and simulated time.

        ``plan.steps()`` gives the same where the tick length is 1 / rate and the rate never
        changed.
        """
        if self._plain_steps:
            return iter(plan.steps())
        return map(self._step_at, range(plan.first_tick, plan.first_tick + plan.step_count))

    def run_ticks(self, n: SupportsIndex = 1, /) -> FrameReport:
        """Run ``n`` ticks at once, without time passing: a single step in a pause, or a head start.

        The remainder stays. Raises GameStateError while faulted or loading, RuntimeError within a
        frame, TypeError for a game without a step function, and what a tick raises.
        """
        number = count(n, "n", high=U32_MAX)
        if self._in_frame:
            raise self._not_now("run_ticks")
        if self._run_tick is None:
            raise TypeError("run_ticks needs a step function; GameLoop(step) has one")
        if self._fault is not None or self._loading:
            raise GameStateError(
                f"run_ticks needs a game that can run, and this one is {self.state}; "
                + ("start a new world first" if self._fault else "finish loading first")
            )
        self._reconcile()
        self._busy = True  # the next frame settles what an interrupt leaves open here
        first, abandoned = self._tick, self._abandoned
        try:
            self._in_frame = True
            self._ending = False
            self._run_singly(first + number)
            left = number - (self._tick - first)
            if left:
                self._abandoned += left
            self._in_frame = False
        except BaseException:
            self._in_frame = False
            raise
        finally:
            if self._loop.tick > self._tick:  # the tick that raised; it is counted above
                self._loop._take_back(self._loop.tick - self._tick)
        if self._stopped and not self._keep:
            self._fresh = True  # the tick that was stepped to is shown exactly
        return self._reported(self._account, first, abandoned, 0, regressed=False)

    def _run_singly(self, end: int) -> None:
        """The loop of `run_ticks`: within its try, CPython 3.14 would leave the jump back out of
        what the try covers, and Ctrl-C can come there."""
        while self._tick < end and not self._ending and self._fault is None:
            plan = FramePlan(self._tick, 1, 0, self._loop.remainder, self._rate)
            self._loop._skip_ticks(1)
            self._run(plan, 1)
            if self._changed:
                self._changed = False
                self._apply_tick_verbs()

    def _long_frame(self, now: int) -> FrameReport:
        if self._in_frame:
            raise self._not_now("frame")
        self._reconcile()
        try:
            self._in_frame = True
            self._regressed = self._ending = False
            if self._inbox:
                self._read_inbox()
            report = self._advance(now, self._account, self._tick, self._abandoned, 0)
            self._in_frame = False
        except BaseException:
            self._in_frame = False
            raise
        return report

    def _advance(
        self,
        now: int,
        before: _Account,
        first: int,
        abandoned: int,
        dropped: int,
    ) -> FrameReport:
        """Go on to ``now`` from the time reached, piece by piece: a timed verb cuts a frame."""
        while True:
            last = self._account[0]
            verb = self._verbs[0] if self._verbs and self._verbs[0].at <= now else None
            to = now if verb is None or last is None else max(verb.at, last)
            if last is None:
                while self._verbs and self._verbs[0].at <= now:
                    self._apply(*self._verbs.pop(0)[2:], exact=True)
                self._loop.resync(Timestamp(now))
                self._account = self._account_next = (now, 0, 0, 0)
                self._pass(now)
                break
            reached, more = self._piece(to, now, verb, before, first)
            dropped += more
            if not reached:
                continue  # a verb was called within a tick; the time reached is that tick's
            if verb is None:
                break
            self._verbs.pop(0)
            self._apply(verb.name, verb.argument, exact=True)
        self._baseline = False
        report = self._reported(before, first, abandoned, dropped, regressed=self._regressed)
        self._busy = self._stopped or bool(self._verbs or self._timed) or self._run_tick is None
        return report

    def _piece(
        self,
        to: int,
        now: int,
        verb: _Verb | None,
        before: _Account,
        first: int,
    ) -> tuple[bool, int]:
        """One piece of a frame, up to ``to``: whether that was reached, and ticks dropped."""
        last, wall, clamped, excluded = self._account
        assert last is not None
        if to <= last:
            self._regressed = self._regressed or to < last
            self._pass(to)
            return self._move(to, 0, 0, 0)
        span = to - last
        if self._stopped or self._baseline or (verb is not None and verb.name == "exclude"):
            self._pass(to)
            return self._move(to, span, 0, span)
        accepted = wall - clamped - excluded - (before[1] - before[2] - before[3])
        over = now - last - (self._max_delta - accepted)
        if over > 0:  # the beginning of what is too long does not count
            cut = min(over, span)
            self._move(last + cut, cut, cut, 0)
            if cut == span:
                return True, 0
            last, wall, clamped, excluded = self._account
            assert last is not None
        self._place(to, last)
        self._account_next = (to, wall + to - last, clamped, excluded)
        plan = self._loop.begin_frame(Timestamp(to))
        self._account = self._account_next
        allowed = min(plan.step_count, max(self._budget_now - (self._tick - first), 0))
        if self._ending:
            self._abandoned += plan.step_count + plan.dropped
            self._loop._take_back(plan.step_count)
            return True, 0
        if allowed < plan.step_count:
            self._loop._take_back(plan.step_count - allowed)
        started = self._tick
        if self._run_tick is None:
            self._tick += allowed
            self._fresh = self._fresh and not allowed
        elif allowed:
            self._run(plan, allowed)
        if self._changed and not self._settle(plan, allowed, self._tick - started, last):
            return False, 0
        for _, event in self._placed:
            event.apply()
        self._placed = []
        return True, plan.step_count + plan.dropped - allowed

    def _move(self, to: int, wall: int, clamped: int, excluded: int) -> tuple[bool, int]:
        """Move the time reached without running ticks."""
        _, *sums = self._account
        self._account_next = (to, sums[0] + wall, sums[1] + clamped, sums[2] + excluded)
        self._loop.resync(Timestamp(to))
        self._account = self._account_next
        return True, 0

    def _run(self, plan: FramePlan, allowed: int) -> None:
        """Run ticks of a plan until one faults, or a verb is called in one."""
        run_tick = self._run_tick
        assert run_tick is not None
        self._in_tick = True
        started = self._tick
        try:
            for step in plan.steps() if self._plain_steps else self.steps(plan):
                if self._placed:
                    self._give(self._tick - started)
                run_tick(step)
                if self._changed:
                    if self._fault is None:
                        self._tick += 1
                    return
                self._tick += 1
                allowed -= 1
                if not allowed:
                    return
        except BaseException as error:
            self._fail(Fault(self._tick, "", error))
            self._thrown = error
        finally:
            self._in_tick = False
            if self._tick != started and self._fault is None:
                self._fresh = False

    def _settle(self, plan: FramePlan, allowed: int, ran: int, last: int) -> bool:
        """After a tick that faulted, ended the frame or called verbs. False where the frame must go
        on from the moment that tick was due."""
        self._changed = False
        if self._fault is not None or self._ending:
            self._abandoned += allowed - ran
            if self._loop.tick != self._tick:  # unless the fault has made the loop anew
                self._loop._take_back(self._loop.tick - self._tick)
            self._apply_tick_verbs()
            return True
        # A verb: the loop goes back to the first nanosecond at which the tick was due.
        to = self._account[0]
        assert to is not None
        scale, unit, _, _, bank, *_ = self._loop._state()
        owed = bank + (plan.step_count + plan.dropped - ran) * unit
        due = max(to - owed // scale, last)
        self._replace_loop(due, owed - (to - due) * scale)
        self._account_next = (due, self._account[1] - (to - due), *self._account[2:])
        self._account = self._account_next
        for _, event in self._placed:
            insort(self._timed, event)
        self._placed = []
        self._apply_tick_verbs()
        return False

    def _reported(
        self,
        before: _Account,
        first: int,
        abandoned: int,
        dropped: int,
        *,
        regressed: bool,
    ) -> FrameReport:
        """The report of what happened since ``before``, and its plan counted in the stats."""
        _, wall, clamped, excluded = self._account
        ran = self._tick - first
        plan = FramePlan(first, ran, dropped, self._loop.remainder, self._rate)
        self._stats.absorb(plan)
        if self._thrown is not None:
            error, self._thrown = self._thrown, None
            raise error
        passed = (wall - before[1], clamped - before[2], excluded - before[3])
        return FrameReport(
            plan,
            ran,
            self._abandoned - abandoned,
            Nanos(passed[0] - passed[1] - passed[2]),
            Nanos(passed[1]),
            Nanos(passed[2]),
            regressed,
            SHOW_CURRENT if self._fresh else plan.alpha(),
            self._fault is None,
            self._tick,
            self.state,
        )

    def _reconcile(self) -> None:
        """Settle what an interrupt between two instructions left open."""
        if self._account is not self._account_next:
            if self._loop.last == self._account_next[0]:
                self._account = self._account_next
            else:
                self._account_next = self._account
        planned = self._loop.tick - self._tick
        if planned > 0:
            self._abandoned += planned
            self._loop._take_back(planned)
        elif planned < 0:
            self._loop._skip_ticks(-planned)
        uncounted = self._tick - self._stats_from - self._stats.ticks
        if uncounted > 0:
            first = self._tick - uncounted
            plan = FramePlan(first, uncounted, 0, self._loop.remainder, self._rate)
            self._stats.absorb(plan)

    # Timed input and messages.

    def _later(self, at: SupportsIndex, apply: Callable[[], object]) -> None:
        """Queue what happens at a given wall time. May be called from any thread."""
        self._inbox.append((timestamp(at, "at"), apply))

    def _read_inbox(self) -> None:
        last = self._account[0]
        while self._inbox:
            at, apply = self._inbox.popleft()
            self._late += last is not None and at <= last
            self._order += 1
            insort(self._timed, Timed(at, self._order, apply))

    def _pass(self, to: int) -> None:
        """Time passed in which no tick could run: what was timed happens now."""
        while self._timed and self._timed[0].at <= to:
            self._timed.pop(0).apply()

    def _place(self, to: int, last: int) -> None:
        """Find the tick that each timed event of this piece belongs to: the first one due at its
        time or later, counted from the first tick of the piece."""
        timed = self._timed
        if timed and timed[0].at <= to:
            scale, unit, _, _, bank, *_ = self._loop._state()
            while timed and timed[0].at <= to:
                event = timed.pop(0)
                index = (bank + (event.at - last - 1) * scale) // unit
                self._placed.append((index, event))

    def _give(self, index: int) -> None:
        """Let the timed events of this tick and of earlier ones happen."""
        while self._placed and self._placed[0][0] <= index:
            self._placed.pop(0)[1].apply()

    # Pause, speed and the other verbs.

    def pause(self, at: SupportsIndex | None = None) -> None:
        """Stop time until `resume`. Pausing a paused game does nothing.

        Without ``at``, the time from the last frame to the next one is excluded too.
        """
        self._do("pause", None, at)

    def resume(self, at: SupportsIndex | None = None) -> None:
        """Let time run again, at the speed chosen before. Does nothing unless paused.

        Under ``remainder="keep"`` time counts from the last frame that ran while paused; under
        ``"forget"`` from the next frame.
        """
        self._do("resume", None, at)

    def toggle_pause(self, at: SupportsIndex | None = None) -> None:
        """Resume a paused game, and pause any other."""
        self._do("toggle_pause", None, at)

    def hide(self, at: SupportsIndex | None = None) -> None:
        """The window is minimised or covered: time is excluded until `show`, paused or not."""
        self._do("hide", None, at)

    def show(self, at: SupportsIndex | None = None) -> None:
        """The window is visible again. A paused game stays paused."""
        self._do("show", None, at)

    def exclude(self, at: SupportsIndex | None = None) -> None:
        """Leave out the time until the next frame, or until ``at``: after a dialog or a load."""
        self._do("exclude", None, at)

    def start_loading(self, at: SupportsIndex | None = None) -> None:
        """Stop time while the next world is built; the old one can still be drawn."""
        self._do("start_loading", None, at)

    def finish_loading(self, at: SupportsIndex | None = None) -> None:
        """Let time run again after `start_loading`, from the next frame on."""
        self._do("finish_loading", None, at)

    def set_speed(self, speed: Exact, at: SupportsIndex | None = None) -> None:
        """Choose a speed of ``speeds``, and resume a paused game. A speed of 0 is `pause`.

        >>> game = GameLoop(None, speeds=(1, 5, 20))
        >>> game.set_speed(5); game.set_speed(0)
        >>> game.speed, game.effective_speed, game.paused
        (5, 0, True)
        >>> game.set_speed(20); game.effective_speed
        20

        Raises ValueError for a speed that is not in the table, TypeError for a float.
        """
        chosen = exact(speed, "speed", _SPEED_FIX)
        if not chosen:
            self._do("pause", None, at)
            return
        if chosen not in self._speeds:
            raise ValueError(
                f"speed must be 0 or one of {', '.join(map(str, self._speeds))}, not {chosen}; "
                "name it in speeds="
            )
        self._do("set_speed", chosen, at)

    def set_rate(self, rate: Rate, at: SupportsIndex | None = None) -> None:
        """Change the ticks per second. The fraction of a tick that has passed stays.

        Raises ValueError for a rate whose denominator was not announced in ``rates=``, and
        TypeError for anything but a Rate.
        """
        _checked_rate(rate)
        if self._denominator % rate.denominator:
            raise ValueError(
                f"rate {rate!r} has a denominator that does not divide {self._denominator}, which "
                f"this game counts in; name it at the start, with rates=({rate!r},)"
            )
        for speed in self._speeds:
            self._scale(rate, speed)
        self._do("set_rate", rate, at)

    def end_frame(self) -> None:
        """Within a tick: run no further tick of this frame. They are reported as abandoned.

        Outside a tick it does nothing.
        """
        if self._in_tick:
            self._ending = self._changed = True

    def _do(self, name: str, argument: Any, at: SupportsIndex | None) -> None:
        if at is not None:
            self._order += 1
            insort(self._verbs, _Verb(timestamp(at, "at"), self._order, name, argument))
            self._busy = True
            self._changed = self._changed or self._in_tick
        elif self._in_tick:
            self._tick_verbs.append((name, argument))
            self._changed = True
        else:
            if not self._in_frame:
                self._reconcile()
            self._apply(name, argument, exact=False)
        if self._wake is not None and name in _WAKING:
            self._wake()

    def _apply_tick_verbs(self) -> None:
        verbs, self._tick_verbs = self._tick_verbs, []
        for name, argument in verbs:
            self._apply(name, argument, exact=True)

    def _apply(self, name: str, argument: Any, *, exact: bool) -> None:
        """Carry out a verb, at exactly the time reached, or from the next frame on."""
        self._busy = True  # the next frame looks at everything
        if name == "toggle_pause":
            name = "resume" if self._paused else "pause"
        if name in _FLAGS:
            flag, value = _FLAGS[name]
            if getattr(self, flag) == value:
                return
            setattr(self, flag, value)
            self._stop_or_go(baseline=not exact and (name != "resume" or not self._keep))
        elif name == "set_speed":
            self._speed = argument
            self._apply_scale()
            self._apply("resume", None, exact=exact)
        elif name == "set_rate":
            self._sim_origin = (self._tick, self._sim_time(self._tick))
            self._plain_steps = False
            self._rate = argument
            self._apply_scale()
            self._rate_changed()
        elif not exact:
            self._baseline = True

    def _stop_or_go(self, *, baseline: bool) -> None:
        """One of the reasons to stop has begun or ended."""
        self._baseline = self._baseline or baseline
        stopped = self._paused or self._hidden or self._loading or self._fault is not None
        if not self._keep:
            self._replace_loop(self._loop.last, 0)
            self._fresh = True
        if stopped != self._stopped:
            self._stopped = stopped
            if stopped:
                self._time_stops()
            else:
                self._time_runs()

    def _fail(self, fault: Fault) -> None:
        self._fault = fault
        self._changed = self._busy = True
        self._fresh = True
        self._stop_or_go(baseline=False)

    def _time_stops(self) -> None:
        """For a session: what is held no longer counts."""

    def _time_runs(self) -> None:
        """For a session: input counts again."""

    def _rate_changed(self) -> None:
        """For a session: a recording has to know."""

    # Rates, speeds and the accumulator.

    @property
    def _unit(self) -> int:
        return _SECOND * self._denominator * self._speed_denominator

    @property
    def _budget_now(self) -> int:
        speed = self._speed
        scaled = -(-self._budget * speed.numerator // speed.denominator)
        return min(scaled, self._max_ticks, U32_MAX)

    def _scale(self, rate: Rate, speed: Fraction) -> int:
        """What one nanosecond adds to the accumulator."""
        scale = int(
            rate.numerator
            * (self._denominator // rate.denominator)
            * speed
            * self._speed_denominator
        )
        if scale > U64_MAX:
            raise ValueError(
                f"{rate!r} at speed {speed} adds {scale} to the accumulator per nanosecond, above "
                "2**64 - 1; use a lower rate or simpler fractions"
            )
        return scale

    def _apply_scale(self) -> None:
        self._loop._set_scale(
            self._scale(self._rate, self._speed), self._unit, self._budget_now, self._rate
        )

    def _replace_loop(self, last: int | None, bank: int) -> None:
        scale, unit, budget, _, _, _, *rest = self._loop._state()
        self._loop = FrameLoop._from_state(
            scale, unit, budget, last, min(bank, unit - 1), self._tick, *rest
        )

    def _length(self) -> Fraction:
        if self._tick_length is not None:
            return Fraction(self._tick_length)
        return Fraction(_SECOND * self._rate.denominator, self._rate.numerator)

    def _sim_time(self, tick: int) -> Fraction:
        """The simulated time at which a tick starts."""
        from_tick, at = self._sim_origin
        return at + (tick - from_tick) * self._length()

    def _step_at(self, tick: int) -> Step:
        start = self._sim_time(tick).__floor__()
        end = self._sim_time(tick + 1).__floor__()
        return Step(tick, Nanos(min(end - start, U64_MAX)), Nanos(min(start, U64_MAX)))

    # What there is to read.

    @property
    def tick(self) -> int:
        """How many ticks have run: the number of the next one, or of the one that runs now."""
        return self._tick

    @property
    def rate(self) -> Rate:
        """Ticks per second of wall time at speed 1."""
        return self._rate

    @property
    def tick_length(self) -> Nanos:
        """The length of a tick in simulated nanoseconds, rounded down."""
        return Nanos(self._length().__floor__())

    @property
    def speed(self) -> int | Fraction:
        """The speed chosen, also while time is stopped. Never 0."""
        return int_if_whole(self._speed)

    @property
    def speeds(self) -> tuple[int | Fraction, ...]:
        """The speeds there are, without 0."""
        return tuple(map(int_if_whole, self._speeds))

    @property
    def effective_speed(self) -> int | Fraction:
        """The speed at which time runs now: 0 while it is stopped."""
        return 0 if self._stopped else self.speed

    @property
    def state(self) -> State:
        """The first that holds of faulted, loading, hidden, paused; else playing."""
        if not self._stopped:
            return "playing"
        if self._fault is not None:
            return "faulted"
        return "loading" if self._loading else "hidden" if self._hidden else "paused"

    @property
    def paused(self) -> bool:
        """Whether the game is paused, hidden or not."""
        return self._paused

    @property
    def hidden(self) -> bool:
        """Whether the game is hidden, paused or not."""
        return self._hidden

    @property
    def loading(self) -> bool:
        """Whether the next world is being built."""
        return self._loading

    @property
    def fault(self) -> Fault | None:
        """The exception that stopped the game, or None."""
        return self._fault

    @property
    def budget(self) -> int:
        """The most ticks a frame may run at the current speed."""
        return self._budget_now

    @property
    def max_delta(self) -> Nanos | None:
        """The most time one frame may count, in nanoseconds; None for no limit."""
        return None if self._max_delta == U64_MAX else Nanos(self._max_delta)

    @property
    def remainder(self) -> int:
        """Time that is not yet a tick, in units of the rate."""
        return self._loop.remainder

    @property
    def last(self) -> Timestamp | None:
        """The time of the last frame, or None before the first."""
        return self._loop.last

    @property
    def next_due(self) -> Timestamp | None:
        """The first nanosecond of wall time at which a tick is due; None while time is stopped.

        Before the first frame, and where the next frame counts no time, it is the time of the last
        frame (or 0): run a frame now.
        """
        if self._stopped:
            return None
        last = self._loop.last
        if last is None or self._baseline:
            return Timestamp(last or 0)
        scale, unit, _, _, bank, *_ = self._loop._state()
        return Timestamp(min(last - (bank - unit) // scale, U64_MAX))

    @property
    def sim_time(self) -> Nanos:
        """Simulated time at the start of the next tick, in nanoseconds."""
        return Nanos(min(self._sim_time(self._tick).__floor__(), U64_MAX))

    @property
    def presentation_time(self) -> Nanos:
        """Simulated time and the remainder, for drawing what moves between ticks; rounded down."""
        _, unit, _, _, bank, *_ = self._loop._state()
        exactly = self._sim_time(self._tick) + self._length() * Fraction(bank, unit)
        return Nanos(min(exactly.__floor__(), U64_MAX))

    @property
    def wall(self) -> Nanos:
        """Wall time since the first frame: ``accepted + clamped + excluded``."""
        return Nanos(self._account[1])

    @property
    def accepted(self) -> Nanos:
        """Wall time that counted, in total."""
        _, wall, clamped, excluded = self._account
        return Nanos(wall - clamped - excluded)

    @property
    def clamped(self) -> Nanos:
        """Wall time beyond ``max_delta`` of a frame, in total."""
        return Nanos(self._account[2])

    @property
    def excluded(self) -> Nanos:
        """Wall time while paused, hidden, faulted or loading, in total."""
        return Nanos(self._account[3])

    @property
    def late(self) -> int:
        """Timed input and messages whose time was over when they came, in total."""
        return self._late

    @property
    def abandoned(self) -> int:
        """Ticks that a fault or ``end_frame`` stopped, in total."""
        return self._abandoned

    @property
    def stats(self) -> FrameStats:
        """Frames, ticks that ran, dropped ticks and the digest of the schedule. Live, no copy."""
        return self._stats

    # Saving and loading.

    def state_dict(self) -> dict[str, Any]:
        """What a saved game needs of the loop: integers, strings and lists, ready for JSON.

        >>> game = GameLoop(lambda step: None)
        >>> for now in (0, 100_000_000):
        ...     _ = game.frame(now)
        >>> saved = game.state_dict()
        >>> again = GameLoop(lambda step: None)
        >>> again.restore(saved)
        >>> again.tick, again.remainder == game.remainder
        (5, True)
        """
        if self._in_frame:
            raise self._not_now("state_dict")
        self._reconcile()
        _, unit, _, _, bank, *_ = self._loop._state()
        from_tick, at = self._sim_origin
        rest = Fraction(bank, unit)
        return {
            "tick": self._tick,
            "rate": [self._rate.numerator, self._rate.denominator],
            "speed": [self._speed.numerator, self._speed.denominator],
            "remainder": [rest.numerator, rest.denominator],
            "sim_origin": [from_tick, at.numerator, at.denominator],
            "paused": self._paused,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state: the next frame sets the origin of time. A fault is over.

        Raises ValueError for what `state_dict` did not make, or for a game with other speeds or
        rates; the game is then unchanged.
        """
        if self._in_frame:
            raise self._not_now("restore")
        tick, rate, speed, rest, origin, paused = _checked_state(state)
        if speed not in self._speeds or self._denominator % rate.denominator:
            raise ValueError(
                f"the saved game ran at {rate!r} and speed {speed}, which this one does not have; "
                "name them in rates= and speeds="
            )
        bank = rest * self._unit
        if bank.denominator != 1:
            raise ValueError(
                f"the saved remainder {rest} does not fit this game's rates and speeds; make it "
                "with the same ones"
            )
        self._reconcile()
        self._rate, self._speed, self._sim_origin = rate, speed, origin
        self._plain_steps = self._tick_length is None and origin[0] == 0
        self._loop = FrameLoop(self._rate, 1)
        self._apply_scale()
        self._tick = tick
        self._replace_loop(self._account[0], bank.numerator)
        self._stats, self._stats_from = FrameStats(), tick
        self._begin_again(paused)

    def _begin_again(self, paused: bool) -> None:
        """After a saved game or a new world: no fault, no verb pending, the current state shown."""
        self._busy = True
        self._fault = None
        self._loading = False
        self._paused = paused
        self._verbs.clear()
        self._timed.clear()
        self._inbox.clear()
        self._stop_or_go(baseline=True)
        self._fresh = True

    def _not_now(self, what: str) -> RuntimeError:
        where = f"tick {self._tick}" if self._in_tick else "a frame"
        return RuntimeError(f"{what} was called within {where}; call it between frames")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.state} at tick {self._tick}>"


class Timed(NamedTuple):
    """Something that happens to the game at a given wall time: input, or a message."""

    at: int
    order: int
    apply: Callable[[], object]


# Half the time of the constructor of a named tuple.
_report: Callable[[type[FrameReport], tuple[Any, ...]], FrameReport] = tuple.__new__
_WAKING = frozenset({"resume", "toggle_pause", "show", "set_speed", "finish_loading"})
# Verbs that begin or end one of the reasons for which time is stopped.
_FLAGS = {
    "pause": ("_paused", True),
    "resume": ("_paused", False),
    "hide": ("_hidden", True),
    "show": ("_hidden", False),
    "start_loading": ("_loading", True),
    "finish_loading": ("_loading", False),
}


def _checked_rate(rate: object) -> Rate:
    if type(rate) is not Rate:
        raise TypeError(
            f"rate must be a Rate, not {type(rate).__name__} {shown(rate)}; {_RATE_FIX}"
        )
    return rate


def _table(rates: Iterable[Rate]) -> tuple[Rate, ...]:
    if isinstance(rates, Rate) or not hasattr(rates, "__iter__"):
        raise TypeError(f"rates must be a table of rates, not {shown(rates)}; (Rate(30),) is one")
    return tuple(map(_checked_rate, rates))


def _speed_table(speeds: Iterable[Exact]) -> tuple[Fraction, ...]:
    if isinstance(speeds, str) or not hasattr(speeds, "__iter__"):
        raise TypeError(
            f"speeds must be a table of speeds, not {type(speeds).__name__} {shown(speeds)}; "
            "(0, 1, 5, 20) is one"
        )
    table = tuple(exact(speed, "speeds", _SPEED_FIX) for speed in speeds)
    if not any(table):
        raise ValueError("speeds must hold one above 0; (0, 1, 5, 20) is a table")
    return tuple(speed for speed in dict.fromkeys(table) if speed)  # 0 is a pause


def _checked_state(
    state: Mapping[str, Any],
) -> tuple[int, Rate, Fraction, Fraction, tuple[int, Fraction], bool]:
    """The parts of a saved state. Raises ValueError for anything else."""
    try:
        tick, paused = state["tick"], state["paused"]
        pairs = [state["rate"], state["speed"], state["remainder"]]
        rate, speed, rest = (Fraction(*map(_whole, pair)) for pair in pairs)
        from_tick, top, bottom = map(_whole, state["sim_origin"])
        origin = (from_tick, Fraction(top, bottom))
        if type(paused) is not bool or not 0 <= _whole(tick) <= U64_MAX or not 0 <= rest < 1:
            raise ValueError("a number is out of range")
        if not 0 <= from_tick <= tick or origin[1] < 0:
            raise ValueError("the origin of simulated time is out of range")
        return tick, Rate(rate.numerator, rate.denominator), speed, rest, origin, paused
    except (KeyError, TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(
            f"this is not a saved game: {type(error).__name__} {error}; pass what state_dict() "
            f"returned, not {shown(state)}"
        ) from None


def _whole(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{shown(value)} is not a whole number")
    return value
