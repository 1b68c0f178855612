"""Qdrant Edge: a shard of Qdrant inside the process, whose graph (HNSW) is built when it is optimized."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, Knob, LoadPart, Options, Publication, Session, Tier

if TYPE_CHECKING:
    from dbbench.engine import Vectors

_METRICS = {"l2": "Euclid", "cosine": "Cosine", "ip": "Dot"}
#: The least that it takes, in KiB of vectors: below its threshold it builds no graph, or searches without one.
_THRESHOLD = 1


class QdrantOptions(Options):
    m: int = Field(default=16, ge=2, le=256, description="neighbours of a vertex in the graph")
    ef_construct: int = Field(default=128, ge=4, le=10_000, description="candidates while building")
    threads: int = Field(default=0, ge=0, le=1_024, description="threads of a build; 0: its own choice")


class QdrantSession(Session):
    def __init__(self, shard: Any) -> None:
        self.shard = shard

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        from qdrant_edge import Point, UpdateOperation

        update, upsert = self.shard.update, UpdateOperation.upsert_points

        def add(keys: Any, vectors: Any, labels: Any) -> None:
            rows = zip(keys.tolist(), vectors.tolist(), labels.tolist(), strict=True)
            update(upsert([Point(key, vector, {"label": label}) for key, vector, label in rows]))

        return add

    prepare_append = prepare_add

    def prepare_remove(self) -> Callable[[Any], object]:
        from qdrant_edge import UpdateOperation

        update, delete = self.shard.update, UpdateOperation.delete_points
        return lambda keys: update(delete(keys.tolist()))

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        return {"indexes": self.shard.optimize, "commit": self.shard.flush}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], list[int]]:
        from qdrant_edge import FieldCondition, Filter, MatchValue, Query, SearchParams, SearchRequest

        search, how, near = self.shard.search, SearchParams(hnsw_ef=effort), Query.Nearest
        among = None if where is None else Filter(must=[FieldCondition("label", match=MatchValue(where))])
        return lambda vector: [found.id for found in search(SearchRequest(near(vector), k, params=how, filter=among))]


class QdrantEdge(Engine):
    name = "qdrant-edge"
    title = "Qdrant Edge"
    license = "Apache-2.0"
    publication = Publication.ALLOWED
    modules = ("qdrant_edge",)
    options_class = QdrantOptions
    session_class = QdrantSession
    # A log takes each update before it returns; nothing is documented of what a power failure leaves.
    durability: ClassVar = {Tier.PROCESS: {}}
    concurrency = Concurrency(threads=None, processes=1)  # it locks its folder against other processes
    metrics = ("l2", "cosine", "ip")
    knob = Knob("hnsw_ef", 8, 4_096)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"Qdrant Edge": version("qdrant-edge-py")}

    def open(self) -> None:
        from qdrant_edge import EdgeShard

        self.path = self.directory / "data"
        self.shard: Any = EdgeShard.load(str(self.path)) if self.path.exists() else None

    def create_vectors(self, vectors: Vectors) -> None:
        from qdrant_edge import (
            Distance,
            EdgeConfig,
            EdgeOptimizersConfig,
            EdgeShard,
            EdgeVectorParams,
            HnswIndexConfig,
            PayloadSchemaType,
            UpdateOperation,
        )

        self.path.mkdir()
        graph = HnswIndexConfig(self.options.m, self.options.ef_construct, _THRESHOLD, self.options.threads)
        self.shard = EdgeShard.create(
            str(self.path),
            EdgeConfig(
                vectors=EdgeVectorParams(vectors.dimensions, getattr(Distance, _METRICS[vectors.metric])),
                hnsw_config=graph,
                optimizers=EdgeOptimizersConfig(indexing_threshold=_THRESHOLD),
            ),
        )
        self.shard.update(UpdateOperation.create_field_index("label", PayloadSchemaType.Integer))

    def connect(self) -> Session:
        return QdrantSession(self.shard)

    def flush(self) -> None:
        self.shard.flush()

    def close(self) -> None:
        if self.shard is not None:
            self.shard.close()
        self.shard = None  # its lock lives as long as the object
