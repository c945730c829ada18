"""The reference core: the whole schedule in plain Python, written to be read.

This file is the specification. The C core does the same thing faster, and wherever the two differ
this one is right; the C sources point here for the meaning of every line. It runs where C cannot
(PyPy, a machine without a compiler, a browser) and needs nothing but the
standard library.

Each frame adds the elapsed time to an accumulator, takes whole steps out of it up to a budget,
drops and reports the whole steps beyond the budget, and keeps the remainder. Every number is an
unsigned 64-bit integer that stays at its largest value instead of wrapping, so no timestamp is an
error, and the same timestamps give the same plans on every machine.

It plans, and the caller runs the steps. Timestamps come in as numbers; no clock is read. There are
no floats but ``alpha``, which is for drawing and never digested. What the budget did not allow is
not kept: that is how a slow frame makes the next one slower.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, MutableSequence
from struct import Struct
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, final

from . import _arguments, _encoding, _plans, _state, text, timing
from ._arguments import U64_MAX, Buffer
from ._plans import FramePlans
from ._saved import restore
from ._state import FNV_OFFSET
from .time import (
    Alpha,
    Nanos,
    Rate,
    Step,
    StepBudget,
    Timestamp,
    Timestep,
    timestep_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from ._state import LoopState, TimingState

__all__ = [
    "FrameLoop",
    "FramePlan",
    "FrameStats",
    "FrameTiming",
    "StateHash",
    "Step",
    "Steps",
    "digest",
]

FNV_PRIME = 0x100000001B3

_PLAN = Struct("<QIQQQ")  # first_tick, step_count, dropped, remainder, unit
_U64 = Struct("<Q")
_F32 = Struct("<f")
_F64 = Struct("<d")
_CORES = ("fixedstep.reference", "fixedstep.native", "fixedstep._portable")
_INFINITE = 0x7FF0_0000_0000_0000
_ALPHA_BELOW_ONE: float = _F32.unpack(b"\xff\xff\x7f\x3f")[0]  # the float32 0x3F7FFFFF


def sim_time(tick: int, scale: int, unit: int) -> int:
    """Simulated nanoseconds before ``tick``: floor(tick * unit / scale), at most 2**64 - 1."""
    return min(tick * unit // scale, U64_MAX)


def _fnv(state: int, data: bytes | bytearray | memoryview) -> int:
    """FNV-1a-64: exclusive-or with each byte, then multiply."""
    for byte in data:
        state = (state ^ byte) * FNV_PRIME & U64_MAX
    return state


def _fnv_plan(state: int, plan: FramePlan) -> int:
    """A plan in its canonical order, little-endian; ``scale`` only where it is not 1."""
    numbers = plan._first_tick, plan._step_count, plan._dropped, plan._remainder, plan._unit
    state = _fnv(state, _PLAN.pack(*numbers))
    return state if plan._scale == 1 else _fnv(state, _U64.pack(plan._scale))


def _f32_bits(value: float) -> int:
    """The bits of the float32 nearest to ``value``, ties to even. In integers, since conversions
    differ between interpreters for a NaN, which keeps its sign and upper payload here and is quiet,
    and are at the mercy of the processor's mode: one library that was linked with ``-ffast-math``
    makes the whole process take the smallest numbers for 0."""
    bits = int.from_bytes(_F64.pack(value), "little")
    sign, size = bits >> 32 & 0x8000_0000, bits & 0x7FFF_FFFF_FFFF_FFFF
    if size >= _INFINITE:
        return sign | (0x7F80_0000 if size == _INFINITE else 0x7FC0_0000 | size >> 29 & 0x3F_FFFF)
    if size >= 0x47EF_FFFF_F000_0000:  # halfway from the largest to the next power of two
        raise _arguments.float32_overflow(value)
    exponent = size >> 52
    digits, shift = size - (896 << 52), 29  # the exponent of a float32, and its digits
    if exponent < 897:  # below the smallest normal float32: counted in 2**-149
        digits, shift = size & 0xF_FFFF_FFFF_FFFF | 1 << 52, 926 - exponent
    half, rest, nearest = 1 << shift - 1, digits & (1 << shift) - 1, digits >> shift
    return sign | nearest + (rest > half or (rest == half and nearest & 1))


class _Type:
    """What all six types share. None can be subclassed, so that a check for it is exact, as in C;
    equal states are equal objects, of either core."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        if cls.__base__ is not _Type:
            raise TypeError(
                f"type '{__name__}.{cls.__mro__[1].__name__}' is not an acceptable base type"
            )

    def _state(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __copy__(self) -> Self:
        """Itself, if it never changes."""
        return self

    def __deepcopy__(self, memo: object, /) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (type(self).__name__, *self._state())

    def __eq__(self, other: object) -> bool:
        kind = type(other)
        if kind.__name__ != type(self).__name__ or kind.__module__ not in _CORES:
            return NotImplemented
        return self._state() == tuple(other._state())  # type: ignore[attr-defined]


@final
class FrameLoop(_Type):
    """The schedule: turns timestamps into whole simulation steps.

    ``FrameLoop(timestep, budget, start)`` runs steps of ``timestep`` (a `Timestep`, or a `Rate` for
    exactly so many a second), at most ``budget`` of them a frame (a `StepBudget` or an int), from
    the instant ``start`` (nanoseconds). Without ``start``, time begins with the first frame or
    resync, and a first frame runs no step. ``tick`` and ``remainder`` continue an earlier schedule.

    >>> loop = FrameLoop(Timestep(10), StepBudget(3), Timestamp(100))
    >>> plan = loop.begin_frame(Timestamp(125))
    >>> [step.tick for step in plan.steps()], plan.dropped, plan.remainder
    ([0, 1], 0, 5)
    >>> loop
    FrameLoop(Timestep(10), StepBudget(3), 125, tick=2, remainder=5)

    Raises TypeError for a timestep, budget or number of the wrong type, OverflowError for a number
    out of range, ValueError for a remainder that is not below one step.
    """

    __slots__ = (
        "_bank",
        "_budget",
        "_last",
        "_rate_scale",
        "_rate_unit",
        "_scale",
        "_tick",
        "_unit",
    )
    _scale: int
    _unit: int
    _budget: int
    _last: int | None
    _bank: int
    _tick: int
    _rate_scale: int
    """What plans and steps count in: scale and unit, but for a speed."""
    _rate_unit: int

    def __new__(
        cls,
        timestep: Timestep | Rate = Timestep.HZ_60,
        budget: StepBudget | SupportsIndex = 5,
        start: Timestamp | None = None,
        *,
        tick: SupportsIndex = 0,
        remainder: SupportsIndex = 0,
    ) -> FrameLoop:
        """From checked arguments. Not ``__init__``, which could be called again on a live loop."""
        return _loop(*_state.frame_loop(timestep, budget, start, tick=tick, remainder=remainder))

    def _set_state(
        self,
        scale: int,
        unit: int,
        budget: int,
        last: int | None,
        bank: int,
        tick: int,
        rate_scale: int | None = None,
        rate_unit: int | None = None,
    ) -> None:
        self._rate_scale = scale if rate_scale is None else rate_scale
        self._rate_unit = unit if rate_unit is None else rate_unit
        self._scale = scale
        self._unit = unit
        self._budget = budget
        self._last = last
        self._bank = bank
        self._tick = tick

    def _state(self) -> LoopState:
        state = self._scale, self._unit, self._budget, self._last, self._bank, self._tick
        rate = self._rate_scale, self._rate_unit
        return state if rate == (self._scale, self._unit) else (*state, *rate)

    @classmethod
    def _from_state(cls, *state: int | None) -> FrameLoop:
        return _loop(*_state.frame_loop_state(*state))

    def _set_scale(self, scale: int, unit: int, budget: int, rate: Timestep | Rate, /) -> None:
        """Change the speed or the rate: what a nanosecond adds to the bank, how many of these make
        a step, the budget, and the rate whose units plans are in. Bank, last and tick stay.

        Raises ValueError for a unit that is no multiple of the rate's, or that changes once time
        has passed.
        """
        self._set_state(*_state.frame_loop_scale(self._state(), scale, unit, budget, rate))

    def _skip_ticks(self, count: int, /) -> None:
        """Count ticks that were run without time passing."""
        self._tick = min(self._tick + _arguments.ticks(count), U64_MAX)

    def _take_back(self, count: int, /) -> None:
        """Uncount ticks that were planned and not run. ValueError for more than were counted."""
        ticks = _arguments.ticks(count)
        if ticks > self._tick:
            raise _arguments.too_many_ticks(ticks)
        self._tick -= ticks

    def begin_frame(self, now: Timestamp, /) -> FramePlan:
        """Plan one frame: bank the time since the last one, and take whole steps out.

        ``now`` is a Timestamp: nanoseconds, ``0 .. 2**64 - 1``, from any fixed origin. A clock that
        went back adds nothing, and the next frame counts from it. The plan must be carried out:
        the loop has already counted its steps.

        >>> loop = FrameLoop(Timestep(10), budget=3, start=0)
        >>> loop.begin_frame(57)
        FramePlan(first_tick=0, step_count=3, dropped=2, remainder=7, timestep=Timestep(10))

        Raises TypeError for anything without ``__index__`` and OverflowError out of range; the loop
        is then as it was.
        """
        if type(now) is not int or not 0 <= now <= U64_MAX:
            now = Timestamp(_arguments.timestamp(now))
        last, unit = self._last, self._unit
        elapsed = now - last if last is not None and now > last else 0
        bank = self._bank + elapsed * self._scale
        if bank > U64_MAX and self._scale == 1:  # with any other scale nothing is lost
            bank = U64_MAX
        due = bank // unit
        if due > U64_MAX:
            due = U64_MAX
        bank %= unit
        # in units of the rate, rounded down; the bank keeps the rest
        rate_unit = self._rate_unit
        remainder = bank if unit == rate_unit else bank // (unit // rate_unit)
        step_count = due if due < self._budget else self._budget
        first_tick = self._tick
        tick = first_tick + step_count
        if tick > U64_MAX:
            tick = U64_MAX
        # The plan first: where there is no memory for it, no time has passed for the loop either.
        plan = _plan(
            first_tick, step_count, due - step_count, remainder, self._rate_scale, rate_unit
        )
        self._tick, self._bank, self._last = tick, bank, now
        return plan

    def begin_frames(
        self,
        timestamps: Buffer | Iterable[int],
        stats: FrameStats | None = None,
        out: tuple[Buffer, Buffer, Buffer, Buffer] | None = None,
    ) -> FramePlans:
        """Plan many frames: the same as ``begin_frame`` on each, and ``stats.absorb`` on each plan.

        ``timestamps`` is a one-dimensional C-contiguous buffer of 64-bit integers, unsigned or not
        negative (``array('Q')``, numpy uint64 or int64), or any iterable of integers. ``out`` are
        columns to write the plans into instead of new memory, which is slow where there are
        millions: writable buffers for first_tick, step_count (32 bits), dropped and remainder, each
        with an item or more for each frame. The result is then a view of them.

        >>> plans = FrameLoop(Timestep(10), start=0).begin_frames([5, 10, 31])
        >>> [plan.step_count for plan in plans], list(plans.remainder)
        ([0, 1, 2], [5, 0, 1])

        Raises what ``begin_frame`` raises, with the position; BufferError for a buffer that is not
        contiguous; RuntimeError if the loop or the stats were used meanwhile; TypeError,
        BufferError and ValueError for columns of another kind or too short. Nothing is applied
        then, though ``out`` may have been written to.
        """
        views = None if out is None else _plans.out_columns(out)
        columns: tuple[list[int], ...] = ([], [], [], [])
        batch = self._plan_batch(timestamps, stats, columns)
        count = len(columns[0])
        memory: Sequence[bytes | memoryview] = _plans.packed(columns)
        if views is not None:
            _plans.copy_out(views, 0, count, memory)
            memory = views
        plans = _plans.plans_in(FramePlan, self._rate_scale, self._rate_unit, memory, count)
        self._commit_batch(stats, *batch)
        return plans

    def digest_frames(self, timestamps: Buffer | Iterable[int], stats: FrameStats) -> None:
        """Plan many frames into ``stats`` and keep no plan: constant memory for any number.

        Takes, raises and does what ``begin_frames`` does, less the columns.

        >>> loop, stats = FrameLoop(Timestep(10), start=0), FrameStats()
        >>> loop.digest_frames(range(0, 1001, 4), stats)
        >>> loop.tick, stats.frames
        (100, 251)
        """
        if type(stats) is not FrameStats:
            raise _arguments.wrong_stats(stats)
        self._commit_batch(stats, *self._plan_batch(timestamps, stats, None))

    def _plan_batch(
        self,
        timestamps: Buffer | Iterable[int],
        stats: FrameStats | None,
        columns: tuple[list[int], ...] | None,
    ) -> tuple[LoopState, LoopState, tuple[int, ...], tuple[int, ...]]:
        """Run copies of the loop and the tally over the timestamps, so that a bad one in the middle
        leaves everything as it was: what both were, and what they come to."""
        if stats is not None and type(stats) is not FrameStats:
            raise _arguments.wrong_stats(stats)
        loop, loop_before = self.__copy__(), self._state()
        tally = FrameStats() if stats is None else stats.__copy__()
        tally_before = tally._state()
        for block in _arguments.timestamp_blocks(timestamps):
            for now in memoryview(block).cast("Q"):
                plan = loop.begin_frame(Timestamp(now))
                if stats is not None:
                    tally.absorb(plan)
                if columns is not None:
                    columns[0].append(plan._first_tick)
                    columns[1].append(plan._step_count)
                    columns[2].append(plan._dropped)
                    columns[3].append(plan._remainder)
        return loop_before, loop._state(), tally_before, tally._state()

    def _commit_batch(
        self,
        stats: FrameStats | None,
        loop_before: LoopState,
        loop_after: LoopState,
        tally_before: tuple[int, ...],
        tally_after: tuple[int, ...],
    ) -> None:
        """Take over what a batch came to, if nobody else moved the loop or the tally meanwhile. The
        last thing a batch does: where there is no memory for its plans, nothing was planned."""
        if self._state() != loop_before or (stats is not None and stats._state() != tally_before):
            raise _arguments.loop_changed()
        self._set_state(*loop_after)
        if stats is not None:
            stats._set_state(*tally_after)

    def resync(self, now: Timestamp, /) -> None:
        """Forget the time since the last frame: for a pause or a load that the caller knows about.

        Moves ``last`` to ``now`` and nothing else: the remainder and the tick stay.

        >>> loop = FrameLoop(Timestep(10))
        >>> loop.resync(1_000_000)
        >>> loop.begin_frame(1_000_012).step_count
        1

        Raises what ``begin_frame`` raises.
        """
        if type(now) is not int or not 0 <= now <= U64_MAX:
            now = Timestamp(_arguments.timestamp(now))
        self._last = now

    @property
    def tick(self) -> int:
        """How many steps have been planned: the number of the next one. Saturates at 2**64 - 1."""
        return self._tick

    @property
    def remainder(self) -> int:
        """Time not yet a step. In nanoseconds for a Timestep, in 1/numerator ns for a Rate."""
        return self._bank // (self._unit // self._rate_unit)

    @property
    def simulated(self) -> Nanos:
        """The simulation's own clock: nanoseconds that all planned steps cover, saturating."""
        return Nanos(sim_time(self._tick, self._rate_scale, self._rate_unit))

    @property
    def timestep(self) -> Timestep | Rate:
        """What the loop was configured with."""
        return timestep_of(self._rate_scale, self._rate_unit)

    @property
    def budget(self) -> StepBudget:
        """The most steps a frame may run."""
        return StepBudget(self._budget)

    @property
    def last(self) -> Timestamp | None:
        """The timestamp of the last frame or resync; the start before the first, None without."""
        return None if self._last is None else Timestamp(self._last)

    def __copy__(self) -> FrameLoop:
        return _loop(*self._state())

    def __repr__(self) -> str:
        return text.frame_loop(*self._state())


def _loop(*state: Any) -> FrameLoop:
    loop = object.__new__(FrameLoop)
    loop._set_state(*state)
    return loop


@final
class FramePlan(_Type):
    """What one frame must do. Immutable; made by `FrameLoop.begin_frame`.

    >>> plan = FramePlan(7, 2, 1, 4, Timestep(10))
    >>> [step.sim_time for step in plan.steps()], plan.ticks, plan.alpha()
    ([70, 80], range(7, 9), 0.4000000059604645)

    Raises TypeError, OverflowError and ValueError as `FrameLoop` does.
    """

    __slots__ = ("_dropped", "_first_tick", "_remainder", "_scale", "_step_count", "_unit")
    _first_tick: int
    _step_count: int
    _dropped: int
    _remainder: int
    _scale: int
    _unit: int

    def __new__(
        cls,
        first_tick: SupportsIndex,
        step_count: SupportsIndex,
        dropped: SupportsIndex,
        remainder: SupportsIndex,
        timestep: Timestep | Rate,
    ) -> FramePlan:
        """From checked arguments; the loop takes the way that checks nothing, `_plan`."""
        return _plan(*_state.frame_plan(first_tick, step_count, dropped, remainder, timestep))

    @classmethod
    def _from_state(
        cls,
        first_tick: int,
        step_count: int,
        dropped: int,
        remainder: int,
        scale: int,
        unit: int,
    ) -> FramePlan:
        return _plan(
            *_state.frame_plan_state(first_tick, step_count, dropped, remainder, scale, unit)
        )

    @staticmethod
    def _of_batch(
        first_tick: int, step_count: int, dropped: int, remainder: int, scale: int, unit: int
    ) -> FramePlan:
        """For a batch, whose numbers are right."""
        return _plan(first_tick, step_count, dropped, remainder, scale, unit)

    def _state(self) -> tuple[int, int, int, int, int, int]:
        return (
            self._first_tick,
            self._step_count,
            self._dropped,
            self._remainder,
            self._scale,
            self._unit,
        )

    @property
    def first_tick(self) -> int:
        """The number of the first step."""
        return self._first_tick

    @property
    def step_count(self) -> int:
        """How many steps to run, ``0 .. budget``."""
        return self._step_count

    @property
    def dropped(self) -> int:
        """How many whole steps the budget refused. They are gone, not banked."""
        return self._dropped

    @property
    def remainder(self) -> int:
        """Time not yet a step. In nanoseconds for a Timestep, in 1/numerator ns for a Rate."""
        return self._remainder

    @property
    def timestep(self) -> Timestep | Rate:
        """What the loop that made the plan was configured with."""
        return timestep_of(self._scale, self._unit)

    @property
    def ticks(self) -> range:
        """The numbers of the steps, where those are all that is needed.

        It does not saturate as ``steps()`` does: it has ``step_count`` numbers even at the end.
        """
        return range(self._first_tick, self._first_tick + self._step_count)

    def steps(self) -> Steps:
        """The steps to run, in order. Every call starts again.

        >>> for step in FramePlan(7, 2, 0, 0, Timestep(10)).steps():
        ...     print(step)
        Step(tick=7, dt=10, sim_time=70)
        Step(tick=8, dt=10, sim_time=80)
        """
        return _steps(self._first_tick, self._step_count, self._scale, self._unit)

    def alpha(self) -> Alpha:
        """How far the frame is between two ticks: remainder over step, a float32 in ``[0, 1)``.

        For drawing only: it is no part of the digest and no input to a simulation. A plain
        division rounds up to 1.0, from steps of 34 ms on, and draws a whole step ahead; hence the
        clamp to 0x3F7FFFFF.

        >>> FramePlan(0, 0, 0, 5, Timestep(10)).alpha()
        0.5
        >>> FramePlan(0, 0, 0, 2**64 - 2, Timestep(2**64 - 1)).alpha() < 1
        True
        """
        ratio = float(self._remainder) / float(self._unit)
        return Alpha(min(_F32.unpack(_F32.pack(ratio))[0], _ALPHA_BELOW_ONE))

    def __hash__(self) -> int:
        return hash(self._state())

    def __repr__(self) -> str:
        return text.frame_plan(*self._state())


def _plan(
    first_tick: int, step_count: int, dropped: int, remainder: int, scale: int, unit: int
) -> FramePlan:
    """A plan from numbers already known to be right: half the cost of ``begin_frame`` in Python."""
    plan = object.__new__(FramePlan)
    plan._first_tick = first_tick
    plan._step_count = step_count
    plan._dropped = dropped
    plan._remainder = remainder
    plan._scale = scale
    plan._unit = unit
    return plan


@final
class Steps(_Type):
    """The steps of one plan, in tick order: an iterator that knows how many are left.

    >>> steps = FramePlan(7, 2, 0, 0, Timestep(10)).steps()
    >>> len(steps), next(steps).tick, len(steps), steps
    (2, 7, 1, Steps(8, 1, Timestep(10)))

    Once exhausted it stays so. Ticks saturate at 2**64 - 1.
    """

    __slots__ = ("_count", "_scale", "_tick", "_unit")
    _tick: int
    _count: int
    _scale: int
    _unit: int

    def __new__(
        cls, first_tick: SupportsIndex, step_count: SupportsIndex, timestep: Timestep | Rate
    ) -> Steps:
        """From checked arguments; a plan takes the way that checks nothing, `_steps`."""
        return _steps(*_state.steps(first_tick, step_count, timestep))

    @classmethod
    def _from_state(cls, first_tick: int, step_count: int, scale: int, unit: int) -> Steps:
        return _steps(*_state.steps_state(first_tick, step_count, scale, unit))

    def _state(self) -> tuple[int, int, int, int]:
        return self._tick, self._count, self._scale, self._unit

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Step:
        while (count := self._count) > 0:
            tick = self._tick
            after = tick + 1 if tick < U64_MAX else tick
            at = sim_time(tick, self._scale, self._unit)
            # the steps of a Rate differ by a nanosecond, and their sum is exact
            whole = self._scale == 1
            dt = self._unit if whole else sim_time(after, self._scale, self._unit) - at
            step = Step(tick, Nanos(dt), Nanos(at))
            # Taken when it is whole, or an error would lose it; and taken by one only, since a
            # call above can run a finalizer that takes from here too.
            if self._count == count:
                self._count, self._tick = count - 1, after
                return step
        raise StopIteration

    def __copy__(self) -> Steps:
        return _steps(*self._state())

    def __repr__(self) -> str:
        return text.steps(*self._state())


def _steps(first_tick: int, step_count: int, scale: int, unit: int) -> Steps:
    steps = object.__new__(Steps)
    steps._tick = first_tick
    steps._count = step_count
    steps._scale = scale
    steps._unit = unit
    return steps


@final
class StateHash(_Type):
    """A fingerprint of simulation state: FNV-1a-64 over what is absorbed, in the order written.

    Immutable: each ``absorb`` returns the next fingerprint, so the order of a digest can be read
    off the page. Two runs that absorbed the same values have equal digests on every machine.

    >>> hex(StateHash().absorb_bytes(b"foobar").finish())
    '0x85944171f73967e8'
    >>> StateHash().absorb_u64(5)
    StateHash(0x0de21504f16dc720)

    Not a cryptographic hash: it finds accidents, not forgeries. ``hash()`` of Python itself is
    seeded in every process and of no use here. ``state`` continues an earlier digest.

    Raises TypeError for anything without ``__index__`` and OverflowError out of ``0 .. 2**64 - 1``.
    """

    __slots__ = ("_value",)
    _value: int

    def __new__(cls, state: SupportsIndex = FNV_OFFSET) -> StateHash:
        """From a checked argument; absorbing takes the way that checks nothing, `_hash_of`."""
        return _hash_of(*_state.state_hash(state))

    @classmethod
    def _from_state(cls, value: int) -> StateHash:
        return _hash_of(*_state.state_hash_state(value))

    def _state(self) -> tuple[int]:
        return (self._value,)

    def absorb(self, value: object, /) -> StateHash:
        """The state of a game, whatever Python value it is: its encoding as deterministic CBOR.

        The digest is the same on every machine, in every process and on both cores, and equal only
        for equal encodings. Numbers, text, bytes, lists, tuples, dicts, sets, deques, dataclasses,
        named tuples, enums, Fractions, ``array.array`` and numpy arrays have one, and so has each
        object whose class defines ``__digest__(self)``, which returns its state as such values.
        Fields of a dataclass with ``compare=False`` are left out. docs/reference/encoding.md says
        what the bytes are.

        >>> hex(StateHash().absorb({"tick": 7, "units": [(1, 2.5), (3, -0.0)]}).finish())
        '0x929c5e33f3d21936'

        Raises TypeError for what has no encoding, and ValueError for a cycle, for containers nested
        more than 100 deep, for two keys with one encoding and for text that is not valid. All name
        the place: ``units[3].target: Sprite has no __digest__``.
        """
        state = self._value

        def emit(piece: bytes | bytearray) -> None:
            nonlocal state
            state = _fnv(state, piece)

        _encoding.walk(value, emit)
        return _hash_of(state)

    def absorb_bytes(self, buffer: Buffer, /, *buffers: Buffer) -> StateHash:
        """The bytes of C-contiguous buffers, one after the other, without their lengths.

        Absorb a length first where the buffers could be divided in more than one way. Raises
        TypeError for text and other non-buffers, BufferError for one that is not contiguous.
        """
        state = self._value
        for each in (buffer, *buffers):
            with _arguments.byte_view(each) as view:
                state = _fnv(state, view)
        return _hash_of(state)

    def absorb_u64(self, value: SupportsIndex, /, *values: SupportsIndex) -> StateHash:
        """Unsigned 64-bit integers as 8 bytes each, little-endian."""
        state = self._value
        for each in (value, *values):
            state = _fnv(state, _U64.pack(_arguments.u64(each)))
        return _hash_of(state)

    def absorb_u32(self, value: SupportsIndex, /, *values: SupportsIndex) -> StateHash:
        """Unsigned 32-bit integers as 4 bytes each, little-endian."""
        state = self._value
        for each in (value, *values):
            state = _fnv(state, _arguments.u32(each).to_bytes(4, "little"))
        return _hash_of(state)

    def absorb_i64(self, value: SupportsIndex, /, *values: SupportsIndex) -> StateHash:
        """Signed 64-bit integers as 8 bytes each, two's complement, little-endian.

        >>> StateHash().absorb_i64(-3, 4) == StateHash().absorb_i64(-3).absorb_i64(4)
        True
        """
        state = self._value
        for each in (value, *values):
            state = _fnv(state, _arguments.i64(each).to_bytes(8, "little", signed=True))
        return _hash_of(state)

    def absorb_f32_bits(self, value: float, /, *values: float) -> StateHash:
        """The bits of the nearest float32 as 4 bytes, little-endian, for each value. 0.0 and -0.0
        differ, and so do NaNs of different bits: inf - inf is another NaN on ARM than on x86.

        Raises TypeError for what is no number and OverflowError beyond the largest float32.
        """
        state = self._value
        for each in (value, *values):
            state = _fnv(state, _f32_bits(_arguments.real(each)).to_bytes(4, "little"))
        return _hash_of(state)

    def absorb_f64_bits(self, value: float, /, *values: float) -> StateHash:
        """The bits of a float as 8 bytes, little-endian, for each value. 0.0 and -0.0 differ, and
        so do NaNs of different bits: inf - inf is another NaN on ARM than on x86. `absorb` takes
        every NaN for the same.

        Raises TypeError for what is no number.
        """
        state = self._value
        for each in (value, *values):
            state = _fnv(state, _F64.pack(_arguments.real(each)))
        return _hash_of(state)

    def absorb_plan(self, plan: FramePlan, /, *plans: FramePlan) -> StateHash:
        """Plans: first_tick u64, step_count u32, dropped u64, remainder u64, unit u64, and then
        scale u64 if it is not 1. ``alpha`` is no part of it."""
        state = self._value
        for each in (plan, *plans):
            if type(each) is not FramePlan:
                raise _arguments.wrong_plan(each)
            state = _fnv_plan(state, each)
        return _hash_of(state)

    def finish(self) -> int:
        """The digest: an integer, ``0 .. 2**64 - 1``."""
        return self._value

    def __hash__(self) -> int:
        return hash(self._state())

    def __repr__(self) -> str:
        return text.state_hash(*self._state())


def _hash_of(value: int) -> StateHash:
    state = object.__new__(StateHash)
    state._value = value
    return state


def digest(value: object, /) -> int:
    """The digest of a value, whatever it is: ``StateHash().absorb(value).finish()``.

    >>> digest([1, 2]) == digest([1, 2]) != digest([1, 2.0])
    True

    An integer, ``0 .. 2**64 - 1``. Raises what `StateHash.absorb` raises.
    """
    return StateHash().absorb(value).finish()


@final
class FrameStats(_Type):
    """The deterministic tally of a run: what two equal runs must agree on, and nothing measured.

    Wall time lives in `FrameTiming`, apart on purpose: a single report would sooner or later digest
    both, and no two runs would ever agree.

    >>> stats = FrameStats()
    >>> stats.absorb(FramePlan(0, 5, 6, 3, Timestep(10)))
    >>> stats.frames, stats.ticks, stats.steps_dropped
    (1, 5, 6)

    Every counter saturates at 2**64 - 1. The arguments continue an earlier tally.
    """

    __slots__ = ("_numbers",)
    _numbers: tuple[int, ...]

    def __new__(
        cls,
        frames: SupportsIndex = 0,
        ticks: SupportsIndex = 0,
        steps_dropped: SupportsIndex = 0,
        schedule_hash: SupportsIndex = FNV_OFFSET,
    ) -> FrameStats:
        """From checked arguments. Not ``__init__``, which could be called again on a live tally."""
        return _stats(*_state.frame_stats(frames, ticks, steps_dropped, schedule_hash))

    def _set_state(self, *state: int) -> None:
        self._numbers = state

    @classmethod
    def _from_state(cls, *state: object) -> FrameStats:
        return _stats(*_state.frame_stats_state(*state))

    def _state(self) -> tuple[int, ...]:
        return self._numbers

    def absorb(self, plan: FramePlan, /) -> None:
        """Count a plan and absorb it into the schedule digest.

        Raises TypeError for anything but a FramePlan of the same core.
        """
        if type(plan) is not FramePlan:
            raise _arguments.wrong_plan(plan)
        frames, ticks, steps_dropped, schedule_hash = self._numbers
        self._numbers = (
            min(frames + 1, U64_MAX),
            min(ticks + plan._step_count, U64_MAX),
            min(steps_dropped + plan._dropped, U64_MAX),
            _fnv_plan(schedule_hash, plan),
        )

    @property
    def frames(self) -> int:
        """Plans absorbed."""
        return self._numbers[0]

    @property
    def ticks(self) -> int:
        """Steps planned."""
        return self._numbers[1]

    @property
    def steps_dropped(self) -> int:
        """Steps that budgets refused."""
        return self._numbers[2]

    @property
    def schedule_hash(self) -> int:
        """The digest of every plan, in order."""
        return self._numbers[-1]

    def json(self) -> str:
        """One JSON object. The digest is a string, since JSON readers round large numbers.

        >>> print(FrameStats().json())
        {"frames":0,"ticks":0,"steps_dropped":0,"schedule_hash":"0xcbf29ce484222325"}
        """
        return text.frame_stats_json(*self._state())

    def __copy__(self) -> FrameStats:
        return _stats(*self._state())

    def __repr__(self) -> str:
        return text.frame_stats(*self._state())


def _stats(*state: int) -> FrameStats:
    stats = object.__new__(FrameStats)
    stats._set_state(*state)
    return stats


@final
class FrameTiming(_Type):
    """A summary of measured frame times, in constant memory.

    It is measured, so two runs never agree on it: no digest takes it in. The clock is read by the
    caller. Percentiles are within 1/128 of the true ones (0.8 %); minimum and maximum are exact.

    >>> timing = FrameTiming()
    >>> for nanos in (16_000_000, 17_000_000, 90_000_000):
    ...     timing.record(nanos, drawn=True)
    >>> timing.count, timing.max, timing.percentile(100)
    (3, 90000000, 90000000)
    >>> abs(timing.percentile(50) - 17_000_000) <= 17_000_000 // 128
    True

    Counters saturate at 2**64 - 1. The arguments are what repr() prints: they bring a summary back.
    Raises TypeError and OverflowError for a wrong number, and ValueError for arguments that do not
    fit together.
    """

    __slots__ = ("_counts", "_drawn", "_max", "_min", "_skipped", "_sum")
    _counts: MutableSequence[int]
    _min: int
    _max: int
    _sum: int
    _drawn: int
    _skipped: int

    def __new__(
        cls,
        *,
        min: SupportsIndex = 0,
        max: SupportsIndex = 0,
        sum: SupportsIndex = 0,
        drawn: SupportsIndex = 0,
        skipped: SupportsIndex = 0,
        buckets: Mapping[int, int] | None = None,
    ) -> FrameTiming:
        """From checked arguments. Not ``__init__``, which could be called again later."""
        return _timing(
            *_state.frame_timing(
                min=min, max=max, sum=sum, drawn=drawn, skipped=skipped, buckets=buckets
            )
        )

    @classmethod
    def _from_state(cls, state: TimingState) -> FrameTiming:
        return _timing(*_state.frame_timing_state(state))

    def _state(self) -> tuple[TimingState]:
        state: TimingState = {
            "min": self._min,
            "max": self._max,
            "sum": self._sum,
            "drawn": self._drawn,
            "skipped": self._skipped,
            "buckets": {bucket: frames for bucket, frames in enumerate(self._counts) if frames},
        }
        return (state,)

    def record(self, frame_time: Nanos, drawn: bool) -> None:
        """Count one frame: how long the caller worked on it, and whether it was drawn.

        ``frame_time`` is nanoseconds, ``0 .. 2**64 - 1``. Raises TypeError and OverflowError as
        `FrameLoop.begin_frame` does; nothing is counted then.

        >>> timing = FrameTiming()
        >>> timing.record(5_000_000, drawn=False)
        >>> timing.sum, timing.drawn, timing.skipped
        (5000000, 0, 1)
        """
        if type(frame_time) is not int or not 0 <= frame_time <= U64_MAX:
            frame_time = Nanos(_arguments.frame_time(frame_time))
        drawn = bool(drawn)  # first: what is neither true nor false raises, and counts nothing
        bucket = timing.bucket_of(frame_time)
        frames = min(self._counts[bucket] + 1, U64_MAX)
        total = min(self._sum + frame_time, U64_MAX)
        of_its_kind = min((self._drawn if drawn else self._skipped) + 1, U64_MAX)
        # all numbers are there, and nothing below can fail for lack of memory
        if frame_time < self._min or not (self._drawn or self._skipped):
            self._min = frame_time
        if frame_time > self._max:
            self._max = frame_time
        self._sum = total
        self._counts[bucket] = frames
        if drawn:
            self._drawn = of_its_kind
        else:
            self._skipped = of_its_kind

    @property
    def count(self) -> int:
        """Frames recorded."""
        return min(self._drawn + self._skipped, U64_MAX)

    @property
    def min(self) -> Nanos:
        """The shortest frame, exactly; 0 before the first."""
        return Nanos(self._min)

    @property
    def max(self) -> Nanos:
        """The longest frame, exactly; 0 before the first."""
        return Nanos(self._max)

    @property
    def sum(self) -> Nanos:
        """All frames together, saturating."""
        return Nanos(self._sum)

    @property
    def drawn(self) -> int:
        """Frames that were drawn."""
        return self._drawn

    @property
    def skipped(self) -> int:
        """Frames that were not."""
        return self._skipped

    def percentile(self, p: SupportsFloat | str) -> Nanos:
        """The span that ``p`` percent of the frames do not exceed (nearest rank), within 1/128.

        ``p`` is 0 .. 100, read as it is written: 99.9 means 999 in a thousand, not the binary
        number beside it. 0 is the minimum and 100 the maximum, exactly; 0 before the first frame.
        Raises TypeError for what is no number and ValueError out of range.

        >>> timing = FrameTiming()
        >>> for nanos in range(1, 101):
        ...     timing.record(nanos, drawn=True)
        >>> timing.percentile(50), timing.percentile(99), timing.percentile("99.9")
        (50, 99, 100)
        """
        return timing.percentile(*self._state(), p)

    def json(self) -> str:
        """One JSON object, in nanoseconds.

        >>> print(FrameTiming().json()[:70])
        {"count":0,"min_ns":0,"max_ns":0,"sum_ns":0,"drawn":0,"skipped":0,"p50
        """
        return text.frame_timing_json(*self._state())

    def __copy__(self) -> FrameTiming:
        return _timing(**self._state()[0])

    def __repr__(self) -> str:
        return text.frame_timing(*self._state())


def _timing(
    min: int, max: int, sum: int, drawn: int, skipped: int, buckets: dict[int, int]
) -> FrameTiming:
    made = object.__new__(FrameTiming)
    made._min, made._max, made._sum = min, max, sum
    made._drawn, made._skipped = drawn, skipped
    made._counts = array("Q", bytes(8 * timing.BUCKETS))
    for bucket, frames in buckets.items():
        made._counts[bucket] = frames
    return made
