"""The plans of a batch, held as four columns.

A million plans as objects would take a hundred bytes each and be built one by one; as columns they
take 28, numpy reads them without a copy, and a plan is made when somebody asks for it. Written once
for both cores: what a core contributes is the columns.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from ._arguments import shown
from ._saved import register, restore, type_of_core
from .time import Rate, Timestep, timestep_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .reference import FramePlan

_NAMES = ("first_tick", "step_count", "dropped", "remainder")
_TYPECODES = "QIQQ"
_ITEM_SIZES = (8, 4, 8, 8)


class FramePlans(Sequence["FramePlan"]):
    """The result of `FrameLoop.begin_frames`: a sequence of `FramePlan`, stored as columns.

    It has a length, indexes, slices and iterates. The columns ``first_tick``, ``dropped`` and
    ``remainder`` (unsigned 64 bits) and ``step_count`` (unsigned 32 bits) are read-only memoryviews
    that ``numpy.asarray`` takes without a copy.

    >>> from fixedstep import FrameLoop, Timestep
    >>> plans = FrameLoop(Timestep(10), start=0).begin_frames([5, 10, 31])
    >>> len(plans), plans[1].first_tick, list(plans.step_count), len(plans[1:])
    (3, 0, [0, 1, 2], 2)
    """

    __slots__ = ("_columns", "_plan_type", "_scale", "_unit")

    def __init__(self) -> None:
        raise TypeError("FramePlans has no constructor; FrameLoop.begin_frames makes one")

    @classmethod
    def _from_bytes(
        cls, plan_type: type[FramePlan], scale: int, unit: int, *columns: bytes | memoryview
    ) -> FramePlans:
        plans = cls.__new__(cls)
        plans._plan_type = plan_type
        plans._scale = scale
        plans._unit = unit
        plans._columns = columns
        return plans

    _plan_type: type[FramePlan]
    _scale: int
    _unit: int
    _columns: tuple[bytes | memoryview, ...]

    def _column(self, index: int) -> memoryview:
        view = memoryview(self._columns[index]).toreadonly()
        return view.cast("I") if index == 1 else view.cast("Q")

    @property
    def first_tick(self) -> memoryview:
        """The number of each frame's first step, unsigned 64 bits."""
        return self._column(0)

    @property
    def step_count(self) -> memoryview:
        """How many steps each frame runs, unsigned 32 bits."""
        return self._column(1)

    @property
    def dropped(self) -> memoryview:
        """How many steps the budget refused in each frame, unsigned 64 bits."""
        return self._column(2)

    @property
    def remainder(self) -> memoryview:
        """Time not yet a step after each frame, unsigned 64 bits, as `FrameLoop.remainder`."""
        return self._column(3)

    def columns(self) -> dict[str, memoryview]:
        """All columns by name, and ``alpha``: `FramePlan.alpha` of each frame, as float32.

        ``pandas.DataFrame(plans.columns())`` and ``polars.DataFrame(plans.columns())`` make a table
        of them, and ``numpy.asarray`` takes each without a copy. Each call computes ``alpha`` anew.

        >>> from fixedstep import FrameLoop, Timestep
        >>> plans = FrameLoop(Timestep(10), start=0).begin_frames([5, 20])
        >>> for name, column in plans.columns().items():
        ...     print(name, list(column))
        first_tick [0, 0]
        step_count [0, 2]
        dropped [0, 0]
        remainder [5, 0]
        alpha [0.5, 0.0]
        """
        alphas = array("f", (plan.alpha() for plan in self))
        return {
            "first_tick": self.first_tick,
            "step_count": self.step_count,
            "dropped": self.dropped,
            "remainder": self.remainder,
            "alpha": memoryview(alphas).toreadonly(),
        }

    @property
    def timestep(self) -> Timestep | Rate:
        """What the loop that made the plans was configured with."""
        return timestep_of(self._scale, self._unit)

    def __len__(self) -> int:
        return len(self._columns[1]) // 4

    def _plan(self, tick: int, steps: int, dropped: int, rest: int) -> FramePlan:
        return self._plan_type._of_batch(tick, steps, dropped, rest, self._scale, self._unit)

    @overload
    def __getitem__(self, index: int) -> FramePlan: ...
    @overload
    def __getitem__(self, index: slice) -> FramePlans: ...
    def __getitem__(self, index: int | slice) -> FramePlan | FramePlans:
        columns = self.first_tick, self.step_count, self.dropped, self.remainder
        if isinstance(index, slice):
            parts = (column[index].tobytes() for column in columns)
            return self._from_bytes(self._plan_type, self._scale, self._unit, *parts)
        at = operator.index(index)
        if not -len(self) <= at < len(self):
            raise IndexError(f"a batch of {len(self)} frames has no frame {shown(at)}")
        tick, steps, dropped, rest = (column[at] for column in columns)
        return self._plan(tick, steps, dropped, rest)

    def __iter__(self) -> Iterator[FramePlan]:
        return map(self._plan, self.first_tick, self.step_count, self.dropped, self.remainder)

    def __eq__(self, other: object) -> bool:
        if type(other) is not FramePlans:
            return NotImplemented
        return (self._scale, self._unit, self._columns) == (
            other._scale,
            other._unit,
            other._columns,
        )

    def __hash__(self) -> int:
        return hash((self._scale, self._unit, self._columns))

    def __copy__(self) -> FramePlans:
        return self

    def __deepcopy__(self, memo: object, /) -> FramePlans:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # as arrays, whose pickles load on a machine with the other byte order
        columns = map(array, _TYPECODES, map(bytes, self._columns))
        return restore, ("FramePlans", self._scale, self._unit, *columns)

    def __repr__(self) -> str:
        """Says what it is; a million plans are not worth evaluating back."""
        return f"<FramePlans: {len(self)} frames of {self.timestep!r}>"


def packed(columns: Iterable[Sequence[int]]) -> list[bytes]:
    """The memory of four columns of numbers."""
    return [array(code, column).tobytes() for code, column in zip(_TYPECODES, columns, strict=True)]


def out_columns(out: object) -> tuple[memoryview, ...]:
    """The bytes of the four columns that a caller brings for a batch."""
    if not isinstance(out, (tuple, list)) or len(out) != 4:
        raise TypeError(
            f"out must be four columns, (first_tick, step_count, dropped, remainder), not "
            f"{type(out).__name__} {shown(out)}; array('Q') or numpy arrays are some"
        )
    return tuple(map(_out_column, _NAMES, _ITEM_SIZES, out))


def _out_column(name: str, size: int, column: Any) -> memoryview:
    try:
        view = memoryview(column)
    except (TypeError, ValueError):
        raise TypeError(
            f"out's {name} must be a buffer of unsigned {8 * size}-bit integers, not "
            f"{type(column).__name__} {shown(column)}; array('Q') or a numpy array is one"
        ) from None
    if view.itemsize != size or view.format.lstrip("@=") not in ("Q", "L", "I", "N"):
        raise TypeError(
            f"out's {name} must be unsigned {8 * size}-bit integers, not format {view.format!r} of "
            f"{view.itemsize} bytes an item; numpy.empty(n, 'u{size}') has them"
        )
    if view.ndim != 1 or not view.c_contiguous or view.readonly:
        raise BufferError(
            f"out's {name} must be writable, contiguous and of one dimension, not shape "
            f"{view.shape} with strides {view.strides}{', read-only' if view.readonly else ''}; "
            f"numpy.empty(n, 'u{size}') is"
        )
    return view.cast("B")


def copy_out(
    out: Sequence[memoryview], start: int, count: int, columns: Sequence[bytes | memoryview]
) -> None:
    """Copy the next ``count`` frames of ``columns`` into the caller's, from frame ``start`` on."""
    for name, size, target, column in zip(_NAMES, _ITEM_SIZES, out, columns, strict=True):
        if len(target) < (start + count) * size:
            raise ValueError(
                f"out's {name} must have an item for each frame, not {len(target) // size} for "
                f"{start + count} or more; make it longer"
            )
        target[start * size : (start + count) * size] = memoryview(column)[: count * size]


def plans_in(
    plan_type: type[FramePlan],
    scale: int,
    unit: int,
    columns: Sequence[bytes | memoryview],
    count: int,
) -> FramePlans:
    """The first ``count`` plans in these columns, which are not copied."""
    if isinstance(columns[0], memoryview):  # a caller's, and may be longer
        columns = [
            column[: count * size] for size, column in zip(_ITEM_SIZES, columns, strict=True)
        ]
    return FramePlans._from_bytes(plan_type, scale, unit, *columns)


def _saved_plans(scale: int, unit: int, *columns: array[int]) -> FramePlans:
    if [getattr(column, "typecode", None) for column in columns] != list(_TYPECODES) or (
        len({len(column) for column in columns}) != 1
    ):
        raise ValueError(
            f"a batch must have four columns of types {_TYPECODES} and equal length; "
            "the saved state is damaged"
        )
    plan_type = type_of_core("FramePlan")
    plans = FramePlans._from_bytes(plan_type, scale, unit, *(c.tobytes() for c in columns))
    restore("FramePlan", 0, 0, 0, max(plans.remainder, default=0), scale, unit)  # checks them
    return plans


register("FramePlans", _saved_plans, 6)
