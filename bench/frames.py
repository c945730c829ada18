"""One frame at a time: the library's two cores, code written by hand, and two other libraries.

Each contender is the loop a program would contain, written out: a shared driver that calls a
function a frame would add the same cost to all of them and flatter the slow ones. The cost of the
``for`` over the trace, some 4 ns, is in every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType

from fixedstep import native, reference

from .measure import Absent, Played, Side, clock
from .workload import BUDGET, DIGEST, DROPPED, FRAMES, START, STEP, TICKS, Trace, trace

CORES = {"native": native, "reference": reference}
DT = STEP.nanos / 10**9
LIMIT = BUDGET.steps

Play = Callable[[ModuleType, Trace], Played]


def plan_only(core: ModuleType, trace: Trace) -> Played:
    """begin_frame alone."""
    loop = core.FrameLoop(STEP, BUDGET, START)
    begun = clock()
    for now in trace.nanos:
        plan = loop.begin_frame(now)
    nanos = clock() - begun
    return Played(nanos, (loop.tick, plan.remainder == loop.remainder))


def body(core: ModuleType, trace: Trace) -> Played:
    """The body that the documentation shows."""
    loop, stats = core.FrameLoop(STEP, BUDGET, START), core.FrameStats()
    begun = clock()
    for now in trace.nanos:
        plan = loop.begin_frame(now)
        for step in plan.steps():  # noqa: B007 (read below)
            pass
        alpha = plan.alpha()
        stats.absorb(plan)
    nanos = clock() - begun
    return Played(nanos, (step.tick + 1, stats.steps_dropped, stats.schedule_hash, 0 <= alpha < 1))


def body_of_ticks(core: ModuleType, trace: Trace) -> Played:
    """The same with the numbers of the steps, which is cheaper."""
    loop, stats = core.FrameLoop(STEP, BUDGET, START), core.FrameStats()
    begun = clock()
    for now in trace.nanos:
        plan = loop.begin_frame(now)
        for tick in plan.ticks:  # noqa: B007 (read below)
            pass
        alpha = plan.alpha()
        stats.absorb(plan)
    nanos = clock() - begun
    return Played(nanos, (tick + 1, stats.steps_dropped, stats.schedule_hash, 0 <= alpha < 1))


def body_with_update(core: ModuleType, trace: Trace) -> Played:
    """The documented body with a call of a function for each step, as the other libraries make."""
    loop, stats = core.FrameLoop(STEP, BUDGET, START), core.FrameStats()

    def update(dt: float) -> None:
        pass

    begun = clock()
    for now in trace.nanos:
        plan = loop.begin_frame(now)
        for step in plan.steps():
            update(step.dt)
        alpha = plan.alpha()
        stats.absorb(plan)
    nanos = clock() - begun
    return Played(nanos, (step.tick + 1, stats.steps_dropped, stats.schedule_hash, 0 <= alpha < 1))


def inline_floats(trace: Trace) -> Played:
    """What people write in the loop itself. It counts its steps and has a budget; it reports no
    drops, digests nothing, and trusts the clock never to go back."""
    last, bank, tick = START / 10**9, 0.0, 0
    dt, limit = DT, LIMIT
    begun = clock()
    for now in trace.seconds:
        bank += now - last
        last = now
        steps = 0
        while bank >= dt:
            bank -= dt
            steps += 1
            if steps == limit:
                bank %= dt
                break
        tick += steps
    return Played(clock() - begun, tick)


def inline_floats_body(trace: Trace) -> Played:
    """The same with an alpha: the inline equivalent of the documented body, less the digest."""
    last, bank, tick = START / 10**9, 0.0, 0
    dt, limit = DT, LIMIT
    begun = clock()
    for now in trace.seconds:
        bank += now - last
        last = now
        steps = 0
        while bank >= dt:
            bank -= dt
            tick += 1
            steps += 1
            if steps == limit:
                bank %= dt
                break
        alpha = bank / dt
    return Played(clock() - begun, tick if 0 <= alpha < 1 else -1)


class FloatLoop:
    """What people write as a class."""

    __slots__ = ("bank", "dt", "last", "limit", "tick")

    def __init__(self, dt: float, limit: int, start: float) -> None:
        self.dt, self.limit, self.last = dt, limit, start
        self.bank, self.tick = 0.0, 0

    def advance(self, now: float) -> int:
        """How many steps to run."""
        self.bank += now - self.last
        self.last = now
        steps = 0
        while self.bank >= self.dt:
            self.bank -= self.dt
            steps += 1
            if steps == self.limit:
                self.bank %= self.dt
                break
        self.tick += steps
        return steps

    @property
    def alpha(self) -> float:
        """How far between two steps."""
        return self.bank / self.dt


def class_of_floats(trace: Trace) -> Played:
    """The class, planning alone."""
    loop = FloatLoop(DT, LIMIT, START / 10**9)
    begun = clock()
    for now in trace.seconds:
        loop.advance(now)
    return Played(clock() - begun, loop.tick)


def class_of_floats_body(trace: Trace) -> Played:
    """The class, with a loop over the steps and an alpha."""
    loop = FloatLoop(DT, LIMIT, START / 10**9)
    begun = clock()
    for now in trace.seconds:
        for _ in range(loop.advance(now)):
            pass
        alpha = loop.alpha
    return Played(clock() - begun, loop.tick if 0 <= alpha < 1 else -1)


def gamekit_body(gamekit: ModuleType, trace: Trace) -> Played:
    """gamekit's loop with the same budget; it is given lengths, computed before."""

    def update(dt: float) -> None:
        pass

    loop = gamekit.GameLoop(update, tick_rate=1 / DT, max_steps_per_advance=LIMIT)
    begun = clock()
    for elapsed in trace.elapsed:
        loop.advance(elapsed)
        alpha = loop.alpha
    return Played(clock() - begun, loop.ticks if 0 <= alpha < 1 else -1)


def pyglet_body(pyglet_clock: ModuleType, trace: Trace) -> Played:
    """pyglet's clock with one interval, reading the time from the trace. It calls a function once a
    frame at most, however many steps are due, and has no alpha: it does less."""
    calls = 0

    def update(dt: float) -> None:
        nonlocal calls
        calls += 1

    start = START / 10**9  # read twice before the first frame: by the clock, and to schedule
    ticking = pyglet_clock.Clock(iter([start, start, *trace.seconds]).__next__)
    ticking.schedule_interval(update, DT)
    begun = clock()
    for _ in trace.seconds:
        ticking.tick()
    return Played(clock() - begun, calls)


def no_op(core: ModuleType, trace: Trace) -> Played:
    """The least a method of a C type does with an int: keep it. ``resync`` does no more."""
    loop = core.FrameLoop(STEP, BUDGET, START)
    begun = clock()
    for now in trace.nanos:
        loop.resync(now)
    return Played(clock() - begun, loop.last)


def empty_loop(trace: Trace) -> Played:
    """The ``for`` alone."""
    begun = clock()
    for now in trace.nanos:  # noqa: B007 (read below)
        pass
    return Played(clock() - begun, now)


def _of_core(
    name: str, play: Play, core: ModuleType, trace: Trace, outcome: tuple[object, ...]
) -> Side:
    return Side(name, FRAMES, lambda: play(core, trace), lambda found: found == outcome)


def _of_floats(name: str, play: Callable[[], Played], low: int, high: int) -> Side:
    """Floats round, so their number of steps is near the integers' and not equal to it."""
    return Side(name, FRAMES, play, lambda ticks: isinstance(ticks, int) and low <= ticks <= high)


def _of_library(
    name: str, package: str, play: Play, trace: Trace, low: int, high: int
) -> Side | Absent:
    try:
        module = import_module(package)
    except ImportError as error:
        return Absent(name, f"not installed: {error}")
    return _of_floats(name, lambda: play(module, trace), low, high)


def planning() -> Iterator[Side | Absent]:
    """begin_frame and what does the same work."""
    frames = trace()
    last = frames.nanos[-1]
    for name, core in CORES.items():
        yield _of_core(name, plan_only, core, frames, (TICKS, True))
    yield _of_floats("inline floats", lambda: inline_floats(frames), TICKS - 3, TICKS + 3)
    yield _of_floats("class of floats", lambda: class_of_floats(frames), TICKS - 3, TICKS + 3)
    yield Side("no-op C method", FRAMES, lambda: no_op(native, frames), lambda at: at == last)
    yield Side("empty for", FRAMES, lambda: empty_loop(frames), lambda at: at == last)


def bodies() -> Iterator[Side | Absent]:
    """The documented body and what people have instead."""
    frames = trace()
    outcome = (TICKS, DROPPED, DIGEST, True)
    for name, core in CORES.items():
        yield _of_core(name, body, core, frames, outcome)
    yield _of_core("native, ticks", body_of_ticks, native, frames, outcome)
    yield _of_core("native, update(dt)", body_with_update, native, frames, outcome)
    yield _of_floats("inline floats", lambda: inline_floats_body(frames), TICKS - 3, TICKS + 3)
    yield _of_floats("class of floats", lambda: class_of_floats_body(frames), TICKS - 3, TICKS + 3)
    # gamekit forgets the remainder of a frame that exceeds its budget: up to a step each
    yield _of_library("gamekit", "gamekit", gamekit_body, frames, TICKS - 200, TICKS)
    # pyglet calls once where several are due, and postpones: far fewer, but not few
    yield _of_library("pyglet", "pyglet.clock", pyglet_body, frames, FRAMES // 2, TICKS)
