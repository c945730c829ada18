"""What values have in common: ==, hash, repr, copy and pickle, from their constructor arguments.

A type that derives from `Saved` says once which arguments make an equal object (``_arguments``),
and everything else follows: two objects are equal if their arguments are, the repr is the call that
makes it, and a pickle holds the arguments and calls the constructor when it is loaded. So a damaged
pickle raises what a wrong argument raises, and never makes an object that fails later. `Value` is
for types that never change: it adds the hash, and forbids assignment.

Every pickle of the library names one function, ``fixedstep.restore``, and the public name of a
type. It names no module and no core, so modules can move, and a save made with the C core loads
where only the reference core runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from ._arguments import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from typing_extensions import Self

#: The types that exist once for each core, and how many values the state of each has (8 for a loop
#: whose speed was changed). A type that comes to need another value gets another name here, so
#: that an older release says that it cannot load it.
_OF_A_CORE = {
    "FrameLoop": (6, 8),
    "FramePlan": (6,),
    "FrameStats": (4,),
    "FrameTiming": (1,),
    "StateHash": (1,),
    "Steps": (4,),
}

#: Packages whose types register when they are imported; "sim.Deadline" is one of the first.
_PACKAGES = ("sim", "testing")

_Made = TypeVar("_Made")

_types: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {}
_core: ModuleType


def register(kind: str, make: Callable[..., Any], *lengths: int) -> None:
    """Let ``restore(kind, ...)`` call ``make`` with so many values, one of ``lengths``."""
    _types[kind] = make, lengths


def register_core(core: ModuleType) -> None:
    """Load the pickles of both cores as objects of this one."""
    global _core
    _core = core
    for kind, lengths in _OF_A_CORE.items():
        register(kind, getattr(core, kind)._from_state, *lengths)


def type_of_core(name: str) -> Any:
    """The type of this name, of the core that was chosen."""
    return getattr(_core, name)


def restore(kind: str, /, *state: Any) -> Any:
    """The object that a pickle of this library holds. Only ``pickle`` needs to call it.

    ``kind`` is the public name of a type, ``"FrameLoop"`` or ``"sim.Deadline"``, and ``state`` what
    the pickle carries. The object is of the core that runs, whichever core made the pickle.

    >>> from fixedstep import restore
    >>> restore("Timestep", {"nanos": 20_000_000})
    Timestep(20000000)

    Raises ValueError for an unknown kind, TypeError for a state of another length or with other
    arguments, and what the constructor raises for an argument that is damaged.
    """
    found = _types.get(kind) if isinstance(kind, str) else None
    if found is None and isinstance(kind, str) and kind.partition(".")[0] in _PACKAGES:
        from importlib import import_module

        import_module(f"fixedstep.{kind.partition('.')[0]}")
        found = _types.get(kind)
    if found is None:
        raise ValueError(
            f"no type is called {shown(kind)}; one of {', '.join(sorted(_types))} can load, and "
            "what another release saved loads in that release"
        )
    make, lengths = found
    if len(state) not in lengths:
        known = " or ".join(map(str, lengths))
        raise TypeError(
            f"the saved state of a {kind} has {known} values, not {len(state)}; it is damaged, or "
            "another release saved it: load it there"
        )
    return make(*state)


restore.__module__ = "fixedstep"  # where pickles find it


def made_from(
    kind: str,
    make: Callable[..., _Made],
    names: Callable[[_Made], dict[str, Any]],
    arguments: object,
) -> _Made:
    """What ``make`` returns for the arguments in a pickle, if they are all of ``names``."""
    if type(arguments) is not dict:
        raise TypeError(
            f"the saved arguments of a {kind} must be a dict, not "
            f"{type(arguments).__name__} {shown(arguments)}; the saved state is damaged"
        )
    made = make(**arguments)
    if arguments.keys() != (needed := names(made).keys()):
        raise TypeError(
            f"a saved {kind} has the arguments {', '.join(needed)}, not only "
            f"{', '.join(arguments)}; it is damaged, or another release saved it: load it there"
        )
    return made


class Saved:
    """A type whose state is its constructor arguments.

    ``class Timer(Saved, kind="sim.Timer")`` registers the type under its name in pickles. Such a
    type cannot be subclassed. Arguments that are named in ``__match_args__`` are printed without
    their names; where these attributes are all arguments, ``_arguments`` need not be written.
    """

    __slots__ = ()
    _kind: ClassVar[str]

    def __init_subclass__(cls, *, kind: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        for base in cls.__bases__:
            if "_kind" in vars(base):
                raise TypeError(
                    f"{base.__name__} cannot be subclassed: copies, pickles and == would not know "
                    f"the subclass; keep a {base.__name__} beside what is to be added"
                )
        if kind:
            cls._kind = kind
            register(kind, cls._from_saved, 1)

    def _arguments(self) -> dict[str, Any]:
        """The arguments that make an equal object, by name, in the constructor's order."""
        return {name: getattr(self, name) for name in _unnamed(self)}

    @classmethod
    def _from_saved(cls, arguments: dict[str, Any]) -> Self:
        return made_from(cls._kind, cls, cls._arguments, arguments)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._arguments() == other._arguments()

    def __repr__(self) -> str:
        inside = (
            repr(value) if name in _unnamed(self) else f"{name}={value!r}"
            for name, value in self._arguments().items()
        )
        return f"{type(self).__name__}({', '.join(inside)})"

    def __copy__(self) -> Self:
        return type(self)(**self._arguments())

    def __deepcopy__(self, memo: dict[int, Any], /) -> Self:
        from copy import deepcopy

        return type(self)(**deepcopy(self._arguments(), memo))

    def __replace__(self, /, **changes: Any) -> Self:
        return type(self)(**{**self._arguments(), **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self._kind, self._arguments())


def _unnamed(value: object) -> tuple[str, ...]:
    found: tuple[str, ...] = getattr(value, "__match_args__", ())
    return found


class Value(Saved):
    """A `Saved` that never changes. Its constructor is ``__new__``, which calls ``_made``: an
    ``__init__`` could be called again on an object that others hold."""

    __slots__ = ()

    @classmethod
    def _made(cls, **attributes: Any) -> Self:
        """A new object with these attributes, which are checked already."""
        self = object.__new__(cls)
        for name, value in attributes.items():
            object.__setattr__(self, name, value)
        return self

    def __setattr__(self, name: str, value: object) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(f"{kind} cannot be changed; make a new {kind} with the other {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; {name} stays")

    def __hash__(self) -> int:
        return hash((self._kind, *self._arguments().values()))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object, /) -> Self:
        return self
