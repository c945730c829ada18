"""Progress on the way: exact between departure and arrival, and never outside of 0 and 1."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import Rate, Timestamp
from fixedstep.sim import GameLoop, progress, progress_exact

MINUTE = 60 * 10**9
U64_MAX = 2**64 - 1

times = st.sampled_from([0, 1, 2**53, 2**63, U64_MAX]) | st.integers(0, U64_MAX)


@pytest.mark.parametrize(
    ("at", "exactly"),
    [
        (0, Fraction(0)),
        (10, Fraction(0)),
        (11, Fraction(1, 20)),
        (15, Fraction(1, 4)),
        (20, Fraction(1, 2)),
        (29, Fraction(19, 20)),
        (30, Fraction(1)),
        (31, Fraction(1)),
        (U64_MAX, Fraction(1)),
    ],
)
def test_progress_runs_from_departure_to_arrival_and_no_further(at: int, exactly: Fraction) -> None:
    assert progress_exact(at, departed=10, arrives=30) == exactly
    assert progress(at, departed=10, arrives=30) == float(exactly)


@pytest.mark.parametrize(("at", "exactly"), [(0, 0), (9, 0), (10, 1), (11, 1), (U64_MAX, 1)])
def test_a_trip_that_takes_no_time_is_over_at_its_moment(at: int, exactly: int) -> None:
    """No division by zero, and no moment at which it is under way."""
    assert progress_exact(at, departed=10, arrives=10) == exactly
    assert progress(at, departed=10, arrives=10) == float(exactly)


def test_the_kinds_are_exact_and_float() -> None:
    assert type(progress_exact(15, 10, 30)) is Fraction
    assert type(progress_exact(0, 10, 30)) is Fraction
    assert type(progress_exact(99, 10, 30)) is Fraction
    assert type(progress(15, 10, 30)) is float
    assert type(progress(99, 10, 30)) is float


def test_fractions_of_a_nanosecond_count() -> None:
    assert progress_exact(Fraction(31, 3), 10, Fraction(32, 3)) == Fraction(1, 2)


def test_the_exact_form_sees_what_the_float_form_rounds_away() -> None:
    """A float cannot tell a nanosecond before the end of a long way from the end."""
    almost = progress_exact(U64_MAX - 1, 0, U64_MAX)
    assert almost == 1 - Fraction(1, U64_MAX) < 1
    assert progress(U64_MAX - 1, 0, U64_MAX) == 1.0


def test_it_takes_the_presentation_time_of_a_game() -> None:
    """A march of 18 hours that began at minute 1, 271 seconds later, at a minute a second."""
    game = GameLoop(None, Rate(1), tick_length=MINUTE, budget=1_000, max_delta=None)
    for now in (0, 271 * 10**9):
        game.begin_frame(Timestamp(now))
    assert progress(game.presentation_time, 1 * MINUTE, 1_081 * MINUTE) == 0.25
    game.begin_frame(Timestamp(272 * 10**9 - 500_000_000))
    assert progress_exact(game.presentation_time, 1 * MINUTE, 1_081 * MINUTE) == Fraction(541, 2160)


@given(at=times, one=times, other=times)
def test_progress_is_the_share_of_the_way_that_is_behind(at: int, one: int, other: int) -> None:
    departed, arrives = sorted((one, other))
    share = progress_exact(at, departed, arrives)
    assert 0 <= share <= 1
    assert 0.0 <= progress(at, departed, arrives) == float(share) <= 1.0
    if at >= arrives:
        assert share == 1
    elif at < departed:
        assert share == 0
    else:
        assert departed + share * (arrives - departed) == at


@given(departed=times, length=times, early=times, late=times)
def test_progress_never_goes_back(departed: int, length: int, early: int, late: int) -> None:
    arrives = min(departed + length, U64_MAX)
    early, late = sorted((early, late))
    assert progress_exact(early, departed, arrives) <= progress_exact(late, departed, arrives)
    assert progress(early, departed, arrives) <= progress(late, departed, arrives)


@pytest.mark.parametrize("name", ["at", "departed", "arrives"])
@pytest.mark.parametrize("form", [progress, progress_exact])
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        pytest.param(float("nan"), TypeError, id="nan"),
        pytest.param(15.0, TypeError, id="float"),
        pytest.param(Decimal(15), TypeError, id="Decimal"),
        pytest.param("15", TypeError, id="str"),
        pytest.param(None, TypeError, id="None"),
        pytest.param(-1, OverflowError, id="negative"),
        pytest.param(2**64, OverflowError, id="2**64"),
        pytest.param(Fraction(-1, 2), OverflowError, id="negative-half"),
    ],
)
def test_a_time_that_is_not_exact_is_refused(
    form: Any, name: str, bad: Any, error: type[Exception]
) -> None:
    arguments = {"at": 15, "departed": 10, "arrives": 30} | {name: bad}
    with pytest.raises(error, match=f"{name} must be a whole number or a Fraction.*in one unit"):
        form(**arguments)


@pytest.mark.parametrize("form", [progress, progress_exact])
def test_an_arrival_before_the_departure_is_refused(form: Any) -> None:
    with pytest.raises(ValueError, match="arrives must not be before departed, not 29 before 30"):
        form(99, departed=30, arrives=29)
