"""StateHash: what a byte costs, from 16 bytes to 64 MiB, and where memory itself sets the limit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Protocol

from ... import reference
from .. import cores
from .measure import Absent, Played, Side, clock
from .workload import BUDGET, DIGEST, DROPPED, FRAMES, START, STEP, trace

SIZES = (16, 256, 1 << 10, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20)
#: Where the comparison with the obvious loop has a target, and where memory is compared.
COMPARED = 16 << 20
#: The reference is not given more: it takes a tenth of a microsecond for a byte.
REFERENCE_LIMIT = 4 << 10


class HashOfBytes(Protocol):
    """FNV-1a-64 in C as everybody writes it, ``repeats`` times over ``data``; compiled by the bench
    that comes with the source. Repeated in C, so that its time has no call from Python in it."""

    def __call__(self, data: bytes, repeats: int, /) -> Played:
        """The outcome is the digest of the repeated data."""


def size_name(size: int) -> str:
    """4096 as ``4 KiB``."""
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >> shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def data_of(size: int) -> bytes:
    """Bytes without a pattern, the same everywhere."""
    return random.Random(size).randbytes(size)


def _repeats(size: int) -> int:
    """As often as a pass of 64 KiB takes: the time of one call is below what a clock can tell."""
    return max(1, (64 << 10) // size)


def _absorb(kind: Callable[[], reference.StateHash], data: bytes) -> Played:
    state, repeats = kind(), range(_repeats(len(data)))
    begun = clock()
    for _ in repeats:
        state = state.absorb_bytes(data)
    return Played(clock() - begun, state.finish())


def _scan(twos: bytes) -> Played:
    """Read memory as fast as the C library can, looking for a byte that is not there."""
    begun = clock()
    at = twos.find(1)
    return Played(clock() - begun, at)


def _copy(source: bytes, target: memoryview) -> Played:
    begun = clock()
    target[:] = source
    return Played(clock() - begun, target[-1] == source[-1])


def hashes(yardstick: HashOfBytes | str) -> Iterator[Side | Absent]:
    """absorb_bytes at every size, against the obvious loop in C, or why there is none.

    All sides of a size must agree on the digest.
    """
    for size in SIZES:
        yield from _hashes_of(data_of(size), yardstick)
    large = COMPARED
    source, target, twos = data_of(large), memoryview(bytearray(large)), b"\2" * large
    yield Side("read memory", large, lambda: _scan(twos), lambda at: at == -1)
    yield Side("copy memory", large, lambda: _copy(source, target), lambda same: same is True)


def _hashes_of(data: bytes, yardstick: HashOfBytes | str) -> Iterator[Side | Absent]:
    label, repeats = size_name(len(data)), _repeats(len(data))
    units = len(data) * repeats
    contenders: list[Side | Absent] = []
    native, reason = cores.native_core()
    if native is None:
        contenders.append(Absent(f"absorb_bytes {label}", reason))
    else:
        kind = native.StateHash
        contenders.append(_side(f"absorb_bytes {label}", units, lambda: _absorb(kind, data)))
    if isinstance(yardstick, str):
        contenders.append(Absent(f"byte by byte {label}", yardstick))
    else:
        obvious = yardstick
        contenders.append(_side(f"byte by byte {label}", units, lambda: obvious(data, repeats)))
    if len(data) <= REFERENCE_LIMIT:
        slow = reference.StateHash
        contenders.append(_side(f"reference {label}", units, lambda: _absorb(slow, data)))
    sides = [side for side in contenders if isinstance(side, Side)]
    digests = {side.play().outcome for side in sides}
    agreed = digests.pop() if len(digests) == 1 else None
    for side in contenders:
        if isinstance(side, Side):
            yield side._replace(accept=lambda found: found == agreed)
        else:
            yield side


def _side(name: str, units: int, play: Callable[[], Played]) -> Side:
    return Side(name, units, play, lambda found: False)


def plan_digests() -> Iterator[Side | Absent]:
    """absorb_plan and its equal in the tally, on plans made before."""
    native, reason = cores.native_core()
    for label, core in (("native", native), ("reference", reference)):
        if core is None:
            yield Absent(f"{label} absorb_plan", reason)
            yield Absent(f"{label} stats.absorb", reason)
            continue
        loop = core.FrameLoop(STEP, BUDGET, START)
        plans = [loop.begin_frame(now) for now in trace().nanos]
        yield _absorbing(f"{label} absorb_plan", core.StateHash, plans)
        yield _tallying(f"{label} stats.absorb", core.FrameStats, plans)


def _absorbing(
    name: str, kind: Callable[[], reference.StateHash], plans: list[reference.FramePlan]
) -> Side:
    def play() -> Played:
        state = kind()
        begun = clock()
        for plan in plans:
            state = state.absorb_plan(plan)
        return Played(clock() - begun, state.finish())

    return Side(name, FRAMES, play, lambda digest: digest == DIGEST)


def _tallying(
    name: str, kind: Callable[[], reference.FrameStats], plans: list[reference.FramePlan]
) -> Side:
    def play() -> Played:
        stats = kind()
        begun = clock()
        for plan in plans:
            stats.absorb(plan)
        return Played(clock() - begun, (stats.steps_dropped, stats.schedule_hash))

    return Side(name, FRAMES, play, lambda found: found == (DROPPED, DIGEST))
