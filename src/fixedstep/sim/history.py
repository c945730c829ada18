"""Where things were a tick ago and where they are now, for drawing what lies between.

A display shows more frames than there are ticks, so a frame is drawn between two of them: alpha of
the way from the previous value to the current one. That makes the picture smooth and one tick late.
What jumps must not be drawn half way: after a teleport, and for what has just appeared, the two
values are equal.

Sampling never writes back. A simulation that reads what was drawn depends on the frame rate; it
reads ``current``, and the digest has that alone. Nor is there a guess at the next tick here:
extrapolation shows what then does not happen. Angles that wrap and anything curved are the game's
to interpolate, from ``previous`` and ``current``.

`History` holds a number or a few, `ArrayHistory` as many as a numpy array has, for which it needs
numpy. Where a float must not come near, the plain form samples at an exact fraction of a tick,
``remainder / unit``, as the plan has it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    SupportsFloat,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    overload,
)

from .._arguments import integer, positive, shown
from .exact import int_if_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from numpy.typing import ArrayLike, NDArray

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
    >>> position.sample(0.25)
    (2.5, 100)
    >>> position.teleport((50, 0))
    >>> position.sample(0.25), position.current
    ((50, 0), (50, 0))

    Numbers are ints, floats and Fractions. What has just appeared has a new history, whose values
    are equal. Raises TypeError for anything else, a list included: it could change unseen.
    """

    __slots__ = ("_current", "_previous")

    def __init__(self, initial: V) -> None:
        self._previous = self._current = _value(initial, "initial")

    def capture(self) -> None:
        """Begin a tick: what is current becomes previous too, until something moves it."""
        self._previous = self._current

    def set(self, value: V) -> None:
        """Move to ``value`` in the course of this tick; drawn, it is on its way there.

        Raises TypeError for anything but a number, or a tuple of as many as before, and ValueError
        for a tuple of another length; nothing moves then.
        """
        self._current = self._fitting(value)

    def teleport(self, value: V) -> None:
        """Be at ``value`` without a way there: what is drawn jumps. Raises what ``set`` raises."""
        self._previous = self._current = self._fitting(value)

    @overload
    def sample(self: History[_T], alpha: SupportsFloat) -> tuple[float, ...]: ...
    @overload
    def sample(self: History[_N], alpha: SupportsFloat) -> float: ...
    def sample(self: History[Any], alpha: SupportsFloat) -> Any:
        """What to draw at ``alpha`` of the way, ``0 .. 1``: the plan's, or 1 to show what is.

        At 0, at 1, and where nothing moved, it is the value itself, not a rounded one. Of a named
        tuple it is one of the same names.

        >>> History(7).sample(1.0)
        7

        Raises TypeError for an alpha that is no number, ValueError for one out of range.
        """
        share = _alpha(alpha)
        before, now = self._previous, self._current
        if isinstance(now, tuple):
            pairs = zip(before, now, strict=True)
            return _like(now, [_between(a, b, share) for a, b in pairs])
        return _between(before, now, share)

    @overload
    def sample_exact(
        self: History[_T], numerator: SupportsIndex, denominator: SupportsIndex
    ) -> tuple[int | Fraction, ...]: ...
    @overload
    def sample_exact(
        self: History[_N], numerator: SupportsIndex, denominator: SupportsIndex
    ) -> int | Fraction: ...
    def sample_exact(
        self: History[Any], numerator: SupportsIndex, denominator: SupportsIndex
    ) -> Any:
        """``sample`` at exactly ``numerator / denominator`` of the way, without rounding.

        For a `FrameLoop` these are ``plan.remainder`` and the loop's unit: the nanoseconds of its
        Timestep, or the denominator of its Rate times 10**9.

        >>> x = History(100)
        >>> x.set(110)
        >>> x.sample_exact(1, 4), x.sample_exact(1, 5), x.sample_floor(1, 4)
        (Fraction(205, 2), 102, 102)

        Raises TypeError for values that are floats and for anything without ``__index__``,
        OverflowError out of ``0 .. 2**64 - 1``, ValueError for a denominator of 0 or a numerator
        above it.
        """
        share = self._share(numerator, denominator)
        before, now = self._previous, self._current
        if isinstance(now, tuple):
            pairs = zip(before, now, strict=True)
            return _like(now, [int_if_whole(Fraction(a + (b - a) * share)) for a, b in pairs])
        return int_if_whole(Fraction(before + (now - before) * share))

    @overload
    def sample_floor(
        self: History[_T], numerator: SupportsIndex, denominator: SupportsIndex
    ) -> tuple[int, ...]: ...
    @overload
    def sample_floor(
        self: History[_N], numerator: SupportsIndex, denominator: SupportsIndex
    ) -> int: ...
    def sample_floor(
        self: History[Any], numerator: SupportsIndex, denominator: SupportsIndex
    ) -> Any:
        """``sample_exact``, rounded down: for pixels, and units finer than those.

        Down, also below 0: rounding towards 0 would draw two steps' worth of the same pixel where
        something crosses it. Raises what ``sample_exact`` raises.
        """
        exactly = self.sample_exact(numerator, denominator)
        if isinstance(exactly, tuple):
            return _like(exactly, [part // 1 for part in exactly])
        return exactly // 1

    def _share(self, numerator: SupportsIndex, denominator: SupportsIndex) -> Fraction:
        whole = positive(denominator, "denominator", "a whole number", "it is the loop's unit")
        part = integer(numerator, "numerator", "a whole number", "it is the plan's remainder")
        if part > whole:
            raise ValueError(
                f"numerator must be at most the denominator, {whole}, not {part}; "
                "a remainder is less than a step"
            )
        for value in (self._previous, self._current):
            parts: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
            if any(isinstance(each, float) for each in parts):
                raise TypeError(
                    f"values must be whole numbers or Fractions to be sampled exactly, not "
                    f"{shown(value)}; sample takes floats"
                )
        return Fraction(part, whole)

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
        """The value when the tick began, or where a teleport led since."""
        return self._previous

    @property
    def current(self) -> V:
        """The value now: the one that the simulation reads and a digest absorbs."""
        return self._current

    def __repr__(self) -> str:
        return f"<History: {self._previous!r} to {self._current!r}>"


class ArrayHistory:
    """The previous and the current rows of an array, one row an entity. Needs numpy.

    >>> positions = ArrayHistory([[0.0, 0.0], [5.0, 5.0], [9.0, 9.0]])
    >>> positions.capture()
    >>> positions.current += 1.0                 # motion writes in place
    >>> positions.teleport([False, True, False], [50.0, 50.0])
    >>> positions.sample(0.5).tolist()
    [[0.5, 0.5], [50.0, 50.0], [9.5, 9.5]]

    ``initial`` is anything numpy makes an array of signed integers or of floats of, with at least
    one dimension; it is copied. The number of rows stays: pools have a capacity, and rows nobody
    uses must merely hold finite numbers.

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
        """Begin a tick: what is current becomes previous too, until something moves it."""
        self._previous[...] = self._current

    def set(self, values: ArrayLike) -> None:
        """Move all to ``values`` in the course of this tick; one row serves for all.

        Writing to ``current`` does the same. Raises ValueError for another shape, TypeError for
        items that the array cannot hold, such as floats in an array of integers, and OverflowError
        for integers beyond its own.
        """
        self._current[...] = self._fitting(values, self._current.shape)

    def teleport(self, where: ArrayLike, values: ArrayLike | None = None) -> None:
        """Be at ``values`` without a way there, for some rows: what is drawn of them jumps.

        ``where`` is a mask, a bool for each row, or the numbers of rows. ``values`` is a row for
        each of them or one for all; without it they stay where motion has put them.

        Raises TypeError for another kind of ``where``, IndexError for a mask of another length or a
        row that is not there (-1 is not the last one), and what ``set`` raises; nothing moves then.
        """
        rows = self._rows(where)
        if values is not None:
            self._current[rows] = self._fitting(values, self._current[rows].shape)
        self._previous[rows] = self._current[rows]

    def spawn(self, where: ArrayLike, values: ArrayLike) -> None:
        """Appear at ``values``: a teleport of rows that stood for nobody before.

        >>> positions = ArrayHistory([[0.0, 0.0]] * 3)
        >>> positions.spawn([2], [[7.0, 8.0]])
        >>> positions.previous.tolist()
        [[0.0, 0.0], [0.0, 0.0], [7.0, 8.0]]
        """
        self.teleport(where, values)

    def sample(self, alpha: SupportsFloat, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """What to draw at ``alpha`` of the way, ``0 .. 1``, as a new array or in ``out``.

        Its items are floats of the array's own size, float64 for an array of integers. At 1 and
        where nothing moved, it has the current values.

        Raises TypeError and ValueError for an alpha as `History.sample` does, and ValueError for an
        ``out`` of another shape or kind, or one that is part of the history: sampling must not
        write back.
        """
        np = _numpy()
        share = _alpha(alpha)
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
                "out must be an array of the renderer's own, not one of the history's; sampling "
                "must not write back"
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
        """The rows when the tick began, or where a teleport led since. Read-only."""
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


def _alpha(alpha: SupportsFloat) -> float:
    if type(alpha) is not float:
        if isinstance(alpha, str) or not hasattr(alpha, "__float__"):
            raise TypeError(
                f"alpha must be a number, not {type(alpha).__name__} {shown(alpha)}; "
                "plan.alpha() is one"
            )
        alpha = float(alpha)
    if not 0 <= alpha <= 1:
        raise ValueError(
            f"alpha must be 0 .. 1, a share of a tick, not {alpha}; plan.alpha() is one, and 1 "
            "shows what is"
        )
    return alpha


def _like(value: tuple[Number, ...], parts: list[Number]) -> tuple[Number, ...]:
    """The parts as a tuple, with the names that the value gives them."""
    make: Callable[[list[Number]], tuple[Number, ...]] = getattr(value, "_make", tuple)
    return make(parts)


def _between(before: Number, now: Number, share: float) -> Number:
    if before == now or share == 1:
        return now
    return before + (now - before) * share if share else before
