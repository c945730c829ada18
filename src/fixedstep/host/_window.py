"""What the windows of all toolkits share: when a frame starts, and the order within a frame.

A frame is: events, hotkeys, sample, clock, ticks, draw. The clock is read after the events, so that
a slow handler counts in the frame it delayed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import Alpha, FrameTiming, Rate
from .._arguments import shown
from ..sim.game_loop import SHOW_CURRENT
from ..time import Nanos, Timestamp, saturating_since
from . import monotonic
from ._game import Notices, game_of, session_of
from ._refresh import RefreshSnap
from .monotonic import Waiter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..sim.game_loop import FrameReport, GameLoop
    from ..sim.input import Input

_SIXTY = Rate(60)
_TEN = Rate(10)
_SECOND = 10**9
#: The shortest frame: no display is faster, and a vsync that does not block would spin.
_SHORTEST = Nanos(2_000_000)
#: The longest without a rate of its own: a game of a tick a second still sees its keys.
_LONGEST = Nanos(100_000_000)


class Window:
    """Runs a game in a window. Use `PygameWindow`, `PygletWindow` or `ArcadeWindow`.

    ``game`` is a `GameLoop`, a `Session`, or a plain function ``step(step)`` with the keywords of
    `GameLoop` (``rate=``, ``budget=``, ...). ``draw(alpha)`` draws the picture; it is not called
    while the window is minimised or the world is faulted. ``sample(input)`` is called in every
    frame with the session's input, to read devices. ``keys`` maps key codes of the toolkit to names
    of buttons. ``hotkey(event)`` sees events first; those for which it returns True go no further.

    ``fps`` is the frame rate, a number or a `Rate`; None runs a frame for each tick (ten a second
    for slower games, so that keys are seen), or for each refresh of a window opened with vsync.
    ``hidden_fps`` is the rate while the window is minimised, ``unfocused_fps`` while another window
    has the keyboard (None: no change). ``snap`` rounds frame times to the refresh of the display,
    True for the display's own rate or a `Rate`. A window with ``run_in_background=True`` keeps the
    game running while it is minimised. ``on_drop(report)`` is called for each frame that dropped
    ticks or clamped time; a warning is logged too, at most every five seconds. An exception in a
    tick of a session is logged with its traceback, and the window keeps the last picture.

    ``clock()`` returns nanoseconds and ``sleep(nanos)`` waits; tests pass their own.
    """

    def __init__(
        self,
        game: GameLoop | Callable[..., object],
        draw: Callable[[Alpha], object] | None = None,
        sample: Callable[[Input], object] | None = None,
        *,
        keys: Mapping[int, str] | None = None,
        hotkey: Callable[[Any], object] | None = None,
        fps: Rate | SupportsIndex | None = None,
        hidden_fps: Rate | SupportsIndex = _TEN,
        unfocused_fps: Rate | SupportsIndex | None = None,
        snap: bool | Rate = False,
        run_in_background: bool = False,
        on_drop: Callable[[FrameReport], object] | None = None,
        clock: Callable[[], Timestamp] = monotonic.now,
        sleep: Callable[[Nanos], object] = monotonic.sleep,
        **game_loop: Any,
    ) -> None:
        self.game: GameLoop = game_of(game, game_loop)
        """The game this window runs."""
        self._input: Input | None = None
        if sample is not None or keys:
            self._input = session_of(self.game, "sample=" if sample else "keys=").input
        else:
            self._input = getattr(self.game, "input", None)
        self._keys = dict(keys or {})
        for name in self._keys.values():
            if self._input is not None and name not in self._input.buttons:
                raise ValueError(
                    f"keys name the button {shown(name)}, and the session has "
                    f"{', '.join(self._input.buttons) or 'none'}; Session(..., buttons=[...])"
                )
        self._draw = draw
        self._sample = sample
        self._hotkey = hotkey
        self._fps = _rate(fps, "fps")
        self._hidden_fps = _rate(hidden_fps, "hidden_fps")
        if self._hidden_fps is None:
            raise TypeError("hidden_fps must be a rate, not None: nothing else paces that window")
        self._unfocused_fps = _rate(unfocused_fps, "unfocused_fps")
        self._snap_to = snap
        self._snap: RefreshSnap | None = None
        self._run_in_background = bool(run_in_background)
        self._notices = Notices(self.game, on_drop)
        self._clock = clock
        self._sleep = sleep
        self._waiter = Waiter(clock=clock, sleep=sleep)
        self._vsync = False
        self._visible = True
        self._focused = True
        self._closing = self._closed = False
        self._in_frame = False
        self._started: Timestamp | None = None  # the time of the last frame
        self._grid: tuple[Rate, int, int] | None = None  # rate, origin, frames since
        self.report: FrameReport | None = None
        """The report of the last frame, or None before the first."""
        self.timing: FrameTiming = FrameTiming()
        """The time from frame to frame, and how many were drawn."""

    # Running.

    def wait(self) -> Nanos:
        """Nanoseconds until the next frame should start; 0 where it is due.

        For a caller with a loop of his own, who then calls `run_frame`.
        """
        target = self._target()
        return Nanos(0) if target is None else saturating_since(target, self._clock())

    def run_frame(self) -> bool:
        """Run one frame without waiting: events, ticks, draw. False once the window is closed.

        Called within a frame, as a dialog does whose own loop goes on, it does nothing.
        """
        if self._in_frame:
            return True
        if self._closing and not self._closed:
            self._closed = True
            self._close()
        if self._closed:
            return False
        self._in_frame = True
        try:
            self._frame()
        finally:
            self._in_frame = False
        return True

    def run(self) -> None:
        """Run until the window is closed.

        Raises what the game and the handlers raise, and RuntimeError if the window was closed
        before.
        """
        self._begin()
        try:
            while not self._closed:
                target = self._target()
                if target is not None:
                    self._waiter.wait_until(target)
                self.run_frame()
        finally:
            self._leave()

    async def run_async(self) -> None:
        """`run` for an event loop, such as a browser's: it awaits between frames."""
        self._begin()
        try:
            while not self._closed:
                await self._pass(Nanos(0))
                while left := self.wait():
                    await self._pass(left)
                self.run_frame()
        finally:
            self._leave()

    async def _pass(self, span: Nanos) -> None:
        """Let the event loop run for ``span`` nanoseconds, on the sleep that a test gave."""
        if span and self._sleep is not monotonic.sleep:
            self._sleep(span)
            span = Nanos(0)
        await asyncio.sleep(span / _SECOND)

    def _begin(self) -> None:
        if self._closed:
            raise RuntimeError(
                f"this {type(self).__name__} was closed; make another for a new window"
            )
        self._open()

    def close(self) -> None:
        """Close the window before the next frame. Asking again changes nothing."""
        self._closing = True

    @property
    def closed(self) -> bool:
        """Whether the window was closed."""
        return self._closed

    @property
    def alpha(self) -> Alpha:
        """Where to draw between the last two ticks, for pictures that ``draw`` does not draw."""
        return SHOW_CURRENT if self.report is None else self.report.alpha

    @property
    def visible(self) -> bool:
        """Whether the window is neither minimised nor hidden."""
        return self._visible

    def _frame(self) -> None:
        self._pump()
        if self._closing or self._closed:
            return
        before = self._started
        if before is None:
            if self.game.last is None and self._visible:
                # The first picture can take long, to compile shaders say: time starts after it.
                self._show(SHOW_CURRENT)
            else:
                self.game.exclude()
        if self._sample is not None:
            assert self._input is not None
            self._sample(self._input)
        first = before is None and self.game.last is None
        now = self._started = self._clock()
        report = self.game.frame(now if self._snap is None else self._snap.snapped(now))
        self.report = report
        self._notices.see(report, now)
        drawn = self._visible and report.drawable and not first
        if drawn:
            self._show(report.alpha)
        if before is not None:
            self.timing.record(saturating_since(now, before), drawn=drawn)

    # When a frame starts.

    def _target(self) -> Timestamp | None:
        """When the next frame starts; None for at once."""
        started = self._started
        if started is None or self._closing or self._clock() < started:  # the clock went back
            return None
        rate = self._fps
        if not self._visible:
            rate = self._hidden_fps
        elif not self._focused and self._unfocused_fps is not None:
            rate = self._unfocused_fps
        if rate is not None:
            return self._on_grid(rate, started)
        due = None if self._vsync else self.game.next_due
        if (
            due is None and not self._vsync
        ):  # a stopped game has no ticks, and is drawn all the same
            return self._on_grid(_SIXTY, started)
        self._grid = None
        return Timestamp(min(max(due or 0, started + _SHORTEST), started + _LONGEST))

    def _on_grid(self, rate: Rate, started: Timestamp) -> Timestamp:
        """The first target after the last frame of a grid that does not drift."""
        if self._grid is None or self._grid[0] != rate:
            self._grid = (rate, started, 1)
        _, origin, number = self._grid
        target = origin + rate.due_after(number)
        if target <= started:  # each frame takes its target, and skips those that have passed
            number = rate.ticks_in(Nanos(started - origin)) + 1
            self._grid = (rate, origin, number)
            target = origin + rate.due_after(number)
        elif target - started > rate.due_after(1):  # the clock went back
            self._grid = (rate, started, 1)
            target = started + rate.due_after(1)
        return Timestamp(target)

    # What a toolkit tells.

    def _see(self, visible: bool) -> None:
        """The window was minimised or hidden, or is back."""
        if visible == self._visible:
            return
        self._visible = visible
        self._grid = None
        if not self._run_in_background:
            if visible:
                self.game.show()
            else:
                self.game.hide()

    def _focus(self, focused: bool) -> None:
        """The window has the keyboard, or lost it: what is held will not be released here."""
        self._focused = focused
        self._grid = None
        if not focused and self._input is not None:
            self._input.cancel()

    def _key(self, key: int, down: bool) -> None:
        """A key went down or up."""
        name = self._keys.get(key)
        if name is not None and self._input is not None:
            if down:
                self._input.press(name)
            else:
                self._input.release(name)

    def _takes(self, event: Any) -> bool:
        """Whether the hotkeys took an event."""
        return self._hotkey is not None and self._hotkey(event) is True

    def _start_snap(self, refresh: Rate | None) -> None:
        rate = self._snap_to if isinstance(self._snap_to, Rate) else refresh
        if self._snap_to and rate is not None:
            self._snap = RefreshSnap(rate)

    # What an adapter does.

    def _open(self) -> None:
        """Check the window before the first frame."""

    def _leave(self) -> None:
        """Let go of the window after the last frame."""

    def _pump(self) -> None:
        """Have the toolkit deliver its events."""
        raise NotImplementedError

    def _show(self, alpha: Alpha) -> None:
        """Draw and flip."""
        raise NotImplementedError

    def _close(self) -> None:
        """Take the window down."""
        raise NotImplementedError


def _rate(value: Rate | SupportsIndex | None, name: str) -> Rate | None:
    if value is None or isinstance(value, Rate):
        return value
    try:
        return Rate(value)
    except TypeError:
        raise TypeError(
            f"{name} must be frames per second, an int or a Rate, not {type(value).__name__} "
            f"{shown(value)}; 60 is one"
        ) from None
