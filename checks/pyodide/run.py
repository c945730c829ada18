"""The pure wheel in Pyodide, which is CPython for browsers, run by Node.

    python checks/pyodide/run.py [FOLDER]

Makes the pure wheel, installs it with pytest and hypothesis beside npm's ``pyodide`` in FOLDER (a
temporary one), and runs in_browser.py there: the part of the suite that needs neither programs nor
threads, a paced loop and a server in the event loop. Needs pip, npm and Node 20.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYODIDE = "pyodide@314"
#: The last hypothesis without compiled parts is older than Python 3.14, and runs on it.
TOOLS = ("hypothesis==6.130.0", "pytest>=8")


def prepare(folder: Path) -> Path:
    """Everything that Node mounts, in a folder of its own; npm's packages lie beside it."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels, work = folder / "wheels", folder / "work"
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)],
        env={**os.environ, "FIXEDSTEP_BUILD": "skip"},
        check=True,
    )
    [wheel] = wheels.glob("fixedstep-*-py3-none-any.whl")
    subprocess.run(
        [*pip, "install", "--target", str(work / "site"), str(wheel), *TOOLS], check=True
    )
    shutil.copytree(ROOT / "tests", work / "tests")
    shutil.copy(ROOT / "pyproject.toml", work)
    shutil.copy(HERE / "in_browser.py", work)
    shutil.copy(HERE / "suite.mjs", folder)
    subprocess.run(["npm", "install", "--silent", "--no-audit", PYODIDE], cwd=folder, check=True)
    return work


def main() -> int:
    """Prepare and run; what Node ends with."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        work = prepare(folder)
        command = ["node", "suite.mjs", str(work), "in_browser.py"]
        ended = subprocess.run(command, cwd=folder, check=False).returncode
    print("pyodide: passed" if ended == 0 else f"pyodide: failed with {ended}")
    return ended


if __name__ == "__main__":
    sys.exit(main())
