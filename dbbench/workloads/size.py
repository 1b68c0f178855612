"""The size of everything that an engine keeps on disk, as the harness measures it."""

from __future__ import annotations

import os

from dbbench.errors import WrongAnswer
from dbbench.loadgen.loops import timed
from dbbench.results.facts import StepFacts
from dbbench.suite.steps.size import SizeStep
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.ondisk import on_disk


def measure(step: SizeStep, context: StepContext) -> StepMeasurement:
    """Apparent bytes of all files after a flush; before it, in the facts."""
    before = on_disk(context.engine)
    flush, _ = timed(context.engine.flush)
    size = on_disk(context.engine)
    expected = context.data.expected_records
    facts: StepFacts = {
        "before_flush": before.total,
        "flush_seconds": flush / 1e9,
        "index": size.index,
        "heap": size.heap,
        "rows": sum(context.data.rows.values()) + expected.next - expected.first + sum(map(len, expected.further)),
        "files": [
            {"name": file.name, "part": file.role, "apparent": file.apparent, "allocated": file.allocated}
            for file in size.files
        ],
    }
    if elsewhere := [file for file in size.files if os.path.isabs(file.name)]:
        facts["outside"] = {"bytes": sum(file.apparent for file in elsewhere), "files": [f.name for f in elsewhere]}
    return StepMeasurement("size", "B", [float(size.total)], facts=facts)


def check(step: SizeStep, context: StepContext) -> None:
    """A database with rows in it has a size. Raises WrongAnswer."""
    if on_disk(context.engine).total == 0 and any(context.data.rows.values()):
        raise WrongAnswer("no bytes on disk, though rows were loaded")
