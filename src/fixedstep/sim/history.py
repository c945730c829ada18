"""Previous and current values, for drawing between two ticks.

A display shows more frames than there are ticks, so a frame is drawn between the last two ticks:
alpha of the way from the previous value to the current one. That makes the picture smooth and one
tick late. What jumps must not be interpolated: after a teleport, and for what has just appeared,
both values are equal.

Drawing never changes the values. The simulation reads ``current``, and a digest absorbs that alone;
a simulation that reads what was drawn depends on the frame rate. There is no extrapolation: it
shows what then does not happen. Angles that wrap and curves are the game's to interpolate, from
``previous`` and ``current``.

`History` holds a number or a tuple of numbers, `ArrayHistory` the rows of a numpy array.
`Interpolated` draws objects that other people made, such as the sprites of a toolkit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from types import ModuleType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    SupportsFloat,
    TypeAlias,
    TypeVar,
    overload,
)

from .. import FramePlan
from .._arguments import shown
from .._saved import register, restore
from .exact import int_if_whole
from .game_loop import FrameReport

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
else:  # so that type hints can be read without importing numpy
    ArrayLike = NDArray = Sequence

Number: TypeAlias = int | float | Fraction

V = TypeVar("V", bound="Number | tuple[Number, ...]")
_N = TypeVar("_N", bound=Number)
_T = TypeVar("_T", bound="tuple[Number, ...]")
_NUMBERS = (int, float, Fraction)

_VALUE_FIX = "tuple(...) makes one of a list, float(...) of another kind of number"


class History(Generic[V]):
    """The previous and the current value of a number, or of a tuple of numbers.

    >>> position = History((0, 100))
    >>> position.capture()                       # at the beginning of every tick
    >>> position.set((10, 100))
    >>> position.at(0.25)
    (2.5, 100)
    >>> position.teleport((50, 0))
    >>> position.at(0.25), position.current
    ((50, 0), (50, 0))

    Numbers are ints, floats and Fractions. What has just appeared has a new history, whose values
    are equal; ``previous`` is for loading one that was saved. Raises TypeError for anything else,
    lists included, and as ``set`` does for ``previous``.
    """

    __slots__ = ("_current", "_previous")

    def __init__(self, initial: V, *, previous: V | None = None) -> None:
        self._previous = self._current = _value(initial, "initial")
        if previous is not None:
            self._previous = self._fitting(previous)

    def capture(self) -> None:
        """Begin a tick: the current value becomes the previous one."""
        self._previous = self._current

    def set(self, value: V) -> None:
        """Set the current value: drawing interpolates from the previous value to it.

        Raises TypeError for anything but a number, or a tuple of as many as before, and ValueError
        for a tuple of another length; nothing changes then.
        """
        self._current = self._fitting(value)

    def teleport(self, value: V) -> None:
        """Set previous and current to ``value``, so that drawing does not interpolate the jump.

        Raises what ``set`` raises.
        """
        self._previous = self._current = self._fitting(value)

    @overload
    def at(self: History[_T], when: SupportsFloat) -> tuple[float, ...]: ...
    @overload
    def at(self: History[_T], when: FramePlan | FrameReport) -> tuple[Number, ...]: ...
    @overload
    def at(self: History[_N], when: SupportsFloat) -> float: ...
    @overload
    def at(self: History[_N], when: FramePlan | FrameReport) -> Number: ...
    def at(self: History[Any], when: Any) -> Any:
        """The value to draw: ``when`` is alpha, a plan, or the report of a frame.

        Given an alpha, ``0 .. 1`` (the plan's or the report's, or 1 for the current value), what
        moved is a float. Given a plan or a report, or a Fraction as alpha, whole numbers and
        Fractions are interpolated exactly, at ``remainder / unit``; floats stay floats. Where
        nothing moved, and at 0 and 1, it is the value itself. A named tuple keeps its names.

        >>> from fixedstep import FrameLoop, Timestep
        >>> x = History(100)
        >>> x.set(110)
        >>> plan = FrameLoop(Timestep(40), start=0).begin_frame(10)
        >>> x.at(plan), x.at(plan.alpha()), x.at(1)
        (Fraction(205, 2), 102.5, 110)

        Raises TypeError for anything else, and ValueError for an alpha out of range.
        """
        share = _share(when)
        before, now = self._previous, self._current
        if isinstance(now, tuple):
            pairs = zip(before, now, strict=True)
            return _like(now, [_between(a, b, share) for a, b in pairs])
        return _between(before, now, share)

    @overload
    def floor_at(
        self: History[_T], when: SupportsFloat | FramePlan | FrameReport
    ) -> tuple[int, ...]: ...
    @overload
    def floor_at(self: History[_N], when: SupportsFloat | FramePlan | FrameReport) -> int: ...
    def floor_at(self: History[Any], when: Any) -> Any:
        """``at``, rounded down to whole numbers: for pixels.

        Down, also below 0: rounding towards 0 would show pixel 0 for twice as long as others.
        Raises what ``at`` raises.

        >>> History(-3).floor_at(1), History((0.5, -0.5)).floor_at(1)
        (-3, (0, -1))
        """
        drawn = self.at(when)
        if isinstance(drawn, tuple):
            return _like(drawn, [int(part // 1) for part in drawn])
        return int(drawn // 1)

    def _fitting(self, value: V) -> V:
        _value(value, "value")
        now: Any = self._current
        if isinstance(value, tuple) != isinstance(now, tuple):
            raise TypeError(
                f"value must be {'a tuple' if isinstance(now, tuple) else 'a number'} like "
                f"{shown(now)}, not {shown(value)}; a history keeps its shape"
            )
        if isinstance(value, tuple) and len(value) != len(now):
            raise ValueError(
                f"value must hold {len(now)} numbers like {shown(now)}, not {shown(value)}; "
                "a history keeps its shape"
            )
        return value

    @property
    def previous(self) -> V:
        """The value when the tick began, or of the last teleport since."""
        return self._previous

    @property
    def current(self) -> V:
        """The value now: the one that the simulation reads and a digest absorbs."""
        return self._current

    def __digest__(self) -> V:
        return self._current

    def __eq__(self, other: object) -> bool:
        if type(other) is not History:
            return NotImplemented
        return (self._previous, self._current) == (other._previous, other._current)

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("sim.History", self._current, self._previous)

    def __repr__(self) -> str:
        return f"History({self._current!r}, previous={self._previous!r})"


register("sim.History", lambda current, previous: History(current, previous=previous), 2)


class ArrayHistory:
    """The previous and the current rows of an array, one row an entity. Needs numpy.

    >>> positions = ArrayHistory([[0.0, 0.0], [5.0, 5.0], [9.0, 9.0]])
    >>> positions.capture()
    >>> positions.current += 1.0                 # motion writes in place
    >>> positions.teleport([False, True, False], [50.0, 50.0])
    >>> positions.at(0.5).tolist()
    [[0.5, 0.5], [50.0, 50.0], [9.5, 9.5]]

    ``initial`` is anything numpy makes an array of signed integers or of floats of, with at least
    one dimension; it is copied. The number of rows is fixed: give a pool its capacity, and keep
    finite numbers in unused rows.

    Raises ImportError without numpy, TypeError for other kinds of items, and ValueError for a
    single number.
    """

    __slots__ = ("_current", "_previous")

    def __init__(self, initial: ArrayLike) -> None:
        np = _numpy()
        current: NDArray[Any] = np.array(initial)
        if current.dtype.kind not in "if":  # unsigned ones have no way back
            raise TypeError(
                f"initial must hold signed integers or floats, not {current.dtype}; "
                "give a rectangular list or array of numbers"
            )
        if current.ndim == 0:
            raise ValueError(
                f"initial must hold a row for each entity, not the single {current}; "
                "History holds one"
            )
        self._current = current
        self._previous = current.copy()

    def capture(self) -> None:
        """Begin a tick: the current rows become the previous ones."""
        self._previous[...] = self._current

    def set(self, values: ArrayLike) -> None:
        """Set the current rows; a single row is used for all.

        Writing to ``current`` does the same. Raises ValueError for another shape, TypeError for
        items that the array cannot hold, such as floats in an array of integers, and OverflowError
        for integers beyond its own.
        """
        self._current[...] = self._fitting(values, self._current.shape)

    def teleport(self, where: ArrayLike, values: ArrayLike | None = None) -> None:
        """Set previous and current of some rows, so that drawing does not interpolate the jump.

        ``where`` is a mask, a bool for each row, or the numbers of rows. ``values`` is a row for
        each of them or one for all; without it their current values are kept. Use it for rows that
        have just appeared, too.

        Raises TypeError for another kind of ``where``, IndexError for a mask of another length or a
        row that is not there (-1 is not the last one), and what ``set`` raises; nothing moves then.
        """
        rows = self._rows(where)
        if values is not None:
            self._current[rows] = self._fitting(values, self._current[rows].shape)
        self._previous[rows] = self._current[rows]

    def at(
        self,
        when: SupportsFloat | FramePlan | FrameReport,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """The rows to draw, as a new array or in ``out``; ``when`` as for `History.at`.

        Its items are floats of the array's own size, float64 for an array of integers. At 1 and
        where nothing moved, it has the current values.

        Raises TypeError and ValueError as `History.at` does, and ValueError for an ``out`` of
        another shape or kind, or one that is part of the history: drawing must not change it.
        """
        np = _numpy()
        share = float(_share(when))
        now, before = self._current, self._previous
        kind = now.dtype if now.dtype.kind == "f" else np.dtype(np.float64)
        drawn: NDArray[Any] = np.empty(now.shape, kind) if out is None else out
        if drawn.shape != now.shape or drawn.dtype != kind:
            raise ValueError(
                f"out must be {kind} of shape {now.shape}, not {drawn.dtype} of shape "
                f"{drawn.shape}; leave it out for a new array"
            )
        if np.may_share_memory(drawn, now) or np.may_share_memory(drawn, before):
            raise ValueError(
                "out must be an array of the renderer's own, not one of the history's; drawing "
                "must not change it"
            )
        if share == 1:
            drawn[...] = now
        else:
            np.subtract(now, before, out=drawn, dtype=kind)
            drawn *= share
            drawn += before
        return drawn

    def _rows(self, where: ArrayLike) -> NDArray[Any]:
        rows: NDArray[Any] = _numpy().asarray(where)
        count = len(self._current)
        if rows.size == 0 and rows.dtype.kind == "f":  # an empty list
            rows = rows.astype(int)
        if rows.dtype.kind == "b":
            if rows.shape != (count,):
                raise IndexError(
                    f"where must be a mask of {count} rows, not of shape {rows.shape}; "
                    "give a bool for each row"
                )
        elif rows.dtype.kind not in "iu":
            raise TypeError(
                f"where must be a mask or numbers of rows, not {rows.dtype}; "
                "positions.current[:, 0] > 5 is a mask"
            )
        elif rows.size and not 0 <= rows.min() <= rows.max() < count:
            raise IndexError(
                f"where must name rows 0 .. {count - 1}, not {rows.min()} .. {rows.max()}; "
                "leave out what has no row"
            )
        return rows

    def _fitting(self, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
        np = _numpy()
        given: NDArray[Any] = np.asarray(values)
        kind = self._current.dtype
        if not np.can_cast(given.dtype, kind, "same_kind"):
            raise TypeError(
                f"values must fit an array of {kind}, not be {given.dtype}; round floats first"
            )
        if given.dtype.kind == kind.kind == "i" and given.size:
            bounds = np.iinfo(kind)
            if not bounds.min <= given.min() <= given.max() <= bounds.max:
                raise OverflowError(
                    f"values must be {bounds.min} .. {bounds.max}, as an array of {kind} holds, "
                    f"not {given.min()} .. {given.max()}; make the history of int64"
                )
        try:
            fitted: NDArray[Any] = np.broadcast_to(given, shape)
        except ValueError:
            raise ValueError(
                f"values must be of shape {shape}, or one row of {shape[1:]}, not {given.shape}"
            ) from None
        return fitted

    @property
    def previous(self) -> NDArray[Any]:
        """The rows when the tick began, or of a teleport since. Read-only."""
        view: NDArray[Any] = self._previous.view()
        view.flags.writeable = False
        return view

    @property
    def current(self) -> NDArray[Any]:
        """The rows now, for the simulation to read and to write."""
        return self._current

    @current.setter
    def current(self, values: ArrayLike) -> None:
        if values is not self._current:  # as after +=, which has written already
            self.set(values)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._current)

    def __eq__(self, other: object) -> bool:
        if type(other) is not ArrayHistory:
            return NotImplemented
        equal = _numpy().array_equal
        return self._current.dtype == other._current.dtype and bool(
            equal(self._current, other._current) and equal(self._previous, other._previous)
        )

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __copy__(self) -> ArrayHistory:
        copied = ArrayHistory(self._current)
        copied._previous[...] = self._previous
        return copied

    def __repr__(self) -> str:
        return f"<ArrayHistory: {len(self)} rows of {self._current.dtype}>"


def _numpy() -> ModuleType:
    """numpy, when it is needed: everything else here works without."""
    try:
        import numpy
    except ImportError as error:
        raise ImportError(
            f"ArrayHistory needs numpy ({error}); pip install numpy brings it, and History does "
            "without"
        ) from error
    return numpy


def _value(value: V, name: str) -> V:
    parts = value if isinstance(value, tuple) else (value,)
    for part in parts:
        if not isinstance(part, _NUMBERS):
            raise TypeError(
                f"{name} must be a number or a tuple of numbers, not {type(value).__name__} "
                f"{shown(value)}; {_VALUE_FIX}"
            )
    return value


def _share(when: Any) -> float | Fraction:
    """How far from the previous tick to the current: exact for a plan, a report, a Fraction."""
    if type(when) is float:
        share: float | Fraction = when
    else:
        plan = getattr(when, "plan", None)
        if plan is not None and when.alpha == 1:
            return 1  # a report that says to show the current values
        plan = when if plan is None else plan
        if type(plan).__name__ == "FramePlan":
            *_, unit = plan._state()
            return Fraction(plan.remainder, unit)
        if isinstance(when, Fraction):
            share = when
        elif isinstance(when, str) or not hasattr(when, "__float__"):
            raise TypeError(
                f"alpha must be a number, not {type(when).__name__} {shown(when)}; a plan, the "
                "report of a frame, or its alpha are"
            )
        else:
            share = float(when)
    if not 0 <= share <= 1:
        raise ValueError(
            f"alpha must be 0 .. 1, a share of a tick, not {shown(share)}; plan.alpha() is one, "
            "and 1 shows the current value"
        )
    return share


def _like(value: tuple[Number, ...], parts: list[Number]) -> tuple[Number, ...]:
    """The parts as a tuple, with the names that the value gives them."""
    make: Callable[[list[Number]], tuple[Number, ...]] = getattr(value, "_make", tuple)
    return make(parts)


def _between(before: Number, now: Number, share: float | Fraction) -> Number:
    if before == now or share == 1:
        return now
    if not share:
        return before
    if isinstance(share, Fraction):
        if not isinstance(before, float) and not isinstance(now, float):
            return int_if_whole(Fraction(before + (now - before) * share))
        share = float(share)
    return before + (now - before) * share
