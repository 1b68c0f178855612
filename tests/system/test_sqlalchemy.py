"""Databases at a SQLAlchemy URL: what becomes of a wrong one, and of a suite's statements on the way through Core."""

import traceback
from pathlib import Path
from typing import Any

import pytest

from dbbench.engine.sql.session import SQLEngine, fetch
from dbbench.errors import ServerFailed, TrialError, Unavailable, Unsupported
from dbbench.suite.model import Tier
from dbbench_plugins.sqlalchemy.core import CoreDialect
from tests.conftest import Opened
from tests.tables import table_of

pytestmark = pytest.mark.matrix

PASSWORD = "geheim4711"
TABLES = {"select": table_of({"key": "integer", "Group": "varchar(20)"})}


@pytest.fixture
def engine(opened: Opened, tmp_path: Path) -> Any:
    return opened("sqlalchemy", Tier.POWER, f"sqlite:///{tmp_path}/core.db")


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("no URL", Unsupported, "looks like postgresql"),
        ("nowhere://me:{password}@host/db", Unavailable, "no dialect nowhere"),
        ("oracle+cx_oracle://me:{password}@host/db", Unavailable, "needs the Python module cx_Oracle"),
        ("sqlite:////nowhere/there/is/none.db", ServerFailed, "unable to open database file"),
        ("mysql+pymysql://me:{password}@127.0.0.1:1/db", ServerFailed, "no connection to mysql+pymysql://127.0.0.1:1/db"),
    ],
)  # fmt: skip
def test_a_wrong_url_is_an_outcome_with_a_name_and_no_password(
    url: str, kind: type[TrialError], words: str, opened: Opened
) -> None:
    if "pymysql" in url:
        pytest.importorskip("pymysql")
    with pytest.raises(kind, match=words.replace("+", r"\+")) as raised:
        opened("sqlalchemy", Tier.POWER, url.format(password=PASSWORD))
    assert PASSWORD not in "".join(traceback.format_exception(raised.value))


def test_it_says_what_it_found(engine: SQLEngine) -> None:
    assert engine.info().title.startswith("SQLite 3.")
    assert engine.info().title.endswith("(SQLAlchemy, pysqlite)")
    assert engine.info().dialect == "sqlite"
    assert engine.server_versions()["SQLite"] in engine.info().title
    assert engine.settings()["durability"] == "as the database has it, not set by dbbench"


@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        ("postgresql", 'VARCHAR(20) COLLATE "C"'),
        ("mysql", "VARCHAR(20) COLLATE utf8mb4_bin"),
        ("mssql", "NVARCHAR(20) COLLATE Latin1_General_100_BIN2"),
        ("sqlite", "VARCHAR(20),"),
    ],
)
def test_texts_are_compared_by_code_points(dialect: str, written: str) -> None:
    core = pytest.importorskip(f"sqlalchemy.dialects.{dialect}").dialect()
    assert written in CoreDialect(core=core).create_table("select", TABLES["select"])


def test_a_statement_arrives_as_it_is_written(engine: SQLEngine) -> None:
    """Also a colon, which is a parameter to SQLAlchemy, and a percent sign, which is one to many a driver."""
    session = engine.connect()
    text = "12:30:00 :key \\: %s %% %(key)s"
    assert fetch(session, f"SELECT '{text}'") == [(text,)]
    call = session.prepare_call(f"""SELECT '{text}?''?' AS "a?:b", ?, '?', ?""", 1)  # type: ignore[attr-defined]
    assert tuple(call(1, 2)) == (f"{text}?'?", 1, "?", 2)


def test_names_are_always_quoted(engine: SQLEngine) -> None:
    engine.create(TABLES)
    session = engine.connect()
    session.prepare_statement(engine.sql.translate("INSERT INTO select (key) VALUES (1)", TABLES))()  # type: ignore[attr-defined]
    assert fetch(session, 'SELECT "key", "Group" FROM "select"') == [(1, None)]
    session.close()
    engine.remove(TABLES)
    with pytest.raises(Exception, match="no such table"):
        fetch(engine.connect(), 'SELECT * FROM "select"')


def test_a_table_that_is_there_stays(engine: SQLEngine) -> None:
    engine.create(TABLES)
    with pytest.raises(Unsupported, match="already has a table"):
        engine.create(TABLES)
    assert fetch(engine.connect(), 'SELECT COUNT(*) FROM "select"') == [(0,)]
