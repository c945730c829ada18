"""A window of arcade, driven frame by frame in place of ``arcade.run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..time import saturating_since
from .pyglet_window import PygletWindow
from .toolkits import load

if TYPE_CHECKING:
    from .. import Alpha


class ArcadeWindow(PygletWindow):
    """Runs a game in ``window``, an ``arcade.Window``, with or without Views.

    The arguments are `PygletWindow`'s. In each frame ``on_update(delta_time)`` of the window and of
    the current View is called once, with the seconds since the last frame, and the picture is drawn
    once: ``draw(alpha)`` takes the place of the window's ``on_draw``, and then the View's
    ``on_draw`` is called, for a menu or a score above the game. With ``draw=None``, ``on_draw`` of
    the View and the window draw alone; ``alpha`` is where to draw between two ticks.

        window = arcade.Window(640, 360)
        ArcadeWindow(step, draw, window=window, rate=Rate(60)).run()

    A View that is shown while the game runs is given keys first, as ever in arcade.
    """

    def _open(self) -> None:
        if self._pyglet is None:
            load("arcade")
            super()._open()
            # arcade schedules its frames as soon as a window is made. Two loops would draw twice.
            load("pyglet").clock.unschedule(self._window._dispatch_frame)

    def _pump(self) -> None:
        before = self._started
        super()._pump()
        if not self._closed:
            span = 0 if before is None else saturating_since(self._clock(), before)
            self._window._dispatch_updates(span / 10**9)  # its clocks are moved by nothing public

    def _paint(self, alpha: Alpha) -> None:
        super()._paint(alpha)
        view = self._window.current_view
        if self._draw is not None and view is not None:
            view.on_draw()
