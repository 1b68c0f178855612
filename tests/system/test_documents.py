"""The suite of documents: right answers, and engines that lie about documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench.testing.contract import usable
from tests.conftest import run_suite, summary

SCALE = ("--scale", "0.01")
QUERIES = ("path", "element", "elements", "groups", "aggregate", "by-key")
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


@pytest.mark.matrix
@pytest.mark.parametrize(
    "engine", ["postgresql", "postgresql+async", "postgresql+asyncpg", "mysql", "chdb", "sqlite+apsw@jsonb"]
)
def test_the_answers_of_documents_are_right_on(engine: str, tmp_path: Path) -> None:
    usable(engine.partition("@")[0])
    jsonb = ("--set", f"{engine}.documents=jsonb") if "jsonb" in engine else ()
    found = summary(run_suite(tmp_path, "documents", (engine,), *SCALE, *jsonb, status=None))
    for step in ("load", *QUERIES, "index", "path-indexed", "update"):
        assert (found[step, engine]["outcome"], found[step, engine]["verified"]) == ("ok", "yes"), step


@pytest.fixture(scope="module")
def lies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_suite(tmp_path_factory.mktemp("lies"), "documents", LIES, *SCALE)


@pytest.mark.matrix
@pytest.mark.parametrize("engine", LIES)
def test_a_lie_about_documents_is_wrong(lies: Path, engine: str) -> None:
    step, words = LIES[engine]
    row = summary(lies)[step, engine]
    assert (row["outcome"], row["value"], row["rank"]) == ("wrong", "", "")
    assert words in row["detail"]
