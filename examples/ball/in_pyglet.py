"""The ball in a window of pyglet: ``python examples/ball/in_pyglet.py``. P pauses, N steps."""

import pyglet
from model import HEIGHT, RADIUS, WIDTH, Ball, on_key

from fixedstep import Alpha, Rate
from fixedstep.host import KeyEvent, PygletWindow
from fixedstep.sim import GameLoop

ball = Ball()
game = GameLoop(ball.step, Rate(20))
window = pyglet.window.Window(WIDTH, HEIGHT, "ball")
circle = pyglet.shapes.Circle(0, 0, RADIUS, color=(255, 165, 0))


def hotkey(event: KeyEvent) -> bool:
    """A key that went down."""
    name = pyglet.window.key.symbol_string(event.symbol).lower()
    return bool(event.pressed and on_key(game, name))


def draw(alpha: Alpha) -> None:
    """Draw the ball between its last two places."""
    window.clear()
    circle.position = ball.at(alpha)
    circle.draw()


PygletWindow(game, draw, window=window, hotkey=hotkey, fps=60).run()
