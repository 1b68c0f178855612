"""Reading tables back, and measuring what lies on disk."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from dbbench.answers.compare import as_batches, check_batches, with_keys_of
from dbbench.datasets.cache import materialise
from dbbench.engine.base import Engine, Setup
from dbbench.errors import WrongAnswer
from dbbench.host.processes import descendants
from dbbench.suite.dataset import Column, Dataset
from dbbench.suite.model import Tier
from dbbench.suite.steps.statement import StatementStep
from dbbench.workloads.contents import _check_figures, _compare, check_added, check_after, check_table, forget, let_go
from dbbench.workloads.context import Added, StepContext, StepsSoFar
from dbbench.workloads.ondisk import on_disk, others, processes
from dbbench_plugins.sqlite import SQLite
from tests.conftest import Opened
from tests.tables import table_of

TABLE = pa.table({"Id": pa.array(range(20_000), pa.int32()), "Name": [f"n{number}" for number in range(20_000)]})


class Given:
    """A session that gives a table, as rows or in batches of some length."""

    def __init__(self, table: pa.Table, length: int = 0) -> None:
        self.result_format = "batches" if length else "rows"
        self.table, self.length = table, length

    def prepare_query(self, sql: str) -> Any:
        def run() -> Iterator[Any]:
            if self.length:
                return iter(self.table.to_batches(self.length))
            return zip(*(column.to_pylist() for column in self.table.columns), strict=True)

        return run


def compare(given: pa.Table, length: int) -> None:
    _compare(Given(given, length), "", TABLE.to_batches(7_000))  # type: ignore[arg-type]


FORMS = pytest.mark.parametrize("length", [0, 1_000, 9_999, 50_000], ids=["rows", "small", "odd", "large"])


@FORMS
def test_the_same_rows_are_right_in_whatever_pieces_they_come(length: int) -> None:
    compare(TABLE, length)


@FORMS
def test_rows_that_are_missing_more_or_other_are_wrong(length: int) -> None:
    swapped = TABLE.set_column(
        1, "Name", pa.chunked_array([TABLE["Name"].slice(1), TABLE["Name"].slice(0, 1)]).combine_chunks()
    )
    for wrong in (
        TABLE.slice(0, 19_999),
        pa.concat_tables([TABLE, TABLE.slice(0, 1)]),
        TABLE.slice(1),
        swapped,
        TABLE.slice(0, 0),
    ):
        with pytest.raises(WrongAnswer):
            compare(wrong, length)


class Silent(Engine):
    """An engine that tells of no file."""

    name = "kept"
    durability: ClassVar = {Tier.POWER: {}}

    def size(self) -> Any:
        return super().size().__class__(())


def test_files_are_measured_whatever_the_engine_says(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "a.db").write_bytes(b"x" * 1000)
    os.link(folder / "a.db", folder / "again.db")  # one file, two names
    with open(folder / "sparse", "wb") as sparse:
        sparse.write(b"x")
        sparse.truncate(2**24)
    (elsewhere / "read").write_bytes(b"x" * 100)
    engine = Silent(Setup(folder, Tier.POWER))
    with (
        open(elsewhere / "written", "wb", buffering=0) as written,
        open(elsewhere / "deleted", "wb", buffering=0) as deleted,
        open(elsewhere / "read", "rb"),
    ):
        written.write(b"x" * 10)
        deleted.write(b"x" * 20)
        (elsewhere / "deleted").unlink()
        files = {os.path.basename(file.name).partition(" ")[0]: file for file in on_disk(engine).files}
    assert files["a.db" if "a.db" in files else "again.db"].apparent == 1000
    assert ("a.db" in files) != ("again.db" in files)
    assert (files["written"].apparent, files["written"].role) == (10, "other")
    assert files["deleted"].apparent == 20
    assert "read" not in files
    assert 0 < files["sparse"].apparent < 2**20


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system tells of no process's files")
def test_files_that_are_only_read_count_where_nobody_else_finds_them(tmp_path: Path) -> None:
    (folder := tmp_path / "store").mkdir()
    deleted, shared = tmp_path / "deleted", Path("/dev/shm") / f"{tmp_path.name}-{os.getpid()}"
    for path in (deleted, shared):
        path.write_bytes(bytes(10_000))
    with deleted.open("rb"), shared.open("rb"), open(os.memfd_create("memory"), "wb", buffering=0) as memory:
        memory.write(bytes(10_000))
        deleted.unlink()
        found = {
            file.name.partition(" ")[0]: file.apparent for file in on_disk(Silent(Setup(folder, Tier.POWER))).files
        }
    shared.unlink()
    assert (found[str(deleted)], found[str(shared)]) == (10_000, 10_000)
    assert not any("memory" in name for name in found)


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("UPDATE T SET N = N + 1 WHERE Id = 5", {"T": {"Id", "Name"}, "U": {"Id"}}),
        ("INSERT INTO T SELECT * FROM U", {"T": {"Id", "Name", "N"}, "U": {"Id"}}),
        ("CREATE INDEX i ON T (N)", {"T": {"Id", "Name", "N"}, "U": {"Id"}}),
        ("DELETE FROM T WHERE Id = 5", {"T": set(), "U": {"Id"}}),
        ("DELETE FROM t USING U", {"T": set(), "U": set()}),
        ("INSERT INTO T VALUES (1); DELETE FROM T", {"T": set(), "U": {"Id"}}),
        ("UPDATE T SET N = 1; DELETE FROM U", {"T": set(), "U": set()}),
        ("INSERT INTO T VALUES (1) ON CONFLICT DO UPDATE SET N = 1", {"T": set(), "U": {"Id"}}),
    ],
)
def test_what_a_statement_may_have_deleted_or_set_has_no_least_size(sql: str, left: dict[str, set[str]]) -> None:
    data = StepsSoFar(untouched={"T": {"Id", "Name", "N"}, "U": {"Id"}})
    columns = {"Id": "integer", "Name": "varchar(9)", "N": "integer"}
    context: Any = SimpleNamespace(data=data, tables={"T": table_of(columns), "U": table_of({"Id": "integer"})})  # type: ignore[arg-type]
    forget(context, [sql])
    assert data.untouched == left


def test_a_process_of_a_server_that_ends_while_it_is_looked_at_is_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    monkeypatch.setattr("psutil.pid_exists", lambda _: True)  # a moment ago it was there
    engine = Silent(Setup(tmp_path, Tier.POWER))
    monkeypatch.setattr(engine, "processes", lambda: [ended.pid, os.getppid()])
    assert others(engine) - descendants().keys() == {os.getppid()}


def test_a_private_server_is_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Silent(Setup(tmp_path, Tier.POWER))
    with subprocess.Popen(["sleep", "60"]) as server:
        monkeypatch.setattr(engine, "processes", lambda: [server.pid])
        assert [process.pid for process in processes(engine)].count(server.pid) == 1
        server.kill()


@pytest.mark.parametrize("kind", ["double", "real", "decimal(19, 4)"])
def test_a_sum_whose_parts_cancel_is_measured_by_them(kind: str) -> None:
    column = Column.model_validate({"type": kind, "values": {"kind": "quantiles", "points": {0: -1, 1: 1}}})
    known = {"rows": 2, "columns": {"W": {"min": "-1e12", "max": "1e12", "sum": "0.0"}}}
    context: Any = SimpleNamespace(
        files=SimpleNamespace(manifest={"tables": {"T": known}}),
        tables={"T": SimpleNamespace(columns={"W": column})},
        data=SimpleNamespace(rows={"T": 2}),
    )
    given = pa.table({"count": [2], "min": [-1e12], "max": [1e12], "sum": [-0.3]})
    _check_figures(context, SQLite, Given(given), "T")  # type: ignore[arg-type]
    with pytest.raises(WrongAnswer, match="SUM"):
        _check_figures(context, SQLite, Given(given.set_column(3, "sum", [[9.0]])), "T")  # type: ignore[arg-type]


def test_rows_with_other_keys_than_the_expected_are_left_out() -> None:
    expected = pa.table({"Code": ["a ", "é", "Z"], "N": [1, 2, 3]})
    given = [(5, "added"), (1, "a"), (3, "Z"), (2, "é")]
    swapped = as_batches([(code, number) for number, code in given], expected.schema)
    check_batches(with_keys_of(swapped, expected, 0), expected, ordered=False)
    wrong = as_batches([("a", 1), ("Z", 4), ("é", 2), ("added", 5)], expected.schema)
    with pytest.raises(WrongAnswer, match="4 instead of 3"):
        check_batches(with_keys_of(wrong, expected, 0), expected, ordered=False)


NUMBER = {"type": "integer", "values": {"kind": "quantiles", "points": {0: 1, 1: 9}}}
NAME = {"type": "varchar(9)", "values": {"kind": "choice", "weights": {"one": 1, "two": 2}}}
BODY = {
    "kind": "document",
    "fields": {"in": {"fields": {"n": {**NUMBER, "missing": 0.9}}, "missing": 0.9}, "m": NUMBER},
}


@pytest.fixture
def updated(opened: Opened, tmp_path: Path) -> StepContext:
    """SQLite with two tables, of which one has a key that is one sequence and the other has two parts; T2 is empty."""
    (tmp_path / "t2.csv").write_text("Id,A\n")
    key = {"type": "integer", "values": {"kind": "sequence"}}
    columns = {"Id": key, "A": NAME, "B": NUMBER, "C": NUMBER, "Body": {"type": "json", "values": BODY}}
    plain = {"type": "integer"}
    tables = {
        "T": {"rows": 50, "primary_key": "Id", "columns": columns},
        "U": {"rows": 50, "primary_key": ["Id", "B"], "columns": columns},
        "T2": {"rows": {"file": "t2.csv"}, "primary_key": "Id", "columns": {"Id": plain, "A": plain}},
    }
    dataset = Dataset.model_validate({"seed": 1, "tables": tables})
    engine = opened("sqlite", Tier.MEMORY)
    engine.create(dataset.tables)
    files, session = materialise(dataset, folder=tmp_path), engine.connect()
    rows = {"T": 50, "U": 50, "T2": 0}
    known = StepsSoFar(rows=rows, left_by=dict.fromkeys(rows, "load"))
    for name in rows:
        insert = session.prepare_load(name, dataset.tables[name])
        for batch in files.stream(name):
            insert(list(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
    return StepContext(engine, session, dataset.tables, files, {}, known)


def after(context: StepContext, sql: str, done: str = "") -> dict[str, str]:
    """What is found after an update of which the engine makes another one, if you like."""
    let_go(context, StatementStep(kind="statement", name="change", title="Change", sql=sql))
    session: Any = context.session
    session.execute(done or sql)
    return check_after(context, every_row=True)


@pytest.mark.parametrize(
    ("sql", "done"),
    [
        ("UPDATE T SET C = (SELECT MAX(C) FROM U WHERE U.Id = T.Id), B = 2 WHERE Id < 5", ""),
        ("UPDATE T SET A = 'know where it is', B = 2", ""),
        ("UPDATE U SET A = 'know where it is', C = 2", ""),
        ("UPDATE T SET Body_in_n = 7", "UPDATE T SET Body = json_set(Body, '$.in', json_object('n', 7))"),
        ("UPDATE T2 SET A = 1", ""),
        ("UPDATE T SET A = THE ) UTTER % MESS", "UPDATE T SET A = 1"),
    ],
)
def test_what_an_update_sets_is_not_compared(updated: StepContext, sql: str, done: str) -> None:
    assert after(updated, sql, done) == {}


@pytest.mark.parametrize("name", ["T", "U"])
@pytest.mark.parametrize("more", ["C = 99", "Body = json_set(Body, '$.m', 99)", "Body = json_set(Body, '$.in.x', 1)"])
def test_what_an_update_does_not_set_is_compared(updated: StepContext, name: str, more: str) -> None:
    sql = f"UPDATE {name} SET A = (SELECT MAX(Id) FROM T2 WHERE A > 1), Body_in_n = 1 WHERE Id = 3"
    found = after(updated, sql, sql.replace("Body_in_n = 1", more))
    assert f"rows of {name}, read back: column {more.partition(' ')[0]}" in found["change"]


@pytest.mark.parametrize(("key", "right"), [(1, True), (2, False)])
def test_rows_that_were_added_to_an_empty_table_are_compared(updated: StepContext, key: int, right: bool) -> None:
    data, session = updated.data, updated.session
    session.execute(f"INSERT INTO T2 VALUES ({key}, 7)")  # type: ignore[attr-defined]
    data.rows["T2"], data.added["T2"] = 1, [Added("add", {"A": 7}, 1)]
    check_table(updated, "T2", every_row=True)
    with nullcontext() if right else pytest.raises(WrongAnswer, match="rows that add added to T2"):
        check_added(updated, "T2")
