"""Between the previous and the current value: what is drawn, and that drawing changes nothing."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, Rate, StateHash, StepBudget, Timestamp, Timestep
from fixedstep.sim.history import ArrayHistory, History, Number

if TYPE_CHECKING:
    from tests.conftest import Core

ALMOST_ONE = 1 - 2**-24  # the largest alpha of a plan

whole = st.integers(-(10**6), 10**6) | st.sampled_from([0, 1, -1, 2**53 + 1, 2**64, -(2**70)])
reals = st.floats(-1e9, 1e9) | st.integers(-(10**6), 10**6)
shares = st.floats(0, ALMOST_ONE) | st.sampled_from([0.0, 0.5, ALMOST_ONE, 1.0])
fractions = st.tuples(st.integers(1, 2**64 - 1), st.integers(0, 2**64 - 1)).map(
    lambda pair: (min(pair), max(pair))
)


def moved(before: Any, now: Any) -> Any:
    history: History[Any] = History(before)
    history.capture()
    history.set(now)
    return history


# previous and current


def test_what_has_just_appeared_does_not_come_from_anywhere() -> None:
    history = History((7, 8))
    assert history.previous == history.current == (7, 8)
    assert [history.at(alpha) for alpha in (0, 0.5, 1)] == [(7, 8)] * 3


def test_a_tick_begins_where_the_last_one_ended() -> None:
    history = History(0)
    seen = []
    for speed in (3, 0, 5):
        history.capture()
        history.set(history.current + speed)
        seen.append((history.previous, history.current))
    assert seen == [(0, 3), (3, 3), (3, 8)]


def test_several_moves_of_one_tick_are_drawn_as_one() -> None:
    history = History(0)
    history.capture()
    for value in (10, 40, 20):
        history.set(value)
    assert (history.previous, history.at(0.5)) == (0, 10.0)


def test_a_teleport_is_not_drawn_half_way() -> None:
    history = moved((0, 0), (1, 1))
    history.teleport((900, 900))
    assert [history.at(alpha) for alpha in (0, 0.25, 1)] == [(900, 900)] * 3
    history.capture()
    history.set((902, 900))
    assert history.at(0.5) == (901.0, 900), "and motion goes on from there"
    untold = moved((0, 0), (900, 900))
    assert untold.at(0.5) == (450.0, 450.0), "which set alone would have drawn"


def test_motion_after_a_teleport_in_one_tick_is_drawn_from_its_end() -> None:
    history = moved(0, 5)
    history.teleport(100)
    history.set(104)
    assert history.at(0.5) == 102.0


def test_alpha_at_its_ends_shows_exactly_what_is_and_was() -> None:
    """While paused or faulted: also where a float could not say it."""
    for value in (2**53 + 1, Fraction(1, 3), 0.1):
        for shown in (moved(value - 1, value).at(1), moved(value, value - 1).at(0)):
            assert shown == value
            assert type(shown) is type(value)


@given(before=reals, now=reals, alpha=shares)
def test_a_sample_lies_between_its_ends(before: Any, now: Any, alpha: float) -> None:
    drawn = moved(before, now).at(alpha)
    assert min(before, now) <= drawn <= max(before, now)
    if before == now or alpha == 1:
        assert drawn == now
    if alpha == 0:
        assert drawn == before


@given(before=st.integers(-(10**6), 10**6), now=st.integers(-(10**6), 10**6), alpha=shares)
def test_a_sample_is_the_exact_point_but_for_rounding(before: int, now: int, alpha: float) -> None:
    exact = before + (now - before) * Fraction(alpha)
    assert abs(Fraction(moved(before, now).at(alpha)) - exact) <= Fraction(1, 2**31)


def test_a_type_checker_knows_what_a_sample_is() -> None:
    number: float = History(3).at(0.5)
    numbers: tuple[float, ...] = History((3, 4.5)).at(0.5)
    floor: int = History(3).floor_at(0.5)
    floors: tuple[int, ...] = History((3, 4)).floor_at(0.5)
    assert (number, numbers, floor, floors) == (3, (3, 4.5), 3, (3, 4))
    plan = FrameLoop(Timestep(30), start=Timestamp(0)).begin_frame(Timestamp(10))
    exact: Number = History(3).at(plan)
    exacts: tuple[Number, ...] = History((3, 4.5)).at(plan)
    assert (exact, exacts, History(3).floor_at(plan)) == (3, (3, 4.5), 3)


def test_sampling_never_writes_back() -> None:
    history = moved((0, 10), (4, 20))
    before = history.previous, history.current
    for alpha in (0, 0.25, 0.5, ALMOST_ONE, 1):
        history.at(alpha)
        history.at(Fraction(1, 3))
        history.floor_at(Fraction(1, 3))
    assert (history.previous, history.current) == before == ((0, 10), (4, 20))


def digests(hz: int, sampled: bool, written_back: bool = False) -> list[int]:
    """The digest of every tick of two seconds, drawn at ``hz`` frames a second or not at all."""
    loop, x, found = FrameLoop(Rate(60), StepBudget(1_000), start=Timestamp(0)), History(0), []
    for frame in range(1, 2 * hz + 1):
        plan = loop.begin_frame(Timestamp(frame * 10**9 // hz))
        for tick in plan.ticks:
            x.capture()
            x.set(x.current + tick * 7 % 13)
            found.append(StateHash().absorb_i64(int(x.current)).finish())
        if sampled:
            drawn = x.at(plan.alpha())
            if written_back:
                x.set(int(drawn))
    return found


def test_the_simulation_does_not_depend_on_what_is_drawn() -> None:
    expected = digests(60, sampled=False)
    assert len(set(expected)) > 100
    for hz in (30, 60, 144, 1_000):
        assert digests(hz, sampled=True) == expected
    assert digests(144, sampled=True, written_back=True) != expected, "the control"


# exactly


def test_a_point_in_integers_is_exact() -> None:
    loop = FrameLoop(Timestep(30), StepBudget(5), start=Timestamp(0))
    plan = loop.begin_frame(Timestamp(40))
    assert plan.remainder == 10
    history = moved((100, -7, 5), (110, 3, 5))
    assert history.at(plan) == (Fraction(310, 3), Fraction(-11, 3), 5)
    assert history.floor_at(plan) == (103, -4, 5)
    assert history.at(plan) != history.at(plan.alpha())


@pytest.mark.parametrize("rate", [Rate(60), Rate(60_000, 1_001), Timestep(16_666_667)])
def test_a_plan_is_drawn_at_its_remainder_whatever_its_unit(core: Core, rate: Any) -> None:
    loop = core.FrameLoop(rate, start=Timestamp(0))
    plan = loop.begin_frame(Timestamp(20_000_000))
    unit = rate.nanos if isinstance(rate, Timestep) else rate.denominator * 10**9
    assert moved(0, unit).at(plan) == plan.remainder > 0
    assert moved(0, 10**6).at(plan) == Fraction(10**6 * plan.remainder, unit)


class Report(NamedTuple):
    """What `History` reads of the report of a frame."""

    plan: Any
    alpha: float


def test_a_report_is_drawn_at_its_plan_or_shows_the_current_value(core: Core) -> None:
    loop = core.FrameLoop(Timestep(30), start=Timestamp(0))
    plan = loop.begin_frame(Timestamp(40))
    history = moved((0, 0.0), (3, 3.0))
    report: Any = Report(plan, plan.alpha())
    assert history.at(report) == (1, 1.0)
    paused: Any = Report(plan, 1.0)
    assert history.at(paused) == (3, 3.0)
    assert ArrayHistory([3.0]).at(paused).tolist() == [3.0]


def test_rounding_down_has_no_seam_at_zero() -> None:
    """Truncation would draw pixel 0 for two pixels' time."""
    history = moved(-3, 3)
    assert [history.floor_at(Fraction(n, 12)) for n in range(13)] == [
        -3, -3, -2, -2, -1, -1, 0, 0, 1, 1, 2, 2, 3,
    ]  # fmt: skip
    assert [int(history.at(n / 12)) for n in range(13)].count(0) == 3


@given(before=whole, now=whole, share=fractions)
def test_exact_samples_agree_with_fractions(before: int, now: int, share: tuple[int, int]) -> None:
    history = moved(before, now)
    exact = before + (now - before) * Fraction(*share)
    assert history.at(Fraction(*share)) == exact
    assert history.floor_at(Fraction(*share)) == exact.numerator // exact.denominator
    assert type(history.floor_at(Fraction(*share))) is int
    assert history.at(0) == before
    assert history.at(Fraction(1)) == now


def test_a_fraction_is_sampled_exactly_too() -> None:
    history = moved(Fraction(1, 3), Fraction(2, 3))
    assert history.at(Fraction(1, 2)) == Fraction(1, 2)
    assert history.floor_at(Fraction(1, 2)) == 0


def test_a_point_that_is_whole_is_an_int() -> None:
    found = moved(0, 10).at(Fraction(1, 2))
    assert (found, type(found)) == (5, int)


@pytest.mark.parametrize(("before", "now"), [(0.0, 1), (0, 1.0)])
def test_a_float_among_the_values_makes_the_point_a_float(before: Any, now: Any) -> None:
    drawn = moved(before, now).at(Fraction(1, 3))
    assert (drawn, type(drawn)) == (1 / 3, float)
    assert moved((before, 0), (now, 1)).at(Fraction(1, 3)) == (1 / 3, Fraction(1, 3))


# what is refused

BAD_ALPHAS: list[Any] = [
    Fraction(4, 3),
    -0.001,
    1.001,
    2,
    float("nan"),
    float("inf"),
    "0.5",
    None,
    1j,
]


@pytest.mark.parametrize("alpha", BAD_ALPHAS)
def test_an_alpha_that_is_none_is_refused(alpha: Any) -> None:
    for history in (moved(0, 1), ArrayHistory([0.0])):
        with pytest.raises((TypeError, ValueError), match="alpha must be"):
            history.at(alpha)


@pytest.mark.parametrize("alpha", [np.float32(0.25), np.float64(0.25)])
def test_an_alpha_is_any_number(alpha: Any) -> None:
    assert moved(0, 4).at(alpha) == 1.0
    assert type(moved(0, 4).at(alpha)) is float


@pytest.mark.parametrize("value", [[1, 2], "1", None, {1}, (1, "2"), ((1, 2), 3), 1j])
def test_a_value_that_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="initial must be a number or a tuple of numbers"):
        History(value)
    history: History[Any] = moved((1, 2), (3, 4))
    for move in (history.set, history.teleport):
        with pytest.raises(TypeError, match="value must be a number or a tuple of numbers"):
            move(value)
        assert (history.previous, history.current) == ((1, 2), (3, 4))


@pytest.mark.parametrize(
    ("now", "value", "error"),
    [((3, 4), 3, TypeError), (3, (3,), TypeError), ((3, 4), (3, 4, 5), ValueError)],
)
def test_a_value_of_another_shape_is_refused(now: Any, value: Any, error: type[Exception]) -> None:
    history: History[Any] = History(now)
    for move in (history.set, history.teleport):
        with pytest.raises(error, match="a history keeps its shape"):
            move(value)
        assert history.current == history.previous == now


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda h: pickle.loads(pickle.dumps(h))])
@pytest.mark.parametrize("make", [lambda: moved(0, 4), lambda: moved_rows([0.0, 1.0], [4.0, 1.0])])
def test_a_copy_goes_its_own_way(make: Any, how: Any) -> None:
    history, expected = make(), [2.0, 1.0]
    twin = how(history)
    assert type(twin) is type(history)
    assert np.array_equal(twin.at(0.5), history.at(0.5))
    twin.capture()
    twin.set(twin.current + 8)
    assert np.array_equal(np.atleast_1d(history.at(0.5)), expected[: np.size(history.current)])
    assert np.atleast_1d(twin.at(0.5))[0] == 8.0
    assert np.atleast_1d(twin.previous)[0] == 4


# arrays


def moved_rows(before: Any, now: Any) -> ArrayHistory:
    history = ArrayHistory(before)
    history.capture()
    history.set(now)
    return history


@given(
    rows=st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=1, max_size=30),
    alpha=shares,
)
def test_an_array_samples_as_its_rows_do_one_by_one(
    rows: list[tuple[float, float]], alpha: float
) -> None:
    before, now = zip(*rows, strict=True)
    drawn = moved_rows(before, now).at(alpha)
    assert drawn.tolist() == [moved(*row).at(alpha) for row in rows]


def test_a_hundred_thousand_entities_move_jump_and_appear() -> None:
    count = 100_000
    generator = np.random.default_rng(3)
    start = generator.uniform(-1000, 1000, (count, 2))
    velocity = generator.uniform(-5, 5, (count, 2))
    positions = ArrayHistory(start)
    start_copy = start.copy()
    jumps, spawns = generator.random(count) < 0.01, generator.random(count) < 0.01
    spawns &= ~jumps
    assert min(jumps.sum(), spawns.sum()) > 500
    positions.capture()
    positions.current += velocity
    positions.teleport(jumps, [5_000.0, 5_000.0])
    places = generator.uniform(0, 1, (int(spawns.sum()), 2))
    positions.teleport(np.flatnonzero(spawns), places)
    drawn = positions.at(0.25)
    still = ~(jumps | spawns)
    assert np.allclose(drawn[still], (start + velocity * 0.25)[still], rtol=0, atol=1e-9)
    assert (drawn[jumps] == 5_000).all()
    assert np.array_equal(drawn[spawns], places)
    assert np.array_equal(start, start_copy), "the array it was made from is not its own"
    half = start + velocity * 0.25
    assert not np.allclose(drawn[jumps], half[jumps]), "the jump is seen by this comparison"


def test_rows_that_motion_moved_may_be_declared_a_jump() -> None:
    """A portal finds out after motion that the way was none."""
    positions = moved_rows([[0.0, 0.0], [0.0, 0.0]], [[9.0, 9.0], [9.0, 9.0]])
    positions.teleport([True, False])
    assert positions.at(0.5).tolist() == [[9.0, 9.0], [4.5, 4.5]]
    assert positions.current.tolist() == [[9.0, 9.0], [9.0, 9.0]]


@pytest.mark.parametrize("where", [[False, True, True], [1, 2], np.array([1, 2], np.uint8)])
def test_rows_are_named_by_a_mask_or_by_number(where: Any) -> None:
    positions = moved_rows([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    positions.teleport(where, [7.0, 8.0])
    assert positions.at(0.5).tolist() == [0.5, 7.0, 8.0]


@pytest.mark.parametrize("where", [[], [False] * 3, np.array([], int)])
def test_no_rows_are_no_trouble(where: Any) -> None:
    positions = moved_rows([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    positions.teleport(where)
    positions.teleport(where, 5.0)
    assert positions.at(0.5).tolist() == [0.5] * 3


def test_sampling_an_array_never_writes_back() -> None:
    positions = moved_rows([[0.0, 1.0]] * 4, [[2.0, 3.0]] * 4)
    before, now = positions.previous.copy(), positions.current.copy()
    own = np.empty((4, 2))
    for alpha in (0, 0.5, 1):
        drawn = positions.at(alpha)
        drawn += 100
        assert positions.at(alpha, out=own) is own
        own += 100
    assert np.array_equal(positions.previous, before)
    assert np.array_equal(positions.current, now)
    with pytest.raises(ValueError, match="read-only"):
        positions.previous[0] = 5


@pytest.mark.parametrize("part", ["current", "previous", "half of current"])
def test_the_history_is_no_place_to_sample_into(part: str) -> None:
    positions = moved_rows([0.0] * 4, [2.0] * 4)
    out: Any = positions.previous if part == "previous" else positions.current
    if part == "half of current":
        positions = moved_rows([0.0] * 4, [2.0] * 4)
        out = positions.current[:]
    with pytest.raises(ValueError, match="drawing must not change it"):
        positions.at(0.5, out=out)
    assert (positions.previous.tolist(), positions.current.tolist()) == ([0.0] * 4, [2.0] * 4)


@pytest.mark.parametrize("out", [np.empty(3), np.empty((2, 4)), np.empty(4, np.float32)])
def test_an_array_to_sample_into_must_fit(out: Any) -> None:
    with pytest.raises(ValueError, match="out must be float64 of shape"):
        moved_rows([0.0] * 4, [2.0] * 4).at(0.5, out=out)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_keep_their_size(kind: Any) -> None:
    positions = moved_rows(np.zeros(3, kind), np.full(3, 4, kind))
    for alpha in (0, 0.25, 1):
        assert positions.at(alpha).dtype == kind
    assert positions.at(0.25).tolist() == [1.0] * 3


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
def test_integers_are_sampled_as_floats_and_do_not_overflow(kind: Any) -> None:
    """From one end of an int8 to the other is further than an int8 can say."""
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    positions = moved_rows(np.array([low, 0], kind), np.array([high, 4], kind))
    drawn = positions.at(0.5)
    assert drawn.dtype == np.float64
    assert drawn[1] == 2.0
    assert abs(drawn[0]) <= 1.0
    assert positions.at(1).tolist() == [float(high), 4.0]
    assert positions.current.dtype == kind


def test_current_can_be_assigned_and_written_in_place() -> None:
    positions = ArrayHistory([0.0, 0.0])
    array = positions.current
    positions.current += 3.0
    positions.current[1] = 9.0
    assert (positions.current is array, array.tolist()) == (True, [3.0, 9.0])
    positions.current = [5.0, 6.0]
    assert (positions.current is array, array.tolist()) == (True, [5.0, 6.0])
    assert positions.previous.tolist() == [0.0, 0.0]
    assert len(positions) == 2


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda h: h.set([1, 2, 3]), ValueError, r"values must be of shape \(3, 2\)"),
        (lambda h: h.set([["a", "b"]]), TypeError, "values must fit an array of int16"),
        (lambda h: h.set(1.5), TypeError, "round floats first"),
        (lambda h: h.set(2**15), OverflowError, r"values must be -32768 \.\. 32767"),
        (lambda h: h.set([-(2**15) - 1, 0]), OverflowError, r"not -32769 \.\. 0"),
        (lambda h: h.teleport([True, False], 1), IndexError, "a mask of 3 rows"),
        (lambda h: h.teleport([[True, False]] * 3, 1), IndexError, "a mask of 3 rows"),
        (lambda h: h.teleport([3], 1), IndexError, r"rows 0 \.\. 2, not 3 \.\. 3"),
        (lambda h: h.teleport([-1], 1), IndexError, r"rows 0 \.\. 2, not -1 \.\. -1"),
        (lambda h: h.teleport([0.0], 1), TypeError, "a mask or numbers of rows"),
        (lambda h: h.teleport([0, 1], [[1, 1]] * 3), ValueError, r"of shape \(2, 2\)"),
        (lambda h: h.teleport([0, 1], 0.5), TypeError, "values must fit"),
        (lambda h: h.teleport([0, 1], 2**40), OverflowError, "make the history of int64"),
    ],
)
def test_what_an_array_refuses_changes_nothing(
    call: Any, error: type[Exception], text: str
) -> None:
    history = moved_rows(np.zeros((3, 2), np.int16), np.full((3, 2), 4, np.int16))
    with pytest.raises(error, match=text):
        call(history)
    assert (history.current == 4).all()
    assert (history.previous == 0).all()


@pytest.mark.parametrize(
    ("initial", "error"),
    [(["a"], TypeError), ([True], TypeError), ([1j], TypeError), ([object()], TypeError),
     (np.zeros(3, np.uint8), TypeError), (5.0, ValueError)],
)  # fmt: skip
def test_an_array_of_no_numbers_is_refused(initial: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="initial must hold"):
        ArrayHistory(initial)


def test_without_numpy_the_plain_form_works_and_the_other_says_what_to_install() -> None:
    """In a process of its own, in which numpy cannot be imported."""
    program = """
import sys
sys.modules["numpy"] = None
from fixedstep.sim.history import ArrayHistory, History
print(History(3).at(0.5))
try:
    ArrayHistory([1.0])
except ImportError as error:
    print(error)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    plain, refusal = ended.stdout.splitlines()
    assert plain == "3"
    assert "pip install numpy" in refusal


def test_numpy_is_imported_when_it_is_needed_and_not_before() -> None:
    program = """
import sys
from fixedstep.sim.history import ArrayHistory, History
History(3).at(0.5)
print("numpy" in sys.modules)
ArrayHistory([1.0])
print("numpy" in sys.modules)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["False", "True"]


def test_it_says_what_it_holds() -> None:
    assert repr(moved(3, 4)) == "History(4, previous=3)"
    assert eval(repr(moved((1, 2), (3, 4)))) == moved((1, 2), (3, 4))
    assert repr(ArrayHistory(np.zeros((3, 2)))) == "<ArrayHistory: 3 rows of float64>"


class Place(NamedTuple):
    x: float
    y: float


def test_a_sample_of_a_named_tuple_has_its_names() -> None:
    history = History(Place(0, 10))
    history.set(Place(4, 11))
    assert history.at(0.5) == Place(2.0, 10.5)
    for drawn in (history.at(0.5), history.at(Fraction(1, 2)), history.floor_at(0.5)):
        assert type(drawn) is Place
    assert history.floor_at(0.5) == Place(2, 10)


def test_histories_are_equal_by_both_values() -> None:
    for made in (moved, moved_rows):
        one = made([1, 2], [3, 4]) if made is moved_rows else made((1, 2), (3, 4))
        assert one == copy.copy(one)
        assert one == pickle.loads(pickle.dumps(one))
        assert one != 3
        before = copy.copy(one)
        one.capture()
        assert one != before, "the previous values differ"
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
    assert ArrayHistory([1]) != ArrayHistory([1.0])


def test_a_saved_history_with_a_previous_value_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="must hold 2 numbers"):
        History((3, 4), previous=(1, 2, 3))
    saved = pickle.dumps(moved((10, 20), (30, 40)), 2)
    damaged = saved.replace(b"K\x0aK\x14\x86", b"]]\x86")  # two lists in place of 10 and 20
    assert damaged != saved
    with pytest.raises(TypeError, match="must be a number"):
        pickle.loads(damaged)
