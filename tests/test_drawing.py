"""Sprites of toolkits, drawn between two ticks: moved for the drawing and put back after it."""

from __future__ import annotations

from types import SimpleNamespace as Sprite
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, Rate, StepBudget, Timestamp, Timestep
from fixedstep.sim.drawing import Interpolated

if TYPE_CHECKING:
    from tests.conftest import Core


class WholeRect:
    """A rect that holds whole numbers, cuts fractions off and has no hash, as pygame's does."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, x: int, y: int) -> None:
        self._place = x, y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WholeRect) and self._place == other._place

    @property
    def topleft(self) -> tuple[int, int]:
        return self._place

    @topleft.setter
    def topleft(self, place: tuple[float, float]) -> None:
        self._place = int(place[0]), int(place[1])

    @property
    def x(self) -> int:
        return self._place[0]

    @x.setter
    def x(self, x: float) -> None:
        self._place = int(x), self._place[1]


def drawn(moving: Interpolated, alpha: Any, read: Any) -> Any:
    with moving.at(alpha):
        return read()


def test_sprites_are_drawn_between_their_places_and_put_back_after_it() -> None:
    sprites = [Sprite(x=0.0, y=10.0), Sprite(x=100.0, y=0.0)]
    moving = Interpolated(sprites)
    moving.capture()
    sprites[0].x, sprites[1].y = 4.0, -8.0
    places = [drawn(moving, alpha, lambda: repr(sprites)) for alpha in (0, 0.25, 1)]
    assert places == [
        repr([Sprite(x=x, y=10.0), Sprite(x=100.0, y=y)])
        for x, y in ((0.0, 0.0), (1.0, -2.0), (4.0, -8.0))
    ]
    assert sprites == [Sprite(x=4.0, y=10.0), Sprite(x=100.0, y=-8.0)]


def test_a_game_needs_two_lines_for_it() -> None:
    """At 20 frames and 10 ticks a second the sprite is seen in steps of half a tick."""
    sprite = Sprite(x=0)
    moving = Interpolated([sprite], ("x",))
    loop, seen = FrameLoop(Rate(10), StepBudget(5), start=Timestamp(0)), []
    for frame in range(1, 7):
        plan = loop.begin_frame(Timestamp(frame * 50_000_000))
        for _ in plan.steps():
            moving.capture()
            sprite.x += 10
        with moving.at(plan):
            seen.append(sprite.x)
    assert seen == [0, 0, 5, 10, 15, 20]
    assert sprite.x == 30


def test_a_plan_and_the_report_of_a_frame_say_where_to_draw(core: Core) -> None:
    class Report(NamedTuple):
        plan: Any
        alpha: float

    plan = core.FrameLoop(Timestep(40), start=Timestamp(0)).begin_frame(Timestamp(50))
    sprite = Sprite(x=0)
    moving = Interpolated([sprite], ("x",))
    moving.capture()
    sprite.x = 8
    for when, x in ((plan, 2), (Report(plan, plan.alpha()), 2), (Report(plan, 1.0), 8)):
        assert drawn(moving, when, lambda: sprite.x) == x


@pytest.mark.parametrize(
    ("before", "now", "alpha", "expected"),
    [
        (350, 10, 0.5, 0),
        (10, 350, 0.5, 360),
        (350, 10, 0, -10),
        (350, 10, 1, 10),
        (0, 90, 0.5, 45),
        (720, 30, 0.5, 15),
        (-170, 170, 0.5, 180),
        (5, 5, 0.5, 5),
    ],
)
def test_an_angle_turns_the_short_way(before: int, now: int, alpha: float, expected: int) -> None:
    """N33: from 350 to 10 degrees it turned through 180."""
    sprite = Sprite(angle=before)
    moving = Interpolated([sprite], (), degrees=("angle",))
    moving.capture()
    sprite.angle = now
    assert drawn(moving, alpha, lambda: sprite.angle) == expected
    assert sprite.angle == now


@given(before=st.integers(-1000, 1000), now=st.integers(-1000, 1000), quarters=st.integers(0, 4))
def test_an_angle_never_turns_more_than_half_a_turn(before: int, now: int, quarters: int) -> None:
    sprite = Sprite(angle=before)
    moving = Interpolated([sprite], (), degrees=("angle",))
    moving.capture()
    sprite.angle = now
    angle = drawn(moving, quarters / 4, lambda: sprite.angle)
    assert abs(now - angle) <= 180 * (1 - quarters / 4)
    if quarters == 0:
        assert (angle - before) % 360 == 0


def test_an_object_without_a_hash_that_holds_whole_numbers_is_put_back_exactly() -> None:
    rect = WholeRect(-3, 7)
    for name in ("topleft", "x"):
        moving = Interpolated([rect], (name,))
        moving.capture()
        rect.topleft = (3, 9)
        assert drawn(moving, 0.75, lambda: rect.x) == 1
        assert rect == WholeRect(3, 9)
        rect.topleft = (-3, 7)


def test_attributes_that_overlap_are_put_back_too() -> None:
    rect = WholeRect(0, 0)
    moving = Interpolated([rect], ("x", "topleft"))
    moving.capture()
    rect.topleft = (8, 6)
    assert drawn(moving, 0.5, lambda: rect.topleft) != (8, 6)
    assert rect == WholeRect(8, 6)


def test_a_name_with_dots_moves_what_belongs_to_an_object() -> None:
    sprite = Sprite(rect=WholeRect(0, 0), body=Sprite(place=Sprite(z=1.0)))
    moving = Interpolated([sprite], ("rect.x", "body.place.z"))
    moving.capture()
    sprite.rect.x, sprite.body.place.z = 8, 2.0
    seen = drawn(moving, 0.5, lambda: (sprite.rect.x, sprite.body.place.z))
    assert seen == (4, 1.5)
    assert (sprite.rect.x, sprite.body.place.z) == (8, 2.0)


def test_a_named_tuple_keeps_its_names() -> None:
    class Place(NamedTuple):
        x: float
        y: float

    sprite = Sprite(position=Place(0, 1))
    moving = Interpolated([sprite], ("position",))
    moving.capture()
    sprite.position = now = Place(4, 1)
    assert drawn(moving, 0.5, lambda: sprite.position) == Place(2.0, 1)
    assert sprite.position is now


def test_objects_may_come_and_go_and_jump() -> None:
    old, new, gone, jumped = (Sprite(x=0) for _ in range(4))
    sprites = [old, gone, jumped]
    moving = Interpolated(sprites, ("x",))
    moving.capture()
    sprites[:] = [old, jumped, new]
    for sprite in (old, new, gone, jumped):
        sprite.x = 10
    moving.teleport(jumped)
    moving.teleport(new)
    seen = drawn(moving, 0.5, lambda: [sprite.x for sprite in (old, new, gone, jumped)])
    assert seen == [5.0, 10, 10, 10]
    moving.capture()
    jumped.x = 20
    assert drawn(moving, 0.5, lambda: jumped.x) == 15.0


def test_an_object_that_is_listed_twice_is_moved_once() -> None:
    sprite = Sprite(x=0)
    moving = Interpolated([sprite, sprite], ("x",))
    moving.capture()
    sprite.x = 8
    assert drawn(moving, 0.5, lambda: sprite.x) == 4.0
    assert sprite.x == 8


def test_what_did_not_move_is_not_touched() -> None:
    class Counting:
        sets = 0

        def __setattr__(self, name: str, value: object) -> None:
            Counting.sets += 1
            object.__setattr__(self, name, value)

    sprite: Any = Counting()
    sprite.x = sprite.y = 5
    moving = Interpolated([sprite])
    moving.capture()
    sprite.x = 6
    assert Counting.sets == 3
    assert drawn(moving, 1, lambda: sprite.x) == 6
    assert Counting.sets == 3
    assert drawn(moving, 0.5, lambda: sprite.x) == 5.5
    assert Counting.sets == 5


def test_everything_is_put_back_when_drawing_fails() -> None:
    class Stubborn:
        def __init__(self) -> None:
            self._x = 0.0

        @property
        def x(self) -> float:
            return self._x

        @x.setter
        def x(self, x: float) -> None:
            if x == 4.0:
                raise ValueError("no such place")
            self._x = x

    first, stubborn = Sprite(x=0), Stubborn()
    moving = Interpolated([first, stubborn], ("x",))
    moving.capture()
    first.x = stubborn.x = 8
    with pytest.raises(ValueError, match="no such place"), moving.at(0.5):
        raise AssertionError("the context begins only when everything is placed")
    assert (first.x, stubborn.x) == (8, 8)

    def draw() -> None:
        assert (first.x, stubborn.x) == (2.0, 2.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        drawn(moving, 0.25, draw)
    assert (first.x, stubborn.x) == (8, 8)
    moving.capture()


def test_a_tick_or_another_drawing_within_a_drawing_is_refused() -> None:
    """What they would read is not where things are."""
    sprite = Sprite(x=0)
    moving = Interpolated([sprite], ("x",))
    moving.capture()
    sprite.x = 8
    with moving.at(0.5):
        with pytest.raises(RuntimeError, match="capture was called while these objects are drawn"):
            moving.capture()
        with pytest.raises(RuntimeError, match="at was called"), moving.at(0.5):
            pass
        assert sprite.x == 4.0
    assert sprite.x == 8


@pytest.mark.parametrize(
    ("arguments", "named", "error", "text"),
    [
        ((None,), {}, TypeError, "items must be a list or another collection, not NoneType"),
        ((iter([]),), {}, TypeError, "items must be"),
        ((map(str, []),), {}, TypeError, "not map"),
        (([], "xy"), {}, TypeError, "attributes must be names of attributes, not str 'xy'"),
        (([], [1]), {}, TypeError, "attributes must be"),
        (([],), {"degrees": "angle"}, TypeError, "degrees must be"),
        (([], ()), {}, ValueError, "must name what moves"),
        (([], [""]), {}, TypeError, "attributes must be"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: Any, named: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        Interpolated(*arguments, **named)


@pytest.mark.parametrize(
    ("bad", "error", "text"),
    [
        (Sprite(x=[1, 2]), TypeError, "x must be a number or a tuple of numbers, not list"),
        (Sprite(x=None), TypeError, "x must be a number"),
        (Sprite(y=1), AttributeError, "x"),
    ],
)
def test_an_object_that_cannot_be_captured_leaves_the_places_before(
    bad: Any, error: type[Exception], text: str
) -> None:
    sprite = Sprite(x=0)
    sprites = [sprite]
    moving = Interpolated(sprites, ("x",))
    moving.capture()
    sprite.x = 8
    sprites.append(bad)
    with pytest.raises(error, match=text):
        moving.capture()
    sprites.pop()
    assert drawn(moving, 0.5, lambda: sprite.x) == 4.0
    for wrong in (-1, 1.5, "0.5", None):
        with pytest.raises((TypeError, ValueError), match="alpha must be"):
            drawn(moving, wrong, lambda: None)
    assert repr(moving) == "<Interpolated x of 1 objects>"
