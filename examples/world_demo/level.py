"""Lengths, speeds and levels: the numbers of the world, all of them integers.

A length is counted in sixty-thousandths of a world unit. Sixty ticks a second divide it, so one
unit a second is exactly 1,000 a tick, and half of that at half deflection is exactly 500.
"""

from __future__ import annotations

from typing import NamedTuple

UNIT = 60_000
"""A world unit. Positions, half sizes and distances are in these parts of one."""

TICKS_PER_SECOND = 60
UNIT_PER_SECOND = UNIT // TICKS_PER_SECOND
"""A speed of one world unit a second, in parts a tick."""

TENTH = UNIT // 10
HALF = UNIT // 2

PLAYER_HALF = (4 * TENTH, 4 * TENTH)
GUARD_HALF = (4 * TENTH, 4 * TENTH)
COIN_HALF = (2 * TENTH, 2 * TENTH)
BOUND = 10 * UNIT
"""The world ends here, to the left and to the right."""

ATTACK_RADIUS = 2 * UNIT
GUARD_REACH = 9 * TENTH
COOLDOWN_TICKS = 30
DECISION_TICKS = 4
COIN_TICKS = 300
ENTITIES = 48


class Box(NamedTuple):
    """A static box: its centre and its half sizes."""

    x: int
    y: int
    half_x: int
    half_y: int

    @property
    def top(self) -> int:
        """Its upper side."""
        return self.y + self.half_y


class Level(NamedTuple):
    """What a world is made from."""

    name: str
    seed: int
    gravity: int
    """What falls gains in speed, in parts of a unit a tick, each tick."""
    player: tuple[int, int]
    guard: tuple[int, int]
    exit: Box
    floor: Box


_EXIT = Box(8 * UNIT, 0, HALF, UNIT)
_FLOOR = Box(0, -4 * UNIT, 10 * UNIT, HALF)

YARD = Level("yard", 42, 0, (-6 * UNIT, 0), (2 * UNIT, 0), _EXIT, _FLOOR)
PIT = Level("pit", 42, 200, (-6 * UNIT, 0), (2 * UNIT, 0), _EXIT, _FLOOR)

LEVELS = {level.name: level for level in (YARD, PIT)}
