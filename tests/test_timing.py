"""FrameTiming: measured frames in constant memory, percentiles within 1/128.

The oracle keeps every sample and sorts them, which is what FrameTiming exists not to do. Nothing
here is timed: the spans are numbers.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
import sys
from array import array
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import Nanos

if TYPE_CHECKING:
    from tests.conftest import Core

    from fixedstep import FrameTiming

U64_MAX = 2**64 - 1
MS = 1_000_000

spans = (
    st.sampled_from([0, 1, 63, 64, 127, 128, 129, 255, 256, 2**32, 2**63, U64_MAX])
    | st.integers(0, 300)
    | st.integers(10 * MS, 40 * MS)
    | st.integers(0, U64_MAX)
)
shares = (
    st.sampled_from([0, 1, 50, 90, 99, 100])
    | st.integers(0, 100)
    | st.fractions(0, 100, max_denominator=1000)
)


def timing_of(core: Core, samples: list[int]) -> FrameTiming:
    timing = core.FrameTiming()
    for nanos in samples:
        timing.record(Nanos(nanos), drawn=True)
    return timing


def nearest_rank(samples: list[int], p: Fraction) -> int:
    """The smallest sample that at least p percent of the samples do not exceed."""
    ordered = sorted(samples)
    return ordered[max(math.ceil(p * len(ordered) / 100), 1) - 1]


def test_a_fresh_summary_is_all_zero(core: Core) -> None:
    timing = core.FrameTiming()
    assert (timing.count, timing.min, timing.max, timing.sum) == (0, 0, 0, 0)
    assert (timing.drawn, timing.skipped) == (0, 0)
    assert [timing.percentile(p) for p in (0, 50, 100)] == [0, 0, 0]


def test_frames_are_summed_up(core: Core) -> None:
    timing = core.FrameTiming()
    timing.record(Nanos(30), drawn=True)
    timing.record(Nanos(10), drawn=False)
    timing.record(Nanos(20), drawn=True)
    assert (timing.count, timing.min, timing.max, timing.sum) == (3, 10, 30, 60)
    assert (timing.drawn, timing.skipped) == (2, 1)


def test_the_first_frame_sets_the_minimum(core: Core) -> None:
    assert timing_of(core, [7]).min == 7
    assert timing_of(core, [7, 9]).min == 7
    assert timing_of(core, [0, 9]).min == 0


@given(samples=st.lists(spans, min_size=1, max_size=80), p=shares)
def test_a_percentile_is_within_a_128th_of_the_true_one(
    core: Core, samples: list[int], p: int | Fraction
) -> None:
    timing = timing_of(core, samples)
    true = nearest_rank(samples, Fraction(p))
    assert abs(timing.percentile(p) - true) <= Fraction(true, 128)
    assert timing.count == len(samples)
    assert (timing.min, timing.max) == (min(samples), max(samples))
    assert timing.sum == min(sum(samples), U64_MAX)


@given(samples=st.lists(st.integers(0, 127), min_size=1, max_size=200), p=shares)
def test_a_percentile_of_short_spans_is_exact(
    core: Core, samples: list[int], p: int | Fraction
) -> None:
    assert timing_of(core, samples).percentile(p) == nearest_rank(samples, Fraction(p))


@given(samples=st.lists(spans, min_size=1, max_size=40))
def test_percentiles_rise_from_minimum_to_maximum(core: Core, samples: list[int]) -> None:
    timing = timing_of(core, samples)
    row = [timing.percentile(p) for p in range(101)]
    assert row == sorted(row)
    assert (row[0], row[-1]) == (min(samples), max(samples))


def test_one_long_frame_in_a_hundred_is_not_p99(core: Core) -> None:
    """Nearest rank, not interpolation: 99 of 100 frames do not exceed the short one."""
    timing = timing_of(core, [16_666_667] * 99 + [100_000_000])
    for p in (50, 99):
        assert abs(timing.percentile(p) - 16_666_667) <= 16_666_667 // 128
    for q in ("99.1", "99.9", "100"):
        assert abs(timing.percentile(q) - 100_000_000) <= 100_000_000 // 128
    assert timing.percentile(100) == 100_000_000


@pytest.mark.parametrize("p", [99.9, "99.9", Decimal("99.9"), Fraction(999, 10), np.float64(99.9)])
def test_a_percentile_is_read_as_it_is_written(core: Core, p: Any) -> None:
    """The double beside 99.9 is a little less or more than 999 in a thousand, and a thousand frames
    would tell."""
    timing = timing_of(core, list(range(1, 1001)))
    exact = timing_of(core, [1] * 999 + [10**9])
    assert exact.percentile(p) == 1
    assert exact.percentile("99.91") == 10**9
    assert abs(timing.percentile(p) - 999) <= Fraction(999, 128)


@pytest.mark.parametrize(
    "p",
    [None, "fast", b"50", [50], {}, 1j, math.nan, "nan", "1/0", "", True],
    ids=repr,
)
def test_a_percentile_that_is_no_number_is_refused(core: Core, p: Any) -> None:
    timing = timing_of(core, [1, 2, 3])
    with pytest.raises(TypeError, match=r"percentile must be a number from 0 to 100"):
        timing.percentile(p)


@pytest.mark.parametrize("p", [-1, 101, -0.001, 100.1, "1e9", Decimal(-5), Fraction(1001, 10)])
def test_a_percentile_out_of_range_is_refused(core: Core, p: Any) -> None:
    with pytest.raises(ValueError, match=r"percentile must be 0 \.\. 100 percent"):
        timing_of(core, [1, 2, 3]).percentile(p)


def test_json_begins_with_the_counts_and_then_has_the_percentiles(core: Core) -> None:
    assert core.FrameTiming().json() == (
        '{"count":0,"min_ns":0,"max_ns":0,"sum_ns":0,"drawn":0,"skipped":0,'
        '"p50_ns":0,"p90_ns":0,"p99_ns":0,"p99.9_ns":0}'
    )


@given(samples=st.lists(spans, max_size=30), skipped=st.integers(0, 3))
def test_json_reads_back(core: Core, samples: list[int], skipped: int) -> None:
    timing = timing_of(core, samples)
    for _ in range(skipped):
        timing.record(Nanos(5), drawn=False)
    read = json.loads(timing.json())
    assert read == {
        "count": timing.count,
        "min_ns": timing.min,
        "max_ns": timing.max,
        "sum_ns": timing.sum,
        "drawn": len(samples),
        "skipped": skipped,
        "p50_ns": timing.percentile(50),
        "p90_ns": timing.percentile(90),
        "p99_ns": timing.percentile(99),
        "p99.9_ns": timing.percentile("99.9"),
    }


def held(timing: FrameTiming) -> int:
    """The bytes of a summary and of everything it holds."""
    parts = [getattr(timing, name) for name in getattr(type(timing), "__slots__", ())]
    return sys.getsizeof(timing) + sum(
        sys.getsizeof(part) for part in parts if isinstance(part, (array, list, dict))
    )


def test_memory_does_not_grow_with_the_frames(core: Core) -> None:
    timing = timing_of(core, [1])
    before = held(timing)
    assert before > 8 * 3000, "the histogram must be part of what is measured"
    for k in range(100_000):
        timing.record(Nanos(k * 7919 * 7919), drawn=bool(k % 3))
    assert timing.count == 100_001
    assert held(timing) == before


@pytest.mark.parametrize("name", ["drawn", "skipped"])
def test_the_frame_counters_stop_at_their_end(core: Core, name: str) -> None:
    arguments: dict[str, Any] = {name: U64_MAX - 1, "buckets": {0: U64_MAX - 1}}
    timing = core.FrameTiming(**arguments)
    for _ in range(3):
        timing.record(Nanos(5), drawn=name == "drawn")
    assert getattr(timing, name) == U64_MAX
    assert timing.count == U64_MAX
    timing.record(Nanos(5), drawn=name != "drawn")
    assert timing.count == U64_MAX


def test_sum_and_buckets_stop_at_their_end(core: Core) -> None:
    timing = core.FrameTiming(min=5, max=5, sum=U64_MAX - 1, drawn=1, buckets={5: U64_MAX})
    timing.record(Nanos(5), drawn=True)
    assert timing.sum == U64_MAX
    assert timing == core.FrameTiming(min=5, max=5, sum=U64_MAX, drawn=2, buckets={5: U64_MAX})


@pytest.mark.parametrize(
    ("span", "error"),
    [
        (1.5, TypeError),
        ("5", TypeError),
        (None, TypeError),
        (-1, OverflowError),
        (2**64, OverflowError),
    ],
)
def test_a_span_that_is_refused_counts_nothing(
    core: Core, span: Any, error: type[Exception]
) -> None:
    timing = timing_of(core, [5, 6])
    before = copy.copy(timing)
    with pytest.raises(error, match=r"frame_time must be a whole number of nanoseconds"):
        timing.record(span, drawn=True)
    assert timing == before


def test_a_flag_that_is_neither_true_nor_false_counts_nothing(core: Core) -> None:
    """An array of two has no truth value, and says so late: the frame must not be half counted."""
    timing = timing_of(core, [5, 6])
    before = copy.copy(timing)
    ambiguous: Any = np.array([1, 2])
    with pytest.raises(ValueError, match="ambiguous"):
        timing.record(Nanos(7), ambiguous)
    assert timing == before


def test_spans_take_what_has_an_index(core: Core) -> None:
    timing = core.FrameTiming()
    span: Any = np.uint64(7)
    timing.record(span, drawn=True)
    assert timing == timing_of(core, [7])
    assert type(timing.max) is int


@given(records=st.lists(st.tuples(spans, st.booleans())), p=shares)
def test_both_cores_agree_after_every_frame(
    native: Core, reference: Core, records: list[tuple[int, bool]], p: int | Fraction
) -> None:
    one, other = native.FrameTiming(), reference.FrameTiming()
    for span, drawn in records:
        one.record(Nanos(span), drawn)
        other.record(Nanos(span), drawn)
        assert one._state() == other._state()
    assert one == other
    assert (one.json(), repr(one), one.count) == (other.json(), repr(other), other.count)
    assert one.percentile(p) == other.percentile(p)
    if records:
        fewer = reference.FrameTiming()
        for span, drawn in records[1:]:
            fewer.record(Nanos(span), drawn)
        assert one != fewer


@pytest.mark.parametrize("power", range(64))
def test_both_cores_count_in_the_same_bucket_at_every_power_of_two(
    native: Core, reference: Core, power: int
) -> None:
    edges = [2**power + offset for offset in (-2, -1, 0, 1, 2) if 2**power + offset >= 0]
    for span in (*edges, 2**power * 127 // 64 % 2**64, 2**power * 65 // 64):
        assert timing_of(native, [span])._state() == timing_of(reference, [span])._state()
        (state,) = timing_of(native, [span])._state()
        assert list(state["buckets"].values()) == [1]


def test_a_frame_is_recorded_by_place_or_by_name(core: Core) -> None:
    timing = core.FrameTiming()
    timing.record(Nanos(5), True)
    timing.record(Nanos(5), drawn=True)
    timing.record(frame_time=Nanos(5), drawn=True)
    timing.record(drawn=True, frame_time=Nanos(5))
    assert timing == timing_of(core, [5] * 4)


def test_a_finalizer_that_records_is_counted(core: Core) -> None:
    """What has a truth value of its own can record while the frame around it is recorded."""
    timing = core.FrameTiming()

    class Recording:
        def __bool__(self) -> bool:
            timing.record(Nanos(3), drawn=False)
            return True

    flag: Any = Recording()
    timing.record(Nanos(7), flag)
    assert (timing.min, timing.max, timing.drawn, timing.skipped) == (3, 7, 1, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda timing: timing.record(),
        lambda timing: timing.record(5),
        lambda timing: timing.record(5, frame_time=5),
        lambda timing: timing.record(5, shown=True),
        lambda timing: timing.record(5, True, drawn=True),
    ],
)
def test_a_record_of_the_wrong_shape_counts_nothing(core: Core, call: Any) -> None:
    timing = core.FrameTiming()
    with pytest.raises(TypeError, match=r"^FrameTiming\.record\(\) "):
        call(timing)
    assert timing == core.FrameTiming()


def test_every_number_of_a_state_is_seen_by_equality_and_kept_by_copies(
    core: Core, native: Core, reference: Core
) -> None:
    """One number at a time, since two that change together hide each other."""
    base: dict[str, Any] = {"min": 200, "max": 300, "sum": 999, "drawn": 3, "skipped": U64_MAX}
    base["buckets"] = {164: 2, 170: 1, 203: 1}
    changes: list[dict[str, Any]] = [
        {},
        {"min": 201},
        {"max": 301},
        {"sum": 998},
        {"drawn": 4},
        {"drawn": U64_MAX, "skipped": 3},
        {"buckets": {164: 2, 170: 2, 203: 1}},
        {"buckets": {164: 2, 171: 1, 203: 1}},
    ]
    states = [base | change for change in changes]
    made = [core.FrameTiming._from_state(state) for state in states]  # type: ignore[arg-type]
    for at, one in enumerate(made):
        assert one._state() == (states[at],)
        for copied in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert copied._state() == (states[at],)
        for twin_core in (native, reference):
            twins = [twin_core.FrameTiming(**state) for state in states]
            assert [one == twin for twin in twins] == [at == k for k in range(len(twins))]
            assert [one != twin for twin in twins] == [at != k for k in range(len(twins))]
