"""The how-to pages are true: their programs are run, their files saved and edited, their commands
given, in an empty folder for each page, and what they print is what the page says.

How a page is read is in walkthrough.py beside this file. What is asserted here besides is what a
page means and its numbers alone would not tell, where the numbers are those of a real clock.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

    from tests.conftest import Core
    from tests.walkthrough import Reader

PAGES = (
    "background-work",
    "choose-a-budget",
    "first-loop",
    "frame-rate-independence",
    "headless-tests",
    "input",
    "pause",
    "random-numbers",
    "rollback",
    "save-and-load",
    "server-tick",
    "sounds",
    "timers",
    "training-run",
)
# It compares both cores, so it is left out where there is one.
BOTH_CORES = "replay-a-bug-report"
# Its programs open windows, so it is worked through for one toolkit at a time, where asked to.
WINDOWS = "window"
# Its program runs on the desktop; checks/pyodide runs what it is made of in a browser's Python.
BROWSER = "browser"
# A sitecustomize, which Python imports when it starts: it closes a window after forty frames,
# by the way that a click on its cross takes through the adapter.
CLOSER = """
import sys

if sys.orig_argv[-1].endswith(".py"):
    from fixedstep.host._window import Window

    frames, run_frame = 0, Window.run_frame

    def closing(self):
        global frames
        frames += 1
        if frames == 41:
            self.close()
        return run_frame(self)

    Window.run_frame = closing
"""


def walkthrough() -> ModuleType:
    """The file beside this one. It is no test, and the suite's tests are no package."""
    path = Path(__file__).with_name("walkthrough.py")
    spec = importlib.util.spec_from_file_location("walkthrough", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reader(folder: Path, **more: str) -> Reader:
    """A reader for whom ``python`` and ``fixedstep`` are those of the suite."""
    environment = os.environ | {
        **more,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    made: Reader = walkthrough().Reader(folder, environment)
    return made


def pages(source: Path) -> Path:
    """Beside the C sources in a checkout; --no-source leaves both out."""
    return source.parent / "docs" / "how-to"


def closer(folder: Path) -> str:
    """A PYTHONPATH on which every window closes."""
    (folder / "closer").mkdir()
    (folder / "closer" / "sitecustomize.py").write_text(CLOSER, encoding="utf-8")
    return str(folder / "closer")


def test_every_page_is_worked_through(source: Path) -> None:
    assert sorted(page.stem for page in pages(source).glob("*.md")) == sorted(
        [*PAGES, BOTH_CORES, BROWSER, WINDOWS]
    )


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_true(source: Path, tmp_path: Path, name: str) -> None:
    reading = reader(tmp_path)
    reading.read((pages(source) / f"{name}.md").read_text(encoding="utf-8"))
    assert reading.outputs


def test_the_page_of_replays_is_true(source: Path, tmp_path: Path, native: Core) -> None:
    test_a_page_is_true(source, tmp_path, BOTH_CORES)


@pytest.mark.toolkit
@pytest.mark.parametrize(
    ("toolkit", "section"),
    [
        ("pygame", "pygame-ce"),
        ("pygame", "Sprites"),
        ("pyglet", "pyglet"),
        ("arcade", "arcade"),
        ("arcade", "arcade with Views"),
    ],
)
def test_the_page_of_windows_is_true(
    source: Path, tmp_path: Path, toolkit: str, section: str
) -> None:
    page = (pages(source) / f"{WINDOWS}.md").read_text(encoding="utf-8")
    first, *sections = re.split(r"(?m)^## ", page)
    [own] = [part for part in sections if part.startswith(f"{section}\n")]
    reading = reader(tmp_path, PYTHONPATH=closer(tmp_path), PYGAME_HIDE_SUPPORT_PROMPT="1")
    reading.read(first + own)
    [output] = reading.outputs
    stats = json.loads(output.printed)
    assert stats["frames"] == 40
    assert stats["ticks"] + stats["steps_dropped"] >= 12, f"40 frames of {toolkit} are 2/3 s"


@pytest.mark.toolkit
@pytest.mark.parametrize("toolkit", ["pygame"])
def test_the_page_of_the_browser_is_true(source: Path, tmp_path: Path, toolkit: str) -> None:
    reading = reader(tmp_path, PYTHONPATH=closer(tmp_path))
    reading.read((pages(source) / f"{BROWSER}.md").read_text(encoding="utf-8"))
    assert reading.commands == ["python main.py"]


@pytest.mark.toolkit
@pytest.mark.parametrize("toolkit", ["pygame"])
def test_the_game_of_the_readme_runs(source: Path, tmp_path: Path, toolkit: str) -> None:
    reading = reader(tmp_path, PYTHONPATH=closer(tmp_path))
    page = (source.parent / "README.md").read_text(encoding="utf-8")
    reading.read(page[page.index("```python jump.py") : page.index("## What it does")])
    ran = walkthrough().run([sys.executable, "jump.py"], tmp_path, reading.environment)
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("name", [*PAGES, WINDOWS])
def test_a_page_says_its_problem_first_and_its_traps_last(source: Path, name: str) -> None:
    page = (pages(source) / f"{name}.md").read_text(encoding="utf-8")
    title, problem, *_ = page.split("\n\n")
    assert title.startswith("# ")
    assert not problem.startswith(("#", "```"))
    assert re.findall(r"(?m)^## (.+)$", page)[-1] == "Traps"


def test_a_false_page_is_found(tmp_path: Path) -> None:
    """The control: a wrong number, a wrong word, an edit that does not fit, an unknown block."""
    reader: Any = walkthrough().Reader
    run = "```python\nprint('3 ticks')\n```\n"
    save = "```python a.py\nx = 1\n```\n"
    reader(tmp_path, os.environ).read(f"{run}```text\n3 ticks\n```\n")
    reader(tmp_path, os.environ).read(f"{run}```text varies\n4 ticks\n```\n")
    reader(tmp_path, os.environ).read(f"{save}```diff a.py\n-x = 1\n+x = 3\n```\n")
    for false in (
        f"{run}```text\n4 ticks\n```\n",
        f"{run}```text varies\n4 frames\n```\n",
        f"{run}```text\n3 ticks\n```\n```text\n3 ticks\n```\n",
        "```python\nprint(undefined)\n```\n",
        "```sh\nfalse\n```\n",
        "```sh exit 1\ntrue\n```\n",
        "```console\n$ true\n```\n",
        "```diff\n-x = 1\n```\n",
        f"{save}```diff a.py\n-x = 2\n+x = 3\n```\n",
        "```python a.py\nx = 1\nx = 1\n```\n```diff a.py\n-x = 1\n```\n",
    ):
        with pytest.raises(AssertionError, match=r"^line \d+: "):
            reader(tmp_path, os.environ).read(false)
