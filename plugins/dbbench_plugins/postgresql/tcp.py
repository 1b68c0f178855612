"""PostgreSQL through psycopg, its private server reached by TCP on loopback."""

from typing import Any

from dbbench_plugins.loopback import HOST, OPENS, USER, Loopback, loopback
from dbbench_plugins.postgresql import PostgreSQL
from dbbench_plugins.postgresql.cluster import Cluster


class TCPCluster(Cluster):
    """A server that also takes connections at a port, with a password; by its socket still without."""

    authentication = ("--auth-local=trust", "--auth-host=scram-sha-256")

    def at(self, door: Loopback) -> None:
        """The port, which names the Unix socket as well."""
        self.port = door.port
        self.listening = {"listen_addresses": HOST, "port": door.port, "password_encryption": "scram-sha-256"}


class PostgreSQLTCP(PostgreSQL):
    name = "postgresql+tcp"
    title = "PostgreSQL (psycopg, TCP)"
    extras = ("postgresql",)
    by_name_only = OPENS

    def _cluster(self) -> Cluster:
        self.door = loopback(self.directory)
        cluster = TCPCluster(self.directory)
        cluster.at(self.door)
        return cluster

    def _start(self) -> None:
        super()._start()
        import psycopg

        if self.server and self.server.process:  # else another process has started it
            # By the socket; a user of the port's own.
            with psycopg.connect(self.address, autocommit=True) as connection:
                known: Any = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (USER,)).fetchone()
                if not known:
                    connection.execute(f"CREATE ROLE {USER} SUPERUSER LOGIN PASSWORD '{self.door.password}'")
                else:
                    connection.execute(f"ALTER ROLE {USER} PASSWORD '{self.door.password}'")
        self.address = (
            f"postgresql://{USER}:{self.door.password}@{HOST}:{self.door.port}/postgres?sslmode=disable&options="
        )
