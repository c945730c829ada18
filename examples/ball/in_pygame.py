"""The ball in a window of pygame-ce: ``python examples/ball/in_pygame.py``. P pauses, N steps."""

from typing import Any

import pygame
from model import HEIGHT, RADIUS, WIDTH, Ball, on_key

from fixedstep import Alpha, Rate
from fixedstep.host import PygameWindow
from fixedstep.sim import GameLoop

ball = Ball()
game = GameLoop(ball.step, Rate(20))


def hotkey(event: Any) -> bool:
    """A key that went down."""
    return bool(event.type == pygame.KEYDOWN and on_key(game, pygame.key.name(event.key)))


def draw(alpha: Alpha) -> None:
    """Draw the ball between its last two places."""
    surface.fill("black")
    pygame.draw.circle(surface, "orange", ball.at(alpha), RADIUS)


pygame.display.init()
surface = pygame.display.set_mode((WIDTH, HEIGHT))
pygame.display.set_caption("ball")
PygameWindow(game, draw, hotkey=hotkey, fps=60).run()
