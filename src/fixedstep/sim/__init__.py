"""Games on top of the schedule: the game loop, sessions, input, timers, sounds, background work."""

from .drawing import Interpolated
from .due_times import due_times
from .frame_clock import FrameClock, FrameSample
from .game_loop import SHOW_CURRENT, Fault, FrameReport, GameLoop, GameStateError
from .history import ArrayHistory, History
from .input import CANCEL, NEUTRAL, PRESS, RELEASE, ActionState, Input, TickInput
from .interpolation import progress, progress_exact
from .mailbox import (
    Completion,
    Mailbox,
    MailboxClosed,
    MailboxCounters,
    MailboxFull,
    Stale,
    Ticket,
    WorkFailed,
)
from .outbox import Outbox, OutboxFull, Request
from .random import Random
from .recordable import check_recordable
from .rollback import Desync, Rollback, RollbackStats
from .session import Session
from .tick import PHASES, PhaseOrderError, RecordedTick, Tick, TickLog, TickLogEntry
from .timers import (
    Cadence,
    Deadline,
    DueSet,
    TickExhausted,
    Timer,
    TimerId,
    TimerQueue,
    TimerQueueFull,
)

__all__ = [
    "CANCEL",
    "NEUTRAL",
    "PHASES",
    "PRESS",
    "RELEASE",
    "SHOW_CURRENT",
    "ActionState",
    "ArrayHistory",
    "Cadence",
    "Completion",
    "Deadline",
    "Desync",
    "DueSet",
    "Fault",
    "FrameClock",
    "FrameReport",
    "FrameSample",
    "GameLoop",
    "GameStateError",
    "History",
    "Input",
    "Interpolated",
    "Mailbox",
    "MailboxClosed",
    "MailboxCounters",
    "MailboxFull",
    "Outbox",
    "OutboxFull",
    "PhaseOrderError",
    "Random",
    "RecordedTick",
    "Request",
    "Rollback",
    "RollbackStats",
    "Session",
    "Stale",
    "Tick",
    "TickExhausted",
    "TickInput",
    "TickLog",
    "TickLogEntry",
    "Ticket",
    "Timer",
    "TimerId",
    "TimerQueue",
    "TimerQueueFull",
    "WorkFailed",
    "check_recordable",
    "due_times",
    "progress",
    "progress_exact",
]
