"""What the compiled core asks of the system it is loaded on: the question behind a manylinux tag.

auditwheel answers it too, and is asked. But it tells the C library from the symbols that come from
one, and this core has next to none: where the compiler writes each memcpy out, none is left,
auditwheel's "auto" stops at "couldn't detect libc", and with a platform named it has nothing to
object to. A call made up to please it would be a lie in C; so its verdict is asked for with a
platform named, and this file reads the same facts off ``readelf`` by itself: which libraries are
needed, the newest version of a symbol of theirs, and that no folder of the building machine was
left in as a place to load libraries from.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def _readelf(*arguments: str) -> str:
    return subprocess.run(
        ["readelf", "--wide", *arguments], check=True, capture_output=True, text=True
    ).stdout


def needed(library: Path) -> set[str]:
    """The libraries that are loaded before it."""
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", _readelf("--dynamic", str(library))))


def undefined(library: Path) -> set[str]:
    """The symbols it takes from elsewhere and cannot do without, versions included."""
    lines = _readelf("--dyn-syms", str(library)).splitlines()
    wanted = re.compile(r"GLOBAL\s+DEFAULT\s+UND\s+(\S+)")
    return {found[1] for line in lines if (found := wanted.search(line))}


def complaints(library: Path, glibc: tuple[int, int]) -> list[str]:
    """Why `library` would not load where glibc is as old as `glibc`; empty if it would."""
    said = [f"needs {name}" for name in sorted(needed(library) - {"libc.so.6"})]
    paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.+)\]", _readelf("--dynamic", str(library)))
    said += [f"looks for libraries in {path}" for path in paths]
    for symbol in sorted(undefined(library)):
        name, _, version = symbol.partition("@")
        if not version:
            if not name.startswith(("Py", "_Py")):
                said.append(f"{name} has no version, and is not Python's")
        elif not (found := re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version.lstrip("@"))):
            said.append(f"{name} is of {version}")
        elif (int(found[1]), int(found[2])) > glibc:
            said.append(f"{name} needs glibc {found[1]}.{found[2]}, newer than {glibc}")
    return said
