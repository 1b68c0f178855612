"""Zvec: a collection in a folder, whose graph (HNSW) is built when it is optimized; until then a search is exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, Knob, LoadPart, Options, Publication, Session, Tier

if TYPE_CHECKING:
    from dbbench.engine import Vectors

_METRICS = {"l2": "L2", "cosine": "COSINE", "ip": "IP"}
#: The most documents that one insert takes.
_AT_ONCE = 1_024


class ZvecOptions(Options):
    m: int = Field(default=16, ge=2, le=256, description="neighbours of a vertex in the graph")
    ef_construction: int = Field(default=128, ge=1, le=2_048, description="candidates while building")
    threads: int = Field(default=0, ge=0, le=1_024, description="threads of a build; 0: its own choice")


class ZvecSession(Session):
    def __init__(self, engine: Zvec) -> None:
        self.engine = engine

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        insert = self.engine.collection.insert

        def add(keys: Any, vectors: Any, labels: Any) -> None:
            for some in _documents(keys, vectors, labels):
                if failed := next((status for status in insert(some) if not status.ok()), None):
                    raise RuntimeError(f"an insert failed: {failed}")

        return add

    prepare_append = prepare_add

    def prepare_remove(self) -> Callable[[Any], object]:
        delete = self.engine.collection.delete

        def remove(keys: Any) -> None:
            for first in range(0, len(keys), _AT_ONCE):
                statuses = delete([str(key) for key in keys[first : first + _AT_ONCE]])
                if failed := next((status for status in statuses if not status.ok()), None):
                    raise RuntimeError(f"a delete failed: {failed}")

        return remove

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        import zvec

        collection = self.engine.collection
        how = zvec.OptimizeOption(concurrency=self.engine.options.threads)
        return {"indexes": lambda: collection.optimize(how), "commit": collection.flush}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], list[int]]:
        from zvec import HnswQueryParam, Query

        search, how = self.engine.collection.query, HnswQueryParam(ef=effort)
        among = None if where is None else f"label = {where}"

        def nearest(vector: Any) -> list[int]:
            query = Query("vector", vector=vector, param=how)
            return [int(found.id) for found in search(query, topk=k, filter=among, output_fields=[])]

        return nearest


def _documents(keys: Any, vectors: Any, labels: Any) -> Iterator[list[Any]]:
    """Documents, as many at a time as an insert takes."""
    from zvec import Doc

    for first in range(0, len(keys), _AT_ONCE):
        some = (each[first : first + _AT_ONCE] for each in (keys.tolist(), vectors, labels.tolist()))
        yield [
            Doc(id=str(key), vectors={"vector": vector}, fields={"label": label})
            for key, vector, label in zip(*some, strict=True)
        ]


class Zvec(Engine):
    name = "zvec"
    title = "Zvec"
    license = "Apache-2.0"
    publication = Publication.ALLOWED
    modules = ("zvec",)
    options_class = ZvecOptions
    session_class = ZvecSession
    # A log takes each insert before it returns; nothing is documented of what a power failure leaves.
    durability: ClassVar = {Tier.PROCESS: {}}
    concurrency = Concurrency(threads=None, processes=1)  # it locks its folder against other processes
    metrics = ("l2", "cosine", "ip")
    knob = Knob("ef", 8, 2_048)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"Zvec": version("zvec")}

    def open(self) -> None:
        import zvec

        self.path = str(self.directory / "data")
        self.collection: Any = zvec.open(self.path) if (self.directory / "data").exists() else None

    def create_vectors(self, vectors: Vectors) -> None:
        import zvec

        metric = getattr(zvec.MetricType, _METRICS[vectors.metric])
        graph = zvec.HnswIndexParam(metric, self.options.m, self.options.ef_construction)
        column = zvec.VectorSchema("vector", zvec.DataType.VECTOR_FP32, vectors.dimensions, graph)
        label = zvec.FieldSchema("label", zvec.DataType.INT32, index_param=zvec.InvertIndexParam())
        self.collection = zvec.create_and_open(self.path, zvec.CollectionSchema("vectors", label, column))

    def connect(self) -> Session:
        return ZvecSession(self)

    def flush(self) -> None:
        self.collection.flush()

    def close(self) -> None:
        if self.collection is not None:
            self.collection.close()
