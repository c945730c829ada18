"""``fixedstep demo``: a small world in real time, stalled on purpose, to see the schedule work.

The documented frame body on the machine's own clock: a ball in a box, all integers, stepped by the
plan and nothing else. Two runs have different timestamps and so different schedules; but worlds
that ran the same number of steps of the same length have the same digest, on any machine.

Frames are paced at 60 a second whatever ``--hz`` is: frames belong to the screen, steps to the
simulation, and keeping the two apart is what the library is for. It is a demonstration and no game
loop: nothing is drawn but a line a second. ``--window`` opens a ball in a window, which is in
ball.py.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import FrameTiming
from ..time import Nanos, StepBudget, Timestamp, Timestep, saturating_add, saturating_since
from . import headless

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from .. import FrameLoop, FramePlan, FrameStats, StateHash, Step
    from ..records.trace import TraceWriter

_SECOND = 10**9
_MILLISECOND = 10**6
_FRAMES_PER_SECOND = 60
_LONGEST_SECONDS = 10**9
_SECONDS, _STALL_MS = 3, 200
_HZ, _WINDOW_HZ = 60, 20
_WINDOW_STALL_MS = 600  # at 20 ticks a second 12 are due, and the budget is 5
_TOOLKITS = ("pygame", "pyglet", "arcade")

_METRE = 10**9
_BOX = 10 * _METRE
_GRAVITY = 9_810_000_000


class World(NamedTuple):
    """A ball in a box ten metres wide: nanometres, and nanometres a second.

    A step makes a new world instead of changing this one, so a run that is interrupted in the
    middle of a frame still has a world of a whole number of steps.

    >>> from fixedstep import Step
    >>> World().step(Step(tick=0, dt=10**7, sim_time=0))
    World(ticks=1, x=1030000000, y=1999019000, vx=3000000000, vy=-98100000)
    """

    ticks: int = 0
    x: int = 1_000_000_000
    y: int = 2_000_000_000
    vx: int = 3_000_000_000
    vy: int = 0

    def step(self, step: Step) -> World:
        """The world one step later."""
        vx, vy = self.vx, self.vy - _GRAVITY * step.dt // _SECOND
        x, y = self.x + vx * step.dt // _SECOND, self.y + vy * step.dt // _SECOND
        if not 0 <= x <= _BOX:
            x, vx = (-x if x < 0 else 2 * _BOX - x), -vx
        if y < 0:  # a bounce takes a sixteenth of the speed, and a ball at rest is kicked
            y, vy = 0, max(-vy * 15 // 16, _METRE)
        return World(self.ticks + 1, x, y, vx, vy)

    def digest(self, empty: StateHash) -> int:
        """The fingerprint of the world, absorbed into an empty hash in the order written here."""
        state = empty.absorb_u64(self.ticks).absorb_i64(self.x).absorb_i64(self.y)
        return state.absorb_i64(self.vx).absorb_i64(self.vy).finish()


class Interruption:
    """Ctrl-C, but only where it leaves a whole recording behind.

    As a signal handler it raises KeyboardInterrupt at once, except inside ``held()``, where the
    first one waits for the end.
    """

    def __init__(self) -> None:
        self._held = self._requested = False

    def __call__(self, signum: int, frame: object) -> None:
        """Called by the interpreter when the signal came."""
        if self._requested or not self._held:
            raise KeyboardInterrupt
        self._requested = True

    @contextmanager
    def held(self) -> Iterator[None]:
        """What runs in here is not interrupted half-way."""
        self._held, self._requested = True, False
        try:
            yield
        finally:
            self._held = False
        if self._requested:
            self._requested = False
            raise KeyboardInterrupt

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Be the handler of Ctrl-C. Outside the main thread, where none can be set, do nothing."""
        try:
            before = signal.signal(signal.SIGINT, self)
        except ValueError:
            yield
            return
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


class Demo:
    """One run, and what came of it.

    ``core`` is the module whose types plan; ``clock``, ``wait`` and ``say`` are all of the world
    outside that it touches.
    """

    def __init__(
        self,
        hz: int,
        budget: StepBudget,
        *,
        core: Any,
        clock: Callable[[], Timestamp],
        wait: Callable[[Timestamp], object],
        say: Callable[[str], None],
    ) -> None:
        self.timestep: Timestep = Timestep.from_hz(hz)
        self.budget = budget
        self.stats: FrameStats = core.FrameStats()
        self.timing: FrameTiming = FrameTiming()
        self.world: World = World()
        self._drawn_from = self.world
        self.interrupted: bool = False
        self._interruption = Interruption()
        self._core = core
        self._clock = clock
        self._wait = wait
        self._say = say

    def play(self, span: int, stall: int, recording: str | TextIO | None = None) -> None:
        """Run for ``span`` nanoseconds, or until Ctrl-C, with one stall of ``stall`` nanoseconds in
        the middle; write the trace to ``recording``."""
        from ..records.trace import TraceWriter

        held = self._interruption.held
        writer = None
        self._say(" time  frames    ticks  dropped  alpha  ball")
        with self._interruption.installed():
            try:
                # The anchor comes last: what was brought up before must not be banked as frame 0.
                start = self._clock()
                loop = self._core.FrameLoop(self.timestep, self.budget, start)
                with held():
                    if recording is not None:
                        writer = TraceWriter(
                            recording, self.timestep, self.budget, start, overwrite=True
                        )
                self._frames(loop, start, span, stall, writer)
            except KeyboardInterrupt:
                self.interrupted = True
            except BaseException:
                if writer is not None:
                    writer.close()
                raise
            with held():
                if writer is not None:
                    writer.finish(self.stats)

    def _frames(
        self,
        loop: FrameLoop,
        start: Timestamp,
        span: int,
        stall: int,
        writer: TraceWriter | None,
    ) -> None:
        last = start
        line_at, stall_at = _SECOND, span // 2
        while last - start < span:
            self._wait(_next_frame(start, self._clock()))
            with self._interruption.held():
                now = self._clock()
                plan = loop.begin_frame(now)
                self.stats.absorb(plan)
                if writer is not None:
                    writer.frame(now, self.stats.schedule_hash)
            for step in plan.steps():
                self._drawn_from, self.world = self.world, self.world.step(step)
            drawn = now - start >= line_at
            if drawn:
                line_at = (now - start) // _SECOND * _SECOND + _SECOND
                self._draw(now - start, plan)
            self.timing.record(saturating_since(now, last), drawn)
            last = now
            if stall and now - start >= stall_at:
                self._say(f"       a stall on purpose: {stall // _MILLISECOND} ms")
                self._wait(saturating_add(now, Nanos(stall)))
                stall = 0

    def _draw(self, elapsed: int, plan: FramePlan) -> None:
        """One line, with the ball drawn between its last two ticks."""
        alpha, old, new = plan.alpha(), self._drawn_from, self.world
        x, y = ((a + (b - a) * alpha) / _METRE for a, b in ((old.x, new.x), (old.y, new.y)))
        self._say(
            f"{elapsed // _SECOND:3} s  {self.stats.frames:6}  {self.stats.ticks:7}  "
            f"{self.stats.steps_dropped:7}  {alpha:5.3f}  {x:.2f} m across, {y:.2f} m up"
        )


def _next_frame(start: Timestamp, now: Timestamp) -> Timestamp:
    """When the next frame is due. Frames missed by a stall are not made up for."""
    number = (now - start) * _FRAMES_PER_SECOND // _SECOND + 1
    return Timestamp(start - number * -_SECOND // _FRAMES_PER_SECOND)


def _seconds(text: str) -> int:
    """Seconds on the command line as nanoseconds: decimals are taken as they are written."""
    import argparse
    from decimal import Decimal, InvalidOperation

    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 < value <= _LONGEST_SECONDS:
        shown = text if len(text) <= 40 else text[:37] + "..."
        raise argparse.ArgumentTypeError(
            f"seconds must be a number above 0 and up to {_LONGEST_SECONDS}, not {shown!r}"
        )
    return max(int(value * _SECOND), 1)


def _stall(text: str) -> int:
    """Milliseconds on the command line as nanoseconds."""
    import argparse

    from .options import whole

    value = whole(text, "stall-ms", "milliseconds")
    if not 0 <= value <= _LONGEST_SECONDS * 1000:
        raise argparse.ArgumentTypeError(
            f"stall-ms must be 0 (no stall) to {_LONGEST_SECONDS * 1000} milliseconds, not {value}"
        )
    return value * _MILLISECOND


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    from .options import add_schedule

    parser = commands.add_parser(
        "demo",
        allow_abbrev=False,
        help="run a small world in real time, with a stall on purpose",
        description="Steps a world of integers by this machine's clock, with one long stall "
        "half-way to show what a budget refuses.",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        metavar="S",
        help=f"how long to run (default {_SECONDS}, a window until it is closed; decimals are "
        "fine)",
    )
    add_schedule(parser)
    parser.add_argument(
        "--stall-ms",
        type=_stall,
        metavar="MS",
        help=f"length of the stall in milliseconds (default {_STALL_MS}; 0 for none); in a window of "
        f"the one that the key S makes (default {_WINDOW_STALL_MS})",
    )
    parser.add_argument(
        "--window",
        choices=_TOOLKITS,
        help="show a ball in a window instead, with keys for interpolation, pause, single step and "
        f"stall; --hz is {_WINDOW_HZ} there unless given",
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write a trace for `fixedstep verify`; a trace that is there is replaced",
    )
    headless.add(parser)
    # None, to tell what was given from what was not: a window has defaults of its own.
    parser.set_defaults(run=run, hz=None, budget=None)


def _in_window(arguments: argparse.Namespace) -> int:
    """Open the ball in a window; 2 where there is no toolkit or no display, and why."""
    import sys

    from ..host.toolkits import MissingToolkit, NoDisplay
    from ..time import Rate
    from .ball import Ball, open_screen

    if arguments.record is not None:
        arguments.code = 2
        print("fixedstep: --record is for the demo without --window", file=sys.stderr)
        return 2
    stall = arguments.stall_ms
    try:
        ball = Ball(
            open_screen(arguments.window),
            stall=Nanos(_WINDOW_STALL_MS * _MILLISECOND if stall is None else stall),
            limit=arguments.seconds,
            rate=Rate(arguments.hz or _WINDOW_HZ),
            budget=arguments.budget,
        )
        ball.play()
    except (MissingToolkit, NoDisplay) as error:
        arguments.code = 2
        print(f"fixedstep: {error}", file=sys.stderr)
        return 2
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Announce, play, sum up."""
    headless.check(arguments)
    if arguments.headless:
        return headless.run(arguments)
    arguments.budget = arguments.budget or StepBudget.DEFAULT
    if arguments.window is not None:
        return _in_window(arguments)

    import fixedstep

    from .._select import core
    from ..host import monotonic
    from .layout import decimal, digest, milliseconds, pairs, printable, schedule, seconds

    def say(line: str) -> None:
        print(line, flush=True)

    hz, budget = arguments.hz or _HZ, arguments.budget
    span = _SECONDS * _SECOND if arguments.seconds is None else arguments.seconds
    stall = _STALL_MS * _MILLISECOND if arguments.stall_ms is None else arguments.stall_ms
    wait = monotonic.Waiter().wait_until
    demo = Demo(hz, budget, core=core, clock=monotonic.now, wait=wait, say=say)
    chosen = fixedstep.backend()
    say(f"core: {chosen.name} ({chosen.reason})")
    say(
        f"{decimal(span, _SECOND, 1)} s at {_FRAMES_PER_SECOND} frames a second; "
        f"{schedule(demo.timestep, budget)}. Ctrl-C ends it early."
    )
    if hz > _FRAMES_PER_SECOND * budget.steps:
        say(
            f"{_FRAMES_PER_SECOND} frames of at most {budget.steps} steps run at most "
            f"{_FRAMES_PER_SECOND * budget.steps} of the {hz} steps a second; the others are "
            f"dropped. --budget {-(-hz // _FRAMES_PER_SECOND)} would run them all."
        )
    say("")
    demo.play(span, stall, arguments.record)

    stats, timing, step = demo.stats, demo.timing, demo.timestep.nanos
    frame_time = ", ".join(
        f"{name} {decimal(value, _MILLISECOND, 3)} ms"
        for name, value in (
            ("p50", timing.percentile(50)),
            ("p99", timing.percentile(99)),
            ("max", timing.max),
        )
    )
    rows = [
        ("frames", f"{stats.frames}"),
        ("ticks", f"{stats.ticks} ({seconds(stats.ticks * step)} simulated)"),
        ("dropped", f"{stats.steps_dropped} ({milliseconds(stats.steps_dropped * step)} refused)"),
        ("frame time", frame_time),
        ("schedule digest", digest(stats.schedule_hash)),
        (
            "world digest",
            f"{digest(demo.world.digest(fixedstep.StateHash()))} after {demo.world.ticks} steps",
        ),
        ("core", chosen.name),
    ]
    if arguments.record is not None:
        rows.append(("trace", f"{printable(arguments.record)} (fixedstep verify reads it)"))
    print("\nended early by Ctrl-C\n" if demo.interrupted else "")
    print(pairs(rows))
    return 0
