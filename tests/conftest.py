"""How the suite meets the two cores, and what it does not run against.

Every test of the schedule takes the fixture ``core`` and so runs twice, once on each core. A core
that is missing is an error and not a skip: a suite that goes green because half of it did not run
is how a broken wheel ships. What is left out is left out by a flag that somebody typed:

    --core=reference   leave out everything that needs the compiled core
    --core=native      leave out the reference runs (comparisons between the cores stay)
    --no-source        leave out what reads or compiles csrc/, for a wheel tested without its source
    --allow-src        accept the package from the checkout's src/ instead of an installed one

The last one exists for the minute between an edit and an install. Without it the suite stops when
the package comes from ``src``, since a module that was never packaged would pass there.

One kind of test is the other way round. Tests with the marker ``toolkit`` open windows: they need
an X display and packages that the library does without, so they are left out (pytest counts them as
deselected, where it runs in one process), unless they are asked for:

    --toolkit=pygame   open the windows of that toolkit (or pyglet, arcade; again for more than one)

What was asked for and is not installed, or finds no display, is an error like a missing core.

Oracles do not belong here: each test file has its own beside what it checks.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fixedstep import reference as _reference

    class Core(Protocol):
        """What both cores are to a test: the types under their names."""

        FrameLoop: type[_reference.FrameLoop]
        FramePlan: type[_reference.FramePlan]
        FrameStats: type[_reference.FrameStats]
        FrameTiming: type[_reference.FrameTiming]
        StateHash: type[_reference.StateHash]
        Step: type[_reference.Step]
        Steps: type[_reference.Steps]
        __name__: str

        def digest(self, value: object, /) -> int: ...


CORES = ("native", "reference")
TOOLKITS = ("pygame", "pyglet", "arcade")
_TESTS = Path(__file__).resolve().parent
_PROFILE = "FIXEDSTEP_HYPOTHESIS"

settings.register_profile("ci", derandomize=True, max_examples=100, deadline=None, print_blob=True)
settings.register_profile("explore", max_examples=5000, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fixedstep")
    group.addoption(
        "--core",
        choices=CORES,
        help="run on this core only, on purpose; without it both must be there",
    )
    group.addoption(
        "--no-source",
        action="store_true",
        help="leave out the tests of csrc/, for a wheel tested away from its source",
    )
    group.addoption(
        "--allow-src",
        action="store_true",
        help="accept a package imported from the checkout's src/ folder",
    )
    group.addoption(
        "--toolkit",
        action="append",
        default=[],
        choices=TOOLKITS,
        help="open windows of this toolkit; it must be installed and have an X display",
    )


def _package_folder() -> Path:
    package = importlib.import_module("fixedstep")
    assert package.__file__ is not None
    return Path(package.__file__).resolve().parent


def pytest_configure(config: pytest.Config) -> None:
    profile = os.environ.get(_PROFILE, "ci")
    if profile not in ("ci", "explore"):
        raise pytest.UsageError(f"{_PROFILE} must be ci or explore, not {profile!r}")
    settings.load_profile(profile)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # behind nohup or &
        signal.signal(signal.SIGINT, signal.default_int_handler)

    folder = _package_folder()
    if (_TESTS.parent / "src") in folder.parents and not config.getoption("--allow-src"):
        raise pytest.UsageError(
            f"fixedstep was imported from {folder}, not from an installation: what is tested must "
            "be what ships. Install the checkout (pip install .), or say --allow-src"
        )


def pytest_report_header(config: pytest.Config) -> list[str]:
    backend = importlib.import_module("fixedstep").backend()
    only = config.getoption("--core")
    windows = " and ".join(config.getoption("--toolkit"))
    return [
        f"fixedstep: from {_package_folder()}",
        f"fixedstep core: {backend.name} ({backend.reason})",
        f"tested cores: {f'{only} alone, by --core' if only else ' and '.join(CORES)}"
        + ("; csrc/ left out, by --no-source" if config.getoption("--no-source") else ""),
        f"tested windows: {windows or 'none, --toolkit=... opens them'}",
    ]


def _needs(item: pytest.Item) -> set[str]:
    """Which of native, reference, source and the toolkits a test cannot run without."""
    fixtures = set(getattr(item, "fixturenames", ()))
    callspec = getattr(item, "callspec", None)
    params = {} if callspec is None else callspec.params
    needs = fixtures & {"native", "source"}
    if any(isinstance(value, str) and value == "native" for value in params.values()):
        needs.add("native")
    if params.get("core") == "reference":
        needs.add("reference")
    if item.get_closest_marker("toolkit") is not None:
        needs.add(params["toolkit"])
    return needs


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unwanted = {"native": {"reference"}, "reference": {"native"}}.get(
        config.getoption("--core"), set()
    )
    if config.getoption("--no-source"):
        unwanted = unwanted | {"source"}
    unwanted = unwanted | (set(TOOLKITS) - set(config.getoption("--toolkit")))
    left_out = [item for item in items if _needs(item) & unwanted]
    if left_out:
        items[:] = [item for item in items if not _needs(item) & unwanted]
        config.hook.pytest_deselected(items=left_out)


def _load(name: str) -> Core:
    if name == "native" and sys.implementation.name == "pypy":
        name = "_portable"  # what runs there: the reference's types, digests in the C core
    try:
        return cast("Core", importlib.import_module(f"fixedstep.{name}"))
    except ImportError as error:
        pytest.fail(
            f"the {name} core is missing ({error}); --core=reference leaves it out on purpose",
            pytrace=False,
        )


@pytest.fixture(scope="session", params=CORES)
def core(request: pytest.FixtureRequest) -> Core:
    """Each core in turn, as the module that holds its types."""
    return _load(request.param)


@pytest.fixture(scope="session")
def backend_setting(core: Core) -> str:
    """What FIXEDSTEP_BACKEND is in another process that shall run this core."""
    name = core.__name__.rpartition(".")[2]
    return "auto" if name == "_portable" else name


@pytest.fixture(scope="session")
def native() -> Core:
    """The compiled core, for what only it has and for comparisons."""
    return _load("native")


@pytest.fixture(scope="session")
def reference() -> Core:
    """The plain Python core, for comparisons."""
    return _load("reference")


@pytest.fixture(scope="session")
def lib(native: Core) -> Any:
    """The C core below the types: the functions of ``csrc/core`` on plain structs, through cffi."""
    return importlib.import_module("fixedstep._core").lib


@pytest.fixture(scope="session")
def ffi(native: Core) -> Any:
    """What makes the structs for `lib`."""
    return importlib.import_module("fixedstep._core").ffi


@pytest.fixture(scope="session")
def source() -> Path:
    """The checkout's csrc/ folder."""
    folder = _TESTS.parent / "csrc"
    if not folder.is_dir():
        pytest.fail(
            f"no C source at {folder}; --no-source leaves its tests out on purpose", pytrace=False
        )
    return folder


@pytest.fixture
def quiet_collector() -> Iterator[None]:
    """No collection but those that a test asks for, and those without the objects of the whole
    suite, which would make each take longer than what is measured."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()
