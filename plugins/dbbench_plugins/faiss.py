"""Faiss: a graph (HNSW) in memory, written to a file when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, Knob, LoadPart, Options, Publication, Session, Tier, Unsupported

if TYPE_CHECKING:
    from dbbench.engine import Vectors


class FaissOptions(Options):
    connectivity: int = Field(default=16, ge=2, le=256, description="neighbours of a vertex in the graph (M)")
    ef_construction: int = Field(default=128, ge=1, le=10_000, description="candidates while building")


class FaissSession(Session):
    def __init__(self, engine: Faiss) -> None:
        self.engine = engine

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        import faiss

        add = self.engine.index.add_with_ids

        def add_units(keys: Any, vectors: Any, _labels: Any) -> None:
            vectors = vectors.copy()
            faiss.normalize_L2(vectors)
            add(vectors, keys)

        # Its documented way to a cosine is the inner product of unit vectors.
        return add_units if self.engine.unit else lambda keys, vectors, _labels: add(vectors, keys)

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        return {}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], Any]:
        if where is not None:
            raise Unsupported("its graph returns fewer rows than there are behind a filter")
        import faiss

        # A search for one vector leaves a second thread nothing to do, and waits for it: 17 ms each on a busy machine.
        faiss.omp_set_num_threads(1)
        search, how = self.engine.index.search, faiss.SearchParametersHNSW(efSearch=effort)
        return lambda vector: search(vector[None], k, params=how)[1][0]


class Faiss(Engine):
    name = "faiss"
    title = "Faiss"
    license = "MIT"
    publication = Publication.ALLOWED
    modules = ("faiss",)
    options_class = FaissOptions
    session_class = FaissSession
    durability: ClassVar = {Tier.MEMORY: {}}
    concurrency = Concurrency(threads=None, processes=1)
    metrics = ("l2", "cosine", "ip")
    knob = Knob("efSearch", 8, 4_096)
    unsupported_reasons: ClassVar = {
        "append": "its index must not be searched while it is added to",
        "remove": "its graph (HNSW) can't delete",
    }

    @classmethod
    def versions(cls) -> dict[str, str]:
        import faiss

        return {"Faiss": faiss.__version__}

    def open(self) -> None:
        import faiss

        self.path, units = self.directory / "index.faiss", self.directory / "units"
        self.index: Any = faiss.read_index(str(self.path)) if self.path.exists() else None
        self.unit = units.exists()

    def create_vectors(self, vectors: Vectors) -> None:
        import faiss

        metric = faiss.METRIC_L2 if vectors.metric == "l2" else faiss.METRIC_INNER_PRODUCT
        graph = faiss.IndexHNSWFlat(vectors.dimensions, self.options.connectivity, metric)
        graph.hnsw.efConstruction = self.options.ef_construction
        self.index = faiss.IndexIDMap(graph)
        self.unit = vectors.metric == "cosine"

    def connect(self) -> Session:
        return FaissSession(self)

    def flush(self) -> None:
        """Save the index: nothing is kept before that, so the tier is `memory`."""
        import faiss

        faiss.write_index(self.index, str(self.path))
        if self.unit:  # which the index doesn't know
            (self.directory / "units").touch()
