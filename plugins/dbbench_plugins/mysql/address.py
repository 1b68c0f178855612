"""Address and user of a MariaDB or MySQL server at a URL."""

from dbbench.engine import ServerFailed
from dbbench_plugins.dbapi import Address, address

URL_EXAMPLE = "mysql://user:password@host:3306/database"
#: With a socket host and port count for nothing.
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


def parsed(url: str) -> Address:
    """The address that a URL names. Raises ServerFailed, in whose text nothing secret of the URL is."""
    found = address(url, URL_EXAMPLE, port=3306)
    if unknown := found.parameters.keys() - set(_PARAMETERS):
        raise ServerFailed(f"the URL has the parameter {min(unknown)}; known are {' and '.join(_PARAMETERS)}")
    return found
