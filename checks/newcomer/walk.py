"""A newcomer's walk through README and tutorial: a clone, a clean folder, new virtual environments,
and every command as it is printed, with what it printed.

    python checks/newcomer/walk.py FOLDER

FOLDER must not be there. The clone goes into it, and beside the clone the tutorial's game. Packages
are installed from the network, as the pages say; the windows are SDL's that nobody sees, and a
player presses the keys that the tutorial asks for. The commands of README's table are run in their
order, then its game in a window. The tests that README names are the gate's business and are run
with ``--tests``.

It ends with exit code 1 at the first command that fails or prints something else than the page
says. Nothing of the environment it runs in reaches the commands but the path and the settings of
pip. It needs pytest, like the test of the tutorial, whose player it borrows.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

TOP = Path(__file__).resolve().parents[2]
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")
# Left out: it installs what was released, and the walk is through the clone.
FROM_THE_INDEX = "pip install fixedstep"
LINES_SHOWN = 12


def loaded(name: str) -> ModuleType:
    """A file of the suite, which is no package."""
    spec = importlib.util.spec_from_file_location(name, TOP / "tests" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reading: Any = loaded("walkthrough")
tutorial: Any = loaded("test_tutorial")
pages: Any = loaded("test_how_to")


def environment() -> dict[str, str]:
    """A login's, without what this process was started with."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or name.startswith(("PIP_", "LC_"))
    }


def told(commands: str, folder: Path, environment: Mapping[str, str]) -> Any:
    """Run commands one by one in one shell, and tell what they were and what came of them."""
    for line in commands.splitlines():
        print(f"{folder.name}$ {line}", flush=True)
    started = time.monotonic()
    ran = reading.run(["bash", "-euc", commands], folder, environment)
    show(ran.out)
    errors = len(ran.err.splitlines())
    if ran.code:
        show(ran.err)
    elif errors:
        print(f"    ({errors} lines on the error output)")
    print(f"    -- exit code {ran.code}, {time.monotonic() - started:.0f} s\n", flush=True)
    return ran


def show(text: str) -> None:
    """The last lines of it."""
    lines = text.splitlines()
    left_out = len(lines) - LINES_SHOWN
    for line in lines if left_out <= 1 else [f"({left_out} lines)", *lines[-LINES_SHOWN:]]:
        print(f"    {line}")


class Walk(tutorial.Walk):  # type: ignore[misc]
    """The tutorial, with nothing replaced."""

    def install(self, commands: str, folder: Path, environment: Mapping[str, str]) -> Any:
        """As printed."""
        return told(commands, folder, environment)

    def run(self, commands: str, folder: Path, environment: Mapping[str, str]) -> Any:
        """As printed."""
        return told(commands, folder, environment)


def readme(folder: Path, *, tests: bool) -> None:
    """README's blocks of commands, the commands of its table, and its game."""
    page = (folder / "README.md").read_text(encoding="utf-8")
    blocks = [block for block in reading.blocks(page) if block.language == "sh"]
    assert blocks, "README has no commands"
    table = re.findall(r"(?m)^\| `(fixedstep [^`]+)` \|", page)
    assert table, "README has no table of commands"
    for block in blocks:
        if block.text.strip() == FROM_THE_INDEX or ("pytest" in block.text and not tests):
            continue
        if told(block.text, folder, environment()).code:
            raise AssertionError(f"README, line {block.line}")
    [game] = [block for block in reading.blocks(page) if block.detail == "jump.py"]
    (folder / "jump.py").write_text(game.text, encoding="utf-8")
    path = os.pathsep.join([str(folder / ".venv" / "bin"), os.environ["PATH"]])
    of_windows = {"SDL_VIDEODRIVER": "dummy", "PYTHONPATH": pages.closer(folder)}
    assert "--window" in table[-1], "all but the last command need no toolkit"
    [*plain, window] = table
    for command in (*plain, "pip install '.[pygame]'", f"{window} --seconds 2", "python jump.py"):
        more = of_windows if command == "python jump.py" else {"SDL_VIDEODRIVER": "dummy"}
        if told(command, folder, environment() | {"PATH": path} | more).code:
            raise AssertionError(f"README, {command}")


def main() -> int:
    """Clone, walk, sum up."""
    parser = argparse.ArgumentParser(description="README and tutorial, as a newcomer has them.")
    parser.add_argument("folder", type=Path, help="where to; must not be there")
    parser.add_argument("--tests", action="store_true", help="run README's tests as well")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir()
    clone = folder / "fixedstep"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(TOP), str(clone)], check=True)
    page = (clone / "docs" / "tutorial.md").read_text(encoding="utf-8")
    try:
        readme(clone, tests=arguments.tests)
        walk = Walk(page, folder, tutorial.SHORT_PLAYS, "real", environment())
    except AssertionError as error:
        print(f"FAILED: {error}")
        return 1
    print(f"README and tutorial are as printed; {len(walk.reader.commands)} commands in the second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
