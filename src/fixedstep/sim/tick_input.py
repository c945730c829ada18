"""The input of one tick: a value that can be compared, digested, written down and fed in again.

What a player does reaches a simulation in exactly one form, this one. It says nothing of devices,
keys, event times or frames, because none of those is the same on the next machine; a replay that
stored them would have to repeat the mapping too. An action has a name, a held and an axis value,
and the edges that happened since the last tick. Edges are counts: a flag is whether the count is
above zero, and a menu that two quick presses should move by two can read it.

Everything is an integer. An axis is thousandths of full deflection, since a float read from a stick
survives neither a text file nor another processor unchanged without care; whoever wants finer steps
chooses a finer unit, as the range is that of a signed 32-bit number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .._arguments import I64_MAX, I64_MIN, U32_MAX, integer, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .. import StateHash

_AXIS_FIX = "round(value * 1000) makes one of a float in -1 .. 1"
_EDGE_FIX = "count the edges since the last sample"


class ActionState(NamedTuple):
    """One action: what its control is now, and which edges happened since it was last asked.

    >>> ActionState(held=True, pressed=1) == PRESS
    True
    >>> RELEASE.neutral, CANCEL.cancelled
    (True, True)
    """

    held: bool = False
    """Whether the control is down."""
    axis: int = 0
    """Deflection in thousandths, -1000 .. 1000 for a stick; any signed 32-bit number is taken."""
    pressed: int = 0
    """How often it went down."""
    released: int = 0
    """How often it went up."""
    cancelled: bool = False
    """Whether what was held or pending is void: not a release, and nothing should be fired."""

    @property
    def neutral(self) -> bool:
        """Whether the control rests: not held, and axis 0."""
        return not self.held and self.axis == 0


PRESS = ActionState(held=True, pressed=1)
"""A key that went down since the last frame, and is down."""
RELEASE = ActionState(released=1)
"""One that went up, and is up."""
CANCEL = ActionState(cancelled=True)
"""One that the host took away, as when the window lost the keyboard."""
REST = ActionState()
"""One that nobody touches."""


class Transition(NamedTuple):
    """One step of an ordered input, where order and repetition matter: rhythm, text.

    >>> Transition("text", ord("a"))
    Transition(name='text', value=97)
    """

    name: str
    """What happened, in the game's own words."""
    value: int
    """A signed 64-bit number in the game's own unit: a code point, nanoseconds of frame time."""


def action_name(name: object) -> str:
    """The name of an action, checked. Raises TypeError for anything but text, ValueError for ""."""
    if type(name) is not str:
        raise TypeError(
            f"an action must be a str, not {type(name).__name__} {shown(name)}; 'jump' is one"
        )
    if not name:
        raise ValueError("an action must have a name, not ''; 'jump' is one")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"an action must be text that UTF-8 can hold, not {shown(name)}; 'jump' is one"
        ) from None
    return name


def action_names(actions: Iterable[str]) -> tuple[str, ...]:
    """The names of all actions, checked and sorted.

    Sorted by code point, so that the order in which a game happens to list them is no part of any
    digest. Raises TypeError for a single string, ValueError for a name twice.
    """
    if isinstance(actions, str) or not hasattr(actions, "__iter__"):
        raise TypeError(
            f"actions must be the names of all actions, not {type(actions).__name__} "
            f"{shown(actions)}; ('jump', 'move') is two"
        )
    names = sorted(action_name(name) for name in actions)
    for name, following in pairwise(names):
        if name == following:
            raise ValueError(f"actions must differ, not {name!r} twice; leave one out")
    return tuple(names)


def action_state(name: str, state: object) -> ActionState:
    """A state, checked field by field: TypeError or OverflowError names the action and the field.

    >>> action_state("move", ActionState(axis=0.5))
    Traceback (most recent call last):
        ...
    TypeError: axis of 'move' must be a whole number of thousandths of full deflection, not float \
0.5; round(value * 1000) makes one of a float in -1 .. 1
    """
    if type(state) is not ActionState:
        raise TypeError(
            f"the state of {name!r} must be an ActionState, not {type(state).__name__} "
            f"{shown(state)}; ActionState(held=True, pressed=1) is a press"
        )
    held, axis, pressed, released, cancelled = state
    for field, flag in (("held", held), ("cancelled", cancelled)):
        if type(flag) is not bool:
            raise TypeError(
                f"{field} of {name!r} must be True or False, not {type(flag).__name__} "
                f"{shown(flag)}; compare with a threshold first"
            )
    if (
        type(axis) is type(pressed) is type(released) is int
        and -(2**31) <= axis < 2**31
        and 0 <= pressed <= U32_MAX
        and 0 <= released <= U32_MAX
    ):
        return state
    kind = "a whole number of thousandths of full deflection"
    return ActionState(
        held,
        integer(axis, f"axis of {name!r}", kind, _AXIS_FIX, low=-(2**31), high=2**31 - 1),
        integer(pressed, f"pressed of {name!r}", "a count", _EDGE_FIX, high=U32_MAX),
        integer(released, f"released of {name!r}", "a count", _EDGE_FIX, high=U32_MAX),
        cancelled,
    )


def transition(value: object) -> Transition:
    """A transition, checked: TypeError and OverflowError as for the state of an action."""
    if type(value) is not Transition:
        raise TypeError(
            f"a transition must be a Transition, not {type(value).__name__} {shown(value)}; "
            "Transition('text', ord('a')) is one"
        )
    name = action_name(value.name)
    kind, fix = "a whole number in the game's own unit", "ord(character) makes one of a character"
    return Transition(
        name,
        integer(value.value, f"value of {name!r}", kind, fix, low=I64_MIN, high=I64_MAX),
    )


class TickInput(Mapping[str, ActionState]):
    """What one tick sees: an immutable mapping from action names to their states, in name order.

    >>> seen = TickInput({"move": ActionState(axis=700), "jump": PRESS})
    >>> list(seen), seen["jump"].pressed, seen["move"].axis
    (['jump', 'move'], 1, 700)
    >>> seen == TickInput({"jump": PRESS, "move": ActionState(axis=700)})
    True
    >>> TickInput.neutral(["jump", "move"]).is_neutral
    True

    Equal inputs are equal in every action, edge and transition, and hash alike. Raises TypeError,
    ValueError and OverflowError for a state or a transition that is not one.
    """

    __slots__ = ("_states", "_transitions")
    _states: dict[str, ActionState]
    _transitions: tuple[Transition, ...]

    def __init__(
        self,
        states: Mapping[str, ActionState],
        transitions: Iterable[Transition] = (),
    ) -> None:
        checked = {name: action_state(name, states[name]) for name in action_names(states)}
        self._set(checked, tuple(transition(value) for value in transitions))

    def _set(self, states: dict[str, ActionState], transitions: tuple[Transition, ...]) -> None:
        object.__setattr__(self, "_states", states)
        object.__setattr__(self, "_transitions", transitions)

    @classmethod
    def _of(cls, states: dict[str, ActionState], transitions: tuple[Transition, ...]) -> TickInput:
        """From parts already checked and in order, which nobody else holds."""
        made = object.__new__(cls)
        made._set(states, transitions)
        return made

    @classmethod
    def neutral(cls, actions: Iterable[str]) -> TickInput:
        """The input of somebody who has let go of everything."""
        return cls._of(dict.fromkeys(action_names(actions), REST), ())

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The ordered input since the last tick, oldest first."""
        return self._transitions

    @property
    def is_neutral(self) -> bool:
        """Whether nothing is held, deflected, or happened."""
        return not self._transitions and all(state == REST for state in self._states.values())

    def absorb_into(self, digest: StateHash) -> StateHash:
        """The digest with this input absorbed.

        In this order: how many actions (u64); for each, by name: the bytes of its name in UTF-8
        (length u64 first), held (u32), axis (i64), pressed (u32), released (u32), cancelled (u32);
        then how many transitions (u64), and for each its name in the same way and its value (i64).

        >>> from fixedstep import StateHash
        >>> one, two = (TickInput({"jump": state}) for state in (PRESS, RELEASE))
        >>> one.absorb_into(StateHash()) == two.absorb_into(StateHash())
        False
        """
        digest = digest.absorb_u64(len(self._states))
        for name, (held, axis, pressed, released, cancelled) in self._states.items():
            digest = _absorb_name(digest, name).absorb_u32(held).absorb_i64(axis)
            digest = digest.absorb_u32(pressed).absorb_u32(released).absorb_u32(cancelled)
        digest = digest.absorb_u64(len(self._transitions))
        for name, value in self._transitions:
            digest = _absorb_name(digest, name).absorb_i64(value)
        return digest

    def plain(self) -> dict[str, Any]:
        """What JSON can hold of it: a list of five integers an action, without those at rest.

        >>> TickInput({"jump": PRESS, "fire": ActionState()}, [Transition("text", 97)]).plain()
        {'actions': {'jump': [1, 0, 1, 0, 0]}, 'transitions': [['text', 97]]}
        """
        found: dict[str, Any] = {}
        if actions := {
            name: [int(field) for field in state]
            for name, state in self._states.items()
            if state != REST
        }:
            found["actions"] = actions
        if self._transitions:
            found["transitions"] = [list(value) for value in self._transitions]
        return found

    @classmethod
    def from_plain(cls, actions: Iterable[str], plain: object) -> TickInput:
        """The input that ``plain`` made a form of; ``actions`` are all there are.

        >>> TickInput.from_plain(["jump", "fire"], {"actions": {"jump": [1, 0, 1, 0, 0]}})["fire"]
        ActionState(held=False, axis=0, pressed=0, released=0, cancelled=False)

        Raises ValueError for anything that ``plain`` does not make, an unknown action included.
        """
        states = dict.fromkeys(action_names(actions), REST)
        if not isinstance(plain, dict) or not set(plain) <= {"actions", "transitions"}:
            raise ValueError(f"an input has actions and transitions, not {shown(plain)}")
        written = plain.get("actions", {})
        ordered = plain.get("transitions", [])
        if not isinstance(written, dict) or not isinstance(ordered, list):
            raise ValueError(f"an input has an object of actions, a list of transitions: {plain}")
        for name, fields in written.items():
            if name not in states:
                raise ValueError(f"{shown(name)} is none of the actions {', '.join(states)}")
            if (
                not isinstance(fields, list)
                or len(fields) != 5
                or any(type(field) is not int for field in fields)
                or fields[0] not in (0, 1)
                or fields[4] not in (0, 1)
            ):
                raise ValueError(
                    f"{name!r} must have held, axis, pressed, released and cancelled as five "
                    f"integers, not {shown(fields)}"
                )
            held, axis, pressed, released, cancelled = fields
            try:
                state = ActionState(bool(held), axis, pressed, released, bool(cancelled))
                states[name] = action_state(name, state)
            except OverflowError as error:
                raise ValueError(str(error)) from None
        made = []
        for pair in ordered:
            if not isinstance(pair, list) or len(pair) != 2:
                raise ValueError(f"a transition is a name and a value, not {shown(pair)}")
            try:
                made.append(transition(Transition(*pair)))
            except (TypeError, OverflowError) as error:
                raise ValueError(str(error)) from None
        return cls._of(states, tuple(made))

    def __getitem__(self, action: str) -> ActionState:
        try:
            return self._states[action]
        except KeyError:
            raise KeyError(
                f"{shown(action)} is none of the actions {', '.join(self._states)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"TickInput cannot be changed; make a new one with the other {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"TickInput cannot be changed; {name} stays")

    def __copy__(self) -> TickInput:
        return self

    def __deepcopy__(self, memo: object, /) -> TickInput:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return TickInput, (dict(self._states), self._transitions)

    def __eq__(self, other: object) -> bool:
        if type(other) is not TickInput:
            return NotImplemented
        return self._states == other._states and self._transitions == other._transitions

    def __hash__(self) -> int:
        return hash((tuple(self._states.items()), self._transitions))

    def __repr__(self) -> str:
        ordered = f", {list(self._transitions)!r}" if self._transitions else ""
        return f"TickInput({self._states!r}{ordered})"


def _absorb_name(digest: StateHash, name: str) -> StateHash:
    text = name.encode()
    return digest.absorb_u64(len(text)).absorb_bytes(text)
