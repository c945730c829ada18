"""The tools for users' suites: they find the faults they are for, and pass on nothing else.

A tool that compares runs has two ways to be worthless: it misses a fault, or it passes when there
was nothing to compare. So half of these tests plant a fault and ask for its first tick, and most of
the rest take something away (the ticks, the frames, the change) and ask for a failure.
"""

from __future__ import annotations

import copy
import importlib
import os
import re
import subprocess
import sys
import textwrap
import unittest
from array import array
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, Nanos, Rate, StateHash, StepBudget, Timestamp
from fixedstep.sim import Session
from fixedstep.testing import (
    DEFAULT_PROFILES,
    FrameProfile,
    assert_deterministic,
    assert_fps_invariant,
    frame_timestamps,
    hostile_timestamps,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.conftest import Core

    State = dict[str, Any]

MS = 1_000_000
SECOND = 10**9
U64_MAX = 2**64 - 1
TWO = (FrameProfile([16 * MS, 17 * MS]), FrameProfile([33 * MS, 34 * MS]))


def names(profiles: Iterable[FrameProfile]) -> list[str]:
    return [profile.name for profile in profiles]


# Profiles


def test_a_profile_repeats_its_pattern_and_cuts_the_last_frame() -> None:
    profile = FrameProfile([10, 20])
    assert list(profile.timestamps(Nanos(75))) == [10, 30, 40, 60, 70, 75]
    assert list(profile.timestamps(Nanos(60))) == [10, 30, 40, 60], "nothing to cut"
    assert list(profile.timestamps(Nanos(3))) == [3]
    assert list(profile.timestamps(Nanos(0))) == []


def test_the_pattern_begins_anew_with_every_call() -> None:
    profile = FrameProfile([10, 20])
    first = list(profile.timestamps(Nanos(10)))
    assert list(profile.timestamps(Nanos(35), Timestamp(first[-1]))) == [20, 40, 45]


@pytest.mark.parametrize("profile", DEFAULT_PROFILES, ids=names(DEFAULT_PROFILES))
def test_a_stretch_ends_at_the_same_moment_under_every_profile(profile: FrameProfile) -> None:
    start = Timestamp(77)
    stamps = [start, *profile.timestamps(Nanos(3 * SECOND + 1), start)]
    assert stamps[-1] == 77 + 3 * SECOND + 1
    deltas = [later - earlier for earlier, later in pairwise(stamps)]
    assert min(deltas) > 0
    assert deltas[:-1] == [
        profile.pattern[k % len(profile.pattern)] for k in range(len(deltas) - 1)
    ]
    assert len(deltas) > len(profile.pattern), "the pattern came round"


@pytest.mark.parametrize(
    ("fps", "first", "frames_a_second"),
    [
        (60, [16_666_666, 33_333_333, 50_000_000], 60),
        (85, [11_764_705, 23_529_411, 35_294_117], 85),
        (90, [11_111_111, 22_222_222, 33_333_333], 90),
        (144, [6_944_444, 13_888_888, 20_833_333], 144),
        (10**6, [1_000, 2_000, 3_000], 10**6),
        (1, [SECOND], 1),
    ],
)
def test_a_profile_of_so_many_hertz_is_on_the_exact_grid(
    fps: int, first: list[int], frames_a_second: int
) -> None:
    """Whole periods that are repeated end their second early, or late."""
    profile = FrameProfile.at_hz(fps)
    stamps = list(profile.timestamps(Nanos(SECOND)))
    assert stamps[:3] == first
    assert len(stamps) == frames_a_second
    assert stamps[-1] == SECOND
    assert stamps[:5_000] == [k * SECOND // fps for k in range(1, fps + 1)][:5_000]
    if SECOND % fps:
        assert fps * (SECOND // fps) != SECOND, "the fault"


def test_a_profile_is_called_by_what_it_is() -> None:
    assert names(DEFAULT_PROFILES) == [
        "16/17 ms",
        "33/34 ms",
        "40/41 ms",
        "1 ms",
        "144 Hz",
        "jitter and stalls",
    ]
    assert FrameProfile([7, 8]).name == "7/8 ns"
    assert FrameProfile([7, 8], name="seven").name == FrameProfile.at_hz(7, name="seven").name


@pytest.mark.parametrize("seconds", [1, 2, 3, 5, 10, 60])
def test_the_standard_profiles_differ_in_their_number_of_frames(seconds: int) -> None:
    counts = [len(list(p.timestamps(Nanos(seconds * SECOND)))) for p in DEFAULT_PROFILES]
    assert len(set(counts)) == len(counts) == 6


@pytest.mark.parametrize("profile", DEFAULT_PROFILES, ids=names(DEFAULT_PROFILES))
def test_no_standard_profile_makes_60_hz_drop_a_step(profile: FrameProfile) -> None:
    loop = FrameLoop(Rate(60), StepBudget(5), start=Timestamp(0))
    plans = loop.begin_frames(profile.timestamps(Nanos(20 * SECOND)))
    assert loop.tick == 1_200
    assert max(plans.dropped) == 0
    assert max(profile.pattern) <= 70 * MS


def test_the_jittered_profile_stalls_and_a_budget_of_four_would_drop() -> None:
    """The control: its stalls are as long as they can be."""
    profile = DEFAULT_PROFILES[-1]
    loop = FrameLoop(Rate(60), StepBudget(4), start=Timestamp(0))
    plans = loop.begin_frames(profile.timestamps(Nanos(20 * SECOND)))
    assert max(profile.pattern) == 70 * MS
    assert min(profile.pattern) == 1
    assert sum(plans.dropped) > 0


def test_profiles_are_values() -> None:
    profile = FrameProfile([10, 20])
    assert profile == FrameProfile([10, 20], "10/20 ns")
    assert hash(profile) == hash(FrameProfile([10, 20], "10/20 ns"))
    assert profile != FrameProfile([20, 10], "10/20 ns")
    assert profile != FrameProfile([10, 20], "other")
    assert profile != "10/20 ns"
    assert eval(repr(profile)) == profile


@pytest.mark.parametrize(
    ("pattern", "error", "message"),
    [
        ([], ValueError, "at least one frame"),
        ([10, 0], ValueError, r"pattern\[1\] must be .* at least 1, not 0"),
        ([10, 1.5], TypeError, r"pattern\[1\] must be a whole number of nanoseconds, not float"),
        ([float("nan")], TypeError, r"pattern\[0\] must be"),
        ([-5], OverflowError, r"pattern\[0\] must be"),
        ([U64_MAX + 1], OverflowError, r"pattern\[0\] must be"),
    ],
)
def test_a_pattern_that_is_none_is_refused(
    pattern: list[Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        FrameProfile(pattern)


@pytest.mark.parametrize(
    ("bad", "error"),
    [(0, ValueError), (59.94, TypeError), (-1, OverflowError), (10**6 + 1, OverflowError)],
)
def test_a_rate_that_is_none_is_refused(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="hz must be a whole number of frames a second"):
        FrameProfile.at_hz(bad)


def test_a_stretch_that_is_none_is_refused_at_the_call() -> None:
    profile = FrameProfile([10])
    with pytest.raises(TypeError, match="duration must be a whole number of nanoseconds"):
        profile.timestamps(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="start must be"):
        profile.timestamps(Nanos(1), 0.0)  # type: ignore[arg-type]
    with pytest.raises(OverflowError, match="start \\+ duration must be at most"):
        profile.timestamps(Nanos(1), Timestamp(U64_MAX))
    assert list(profile.timestamps(Nanos(1), Timestamp(U64_MAX - 1))) == [U64_MAX]


# A game, and faults to plant in it


class Game:
    """A ball that is pushed by clicks: position and speed in integers, 60 ticks a second."""

    def __init__(self) -> None:
        self.loop = FrameLoop(Rate(60), start=Timestamp(0))
        self.x = 0
        self.speed = 3
        self.clicks: list[int] = []

    def step(self) -> State:
        self.x += self.speed
        return {"x": self.x, "speed": self.speed, "clicks": self.clicks}


CLICK = 700 * MS
SPAN = Nanos(2 * SECOND)


def sound(profile: FrameProfile) -> Iterator[State]:
    """The click takes effect at the first tick that begins after it, whoever polled it."""
    game = Game()
    for now in profile.timestamps(SPAN):
        for step in game.loop.begin_frame(now).steps():
            if step.sim_time >= CLICK and not game.clicks:
                game.clicks.append(step.tick)
                game.speed = 5
            yield game.step()


def scales_by_frame_time(profile: FrameProfile) -> Iterator[State]:
    game, before = Game(), 0
    for now in profile.timestamps(SPAN):
        for _ in game.loop.begin_frame(now).steps():
            game.x += (now - before) // MS - game.speed
            yield game.step()
        before = now


def handles_input_when_polled(profile: FrameProfile) -> Iterator[State]:
    game = Game()
    for now in profile.timestamps(SPAN):
        if now >= CLICK and not game.clicks:
            game.clicks.append(game.loop.tick)
            game.speed = 5
        for _ in game.loop.begin_frame(now).steps():
            yield game.step()


def first_difference(run: Callable[[FrameProfile], Iterable[State]]) -> tuple[int, str]:
    """The oracle for planted faults: the two runs side by side, by hand."""
    one, other = ([dict(s, clicks=list(s["clicks"])) for s in run(p)] for p in TWO)
    for tick, (a, b) in enumerate(zip(one, other, strict=True)):
        for name in a:
            if a[name] != b[name]:
                return tick, name
    raise AssertionError("the fault is not one")


def test_a_sound_game_passes_under_every_standard_profile() -> None:
    seen = []

    def run(profile: FrameProfile) -> list[State]:
        states = list(sound(profile))
        seen.append((profile.name, len(states), states[-1]["x"]))
        return states

    assert_fps_invariant(run)
    ticks_after_click = 120 - 42
    assert seen == [(name, 120, 42 * 3 + ticks_after_click * 5) for name in names(DEFAULT_PROFILES)]


def test_a_world_that_scales_by_frame_time_is_found_on_its_first_tick() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_fps_invariant(scales_by_frame_time)
    assert str(caught.value) == "tick 0, x: 17 under 16/17 ms and 33 under 33/34 ms"
    assert first_difference(scales_by_frame_time) == (0, "x")


def test_an_input_handled_by_the_frame_that_polled_it_is_found_on_its_first_tick() -> None:
    """The click is at 700 ms. The frames that poll it end at 709 and at 703 ms, and the first ticks
    in them are 41 and 40."""
    with pytest.raises(AssertionError) as caught:
        assert_fps_invariant(handles_input_when_polled)
    assert str(caught.value) == "tick 40, x: 123 under 16/17 ms and 125 under 33/34 ms"
    assert first_difference(handles_input_when_polled) == (40, "x")


def test_a_due_time_counted_in_frames_is_found_and_one_in_ticks_is_its_cure() -> None:
    """The fault in a strategy game: by the click, one has had 43 frames and the other 70."""

    def session(profile: FrameProfile, due_at: Callable[[FrameLoop], int]) -> Iterator[State]:
        loop, due = FrameLoop(Rate(60), start=Timestamp(0)), None
        start, moving = Timestamp(0), 0
        for end in (Timestamp(CLICK), Timestamp(2 * SECOND)):
            for now in profile.timestamps(Nanos(end - start), start):
                for step in loop.begin_frame(now).steps():
                    moving += due is not None and step.tick >= due
                    yield {"tick": step.tick, "moved": moving}
            due, start = due_at(loop) if due is None else due, end

    def in_ticks(profile: FrameProfile) -> Iterator[State]:
        return session(profile, lambda loop: loop.tick + 1)

    def counted_in_frames(profile: FrameProfile) -> Iterator[State]:
        frames = len(list(profile.timestamps(Nanos(CLICK))))
        return session(profile, lambda loop: frames)

    assert_fps_invariant(in_ticks)
    with pytest.raises(AssertionError, match=r"^tick 43, moved: 1 under 16/17 ms and 0 "):
        assert_fps_invariant(counted_in_frames, (TWO[0], FrameProfile([10 * MS])))


def test_only_the_profile_that_differs_is_named() -> None:
    """A fault that needs a stall: the first four profiles agree with each other."""

    def run(profile: FrameProfile) -> Iterator[State]:
        game, before = Game(), 0
        for now in profile.timestamps(SPAN):
            game.speed = 4 if now - before > 50 * MS else 3
            for _ in game.loop.begin_frame(now).steps():
                yield game.step()
            before = now

    with pytest.raises(AssertionError, match=r"under 16/17 ms and .* under jitter and stalls$"):
        assert_fps_invariant(run)
    assert_fps_invariant(run, DEFAULT_PROFILES[:-1])


def test_runs_of_different_lengths_are_told_apart() -> None:
    def run(profile: FrameProfile) -> Iterator[int]:
        frames = list(profile.timestamps(SPAN))
        yield from range(len(frames) // 10)

    with pytest.raises(AssertionError) as caught:
        assert_fps_invariant(run, TWO)
    assert str(caught.value) == (
        "equal for 6 ticks, and then there are 12 ticks under 16/17 ms and 6 under 33/34 ms"
    )


def test_a_difference_before_the_end_of_the_shorter_run_comes_first() -> None:
    runs = iter([[1, 2, 3], [1, 9]])
    with pytest.raises(AssertionError, match=r"^tick 1: 2 in run 1 and 9 in run 2$"):
        assert_deterministic(lambda: next(runs), runs=2)


@pytest.mark.parametrize(
    ("one", "other", "report"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, "b: 2 in run 1 and nothing in run 2"),
        ({"a": 1}, {"a": 1, "b": None}, "b: nothing in run 1 and None in run 2"),
        ({"b": 1, "a": 1}, {"a": 2, "b": 2}, "b: 1 in run 1 and 2 in run 2"),
        ((1, 2), (1, 3), r"\[1\]: 2 in run 1 and 3 in run 2"),
        ("alive", "dead", "'alive' in run 1 and 'dead' in run 2"),
    ],
)
def test_the_field_and_both_values_are_named(one: Any, other: Any, report: str) -> None:
    runs = iter([["start", one], ["start", other]])
    with pytest.raises(AssertionError, match=f"^tick 1(, |: ){report}$"):
        assert_deterministic(lambda: next(runs), runs=2)


def test_a_state_that_goes_on_changing_was_copied_when_it_came() -> None:
    """One world, yielded again and again, nested lists and all: each state is as it was then."""
    drift = count()

    def run() -> Iterator[State]:
        world: State = {"units": [[0]], "tick": 0}
        wrong = next(drift)
        for tick in range(5):
            world["tick"] = tick
            world["units"][0][0] += tick
            if tick == 3:
                world["units"][0][0] += wrong
            yield world

    with pytest.raises(
        AssertionError, match=r"^tick 3, units\[0\]\[0\]: 6 in run 1 and 7 in run 2$"
    ):
        assert_deterministic(run)


def test_digests_in_a_state_are_shown_in_hexadecimal(core: Core) -> None:
    """What ``world.digests()`` returns is a state as it is, on either core, and looks as in a file
    and in the output of a command."""
    drift = count()

    def run() -> Iterator[State]:
        wrong = next(drift)
        for tick in range(5):
            world = core.StateHash().absorb_u64(tick)
            yield {"score": tick, "world": {"x": core.StateHash(tick * wrong), "y": world}}

    with pytest.raises(
        AssertionError,
        match=r"^tick 1, world\.x: 0x0{16} in run 1 and 0x0{15}1 in run 2$",
    ):
        assert_deterministic(run)


def test_digests_of_a_session_are_shown_in_hexadecimal() -> None:
    drift = count()

    class World:
        def __init__(self) -> None:
            self.wrong = next(drift)
            self.ticks = 0

        def step(self, input: object, tick: object) -> None:
            self.ticks += 1

        def digests(self) -> State:
            return {"a": {"b": StateHash(self.ticks + 10 * self.wrong)}, "score": self.ticks}

    with pytest.raises(
        AssertionError,
        match=rf"^tick 0, a\.b: 0x{1:016x} under 16/17 ms and 0x{11:016x} under 33/34 ms$",
    ):
        assert_fps_invariant(lambda: Session(World))


# What must not pass


def test_two_runs_of_the_same_frames_are_refused() -> None:
    twins = [FrameProfile([33 * MS, 34 * MS]), FrameProfile([33 * MS, 34 * MS, 99 * MS])]

    def short(profile: FrameProfile) -> Iterator[State]:
        for now in profile.timestamps(Nanos(70 * MS)):
            yield {"now": now // SECOND}

    with pytest.raises(AssertionError) as caught:
        assert_fps_invariant(short, twins)
    assert str(caught.value) == (
        "nothing was compared: 33/34 ms and 33/34/99 ms came to the same 3 frames; "
        "let the game run longer, or use profiles that differ"
    )


def test_as_many_frames_at_other_times_are_compared() -> None:
    """It used to be refused by the number alone: 30 Hz and 33/34 ms have as many frames in 3 s."""
    profiles = [FrameProfile.at_hz(30), FrameProfile([33 * MS, 34 * MS])]
    counts = [len(list(profile.timestamps(Nanos(3 * SECOND)))) for profile in profiles]
    assert counts[0] == counts[1] > 80

    def run(profile: FrameProfile) -> Iterator[State]:
        loop = FrameLoop(Rate(60), start=Timestamp(0))
        for now in profile.timestamps(Nanos(3 * SECOND)):
            for step in loop.begin_frame(now).steps():
                yield {"tick": step.tick}

    assert_fps_invariant(run, profiles)


def test_a_run_that_does_not_use_its_profile_is_refused() -> None:
    """A game on its own timestamps is equal to itself, whatever the profiles are."""
    own = FrameProfile([10 * MS])

    def run(profile: FrameProfile) -> Iterator[State]:
        return sound(own)

    with pytest.raises(AssertionError, match="the run under 16/17 ms took no frame from"):
        assert_fps_invariant(run)


def test_frames_are_counted_over_every_call_for_timestamps() -> None:
    """A session in phases asks once a phase."""

    def run(profile: FrameProfile) -> Iterator[State]:
        loop = FrameLoop(Rate(60), start=Timestamp(0))
        for phase in range(4):
            assert loop.last is not None
            for now in profile.timestamps(Nanos(100 * MS), loop.last):
                for step in loop.begin_frame(now).steps():
                    yield {"phase": phase, "tick": step.tick}

    assert_fps_invariant(run, TWO)
    with pytest.raises(AssertionError, match="came to the same 12 frames"):
        assert_fps_invariant(run, [TWO[1], FrameProfile([*TWO[1].pattern] * 2, name="twin")])


@pytest.mark.parametrize("empty", ["first", "last"])
def test_a_run_without_a_tick_is_refused(empty: str) -> None:
    def run(profile: FrameProfile) -> list[int]:
        frames = len(list(profile.timestamps(SPAN)))
        return [] if (frames > 100) == (empty == "first") else [1, 2]

    which = "16/17 ms" if empty == "first" else "33/34 ms"
    with pytest.raises(AssertionError, match=f"nothing was compared: no tick under {which}"):
        assert_fps_invariant(run, TWO)


@pytest.mark.parametrize("ticks", [1, 2, 50])
def test_a_state_that_never_changes_is_refused(ticks: int) -> None:
    def run(profile: FrameProfile) -> list[State]:
        list(profile.timestamps(SPAN))
        return [{"x": 1}] * ticks

    with pytest.raises(AssertionError, match=f"the state never changed in {ticks} ticks"):
        assert_fps_invariant(run)
    with pytest.raises(AssertionError, match=f"the state never changed in {ticks} ticks"):
        assert_deterministic(lambda: [5] * ticks)


def test_one_world_that_is_listed_and_not_copied_is_refused() -> None:
    """A list of one dictionary, five times: it holds the end five times over."""

    def run() -> list[State]:
        world, states = {"x": 0}, []
        for _ in range(5):
            world["x"] += 1
            states.append(world)
        return states

    with pytest.raises(AssertionError, match="the state never changed"):
        assert_deterministic(run)


@pytest.mark.parametrize(
    "profiles",
    [(), TWO[:1], (TWO[0], TWO[0]), (TWO[0], FrameProfile([5], name=TWO[0].name))],
    ids=["none", "one", "the same", "one name"],
)
def test_profiles_that_cannot_be_told_apart_are_refused(profiles: Any) -> None:
    with pytest.raises(ValueError, match=r"profiles must be at least two|and '.*' is there twice"):
        assert_fps_invariant(sound, profiles)


@pytest.mark.parametrize("runs", [1, 0, -1])
def test_fewer_than_two_runs_are_refused(runs: int) -> None:
    with pytest.raises(ValueError, match=f"runs must be at least 2, not {runs}"):
        assert_deterministic(lambda: [1, 2], runs=runs)


def test_what_has_no_encoding_is_refused_with_the_place_and_a_way_out() -> None:
    def sprites() -> Iterator[State]:
        yield {"tick": 0}
        yield {"tick": 1, "units": [{"sprite": object()}]}

    text = r"^tick 1, units\[0\].sprite: object has no __digest__; pass plain values instead$"
    with pytest.raises(TypeError, match=text):
        assert_deterministic(sprites)
    with pytest.raises(ValueError, match=r"^tick 1, \[0\]: str .* has a lone surrogate"):
        assert_deterministic(lambda: [0, ["\ud800"]])


# Determinism


def test_a_deterministic_run_passes_and_ran_eight_times() -> None:
    calls = count()

    def run() -> Iterator[State]:
        next(calls)
        return sound(TWO[0])

    assert_deterministic(run)
    assert next(calls) == 8


def test_a_run_that_remembers_is_found_with_its_tick_and_run() -> None:
    """A cache that outlives the game, and is full on the fourth time."""
    seen: list[int] = []

    def run() -> Iterator[State]:
        seen.append(1)
        for tick in range(10):
            yield {"tick": tick, "hits": 1 if tick == 7 and len(seen) > 3 else 0}

    with pytest.raises(AssertionError, match=r"^tick 7, hits: 0 in run 1 and 1 in run 4$"):
        assert_deterministic(run)
    seen.clear()
    assert_deterministic(run, runs=3)


def test_a_nan_is_equal_to_a_nan_and_to_nothing_else() -> None:
    assert_deterministic(lambda: [{"v": float("nan")}, {"v": 1}])
    values = iter([[0, float("nan")], [0, 1.0]])
    with pytest.raises(AssertionError, match=r"tick 1: nan in run 1 and 1.0 in"):
        assert_deterministic(lambda: next(values), runs=2)


def test_a_nan_within_a_container_is_equal_to_a_nan_at_its_place() -> None:
    nan = float("nan")

    def run(*last: Any) -> Callable[[], Any]:
        values = iter([[{"v": 0}, {"v": value}] for value in last])
        return lambda: next(values)

    equal: list[Any] = [(nan, 1), [1, nan], {"x": nan, "y": 2}, [(1, {"z": [nan]})]]
    for one in equal:
        assert_deterministic(run(copy.deepcopy(one), copy.deepcopy(one)), runs=2)
    different: list[tuple[Any, Any]] = [
        ((nan, 1), (nan, 2)),
        ([nan], [1.0]),
        ([nan], [nan, nan]),
        ((nan,), [nan]),
    ]
    for one, two in different:
        with pytest.raises(AssertionError, match=r"tick 1, v(\[\d\])?: "):
            assert_deterministic(run(one, two), runs=2)


class World(NamedTuple):
    tick: int
    units: tuple[int, ...]


@dataclass
class Unit:
    hp: Any
    sprite: object = field(default=None, compare=False)


class Shy:
    """Shows what it chooses."""

    def __init__(self, state: Any) -> None:
        self.state, self.cache = state, object()

    def __digest__(self) -> Any:
        return self.state


@pytest.mark.parametrize(
    ("one", "other", "report"),
    [
        (0.0, -0.0, "tick 1, v: 0.0 in run 1 and -0.0 in run 2"),
        (1, 1.0, "tick 1, v: 1 in run 1 and 1.0 in run 2"),
        (1, True, "tick 1, v: 1 in run 1 and True in run 2"),
        ([], (), "tick 1, v: a list in run 1 and a tuple in run 2"),
        ([1], 1, "tick 1, v: a list in run 1 and 1 in run 2"),
        ([1], [1, 2], "tick 1, v[1]: nothing in run 1 and 2 in run 2"),
        (Unit([1]), Unit([2]), "tick 1, v.hp[0]: 1 in run 1 and 2 in run 2"),
        (Unit(1), Shy(1), "tick 1, v: a Unit in run 1 and a Shy in run 2"),
        (Shy({"a": 1}), Shy({"a": 2}), "tick 1, v.__digest__().a: 1 in run 1 and 2 in run 2"),
        ({"a", "b"}, {"a", "c"}, "tick 1, v{'b'}: 'b' in run 1 and nothing in run 2"),
        (deque([1], 3), deque([1], 4), "tick 1, v.maxlen: 3 in run 1 and 4 in run 2"),
        (World(1, (2,)), World(1, (3,)), "tick 1, v.units[0]: 2 in run 1 and 3 in run 2"),
        (
            np.zeros((2, 3)),
            np.array([[0, 0, 0], [0, 5.0, 0]]),
            "tick 1, v[1][1]: 0.0 in run 1 and 5.0 in run 2",
        ),
        (
            np.zeros(2, "u1"),
            np.zeros(2, "u2"),
            "tick 1, v: an array of 2 in run 1 and an array of 2 in run 2",
        ),
        (array("d", [1, 2]), array("d", [1, 3]), "tick 1, v[1]: 2.0 in run 1 and 3.0 in run 2"),
        (np.array(1), np.array(2), "tick 1, v[0]: 1 in run 1 and 2 in run 2"),
    ],
)
def test_states_are_compared_by_their_encoding(one: Any, other: Any, report: str) -> None:
    runs = iter([[{"v": None}, {"v": one}], [{"v": None}, {"v": other}]])
    with pytest.raises(AssertionError) as caught:
        assert_deterministic(lambda: next(runs), runs=2)
    assert str(caught.value) == report


def test_what_has_one_encoding_is_equal_whatever_it_is() -> None:
    """Sprites and caches have an address of their own in every run, and never a copy."""
    runs = iter(
        [
            [
                {"unit": Unit(7, sprite=object()), "shy": Shy(7)},
                {"grid": np.arange(3, dtype=kind), "n": float("nan")},
            ]
            for kind in ("<f8", ">f8")
        ]
    )
    assert_deterministic(lambda: next(runs), runs=2)


def test_an_array_that_goes_on_changing_is_compared_as_it_was() -> None:
    drift = count()

    def run() -> Iterator[State]:
        grid, wrong = np.zeros(4), next(drift)
        for tick in range(4):
            grid[tick] = tick + (wrong if tick == 2 else 0)
            yield {"grid": grid}

    with pytest.raises(AssertionError, match=r"^tick 2, grid\[2\]: 2.0 in run 1 and 3.0 in run 2$"):
        assert_deterministic(run)


# In several processes

GAME = """
import os, sys
from pathlib import Path
from fixedstep import backend

NAMES = {"knight", "archer", "mage", "thief", "bard", "monk", "druid", "ranger"}


def sound():
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(f"{os.getpid()} {os.environ.get('PYTHONHASHSEED')} {backend().name}\\n")
    if os.environ.get("PYTHONHASHSEED"):
        print("on the standard output", sys.stdin.read())
    for tick in range(50):
        yield {"tick": tick, "names": NAMES, "x": tick / 7}


def by_set():
    for tick in range(9):
        yield {"tick": tick, "units": [{"order": list(NAMES) if tick > 3 else []}]}


def shorter():
    return range(5 if os.environ.get("PYTHONHASHSEED") == "2" else 7)


def failing():
    for tick in range(5):
        yield tick
        if tick == 3 and os.environ.get("PYTHONHASHSEED") == "2":
            raise KeyError("gone")


def dying():
    for tick in range(5):
        yield tick
        if tick == 3 and os.environ.get("PYTHONHASHSEED") == "2":
            print("last words", file=sys.stderr, flush=True)
            os._exit(3)


class Nested:
    @staticmethod
    def run():
        return [1, 2]
"""


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A game in a folder that only this process has on its path."""
    (tmp_path / "game_of_names.py").write_text(GAME.replace("\\\\", "\\"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    yield importlib.import_module("game_of_names")
    del sys.modules["game_of_names"]


def test_a_set_that_is_iterated_is_found_between_processes(game: Any) -> None:
    """In one process it passes, however often it is run."""
    assert_deterministic(game.by_set)
    with pytest.raises(AssertionError) as caught:
        assert_deterministic(game.by_set, processes=4)
    assert re.fullmatch(
        r"tick 4, units\[0\].order\[\d\]: '\w+' in process 1 \(hash seed 1\) and '\w+' in process "
        r"\d \(hash seed \d\)",
        str(caught.value),
    )


def test_a_sound_game_passes_in_processes_that_differ(
    game: Any, tmp_path: Path, native: Core
) -> None:
    assert_deterministic(game.sound, runs=2, processes=4, both_cores=True)
    seen = [line.split() for line in (tmp_path / "seen").read_text().splitlines()]
    here, others = seen[:2], seen[2:]
    assert {pid for pid, _, _ in here} == {str(os.getpid())}
    assert len({pid for pid, _, _ in others}) == 4
    assert sorted((seed, core) for _, seed, core in others) == [
        *(("1", "native"), ("2", "reference"), ("3", "native"), ("4", "reference")),
    ]
    assert_deterministic(game.Nested.run, processes=2)


@pytest.mark.parametrize(
    ("name", "report"),
    [
        (
            "shorter",
            r"equal for 5 ticks, and then there are 5 ticks in process 2 \(hash seed 2\) and more "
            r"in process 1 \(hash seed 1\)",
        ),
        ("failing", r"tick 4: the run in process 2 \(hash seed 2\) ended with KeyError: 'gone'"),
        ("dying", r"tick 4: the run in process 2 .* ended with exit code 3 and last words"),
    ],
)
def test_a_process_that_ends_otherwise_is_a_difference(game: Any, name: str, report: str) -> None:
    with pytest.raises(AssertionError, match=f"^{report}$"):
        assert_deterministic(getattr(game, name), processes=3)


def states_of_this_module() -> list[int]:
    return [1, 2, 3]


def test_a_run_of_a_test_module_is_found_by_its_file() -> None:
    """pytest does not always put the folder of the tests on the path."""
    assert_deterministic(states_of_this_module, processes=2)


def test_a_run_of_a_script_is_found(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            from fixedstep.testing import assert_deterministic

            def run():
                return [list({"a", "b", "c", "d", "e", "f"}), 1]

            if __name__ == "__main__":
                assert_deterministic(run, processes=5)
        """)
    )
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "\nAssertionError: tick 0, [" in ended.stderr


def test_what_no_other_process_could_run_is_refused() -> None:
    def local() -> list[int]:
        return [1, 2]

    for run in (local, lambda: [1, 2], partial(states_of_this_module)):
        with pytest.raises(ValueError, match="run must be a function at the top of a module, "):
            assert_deterministic(run, processes=2)
    for wrong in (1, -1):
        with pytest.raises(ValueError, match=f"processes must be 0 or at least 2, not {wrong}"):
            assert_deterministic(states_of_this_module, processes=wrong)
    with pytest.raises(ValueError, match="with both_cores=True at least 2"):
        assert_deterministic(states_of_this_module, both_cores=True)


def test_a_state_that_is_always_nan_never_changed() -> None:
    with pytest.raises(AssertionError, match="the state never changed in 3 ticks"):
        assert_deterministic(lambda: [{"x": float("nan")}] * 3)


# Where they are used


def test_they_work_in_unittest() -> None:
    class Suite(unittest.TestCase):
        def test_sound(self) -> None:
            assert_fps_invariant(sound, TWO)
            assert_deterministic(lambda: sound(TWO[0]))

        def test_faulty(self) -> None:
            assert_fps_invariant(scales_by_frame_time, TWO)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Suite).run(result)
    assert result.testsRun == 2
    assert result.errors == []
    assert [test.id().rsplit(".", 1)[-1] for test, _ in result.failures] == ["test_faulty"]


def python(code: str, *flags: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(code)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_python_without_asserts_still_fails(tmp_path: Path) -> None:
    code = """
        from fixedstep.testing import assert_deterministic
        assert False, "this is left out"
        runs = iter([[1, 2], [1, 3]])
        assert_deterministic(lambda: next(runs), runs=2)
    """
    run = python(code, "-O", folder=tmp_path)
    assert run.returncode == 1
    assert run.stderr.endswith("AssertionError: tick 1: 2 in run 1 and 3 in run 2\n")


def test_without_hypothesis_the_rest_works_and_the_error_says_what_to_install(
    tmp_path: Path,
) -> None:
    code = """
        import sys
        sys.modules["hypothesis"] = None             # as if it were not installed
        import fixedstep.testing as testing
        testing.assert_deterministic(lambda: [1, 2])
        for strategy in (testing.hostile_timestamps, testing.frame_timestamps):
            try:
                strategy()
            except ImportError as error:
                print(error)
    """
    run = python(code, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.endswith("pip install 'fixedstep[testing]' brings it")


def test_hypothesis_is_not_loaded_before_it_is_asked_for(tmp_path: Path) -> None:
    code = """
        import sys
        import fixedstep.testing as testing
        before = "hypothesis" in sys.modules
        testing.hostile_timestamps()
        print(before, "hypothesis" in sys.modules)
    """
    run = python(code, folder=tmp_path)
    assert run.stdout == "False True\n", run.stderr


# Strategies

_SEEN: dict[str, set[str]] = {"hostile": set(), "traces": set()}


@given(nows=hostile_timestamps())
def test_hostile_timestamps_are_64_bit_integers(nows: list[Timestamp]) -> None:
    assert len(nows) <= 50
    assert all(type(now) is int and 0 <= now <= U64_MAX for now in nows)
    for earlier, later in pairwise(nows):
        _SEEN["hostile"].add(
            "back" if later < earlier else "stands" if later == earlier else "forward"
        )
        if later - earlier > 365 * 86_400 * SECOND:
            _SEEN["hostile"].add("jump")
        if later - earlier in (16_666_666, 16_666_667, 16_666_668):
            _SEEN["hostile"].add("a step, or beside one")
    if U64_MAX in nows:
        _SEEN["hostile"].add("the end")


def test_hostile_timestamps_really_are() -> None:
    """Of the examples that the test above was given."""
    test_hostile_timestamps_are_64_bit_integers()
    assert _SEEN["hostile"] == {
        "back",
        "stands",
        "forward",
        "jump",
        "a step, or beside one",
        "the end",
    }


@given(nows=frame_timestamps(max_delta=Nanos(250 * MS)))
def test_frame_timestamps_never_go_back_and_have_no_long_frame(nows: list[Timestamp]) -> None:
    assert 1 <= len(nows) <= 50
    deltas = [later - earlier for earlier, later in pairwise(nows)]
    assert all(0 <= delta <= 250 * MS for delta in deltas)
    if 16_666_667 in deltas:
        _SEEN["traces"].add("a frame of 60 Hz")
    if 0 in deltas:
        _SEEN["traces"].add("no time at all")
    if deltas and max(deltas) > 50 * MS:
        _SEEN["traces"].add("a stall")
    if nows[0] > 2**32:
        _SEEN["traces"].add("a late start")


def test_frame_timestamps_have_frames_of_all_kinds() -> None:
    """Of the examples that the test above was given."""
    test_frame_timestamps_never_go_back_and_have_no_long_frame()
    assert _SEEN["traces"] == {"a frame of 60 Hz", "no time at all", "a stall", "a late start"}


@given(data=st.data(), most=st.integers(1, 5), longest=st.sampled_from([0, 1, 17 * MS]))
def test_the_limits_of_the_strategies_hold(data: st.DataObject, most: int, longest: int) -> None:
    assert len(data.draw(hostile_timestamps(max_frames=most))) <= most
    nows = data.draw(frame_timestamps(max_frames=most, max_delta=Nanos(longest)))
    assert 1 <= len(nows) <= most
    assert all(later - earlier <= longest for earlier, later in pairwise(nows))


@pytest.mark.parametrize("strategy", [hostile_timestamps, frame_timestamps])
def test_limits_that_are_none_are_refused(strategy: Any) -> None:
    with pytest.raises(ValueError, match=r"max_frames must be .* at least 1, not 0"):
        strategy(max_frames=0)
    with pytest.raises(TypeError, match="max_frames must be a whole number of frames"):
        strategy(max_frames=1.5)


@given(nows=frame_timestamps(max_delta=Nanos(2**63)))
def test_frame_timestamps_end_where_timestamps_do(nows: list[Timestamp]) -> None:
    assert nows == sorted(nows)
    loop = FrameLoop(start=nows[0])
    for now in nows:
        loop.begin_frame(now)
