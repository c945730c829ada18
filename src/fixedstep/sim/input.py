"""Input: what a player does, gathered over frames and given to ticks.

`Input` takes the events of devices by name (``press``, ``release``, ``axis``, ``move``) or their
state, polled in each frame (``button``, ``axis``). `TickInput` is what one tick sees of it: an
immutable value that can be compared, digested, recorded and replayed. It names actions, not keys,
and has no times, so that a replay does not depend on devices or on the frame rate.

A frame and a tick are not the same. Edges (pressed, released) and relative movement wait in frames
without a tick and are given to the next tick that runs, once. What is held or deflected is seen by
every tick until it changes. Steps that the budget dropped take nothing.

All numbers in a `TickInput` are integers, so a recording restores them exactly and two machines
agree. Floats from devices are rounded once, in `Input.axis`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex, final

from .. import StateHash
from .._arguments import U32_MAX, integer, shown, timestamp
from .._saved import Value, register, restore

_I32_MIN, _I32_MAX = -(2**31), 2**31 - 1
_AXIS_FIX = "round(value * 1000) makes one of a float in -1 .. 1"
_EDGE_FIX = "count the edges since the last tick"


class ActionState(NamedTuple):
    """The state of one action in one tick.

    >>> ActionState(held=True, pressed=1) == PRESS
    True
    >>> RELEASE.neutral, CANCEL.cancelled
    (True, True)
    """

    held: bool = False
    """Whether a button is down."""
    axis: int = 0
    """An axis: its deflection in thousandths, -1000 .. 1000. A relative axis: how far it moved
    since the last tick, in the device's own unit. A signed 32-bit number."""
    pressed: int = 0
    """How often a button went down since the last tick."""
    released: int = 0
    """How often it went up since the last tick."""
    cancelled: bool = False
    """Whether what was held, deflected or pending became void, as at a pause or when the window
    lost the keyboard. This is not a release: nothing should be fired."""

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("sim.ActionState", *self)

    @property
    def neutral(self) -> bool:
        """Whether the action is not held and its axis is 0."""
        return not self.held and self.axis == 0


NEUTRAL = ActionState()
"""A neutral action, without edges."""
PRESS = ActionState(held=True, pressed=1)
"""A button that went down since the last tick, and is down."""
RELEASE = ActionState(released=1)
"""A button that went up since the last tick, and is up."""
CANCEL = ActionState(cancelled=True)
"""An action whose held, deflected or pending state became void since the last tick."""
_HELD = ActionState(held=True)


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

    Sorted by code point, so that the order in which a game lists them does not change a digest.
    Raises TypeError for a single string, ValueError for a name twice.
    """
    if isinstance(actions, str) or not hasattr(actions, "__iter__"):
        raise TypeError(
            f"actions must be the names of all actions, not {type(actions).__name__} "
            f"{shown(actions)}; ('jump', 'move') is two"
        )
    names = sorted(action_name(name) for name in actions)
    for name, following in pairwise(names):
        if name == following:
            raise ValueError(f"actions must differ, not {shown(name)} twice; leave one out")
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
            f"the state of {shown(name)} must be an ActionState, not {type(state).__name__} "
            f"{shown(state)}; ActionState(held=True, pressed=1) is a press"
        )
    held, axis, pressed, released, cancelled = state
    for field, flag in (("held", held), ("cancelled", cancelled)):
        if type(flag) is not bool:
            raise TypeError(
                f"{field} of {shown(name)} must be True or False, not {type(flag).__name__} "
                f"{shown(flag)}; compare with a threshold first"
            )
    if (
        type(axis) is type(pressed) is type(released) is int
        and _I32_MIN <= axis <= _I32_MAX
        and 0 <= pressed <= U32_MAX
        and 0 <= released <= U32_MAX
    ):
        return state
    kind = "a whole number of thousandths of full deflection"
    return ActionState(
        held,
        integer(axis, f"axis of {shown(name)}", kind, _AXIS_FIX, low=_I32_MIN, high=_I32_MAX),
        integer(pressed, f"pressed of {shown(name)}", "a count", _EDGE_FIX, high=U32_MAX),
        integer(released, f"released of {shown(name)}", "a count", _EDGE_FIX, high=U32_MAX),
        cancelled,
    )


def _listed(names: Iterable[str]) -> str:
    """The first names, for an error text of bounded length."""
    first = [shown(name) for name, _ in zip(names, range(9), strict=False)]
    return ", ".join(first[:8]) + (", ..." if len(first) > 8 else "") if first else "(none)"


register("sim.ActionState", lambda *state: action_state("saved", ActionState(*state)), 5)


@final
class TickInput(Value, Mapping[str, ActionState], kind="sim.TickInput"):
    """The input of one tick: an immutable mapping from action names to states, in name order.

    >>> seen = TickInput({"move": ActionState(axis=700), "jump": PRESS})
    >>> list(seen), seen["jump"].pressed, seen["move"].axis
    (['jump', 'move'], 1, 700)
    >>> seen == TickInput({"jump": PRESS, "move": ActionState(axis=700)})
    True
    >>> TickInput.neutral(["jump", "move"]).is_neutral
    True

    `Session` makes one for each tick; make one yourself for tests and for ``replay_tick``. Equal
    inputs have the same actions and states, and hash alike. Raises TypeError, ValueError and
    OverflowError for a name or a state that is not one.
    """

    # _actions has every name, with NEUTRAL, in name order, and is shared by all inputs of a source.
    # _active has the states that are not NEUTRAL, in any order. So an input costs what is active in
    # it, however many actions there are. Neither dict is changed after it was given to an input.
    __slots__ = ("_actions", "_active")
    _actions: dict[str, ActionState]
    _active: dict[str, ActionState]

    def __new__(cls, states: Mapping[str, ActionState]) -> TickInput:
        """From checked names and states."""
        actions = dict.fromkeys(action_names(states), NEUTRAL)
        checked = ((name, action_state(name, states[name])) for name in actions)
        return cls._of(actions, {name: state for name, state in checked if state != NEUTRAL})

    @classmethod
    def _of(cls, actions: dict[str, ActionState], active: dict[str, ActionState]) -> TickInput:
        """From parts that are checked and that nobody changes any more."""
        made = object.__new__(cls)
        _set_actions(made, actions)
        _set_active(made, active)
        return made

    @classmethod
    def neutral(cls, actions: Iterable[str]) -> TickInput:
        """The input with all of these actions neutral.

        Raises TypeError and ValueError for names that are none.
        """
        if type(actions) is TickInput:  # checked already
            return cls._of(actions._actions, {})
        return cls._of(dict.fromkeys(action_names(actions), NEUTRAL), {})

    @property
    def is_neutral(self) -> bool:
        """Whether every action is neutral, and there are no edges."""
        return not self._active

    def absorb_into(self, digest: StateHash) -> StateHash:
        """The digest with this input absorbed.

        In this order: how many actions (u64); for each, by name: the bytes of its name in UTF-8
        (length u64 first), held (u32), axis (i64), pressed (u32), released (u32), cancelled (u32).

        >>> from fixedstep import StateHash
        >>> one, two = (TickInput({"jump": state}) for state in (PRESS, RELEASE))
        >>> one.absorb_into(StateHash()) == two.absorb_into(StateHash())
        False
        """
        digest = digest.absorb_u64(len(self._actions))
        for name, (held, axis, pressed, released, cancelled) in self.items():
            text = name.encode()
            digest = digest.absorb_u64(len(text)).absorb_bytes(text).absorb_u32(held)
            digest = digest.absorb_i64(axis).absorb_u32(pressed)
            digest = digest.absorb_u32(released).absorb_u32(cancelled)
        return digest

    def to_dict(self) -> dict[str, list[int]]:
        """What is not neutral, as JSON can hold it: held, axis, pressed, released, cancelled.

        >>> TickInput({"jump": PRESS, "fire": NEUTRAL}).to_dict()
        {'jump': [1, 0, 1, 0, 0]}
        """
        return {
            name: [int(field) for field in state] for name, state in sorted(self._active.items())
        }

    @classmethod
    def from_dict(cls, actions: Iterable[str], written: object) -> TickInput:
        """The input that ``to_dict`` wrote. ``actions`` are the names of all actions.

        To read many, pass one input for ``actions``: its names are not checked again, and each
        reading then costs only what was written.

        >>> resting = TickInput.neutral(["jump", "fire"])
        >>> TickInput.from_dict(resting, {"jump": [1, 0, 1, 0, 0]})["jump"] == PRESS
        True

        Raises ValueError for anything that ``to_dict`` does not write, and for an unknown action.
        """
        known = cls.neutral(actions)._actions
        if not isinstance(written, dict):
            raise ValueError(f"an input must be an object of actions, not {shown(written)}")
        active = {}
        for name, fields in written.items():
            if name not in known:
                raise ValueError(f"{shown(name)} is none of the actions {_listed(known)}")
            if (
                not isinstance(fields, list)
                or len(fields) != 5
                or any(type(field) is not int for field in fields)
                or fields[0] not in (0, 1)
                or fields[4] not in (0, 1)
            ):
                raise ValueError(
                    f"{shown(name)} must have held, axis, pressed, released and cancelled as five "
                    f"integers, not {shown(fields)}"
                )
            held, axis, pressed, released, cancelled = fields
            try:
                state = action_state(
                    name, ActionState(bool(held), axis, pressed, released, bool(cancelled))
                )
            except OverflowError as error:
                raise ValueError(str(error)) from None
            if state != NEUTRAL:
                active[name] = state
        return cls._of(known, active)

    def __getitem__(self, action: str) -> ActionState:
        found = self._active.get(action)
        if found is None:
            found = self._actions.get(action)
            if found is None:
                raise KeyError(f"{shown(action)} is none of the actions {_listed(self._actions)}")
        return found

    def __contains__(self, action: object) -> bool:
        return action in self._actions

    def __iter__(self) -> Iterator[str]:
        return iter(self._actions)

    def __len__(self) -> int:
        return len(self._actions)

    def _arguments(self) -> dict[str, Any]:
        return {"states": dict(self)}

    def __eq__(self, other: object) -> bool:
        if type(other) is not TickInput:
            return NotImplemented
        mine, others = self._actions, other._actions
        return self._active == other._active and (mine is others or mine == others)

    def __hash__(self) -> int:
        return hash((len(self._actions), frozenset(self._active.items())))

    def __repr__(self) -> str:
        return f"TickInput({dict(self)!r})"


# Short ways for what happens in every tick: object.__setattr__ and the constructor of a named tuple
# take two and three times as long.
_set_actions = TickInput.__dict__["_actions"].__set__
_set_active = TickInput.__dict__["_active"].__set__
_made = tuple.__new__


_BUTTON, _AXIS, _RELATIVE = "button", "axis", "relative axis"
_METHODS = {_BUTTON: "press", _AXIS: "axis", _RELATIVE: "move"}


class Input:
    """Collects what devices report in frames, and gives it to ticks.

    ``buttons``, ``axes`` and ``relative`` name the actions of a game, three kinds of them:

    - a button is up or down: ``press`` and ``release`` for events, ``button`` for polling;
    - an axis has a deflection that stays until it changes, such as a stick: ``axis``;
    - a relative axis moves by a distance and has no position, such as a mouse or a wheel: ``move``.

    >>> controls = Input(buttons=["jump"], axes=["walk"], relative=["look"])
    >>> controls.press("jump"); controls.release("jump"); controls.press("jump")
    >>> controls.axis("walk", 0.7)
    >>> controls.move("look", 3); controls.move("look", 4)
    >>> controls.held("jump"), controls.actions
    (True, ('jump', 'look', 'walk'))

    The next tick sees ``jump`` held with pressed=2 and released=1, ``walk`` at 700 and ``look`` at
    7. The tick after it sees ``jump`` held, ``walk`` at 700 and nothing else.

    **Events or polling.** Use ``press`` and ``release`` for key events. A press of a button that is
    down already (key repeat) and a release of one that is up change nothing. Use ``button(name,
    is_down)`` where you ask a device for its state in every frame. The two differ after ``cancel``,
    which is called when the window loses the keyboard: the release of a key then never arrives, so
    the next ``press`` counts as a new one, while ``button`` must report the button up once before
    it counts again.

    **Pauses.** What is down or deflected when time stops (pause, hide), or is pressed while it is
    stopped, is blocked: it counts again after it has been released once. The next tick sees
    ``cancelled`` for what was held, deflected or pending. What is neutral counts at once.

    **Times.** Without ``at`` an event is given to the next tick that runs. With ``at``, a wall time
    in nanoseconds on the clock of the frames, it is given to the tick that contains that time, so
    that a test or a replay has the same result at every frame rate.

    ``dead_zone`` is how far from the middle an axis counts as 0, in thousandths, 0 .. 1000;
    or a mapping from names of axes to that (100 for those left out). Values outside are not scaled.

    Raises TypeError for names that are not text, ValueError for an empty name or one used twice,
    and TypeError, ValueError and OverflowError for a dead zone that is none.
    """

    # What counts is in _active, as the next tick will see it. _down has the buttons that are down,
    # as far as events tell, _blocked the buttons and axes that must be neutral once before they
    # count. So a button is held if it is in _down alone; in both it was down when time stopped, or
    # was pressed then, and its release is still to come; in _blocked alone it was cancelled, and
    # whether it is still down is not known.
    # _once names what is in _active for one tick only. _taken is the last input given out, while
    # the next one would be equal; _active is shared with it then, and copied before it is changed.
    __slots__ = (
        "_active",
        "_blocked",
        "_dead_zones",
        "_down",
        "_kinds",
        "_later",
        "_neutral",
        "_once",
        "_stopped",
        "_taken",
    )

    def __init__(
        self,
        buttons: Iterable[str] = (),
        axes: Iterable[str] = (),
        relative: Iterable[str] = (),
        dead_zone: SupportsIndex | Mapping[str, SupportsIndex] = 100,
    ) -> None:
        kinds = [
            (name, kind)
            for kind, names in ((_BUTTON, buttons), (_AXIS, axes), (_RELATIVE, relative))
            for name in action_names(names)
        ]
        self._neutral = TickInput.neutral([name for name, _ in kinds])
        self._kinds = dict(kinds)
        self._dead_zones = self._checked_dead_zones(dead_zone)
        self._stopped = False
        self._later: Callable[[int, Callable[[], object]], object] | None = None
        self._clear()

    def _clear(self) -> None:
        self._active: dict[str, ActionState] = {}
        self._down: set[str] = set()
        self._blocked: set[str] = set()
        self._once: set[str] = set()
        self._taken: TickInput | None = None

    def _checked_dead_zones(
        self, dead_zone: SupportsIndex | Mapping[str, SupportsIndex]
    ) -> dict[str, int]:
        own = dead_zone if isinstance(dead_zone, Mapping) else {}
        for name in own:
            if type(name) is not str or self._kinds.get(name) != _AXIS:
                raise self._wrong(name, _AXIS)
        usual = 100 if isinstance(dead_zone, Mapping) else _dead_zone(dead_zone)
        return {name: _dead_zone(own.get(name, usual)) for name in self.axes}

    def press(self, name: str, at: SupportsIndex | None = None) -> None:
        """A button went down: call it for a key-down event.

        Changes nothing if the button is down already, so key repeat is not counted. Raises
        ValueError for a name that is no button, and TypeError and OverflowError for a time that is
        none; nothing changes then.
        """
        if type(name) is not str or self._kinds.get(name) != _BUTTON:
            raise self._wrong(name, _BUTTON)
        if at is None:
            self._press(name)
        else:
            self._queue(at, self._press, name)

    def release(self, name: str, at: SupportsIndex | None = None) -> None:
        """A button went up: call it for a key-up event.

        Changes nothing if the button is up already. Raises what ``press`` raises.
        """
        if type(name) is not str or self._kinds.get(name) != _BUTTON:
            raise self._wrong(name, _BUTTON)
        if at is None:
            self._release(name)
        else:
            self._queue(at, self._release, name)

    def button(self, name: str, is_down: bool) -> None:
        """Report whether a button is down: call it in every frame, with what the device says.

        After ``cancel`` and after a pause it counts again once it was reported up. Raises
        ValueError for a name that is no button, and TypeError for anything but True and False.
        """
        if type(name) is not str or self._kinds.get(name) != _BUTTON:
            raise self._wrong(name, _BUTTON)
        if is_down is not True and is_down is not False and is_down not in (0, 1):
            raise TypeError(
                f"is_down of {shown(name)} must be True or False, not {type(is_down).__name__} "
                f"{shown(is_down)}; compare with a threshold first"
            )
        if name in self._down or name in self._blocked:
            if not is_down:
                self._release(name)
        elif is_down:
            self._press(name)

    def axis(self, name: str, value: SupportsFloat, at: SupportsIndex | None = None) -> None:
        """Set an axis to a deflection, ``-1.0 .. 1.0``; it stays there until it is set again.

        The value is rounded to thousandths, and is 0 within the dead zone. Use it for events and
        for polling alike; an axis that is blocked counts again once it was 0. For two
        keys that make an axis, use two buttons.

        >>> stick = Input(axes=["walk"], dead_zone={"walk": 50})
        >>> stick.axis("walk", 1000)
        Traceback (most recent call last):
            ...
        ValueError: value of 'walk' must be -1.0 .. 1.0, not 1000; divide by the device's full \
deflection

        Raises ValueError for a name that is no axis and for a value out of range, TypeError for a
        value that is no number, and TypeError and OverflowError for a time that is none; nothing
        changes then.
        """
        if type(name) is not str or self._kinds.get(name) != _AXIS:
            raise self._wrong(name, _AXIS)
        if type(value) is float and -1 <= value <= 1:
            thousandths = round(value * 1000)
        else:
            thousandths = _thousandths(name, value)
        if at is None:
            self._axis(name, thousandths)
        else:
            self._queue(at, self._axis, name, thousandths)

    def move(self, name: str, delta: SupportsIndex, at: SupportsIndex | None = None) -> None:
        """Move a relative axis by ``delta``, an integer in the device's own unit.

        What is moved between two ticks is summed and given to one tick. The sum stays within 32
        bits. Raises ValueError for a name that is no relative axis, TypeError and OverflowError for
        a delta that is no signed 32-bit integer and for a time that is none; nothing changes then.
        """
        if type(name) is not str or self._kinds.get(name) != _RELATIVE:
            raise self._wrong(name, _RELATIVE)
        kind, fix = (
            "a whole number of units of the device",
            "round() it, and keep what is left over",
        )
        distance = integer(delta, f"delta of {shown(name)}", kind, fix, low=_I32_MIN, high=_I32_MAX)
        if at is None:
            self._move(name, distance)
        else:
            self._queue(at, self._move, name, distance)

    def cancel(self, *names: str, at: SupportsIndex | None = None) -> None:
        """Void what is held, deflected or pending, of these actions or of all.

        Call it when the window loses the keyboard or a device goes away; windows of
        ``fixedstep.host`` do. The next tick sees ``cancelled`` for what was void, and no release.
        After it a button is up: the next ``press`` counts. A button that is polled, and an axis,
        counts again once it was reported neutral.

        >>> controls = Input(buttons=["jump"])
        >>> controls.press("jump"); controls.cancel()
        >>> controls.button("jump", True); controls.held("jump")     # polled, and still down
        False
        >>> controls.press("jump"); controls.held("jump")            # an event: pressed anew
        True

        Raises ValueError for an unknown action, and TypeError and OverflowError for a time that is
        none; nothing changes then.
        """
        for name in names:
            if type(name) is not str or name not in self._kinds:
                raise self._wrong(name)
        if at is None:
            for name in names or self._kinds:
                self._cancel(name)
        else:
            self._queue(at, self.cancel, *names)

    def held(self, name: str) -> bool:
        """Whether the next tick will see this button held.

        Raises ValueError for a name that is no button.
        """
        if type(name) is not str or self._kinds.get(name) != _BUTTON:
            raise self._wrong(name, _BUTTON)
        return name in self._down and name not in self._blocked

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of all actions, in name order."""
        return tuple(self._neutral)

    @property
    def buttons(self) -> tuple[str, ...]:
        """The names of the buttons, in name order."""
        return self._named(_BUTTON)

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes, in name order."""
        return self._named(_AXIS)

    @property
    def relative(self) -> tuple[str, ...]:
        """The names of the relative axes, in name order."""
        return self._named(_RELATIVE)

    @property
    def blocked(self) -> frozenset[str]:
        """The actions that are ignored until they were neutral once."""
        return frozenset(self._blocked)

    def _named(self, kind: str) -> tuple[str, ...]:
        return tuple(name for name, its_kind in self._kinds.items() if its_kind == kind)

    # For the loop. It calls _take once for each tick that runs, and _stop and _go when time stops
    # and goes on. Calls with ``at`` are handed to _later, which makes them at their time.

    def _take(self) -> TickInput:
        """The input of a tick. Edges, cancellations and relative movement are gone afterwards."""
        taken = self._taken
        if taken is not None:
            return taken
        active, actions = self._active, self._neutral._actions
        taken = TickInput._of(actions, active) if active else self._neutral
        if not self._once:
            self._taken = taken
            return taken
        self._active = following = active.copy()
        kinds = self._kinds
        for name in self._once:
            state = active[name]
            if state.held:
                following[name] = _HELD
            elif state.axis and kinds[name] == _AXIS:
                following[name] = ActionState(False, state.axis)
            else:
                del following[name]
        self._once.clear()
        return taken

    def _stop(self) -> None:
        """Time stops: what is held or deflected is blocked, what is pending is void."""
        self._stopped = True
        for name, state in list(self._active.items()):
            if name in self._down or (state.axis and self._kinds[name] == _AXIS):
                self._blocked.add(name)
            self._set_once(name, CANCEL)

    def _go(self) -> None:
        """Time goes on."""
        self._stopped = False

    def _press(self, name: str) -> None:
        if name in self._down:
            return
        self._down.add(name)
        if self._stopped:
            self._blocked.add(name)
            return
        self._blocked.discard(name)
        old = self._active.get(name)
        if old is None:
            self._set_once(name, PRESS)
        else:
            _, _, pressed, released, cancelled = old
            pressed += pressed < U32_MAX
            self._set_once(name, ActionState(True, 0, pressed, released, cancelled))

    def _release(self, name: str) -> None:
        if name in self._blocked:
            self._blocked.discard(name)
            self._down.discard(name)
        elif name in self._down:
            self._down.discard(name)
            old = self._active[name]
            if old is _HELD:
                self._set_once(name, RELEASE)
            else:
                _, _, pressed, released, cancelled = old
                released += released < U32_MAX
                self._set_once(name, ActionState(False, 0, pressed, released, cancelled))

    def _axis(self, name: str, thousandths: int) -> None:
        dead_zone = self._dead_zones[name]
        if -dead_zone <= thousandths <= dead_zone:
            thousandths = 0
        if self._stopped:
            self._blocked.add(name)
        if name in self._blocked:
            if not thousandths:
                self._blocked.discard(name)
            return
        old = self._active.get(name, NEUTRAL)
        if old[1] != thousandths:
            if self._taken is not None:
                self._detach()
            if thousandths or old[4]:
                self._active[name] = _made(ActionState, (False, thousandths, 0, 0, old[4]))
            else:
                del self._active[name]

    def _move(self, name: str, distance: int) -> None:
        if self._stopped or not distance:
            return
        old = self._active.get(name, NEUTRAL)
        moved = min(max(old.axis + distance, _I32_MIN), _I32_MAX)
        self._set_once(name, _made(ActionState, (False, moved, 0, 0, old.cancelled)))

    def _cancel(self, name: str) -> None:
        state = self._active.get(name)
        if name in self._down or (state and state.axis and self._kinds[name] == _AXIS):
            self._down.discard(name)
            self._blocked.add(name)
        if state is not None:
            self._set_once(name, CANCEL)

    def _set_once(self, name: str, state: ActionState) -> None:
        """What the next tick sees of an action, some of it not to be seen by those after it."""
        if self._taken is not None:
            self._detach()
        self._active[name] = state
        self._once.add(name)

    def _detach(self) -> None:
        """Leave the states that were given out to those who have them."""
        self._active = self._active.copy()
        self._taken = None

    def _queue(self, at: SupportsIndex, call: Callable[..., None], *arguments: object) -> None:
        when = timestamp(at, "at")
        if self._later is None:
            raise ValueError(
                f"at={when} needs the input of a session, which places it; leave at= out"
            )
        self._later(when, partial(call, *arguments))

    def _wrong(self, name: object, kind: str = "action") -> ValueError:
        """The error for a name that is no action, or one of another kind."""
        found = self._kinds.get(name) if type(name) is str else None
        but = f", but of kind {found}: {_METHODS[found]} takes it" if found else ""
        names = self._named(kind) if kind in _METHODS else self._kinds
        return ValueError(
            f"{shown(name)} is no {kind}{but}; those there are, {_listed(names)}, were named when "
            "the Input was made"
        )

    def _state(self) -> dict[str, Any]:
        """What a saved game needs, as JSON can hold it."""
        return {
            "down": sorted(self._down),
            "blocked": sorted(self._blocked),
            "pending": TickInput._of(self._neutral._actions, self._active).to_dict(),
            "stopped": self._stopped,
        }

    def _restore(self, state: object) -> None:
        """Be what ``_state`` wrote. Raises ValueError for anything else; nothing changes then."""
        names = ("down", "blocked", "pending", "stopped")
        if not isinstance(state, dict) or state.keys() != set(names):
            raise ValueError(f"an input has {', '.join(names)}, not {shown(state)}")
        down, blocked, pending, stopped = (state[name] for name in names)
        kinds = self._kinds
        for what, listed, fitting in (
            ("down", down, (_BUTTON,)),
            ("blocked", blocked, (_BUTTON, _AXIS)),
        ):
            if not isinstance(listed, list) or any(
                type(name) is not str or kinds.get(name) not in fitting for name in listed
            ):
                raise ValueError(
                    f"{what} must be names of actions that can be, not {shown(listed)}"
                )
        active = TickInput.from_dict(self._neutral, pending)._active
        ignored = set(blocked)
        held = set(down) - ignored
        for name, found in active.items():
            button = kinds[name] == _BUTTON
            if (found.axis if button else found.held or found.pressed or found.released) or (
                found.axis and name in ignored
            ):
                raise ValueError(f"{shown(name)} is a {kinds[name]} and cannot be {shown(found)}")
        if held != {name for name, found in active.items() if found.held}:
            raise ValueError(f"what is pending as held must be down and not blocked, not {held}")
        if type(stopped) is not bool:
            raise ValueError(f"stopped must be true or false, not {shown(stopped)}")
        self._clear()
        self._active, self._down, self._blocked = active, set(down), ignored
        self._once = {
            name
            for name, found in active.items()
            if found.pressed or found.released or found.cancelled or kinds[name] == _RELATIVE
        }
        self._stopped = stopped

    def __reduce__(self) -> tuple[Any, ...]:
        names = self.buttons, self.axes, self.relative
        return restore, ("sim.Input", *names, self._dead_zones, self._state())

    def __copy__(self) -> Input:
        """A snapshot: what is taken from the one stays in the other."""
        copied = object.__new__(Input)
        copied._neutral, copied._kinds = self._neutral, self._kinds  # never changed
        copied._dead_zones = self._dead_zones
        copied._stopped, copied._taken = self._stopped, None
        copied._later = None
        copied._active = self._active.copy()
        copied._down, copied._blocked = self._down.copy(), self._blocked.copy()
        copied._once = self._once.copy()
        return copied

    def __deepcopy__(self, memo: object, /) -> Input:
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        if type(other) is not Input:
            return NotImplemented
        return (self._kinds, self._dead_zones, self._state()) == (
            other._kinds,
            other._dead_zones,
            other._state(),
        )

    def __repr__(self) -> str:
        active = TickInput._of(self._neutral._actions, self._active).to_dict()
        blocked = f", blocked: {_listed(sorted(self._blocked))}" if self._blocked else ""
        return f"<Input of {len(self._kinds)} actions: {shown(active)}{blocked}>"


def _restored(
    buttons: Iterable[str],
    axes: Iterable[str],
    relative: Iterable[str],
    dead_zones: Mapping[str, int],
    state: object,
) -> Input:
    """What a pickle of an Input calls."""
    made = Input(buttons, axes, relative, dead_zones)
    made._restore(state)
    return made


register("sim.Input", _restored, 5)


def _dead_zone(value: object) -> int:
    kind, fix = "a whole number of thousandths of full deflection", "100 is a tenth"
    return integer(value, "dead_zone", kind, fix, high=1000)


def _thousandths(name: str, value: SupportsFloat) -> int:
    kind = type(value)
    if not (hasattr(kind, "__float__") or hasattr(kind, "__index__")):
        raise TypeError(
            f"value of {shown(name)} must be a number in -1.0 .. 1.0, not {kind.__name__} "
            f"{shown(value)}; devices report one"
        )
    try:
        number = float(value)
    except OverflowError:  # an int of hundreds of digits
        number = 2
    # A device that reports 1.00003 is at its end; what rounds beyond it is in another unit.
    if -2 < number < 2 and -1000 <= (thousandths := round(number * 1000)) <= 1000:
        return thousandths
    raise ValueError(
        f"value of {shown(name)} must be -1.0 .. 1.0, not {shown(value)}; divide by the device's "
        "full deflection"
    )
