"""ClickHouse inside the process, through chDB: columns in, columns out."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import (
    Concurrency,
    Dialect,
    Knob,
    LoadPart,
    Options,
    Publication,
    Rows,
    Session,
    SQLEngine,
    SQLSession,
    Tier,
    Unsupported,
    WithoutRecords,
    fetch,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from dbbench.engine import Table, Vectors

_TYPES = {
    "integer": "Int32",
    "bigint": "Int64",
    "real": "Float32",
    "double": "Float64",
    "decimal": "Decimal({0}, {1})",
    "char": "String",
    "varchar": "String",
    "date": "Date32",
    "datetime": "DateTime64(0, 'UTC')",  # without a zone it would have that of the machine
    "json": "JSON",
}


#: The metrics that its index has.
_DISTANCES = {"l2": "L2Distance", "cosine": "cosineDistance"}


@dataclass(frozen=True)
class ClickHouseDialect(Dialect):
    """Each table is a MergeTree in the order of its key, with `settings` that decide on its syncs."""

    types: Mapping[str, str] = field(default_factory=lambda: _TYPES)
    document: str = "toJSONString({0})"
    compact: str = "OPTIMIZE TABLE {table} FINAL"
    settings: Mapping[str, int] = field(default_factory=dict)

    def create_table(self, name: str, table: Table) -> str:
        if table.foreign_keys:
            raise Unsupported("ClickHouse has no foreign keys")
        lines = []
        for column_name, column in table.columns.items():
            kind = self.types[column.data_type.name].format(*column.data_type.arguments)
            # As in the other engines: only the key is never null.
            kind = kind if column_name in table.key_columns or kind == "JSON" else f"Nullable({kind})"
            lines.append(f"{self.quoted(column_name)} {kind}")
        settings = ", ".join(f"{key} = {value}" for key, value in self.settings.items())
        return (
            f"CREATE TABLE {self.quoted(name)} ({', '.join(lines)}) ENGINE = MergeTree "
            f"ORDER BY ({', '.join(map(self.quoted, table.key_columns))}){f' SETTINGS {settings}' if settings else ''}"
        )

    def create_indexes(self, name: str, table: Table) -> list[str]:
        return []


class ChDBOptions(Options):
    threads: int | None = Field(default=None, ge=1, description="threads of a query; as many as cores if not given")


class ChDBSession(WithoutRecords, SQLSession):
    load_format = "batches"
    result_format = "batches"
    prepare_get: ClassVar = None  # type: ignore[assignment]  # it has no statements with parameters here
    prepare_get_many: ClassVar = None  # type: ignore[assignment]

    def execute(self, sql: str) -> Any:
        return self.connection.query(sql)

    def begin(self) -> None:
        """Nothing: there are no transactions."""

    def commit(self) -> None:
        """Nothing: each INSERT is there, and synced if the tier asks for it, when it returns."""

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        import pyarrow as pa

        query = self.connection.query
        statement = f"INSERT INTO {self.sql.quoted(name)} SELECT * FROM Python(dbbench_chunk)"

        def insert(batch: Any) -> None:
            dbbench_chunk = pa.Table.from_batches([batch])  # noqa: F841 - chDB finds it by its name
            query(statement)

        return insert

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        import pyarrow as pa

        insert = self.connection.query

        def add(keys: Any, vectors: Any, labels: Any) -> None:
            ends = pa.array(range(0, vectors.size + 1, vectors.shape[1]), pa.int32())
            column = pa.ListArray.from_arrays(ends, pa.array(vectors.ravel()))
            dbbench_vectors = pa.table([keys, labels, column], ["key", "label", "vector"])  # noqa: F841 - as above
            insert("INSERT INTO vectors SELECT * FROM Python(dbbench_vectors)")

        return add

    prepare_append = prepare_add

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        """Each part of a table has a graph of its own: they are made one."""
        return {"indexes": self.each(["OPTIMIZE TABLE vectors FINAL"])}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], Any]:
        from pyarrow import ipc

        ((index,),) = fetch(self, "SELECT type_full FROM system.data_skipping_indices WHERE table = 'vectors'")
        distance = next(function for function in _DISTANCES.values() if function in index)
        among = "" if where is None else f"WHERE label = {where} "
        first = f"SELECT key FROM vectors {among}ORDER BY {distance}(vector, "
        # By default it filters what the index has found, which gives fewer rows than there are.
        how = f"hnsw_candidate_list_size_for_search = {effort}, vector_search_filter_strategy = 'prefilter'"
        last, query = f") LIMIT {k} SETTINGS {how}", self.connection.query

        def nearest(vector: Any) -> Any:
            found = query(f"{first}{vector.tolist()}{last}", "Arrow")
            return ipc.open_file(_owned(found.get_memview())).read_all()["key"].to_numpy()

        return nearest

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        from pyarrow import ipc

        query, open_file = self.connection.query, ipc.open_file
        return lambda: _batches(open_file(_owned(query(sql, "Arrow").get_memview())))

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        return partial(self.connection.query, sql)

    def returned_rows(self, given: Any) -> bool:
        """What changes rows gives an empty text."""
        return bool(given.bytes())

    def explain(self, sql: str) -> str:
        return "\n".join(line for (line,) in fetch(self, f"EXPLAIN {sql}"))


def _owned(memory: Any) -> pa.Buffer:
    """The bytes of a result, which live as long as the buffer: chDB's own view of them does not keep them."""
    import pyarrow as pa

    view = pa.py_buffer(memory.view())
    return pa.foreign_buffer(view.address, view.size, base=memory)


def _batches(reader: pa.RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


class ChDB(SQLEngine):
    name = "chdb"
    title = "ClickHouse (chDB, Arrow)"
    license = "Apache-2.0"
    publication = Publication.ALLOWED
    dialect = "clickhouse"
    options_class = ChDBOptions
    unsupported_reasons: ClassVar = {"remove": "after a DELETE its graph gives fewer vectors than are asked for"}
    session_class = ChDBSession
    modules = ("chdb",)
    metrics = ("l2", "cosine")
    knob = Knob("hnsw_candidate_list_size_for_search", 8, 4_096)
    concurrency = Concurrency(threads=None, processes=1)  # it locks its folder against other processes
    option_queries: ClassVar = {"threads": "SELECT getSetting('max_threads')"}
    # Counted with strace: with the first two every file of a new part and its folder are synced before an
    # INSERT returns; the third does the same for parts that a merge or DELETE puts in the place of others.
    durability: ClassVar = {
        Tier.POWER: {"fsync_after_insert": 1, "fsync_part_directory": 1, "min_rows_to_fsync_after_merge": 1},
        Tier.PROCESS: {"fsync_after_insert": 0, "fsync_part_directory": 0, "min_rows_to_fsync_after_merge": 0},
    }
    missing_features: ClassVar = {
        "transactions": "each INSERT stands by itself; a load is one for each chunk of 32,768 rows",
        "unique keys": "the key is the order of the rows; a second row with the same key is taken",
        "indexes": "only the key is indexed, and that sparsely; a MergeTree has no others that find single rows",
    }

    @classmethod
    def available(cls) -> None:
        _let_faults_end_the_process()

    @classmethod
    def versions(cls) -> dict[str, str]:
        import chdb

        return {"ClickHouse": chdb.engine_version, "chdb": chdb.__version__}

    @property
    def sql(self) -> Dialect:  # type: ignore[override]  # a table is made with the settings of the tier
        return ClickHouseDialect(settings=self.durability[self.tier])

    def open(self) -> None:
        self.connection = self._connection()

    def create_vectors(self, vectors: Vectors) -> None:
        graph = f"'hnsw', '{_DISTANCES[vectors.metric]}', {vectors.dimensions}, 'f32', 16, 128"
        settings = ", ".join(f"{key} = {value}" for key, value in self.durability[self.tier].items())
        self.connection.query(
            "CREATE TABLE vectors (key Int64, label Int32, vector Array(Float32), "
            f"INDEX graph vector TYPE vector_similarity({graph})) ENGINE = MergeTree ORDER BY key SETTINGS {settings}"
        )

    def connect(self) -> Session:
        return self.session_class(self._connection(), self.sql)

    def settings(self) -> dict[str, Any]:
        ((threads,),) = fetch(self.session_class(self.connection, self.sql), "SELECT getSetting('max_threads')")
        return {"threads": int(threads), **self.durability[self.tier]}

    def close(self) -> None:
        self.connection.close()

    def _connection(self) -> Any:
        from chdb.session import Session as Connection

        connection = Connection(str(self.directory))
        _let_faults_end_the_process()
        # It would answer a query that is asked again from what it remembers of each piece of the table.
        connection.query("SET use_query_condition_cache = 0")
        if self.options.threads:
            connection.query(f"SET max_threads = {self.options.threads}")
        return connection


def _let_faults_end_the_process() -> None:
    """Undo chDB's handlers: they wait for ever for its log instead of ending the process, whoever's fault it is.

    Both importing it and a connection set them. Only the main thread may change them.
    """
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGILL, signal.SIGABRT, signal.SIGFPE, signal.SIGSEGV):
            signal.signal(number, signal.SIG_DFL)
