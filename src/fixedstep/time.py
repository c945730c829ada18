"""The vocabulary: spans, instants, and the three numbers a schedule is configured with.

Times are integer nanoseconds. ``Nanos`` (how long) and ``Timestamp`` (when) are distinct to the
type checker and plain ``int`` at run time, because a wrapper object would cost more than the whole
schedule; what it buys is that a delta handed to ``begin_frame`` is found before the program runs,
rather than as a simulation that does not move. ``Timestep``, ``Rate`` and ``StepBudget`` cannot
hold zero, so nothing further down divides by it or has to ask.

There is no clock here, and no float but ``Alpha``.
"""

from __future__ import annotations

from math import gcd
from typing import Any, ClassVar, NamedTuple, NewType, Protocol, SupportsIndex, cast, final

from ._arguments import U32_MAX, U64_MAX, count, nanos, positive, shown, timestamp
from ._saved import Value, register, restore

Nanos = NewType("Nanos", int)
"""A span of time in nanoseconds, ``0 .. 2**64 - 1``."""

Timestamp = NewType("Timestamp", int)
"""A point in time in nanoseconds since an origin of the caller's choice, ``0 .. 2**64 - 1``."""

Alpha = NewType("Alpha", float)
"""How far a frame is between two ticks: a float32 value in ``[0, 1)``. For drawing only."""

ORIGIN = Timestamp(0)
"""Where a timeline starts by default."""

LONGEST_FRAME = Nanos(250_000_000)
"""How much of one frame's time counts by default: a quarter second."""

_SECOND = 10**9


def saturating_since(later: Timestamp, earlier: Timestamp) -> Nanos:
    """Nanoseconds from ``earlier`` to ``later``; 0 if the clock went back.

    >>> saturating_since(Timestamp(5), Timestamp(3))
    2
    >>> saturating_since(Timestamp(3), Timestamp(5))
    0
    """
    return Nanos(max(timestamp(later, "later") - timestamp(earlier, "earlier"), 0))


def saturating_add(at: Timestamp, span: Nanos) -> Timestamp:
    """The instant ``span`` after ``at``; 2**64 - 1 where it would lie beyond.

    >>> saturating_add(Timestamp(5), Nanos(3))
    8
    >>> saturating_add(Timestamp(2**64 - 1), Nanos(1)) == 2**64 - 1
    True
    """
    return Timestamp(min(timestamp(at, "at") + nanos(span, "span"), U64_MAX))


class _Length(Value):
    """The length of a step: each nanosecond adds ``_scale`` to a bank, ``_unit`` makes a step.
    `Timestep` and `Rate` are equal where they are the same length, as one tick in 5 seconds is."""

    __slots__ = ("_scale", "_unit")
    _scale: int
    _unit: int

    @property
    def seconds(self) -> float:
        """The length of a step in seconds, for games that compute in floats.

        It is the same for every step, whereas the ``dt`` of two steps of a `Rate` may differ by a
        nanosecond. It is for the game's own arithmetic: no schedule and no digest uses it.

        >>> Rate(120).seconds, Timestep(20_000_000).seconds
        (0.008333333333333333, 0.02)
        """
        return self._unit / (self._scale * _SECOND)

    def due_after(self, steps: SupportsIndex) -> Nanos:
        """How much time it takes until so many steps are due, to the next whole nanosecond.

        A loop that began at ``start`` has planned exactly ``steps`` steps at the timestamp
        ``start + due_after(steps)``, and one fewer a nanosecond before, up to 10**9 steps a second.

        >>> Rate(60).due_after(1), Rate(60).due_after(60), Timestep(20_000_000).due_after(3)
        (16666667, 1000000000, 60000000)

        Raises TypeError for anything without ``__index__`` and OverflowError where the number or
        the time is not ``0 .. 2**64 - 1``.
        """
        number = count(steps, "steps")
        time = -(-number * self._unit // self._scale)
        if time > U64_MAX:
            raise OverflowError(
                f"steps must be due within {U64_MAX} nanoseconds, not {number} of them after "
                f"{time}; no timestamp is later than those 584 years"
            )
        return Nanos(time)

    def ticks_in(self, span: Nanos) -> int:
        """How many steps are due within ``span`` nanoseconds, rounded down to whole steps.

        The inverse of `due_after`: ``ticks_in(due_after(n))`` is ``n``, and one fewer a nanosecond
        before, up to 10**9 steps a second.

        >>> Rate(60).ticks_in(1_000_000_000), Rate(60).ticks_in(16_666_666)
        (60, 0)

        Raises TypeError for anything without ``__index__`` and OverflowError where the span or the
        number of steps is not ``0 .. 2**64 - 1``.
        """
        time = nanos(span, "span")
        number = time * self._scale // self._unit
        if number > U64_MAX:
            raise OverflowError(
                f"span must hold at most {U64_MAX} steps, not the {number} of {time} nanoseconds; "
                "no tick has a greater number"
            )
        return number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Length):
            return NotImplemented
        return (self._scale, self._unit) == (other._scale, other._unit)

    def __hash__(self) -> int:
        return hash((self._scale, self._unit))


@final
class Timestep(_Length, kind="Timestep"):
    """The length of one simulation step, in whole nanoseconds: ``1 .. 2**64 - 1``.

    Most rates have no whole-nanosecond step: sixty steps of ``HZ_60`` take 20 ns more than a
    second. Use `Rate` where that matters.

    >>> Timestep(20_000_000).nanos
    20000000
    >>> Timestep.HZ_60
    Timestep(16666667)

    Raises TypeError for anything without ``__index__``, OverflowError out of range, ValueError for
    0.
    """

    __slots__ = ()
    __match_args__ = ("nanos",)
    HZ_60: ClassVar[Timestep]
    """A sixtieth of a second to the nearest nanosecond: ``Timestep(16_666_667)``."""

    def __new__(cls, nanos: SupportsIndex) -> Timestep:
        """From a checked number of nanoseconds."""
        fix = "Timestep.from_hz(60) makes one"
        unit = positive(nanos, "timestep", "a whole number of nanoseconds", fix)
        return cls._made(_scale=1, _unit=unit)

    @classmethod
    def from_hz(cls, hz: SupportsIndex) -> Timestep:
        """The step nearest to ``1/hz`` seconds (a half rounds up); ``hz`` is ``1 .. 2 * 10**9``.

        >>> Timestep.from_hz(60)
        Timestep(16666667)
        >>> Timestep.from_hz(144)
        Timestep(6944444)
        """
        whole = positive(
            hz,
            "hz",
            "a whole number of steps a second",
            "Rate(60000, 1001) holds a fraction",
            high=2 * _SECOND,
        )
        return cls((_SECOND + whole // 2) // whole)

    @property
    def nanos(self) -> Nanos:
        """The length of the step in nanoseconds."""
        return Nanos(self._unit)


Timestep.HZ_60 = Timestep(16_666_667)


class _Ratio(Protocol):
    """A Fraction. Its import would double that of fixedstep."""

    @property
    def numerator(self) -> int: ...
    @property
    def denominator(self) -> int: ...


@final
class Rate(_Length, kind="Rate"):
    """Exactly ``numerator / denominator`` ticks a second, kept in lowest terms.

    A loop driven by a Rate gives exactly that many ticks, however the time was split into frames.
    ``numerator`` and ``denominator * 10**9`` are ``1 .. 2**64 - 1``. A Fraction may be given in
    place of the two.

    >>> Rate(60)
    Rate(60, 1)
    >>> Rate(60_000, 1_001).denominator
    1001
    >>> from fractions import Fraction
    >>> Rate(120, 2) == Rate(Fraction(60))
    True

    Raises TypeError for anything without ``__index__`` and for a Fraction beside a denominator,
    OverflowError out of range, ValueError for 0.
    """

    __slots__ = ()
    __match_args__ = ("numerator", "denominator")

    def __new__(cls, numerator: SupportsIndex | _Ratio, denominator: SupportsIndex = 1) -> Rate:
        """From checked numbers."""
        kind, fix = "a whole number", "Rate(60000, 1001) is 59.94 ticks a second"
        whole = hasattr(type(numerator), "__index__") or not hasattr(numerator, "denominator")
        if not whole and denominator == 1:
            ratio = cast("_Ratio", numerator)
            numerator, denominator = ratio.numerator, ratio.denominator
        top = positive(numerator, "numerator", kind, fix)
        bottom = positive(denominator, "denominator", kind, fix, high=U64_MAX // _SECOND)
        shared = gcd(top, bottom)
        return cls._made(_scale=top // shared, _unit=bottom // shared * _SECOND)

    @property
    def numerator(self) -> int:
        """Ticks in ``denominator`` seconds."""
        return self._scale

    @property
    def denominator(self) -> int:
        """Seconds that ``numerator`` ticks take."""
        return self._unit // _SECOND


@final
class StepBudget(Value, kind="StepBudget"):
    """The most steps one frame may run: ``1 .. 2**32 - 1``. Those beyond it are dropped.

    >>> StepBudget.DEFAULT
    StepBudget(5)

    Raises TypeError for anything without ``__index__``, OverflowError out of range, ValueError for
    0.
    """

    __slots__ = ("_steps",)
    __match_args__ = ("steps",)
    _steps: int
    DEFAULT: ClassVar[StepBudget]
    """Five steps a frame."""

    def __new__(cls, steps: SupportsIndex) -> StepBudget:
        """From a checked number of steps."""
        kind, fix = "a whole number of steps a frame", "StepBudget.DEFAULT is 5"
        return cls._made(_steps=positive(steps, "budget", kind, fix, high=U32_MAX))

    @property
    def steps(self) -> int:
        """The most steps a frame may run."""
        return self._steps


StepBudget.DEFAULT = StepBudget(5)


class Step(NamedTuple):
    """One simulation step, as `Steps` hands it out.

    Both cores make this one class: a tuple is all it is, and C fills one as fast as Python could
    (a struct sequence of the C core's own would have had another constructor and another repr).

    >>> Step(tick=2, dt=Nanos(10), sim_time=Nanos(20))
    Step(tick=2, dt=10, sim_time=20)
    """

    tick: int
    """The number of the step, from 0."""
    dt: Nanos
    """How much simulated time the step covers, in nanoseconds."""
    sim_time: Nanos
    """Simulated time at the START of the step: tick * dt, in nanoseconds, at most 2**64 - 1. A span
    since the start of the simulation, not a time of the clock that `FrameLoop` reads."""

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("Step", *self)


def _saved_step(tick: object, dt: object, sim_time: object) -> Step:
    time = Nanos(nanos(sim_time, "sim_time"))
    return Step(count(tick, "tick"), Nanos(nanos(dt, "dt")), time)


register("Step", _saved_step, 3)


def scale_and_unit(timestep: Timestep | Rate) -> tuple[int, int]:
    """How the accumulator counts: each nanosecond adds ``scale``, and ``unit`` makes a step."""
    if isinstance(timestep, _Length):
        return timestep._scale, timestep._unit
    raise TypeError(
        f"timestep must be a Timestep or a Rate, not {type(timestep).__name__} {shown(timestep)}; "
        "Timestep(16_666_667) is a step in nanoseconds, Rate(60) is exactly 60 steps a second"
    )


def timestep_of(scale: int, unit: int) -> Timestep | Rate:
    """The inverse of ``scale_and_unit``. One tick in n seconds comes back as that Timestep."""
    return Timestep(unit) if scale == 1 else Rate(scale, unit // _SECOND)


def budget_steps(budget: StepBudget | SupportsIndex) -> int:
    """The number in a StepBudget or the number itself, checked."""
    return budget.steps if isinstance(budget, StepBudget) else StepBudget(budget).steps
