"""A window of pygame-ce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import Rate
from ._window import Window
from .toolkits import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import Alpha
    from ..sim.game_loop import GameLoop
    from ..sim.input import Input


class PygameWindow(Window):
    """Runs a game in the window that ``pygame.display.set_mode`` opened.

    The arguments are `Window`'s, and ``vsync``: whether the window was opened with ``vsync=1``.
    ``draw(alpha)`` draws on ``pygame.display.get_surface()``; the flip comes after it. ``hotkey``
    is called with every pygame event, the request to close included.

        pygame.init()
        surface = pygame.display.set_mode((640, 360))
        PygameWindow(step, draw, rate=Rate(60)).run()

    ``pygame.time.Clock`` is not used: it waits and measures in whole milliseconds.
    """

    def __init__(
        self,
        game: GameLoop | Callable[..., object],
        draw: Callable[[Alpha], object] | None = None,
        sample: Callable[[Input], object] | None = None,
        *,
        vsync: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(game, draw, sample, **options)
        self._vsync = bool(vsync)
        self._pygame: Any = None

    def _open(self) -> None:
        if self._pygame is not None:
            return
        self._pygame = pygame = load("pygame")
        if pygame.display.get_surface() is None:
            raise RuntimeError(
                "no pygame window is open; call pygame.display.set_mode((640, 360)) first"
            )
        self._seen_after = {
            pygame.WINDOWMINIMIZED: False,
            pygame.WINDOWHIDDEN: False,
            pygame.WINDOWRESTORED: True,
            pygame.WINDOWMAXIMIZED: True,
            pygame.WINDOWSHOWN: True,
        }
        refresh = pygame.display.get_current_refresh_rate()
        self._start_snap(Rate(refresh) if refresh > 0 else None)

    def _pump(self) -> None:
        self._open()
        pygame = self._pygame
        seen = None
        for event in pygame.event.get():
            if self._takes(event):
                continue
            if event.type == pygame.QUIT:
                self.close()
            elif event.type == pygame.KEYDOWN or event.type == pygame.KEYUP:
                self._key(event.key, event.type == pygame.KEYDOWN)
            elif event.type == pygame.WINDOWFOCUSLOST or event.type == pygame.WINDOWFOCUSGAINED:
                self._focus(event.type == pygame.WINDOWFOCUSGAINED)
            seen = self._seen_after.get(event.type, seen)
        if seen is not None:  # the last one counts: a window that opens is shown, hidden and shown
            self._see(seen)

    def _show(self, alpha: Alpha) -> None:
        if self._draw is not None:
            self._draw(alpha)
        self._pygame.display.flip()

    def _close(self) -> None:
        if self._pygame is not None:
            self._pygame.display.quit()
