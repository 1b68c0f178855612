"""USearch: a graph (HNSW) in memory, written to a file when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, Knob, LoadPart, Options, Publication, Session, Tier, Unsupported

if TYPE_CHECKING:
    from dbbench.engine import Vectors

_METRICS = {"l2": "l2sq", "cosine": "cos", "ip": "ip"}


class USearchOptions(Options):
    connectivity: int = Field(default=16, ge=2, le=256, description="neighbours of a vertex in the graph (M)")
    expansion_add: int = Field(default=128, ge=1, le=10_000, description="candidates while building (efConstruction)")
    threads: int = Field(default=0, ge=0, le=1_024, description="threads of a build; 0: one for each processor")


class USearchSession(Session):
    def __init__(self, engine: USearch) -> None:
        self.engine = engine

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        index, threads = self.engine.index, self.engine.options.threads
        return lambda keys, vectors, _labels: index.add(keys, vectors, threads=threads)

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        return {}

    prepare_append = prepare_add

    def prepare_remove(self) -> Callable[[Any], object]:
        return self.engine.index.remove  # type: ignore[no-any-return]  # not typed

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], Any]:
        if where is not None:
            raise Unsupported("its Python package has no search with a filter")
        index: Any = self.engine.index
        index.expansion_search = effort
        search = index.search
        return lambda vector: search(vector, k).keys


class USearch(Engine):
    name = "usearch"
    title = "USearch"
    license = "Apache-2.0"
    publication = Publication.ALLOWED
    modules = ("usearch",)
    options_class = USearchOptions
    session_class = USearchSession
    durability: ClassVar = {Tier.MEMORY: {}}
    concurrency = Concurrency(threads=None, processes=1)
    metrics = ("l2", "cosine", "ip")
    knob = Knob("expansion_search", 8, 4_096)

    @classmethod
    def versions(cls) -> dict[str, str]:
        import usearch

        return {"USearch": usearch.__version__}

    def open(self) -> None:
        from usearch.index import Index

        self.path = self.directory / "index.usearch"
        self.graph: Any = self.options.model_dump(exclude={"threads"})
        self.index: Any = Index.restore(str(self.path), **self.graph)  # None if there is no file

    def create_vectors(self, vectors: Vectors) -> None:
        from usearch.index import Index

        self.index = Index(ndim=vectors.dimensions, metric=_METRICS[vectors.metric], dtype="f32", **self.graph)

    def connect(self) -> Session:
        return USearchSession(self)

    def flush(self) -> None:
        """Save the index: nothing is kept before that, so the tier is `memory`."""
        self.index.save(str(self.path))
