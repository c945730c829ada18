"""How the six types come back from a pickle: by name, in whichever core runs there.

A pickle names this function and a type, never a core, so a save made with the C core loads on a
machine that has only the reference, and the other way round.
"""

from __future__ import annotations

from typing import Any

_KINDS = frozenset({"FrameLoop", "FramePlan", "FrameStats", "StateHash", "Steps"})


def restore(kind: str, *state: int) -> Any:
    """The object of the chosen core with this state.

    Raises ValueError for an unknown kind, and what the type raises for a state that is damaged.
    """
    from .backend import core  # at call time: the cores themselves import this file

    if kind not in _KINDS:
        raise ValueError(f"no type is called {kind!r}; one of {', '.join(sorted(_KINDS))} can load")
    return getattr(core, kind)._from_state(*state)
