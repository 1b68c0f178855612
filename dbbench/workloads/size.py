"""The size of everything that an engine keeps on disk."""

from __future__ import annotations

from dataclasses import asdict

from dbbench.errors import WrongAnswer
from dbbench.measure import timed
from dbbench.suite import SizeStep
from dbbench.workloads.bench import Bench, Measured


def measure(step: SizeStep, bench: Bench) -> Measured:
    """Apparent bytes of all files after a flush; before it, in the facts."""
    before = bench.engine.size()
    flush, _ = timed(bench.engine.flush)
    size = bench.engine.size()
    held = bench.held
    facts = {
        "before_flush": before.total,
        "flush_seconds": flush / 1e9,
        "index": size.index,
        "rows": sum(bench.rows.values()) + held.next - held.first + sum(map(len, held.further)),
        "files": [asdict(file) for file in size.files],
    }
    return Measured("size", "B", [float(size.total)], facts=facts)


def check(step: SizeStep, bench: Bench) -> None:
    """A database with rows in it has a size. Raises WrongAnswer."""
    if bench.engine.size().total == 0 and any(bench.rows.values()):
        raise WrongAnswer("no bytes on disk, though rows were loaded")
