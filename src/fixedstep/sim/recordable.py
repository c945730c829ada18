"""What may cross the border of a tick: values that a recording can hold and give back exactly.

Messages, targets and results of background work pass `check_recordable` whether or not a recording
runs, so that switching a recording on never changes a game.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar, Union

from .._arguments import I64_MIN, U64_MAX, shown

Recordable: TypeAlias = Union[
    bool,
    int,
    float,
    str,
    bytes,
    "list[Recordable]",
    "tuple[Recordable, ...]",
    "dict[str, Recordable]",
    None,
]
"""None, a bool, an int of 64 bits, a float, a str, bytes, or a list, tuple or dict of those."""

V = TypeVar("V")

DEEPEST = 32
"""Lists, tuples and dicts within each other: each level takes a piece of a reader's stack."""

_ATOMS = frozenset({type(None), bool, float, bytes})


def check_recordable(value: V, name: str = "value") -> V:
    """The value, if a recording can hold it.

    >>> check_recordable((3, "path", [1, 2]))
    (3, 'path', [1, 2])
    >>> check_recordable({"unit": object})
    Traceback (most recent call last):
        ...
    TypeError: value must be None, a bool, an int, a float, a str, bytes, or a list, tuple or dict \
of those, not type <class 'object'>; pass the id of an entity instead of the entity

    Raises TypeError for anything else, subclasses included, OverflowError for an integer that 64
    bits cannot hold, and ValueError for values more than 32 deep or text that UTF-8 cannot hold.
    """
    _check(value, name, DEEPEST)
    return value


def _check(value: object, name: str, levels: int) -> None:
    kind = type(value)
    if kind in _ATOMS:
        return
    if kind is int:
        if not I64_MIN <= value <= U64_MAX:  # type: ignore[operator]
            raise OverflowError(
                f"{name} must be an integer of 64 bits, not {shown(value)}; pass it as text"
            )
    elif kind is str:
        try:
            value.encode()  # type: ignore[attr-defined]
        except UnicodeEncodeError:
            raise ValueError(
                f"{name} must be text that UTF-8 can hold, not {shown(value)}; encode it first"
            ) from None
    elif kind in (list, tuple, dict):
        if not levels:
            raise ValueError(
                f"{name} must be at most {DEEPEST} levels deep; split it into several values"
            )
        if kind is dict:
            for key in value:  # type: ignore[attr-defined]
                if type(key) is not str:
                    raise TypeError(
                        f"the keys of {name} must be str, not {type(key).__name__} {shown(key)}; "
                        "use str(key)"
                    )
                _check(key, name, levels)
            value = value.values()  # type: ignore[attr-defined]
        for item in value:  # type: ignore[attr-defined]
            _check(item, name, levels - 1)
    else:
        raise TypeError(
            f"{name} must be None, a bool, an int, a float, a str, bytes, or a list, tuple or dict "
            f"of those, not {kind.__name__} {shown(value)}; pass the id of an entity instead of "
            "the entity"
        )


def check_hashable(value: V, name: str) -> V:
    """The value, if it has a hash: what has none can change after it was staged."""
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"{name} must be a value that cannot change, not {type(value).__name__} "
            f"{shown(value)}; tuple(...) makes one of a list"
        ) from None
    return value
