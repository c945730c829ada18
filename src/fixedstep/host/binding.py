"""A schedule inside a window toolkit that owns the loop and only calls back.

Such a toolkit calls an update and a draw function whenever it likes, and the obvious way to write
them is wrong in four places, which are decided here:

* A draw uses the alpha that the last update stored. It reads no clock, so it shows the world one
  callback late, and a repaint that the system asks for shows the same picture again. Alpha is for
  the eye alone, and reading the clock in the draw would show a time that no update has seen.
* A request to close is kept and acted on in the next update. The callback that brings it may come
  in the middle of a draw or of a step, where the window must not go away.
* Time starts at the first update and not with the object: opening a window takes a tenth of a
  second, and the game would begin with dropped steps.
* A window that nobody sees goes on stepping and is not drawn, or stops and resyncs when it is back.

A pause is here too, because the toolkit goes on calling: updates plan nothing, draws repeat the
last picture, and the remainder is kept, so the game goes on in the middle of the tick where it
stopped.

It refuses to know any toolkit, to wait, and to draw: it calls what it was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .. import Alpha, FrameLoop, FramePlan, FrameStats, Rate, StepBudget, Timestep
from .._arguments import shown, timestamp
from ..time import Timestamp
from . import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import Step


class WindowBinding:
    """Call `update` from the toolkit's update callback and `draw` from its draw callback.

    ``step`` runs one tick, ``render`` draws at an alpha, ``close`` takes the window down; it is
    called once. ``dormant`` says what a window nobody sees does: ``"step"`` or ``"resync"``.
    ``clock`` returns nanoseconds and is read once in an update and nowhere else.

    >>> now = 5_000_000_000
    >>> binding = WindowBinding(
    ...     lambda step: print("tick", step.tick),
    ...     lambda alpha: print("alpha", alpha),
    ...     lambda: print("closed"),
    ...     timestep=Rate(20),
    ...     clock=lambda: now,
    ... )
    >>> _ = binding.update()
    >>> now += 75_000_000
    >>> _ = binding.update()
    tick 0
    >>> binding.draw()
    alpha 0.5
    True
    >>> binding.request_close()
    >>> binding.update()
    closed

    Raises ValueError for another ``dormant``, and what `FrameLoop` raises, at once.
    """

    def __init__(
        self,
        step: Callable[[Step], object],
        render: Callable[[Alpha], object],
        close: Callable[[], object],
        *,
        timestep: Timestep | Rate = Timestep.HZ_60,
        budget: StepBudget = StepBudget.DEFAULT,
        dormant: Literal["step", "resync"] = "step",
        clock: Callable[[], Timestamp] = monotonic.now,
    ) -> None:
        if dormant not in ("step", "resync"):
            raise ValueError(
                f"dormant must be 'step' or 'resync', not {shown(dormant)}; 'step' keeps the game "
                "running in a window nobody sees, 'resync' stops it there"
            )
        FrameLoop(timestep, budget)  # refused here and not in the first callback
        self._step = step
        self._render = render
        self._close = close
        self._timestep = timestep
        self._budget = budget
        self._policy = dormant
        self._clock = clock
        self._loop: FrameLoop | None = None
        self._stats = FrameStats()
        self._alpha = Alpha(0.0)
        self._dormant = False
        self._away = False
        self._paused = False
        self._one_step = False
        self._closing = False
        self._closed = False
        self._updating = False

    def update(self) -> FramePlan | None:
        """Run the steps that are due and store the alpha for the draws that follow.

        Returns the plan, or None where nothing was planned: a pause, a dormant window that resyncs,
        a window that is closed, and a call from within a step: a dialog whose own loop goes on
        calling. The frame that the dialog is part of is not over then, so nothing is run or closed;
        call `resync` in the step to have its time left out and not dropped. A step that raises ends
        the frame and keeps the old alpha; its other steps are not run later. Raises what the
        clock's reading makes `FrameLoop` raise.
        """
        if self._updating:
            return None
        self._updating = True
        try:
            return self._update()
        finally:
            self._updating = False

    def _update(self) -> FramePlan | None:
        if self._closing and not self._closed:
            self._closed = True
            self._close()
        if self._closed or (self._dormant and self._policy == "resync"):
            return None
        now = Timestamp(timestamp(self._clock()))
        if self._loop is None:
            self._loop = FrameLoop(self._timestep, self._budget, now)
        elif self._away:
            self._loop.resync(now)
        self._away = False
        if not self._paused:
            plan = self._loop.begin_frame(now)
        elif self._one_step:
            plan = self._one_more(self._loop)
        else:
            return None
        self._one_step = False
        self._stats.absorb(plan)
        for step in plan.steps():
            self._step(step)
        self._alpha = plan.alpha()
        return plan

    def _one_more(self, loop: FrameLoop) -> FramePlan:
        """One tick out of no time. Feeding the loop a tick's length instead would move the
        remainder of a rate whose ticks are not whole nanoseconds."""
        tick, rest = loop.tick, loop.remainder
        plan = FramePlan(tick, 1, 0, rest, self._timestep)
        self._loop = FrameLoop(
            self._timestep, self._budget, loop.last, tick=tick + 1, remainder=rest
        )
        return plan

    def draw(self) -> bool:
        """Draw at the stored alpha, 0 before the first update; False if there was nobody to see."""
        if self._dormant or self._closed:
            return False
        self._render(self._alpha)
        return True

    def request_close(self) -> None:
        """Keep a request to close for the next update. Asking again changes nothing."""
        self._closing = True

    def resync(self) -> None:
        """Leave out the time until the next update: after a load, a dialog, a window drag."""
        self._away = True

    def pause(self) -> None:
        """Stop time from the next update on; what passes until `resume` is left out."""
        self._paused = True

    def resume(self) -> None:
        """Let time run again. The next update plans nothing for the pause."""
        self._away = self._away or self._paused
        self._paused = self._one_step = False

    def step_once(self) -> None:
        """While paused: run one tick in the next update, at the alpha there is. Asking again
        before it changes nothing.

        >>> binding = WindowBinding(
        ...     lambda step: print("tick", step.tick), print, print, clock=lambda: 0
        ... )
        >>> binding.pause()
        >>> binding.step_once()
        >>> _ = binding.update()
        tick 0

        Raises RuntimeError when not paused, where ticks come from time alone.
        """
        if not self._paused:
            raise RuntimeError("a single tick is for a pause, and this is none; pause() first")
        self._one_step = True

    def set_dormant(self, dormant: bool) -> None:
        """Say that the window is minimised or hidden, or that it is back."""
        if self._dormant and not dormant and self._policy == "resync":
            self._away = True
        self._dormant = bool(dormant)

    @property
    def alpha(self) -> Alpha:
        """What a draw now would use."""
        return self._alpha

    @property
    def paused(self) -> bool:
        """Whether time stands."""
        return self._paused

    @property
    def dormant(self) -> bool:
        """Whether nobody sees the window."""
        return self._dormant

    @property
    def closed(self) -> bool:
        """Whether the window was taken down."""
        return self._closed

    @property
    def stats(self) -> FrameStats:
        """Frames, ticks and dropped steps so far; the object itself, to be read."""
        return self._stats
