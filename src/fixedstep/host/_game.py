"""What every host does with the game it is given: make one of a plain function, log faults."""

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


class Notices:
    """Logs what a player sees as a game that jumps or stops: dropped ticks and clamped time every
    five seconds, beside ``on_drop(report)`` each time, and the traceback of a tick that raised."""

    def __init__(
        self, game: GameLoop, on_drop: Callable[[FrameReport], object] | None = None
    ) -> None:
        if on_drop is not None and not callable(on_drop):
            raise TypeError(f"on_drop must be a function of one FrameReport, not {shown(on_drop)}")
        self._game = game
        self._fault = game.fault
        self._on_drop = on_drop
        self._dropped = self._clamped = 0
        self._since: int | None = None

    def see(self, report: FrameReport, now: Timestamp) -> None:
        """Look at the game and the report after a frame."""
        if self._game.fault is not self._fault:
            self._fault = fault = self._game.fault
            if fault is not None:
                _LOGGER.error(
                    "tick %d raised %s; the game is faulted and stops until it has a new world",
                    fault.tick,
                    type(fault.error).__name__,
                    exc_info=fault.error,
                )
        if not (report.dropped or report.clamped or self._dropped or self._clamped):
            return
        self._dropped += report.dropped
        self._clamped += report.clamped
        if self._on_drop is not None and (report.dropped or report.clamped):
            self._on_drop(report)
        if self._since is None or now - self._since >= _QUIET:
            _LOGGER.warning(
                "%d ticks were dropped and %d ms were clamped up to tick %d: frames took longer "
                "than budget and max_delta allow",
                self._dropped,
                self._clamped // 10**6,
                report.tick,
            )
            self._dropped = self._clamped = 0
            self._since = now
