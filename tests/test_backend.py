"""Which core runs, and why: the setting, its errors, and what importing the package loads.

The choice is made once for a process, so each test starts one.
"""

from __future__ import annotations

import modulefinder
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import fixedstep

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Core

# Run before the package is imported. A library that does not load, and one that is not there at
# all, as on a machine without a compiler.
BROKEN = """
import sys
class Broken:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("fixedstep._core", "fixedstep._types"):
            raise ImportError(f"{name} does not load here")
sys.meta_path.insert(0, Broken)
"""
ABSENT = """
import sys
from importlib.machinery import PathFinder
class Without:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ("fixedstep._core", "fixedstep._types"):
            return PathFinder.find_spec(name, path, target)
sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
"""
SAY = "import fixedstep; print(*fixedstep.backend(), sep='|')\n"


def python(code: str, backend: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    environment.pop("FIXEDSTEP_BACKEND", None)
    if backend is not None:
        environment["FIXEDSTEP_BACKEND"] = backend
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def said(code: str, backend: str | None = None) -> str:
    run = python(code, backend)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def refused(code: str, backend: str | None = None) -> str:
    run = python(code, backend)
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    kind, _, message = last.partition(": ")
    assert kind in ("ImportError", "ModuleNotFoundError"), run.stderr
    return message


@pytest.mark.parametrize("setting", ["native", "reference"])
def test_a_core_can_be_forced(setting: str) -> None:
    assert said(SAY, setting) == f"{setting}|FIXEDSTEP_BACKEND={setting}"
    module = "import fixedstep; print(fixedstep.FrameLoop.__module__, fixedstep.Steps.__module__)"
    assert said(module, setting) == f"fixedstep.{setting} fixedstep.{setting}"


@pytest.mark.parametrize("setting", [None, "auto", ""])
@pytest.mark.parametrize("expected", ["native"])
def test_auto_prefers_the_native_core(setting: str | None, expected: str) -> None:
    name, reason = said(SAY, setting).split("|")
    assert name == expected
    assert reason
    assert "FIXEDSTEP_BACKEND" not in reason


@pytest.mark.parametrize("setting", ["C", "Native", " native", "0", "1", "pure", "auto "])
def test_a_misspelt_setting_is_an_error_that_names_the_choices(setting: str) -> None:
    """A setting that is silently ignored is found months later."""
    message = refused("import fixedstep", setting)
    assert "FIXEDSTEP_BACKEND must be auto, native or reference" in message
    assert repr(setting) in message


@pytest.mark.parametrize(
    ("without", "why"),
    [(BROKEN, "fixedstep._core does not load here"), (ABSENT, "without its C core")],
    ids=["broken", "absent"],
)
@pytest.mark.parametrize("setting", [None, "auto"])
def test_auto_falls_back_and_says_why(without: str, why: str, setting: str | None) -> None:
    name, reason = said(without + SAY, setting).split("|")
    assert name == "reference"
    assert reason.startswith("no native core: ")
    assert why in reason


@pytest.mark.parametrize(
    ("without", "why"),
    [
        (BROKEN, "fixedstep._core does not load here"),
        (ABSENT, "FIXEDSTEP_BUILD=require"),
        (ABSENT, "--no-binary fixedstep fixedstep"),
    ],
    ids=["broken", "absent", "a pure wheel is published"],
)
def test_a_native_core_that_is_required_and_missing_is_an_error_that_says_why(
    without: str, why: str
) -> None:
    assert why in refused(without + "import fixedstep", "native")
    code = without + "import fixedstep; assert fixedstep.reference; import fixedstep.native"
    assert why in refused(code, "reference")


def test_both_cores_can_be_had_by_name(native: object, reference: object) -> None:
    code = (
        "import fixedstep, fixedstep.native, fixedstep.reference\n"
        "assert fixedstep.native.FrameLoop is not fixedstep.reference.FrameLoop\n"
        "assert fixedstep.FrameLoop is getattr(fixedstep, fixedstep.backend().name).FrameLoop\n"
    )
    for setting in ("native", "reference"):
        said(code, setting)


def test_the_reference_can_always_be_had_by_name() -> None:
    code = (
        "from fixedstep.reference import FrameLoop; "
        "print(FrameLoop(start=0).begin_frame(10**9).step_count)"
    )
    assert said(code, "reference") == "5"


@pytest.mark.parametrize("blocked", ["_cffi_backend", "cffi"])
def test_the_reference_needs_no_cffi(blocked: str) -> None:
    code = (
        f"import sys; sys.modules[{blocked!r}] = None\n"
        "import fixedstep\n"
        "from fixedstep import reference\n"
        "loop, stats = reference.FrameLoop(start=0), reference.FrameStats()\n"
        "loop.begin_frames([10**7, 10**8], stats)\n"
        "print(stats.ticks, *(m for m in sys.modules if 'cffi' in m and sys.modules[m]))\n"
    )
    assert said(code, "reference") == "5"
    assert said(code) == "5", "and auto finds a core without it"


LOADED = "import sys, fixedstep; print(*(m for m in sys.modules if m.startswith('fixedstep.')))"


def test_importing_the_package_loads_the_lower_floors_only() -> None:
    loaded = {name.split(".")[1] for name in said(LOADED, "reference").split()}
    assert {"time", "_select", "reference", "_plans", "timing"} <= loaded
    assert loaded & {"cli", "host", "captures", "sim", "testing", "__main__"} == set()


def test_the_core_that_was_not_chosen_is_not_loaded(native: Core) -> None:
    """It would add to the start of every program."""
    assert "fixedstep.native" in said(LOADED, "native").split()
    assert "fixedstep.reference" not in said(LOADED, "native").split()
    assert "fixedstep.native" not in said(LOADED, "reference").split()


def test_a_name_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'fixedstep' has no attribute 'Frameloop'"):
        fixedstep.Frameloop  # noqa: B018


def test_importing_the_package_loads_little_of_the_standard_library() -> None:
    """Start-up counts for a tool that runs for a second."""
    code = "import sys, fixedstep; print(*sys.modules)"
    loaded = set(said(code).split())
    assert "fixedstep" in loaded
    heavy = {"asyncio", "json", "subprocess", "argparse", "fractions", "decimal", "csv", "numpy"}
    assert loaded & heavy == set()
    by_typing = set(said("import sys, typing; print(*sys.modules)").split())
    assert (loaded - by_typing) & {"enum", "re", "dataclasses", "inspect"} == set()


def test_the_encoding_is_loaded_with_the_first_value(native: Core) -> None:
    """Most programs absorb none when they start."""
    assert "fixedstep._encoding" not in said(LOADED, "native").split()
    code = "import sys, fixedstep; print('fixedstep._encoding' in sys.modules)"
    assert said(code.replace("print", "fixedstep.digest([1]); print"), "native") == "True"


def test_the_cores_cannot_be_swapped_later() -> None:
    code = (
        "import os, fixedstep; before = fixedstep.FrameLoop\n"
        "os.environ['FIXEDSTEP_BACKEND'] = 'garbage'\n"
        "import fixedstep as again\n"
        "assert again.FrameLoop is before; print(fixedstep.backend().name)\n"
    )
    assert said(code, "reference") == "reference"


def test_the_suite_itself_knows_what_runs() -> None:
    chosen = fixedstep.backend()
    assert chosen.name in ("native", "reference")
    assert fixedstep.FrameLoop.__module__ == f"fixedstep.{chosen.name}"


def test_a_freezer_finds_the_c_core(tmp_path: Path) -> None:
    """As PyInstaller and its kin look for what to bundle: through imports, without running any. A
    frozen game used to run on the reference core."""
    script = tmp_path / "game.py"
    script.write_text("import fixedstep\n", encoding="ascii")
    finder = modulefinder.ModuleFinder()
    finder.run_script(str(script))
    assert "fixedstep.reference" in finder.modules
    assert "fixedstep._core" in {*finder.modules, *finder.badmodules}  # bad: it is no Python
