"""What every host does with the game it is given: make one of a plain function, report drops."""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any

from .._arguments import shown
from ..sim.game_loop import GameLoop
from ..sim.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..sim.game_loop import FrameReport
    from ..time import Timestamp

_LOGGER = logging.getLogger("fixedstep")
_QUIET = 5 * 10**9


def game_of(game: GameLoop | Callable[..., object], options: dict[str, Any]) -> GameLoop:
    """The game to drive: the one given, or a `GameLoop` made of a step function and options.

    Raises TypeError for options beside a game, which has its own, and for a coroutine function.
    """
    if inspect.iscoroutinefunction(game) or inspect.iscoroutinefunction(
        getattr(game, "__call__", None)  # noqa: B004 - the method itself is looked at
    ):
        raise TypeError(
            f"step must be a plain function, not the coroutine function {shown(game)}; work that "
            "waits belongs in a task, which posts its result"
        )
    if not isinstance(game, GameLoop):
        return GameLoop(game, **options)
    if options:
        raise TypeError(
            f"{', '.join(options)}= is for a plain step function, and this is a "
            f"{type(game).__name__}; pass it to {type(game).__name__}(...) instead"
        )
    if game._run_tick is None:
        raise TypeError(
            "this game has no step function, so its caller runs the ticks; GameLoop(step) has one"
        )
    return game


def session_of(game: GameLoop, what: str) -> Session[Any]:
    """The game as a session. Raises TypeError for a plain step function, which has no input."""
    if not isinstance(game, Session):
        raise TypeError(
            f"{what} needs a Session: a plain step function is given neither input nor messages; "
            "make a class with step(self, input, tick) and pass Session(World)"
        )
    return game


class DropNotice:
    """Tells about dropped ticks: ``on_drop(report)`` each time, a log line every five seconds."""

    def __init__(self, on_drop: Callable[[FrameReport], object] | None) -> None:
        if on_drop is not None and not callable(on_drop):
            raise TypeError(f"on_drop must be a function of one FrameReport, not {shown(on_drop)}")
        self._on_drop = on_drop
        self._dropped = 0
        self._since: int | None = None

    def see(self, report: FrameReport, now: Timestamp) -> None:
        """Look at the report of a frame."""
        if report.dropped:
            self._dropped += report.dropped
            if self._on_drop is not None:
                self._on_drop(report)
        if self._dropped and (self._since is None or now - self._since >= _QUIET):
            _LOGGER.warning(
                "%d ticks were dropped up to tick %d: frames took longer than the budget allows",
                self._dropped,
                report.tick,
            )
            self._dropped, self._since = 0, now
