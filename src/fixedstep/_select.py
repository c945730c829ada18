"""The choice of a core, made from the environment, which no other file of the library reads.

``FIXEDSTEP_BACKEND`` is ``auto`` (the C core where it loads, else the reference), ``native`` (the C
core or an error) or ``reference``. Empty is ``auto``. Anything else is an error, at import, because
a misspelt setting that is silently ignored is found months later. The choice is made once for a
process: two cores taking turns under one name would make ``type(plan) is FramePlan`` a matter of
luck.

PyPy has no C types: there ``auto`` is the reference's types with faster digests.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import NamedTuple

from . import _plans
from ._saved import register_core

VARIABLE = "FIXEDSTEP_BACKEND"


class Backend(NamedTuple):
    """The chosen core, and why it was chosen."""

    name: str
    """``"native"`` or ``"reference"``."""
    reason: str
    """Why, in words: the setting, or what kept the native core from loading."""


def _choose(wanted: str) -> tuple[ModuleType, Backend]:
    # The core that is not chosen is not loaded: it would add to the start of every program.
    if wanted == "reference":
        return _reference(f"{VARIABLE}=reference")
    if wanted not in ("auto", "native"):
        raise ImportError(
            f"{VARIABLE} must be auto, native or reference, not {wanted!r}; "
            "unset it for auto, which prefers native"
        )
    if wanted == "auto" and sys.implementation.name == "pypy":
        from . import _portable

        return _portable, Backend("reference", f"PyPy has no C types; {_portable.DIGESTS}")
    try:
        from . import native
    except ImportError as error:
        if wanted == "native":
            raise
        return _reference(f"no native core: {error}")
    return native, Backend("native", "it loads" if wanted == "auto" else f"{VARIABLE}=native")


def _reference(reason: str) -> tuple[ModuleType, Backend]:
    from . import reference

    return reference, Backend("reference", reason)


core, _backend = _choose(os.environ.get(VARIABLE) or "auto")
register_core(core)
# for typing.get_type_hints: a module of both cores cannot import the type of one
vars(_plans)["FramePlan"] = core.FramePlan


def backend() -> Backend:
    """Which core this process runs, and why.

    >>> backend().name in ("native", "reference")
    True
    """
    return _backend
