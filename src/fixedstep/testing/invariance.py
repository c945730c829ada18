"""Runs of one program compared tick by tick, and a failure that says where to look.

A digest at the end says that two runs differ. What a person needs is the first tick on which they
do, and the field, because everything after it is consequence. So the states are compared in order,
and the report stops at the first difference.

Comparing is the easy half. The other is not to pass for nothing: a run that never got to a tick is
equal to every other run of that kind. Whatever would make the comparison empty is a failure here.

Failures are AssertionErrors that are raised, not asserted, so ``python -O`` leaves them in.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from inspect import signature
from typing import Any, NoReturn, TypeAlias
from zlib import compress, decompress

from .. import StateHash
from ..sim.digests import world_digests
from ..sim.game_loop import GameLoop
from ..time import ORIGIN, Nanos, Step, Timestamp
from ._processes import Process, compare, job_of
from ._states import Table, difference, digest_of, table_of
from .profiles import DEFAULT_PROFILES, FrameProfile

State: TypeAlias = Any

_TWO_SECONDS = Nanos(2 * 10**9)


class _Counter:
    """Which timestamps were taken from a profile."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.frames = 0
        self.digest = StateHash()

    def see(self, now: Timestamp) -> None:
        """Count one."""
        self.frames += 1
        self.digest = self.digest.absorb_u64(now)


Key: TypeAlias = tuple[Any, ...]


def assert_fps_invariant(
    run: Callable[[FrameProfile], Iterable[State]] | Callable[[], GameLoop],
    profiles: Iterable[FrameProfile] = DEFAULT_PROFILES,
    *,
    keys: Iterable[Key] = (),
    duration: Nanos = _TWO_SECONDS,
    state: Callable[[Any], State] | None = None,
) -> None:
    """Fail unless a game goes through the same states, tick by tick, at every frame rate.

    ``run`` without arguments makes a new `GameLoop` or `Session`, which is driven for ``duration``
    nanoseconds. ``keys`` are its input: ``(at, method, name)`` or ``(at, method, name, value)``,
    with a time in nanoseconds and a method of `Input`. ``state(game)`` gives the state after a
    tick; without it a session's world must have ``digests()``.

    >>> from fixedstep import StateHash
    >>> from fixedstep.sim import Session
    >>> class World:
    ...     def __init__(self):
    ...         self.x = 0
    ...     def step(self, input, tick):
    ...         self.x += 3 + 5 * input["run"].pressed
    ...     def digests(self):
    ...         return {"x": StateHash().absorb_i64(self.x)}
    >>> keys = [(300_000_000, "press", "run"), (700_000_000, "release", "run")]
    >>> assert_fps_invariant(lambda: Session(World, buttons=["run"]), keys=keys)

    For a game that has its loop in itself, ``run`` takes one argument and is called once with each
    profile. It makes a new game, gives it the profile's ``timestamps``, and returns or yields the
    state after every tick, in tick order: a mapping of names to values, a world's ``digests()``, or
    any other value that `StateHash.absorb` takes. States are compared by their encoding, as it is
    when they arrive: 0.0 and -0.0 differ, a NaN equals a NaN, and arrays, dataclasses and objects
    with ``__digest__`` are compared by what is in them. The game may go on changing a state that it
    has yielded.

    A game that moves by the frame's own time is found on its first tick:

    >>> from fixedstep import FrameLoop, Nanos, Rate
    >>> def run(profile):
    ...     loop, x, before = FrameLoop(Rate(60), start=0), 0, 0
    ...     for now in profile.timestamps(Nanos(2 * 10**9)):
    ...         for step in loop.begin_frame(now).steps():
    ...             x += 3 * (now - before)      # the fault: it should be step.dt
    ...             yield {"tick": step.tick, "x": x}
    ...         before = now
    >>> assert_fps_invariant(run)
    Traceback (most recent call last):
        ...
    AssertionError: tick 0, x: 51000000 under 16/17 ms and 99000000 under 33/34 ms

    And so is one that handles an input in the frame that polled it. This click comes at 100 ms. One
    machine has a frame that ends there and lets tick 4 have it; the other ends its next frame at
    115 ms, when tick 4 is over:

    >>> def run(profile):
    ...     loop, clicks = FrameLoop(Rate(60), start=0), []
    ...     for now in profile.timestamps(Nanos(2 * 10**9)):
    ...         if now >= 100_000_000 and not clicks:
    ...             clicks.append(loop.tick)     # the fault: whatever tick the loop is at
    ...         for step in loop.begin_frame(now).steps():
    ...             yield {"tick": step.tick, "clicked_at": list(clicks)}
    >>> assert_fps_invariant(run)
    Traceback (most recent call last):
        ...
    AssertionError: tick 4, clicked_at[0]: nothing under 16/17 ms and 4 under 33/34 ms

    Raises AssertionError too where the comparison would say nothing: fewer than one tick in a run,
    no frame taken from a profile, the same frames under two profiles (let it run for a second or
    more), a state that never changes. Raises ValueError for fewer than two profiles or
    two of one name, and what `StateHash.absorb` raises for values without an encoding.
    """
    __tracebackhide__ = True
    watched = [(profile, _Counter(profile.name)) for profile in profiles]
    names = [profile.name for profile, _ in watched]
    if len(names) < 2:
        raise ValueError(f"profiles must be at least two, not {names}; one is equal to itself")
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(
            f"profiles must have different names, and {twice[0]!r} is there twice; "
            "FrameProfile(..., name=...) names one"
        )
    own_loop = len(signature(run).parameters) > 0
    if own_loop and (keys or state is not None):
        raise TypeError("keys= and state= are for a run that makes a GameLoop; leave them out")
    made: Any = run
    each: Callable[[FrameProfile], Iterable[State]] = (
        made if own_loop else partial(_ticks_of, made, tuple(keys), duration, state)
    )
    runs = [
        (f"under {profile.name}", partial(each, profile._watched(counter.see)))
        for profile, counter in watched
    ]
    _compare(runs, lambda: _refuse_equal_frames([counter for _, counter in watched]))


def _ticks_of(
    make: Callable[[], GameLoop],
    keys: tuple[Key, ...],
    duration: Nanos,
    state: Callable[[Any], State] | None,
    profile: FrameProfile,
) -> Iterator[State]:
    """The states of a game after each tick, under the frames of a profile."""
    game = make()
    if not isinstance(game, GameLoop) or game._run_tick is None:
        raise TypeError(
            f"run() must return a GameLoop with a step function or a Session, not "
            f"{type(game).__name__}; for a loop of your own, take a profile as the argument"
        )
    if state is None and not hasattr(getattr(game, "world", None), "digests"):
        raise TypeError(
            "the game must have a state to compare: give its world a method digests(), or pass "
            "state=lambda game: ..."
        )
    for at, method, *arguments in keys:
        getattr(game.input, method)(*arguments, at=at)  # type: ignore[attr-defined]
    run_tick = game._run_tick
    states: list[State] = []

    def observed(step: Step) -> None:
        run_tick(step)
        if game.fault is None:
            found = _hashes(world_digests(game.world)) if state is None else state(game)  # type: ignore[attr-defined]
            states.append(deepcopy(found))

    game._run_tick = observed
    game.frame(ORIGIN)  # the same origin under every profile: times of keys count from it
    for now in profile.timestamps(duration):
        game.frame(now)
        if game.fault is not None:
            raise game.fault.error
        yield from states
        states.clear()


def _hashes(digests: dict[str, Any]) -> dict[str, Any]:
    """Digests that a report shows as digests, in hexadecimal."""
    return {
        name: _hashes(value) if isinstance(value, dict) else StateHash(value)
        for name, value in digests.items()
    }


def assert_deterministic(
    run: Callable[[], Iterable[State]],
    runs: int = 8,
    *,
    processes: int = 0,
    both_cores: bool = False,
) -> None:
    """Fail unless ``run`` goes through the same states, tick by tick, every time.

    ``run`` makes a new game and returns or yields its states, as for `assert_fps_invariant`. It is
    called ``runs`` times in this process.

    >>> from itertools import count
    >>> spawned = count()                        # the fault: a counter that outlives the game
    >>> def run():
    ...     for tick in range(3):
    ...         yield {"tick": tick, "enemy": next(spawned) if tick == 2 else None}
    >>> assert_deterministic(run)
    Traceback (most recent call last):
        ...
    AssertionError: tick 2, enemy: 0 in run 1 and 1 in run 2

    With ``processes=4`` it is called once more in each of four new processes, which have different
    seeds of ``hash``. A game that iterates over a set of strings, or orders objects by their
    address, may pass in one process and diverge between two. With ``both_cores=True`` every other
    process uses the reference core, the others the native one. ``run`` must then be a function at
    the top of a module; the processes have this one's ``sys.path``.

    Raises AssertionError too for runs without a tick and for a state that never changes, ValueError
    for fewer than two runs, for one process, and for a ``run`` that another process cannot import,
    and what `StateHash.absorb` raises for values without an encoding.
    """
    __tracebackhide__ = True
    if runs < 2:
        raise ValueError(f"runs must be at least 2, not {runs}; one run is equal to itself")
    if processes < 0 or processes == 1 or (both_cores and not processes):
        raise ValueError(
            f"processes must be 0 or at least 2, not {processes}"
            f"{', with both_cores=True at least 2' if both_cores else ''}; one is equal to itself"
        )
    job = job_of(run) if processes else {}
    _compare([(f"in run {number}", run) for number in range(1, runs + 1)])
    if processes:
        cores = ("native", "reference") if both_cores else (None, None)
        started: list[Process] = []
        try:
            for number in range(processes):
                started.append(Process(number + 1, job, cores[number % 2]))
            report = compare(started)
        finally:
            for process in started:
                process.close()
        if report is not None:
            _fail(report)


def _refuse_equal_frames(profiles: list[_Counter]) -> None:
    __tracebackhide__ = True
    names: dict[StateHash, str] = {}
    for profile in profiles:
        if not profile.frames:
            _fail(
                f"nothing was compared: the run under {profile.name} took no frame from the "
                "profile it was given; drive the game with profile.timestamps(duration)"
            )
        other = names.setdefault(profile.digest, profile.name)
        if other != profile.name:
            _fail(
                f"nothing was compared: {other} and {profile.name} came to the same "
                f"{profile.frames} frames; let the game run longer, or use profiles that differ"
            )


class _Kept:
    """The states of a run: their digests, and their tables, packed."""

    def __init__(self, states: Iterable[State]) -> None:
        self.digests: list[int] = []
        self._tables: list[bytes] = []
        for tick, state in enumerate(states):
            self.digests.append(digest_of(tick, state))
            self._tables.append(compress(pickle.dumps(table_of(state)), 1))

    def table(self, tick: int) -> Table:
        found: Table = pickle.loads(decompress(self._tables[tick]))
        return found


def _compare(
    runs: Sequence[tuple[str, Callable[[], Iterable[State]]]],
    check: Callable[[], None] | None = None,
) -> None:
    """Every run against the first; ``runs`` are how to call each and what gives its states.
    ``check`` is called when all have run."""
    __tracebackhide__ = True
    (first, run), *others = runs
    kept = _Kept(run())
    expected = kept.digests
    _refuse_no_tick(first, len(expected))
    for other, run in others:
        ticks = 0
        for tick, state in enumerate(run()):
            ticks += 1
            if tick < len(expected) and digest_of(tick, state) != expected[tick]:
                _fail(difference(tick, kept.table(tick), first, table_of(state), other))
        _refuse_no_tick(other, ticks)
        if ticks != len(expected):
            _fail(
                f"equal for {min(len(expected), ticks)} ticks, and then there are "
                f"{len(expected)} ticks {first} and {ticks} {other}"
            )
    if check is not None:
        check()
    if len(set(expected)) == 1:
        _fail(
            f"nothing was compared: the state never changed in {len(expected)} ticks; "
            "let something happen, and let the state show it"
        )


def _refuse_no_tick(which: str, ticks: int) -> None:
    __tracebackhide__ = True
    if not ticks:
        _fail(f"nothing was compared: no tick {which}; let the game run longer")


def _fail(report: str) -> NoReturn:
    __tracebackhide__ = True
    raise AssertionError(report)
