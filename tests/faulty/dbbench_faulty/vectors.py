"""Searches for the nearest vectors that lie, in a way each."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dbbench_faulty.right import CELLS, VectorClient, VectorFile


class Fewer(VectorFile):
    """Filters what it has found, as an index does that knows nothing of labels."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        found = super().nearest(query, k, None, effort)
        return found if where is None else found[self.all[2][found - 1] == where]


class Unfiltered(VectorFile):
    """Has no filter."""

    clause = "searches behind a filter"

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, None, effort)


class Cached(VectorFile):
    """Keeps an answer, and gives it to the next queries too."""

    count = 0

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        self.count += 1
        if self.count % 4 == 1 or len(self.kept) != k:
            self.kept = super().nearest(query, k, where, effort)
        return self.kept

    kept: Any = ()


class Claims(VectorFile):
    """Finds the nearest in the first calls after each preparation; later ones leave out three of them."""

    class session_class(VectorClient):
        def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], Any]:
            calls = iter(range(10**9))
            search = self.engine.nearest
            left_out = np.arange(3, 6)
            return lambda vector: np.delete(
                search(vector, k + 3, where, effort), left_out[: 0 if next(calls) < 120 else None]
            )[:k]


class Crowded(VectorFile):
    """Leaves out three of the nearest where other threads call than the first."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        found = super().nearest(query, k + 3, where, effort)
        alone = threading.current_thread() is threading.main_thread()
        return found[:k] if alone else np.delete(found, slice(3, 6))[:k]


class Exact(VectorFile):
    """Is an exact search, and has a knob that says otherwise."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, where, CELLS)


class Stuck(VectorFile):
    """Has a knob that changes nothing."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, where, 12)


class Repeats(VectorFile):
    """Fills up its answer with what it has."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return np.resize(super().nearest(query, k - 1, where, effort), k)


class Places(VectorFile):
    """Returns places, which begin at 0, in place of keys."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, where, effort) - 1


class Lazy(VectorFile):
    """Searches when its answer is looked at, when the clock has stopped."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return (each for each in [super().nearest(query, k, where, effort)] for each in each)


class More(VectorFile):
    """Returns more rows than were asked for, to be on the safe side."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, 2 * k, where, effort)


class Drops(VectorFile):
    """Loads a third of what it is given."""

    def index(self) -> None:
        self.held = [tuple(each[::3] for each in given) for given in self.held]
        super().index()


class Loses(VectorFile):
    """Loads nine of ten vectors."""

    taken = 0.9

    def index(self) -> None:
        self.held = [
            tuple(each[np.random.default_rng(len(each)).random(len(each)) < self.taken] for each in given)
            for given in self.held
        ]
        super().index()


class LosesMore(Loses):
    """Loads three of five."""

    taken = 0.6


class Coarse(VectorFile):
    """Has an index, and no knob: nothing says that it isn't exact."""

    knob = None

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, where, CELLS if where else 6)


class Replaces(VectorFile):
    """Has another metric than the one asked for."""

    clause = "finds the nearest by each metric"

    def create_vectors(self, vectors: Any) -> None:
        super().create_vectors(vectors)
        self.metric = "l2"


class Undead(VectorFile):
    """Deletes nothing."""

    clause = "removes vectors"

    def remove(self, keys: Any) -> None:
        """Say that it is done."""


class Ghosts(VectorFile):
    """Leaves a deleted vector out of its answers only where it is what was searched for."""

    gone: Any = ()

    def remove(self, keys: Any) -> None:
        self.gone = [*self.gone, *keys.tolist()]

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        found = super().nearest(query, k + 1, where, effort)
        return found[1:] if len(found) and found[0] in self.gone else found[:k]


class Overdoes(VectorFile):
    """Deletes the next vector, too."""

    def remove(self, keys: Any) -> None:
        super().remove(np.concatenate([keys, keys + 1]))


class Mislays(VectorFile):
    """Takes every other vector that is added later. (Of one in ten hardly more is lost than an index may not find.)"""

    def append(self, keys: Any, vectors: Any, labels: Any) -> None:
        super().append(*(each[keys % 2 > 0] for each in (keys, vectors, labels)))


class Later(VectorFile):
    """Says that vectors are there before they are."""

    def append(self, keys: Any, vectors: Any, labels: Any) -> None:
        add = super().append

        def run() -> None:
            time.sleep(1)
            add(keys, vectors, labels)

        threading.Thread(target=run).start()


class Foresees(VectorFile):
    """Answers with a vector that is still to be added."""

    def remove(self, keys: Any) -> None:
        self.gone, self.threads = keys, threading.active_count()
        super().remove(keys)

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        found = super().nearest(query, k, where, effort)
        if hasattr(self, "gone") and threading.active_count() > self.threads:
            found[-1] = self.gone.max()  # the last to be added
        return found
