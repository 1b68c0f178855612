"""LanceDB: a table in a folder of Lance files, with a graph (HNSW) of whole vectors, or an index of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, Knob, LoadPart, Options, Publication, Session, Tier, Unsupported

if TYPE_CHECKING:
    from dbbench.engine import MatchKind, Payload, Table, Vectors

_METRICS = {"l2": "l2", "cosine": "cosine", "ip": "dot"}
_TABLE, _METRIC = "vectors", b"metric"
_TEXTS, _BODY = "texts", "body"


class LanceDBOptions(Options):
    m: int = Field(default=16, ge=2, le=256, description="neighbours of a vertex in the graph")
    ef_construction: int = Field(default=128, ge=2, le=10_000, description="candidates while building")


class LanceDBSession(Session):
    load_format = "batches"

    def __init__(self, engine: LanceDB) -> None:
        self.engine, self.options = engine, engine.options

    @property
    def table(self) -> Any:
        return self.engine.table(_TABLE)

    @property
    def texts(self) -> Any:
        return self.engine.table(_TEXTS)

    @property
    def metric(self) -> str:
        return str(self.table.schema.metadata[_METRIC].decode())

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        import pyarrow as pa

        insert, schema = self.table.add, self.table.schema

        def add(keys: Any, vectors: Any, labels: Any) -> None:
            column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
            insert(pa.table([keys, labels, column], schema=schema))

        return add

    def prepare_append(self) -> Callable[[Any, Any, Any], object]:
        return self.prepare_add()

    def prepare_remove(self) -> Callable[[Any], object]:
        delete = self.table.delete
        return lambda keys: delete(f"key IN ({', '.join(map(str, keys.tolist()))})")

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        from lancedb.index import Bitmap, HnswFlat

        create, options = self.table.create_index, self.options
        graph = HnswFlat(distance_type=self.metric, m=options.m, ef_construction=options.ef_construction)

        def build() -> None:
            create("vector", config=graph)
            create("label", config=Bitmap())

        return {"indexes": build}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], list[int]]:
        search, metric, columns = self.table.search, self.metric, ["key", "_distance"]
        assert effort is not None
        candidates = max(effort, k)  # it refuses fewer
        among = None if where is None else f"label = {where}"

        def nearest(vector: Any) -> list[int]:
            query = search(vector).distance_type(metric).ef(candidates).limit(k).select(columns)
            found = query.where(among, prefilter=True) if among else query
            keys: list[int] = found.to_arrow()["key"].to_pylist()
            return keys

        return nearest

    def begin_load(self, tables: Mapping[str, Table]) -> None:
        """Nothing: each piece is a version of its own."""

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        insert: Callable[[Any], object] = self.engine.table(name).add
        return insert

    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        return {}

    def prepare_text_index(self) -> Callable[[], object]:
        from lancedb.index import FTS

        plain = {"stem": False, "remove_stop_words": False, "ascii_folding": False}  # no word is another, or none
        words = FTS(base_tokenizer="whitespace", with_position=True, **plain)
        return lambda: self.texts.create_index(_BODY, config=words)  # of what is there by then

    def prepare_append_texts(self) -> Callable[[Sequence[int], Sequence[str]], object]:
        import pyarrow as pa

        table = self.texts
        return lambda keys, texts: table.add(pa.table([keys, texts], schema=table.schema))

    def prepare_remove_texts(self) -> Callable[[Sequence[int]], object]:
        delete = self.texts.delete
        return lambda keys: delete(f"id IN ({', '.join(map(str, keys))})")

    def prepare_search(
        self, match: MatchKind, *, top: int | None, payload: Payload
    ) -> Callable[[Sequence[str]], list[Any]]:
        from lancedb.query import FullTextOperator, MatchQuery, PhraseQuery

        if match == "prefix":
            raise Unsupported("its Python package has no query for a prefix")
        table = self.texts
        search, limit = table.search, top or 2**31 - 1
        columns = ["id", "_score", *([_BODY] if payload == "text" else [])]
        operator = FullTextOperator.AND if match == "all" else FullTextOperator.OR

        def found(words: Sequence[str]) -> Any:
            text = " ".join(words)
            query = PhraseQuery(text, _BODY) if match == "phrase" else MatchQuery(text, _BODY, operator=operator)
            return search(query, query_type="fts").limit(limit).select(columns).to_arrow()

        def search_keys(words: Sequence[str]) -> list[Any]:
            keys: list[Any] = found(words)["id"].to_pylist()
            return keys

        def search_texts(words: Sequence[str]) -> list[Any]:
            rows = found(words)
            return list(zip(rows["id"].to_pylist(), rows[_BODY].to_pylist(), strict=True))

        return search_texts if payload == "text" else search_keys


class LanceDB(Engine):
    name = "lancedb"
    title = "LanceDB"
    license = "Apache-2.0"
    publication = Publication.ALLOWED
    modules = ("lancedb",)
    options_class = LanceDBOptions
    session_class = LanceDBSession
    # What was added is in files before the call returns; nothing is documented of what a power failure leaves.
    durability: ClassVar = {Tier.PROCESS: {}}
    concurrency = Concurrency(threads=None, processes=None)
    metrics = ("l2", "cosine", "ip")
    knob = Knob("ef", 10, 4_096)

    @classmethod
    def versions(cls) -> dict[str, str]:
        import lancedb

        return {"LanceDB": lancedb.__version__}

    def open(self) -> None:
        import lancedb

        self.database: Any = lancedb.connect(str(self.directory))
        self.tables, self.opening = dict[str, Any](), Lock()

    def table(self, name: str) -> Any:
        """A table, opened once: what another object of it has added isn't seen."""
        with self.opening:
            if name not in self.tables:
                self.tables[name] = self.database.open_table(name)
            return self.tables[name]

    def create(self, tables: Mapping[str, Table]) -> None:
        if {*tables} - {"texts"}:
            raise Unsupported("it searches vectors and texts, and keeps no other tables")
        import pyarrow as pa

        for name in tables:
            self.database.create_table(name, schema=pa.schema({"id": pa.int32(), _BODY: pa.string()}))

    def create_vectors(self, vectors: Vectors) -> None:
        import pyarrow as pa

        vector = pa.list_(pa.float32(), vectors.dimensions)
        schema = pa.schema({"key": pa.int64(), "label": pa.int32(), "vector": vector})
        self.database.create_table(_TABLE, schema=schema.with_metadata({_METRIC: _METRICS[vectors.metric]}))

    def connect(self) -> Session:
        return LanceDBSession(self)
