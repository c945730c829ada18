"""A run in a fresh process, for `assert_deterministic`: the side of the process.

It sends one line of JSON for each tick, the digest of the state, and waits for an answer: "go" for
the next tick, "show" for the table of this state, while it is still there.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from typing import Any, TextIO

from ._states import digest_of, table_of


def main() -> None:
    """Run what the first line names; what it prints goes to the standard error."""
    asked = os.fdopen(os.dup(0), encoding="utf-8")
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    try:
        _serve(json.loads(asked.readline()), asked, told)
    except BrokenPipeError:  # the other runs have differed, and nobody listens any more
        os._exit(0)
    except BaseException as error:
        _tell(told, error=f"{type(error).__name__}: {error}")
        raise


def _serve(job: dict[str, str], asked: TextIO, told: TextIO) -> None:
    run = _found(job["module"], job["file"])
    for name in job["name"].split("."):
        run = getattr(run, name)
    tick = -1
    for tick, state in enumerate(run()):
        _tell(told, digest=digest_of(tick, state))
        while (answer := asked.readline().strip()) == "show":
            table = table_of(state)
            _tell(told, table=[[path, part.hex(), text] for path, (part, text) in table.items()])
        if answer != "go":
            return
    _tell(told, end=tick + 1)


def _tell(told: TextIO, **message: object) -> None:
    told.write(json.dumps(message) + "\n")
    told.flush()


def _found(module: str, file: str) -> Any:
    """The module by its name; by its file where it has none, as a script or some tests have."""
    if module != "__main__":
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not file or error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise
    name = "__fixedstep_main__" if module == "__main__" else module
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found
