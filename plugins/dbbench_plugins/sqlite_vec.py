"""sqlite-vec over APSW: an exact search in a virtual table of SQLite. Python's own sqlite3 may load no extension."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Dialect, LoadPart, Session, Unsupported
from dbbench_plugins.apsw import APSW
from dbbench_plugins.sqlite import JournalOptions

if TYPE_CHECKING:
    from dbbench.engine import Vectors

_METRICS = {"l2": "l2", "cosine": "cosine"}
#: The most neighbours of a search.
_MOST = 4_096


class VecSession(Session):
    def __init__(self, connection: Any, _dialect: Dialect) -> None:
        self.connection = connection

    def _at_once(self, sql: str, rows: Iterable[Any]) -> None:
        """A transaction that locks before it reads: two that read first would wait for each other."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            self.connection.executemany(sql, rows)
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        insert = "INSERT INTO vectors (key, label, vector) VALUES (?, ?, ?)"

        def add(keys: Any, vectors: Any, labels: Any) -> None:
            rows = zip(keys.tolist(), labels.tolist(), vectors, strict=True)  # a row is a buffer of bytes
            self._at_once(insert, rows)

        return add

    prepare_append = prepare_add

    def prepare_remove(self) -> Callable[[Any], object]:
        def remove(keys: Any) -> None:
            self._at_once("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys.tolist()])

        return remove

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        return {}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], list[int]]:
        if k > _MOST:
            raise Unsupported(f"sqlite-vec finds {_MOST:,} neighbours at most")
        execute = self.connection.execute
        sql = "SELECT key FROM vectors WHERE vector MATCH ? AND k = ?"
        if where is None:
            return lambda vector: [key for (key,) in execute(sql, (vector, k))]
        sql += " AND label = ?"
        return lambda vector: [key for (key,) in execute(sql, (vector, k, where))]

    def close(self) -> None:
        self.connection.close()


class SQLiteVec(APSW):
    name = "sqlite+vec"
    title = "sqlite-vec (APSW)"
    license = "MIT OR Apache-2.0; SQLite: public domain; APSW: any OSI licence"
    modules: ClassVar = ("apsw", "sqlite_vec")
    options_class = JournalOptions
    session_class: ClassVar = VecSession
    metrics = ("l2", "cosine")
    sync_queries: ClassVar = {}  # its session answers no query
    option_queries: ClassVar = {}

    @classmethod
    def versions(cls) -> dict[str, str]:
        import sqlite_vec

        return {**super().versions(), "sqlite-vec": sqlite_vec.__version__}

    def create_vectors(self, vectors: Vectors) -> None:
        kind = f"float[{vectors.dimensions}] distance_metric={_METRICS[vectors.metric]}"
        self.connection.execute(
            f"CREATE VIRTUAL TABLE vectors USING vec0(key INTEGER PRIMARY KEY, label INTEGER, vector {kind})"
        )

    def _raw(self) -> Any:
        import sqlite_vec

        connection = super()._raw()
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        return connection
