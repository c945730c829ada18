"""``python -m bench.run``: measure every row; write docs/bench.json and the table of docs/bench.md.

Measures the library that is installed. It is an error if that is another one than the source beside
it: figures under the wrong commit are worse than none. Needs the C core, and a C compiler for the
yardsticks; gamekit 0.1.0 and pyglet are measured where they are installed.

``python -m bench.run ROW ...`` measures these rows alone, with less patience, and writes nothing.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import fixedstep
from fixedstep import native

from .measure import LONG, ROOT, SHORT, fresh
from .report import machine_facts, table, write_json, write_table
from .rows import ROWS
from .yardstick import compiler, compiler_version


def _git(*arguments: str) -> str:
    ended = subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    )
    return ended.stdout.strip()


def commit() -> str:
    """The commit, and whether what is measured differs from it."""
    changed = _git("status", "--porcelain", "--", "src", "csrc", "setup.py", "pyproject.toml")
    return _git("rev-parse", "--short=12", "HEAD") + (" and changes" if changed else "")


def other_than_installed() -> list[str]:
    """The files that make the installed library another one than this source."""
    installed, source = Path(fixedstep.__file__).parent, ROOT / "src" / "fixedstep"
    python = [
        str(path.relative_to(ROOT))
        for path in source.rglob("*.py")
        if not _same(path, installed / path.relative_to(source))
    ]
    built = Path(native.build_info()["extension"]).stat().st_mtime
    sources = [*ROOT.glob("csrc/*/*.[ch]"), ROOT / "csrc" / "build.py"]
    return python + [
        str(path.relative_to(ROOT)) for path in sources if path.stat().st_mtime > built
    ]


def _same(source: Path, installed: Path) -> bool:
    return installed.exists() and source.read_bytes() == installed.read_bytes()


def _version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def facts() -> dict[str, str]:
    """What the figures mean nothing without."""
    profiled = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        **machine_facts(),
        "compiler of the yardsticks": compiler_version(),
        "flags": " ".join(compiler()[1:]),
        "python built": f"{'with' if profiled else 'without'} profile-guided optimisation",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "gamekit": _version_of("gamekit"),
        "pyglet": _version_of("pyglet"),
    }


def main(names: list[str]) -> int:
    """Measure, write, print."""
    if unknown := set(names) - {row.name for row in ROWS}:
        known_rows = ", ".join(row.name for row in ROWS)
        print(f"no row {', '.join(unknown)}; there are {known_rows}", file=sys.stderr)
        return 2
    if differing := other_than_installed():
        print("the installed library is not this source; reinstall it first:", file=sys.stderr)
        print(*(f"  {name}" for name in differing), sep="\n", file=sys.stderr)
        return 2
    known, results = facts(), []
    for row in ROWS:
        if not names or row.name in names:
            print(f"measuring: {row.title}", file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "bench.worker"]
            results.append(fresh(command, row, SHORT if names else LONG))
    if not names:
        write_json(results, known)
        write_table()
    print(table(results))
    for result in results:
        for side, why in result.absent.items():
            print(f"{result.row.name}: {side}: not measured, {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
