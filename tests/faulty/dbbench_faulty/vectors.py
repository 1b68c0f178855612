"""Searches for the nearest vectors: an honest one over cells, which numpy scans, and others that lie in a way each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from dbbench.engine import Concurrency, Engine, Knob, LoadPart, Publication, Session, Tier
from dbbench_faulty.family import Named

CELLS = 64


class NearSession(Session):
    def __init__(self, engine: Near) -> None:
        self.engine = engine

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        return lambda *given: self.engine.held.append(given)

    def prepare_append(self) -> Callable[[Any, Any, Any], object]:
        return self.engine.append

    def prepare_remove(self) -> Callable[[Any], object]:
        return self.engine.remove

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        return {"indexes": self.engine.index}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], Any]:
        return lambda vector: self.engine.nearest(vector, k, where, effort or CELLS)


class Near(Named, Engine):
    """The nearest of those in the cells whose centres are nearest."""

    license = "none"
    publication = Publication.ALLOWED
    session_class: ClassVar = NearSession
    concurrency = Concurrency(threads=None)
    durability: ClassVar = {Tier.MEMORY: {}}
    metrics: ClassVar = ("l2", "ip")
    knob: ClassVar[Knob | None] = Knob("cells", 1, CELLS)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"numpy": np.__version__}

    def create_vectors(self, vectors: Any) -> None:
        self.metric, self.held, self.lock = vectors.metric, [], threading.Lock()

    def connect(self) -> Session:
        return self.session_class(self)

    def index(self) -> None:
        self.keys, self.vectors, self.labels = (np.concatenate(each) for each in zip(*self.held, strict=True))
        self.centres = self.vectors[np.random.default_rng(0).choice(len(self.vectors), CELLS, replace=False)]
        self.cell = self.cells(self.vectors)

    def cells(self, vectors: Any) -> Any:
        return ((vectors[:, None] - self.centres) ** 2).sum(axis=2).argmin(axis=1)

    @property
    def rows(self) -> tuple[Any, ...]:
        return self.keys, self.vectors, self.labels, self.cell

    def append(self, keys: Any, vectors: Any, labels: Any) -> None:
        with self.lock:
            new = keys, vectors, labels, self.cells(vectors)
            self.set(np.concatenate(each) for each in zip(self.rows, new, strict=True))

    def remove(self, keys: Any) -> None:
        left = ~np.isin(self.keys, keys)
        self.set(each[left] for each in self.rows)

    def set(self, rows: Iterable[Any]) -> None:
        self.keys, self.vectors, self.labels, self.cell = rows

    def far(self, vectors: Any, query: Any) -> Any:
        return -vectors @ query if self.metric == "ip" else ((vectors - query) ** 2).sum(axis=1)

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        with self.lock:
            known, vectors, labels, cell = self.rows
        cells = np.argsort(((self.centres - query) ** 2).sum(axis=1))[:effort]
        among = np.flatnonzero(np.isin(cell, cells) & ((labels == where) | (where is None)))
        return known[among[np.argsort(self.far(vectors[among], query))[:k]]]


class Honest(Near):
    """Does what it says."""


class Fewer(Near):
    """Filters what it has found, as an index does that knows nothing of labels."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        found = super().nearest(query, k, None, effort)
        return found if where is None else found[self.labels[found - 1] == where]


class Unfiltered(Near):
    """Has no filter."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, None, effort)


class Cached(Near):
    """Keeps an answer, and gives it to the next queries too."""

    count = 0

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        self.count += 1
        if self.count % 4 == 1 or len(self.kept) != k:
            self.kept = super().nearest(query, k, where, effort)
        return self.kept

    kept: Any = ()


class Claims(Near):
    """Finds the nearest in the first calls after each preparation; later ones leave out three of them."""

    class session_class(NearSession):
        def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], Any]:
            calls = iter(range(10**9))
            search = self.engine.nearest
            left_out = np.arange(3, 6)
            return lambda vector: np.delete(
                search(vector, k + 3, where, effort), left_out[: 0 if next(calls) < 120 else None]
            )[:k]


class Crowded(Near):
    """Leaves out three of the nearest where other threads call than the first."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        found = super().nearest(query, k + 3, where, effort)
        alone = threading.current_thread() is threading.main_thread()
        return found[:k] if alone else np.delete(found, slice(3, 6))[:k]


class Exact(Near):
    """Is an exact search, and has a knob that says otherwise."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, where, CELLS)


class Stuck(Near):
    """Has a knob that changes nothing."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, where, 12)


class Repeats(Near):
    """Fills up its answer with what it has."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return np.resize(super().nearest(query, k - 1, where, effort), k)


class Places(Near):
    """Returns places, which begin at 0, in place of keys."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, where, effort) - 1


class Lazy(Near):
    """Searches when its answer is looked at, when the clock has stopped."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return (each for each in [super().nearest(query, k, where, effort)] for each in each)


class More(Near):
    """Returns more rows than were asked for, to be on the safe side."""

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, 2 * k, where, effort)


class Drops(Near):
    """Loads a third of what it is given."""

    def index(self) -> None:
        self.held = [tuple(each[::3] for each in given) for given in self.held]
        super().index()


class Loses(Near):
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


class Coarse(Near):
    """Has an index, and no knob: nothing says that it isn't exact."""

    knob = None

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        return super().nearest(query, k, where, CELLS if where else 6)


class Replaces(Near):
    """Has another metric than the one asked for."""

    def create_vectors(self, vectors: Any) -> None:
        super().create_vectors(vectors)
        self.metric = "l2"


class Undead(Near):
    """Deletes nothing."""

    def remove(self, keys: Any) -> None:
        """Say that it is done."""


class Ghosts(Near):
    """Leaves a deleted vector out of its answers only where it is what was searched for."""

    gone: Any = ()

    def remove(self, keys: Any) -> None:
        self.gone = [*self.gone, *keys.tolist()]

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        found = super().nearest(query, k + 1, where, effort)
        return found[1:] if len(found) and found[0] in self.gone else found[:k]


class Overdoes(Near):
    """Deletes the next vector, too."""

    def remove(self, keys: Any) -> None:
        super().remove(np.concatenate([keys, keys + 1]))


class Mislays(Near):
    """Takes every other vector that is added later. (Of one in ten hardly more is lost than an index may not find.)"""

    def append(self, keys: Any, vectors: Any, labels: Any) -> None:
        super().append(*(each[keys % 2 > 0] for each in (keys, vectors, labels)))


class Later(Near):
    """Says that vectors are there before they are."""

    def append(self, keys: Any, vectors: Any, labels: Any) -> None:
        add = super().append

        def run() -> None:
            time.sleep(0.2)
            add(keys, vectors, labels)

        threading.Thread(target=run).start()


class Foresees(Near):
    """Answers with a vector that is still to be added."""

    def remove(self, keys: Any) -> None:
        self.gone = keys
        super().remove(keys)

    def nearest(self, query: Any, k: int, where: int | None, effort: int) -> Any:
        found = super().nearest(query, k, where, effort)
        if threading.active_count() > 1 and hasattr(self, "gone"):
            found[-1] = self.gone[-1]
        return found
