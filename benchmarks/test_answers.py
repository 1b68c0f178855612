"""The reference's answers, against DuckDB's own time for the same query."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from dbbench.answers import reference
from dbbench.answers.question import Question
from dbbench.datasets.cache import materialise
from dbbench.engine import registry
from dbbench.engine.setup import Setup
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.load import LoadStep
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import load
from dbbench.workloads.context import StepContext

SCALE = 1
#: Of the CPU time, in the middle of all queries. The aim is 2; it was 3.8, from 1.7 to 7.2, and DuckDB reads a format of its own.
AT_MOST = 6.0
MEMORY = 2**31
PAIRS = 3


def taken(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and CPU seconds of all threads."""
    gc.collect()
    used, start = process_time(), perf_counter()
    action()
    return perf_counter() - start, process_time() - used


def test_answers_against_duckdb(tmp_path: Path) -> None:
    """All queries of `decision-support`, each both ways in turn; DuckDB has all threads and its rows as Arrow batches."""
    suite = load_suite(find_suite("decision-support"))
    dataset = suite.datasets[suite.scenarios[0].dataset]
    files = materialise(dataset, scale=SCALE)
    engine = registry.load("duckdb+arrow")(Setup(tmp_path, Tier.POWER, {"indexes": False}))
    engine.open()
    engine.create(dataset.tables)
    context = StepContext(engine, engine.connect(), dataset.tables, files, {})
    ratios = []
    kept: dict[str, Path] = {}

    def answered(sql: str) -> object:
        return reference.answered(Question(sql), dataset.tables, files, MEMORY, str(tmp_path), kept)

    for step in suite.scenarios[0].steps:
        if isinstance(step, LoadStep):
            context.data.accept(step, load.measure(step, context))
        if not isinstance(step, QueryStep):
            continue
        run = context.session.prepare_query(context.statement(step))  # type: ignore[attr-defined]
        list(run())
        pairs = [(taken(lambda run=run: list(run())), taken(lambda sql=step.sql: answered(sql))) for _ in range(PAIRS)]
        ratio, work = (median(mine[of] / its[of] for its, mine in pairs) for of in (0, 1))
        print(
            f"\n  {step.name}: {ratio:.2f} in time, {work:.2f} in CPU time ({pairs[0][0][1]:.2f} s by DuckDB)",
            end="",
            flush=True,
        )
        ratios.append(work)
    context.session.close()
    engine.close()
    print(f"\n  in the middle {median(ratios):.2f} of the CPU time (from {min(ratios):.2f} to {max(ratios):.2f})")
    assert median(ratios) <= AT_MOST
