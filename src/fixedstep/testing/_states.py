"""What a state is to a comparison: a digest, and a table of its parts for the report."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from .. import _encoding, digest
from .._arguments import shown
from ..records.lines import digest_text
from ..sim.digests import DEEPEST_DIGESTS, HASHES

#: The parts of a state in its own order: path, what is compared, and how the report shows it.
Table: TypeAlias = dict[str, tuple[bytes, str]]

_Part: TypeAlias = tuple[_encoding.Step, Any]

_ABSENT = "nothing"


def digest_of(tick: int, state: Any) -> int:
    """The digest of a state; an error names the tick too."""
    try:
        return digest(_finished(_as_digested(state)))
    except (TypeError, ValueError) as error:
        if type(error) not in (TypeError, ValueError):
            raise
        raise type(error)(f"tick {tick}, {error}") from error


def table_of(state: Any) -> Table:
    """The parts of a state that has a digest."""
    return {
        _encoding.path(steps): (compared, text)
        for steps, compared, text in _walk([], _as_digested(state))
    }


def difference(tick: int, one: Table, first: str, two: Table, other: str) -> str:
    """The report on two states that differ: the first part that does, and both of its values."""
    nothing = (b"", _ABSENT)
    for path in one | two:
        left, right = one.get(path, nothing), two.get(path, nothing)
        if left[0] != right[0]:
            where = f"tick {tick}, {path}" if path else f"tick {tick}"
            return f"{where}: {left[1]} {first} and {right[1]} {other}"
    return f"tick {tick}: the states differ {first} and {other}, in a part without a name"


def _as_digested(state: Any) -> Any:
    return dict(state) if isinstance(state, Mapping) else state


def _finished(state: Any, levels: int = DEEPEST_DIGESTS) -> Any:
    """The state with the numbers of its digests, as ``world.digests()`` may nest them."""
    if isinstance(state, HASHES):
        return state.finish()
    if type(state) is dict and levels:
        return {key: _finished(value, levels - 1) for key, value in state.items()}
    return state


def _walk(steps: list[_encoding.Step], value: Any) -> Iterator[tuple[Any, bytes, str]]:
    if isinstance(value, HASHES):
        yield steps, _encoding.encode(value.finish()), digest_text(value.finish())
        return
    container = _container(value)
    if container is None:
        yield steps, _encoding.encode(value), shown(value)
        return
    compared, text, parts = container
    yield steps, compared, text
    for step, part in parts:
        yield from _walk([*steps, step], part)


def _container(value: Any) -> tuple[bytes, str, list[_Part]] | None:
    """What tells a container from others but its parts, how it is called, and the parts; None for
    what has none."""
    kind = type(value)
    if kind in (list, tuple):
        return _named(kind.__name__, [(("i", index), item) for index, item in enumerate(value)])
    if kind is deque:
        items: list[_Part] = [(("a", "maxlen"), value.maxlen)]
        return _named("deque", items + [(("i", index), item) for index, item in enumerate(value)])
    if isinstance(value, dict):
        return _named("dict", [(("k", key), part) for key, part in value.items()])
    if kind in (set, frozenset):
        elements = sorted(value, key=_encoding.encode)
        return _named("set", [(("e", element), element) for element in elements])
    rule = _encoding.rule(kind)
    if rule is None:
        return None
    if rule.code == _encoding.FIELDS:
        fields: list[_Part] = [(("a", name), getattr(value, name)) for name in rule.names]
        return _named(kind.__qualname__, fields)
    if rule.code == _encoding.ITEMS:
        pairs = zip(rule.names, tuple.__iter__(value), strict=False)
        return _named(kind.__qualname__, [(("a", name), item) for name, item in pairs])
    if rule.code == _encoding.DIGEST and rule.call is not None:
        return _named(kind.__qualname__, [(("a", rule.names[0]), rule.call(value))])
    if rule.code == _encoding.TYPED and rule.call is not None:
        head, _, _ = rule.call(value)
        elements = [(("i", index), item) for index, item in enumerate(_elements(value))]
        return head, f"an array of {len(elements)}", elements
    return None


def _elements(value: Any) -> list[Any]:
    whole = value.tolist()
    return whole if isinstance(whole, list) else [whole]  # an array without dimensions


def _named(name: str, parts: list[_Part]) -> tuple[bytes, str, list[_Part]]:
    return name.encode(), f"a {name}", parts
