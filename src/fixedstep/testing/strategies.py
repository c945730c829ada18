"""Timestamps for hypothesis: the ones no clock should give, and the ones that clocks do give.

Uniform 64-bit numbers find nothing: none of them is ever 0, equal to the one before, or one step
further on. So the edges are drawn on purpose. hypothesis is no dependency of the library; it is
imported when a strategy is asked for, and its absence is an error that says what to install.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from .._arguments import U64_MAX, nanos, positive
from ..time import LONGEST_FRAME, Nanos, Timestamp

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_MILLISECOND = 10**6
_EDGES = (0, 1, 2**31, 2**32, 2**53, 2**63, U64_MAX - 1, U64_MAX)
_FRAMES = (1, 16_666_666, 16_666_667, 16_666_668, 33_333_333, 6_944_444, _MILLISECOND)


def _strategies() -> Any:
    try:
        from hypothesis import strategies
    except ImportError as error:
        raise ImportError(
            "the strategies of fixedstep.testing need hypothesis, which is not installed; "
            "pip install 'fixedstep[testing]' brings it"
        ) from error
    return strategies


def hostile_timestamps(*, max_frames: int = 50) -> SearchStrategy[list[Timestamp]]:
    """Lists of up to ``max_frames`` timestamps that no clock should give.

    They go back, repeat, jump over centuries, are powers of two and both ends of
    ``0 .. 2**64 - 1``, and move by a nanosecond, a step, or a step and a nanosecond.

    >>> from fixedstep import FrameLoop
    >>> from hypothesis import given
    >>> @given(nows=hostile_timestamps())
    ... def test_no_frame_runs_more_than_its_budget(nows):
    ...     loop = FrameLoop(start=0)
    ...     assert all(loop.begin_frame(now).step_count <= 5 for now in nows)
    >>> test_no_frame_runs_more_than_its_budget()

    Raises ImportError, saying what to install, where hypothesis is missing.
    """
    frames = positive(max_frames, "max_frames", "a whole number of frames", "the default is 50")
    st = _strategies()
    jump = st.sampled_from(_EDGES) | st.integers(0, U64_MAX)
    move = st.sampled_from(_FRAMES) | st.integers(-100 * _MILLISECOND, 1_000 * _MILLISECOND)
    steps = st.tuples(st.just(False), jump) | st.tuples(st.just(True), move)
    return st.lists(steps, max_size=frames).map(_followed)  # type: ignore[no-any-return]


def _followed(steps: list[tuple[bool, int]]) -> list[Timestamp]:
    """Jumps go somewhere, moves start from where the last step ended."""
    now, nows = 0, []
    for moves, amount in steps:
        now = min(max(now + amount, 0), U64_MAX) if moves else amount
        nows.append(Timestamp(now))
    return nows


def frame_timestamps(
    *, max_frames: int = 50, max_delta: Nanos = LONGEST_FRAME
) -> SearchStrategy[list[Timestamp]]:
    """Lists of 1 to ``max_frames`` timestamps as a healthy machine gives them, for whole games.

    The first is the start, anywhere in the first century of a clock. Then they never go back, and
    no frame is longer than ``max_delta`` nanoseconds; most are near what displays do. At 2**64 - 1
    the clock stops.

    >>> from fixedstep import FrameLoop, StepBudget
    >>> from hypothesis import given
    >>> @given(nows=frame_timestamps())
    ... def test_a_budget_of_16_is_enough_for_a_healthy_machine(nows):
    ...     loop = FrameLoop(budget=StepBudget(16), start=nows[0])
    ...     assert all(loop.begin_frame(now).dropped == 0 for now in nows)
    >>> test_a_budget_of_16_is_enough_for_a_healthy_machine()

    Raises ImportError, saying what to install, where hypothesis is missing.
    """
    frames = positive(max_frames, "max_frames", "a whole number of frames", "the default is 50")
    longest = nanos(max_delta, "max_delta")
    st = _strategies()
    usual = [frame for frame in _FRAMES if frame <= longest]
    start = st.sampled_from((0, 1, 2**32)) | st.integers(0, 2**61)
    delta = st.sampled_from(usual) | st.integers(0, longest) if usual else st.just(0)
    deltas = st.lists(delta, max_size=frames - 1)
    return st.tuples(start, deltas).map(  # type: ignore[no-any-return]
        lambda drawn: [
            Timestamp(min(now, U64_MAX)) for now in accumulate(drawn[1], initial=drawn[0])
        ]
    )
