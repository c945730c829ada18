"""StateHash: FNV-1a-64 over bytes in an order that is written out.

The oracle is the textbook loop over Python integers, a few lines below. Published vectors come
first, since an oracle that shared a mistake with the code would find nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import platform
import random
import shutil
import struct
import subprocess
import sys
import threading
from array import array
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fixedstep import Rate, Timestep, _arguments

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Core

BASIS = 0xCBF29CE484222325
U64_MAX = 2**64 - 1
F32_MAX = (2 - 2**-23) * 2.0**127

u64 = st.sampled_from([0, 1, 0xFF, 0x100, 2**32, 2**56, 2**63, U64_MAX]) | st.integers(0, U64_MAX)
u32 = st.sampled_from([0, 1, 0xFF, 0x100, 2**31, 2**32 - 1]) | st.integers(0, 2**32 - 1)
i64 = st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]) | st.integers(-(2**63), 2**63 - 1)


def fnv_1a(data: bytes, state: int = BASIS) -> int:
    for byte in data:
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return state


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", 0xCBF29CE484222325),
        (b"a", 0xAF63DC4C8601EC8C),
        (b"b", 0xAF63DF4C8601F1A5),
        (b"foo", 0xDCB27518FED9D577),
        (b"foobar", 0x85944171F73967E8),
        (b"\0", 0xAF63BD4C8601B7DF),
        (b"chongo was here!\n", 0x46810940EFF5F915),
    ],
)
def test_the_published_vectors_come_out(core: Core, data: bytes, digest: int) -> None:
    assert core.StateHash().absorb_bytes(data).finish() == digest
    assert fnv_1a(data) == digest


def test_a_fresh_hash_is_the_offset_basis(core: Core) -> None:
    assert core.StateHash().finish() == BASIS
    assert core.StateHash(5).finish() == 5


def test_a_hash_continues_from_a_digest(core: Core) -> None:
    halfway = core.StateHash().absorb_bytes(b"foo").finish()
    assert core.StateHash(halfway).absorb_bytes(b"bar").finish() == 0x85944171F73967E8


def test_absorbing_leaves_the_hash_as_it_was(core: Core) -> None:
    start = core.StateHash()
    moved = start.absorb_u64(1)
    assert moved is not start
    assert moved != start
    assert start.finish() == BASIS


def test_the_order_of_absorption_is_part_of_the_digest(core: Core) -> None:
    one_two = core.StateHash().absorb_u64(1).absorb_u64(2)
    assert one_two != core.StateHash().absorb_u64(2).absorb_u64(1)


@given(start=u64, data=st.binary(max_size=200))
def test_bytes_are_absorbed_one_by_one(core: Core, start: int, data: bytes) -> None:
    assert core.StateHash(start).absorb_bytes(data).finish() == fnv_1a(data, start)


@pytest.mark.parametrize(
    "size",
    [
        *(1, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025, 2047, 3072, 4095, 8191, 8192, 8193),
        *(65_535, 65_536, 65_537, 70_001, 140_003),
    ],
)
def test_large_buffers_have_the_digest_of_their_bytes(core: Core, size: int) -> None:
    """Sizes around the blocks of any faster way to compute the same, and around those that are
    hashed without the interpreter's lock, which are handed on in pieces."""
    data = random.Random(size).randbytes(size)
    digest = fnv_1a(data)
    assert core.StateHash().absorb_bytes(data).finish() == digest
    assert core.StateHash().absorb_bytes(bytearray(data)).finish() == digest
    assert core.StateHash().absorb_bytes(memoryview(b"!" + data)[1:]).finish() == digest
    last_changed = data[:-1] + bytes([data[-1] ^ 1])
    assert core.StateHash().absorb_bytes(last_changed).finish() != digest


def test_a_buffer_that_is_written_while_it_is_hashed_crashes_nothing(core: Core) -> None:
    """Large ones are hashed without the lock. Whoever writes meanwhile gets a digest of old and new
    bytes, and cannot resize the buffer under the hash."""
    data = bytearray(2_000_000 if core.__name__.endswith("native") else 70_000)
    done = threading.Event()

    def write() -> None:
        k = 0
        while not done.is_set():
            data[k % len(data)] = k % 256
            k += 1
            with contextlib.suppress(BufferError):
                data.append(0)
                del data[-1]

    writer = threading.Thread(target=write)
    writer.start()
    try:
        digests = [core.StateHash().absorb_bytes(data).finish() for _ in range(3)]
    finally:
        done.set()
        writer.join()
    assert all(0 <= digest <= U64_MAX for digest in digests)
    assert core.StateHash().absorb_bytes(bytes(data)) == core.StateHash().absorb_bytes(data)


@pytest.mark.parametrize("fill", [0x00, 0xFF, 0x80])
def test_runs_of_one_byte_have_the_digest_of_their_bytes(core: Core, fill: int) -> None:
    for size in (1, 8, 1000, 20_000):
        data = bytes([fill]) * size
        assert core.StateHash().absorb_bytes(data).finish() == fnv_1a(data)


@given(data=st.binary(max_size=100), cut=st.integers(0, 100))
def test_a_cut_between_two_calls_is_not_seen(core: Core, data: bytes, cut: int) -> None:
    whole = core.StateHash().absorb_bytes(data)
    assert core.StateHash().absorb_bytes(data[:cut]).absorb_bytes(data[cut:]) == whole


@given(start=u64, value=u64)
def test_u64_is_8_bytes_little_endian(core: Core, start: int, value: int) -> None:
    expected = fnv_1a(value.to_bytes(8, "little"), start)
    assert core.StateHash(start).absorb_u64(value).finish() == expected


@given(start=u64, value=u32)
def test_u32_is_4_bytes_little_endian(core: Core, start: int, value: int) -> None:
    expected = fnv_1a(value.to_bytes(4, "little"), start)
    assert core.StateHash(start).absorb_u32(value).finish() == expected


@given(start=u64, value=i64)
def test_i64_is_8_bytes_of_twos_complement(core: Core, start: int, value: int) -> None:
    expected = fnv_1a((value % 2**64).to_bytes(8, "little"), start)
    assert core.StateHash(start).absorb_i64(value).finish() == expected


@given(start=u64, value=st.floats())
@example(start=BASIS, value=-0.0)
@example(start=BASIS, value=5e-324)
def test_f64_is_the_8_bytes_of_the_float(core: Core, start: int, value: float) -> None:
    expected = fnv_1a(struct.pack("<d", value), start)
    assert core.StateHash(start).absorb_f64_bits(value).finish() == expected


@given(start=u64, value=st.floats(width=32, allow_nan=False))
@example(start=BASIS, value=-0.0)
@example(start=BASIS, value=2.0**-149)
def test_f32_is_the_4_bytes_of_the_float32(core: Core, start: int, value: float) -> None:
    expected = fnv_1a(struct.pack("<f", value), start)
    assert core.StateHash(start).absorb_f32_bits(value).finish() == expected


def f32_bits_by_search(value: float) -> int:
    """The float32 nearest to a finite positive double, ties to even, by exact comparison."""
    exact = Fraction(value)
    low, high = 0, 0x7F80_0000  # bits grow with the value; 2**128 stands in for infinity

    def worth(bits: int) -> Fraction:
        exponent, mantissa = bits >> 23, bits & 0x7F_FFFF
        if exponent == 0:
            return Fraction(mantissa) * Fraction(1, 2**149)
        return Fraction(mantissa + 2**23) * Fraction(2) ** (exponent - 150)

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if worth(middle) <= exact else (low, middle)
    below, above = exact - worth(low), worth(high) - exact
    if below != above:
        return low if below < above else high
    return low if low % 2 == 0 else high


@given(value=st.floats(min_value=0, max_value=F32_MAX))
@example(value=0.1)
@example(value=1 + 2.0**-24)
@example(value=1 + 3 * 2.0**-24)
@example(value=2.0**-150)
@example(value=3 * 2.0**-150)
@example(value=16_777_217.0)
def test_a_double_becomes_its_nearest_float32(core: Core, value: float) -> None:
    bits = f32_bits_by_search(value)
    expected = fnv_1a(bits.to_bytes(4, "little"))
    assert core.StateHash().absorb_f32_bits(value).finish() == expected
    negative = fnv_1a((bits | 0x8000_0000).to_bytes(4, "little"))
    assert core.StateHash().absorb_f32_bits(-value).finish() == negative


def test_zeros_of_both_signs_differ(core: Core) -> None:
    assert core.StateHash().absorb_f64_bits(0.0) != core.StateHash().absorb_f64_bits(-0.0)
    assert core.StateHash().absorb_f32_bits(0.0) != core.StateHash().absorb_f32_bits(-0.0)


@pytest.mark.parametrize(
    ("value", "f32", "f64"),
    [
        (math.inf, 0x7F80_0000, 0x7FF0_0000_0000_0000),
        (-math.inf, 0xFF80_0000, 0xFFF0_0000_0000_0000),
        (math.nan, 0x7FC0_0000, 0x7FF8_0000_0000_0000),
        (-math.nan, 0xFFC0_0000, 0xFFF8_0000_0000_0000),
    ],
)
def test_infinities_and_nan_have_fixed_bits(core: Core, value: float, f32: int, f64: int) -> None:
    assert core.StateHash().absorb_f32_bits(value) == core.StateHash().absorb_u32(f32)
    assert core.StateHash().absorb_f64_bits(value) == core.StateHash().absorb_u64(f64)


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize(
    "payload",
    [
        *(1, 2**28, 2**29, 2**32, 2**50, 2**51 - 1, 2**51, 2**51 + 2**29, 2**52 - 1),
        *(0x5_5555_5555_5555, 0xA_AAAA_AAAA_AAAA),
    ],
)
def test_a_nan_keeps_its_sign_and_upper_payload_and_is_quiet(
    core: Core, sign: int, payload: int
) -> None:
    """Interpreters convert a NaN differently; a digest may not depend on which one runs."""
    bits = sign << 63 | 0x7FF << 52 | payload
    (value,) = struct.unpack("<d", bits.to_bytes(8, "little"))
    narrow = sign << 31 | 0x7FC0_0000 | payload >> 29 & 0x3F_FFFF
    assert core.StateHash().absorb_f32_bits(value) == core.StateHash().absorb_u32(narrow)
    kept = int.from_bytes(struct.pack("<d", value), "little")
    assert core.StateHash().absorb_f64_bits(value) == core.StateHash().absorb_u64(kept)


def test_a_float_beyond_float32_is_refused_and_not_infinity(core: Core) -> None:
    half_above = F32_MAX + 2.0**103  # a tie that rounds up, out of the type
    last_below = math.nextafter(half_above, 0.0)
    for sign in (1, -1):
        with pytest.raises(OverflowError, match=r"float32.*absorb_f64_bits"):
            core.StateHash().absorb_f32_bits(sign * half_above)
        with pytest.raises(OverflowError, match="float32"):
            core.StateHash().absorb_f32_bits(sign * 1e300)
    largest = core.StateHash().absorb_u32(0x7F7F_FFFF)
    assert core.StateHash().absorb_f32_bits(last_below) == largest
    assert core.StateHash().absorb_f32_bits(F32_MAX) == largest


class Rounded(float):
    """What becomes another float than it is."""

    def __float__(self) -> float:
        return 2.5


@pytest.mark.parametrize(
    ("value", "becomes"), [(np.float64(0.1), 0.1), (2**24 + 1, 16_777_217.0), (Rounded(0.1), 2.5)]
)
def test_what_becomes_a_float_keeps_all_its_bits(core: Core, value: Any, becomes: float) -> None:
    """By way of a float32 the first two lose some; the last says itself what it becomes."""
    bits = int.from_bytes(struct.pack("<d", becomes), "little")
    assert core.StateHash().absorb_f64_bits(value) == core.StateHash().absorb_u64(bits)
    nearest = int.from_bytes(struct.pack("<f", becomes), "little")
    assert core.StateHash().absorb_f32_bits(value) == core.StateHash().absorb_u32(nearest)


@pytest.mark.parametrize("value", [5, True, Fraction(5, 2), Decimal("2.5"), np.float32(2.5)])
def test_numbers_that_become_a_float_are_taken_as_one(core: Core, value: Any) -> None:
    as_float = core.StateHash().absorb_f64_bits(float(value))
    assert core.StateHash().absorb_f64_bits(value) == as_float
    narrow = core.StateHash().absorb_f32_bits(float(value))
    assert core.StateHash().absorb_f32_bits(value) == narrow != as_float


@pytest.mark.parametrize(
    "buffer",
    [
        b"\1\2\3\4\5\6\7\10",
        bytearray(b"\1\2\3\4\5\6\7\10"),
        memoryview(b"\1\2\3\4\5\6\7\10"),
        memoryview(b"\1\2\3\4\5\6\7\10").cast("B", (2, 4)),
        memoryview(b"\0\1\2\3\4\5\6\7\10\11")[1:9],
        array("B", [1, 2, 3, 4, 5, 6, 7, 8]),
        array("Q", [int.from_bytes(b"\1\2\3\4\5\6\7\10", "little")]),
        np.array([[1, 2], [3, 4], [5, 6], [7, 8]], dtype="u1"),
        np.array([0x0807060504030201], dtype="<u8"),
        np.array([0x0102030405060708], dtype=">u8"),
        np.array(0x0807060504030201, dtype="<u8"),
        np.frombuffer(b"\1\2\3\4\5\6\7\10", dtype=[("a", "u2"), ("b", "i2", (3,))]),
        np.lib.stride_tricks.as_strided(np.array([0x0807060504030201], "<u8"), (1, 1), (24, 3)),
        (ctypes.c_uint8 * 8)(1, 2, 3, 4, 5, 6, 7, 8),
    ],
    ids=lambda buffer: f"{type(buffer).__name__}-{memoryview(buffer).format}",
)
def test_any_contiguous_buffer_is_its_bytes(core: Core, buffer: Any) -> None:
    assert core.StateHash().absorb_bytes(buffer).finish() == fnv_1a(b"\1\2\3\4\5\6\7\10")


@pytest.mark.parametrize(
    "buffer",
    [
        b"",
        bytearray(),
        memoryview(b""),
        array("d"),
        np.zeros(0),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
    ],
    ids=lambda buffer: f"{type(buffer).__name__}-{memoryview(buffer).shape}",
)
def test_an_empty_buffer_changes_nothing(core: Core, buffer: Any) -> None:
    assert core.StateHash().absorb_bytes(buffer).finish() == BASIS


@pytest.mark.parametrize(
    "buffer",
    [
        memoryview(b"abcdef")[::2],
        memoryview(b"abcdef")[::-1],
        np.arange(10)[::2],
        np.zeros((3, 3), order="F"),
        np.zeros((4, 4))[:, :2],
    ],
    ids=lambda buffer: f"{type(buffer).__name__}-{memoryview(buffer).strides}",
)
def test_a_buffer_with_gaps_is_refused(core: Core, buffer: Any) -> None:
    with pytest.raises(BufferError, match=r"C-contiguous.*copy it first"):
        core.StateHash().absorb_bytes(buffer)


@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    steps=st.lists(st.sampled_from([1, 2, -1]), min_size=3, max_size=3),
    kind=st.sampled_from(["u1", "<u4", ">f8", "c16", "S3", [("a", "u1"), ("O", "i8")]]),
    transposed=st.booleans(),
)
def test_an_array_of_any_shape_is_its_bytes_or_refused(
    core: Core, shape: list[int], steps: list[int], kind: Any, transposed: bool
) -> None:
    """C decides for small buffers whether they are contiguous; memoryview is the oracle."""
    dtype = np.dtype(kind)

    data = bytes(at % 251 for at in range(math.prod(shape) * dtype.itemsize))
    array_ = np.ndarray(shape, dtype, data)
    array_ = array_[tuple(slice(None, None, step) for step in steps[: len(shape)])]
    array_ = array_.T if transposed else array_
    if memoryview(array_).c_contiguous:
        assert core.StateHash().absorb_bytes(array_).finish() == fnv_1a(array_.tobytes())
    else:
        with pytest.raises(BufferError, match="C-contiguous"):
            core.StateHash().absorb_bytes(array_)


def test_small_buffers_and_odd_integers_are_not_checked_in_python(
    native: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That took ten times what an exact type takes."""

    class Ticks(int):
        pass

    def never(value: object) -> None:
        raise AssertionError(value)

    for name in ("byte_view", "timestamp", "u64", "u32"):
        monkeypatch.setattr(_arguments, name, never)
    start, loop = native.StateHash(), native.FrameLoop()
    buffers: list[Any] = [bytearray(b"ab"), memoryview(b"ab"), np.frombuffer(b"ab", "u1")]
    for buffer in buffers:
        assert start.absorb_bytes(buffer).finish() == fnv_1a(b"ab")
    numbers: list[Any] = [Ticks(7), np.int64(7), np.uint32(7), True]
    for number in numbers:
        loop.begin_frame(number)
        assert loop.last == int(number)
        assert start.absorb_u64(number) == start.absorb_u64(int(number))
        assert start.absorb_u32(number) == start.absorb_u32(int(number))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no __buffer__ in Python")
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError])
def test_what_a_buffer_raises_is_what_is_raised(core: Core, error: type[BaseException]) -> None:
    calls = 0

    class Failing:
        def __buffer__(self, flags: int, /) -> memoryview:
            nonlocal calls
            calls += 1
            raise error("of the buffer")

    with pytest.raises(error, match="of the buffer"):
        core.StateHash().absorb_bytes(Failing())
    assert calls == 1 or issubclass(error, Exception)


@pytest.mark.parametrize("value", ["abc", 5, 1.5, None, [1, 2], object])
def test_what_is_no_buffer_is_refused(core: Core, value: Any) -> None:
    with pytest.raises(TypeError, match=r"bytes-like.*\.encode\(\)"):
        core.StateHash().absorb_bytes(value)


def test_a_released_view_is_refused(core: Core) -> None:
    view = memoryview(b"abc")
    view.release()
    with pytest.raises(ValueError, match="released"):
        core.StateHash().absorb_bytes(view)


def test_a_buffer_is_free_again_afterwards(core: Core) -> None:
    """A view kept open would forbid its owner to resize the buffer, for no visible reason."""
    data = bytearray(b"abc")
    core.StateHash().absorb_bytes(data)
    data += b"d"
    with pytest.raises(BufferError), memoryview(data) as view:
        core.StateHash().absorb_bytes(view[::2])
    data += b"e"
    assert core.StateHash().absorb_bytes(data).finish() == fnv_1a(b"abcde")


@given(
    first=u64,
    count=u32,
    dropped=u64,
    dt=u64.filter(bool),
    share=st.fractions(0, 1),
    start=u64,
)
def test_a_plan_is_absorbed_field_by_field(
    core: Core, first: int, count: int, dropped: int, dt: int, share: Fraction, start: int
) -> None:
    rest = min(int(share * dt), dt - 1)
    plan = core.FramePlan(first, count, dropped, rest, Timestep(dt))
    expected = fnv_1a(struct.pack("<QIQQQ", first, count, dropped, rest, dt), start)
    assert core.StateHash(start).absorb_plan(plan).finish() == expected


@given(first=u64, count=u32, dropped=u64, top=u64.filter(lambda n: n > 1), start=u64)
def test_a_plan_of_a_rate_ends_with_its_scale(
    core: Core, first: int, count: int, dropped: int, top: int, start: int
) -> None:
    plan = core.FramePlan(first, count, dropped, 7, Rate(top))
    expected = fnv_1a(struct.pack("<QIQQQQ", first, count, dropped, 7, 10**9, top), start)
    assert core.StateHash(start).absorb_plan(plan).finish() == expected


def test_every_field_of_a_plan_is_seen(core: Core) -> None:
    plans = [
        core.FramePlan(1, 1, 1, 1, Timestep(10)),
        core.FramePlan(2, 1, 1, 1, Timestep(10)),
        core.FramePlan(1, 2, 1, 1, Timestep(10)),
        core.FramePlan(1, 1, 2, 1, Timestep(10)),
        core.FramePlan(1, 1, 1, 2, Timestep(10)),
        core.FramePlan(1, 1, 1, 1, Timestep(11)),
        core.FramePlan(1, 1, 1, 1, Rate(10)),
    ]
    assert len({core.StateHash().absorb_plan(plan).finish() for plan in plans}) == len(plans)


@pytest.mark.parametrize("value", [None, 5, (0, 0, 0, 0), Timestep(10)])
def test_only_a_plan_is_absorbed_as_one(core: Core, value: Any) -> None:
    with pytest.raises(TypeError, match=r"FramePlan.*begin_frame"):
        core.StateHash().absorb_plan(value)


def test_a_plan_of_the_other_core_is_refused(core: Core, native: Core, reference: Core) -> None:
    other = reference if core is native else native
    plan = other.FramePlan(0, 1, 0, 0, Timestep(10))
    with pytest.raises(TypeError, match=r"of this core, not fixedstep\.\w+\.FramePlan"):
        core.StateHash().absorb_plan(plan)
    with pytest.raises(TypeError, match="of this core"):
        core.FrameStats().absorb(plan)


def test_every_power_of_two_and_what_is_beside_it_narrows_as_the_processor_does(core: Core) -> None:
    """All exponents, the halves between two float32 too: where rounding has its edges."""
    digest, bits = core.StateHash(), b""
    for exponent in range(-1074, 128):
        for digits in (1.0, 1.5, 1.75, 1 + 2.0**-23, 1 + 2.0**-24, 1 + 3 * 2.0**-24, 2 - 2.0**-52):
            value = digits * 2.0**exponent
            for near in (value, math.nextafter(value, 0.0), math.nextafter(value, math.inf)):
                if near < F32_MAX:
                    bits += struct.pack("<f", near)
                    digest = digest.absorb_f32_bits(near)
    assert len(bits) > 90_000
    assert digest.finish() == fnv_1a(bits)


FLUSHING = """
#include <xmmintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
"""
FLUSHED = """
import ctypes, sys
from fixedstep import StateHash
small = [2.0**-149, 1e-40, 2.0**-126 - 2.0**-149, -1e-40, 2.0**-150, 3 * 2.0**-150]
def digest():
    state = StateHash()
    for value in small:
        state = state.absorb_f32_bits(value).absorb_f64_bits(value)
    return state
before = digest()
ctypes.CDLL(sys.argv[1])
assert 5e-324 * 1.0 == 0.0, "the control: subnormal numbers are flushed now"
assert digest() == before
"""


@pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None,
    reason="asks gcc on x86-64 for a library that changes the processor's mode",
)
def test_a_library_that_flushes_small_numbers_changes_no_digest(core: Core, tmp_path: Path) -> None:
    """Linked with ``-ffast-math``, a library does that to the whole process when it is loaded; and
    it may be a plugin that one of two players has."""
    backend = core.__name__.removeprefix("fixedstep.")
    source, library = tmp_path / "flush.c", tmp_path / "libflush.so"
    source.write_text(FLUSHING, encoding="ascii")
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    found = subprocess.run(
        [sys.executable, "-c", FLUSHED, str(library)],
        env=os.environ | {"FIXEDSTEP_BACKEND": backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
