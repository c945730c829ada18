"""The input bridge: from frames, which have events, to ticks, which have input.

A frame and a tick are not the same unit. A fast screen has frames without a tick, and a key that
went down in one of them must still be seen; a slow one has frames with several, and the key must
not count in each. So edges wait here until a tick takes them, the oldest one that runs, and are
gone after it, while held and axis values are there for every tick. Steps that the budget dropped
take nothing, since nothing ran.

Several presses before one tick become one input with a count. Where their order matters, put them
into a `TransitionQueue` beside it, which keeps each one, is bounded, and says what it does when it
is full.

``cancel`` is for whatever tears input from the simulation: focus loss, a pause, new key bindings, a
level. It voids what is pending and held, without a release that nobody made, and shuts a gate on
each action: only a sample at rest opens it, and is then spent. Thus a key held
through a menu attacks nobody when the menu closes.

It refuses to know devices and bindings: actions come in by name, after the user interface has taken
its own. An action that a sample leaves out has no news and stays as it is; where the interface
takes an action over, cancel it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Literal, SupportsIndex, TypeAlias

from .._arguments import U32_MAX, positive, shown
from .tick_input import (
    CANCEL,
    PRESS,
    RELEASE,
    REST,
    ActionState,
    TickInput,
    Transition,
    action_names,
    action_state,
    transition,
)

__all__ = [
    "CANCEL",
    "PRESS",
    "RELEASE",
    "ActionState",
    "InputBridge",
    "Sample",
    "TickInput",
    "Transition",
    "TransitionOverflow",
    "TransitionQueue",
]

Sample: TypeAlias = Mapping[str, ActionState] | Iterable[tuple[str, ActionState]]
"""What a frame brings: states by action, or pairs in the order of the events."""

_POLICIES = ("fault", "drop_newest", "drop_oldest")


class TransitionOverflow(RuntimeError):
    """A `TransitionQueue` that must not lose anything is full.

    >>> queue = TransitionQueue(1)
    >>> queue.push(Transition("text", 97)); queue.push(Transition("text", 98))
    Traceback (most recent call last):
        ...
    fixedstep.sim.input_bridge.TransitionOverflow: the transition queue is full: 1 are waiting for \
a tick, and Transition(name='text', value=98) is one more; raise its capacity, or let it drop
    """


class TransitionQueue:
    """Input in its order, for the next tick: at most ``capacity`` transitions.

    ``overflow`` says what happens to one more: ``"fault"`` raises `TransitionOverflow`,
    ``"drop_newest"`` refuses it, ``"drop_oldest"`` forgets the oldest for it. All three are counted
    in ``dropped``.

    >>> queue = TransitionQueue(2, overflow="drop_oldest")
    >>> for character in "abc":
    ...     queue.push(Transition("text", ord(character)))
    >>> [chr(value) for _, value in queue.take()], queue.dropped, len(queue)
    (['b', 'c'], 1, 0)

    Raises TypeError, OverflowError and ValueError for a capacity that is none, and ValueError for
    another policy.
    """

    __slots__ = ("_capacity", "_cleared", "_dropped", "_overflow", "_pending")

    def __init__(
        self,
        capacity: SupportsIndex = 64,
        overflow: Literal["fault", "drop_newest", "drop_oldest"] = "fault",
    ) -> None:
        if overflow not in _POLICIES:
            raise ValueError(
                f"overflow must be 'fault', 'drop_newest' or 'drop_oldest', not {shown(overflow)}; "
                "'fault' loses nothing without an exception"
            )
        kind = "a whole number of transitions"
        self._capacity = positive(capacity, "capacity", kind, "64 is the default", high=U32_MAX)
        self._overflow = overflow
        self._pending: list[Transition] = []
        self._dropped = 0
        self._cleared = 0

    def __copy__(self) -> TransitionQueue:
        copied = TransitionQueue(self._capacity, self._overflow)
        copied._pending = self._pending.copy()
        copied._dropped = self._dropped
        copied._cleared = self._cleared
        return copied

    def push(self, value: Transition, /) -> None:
        """Add one to the end.

        Raises TransitionOverflow when full under ``"fault"``; the queue keeps what it has. Raises
        TypeError and OverflowError for what is no transition.
        """
        checked = transition(value)
        if len(self._pending) == self._capacity:
            self._dropped += 1
            if self._overflow == "fault":
                raise TransitionOverflow(
                    f"the transition queue is full: {self._capacity} are waiting for a tick, and "
                    f"{shown(checked)} is one more; raise its capacity, or let it drop"
                )
            if self._overflow == "drop_newest":
                return
            del self._pending[0]
        self._pending.append(checked)

    def take(self) -> tuple[Transition, ...]:
        """All that wait, oldest first; they are gone from here."""
        taken = tuple(self._pending)
        self._pending.clear()
        return taken

    def clear(self) -> None:
        """Forget all that wait, for a cancelled input; ``cleared`` counts them."""
        self._cleared += len(self._pending)
        self._pending.clear()

    @property
    def capacity(self) -> int:
        """How many can wait for a tick."""
        return self._capacity

    @property
    def overflow(self) -> str:
        """What happens to one too many."""
        return self._overflow

    @property
    def dropped(self) -> int:
        """How many an overflow lost, or refused with an exception."""
        return self._dropped

    @property
    def cleared(self) -> int:
        """How many were forgotten with a cancelled input."""
        return self._cleared

    def __len__(self) -> int:
        return len(self._pending)

    def __repr__(self) -> str:
        return (
            f"<TransitionQueue of {self._capacity}, {self._overflow!r}, waiting {len(self)}, "
            f"dropped {self._dropped}, cleared {self._cleared}>"
        )


class InputBridge:
    """Gathers the samples of frames and hands them to ticks.

    ``actions`` are the names of all there are; ``transitions`` is a queue to go with them.

    >>> bridge = InputBridge(["jump", "move"])
    >>> bridge.sample({"jump": PRESS, "move": ActionState(axis=700)})
    >>> bridge.sample({"jump": RELEASE})          # a frame without a tick lay between
    >>> tick = bridge.take()
    >>> tick["jump"], tick["move"].axis
    (ActionState(held=False, axis=0, pressed=1, released=1, cancelled=False), 700)
    >>> bridge.take()["jump"].pressed, bridge.take()["move"].axis
    (0, 700)

    Raises TypeError for actions that are not text, ValueError for one without a name or twice.
    """

    __slots__ = ("_edges", "_shut", "_states", "_taken", "_transitions")

    def __init__(self, actions: Iterable[str], transitions: TransitionQueue | None = None) -> None:
        if transitions is not None and not isinstance(transitions, TransitionQueue):
            raise TypeError(
                f"transitions must be a TransitionQueue, not {type(transitions).__name__} "
                f"{shown(transitions)}; TransitionQueue(64) is one"
            )
        self._states = dict.fromkeys(action_names(actions), REST)
        self._shut: set[str] = set()
        self._edges = False
        self._transitions = transitions
        # What the last take() gave, while another would give the same: a held key costs nothing.
        self._taken: TickInput | None = None

    def sample(self, sample: Sample) -> None:
        """Take in what a frame brings: for each action its state now and its edges since.

        A mapping, or pairs in the order of the events, in which an action may come several times.
        Held and axis values overwrite, edges add up. A state that is ``cancelled`` cancels its
        action and is nothing else. Sample each action in each frame, also those at rest: a shut
        gate opens only for a sample at rest.

        >>> bridge = InputBridge(["jump"])
        >>> bridge.sample([("jump", PRESS), ("jump", RELEASE), ("jump", PRESS)])
        >>> bridge.take()["jump"]
        ActionState(held=True, axis=0, pressed=2, released=1, cancelled=False)

        Raises ValueError for an unknown action, TypeError and OverflowError for a state that is
        none; the bridge is then as it was.
        """
        for name, state in self._checked(sample):
            if state.cancelled:
                self._cancel(name)
            elif name in self._shut:
                if state.neutral:
                    self._shut.discard(name)
            else:
                self._add(name, state)

    def cancel(self, *actions: str) -> None:
        """Void what is held and pending, and shut the gate: of these actions, or of everything.

        The next tick sees ``cancelled``, and no release. Without names, the transition queue is
        cleared too.

        >>> bridge = InputBridge(["jump"])
        >>> bridge.sample({"jump": PRESS}); bridge.cancel()
        >>> bridge.sample({"jump": ActionState(held=True)})       # still down: the gate is shut
        >>> bridge.take()["jump"]
        ActionState(held=False, axis=0, pressed=0, released=0, cancelled=True)
        >>> bridge.sample({"jump": ActionState()}); bridge.sample({"jump": PRESS})
        >>> bridge.take()["jump"].pressed
        1

        Raises ValueError for an unknown action; nothing is cancelled then.
        """
        for name in actions:
            if type(name) is not str or name not in self._states:
                raise self._unknown(name)
        for name in actions or self._states:
            self._cancel(name)
        if not actions and self._transitions is not None:
            self._transitions.clear()

    def take(self) -> TickInput:
        """The input of a tick. Its edges and transitions are gone from here; what is held stays.

        Call it once for each tick that runs, and for no other.
        """
        if self._taken is not None and not self._transitions:
            return self._taken
        ordered = () if self._transitions is None else self._transitions.take()
        taken = TickInput._of(dict(self._states), ordered)
        if self._edges:
            self._edges = False
            for name, state in self._states.items():
                self._states[name] = ActionState(state.held, state.axis)
        elif not ordered:
            self._taken = taken
        return taken

    def __copy__(self) -> InputBridge:
        """A snapshot: what is taken from the one stays in the other."""
        copied = InputBridge(self._states, copy(self._transitions))
        copied._states = self._states.copy()
        copied._shut = self._shut.copy()
        copied._edges = self._edges
        return copied

    @property
    def actions(self) -> tuple[str, ...]:
        """All actions, in name order."""
        return tuple(self._states)

    @property
    def shut(self) -> frozenset[str]:
        """The actions that wait for a sample at rest."""
        return frozenset(self._shut)

    @property
    def transitions(self) -> TransitionQueue | None:
        """The queue of ordered input, where there is one."""
        return self._transitions

    def _checked(self, sample: Sample) -> list[tuple[str, ActionState]]:
        checked = []
        # A dict is asked for by type: an abstract class takes as long to say yes as all the rest.
        for name, state in sample.items() if type(sample) is dict else _pairs(sample):
            if type(name) is not str or name not in self._states:
                raise self._unknown(name)
            checked.append((name, action_state(name, state)))
        return checked

    def _add(self, name: str, new: ActionState) -> None:
        old = self._states[name]
        added = ActionState(
            new.held,
            new.axis,
            min(old.pressed + new.pressed, U32_MAX),
            min(old.released + new.released, U32_MAX),
            old.cancelled,
        )
        if added != old:
            self._states[name] = added
            self._taken = None
            self._edges = self._edges or bool(new.pressed or new.released)

    def _cancel(self, name: str) -> None:
        self._states[name] = CANCEL
        self._shut.add(name)
        self._edges = True
        self._taken = None

    def _unknown(self, name: object) -> ValueError:
        known = ", ".join(self._states) or "(none)"
        return ValueError(
            f"{shown(name)} is no action of this bridge, which has {known}; "
            "actions are named when it is made"
        )

    def __repr__(self) -> str:
        shut = f", waiting for rest: {', '.join(sorted(self._shut))}" if self._shut else ""
        return f"<InputBridge {self._states!r}{shut}>"


def _pairs(sample: Sample) -> list[tuple[str, ActionState]]:
    if isinstance(sample, Mapping):
        return list(sample.items())
    if not hasattr(sample, "__iter__") or isinstance(sample, str):
        raise _no_sample(sample)
    pairs = list(sample)  # an error of a generator's own comes through as it is
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        raise _no_sample(sample)
    return pairs


def _no_sample(sample: object) -> TypeError:
    return TypeError(
        "a sample must be a mapping from actions to states, or pairs of them, not "
        f"{type(sample).__name__} {shown(sample)}; {{'jump': PRESS}} is one"
    )
