"""Turso, SQLite written anew in Rust, through pyturso."""

from importlib.metadata import version
from typing import Any, ClassVar

from dbbench.engine import Concurrency, Tier
from dbbench_plugins.sql_vectors import VectorRows, VectorTable
from dbbench_plugins.sqlite import CommonOptions, SQLite, SQLiteSession

_DISTANCES = {
    "l2": "vector_distance_l2(vector, ?)",
    "cosine": "vector_distance_cos(vector, ?)",
    "ip": "vector_distance_dot(vector, ?)",
}


class TursoSession(VectorRows, SQLiteSession):
    distances: ClassVar = _DISTANCES
    prepare_compact: ClassVar[Any] = None

    def close(self) -> None:
        super().close()
        self.connection = None  # the file stays open as long as the object is there


class Turso(VectorTable, SQLite):
    name = "turso"
    title = "Turso (pyturso)"
    license = "MIT; driver: MIT"
    session_class = TursoSession
    options_class = CommonOptions
    modules = ("turso",)
    metrics = ("l2", "cosine", "ip")
    vector_type: ClassVar = "BLOB"
    unsupported_reasons: ClassVar = {"compact": "its VACUUM is an experiment, which its driver doesn't offer"}
    concurrency = Concurrency(threads=None, processes=1)  # it locks its file against other processes
    # It has no journal in memory: another journal_mode than WAL is passed over in silence.
    durability = {tier: SQLite.durability[tier] for tier in (Tier.POWER, Tier.PROCESS)}

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"Turso": version("pyturso")}

    def _raw(self) -> Any:
        import turso

        return turso.connect(str(self.path), isolation_level=None)

    def close(self) -> None:
        if self.connection is not None:
            super().close()
        self.connection = None  # as in a session
