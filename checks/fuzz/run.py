"""All fuzzers, one after the other, and a table of what each did.

    python checks/fuzz/run.py                                  # for every change: a minute
    python checks/fuzz/run.py --seconds 600 --corpus DIR       # for a release, or a night

Without ``--seconds`` each fuzzer starts from one seed and tries a number of inputs, so two runs try
nearly the same ones, and a finding most likely comes from the change that is checked. With it, each
searches at random for so long.

The C core is fuzzed by libFuzzer, built by clang with the address, the undefined-behaviour and,
where wrapping is not meant, the unsigned-overflow sanitizer; the readers of files by atheris, which
is libFuzzer for Python (``pip install atheris``). What each holds its findings against is told at
its top: schedule.c, hash.c, batch.c, readers.py.

A fuzzer that finds nothing says something only if it would have found something. So every one is
first run on copies with a fault planted, and must find it, before it is run on what ships. Exit
code 1 for a finding, whose input is named, or for a planted fault that was not found.

``DIR`` keeps the inputs that reach something new, and what they found, so that the next run goes on
where this one ended. The project keeps none of these: from nothing, each C fuzzer is through all
edges of the core in a second, and the readers start from the small files in ``tests`` and
``corpus``, which are whole files that people can read.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLAGS = (
    *("-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
    "-fsanitize=fuzzer,address,undefined,unsigned-integer-overflow",
    "-fno-sanitize-recover=all",
    f"-fsanitize-ignorelist={HERE / 'wrapping.txt'}",
)
#: Seconds that a planted fault may stay unfound. It takes few; a busy machine may take many.
PATIENCE = 300
#: Nearly the same inputs in the same order. What atheris does with addresses stays at random.
SEED = ("-seed=1", "-reload=0")


class Fault(NamedTuple):
    """A mistake to be planted."""

    name: str
    file: str
    right: str
    wrong: str


class Fuzzer(NamedTuple):
    """A harness, how long its inputs get, and what it must find when it is there."""

    name: str
    longest: int
    inputs: int
    """How many are tried where no time is given: some seconds."""
    faults: tuple[Fault, ...]
    seeds: tuple[str, ...] = ()


CORE = (
    Fuzzer(
        "schedule",
        512,
        200_000,
        (
            Fault(
                "a product that saturates one too early",
                "fs_saturating.h",
                "return a != 0 && b > UINT64_MAX / a ?",
                "return a != 0 && b >= UINT64_MAX / a ?",
            ),
            Fault(
                "a quotient of exactly 2**64",
                "fs_saturating.h",
                "return a.high >= c ?",
                "return a.high > c ?",
            ),
            Fault(
                "steps cut to 32 bits before the budget",
                "fs_schedule.h",
                "banked.due < loop->budget ?",
                "(uint32_t)banked.due < loop->budget ?",
            ),
            Fault(
                "a fast way that is a nanosecond too long",
                "fs_schedule.c",
                "(UINT64_MAX - (unit - 1)) / scale, 1)",
                "(UINT64_MAX - (unit - 1)) / scale, 2)",
            ),
            Fault(
                "a carry that is lost",
                "fs_schedule.c",
                "sum.high += loop->bank > room;",
                "sum.high += 0;",
            ),
            Fault(
                "a first frame that measures from 0",
                "fs_schedule.c",
                "loop->started ? fs_since(now, loop->last) : 0",
                "fs_since(now, loop->last)",
            ),
            Fault(
                "an alpha of 1",
                "fs_schedule.c",
                "return alpha < below_one ? alpha : below_one;",
                "return alpha + 0 * below_one;",
            ),
        ),
    ),
    Fuzzer(
        "hash",
        4096,
        20_000,
        (
            Fault(
                "two bits of a chunk's start",
                "fs_hash_wide.c",
                "for (unsigned k = 2; k < 8; k += 2) {",
                "for (unsigned k = 2; k < 6; k += 2) {",
            ),
            Fault(
                "the upper half of a 256-bit vector",
                "fs_lanes.h",
                "const __m128i high = _mm_loadu_si128((const void *)(row + later));",
                "const __m128i high = _mm_loadu_si128((const void *)(row + (later != 0)));",
            ),
            Fault(
                "a block that ends 8 bytes behind the data",
                "fs_hash.c",
                "done += fs_hash_blocks_8(&state, bytes + done, size - done);",
                "done += fs_hash_blocks_8(&state, bytes + done, size - done + 8);",
            ),
            Fault(
                "a scale of 0 left out of a plan",
                "fs_schedule.h",
                "return plan->scale == 1 ? state",
                "return plan->scale <= 1 ? state",
            ),
        ),
    ),
    Fuzzer(
        "batch",
        2048,
        80_000,
        (
            Fault(
                "the timestamp behind the last",
                "fs_batch.c",
                "fs_loop_begin_frame(&at, timestamps[i])",
                "fs_loop_begin_frame(&at, timestamps[i + 1])",
            ),
            Fault(
                "a bank that is not stored",
                "fs_batch.c",
                "    *loop = at;\n",
                "    at.bank = loop->bank;\n    *loop = at;\n",
            ),
            Fault(
                "a tally that begins at 0",
                "fs_batch.c",
                "        tally = *stats;\n",
                "        tally.schedule_hash = stats->schedule_hash;\n",
            ),
        ),
    ),
)
READERS = (
    Fuzzer(
        "captures",
        4096,
        5_000,
        (
            Fault(
                "a row that is one field short",
                "captures/table.py",
                "if needed >= len(fields):",
                "if needed > len(fields):",
            ),
            Fault(
                "the first piece of a pipe taken for the file",
                "captures/source.py",
                "while count < len(view):",
                "while count == 0 and len(view) > 0:",
            ),
        ),
        ("tests/data/captures",),
    ),
    Fuzzer(
        "decimal",
        64,
        100_000,
        (
            Fault(
                "22 digits of nanoseconds",
                "captures/decimal_text.py",
                "len(whole) + places <= 19",
                "len(text) <= 18",
            ),
            Fault(
                "an array of which the first number alone is looked at",
                "captures/decimal_text.py",
                "most = max(parts)",
                "most = parts[0]",
            ),
        ),
    ),
    Fuzzer(
        "trace",
        4096,
        10_000,
        (
            Fault(
                "a digest read as a decimal number",
                "records/lines.py",
                "return int(value, 16)",
                "return int(value[2:], 10)",
            ),
        ),
        ("checks/fuzz/corpus/trace",),
    ),
    Fuzzer(
        "recording",
        4096,
        5_000,
        (
            Fault(
                "a tick of any number",
                "records/recording.py",
                "if number != expected:",
                "if number != expected and number > 2**64:",
            ),
            Fault(
                "a digest with more behind it",
                "records/lines.py",
                "not _DIGEST.fullmatch(value)",
                "not _DIGEST.match(value)",
            ),
        ),
        ("checks/fuzz/corpus/recording",),
    ),
)

#: What cost.py must find, and the reader in which it shows.
COSTS = (
    (
        "trace",
        Fault(
            "lines that are counted from the first at every line",
            "records/lines.py",
            "        self.line += 1\n        raw",
            "        self.line = sum(1 for _ in range(self.line + 1))\n        raw",
        ),
    ),
    (
        "column",
        Fault(
            "a number with two ways to match each row of digits",
            "captures/decimal_text.py",
            "(?:[0-9]+(?:",
            "(?:(?:[0-9]+)+(?:",
        ),
    ),
)


class Outcome(NamedTuple):
    """What a fuzzer did, from what libFuzzer prints."""

    executions: int
    per_second: int
    edges: int
    inputs: int
    finding: str
    """The file with the input, or how it ended without one; empty where nothing was found."""
    printed: str


def main(argv: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    names = [*(fuzzer.name for fuzzer in (*CORE, *READERS)), "cost"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, help="search at random for so long, each")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="keep inputs and findings there")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="FUZZER")
    options = parser.parse_args(argv)
    bench = Bench(options.corpus and options.corpus.resolve(), options.seconds)
    failed = False
    for fuzzer in (*CORE, *READERS):
        if fuzzer.name in options.only:
            failed |= bench.run(fuzzer)
    print(bench.table())
    if "cost" in options.only:
        failed |= _cost(options.seconds or 5, options.corpus)
    return int(failed)


def _cost(seconds: int, kept: Path | None) -> bool:
    """The search for files that take a reader too long. Whether anything is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        missed = False
        for number, (reader, fault) in enumerate(COSTS):
            planted = work / str(number)
            planted.mkdir()
            _copy(ROOT / "src" / "fixedstep", planted / "fixedstep", fault)
            found = (
                _search(planted, f"--seconds={PATIENCE}", "--only", reader, "--corpus", folder) == 3
            )
            print(f"cost: planted: {fault.name}: {'found' if found else 'NOT FOUND'}", flush=True)
            missed |= not found
        ships = work / "ships"
        ships.mkdir()
        _copy(ROOT / "src" / "fixedstep", ships / "fixedstep", None)
        corpus = [] if kept is None else ["--corpus", str(kept.resolve() / "cost")]
        return _search(ships, f"--seconds={seconds / 3}", *corpus) != 0 or missed


def _search(work: Path, *options: str) -> int:
    """Run cost.py on a copy of the package; 3 if it found a reader that takes too long."""
    ended = subprocess.run(
        [sys.executable, "-B", str(HERE / "cost.py"), *options],
        env=os.environ | {"PYTHONPATH": str(work), "FIXEDSTEP_BACKEND": "reference"},
        check=False,
    )
    return ended.returncode


class Bench:
    """Where the fuzzers are built and run."""

    def __init__(self, kept: Path | None, seconds: int | None) -> None:
        self._kept = kept
        self._seconds = seconds
        self._rows = [("fuzzer", "executions", "exec/s", "edges", "corpus", "planted", "findings")]

    def run(self, fuzzer: Fuzzer) -> bool:
        """The planted faults, then what ships. Whether anything is wrong."""
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            found = [
                self._finds(fuzzer, fault, work / str(number))
                for number, fault in enumerate(fuzzer.faults)
            ]
            _build(fuzzer, work / "ships", None)
            with _folder(self._kept and self._kept / fuzzer.name) as corpus:
                findings = self._kept or Path(tempfile.gettempdir(), "fixedstep-fuzz")
                findings.mkdir(parents=True, exist_ok=True)
                limit: tuple[str, ...]
                if self._seconds is None:
                    limit = (*SEED, f"-runs={fuzzer.inputs}")
                else:
                    limit = (f"-max_total_time={self._seconds}",)
                outcome = _fuzz(fuzzer, work / "ships", corpus, findings, limit)
        if outcome.finding:
            print(outcome.printed)
            print(f"{fuzzer.name}: FOUND: run again with {outcome.finding}")
        self._rows.append(
            (
                fuzzer.name,
                f"{outcome.executions:,}",
                f"{outcome.per_second:,}",
                str(outcome.edges),
                str(outcome.inputs),
                f"{sum(found)} of {len(found)} found",
                outcome.finding or "none",
            )
        )
        return bool(outcome.finding) or not all(found)

    def _finds(self, fuzzer: Fuzzer, fault: Fault, work: Path) -> bool:
        _build(fuzzer, work, fault)
        corpus = work / "corpus"
        corpus.mkdir()
        outcome = _fuzz(fuzzer, work, corpus, work, (*SEED, f"-max_total_time={PATIENCE}"))
        found = Path(outcome.finding).is_file()
        told = f"found after {outcome.executions:,} executions" if found else "NOT FOUND"
        print(f"{fuzzer.name}: planted: {fault.name}: {told}", flush=True)
        return found

    def table(self) -> str:
        """A line a fuzzer."""
        widths = [max(map(len, column)) for column in zip(*self._rows, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if index in (0, 5, 6) else cell.rjust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in self._rows
        )


@contextlib.contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _copy(source: Path, target: Path, fault: Fault | None) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    if fault is None:
        return
    file = target / fault.file
    text = file.read_text("utf-8")
    if text.count(fault.right) != 1:
        sys.exit(f"{fault.file} no longer has {fault.right!r} once: plant another fault")
    file.write_text(text.replace(fault.right, fault.wrong), "utf-8")


def _build(fuzzer: Fuzzer, work: Path, fault: Fault | None) -> None:
    """A copy of the code and, for C, the program, in a folder that is not there yet."""
    work.mkdir()
    if fuzzer in READERS:
        _copy(ROOT / "src" / "fixedstep", work / "fixedstep", fault)
        return
    core = work / "core"
    _copy(ROOT / "csrc" / "core", core, fault)
    sources = map(str, (HERE / f"{fuzzer.name}.c", *sorted(core.glob("*.c"))))
    program = str(work / fuzzer.name)
    command = ["clang", *FLAGS, f"-I{core}", f"-I{HERE}", *sources, "-o", program]
    if subprocess.run(command, check=False).returncode:
        sys.exit("clang cannot build this; if it lacks the runtimes, install libclang-rt-dev")


def _fuzz(
    fuzzer: Fuzzer, work: Path, corpus: Path, findings: Path, limit: tuple[str, ...]
) -> Outcome:
    """Run what was built in ``work``."""
    reader = [sys.executable, "-B", str(HERE / "readers.py"), fuzzer.name]
    words = HERE / f"{fuzzer.name}.dict"
    ended = subprocess.run(
        [
            *(reader if fuzzer in READERS else [str(work / fuzzer.name)]),
            *limit,
            f"-max_len={fuzzer.longest}",
            f"-artifact_prefix={findings}/{fuzzer.name}-",
            *("-timeout=60", "-rss_limit_mb=1024", "-print_final_stats=1"),
            *([f"-dict={words}"] if words.exists() else []),
            str(corpus),
            *(str(ROOT / seeds) for seeds in fuzzer.seeds),
        ],
        env=os.environ
        | {"PYTHONPATH": str(work), "FIXEDSTEP_BACKEND": "reference", "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    printed = ended.stdout + ended.stderr
    written = re.search(r"Test unit written to (\S+)", printed)
    finding = written.group(1) if written else ""
    if ended.returncode and not finding:
        finding = f"nothing, ended with {ended.returncode}"

    def last(pattern: str) -> int:
        return int((re.findall(pattern, printed) or ["0"])[-1])

    return Outcome(
        last(r"stat::number_of_executed_units: +(\d+)") or last(r"(?m)^#(\d+)"),
        last(r"stat::average_exec_per_sec: +(\d+)"),
        last(r" cov: (\d+)"),
        sum(1 for _ in corpus.iterdir()),
        finding,
        printed,
    )


if __name__ == "__main__":
    sys.exit(main())
