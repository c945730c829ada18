"""Wheels built under one Python and run under another: exchange.py PYTHON PYTHON...

The abi3 wheel may be built under any CPython from 3.10 on, and an installer may hand a wheel that
it built under a new one to an old one. So each named interpreter builds a wheel, each runs all of
them, and the table says what came out. What is run is every method that returns None, True, False
or NotImplemented, 200,000 times: newer headers have inline forms of these that do not count
references, and an interpreter that counts them ends after some thousand calls.

Such a form is also planted in a copy of the source. If that wheel, built under the newest and run
under the oldest, does not fail, the table proves nothing, and the check fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FRAMES = 200_000

WORK = f"""
import sys
from fixedstep import Nanos, Rate, Timestep
from fixedstep import native

loop, other = native.FrameLoop(Timestep(10), start=0), native.FrameLoop(Timestep(11), start=0)
fast, fresh, stats = native.FrameLoop(Rate(60), start=0), native.FrameLoop(), native.FrameStats()
rate, digest, plan = Rate(60), native.StateHash(), loop.begin_frame(25)
pairs = [
    (loop, other), (plan, other.begin_frame(25)), (plan.steps(), native.Steps(7, 3, rate)),
    (digest, digest.absorb_u64(5)), (stats, native.FrameStats(1)),
]
timing = getattr(native, "FrameTiming", None)
if timing is not None:
    timing, later = timing(), timing()
    assert later.record(0, True) is later.record(5, True) is None
    pairs.append((timing, later))
    assert timing.record(0, True) is timing.record(1, True) is None
for now in range({FRAMES}):
    plan = loop.begin_frame(now)
    assert loop.resync(now) is stats.absorb(plan) is fresh.last is None
    assert fast._set_scale(60, 10**9, 5, rate) is fast._skip_ticks(1) is fast._take_back(1) is None
    assert timing is None or timing.record(now, True) is None
    for one, two in pairs:
        assert one == one and not one == two and one != two and not one != one
        assert one.__eq__(5) is one.__lt__(two) is NotImplemented
for now in range({FRAMES} // 100):
    assert loop.digest_frames((now,), stats) is None
print(sys.getrefcount(None) > 1000, stats.frames)
"""

PLANTED = (
    "csrc/python/fs_types.h",
    "    Py_IncRef(constant);\n    return constant;",
    "    return constant;",
)


def version(python: str) -> str:
    """Such as 3.10.13."""
    return _said([python, "-c", "import platform; print(platform.python_version())"])


def _said(command: Sequence[str | Path], **settings: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **settings}
    )
    if done.returncode:
        sys.exit(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def build(python: str, work: Path, fault: bool = False) -> Path:
    """A folder with the unpacked wheel that this interpreter makes, from a fresh copy."""
    folder = work / f"{version(python)}{'-planted' if fault else ''}"
    source = folder / "source"
    tracked = _said(["git", "-C", str(ROOT), "ls-files"]).splitlines()
    for name in tracked:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    if fault:
        name, right, wrong = PLANTED
        text = (source / name).read_text(encoding="utf-8")
        if right not in text:
            sys.exit(f"{name} has no {right!r} to plant a fault in")
        (source / name).write_text(text.replace(right, wrong), encoding="utf-8")
    wheels = folder / "wheels"
    command = [python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(source)]
    _said(command, FIXEDSTEP_BUILD="require")
    [wheel] = wheels.glob("*-cp310-abi3-*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "unpacked")
    return folder / "unpacked"


def run(python: str, unpacked: Path) -> str:
    """How the interpreter fares with the wheel: "ok", or what it ended with."""
    done = subprocess.run(
        [python, "-c", WORK],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    if done.returncode == 0:
        return "ok"
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]


def table(pythons: Sequence[str], work: Path) -> tuple[list[str], bool]:
    """The rows, and whether all wheels ran everywhere and the planted fault was found."""
    versions = {python: version(python) for python in pythons}
    ordered = sorted(pythons, key=lambda python: tuple(map(int, versions[python].split("."))))
    rows, good = [], True
    for builder in ordered:
        unpacked = build(builder, work)
        results = {versions[python]: run(python, unpacked) for python in ordered}
        good = good and set(results.values()) == {"ok"}
        told = ", ".join(f"{name} {result}" for name, result in results.items())
        rows.append(f"built under {versions[builder]}: {told}")
    newest, oldest = ordered[-1], ordered[0]
    found = run(oldest, build(newest, work, fault=True))
    rows.append(f"planted, built under {versions[newest]}: {versions[oldest]} {found}")
    return rows, good and found.startswith("Fatal Python error")


def main() -> int:
    """Print the table; 0 if it is as it should be."""
    pythons = sys.argv[1:]
    if len(pythons) < 2:
        sys.exit("usage: exchange.py PYTHON PYTHON...; name at least the oldest and the newest")
    with tempfile.TemporaryDirectory(prefix="fixedstep-exchange-") as work:
        rows, good = table(pythons, Path(work))
    print(*rows, sep="\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
