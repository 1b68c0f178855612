"""Redis: one at a URL through the kit, what is refused there, and servers that don't start or die."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbbench.engine.base import Engine, Setup
from dbbench.engine.private_server import PrivateServer
from dbbench.engine.traits import Publication
from dbbench.errors import ServerFailed, Unsupported
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench.testing import KeyValueContract
from dbbench.testing.contract import usable
from dbbench_plugins.redis import _where
from tests.conftest import Opened, run_suite, summary
from tests.system.test_acknowledged import RECORDS as SUITE

pytestmark = pytest.mark.matrix

RECORDS = Records(count=10, value_bytes=16)


@pytest.fixture
def kind() -> type[Engine]:
    return usable("redis")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of a server with a password on a port of its own, which syncs each write."""
    usable("redis")
    import redis

    folder = tmp_path_factory.mktemp("redis")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = PrivateServer("Redis", folder)
    settings = {"port": str(port), "bind": "127.0.0.1", "requirepass": "s3cret", "dir": server.root, "save": "",
                "appendonly": "yes", "appendfsync": "always"}  # fmt: skip
    client = redis.Redis(port=port, password="s3cret")
    words = (word for name, value in settings.items() for word in (f"--{name}", value))
    server.start(["redis-server", *words], client.ping)
    yield client
    client.close()
    server.stop()


@pytest.fixture
def listening(server: Any) -> Iterator[str]:
    """The address of the server, which is as it was before the test when that has ended."""
    yield f"127.0.0.1:{server.connection_pool.connection_kwargs['port']}"
    server.flushall()
    server.config_set("appendonly", "yes")
    server.config_set("appendfsync", "always")
    server.config_set("no-appendfsync-on-rewrite", "no")


@pytest.fixture
def client(listening: str) -> Iterator[Callable[[int], Any]]:
    """A client of our own of one of the server's databases, by its number."""
    import redis

    host, _, port = listening.partition(":")
    with ExitStack() as closing:
        yield lambda number: closing.enter_context(redis.Redis(host, int(port), db=number, password="s3cret"))


class TestRedisAtURL(KeyValueContract):
    engine = "redis"

    @pytest.fixture(autouse=True)
    def _there(self, listening: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "url", f"redis://:s3cret@{listening}/3")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("redis://:wr0ng@{}/0", "check the user and the password"),
        ("redis://{}/0", "write a user and a password into the URL"),
        ("redis://:s3cret@{}/99", "name a database that the server has"),
        ("redis://:s3cret@{}/", "no host or no database"),
        ("redis://:s3cret@{}/first", "no database by its number"),
        ("redis://:s3cret@{}/0?ssl_cert_reqs=none", "has no parameters"),
        ("http://:s3cret@{}/0", "begins with one of redis, "),
        ("redis://:s3cret@127.0.0.1:1/0", "check host and port"),
        ("redis://:s3cret@127.0.0.1:s3cret/0", "this is no URL like"),
    ],
)
def test_a_server_that_can_not_be_used_says_what_to_do(listening: str, opened: Opened, url: str, words: str) -> None:
    with pytest.raises(ServerFailed, match=words) as raised:
        opened("redis", Tier.MEMORY, url.format(listening))
    assert "s3cret" not in str(raised.value)
    assert "wr0ng" not in str(raised.value)


@pytest.mark.parametrize(("scheme", "encrypted"), [("REDIS", False), ("REDISS", True), ("valkeys", True)])
def test_the_scheme_says_whether_the_connection_is_encrypted(scheme: str, encrypted: bool) -> None:
    assert _where(f"{scheme}://host/0")["ssl"] is encrypted


@pytest.mark.parametrize(
    ("said", "product", "publication"),
    [
        ({}, "Redis 7.2.0", Publication.ALLOWED),
        ({"valkey_version": "8.1.0", "executable": "/bin/redis-server"}, "Valkey 8.1.0", Publication.ALLOWED),
        ({"dragonfly_version": "df-v1.30"}, "Dragonfly df-v1.30", Publication.UNKNOWN),
        ({"executable": "/bin/keydb-server"}, "KeyDB 7.2.0", Publication.UNKNOWN),
    ],
)
def test_another_product_is_no_redis(
    kind: type[Engine], tmp_path: Path, said: dict[str, str], product: str, publication: Publication
) -> None:
    engine: Any = kind(Setup(tmp_path, Tier.MEMORY, url="redis://host/0"))
    server = SimpleNamespace(info=lambda _: {"redis_version": "7.2.0", **said}, config_get=lambda _: {})
    engine._client = lambda: server
    engine._look()
    ((name, number),) = engine.server_versions().items()
    assert f"{name} {number}" == product
    assert (engine.info().title, engine.info().publication) == (f"{name} (redis-py)", publication)


def test_a_database_with_keys_in_it_is_refused_and_left_as_it_is(
    listening: str, client: Callable[[int], Any], opened: Opened
) -> None:
    theirs = client(2)
    theirs.set("theirs", "value")
    engine = opened("redis", Tier.MEMORY, f"redis://:s3cret@{listening}/2")
    with pytest.raises(Unsupported, match="has 1 keys in it: name an empty one"):
        engine.create_store(RECORDS)
    assert theirs.get("theirs") == b"value"


def test_ours_is_removed_and_nothing_of_another_database(
    listening: str, client: Callable[[int], Any], opened: Opened
) -> None:
    theirs, ours = client(2), client(3)
    theirs.set("theirs", "value")
    engine = opened("redis", Tier.MEMORY, f"redis://:s3cret@{listening}/3")
    engine.create_store(RECORDS)
    engine.connect().prepare_insert()(b"key", b"value")
    assert ours.dbsize() == 1
    engine.remove({})
    assert (ours.dbsize(), theirs.get("theirs")) == (0, b"value")


def test_a_server_gives_the_tier_that_it_is_set_to(server: Any, listening: str, opened: Opened) -> None:
    url = f"redis://:s3cret@{listening}/3"
    for setting, value, given, refused in (
        ("appendfsync", "always", Tier.POWER, None),
        ("no-appendfsync-on-rewrite", "yes", Tier.PROCESS, Tier.POWER),
        ("appendfsync", "everysec", Tier.PROCESS, Tier.POWER),
        ("appendonly", "no", Tier.MEMORY, Tier.PROCESS),
    ):
        server.config_set(setting, value)
        assert opened("redis", Tier.MEMORY, url).info().tier is given
        if refused:
            with pytest.raises(Unsupported, match=f"{setting} is {value}"):
                opened("redis", refused, url)


def test_a_private_server_that_is_killed_is_told(kind: type[Engine], tmp_path: Path) -> None:
    engine = kind(Setup(tmp_path, Tier.MEMORY))
    engine.open()
    session = engine.connect()
    (process,) = engine.processes()
    insert = session.prepare_insert()  # type: ignore[attr-defined]
    os.kill(process, signal.SIGKILL)
    while not engine.exit_reason():
        time.sleep(0.01)
    with pytest.raises(Exception, match=r"."):
        insert(b"key", b"value")
    assert "the Redis server was killed by SIGKILL" in engine.exit_reason()
    engine.close()
    again = kind(Setup(tmp_path, Tier.MEMORY))  # what it left is no hindrance
    again.open()
    again.close()
    assert not list(tmp_path.glob("*.sock"))


def test_a_private_server_that_does_not_start_says_why(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "appendonlydir").write_text("in the way")
    with pytest.raises(ServerFailed, match="ended with status 1"):
        opened("redis", Tier.POWER)


LIES = ("servers-forgets", "servers-alone", "servers-waits")


def test_what_is_in_memory_alone_or_seen_by_one_client_is_wrong(listening: str, tmp_path: Path) -> None:
    """A private server's folder is copied, at one of the user's another client looks; the kit finds Redis right there."""
    usable("redis")
    seen_by_one = {"servers-alone": 2, "servers-waits": 3}
    urls = [f"{name}=redis://:s3cret@{listening}/{number}" for name, number in seen_by_one.items()]
    given = chain(*zip(repeat("--url"), urls))
    found = summary(run_suite(tmp_path, SUITE, ("redis", *LIES), *given))
    assert [found[step, "redis"]["outcome"] for step in ("insert", "update")] == ["ok", "ok"]
    forgets = found["insert", "servers-forgets"]
    assert (forgets["outcome"], forgets["detail"].partition(",")[0]) == (
        "wrong",
        "copied when its last call had returned",
    )
    for name in seen_by_one:
        assert found["insert", name]["outcome"] == "wrong"
        assert found["insert", name]["detail"].startswith("seen by another client: ")
