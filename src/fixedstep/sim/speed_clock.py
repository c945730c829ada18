"""The speed clock: one wall clock in, and a game that is paused, slowed, or twenty times as fast.

It is the loop of a strategy game, where a player chooses how much simulated time a second of wall
time makes. Three clocks can be read at once: wall time, which always runs; simulation time, in
whole quanta; and presentation time, which is simulation time and the remainder, for drawing.

There is one `FrameLoop` inside, and a speed is its scale: nanoseconds of wall time are counted in a
unit so fine that every speed in the table is a whole number of it. Choosing another speed makes the
same loop with another scale and leaves its bank alone, so a remainder means the same before and
after and no speed is rounded. The other way, one loop a speed and converting the remainder at each
change, rounds at each change; and that is what players call drift.

A pause does not make the scale 0. A paused frame moves the loop's ``last`` (``resync``), which has
the same effect: time passes, bank and tick stay. So the accumulator never sees a zero, and the
speed that was chosen is still there when the pause ends.

It refuses to speed up or slow down by itself, to ease from one speed into another, and to offer a
speed that was not in the table when it was made: a unit chosen later would have to convert the
bank.

A change of speed counts from the last ``advance``. Where it happened between two frames, advance to
that moment first: a frame cut in two gives exactly what the whole one gives.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, cast

from .. import FrameLoop, FramePlan
from .._arguments import U32_MAX, U64_MAX, count, nanos, positive, shown, timestamp
from ..time import (
    ORIGIN,
    Nanos,
    StepBudget,
    Timestamp,
    Timestep,
    budget_steps,
)
from .exact import Exact, exact, int_if_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

_QUANTUM_FIX = "60 * 10**9 makes a quantum of one simulated minute"
_RATE_FIX = "60 makes a simulated minute of a second, Fraction(1, 2) half a second"
_SPEEDS_FIX = "Fraction(1, 2) is half speed, 0 is a pause"
_POLICIES = ("up", "down", "nearest")


class SpeedClock:
    """Turns wall time into whole quanta of simulated time, at a speed that the player chooses.

    ``quantum`` is how much the simulation advances at a time, in simulated nanoseconds. At speed 1,
    one nanosecond of wall time makes ``base_rate`` simulated ones. ``speeds`` are all the speeds
    the game offers. Rate and speeds are integers or Fractions and stay exact. The clock starts at
    wall time ``start``, at ``speed``; ``budget`` limits the quanta of one frame, and what it
    refuses is in ``plan.dropped``. Without a budget the limit is 2**32 - 1.

    >>> minute = 60 * 10**9
    >>> clock = SpeedClock(quantum=minute, base_rate=60)
    >>> clock.advance(Timestamp(500_000_000)).step_count, clock.presentation_exact
    (0, Fraction(30000000000, 1))
    >>> clock.set_speed(5)
    >>> [step.tick for step in clock.advance(Timestamp(1_000_000_000)).steps()]
    [0, 1, 2]
    >>> clock.wall, clock.simulation, clock.presentation
    (1000000000, 180000000000, 180000000000)

    The other arguments continue an earlier clock and are what ``repr`` prints: whether it is
    ``paused``, quanta so far (``tick``), the ``remainder`` in simulated nanoseconds, and the
    ``wall`` time before ``start``.

    One frame may bring up to ``(2**64 - unit) // scale`` ns of wall time, where ``scale`` is
    ``base_rate * speed`` and ``unit`` the quantum, both times the common denominator; a longer one
    saturates, as in FrameLoop. For a quantum of a minute at 1,200 times real time that is 177 days.
    Give it the ``frame_time`` of a `FrameClock` where a frame might be longer.

    Raises TypeError for a number of the wrong type (a float is not rounded), OverflowError for one
    out of range, and ValueError for a quantum or rate of 0, a speed that is not in the table, a
    table without a speed to run at, and speeds too fine for a common unit of 64 bits.
    """

    __slots__ = (
        "_base_rate",
        "_budget",
        "_fineness",
        "_loop",
        "_paused",
        "_scales",
        "_speed",
        "_speeds",
        "_timestep",
        "_wall",
    )
    _base_rate: Fraction
    _budget: StepBudget | None
    _fineness: int
    _loop: FrameLoop
    _paused: bool
    _scales: dict[Fraction, int]
    _speed: Fraction
    _speeds: tuple[Fraction, ...]
    _timestep: Timestep
    _wall: int

    def __new__(
        cls,
        quantum: SupportsIndex,
        base_rate: Exact,
        speeds: Iterable[Exact] = (0, 1, 5, 20),
        *,
        speed: Exact = 1,
        start: Timestamp = ORIGIN,
        budget: StepBudget | None = None,
        paused: bool = False,
        tick: SupportsIndex = 0,
        remainder: Exact = 0,
        wall: SupportsIndex = 0,
    ) -> SpeedClock:
        """From checked arguments. Not ``__init__``, which could be called again later."""
        self = super().__new__(cls)
        simulated = "a whole number of simulated nanoseconds"
        length = positive(quantum, "quantum", simulated, _QUANTUM_FIX)
        self._timestep = Timestep(length)
        self._base_rate = exact(base_rate, "base_rate", _RATE_FIX)
        if not self._base_rate:
            raise ValueError(
                f"base_rate must be above 0 simulated nanoseconds a nanosecond, not 0; {_RATE_FIX}"
            )
        self._speeds = _table(speeds)
        rates = {chosen: self._base_rate * chosen for chosen in self._speeds if chosen}
        self._fineness = lcm(*(rate.denominator for rate in rates.values()))
        unit = length * self._fineness
        if unit > U64_MAX:
            raise ValueError(
                f"speeds {_listed(self._speeds)} at base_rate {self._base_rate} have the common "
                f"denominator {shown(self._fineness)}, and quantum {length} ns counted in it is "
                f"{shown(unit)}, above 2**64 - 1 = {U64_MAX}; use fewer or simpler fractions, or a "
                "shorter quantum"
            )
        self._scales = {chosen: (rate * self._fineness).numerator for chosen, rate in rates.items()}
        for chosen, scale in self._scales.items():
            if scale > U64_MAX:
                raise ValueError(
                    f"speed {chosen} at base_rate {self._base_rate} is {scale} in units of "
                    f"1/{self._fineness} ns, above 2**64 - 1 = {U64_MAX}; use a lower rate"
                )
        self._speed = self._in_table(speed)
        if not self._speed:
            raise ValueError(
                "speed must be the speed to run at, above 0, not 0; paused=True starts with a pause"
            )
        self._paused = bool(paused)
        self._budget = budget
        self._wall = nanos(wall, "wall")
        self._loop = FrameLoop._from_state(
            self._scales[self._speed],
            unit,
            U32_MAX if budget is None else budget_steps(budget),
            timestamp(start, "start"),
            self._bank(remainder),
            count(tick, "tick"),
        )
        return self

    def advance(self, now: Timestamp) -> FramePlan:
        """Plan one frame: the quanta that fall due by ``now``, at the speed chosen.

        ``now`` is wall time: nanoseconds, ``0 .. 2**64 - 1``, from the same origin as ``start``.
        The plan's steps have ``dt`` = quantum, its remainder is in whole simulated nanoseconds,
        rounded down, and its ``alpha`` serves for drawing. The plan must be carried out, since the
        clock has counted its quanta, unless nothing but its `presentation` is used. Paused, the
        wall clock runs and nothing else.

        >>> clock = SpeedClock(quantum=1_000, base_rate=1, speeds=(0, 1, 2), budget=StepBudget(3))
        >>> clock.advance(Timestamp(4_700))
        FramePlan(first_tick=0, step_count=3, dropped=1, remainder=700, timestep=Timestep(1000))

        A clock that went back adds nothing, and the next frame counts from it. Raises TypeError for
        anything without ``__index__`` and OverflowError out of range; the clock is then as it was.
        """
        if type(now) is not int or not 0 <= now <= U64_MAX:
            now = Timestamp(timestamp(now))
        loop = self._loop
        if now > self.last:
            self._wall = min(self._wall + now - self.last, U64_MAX)
        if self._paused:
            loop.resync(now)
            first_tick, step_count, dropped = loop.tick, 0, 0
        else:
            plan = loop.begin_frame(now)
            first_tick, step_count, dropped = plan.first_tick, plan.step_count, plan.dropped
        whole = loop.remainder // self._fineness
        quantum = self._timestep.nanos
        return FramePlan._from_state(first_tick, step_count, dropped, whole, 1, quantum)

    def set_speed(self, speed: Exact) -> None:
        """Choose a speed of the table, from the last ``advance`` on. 0 is ``pause()``.

        While paused, it is the speed that ``resume`` will go on with.

        >>> clock = SpeedClock(quantum=60 * 10**9, base_rate=60)
        >>> clock.set_speed(20)
        >>> clock.pause(); clock.speed, clock.effective_speed
        (20, 0)
        >>> clock.set_speed(3)
        Traceback (most recent call last):
            ...
        ValueError: speed must be one of 0, 1, 5, 20, not 3; a clock keeps the table it was made for

        Raises ValueError for a speed that is not in the table, TypeError for a float or anything
        else that is no exact number, OverflowError for a negative one; the speed stays.
        """
        chosen = self._in_table(speed)
        if not chosen:
            self._paused = True
            return
        _, *rest = self._loop._state()
        self._loop = FrameLoop._from_state(self._scales[chosen], *rest)
        self._speed = chosen

    def pause(self) -> None:
        """Stop simulated time from the last ``advance`` on. The chosen speed is remembered."""
        self._paused = True

    def resume(self) -> None:
        """Go on at the chosen speed. What passed while paused, on the wall, is not made up for."""
        self._paused = False

    def quantize(self, policy: Literal["up", "down", "nearest"] = "up") -> Timestamp:
        """When an input captured now falls due: a whole quantum, in simulated nanoseconds.

        ``"up"`` is the next quantum, or the present one where no remainder is left; ``"down"`` the
        present one; ``"nearest"`` the nearer of the two, and the next one half way.

        >>> clock = SpeedClock(quantum=60 * 10**9, base_rate=60)
        >>> _ = clock.advance(Timestamp(500_000_000))
        >>> clock.quantize(), clock.quantize("down")
        (60000000000, 0)

        It follows from presentation time alone. The frame that happens to poll an input has
        no part in it, since players at 30 and at 60 frames a second would then play different
        games; so advance to the moment of the input, where the input carries one. The result stops
        at 2**64 - 1. Raises ValueError for another policy.
        """
        if policy not in _POLICIES:
            raise ValueError(
                f"policy must be 'up', 'down' or 'nearest', not {shown(policy)}; "
                "'up' is the next whole quantum"
            )
        later = {
            "up": self._loop.remainder > 0,
            "down": False,
            "nearest": 2 * self._loop.remainder >= self._timestep.nanos * self._fineness,
        }[policy]
        return Timestamp(min((self._loop.tick + later) * self._timestep.nanos, U64_MAX))

    @property
    def quantum(self) -> Nanos:
        """How much the simulation advances at a time, in simulated nanoseconds."""
        return self._timestep.nanos

    @property
    def base_rate(self) -> int | Fraction:
        """Simulated nanoseconds a nanosecond of wall time, at speed 1."""
        return int_if_whole(self._base_rate)

    @property
    def speeds(self) -> tuple[int | Fraction, ...]:
        """All the speeds there are, in the order they were given."""
        return tuple(int_if_whole(speed) for speed in self._speeds)

    @property
    def budget(self) -> StepBudget | None:
        """The most quanta a frame may bring; None for 2**32 - 1."""
        return self._budget

    @property
    def speed(self) -> int | Fraction:
        """The speed chosen, also while paused."""
        return int_if_whole(self._speed)

    @property
    def paused(self) -> bool:
        """Whether simulated time stands."""
        return self._paused

    @property
    def effective_speed(self) -> int | Fraction:
        """The speed at which simulated time runs: 0 while paused."""
        return 0 if self._paused else self.speed

    @property
    def last(self) -> Timestamp:
        """The wall time of the last ``advance``; the start before the first."""
        return cast("Timestamp", self._loop.last)  # it always has a start

    @property
    def tick(self) -> int:
        """Quanta planned: the number of the next one. It saturates at 2**64 - 1."""
        return self._loop.tick

    @property
    def wall(self) -> Nanos:
        """Nanoseconds of wall time since the start, running always."""
        return Nanos(self._wall)

    @property
    def simulation(self) -> Nanos:
        """Simulated nanoseconds in whole quanta, stopping at 2**64 - 1, which is 584 years."""
        return Nanos(min(self._loop.tick * self._timestep.nanos, U64_MAX))

    @property
    def presentation(self) -> Nanos:
        """Simulation time and the remainder, in whole simulated nanoseconds, rounded down."""
        exactly = self.presentation_exact
        return Nanos(exactly.numerator // exactly.denominator)

    @property
    def presentation_exact(self) -> Fraction:
        """Simulation time and the remainder, in simulated nanoseconds, stopping at 2**64 - 1."""
        exactly = self._loop.tick * self._timestep.nanos + self.remainder_exact
        return min(exactly, Fraction(U64_MAX))

    @property
    def remainder_exact(self) -> Fraction:
        """Simulated nanoseconds that are not a quantum yet, exactly."""
        return Fraction(self._loop.remainder, self._fineness)

    def _in_table(self, speed: Exact) -> Fraction:
        chosen = exact(speed, "speed", f"this clock offers {_listed(self._speeds)}")
        if chosen not in self._speeds:
            raise ValueError(
                f"speed must be one of {_listed(self._speeds)}, not {chosen}; "
                "a clock keeps the table it was made for"
            )
        return chosen

    def _bank(self, remainder: Exact) -> int:
        """A remainder in simulated nanoseconds as the loop counts it."""
        rest = exact(remainder, "remainder", "a clock's own is remainder_exact") * self._fineness
        if rest >= self.quantum * self._fineness:
            raise ValueError(
                f"remainder must be below the quantum, {self.quantum} simulated ns, not "
                f"{remainder}; whole quanta belong into the tick"
            )
        if rest.denominator != 1:
            raise ValueError(
                f"remainder must be a multiple of 1/{self._fineness} simulated ns, not "
                f"{remainder}; it belongs to a clock with other speeds"
            )
        return rest.numerator

    def _arguments(self) -> dict[str, Any]:
        return {
            "quantum": self.quantum,
            "base_rate": self.base_rate,
            "speeds": self.speeds,
            "speed": self.speed,
            "start": self.last,
            "budget": self._budget,
            "paused": self._paused,
            "tick": self.tick,
            "remainder": int_if_whole(self.remainder_exact),
            "wall": self._wall,
        }

    def __copy__(self) -> SpeedClock:
        return SpeedClock(**self._arguments())

    def __deepcopy__(self, memo: object, /) -> SpeedClock:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._arguments(),)

    def __eq__(self, other: object) -> bool:
        if type(other) is not SpeedClock:
            return NotImplemented
        return self._arguments() == other._arguments()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._arguments().items())
        return f"SpeedClock({inside})"


def _table(speeds: Iterable[Exact]) -> tuple[Fraction, ...]:
    if isinstance(speeds, str) or not hasattr(speeds, "__iter__"):
        raise TypeError(
            f"speeds must be a table of speeds, not {type(speeds).__name__} {shown(speeds)}; "
            "(0, 1, 5, 20) is one"
        )
    table = tuple(exact(speed, "speeds", _SPEEDS_FIX) for speed in speeds)
    if not any(table):
        raise ValueError(
            f"speeds must hold one above 0, not only ({_listed(table)}); (0, 1, 5, 20) is a table"
        )
    return table


def _listed(speeds: Iterable[Fraction]) -> str:
    return ", ".join(map(str, speeds))


def _restore(arguments: dict[str, Any]) -> SpeedClock:
    return SpeedClock(**arguments)
