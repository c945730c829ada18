"""The ball in a window of pyglet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..pyglet_window import PygletWindow
from ..toolkits import load, no_display
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
    from collections.abc import Callable

    from ... import Alpha
    from .model import Ball

_NO_DISPLAY = (
    "NoSuchDisplayException",
    "NoSuchConfigException",
    "NoOpenGLException",
    "ImportError",
)

FONTS = ("DejaVu Sans Mono", "Consolas", "Menlo", "monospace")


def play(ball: Ball, **paced: Any) -> None:
    """Open a window and run until it is closed; ``paced`` is what `PacedWindow` takes.

    Raises MissingToolkit and NoDisplay.
    """
    pyglet = load("pyglet")
    view = open_window(
        "pyglet",
        lambda: pyglet.window.Window(
            WIDTH, HEIGHT + STRIP, caption=CAPTION, resizable=True, vsync=False
        ),
    )
    shapes, batch = pyglet.shapes, pyglet.graphics.Batch()
    background = shapes.Rectangle(0, 0, WIDTH, HEIGHT, color=FIELD, batch=batch)
    groups = [pyglet.graphics.Group(order=order) for order in range(2)]
    rings = [
        shapes.Arc(0, 0, RADIUS + 3, color=RING, batch=batch, group=groups[0]) for _ in range(2)
    ]
    disc = shapes.Circle(0, 0, RADIUS, color=BALL, batch=batch, group=groups[1])
    labels = [
        pyglet.text.Label(
            x=10,
            y=HEIGHT + STRIP - 22 - 24 * row,
            font_name=FONTS,
            font_size=9,
            color=(*TEXT, 255),
            batch=batch,
        )
        for row in range(2)
    ]
    pyglet.gl.glClearColor(*(part / 255 for part in BACKGROUND), 1.0)

    def render(alpha: Alpha) -> None:
        picture = ball.picture(alpha)
        rings[0].position, rings[1].position = picture.previous, picture.current
        disc.position = picture.ball
        for label, line in zip(labels, picture.lines, strict=True):
            label.text = line
        view.clear()
        batch.draw()

    def on_key_press(symbol: int, modifiers: int) -> None:
        ball.key(pyglet.window.key.symbol_string(symbol).lower())

    view.push_handlers(on_key_press=on_key_press)
    window = PygletWindow(ball.step, render, **paced)
    ball.attach(window)
    window.run(view)
    background.delete()


def open_window(toolkit: str, make: Callable[[], Any]) -> Any:
    """The window that ``make`` opens. Also arcade's, whose windows are pyglet's.

    Raises NoDisplay. pyglet has two exceptions of the same name for it, arcade one of its own, and
    a machine without OpenGL an ImportError, so they are told by name.
    """
    try:
        return make()
    except Exception as error:
        if type(error).__name__ in _NO_DISPLAY:
            raise no_display(toolkit, error) from None
        raise
