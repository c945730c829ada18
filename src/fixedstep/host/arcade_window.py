"""A window of arcade, which calls ``on_update`` and ``on_draw``.

Left alone are its rates and ``on_fixed_update``. Its updates are an interval of pyglet's, with the
faults of one (see pyglet_window.py). Its fixed updates run one more than ``fixed_frame_cap`` in a
frame, and what is beyond the cap is never given up, so a long stall is played back at the cap for
as long as it takes. Steps come from `FrameLoop` here, at most ``budget`` in a frame.

It refuses to subclass ``arcade.Window``: a game has its own, or views.
"""

from __future__ import annotations

from typing import Any

from .pyglet_window import PygletWindow
from .toolkits import load

# How often arcade tries: ten times in the shortest frame there is. Far from a nanosecond, which a
# float of seconds can no longer add to a clock that has run for a hundred days.
_SECONDS_BETWEEN_CALLS = 1 / 10_000


class ArcadeWindow(PygletWindow):
    """Runs a game in an ``arcade.Window``, which is a window of pyglet.

    The arguments are `PacedWindow`'s. ``render`` takes the place of the window's ``on_draw`` and
    begins with ``window.clear()``; the window's own ``on_update`` is called too. Open the window
    with ``vsync=False``, which is arcade's default, or pass ``frames=None``; two that wait, wait
    for each other.

        window = arcade.Window(640, 360)
        ArcadeWindow(world.step, draw, timestep=Rate(20)).run(window)
    """

    def run(self, window: Any) -> None:
        """Run arcade's loop until ``window`` is closed.

        Handlers for ``on_update``, ``on_draw``, ``on_close``, ``on_hide`` and ``on_show`` are
        pushed, and the window's rates are set so that the pacer decides. A handler that the game
        pushes later comes first; its ``on_close`` refuses by returning True. Raises RuntimeError if
        it was run to its end before.
        """
        self._refuse_if_closed()
        arcade = load("arcade")
        self._window = window
        handlers = {
            "on_update": self._update,
            "on_draw": self._draw,
            "on_close": self._request_close,
            "on_hide": self._concealed,
            "on_show": self._shown,
        }
        window.push_handlers(**handlers)
        window.set_update_rate(_SECONDS_BETWEEN_CALLS)
        window.set_draw_rate(_SECONDS_BETWEEN_CALLS)
        try:
            arcade.run()
        finally:
            # A window that was closed goes on calling on_update when the next one runs.
            window.remove_handlers(**handlers)

    def _update(self, delta_time: float) -> None:
        self.begin_frame()
