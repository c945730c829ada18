"""The ball in a window of arcade: ``python examples/ball/in_arcade.py``. P pauses, N steps."""

import arcade
from model import HEIGHT, RADIUS, WIDTH, Ball, on_key

from fixedstep import Alpha, Rate
from fixedstep.host import ArcadeWindow, KeyEvent
from fixedstep.sim import GameLoop

ball = Ball()
game = GameLoop(ball.step, Rate(20))
window = arcade.Window(WIDTH, HEIGHT, "ball")


def hotkey(event: KeyEvent) -> bool:
    """A key that went down."""
    return bool(event.pressed and on_key(game, chr(event.symbol) if event.symbol < 128 else ""))


def draw(alpha: Alpha) -> None:
    """Draw the ball between its last two places."""
    window.clear()
    x, y = ball.at(alpha)
    arcade.draw_circle_filled(x, y, RADIUS, arcade.color.ORANGE)


ArcadeWindow(game, draw, window=window, hotkey=hotkey, fps=60).run()
