"""The hash of large buffers against the definition, for every length and every alignment.

csrc/core/fs_hash.c takes large buffers apart in blocks and lanes; what it must return is what one
byte after the other gives. The definition is written out once more here: from it come the right
states after every prefix of the data, so a check of every length costs one pass of plain Python.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

BASIS = 0xCBF29CE484222325
PRIME = 0x100000001B3
LONGEST = 70_000
LANE_BYTES = 16
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
    """A pointer to a copy of the data, so many bytes behind the start of a lane, and its owner."""
    room = ffi.new("uint8_t[]", len(data) + 2 * LANE_BYTES)
    misplaced = int(ffi.cast("uintptr_t", room)) % LANE_BYTES
    start = room + (alignment - misplaced) % LANE_BYTES
    ffi.memmove(start, data, len(data))
    assert int(ffi.cast("uintptr_t", start)) % LANE_BYTES == alignment
    return start, room


def wrong_lengths(lib: Any, start: Any, states: list[int], lengths: range) -> list[int]:
    hashed = lib.fs_hash_bytes
    return [n for n in lengths if hashed(states[0], start, n) != states[n]]


@pytest.mark.parametrize("kind", DATA)
def test_every_length_has_the_digest_of_its_bytes(lib: Any, ffi: Any, kind: str) -> None:
    """Up to 70,000: eight of the largest blocks, a smaller one, and every tail behind them."""
    states = states_after_every_prefix(DATA[kind])
    assert len(set(states)) > LONGEST // 2, "the digest moves with every byte"
    start, _room = placed(ffi, DATA[kind], alignment=3)
    assert wrong_lengths(lib, start, states, range(LONGEST + 1)) == []


@pytest.mark.parametrize("alignment", range(LANE_BYTES))
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
