"""A window of pyglet, driven frame by frame in place of ``pyglet.app.run``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import Rate
from ._window import Window
from .toolkits import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import Alpha
    from ..sim.game_loop import GameLoop
    from ..sim.input import Input


class KeyEvent(NamedTuple):
    """A key of a pyglet or arcade window, as ``hotkey`` is given it.

    >>> KeyEvent(symbol=112, modifiers=0, pressed=True).symbol == ord("p")
    True
    """

    symbol: int
    """The key: ``pyglet.window.key.P`` and so on."""
    modifiers: int
    """The modifiers held with it: ``pyglet.window.key.MOD_SHIFT`` and so on, added up."""
    pressed: bool
    """Whether the key went down; else it went up."""


class PygletWindow(Window):
    """Runs a game in ``window``, a ``pyglet.window.Window``.

    The other arguments are `Window`'s. ``draw(alpha)`` takes the place of the window's ``on_draw``
    and begins with ``window.clear()``; with ``draw=None``, ``on_draw`` draws. The flip comes after
    it. ``hotkey`` is called with a `KeyEvent`.

        window = pyglet.window.Window(640, 360)
        PygletWindow(step, draw, window=window, rate=Rate(60)).run()

    ``pyglet.app.run`` is not used. Functions scheduled on ``pyglet.clock`` are called once per
    frame. Whether the window waits for the display is read from ``window.vsync``.

    Handlers that the game pushes after this object was made are called first, and one that returns
    True keeps the event from it: an ``on_close`` to keep the window open, for example.
    """

    def __init__(
        self,
        game: GameLoop | Callable[..., object],
        draw: Callable[[Alpha], object] | None = None,
        sample: Callable[[Input], object] | None = None,
        *,
        window: Any,
        **options: Any,
    ) -> None:
        super().__init__(game, draw, sample, **options)
        self._window = window
        self._pyglet: Any = None
        self._handlers: dict[str, Callable[..., object]] = {
            "on_close": self._on_close,
            "on_hide": lambda: self._see(False),
            "on_show": lambda: self._see(True),
            "on_activate": lambda: self._focus(True),
            "on_deactivate": self._on_deactivate,
            "on_key_press": lambda symbol, modifiers: self._on_key(symbol, modifiers, True),
            "on_key_release": lambda symbol, modifiers: self._on_key(symbol, modifiers, False),
        }

    def _open(self) -> None:
        if self._pyglet is not None:
            return
        self._pyglet = load("pyglet")
        self._window.push_handlers(**self._handlers)
        # Outside pyglet's own loop a window queues what it dispatches, on_draw for one; its loop
        # ends that in the same way.
        self._window._enable_event_queue = False
        refresh = getattr(self._window.screen.get_mode(), "rate", None)
        self._start_snap(Rate(round(refresh)) if refresh else None)

    def _leave(self) -> None:
        if self._pyglet is not None:
            self._window.remove_handlers(**self._handlers)
            self._pyglet = None

    def _pump(self) -> None:
        self._open()
        window, pyglet = self._window, self._pyglet
        pyglet.clock.tick()
        pyglet.app.platform_event_loop.dispatch_posted_events()
        if window.context is not None:
            self._vsync = bool(window.vsync)
            window.switch_to()
            window.dispatch_events()
        self._closed = window.context is None  # the game has closed it

    def _show(self, alpha: Alpha) -> None:
        window = self._window
        if window.context is None:  # a tick has closed it
            return
        window.switch_to()
        self._paint(alpha)
        if window.context is not None:
            window.flip()

    def _paint(self, alpha: Alpha) -> None:
        if self._draw is not None:
            self._draw(alpha)
        else:
            self._window.dispatch_event("on_draw")

    def _close(self) -> None:
        display = self._window.display
        self._window.close()
        if hasattr(display, "select"):
            # On X, the request waits in a buffer, which is sent once no event is left to read.
            display.select()

    def _on_close(self) -> bool:
        self.close()
        return True  # the window's own handler would close it within the frame

    def _on_deactivate(self) -> None:
        self._focus(False)
        # On X, pyglet takes the next press of a key whose release it missed for a repeat.
        getattr(self._window, "pressed_keys", set()).clear()

    def _on_key(self, symbol: int, modifiers: int, pressed: bool) -> bool:
        if self._takes(KeyEvent(symbol, modifiers, pressed)):
            return True
        self._key(symbol, pressed)
        return False
