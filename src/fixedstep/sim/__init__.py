"""Games on top of the schedule: the game loop, sessions, input, timers, sounds, background work."""

from .frame_clock import FrameClock, FrameSample
from .game_loop import SHOW_CURRENT, Fault, FrameReport, GameLoop, GameStateError
from .input import CANCEL, NEUTRAL, PRESS, RELEASE, ActionState, Input, TickInput
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
from .recordable import check_recordable
from .session import Session
from .tick import PHASES, PhaseOrderError, RecordedTick, Tick, TickLog, TickLogEntry
from .timers import (
    Cadence,
    Deadline,
    DueSet,
    TickExhausted,
    Timer,
    TimerId,
    TimerOverflow,
    TimerQueue,
)
