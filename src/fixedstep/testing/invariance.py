"""Runs of one program compared tick by tick, and a failure that says where to look.

A digest at the end says that two runs differ. What a person needs is the first tick on which they
do, and the field, because everything after it is consequence. So the states are compared in order,
and the report stops at the first difference.

Comparing is the easy half. The other is not to pass for nothing: a run that never got to a tick is
equal to every other run of that kind. Whatever would make the comparison empty is a failure here.

Failures are AssertionErrors that are raised, not asserted, so ``python -O`` leaves them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, NoReturn, TypeAlias

from .. import StateHash
from ..time import Timestamp
from .profiles import PROFILES, FrameProfile

State: TypeAlias = Mapping[str, Any] | Any
_Fields: TypeAlias = dict[str, Any]

_ABSENT = "nothing"


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


def assert_fps_invariant(
    run: Callable[[FrameProfile], Iterable[State]],
    profiles: Iterable[FrameProfile] = PROFILES,
) -> None:
    """Fail unless ``run`` goes through the same states, tick by tick, at every frame rate.

    ``run`` is called once with each profile. It makes a new game, gives it the profile's
    ``timestamps``, and returns or yields the state after every tick, in tick order: a mapping of
    field names to values, or any other value, which then is the one field ``value``. Values are
    compared with ``==``, and each is copied as it arrives, so the game may go on changing it.

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
    AssertionError: tick 0, field 'x': 51000000 under 16/17 ms and 99000000 under 33/34 ms

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
    AssertionError: tick 4, field 'clicked_at': [] under 16/17 ms and [4] under 33/34 ms

    Raises AssertionError too where the comparison would say nothing: fewer than one tick in a run,
    no frame taken from a profile, the same frames under two profiles (let it run for a second or
    more), a state that never changes. Raises ValueError for fewer than two profiles or
    two of one name, and TypeError for values that ``==`` cannot compare.
    """
    __tracebackhide__ = True
    watched = [(profile, _Counter(profile.name)) for profile in profiles]
    names = [profile.name for profile, _ in watched]
    if len(names) < 2:
        raise ValueError(f"profiles must be at least two, not {names}; one is equal to itself")
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(
            f"profiles must have different names, and {twice[0]!r} is there twice; "
            "frame_profile(..., name=...) names one"
        )
    runs = [
        (f"under {profile.name}", _states(run(profile._watched(counter.see))))
        for profile, counter in watched
    ]
    _refuse_equal_frames([counter for _, counter in watched])
    _compare(runs)


def assert_deterministic(run: Callable[[], Iterable[State]], runs: int = 8) -> None:
    """Fail unless ``run`` goes through the same states, tick by tick, every time.

    ``run`` makes a new game and returns or yields its states, as for `assert_fps_invariant`.

    >>> from itertools import count
    >>> spawned = count()                        # the fault: a counter that outlives the game
    >>> def run():
    ...     for tick in range(3):
    ...         yield {"tick": tick, "enemy": next(spawned) if tick == 2 else None}
    >>> assert_deterministic(run)
    Traceback (most recent call last):
        ...
    AssertionError: tick 2, field 'enemy': 0 in run 1 and 1 in run 2

    All runs share this process, and so whatever is fixed for a process: the seed of ``hash`` above
    all. What iterates over a set of strings may pass here and differ on the next start; compare
    digests between processes for that.

    Raises AssertionError too for runs without a tick and for a state that never changes, ValueError
    for fewer than two runs, and TypeError for values that ``==`` cannot compare.
    """
    __tracebackhide__ = True
    if runs < 2:
        raise ValueError(f"runs must be at least 2, not {runs}; one run is equal to itself")
    _compare([(f"in run {number}", _states(run())) for number in range(1, runs + 1)])


def _states(run: Iterable[State]) -> list[_Fields]:
    return [
        deepcopy(dict(state) if isinstance(state, Mapping) else {"value": state}) for state in run
    ]


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


def _compare(runs: list[tuple[str, list[_Fields]]]) -> None:
    """Every run against the first; ``runs`` are how to call each and its states."""
    __tracebackhide__ = True
    for which, states in runs:
        if not states:
            _fail(f"nothing was compared: no tick {which}; let the game run longer")
    (first, expected), *others = runs
    for other, states in others:
        for tick, (one, two) in enumerate(zip(expected, states, strict=False)):
            _compare_fields(tick, first, one, other, two)
        if len(states) != len(expected):
            _fail(
                f"equal for {min(len(expected), len(states))} ticks, and then there are "
                f"{len(expected)} ticks {first} and {len(states)} {other}"
            )
    if all(
        state.keys() == expected[0].keys()
        and all(_same(field, state[field], expected[0][field]) for field in state)
        for state in expected
    ):
        _fail(
            f"nothing was compared: the state never changed in {len(expected)} ticks; "
            "let something happen, and let the state show it"
        )


def _compare_fields(tick: int, first: str, one: _Fields, other: str, two: _Fields) -> None:
    __tracebackhide__ = True
    for field in one | two:
        if field not in one or field not in two or not _same(field, one[field], two[field]):
            values = [repr(state[field]) if field in state else _ABSENT for state in (one, two)]
            _fail(f"tick {tick}, field {field!r}: {values[0]} {first} and {values[1]} {other}")


def _same(field: str, one: Any, two: Any) -> bool:
    """Equality, with a NaN equal to a NaN, also within tuples, lists and dicts: two runs that fail
    alike are alike."""
    try:
        if one == two or (one != one and two != two):
            return True
        if type(one) is not type(two) or not isinstance(one, (tuple, list, dict)):
            return False
        if isinstance(one, dict):
            return one.keys() == two.keys() and all(_same(field, one[k], two[k]) for k in one)
        return len(one) == len(two) and all(
            _same(field, a, b) for a, b in zip(one, two, strict=True)
        )
    except Exception as error:
        raise TypeError(
            f"field {field!r} holds a {type(one).__name__}, which == cannot compare ({error}); "
            "give its bytes, a list, or a digest"
        ) from error


def _fail(report: str) -> NoReturn:
    __tracebackhide__ = True
    raise AssertionError(report)
