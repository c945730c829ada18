"""The phases of a tick, and a record of where one stands.

A tick is a chain of ordinary calls, and the order of its calls is the order of its effects. What
this adds is a name for each stretch of the chain, so that a fault, a trace and a comparison of two
runs can say where: a game enters a phase, calls its systems, and enters the next.

It refuses to call anything. A scheduler that looks systems up and runs them would make the order of
effects a matter of registration, and hide it from the reader of the code.
"""

from __future__ import annotations

from enum import Enum

from .._arguments import shown


class Phase(Enum):
    """A stretch of a tick. Its value is its name in files; its order is the order of the members.

    >>> Phase.MOTION.value, Phase("Motion") is Phase.MOTION
    ('Motion', True)
    """

    BEGIN_TICK = "BeginTick"
    """Results of background work are applied, due timers read, previous transforms captured."""
    INTENT = "Intent"
    """Input and decisions become intents."""
    MOTION = "Motion"
    """Intents become motion, motion becomes contacts."""
    GAMEPLAY = "Gameplay"
    """Contacts have consequences: damage, rewards, requests to create and destroy."""
    COMMIT = "Commit"
    """What was requested is created and destroyed."""
    END_TICK = "EndTick"
    """Invariants are checked, the state is digested, the tick is published."""

    def __init__(self, name: str) -> None:
        #: Its place in the order. An attribute, since a dict by phase costs a tick more than this.
        self.place = len(type(self).__members__)


class PhaseOrderError(RuntimeError):
    """A tick went back to a phase, or into one it is in.

    >>> Phases().enter(Phase.BEGIN_TICK)
    Traceback (most recent call last):
        ...
    fixedstep.sim.phases.PhaseOrderError: BeginTick cannot follow BeginTick; the order is \
BeginTick, Intent, Motion, Gameplay, Commit, EndTick
    """


class Phases:
    """Where a tick stands: at BeginTick when it is made, and onwards from there.

    >>> phases = Phases()
    >>> phases.enter(Phase.INTENT); phases.enter(Phase.GAMEPLAY)      # Motion has nothing to do
    >>> phases.current.value, [phase.value for phase in phases.entered]
    ('Gameplay', ['BeginTick', 'Intent', 'Gameplay'])
    """

    __slots__ = ("_entered",)

    def __init__(self) -> None:
        self._entered = [Phase.BEGIN_TICK]

    def enter(self, phase: Phase) -> None:
        """Go on to a later phase; those between are left out.

        Raises TypeError for what is no `Phase`, and PhaseOrderError for an earlier one or the
        current one; the record stays.
        """
        if type(phase) is not Phase:
            raise TypeError(
                f"phase must be a Phase, not {type(phase).__name__} {shown(phase)}; "
                "Phase.MOTION is one"
            )
        current = self._entered[-1]
        if phase.place <= current.place:
            raise PhaseOrderError(
                f"{phase.value} cannot follow {current.value}; the order is "
                f"{', '.join(known.value for known in Phase)}"
            )
        self._entered.append(phase)

    @property
    def current(self) -> Phase:
        """The phase the tick is in."""
        return self._entered[-1]

    @property
    def entered(self) -> tuple[Phase, ...]:
        """All phases so far, in order."""
        return tuple(self._entered)

    def __repr__(self) -> str:
        return f"<Phases {' > '.join(phase.value for phase in self._entered)}>"
