"""The URL of a PostgreSQL server, and what to do where it can't be reached."""

import re

from dbbench.engine import ServerFailed

URL_EXAMPLE = "postgresql://user:password@host:5432/database"
#: A host that doesn't answer at all would be waited for for minutes.
CONNECT_SECONDS = 20
#: What a driver's message has in it -> what to do.
ADVICE = {
    "authentication failed": "check the user and the password",
    "no password supplied": "add the password to the URL",
    "pg_hba.conf": "the server lets nobody in from here: ask who runs it",
    "does not exist": "check the database and the user",
    "translate host name": "check the host",
    "resolve host": "check the host",
    "service not known": "check the host",
    "Connect call failed": "check host and port, and whether the server runs",
    "refused": "check host and port, and whether the server runs",
    "No such file": "check the socket's folder, and whether the server runs",
    "timeout": "check host and port",
}


def checked(url: str) -> str:
    """A URL for libpq, with a limit to how long it waits.

    Raises ServerFailed, in whose text nothing of the URL is, for one in which libpq would take a part of the
    password for a host or a port, and tell it.
    """
    found = re.match(r"postgres(?:ql)?://([^/?]*)", url)
    if not found or found[1].count("@") > 1 or url.count("@") > found[1].count("@"):
        raise ServerFailed(f"this is no URL like {URL_EXAMPLE}; write / as %2F, @ as %40 and ? as %3F in a password")
    if "connect_timeout" in url:
        return url
    return f"{url}{'&' if '?' in url else '?'}connect_timeout={CONNECT_SECONDS}"
