"""What records, vectors and texts share: a number of them at a scale, drawn from a seed."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from dbbench.suite.dataset import Records, Texts, Vectors

S = TypeVar("S", Records, Texts, Vectors)


@dataclass(frozen=True)
class Scaled(Generic[S]):
    """A dataset without tables of its own, at one scale."""

    #: What the suite says of it.
    spec: S
    #: What it is drawn from.
    seed: int
    #: By what the suite's count is multiplied.
    scale: float = 1.0

    @property
    def count(self) -> int:
        """How many records, vectors or texts there are."""
        return max(1, round(self.spec.count * self.scale))
