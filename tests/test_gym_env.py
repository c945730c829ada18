"""The example of a training environment. It needs gymnasium, and is quick where that is there."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("capture", [False, True])
def test_the_environment_passes_the_check_of_gymnasium(source: Path, capture: bool) -> None:
    """The program checks both of its environments itself, and warnings are errors."""
    pytest.importorskip("gymnasium")
    root = source.parent
    file = root / "tests" / "data" / "captures" / "mangohud-1.csv"
    printed = [
        subprocess.run(
            [sys.executable, "-W", "error", root / "examples" / "gym_env.py", *[file] * capture],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert printed[0] == printed[1]
    skip, frames = printed[0].splitlines()
    # All frames have two ticks, and the same seeds give the same worlds with any frame lengths.
    assert skip == (
        "frame skip: reward 120, frames by ticks [0, 0, 6000], worlds 0x3d81422fcf492a32"
    )
    assert frames.startswith("a capture: ")
    counts = frames[frames.index("[") + 1 : frames.index("]")].split(", ")
    assert sum(map(int, counts)) == 6_000
    assert len(counts) > 2
