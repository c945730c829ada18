"""A window without a toolkit, whose clock is a number: for the tests of what all windows share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fixedstep import Nanos, Timestamp
from fixedstep.host._window import Window

if TYPE_CHECKING:
    from collections.abc import Callable

MS = 10**6
SECOND = 10**9


class Toolkit(Window):
    """Writes down what it is asked for, and does in a pump what the test put into ``events``."""

    game: Any

    def __init__(self, game: Any, *arguments: Any, **options: Any) -> None:
        self.at = 4 * SECOND
        self.log: list[str] = []
        self.sleeps: list[int] = []
        self.alphas: list[float] = []
        self.events: list[Callable[[], object]] = []
        self.flip = 0  # nanoseconds that the display blocks
        super().__init__(game, *arguments, clock=self.clock, sleep=self.sleep, **options)

    def clock(self) -> Timestamp:
        return Timestamp(self.at)

    def sleep(self, span: Nanos) -> None:
        self.sleeps.append(span)
        self.at += span

    def frame(self) -> Any:
        """Wait and run one frame, as ``run`` does; its report."""
        if left := self.wait():
            self.sleep(left)
        self.run_frame()
        return self.report

    def frames(self, count: int) -> list[int]:
        """The ticks that each of so many frames ran."""
        return [self.frame().ran for _ in range(count)]

    def _pump(self) -> None:
        self.log.append("events")
        events, self.events = self.events, []
        for event in events:
            event()

    def _show(self, alpha: float) -> None:
        self.alphas.append(alpha)
        if self._draw is not None:
            self._draw(alpha)  # type: ignore[arg-type]
        self.log.append("flip")
        self.at += self.flip

    def _close(self) -> None:
        self.log.append("close")
