"""The C core alone on other targets: 32 bits and musl, in a program that holds no Python.

    python checks/portable/run.py

Compiles ``csrc/core`` and ``vectors.c`` into one static program for x86-64, i686 and musl, and
gives each the 88 traces of the suite, 200 traces at exact rates and the hashes of buffers of many
sizes, as ``fixedstep.reference`` computes them. A vector changed on purpose must be noticed.

Debian's packages for it are gcc, gcc-multilib and musl-tools.
"""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fixedstep import Rate, StepBudget, Timestamp, reference

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
TARGETS = {
    "x86-64": ["gcc"],
    "i686": ["gcc", "-m32"],
    "i686 without SSE2": ["gcc", "-m32", "-march=i686", "-mno-sse2"],
    "musl": ["musl-gcc"],
}
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
EDGES = (0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1)


def traces_of_the_suite() -> Iterator[str]:
    """The traces in tests/vectors, which another program planned."""
    file = ROOT / "tests" / "vectors" / "renew_frame.jsonl"
    for text in file.read_text(encoding="ascii").splitlines():
        trace = json.loads(text)
        yield f"T 1 {trace['timestep']} {trace['budget']} {trace['start']}"
        plans = iter(trace["plans"])
        for kind, now in trace["ops"]:
            yield f"R {now}" if kind == "resync" else f"F {now} {' '.join(map(str, next(plans)))}"
        stats = trace["stats"]
        yield (
            f"E {trace['tick']} {trace['remainder']} {stats['frames']} {stats['ticks']} "
            f"{stats['steps_dropped']} {int(stats['schedule_hash'], 16)}"
        )


def traces_at_rates(count: int) -> Iterator[str]:
    """Random rates and hostile timestamps, planned by the reference."""
    chance = random.Random(1)
    for _ in range(count):
        rate = Rate(
            chance.choice([60, 144, 60_000, 2**33, 2**63]), chance.choice([1, 1_001, 10**9])
        )
        budget, start = chance.choice([1, 5, 2**32 - 1]), chance.choice(EDGES)
        loop = reference.FrameLoop(rate, StepBudget(budget), Timestamp(start))
        stats, now = reference.FrameStats(), start
        yield f"T {rate.numerator} {rate.denominator * 10**9} {budget} {start}"
        for _ in range(50):
            now = chance.choice([now + chance.randrange(10**8), chance.choice(EDGES)]) % 2**64
            if chance.randrange(9) == 0:
                loop.resync(Timestamp(now))
                yield f"R {now}"
                continue
            plan = loop.begin_frame(Timestamp(now))
            stats.absorb(plan)
            alpha = struct.unpack("<I", struct.pack("<f", plan.alpha()))[0]
            yield (
                f"F {now} {plan.first_tick} {plan.step_count} {plan.dropped} {plan.remainder} "
                f"{alpha}"
            )
            time = reference.sim_time(plan.first_tick, rate.numerator, rate.denominator * 10**9)
            yield f"S {plan.first_tick} {rate.numerator} {rate.denominator * 10**9} {time}"
        yield (
            f"E {loop.tick} {loop.remainder} {stats.frames} {stats.ticks} {stats.steps_dropped} "
            f"{stats.schedule_hash}"
        )


def hashes() -> Iterator[str]:
    """Sizes around every block the C core hashes in, from one generator of bytes."""
    for size in (*range(100), *(2**k + d for k in range(7, 19, 1) for d in (-1, 0, 1, 7))):
        data, seed = bytearray(), size
        for _ in range(size):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            data.append(seed >> 56)
        yield f"H {size} {size} {reference.StateHash().absorb_bytes(data).finish()}"


def run(program: Path, vectors: list[str]) -> tuple[bool, str]:
    """Whether all vectors are equal, and what the program said."""
    text = "\n".join(vectors) + "\n"
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout.strip() or f"ended with {done.returncode}"


def main() -> int:
    """Compile and run each target; 1 if one differs or cannot be compiled."""
    vectors = [*traces_of_the_suite(), *traces_at_rates(200), *hashes()]
    faulty = [*vectors[:-1], vectors[-1] + "1"]
    sources = sorted((ROOT / "csrc" / "core").glob("*.c"))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, compiler in TARGETS.items():
            program = Path(folder) / name.replace(" ", "-")
            command = [*compiler, "-std=c11", "-O2", *WARNINGS, "-static", "-I", str(ROOT)]
            files = [str(Path(__file__).with_name("vectors.c")), *map(str, sources)]
            try:
                subprocess.run([*command, *files, "-o", str(program)], check=True)
            except (OSError, subprocess.CalledProcessError) as error:
                failed = True
                print(f"{name}: not compiled: {error}")
                continue
            equal, said = run(program, vectors)
            noticed = not run(program, faulty)[0]
            failed |= not (equal and noticed)
            print(f"{name}: {said}" + ("" if noticed else "; but a changed vector is not noticed"))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
