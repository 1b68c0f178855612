"""MariaDB and MySQL through MariaDB's ODBC driver, on the server of the other MySQL engines."""

from dataclasses import replace
from typing import Any, ClassVar

from dbbench.engine import SQLSession
from dbbench_plugins.dbapi import CONNECT_SECONDS, Address
from dbbench_plugins.mysql.server import MySQLServer, MySQLSession
from dbbench_plugins.odbc import connection
from dbbench_plugins.odbc.session import ODBCServer, ODBCSession

_DRIVER = "MariaDB Unicode"
_IN_ONE_PIECE = 2**30


class MySQLODBCSession(ODBCSession, MySQLSession):
    """Over ODBC; errors are the server's."""


class MySQLODBC(ODBCServer, MySQLServer):
    name = "mysql+pyodbc"
    title = "MariaDB/MySQL (ODBC)"
    license = "GPL-2.0; MariaDB Connector/ODBC: LGPL-2.1; pyodbc: MIT"
    driver = _DRIVER
    debian = (*MySQLServer.debian, "unixodbc", "odbc-mariadb")
    sql = replace(MySQLServer.sql, placeholder="?")
    session_class: ClassVar[type[SQLSession]] = MySQLODBCSession

    def raw(self, address: Address) -> Any:
        socket = address.parameters.get("unix_socket")
        where = {"SOCKET": socket} if socket else {"SERVER": address.host, "PORT": str(address.port)}
        values = {
            "Driver": _DRIVER,
            **where,
            "UID": address.user,
            "PWD": address.password,
            "DATABASE": address.database,
            "SSLCA": address.parameters.get("ssl_ca"),
            "CHARSET": "utf8mb4",
            "CONN_TIMEOUT": str(CONNECT_SECONDS),
        }
        found = connection.connect(connection.connection_string({key: value for key, value in values.items() if value}))
        # In one piece: of a text of more than 254 bytes, which pyodbc would send in several, the driver makes another.
        found.maxwrite = _IN_ONE_PIECE
        return found
