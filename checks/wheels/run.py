"""The release, as far as one machine can make and prove it: ``python checks/wheels/run.py``.

Builds the sdist, from it the wheels, and runs the whole suite from those very files, in a folder
that has the tests and nothing else of the checkout. ``FIXEDSTEP_PYTHONS`` names the interpreters,
separated as in PATH: of those with a GIL the oldest builds the abi3 wheel and all of them test it,
and each free-threaded one builds and tests a wheel of its own. The tools come
from tools.txt, into a virtual environment of their own. Linux only, since the other systems'
wheels cannot be made here: the table ends with what was not run, and that list is part of the
result.

``--short`` leaves out the run of the abi3 wheel with the reference core chosen, and of the pure
wheel it runs the tests in `OF_THE_REFERENCE` and collects the others. Every other run has the tests
of both cores, and that of the pure wheel has the reference core as the only one.

Stops at the first failure, with what the failing command printed. Nothing is
repaired: a file that has to be changed before it passes is not what users get.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from checks.wheels import contents, symbols, wheel_set

HERE = Path(__file__).resolve().parent
MACHINE = platform.machine()
MANYLINUX = f"manylinux_2_17_{MACHINE}"
GLIBC = (2, 17)
#: A tag that the core must not get, as it takes memcpy of glibc 2.14. Only x86_64 goes so far back.
TOO_OLD = f"manylinux_2_5_{MACHINE}"
TESTED = tuple((3, minor) for minor in range(10, 16))

#: What the short run has for the pure wheel, whose Python files are those of the other wheels.
OF_THE_REFERENCE = ("backend", "batch", "cli", "hash", "packaging", "schedule", "stats", "vectors")

NOT_RUN = (
    "wheels for macOS, Windows, musl and other machines: built and tested by the release workflow",
    "PyPy",
    "the workflows themselves; attestations, trusted publishing, and what an index says",
)


class Failure(Exception):
    """A check that failed, and why."""


@dataclass
class Python:
    """An interpreter named by FIXEDSTEP_PYTHONS."""

    path: Path
    version: tuple[int, int]
    full: str
    free_threaded: bool

    def __str__(self) -> str:
        return f"CPython {self.full}{'t' if self.free_threaded else ''}"


@dataclass
class Release:
    """Where things are, and what earlier steps made."""

    work: Path
    pythons: list[Python]
    free_threaded: list[Python]
    version: str
    tracked: set[str]
    wheel: Path = field(init=False)
    pure: Path = field(init=False)

    def __post_init__(self) -> None:
        self.source = self.work / "checkout"
        self.dist = self.work / "dist"
        self.unpacked = self.work / "unpacked" / f"fixedstep-{self.version}"

    def tool(self, name: str) -> str:
        """The path of a tool of tools.txt."""
        return str(self.work / "tools" / "bin" / name)


def run(
    command: Iterable[str | Path],
    where: Path | None = None,
    *,
    fails: bool = False,
    settings: Mapping[str, str] | None = None,
) -> str:
    """What a command printed; a Failure with it if its exit code is not as wished."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=where,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(settings or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if (done.returncode != 0) != fails:
        raise Failure(f"{' '.join(words)}\nexit code {done.returncode}:\n{done.stdout[-6000:]}")
    return done.stdout


def need(text: str, wanted: str) -> None:
    """Fail if `wanted` was not printed."""
    if wanted not in text:
        raise Failure(f"expected {wanted!r} in:\n{text[-6000:]}")


def nothing(complaints: list[str], what: str) -> None:
    """Fail if there is a complaint about `what`."""
    if complaints:
        raise Failure("\n".join([f"{what}:", *complaints]))


def find_pythons() -> list[Python]:
    """The interpreters of FIXEDSTEP_PYTHONS, one for each version, oldest first."""
    named = os.environ.get("FIXEDSTEP_PYTHONS", "")
    if not named:
        sys.exit("FIXEDSTEP_PYTHONS must name the interpreters: /path/to/python3.10:/path/to/...")
    say = (
        "import platform, sys, sysconfig; print(*sys.version_info[:2], platform.python_version(),"
        " sys.implementation.name, int(sysconfig.get_config_var('Py_GIL_DISABLED') or 0))"
    )
    found: dict[tuple[bool, tuple[int, int]], Python] = {}
    for path in named.split(os.pathsep):
        major, minor, full, kind, no_gil = run([path, "-c", say]).split()
        python = Python(Path(path), (int(major), int(minor)), full, no_gil == "1")
        if kind != "cpython" or python.version < TESTED[0]:
            sys.exit(f"{path} is {kind} {full}: the wheels are for CPython from 3.10 on")
        found[python.free_threaded, python.version] = python
    if (ordered := [found[key] for key in sorted(found)])[0].free_threaded:
        sys.exit("FIXEDSTEP_PYTHONS must name a CPython with a GIL: it builds the abi3 wheel")
    return ordered


def inside(release: Release, name: str, command: str = "python") -> Path:
    """A command of the virtual environment of that name."""
    return release.work / "environments" / name.replace(" ", "-") / "bin" / command


def install(release: Release, name: str, python: Python, *packages: str | Path) -> Path:
    """A new virtual environment with `packages`; its python."""
    made = inside(release, name)
    run([python.path, "-m", "venv", made.parent.parent])
    run([made, "-m", "pip", "install", "--quiet", *packages])
    return made


def linker(python: Python) -> str:
    """How this Python links, less the folders of its own machine, which are no part of a wheel.

    The images that wheels are built in have none; an interpreter built at home often does.
    """
    ask = "import sysconfig; print(sysconfig.get_config_var('LDSHARED'))"
    words = run([python.path, "-c", ask]).split()
    return " ".join(word for word in words if not word.startswith(("-Wl,-rpath", "-L")))


# The steps: each says in a line what it found.


def tools(release: Release) -> str:
    """Install tools.txt."""
    python = release.pythons[-1]
    run([python.path, "-m", "venv", release.work / "tools"])
    run([release.tool("python"), "-m", "pip", "install", "--quiet", "-r", HERE / "tools.txt"])
    pins = re.findall(r"^[\w-]+==\S+", (HERE / "tools.txt").read_text(), re.MULTILINE)
    return f"{', '.join(pins)} on {python}"


def workflows(release: Release) -> str:
    """Lint what runs the release, the forms for issues and the citation."""
    files = sorted((release.source / ".github" / "workflows").glob("*.yml"))
    if not files:
        raise Failure("no workflows")
    for schema, checked in (
        ("github-workflows", files),
        ("github-issue-forms", sorted((release.source / ".github/ISSUE_TEMPLATE").glob("*.yml"))),
        ("citation-file-format", [release.source / "CITATION.cff"]),
    ):
        run([release.tool("check-jsonschema"), f"--builtin-schema=vendor.{schema}", *checked])
    run([release.tool("zizmor"), "--offline", "--quiet", "--persona=pedantic", *files])
    for file in files:
        for action in re.findall(r"uses:\s*(\S.*)", file.read_text(encoding="utf-8")):
            if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action):
                raise Failure(f"{file.name}: {action} is not pinned to a commit and a version")
    return f"{', '.join(file.name for file in files)}: schema and zizmor say nothing; pinned"


def builds(release: Release) -> str:
    """Ask cibuildwheel what it would build."""
    counts = []
    for system in wheel_set.PLATFORMS:
        ask = ["--print-build-identifiers", "--platform", system]
        said = run(
            [release.tool("cibuildwheel"), *ask], release.source, settings={"NO_COLOR": "1"}
        ).split()
        nothing(wheel_set.differences(said, wheel_set.identifiers(system)), system)
        counts.append(f"{len(said)} for {system}")
    return f"{', '.join(counts)}, as expected"


def sdist(release: Release) -> str:
    """Build the sdist, from two folders, and unpack it where git is a command that fails."""
    build = [release.tool("python"), "-m", "build", "--sdist", "--outdir"]
    epoch = {"SOURCE_DATE_EPOCH": "1700000000"}
    run([*build, release.dist, release.source], settings=epoch)
    [made] = release.dist.iterdir()
    other = release.work / "a-checkout-with-a-longer-name"
    shutil.copytree(release.source, other / "source", copy_function=shutil.copyfile)
    run([*build, other / "dist", other / "source"], settings=epoch)
    if digest_of(made) != digest_of(other / "dist" / made.name):
        raise Failure("the same source gave two sdists in two folders")
    nothing(contents.sdist_complaints(made, release.tracked), made.name)
    shutil.unpack_archive(made, release.unpacked.parent, filter="data")
    return f"{made.name}: {len(contents.expected_in_sdist(release.tracked))} files, no other"


def build_wheel(
    release: Release,
    python: Python,
    name: str,
    *,
    fails: bool = False,
    without: str = "",
    **settings: str,
) -> tuple[list[Path], str]:
    """Build a wheel from a fresh copy of the unpacked sdist, without git; it and the output.
    ``without`` leaves the line that has this text out of setup.py."""
    folder = release.work / "builds" / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(release.unpacked, folder / "source")
    if without:
        setup = folder / "source" / "setup.py"
        lines = setup.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if without not in line]
        if len(kept) != len(lines) - 1:
            raise Failure(f"setup.py does not have {without!r} once")
        setup.write_text("".join(kept), encoding="utf-8")
    no_git = folder / "no-git"
    no_git.mkdir()
    (no_git / "git").write_text(f"#!/bin/sh\necho called >>{folder}/git-was-called\nexit 1\n")
    (no_git / "git").chmod(0o755)
    builder = inside(release, f"builder {python}")
    if not builder.exists():
        install(release, f"builder {python}", python, "build")
    said = run(
        [builder, "-m", "build", "--wheel", "--outdir", folder / "dist", folder / "source"],
        fails=fails,
        settings={
            "PATH": f"{no_git}{os.pathsep}{os.environ['PATH']}",
            "LDSHARED": linker(python),
            "SOURCE_DATE_EPOCH": "1700000000",
            **settings,
        },
    )
    if (folder / "git-was-called").exists():
        raise Failure(f"building {name} called git")
    return list((folder / "dist").glob("*.whl")), said


def abi3_wheel(release: Release) -> str:
    """Build the abi3 wheel with the oldest Python, in two folders; and with flags of somebody's
    own."""
    oldest = release.pythons[0]
    [made], _ = build_wheel(release, oldest, "abi3", FIXEDSTEP_BUILD="require")
    if made.name != (name := f"fixedstep-{release.version}-cp310-abi3-linux_{MACHINE}.whl"):
        raise Failure(f"built {made.name}, not {name}")
    nothing(contents.wheel_complaints(made, release.tracked), made.name)
    release.wheel = Path(shutil.copy(made, release.work))
    elsewhere = "a-folder-with-a-longer-name"
    [again], _ = build_wheel(release, oldest, elsewhere, FIXEDSTEP_BUILD="require")
    sums = {digest_of(path) for path in (release.wheel, again)}
    if len(sums) != 1:
        raise Failure(f"the same source gave two wheels in two folders: {sums}")
    # the control: without the option that hides the folder, the two must differ
    control = set()
    for folder in ("control", f"control-in-{elsewhere}"):
        option = "-fdebug-prefix-map"
        [told], _ = build_wheel(release, oldest, folder, without=option, FIXEDSTEP_BUILD="require")
        control.add(digest_of(told))
    if len(control) != 2:
        raise Failure("a wheel that tells its folder is the same in two: nothing was compared")
    # flags without a level of optimisation must not make a core without any
    [own], _ = build_wheel(release, oldest, "flags", CFLAGS="-g0", FIXEDSTEP_BUILD="require")
    taken, wanted = (symbols.undefined(core_of(release, path)) for path in (own, again))
    if taken != wanted:
        raise Failure(f"CFLAGS=-g0 makes another core: {sorted(taken ^ wanted)}")
    return f"{made.name} by {oldest}; in two folders, sha256 {sums.pop()[:16]} in both"


def abi3(release: Release) -> str:
    """Ask abi3audit, and make sure that it had a library to look at."""
    said = run([release.tool("abi3audit"), "--strict", "--report", release.wheel])
    [spec] = json.loads(said[said.index("{") :])["specs"].values()
    [library] = spec["wheel"]
    facts = library["result"]
    if not facts["is_abi3"] or facts["baseline"] != "3.10" or facts["computed"] > "3.10":
        raise Failure(said)
    return f"{library['name']}: baseline {facts['baseline']}, computed {facts['computed']}"


def audit(release: Release, *arguments: str | Path, fails: bool = False) -> str:
    """Run auditwheel, with the tools it calls."""
    path = f"{release.work / 'tools' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return run([release.tool("auditwheel"), *arguments], fails=fails, settings={"PATH": path})


def repair(release: Release, wheel: Path) -> Path:
    """Let auditwheel name the wheel's platform, and read the symbols without it."""
    options = ("--plat", MANYLINUX, "--only-plat", "--strip", "-w", release.dist)
    audit(release, "repair", *options, wheel)
    tags = wheel.name.rpartition("-")[0]
    named = release.dist / f"{tags}-{wheel_set.PLATFORMS['linux'][f'manylinux_{MACHINE}']}.whl"
    if not named.exists():
        raise Failure(f"no {named.name}, but {os.listdir(release.dist)}")
    nothing(contents.wheel_complaints(named, release.tracked), named.name)
    nothing(symbols.complaints(core_of(release, named), GLIBC), named.name)
    return named


def manylinux(release: Release) -> str:
    """The name that auditwheel gives the abi3 wheel, and one that it must not give."""
    shown = re.search(r'platform tag:\s+"(\w+)"', said := audit(release, "show", release.wheel))
    named = repair(release, release.wheel)
    library = core_of(release, named)
    versioned = sorted(name for name in symbols.undefined(library) if "@" in name)
    control = ""
    if MACHINE == "x86_64":  # both must be able to say no
        said = audit(release, "repair", "--plat", TOO_OLD, release.wheel, fails=True)
        need(said, "too-recent versioned symbols")
        if not symbols.complaints(library, (2, 5)):
            raise Failure(f"nothing in {versioned} needs more than glibc 2.5")
        control = f"; {TOO_OLD} refused by both"
    release.wheel = named
    return f"auditwheel: {shown[1] if shown else said}; {', '.join(versioned)}{control}"


def free_threaded_wheel(release: Release, python: Python) -> str:
    """Build the wheel of one free-threaded Python."""
    [made], _ = build_wheel(release, python, str(python), FIXEDSTEP_BUILD="require")
    tag = f"cp{python.version[0]}{python.version[1]}"
    if made.name != (name := f"fixedstep-{release.version}-{tag}-{tag}t-linux_{MACHINE}.whl"):
        raise Failure(f"built {made.name}, not {name}")
    named = repair(release, made)
    listed = named.name in wheel_set.file_names(release.version)
    return f"{named.name}, {'one of' if listed else 'not'} the release's"


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def core_of(release: Release, wheel: Path) -> Path:
    """The compiled core, taken out of its wheel."""
    with zipfile.ZipFile(wheel) as archive:
        folder = release.work / "libraries" / digest_of(wheel)
        [name] = [name for name in archive.namelist() if name.startswith("fixedstep/_core.")]
        return Path(archive.extract(name, folder))


def pure_wheel(release: Release) -> str:
    """Build the wheel without a core."""
    [made], _ = build_wheel(release, release.pythons[-1], "pure", FIXEDSTEP_BUILD="skip")
    nothing(contents.wheel_complaints(made, release.tracked), made.name)
    release.pure = Path(shutil.copy(made, release.dist))
    return f"{made.name}: no compiled file"


def no_compiler(release: Release) -> str:
    """Each setting of FIXEDSTEP_BUILD where the compiler fails."""
    python = release.pythons[0]
    [made], said = build_wheel(release, python, "auto", CC="false", FIXEDSTEP_BUILD="auto")
    need(said, "the C core did NOT compile")
    need(made.name, "-py3-none-any.whl")
    nothing(contents.wheel_complaints(made, release.tracked, built=False), made.name)
    runs = install(release, "auto", python, made)
    need(run([runs, "-m", "fixedstep", "info"], release.work), "reference")
    for setting in ("require", "yes"):
        made_anyway, said = build_wheel(
            release, python, setting, fails=True, CC="false", FIXEDSTEP_BUILD=setting
        )
        if made_anyway:
            raise Failure(f"FIXEDSTEP_BUILD={setting} without a compiler made {made_anyway}")
    need(said, "FIXEDSTEP_BUILD must be auto, require or skip, not 'yes'")
    return "auto: the banner and a pure wheel that runs on the reference core; require: an error"


def no_cffi(release: Release) -> str:
    """Install the source and the pure wheel where cffi has no wheel and cannot be compiled."""
    python = release.pythons[-1]
    pip = ("-m", "pip", "install", "--no-cache-dir", "--no-binary", "cffi")
    [source] = release.dist.glob("*.tar.gz")
    for file, build in ((source, "skip"), (release.pure, "skip"), (source, "require")):
        runs = inside(release, f"no cffi {build} {file.suffix}")
        run([python.path, "-m", "venv", runs.parent.parent])
        fails = build == "require"  # or there was a cffi after all
        settings = {"CC": "false", "FIXEDSTEP_BUILD": build}
        said = run([runs, *pip, file], fails=fails, settings=settings)
        if fails:
            need(said, "cffi")
            continue
        need(run([runs, "-m", "pip", "check"]), "No broken requirements found")
        need(run([runs, "-m", "fixedstep", "info"], release.work), "reference")
        if "cffi" in (listed := run([runs, "-m", "pip", "list"])):
            raise Failure(f"cffi is installed:\n{listed}")
    return "the source with skip and the pure wheel install, and pip check says nothing"


def metadata(release: Release) -> str:
    """Ask twine whether an index would take the files."""
    files = sorted(release.dist.iterdir())
    said = run([release.tool("twine"), "check", "--strict", *files], settings={"NO_COLOR": "1"})
    if said.count("PASSED") != len(files):
        raise Failure(said)
    kinds = wheel_set.file_names(release.version)
    nothing([f"unknown: {file.name}" for file in files if file.name not in kinds], "dist")
    return f"{len(files)} files passed"


def suite(
    release: Release,
    python: Python,
    wheel: Path,
    core: str,
    *flags: str,
    only: Sequence[str] = (),
) -> str:
    """Run the whole suite from `wheel` alone, or `only` some files of it and collect the rest; what
    pytest said in closing."""
    name = f"{wheel.name.split('-')[3]} {python}"
    runs = inside(release, name)
    if not runs.exists():
        install(release, name, python, f"{wheel}[test]")
    where = release.work / "suites" / f"{name} {core}".replace(" ", "-")
    shutil.copytree(release.unpacked / "tests", where / "tests")
    shutil.copy(release.unpacked / "pyproject.toml", where)
    setting = {"FIXEDSTEP_BACKEND": core}
    ask = "import fixedstep; print(fixedstep.backend().name, fixedstep.__file__)"
    chosen, file = run([runs, "-c", ask], where, settings=setting).split()
    if chosen != core or runs.parent.parent not in Path(file).parents:
        raise Failure(f"tested would be the {chosen} core of {file}")
    pytest = ("-m", "pytest", "-q", "-n", "auto", "--no-source", "-p", "no:cacheprovider")
    if only:
        run([runs, *pytest, *flags, "--collect-only"], where, settings=setting)
    said = run([runs, *pytest, *flags, *only], where, settings=setting)
    closing = said.strip().splitlines()[-1].strip("= ")
    if not re.search(r"[1-9]\d* passed", closing):
        raise Failure(said[-3000:])
    return closing


def exchange(release: Release) -> str:
    """Build under each Python, run under every other one."""
    pythons = [str(python.path) for python in release.pythons]
    if len(pythons) == 1:
        return "only one Python: nothing to exchange"
    said = run([sys.executable, HERE / "exchange.py", *pythons])
    return f"{len(pythons)} wheels under {len(pythons)} Pythons; {said.strip().splitlines()[-1]}"


def commands(release: Release) -> str:
    """Run the commands that the wheel installs."""
    command = inside(release, f"abi3 {release.pythons[-1]}", "fixedstep")
    record = release.work / "run.trace"
    need(run([command, "info"], release.work), "native")
    run([command, "demo", "--seconds", "1", "--record", record], release.work)
    said = run([command, "verify", record], release.work)
    need(said, "EQUAL: trace, native, reference")
    return f"info, demo, verify: {said.strip().splitlines()[-1]}"


def steps(release: Release, short: bool) -> Iterable[tuple[str, Callable[[], str]]]:
    """Every step's name, and what runs it."""
    for step in (tools, workflows, builds, sdist, abi3_wheel, abi3, manylinux, pure_wheel):
        yield step.__name__.replace("_", " "), partial(step, release)
    for step in (no_compiler, no_cffi):
        yield step.__name__.replace("_", " "), partial(step, release)
    for python in release.free_threaded:
        yield f"wheel, {python}", partial(free_threaded_wheel, release, python)
    yield "metadata", partial(metadata, release)
    yield "exchange", partial(exchange, release)
    # the steps above have run by now, and the wheels are there
    oldest, newest = release.pythons[0], release.pythons[-1]
    for python in release.pythons:
        run_it = partial(suite, release, python, release.wheel, "native")
        yield f"suite, abi3 wheel, {python}", run_it
    for python in release.free_threaded:
        tag = f"cp{python.version[0]}{python.version[1]}t"
        [wheel] = release.dist.glob(f"*-{tag}-*.whl")
        yield f"suite, its own wheel, {python}", partial(suite, release, python, wheel, "native")
    if not short:
        run_it = partial(suite, release, newest, release.wheel, "reference")
        yield f"suite, abi3 wheel, {newest}, reference core chosen", run_it
    run_it = partial(suite, release, oldest, release.pure, "reference", "--core=reference")
    if short:
        run_it = partial(run_it, only=[f"tests/test_{name}.py" for name in OF_THE_REFERENCE])
    yield f"suite, pure wheel, {oldest}", run_it
    yield "commands", partial(commands, release)


def copy_source(release: Release) -> None:
    """Take along what git tracks and nothing that lies beside it: builds write into a folder."""
    for name in sorted(release.tracked):
        target = release.source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(contents.ROOT / name, target)


def main() -> int:
    """Run every step; 0 if all passed."""
    parser = argparse.ArgumentParser(description="Makes a release and proves it, on this machine.")
    parser.add_argument("--short", action="store_true", help="less of the suite")
    short = parser.parse_args().short
    pythons = find_pythons()
    project = (contents.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [version] = re.findall(r'^version = "(.+)"', project, re.MULTILINE)
    rows: list[tuple[str, str, str]] = []
    failure = None
    with tempfile.TemporaryDirectory(prefix="fixedstep-release-") as work:
        with_gil = [python for python in pythons if not python.free_threaded]
        without = [python for python in pythons if python.free_threaded]
        release = Release(Path(work), with_gil, without, version, contents.tracked())
        release.dist.mkdir()
        copy_source(release)
        for name, step in steps(release, short):
            start = time.monotonic()
            try:
                result = step()
            except Failure as error:
                result, failure = f"FAILED: {str(error).splitlines()[-1]}", error
            rows.append((name, f"{time.monotonic() - start:.0f} s", result))
            print(f"-- {name}: {result}", flush=True)
            if failure is not None:
                break
    here = {python.version for python in with_gil}
    missing = [f"CPython {a}.{b}" for a, b in TESTED if (a, b) not in here]
    missing += ["free-threaded CPython"] * (not without)
    print()
    for name, seconds, result in rows:
        print(f"{name:<48} {seconds:>6}  {result}")
    for what in (*missing, *NOT_RUN):
        print(f"not run here: {what}")
    if failure is not None:
        print(f"\n{failure}", file=sys.stderr)
    return 0 if failure is None else 1


if __name__ == "__main__":
    sys.exit(main())
