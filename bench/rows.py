"""Every row of the bench: what is measured together, and what is claimed of it."""

from __future__ import annotations

from . import corners, objects
from .batches import batches, digests
from .footprint import growth, starting
from .frames import bodies, planning
from .hashing import COMPARED, SIZES, hashes, size_name
from .latency import BUSY, latencies
from .measure import Claim, Row, interleave

ROWS = (
    Row(
        "frame",
        "One frame: begin_frame",
        "ns/frame",
        lambda effort: interleave(planning(), effort),
        (
            Claim("begin_frame, native/reference", "native", "reference", high=0.12),
            Claim("begin_frame, native/inline floats", "native", "inline floats", high=0.4),
            Claim("begin_frame, native/class of floats", "native", "class of floats"),
            Claim("begin_frame, native/no-op C method", "native", "no-op C method"),
        ),
    ),
    Row(
        "body",
        "One frame: the documented body",
        "ns/frame",
        lambda effort: interleave(bodies(), effort),
        (
            Claim("body, native/reference", "native", "reference", high=0.10),
            Claim("body, native/gamekit", "native", "gamekit", high=0.4),
            Claim("body, native/pyglet", "native", "pyglet", high=0.5),
            Claim("body, native: ticks/steps", "native, ticks", "native"),
            Claim("body + update(dt), native/gamekit", "native, update(dt)", "gamekit"),
            Claim("body, native/inline floats", "native", "inline floats"),
            Claim("body, native/class of floats", "native", "class of floats"),
        ),
    ),
    Row(
        "batch",
        "Many frames in one call",
        "ns/frame",
        lambda effort: interleave(batches(), effort),
        (
            Claim(
                "begin_frames with stats, native/reference loop",
                "begin_frames with stats 1e6",
                "reference loop",
                high=0.01,
            ),
            Claim(
                "digest_frames, native/reference loop",
                "digest_frames 1e6",
                "reference loop",
            ),
            *(
                Claim(f"{form}, 1e7/1e3 frames", f"{form} 1e7", f"{form} 1e3", 0.9, 1.1)
                for form in (
                    "one by one",
                    "begin_frames with stats",
                    "begin_frames",
                    "digest_frames",
                )
            ),
        ),
    ),
    Row(
        "digest",
        "Planning and digesting in C",
        "ns/frame",
        lambda effort: interleave(digests(), effort),
        (
            Claim(
                "plan + digest, native/byte-by-byte",
                "digest_frames",
                "byte by byte",
                high=0.5,
            ),
        ),
    ),
    Row(
        "hash",
        "StateHash.absorb_bytes",
        "ns/byte",
        lambda effort: interleave(hashes(), effort),
        (
            *(
                Claim(
                    f"{size_name(size)}, byte-by-byte/absorb_bytes",
                    f"byte by byte {size_name(size)}",
                    f"absorb_bytes {size_name(size)}",
                    low=3 if size == COMPARED else None,
                )
                for size in SIZES
            ),
            Claim(
                "16 MiB, absorb_bytes/copying",
                "absorb_bytes 16 MiB",
                "copy memory",
            ),
        ),
    ),
    Row(
        "latency",
        "begin_frame beside busy threads",
        "ns",
        latencies,
        tuple(
            Claim(
                f"{quantile} beside {busy} busy, {name}/reference",
                f"{name}, {busy} busy, {quantile}",
                f"reference, {busy} busy, {quantile}",
                high=1.1 if name == "native" and busy == 2 else None,
            )
            for busy in BUSY
            for name in ("native", "cffi lib")
            for quantile in ("p99", "max")
        ),
    ),
    Row(
        "memory",
        "Memory over 10,000,000 frames",
        "KiB",
        growth,
        (Claim("growth over 1e7 begin_frame", "after", "before", high=1024, difference=True),),
    ),
    Row(
        "start",
        "Starting Python",
        "ms",
        starting,
        (Claim("import fixedstep adds", "with fixedstep", "python", high=15, difference=True),),
    ),
    Row("objects", "Memory of objects", "bytes", objects.measure, objects.CLAIMS),
    Row("corners", "Beside the hot path", "ns", corners.measure, corners.CLAIMS),
)
