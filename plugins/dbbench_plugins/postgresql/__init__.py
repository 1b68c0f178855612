"""PostgreSQL, through psycopg 3, through the layer below it, and through ADBC."""

from dataclasses import replace
from importlib.metadata import version
from typing import Any

from dbbench.engine import SessionGroup
from dbbench_plugins.postgresql.arrow import ArrowSession
from dbbench_plugins.postgresql.group import PQGroup
from dbbench_plugins.postgresql.server import PostgreSQLServer
from dbbench_plugins.postgresql.session import PQSession, PsycopgSession


class PostgreSQL(PostgreSQLServer):
    name = "postgresql"
    title = "PostgreSQL (psycopg)"
    license = "PostgreSQL Licence; driver: LGPL-3.0"
    modules = ("psycopg",)
    sql = replace(
        PostgreSQLServer.sql, types={**PostgreSQLServer.sql.types, "json": "JSONB"}, document="CAST({0} AS TEXT)"
    )
    session_class = PsycopgSession

    @classmethod
    def versions(cls) -> dict[str, str]:
        import psycopg

        libpq = psycopg.pq.version()
        return {
            "psycopg": f"{version('psycopg')} ({psycopg.pq.__impl__})",
            "libpq": f"{libpq // 10_000}.{libpq % 10_000}",
        }

    def raw(self) -> Any:
        import psycopg

        return psycopg.connect(self.address, autocommit=True)


class PostgreSQLPQ(PostgreSQL):
    name = "postgresql+pq"
    title = "PostgreSQL (psycopg.pq)"
    session_class = PQSession

    def group(self) -> SessionGroup | None:
        return PQGroup(self.connect)


class PostgreSQLADBC(PostgreSQLServer):
    name = "postgresql+adbc"
    title = "PostgreSQL (ADBC)"
    license = "PostgreSQL Licence; driver: Apache-2.0"
    modules = ("adbc_driver_postgresql",)
    session_class = ArrowSession

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"adbc-driver-postgresql": version("adbc-driver-postgresql")}

    def raw(self) -> Any:
        from adbc_driver_postgresql import dbapi

        return dbapi.connect(self.address, autocommit=True)
