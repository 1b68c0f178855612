"""ODBC without a DSN: which drivers are there, and connections by a string that names one."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from dbbench.engine import Unavailable
from dbbench_plugins.dbapi import CONNECT_SECONDS

#: What may not stand in a value as it is.
_SPECIAL = set("[]{}(),;?*=!@%+ \t")


def versions() -> dict[str, str]:
    """The version of pyodbc; a driver's is known once it is connected."""
    return {"pyodbc": version("pyodbc")}


def driver(*names: str) -> str:
    """The first of some drivers that is installed. Raises Unavailable if none is."""
    import pyodbc

    installed = set(pyodbc.drivers())
    for name in names:
        if name in installed:
            return name
    raise Unavailable(f"there is no ODBC driver {' or '.join(names)}")


def connection_string(values: Mapping[str, str]) -> str:
    """Keywords and values as a connection string; a value is put in braces where it needs them."""
    return ";".join(f"{key}={_quoted(value)}" for key, value in values.items())


def connect(text: str) -> Any:
    """A connection in autocommit mode, not from a pool: what `close` closes is closed."""
    import pyodbc

    pyodbc.pooling = False
    return pyodbc.connect(text, autocommit=True, timeout=CONNECT_SECONDS)


def told(connection: Any) -> dict[str, str]:
    """The version of the driver that made a connection, by its file's name."""
    import pyodbc

    name, number = (connection.getinfo(what) for what in (pyodbc.SQL_DRIVER_NAME, pyodbc.SQL_DRIVER_VER))
    return {str(name): str(number)}


def _quoted(value: str) -> str:
    return f"{{{value.replace('}', '}}')}}}" if _SPECIAL & set(value) else value
