# The C core has the types of the reference, by contract and by test; the type checker is told so,
# and a program type-checks the same whichever core it runs on.
from .reference import FrameLoop as FrameLoop
from .reference import FramePlan as FramePlan
from .reference import FrameStats as FrameStats
from .reference import FrameTiming as FrameTiming
from .reference import StateHash as StateHash
from .reference import Steps as Steps
from .reference import digest as digest
from .time import Step as Step

__all__ = [
    "FrameLoop",
    "FramePlan",
    "FrameStats",
    "FrameTiming",
    "StateHash",
    "Step",
    "Steps",
    "build_info",
    "digest",
]

def build_info() -> dict[str, str]: ...
