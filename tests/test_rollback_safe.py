"""`assert_rollback_safe` finds each planted fault, with its tick, its path and both values."""

from __future__ import annotations

import copy
import random
from typing import Any, ClassVar

import numpy as np
import pytest

from fixedstep.sim import Outbox, Random, TimerQueue
from fixedstep.testing import assert_rollback_safe

INPUTS = [(tick % 3, tick % 5) for tick in range(60)]


class Ball:
    __slots__ = ("speed", "x")

    def __init__(self) -> None:
        self.x = self.speed = 0


class World:
    """All that a world may have."""

    def __init__(self) -> None:
        self.ball = Ball()
        self.random = Random(3)
        self.outbox = Outbox()
        self.timers: TimerQueue[int] = TimerQueue(64)
        self.grid = np.zeros(4)
        self.names = {"a": {1, 2}, "b": set()}
        self.me = self
        self.rule = self.push
        self.heat = float("nan")

    def push(self, force: int) -> None:
        self.ball.speed += force

    def step(self, inputs: tuple[int, int], tick: Any) -> None:
        self.rule(inputs[0] - 1)
        self.ball.x += self.ball.speed + self.random.below(3)
        self.grid[tick.number % 4] += inputs[1]
        self.names["b"].add(tick.number % 7)
        tick.outbox.stage("roll")
        for timer in tick.due:
            self.ball.x += timer.payload


def test_a_world_with_everything_in_it_is_safe() -> None:
    assert_rollback_safe(World, INPUTS)
    assert_rollback_safe(World, iter(INPUTS), every=7, distance=3)


def test_a_forgotten_field_is_named() -> None:
    def forgetful(world: World) -> World:
        made = copy.deepcopy(world)
        made.ball.speed = 0
        return made

    with pytest.raises(AssertionError) as found:
        assert_rollback_safe(World, [(1, 0)] * 5 + [(2, 0)] * 9, copy=forgetful)
    assert str(found.value) == (
        "tick 6, ball.speed: 1 in the world and 0 in its copy; "
        "the copy has another value there, so copy it too"
    )


def test_shared_state_is_named() -> None:
    def sharing(world: World) -> World:
        made = copy.deepcopy(world)
        made.ball = world.ball
        return made

    with pytest.raises(AssertionError, match=r"^tick 0, ball\.\w+: \S+ before and \S+ after a"):
        assert_rollback_safe(World, INPUTS, copy=sharing)


def test_the_global_random_is_found() -> None:
    class Global(World):
        def step(self, inputs: Any, tick: Any) -> None:
            super().step(inputs, tick)
            if tick.number == 12:
                self.ball.x = random.randrange(10**9)

    with pytest.raises(AssertionError, match=r"^tick 12, ball\.x: \d+ in the world and \d+ in"):
        assert_rollback_safe(Global, INPUTS)


def test_a_counter_of_the_class_is_found() -> None:
    class Counted(World):
        made: ClassVar[int] = 0

        def step(self, inputs: Any, tick: Any) -> None:
            super().step(inputs, tick)
            if tick.number >= 4:
                type(self).made += 1
                self.ball.speed = self.made

    with pytest.raises(
        AssertionError,
        match=r"^tick 4, ball\.\w+: \d+ in the world and \d+ in its copy; the tick depends on",
    ):
        assert_rollback_safe(Counted, INPUTS)


def test_a_lambda_that_holds_the_old_world_is_found() -> None:
    class Held(World):
        def __init__(self) -> None:
            super().__init__()
            self.hook: Any = lambda: setattr(self.ball, "x", self.ball.x + 1)

        def step(self, inputs: Any, tick: Any) -> None:
            self.hook()

    with pytest.raises(AssertionError, match=r"^tick 0, hook\.closure_0: the same .* and a "):
        assert_rollback_safe(Held, INPUTS)


def test_a_run_that_compares_nothing_is_an_error() -> None:
    class Still:
        def step(self, inputs: Any, tick: Any) -> None:
            pass

    with pytest.raises(ValueError, match="at least one tick"):
        assert_rollback_safe(World, [])
    with pytest.raises(ValueError, match="never changes in 60 ticks"):
        assert_rollback_safe(Still, INPUTS)
