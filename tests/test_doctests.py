"""The documentation is true: its examples run, and both cores say the same about themselves."""

from __future__ import annotations

import doctest
import importlib
import inspect
from typing import TYPE_CHECKING, Any

import pytest

import fixedstep

if TYPE_CHECKING:
    from tests.conftest import Core

# What each module of floor 2 shows, at least. Fewer means that a docstring stopped being run.
EXAMPLES = {
    "fixedstep": 0,
    "fixedstep._arguments": 0,
    "fixedstep._select": 1,
    "fixedstep._state": 0,
    "fixedstep._plans": 3,
    "fixedstep.reference": 36,
    "fixedstep.text": 0,
    "fixedstep.time": 11,
    "fixedstep.timing": 1,
}
TYPES = ["FrameLoop", "FramePlan", "Steps", "StateHash", "FrameStats", "FrameTiming"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name), verbose=False)
    assert results.failed == 0
    assert results.attempted >= EXAMPLES[name]


def test_a_false_example_is_found() -> None:
    """The control: doctest is asked about a docstring that is wrong."""
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "false", None, 0)
    lines: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=lines.append).failed == 1


@pytest.mark.parametrize(
    "name",
    [name for name in fixedstep.__all__ if name not in ("Nanos", "Timestamp", "Alpha", "Backend")],
)
def test_every_public_name_has_an_example(name: str) -> None:
    docs = inspect.getdoc(getattr(fixedstep, name)) or ""
    assert ">>> " in docs


def members(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_")]


@pytest.mark.parametrize("name", TYPES)
def test_every_public_member_is_documented(core: Core, name: str) -> None:
    kind = getattr(core, name)
    assert inspect.getdoc(kind)
    for member in members(kind):
        assert len(inspect.getdoc(getattr(kind, member)) or "") > 10, member


@pytest.mark.parametrize("name", TYPES)
def test_both_cores_have_the_same_members(native: Core, reference: Core, name: str) -> None:
    of_native, of_reference = (set(members(getattr(c, name))) for c in (native, reference))
    assert of_native == of_reference
    special = {"__copy__", "__deepcopy__", "__reduce__", "__eq__", "__repr__", "_state"}
    for kind in (getattr(native, name), getattr(reference, name)):
        assert special | {"_from_state"} <= set(dir(kind))
        assert callable(kind._from_state)


@pytest.mark.parametrize("name", TYPES)
def test_both_cores_have_the_same_docstrings(native: Core, reference: Core, name: str) -> None:
    one, other = getattr(native, name), getattr(reference, name)
    assert inspect.getdoc(one) == inspect.getdoc(other) != ""
    assert members(other) or name == "Steps"
    for member in members(other):
        said = inspect.getdoc(getattr(one, member))
        assert said == inspect.getdoc(getattr(other, member)), member


def parameters(function: Any) -> list[tuple[str, Any, bool]]:
    """Names, kinds and whether there is a default; what the default is, is tested by calling. Of
    ``self`` only a function in Python says that it could be named."""
    return [
        (parameter.name, parameter.kind, parameter.default is not parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]


@pytest.mark.parametrize("name", TYPES)
def test_both_cores_have_the_same_signatures(native: Core, reference: Core, name: str) -> None:
    one, other = getattr(native, name), getattr(reference, name)
    assert parameters(one) == parameters(other)
    compared = 0
    for member in members(other):
        if inspect.isfunction(getattr(other, member)):
            assert parameters(getattr(one, member)) == parameters(getattr(other, member)), member
            compared += 1
    assert compared > 0 or name == "Steps"


@pytest.mark.parametrize("name", [*TYPES, "Step"])
def test_both_cores_call_the_types_by_the_same_name(
    native: Core, reference: Core, name: str
) -> None:
    for core in (native, reference):
        kind = getattr(core, name)
        assert kind.__name__ == kind.__qualname__ == name
        if name in TYPES:
            assert kind.__module__ == core.__name__
