"""Vectors in a table of a SQL database, searched exactly: by its function of a distance, over all rows or a label's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import LoadPart, SQLEngine, SQLSession, fetch

if TYPE_CHECKING:
    from dbbench.engine import Vectors


class VectorRows(SQLSession):
    """A session on the table of vectors."""

    #: Metric -> the distance of the column `vector` from a parameter; `{0}` is the number of dimensions.
    distances: ClassVar[Mapping[str, str]]

    def vector(self, vector: Any) -> Any:
        """What the driver takes of a vector: here its bytes."""
        return vector.tobytes()

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        insert, vector = self.in_one("INSERT INTO vectors VALUES (?, ?, ?)"), self.vector
        return lambda keys, vectors, labels: insert(
            list(zip(keys.tolist(), labels.tolist(), map(vector, vectors), strict=True))
        )

    def prepare_append(self) -> Callable[[Any, Any, Any], object]:
        return self.prepare_add()

    def prepare_remove(self) -> Callable[[Any], object]:
        delete = self.in_one(f"DELETE FROM vectors WHERE key = {self.sql.placeholder}")
        return lambda keys: delete([(key,) for key in keys.tolist()])

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        return {"indexes": partial(self.execute, "CREATE INDEX vectors_label ON vectors (label)")}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], list[int]]:
        ((metric, dimensions),) = fetch(self, "SELECT metric, dimensions FROM vectors_shape")
        distance = self.distances[metric].format(dimensions)
        among = "" if where is None else f"WHERE label = {where} "
        sql = f"SELECT key FROM vectors {among}ORDER BY {distance} LIMIT {k}"
        execute, value = self.connection.execute, self.vector
        return lambda vector: [key for (key,) in execute(sql, (value(vector),)).fetchall()]


class VectorTable(SQLEngine):
    """An engine that has the table of vectors."""

    #: The type of the column, in which `{0}` is the number of dimensions.
    vector_type: ClassVar[str]

    def create_vectors(self, vectors: Vectors) -> None:
        """Make the table, and one that says by what metric it is searched."""
        column = self.vector_type.format(vectors.dimensions)
        session: Any = self.connect()
        session.execute(f"CREATE TABLE vectors (key INTEGER PRIMARY KEY, label INTEGER, vector {column})")
        session.execute("CREATE TABLE vectors_shape (metric VARCHAR(10), dimensions INTEGER)")
        session.execute(f"INSERT INTO vectors_shape VALUES ('{vectors.metric}', {vectors.dimensions})")
        session.close()
