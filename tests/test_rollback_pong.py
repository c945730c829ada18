"""The example of rollback over UDP: two processes on this machine and a bad network."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_two_processes_come_to_the_same_game(source: Path) -> None:
    file = source.parent / "examples" / "rollback_pong.py"
    arguments = ["--latency", "100", "--jitter", "50", "--loss", "20", "--seconds", "2"]
    found = subprocess.run(
        [sys.executable, file, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.splitlines()[-1] == "EQUAL"
    assert re.findall(r"player \d: (\d+) ticks", found.stdout) == ["120", "120"]
    again = [int(number) for number in re.findall(r"(\d+) ticks ran again", found.stdout)]
    assert len(again) == 2
    assert sum(again) > 0, "the network did nothing"
