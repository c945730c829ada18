"""For users' own test suites: the proof that their game does not depend on the frame rate.

A schedule that is exact proves nothing about the program around it. The faults live there: a
movement that is multiplied by the frame's time, an input that counts from the frame that polled it,
a set that is iterated in another order. Three functions find them, in a pytest or a unittest suite
alike:

`assert_fps_invariant`
    runs the program under several patterns of frame times and compares its states tick by tick.
`assert_deterministic`
    runs the same thing again and again and compares, in this process and in new ones.
`assert_rollback_safe`
    copies a world in every tick and finds what the copy forgets or shares.

They name the first tick and the path of the first value that differs, and fail when they have
compared nothing: a run without a tick, a state that never changes, or patterns that came to the
same number of frames.

`FrameProfile` makes further patterns. `hostile_timestamps` and `frame_timestamps` are strategies
for hypothesis, which is imported when they are called and not before.
"""

from .invariance import assert_deterministic, assert_fps_invariant
from .profiles import DEFAULT_PROFILES, FrameProfile
from .rollback import assert_rollback_safe
from .strategies import frame_timestamps, hostile_timestamps

__all__ = [
    "DEFAULT_PROFILES",
    "FrameProfile",
    "assert_deterministic",
    "assert_fps_invariant",
    "assert_rollback_safe",
    "frame_timestamps",
    "hostile_timestamps",
]
