"""``fixedstep bench``: what it prints with both cores and with one. No time is asserted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from fixedstep import Timestamp
from fixedstep import reference as reference_core
from fixedstep.cli import bench, main

if TYPE_CHECKING:
    from tests.conftest import Core

FIGURE = re.compile(r"\d[\d,]*\.\d+")
ALONE = """
import sys
sys.modules[{missing!r}] = None
from fixedstep.cli import bench, main
bench._VALUE = 1
sys.exit(main(["bench"]))
"""


def run_without(missing: str) -> list[str]:
    """The lines of ``fixedstep bench`` in a process that cannot import this module."""
    script = ALONE.format(missing=missing)
    setting = {**os.environ, "FIXEDSTEP_BACKEND": "auto"}
    ended = subprocess.run(
        [sys.executable, "-c", script], env=setting, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def figures(line: str) -> int:
    return len(FIGURE.findall(line))


def test_both_cores_and_their_ratio_stand_in_one_table(
    native: Core, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert native
    monkeypatch.setattr(bench, "_VALUE", 1)
    assert main(["bench"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["native", "reference", "native", "/", "reference"]
    assert len(rows) == len(bench._ROWS)
    assert [figures(row) for row in rows] == [3] * len(rows)


def test_without_the_c_core_the_reference_is_shown_alone() -> None:
    """In one line it says why."""
    why, head, *rows = run_without("fixedstep.native")
    assert why.startswith("no native core, so the reference alone: ")
    assert head.split() == ["reference"]
    assert [figures(row) for row in rows] == [1] * len(bench._ROWS)


def test_without_cffi_both_cores_are_shown(native: Core) -> None:
    """cffi is for `fixedstep._core.lib`, which nothing here calls."""
    assert native
    head, *rows = run_without("cffi")
    assert head.split()[:2] == ["native", "reference"]
    assert [figures(row) for row in rows] == [3] * len(bench._ROWS)


def test_the_frames_run_steps_and_exceed_the_budget(reference: Core) -> None:
    stats, steps = reference.FrameStats(), set()
    for plan in reference.FrameLoop(start=Timestamp(0)).begin_frames(bench._timestamps()):
        stats.absorb(plan)
        steps.add(plan.step_count)
    assert stats.frames == bench._FRAMES
    assert {0, 1, 2, 5} <= steps
    assert stats.steps_dropped > 10


def test_cores_that_differ_are_not_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def late(start: int) -> reference_core.FrameLoop:
        return reference_core.FrameLoop(start=Timestamp(start + 1))

    broken = SimpleNamespace(FrameLoop=late, __name__="fixedstep.native")
    monkeypatch.setattr("fixedstep.cli.cores.native_core", lambda: (broken, ""))
    assert main(["bench"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "fixedstep: begin_frame: the two cores differ\n"


@pytest.mark.parametrize("words", [["--rounds", "3"], ["extra"]])
def test_a_word_too_many_is_refused(words: list[str]) -> None:
    assert main(["bench", *words]) == 2
