"""A game without a window, in an asyncio event loop: a server, or a headless run in real time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, SupportsIndex

from .._arguments import shown
from ..time import Nanos, Timestamp, saturating_since
from . import monotonic
from ._game import DropNotice, game_of, session_of
from .monotonic import Waiter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..sim.game_loop import FrameReport, GameLoop
    from ..sim.recordable import Recordable

_SECOND = 10**9
#: How often a stopped game is looked at, for verbs with a time; any other verb wakes it at once.
_IDLE = Nanos(100_000_000)


async def _asyncio_sleep(nanos: Nanos) -> None:
    await asyncio.sleep(nanos / _SECOND)


class TickServer:
    """Runs a game in real time beside other coroutines.

    ``game`` is a `GameLoop`, a `Session`, or a plain function ``step(step)`` with the keywords of
    `GameLoop`. Each tick runs at the moment it is due; a tick that blocks delays the event loop and
    shows as dropped ticks. ``least_period`` is the shortest time between two frames in nanoseconds:
    at high speeds several ticks then share a frame. ``on_drop(report)`` is called for each frame
    that dropped ticks; a warning is logged too, at most every five seconds.

    ``clock()`` returns nanoseconds, and ``sleep(nanos)`` is awaited; tests pass their own.

    >>> def step(step):
    ...     print("tick", step.tick)
    ...     server.stop()
    >>> server = TickServer(step, rate=Rate(1000))
    >>> asyncio.run(server.run())
    tick 0
    """

    def __init__(
        self,
        game: GameLoop | Callable[..., object],
        *,
        least_period: SupportsIndex = 1_000_000,
        on_drop: Callable[[FrameReport], object] | None = None,
        clock: Callable[[], Timestamp] = monotonic.now,
        sleep: Callable[[Nanos], Awaitable[object]] = _asyncio_sleep,
        **game_loop: Any,
    ) -> None:
        if asyncio.iscoroutinefunction(game):
            raise TypeError(
                f"step must be a plain function, not the coroutine function {shown(game)}; work "
                "that waits belongs in a task, which posts its result"
            )
        self.game: GameLoop = game_of(game, game_loop)
        """The game this server runs."""
        self.report: FrameReport | None = None
        """The report of the last frame, or None before the first."""
        self._least_period = Nanos(int(least_period))
        self._drops = DropNotice(on_drop)
        self._clock = clock
        self._sleep = sleep
        self._waiter = Waiter(spin=Nanos(0), clock=clock)
        self._running = self._stopping = False
        self._sleeping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def post(self, message: Recordable, at: SupportsIndex | None = None) -> None:
        """`Session.post`, from any thread. Raises TypeError for a plain step function."""
        session_of(self.game, "post").post(message, at)

    def stop(self) -> None:
        """End `run` before its next tick, from any thread. Messages that wait are kept."""
        self._stopping = True
        self._wake()

    async def run(self) -> None:
        """Run until `stop`. Called again, it goes on; the time in between is excluded.

        Raises what a tick of a plain step function raises, and RuntimeError while it runs already.
        A session that is faulted goes on without ticks until it is given a new world.
        """
        if self._running:
            raise RuntimeError("this server runs already; stop it and await its run first")
        self._running = True
        self._loop, self._sleeping = asyncio.get_running_loop(), asyncio.Event()
        self.game._wake = self._wake
        self.game.exclude()
        started = None
        try:
            while not self._stopping:
                await self._until(self._target(started))
                if self._stopping:
                    break
                started = self._clock()
                self.report = report = self.game.frame(started)
                self._drops.see(report, started)
        finally:
            self._running = self._stopping = False
            self.game._wake = None

    def _target(self, started: Timestamp | None) -> Timestamp:
        now = self._clock()
        if started is None:
            return now
        due = self.game.next_due
        if due is None:
            return Timestamp(now + _IDLE)
        return Timestamp(max(due, started + self._least_period))

    async def _until(self, target: Timestamp) -> None:
        """Let others run until the target, at least once, and until something wakes the game."""
        assert self._sleeping is not None
        self._sleeping.clear()
        left = saturating_since(target, self._clock())
        while True:
            asleep = asyncio.ensure_future(self._sleep(left))
            woken = asyncio.ensure_future(self._sleeping.wait())
            try:
                await asyncio.wait((asleep, woken), return_when=asyncio.FIRST_COMPLETED)
                if asleep.done():
                    asleep.result()
            finally:
                for task in (asleep, woken):
                    task.cancel()
            if self._sleeping.is_set():
                return
            left = saturating_since(target, self._clock())
            if not left:
                return

    def _wake(self) -> None:
        loop, sleeping = self._loop, self._sleeping
        if loop is not None and sleeping is not None and self._running:
            with suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(sleeping.set)
