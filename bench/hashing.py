"""StateHash: what a byte costs, from 16 bytes to 16 MiB, and where memory itself sets the limit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from fixedstep import StateHash, native, reference

from .measure import Played, Side, clock
from .yardstick import hash_of_bytes

SIZES = (16, 256, 1 << 10, 64 << 10, 16 << 20)
#: Where the comparison with the obvious loop has a target, and where memory is compared.
COMPARED = 16 << 20
#: The reference is not given more: it takes a tenth of a microsecond for a byte.
REFERENCE_LIMIT = 1 << 10


def size_name(size: int) -> str:
    """4096 as ``4 KiB``."""
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >> shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def _absorb(kind: Callable[[], StateHash], data: bytes, repeats: int) -> Played:
    state = kind()
    begun = clock()
    for _ in range(repeats):
        state = state.absorb_bytes(data)
    return Played(clock() - begun, state.finish())


def _copy(source: bytes, target: memoryview) -> Played:
    begun = clock()
    target[:] = source
    return Played(clock() - begun, target[-1] == source[-1])


def hashes() -> Iterator[Side]:
    """absorb_bytes at every size, against the obvious loop in C. Their digests must be equal."""
    for size in SIZES:
        yield from _hashes_of(random.Random(size).randbytes(size))
    source, target = b"\2" * COMPARED, memoryview(bytearray(COMPARED))
    yield Side("copy memory", COMPARED, lambda: _copy(source, target), lambda same: same is True)


def _hashes_of(data: bytes) -> Iterator[Side]:
    repeats = max(1, (64 << 10) // len(data))  # the time of one call is below what a clock can tell
    plays: dict[str, Callable[[], Played]] = {
        "absorb_bytes": lambda: _absorb(native.StateHash, data, repeats),
        "byte by byte": lambda: hash_of_bytes(data, repeats),
    }
    if len(data) <= REFERENCE_LIMIT:
        plays["reference"] = lambda: _absorb(reference.StateHash, data, repeats)
    digests = {play().outcome for play in plays.values()}
    agreed = digests.pop() if len(digests) == 1 else None
    for name, play in plays.items():
        label = f"{name} {size_name(len(data))}"
        yield Side(label, len(data) * repeats, play, lambda found: found == agreed)
