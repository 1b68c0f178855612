"""The reference's answers, against DuckDB's own time for the same query: on its own files, and on the same Parquet."""

import gc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import duckdb

from dbbench.answers import reference
from dbbench.answers.question import Question
from dbbench.datasets.cache import materialise
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.load import LoadStep
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import load
from dbbench.workloads.context import StepContext

SCALE = 1
#: Of the CPU time, in the middle of all queries: the aim is 2.
AT_MOST = {"its own files": 4.0, "the same Parquet": 2.0}
MEMORY = 2**31
ROUNDS = 3


def taken(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and CPU seconds of all threads."""
    gc.collect()
    used, start = process_time(), perf_counter()
    action()
    return perf_counter() - start, process_time() - used


def test_answers_against_duckdb(tmp_path: Path) -> None:
    """All queries of `decision-support`, each three ways in turn; DuckDB has all threads and its rows as Arrow batches."""
    suite = load_suite(find_suite("decision-support"))
    dataset = suite.datasets[suite.scenarios[0].dataset]
    files = materialise(dataset, scale=SCALE)
    engine = registry.load("duckdb+arrow")(Setup(tmp_path, Tier.POWER, {"indexes": False}))
    engine.open()
    engine.create(dataset.tables)
    context = StepContext(engine, engine.connect(), dataset.tables, files, {})
    ratios: dict[str, list[float]] = {of: [] for of in AT_MOST}
    kept: dict[str, Path] = {}
    beside = duckdb.connect()

    def answered(sql: str) -> object:
        return reference.answered(Question(sql), dataset.tables, files, MEMORY, str(tmp_path), kept)

    for step in suite.scenarios[0].steps:
        if isinstance(step, LoadStep):
            context.data.accept(step, load.measure(step, context))
        if not isinstance(step, QueryStep):
            continue
        run = context.session.prepare_query(context.statement(step))  # type: ignore[attr-defined]
        answered(step.sql)
        for name, path in kept.items():
            beside.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM '{path}'")
        ways: tuple[Callable[[], object], ...] = (
            lambda run=run: list(run()),  # type: ignore[misc]
            lambda sql=step.sql: beside.sql(sql).to_arrow_table(),  # type: ignore[misc]
            lambda sql=step.sql: answered(sql),  # type: ignore[misc]
        )
        ways[0]()
        rounds = [[taken(way) for way in ways] for _ in range(ROUNDS)]
        for place, found in enumerate(ratios.values()):
            found.append(median(each[2][1] / each[place][1] for each in rounds))
        time, work = (median(each[0][of] for each in rounds) for of in (0, 1))
        said = ", ".join(f"{found[-1]:.2f} of DuckDB's on {of}" for of, found in ratios.items())
        print(f"\n  {step.name}: CPU time {said} ({work:.3f} s, {time:.3f} s by the clock)", end="", flush=True)
    context.session.close()
    engine.close()
    for of, found in ratios.items():
        print(f"\n  in the middle {median(found):.2f} of {of} (from {min(found):.2f} to {max(found):.2f})")
    assert all(median(found) <= AT_MOST[of] for of, found in ratios.items())
