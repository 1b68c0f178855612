"""The suite of documents: right answers, and engines that lie about documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench.testing.contract import usable
from tests.conftest import Rows, run_suite, summary
from tests.trials_here import no_null_engine, trials_here

SCALE = ("--scale", "0.01")
QUERIES = ("path", "element", "elements", "groups", "aggregate", "by-key")
#: Besides SQLite and DuckDB.
HONEST = ("postgresql", "mysql", "chdb")
#: Whose files are those of others; the last one keeps documents in another form.
DRIVERS = ("postgresql+async", "postgresql+asyncpg", "sqlite+apsw@jsonb")
#: Engine -> the step that it lies in, and words of what is said of it.
LIES = {
    "documents-drops": ("load", "rows of Purchase, read back: column Body: "),
    "documents-reorders": ("load", "rows of Purchase, read back: column Body: "),
    "documents-quotes": ("load", "rows of Purchase, read back: column Body: "),
    "documents-rounds": ("load", "rows of Purchase, read back: column Body: "),
    "documents-nulls": ("load", "rows of Purchase, read back: column Body: "),
    "documents-empties": ("load", "rows of Purchase, read back: column Body: "),
    "documents-twice": ("load", "a field stands twice in one object"),
    "documents-writes": ("load", "Extra data"),
    "documents-forgets": ("update", "0 instead of 100"),
    "documents-misses": ("update", "99 instead of 100"),
    "documents-spills": ("update", "rows of Purchase, read back: column Body: "),
    "documents-replaces": ("by-key", "column Body_status: null instead of "),
    "documents-words": ("groups", "column Body_buyer_level: 'null' instead of "),
}


def test_the_answers_of_documents_are_right(tmp_path: Path) -> None:
    with no_null_engine(), trials_here():
        found = summary(run_suite(tmp_path, "documents", ("sqlite", "duckdb"), *SCALE, status=None))
    for engine in ("sqlite", "duckdb"):
        for step in ("load", *QUERIES, "update"):
            assert (found[step, engine]["outcome"], found[step, engine]["verified"]) == ("ok", "yes"), (step, engine)
    assert found["index", "sqlite"]["outcome"] == "ok"
    assert found["path-indexed", "duckdb"]["outcome"] == "unsupported"
    assert "no statement for it in the dialect duckdb" in found["index", "duckdb"]["detail"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Runs of the honest engines, and of other drivers and those that lie, which need no trials of their own."""
    with no_null_engine():
        found = summary(run_suite(tmp_path_factory.mktemp("honest"), "documents", HONEST, *SCALE, status=None))
    jsonb = ("--set", f"{DRIVERS[-1]}.documents=jsonb")
    with no_null_engine(), trials_here():
        return found | summary(
            run_suite(tmp_path_factory.mktemp("lies"), "documents", (*DRIVERS, *LIES), *SCALE, *jsonb)
        )


@pytest.mark.matrix
@pytest.mark.parametrize("engine", HONEST + DRIVERS)
def test_the_answers_of_documents_are_right_on(engine: str, rows: Rows) -> None:
    usable(engine.partition("@")[0])
    for step in ("load", *QUERIES, "index", "path-indexed", "update"):
        assert (rows[step, engine]["outcome"], rows[step, engine]["verified"]) == ("ok", "yes"), step


@pytest.mark.matrix
@pytest.mark.parametrize("engine", LIES)
def test_a_lie_about_documents_is_wrong(engine: str, rows: Rows) -> None:
    step, words = LIES[engine]
    row = rows[step, engine]
    assert (row["outcome"], row["value"], row["rank"]) == ("wrong", "", "")
    assert words in row["detail"]
