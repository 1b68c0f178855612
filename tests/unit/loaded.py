"""A context whose engine has loaded the one dataset of a suite, whose first step is the load."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbbench.answers.given import answers_of
from dbbench.datasets.cache import Files
from dbbench.engine.base import Setup
from dbbench.suite.model import Suite, Tier
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import load
from dbbench.workloads.context import StepContext
from dbbench_plugins.sqlite import SQLite


def loaded(suite: Suite, files: Files, folder: Path, kind: Any = SQLite) -> Iterator[StepContext]:
    """One context, which is closed when it is asked for another. A null engine loads nothing."""
    engine = kind(Setup(folder, Tier.PROCESS))
    engine.open()
    (dataset,) = suite.datasets.values()
    engine.create(dataset.tables)
    steps = suite.scenarios[0].steps
    answers = answers_of([each for each in steps if isinstance(each, QueryStep)], steps, dataset, files, folder)
    context = StepContext(engine, engine.connect(), dataset.tables, files, answers)
    if not engine.is_null:
        first: Any = suite.scenarios[0].steps[0]
        context.data.accept(first, load.measure(first, context))
    yield context
    context.session.close()
    engine.close()
