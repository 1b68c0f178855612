"""MariaDB through mysqlclient, its private server reached by TCP on loopback."""

from dbbench.engine import PrivateServer
from dbbench_plugins.dbapi import Address
from dbbench_plugins.loopback import HOST, OPENS, USER, loopback, write
from dbbench_plugins.mysql import MySQL

_FIRST = "first.sql"


class MySQLTCP(MySQL):
    name = "mysql+tcp"
    title = "MariaDB/MySQL (mysqlclient, TCP)"
    extras = ("mysql",)
    by_name_only = OPENS

    def _start(self) -> None:
        super()._start()
        door = loopback(self.directory)
        self.address = Address(HOST, door.port, self.address.database, USER, door.password)

    def _network(self, server: PrivateServer) -> list[str]:
        """A port with one account, made before the first connection is taken; by name nobody comes in."""
        door = loopback(self.directory)
        statements = [
            "DELETE FROM mysql.global_priv WHERE Host <> 'localhost';",
            "FLUSH PRIVILEGES;",
            f"GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'{HOST}' IDENTIFIED BY '{door.password}';",
        ]
        write(self.directory / _FIRST, "\n".join([*statements, ""]))
        return [
            f"--bind-address={HOST}",
            f"--port={door.port}",
            "--skip-name-resolve",
            f"--init-file={server.root}/{_FIRST}",
        ]
