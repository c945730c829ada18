"""Drawing objects that other people made between two ticks: sprites, rects, cameras.

`History` needs a world that is written with it. The sprites of a toolkit have plain attributes,
which the toolkit's own drawing code reads. `Interpolated` sets those to the interpolated place
while a frame is drawn, and back to the current place after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, NamedTuple, SupportsFloat

from .. import FramePlan
from .._arguments import shown
from .game_loop import FrameReport
from .history import _between, _like, _share


class _Attribute(NamedTuple):
    """What moves: ``owner(item).name``, or ``item.name`` where there is no owner."""

    read: Callable[[Any], Any]
    owner: Callable[[Any], Any] | None
    name: str
    turns: bool


class Interpolated:
    """Draws a group of objects between their previous and their current place.

    ``items`` is a list, a sprite group or another collection of objects; it is read anew in every
    tick and frame, so objects may be added and removed. ``attributes`` name what moves: numbers, or
    tuples of numbers. Names may have dots. Attributes in ``degrees`` are angles, which turn the
    short way: from 350 to 10 through 0.

    >>> from types import SimpleNamespace as Sprite
    >>> sprites = [Sprite(angle=350, x=0, y=5)]
    >>> moving = Interpolated(sprites, ("x", "y"), degrees=("angle",))
    >>> moving.capture()                          # at the start of every tick
    >>> sprites[0].x, sprites[0].angle = 10, 10
    >>> with moving.at(0.5):                      # in every frame, with the alpha to draw at
    ...     print(sprites)
    [namespace(angle=0.0, x=5.0, y=5)]
    >>> sprites
    [namespace(angle=10, x=10, y=5)]

    The attributes of pyglet's sprites are ``("x", "y")`` and, in degrees, ``("rotation",)``; those
    of arcade's ``("center_x", "center_y")`` and ``("angle",)``; those of pygame's rects ``("x",
    "y")`` and of its sprites ``("rect.x", "rect.y")``. A ``Rect`` of pygame holds whole numbers and
    cuts the fraction off; an ``FRect`` does not.

    Raises TypeError for items that can be read only once, such as a generator, and for names that
    are not text, and ValueError if nothing is named.
    """

    __slots__ = ("_attributes", "_drawing", "_items", "_previous")

    def __init__(
        self,
        items: Iterable[object],
        attributes: Iterable[str] = ("x", "y"),
        *,
        degrees: Iterable[str] = (),
    ) -> None:
        if not hasattr(items, "__iter__") or iter(items) is items:
            raise TypeError(
                f"items must be a list or another collection, not {type(items).__name__} "
                f"{shown(items)}; it is read in every tick and frame"
            )
        self._items = items
        self._attributes = [
            *_attributes(attributes, "attributes", turns=False),
            *_attributes(degrees, "degrees", turns=True),
        ]
        if not self._attributes:
            raise ValueError("attributes must name what moves, not (); ('x', 'y') is the default")
        # By id, since sprites need no hash; kept with its item, so that no other gets the same id.
        self._previous: dict[int, tuple[object, list[Any]]] = {}
        self._drawing = False

    def capture(self) -> None:
        """Begin a tick: the current place of each object becomes its previous one.

        Raises AttributeError for an object without one of the attributes, TypeError for an
        attribute that is no number and no tuple, and RuntimeError while the objects are drawn.
        """
        self._check_current("capture")
        attributes = self._attributes
        self._previous = {
            id(item): (item, [_number(each.read(item), each.name) for each in attributes])
            for item in self._items
        }

    def teleport(self, item: object) -> None:
        """Draw this object at its current place until the next ``capture``: call it when the object
        jumped. Objects added since the last ``capture`` are drawn so anyway."""
        self._previous.pop(id(item), None)

    @contextmanager
    def at(self, when: SupportsFloat | FramePlan | FrameReport) -> Iterator[None]:
        """A context in which the objects are at their interpolated place: draw them in it.

        ``when`` is an alpha, ``0 .. 1``, a plan, or the report of a frame. Every attribute is
        set back at the end of the context, to the very value it had.

        Raises TypeError and ValueError as `History.at` does, and RuntimeError within another
        context of the same objects.
        """
        share = float(_share(when))
        self._check_current("at")
        moved: list[tuple[object, str, Any]] = []
        self._drawing = True
        try:
            if share != 1:
                self._move(share, moved)
            yield
        finally:
            for owner, name, value in reversed(moved):
                setattr(owner, name, value)
            self._drawing = False

    def _move(self, share: float, moved: list[tuple[object, str, Any]]) -> None:
        """Set what moved to its interpolated value, and note what to set it back to."""
        for key, item in {id(item): item for item in self._items}.items():
            found = self._previous.get(key)
            if found is None:
                continue
            for each, before in zip(self._attributes, found[1], strict=True):
                owner = item if each.owner is None else each.owner(item)
                now = getattr(owner, each.name)
                if now != before:
                    moved.append((owner, each.name, now))
                    setattr(owner, each.name, _drawn(before, now, share, each.turns))

    def _check_current(self, what: str) -> None:
        if self._drawing:
            raise RuntimeError(
                f"{what} was called while these objects are drawn at an interpolated place; leave "
                "the context of at() first"
            )

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self._attributes)
        return f"<Interpolated {names} of {len(self._previous)} objects>"


def _attributes(names: Iterable[str], what: str, *, turns: bool) -> list[_Attribute]:
    listed = [names] if isinstance(names, str) else list(names)
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in listed):
        raise TypeError(
            f"{what} must be names of attributes, not {type(names).__name__} {shown(names)}; "
            "('x', 'y') are two"
        )
    made = []
    for name in listed:
        path, _, last = name.rpartition(".")
        made.append(_Attribute(attrgetter(name), attrgetter(path) if path else None, last, turns))
    return made


def _number(value: Any, name: str) -> Any:
    """The value, if it is one that cannot change: of a list this would keep what it becomes."""
    if not isinstance(value, (float, int, tuple)) and not hasattr(type(value), "__float__"):
        raise TypeError(
            f"{name} must be a number or a tuple of numbers, not {type(value).__name__} "
            f"{shown(value)}; name its parts, as in '{name}.x'"
        )
    return value


def _drawn(before: Any, now: Any, share: float, turns: bool) -> Any:
    if turns:  # from the current angle, so that it is reached without a seam
        return now - ((now - before + 180) % 360 - 180) * (1 - share)
    if isinstance(now, tuple):
        return _like(now, [_between(a, b, share) for a, b in zip(before, now, strict=True)])
    return _between(before, now, share)
