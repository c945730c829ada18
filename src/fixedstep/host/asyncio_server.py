"""A tick server beside other coroutines: it yields between frames, paces, and outlives a slow step.

The frames start on the grid of a `FramePacer` and the ticks come from a `FrameLoop`; this file adds
the waiting that does not block, and a queue. Messages wait in the queue until a tick takes them. It
has no bound, since a server that silently forgets what a client said is worse than one that grows;
``waiting`` is there to be watched, and a bound belongs where clients are read.

It refuses to open sockets, and to run a step in a thread: a step that blocks delays everything in
its event loop, and is then reported as late frames and dropped steps.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from .. import FrameLoop, FrameStats, Rate, StepBudget
from .._arguments import shown
from ..time import Timestamp
from . import monotonic
from .pacer import FramePacer, StandstillWatch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any

    from .. import Step
    from .pacer import PacerReport

M = TypeVar("M")
_SECOND = 10**9
_TWENTY = Rate(20)


def _waits(step: object) -> str:
    return (
        "step must be a plain function that runs the tick, and nothing to be awaited, as is "
        f"{shown(step)}; work that waits belongs in a task, which posts its result"
    )


class TickServer(Generic[M]):
    """Runs ``step(step, messages)`` at ``rate`` ticks a second inside an event loop.

    ``messages`` is everything posted since the tick before, oldest first. ``clock`` returns
    nanoseconds; ``sleep`` takes seconds, as ``asyncio.sleep`` does.

    >>> def step(step, messages):
    ...     print(step.tick, messages)
    ...     server.stop()
    >>> server = TickServer(step, rate=Rate(1000))
    >>> server.post("hello")
    >>> asyncio.run(server.run())
    0 ['hello']

    Raises what `FrameLoop` and `FramePacer` raise for a bad rate or budget, and TypeError for a
    ``step`` that is a coroutine function: its ticks would never run.
    """

    def __init__(
        self,
        step: Callable[[Step, list[M]], object],
        *,
        rate: Rate = _TWENTY,
        budget: StepBudget = StepBudget.DEFAULT,
        clock: Callable[[], Timestamp] = monotonic.now,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if not isinstance(rate, Rate):
            raise TypeError(
                f"rate must be a Rate in ticks a second, not {type(rate).__name__} {shown(rate)}; "
                "Rate(20) is twenty"
            )
        FrameLoop(rate, budget)  # refused here and not in run
        if inspect.iscoroutinefunction(step):
            raise TypeError(_waits(step))
        self._step = step
        self._rate = rate
        self._budget = budget
        self._clock = clock
        self._sleep = sleep
        self._pacer = FramePacer(rate, clock=clock)
        self._stats = FrameStats()
        self._queue: deque[M] = deque()
        self._next_tick = 0
        self._abandoned = 0
        self._asked = False
        self._running = False
        self._stopping = False

    def post(self, message: M) -> None:
        """Queue a message for the next tick. From the event loop's own thread."""
        self._queue.append(message)

    def stop(self) -> None:
        """End `run` before its next tick; a run that was asked for and has not begun, as soon as it
        does. What is still queued stays. Where nothing runs, it does nothing."""
        self._stopping = self._running or self._asked

    def run(self) -> Coroutine[Any, Any, None]:
        """Tick until `stop`: a coroutine. A step that raises ends it with that exception, a clock
        that stands still with RuntimeError, a step that returns an awaitable with TypeError. Called
        again, it goes on with the next number; time in between was no time of the server. Awaited
        while it runs, it raises RuntimeError.

        Yields at least once a frame, also when it is late, so that a step which is always too slow
        cannot keep other coroutines from running.
        """
        if not self._running:
            self._asked, self._stopping = True, False
        return self._run()

    async def _run(self) -> None:
        if self._running:
            raise RuntimeError(
                "this server runs already; stop it, and await its run, before another"
            )
        self._running, self._asked = True, False
        try:
            self._pacer.reset()
            await self._tick_on(
                FrameLoop(self._rate, self._budget, self._pacer.wait(), tick=self._next_tick)
            )
        finally:
            self._running = self._stopping = False

    async def _tick_on(self, loop: FrameLoop) -> None:
        while not self._stopping:
            await self._next_frame()
            if self._stopping:
                return
            plan = loop.begin_frame(self._pacer.wait())
            self._stats.absorb(plan)
            steps = plan.steps()
            try:
                for step in steps:
                    self._next_tick = step.tick + 1
                    messages = list(self._queue)
                    self._queue.clear()
                    answer = self._step(step, messages)
                    if inspect.isawaitable(answer):
                        if inspect.iscoroutine(answer):
                            answer.close()
                        raise TypeError(_waits(answer))
                    if self._stopping:
                        return
            finally:
                self._abandoned += len(steps)

    async def _next_frame(self) -> None:
        """Let others run until the next target; the pacer itself has nothing left to sleep then."""
        target = self._pacer.next_target
        assert target is not None
        watch = StandstillWatch()
        left = self._pacer.left()
        await self._sleep(left / _SECOND)
        while left:
            before, left = left, self._pacer.left()
            if left:
                watch.look(target - before, target - left, before, left)
                await self._sleep(left / _SECOND)

    @property
    def waiting(self) -> int:
        """Messages that no tick has taken yet."""
        return len(self._queue)

    @property
    def stats(self) -> FrameStats:
        """Frames, ticks and dropped steps so far, those of the frame at hand included: in a step,
        ``stats.steps_dropped`` has grown by what this frame dropped. The live tally, and no copy.

        Ticks are those that were planned. All but `abandoned` of them ran.
        """
        return self._stats

    @property
    def abandoned(self) -> int:
        """Ticks that were planned and not run, since a step before them in the same frame stopped
        the server or raised. Their numbers are those of the next run."""
        return self._abandoned

    def pacing(self) -> PacerReport:
        """How late the frames started."""
        return self._pacer.report()
