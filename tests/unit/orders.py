"""Orders of trials as a runner leaves them, for a supervisor or a worker in this process."""

from pathlib import Path
from typing import Any

from dbbench.datasets.cache import materialise
from dbbench.results.trial import Trial
from dbbench.runs.order import TrialOrder, WorkerProcess
from dbbench.suite.loader import parse_suite
from dbbench.testing.suite_text import suite_text

SUITE = suite_text("a", "records: {count: 50, key_bytes: 16, value_bytes: 16}", "")
FILL = "kind: keyvalue, name: fill, title: Fill, operation: insert"


def order(folder: Path, *steps: str, **process: Any) -> TrialOrder:
    """Leave the order of a trial of the null engine in a folder. `steps` are as in a suite."""
    suite = parse_suite(SUITE + "".join(f"      - {{{step}}}\n" for step in steps or (FILL,)), "s.yaml")
    (scenario,) = suite.scenarios
    made = TrialOrder(
        trial=Trial("1", "a", "null", 1),
        plugin="null",
        rounds=2,
        steps=tuple(step.name for step in scenario.steps),
        copied=tuple(step.name for step in scenario.steps if step.writes),
        scenario=scenario,
        dataset=suite.datasets["a"],
        files=materialise(suite.datasets["a"]).directory,
        answers={},
        run=folder,
        options={},
        process=WorkerProcess(**{"work": str(folder / "work"), "seconds": 60, "memory": 2**40, **process}),
    )
    made.write(folder)
    return made
