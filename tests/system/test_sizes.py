"""Sizes that can't be, or are not all: of rows after an update, of vectors; beside honest engines."""

import pytest

from dbbench.testing.suite_text import suite_text
from tests.conftest import Rows, run_suite, summary
from tests.tables import one_table

pytestmark = pytest.mark.matrix

NAME = 'Name: {type: varchar(20), values: {kind: pattern, text: "N-##################"}}'
UPDATED = suite_text(
    "things",
    "seed: 7\n" + one_table("Thing", 5000, NAME, "N: {type: integer, values: {kind: sequence}}"),
    """
    - {kind: load, name: load, title: Load}
    - kind: statement
      name: update
      title: Update
      sql: UPDATE Thing SET N = N + 1 WHERE Id = 5
      iterations: 1
      check: {sql: SELECT Id FROM Thing WHERE Id = 5, columns: [Thing.Id], rows: [[5]]}
    - {kind: size, name: size, title: Size}
    """,
    durability="process",
    more="charts: [{kind: overview}]",
)
VECTORS = suite_text(
    "vectors",
    "seed: 7\nvectors: {count: 4000, dimensions: 32, metric: l2}",
    """
    - {kind: load, name: load, title: Load}
    - {kind: size, name: size, title: Size}
    """,
    durability="memory",
    more="charts: [{kind: overview}]",
)
#: Those whose files are all there.
MEASURED = ("sizes-reserved", "sizes-unflushed", "sizes-inflated", "sizes-swollen")
#: Those that have vectors elsewhere.
ELSEWHERE = ("sizes-deleted", "sizes-shared", "sizes-mapped")
LIES = ("sizes-stub", "sizes-vectors", *MEASURED, *ELSEWHERE)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    updated = run_suite(tmp_path_factory.mktemp("updated"), UPDATED, ("sqlite", "duckdb", *MEASURED), status=None)
    in_memory = UPDATED.replace("durability: process", "durability: memory")
    stub = run_suite(tmp_path_factory.mktemp("stub"), in_memory, ("sizes-stub",), status=None)
    vectors = run_suite(tmp_path_factory.mktemp("vectors"), VECTORS, ("sizes-vectors", *ELSEWHERE), status=None)
    return {(step, name): row for run in (updated, stub, vectors) for (step, name), row in summary(run).items()}


@pytest.mark.parametrize("engine", ["sizes-stub", "sizes-vectors"])
def test_a_size_below_what_is_left_of_the_data_is_wrong(rows: Rows, engine: str) -> None:
    row = rows["size", engine]
    assert (row["outcome"], row["value"], row["rank"]) == ("wrong", "", "")
    assert " on disk for data that take " in row["detail"]


@pytest.mark.parametrize("engine", MEASURED)
def test_what_is_said_of_files_makes_no_size_smaller(rows: Rows, engine: str) -> None:
    true, found = rows["size", "sqlite"], rows["size", engine]
    assert (true["outcome"], found["outcome"]) == ("ok", "ok")
    assert float(found["value"]) >= float(true["value"])


@pytest.mark.parametrize("engine", ELSEWHERE)
def test_files_elsewhere_that_are_only_read_or_mapped_count(rows: Rows, engine: str) -> None:
    row = rows["size", engine]
    assert row["outcome"] == "ok"
    assert float(row["value"]) > 4000 * 32 * 4
    assert "outside of the engine's directory" in row["detail"]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_an_honest_size_after_an_update_is_verified(rows: Rows, engine: str) -> None:
    assert (rows["size", engine]["outcome"], rows["size", engine]["verified"]) == ("ok", "yes")
