"""The reference's types with faster digests, for PyPy.

There the reference's loop is as fast as C, but FNV-1a's product leaves the machine's integers. So
this module is the source of ``reference.py`` once more under another name, with its one
function that hashes replaced: by the C core where it was compiled, and else by the same product in
halves of 32 bits. ``fixedstep.reference`` keeps its own.
"""

from __future__ import annotations

import inspect
from struct import Struct
from typing import TYPE_CHECKING

from . import reference

if TYPE_CHECKING:
    from .reference import FramePlan

exec(compile(inspect.getsource(reference), reference.__file__, "exec"))

try:
    from ._core import ffi, lib  # type: ignore[import-not-found]

    from_buffer = ffi.from_buffer
except ImportError:
    DIGESTS = "digests run in Python, as the C core was not compiled"
    _HALVES, _WHOLE = Struct("<II"), Struct("<Q")

    def _fnv(state: int, data: bytes | bytearray | memoryview) -> int:
        """FNV-1a-64. The prime is 2**40 + 0x1b3, so each product of a half is below 2**63."""
        # unpacked from bytes: a shift of an integer of 64 bits would give two slow large integers
        low, high = _HALVES.unpack(_WHOLE.pack(state))
        for byte in bytes(data):
            low ^= byte
            product = low * 0x1B3
            high = (high * 0x1B3 + (low << 8) + (product >> 32)) & 0xFFFF_FFFF
            low = product & 0xFFFF_FFFF
        return int(high << 32 | low)
else:
    DIGESTS = "digests run in the C core"

    def _fnv(state: int, data: bytes | bytearray | memoryview) -> int:
        """FNV-1a-64 by the C core."""
        pointer = data if type(data) is bytes else from_buffer(data)
        digest: int = lib.fs_hash_bytes(state, pointer, len(data))
        return digest

    def _fnv_plan(state: int, plan: FramePlan) -> int:
        """A plan as numbers: a struct for each would take twice as long."""
        digest: int = lib.fs_hash_plan_numbers(
            state,
            plan._first_tick,
            plan._step_count,
            plan._dropped,
            plan._remainder,
            plan._scale,
            plan._unit,
        )
        return digest
