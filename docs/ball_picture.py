"""Draws docs/ball.gif: one ball, drawn with and without interpolation, and a stall.

    python -m pip install '.[plot]'
    python docs/ball_picture.py

Each picture is a frame of a `GameLoop` whose clock is the time in the animation. The words below
the balls come from its frame reports.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fixedstep import Rate
from fixedstep.sim import GameLoop, History

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL import Image

MS = 1_000_000
FRAME_MS, STALL_MS, STALL_AT, END = 30, 810, 1_740, 6_000
LEFT, RIGHT, SPEED, RADIUS = 45, 595, 20, 24  # pixels; the ball is back after 55 ticks
RATE, BUDGET = 10, 3
SIZE = (640, 304)
LANES = {"without interpolation": 74, "with interpolation": 186}
GROUND, LANE, TEXT, BALL = "#20242c", "#2f3541", "#e8eaee", "#ffa500"


class Frame(NamedTuple):
    """One picture of the animation."""

    milliseconds: int
    """How long it is shown."""
    at_tick: float
    between: float
    """Where the ball is drawn without and with interpolation, in pixels."""
    words: str
    stalled: bool


class World:
    """The ball, and the way it goes."""

    def __init__(self) -> None:
        self.x = History(LEFT)
        self.speed = SPEED

    def step(self, _: object) -> None:
        """One tick."""
        self.x.capture()
        if not LEFT <= self.x.current + self.speed <= RIGHT:
            self.speed = -self.speed
        self.x.set(self.x.current + self.speed)


def frames() -> Iterator[Frame]:
    """What a game loop has to draw, with one stall."""
    world = World()
    game = GameLoop(world.step, rate=Rate(RATE), budget=BUDGET, max_delta=None)
    normal = f"{RATE} ticks and {1_000 // FRAME_MS} frames a second"
    words, said_until, now = normal, 0, 0
    while now < END:
        report = game.frame(now * MS)
        if report.dropped:
            due = report.ran + report.dropped
            words = f"{due} ticks were due: {report.ran} run, {report.dropped} dropped"
            said_until = now + 1_800
        elif now >= said_until:
            words = normal
        drawn = (world.x.current, world.x.at(report.alpha))
        if now == STALL_AT:
            yield Frame(STALL_MS, *drawn, f"a stall: no frame for {STALL_MS / 1_000:.1f} s", True)
            now += STALL_MS
        else:
            yield Frame(FRAME_MS, *drawn, words, report.dropped > 0 or now < said_until)
            now += FRAME_MS


def drawn(frame: Frame) -> Image.Image:
    """The picture of a frame, drawn at twice the size so that edges are smooth."""
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (2 * SIZE[0], 2 * SIZE[1]), GROUND)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(2 * 27)
    for (name, y), x in zip(LANES.items(), (frame.at_tick, frame.between), strict=True):
        draw.text((2 * 16, 2 * (y - 64)), name, TEXT, font)
        draw.rounded_rectangle(
            [2 * (LEFT - 30), 2 * (y - 28), 2 * (RIGHT + 30), 2 * (y + 28)], 2 * 28, LANE
        )
        center = (2 * x, 2 * y)
        draw.circle(center, 2 * RADIUS, BALL)
    color = BALL if frame.stalled else TEXT
    draw.text((2 * 16, 2 * 246), frame.words, color, ImageFont.load_default(2 * 31))
    return picture.resize(SIZE)


def main() -> None:
    """Draw them all, with one palette of sixteen colours for the animation."""
    from PIL import Image

    shown = [*frames()]
    pictures = [drawn(frame) for frame in shown]
    palette_of = Image.new("RGB", (SIZE[0], 2 * SIZE[1]))
    stall = next(number for number, frame in enumerate(shown) if frame.stalled)
    for row, number in enumerate((0, stall)):
        palette_of.paste(pictures[number], (0, row * SIZE[1]))
    palette = palette_of.quantize(16)
    first, *rest = [picture.quantize(palette=palette, dither=0) for picture in pictures]
    first.save(
        Path(__file__).with_name("ball.gif"),
        save_all=True,
        append_images=rest,
        duration=[frame.milliseconds for frame in shown],
        loop=0,
    )


if __name__ == "__main__":
    main()
