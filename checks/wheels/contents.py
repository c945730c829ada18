"""What may be inside an sdist and a wheel: each file, and none besides.

``python checks/wheels/contents.py dist/*`` compares with the files that git tracks here. Both
directions count. A module that setuptools did not find is missing from the wheel alone, and every
test run from a checkout passes; a test folder that it did find is installed beside other people's
packages.

It reads names, tags and metadata; how an archive was made does not matter to it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent.parent

#: What is of use in a checkout only: .ci/, .github/, .gitignore.
NOT_IN_SDIST = "."
#: What setuptools adds.
MADE_FOR_SDIST = {
    "PKG-INFO",
    "setup.cfg",
    *(
        f"src/fixedstep.egg-info/{name}.txt"
        for name in ("SOURCES", "dependency_links", "entry_points", "requires", "top_level")
    ),
    "src/fixedstep.egg-info/PKG-INFO",
}
MADE_FOR_WHEEL = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt"}
PACKAGE = "src/fixedstep/"


def tracked(root: Path = ROOT) -> set[str]:
    """What git tracks, of which everything else here follows."""
    names = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True, text=True
    ).stdout
    return {name for name in names.split("\0") if name and (root / name).exists()}


def expected_in_sdist(files: set[str]) -> set[str]:
    """Whatever is tracked, but for what only a checkout needs; tests and C included."""
    return {name for name in files if not name.startswith(NOT_IN_SDIST)} | MADE_FOR_SDIST


def expected_in_wheel(files: set[str], version: str, core: str | None) -> set[str]:
    """The package, its types and its licence; `core` is the compiled library's name, if any."""
    wanted = {
        name.removeprefix("src/")
        for name in files
        if name.startswith(PACKAGE)
        and (PurePosixPath(name).suffix in (".py", ".pyi") or name == f"{PACKAGE}py.typed")
    }
    about = f"fixedstep-{version}.dist-info/"
    wanted |= {about + name for name in MADE_FOR_WHEEL} | {f"{about}licenses/LICENSE"}
    return wanted | ({f"fixedstep/{core}"} if core else set())


def core_name(python: str, abi: str, platform: str) -> str | None:
    """The file name of the compiled core under these tags; None in a pure wheel."""
    if (python, abi, platform) == ("py3", "none", "any"):
        return None
    if abi == "abi3":
        return "_core.pyd" if platform.startswith("win") else "_core.abi3.so"
    abi = abi.replace("_", "-")
    if platform.startswith("win"):
        return f"_core.{abi}-{platform}.pyd"
    name = f"_core.{abi.replace('cp', 'cpython-')}"
    if platform.startswith("macosx"):
        return f"{name}-darwin.so"
    libc = "musl" if platform.startswith("musllinux") else "gnu"
    machine = "aarch64" if platform.endswith("aarch64") else "x86_64"
    return f"{name}-{machine}-linux-{libc}.so"


def compare(found: set[str], wanted: set[str]) -> list[str]:
    """One line for each file that is in one of the two only."""
    return [
        *(f"lacks {name}" for name in sorted(wanted - found)),
        *(f"holds {name}" for name in sorted(found - wanted)),
    ]


def sdist_complaints(sdist: Path, files: set[str]) -> list[str]:
    """What is wrong with an sdist of a checkout that holds `files`."""
    with tarfile.open(sdist) as archive:
        names = [member.name for member in archive.getmembers() if not member.isdir()]
    top = sdist.name.removesuffix(".tar.gz")
    complaints = [f"holds {name} outside of {top}/" for name in names if name.split("/")[0] != top]
    inside = {name.partition("/")[2] for name in names}
    return complaints + compare(inside, expected_in_sdist(files))


def wheel_complaints(wheel: Path, files: set[str], *, built: bool = True) -> list[str]:
    """What is wrong with a wheel; ``built=False`` is one whose core was left out as it failed."""
    version, python, abi, platform = wheel.name.removesuffix(".whl").split("-")[1:]
    core = core_name(python, abi, platform)
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        about = f"fixedstep-{version}.dist-info/"
        complaints = compare(names, expected_in_wheel(files, version, core if built else None))
        if complaints:
            return complaints
        tags = _headers(archive.read(f"{about}WHEEL"))
        metadata = _headers(archive.read(f"{about}METADATA"))
    wanted = {f"{python}-{abi}-{tag}" for tag in platform.split(".")}
    if set(tags.get_all("Tag", [])) != wanted:
        complaints.append(f"says it is {tags.get_all('Tag')}, and its name says {sorted(wanted)}")
    if tags["Root-Is-Purelib"] != ("true" if core is None else "false"):
        complaints.append(f"says Root-Is-Purelib: {tags['Root-Is-Purelib']}")
    if not re.search(r"^# fixedstep", str(metadata.get_payload()), re.MULTILINE):
        complaints.append("has no README as its description")
    facts = {"Version": version, "License-Expression": "MIT", "Requires-Python": ">=3.10"}
    return complaints + [
        f"says {name}: {metadata[name]}, not {value}"
        for name, value in facts.items()
        if metadata[name] != value
    ]


def _headers(text: bytes) -> Message:
    return Parser().parsestr(text.decode())


def main(arguments: list[str]) -> int:
    """Look into each file named; 0 if all hold what they must and nothing else."""
    if not arguments:
        sys.exit("usage: contents.py FILE...")
    files, failed = tracked(), 0
    for path in map(Path, arguments):
        look = sdist_complaints if path.name.endswith(".tar.gz") else wheel_complaints
        complaints = look(path, files)
        failed += bool(complaints)
        print(f"{path.name}: {'; '.join(complaints) or 'holds what it must and nothing else'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
