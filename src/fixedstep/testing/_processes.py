"""Runs in fresh processes, for `assert_deterministic`: the side that compares.

All processes run at the same time and go from tick to tick together, so that the states that
differ first are still there to be shown, and nothing is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from .._arguments import shown
from ._states import Table, difference

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from fixedstep.testing._child import main; main()"
)


def job_of(run: Callable[..., object]) -> dict[str, str]:
    """Where another process finds ``run``; ValueError if it cannot."""
    module, name = getattr(run, "__module__", None), getattr(run, "__qualname__", "<no name>")
    found: Any = sys.modules.get(module or "")
    file = getattr(found, "__file__", None) or ""
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not run or (module == "__main__" and not os.path.isfile(file)):
        raise ValueError(
            f"run must be a function at the top of a module, which other processes can import, "
            f"not {shown(run)}; move it there, or leave out processes="
        )
    return {"module": str(module), "file": file, "name": name}


class Process:
    """One run, in a process with a hash seed of its own."""

    def __init__(self, number: int, job: dict[str, str], core: str | None) -> None:
        self.number = number
        seed = str(number)
        self.name = f"in process {number} (hash seed {seed}{f', {core} core' if core else ''})"
        environment = os.environ | {"PYTHONHASHSEED": seed}
        if core:
            environment["FIXEDSTEP_BACKEND"] = core
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by `close`
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            encoding="utf-8",
        )
        self.say(json.dumps(job))

    def say(self, line: str) -> None:
        """Send a line. A process that has ended shows it at the next `hear`."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next message; an error is one too."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            message: dict[str, Any] = json.loads(line)
            return message
        code = self._process.wait()
        self._errors.seek(0)
        last = self._errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        return {"error": f"exit code {code}{f' and {last}' if last else ''}"}

    def table(self) -> Table:
        """The state of the tick whose digest came last."""
        self.say("show")
        rows = self.hear()["table"]
        return {path: (bytes.fromhex(part), text) for path, part, text in rows}

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            assert stream is not None
            with contextlib.suppress(OSError):  # a line that nobody read
                stream.close()


def compare(processes: list[Process]) -> str | None:
    """The report on the first difference, or None."""
    first, *others = processes
    digests: set[int] = set()
    tick = 0
    while True:
        messages = {process: process.hear() for process in processes}
        for process, message in messages.items():
            if "error" in message:
                return f"tick {tick}: the run {process.name} ended with {message['error']}"
        ended = [process for process, message in messages.items() if "end" in message]
        if len(ended) == len(processes):
            break
        if ended:
            longer = next(process for process in processes if process not in ended)
            return (
                f"equal for {tick} ticks, and then there are {tick} ticks {ended[0].name} and more "
                f"{longer.name}"
            )
        for other in others:
            if messages[other] != messages[first]:
                return difference(tick, first.table(), first.name, other.table(), other.name)
        digests.add(messages[first]["digest"])
        tick += 1
        for process in processes:
            process.say("go")
    if tick == 0:
        return "nothing was compared: no tick in the processes; let the game run longer"
    return None
