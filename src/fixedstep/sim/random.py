"""Random numbers whose sequence never changes, and whose state is a part of the world.

Python's `random` promises its sequence for `random()` alone: `choice`, `shuffle` and `randrange`
may give other results in another version. And its module-level functions share one state among
everything in the process. A `Random` is a small value that a world owns: it is copied with a
snapshot, absorbed by a digest, saved with the game.

The generator is SplitMix64 (Steele, Lea and Flood, 2014). Draw number n, from 1, is
``mix(seed + n * 0x9e3779b97f4a7c15)``, with 64-bit arithmetic that wraps and

    mix(z):  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9
             z = (z ^ z >> 27) * 0x94d049bb133111eb
             return z ^ z >> 31

It is for games and simulations: whoever sees a few numbers can compute all others.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence, Sequence, Set
from math import ldexp
from typing import Any, SupportsIndex, TypeVar

from .. import StateHash
from .._arguments import U64_MAX, count, integer, positive, shown
from .._saved import Saved

_Item = TypeVar("_Item")

_GAMMA = 0x9E3779B97F4A7C15


def _mix(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & U64_MAX
    z = (z ^ z >> 27) * 0x94D049BB133111EB & U64_MAX
    return z ^ z >> 31


class Random(Saved, kind="sim.Random"):
    """Random numbers from a seed: the same on every machine and in every version.

    >>> from fixedstep.sim import Random
    >>> random = Random(7)
    >>> [random.below(6) for _ in range(5)], random.choice(["sword", "bow"])
    ([3, 0, 0, 3, 4], 'bow')
    >>> random
    Random(7, drawn=6)

    ``seed`` and ``drawn``, how many numbers were drawn before, are the whole state, integers in
    ``0 .. 2**64 - 1``. Copies, pickles, ``==`` and digests go by both of them. Nearby seeds give
    unrelated sequences.

    Raises TypeError for what is no integer and OverflowError for one out of range.
    """

    __slots__ = ("_drawn", "_seed")
    __match_args__ = ("seed",)

    def __init__(self, seed: SupportsIndex, drawn: SupportsIndex = 0) -> None:
        self._seed = integer(seed, "seed", "an unsigned 64-bit integer", "pass seed % 2**64")
        self._drawn = count(drawn, "drawn")

    @property
    def seed(self) -> int:
        """What it was made with."""
        return self._seed

    @property
    def drawn(self) -> int:
        """How many 64-bit numbers were drawn. It wraps after 2**64."""
        return self._drawn

    def _next(self) -> int:
        self._drawn = self._drawn + 1 & U64_MAX
        return _mix(self._seed + self._drawn * _GAMMA & U64_MAX)

    def below(self, n: SupportsIndex) -> int:
        """An integer in ``0 .. n - 1``, each equally likely.

        The remainder of a 64-bit number by ``n``. Numbers from the largest multiple of ``n`` on,
        ``2**64 - 2**64 % n``, would favour small results: they are drawn again. Raises ValueError
        for 0, OverflowError below 0 and above 2**64, and TypeError for what is no integer.

        >>> Random(7).below(100)
        87
        """
        limit = positive(n, "n", "a whole number", "pass at most 2**64", high=U64_MAX + 1)
        end = U64_MAX + 1 - (U64_MAX + 1) % limit
        number = self._next()
        while number >= end:
            number = self._next()
        return number % limit

    def random(self) -> float:
        """A float in ``[0, 1)``: the upper 53 bits of a 64-bit number, times 2**-53.

        >>> Random(7).random()
        0.3898297483912715
        """
        return ldexp(self._next() >> 11, -53)

    def choice(self, items: Sequence[_Item]) -> _Item:
        """One of the items of a sequence, ``items[below(len(items))]``.

        >>> Random(7).choice("abcdef")
        'd'

        Raises IndexError for an empty one, and TypeError for a set or a dict, whose order is no
        part of the state: sort it first.
        """
        if isinstance(items, (Set, Mapping)):
            raise TypeError(
                f"items must be a sequence, not {type(items).__name__} {shown(items)}, whose order "
                "may be another one in the next process; pass sorted(items)"
            )
        if not len(items):
            raise IndexError("items must not be empty: there is nothing to choose from")
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put the items of a list into a random order, in place, each order equally likely.

        From the last place to the second, each item is exchanged with that at
        ``below(place + 1)``.

        >>> cards = list(range(8))
        >>> Random(7).shuffle(cards)
        >>> cards
        [1, 4, 5, 2, 6, 0, 3, 7]

        Raises TypeError for what is no mutable sequence; convert an array with ``list()``.
        """
        if not isinstance(items, MutableSequence):
            raise TypeError(
                f"items must be a list or another mutable sequence, not {type(items).__name__} "
                f"{shown(items)}; pass a list of them"
            )
        for place in range(len(items) - 1, 0, -1):
            other = self.below(place + 1)
            items[place], items[other] = items[other], items[place]

    def stream(self, name: object) -> Random:
        """Another generator, which depends on the seed and ``name`` only.

        Nothing is drawn from this one, and it does not matter how much was.

        ``name`` is a str, an integer, a tuple of them, or anything else that `StateHash.absorb`
        takes. An effect that draws from ``random.stream("effects")`` does not move the sequence of
        the world, so a machine that shows fewer effects stays equal.

        >>> Random(7).stream("effects"), Random(7).stream(("unit", 3)).below(100)
        (Random(5693491915062561197, drawn=0), 57)

        The seed of the stream is ``mix(StateHash().absorb_u64(seed).absorb(name).finish())``.
        Raises what `StateHash.absorb` raises.
        """
        return Random(_mix(StateHash().absorb_u64(self._seed).absorb(name).finish()))

    def __digest__(self) -> tuple[int, int]:
        return self._seed, self._drawn

    def _arguments(self) -> dict[str, Any]:
        return {"seed": self._seed, "drawn": self._drawn}
