"""How the six types come back from a pickle: by name, in whichever core runs there.

A pickle names this function and a type, never a core, so a save made with the C core loads on a
machine that has only the reference, and the other way round.
"""

from __future__ import annotations

from typing import Any

#: The types, and how many numbers the state of each has. A type that comes to need another number
#: gets another name here, so that an older release says that it cannot load it.
_KINDS = {"FrameLoop": 6, "FramePlan": 6, "FrameStats": 4, "StateHash": 1, "Steps": 4}
_LOOP_WITH_SPEED = 8


def restore(kind: str, *state: int | None) -> Any:
    """The object of the chosen core with this state.

    Raises ValueError for an unknown kind, TypeError for a state of another length, and what the
    type raises for one that is damaged.
    """
    from ._select import core  # at call time: the cores themselves import this file

    if kind not in _KINDS:
        raise ValueError(
            f"no type is called {kind!r}; one of {', '.join(sorted(_KINDS))} can load, and what "
            "another release saved loads in that release"
        )
    if len(state) != _KINDS[kind] and (kind, len(state)) != ("FrameLoop", _LOOP_WITH_SPEED):
        raise TypeError(
            f"the saved state of a {kind} has {_KINDS[kind]} numbers, not {len(state)}; it is "
            "damaged, or another release saved it: load it there"
        )
    return getattr(core, kind)._from_state(*state)
