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
from .input_bridge import InputBridge, TransitionOverflow, TransitionQueue
from .interpolation import progress, progress_exact
from .mailbox import Completion, Mailbox, MailboxClosed, MailboxFull, Stale, Ticket
from .outbox import Outbox, OutboxOverflow, Record
from .phases import Phase, Phases
from .recording import Policies, RecordedTick, Recorder, Recording, ReplayError
from .replay import Comparison, Divergence, compare, first_divergence, play
from .session import SHOW_CURRENT, Fault, FrameReport, Mode, Session, SessionModeError, Tick
from .speed_clock import SpeedClock
from .tick_input import CANCEL, PRESS, RELEASE, REST, ActionState, TickInput, Transition
from .tick_log import TickTrace, TracedTick
from .timers import Cadence, Deadline, TickExhausted, TimerId, TimerOverflow, TimerQueue

__all__ = [
    "CANCEL",
    "PRESS",
    "RELEASE",
    "REST",
    "SHOW_CURRENT",
    "ActionState",
    "ArrayHistory",
    "Cadence",
    "Comparison",
    "Completion",
    "Deadline",
    "Divergence",
    "Fault",
    "FrameClock",
    "FrameReport",
    "FrameSample",
    "History",
    "InputBridge",
    "Mailbox",
    "MailboxClosed",
    "MailboxFull",
    "Mode",
    "Outbox",
    "OutboxOverflow",
    "Phase",
    "Phases",
    "Policies",
    "Record",
    "RecordedTick",
    "Recorder",
    "Recording",
    "ReplayError",
    "Session",
    "SessionModeError",
    "SpeedClock",
    "Stale",
    "Tick",
    "TickExhausted",
    "TickInput",
    "TickTrace",
    "Ticket",
    "TimerId",
    "TimerOverflow",
    "TimerQueue",
    "TracedTick",
    "Transition",
    "TransitionOverflow",
    "TransitionQueue",
    "compare",
    "due_times",
    "first_divergence",
    "play",
    "progress",
    "progress_exact",
]
