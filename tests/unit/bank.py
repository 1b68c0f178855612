"""The suite of bank.yaml, whose second step is of transactions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbbench.datasets.cache import materialise
from dbbench.suite.loader import parse_suite
from dbbench.suite.steps.transaction import TransactionStep
from dbbench.workloads.context import StepContext
from dbbench_plugins.sqlite import SQLite
from tests.unit.loaded import loaded

TEXT = (Path(__file__).parent / "bank.yaml").read_text("utf-8")
SUITE = parse_suite(TEXT, "bank.yaml")
_, STEP = SUITE.scenarios[0].steps
assert isinstance(STEP, TransactionStep)


def opened(folder: Path, kind: Any = SQLite) -> Iterator[StepContext]:
    """A context whose engine has loaded it."""
    yield from loaded(SUITE, materialise(SUITE.datasets["bank"]), folder, kind)


def changed(**more: Any) -> TransactionStep:
    """The step with other values, unchecked."""
    return STEP.model_copy(update=more)  # type: ignore[return-value]


def validated(**more: Any) -> TransactionStep:
    """The step with other values as a suite file may have them. Raises ValueError."""
    return TransactionStep.model_validate({**STEP.model_dump(mode="json", exclude_defaults=True), **more})
