"""Records under keys, made by arithmetic: any of them from its number alone, so that memory stays flat at any count.

A record has a number from 0 on. Its key is a function of the number, its value one of number and version; the
value begins with both, so that what a store gives back can be checked without knowing what was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbbench.datasets.scaled import Scaled
from dbbench.errors import WrongAnswer
from dbbench.suite.dataset import Records

Numbers = NDArray[np.uint64]
Pair = tuple[bytes, bytes]

#: Bytes of a value that name its version and its number.
NAMED = 16
#: The skew of the zipfian distribution, as YCSB has it (Cooper et al. 2010).
THETA = 0.99

_GOLDEN = 0x9E3779B97F4A7C15
_FEISTEL_ROUNDS = 4


def mix(words: Numbers) -> Numbers:
    """A bijection of 64 bits that leaves no pattern: the finaliser of splitmix64 (Steele et al. 2014)."""
    found = words ^ (words >> np.uint64(30))
    found *= np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(27)
    found *= np.uint64(0x94D049BB133111EB)
    found ^= found >> np.uint64(31)
    return found


def _times_golden(number: int) -> np.uint64:
    return np.uint64(number * _GOLDEN % 2**64)


@dataclass(frozen=True)
class RecordSet(Scaled[Records]):
    """The records of one dataset at one scale."""

    @property
    def shape(self) -> Records:
        """Their number and lengths at this scale, all that an engine knows, so that it can't make values itself."""
        return self.spec.model_copy(update={"count": self.count})

    def keys(self, numbers: Numbers) -> list[bytes]:
        """The key of each number; ascending keys are in the order of the numbers, byte by byte."""
        return _as_bytes(self._key_bytes(numbers))

    def values(self, numbers: Numbers, versions: Numbers | int = 0) -> list[bytes]:
        """The value of each number in its version."""
        return _as_bytes(self._value_bytes(numbers, versions))

    def pairs(self, numbers: Numbers, versions: Numbers | int = 0) -> list[Pair]:
        """Key and value of each number."""
        return list(zip(self.keys(numbers), self.values(numbers, versions), strict=True))

    def named(self, pairs: Sequence[Pair]) -> tuple[Numbers, Numbers]:
        """Numbers and versions of pairs that a store gave. Raises WrongAnswer for a key or value that isn't right."""
        for what, sizes, size in (
            ("key", {len(key) for key, _ in pairs}, self.spec.key_bytes),
            ("value", {len(value) for _, value in pairs}, self.spec.value_bytes),
        ):
            if wrong := sizes - {size}:
                raise WrongAnswer(f"a {what} of {min(wrong)} bytes instead of {size}")
        given = np.frombuffer(b"".join(value for _, value in pairs), np.uint8).reshape(-1, self.spec.value_bytes)
        versions, numbers = (np.ascontiguousarray(given[:, at : at + 8]).view("<u8").ravel() for at in (0, 8))
        keys = np.frombuffer(b"".join(key for key, _ in pairs), np.uint8).reshape(-1, self.spec.key_bytes)
        for what, ours, theirs in (
            ("value", self._value_bytes(numbers, versions), given),
            ("key", self._key_bytes(numbers), keys),
        ):
            same = (ours == theirs).all(axis=1)
            if not same.all():
                raise WrongAnswer(
                    f"the {what} {theirs[int(np.argmin(same))].tobytes()[:32].hex()} is none of this dataset"
                )
        return numbers, versions

    def _key_bytes(self, numbers: Numbers) -> NDArray[np.uint8]:
        size, words = self.spec.key_bytes, -(-self.spec.key_bytes // 8)
        made = np.zeros((len(numbers), words), ">u8")
        if self.spec.key_order == "ascending":
            made[:, -1] = numbers
            return made.view(np.uint8).reshape(len(numbers), words * 8)[:, words * 8 - size :]
        made[:, 0] = mix(numbers + mix(np.array([self.seed + 1], np.uint64)))
        for word in range(1, words):
            made[:, word] = mix(made[:, 0].astype(np.uint64) + _times_golden(word))
        return made.view(np.uint8).reshape(len(numbers), words * 8)[:, :size]

    def _value_bytes(self, numbers: Numbers, versions: Numbers | int) -> NDArray[np.uint8]:
        size, words = self.spec.value_bytes, -(-self.spec.value_bytes // 8)
        made = np.empty((len(numbers), words), "<u8")
        made[:, 0] = versions
        made[:, 1] = numbers
        start = mix(numbers * np.uint64(_GOLDEN) + made[:, 0].astype(np.uint64) + np.uint64(self.seed))
        for word in range(2, words):
            made[:, word] = mix(start + _times_golden(word))
        return made.view(np.uint8).reshape(len(numbers), words * 8)[:, :size]


def _as_bytes(rows: NDArray[np.uint8]) -> list[bytes]:
    found: list[bytes] = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel().tolist()
    return found


@dataclass
class ExpectedRecords:
    """What a store must hold: the records from `first` up to `next`, each in the version that it was given last.

    `loose` after a mix: then a record may be in any version up to `newest`.
    """

    first: int = 0
    next: int = 0
    newest: int = 0
    loose: bool = False
    #: Numbers beyond `next` that the clients of a mix have inserted.
    further: list[range] = field(default_factory=list)
    #: All updates but those of a mix.
    laps: list[Laps] = field(default_factory=list)
    #: What the clients of the latest mix called, and how many calls each made, for those who check it.
    mixed: Any = None

    @property
    def beyond(self) -> int:
        """A number above all that were ever inserted: the next inserts begin there."""
        return max([self.next, *(numbers.stop for numbers in self.further)])

    def version_of(self, numbers: Numbers) -> Numbers:
        """The version that each of these records must have: the newest that it was given, for versions only grow."""
        found = np.zeros_like(numbers)
        for laps in self.laps:
            found = np.maximum(found, laps.version_of(numbers))
        return found


@dataclass(frozen=True)
class Laps:
    """Writes to a share of the `there` records from `first` on, from the beginning again at its end.

    `share` are places in the order: that of the numbers, or the one that is drawn from `seed`; `taken` counts writes.
    The first lap writes `version`, each further one the next.
    """

    first: int
    there: int
    seed: int | None
    share: range
    taken: int
    version: int

    def version_of(self, numbers: Numbers) -> Numbers:
        """The version that it gave each of these records last; 0 for what it didn't write."""
        inside = (numbers >= np.uint64(self.first)) & (numbers < np.uint64(self.first + self.there))
        places = np.where(inside, numbers, np.uint64(self.first)) - np.uint64(self.first)
        if self.seed is not None:
            places = unshuffled(places, self.there, self.seed)
        turns = places.astype(np.int64) - self.share.start
        mine = inside & (turns >= 0) & (turns < len(self.share)) & (turns < self.taken)
        laps = (self.taken - 1 - turns) // max(len(self.share), 1)
        found: Numbers = np.where(mine, self.version + laps, 0).astype(np.uint64)
        return found


def shuffled(numbers: Numbers, count: int, seed: int) -> Numbers:
    """Places of the numbers below `count` in a random order: a bijection, by cycle-walking a Feistel network.

    (Black & Rogaway 2002.) No table is held, whatever the count.
    """
    return _walked(numbers, count, seed, _forwards)


def unshuffled(places: Numbers, count: int, seed: int) -> Numbers:
    """The numbers that `shuffled` sends to these places."""
    return _walked(places, count, seed, _backwards)


_Halves = tuple[Numbers, Numbers]


def _walked(
    numbers: Numbers, count: int, seed: int, through: Callable[[Numbers, Numbers, np.uint64, list[np.uint64]], _Halves]
) -> Numbers:
    """Through the network again and again, until they are below `count`."""
    half = max(1, math.ceil(max(1, (count - 1).bit_length()) / 2))
    low = np.uint64((1 << half) - 1)
    shift = np.uint64(half)
    salts = [_times_golden(seed * _FEISTEL_ROUNDS + number + 1) for number in range(_FEISTEL_ROUNDS)]

    def step(words: Numbers) -> Numbers:
        left, right = through(words >> shift, words & low, low, salts)
        return (left << shift) | right

    found = step(numbers)
    while (outside := found >= count).any():
        found[outside] = step(found[outside])
    return found


def _forwards(left: Numbers, right: Numbers, low: np.uint64, salts: list[np.uint64]) -> _Halves:
    for salt in salts:
        left, right = right, left ^ (mix(right + salt) & low)
    return left, right


def _backwards(left: Numbers, right: Numbers, low: np.uint64, salts: list[np.uint64]) -> _Halves:
    for salt in reversed(salts):
        left, right = right ^ (mix(left + salt) & low), left
    return left, right


class Zipfian:
    """Ranks below `count`, 0 the most frequent: Gray et al. 1994, as YCSB draws them."""

    def __init__(self, count: int, theta: float = THETA) -> None:
        self.count, self.theta = count, theta
        self.zeta = _zeta(count, theta)
        self.alpha = 1 / (1 - theta)
        self.eta = (1 - (2 / count) ** (1 - theta)) / (1 - _zeta(2, theta) / self.zeta) if count > 2 else 1.0

    def draw(self, uniform: NDArray[np.float64]) -> Numbers:
        """A rank for each number in [0, 1)."""
        if self.count <= 2:
            return (uniform * self.zeta >= 1).astype(np.uint64) % np.uint64(self.count)
        scaled = uniform * self.zeta
        ranks = (self.count * (self.eta * uniform - self.eta + 1) ** self.alpha).astype(np.uint64)
        ranks = np.where(scaled < 1 + 0.5**self.theta, np.uint64(1), ranks)
        ranks = np.where(scaled < 1, np.uint64(0), ranks)
        return np.minimum(ranks, np.uint64(self.count - 1))


def _zeta(count: int, theta: float) -> float:
    """Sum of 1/k^theta for k up to count; beyond a million by the Euler-Maclaurin formula."""
    exact = min(count, 1_000_000)
    total = float((np.arange(1, exact + 1, dtype=np.float64) ** -theta).sum())
    if count > exact:
        total += (count ** (1 - theta) - exact ** (1 - theta)) / (1 - theta) + (count**-theta - exact**-theta) / 2
    return total
