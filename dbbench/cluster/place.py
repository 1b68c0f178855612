"""Places of clients: hosts that are processes here, or those of a scheduler elsewhere."""

import ipaddress
import re
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from dbbench.errors import UserError

#: The most hosts of a cluster.
MOST_HOSTS = 1_000
_LOCAL = re.compile(r"local:([0-9]{1,4})")


@dataclass(frozen=True)
class Place:
    """A number of hosts: `local:N`, or those of the scheduler at an address."""

    address: str
    hosts: int

    @property
    def local(self) -> bool:
        """Whether the hosts are processes of this machine, started for each trial."""
        return self.address.startswith("local:")


def place(address: str | None, hosts: int | None) -> Place | None:
    """What `--cluster` and `--hosts` name; None if neither is given. Raises UserError."""
    if address is None and hosts is not None:
        raise UserError("--hosts needs --cluster ADDRESS, like --cluster tls://head:8786")
    return None if address is None else parse(address, hosts)


def parse(address: str, hosts: int | None) -> Place:
    """What `--cluster` and `--hosts` name. Raises UserError for what can't be used, or isn't safe."""
    if local := _LOCAL.fullmatch(address):
        count = int(local[1])
        if hosts not in (None, count):
            raise UserError(f"--cluster {address} has {count} hosts, and --hosts says {hosts}; omit --hosts")
        return Place(address, _checked(count, f"--cluster {address}"))
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if (
        host is None
        or port is None
        or parts.scheme not in ("tls", "tcp")
        or address != f"{parts.scheme}://{parts.netloc}"
    ):
        raise UserError(f"--cluster {address} is neither local:N nor a scheduler's address, like tls://head:8786")
    if parts.username is not None:
        raise UserError("--cluster takes no user or password; Dask's own configuration names certificates")
    if parts.scheme == "tcp" and not _loopback(host):
        raise UserError(
            f"--cluster {address}: a scheduler without TLS executes whatever anyone who reaches it sends; "
            f"start it with certificates, and use tls://{parts.netloc}"
        )
    if hosts is None:
        raise UserError(f"--cluster {address} needs --hosts N, the number of hosts to use")
    return Place(address, _checked(hosts, "--hosts"))


def require() -> None:
    """Raise UserError where the packages of the extra `cluster` are missing."""
    missing = [name for name in ("distributed", "cryptography") if find_spec(name) is None]
    if missing:
        raise UserError(f"--cluster needs {' and '.join(missing)}; pip install 'dbbench[cluster]'")


def _checked(hosts: int, named: str) -> int:
    if not 1 <= hosts <= MOST_HOSTS:
        raise UserError(f"{named}: 1 to {MOST_HOSTS:,} hosts, not {hosts}")
    return hosts


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
