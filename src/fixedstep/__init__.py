"""Turns timestamps into fixed simulation steps. The same timestamps give the same steps on every
machine, since all arithmetic is on integers.

    loop, stats = FrameLoop(Rate(60), budget=5, start=host.now()), FrameStats()
    while running:
        plan = loop.begin_frame(host.now())
        for step in plan.steps():
            world.advance(step)
        draw(plan.alpha())
        stats.absorb(plan)

Times are integer nanoseconds. Two cores give equal results: one in C, and `fixedstep.reference` in
plain Python, which is the specification. `backend` says which one runs.
"""

from typing import TYPE_CHECKING

from ._plans import FramePlans
from ._saved import restore
from ._select import Backend, backend, core
from .time import (
    Alpha,
    Nanos,
    Rate,
    StepBudget,
    Timestamp,
    Timestep,
    saturating_add,
    saturating_since,
)

if TYPE_CHECKING:
    from . import native as native
    from . import reference as reference
    from .reference import (
        FrameLoop,
        FramePlan,
        FrameStats,
        FrameTiming,
        StateHash,
        Step,
        Steps,
        digest,
    )
else:
    FrameLoop = core.FrameLoop
    FramePlan = core.FramePlan
    FrameStats = core.FrameStats
    FrameTiming = core.FrameTiming
    StateHash = core.StateHash
    Step = core.Step
    Steps = core.Steps
    digest = core.digest


def __getattr__(name: str) -> object:
    """The cores by name, ``fixedstep.reference`` and ``native``: loaded when first asked for."""
    if name == "reference":
        import fixedstep.reference as reference_core

        return reference_core
    if name == "native":
        import fixedstep.native as native_core

        return native_core
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Alpha",
    "Backend",
    "FrameLoop",
    "FramePlan",
    "FramePlans",
    "FrameStats",
    "FrameTiming",
    "Nanos",
    "Rate",
    "StateHash",
    "Step",
    "StepBudget",
    "Steps",
    "Timestamp",
    "Timestep",
    "backend",
    "digest",
    "restore",
    "saturating_add",
    "saturating_since",
]

__version__ = "0.1.0"
