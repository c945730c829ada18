"""The digests of a world: what ``world.digests()`` returns, checked and made plain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from .. import StateHash, reference
from .._arguments import U64_MAX, shown

#: Mappings within mappings in digests.
DEEPEST_DIGESTS: Final = 32

#: The digests of both cores, whichever made them.
HASHES: Final = (StateHash, reference.StateHash)

Digests: TypeAlias = "Mapping[str, int | Digests]"
"""Digests by name, nested as ``world.digests()`` returned them."""


def world_digests(world: Any) -> dict[str, Any]:
    """What ``world.digests()`` returns, as nested integers.

    Raises TypeError and ValueError for anything else, and for no digest at all: it would prove
    nothing.
    """
    found = world.digests()
    if not isinstance(found, Mapping):
        raise TypeError(
            f"digests() must return a mapping from names to StateHash, not {type(found).__name__} "
            f"{shown(found)}; return {{'player': StateHash().absorb_i64(self.x)}}"
        )
    if not found:
        raise ValueError(
            "digests() must return at least one digest; without one, no difference would be seen"
        )
    return _plain_digests(found, DEEPEST_DIGESTS)


def _plain_digests(found: Mapping[Any, Any], levels: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, value in found.items():
        name = str(key) if type(key) is int else key
        if type(name) is not str or not name:
            raise TypeError(
                f"the names of digests must be str or int and not empty, not {type(key).__name__} "
                f"{shown(key)}; 'player' is one"
            )
        if name in plain:
            raise ValueError(f"digests() has {shown(name)} twice; leave one out")
        if isinstance(value, HASHES):
            plain[name] = value.finish()
        elif type(value) is int and 0 <= value <= U64_MAX:
            plain[name] = value
        elif isinstance(value, Mapping):
            if not levels:
                raise ValueError(f"digests() must be at most {DEEPEST_DIGESTS} mappings deep")
            plain[name] = _plain_digests(value, levels - 1)
        else:
            raise TypeError(
                f"the digest of {shown(name)} must be a StateHash, an int of 64 bits or a mapping, "
                f"not {type(value).__name__} {shown(value)}; fixedstep.digest(value) makes one of "
                "lists, dataclasses and most other values"
            )
    return plain
