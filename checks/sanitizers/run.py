"""The whole suite against a core built with AddressSanitizer and UndefinedBehaviorSanitizer.

    python checks/sanitizers/run.py [--compiler gcc|clang] [--work DIR] [pytest arguments]

The fuzzers see ``csrc/core`` alone; what binds it to CPython, reference counts included, is seen
here: all of ``csrc`` is compiled with both sanitizers in a copy of the project, installed into a
virtual environment of its own, and the tests run with Python's allocator off, so that every object
has its own piece of guarded memory. Reports go to files, since a test that starts a program may
swallow what it printed; the run fails if there is one, whatever pytest says.

A sanitizer that is not there finds nothing either. So three faults are planted first, each in a
copy, and each must be reported by name before the suite is started.

It does not look for leaks: an interpreter leaves thousands of objects at its end, and
``tests/test_leaks.py`` counts what it wants to know. Tests that count blocks of the allocator that
is off here, or memory, of which the sanitizer takes a multiple, are left out, and no others.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
LEFT_OUT = (".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache")
FLAGS = "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
#: Of clang's own: unsigned numbers may wrap where the list says so, and nowhere else.
OWN = {
    "gcc": "",
    "clang": "-shared-libasan -fsanitize=unsigned-integer-overflow "
    "-fsanitize-ignorelist=checks/fuzz/wrapping.txt",
}
#: What has to be there before Python, in the order of loading. clang's asan holds ubsan.
PRELOADED = {"gcc": ("libasan.so", "libubsan.so"), "clang": ("libclang_rt.asan-x86_64.so",)}


MEASURING = (
    "test_leaks.py::test_a_million_frames_leave_nothing_behind",
    "test_leaks.py::test_a_leak_of_one_object_a_frame_would_be_seen",
    "test_leaks.py::test_the_rounds_would_see_a_leak",
    "test_no_memory.py::test_what_was_half_made_is_given_back",
    "test_hostile_input.py::test_the_wall_stops_a_program_that_holds_its_file",
    "test_hostile_input.py::test_a_value_of_the_largest_size_fits_in_memory_whatever_it_is_made_of",
    "test_hostile_input.py::test_a_line_of_the_largest_size_fits_in_memory_whatever_it_is_made_of",
    "test_hostile_input.py::test_a_gzip_file_within_the_bounds_is_read_however_much_it_unfolds_to",
)


class Fault(NamedTuple):
    """A mistake to be planted."""

    report: str
    """What the sanitizer must call it."""
    file: str
    right: str
    wrong: str
    trigger: str
    """Python that runs into it."""


FAULTS = (
    Fault(
        "AddressSanitizer: heap-buffer-overflow",
        "csrc/core/fs_batch.c",
        "fs_loop_begin_frame(&at, timestamps[i])",
        "fs_loop_begin_frame(&at, timestamps[i + 1])",
        "native.FrameLoop().begin_frames(range(100))",
    ),
    Fault(
        "AddressSanitizer: heap-use-after-free",
        "csrc/python/state_hash.c",
        "    Py_INCREF(self);\n    return self;",
        "    return self;",
        "print(native.StateHash().__copy__().finish())",
    ),
    Fault(
        "runtime error: signed integer overflow",
        "csrc/python/state_hash.c",
        "PyLong_FromUnsignedLongLong(self->value)",
        "PyLong_FromLong((int)(self->value & 7) + 0x7fffffff)",
        "print(native.StateHash().finish())",
    ),
)


def main(argv: list[str] | None = None) -> int:
    """Build, prove the sanitizers, run the suite."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], epilog="Other arguments go to pytest."
    )
    parser.add_argument("--compiler", choices=OWN, default="gcc")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep copy and environment there")
    options, pytest_arguments = parser.parse_known_args(argv)
    with _folder(options.work) as work:
        run = Run(work, options.compiler)
        run.prepare()
        missed = [fault.report for fault in FAULTS if not run.finds(fault)]
        if missed:
            print(f"The sanitizers are not live: not reported: {', '.join(missed)}")
            return 1
        return run.suite(pytest_arguments)


@contextlib.contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


class Run:
    """One compiler, and the folder it works in."""

    def __init__(self, work: Path, compiler: str) -> None:
        self._compiler = compiler
        self._source = work / "source"
        self._reports = work / "reports"
        self._venv = work / "venv"
        self._python = self._venv / "bin" / "python"

    def prepare(self) -> None:
        """A copy of the project and an environment with what the tests need."""
        self._copy()
        shutil.rmtree(self._venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(self._venv)], check=True)
        self._install(".[test]", "setuptools>=77", "wheel", "cffi>=1.17", sanitized=False)

    def _copy(self) -> None:
        shutil.rmtree(self._source, ignore_errors=True)
        shutil.copytree(ROOT, self._source, ignore=shutil.ignore_patterns(*LEFT_OUT))

    def _install(self, *arguments: str, sanitized: bool = True) -> None:
        environment = os.environ | {"FIXEDSTEP_BUILD": "require"}
        if sanitized:
            flags = f"{FLAGS} {OWN[self._compiler]}"
            environment |= {
                "CC": self._compiler,
                "CFLAGS": flags,
                "LDSHARED": f"{self._compiler} -shared {flags}",
            }
        quiet = ("-qq", "--disable-pip-version-check")
        subprocess.run(
            [str(self._python), "-m", "pip", "install", *quiet, *arguments],
            cwd=self._source,
            env=environment,
            check=True,
        )

    def _build(self) -> None:
        shutil.rmtree(self._source / "build", ignore_errors=True)
        self._install("--no-build-isolation", "--no-deps", "--force-reinstall", ".")

    def _environment(self) -> dict[str, str]:
        shutil.rmtree(self._reports, ignore_errors=True)
        self._reports.mkdir()
        common = f"log_path={self._reports}/report"
        return os.environ | {
            "LD_PRELOAD": " ".join(map(self._runtime, PRELOADED[self._compiler])),
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:{common}",
            "UBSAN_OPTIONS": f"print_stacktrace=1:{common}",
        }

    def _runtime(self, name: str) -> str:
        asked = [self._compiler, f"-print-file-name={name}"]
        found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        if not Path(found).is_absolute():
            sys.exit(f"{self._compiler} has no {name}: install its sanitizer runtimes")
        return found

    def _reported(self) -> list[str]:
        return [
            path.read_text("utf-8", "replace") for path in sorted(self._reports.glob("report*"))
        ]

    def finds(self, fault: Fault) -> bool:
        """Whether a planted fault is reported, and as what it is."""
        file = self._source / fault.file
        right = file.read_text("utf-8")
        if right.count(fault.right) != 1:
            sys.exit(f"{fault.file} no longer has {fault.right!r} once: plant another fault")
        file.write_text(right.replace(fault.right, fault.wrong), "utf-8")
        self._build()
        file.write_text(right, "utf-8")
        ended = subprocess.run(
            [str(self._python), "-c", f"from fixedstep import native\n{fault.trigger}"],
            cwd=self._source.parent,
            env=self._environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        told = [ended.stderr, *self._reported()]  # gcc's ubsan writes past its file beside asan
        found = ended.returncode != 0 and any(fault.report in text for text in told)
        print(f"planted in {fault.file}: {fault.report}: {'found' if found else 'NOT FOUND'}")
        if not found:
            print(f"it ended with {ended.returncode} and told:", *told)
        return found

    def suite(self, arguments: list[str]) -> int:
        """The tests, from the copy. 0 if all pass and nothing was reported."""
        self._build()
        environment = self._environment()
        started = time.monotonic()
        left_out = [f"--deselect=tests/{test}" for test in MEASURING]
        options = ["-q", "-p", "no:cacheprovider", *left_out, *arguments]
        ended = subprocess.run(
            [str(self._python), "-m", "pytest", *options],
            cwd=self._source,
            env=environment,
            check=False,
        )
        reported = self._reported()
        print(*reported[:5], sep="\n")
        print(
            f"{self._compiler}: pytest ended with {ended.returncode} after "
            f"{time.monotonic() - started:.0f} s, {len(reported)} sanitizer reports"
        )
        return ended.returncode or bool(reported)


if __name__ == "__main__":
    sys.exit(main())
