"""SQL Server and Oracle without a server: every statement that dbbench makes for them is parsed by sqlglot.

A recorder stands for the connection: it keeps what is executed and gives prepared answers. What a parser
accepts a server may still refuse; so the engines say of themselves that no live server has run them.
"""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import ErrorLevel, exp

from dbbench.engine.base import Setup
from dbbench.engine.sql.dialect import RECORD_TABLE, Dialect
from dbbench.engine.traits import Publication
from dbbench.errors import Unsupported
from dbbench.suite.dataset import Records, Table
from dbbench.suite.model import Suite, Tier
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.statement import StatementStep
from dbbench.testing.sql.tables import BATCH, KINDS, TABLES, chunk
from dbbench_plugins import oracle, sqlserver
from dbbench_plugins.ado.windows import SQLServerCompact, VistaDB
from dbbench_plugins.dbapi import ClientServer, address
from dbbench_plugins.odbc.any import AnySession
from dbbench_plugins.sqlalchemy.core import CoreDialect, CoreSession

SQLSERVER, ORACLE = sqlserver.SQLServer.sql, oracle.Oracle.sql
DIALECTS = [pytest.param(SQLSERVER, "tsql", id="sqlserver"), pytest.param(ORACLE, "oracle", id="oracle")]


def parsed(sql: str, dialect: str) -> exp.Expression:
    """The statement as a tree. What sqlglot can't parse comes as a Command, which counts as a failure here."""
    (tree,) = sqlglot.parse(sql, dialect=dialect, error_level=ErrorLevel.RAISE)
    assert tree is not None
    assert not list(tree.find_all(exp.Command)), sql
    return tree


def test_a_statement_that_is_none_is_noticed() -> None:
    for sql in ("SELECT FROM WHERE (", "INSERT INTO [a] VALUES (1"):
        with pytest.raises((sqlglot.ParseError, AssertionError)):
            parsed(sql, "tsql")


@pytest.mark.parametrize(("sql", "dialect"), DIALECTS)
def test_tables_with_every_type(sql: Dialect, dialect: str, invoices: Suite) -> None:
    tables: dict[str, Table] = {**TABLES, **invoices.datasets["invoices"].tables}
    for name, table in tables.items():
        tree = parsed(sql.create_table(name, table), dialect)
        columns = list(tree.find_all(exp.ColumnDef))
        assert [column.name for column in columns] == list(table.columns)
        assert all(isinstance(column.kind, exp.DataType) for column in columns)
        assert all(column.kind.this is not exp.DataType.Type.USERDEFINED for column in columns)
        assert all(identifier.args["quoted"] for column in columns for identifier in [column.this])
        for index in sql.create_indexes(name, table):
            assert parsed(index, dialect).find(exp.Index)


@pytest.mark.parametrize(("sql", "dialect"), DIALECTS)
def test_statements_of_the_invoices(sql: Dialect, dialect: str, invoices: Suite) -> None:
    tables: Mapping[str, Table] = invoices.datasets["invoices"].tables
    seen = 0
    for scenario in invoices.scenarios:
        for step in scenario.steps:
            if isinstance(step, QueryStep | StatementStep):
                text = sql.translate(step.dialects.get(dialect, step.sql), tables)
                tree = parsed(text, dialect)
                names = {table.name for table in tree.find_all(exp.Table)}
                assert names
                assert names <= set(tables)
                assert not list(tree.find_all(exp.Limit)), "neither has LIMIT"
                seen += 1
    assert seen >= 6


@pytest.mark.parametrize(("sql", "dialect"), DIALECTS)
def test_a_limit_at_the_end_is_written_as_the_system_takes_it(sql: Dialect, dialect: str) -> None:
    tree = parsed(sql.translate("SELECT Id FROM Order ORDER BY Id\nlimit 10", TABLES), dialect)
    assert tree.find(exp.Fetch)
    assert not tree.find(exp.Limit)
    kept = "SELECT COUNT(*) FROM Order WHERE Id <> 'LIMIT 10'"
    assert sql.translate(kept, TABLES).endswith("'LIMIT 10'")


@pytest.mark.parametrize(("sql", "dialect"), DIALECTS)
def test_inserts_and_deletes(sql: Dialect, dialect: str) -> None:
    tree = parsed(sql.insert("Order", KINDS), dialect)
    assert len(list(tree.find_all(exp.Placeholder))) == len(KINDS.columns)
    parsed(sql.translate("DELETE FROM Order WHERE Id BETWEEN 1 AND 9", TABLES), dialect)


@pytest.mark.parametrize(("sql", "dialect"), DIALECTS)
@pytest.mark.parametrize("size", [100, 100_000])
def test_records_under_keys(sql: Dialect, dialect: str, size: int) -> None:
    tree = parsed(sql.create_records(Records(count=1, value_bytes=size)), dialect)
    key, value = (column.kind.sql(dialect) for column in tree.find_all(exp.ColumnDef))
    longest = {"tsql": ("VARBINARY(8)", "VARBINARY(MAX)"), "oracle": ("RAW(8)", "BLOB")}[dialect]
    assert key == longest[0]
    assert (value == longest[1]) is (size > 8_000)
    tree = parsed(
        sql.limited(f"SELECT {sql.quoted('A')} FROM {sql.quoted(RECORD_TABLE)} ORDER BY {sql.quoted('A')}", 3), dialect
    )
    assert tree.find(exp.Fetch)


def test_a_moment_is_kept_to_the_second_in_both() -> None:
    assert "[Moment] DATETIME2(0)" in SQLSERVER.create_table("Order", KINDS)
    assert '"Moment" DATE' in ORACLE.create_table("Order", KINDS)


def test_arrow_batches_are_what_oracledb_takes() -> None:
    """The conversion of a load's batches, which needs no database."""
    oracledb = pytest.importorskip("oracledb")
    taken = pa.table(oracledb.from_arrow(BATCH))
    assert taken.equals(pa.Table.from_batches([BATCH]))


# Engines over a recorder


class Recorder:
    """A connection, its cursors, and prepared answers: beginning of a statement -> rows."""

    def __init__(self, answers: Mapping[str, list[tuple[Any, ...]]]) -> None:
        self.answers = answers
        self.executed: list[str] = []
        self.autocommit = True
        self.rows: list[tuple[Any, ...]] = []
        self.arraysize = self.prefetchrows = 0
        self.version = "23.6.0.24.10"

    def cursor(self) -> Self:
        other = Recorder(self.answers)
        other.executed = self.executed
        return other

    def execute(self, sql: str, values: object = None) -> Self:
        self.executed.append(sql)
        if " WHERE 1 = 0" in sql:
            raise RuntimeError("no such table")
        self.rows = next((rows for start, rows in self.answers.items() if sql.startswith(start)), [])
        return self

    def executemany(self, sql: str, rows: object) -> None:
        self.executed.append(sql)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.rows

    def __iter__(self) -> Any:
        return iter(self.rows)

    def nextset(self) -> bool:
        return False

    def getinfo(self, number: int) -> str:
        return "libtdsodbc.so"

    def commit(self) -> None:
        self.executed.append("COMMIT")

    def close(self) -> None:
        pass


SERVER = {
    "SELECT CAST(SERVERPROPERTY": [("16.0.1000.6", "Express Edition (64-bit)", 0)],
    "SELECT recovery_model_desc": [("SIMPLE", "DISABLED", 160, False)],
    "SELECT OBJECT_NAME": [("Order", 1, 10), ("Order", 2, 4)],
    "SELECT s.segment_name": [("Order", "TABLE", 65536), ("ix_Order_Select", "INDEX", 8192)],
    "SELECT plan_table_output": [("Plan hash value: 1",), ("SELECT STATEMENT",)],
}
Made = tuple[ClientServer, Recorder]


def made(
    engine: type[ClientServer], tmp_path: Path, tier: Tier = Tier.POWER, answers: Mapping[str, Any] = SERVER
) -> Made:
    """An engine that is open on a recorder."""
    recorder = Recorder(answers)
    kind = type("Recorded", (engine,), {"raw": lambda *_: recorder})
    opened = kind(Setup(tmp_path, tier, url=engine.url_example))
    opened.open()
    return opened, recorder


def test_oracle_is_given_no_empty_text_by_any_driver(tmp_path: Path) -> None:
    core: Any = SimpleNamespace(name="oracle")
    empty = BATCH.set_column(7, "Text", pa.array(["", None, "a", "b"]))
    sessions: list[Any] = [
        made(oracle.Oracle, tmp_path)[0].connect(),
        AnySession(None, oracle.Oracle.sql, 1, oracle.OracleSession),
        CoreSession(None, CoreDialect(core=core)),
    ]
    for session in sessions:
        assert chunk(session, BATCH)
        with pytest.raises(Unsupported, match="an empty text"):
            chunk(session, empty)
    core.name = "postgresql"
    assert chunk(sessions[-1], empty)
    assert chunk(AnySession(None, Dialect(), 1, None), empty)


@pytest.fixture(params=[sqlserver.SQLServer, sqlserver.SQLServerPython, oracle.Oracle])
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    if request.param is sqlserver.SQLServer:
        pytest.importorskip("pyodbc", exc_type=ImportError)
    return made(request.param, tmp_path)


def test_a_life_in_statements(recorded: Made) -> None:
    """Open, create, load, measure and remove: everything executed can be parsed, and the tables are dropped."""
    engine, recorder = recorded
    engine.create(TABLES)
    session: Any = engine.connect()
    insert = session.prepare_load("Order", KINDS)
    session.begin()
    assert recorder.autocommit is False
    insert(BATCH if session.load_format == "batches" else [tuple(row.values()) for row in BATCH.to_pylist()])
    for run in session.prepare_finish(TABLES).values():
        run()
    assert recorder.autocommit is True
    size = engine.size()
    assert size.index
    assert size.index < size.total
    assert engine.server_versions()
    engine._has = lambda *_: True  # type: ignore[method-assign]
    engine.remove(TABLES)
    assert recorder.executed[-1] == f"DROP TABLE {engine.sql.quoted('Order')}"
    dialect = "oracle" if isinstance(engine, oracle.Oracle) else "tsql"
    for sql in recorder.executed:
        if not sql.startswith("ALTER SESSION SET"):  # Oracle's own, which sqlglot leaves alone
            parsed(sql, dialect)
    assert any(sql.startswith("CREATE INDEX") for sql in recorder.executed)


def test_oracle_commits_before_its_indexes_do_and_after_the_rows(tmp_path: Path) -> None:
    engine, recorder = made(oracle.Oracle, tmp_path)
    session: Any = engine.connect()
    insert = session.prepare_load("Order", KINDS)
    session.begin()
    insert(BATCH)
    for run in session.prepare_finish(TABLES).values():
        run()
    row, commit, index = (
        next(place for place, sql in enumerate(recorder.executed) if sql.startswith(start))
        for start in ("INSERT", "COMMIT", "CREATE INDEX")
    )
    assert row < commit < index


@pytest.mark.parametrize(("tier", "wait"), [(Tier.POWER, "WAIT"), (Tier.PROCESS, "WAIT"), (Tier.MEMORY, "NOWAIT")])
def test_oracle_waits_for_the_disk_as_the_tier_asks(tmp_path: Path, tier: Tier, wait: str) -> None:
    _, recorder = made(oracle.Oracle, tmp_path, tier)
    assert f"ALTER SESSION SET commit_wait = {wait}" in recorder.executed
    assert "ALTER SESSION SET nls_date_format = 'YYYY-MM-DD HH24:MI:SS'" in recorder.executed


@pytest.mark.parametrize(
    ("asked", "setting", "given"),
    [
        (Tier.POWER, "DISABLED", Tier.POWER), (Tier.POWER, "ALLOWED", Tier.POWER),
        (Tier.PROCESS, "DISABLED", Tier.POWER), (Tier.MEMORY, "DISABLED", Tier.POWER),
        (Tier.MEMORY, "FORCED", Tier.MEMORY), (Tier.POWER, "FORCED", None), (Tier.PROCESS, "FORCED", None),
    ],
)  # fmt: skip
def test_sql_server_gives_what_the_database_is_set_to(
    tmp_path: Path, asked: Tier, setting: str, given: Tier | None
) -> None:
    answers = {**SERVER, "SELECT recovery_model_desc": [("FULL", setting, 160, True)]}
    if given is None:
        with pytest.raises(Unsupported, match="DELAYED_DURABILITY = DISABLED"):
            made(sqlserver.SQLServerPython, tmp_path, asked, answers)
    else:
        engine, _ = made(sqlserver.SQLServerPython, tmp_path, asked, answers)
        assert engine.info().tier is given
        assert engine.settings()["delayed_durability_desc"] == setting


@pytest.mark.parametrize(
    ("server", "title"),
    [
        (("16.0.1", "Express Edition (64-bit)", 0), "SQL Server Express (mssql-python)"),
        (("16.0.1", "Express Edition (64-bit)", 1), "SQL Server LocalDB (mssql-python)"),
        (("16.0.1", "Developer Edition (64-bit)", None), "SQL Server (mssql-python)"),
    ],
)
def test_the_edition_is_in_the_title(tmp_path: Path, server: tuple[Any, ...], title: str) -> None:
    engine, _ = made(sqlserver.SQLServerPython, tmp_path, answers={**SERVER, "SELECT CAST(SERVERPROPERTY": [server]})
    assert engine.info().title == title


def test_plans_are_asked_for_without_running_the_query(tmp_path: Path) -> None:
    engine, recorder = made(
        sqlserver.SQLServerPython, tmp_path, answers={**SERVER, "SELECT 1": [("SELECT 1",), ("  |--Constant Scan",)]}
    )
    session: Any = engine.connect()
    assert session.explain("SELECT 1") == "SELECT 1\n  |--Constant Scan"
    assert recorder.executed[-3:] == ["SET SHOWPLAN_TEXT ON", "SELECT 1", "SET SHOWPLAN_TEXT OFF"]
    engine, recorder = made(oracle.Oracle, tmp_path)
    session = engine.connect()
    assert "SELECT STATEMENT" in session.explain("SELECT 1 FROM dual")
    assert recorder.executed[-2] == "EXPLAIN PLAN FOR SELECT 1 FROM dual"


@pytest.mark.parametrize(
    ("url", "driver", "expected"),
    [
        ("mssql://sa:p%3B@h/db?TrustServerCertificate=yes", sqlserver.MICROSOFT[0],
         {"Server": "h,1433", "Database": "db", "UID": "sa", "PWD": "p;", "TrustServerCertificate": "yes"}),
        ("mssql://sa:p@h:1/db?driver=FreeTDS", sqlserver.FREETDS,
         {"Server": "h", "Port": "1", "TDS_Version": "7.4", "ClientCharset": "UTF-8", "Database": "db", "UID": "sa", "PWD": "p"}),
        (r"mssql://(localdb)%5Cmssqllocaldb/tempdb", sqlserver.MICROSOFT[1],
         {"Server": r"(localdb)\mssqllocaldb", "Trusted_Connection": "yes", "Database": "tempdb"}),
    ],
)  # fmt: skip
def test_a_url_as_keywords(url: str, driver: str, expected: dict[str, str]) -> None:
    assert sqlserver.keywords(address(url, sqlserver.SQLServer.url_example, 1433), driver) == expected


def test_no_results_of_these_may_be_published() -> None:
    engines: list[Any] = [sqlserver.SQLServer, sqlserver.SQLServerPython, oracle.Oracle, SQLServerCompact, VistaDB]
    for engine in engines:
        assert engine.publication is Publication.FORBIDDEN
        assert engine.publication_note
        assert engine.unverified
