"""A game without a window, in an asyncio event loop: a server, or a headless run in real time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, SupportsIndex

from .._arguments import nanos
from ..time import Nanos, Timestamp, saturating_since
from . import monotonic
from ._game import Notices, game_of, session_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from ..sim.game_loop import FrameReport, GameLoop
    from ..sim.recordable import Recordable

_SECOND = 10**9
#: How often a stopped game is looked at, for verbs with a time; any other verb wakes it at once.
_IDLE = Nanos(100_000_000)


async def _asyncio_sleep(span: Nanos) -> None:
    await asyncio.sleep(span / _SECOND)


class TickServer:
    """Runs a game in real time beside other coroutines.

    ``game`` is a `GameLoop`, a `Session`, or a plain function ``step(step)`` with the keywords of
    `GameLoop`. Each tick runs at the moment it is due; a tick that blocks delays the event loop and
    shows as clamped time and dropped ticks. ``least_period`` is the shortest time between two
    frames in nanoseconds: at high speeds several ticks then share a frame. ``on_drop(report)`` is
    called for each frame that dropped ticks or clamped time; a warning is logged too, at most every
    five seconds.

    ``clock()`` returns nanoseconds, and ``sleep(nanos)`` is awaited; tests pass their own.

    >>> from fixedstep import Rate
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
        self.game: GameLoop = game_of(game, game_loop)
        """The game this server runs."""
        self.report: FrameReport | None = None
        """The report of the last frame, or None before the first."""
        self._least_period = Nanos(nanos(least_period, "least_period"))
        self._notices = Notices(self.game, on_drop)
        self._clock = clock
        self._sleep = sleep
        self._stopping = self._waking = False
        self._task: asyncio.Task[Any] | None = None
        self._sleeping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def post(self, message: Recordable, at: SupportsIndex | None = None) -> None:
        """`Session.post`, from any thread. Raises TypeError for a plain step function."""
        session_of(self.game, "post").post(message, at)

    def stop(self) -> None:
        """End `run` before its next tick, from any thread. Messages that wait are kept.

        Within a tick, the other ticks of its frame are abandoned. A server that does not run is not
        changed.
        """
        self._stopping = True
        self._wake()
        try:
            if asyncio.get_running_loop() is self._loop:
                self.game.end_frame()
        except RuntimeError:  # called from a thread without an event loop
            pass

    def run(self) -> Coroutine[Any, Any, None]:
        """Run until `stop`. Called again, it goes on; the time in between is excluded.

        Raises what a tick of a plain step function raises, and RuntimeError while it runs already.
        An exception in a tick of a session is logged with its traceback; the server goes on without
        ticks until the session is given a new world.
        """
        if not self._running():
            self._stopping = False  # a stop is for the run that was last asked for
        return self._run()

    def _running(self) -> bool:
        """Asked of the task, which is over whatever ended it."""
        return self._task is not None and not self._task.done()

    async def _run(self) -> None:
        if self._running():
            raise RuntimeError("this server runs already; stop it and await its run first")
        self._task = asyncio.current_task()
        self._loop, self._sleeping = asyncio.get_running_loop(), asyncio.Event()
        self.game._wake = self._wake
        self.game.exclude()
        started = None
        try:
            while not self._stopping:
                if not await self._reached(started) or self._stopping:
                    continue
                started = self._clock()
                self.report = report = self.game.frame(started)
                self._notices.see(report, started)
        finally:
            self._task = self._loop = self.game._wake = None

    def _target(self, started: Timestamp | None) -> Timestamp | None:
        """When the next frame starts; None for at once."""
        if started is None or self._clock() < started:  # the clock went back
            return None
        due = self.game.next_due
        if due is None:
            return Timestamp(started + _IDLE)
        return Timestamp(max(due, started + self._least_period))

    async def _reached(self, started: Timestamp | None) -> bool:
        """Let others run until the next frame starts, at least once. False if something woke the
        game first, which may have changed when that is."""
        assert self._sleeping is not None
        self._waking = False
        self._sleeping.clear()
        if self._stopping:  # by another thread, since the last look
            return False
        left = self._left(started)
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
            left = self._left(started)
            if not left:
                return True
            if self._sleeping.is_set():
                return False

    def _left(self, started: Timestamp | None) -> Nanos:
        target = self._target(started)
        return Nanos(0) if target is None else saturating_since(target, self._clock())

    def _wake(self) -> None:
        loop, sleeping = self._loop, self._sleeping
        if self._waking or loop is None or sleeping is None:
            return
        self._waking = True  # many posts from other threads wake once
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(sleeping.set)
