"""sim.Random: SplitMix64, whose numbers are published and frozen."""

from __future__ import annotations

import copy
import pickle
from collections import Counter, deque
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import digest
from fixedstep.sim import Random

if TYPE_CHECKING:
    from tests.conftest import Core

U64 = 2**64


@pytest.mark.parametrize(
    ("seed", "numbers"),
    [
        (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]),
        (
            1234567,
            [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431],
        ),
    ],
)
def test_the_published_numbers_of_splitmix64_come_out(seed: int, numbers: list[int]) -> None:
    """As its authors' C program and its ports to other languages print them."""
    random = Random(seed)
    assert [random.below(U64) for _ in numbers] == numbers
    assert random == Random(seed, drawn=len(numbers))
    assert Random(seed, 2).below(U64) == numbers[2]


def test_the_numbers_of_every_method_are_frozen() -> None:
    """Recordings and saved games depend on each of these; none may change in any version."""
    random = Random(2026)
    assert [random.below(n) for n in (1, 2, 6, 100, 10**9, 3 * 2**62)] == FROZEN["below"]
    assert [random.random() for _ in range(3)] == FROZEN["random"]
    assert [random.choice("abcdefgh") for _ in range(6)] == FROZEN["choice"]
    cards = list(range(10))
    random.shuffle(cards)
    assert cards == FROZEN["shuffle"]
    names: list[Any] = ["loot", "", 7, ("unit", 3), b"x"]
    assert [random.stream(name).seed for name in names] == FROZEN["stream"]
    assert random.drawn == FROZEN["drawn"]


FROZEN: dict[str, Any] = {
    "below": [0, 1, 2, 86, 585831241, 13399792675488815619],
    "random": [0.9530099100424224, 0.8045466480287788, 0.3348456288459831],
    "choice": ["c", "f", "a", "a", "f", "b"],
    "shuffle": [4, 7, 2, 0, 9, 6, 8, 3, 1, 5],
    "stream": [
        18311812229328142154,
        7545565671957862199,
        6546884020970398965,
        16286780339449784465,
        17781669642236258519,
    ],
    "drawn": 24,
}


def test_what_would_favour_small_results_is_drawn_again() -> None:
    """For 3 * 2**62 a quarter of all numbers; with it every result is as likely as another."""
    n, random, plain = 3 * 2**62, Random(5), Random(5)
    results = [random.below(n) for _ in range(3000)]
    drawn = [plain.below(U64) for _ in range(random.drawn)]
    assert results == [number for number in drawn if number < n]
    assert 3800 < len(drawn) < 4200
    thirds = Counter(3 * result // n for result in results)
    assert min(thirds.values()) > 900


@given(seed=st.integers(0, U64 - 1), n=st.integers(1, U64) | st.integers(1, 10))
def test_below_is_the_remainder_of_a_number(seed: int, n: int) -> None:
    random = Random(seed)
    result = random.below(n)
    assert 0 <= result < n
    assert result == Random(seed, random.drawn - 1).below(U64) % n


def test_floats_have_53_bits_and_stay_below_one() -> None:
    random, plain = Random(11), Random(11)
    for _ in range(1000):
        number = random.random()
        assert 0 <= number < 1
        assert number * 2**53 == plain.below(U64) >> 11


def test_every_order_is_as_likely_as_another() -> None:
    random, found = Random(3), Counter[tuple[int, ...]]()
    for _ in range(6000):
        items = [0, 1, 2]
        random.shuffle(items)
        found[tuple(items)] += 1
    assert set(found) == set(permutations(range(3)))
    assert min(found.values()) > 900
    assert max(found.values()) < 1100


def test_streams_are_independent_of_what_was_drawn_and_of_each_other() -> None:
    random = Random(9)
    before = random.stream("effects")
    random.below(6)
    assert random.stream("effects") == before
    assert random.drawn == 1
    names: list[Any] = ["effects", "loot", ("unit", 1), ("unit", 2), 1, 2, "1", True]
    streams = [random.stream(name) for name in names] + [Random(10).stream("effects"), Random(9)]
    firsts = {tuple(stream.below(U64) for _ in range(4)) for stream in streams}
    assert len({number for four in firsts for number in four}) == 4 * len(streams)


def test_the_state_is_a_value(core: Core) -> None:
    random = Random(9)
    random.below(6)
    for same in (
        copy.copy(random),
        copy.deepcopy(random),
        pickle.loads(pickle.dumps(random)),
        eval(repr(random)),
        Random(random.seed, random.drawn),
    ):
        assert same == random
        assert same is not random
        assert core.digest({"random": same}) == core.digest({"random": random})
        assert same.below(10**9) == copy.copy(random).below(10**9)
        assert same != random, "a copy goes its own way"
        assert core.digest(same) != core.digest(random)
    assert random != (9, 1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(random)
    assert repr(Random(4)) == "Random(4, drawn=0)"
    assert digest(Random(4)) != digest(Random(5))


def test_what_is_wrong_is_said_and_draws_nothing() -> None:
    random: Any = Random(1)
    kind: Any = Random
    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda: random.below(0), ValueError, "n must be a whole number, at least 1, not 0"),
        (lambda: random.below(-1), OverflowError, "n must be a whole number in 1 .. "),
        (lambda: random.below(U64 + 1), OverflowError, "pass at most 2"),
        (lambda: random.below(1.5), TypeError, "n must be a whole number, not float 1.5"),
        (lambda: random.choice([]), IndexError, "items must not be empty"),
        (lambda: random.choice({1, 2}), TypeError, r"not set \{1, 2\}, whose order may be another"),
        (lambda: random.choice({1: 2}), TypeError, r"pass sorted\(items\)"),
        (lambda: random.shuffle((1, 2)), TypeError, "not tuple .*; pass a list of them"),
        (lambda: random.shuffle(np.zeros((2, 2))), TypeError, "not ndarray"),
        (lambda: random.stream(object()), TypeError, "object has no __digest__"),
        (lambda: kind(-1), OverflowError, "seed must be an unsigned 64-bit integer in 0 .. "),
        (lambda: kind("7"), TypeError, "seed must be an unsigned 64-bit integer, not str '7'"),
        (lambda: kind(1, -1), OverflowError, "drawn must be a whole number in 0 .. "),
    ]
    for call, error, text in wrong:
        with pytest.raises(error, match=text):
            call()
    assert random == Random(1)


def test_any_mutable_sequence_is_shuffled() -> None:
    items = deque("abcdef")
    Random(1).shuffle(items)
    same = list("abcdef")
    Random(1).shuffle(same)
    assert list(items) == same != list("abcdef")
    Random(1).shuffle([])
