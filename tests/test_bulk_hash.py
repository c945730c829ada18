"""The hash of large buffers against the definition, for every length and every alignment.

csrc/core/fs_hash_wide.c takes large buffers apart in blocks and lanes; what it must return is what
one byte after the other gives. The definition is written out once more here: from it come the right
states after every prefix of the data, so a check of every length costs one pass of plain Python.
"""

from __future__ import annotations

import platform
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

BASIS = 0xCBF29CE484222325
PRIME = 0x100000001B3
LONGEST = 70_000
VECTOR_BYTES = 32
LARGEST_BLOCK = 8192

DATA = {
    "zeros": bytes(LONGEST),
    "ones": b"\xff" * LONGEST,
    "random": random.Random(20261130).randbytes(LONGEST),
}


def states_after_every_prefix(data: bytes, state: int = BASIS) -> list[int]:
    states = [state]
    for byte in data:
        state = (state ^ byte) * PRIME % 2**64
        states.append(state)
    return states


def placed(ffi: Any, data: bytes, alignment: int) -> Any:
    """A pointer to a copy of the data, so many bytes behind a vector's start, and its owner."""
    room = ffi.new("uint8_t[]", len(data) + 2 * VECTOR_BYTES)
    misplaced = int(ffi.cast("uintptr_t", room)) % VECTOR_BYTES
    start = room + (alignment - misplaced) % VECTOR_BYTES
    ffi.memmove(start, data, len(data))
    assert int(ffi.cast("uintptr_t", start)) % VECTOR_BYTES == alignment
    return start, room


def wrong_lengths(
    lib: Any, start: Any, states: list[int], lengths: Iterable[int], lanes: int | None = None
) -> list[int]:
    """The lengths with a wrong digest; `lanes` forces a width that would not be chosen."""

    def digest(length: int) -> int:
        if lanes is None:
            return int(lib.fs_hash_bytes(states[0], start, length))
        return int(lib.fs_hash_bytes_lanes(states[0], start, length, lanes))

    return [length for length in lengths if digest(length) != states[length]]


def test_the_hash_chooses_the_widest_vectors(lib: Any) -> None:
    """On Linux the kernel says the same about AVX2 as the processor."""
    assert lib.fs_hash_lanes() in (0, 8, 16)
    cpu = Path("/proc/cpuinfo")
    if platform.machine() == "x86_64" and cpu.exists():
        avx2 = re.search(r"^flags\b.*\bavx2\b", cpu.read_text(), re.MULTILINE) is not None
        assert lib.fs_hash_lanes() == (16 if avx2 else 8)


@pytest.mark.parametrize("lanes", [0, 8, 16])
@pytest.mark.parametrize("kind", DATA)
def test_every_width_gives_the_same_digest(lib: Any, ffi: Any, kind: str, lanes: int) -> None:
    """Every length up to 5,000, and larger ones by chance. Absent lanes are no error."""
    states = states_after_every_prefix(DATA[kind])
    start, _room = placed(ffi, DATA[kind], alignment=5)
    assert wrong_lengths(lib, start, states, range(5001), lanes) == []
    larger = random.Random(lanes).sample(range(5001, LONGEST + 1), 300)
    assert wrong_lengths(lib, start, states, larger, lanes) == []


@pytest.mark.parametrize("kind", DATA)
def test_every_length_has_the_digest_of_its_bytes(lib: Any, ffi: Any, kind: str) -> None:
    """Up to 70,000: eight of the largest blocks, a smaller one, and every tail behind them."""
    states = states_after_every_prefix(DATA[kind])
    assert len(set(states)) > LONGEST // 2, "the digest moves with every byte"
    start, _room = placed(ffi, DATA[kind], alignment=3)
    assert wrong_lengths(lib, start, states, range(LONGEST + 1)) == []


@pytest.mark.parametrize("alignment", range(VECTOR_BYTES))
def test_every_alignment_has_the_digest_of_its_bytes(lib: Any, ffi: Any, alignment: int) -> None:
    """Every length through the largest block and a little more, from another state each time."""
    lengths = range(LARGEST_BLOCK + 64)
    for kind, data in DATA.items():
        states = states_after_every_prefix(data[: lengths.stop], alignment * PRIME % 2**64)
        start, _room = placed(ffi, data[: lengths.stop], alignment)
        assert wrong_lengths(lib, start, states, lengths) == [], kind


def test_one_changed_bit_in_a_large_buffer_is_found(lib: Any, ffi: Any) -> None:
    """The negative control: the comparison above does tell digests apart."""
    states = states_after_every_prefix(DATA["random"])
    data = bytearray(DATA["random"])
    data[30_000] ^= 1
    start, _room = placed(ffi, bytes(data), alignment=0)
    lengths = range(29_990, 30_020)
    assert wrong_lengths(lib, start, states, lengths) == list(range(30_001, 30_020))
