"""What counts as an integer here, and what the error says when something does not.

Every number that enters the library passes one of these functions, whichever core runs: the C types
take the common case (an ``int`` in range) themselves and call in here for anything else, so both
cores accept the same values and raise the same exception with the same text. Writing each message
twice, once in C, was tried on paper and given up: the two drift apart with the first edit.

Nothing is guessed. A float is not rounded, a string is not parsed, a negative time is not clamped:
a timestamp that was computed wrongly must be seen where it was made.
"""

from __future__ import annotations

import operator
from array import array
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Buffer as Buffer
else:
    try:
        from collections.abc import Buffer
    except ImportError:  # before 3.12: a name for typing.get_type_hints, which nothing else reads
        Buffer = Any

U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1
I64_MIN = -(2**63)
I64_MAX = 2**63 - 1

#: Timestamps a batch reads at a time: 64 KiB, small enough to stay in cache, large enough that the
#: cost of a block disappears.
BLOCK_FRAMES = 8192

#: Prefixes of a buffer's format that mean this machine's own byte order.
_NATIVE = "@=<" if array("H", [1]).tobytes()[0] else "@=>"

#: The formats of signed integers that may be timestamps, and the byte of one that holds the sign.
_SIGNED = ("q", "l", "n")
_SIGN = 7 if _NATIVE == "@=<" else 0

_NANOSECONDS = "a whole number of nanoseconds"
_CLOCK_FIX = "fixedstep.host.now() gives one, and seconds become one with round(seconds * 10**9)"
_ORIGIN_FIX = "measure from an origin that no reading can precede or exceed by 584 years"


def shown(value: object) -> str:
    """A short repr for an error text. A repr that fails must not hide the error it was made for."""
    try:
        text = repr(value)
    except Exception as error:
        return f"(its repr raises {type(error).__name__})"
    return text if len(text) <= 60 else text[:57] + "..."


def _digits(number: int) -> str:
    """The number, unless it is one of thousands of digits, which Python does not print."""
    return str(number) if number.bit_length() <= 256 else f"one of {number.bit_length()} bits"


def integer(
    value: object, name: str, kind: str, fix: str, *, low: int = 0, high: int = U64_MAX
) -> int:
    """The value as an ``int`` in ``low .. high``, or the exception that says what to pass instead.

    Anything with ``__index__`` is taken. Raises TypeError for anything else and OverflowError for a
    number out of range; both name the value, the unit and the fix.
    """
    return _within(_index(value, name, kind, fix), name, kind, fix, low, high)


def _index(value: object, name: str, kind: str, fix: str) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError as error:
        raise TypeError(
            f"{name} must be {kind}, not {type(value).__name__} {shown(value)}; {fix}"
        ) from (error if hasattr(type(value), "__index__") else None)


def _within(number: int, name: str, kind: str, fix: str, low: int, high: int) -> int:
    if not low <= number <= high:
        raise OverflowError(
            f"{name} must be {kind} in {low} .. {high}, not {_digits(number)}; {fix}"
        )
    return number


def timestamp(value: object, name: str = "now") -> int:
    """A point in time: nanoseconds in ``0 .. 2**64 - 1``."""
    number = _index(value, name, _NANOSECONDS, _CLOCK_FIX)
    return _within(number, name, _NANOSECONDS, _ORIGIN_FIX, 0, U64_MAX)


def nanos(value: object, name: str) -> int:
    """A span of time: nanoseconds in ``0 .. 2**64 - 1``."""
    return integer(value, name, _NANOSECONDS, "seconds become one with round(seconds * 10**9)")


def frame_time(value: object) -> int:
    """What ``FrameTiming.record`` takes."""
    return nanos(value, "frame_time")


def positive(value: object, name: str, kind: str, fix: str, *, high: int = U64_MAX) -> int:
    """Like ``integer``, with a separate ValueError for zero."""
    number = _index(value, name, kind, fix)
    if number == 0:
        raise ValueError(f"{name} must be {kind}, at least 1, not 0; {fix}")
    return _within(number, name, kind, fix, 1, high)


def count(value: object, name: str, *, high: int = U64_MAX) -> int:
    """A number of things (ticks, frames, steps)."""
    return integer(value, name, "a whole number", "count in integers", high=high)


def ticks(value: object) -> int:
    """A number of ticks."""
    return count(value, "ticks")


def remainder(value: object, unit: int) -> int:
    """Time not yet a step: below one step, or the loop it is given to would owe one already."""
    rest = count(value, "remainder")
    if rest >= unit:
        raise ValueError(
            f"remainder must be below one step, which is {unit} here, not {rest}; "
            "count whole steps in the tick"
        )
    return rest


def u64(value: object) -> int:
    """What ``absorb_u64`` takes."""
    return integer(value, "value", "an unsigned 64-bit integer", "mask it with 2**64 - 1 to wrap")


def u32(value: object) -> int:
    """What ``absorb_u32`` takes."""
    return integer(
        value,
        "value",
        "an unsigned 32-bit integer",
        "use absorb_u64, or mask it with 2**32 - 1 to wrap",
        high=U32_MAX,
    )


def i64(value: object) -> int:
    """What ``absorb_i64`` takes."""
    return integer(
        value,
        "value",
        "a signed 64-bit integer",
        "use absorb_u64 for 2**63 and above",
        low=I64_MIN,
        high=I64_MAX,
    )


def real(value: object) -> float:
    """What ``absorb_f32_bits`` and its kin take: a float, or a number that becomes one."""
    kind = type(value)
    if not (hasattr(kind, "__float__") or hasattr(kind, "__index__")):
        raise TypeError(
            f"value must be a float, not {kind.__name__} {shown(value)}; "
            "use absorb_bytes for text and raw data"
        )
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise OverflowError(
            f"value must be within float64, about 1.8e308 in size, not {shown(value)}; "
            "use absorb_bytes"
        ) from None


def float32_overflow(value: float) -> OverflowError:
    """The error for a finite float that has no finite float32."""
    return OverflowError(
        f"value must be within float32, at most 3.4028235e38 in size, not {value!r}; "
        "use absorb_f64_bits"
    )


def wrong_plan(value: object) -> TypeError:
    """The error for an ``absorb`` that was given something other than its core's plan."""
    kind = type(value)
    return TypeError(
        f"plan must be a FramePlan of this core, not {kind.__module__}.{kind.__qualname__}; "
        "pass what begin_frame returned"
    )


def wrong_stats(value: object) -> TypeError:
    """The error for a batch that was given something other than its core's stats."""
    kind = type(value)
    return TypeError(
        f"stats must be a FrameStats of this core, not {kind.__module__}.{kind.__qualname__}; "
        "pass FrameStats() or leave it out"
    )


def too_many_ticks(value: int) -> ValueError:
    """The error for a loop that is to take back more ticks than it has planned."""
    return ValueError(
        f"ticks must be at most those that were planned, not {_digits(value)}; take back what the "
        "last plan had"
    )


def loop_changed() -> RuntimeError:
    """The error for a batch whose loop or stats were used by someone else meanwhile."""
    return RuntimeError(
        "the loop or its stats changed while a batch was running over them; the batch was not "
        "applied. One loop belongs to one thread: copy it for the batch"
    )


def byte_view(buffer: object) -> memoryview:
    """The bytes of any C-contiguous buffer, as a flat view. What ``absorb_bytes`` takes."""
    try:
        view = memoryview(buffer)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a ValueError from numpy, for an array of dates
        if isinstance(buffer, memoryview):  # released, and it says so
            raise
        raise TypeError(
            f"buffer must be a bytes-like object, not {type(buffer).__name__} {shown(buffer)}; "
            "text becomes one with .encode(), dates with .view('u8'), numbers have absorb_u64 and "
            "its kin"
        ) from None
    if "O" in view.format and "O" in "".join(view.format.split(":")[::2]):  # not in a field's name
        raise TypeError(
            f"buffer must hold values, not references to Python objects (format {view.format!r}); "
            "their addresses are other ones in every process: absorb what they are, one by one"
        )
    if not view.c_contiguous:
        raise BufferError(
            f"buffer must be C-contiguous, not strides {view.strides} over shape {view.shape}; "
            "copy it first, with bytes(buffer) or numpy.ascontiguousarray"
        )
    if view.format == "B" and view.ndim == 1:  # PyPy copies what was cast at 20 MB/s
        return view
    return view.cast("B") if view.nbytes else memoryview(b"")  # cast refuses a shape of (0, 3)


def _timestamp_view(buffer: memoryview) -> memoryview:
    if buffer.itemsize != 8 or buffer.format.lstrip(_NATIVE) not in (*"QLN", *_SIGNED):
        raise TypeError(
            f"timestamps must be 64-bit integers (format 'Q' or 'q'), not format "
            f"{buffer.format!r} of {buffer.itemsize} bytes an item; array('Q', ...), numpy.uint64 "
            "and numpy.int64 in this machine's byte order hold them"
        )
    if buffer.ndim != 1:
        raise ValueError(
            f"timestamps must have one dimension, not {buffer.ndim} (shape {buffer.shape}); "
            "pass one row, or flatten it"
        )
    if not buffer.c_contiguous:
        raise BufferError(
            f"timestamps must be C-contiguous, not strides {buffer.strides}; "
            "copy them first, with array('Q', ...) or numpy.ascontiguousarray"
        )
    return buffer.cast("B").cast("Q")


def timestamp_blocks(timestamps: Buffer | Iterable[int]) -> Iterator[bytes]:
    """The timestamps as native unsigned 64-bit integers, in blocks of at most ``BLOCK_FRAMES``.

    A buffer is read in place, a block at a time, so its whole is never copied; an iterable is
    drained a block at a time, so its whole is never held. Reading a private block is what lets the
    C core run without the GIL while another thread writes to the source.

    Raises TypeError or BufferError for a buffer of the wrong kind, and what ``timestamp`` raises,
    naming the position, for a bad item: a negative one, where the buffer is of signed integers.
    """
    try:
        view = memoryview(timestamps)  # type: ignore[arg-type]
    except ValueError as error:  # numpy's, for an array of dates
        if isinstance(timestamps, memoryview):  # released, and it says so
            raise
        raise TypeError(
            f"timestamps must be unsigned 64-bit integers, not {type(timestamps).__name__} "
            f"{shown(timestamps)} ({error}); where they count nanoseconds, .view('u8') shows them"
        ) from None
    except TypeError:
        yield from _iterable_blocks(timestamps)  # type: ignore[arg-type]
        return
    with view, _timestamp_view(view) as stamps:
        signed = view.format.lstrip(_NATIVE) in _SIGNED
        for start in range(0, len(stamps), BLOCK_FRAMES):
            with stamps[start : start + BLOCK_FRAMES] as view_of_block:
                block = view_of_block.tobytes()
            # the bytes with the signs, all at once: below 0x80 is what ASCII is
            if signed and not block[_SIGN::8].isascii():
                for index, at in enumerate(memoryview(block).cast("q"), start):
                    timestamp(at, f"timestamps[{index}]")
            yield block


def _iterable_blocks(timestamps: Iterable[int]) -> Iterator[bytes]:
    if isinstance(timestamps, str) or not hasattr(timestamps, "__iter__"):
        raise TypeError(
            f"timestamps must be a buffer of unsigned 64-bit integers or an iterable of integers, "
            f"not {type(timestamps).__name__} {shown(timestamps)}; "
            "a single timestamp goes to begin_frame"
        )
    items = iter(timestamps)
    start = 0
    while chunk := list(islice(items, BLOCK_FRAMES)):
        try:
            # index, as PyPy's arrays take a Decimal
            block = array("Q", list(map(operator.index, chunk)))
        except (TypeError, OverflowError):  # taken apart again, for an error that names the item
            block = array(
                "Q", [timestamp(at, f"timestamps[{i}]") for i, at in enumerate(chunk, start)]
            )
        start += len(chunk)
        yield block.tobytes()
