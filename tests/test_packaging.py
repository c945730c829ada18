"""The checks of a release, checked: what checks/wheels/ must refuse, it refuses.

They run when a release is made and say nothing as long as all is well, so a check that had stopped
looking would go unnoticed. Each is given a sound file, and then files with one fault each.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

VERSION = "1.2.3"
TRACKED = {
    ".ci/run",
    ".gitignore",
    "LICENSE",
    "pyproject.toml",
    "csrc/core/fs_hash.c",
    "src/fixedstep/__init__.py",
    "src/fixedstep/native.pyi",
    "src/fixedstep/py.typed",
    "src/fixedstep/sim/session.py",
    "tests/conftest.py",
}
PACKAGE = {
    "fixedstep/__init__.py",
    "fixedstep/native.pyi",
    "fixedstep/py.typed",
    "fixedstep/sim/session.py",
}
METADATA = """\
Metadata-Version: 2.4
Name: fixedstep
Version: 1.2.3
License-Expression: MIT
Requires-Python: >=3.10

# fixedstep
"""


def load(source: Path, name: str) -> ModuleType:
    file = source.parent / "checks" / "wheels" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"wheels_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel_set(source: Path) -> ModuleType:
    return load(source, "wheel_set")


@pytest.fixture(scope="module")
def contents(source: Path) -> ModuleType:
    return load(source, "contents")


def test_a_release_names_each_file_once(wheel_set: ModuleType) -> None:
    names = wheel_set.file_names(VERSION)
    for name in (
        "fixedstep-1.2.3.tar.gz",
        "fixedstep-1.2.3-py3-none-any.whl",
        "fixedstep-1.2.3-cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
        "fixedstep-1.2.3-cp310-abi3-musllinux_1_2_aarch64.whl",
        "fixedstep-1.2.3-cp310-abi3-macosx_11_0_universal2.whl",
        "fixedstep-1.2.3-cp310-abi3-win_arm64.whl",
        "fixedstep-1.2.3-cp314-cp314t-win_amd64.whl",
        "fixedstep-1.2.3-pp311-pypy311_pp73-win_amd64.whl",
    ):
        assert name in names
    assert len(names) == 2 + 3 * 7 + 3


def test_an_installation_needs_no_other_package() -> None:
    """cffi was one, which the pure wheel never imports: where cffi has no wheel and there is no
    compiler, nothing could be installed."""
    needed = importlib.metadata.requires("fixedstep")
    assert needed
    assert [requirement for requirement in needed if "extra ==" not in requirement] == []


def test_a_file_too_few_and_a_file_too_many_are_each_an_error(
    wheel_set: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in wheel_set.file_names(VERSION):
        (tmp_path / name).touch()
    assert wheel_set.main([str(tmp_path), VERSION]) == 0
    assert "0 differences" in capsys.readouterr().out

    (tmp_path / "fixedstep-1.2.3-cp310-abi3-win_arm64.whl").unlink()
    (tmp_path / "fixedstep-1.2.3-cp310-abi3-linux_x86_64.whl").touch()
    assert wheel_set.main([str(tmp_path), VERSION]) == 1
    said = capsys.readouterr().out
    assert "missing: fixedstep-1.2.3-cp310-abi3-win_arm64.whl" in said
    assert "not expected: fixedstep-1.2.3-cp310-abi3-linux_x86_64.whl" in said


def test_a_version_that_is_not_the_files_own_is_an_error(
    wheel_set: ModuleType, tmp_path: Path
) -> None:
    """A tag on the wrong commit."""
    for name in wheel_set.file_names(VERSION):
        (tmp_path / name).touch()
    assert wheel_set.main([str(tmp_path), "1.2.4"]) == 1


def wheel(
    folder: Path,
    *,
    name: str = "cp310-abi3-win_amd64",
    core: str | None = "fixedstep/_core.pyd",
    tag: str = "cp310-abi3-win_amd64",
    pure: str = "false",
    metadata: str = METADATA,
    without: str = "",
    besides: str = "",
) -> Path:
    about = f"fixedstep-{VERSION}.dist-info/"
    names = PACKAGE | {about + made for made in ("RECORD", "entry_points.txt", "top_level.txt")}
    names |= {f"{about}licenses/LICENSE"}
    names |= ({core} if core else set()) | ({besides} if besides else set())
    path = folder / f"fixedstep-{VERSION}-{name}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside in sorted(names - {without}):
            archive.writestr(inside, "")
        archive.writestr(f"{about}METADATA", metadata)
        archive.writestr(f"{about}WHEEL", f"Root-Is-Purelib: {pure}\nTag: {tag}\n")
    return path


def test_a_sound_wheel_is_passed(contents: ModuleType, tmp_path: Path) -> None:
    assert contents.wheel_complaints(wheel(tmp_path), TRACKED) == []
    pure = wheel(tmp_path, name="py3-none-any", core=None, tag="py3-none-any", pure="true")
    assert contents.wheel_complaints(pure, TRACKED) == []


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ({"besides": "tests/conftest.py"}, "holds tests/conftest.py"),
        ({"besides": "fixedstep/reference.c"}, "holds fixedstep/reference.c"),
        ({"without": "fixedstep/py.typed"}, "lacks fixedstep/py.typed"),
        ({"without": "fixedstep/native.pyi"}, "lacks fixedstep/native.pyi"),
        ({"without": "fixedstep/sim/session.py"}, "lacks fixedstep/sim/session.py"),
        (
            {"without": "fixedstep-1.2.3.dist-info/licenses/LICENSE"},
            "lacks fixedstep-1.2.3.dist-info/licenses/LICENSE",
        ),
        ({"core": None}, "lacks fixedstep/_core.pyd"),
        ({"tag": "cp310-cp310-win_amd64"}, "says it is ['cp310-cp310-win_amd64']"),
        ({"pure": "true"}, "says Root-Is-Purelib: true"),
        ({"metadata": METADATA.replace("1.2.3", "1.2.2")}, "says Version: 1.2.2, not 1.2.3"),
        ({"metadata": METADATA.replace("# fixedstep", "")}, "has no README"),
        ({"metadata": METADATA.replace("3.10", "3.8")}, "says Requires-Python: >=3.8"),
    ],
)
def test_a_wheel_with_one_fault_is_refused(
    contents: ModuleType, tmp_path: Path, fault: dict[str, str], complaint: str
) -> None:
    [said] = contents.wheel_complaints(wheel(tmp_path, **fault), TRACKED)
    assert complaint in said


def test_a_pure_wheel_with_a_compiled_core_is_refused(contents: ModuleType, tmp_path: Path) -> None:
    """What a build folder that was not clean makes."""
    path = wheel(tmp_path, name="py3-none-any", core="fixedstep/_core.abi3.so", tag="py3-none-any")
    assert contents.wheel_complaints(path, TRACKED) == ["holds fixedstep/_core.abi3.so"]


@pytest.mark.parametrize(
    ("tags", "core"),
    [
        (("py3", "none", "any"), None),
        (("cp310", "abi3", "manylinux2014_x86_64.manylinux_2_17_x86_64"), "_core.abi3.so"),
        (("cp310", "abi3", "macosx_11_0_universal2"), "_core.abi3.so"),
        (("cp310", "abi3", "win_arm64"), "_core.pyd"),
        (("cp314", "cp314t", "win_amd64"), "_core.cp314t-win_amd64.pyd"),
        (("cp314", "cp314t", "macosx_11_0_universal2"), "_core.cpython-314t-darwin.so"),
        (("pp311", "pypy311_pp73", "win_amd64"), "_core.pypy311-pp73-win_amd64.pyd"),
        (
            ("pp311", "pypy311_pp73", "manylinux2014_x86_64.manylinux_2_17_x86_64"),
            "_core.pypy311-pp73-x86_64-linux-gnu.so",
        ),
        (("cp315", "cp315t", "musllinux_1_2_aarch64"), "_core.cpython-315t-aarch64-linux-musl.so"),
        (
            ("cp314", "cp314t", "manylinux2014_x86_64.manylinux_2_17_x86_64"),
            "_core.cpython-314t-x86_64-linux-gnu.so",
        ),
    ],
)
def test_the_compiled_core_has_the_name_its_python_looks_for(
    contents: ModuleType, tags: tuple[str, str, str], core: str | None
) -> None:
    assert contents.core_name(*tags) == core


def test_an_sdist_holds_what_is_tracked_and_nothing_of_the_checkout(
    contents: ModuleType, tmp_path: Path
) -> None:
    wanted = {name for name in TRACKED if not name.startswith(".")} | contents.MADE_FOR_SDIST
    path = tmp_path / f"fixedstep-{VERSION}.tar.gz"

    def complaints(names: set[str]) -> list[str]:
        with tarfile.open(path, "w:gz") as archive:
            for name in sorted(names):
                archive.addfile(tarfile.TarInfo(f"fixedstep-{VERSION}/{name}"))
        said = contents.sdist_complaints(path, TRACKED)
        assert isinstance(said, list)
        return said

    assert complaints(wanted) == []
    assert complaints(wanted - {"csrc/core/fs_hash.c"}) == ["lacks csrc/core/fs_hash.c"]
    assert complaints(wanted | {".ci/run"}) == ["holds .ci/run"]
    assert complaints(wanted | {"build/lib/x.py"}) == ["holds build/lib/x.py"]
