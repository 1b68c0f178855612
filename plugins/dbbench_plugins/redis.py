"""Redis through redis-py: a private server, or one at a URL. It holds all records in memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import (
    EngineInfo,
    FileRole,
    PrivateServer,
    Publication,
    ServerFailed,
    Session,
    Setup,
    Size,
    Tier,
    Unsupported,
    program,
)
from dbbench_plugins.dbapi import Served, address, failed

if TYPE_CHECKING:
    from dbbench.engine import Records, Table

Pair = tuple[bytes, bytes]

_SOCKET = "redis.sock"
#: Between two looks at a rewrite that goes on.
_BETWEEN_SECONDS = 0.01
#: Keys in one command.
_AT_ONCE = 1_000
_URL_EXAMPLE = "redis://user:password@host:6379/0"
#: Scheme of a URL -> whether the connection is encrypted.
_SCHEMES = {"redis": False, "valkey": False, "rediss": True, "valkeys": True}
#: What a field's or the program's name has in it -> the product that it is.
_PRODUCTS = {"valkey": "Valkey", "dragonfly": "Dragonfly", "keydb": "KeyDB", "kvrocks": "Kvrocks", "garnet": "Garnet"}
#: What a driver's message has in it -> what to do.
_ADVICE = {
    "username-password": "check the user and the password",
    "HELLO AUTH": "write a user and a password into the URL",
    "Authentication required": "write a user and a password into the URL",
    "NOPERM": "let the user run every command on every key",
    "DB index": "name a database that the server has, as 0",
}


class RedisSession(Session):
    def __init__(self, client: Any) -> None:
        self.client = client

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return self.client.set  # type: ignore[no-any-return]

    prepare_update = prepare_insert

    def prepare_delete(self) -> Callable[[bytes], object]:
        return self.client.delete  # type: ignore[no-any-return]

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        return self.client.get  # type: ignore[no-any-return]

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        """MULTI, an MSET for each thousand, EXEC."""
        pipeline = self.client.pipeline

        def put(pairs: list[Pair]) -> None:
            with pipeline(transaction=True) as together:
                for start in range(0, len(pairs), _AT_ONCE):
                    together.mset(dict(pairs[start : start + _AT_ONCE]))
                together.execute()

        return put

    prepare_update_many = prepare_insert_many

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        pipeline = self.client.pipeline

        def delete(keys: list[bytes]) -> None:
            with pipeline(transaction=True) as together:
                for start in range(0, len(keys), _AT_ONCE):
                    together.delete(*keys[start : start + _AT_ONCE])
                together.execute()

        return delete

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        """SCAN for keys, MGET for their values. SCAN may give a key twice, while its table changes in size."""
        some_keys, values = self.client.scan, self.client.mget

        def scan() -> Iterable[Pair]:
            seen: set[bytes] = set()
            cursor = -1
            while cursor:
                cursor, given = some_keys(max(cursor, 0), count=_AT_ONCE)
                if keys := [key for key in given if key not in seen]:
                    seen.update(keys)
                    yield from zip(keys, values(keys), strict=True)

        return scan

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """Have a process of the server write the file anew from memory, and wait for it."""
        client = self.client

        def run() -> None:
            client.bgrewriteaof()
            while (state := client.info("persistence"))["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]:
                time.sleep(_BETWEEN_SECONDS)
            if state["aof_last_bgrewrite_status"] != "ok":
                raise RuntimeError(f"BGREWRITEAOF ended with {state['aof_last_bgrewrite_status']}")

        return run

    def close(self) -> None:
        self.client.close()


class Redis(Served):
    name = "redis"
    title = "Redis (redis-py)"
    license = "BSD-3-Clause up to 7.2, then RSALv2 or SSPLv1, from 8 also AGPL-3.0; redis-py: MIT"
    publication = Publication.ALLOWED
    modules = ("redis",)
    debian = ("redis-server",)
    url_example = _URL_EXAMPLE
    session_class = RedisSession
    ordered = False
    unsupported_reasons: ClassVar = {
        "seek": "its keys are in a hash, which has no order",
        "range": "its keys are in a hash, which has no order",
    }
    longest_value = 512 * 2**20
    # What is appended to the file is written before the client is answered; `always` syncs it before that too.
    durability: ClassVar = {
        Tier.POWER: {"appendonly": "yes", "appendfsync": "always"},
        Tier.PROCESS: {"appendonly": "yes", "appendfsync": "no"},
        Tier.MEMORY: {"appendonly": "no", "appendfsync": "no"},
    }

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        #: What the driver takes to find the server.
        self.where: dict[str, Any] = {}

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        program("redis-server")

    @classmethod
    def versions(cls) -> dict[str, str]:
        found = {"redis-py": version("redis")}
        with suppress(ModuleNotFoundError):
            import hiredis

            found["hiredis"] = hiredis.__version__
        return found

    def server_versions(self) -> dict[str, str]:
        return {self.product: self.number}

    def create_store(self, records: Records) -> None:
        if self.url and (there := self._client().dbsize()):
            raise Unsupported(f"the database at the URL has {there:,} keys in it: name an empty one")

    def remove(self, tables: Mapping[str, Table]) -> None:
        """Empty the database at a URL, which was empty when we came."""
        if self.url:
            self._client().flushdb()

    def connect(self) -> Session:
        return self.session_class(self._client())

    def settings(self) -> dict[str, Any]:
        """Settings as the server has them, if it reports them."""
        found = self._configured()
        return {name: found.get(name, "not told") for name in ("appendonly", "appendfsync", "save", "maxmemory")}

    def file_role(self, name: str) -> FileRole:
        return "other" if name == _SOCKET else "data"  # the file appended to is all there is

    def size(self) -> Size:
        if self.url:
            raise Unsupported("the server's files hold more than this database")
        if self.tier is Tier.MEMORY:
            raise Unsupported("it keeps nothing on disk")
        return super().size()

    def _client(self) -> Any:
        """A connection of its own, which is not shared. It tries nothing twice: a server that is gone is a result."""
        from redis import Redis as Client
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        client = Client(**self.where, single_connection_client=True, retry=Retry(NoBackoff(), 0))
        return self.kept(RedisSession(client)).client

    def info(self) -> EngineInfo:
        known = replace(super().info(), title=self.title.replace("Redis ", f"{self.product} "))
        if self.product in ("Redis", "Valkey"):
            return known
        note = f"the licence of {self.product} is not known to dbbench"
        return replace(known, publication=Publication.UNKNOWN, publication_note=note)

    def _said(self) -> Mapping[str, Any]:
        """What the server says of itself. Raises RedisError if it can't be reached."""
        said: Mapping[str, Any] = self._client().info("server")
        return said

    def _look(self) -> None:
        said = self._said()
        names = " ".join([*said, os.path.basename(str(said.get("executable", "")))])
        mark = next((mark for mark in _PRODUCTS if mark in names), "redis")
        self.product = _PRODUCTS.get(mark, "Redis")
        self.number = str(said.get(f"{mark}_version", said["redis_version"]))
        if self.url:
            self._check_tier()

    def _reach(self) -> None:
        from redis.exceptions import RedisError

        self.where = _where(self.url)
        try:
            self._said()
        except RedisError as exc:
            failed(exc, "check host and port", _ADVICE)

    def _start(self) -> None:
        from redis.exceptions import RedisError

        self.server = server = PrivateServer("Redis", self.directory)
        self.where = {"unix_socket_path": f"{server.root}/{_SOCKET}"}
        try:
            self._said()  # another process of clients opened it
        except RedisError:
            settings = {
                "port": "0",
                "unixsocket": self.where["unix_socket_path"],
                "unixsocketperm": "600",
                "dir": server.folder("data"),
                "save": "",
                "maxclients": "10000",
                **self.durability[self.tier],
            }
            command = [program("redis-server")]
            command += [word for name, value in settings.items() for word in (f"--{name}", value)]
            server.start(command, self._said)

    def _configured(self) -> dict[str, str]:
        from redis.exceptions import RedisError

        try:
            found: dict[str, str] = self._client().config_get("*")
        except RedisError:  # many a server in a cloud doesn't let its users ask
            return {}
        return found

    def _check_tier(self) -> None:
        configured = self._configured()
        names = ("appendonly", "appendfsync", "no-appendfsync-on-rewrite")
        found = {name: configured.get(name, "not told") for name in names}
        power = found["appendfsync"] == "always" and found["no-appendfsync-on-rewrite"] != "yes"
        tier = Tier.POWER if power else Tier.PROCESS
        self.give(tier if found["appendonly"] == "yes" else Tier.MEMORY, found)


def _where(url: str) -> dict[str, Any]:
    """What the client takes, out of a URL. Raises ServerFailed, in whose text nothing of the URL is."""
    found = address(url, _URL_EXAMPLE, port=6379)
    encrypted = _SCHEMES.get(url.partition(":")[0].lower())
    if encrypted is None or found.parameters:
        raise ServerFailed(f"the URL begins with one of {', '.join(_SCHEMES)}, and has no parameters: {_URL_EXAMPLE}")
    if not found.database.isdecimal():
        raise ServerFailed(f"the URL names no database by its number: {_URL_EXAMPLE}")
    return {
        "host": found.host,
        "port": found.port,
        "db": int(found.database),
        "username": found.user or None,
        "password": found.password or None,
        "ssl": encrypted,
    }
