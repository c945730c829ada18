"""``python checks/mutation/run.py``: does the suite notice when a core is wrong?

Each mutant is one small mistake in the C core, in the types over it, in the reference core, or in
the modules of floor 2 that both cores share, where no comparison of the cores can see it. It is
built, and the tests of floors 1 and 2 run until one fails. The report lists the mutants that no
test kills: read them, and add a test, or see why the change changes nothing. A mutant of named.py
that lives is an error: exit status 1. Coverage would say which lines ran; this says which lines
somebody looked at.

It needs what the suite needs (pytest, hypothesis, numpy, cffi), a C compiler, Python 3.10 or later
and a system that forks. Everything is built and run in a temporary folder; neither the checkout nor
the installed package is touched. The unmutated tree goes first, as the control: where it fails, or
where its extension is not what the compiler makes a second time, nothing is counted.

    --only core | types | reference | shared    csrc/core, csrc/python, reference.py, or the modules
                                       that both cores use
    --sample N --seed S                so many mutants, chosen by chance
    --match TEXT                       those whose file, function or line holds the text
    --report FILE                      a row for every mutant, in Markdown, beside the summary
    --resume FILE                      keeps what died; a later run judges only what is not in it
    --jobs N                           so many at a time
    --list                             shows the mutants and runs none

Existing tools were looked at. mutmut and cosmic-ray mutate Python alone, by way of an imported
package; here most mutants are C, a mutant of either core must be judged by the tests that compare
both, and what is mutated is not what is imported but what was built. mull and dextool mutate C on
its way through LLVM, need that compiler's version to the digit, and know nothing of pytest. What is
left of the problem is a few hundred lines: these.

How a mutant is judged. It is looked at three times, for as long as it lives: by the quick tests, by
the slow ones, and by those that need a process of their own. One of a shared module meets only
tests in a process of its own, which imports it anew. The tests that compare and the runs on the
mutated core count; those on the other core are left out, since they cannot see it. What killed a
neighbour runs first, then the fastest tests, and the first failure ends the run, so the report
names the first test that died and not all that would. A test that computes twenty times as long as
without the mutant, and three seconds more, is stopped and counts as a kill, and so does a crash.
What the compiler refuses is no mutant; what it turns into the same machine code is none either, and
that proves more than a list of excuses. The tests that compile csrc/ are left out: a warning of a
strict compiler would kill for the wrong reason. So are NEON and the loop for other machines, which
are not compiled here, and the
operations of AVX2 in fs_lanes.h, whose file is compiled as that of SSE2.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from checks.mutation.c_source import c_mutants  # noqa: E402
from checks.mutation.mutants import Mutant  # noqa: E402
from checks.mutation.named import named_mutants  # noqa: E402
from checks.mutation.python_source import python_mutants  # noqa: E402

REFERENCE = "src/fixedstep/reference.py"
SHARED = tuple(
    f"src/fixedstep/{name}.py"
    for name in ("_arguments", "_plans", "_saved", "_select", "_state", "text", "time", "timing")
)
FIRST = (
    *("vectors", "schedule", "plan", "stats", "hash", "rates", "cases", "batch", "differential"),
    *("objects", "errors", "reentry", "bulk_hash"),
)
SECOND = ("objects", "reentry", "backend", "doctests", "leaks", "no_memory", "threads")
# What looks at a shared module, the fastest first: time and timing have tests of their own.
OF_SHARED = (
    *("time", "timing", "saved", "errors", "objects", "schedule", "plan", "rates", "stats", "hash"),
    *("batch", "backend", "doctests", "differential"),
)
# A wrong hash of bytes is seen where bytes are hashed; to run less can only let more survive.
_HASHING = ("vectors", "hash", "bulk_hash", "differential")
ENOUGH = {f"csrc/core/{name}.c": _HASHING for name in ("fs_hash", "fs_hash_wide", "fs_hash_lanes")}
# All sources in one: after a change of a header, one run of the compiler and not ten. One source
# compiles another one again, for wider vectors: it stays apart and changes with the other.
UNITY = "everything.c"
WIDE, WIDE_AGAIN = "csrc/core/fs_hash_wide.c", "csrc/core/fs_hash_wide16.c"
NOT_BUILT, SAME_CODE = 90, 91
KILLED = ("killed", "crashed", "timed out")
COLLECTING_SECONDS = 240.0
# Nine tests of ten are faster, and so few mutants pass them that the slow ones hardly cost.
QUICK_SECONDS = 0.05
_RELEASE = re.compile(r"\[Py_(?:X?DECREF|CLEAR)\(")
_WARNINGS = ("implicit-function-declaration", "int-conversion", "incompatible-pointer-types")


class Result(NamedTuple):
    """What became of a mutant: ``outcome``, and the test that saw it first."""

    mutant: Mutant
    outcome: str
    killer: str


# the tree that is mutated


def compiler() -> list[str]:
    """The compiler with its options, without an output."""
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return [
        *os.environ.get("CC", "gcc").split(),
        *("-O1", "-fPIC"),
        *(f"-Werror={warning}" for warning in _WARNINGS),
        *("-I.", f"-I{sysconfig.get_path('include')}"),
        *(["-DFS_FULL_API"] if free_threaded else []),
    ]


def make_tree(folder: Path) -> None:
    """A copy of everything that a mutant can change or a test can read, with objects built."""
    spec = importlib.util.spec_from_file_location("build", ROOT / "csrc" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)  # writes csrc/python/fs_docs.h
    ignored = shutil.ignore_patterns("__pycache__", "*.so", ".hypothesis")
    for name in ("csrc", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copytree(ROOT / "src" / "fixedstep", package(folder), ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    build.ffi.emit_c_code(str(folder / "_core.c"))
    together = [source for source in sources(folder) if source != WIDE_AGAIN]
    everything = "".join(f'#include "{source}"\n' for source in together)
    (folder / UNITY).write_text(everything, encoding="utf-8")
    for objects in ("objects", "again"):
        (folder / objects).mkdir()
        for source in [*sources(folder), UNITY]:
            if not compile_one(folder, source, folder / objects):
                sys.exit(f"{source} does not compile: there is nothing to mutate")
    for parts in (sources(folder), [UNITY, WIDE_AGAIN]):  # the control is of the last
        link(folder, [f"objects/{object_of(source)}" for source in parts])
        check = "import fixedstep.native as n, fixedstep._core; assert n.FrameLoop().tick == 0"
        environment = dict(os.environ, PYTHONPATH=str(folder / "site"))
        subprocess.run([sys.executable, "-c", check], env=environment, check=True)


def package(folder: Path) -> Path:
    """The package in a tree, apart from the checkout's ``src``, which the suite refuses."""
    return folder / "site" / "fixedstep"


def sources(folder: Path) -> list[str]:
    """What is compiled, by path from the tree."""
    found = sorted(str(path.relative_to(folder)) for path in folder.glob("csrc/*/*.c"))
    return [*found, "_core.c"]


def object_of(source: str) -> str:
    """The name of what a source is compiled to."""
    return Path(source).stem + ".o"


def compile_one(folder: Path, source: str, objects: Path) -> bool:
    """Whether a source compiled into ``objects``."""
    output = objects / object_of(source)
    run = subprocess.run(
        [*compiler(), "-c", source, "-o", str(output)], cwd=folder, check=False, timeout=120
    )
    return run.returncode == 0


def link(folder: Path, objects: list[str]) -> None:
    """The extension, anew: one that is loaded somewhere is not written to."""
    extension = package(folder) / "_core.abi3.so"
    extension.unlink(missing_ok=True)
    mode = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    subprocess.run(
        [*compiler(), "-shared", *mode, *objects, "-o", str(extension)], cwd=folder, check=True
    )


def same_objects(folder: Path, one: str, other: str, names: list[str]) -> bool:
    """Whether objects of two folders are equal byte for byte."""
    return all(
        (folder / one / name).read_bytes() == (folder / other / name).read_bytes() for name in names
    )


# what runs in the processes


class Watch:
    """The plugin that leaves out, sorts, limits and writes down, in the process of one mutant."""

    def __init__(self, core: str, known: dict[str, float]) -> None:
        self.core, self.known = core, known
        self.first: list[str] = []
        self.folder = Path()
        self.durations: dict[str, float] = {}

    def write(self, name: str, text: str) -> None:
        """To a file that the parent reads when this process is gone."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def wanted(self, item: Any) -> bool:
        """Whether a change in this core can make a difference to the test."""
        params = item.callspec.params if hasattr(item, "callspec") else {}
        return self.core == "shared" or "core" not in params or params["core"] == self.core

    @staticmethod
    def pytest_sessionstart() -> None:
        """A failure is enough: nobody reads the smallest example of it."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutation", settings.get_profile("ci"), phases=phases)
        settings.load_profile("mutation")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Without the runs on the other core, and the fastest first."""
        items[:] = filter(self.wanted, items)
        self.sort(items)

    def sort(self, items: list[Any]) -> None:
        """Killers of neighbours, then the fastest."""
        early = {name: index for index, name in enumerate(self.first)}
        late = len(early)
        items.sort(
            key=lambda item: (early.get(item.nodeid, late), self.known.get(item.nodeid, 0.0))
        )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """The kill is this test's, should it never end or take the process down."""
        self.write("killer", nodeid)
        usual = self.known.get(nodeid, 5.0)
        signal.setitimer(signal.ITIMER_PROF, 3.0 + 20.0 * usual)  # a loop without end
        signal.setitimer(signal.ITIMER_REAL, 60.0 + 20.0 * usual)  # or a wait without end

    def pytest_runtest_logreport(self, report: Any) -> None:
        """How long each took, for the order of the next runs; the first failure ends the run."""
        if report.failed and self.known:
            os._exit(1)
        taken = self.durations.get(report.nodeid, 0.0) + report.duration
        self.durations[report.nodeid] = taken

    def pytest_sessionfinish(self, session: Any) -> None:
        """The end of this process: what follows is for people who read terminals."""
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, COLLECTING_SECONDS)
        if not self.known:
            self.write("durations", json.dumps(self.durations))
        if session.testsfailed == 0:
            os._exit(0)


class Collected(Watch):
    """The plugin of the first stage: collects once, and then every mutant is a fork.

    The test modules are imported with the package, but the core under test is not: a test gets it
    from a fixture, in the fork, where the package is made to lie in the mutant's tree. So the
    package must have chosen the other core, and a mutant costs its build and the tests it needs.
    """

    def __init__(self, pool: Pool, mutants: list[Mutant], core: str) -> None:
        super().__init__(core, {})
        self.pool, self.mutants = pool, mutants
        self.quick: bool | None = None
        self.results: list[Result] = []

    def pytest_runtestloop(self, session: Any) -> bool | None:
        """In the parent all the mutants; in each fork nothing, so that its tests run."""
        assert f"fixedstep.{self.core}" not in sys.modules, "the core would not be the mutant's"
        if not self.known:
            if self.pool.control(self.core, FIRST):
                self.become(session, self.pool.folders[0], None)
                return None
            self.known = self.pool.known[self.core]
        left = self.mutants
        for self.quick in (True, False):
            results = self.pool.run(left, self.core)
            if results is None:
                assert self.pool.mine is not None
                self.become(session, *self.pool.mine)
                return None
            left = [r.mutant for r in results if r.outcome == "survived"]
            self.results += [r for r in results if not (self.quick and r.outcome == "survived")]
            if not left:
                break
            self.pool.say(f"{self.core}: {len(left)} live after the quick tests")
        return True

    def become(self, session: Any, folder: Path, one: Mutant | None) -> None:
        """In the fork: the tree, the build, the order."""
        import fixedstep

        self.folder = folder
        self.first = self.pool.first(one)
        prepare(folder, one)
        fixedstep.__path__[:] = [str(package(folder))]
        enough = ENOUGH.get(one.file, FIRST) if one else FIRST
        names = {f"test_{name}.py" for name in enough}
        session.items[:] = [
            item
            for item in session.items
            if item.path.name in names
            and (one is None or self.quick == (self.known[item.nodeid] <= QUICK_SECONDS))
        ]
        self.sort(session.items)

    def pytest_sessionfinish(self, session: Any) -> None:
        """Only a fork ends here."""
        if self.folder != Path():
            super().pytest_sessionfinish(session)


def core_of(file: str) -> str:
    """Whose runs can see a change in this file."""
    if file in SHARED:
        return "shared"
    return "reference" if file == REFERENCE else "native"


def prepare(folder: Path, one: Mutant | None) -> None:
    """A new process becomes that of a mutant; it ends here where there is nothing to test."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for stream in (1, 2):
        os.dup2(log, stream)
    (folder / "killer").write_text("(import)", encoding="utf-8")
    signal.setitimer(signal.ITIMER_REAL, COLLECTING_SECONDS)
    if one is not None:
        status = built(folder, one)
        if status:
            os._exit(status)
    enter(folder)


def enter(folder: Path) -> None:
    """What this process and those that its tests start import is what lies in the tree."""
    os.environ["PYTHONPATH"] = str(folder / "site")
    for name in ("FIXEDSTEP_BACKEND", "FIXEDSTEP_HYPOTHESIS", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    sys.path.insert(0, str(folder / "site"))
    sys.dont_write_bytecode = False
    os.chdir(folder)


def run_pytest(plugin: Watch, tests: tuple[str, ...]) -> int:
    """The suite, in this process and from this folder."""
    import pytest

    options = ["-x", "-q", "-s", "--tb=line", "--no-header", "--no-source"]
    plugins = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    files = [f"tests/test_{name}.py" for name in tests]
    return int(pytest.main([*options, *plugins, *files], [plugin]))


def place(folder: Path, file: str) -> Path:
    """Where a file of the checkout lies in a tree."""
    return package(folder) / Path(file).name if file.endswith(".py") else folder / file


def built(folder: Path, one: Mutant) -> int:
    """Put a mutant into a tree; 0, or why it is none."""
    text = (ROOT / one.file).read_text(encoding="utf-8")
    assert place(folder, one.file).read_text(encoding="utf-8") == text, "the checkout has changed"
    place(folder, one.file).write_text(one.apply(text), encoding="utf-8")
    if one.file.endswith(".py"):
        forget_bytecode(folder)
        return 0
    (folder / "mutated").mkdir()
    header = one.file.endswith(".h")
    changed = [UNITY, WIDE_AGAIN] if header else [one.file]
    if one.file == WIDE:
        changed.append(WIDE_AGAIN)
    if not all(compile_one(folder, source, folder / "mutated") for source in changed):
        return NOT_BUILT
    if same_objects(folder, "objects", "mutated", [object_of(source) for source in changed]):
        return SAME_CODE
    others = [] if header else [other for other in sources(folder) if other not in changed]
    mutated = [f"mutated/{object_of(source)}" for source in changed]
    link(folder, [*mutated, *(f"objects/{object_of(other)}" for other in others)])
    return 0


def forget_bytecode(folder: Path) -> None:
    """A mutant often has the size of the original and its second: bytecode would seem fresh."""
    for stale in (package(folder) / "__pycache__").glob("*.pyc"):
        stale.unlink()


def restore(folder: Path, file: str) -> None:
    """The tree as it was."""
    shutil.copyfile(ROOT / file, place(folder, file))
    forget_bytecode(folder)
    if (folder / "mutated").exists():
        shutil.rmtree(folder / "mutated")
        link(folder, [f"objects/{object_of(source)}" for source in (UNITY, WIDE_AGAIN)])


def outcome(status: int) -> str:
    """What the end of the child means."""
    if os.WIFSIGNALED(status):
        stopped = os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF)
        return "timed out" if stopped else "crashed"
    names = {0: "survived", NOT_BUILT: "not built", SAME_CODE: "same code"}
    return names.get(os.WEXITSTATUS(status), "killed")


# all of them


class Pool:
    """Trees, and the children that run in them."""

    def __init__(self, folder: Path, jobs: int, journal: Path | None) -> None:
        self.journal = journal
        self.folders = [folder / f"tree{number}" for number in range(jobs)]
        for tree in self.folders:
            make_tree(tree)
        one = self.folders[0]
        names = [path.name for path in (one / "objects").iterdir()]
        if not same_objects(one, "objects", "again", names):
            sys.exit("the compiler does not make the same object twice: nothing could be compared")
        self.known: dict[str, dict[str, float]] = {}
        self.killers: dict[str, list[str]] = {}
        self.mine: tuple[Path, Mutant | None] | None = None
        self.out = os.fdopen(os.dup(1), "w")

    def say(self, text: str) -> None:
        """To the terminal, also from inside pytest."""
        print(text, file=self.out, flush=True)

    def first(self, one: Mutant | None) -> list[str]:
        """What is likely to kill this one: what killed its neighbours, and the fastest of it."""
        if one is None:
            return []
        known = self.known.get(core_of(one.file), {})
        near = self.killers.get(f"{one.file}:{one.function}", [])[-6:]
        far = self.killers.get(one.file, [])[-6:]
        return sorted({*near, *far}, key=lambda name: known.get(name, 0.0))

    def remember(self, one: Mutant, killer: str) -> None:
        """What killed this one is tried first on its neighbours."""
        for key in (f"{one.file}:{one.function}", one.file):
            names = self.killers.setdefault(key, [])
            if killer in names:
                names.remove(killer)
            names.append(killer)

    def control(self, core: str, tests: tuple[str, ...]) -> bool:
        """The tree without a mutant must pass, and tells how long each test takes. True in the
        child that is to run it."""
        folder = self.folders[0]
        child = os.fork()
        if child == 0:
            return True
        _, status = os.waitpid(child, 0)
        finish(child)
        if outcome(status) != "survived":
            log = (folder / "log").read_text(encoding="utf-8", errors="replace")
            self.say(f"the control failed: without a mutant, on the {core} core\n{log[-4000:]}")
            os._exit(2)
        self.known[core] = json.loads((folder / "durations").read_text(encoding="utf-8"))
        took = sum(self.known[core].values())
        what = f"{len(tests)} files, {len(self.known[core])} tests, {took:.0f} s"
        self.say(f"control on the {core} core: passed ({what})")
        return False

    def run(self, mutants: list[Mutant], core: str) -> list[Result] | None:
        """Every mutant, as many at a time as there are trees. None in the child that is to run
        the one in ``mine``."""
        waiting = mutants[::-1]
        running: dict[int, tuple[Mutant, Path]] = {}
        free = list(self.folders)
        results: list[Result] = []
        while waiting or running:
            while waiting and free:
                self.mine = free.pop(), waiting.pop()
                child = os.fork()
                if child == 0:
                    return None
                running[child] = self.mine[1], self.mine[0]
            child, status = os.waitpid(-1, 0)
            if child not in running:
                continue
            one, folder = running.pop(child)
            finish(child)
            result = Result(one, outcome(status), "")
            if result.outcome in KILLED:
                result = result._replace(killer=(folder / "killer").read_text(encoding="utf-8"))
                if "::" in result.killer:
                    self.remember(one, result.killer)
            restore(folder, one.file)
            free.append(folder)
            results.append(result)
            if self.journal and result.outcome != "survived":
                with self.journal.open("a", encoding="utf-8") as journal:
                    journal.write(dumped([result]))
            if len(results) % 100 == 0:
                self.say(f"{core}: {len(results)} of {len(mutants)}")
        return results

    def first_stage(self, mutants: list[Mutant], core: str) -> list[Result]:
        """In a process of its own, since what pytest imports stays imported."""
        base = self.folders[0]
        child = os.fork()
        if child == 0:
            status = 2
            try:
                enter(base)
                os.environ["FIXEDSTEP_BACKEND"] = "native" if core == "reference" else "reference"
                log = os.open(base / "session", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
                for stream in (1, 2):
                    os.dup2(log, stream)
                plugin = Collected(self, mutants, core)
                status = run_pytest(plugin, FIRST)
                (base / "results").write_text(dumped(plugin.results), encoding="utf-8")
                status = 0 if len(plugin.results) == len(mutants) else 2
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status:
            log_text = (base / "session").read_text(encoding="utf-8", errors="replace")
            sys.exit(f"the first stage ended early\n{log_text[-4000:]}")
        return loaded((base / "results").read_text(encoding="utf-8"))

    def second_stage(self, survivors: list[Mutant], core: str) -> list[Result]:
        """What is left meets the tests that need a process of their own: a fresh one each."""
        self.known.pop(core, None)
        if self.control(core, OF_SHARED if core == "shared" else SECOND):
            self.fresh(self.folders[0], None, core)
        results = self.run(survivors, core)
        if results is None:
            assert self.mine is not None
            self.fresh(*self.mine, core)
        return results or []

    def fresh(self, folder: Path, one: Mutant | None, core: str) -> None:
        """A child that imports everything itself; it ends here."""
        status = 2
        try:
            prepare(folder, one)
            plugin = Watch(core, self.known.get(core, {}))
            plugin.folder, plugin.first = folder, self.first(one)
            status = run_pytest(plugin, OF_SHARED if core == "shared" else SECOND)
        finally:
            os._exit(status)


def finish(child: int) -> None:
    """End what a test of the child may have left running: its group, and nothing else."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def dumped(results: list[Result]) -> str:
    """Results as text, a line each."""
    return "".join(f"{json.dumps([list(one), *rest])}\n" for one, *rest in results)


def loaded(text: str) -> list[Result]:
    """Results from their text."""
    rows = map(json.loads, text.splitlines())
    return [Result(Mutant(*one), found, killer) for one, found, killer in rows]


def all_mutants() -> list[Mutant]:
    """Generated and hand-written, of every file."""
    files = [*ROOT.glob("csrc/core/*.[ch]"), *ROOT.glob("csrc/python/*.[ch]")]
    files.sort(key=lambda file: (file.parent, file.stat().st_size))  # the small ones first
    options = [option for option in compiler() if option != "-I."]
    found = named_mutants(ROOT)
    for file in files:
        found += c_mutants(str(file.relative_to(ROOT)), ROOT, options)
    for name in (REFERENCE, *SHARED):
        found += python_mutants(name, ROOT)
    return found


def part_of(file: str) -> str:
    """``--only`` by this name has the file."""
    if file.endswith(".py"):
        return core_of(file)
    return "core" if file.startswith("csrc/core/") else "types"


# the report


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


OUTCOMES = ("killed", "crashed", "timed out", "same code", "survived", "not built")


def counted(results: list[Result], column: str, keys: list[str]) -> str:
    """One row a key, one column an outcome."""
    rows = []
    for key in [*sorted(set(keys)), "all"]:
        chosen = [r for r, k in zip(results, keys, strict=True) if key in (k, "all")]
        counts = Counter(r.outcome for r in chosen)
        mutants = len(chosen) - counts["not built"]
        rows.append([key, str(mutants), *(str(counts[name]) for name in OUTCOMES)])
    return table([column, "mutants", *OUTCOMES], rows)


def cell(text: str) -> str:
    """A text that may stand in a table."""
    return "`" + " ".join(text.split()).replace("|", "\\|") + "`"


def summary(results: list[Result]) -> str:
    """The tables of a run."""
    killers = Counter(
        r.killer.partition("::")[0] for r in results if r.outcome in ("killed", "crashed")
    )
    by_file = counted(results, "file", [r.mutant.file for r in results])
    by_operator = counted(results, "operator", [r.mutant.operator for r in results])
    killed_by = table(
        ["killed first by", "mutants"], [[name, str(n)] for name, n in killers.most_common()]
    )
    return "\n\n".join([by_file, by_operator, killed_by])


def every_row(results: list[Result]) -> str:
    """A row for every mutant."""
    rows = [
        [
            f"{r.mutant.file}:{r.mutant.line}",
            r.mutant.function,
            r.mutant.operator,
            cell(r.mutant.shown),
            r.outcome,
            cell(r.killer) if r.killer else "",
        ]
        for r in results
    ]
    head = ["where", "function", "operator", "change", "outcome", "first test that died"]
    return table(head, sorted(rows))


def both_stages(pool: Pool, mutants: list[Mutant], core: str) -> list[Result]:
    """The mutants of one core."""
    # what only keeps memory is seen by the tests of leaks, and those have a process of their own
    leaking = [m for m in mutants if m.operator == "statement" and _RELEASE.match(m.shown)]
    others = [m for m in mutants if m not in set(leaking)]
    if core == "shared":  # imported with the package, and so by every process that collected
        results = [Result(one, "survived", "") for one in mutants]
    else:
        results = pool.first_stage(others, core) if others else []
        results += [Result(one, "survived", "") for one in leaking]
    survivors = [r.mutant for r in results if r.outcome == "survived"]
    # which have nothing to add about the arithmetic below
    again = [m for m in survivors if part_of(m.file) != "core"]
    if again:
        pool.say(f"{core}: {len(again)} to look at again")
        seen = pool.second_stage(again, core)
        results = [r for r in results if r.mutant not in set(again)] + seen
    for r in results:
        if r.outcome == "survived":
            one = r.mutant
            pool.say(f"survived: {one.file}:{one.line} {one.function}: {one.shown}")
    return results


def taken_over(file: Path, mutants: list[Mutant]) -> list[Result]:
    """What died in an earlier run, and stands where it stood. What survived is judged again: that
    is what an earlier run is taken up for, after a test was added."""
    if not file.exists():
        return []
    earlier = {r.mutant: r for r in loaded(file.read_text(encoding="utf-8"))}
    return [earlier[one] for one in mutants if one in earlier]


def main() -> int:
    """Run what the command line asks for; 1 if a named mutant survived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--only", choices=["core", "types", "reference", "shared"])
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--match", metavar="TEXT")
    parser.add_argument("--report", type=Path, metavar="FILE")
    parser.add_argument("--resume", type=Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--list", action="store_true", help="show the mutants and run none")
    options = parser.parse_args()

    mutants = all_mutants()
    if options.only:
        mutants = [one for one in mutants if part_of(one.file) == options.only]
    if options.match:
        mutants = [m for m in mutants if options.match in f"{m.file} {m.function} {m.shown}"]
    if options.sample is not None:
        chosen = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
        mutants = sorted(chosen, key=mutants.index)
    if not mutants:
        sys.exit("no mutant fits: nothing would be checked")
    if options.list:
        for one in mutants:
            print(f"{one.file}:{one.line} {one.function} {one.operator}: {one.shown}")
        print(f"{len(mutants)} mutants")
        return 0

    started = time.monotonic()
    preload()
    results: list[Result] = []
    known = taken_over(options.resume, mutants) if options.resume else []
    done = {r.mutant for r in known}
    with tempfile.TemporaryDirectory(prefix="fixedstep-mutation-") as folder:
        pool = Pool(Path(folder), options.jobs, options.resume)
        for core in ("native", "reference", "shared"):
            chosen = [one for one in mutants if core_of(one.file) == core and one not in done]
            if chosen:
                results += both_stages(pool, chosen, core)
    results += known
    print(f"\n{summary(results)}\n")
    if options.report:
        text = f"{summary(results)}\n\n{every_row(results)}\n"
        options.report.write_text(text, encoding="utf-8")

    survivors = [r.mutant for r in results if r.outcome == "survived"]
    named = [one for one in survivors if one in set(named_mutants(ROOT))]
    minutes = (time.monotonic() - started) / 60
    lived = f"{len(survivors)} survived, {len(named)} of them named"
    print(f"{len(results)} mutants in {minutes:.0f} minutes: {lived}")
    return 1 if named else 0


def preload() -> None:
    """What every child needs, imported once: a child is a fork and begins with it."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in ("pytest", "hypothesis.stateful", "hypothesis.strategies", "numpy", "cffi"):
        importlib.import_module(name)


if __name__ == "__main__":
    sys.exit(main())
