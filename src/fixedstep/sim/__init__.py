"""Between frames and ticks: clocks that decide how much time reaches a schedule, and at what speed.

Everything here is built on `FrameLoop`, the one accumulator: no file of this folder adds elapsed
time up and takes steps out of it by itself. None reads a clock either; timestamps come in as
numbers, so a session of a day is tested in a second.
"""

from .frame_clock import FrameClock, FrameSample
from .interpolation import progress, progress_exact
from .speed_clock import SpeedClock

__all__ = ["FrameClock", "FrameSample", "SpeedClock", "progress", "progress_exact"]
