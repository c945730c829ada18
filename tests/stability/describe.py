"""What users may rely on, as lines of text: names, signatures, commands, options and formats.

    python tests/stability/describe.py > tests/stability/public.txt

writes the list that `test_stability.py` compares with. It says the same on every Python and on both
cores: annotations are left to the type checker, defaults are shown where they read the same
everywhere, and the types with two implementations are described by the reference, whose
signatures the native ones are tested against.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
from collections.abc import Iterator
from enum import Enum
from typing import Any

#: Everything public is reached through these packages, by their ``__all__``.
PACKAGES = (
    "fixedstep",
    "fixedstep.sim",
    "fixedstep.records",
    "fixedstep.testing",
    "fixedstep.captures",
    "fixedstep.host",
)
FORMATS = ("fixedstep.records.trace", "fixedstep.records.recording", "fixedstep.cli.analyze")

_OPERATORS = (
    "__aenter__",
    "__aexit__",
    "__aiter__",
    "__anext__",
    "__call__",
    "__contains__",
    "__enter__",
    "__exit__",
    "__getitem__",
    "__iter__",
    "__len__",
    "__lt__",
    "__next__",
    "__setitem__",
)
_PLAIN = (bool, int, str, type(None), tuple)


def _default(value: object) -> str:
    return repr(value) if type(value) in _PLAIN else f"<{type(value).__name__}>"


def signature(call: Any, skip: int = 0) -> str:
    """Parameters by name, kind and default; not by annotation."""
    parts: list[str] = []
    kinds = inspect.Parameter
    before = None
    for parameter in list(inspect.signature(call).parameters.values())[skip:]:
        kind, name = parameter.kind, parameter.name
        if before is kinds.POSITIONAL_ONLY and kind is not kinds.POSITIONAL_ONLY:
            parts.append("/")
        if kind is kinds.KEYWORD_ONLY and before not in (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL):
            parts.append("*")
        stars = "*" * (kind is kinds.VAR_POSITIONAL) + "**" * (kind is kinds.VAR_KEYWORD)
        has_default = parameter.default is not kinds.empty
        parts.append(stars + name + (f"={_default(parameter.default)}" if has_default else ""))
        before = kind
    if before is kinds.POSITIONAL_ONLY:
        parts.append("/")
    return f"({', '.join(parts)})"


def _member(kind: type, name: str, value: Any) -> str:
    if isinstance(value, property):
        return f"{name}: property"
    if isinstance(value, staticmethod):
        return f"{name}{signature(value.__func__)} static"
    if isinstance(value, classmethod):
        return f"{name}{signature(value.__func__, 1)} of the class"
    if inspect.isfunction(value):
        asynchronous = "async " if inspect.iscoroutinefunction(value) else ""
        return f"{asynchronous}{name}{signature(value, 1)}"
    if inspect.ismemberdescriptor(value) or hasattr(value, "__get__"):
        return f"{name}: attribute"
    return f"{name} = {_default(value)}"


def _class(where: str, kind: type) -> Iterator[str]:
    own = [base for base in kind.__mro__ if base.__module__.partition(".")[0] == "fixedstep"]
    if issubclass(kind, Enum):
        yield f"{where}: enumeration"
        for member in kind:
            yield f"{where}.{member.name} = {member.value!r}"
    elif issubclass(kind, BaseException):
        bases = ", ".join(base.__name__ for base in kind.__mro__[1:-2])
        yield f"{where}: exception, {bases}"
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        defaults = kind._field_defaults  # type: ignore[attr-defined]
        fields = (f + (f"={_default(defaults[f])}" if f in defaults else "") for f in kind._fields)
        yield f"{where}: named tuple ({', '.join(fields)})"
    else:
        yield f"{where}: class {signature(kind)}"
    seen = set(getattr(kind, "_fields", ()))
    if issubclass(kind, Enum):
        seen |= set(kind.__members__)
    lines = []
    if dataclasses.is_dataclass(kind):
        for field in dataclasses.fields(kind):
            seen.add(field.name)
            lines.append(f"{where}.{field.name}: attribute")
    for base in own:
        for name, value in vars(base).items():
            if (name.startswith("_") and name not in _OPERATORS) or name in seen:
                continue
            seen.add(name)
            lines.append(f"{where}.{_member(kind, name, value)}")
    yield from sorted(lines)


def _value(where: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield from _class(where, value)
    elif inspect.isfunction(value):
        yield f"{where}{signature(value)}"
    elif hasattr(value, "__supertype__"):
        yield f"{where}: new type of {value.__supertype__.__name__}"
    elif hasattr(value, "keys"):
        yield f"{where}: mapping of {', '.join(map(str, value))}"
    else:
        yield f"{where}: {type(value).__name__}"


def names() -> Iterator[str]:
    """The public names of the library."""
    from fixedstep import reference

    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in sorted(module.__all__):
            doubled = package == "fixedstep" and hasattr(reference, name)
            twice = doubled and name in reference.__all__
            yield from _value(f"{package}.{name}", getattr(reference if twice else module, name))


def options() -> Iterator[str]:
    """The commands, with their arguments and what each takes."""
    from fixedstep.cli import _parser

    commands = next(
        action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    for name, parser in commands.choices.items():
        for action in parser._actions:
            if isinstance(action, argparse._HelpAction):
                continue
            words = "/".join(action.option_strings) or str(action.metavar or action.dest)
            takes = "" if action.nargs == 0 or not action.option_strings else " VALUE"
            choices = f" of {', '.join(map(str, action.choices))}" if action.choices else ""
            many = f" ({action.nargs})" if action.nargs in ("*", "+", "?") else ""
            yield f"fixedstep {name} {words}{takes}{choices}{many}"
        if len(parser._actions) == 1:
            yield f"fixedstep {name}"


def formats() -> Iterator[str]:
    """The files that are written, by name and version."""
    for path in FORMATS:
        module = importlib.import_module(path)
        yield f"format {module.FORMAT} version {module.VERSION}"


def public() -> list[str]:
    """All of it, a line each."""
    return [*names(), *options(), *formats()]


if __name__ == "__main__":
    print("\n".join(public()))
