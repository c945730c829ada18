"""Between frames and ticks: what a game needs around a schedule, each part usable alone.

Clocks decide how much time reaches a schedule and at what speed; a bridge carries input across
frames without a tick; timers, outbox, mailbox and history are what a tick reads and writes; a
session puts them together and a recording proves it.

Everything here is built on `FrameLoop`, the one accumulator: no file of this folder adds elapsed
time up and takes steps out of it by itself. None reads a clock either; timestamps come in as
numbers, so a session of a day is tested in a second.
"""

from .due import due_times
from .frame_clock import FrameClock, FrameSample
from .history import ArrayHistory, History
from .input import CANCEL, NEUTRAL, PRESS, RELEASE, ActionState, Input, TickInput
from .interpolation import progress, progress_exact
from .mailbox import Completion, Mailbox, MailboxClosed, MailboxFull, Stale, Ticket
from .outbox import Outbox, OutboxOverflow, Record
from .phases import Phase, Phases
from .speed_clock import SpeedClock
from .timers import Cadence, Deadline, TickExhausted, TimerId, TimerOverflow, TimerQueue

__all__ = [
    "CANCEL",
    "NEUTRAL",
    "PRESS",
    "RELEASE",
    "ActionState",
    "ArrayHistory",
    "Cadence",
    "Completion",
    "Deadline",
    "FrameClock",
    "FrameSample",
    "History",
    "Input",
    "Mailbox",
    "MailboxClosed",
    "MailboxFull",
    "Outbox",
    "OutboxOverflow",
    "Phase",
    "Phases",
    "Record",
    "SpeedClock",
    "Stale",
    "TickExhausted",
    "TickInput",
    "Ticket",
    "TimerId",
    "TimerOverflow",
    "TimerQueue",
    "due_times",
    "progress",
    "progress_exact",
]
