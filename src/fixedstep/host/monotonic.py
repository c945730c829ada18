"""The machine's monotonic clock, read in this one place.

Everything else in the library is handed its timestamps. The wall clock is not offered: it jumps
when somebody sets it, and a schedule anchored to it would bank the jump. The float clocks are not
used either: after a hundred days a float of seconds cannot tell one nanosecond from the next.
"""

from __future__ import annotations

import time

from .._arguments import timestamp
from ..time import Nanos, Timestamp

#: The longest single sleep, in nanoseconds. Systems refuse sleeps of centuries; an hour at a time
#: reaches any deadline.
_LONGEST_SLEEP = 3600 * 10**9


def now() -> Timestamp:
    """Nanoseconds since some moment before this process, never going back.

    >>> earlier = now()
    >>> earlier <= now()
    True
    """
    return Timestamp(time.monotonic_ns())


def sleep(span: Nanos) -> None:
    """Sleep for about ``span`` nanoseconds. May be late; look at the clock again afterwards.

    For a caller that holds an absolute deadline itself. At most an hour is slept at a time.

    >>> earlier = now()
    >>> sleep(Nanos(1_000))
    >>> now() > earlier
    True
    """
    time.sleep(min(span, _LONGEST_SLEEP) / 10**9)


def wait_until(deadline: Timestamp) -> None:
    """Sleep until the clock shows ``deadline`` (nanoseconds); return at once if it already does.

    An absolute deadline, because sleeping for a length adds every lateness to the next frame.

    >>> deadline = Timestamp(now() + 1_000)
    >>> wait_until(deadline)
    >>> now() >= deadline
    True

    Raises TypeError for anything without ``__index__`` and OverflowError out of range.
    """
    deadline = Timestamp(timestamp(deadline, "deadline"))
    while (left := deadline - now()) > 0:
        sleep(Nanos(left))
