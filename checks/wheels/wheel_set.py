"""What a release consists of, file by file, and what cibuildwheel has to build for it.

``python checks/wheels/wheel_set.py dist 1.2.3`` fails when a file is missing from `dist` or when
there is one that is not expected: an index takes whatever it is given, and a wheel that was
forgotten is noticed by its users. The names are written out here and not read from pyproject.toml,
since a list that follows the configuration agrees with each mistake in it.

contents.py looks into the files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

#: CPythons that the one abi3 wheel of a platform is for; the first of them builds it.
STABLE_ABI = ("cp310", "cp311", "cp312", "cp313", "cp314", "cp315")
#: Free-threaded CPythons have no stable ABI that cffi can use: one wheel each. There is none for
#: 3.13t, which cffi does not support.
FREE_THREADED = ("cp314t", "cp315t")

#: cibuildwheel's name of a platform, and the tags it ends up with.
PLATFORMS = {
    "linux": {
        "manylinux_x86_64": "manylinux2014_x86_64.manylinux_2_17_x86_64",
        "manylinux_aarch64": "manylinux2014_aarch64.manylinux_2_17_aarch64",
        "musllinux_x86_64": "musllinux_1_2_x86_64",
        "musllinux_aarch64": "musllinux_1_2_aarch64",
    },
    "macos": {"macosx_universal2": "macosx_11_0_universal2"},
    "windows": {"win_amd64": "win_amd64", "win_arm64": "win_arm64"},
}
#: PyPy's ABI, and the platforms that have a wheel for it; on others it takes the pure one.
PYPY = ("pp311", "pypy311_pp73")
PYPY_PLATFORMS = {"linux": ("manylinux_x86_64", "manylinux_aarch64"), "windows": ("win_amd64",)}
#: cffi has no wheel for it, and hardly anybody has that Python: the abi3 wheel is built by cp311.
NOT_BUILT = {"cp310-win_arm64"}


def identifiers(system: str) -> set[str]:
    """What ``cibuildwheel --print-build-identifiers --platform SYSTEM`` must say."""
    found = {
        f"{python}-{platform}"
        for platform in PLATFORMS[system]
        for python in (*STABLE_ABI, *FREE_THREADED)
    } - NOT_BUILT
    return found | {f"{PYPY[0]}-{platform}" for platform in PYPY_PLATFORMS.get(system, ())}


def file_names(version: str) -> set[str]:
    """The files of the release `version`: the sdist, the pure wheel and a wheel per platform."""
    tags = [tag for platforms in PLATFORMS.values() for tag in platforms.values()]
    abis = ["cp310-abi3", *(f"{python.rstrip('t')}-{python}" for python in FREE_THREADED)]
    return {
        f"fixedstep-{version}.tar.gz",
        f"fixedstep-{version}-py3-none-any.whl",
        *(f"fixedstep-{version}-{abi}-{tag}.whl" for abi in abis for tag in tags),
        *(
            f"fixedstep-{version}-{'-'.join(PYPY)}-{PLATFORMS[system][platform]}.whl"
            for system, platforms in PYPY_PLATFORMS.items()
            for platform in platforms
        ),
    }


def differences(found: Iterable[str], wanted: set[str]) -> list[str]:
    """One line for each name that is in one of the two only."""
    found = set(found)
    return [
        *(f"missing: {name}" for name in sorted(wanted - found)),
        *(f"not expected: {name}" for name in sorted(found - wanted)),
    ]


def main(arguments: list[str]) -> int:
    """Compare a folder with the release it should be; 0 if it is that and nothing else."""
    if len(arguments) != 2:
        sys.exit("usage: wheel_set.py FOLDER VERSION")
    folder, version = Path(arguments[0]), arguments[1]
    wanted = file_names(version)
    wrong = differences((path.name for path in folder.iterdir()), wanted)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{folder}: {len(wanted)} files make fixedstep {version}, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
