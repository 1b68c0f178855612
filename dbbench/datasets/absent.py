"""Vectors or texts of a dataset that aren't in the database: a load has left them out, or a step has deleted them."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]


def _none() -> Keys:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Absent:
    """Their keys, ascending: those never added, and those deleted."""

    never: Keys = field(default_factory=_none)
    deleted: Keys = field(default_factory=_none)

    @property
    def keys(self) -> Keys:
        """All of them."""
        return np.union1d(self.never, self.deleted)

    def __len__(self) -> int:
        return len(self.never) + len(self.deleted)

    def has(self, keys: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Mark the keys that are absent."""
        found: NDArray[np.bool_] = np.isin(keys, self.keys)
        return found

    def present(self, count: int) -> Keys:
        """The other keys of the first `count`."""
        return np.setdiff1d(np.arange(1, count + 1), self.keys, assume_unique=True)

    def without(self, added: Keys) -> Self:
        """The same after some were added."""
        return type(self)(np.setdiff1d(self.never, added), np.setdiff1d(self.deleted, added))

    def fault(self, key: int) -> str:
        """What is wrong with an answer that has an absent key."""
        return f"the key {key}, which was {'deleted' if key in self.deleted else 'never added'}"
