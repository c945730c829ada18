"""What there is to draw: values that were copied out of the world, and no way back into it.

A picture is taken of a world between two ticks and belongs to whoever draws it. When a tick fails,
the last picture is still whole, while the world it came from is not.
"""

from __future__ import annotations

from typing import NamedTuple

from fixedstep.time import Alpha

from .level import UNIT
from .world import Body, World

DRAWS = 64


class Draw(NamedTuple):
    """One thing to draw, in world units."""

    layer: int
    sequence: int
    kind: str
    x: float
    y: float
    half_x: float
    half_y: float


class Picture(NamedTuple):
    """A frame's worth of things, in the order they are drawn."""

    tick: int
    draws: tuple[Draw, ...]
    health: int
    score: int
    falls: int


def take(world: World, alpha: Alpha) -> Picture:
    """Extract a picture at ``alpha`` between the previous tick and this one.

    Raises RuntimeError for more than fits: what is required must not quietly disappear.
    """
    draws = [
        Draw(
            0,
            -1,
            "floor",
            world.level.floor.x / UNIT,
            world.level.floor.y / UNIT,
            world.level.floor.half_x / UNIT,
            world.level.floor.half_y / UNIT,
        ),
        _draw(1, "exit", world.exit.body, alpha),
        *(_draw(2, "coin", coin.body, alpha) for coin in world.coins.values()),
        *(_draw(3, "guard", guard.body, alpha) for guard in world.guards.values()),
        _draw(4, "player", world.player.body, alpha),
    ]
    if len(draws) > DRAWS:
        raise RuntimeError(f"{len(draws)} things are more than the {DRAWS} that a picture holds")
    player = world.player
    return Picture(world.tick, tuple(sorted(draws)), player.health, world.score, world.falls)


def _draw(layer: int, kind: str, body: Body, alpha: Alpha) -> Draw:
    x, y = body.at.at(alpha)
    half_x, half_y = body.half
    return Draw(layer, body.sequence, kind, x / UNIT, y / UNIT, half_x / UNIT, half_y / UNIT)
