"""The rows of the long form: those of ``fixedstep bench``, with the yardsticks in C, and more."""

from __future__ import annotations

from fixedstep.cli.bench.measure import Row
from fixedstep.cli.bench.rows import rows as short_rows

from . import corners, objects
from .yardstick import digest_of_frames, hash_of_bytes


def rows() -> list[Row]:
    """All of them."""
    return [
        *short_rows(hash_of_bytes, digest_of_frames),
        Row("objects", "Memory of objects", "bytes", objects.measure, objects.CLAIMS),
        Row("corners", "Beside the hot path", "ns", corners.measure, corners.CLAIMS),
    ]
