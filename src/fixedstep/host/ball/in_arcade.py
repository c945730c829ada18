"""The ball in a window of arcade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arcade_window import ArcadeWindow
from ..toolkits import load
from .in_pyglet import FONTS, open_window
from .model import (
    BACKGROUND,
    BALL,
    CAPTION,
    FIELD,
    HEIGHT,
    RADIUS,
    RING,
    STRIP,
    TEXT,
    WIDTH,
)

if TYPE_CHECKING:
    from ... import Alpha
    from .model import Ball


def play(ball: Ball, **paced: Any) -> None:
    """Open a window and run until it is closed; ``paced`` is what `PacedWindow` takes.

    Raises MissingToolkit and NoDisplay.
    """
    # arcade looks for a display when it is imported.
    arcade = open_window("arcade", lambda: load("arcade"))
    view = open_window(
        "arcade", lambda: arcade.Window(WIDTH, HEIGHT + STRIP, CAPTION, resizable=True)
    )
    texts = [
        arcade.Text("", 10, HEIGHT + STRIP - 22 - 24 * row, TEXT, 9, font_name=FONTS)
        for row in range(2)
    ]

    def render(alpha: Alpha) -> None:
        picture = ball.picture(alpha)
        view.clear(color=BACKGROUND)
        arcade.draw_lbwh_rectangle_filled(0, 0, WIDTH, HEIGHT, FIELD)
        for x, y in (picture.previous, picture.current):
            arcade.draw_circle_outline(x, y, RADIUS + 3, RING, num_segments=32)
        arcade.draw_circle_filled(*picture.ball, RADIUS, BALL, num_segments=32)
        for text, line in zip(texts, picture.lines, strict=True):
            text.text = line
            text.draw()

    def on_key_press(symbol: int, modifiers: int) -> None:
        ball.key(load("pyglet").window.key.symbol_string(symbol).lower())

    view.push_handlers(on_key_press=on_key_press)
    window = ArcadeWindow(ball.step, render, **paced)
    ball.attach(window)
    window.run(view)
