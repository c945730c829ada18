"""Errors for a toolkit that is not installed, or that has no display to open a window on.

Toolkits are imported when a window is run, so that the library, its commands and its tests need
none of them. Python's own message names the module, which is not always the name to install.
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
