"""The suite of documents: right answers, and engines that lie about documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench.testing.contract import usable
from tests.conftest import Rows, run_suite, summary

SCALE = ("--scale", "0.01")
QUERIES = ("path", "element", "elements", "groups", "aggregate", "by-key")
#: Besides SQLite and DuckDB; the last one keeps them in another form.
HONEST = ("postgresql", "postgresql+async", "postgresql+asyncpg", "mysql", "chdb", "sqlite+apsw@jsonb")
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
    found = summary(run_suite(tmp_path, "documents", ("sqlite", "duckdb"), *SCALE, status=None))
    for engine in ("sqlite", "duckdb"):
        for step in ("load", *QUERIES, "update"):
            assert (found[step, engine]["outcome"], found[step, engine]["verified"]) == ("ok", "yes"), (step, engine)
    assert found["index", "sqlite"]["outcome"] == "ok"
    assert found["path-indexed", "duckdb"]["outcome"] == "unsupported"
    assert "no statement for it in the dialect duckdb" in found["index", "duckdb"]["detail"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """A run of the honest engines and of those that lie."""
    jsonb = ("--set", f"{HONEST[-1]}.documents=jsonb")
    return summary(run_suite(tmp_path_factory.mktemp("lies"), "documents", (*HONEST, *LIES), *SCALE, *jsonb))


@pytest.mark.matrix
@pytest.mark.parametrize("engine", HONEST)
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
