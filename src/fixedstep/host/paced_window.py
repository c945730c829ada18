"""One frame of a window, in the order that every adapter keeps: wait, events, update, draw.

The wait comes first, so that the events of a frame are as new as the frame; the clock is read after
the events, so that a handler that takes long is seen in the frame it delayed. Waiting is done by a
`FramePacer` and steps are planned by a `WindowBinding`, both on the same clock. The adapters say
how a toolkit pumps, draws and closes, and use neither its clock nor its intervals.

It refuses to know a toolkit, to draw, and to wait in any other place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import FrameTiming, Rate, StepBudget, Timestep
from ..time import Nanos, Timestamp, saturating_since
from . import monotonic
from .binding import WindowBinding
from .pacer import FramePacer

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import Alpha, FramePlan, Step

_SIXTY = Rate(60)
_TWENTY = Rate(20)


class PacedWindow:
    """What the adapters share. Use one of them: `PygameWindow`, `PygletWindow`, `ArcadeWindow`.

    Their ``run`` returns when the window is closed, and raises MissingToolkit where the toolkit is
    not installed. What ``step``, ``render`` and handlers raise ends it too.

    ``step`` runs one tick and ``render`` draws at an alpha. ``timestep``, ``budget`` and
    ``dormant`` are `WindowBinding`'s.

    ``frames`` is the rate of frames; None leaves it to a window that was opened with vsync, and a
    rate then is the cap over it. ``hidden`` is the rate while nobody sees the window, where no
    vsync waits; at ``dormant="step"`` it has to be fast enough for the budget: 20 frames of 5 steps
    are 100 steps a second.

    ``clock`` returns nanoseconds, ``sleep`` takes them; both are the machine's. Raises what
    `WindowBinding` and `FramePacer` raise, before anything is done to the window.
    """

    def __init__(
        self,
        step: Callable[[Step], object],
        render: Callable[[Alpha], object],
        *,
        timestep: Timestep | Rate = Timestep.HZ_60,
        budget: StepBudget = StepBudget.DEFAULT,
        dormant: Literal["step", "resync"] = "step",
        frames: Rate | None = _SIXTY,
        hidden: Rate = _TWENTY,
        clock: Callable[[], Timestamp] = monotonic.now,
        sleep: Callable[[Nanos], None] = monotonic.sleep,
    ) -> None:
        #: The schedule: pause, resync, statistics.
        self.binding = WindowBinding(
            step,
            render,
            self._close,
            timestep=timestep,
            budget=budget,
            dormant=dormant,
            clock=self._read,
        )
        #: The grid of frames, and how late they were.
        self.pacer = FramePacer(frames, clock=clock, sleep=sleep)
        FramePacer(hidden)  # refused here and not when the window is hidden
        if hidden is None:
            raise TypeError(
                "hidden must be a Rate, not None: nothing else makes a window wait that nobody sees"
            )
        #: The time from frame to frame, and how many of them were drawn.
        self.timing = FrameTiming()
        self._frames = frames
        self._hidden = hidden
        self._clock = clock
        self._now: Timestamp | None = None
        self._last: Timestamp | None = None
        self._drawn = False

    def _refuse_if_closed(self) -> None:
        if self.binding.closed:
            raise RuntimeError(
                f"this {type(self).__name__} was closed, and its schedule ended with its window; "
                "make a new one"
            )

    def begin_frame(self) -> FramePlan | None:
        """Wait for the frame, let the toolkit deliver its events, run the steps that are due.

        The first frame is drawn twice, at first before any time is counted: what a first draw
        compiles and loads is the end of the bring-up, and would else be dropped steps.
        """
        if not self._drawn:
            self._drawn = True
            self._draw_and_flip()
        self.pacer.wait()
        self._pump()
        plan = self.binding.update()
        last, now = self._last, self._now
        if last is not None and now is not None:
            self.timing.record(saturating_since(now, last), drawn=not self.binding.dormant)
        # What passes without a reading, in a window that resyncs, is no frame.
        self._last, self._now = now, None
        return plan

    def set_visible(self, visible: bool) -> None:
        """Say that the window is seen or is not. The adapters do, as far as the toolkit tells."""
        if visible != self.binding.dormant:
            return
        self.binding.set_dormant(not visible)
        self.pacer.set_rate(self._frames if visible else self._hidden)
        self.pacer.reset()

    def _read(self) -> Timestamp:
        self._now = self._clock()
        return self._now

    def _pump(self) -> None:
        """Have the toolkit call its event handlers."""
        raise NotImplementedError

    def _draw_and_flip(self) -> None:
        """Have `binding.draw` called and the picture shown."""
        raise NotImplementedError

    def _close(self) -> None:
        """Take the window down."""
        raise NotImplementedError

    def _request_close(self, *_: Any) -> bool:
        """A handler of a close button: the request is kept, and the toolkit is told (by True) that
        it need not close anything itself."""
        self.binding.request_close()
        return True

    def _shown(self, *_: Any) -> None:
        self.set_visible(True)

    def _concealed(self, *_: Any) -> None:
        self.set_visible(False)
