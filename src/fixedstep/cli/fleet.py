"""Many captures at once: which files they are, and a pool of processes that reads them.

A file that is no capture, or that ends its process, leaves the figures of the others as they are.
All files in a folder are read but hidden ones, since formats are found by content and not by name;
pipes and devices are left out, which could block a reader for ever. The pool starts new
interpreters: a fork would copy whatever threads the caller has. Each has a pipe and one file at a
time. The pool of ``concurrent.futures`` cannot be used: at Ctrl-C it goes through all queued files,
and it does not say which file a process died of.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from ..captures import AnalysisSettings

#: Fewer files than this are read here: starting a process takes as long as reading ten megabytes.
_WORTH_A_POOL = 8
#: A file of fewer bytes is read before a bar would be looked at.
_LONG_FILE = 32_000_000
#: Windows waits for 63 things at once and no more.
_MOST_PROCESSES = 60 if sys.platform == "win32" else 64


def files_in(paths: Sequence[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """The files, and those in the folders and below, in the order of their names; and, as results
    with an error, the folders that cannot be listed or have no file in them."""
    found: list[str] = []
    failed: list[dict[str, Any]] = []

    def fail(path: str, why: str) -> None:
        failed.append({"path": path, "error": f"{path}: {why}"})

    def unlisted(error: OSError) -> None:
        fail(str(error.filename), error.strerror or str(error))

    for path in paths:
        if not os.path.isdir(path):
            found.append(path)
            continue
        before = len(failed)
        inside = sorted(_below(path, unlisted))
        if not inside and len(failed) == before:
            fail(path, "is a directory without files")
        found += inside
    return found, failed


def _below(folder: str, unlisted: Callable[[OSError], None]) -> Iterator[str]:
    waiting = [folder]  # os.walk calls itself for each level below, up to Python 3.11
    while waiting:
        at = waiting.pop()
        try:
            names = os.listdir(at)
        except OSError as error:
            unlisted(error)
            continue
        for name in names:
            path = os.path.join(at, name)
            if name.startswith("."):
                continue
            if os.path.isdir(path):
                if not os.path.islink(path):
                    waiting.append(path)
            # A link to nowhere is listed too, so that it is reported.
            elif os.path.isfile(path) or not os.path.exists(path):
                yield path


def analyze_all(
    files: Sequence[str], settings: AnalysisSettings, jobs: int | None
) -> list[dict[str, Any]]:
    """`analyze` of each file, in their order, on so many processes (None: as many as pay)."""
    from ..captures import analysis

    if jobs is None:
        jobs = min(os.cpu_count() or 1, len(files)) if len(files) >= _WORTH_A_POOL else 1
    shared = [index for index, file in enumerate(files) if _shareable(file)]
    results: dict[int, dict[str, Any]] = {}
    if len(files) == 1:
        with _reading() as progress:
            return [analysis.analyze(files[0], settings, progress=progress)]
    with _progress(len(files)) as advance:
        if jobs > 1 and len(shared) > 1:
            _in_processes(files, shared, settings, jobs, results, advance)
        for index, file in enumerate(files):
            if index not in results:
                results[index] = analysis.analyze(file, settings)
                advance()
    return [results[index] for index in range(len(files))]


def _shareable(file: str) -> bool:
    """Whether another process finds the same under this name. Standard input and pipes are this
    process's own, and so may be all that the system makes up, as in /dev/fd and /proc/self."""
    from ..captures.source import STANDARD_INPUT

    if file == STANDARD_INPUT or file.startswith(("/dev/", "/proc/")):
        return False
    return os.path.isfile(file) or not os.path.exists(file)


def _in_processes(
    files: Sequence[str],
    chosen: Sequence[int],
    settings: AnalysisSettings,
    jobs: int,
    results: dict[int, dict[str, Any]],
    advance: Callable[[], None],
) -> None:
    """Fill in the ``results`` of the ``chosen`` files."""

    def found(index: int, result: dict[str, Any]) -> None:
        results[index] = result
        advance()

    _share_out(files, chosen, settings, min(jobs, _MOST_PROCESSES), found)
    # A process may have died of what the others took up at the time: what it had is read again, one
    # by one, and given up where that ends a process too.
    for index in chosen:
        if index not in results:
            _share_out(files, [index], settings, 1, found)
        if index not in results:
            error = (
                f"{files[index]}: the process that read it ended, perhaps because memory ran out"
            )
            found(index, {"path": files[index], "error": error})


def _share_out(
    files: Sequence[str],
    chosen: Sequence[int],
    settings: AnalysisSettings,
    jobs: int,
    found: Callable[[int, dict[str, Any]], None],
) -> None:
    """Tell what was ``found`` in the ``chosen`` files; nothing of one whose process died."""
    from multiprocessing import connection, get_context

    context = get_context("spawn")
    waiting = list(reversed(chosen))
    processes: list[BaseProcess] = []
    at_work: dict[Any, int] = {}  # by their pipes

    def hand_out(pipe: Connection) -> None:
        at_work[pipe] = waiting.pop()
        with suppress(OSError):  # its process is dead, which shows where its answer should be
            pipe.send(files[at_work[pipe]])

    def start() -> None:
        pipe, other_end = context.Pipe()
        process = context.Process(target=_work, args=(other_end, settings), daemon=True)
        with _interrupts_held():
            process.start()
            processes.append(process)
        other_end.close()
        hand_out(pipe)

    try:
        for _ in range(min(jobs, len(waiting))):
            start()
        while at_work:
            ready: list[Any] = connection.wait(list(at_work))
            for pipe in ready:
                index = at_work.pop(pipe)
                try:
                    result = pipe.recv()
                except (EOFError, OSError):
                    if waiting:
                        start()
                    continue
                if isinstance(result, str):
                    raise RuntimeError(f"{files[index]}: its process failed\n{result}")
                found(index, result)
                if waiting:
                    hand_out(pipe)
    finally:  # the end of their work, or Ctrl-C, which they do not hear
        with _interrupts_held():
            for process in processes:
                process.terminate()
            for process in processes:
                process.join()


def _work(pipe: Connection, settings: AnalysisSettings) -> None:
    """Read the files that come, in another process, until the pipe ends."""
    import traceback

    from ..captures import analyze

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for Windows, where it was not held
    with suppress(EOFError, OSError):
        while True:
            file = pipe.recv()
            found: dict[str, Any] | str
            try:
                found = analyze(file, settings)
            except Exception:
                found = traceback.format_exc()
            pipe.send(found)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until this is over. A process that is started here never hears one: what it
    would print while it starts is no news, and its end is up to whoever started it."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its start, otherwise within the next one, lets them through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on the error output, if somebody looks at it."""
    if total < 2 or not sys.stderr.isatty():
        yield lambda: None
        return
    done = 0
    with _bar("captures") as show:

        def advance() -> None:
            nonlocal done
            done += 1
            show(done, total)

        yield advance


@contextmanager
def _reading() -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar for one file, once it proves to be long."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as stack:
        show: Callable[[int, int], None] | None = None
        shown = 0

        def progress(count: int, size: int | None) -> None:
            nonlocal show, shown
            if size is None or size < _LONG_FILE or count - shown < _LONG_FILE // 16:
                return
            show = show or stack.enter_context(_bar("MB read"))
            shown = count
            show(count // 10**6, size // 10**6)

        yield progress


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield lambda done, total: print(
            f"\r{done} of {total} {what}", end="", file=sys.stderr, flush=True
        )
        print(file=sys.stderr)
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
