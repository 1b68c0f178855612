"""Address and user of a MariaDB or MySQL server: a private one's socket, or what a URL names."""

from dataclasses import dataclass, field

from dbbench.engine import ServerFailed
from dbbench_plugins.dbapi import address

URL_EXAMPLE = "mysql://user:password@host:3306/database"
_PARAMETERS = ("unix_socket", "ssl_ca")
#: What a driver's message has in it -> what to do.
ADVICE = {
    "Access denied": "check the user, the password and what the user may do in that database",
    "Unknown database": "create it, empty, or name another one",
    "nknown ": "check the host's name",  # "Unknown server host", "Unknown MySQL server host"
    "not known": "check the host's name",
    "an't connect": "check host, port or unix_socket, and whether the server runs",
    "authentication": "the driver may lack what the user's way to log in needs",
}


@dataclass(frozen=True)
class Address:
    """A server and a database. With a `socket` host and port count for nothing."""

    user: str
    password: str = field(default="", repr=False)
    host: str = "localhost"
    port: int = 3306
    socket: str = ""
    database: str = ""
    ssl_ca: str = ""


def parsed(url: str) -> Address:
    """The address that a URL names. Raises ServerFailed, in whose text nothing secret of the URL is."""
    found = address(url, URL_EXAMPLE, port=3306)
    if unknown := found.parameters.keys() - set(_PARAMETERS):
        raise ServerFailed(f"the URL has the parameter {min(unknown)}; known are {' and '.join(_PARAMETERS)}")
    return Address(
        user=found.user,
        password=found.password,
        host=found.host,
        port=found.port,
        socket=found.parameters.get("unix_socket", ""),
        database=found.database,
        ssl_ca=found.parameters.get("ssl_ca", ""),
    )
