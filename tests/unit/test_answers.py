"""Answers that the reference doesn't compute: rows, files, another engine, and engines that agree."""

import sys
import time
from contextlib import nullcontext
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbbench.answers import given
from dbbench.answers.compare import as_table, check_batches, check_rows
from dbbench.answers.given import answers_of
from dbbench.answers.stored import MORE_MEMORY, Question, kept_answer, read_answers, refusal, refused, write_answers
from dbbench.datasets.cache import Files, materialise
from dbbench.errors import UserError, WrongAnswer
from dbbench.host import apart
from dbbench.suite.dataset import Dataset
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads.known import group
from tests.tables import table_of

THINGS = Dataset(tables={"T": table_of({"Id": "integer"}, rows=100)})


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    return materialise(THINGS)


def query(answer: object, sql: str = "SELECT Id FROM T", **more: object) -> QueryStep:
    return QueryStep.model_validate({"kind": "query", "name": "q", "title": "Q", "sql": sql, "answer": answer, **more})


def answered(answer: object, files: Files, folder: Path = Path(), sql: str = "SELECT Id FROM T") -> pa.Table:
    return read_answers(answers_of([step := query(answer, sql)], [step], THINGS, files, folder)["q"])[0]


def test_rows_come_in_the_types_that_the_suite_says(files: Files) -> None:
    columns = {"n": "bigint", "price": "decimal(9, 2)", "day": "date", "name": "varchar(3)"}
    found = answered({"columns": columns, "rows": [[1, 2.5, "2026-01-31", "a"], [None, None, None, None]]}, files)
    assert found.schema.types == [pa.int64(), pa.decimal128(9, 2), pa.date32(), pa.string()]
    assert found.column("price").to_pylist() == [Decimal("2.50"), None]


@pytest.mark.parametrize(("kind", "value"), [("integer", "x"), ("decimal(5, 2)", 1.234), ("date", "2026-13-01")])
def test_rows_of_another_type_are_refused(files: Files, kind: str, value: object) -> None:
    with pytest.raises(UserError, match="the answer of q, column n"):
        answered({"columns": {"n": kind}, "rows": [[value]]}, files)


def test_rows_are_right_at_scale_1_only(files: Files) -> None:
    with pytest.raises(UserError, match="right at scale 1 only; omit --scale"):
        answered({"columns": {"n": "bigint"}, "rows": [[1]]}, materialise(THINGS, scale=0.5))


def test_a_file_is_an_answer(files: Files, tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("n\n1\n2\n")
    assert answered({"file": "a.parquet"}, files, tmp_path).column("n").to_pylist() == [1, 2]
    assert answered({"file": "a.csv", "columns": {"n": "integer"}}, files, tmp_path).schema.types == [pa.int32()]
    with pytest.raises(UserError, match="the suite must name them with their types"):
        answered({"file": "a.csv"}, files, tmp_path)
    (tmp_path / "a.csv").write_text("n\n1\n3\n\n")
    changed = answered({"file": "a.csv", "columns": {"n": "integer"}}, files, tmp_path)
    assert changed.column("n").to_pylist() == [1, 3], "another content is another answer"


def test_a_reference_engine_answers_in_a_process_of_its_own(files: Files) -> None:
    found = answered({"engine": "sqlite"}, files, sql="SELECT COUNT(*) AS n, SUM(Id) / 8.0 AS s FROM T")
    assert found.to_pylist() == [{"1": 100, "2": 631.25}]


def test_another_version_of_a_reference_engine_is_asked_anew(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = []
    for version in ("1", "2", "2"):
        monkeypatch.setattr(given, "_versions", lambda _engine, known=version: {"SQLite": known})
        paths.append(answers_of([step := query({"engine": "sqlite"})], [step], THINGS, files, Path())["q"])
    assert paths[0] != paths[1] == paths[2]


@pytest.mark.parametrize(
    ("engine", "sql", "words"),
    [
        ("sqlite", "SELECT nothing FROM T", "the engine sqlite gives no answer: .*nothing"),
        ("sqlit", "SELECT Id FROM T", "no engine 'sqlit'; did you mean 'sqlite'"),
        ("lmdb", "SELECT Id FROM T", "lmdb runs no SQL"),
    ],
)
def test_a_reference_engine_that_fails_is_named(files: Files, engine: str, sql: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        answered({"engine": engine}, files, sql=sql)


#: Starts a server, as an engine with a private one does, and waits for its answer for ever.
ENDLESS = """
import subprocess
server = "trap 'echo ended > FOLDER/ended; exit' TERM; echo > FOLDER/ready; while :; do sleep 0.01; done"
subprocess.Popen(["sh", "-c", server]).wait()
"""


def test_the_server_of_a_reference_engine_that_takes_too_long_is_asked_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_process: object, _seconds: float) -> bool:
        while not (tmp_path / "ready").exists():
            time.sleep(0.001)
        return False

    monkeypatch.setattr(apart, "ended", never)
    monkeypatch.setattr(
        apart, "python", lambda _module: [sys.executable, "-c", ENDLESS.replace("FOLDER", str(tmp_path))]
    )
    assert apart.run(partial(print)) == "it took more than 3600 s"
    assert (tmp_path / "ended").read_text() == "ended\n"


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (partial(kept_answer, "", Files(Path("/a/b"))), "no longer in /a"),
        (partial(int, "x"), "ValueError: invalid literal"),
    ],
)
def test_a_call_that_fails_says_why(call: partial[None], reason: str) -> None:
    assert reason in apart.run(call)


def test_an_answer_of_an_earlier_run_is_found_as_it_was_written(files: Files) -> None:
    path = answers_of([query({"columns": {"n": "bigint"}, "rows": [[1]]})], [], THINGS, files, Path())["q"]
    assert kept_answer(path.name, files) == path
    for name in ("../dataset.json", path.name.replace("answer-", "answer-0"), ""):
        with pytest.raises(UserError, match="no longer in"):
            kept_answer(name, files)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(UserError, match="no longer in"):
        kept_answer(path.name, files)


def test_engines_that_give_the_same_share_a_group(tmp_path: Path) -> None:
    third = Decimal("0.3333333333333333")
    given = [[(1, third)], [(1, 1 / 3)], [(1, Decimal("0.3333"))], [(1, 0.34)], [(2, 1 / 3)], [(1, 0.34)]]
    groups = [group(as_table(rows), tmp_path, "s", "q") for rows in given]
    assert groups == [1, 1, 1, 2, 3, 2]


@pytest.mark.parametrize(
    ("reference", "found", "same"),
    [
        (Decimal("2.3333333333"), Decimal("2.3333"), True),  # MySQL keeps four places of a mean
        (Decimal("2.3333"), 7 / 3, True),
        (7 / 3, Decimal("2.3333"), True),
        (Decimal("12.50"), Decimal("12.5"), True),
        (Decimal("12.50"), Decimal("12.51"), False),
        (7 / 3, Decimal("2.33"), False),
        (Decimal("2.3333"), 2.334, False),
        ("2026-01-31", "2026-01-31  ", True),
        (5, Decimal(5), True),
    ],
)
def test_means_are_compared_by_the_coarser_of_two_engines(reference: Any, found: Any, same: bool) -> None:
    with nullcontext() if same else pytest.raises(WrongAnswer):
        check_rows([(found,)], as_table([(reference,)]), ordered=True)


def test_columns_of_one_name_are_told_apart_by_their_places() -> None:
    batches = [pa.record_batch([[number], [-number]], names=["avg", "avg"]) for number in (1, 2)]
    assert as_table(batches).to_pylist() == [{"1": 1, "2": -1}, {"1": 2, "2": -2}]


@pytest.mark.parametrize(("found", "same"), [("2.33333333333333333", True), ("2.334", False)])
def test_a_mean_that_comes_as_text_is_compared_as_a_number(found: str, *, same: bool) -> None:
    answer = as_table([(Decimal("2.3333"),)])
    batch = pa.record_batch([[found]], names=["avg"])
    with nullcontext() if same else pytest.raises(WrongAnswer):
        assert check_batches([batch], answer, ordered=True, declared={"decimal": "text"}) == {"decimal as text"}


@pytest.mark.parametrize(("reason", "asked"), [("IO error", 2), (f"{MORE_MEMORY} 256 MiB of memory", 1)])
def test_what_was_not_computed_is_asked_again_unless_it_needs_more_memory(
    files: Files, monkeypatch: pytest.MonkeyPatch, reason: str, asked: int
) -> None:
    def failing(_questions: object, _tables: object, _files: object, out: Path, _memory: object) -> list[Path]:
        write_answers([refusal(reason)], out / "0.arrow")
        return [out / "0.arrow"]

    compute = Mock(side_effect=failing)
    monkeypatch.setattr(given, "compute", compute)
    for _ in range(2):
        (path,) = given.by_reference([Question(f"SELECT '{reason}'")], THINGS.tables, files)
        assert refused(read_answers(path)) == reason
    assert compute.call_count == asked


def test_what_can_never_be_computed_is_asked_once(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    compute = Mock(wraps=given.compute)
    monkeypatch.setattr(given, "compute", compute)
    for _ in range(2):
        (path,) = given.by_reference([Question("SELECT Id FROM T WHERE Id < 0", without="a row")], THINGS.tables, files)
        assert refused(read_answers(path)) == "its answer has no rows"
    assert compute.call_count == 1
