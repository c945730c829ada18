"""A window of pygame-ce, whose loop is written here: the toolkit has none.

Left alone is ``pygame.time.Clock``. Its ``tick`` waits for whole milliseconds, so 60 frames a
second become 62.5, and returns whole milliseconds, so a schedule fed with them loses what is below
one in every frame: of frames of 16.4 ms it sees 16.

It refuses to open the window, which has more flags than an adapter should repeat, and to hide
pygame's events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .paced_window import PacedWindow
from .toolkits import load

if TYPE_CHECKING:
    from collections.abc import Callable


class PygameWindow(PacedWindow):
    """Runs a game in the window that ``pygame.display.set_mode`` opened.

    The arguments are `PacedWindow`'s; ``render`` draws on ``pygame.display.get_surface()`` and the
    flip comes after it. Nothing is drawn while the window is minimised or hidden.

        pygame.init()
        surface = pygame.display.set_mode((640, 360))
        PygameWindow(world.step, lambda alpha: draw(surface, alpha), timestep=Rate(20)).run()
    """

    def run(self, event: Callable[[Any], object] | None = None) -> None:
        """Run until somebody closes the window; ``pygame.quit`` is left to the caller.

        ``event`` is called with every pygame event, and what it returns True for goes no further:
        that is how a request to close is refused. Raises RuntimeError when no window is open, or
        if it was run to its end before.
        """
        self._refuse_if_closed()
        self._pygame = pygame = load("pygame")
        if pygame.display.get_surface() is None:
            raise RuntimeError(
                "no pygame window is open; call pygame.display.set_mode((640, 360)) first"
            )
        self._event = event
        self._seen_after = {
            pygame.WINDOWMINIMIZED: False,
            pygame.WINDOWHIDDEN: False,
            pygame.WINDOWRESTORED: True,
            pygame.WINDOWMAXIMIZED: True,
            pygame.WINDOWSHOWN: True,
        }
        while not self.binding.closed:
            self.begin_frame()
            self._draw_and_flip()

    def _pump(self) -> None:
        seen = None
        for event in self._pygame.event.get():
            if self._event is not None and self._event(event) is True:
                continue
            if event.type == self._pygame.QUIT:
                self.binding.request_close()
            seen = self._seen_after.get(event.type, seen)
        # The last one counts: a window that opens is shown, hidden and shown, in one frame.
        if seen is not None:
            self.set_visible(seen)

    def _draw_and_flip(self) -> None:
        if self.binding.draw():
            self._pygame.display.flip()

    def _close(self) -> None:
        self._pygame.display.quit()
