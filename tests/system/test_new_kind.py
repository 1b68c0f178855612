"""A new kind of step is three files of its own, and nothing else of dbbench is touched for it."""

import shutil
from pathlib import Path

import dbbench as dbbench_package
from tests.conftest import Dbbench, summary

NEW = {
    "suite/steps/count.py": '''\
"""A count."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from dbbench.suite.base import Identifier
from dbbench.suite.plain import Dangling, unknown_table
from dbbench.suite.steps.base import Step


class CountStep(Step):
    """The rows of a table, counted."""

    kind: Literal["count"]
    table: Identifier

    datasets = ("tables",)
    summable = True

    @property
    def required_operations(self) -> tuple[str, ...]:
        """A query."""
        return ("query",)

    @classmethod
    def dangling(
        cls, step: dict[Any, Any], tables: dict[Any, Any], before: Mapping[str, type[Step]]
    ) -> Iterator[Dangling]:
        """Its table."""
        return unknown_table(step.get("table"), tables, ("table",))
''',
    "workloads/count.py": '''\
"""A count."""

from dbbench.engine.offered import prepared
from dbbench.engine.sql.session import fetch
from dbbench.errors import WrongAnswer
from dbbench.loadgen.loops import timed
from dbbench.suite.steps.count import CountStep
from dbbench.workloads.context import StepMeasurement


def measure(step, context):
    """Seconds of one query."""
    run = prepared(context.engine, context.session, "query")(context.quoted(f"SELECT COUNT(*) FROM {step.table}"))
    nanoseconds, rows = timed(lambda: list(run()))
    return StepMeasurement("time", "s", [nanoseconds / 1e9], facts={"counted_rows": int(rows[0][0]) if rows else 0})


def check(step, context):
    """Compare with the rows that were loaded."""
    ((count,),) = fetch(context.session, context.quoted(f"SELECT COUNT(*) FROM {step.table}"))
    if count != context.data.rows[step.table]:
        raise WrongAnswer(f"{count} rows of {step.table}")
''',
    "report/steps/count.py": '''\
"""A count in words."""

from dbbench.report import step_view
from dbbench.suite.steps.count import CountStep


class Wording(step_view.Wording[CountStep]):
    """How many rows were counted."""

    def work(self, step):
        """Its table."""
        return f"rows of {step.table}"

    def conditions(self, step, facts, arrow, records):
        """The number of rows."""
        return f"{facts[0]['counted_rows']:,} rows counted by the engine." if facts else ""
''',
}  # fmt: skip

STEPS = """
      - {kind: load, name: load, title: Load}
      - {kind: count, name: count, title: Count, table: Child}
      - {kind: total, name: both, title: Both, of: [load, count]}
    charts: [{kind: bars}]
"""


def test_a_kind_added_in_three_files_is_checked_run_and_reported(dbbench: Dbbench, tmp_path: Path) -> None:
    package = tmp_path / "copy" / "dbbench"
    shutil.copytree(Path(dbbench_package.__path__[0]), package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in NEW.items():
        assert not (package / name).exists()
        (package / name).write_text(text, "utf-8")
    small = (Path(__file__).parents[1] / "unit" / "small.yaml").read_text("utf-8")
    head = small[: small.index("    steps:\n") + len("    steps:")]
    (tmp_path / "own.yaml").write_text(head + STEPS, "utf-8")
    (tmp_path / "wrong.yaml").write_text(head + STEPS.replace("table: Child", "table: Chld"), "utf-8")

    def run(*arguments: str) -> str:
        done = dbbench(*arguments, PYTHONPATH=str(package.parent))
        return f"{done.returncode} {done.stdout}{done.stderr}"

    assert "did you mean 'Child'" in run("check", "wrong.yaml")
    assert "2. count: Count (count)\n     rows of Child\n" in run("describe", "own.yaml")
    how = ("--rounds", "1", "--format", "csv,html", "--out", "run")
    assert run("suite", "own.yaml", "-e", "sqlite", *how).startswith("0 ")
    rows = summary(tmp_path / "run")
    assert rows["count", "sqlite"]["outcome"] == "ok"
    assert float(rows["both", "sqlite"]["value"]) > float(rows["count", "sqlite"]["value"]) > 0
    assert "100 rows counted by the engine." in (tmp_path / "run" / "report" / "index.html").read_text("utf-8")
