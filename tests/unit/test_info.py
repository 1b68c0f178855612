"""What the report says of an engine is a value that an open engine returns; nothing of its class is written over."""

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from dbbench.engine import Concurrency, Engine, EngineInfo, Publication, Setup, Tier
from dbbench_plugins.mysql.server import MySQLServer
from dbbench_plugins.postgresql.server import PostgreSQLServer


class Plain(Engine):
    name, title, license = "plain", "Plain (driver)", "MIT"
    publication = Publication.CONDITIONS
    publication_note = "section 3"
    dialect = "plain"
    concurrency = Concurrency(threads=4)
    durability = {Tier.MEMORY: {}}


def test_an_engine_says_what_its_class_says(tmp_path: Path) -> None:
    info = Plain(Setup(tmp_path, Tier.MEMORY)).info()
    assert info == EngineInfo(
        "Plain (driver)", Publication.CONDITIONS, "section 3", "plain", Concurrency(threads=4), Tier.MEMORY
    )
    with pytest.raises(FrozenInstanceError):
        info.title = "Another"  # type: ignore[misc]


def looked_at(engine: Any, rows: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> EngineInfo:
    """What an engine says of a server that answers the first question with these rows."""
    monkeypatch.setattr(f"{engine.__module__}.fetch", lambda _session, _sql: rows)
    made = object.__new__(engine)
    made.url = ""
    made.connect, made.tier = lambda: None, Tier.POWER
    made._look()
    found: EngineInfo = made.info()
    return found


@pytest.mark.parametrize(
    ("server", "own", "said", "title", "publication"),
    [
        (MySQLServer, "MariaDB/MySQL (C API)", "MariaDB Server", "MariaDB (C API)", Publication.ALLOWED),
        (MySQLServer, "MariaDB/MySQL (C API)", "MySQL Community Server - GPL", "MySQL (C API)", Publication.ALLOWED),
        (MySQLServer, "MariaDB/MySQL (C API)", "MySQL Enterprise Server - Commercial", "MySQL (C API)", Publication.UNKNOWN),
        (PostgreSQLServer, "PostgreSQL (psycopg)", "PostgreSQL 17.2 on x86_64", "PostgreSQL (psycopg)", Publication.ALLOWED),
        (PostgreSQLServer, "PostgreSQL (psycopg)", "CockroachDB CCL v24.1.0 (x86_64)", "CockroachDB (psycopg)", Publication.UNKNOWN),
    ],
)  # fmt: skip
def test_a_server_is_known_by_its_own_words(
    server: Any, own: str, said: str, title: str, publication: Publication, monkeypatch: pytest.MonkeyPatch
) -> None:
    its: Any = type(
        "Its", (server,), {"__module__": server.__module__, "title": own, "publication": Publication.ALLOWED}
    )
    rows = [("version", "11.4"), ("version_comment", said)] if server is MySQLServer else [(said,)]
    info = looked_at(its, rows, monkeypatch)
    assert (info.title, info.publication) == (title, publication)
    assert bool(info.publication_note) == (publication is Publication.UNKNOWN)
    assert (its.title, its.publication) == (own, Publication.ALLOWED)
