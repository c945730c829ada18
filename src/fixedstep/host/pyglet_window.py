"""A window of pyglet, whose own loop calls one function of this file as often as it can.

Left alone are ``pyglet.clock``'s intervals. Those that were missed become one call, and the next is
counted from now, so every late frame lowers the rate; the ``dt`` of a call is a float, and not
always the time that passed. Waiting is the pacer's here, and ``dt`` is not looked at. Functions
that the game schedules itself still run, between frames.

It refuses to replace pyglet's event loop, which every other window of the program may run on.
"""

from __future__ import annotations

from typing import Any

from .paced_window import PacedWindow
from .toolkits import load


class PygletWindow(PacedWindow):
    """Runs a game in a ``pyglet.window.Window``.

    The arguments are `PacedWindow`'s. ``render`` takes the place of the window's ``on_draw`` and
    begins with ``window.clear()``. Open the window with ``vsync=False``, or pass ``frames=None``;
    two that wait, wait for each other.

        window = pyglet.window.Window(640, 360, vsync=False)
        PygletWindow(world.step, draw, timestep=Rate(20)).run(window)
    """

    def run(self, window: Any) -> None:
        """Run pyglet's loop until ``window`` is closed.

        Handlers for ``on_draw``, ``on_close``, ``on_hide`` and ``on_show`` are pushed. A handler
        that the game pushes later comes first; its ``on_close`` refuses by returning True. Raises
        RuntimeError if it was run to its end before.
        """
        self._refuse_if_closed()
        pyglet = load("pyglet")
        self._window = window
        window.push_handlers(
            on_draw=self._draw,
            on_close=self._request_close,
            on_hide=self._concealed,
            on_show=self._shown,
        )
        pyglet.clock.schedule(self._frame)
        try:
            pyglet.app.run(interval=None)
        finally:
            pyglet.clock.unschedule(self._frame)

    def _frame(self, dt: float) -> None:
        self.begin_frame()
        if self._window.context is not None and not self.binding.dormant:
            self._draw_and_flip()

    def _draw(self) -> bool:
        self.binding.draw()
        return True  # handled: the window's own on_draw would draw over it

    def _draw_and_flip(self) -> None:
        self._window.draw(0.0)

    def _pump(self) -> None:
        # The loop has delivered what came before the wait; this is what came in it. A window that
        # the game closed itself has no context and no events; the loop is about to end.
        if self._window.context is not None:
            self._window.dispatch_events()

    def _close(self) -> None:
        self._window.close()
