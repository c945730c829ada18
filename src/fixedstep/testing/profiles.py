"""Frame profiles: how long the frames of an imagined machine are, as fixed lists of integers.

The default ones are 60, 30 and 24 frames a second on a clock of milliseconds, a thousand, 144
exactly, and one that jitters and stalls. A profile is the same in every run: a random one would
find a bug in one run and miss it in the next.
(`fixedstep.testing.frame_timestamps` is the random kind, and hypothesis keeps what it found.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from math import gcd
from typing import SupportsIndex, final

from .._arguments import U64_MAX, nanos, positive, timestamp
from .._saved import Value
from ..time import ORIGIN, Nanos, Timestamp

_SECOND = 10**9
_MILLISECOND = 10**6
_HIGHEST_HZ = 10**6
_PATTERN_FIX = "FrameProfile([16_000_000, 17_000_000]) is 16 ms and 17 ms in turn"


@final
class FrameProfile(Value, kind="testing.FrameProfile"):
    """A name and a pattern of frame durations in nanoseconds, which repeats.

    >>> profile = FrameProfile([16_000_000, 17_000_000])
    >>> list(profile.timestamps(Nanos(60_000_000)))
    [16000000, 33000000, 49000000, 60000000]

    Immutable. Raises TypeError for what is no integer, OverflowError out of range, and ValueError
    for an empty pattern or a frame of 0 ns.
    """

    __slots__ = ("_name", "_pattern", "_seen")
    __match_args__ = ("pattern", "name")
    _pattern: tuple[Nanos, ...]
    _name: str
    _seen: Callable[[Timestamp], object]

    def __new__(cls, pattern: Iterable[SupportsIndex], name: str | None = None) -> FrameProfile:
        """From checked durations. Without a name, it is called by what it is."""
        frames = tuple(
            Nanos(positive(frame, f"pattern[{i}]", "a whole number of nanoseconds", _PATTERN_FIX))
            for i, frame in enumerate(pattern)
        )
        if not frames:
            raise ValueError(f"pattern must hold at least one frame; {_PATTERN_FIX}")
        label = _label(frames) if name is None else str(name)
        return cls._made(_pattern=frames, _name=label, _seen=_unseen)

    @classmethod
    def at_hz(cls, hz: SupportsIndex, name: str | None = None) -> FrameProfile:
        """A profile of ``hz`` frames a second (1 .. 10**6).

        Frame ``k`` ends at ``floor(k * 10**9 / hz)``, so a second has exactly that many frames.

        >>> FrameProfile.at_hz(3)
        FrameProfile((333333333, 333333333, 333333334), '3 Hz')

        Raises what the constructor raises.
        """
        rate = positive(
            hz,
            "hz",
            "a whole number of frames a second",
            "FrameProfile.at_hz(144) is 144 frames a second",
            high=_HIGHEST_HZ,
        )
        frames = range(rate // gcd(rate, _SECOND))  # the grid repeats after these
        ends = [k * _SECOND // rate for k in (*frames, len(frames))]
        return cls((ends[k + 1] - ends[k] for k in frames), f"{rate} Hz" if name is None else name)

    def _watched(self, seen: Callable[[Timestamp], object]) -> FrameProfile:
        """An equal profile that calls ``seen`` with each timestamp it gives."""
        return self._made(_name=self._name, _pattern=self._pattern, _seen=seen)

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._name

    @property
    def pattern(self) -> tuple[Nanos, ...]:
        """The durations of the frames, in nanoseconds."""
        return self._pattern

    def timestamps(self, duration: Nanos, start: Timestamp = ORIGIN) -> Iterator[Timestamp]:
        """The end of each frame of a stretch of ``duration`` nanoseconds that begins at ``start``.

        The pattern begins anew with every call, and the last frame is cut to fit: the stretch ends
        at ``start + duration`` under every profile, so what happens there (a click, a change of
        speed) happens at the same moment in all of them.

        >>> list(FrameProfile([40]).timestamps(Nanos(100), start=Timestamp(1_000)))
        [1040, 1080, 1100]

        Raises TypeError and OverflowError at the call, also for an end beyond 2**64 - 1.
        """
        first, length = timestamp(start, "start"), nanos(duration, "duration")
        end = first + length
        if end > U64_MAX:
            raise OverflowError(
                f"start + duration must be at most {U64_MAX} ns, not {end}; start nearer to 0"
            )
        return self._frames(first, end)

    def _frames(self, now: int, end: int) -> Iterator[Timestamp]:
        for frame in cycle(self._pattern):
            if now >= end:
                return
            now = min(now + frame, end)
            self._seen(Timestamp(now))
            yield Timestamp(now)


def _unseen(now: Timestamp) -> None:
    pass


def _label(pattern: tuple[Nanos, ...]) -> str:
    if all(frame % _MILLISECOND == 0 for frame in pattern):
        return f"{'/'.join(str(frame // _MILLISECOND) for frame in pattern)} ms"
    return f"{'/'.join(map(str, pattern))} ns"


#: What `assert_fps_invariant` runs under. No frame is longer than 70 ms, which is five steps at 60
#: Hz. A stall that is longer than a schedule's budget drops steps, and a run that dropped steps
#: differs from one that did not: rightly, but that is not what these profiles are there to find.
DEFAULT_PROFILES = (
    FrameProfile([16_000_000, 17_000_000]),
    FrameProfile([33_000_000, 34_000_000]),
    FrameProfile([40_000_000, 41_000_000]),
    FrameProfile([1_000_000]),
    FrameProfile.at_hz(144),
    FrameProfile(
        [
            *(16_412_907, 16_954_221, 3_107_556, 30_218_410, 16_667_002, 15_003_811, 70_000_000),
            *(8_333_333, 8_333_334, 24_999_999, 1, 33_481_276, 16_700_113, 70_000_000, 11_009_887),
        ],
        name="jitter and stalls",
    ),
)
