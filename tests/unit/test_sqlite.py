"""A flush of SQLite's either brings everything to its place, or says that it couldn't."""

import sqlite3
import threading
from pathlib import Path

import pytest

from dbbench.engine import Setup, Shares, SQLSession, Tier, Unavailable, Unsupported, fetch, registry
from dbbench_plugins import sqlite, sqlite_library
from dbbench_plugins.sqlite import SQLite, rows
from tests.conftest import Opened
from tests.tables import table_of

TABLES = {"T": table_of({"Id": "integer", "Part": "integer"}, rows=100, indexes=["Part"])}


@pytest.mark.parametrize("name", ["sqlite", "sqlite+apsw"])
def test_a_checkpoint_that_a_reader_holds_up_is_an_error(opened: Opened, name: str) -> None:
    engine = opened(name, busy_seconds=0)
    reader, writer = engine.connect(), engine.connect()
    writer.execute("CREATE TABLE T (Id INTEGER)")
    reader.execute("BEGIN")
    list(reader.execute("SELECT * FROM T"))
    writer.execute("INSERT INTO T VALUES (1)")
    with pytest.raises(RuntimeError, match="the checkpoint is not complete: another connection"):
        engine.flush()
    reader.execute("COMMIT")
    engine.flush()


@pytest.mark.parametrize(
    ("options", "cache"),
    [({}, 3), ({"cache": "shared"}, 96), ({"cache": "shared", "cache_mib": 5}, 5), ({"cache_mib": 5}, 5)],
)
def test_a_cache_that_all_clients_share_has_the_share_of_all(
    tmp_path: Path, options: dict[str, object], cache: int
) -> None:
    engine = registry.load("sqlite")(Setup(tmp_path, Tier.PROCESS, options, shares=Shares(96, 3)))
    assert engine.options.cache_mib == cache
    again = registry.load("sqlite")(Setup(tmp_path, Tier.PROCESS, engine.options.model_dump(mode="json")))
    assert again.options == engine.options  # as a process of clients gets them


@pytest.mark.parametrize("name", ["sqlite", "sqlite+aiosqlite"])
def test_a_connection_whose_pragma_fails_is_closed(tmp_path: Path, name: str) -> None:
    if name == "sqlite+aiosqlite":
        pytest.importorskip("aiosqlite")
    (tmp_path / "data.sqlite").write_bytes(b"not a database" * 1_000)
    before = {*threading.enumerate()}
    with pytest.raises(sqlite3.DatabaseError, match="file is not a database"):
        registry.load(name)(Setup(tmp_path, Tier.PROCESS, {})).open()
    for thread in {*threading.enumerate()} - before:
        thread.join(10)
    assert {*threading.enumerate()} <= before


def test_texts_are_unsupported_where_sqlite_has_no_fts5(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened("sqlite")
    session = engine.connect()
    session.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT)")
    session.prepare_text_index()()
    found = rows(engine.connection, "PRAGMA module_list")
    monkeypatch.setattr(sqlite, "rows", lambda *_: [row for row in found if row != ("fts5",)])
    with pytest.raises(Unsupported, match="built without FTS5"):
        session.prepare_text_index()
    monkeypatch.setattr(sqlite, "rows", lambda *_: [])  # as before SQLite 3.30
    session.prepare_text_index()


@pytest.mark.parametrize("name", ["sqlite", "sqlite+apsw"])
@pytest.mark.parametrize(
    ("asked", "options", "tier", "has"),
    [
        (Tier.POWER, {}, Tier.POWER, ("WAL", "FULL")),
        (Tier.POWER, {"synchronous": "NORMAL"}, Tier.PROCESS, ("WAL", "NORMAL")),
        (Tier.POWER, {"journal_mode": "DELETE"}, Tier.PROCESS, ("DELETE", "FULL")),
        (Tier.POWER, {"journal_mode": "DELETE", "synchronous": "EXTRA"}, Tier.POWER, ("DELETE", "EXTRA")),
        (Tier.POWER, {"journal_mode": "TRUNCATE"}, Tier.POWER, ("TRUNCATE", "FULL")),
        (Tier.POWER, {"journal_mode": "OFF"}, Tier.MEMORY, ("OFF", "FULL")),
        (Tier.PROCESS, {"synchronous": "FULL"}, Tier.POWER, ("WAL", "FULL")),
        (Tier.MEMORY, {"synchronous": "FULL"}, Tier.MEMORY, ("MEMORY", "FULL")),
    ],
)
def test_the_tier_follows_from_the_settings(
    name: str, asked: Tier, options: dict[str, str], tier: Tier, has: tuple[str, str], opened: Opened
) -> None:
    engine = opened(name, asked, **options)
    session = engine.connect()
    assert engine.info().tier is tier
    assert (engine.settings()["journal_mode"], engine.settings()["synchronous"]) == has
    # As a process of clients is told.
    client = type(engine)(Setup(engine.directory, engine.tier, engine.options.model_dump()))
    assert [client.pragmas()[name] for name in ("journal_mode", "synchronous")] == [*has]
    for setting, value in engine.durability[tier].items():
        assert fetch(session, engine.sync_queries[setting]) == [(value,)]
    other = registry.load(name)(Setup(engine.directory, asked))
    assert other.info().tier is asked


@pytest.mark.parametrize("name", ["sqlite", "sqlalchemy"])
def test_each_index_has_a_name_of_its_own_that_is_not_too_long(name: str, opened: Opened, tmp_path: Path) -> None:
    url = ""
    if name == "sqlalchemy":
        pytest.importorskip(name)
        url = f"sqlite:///{tmp_path}/data.sqlite"
    columns = {"order": "item_code", "order_item": "code", "a" * 63: "b" * 63, "a" * 62: "b" * 62}
    tables = {
        table: table_of({"Id": "integer", column: "integer"}, indexes=[column]) for table, column in columns.items()
    }
    engine = opened(name, url=url)
    engine.create(tables)
    session = engine.connect()
    session.each(session.create_indexes(tables))()
    assert {table: session.indexed(table) for table in tables} == {table: {columns[table]} for table in tables}
    found = [index for (index,) in fetch(session, "SELECT name FROM sqlite_schema WHERE type = 'index'")]
    assert "ix_order_item_code" in found
    assert max(map(len, found)) <= 63


def test_of_tables_that_cannot_be_made_only_those_are_dropped_that_were(opened: Opened) -> None:
    """Whether one is there is asked of a server at a URL, which may err."""

    class Errs(SQLite):
        looks = 0

        def _has(self, session: SQLSession, name: str) -> bool:
            self.looks += 1
            return self.looks > 2 and super()._has(session, name)

    engine = opened(Errs)
    engine.url = "sqlite://somebody's"
    session = engine.connect()
    session.execute("CREATE TABLE Theirs (precious)")
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        engine.create({"Ours": TABLES["T"], "Theirs": TABLES["T"]})
    assert fetch(session, "SELECT name FROM sqlite_schema") == [("Theirs",)]


@pytest.mark.parametrize(("options", "parts"), [({}, 3), ({"statistics": "false"}, 2)])
def test_a_load_ends_with_statistics_unless_they_are_turned_off(
    options: dict[str, str], parts: int, opened: Opened
) -> None:
    engine = opened("sqlite", **options)
    engine.create(TABLES)
    session = engine.connect()
    session.begin_load(TABLES)
    session.prepare_load("T", TABLES["T"])([(number, number % 7) for number in range(100)])
    finish = session.prepare_finish(TABLES)
    assert list(finish) == ["indexes", "statistics", "commit"][:: 1 if parts == 3 else 2]
    for run in finish.values():
        run()
    counted = fetch(session, "SELECT name FROM sqlite_schema WHERE name = 'sqlite_stat1'")
    assert len(counted) == parts - 2
    if counted:
        assert ("T", "100 15") in fetch(session, "SELECT tbl, stat FROM sqlite_stat1 WHERE idx IS NOT NULL")


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("odbc+sqlite", {"cache", "documents"}),
        ("sqlite+ado", {"cache", "documents", "journal_mode", "synchronous"}),
        ("sqlite+vec", {"cache", "documents", "statistics"}),
    ],
)
def test_an_option_that_would_have_no_effect_is_not_offered(name: str, without: set[str]) -> None:
    every = {*registry.find("sqlite").options_class.model_fields}
    assert every - registry.find(name).options_class.model_fields.keys() == without


@pytest.fixture
def of_2006(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is that of today, called as one of 3.3.7 has to be."""

    class Old(sqlite_library.Library):
        def __init__(self, path: str) -> None:
            super().__init__(path)
            self.release, self.lasting = (3, 3, 7), False

    monkeypatch.setattr(sqlite_library, "Library", Old)


@pytest.mark.usefixtures("of_2006")
def test_a_library_of_2006_takes_its_cache_in_pages(opened: Opened) -> None:
    engine = opened("sqlite+library", cache_mib=3, page_size="8192")
    assert fetch(engine.connect(), "PRAGMA cache_size") == [(3 * 128,)]


@pytest.mark.usefixtures("of_2006")
def test_a_library_of_2006_is_driven_without_what_came_later(opened: Opened) -> None:
    with pytest.raises(Unsupported, match="can't give durability power"):
        opened("sqlite+library", Tier.POWER)
    engine = opened("sqlite+library")
    assert engine.settings()["journal_mode"] == "DELETE"
    session = engine.connect()
    assert session.indexed("T") is None
    connection = session.connection
    connection.execute("CREATE TABLE T (Id INTEGER PRIMARY KEY, Name TEXT)")
    connection.executemany("INSERT INTO T VALUES (?, ?)", [(1, "a"), (2, None), (3, "ä" * 9)])
    assert connection.execute("SELECT * FROM T WHERE Id < ?", (3,)).fetchall() == [(1, "a"), (2, None)]
    session.execute("CREATE TABLE Another (Id INTEGER)")  # the statements that are kept are of an earlier schema
    assert connection.execute("SELECT * FROM T WHERE Id < ?", (2,)).fetchall() == [(1, "a")]
    assert session.prepare_query("SELECT * FROM T")().column(1) == ["a", None, "ä" * 9]
    with pytest.raises(sqlite_library.LibraryError, match="UNIQUE") as caught:
        connection.execute("INSERT INTO T VALUES (?, ?)", (1, "again"))
    assert caught.value.sqlite_errorcode & 0xFF == 19
    engine.flush()


@pytest.mark.parametrize(
    ("name", "words"), [("text.so", "invalid ELF header|file too short"), ("libc.so.6", "undefined symbol")]
)
def test_what_is_no_library_of_sqlite_is_refused(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "text.so").write_text("no library")
    given = tmp_path / name if name == "text.so" else "/lib/x86_64-linux-gnu/libc.so.6"
    if not Path(given).exists():
        pytest.skip("there is no libc where it is looked for")
    with pytest.raises(Unavailable, match=words):
        registry.load("sqlite+library").available_with({"library": str(given)})


def test_a_search_of_vectors_alone_refuses_tables(opened: Opened) -> None:
    with pytest.raises(Unsupported, match=r"sqlite\+vec answers no SQL"):
        opened("sqlite+vec").create(TABLES)
