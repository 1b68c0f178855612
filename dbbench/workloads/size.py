"""What the data cost on disk, as the harness measures it, and all else that an engine keeps there."""

import os
from collections.abc import Mapping
from dataclasses import replace

from dbbench.datasets.compressed import too_few, too_few_of_records, too_few_of_vectors
from dbbench.engine.offered import prepared
from dbbench.engine.size import Size
from dbbench.engine.sql.dialect import RECORD_TABLE
from dbbench.errors import WrongAnswer
from dbbench.host import page_cache
from dbbench.loadgen.loops import timed
from dbbench.results.facts import StepFacts
from dbbench.suite.steps.size import SizeStep
from dbbench.workloads import after
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.ondisk import Kind, by_kind, on_disk, summed


def measure(step: SizeStep, context: StepContext) -> StepMeasurement:
    """Apparent bytes that the data cost, after a flush; the other parts, and the size before it, in the facts."""
    before = on_disk(context.engine)
    compaction: StepFacts = {"compact_seconds": _compact(context)} if step.compact else {}
    flush, _ = timed(context.engine.flush)
    size = on_disk(context.engine)
    expected = context.data.expected_records
    elsewhere = [file for file in size.files if os.path.isabs(file.name)]
    shares = _counted(context, size)
    facts: StepFacts = {
        "before_flush": before.total,
        "flush_seconds": flush / 1e9,
        **compaction,
        "index": size.index,
        "size_parts": shares,
        "heap": size.heap,
        "rows": sum(context.data.rows.values()) + expected.next - expected.first + sum(map(len, expected.further)),
        "files": [
            {"name": file.name, "part": file.role, "apparent": file.apparent, "allocated": file.allocated}
            for file in (*summed(file for file in size.files if file not in elsewhere), *elsewhere)
        ],
    }
    if elsewhere:
        facts["outside"] = {"bytes": sum(file.apparent for file in elsewhere), "files": [f.name for f in elsewhere]}
    return StepMeasurement("data size", "B", [float(_cost(shares))], facts=facts)


def _compact(context: StepContext) -> float:
    """Seconds of the engine's own compaction. It is opened anew then, since its file may be another one by now."""
    with context.base_session() as (engine, session):
        compact = prepared(engine, session, "compact")(list(context.tables) or [RECORD_TABLE])
        nanoseconds, _ = timed(compact)
    if not context.engine.url and page_cache.present(context.engine.directory):
        context.restart(lambda: None)
    return nanoseconds / 1e9


def _too_few(context: StepContext, total: int) -> int:
    """Return the fewest bytes that what is left of the data could take, if `total` is less; else 0."""
    if context.engine.url or not context.does_work:
        return 0
    data = context.data
    if context.records:
        expected = data.expected_records
        count = expected.next - expected.first + sum(map(len, expected.further))
        return too_few_of_records(context.records, count, total)
    if context.vectors:
        return too_few_of_vectors(context.files, data.rows.get("vectors", 0), total)
    return too_few(context.files, data.untouched, total, data.absent)


def _counted(context: StepContext, size: Size) -> dict[str, int]:
    """Parts of a size. Where new pages alone can't hold what was loaded, those that were there count, then logs, too.

    Few rows fit into what an empty database has; or somebody has made that large, or calls the data a log.
    """
    found = parts(size, context.empty)
    if _too_few(context, _cost(found)):
        found = parts(size, {})
    if _too_few(context, _cost(found)):
        files = (replace(file, role="journal") if file.role == "reserved" else file for file in size.files)
        found = parts(replace(size, files=tuple(files)), {})
    return found


def _cost(shares: Mapping[str, int]) -> int:
    return sum(shares.values()) - shares["reserved"] - shares["empty"]


def parts(size: Size, empty: Mapping[Kind, int]) -> dict[str, int]:
    """Bytes of a size by what they are for; they add up to its total. `empty` has those of the database without tables.

    Whatever wasn't there then and isn't reserved is what the data cost: data, indexes, journal, other.
    """
    cost: dict[str, int] = {}
    for kind, count in by_kind(size.files).items():
        old = 0 if kind[0] == "reserved" else min(count, empty.get(kind, 0))
        cost[kind[0]] = cost.get(kind[0], 0) + count - old
    reserved, data = cost.pop("reserved", 0), cost.pop("data", 0)
    if size.index is None:
        cost["both"] = data
    else:
        cost["index"] = min(size.index, data)
        cost["data"] = data - cost["index"]
    return {**cost, "reserved": reserved, "empty": size.total - reserved - sum(cost.values())}


def check(step: SizeStep, context: StepContext) -> None:
    """A database has a size that its rows can have, and a compaction leaves them what they were. Raises WrongAnswer."""
    total = on_disk(context.engine).total
    if total == 0 and any(context.data.rows.values()):
        raise WrongAnswer("no bytes on disk, though rows were loaded")
    if least := _too_few(context, total):
        raise WrongAnswer(f"{total:,} bytes on disk for data that take {least:,} or more, however well compressed")
    if step.compact and (wrong := after.compared(context, [step.name], {})):
        raise WrongAnswer(f"after the compaction: {'; '.join(wrong.values())}")
