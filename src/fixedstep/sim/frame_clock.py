"""The frame clock, for a `FrameLoop` that you drive by hand: it takes out time that must not be
simulated. `GameLoop` does this by itself, and has the pause as well.

Some time that passes must not be simulated: the second a debugger held the program, the night the
lid was closed, the load between two levels. This clock takes it out, once, and keeps the account:
what came in is accepted, clamped (one frame longer than ``max_delta``) or excluded (between a
``reset`` and the next sample), to the nanosecond. ``frame_time`` runs on accepted time alone and is
what the schedule is given, so that clamped time and dropped steps are reported apart.

It adds nothing up into steps: that is `FrameLoop`, and a second accumulator here would sooner or
later disagree with it. It never smooths readings. It takes absolute readings and no deltas, so that
the difference is taken in one place.

A clock that goes back adds nothing, ever. What the following sample counts from is a choice:

``"hold"``      the highest reading so far. Right for a clock that jitters between processor cores:
                no nanosecond is counted twice. But where somebody set the clock back by an hour,
                an hour passes without a tick.
``"reanchor"``  the lower reading, as `FrameLoop` does by itself. One frame is lost and no more, and
                a clock that jitters is counted a little too long.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, SupportsIndex, final

from .. import FrameLoop
from .._arguments import U64_MAX, count, nanos, shown, timestamp
from .._saved import Saved
from ..time import LONGEST_FRAME, Nanos, Rate, StepBudget, Timestamp, Timestep, scale_and_unit

_POLICIES = ("hold", "reanchor")


class FrameSample(NamedTuple):
    """What one sample found.

    >>> FrameSample(accepted=Nanos(250), clamped=Nanos(751), regressed=False)
    FrameSample(accepted=250, clamped=751, regressed=False)
    """

    accepted: Nanos
    """Nanoseconds that passed, as far as ``max_delta`` lets them through."""
    clamped: Nanos
    """Nanoseconds that ``max_delta`` refused."""
    regressed: bool
    """Whether the clock went back; both spans are 0 then."""


@final
class FrameClock(Saved, kind="sim.FrameClock"):
    """Turns readings of a clock, one a frame, into time fit for a schedule.

    ``max_delta`` is the longest frame that is let through, in nanoseconds; what is beyond it is
    clamped. 0 stops time, None lets everything through. ``on_regression`` is ``"hold"`` or
    ``"reanchor"``, explained at the top of this file.

    The first sample is a baseline: it says where time starts, and nothing has passed yet.

    >>> clock = FrameClock(max_delta=Nanos(250))
    >>> [tuple(clock.sample(now)) for now in (100, 350, 1351, 1300)]
    [(0, 0, False), (250, 0, False), (250, 751, False), (0, 0, True)]
    >>> clock.accepted, clock.clamped, clock.excluded, clock.regressions, clock.frame_time
    (500, 751, 0, 1, 500)

    The other arguments continue an earlier clock and are what ``repr`` prints: the totals, the
    reading ``last`` from which the next sample counts, and whether that sample is a ``baseline``.

    Raises TypeError and OverflowError as `FrameLoop` does, and ValueError for another policy.
    """

    __slots__ = (
        "_accepted",
        "_baseline",
        "_clamped",
        "_excluded",
        "_last",
        "_max_delta",
        "_on_regression",
        "_regressions",
    )
    _max_delta: int | None
    _on_regression: Literal["hold", "reanchor"]
    _last: int | None
    _baseline: bool
    _accepted: int
    _clamped: int
    _excluded: int
    _regressions: int

    def __new__(
        cls,
        max_delta: Nanos | None = LONGEST_FRAME,
        on_regression: Literal["hold", "reanchor"] = "hold",
        *,
        last: Timestamp | None = None,
        baseline: bool = False,
        accepted: SupportsIndex = 0,
        clamped: SupportsIndex = 0,
        excluded: SupportsIndex = 0,
        regressions: SupportsIndex = 0,
    ) -> FrameClock:
        """From checked arguments. Not ``__init__``, which could be called again later."""
        self = super().__new__(cls)
        if on_regression not in _POLICIES:
            raise ValueError(
                f"on_regression must be 'hold' or 'reanchor', not {shown(on_regression)}; "
                "'hold' counts from the highest reading, 'reanchor' from the latest"
            )
        self._max_delta = None if max_delta is None else nanos(max_delta, "max_delta")
        self._on_regression = on_regression
        self._last = None if last is None else timestamp(last, "last")
        self._baseline = bool(baseline)
        self._accepted = _total(accepted, "accepted")
        self._clamped = _total(clamped, "clamped")
        self._excluded = _total(excluded, "excluded")
        self._regressions = _total(regressions, "regressions")
        return self

    def sample(self, now: Timestamp) -> FrameSample:
        """Read the time that passed since the last sample. Once a frame, and nowhere else.

        ``now`` is nanoseconds, ``0 .. 2**64 - 1``, from any fixed origin.

        >>> clock = FrameClock(max_delta=None)
        >>> clock.sample(Timestamp(1_000)), clock.sample(Timestamp(1_016)).accepted
        (FrameSample(accepted=0, clamped=0, regressed=False), 16)

        Raises TypeError for anything without ``__index__`` and OverflowError out of range; the
        clock is then as it was.
        """
        now = Timestamp(timestamp(now))
        last = self._last
        if last is None or self._baseline:
            if last is not None and now > last:
                self._excluded += now - last
            self._last = now
            self._baseline = False
            return FrameSample(Nanos(0), Nanos(0), False)
        if now < last:
            self._regressions += 1
            if self._on_regression == "reanchor":
                self._last = now
            return FrameSample(Nanos(0), Nanos(0), True)
        self._last = now
        elapsed = now - last
        accepted = elapsed if self._max_delta is None else min(elapsed, self._max_delta)
        self._accepted += accepted
        self._clamped += elapsed - accepted
        return FrameSample(Nanos(accepted), Nanos(elapsed - accepted), False)

    def reset(self) -> None:
        """Make the next sample a baseline: at a pause, a resume, a load, a change of session.

        The time until then is counted as excluded. Where it is not known, before the first sample
        or when the clock has gone back meanwhile, nothing is: that is a new beginning and no
        regression.

        >>> clock = FrameClock()
        >>> _ = clock.sample(Timestamp(1_000)); clock.reset(); _ = clock.sample(Timestamp(9_000))
        >>> clock.accepted, clock.excluded
        (0, 8000)
        """
        self._baseline = True

    def frame_loop(
        self,
        timestep: Timestep | Rate = Timestep.HZ_60,
        budget: StepBudget | SupportsIndex = 5,
    ) -> FrameLoop:
        """The schedule this clock drives: give its ``begin_frame`` the ``frame_time``, every frame.

        >>> clock = FrameClock()
        >>> loop = clock.frame_loop(Rate(60), StepBudget(4))
        >>> for now in (0, 8_000_000_000):
        ...     sample = clock.sample(Timestamp(now))
        ...     plan = loop.begin_frame(clock.frame_time)
        >>> sample.clamped, plan.step_count, plan.dropped
        (7750000000, 4, 11)

        Raises ValueError where the longest frame could pass 2**64 - 1 on top of a remainder of a
        `Timestep`: the schedule would stop there, and time would be lost that no report has.
        Without a clamp there is no longest frame, and nothing is refused. Raises TypeError as
        `FrameLoop` does.
        """
        scale, unit = scale_and_unit(timestep)
        if scale == 1 and self._max_delta is not None:  # a Rate loses nothing
            largest = self._max_delta + unit - 1
            if largest > U64_MAX:
                raise ValueError(
                    f"max_delta {self._max_delta} ns is too long for {timestep!r}: the longest "
                    f"frame adds it to a remainder of up to {unit - 1}, which makes {largest} and "
                    f"passes 2**64 - 1 = {U64_MAX}; max_delta is at most {U64_MAX - unit + 1} ns"
                )
        return FrameLoop(timestep, budget, self.frame_time)

    @property
    def max_delta(self) -> Nanos | None:
        """The longest frame that is let through, in nanoseconds; None for no limit."""
        return None if self._max_delta is None else Nanos(self._max_delta)

    @property
    def on_regression(self) -> str:
        """What a sample after a clock that went back counts from: ``"hold"``, ``"reanchor"``."""
        return self._on_regression

    @property
    def last(self) -> Timestamp | None:
        """The reading the next sample counts from; None before the first."""
        return None if self._last is None else Timestamp(self._last)

    @property
    def frame_time(self) -> Timestamp:
        """The schedule's clock: accepted nanoseconds since 0, stopping at 2**64 - 1."""
        return Timestamp(min(self._accepted, U64_MAX))

    @property
    def accepted(self) -> int:
        """Nanoseconds let through, in total. The totals are exact and have no upper end."""
        return self._accepted

    @property
    def clamped(self) -> int:
        """Nanoseconds that ``max_delta`` refused, in total."""
        return self._clamped

    @property
    def excluded(self) -> int:
        """Nanoseconds between a reset and the baseline after it, in total."""
        return self._excluded

    @property
    def submitted(self) -> int:
        """All nanoseconds by which the readings went forward: accepted, clamped and excluded."""
        return self._accepted + self._clamped + self._excluded

    @property
    def regressions(self) -> int:
        """How many samples found that the clock had gone back."""
        return self._regressions

    def _arguments(self) -> dict[str, Any]:
        return {
            "max_delta": self._max_delta,
            "on_regression": self._on_regression,
            "last": self._last,
            "baseline": self._baseline,
            "accepted": self._accepted,
            "clamped": self._clamped,
            "excluded": self._excluded,
            "regressions": self._regressions,
        }


def _total(value: SupportsIndex, name: str) -> int:
    """A total so far. It may be beyond 64 bits, since totals are sums of 64-bit spans."""
    return count(value, name, high=2**128)
