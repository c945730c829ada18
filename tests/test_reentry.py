"""An iterator of steps that is used from a finalizer, in the middle of its own ``next``.

A step is a named tuple, which the garbage collector tracks, so making one can start a collection
and with it any finalizer. CPython up to 3.11 collects inside the allocation; later ones wait for
the next instruction. Wherever it happens, every step comes out once and whole.
"""

from __future__ import annotations

import gc
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Core


@pytest.fixture
def _collector() -> Iterator[None]:
    """The thresholds of the suite, put back; and nothing of it in the collections of a test."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("_collector")
@pytest.mark.parametrize("most", [1, 9], ids=["one", "all"])
@pytest.mark.parametrize("count", range(1, 6))
def test_a_finalizer_that_takes_steps_gets_what_nobody_else_gets(
    core: Core, count: int, most: int
) -> None:
    finalized = 0

    class Taking:
        """Garbage only a collection finds: it refers to itself."""

        def __init__(self, steps: Any, taken: list[tuple[int, ...]]) -> None:
            self.own, self.steps, self.taken = self, steps, taken

        def __del__(self) -> None:
            nonlocal finalized
            finalized += 1
            self.taken.extend(tuple(step) for step in islice(self.steps, most))

    for threshold in range(1, 12):
        taken: list[tuple[int, ...]] = []
        plan = core.FrameLoop(Timestep(10), StepBudget(9), start=Timestamp(0)).begin_frame(
            Timestamp(10 * count)
        )
        steps = plan.steps()
        gc.set_threshold(threshold)
        for _ in range(2):
            Taking(steps, taken)
        gc.enable()
        for _ in range(count + 2):
            step = next(steps, None)
            if step is not None:
                taken.append(tuple(step))
        gc.disable()
        gc.collect()
        assert len(steps) == 0
        assert sorted(taken) == [(tick, 10, 10 * tick) for tick in range(count)], threshold
    assert finalized == 22
