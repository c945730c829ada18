"""What is said where a toolkit is not installed, or has no display to open a window on.

Toolkits are imported when a window is wanted and no earlier, so that the library, its commands and
its tests need none of them. Python's own message then names a module; the name to install is
another one, and it is said here.

It refuses to choose a toolkit, and to open anything.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingToolkit(ImportError):
    """The toolkit is not installed; the text says what to install."""


class NoDisplay(RuntimeError):
    """The toolkit found no display to open a window on; the text says how to get one."""


def load(toolkit: str) -> Any:
    """The toolkit's module: ``"pygame"``, ``"pyglet"`` or ``"arcade"``.

    Raises MissingToolkit when it is not installed. Any other failure to import is the toolkit's
    own and is left as it is.
    """
    try:
        return import_module(toolkit)
    except ModuleNotFoundError as error:
        if error.name != toolkit:
            raise
        raise MissingToolkit(
            f"{toolkit} is not installed; pip install 'fixedstep[{toolkit}]' installs it",
            name=toolkit,
        ) from None


def no_display(toolkit: str, cause: object) -> NoDisplay:
    """The error to raise where ``toolkit`` failed to open a window because of ``cause``."""
    return NoDisplay(
        f"{toolkit} finds no display for a window ({cause}); start it from a desktop session, over "
        "ssh with `ssh -X`, or on a machine without a screen with a virtual one: "
        "`xvfb-run -a fixedstep demo --window " + toolkit + "`"
    )
