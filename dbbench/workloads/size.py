"""The size of everything that an engine keeps on disk, as the harness measures it."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from dbbench.errors import WrongAnswer
from dbbench.measure import timed
from dbbench.suite import SizeStep
from dbbench.workloads.bench import Bench, Measured
from dbbench.workloads.ondisk import on_disk


def measure(step: SizeStep, bench: Bench) -> Measured:
    """Apparent bytes of all files after a flush; before it, in the facts."""
    before = on_disk(bench.engine)
    flush, _ = timed(bench.engine.flush)
    size = on_disk(bench.engine)
    held = bench.held
    facts: dict[str, Any] = {
        "before_flush": before.total,
        "flush_seconds": flush / 1e9,
        "index": size.index,
        "rows": sum(bench.rows.values()) + held.next - held.first + sum(map(len, held.further)),
        "files": [asdict(file) for file in size.files],
    }
    if elsewhere := [file for file in size.files if os.path.isabs(file.name)]:
        facts["outside"] = {"bytes": sum(file.apparent for file in elsewhere), "files": [f.name for f in elsewhere]}
    return Measured("size", "B", [float(size.total)], facts=facts)


def check(step: SizeStep, bench: Bench) -> None:
    """A database with rows in it has a size. Raises WrongAnswer."""
    if on_disk(bench.engine).total == 0 and any(bench.rows.values()):
        raise WrongAnswer("no bytes on disk, though rows were loaded")
