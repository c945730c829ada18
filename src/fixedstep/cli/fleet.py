"""Many captures at once: which files they are, and a pool of processes that reads them.

One file that is no capture, or that ends its process, costs its own figures and no other's. Folders
are taken with all files below them except what is hidden, since formats are told by content and not
by name. A pipe or a device in a folder is no file, and could keep its reader for ever. The pool
starts fresh interpreters: a fork would copy whatever threads the caller has.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..captures import Settings

#: Fewer files than this are read here: starting a process takes as long as reading ten megabytes.
_WORTH_A_POOL = 8


def files_in(paths: Sequence[str]) -> list[str]:
    """The files, and those in the folders and below, in the order of their names.

    Raises OSError for a folder that cannot be listed or has no file in it.
    """
    found = []
    for path in paths:
        if not os.path.isdir(path):
            found.append(path)
            continue
        inside = sorted(_below(path))
        if not inside:
            raise IsADirectoryError(0, "is a directory without files", path)
        found += inside
    return found


def _below(folder: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise error

    for at, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = os.path.join(at, name)
            # A link to nowhere is listed too, so that it is told.
            if not name.startswith(".") and (os.path.isfile(path) or not os.path.exists(path)):
                yield path


def analyze_all(files: Sequence[str], settings: Settings, jobs: int | None) -> list[dict[str, Any]]:
    """`analyze_one` of each file, in their order, on so many processes (None: as many as pay)."""
    from ..captures import analysis

    if jobs is None:
        jobs = min(os.cpu_count() or 1, len(files)) if len(files) >= _WORTH_A_POOL else 1
    with _progress(len(files)) as advance:
        if jobs > 1 and len(files) > 1:
            return _in_processes(files, settings, jobs, advance)
        results = []
        for file in files:
            results.append(analysis.analyze_one(file, settings))
            advance()
        return results


def _in_processes(
    files: Sequence[str], settings: Settings, jobs: int, advance: Callable[[], None]
) -> list[dict[str, Any]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    from ..captures import analyze_one

    results: dict[int, dict[str, Any]] = {}
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, context) as pool:
        futures = {
            pool.submit(analyze_one, file, settings): index for index, file in enumerate(files)
        }
        for future in as_completed(futures):
            try:
                results[futures[future]] = future.result()
            except BrokenProcessPool:
                continue
            advance()
    # A process that died takes the pool with it, and which file was its last is not told: what is
    # left is read one by one, each in a process that may die of it.
    for index, file in enumerate(files):
        if index in results:
            continue
        with ProcessPoolExecutor(1, context) as pool:
            try:
                results[index] = pool.submit(analyze_one, file, settings).result()
            except BrokenProcessPool:
                error = f"{file}: the process that read it was ended, perhaps for want of memory"
                results[index] = {"path": file, "error": error}
        advance()
    return [results[index] for index in range(len(files))]


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on the error output, if somebody looks at it and there is something to wait for."""
    if total < 2 or not sys.stderr.isatty():
        yield lambda: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            print(f"\r{done} of {total} captures", end="", file=sys.stderr, flush=True)

        yield advance
        print(file=sys.stderr)
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("captures", total=total)
        yield lambda: bar.advance(task)
