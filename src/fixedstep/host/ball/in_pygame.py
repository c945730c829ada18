"""The ball in a window of pygame-ce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..pygame_window import PygameWindow
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
    from ... import Alpha
    from .model import Ball


def play(ball: Ball, **paced: Any) -> None:
    """Open a window and run until it is closed; ``paced`` is what `PacedWindow` takes.

    Raises MissingToolkit and NoDisplay.
    """
    pygame = load("pygame")
    try:
        pygame.display.init()  # and no more: to start sound where there is none takes long
        if pygame.display.get_driver() == "offscreen":
            # what SDL takes where there is nothing; a window there is seen by nobody
            raise no_display("pygame", "SDL has its offscreen driver alone")
        surface = pygame.display.set_mode((WIDTH, HEIGHT + STRIP), pygame.RESIZABLE)
    except pygame.error as error:
        raise no_display("pygame", error) from None
    pygame.display.set_caption(CAPTION)
    pygame.font.init()
    font = pygame.font.SysFont("dejavusansmono,consolas,menlo,monospace", 12)

    def place(at: tuple[float, float]) -> tuple[int, int]:
        return round(at[0]), round(STRIP + HEIGHT - at[1])  # y grows downwards here

    def render(alpha: Alpha) -> None:
        picture = ball.picture(alpha)
        surface.fill(BACKGROUND)
        pygame.draw.rect(surface, FIELD, (0, STRIP, WIDTH, HEIGHT))
        for ring in (picture.previous, picture.current):
            pygame.draw.circle(surface, RING, place(ring), RADIUS + 3, width=1)
        pygame.draw.circle(surface, BALL, place(picture.ball), RADIUS)
        for row, line in enumerate(picture.lines):
            surface.blit(font.render(line, True, TEXT), (10, 10 + 24 * row))

    def event(event: Any) -> None:
        if event.type == pygame.KEYDOWN:
            ball.key(pygame.key.name(event.key))

    window = PygameWindow(ball.step, render, **paced)
    ball.attach(window)
    try:
        window.run(event)
    finally:
        pygame.quit()
