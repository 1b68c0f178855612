"""The further figures of a step: how its calls were spread, or what lies behind a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbbench.analysis.contention import Fared, fared
from dbbench.analysis.footprint import Footprint, footprint
from dbbench.analysis.parts import LoadParts, load_parts, parts
from dbbench.analysis.spread import TAIL, Spread, spread
from dbbench.analysis.units import Unit, fitting
from dbbench.facts import PARTS, SHOWN
from dbbench.report.steps import Line, StepView, yardstick
from dbbench.store import TrialResult
from dbbench.suite import ContentionStep, KeyValueStep, MixStep, ObjectStep, StatementStep

#: The further figures of a step of many clients.
CLIENTS = ("p50", "p99", "max", "clients", "fastest", "slowest", "fairness", "retries", "counted")
#: The further figures of a load: its parts, and beside them what making the rows for the driver took, off the clock.
LOADS = ("insert", "indexes", "statistics", "commit")
MAKING = "(rows made)"
#: The further figures of a size.
SIZES = ("allocated", "before flush", "flush took", "per row", "of CSV", "written")
#: Those of records: kilobytes for 1,000 of them.
RECORD_SIZES = ("allocated", "before flush", "flush took", "disk/1,000", "written", "memory/1,000")


def detailed(view: StepView, results: Sequence[TrialResult]) -> StepView:
    """A step with the further figures of its lines, where it has some."""
    if isinstance(view.step, StatementStep):
        return _with_percentiles(view, view.step)
    if isinstance(view.step, KeyValueStep | MixStep):
        return _with_yardstick(_with_tails(view))
    if isinstance(view.step, ContentionStep):
        return _with_clients(view)
    if isinstance(view.step, ObjectStep):
        return _with_parts(view)
    if view.step.kind == "load":
        return _with_load_parts(view)
    return _with_sizes(view, results) if view.step.kind == "size" else view


def _with_percentiles(view: StepView, step: StatementStep) -> StepView:
    """A step of many calls with how they were spread, where that says more than the mean."""
    found = {line.row.engine: known for line in view.lines if (known := spread(line.row.rounds)) is not None}
    several = step.rate is not None or step.clients.count > 1
    if not several and not any(any(each.percentiles[1:]) for each in found.values()):
        return view
    columns = (*SHOWN, "max", "calls/s", *(("service", "late") if step.rate else ()))
    lines = tuple(
        replace(line, details=_spread(known, view.unit)) if (known := found.get(line.row.engine)) else line
        for line in view.lines
    )
    return replace(view, lines=lines, details=columns if found else ())


def _spread(found: Spread, unit: Unit) -> tuple[str, ...]:
    """In words: percentiles where there are calls enough, then the rest."""
    percentiles = ["–" if value is None else unit.figure(value) for value in found.percentiles]
    cells = (*percentiles, unit.figure(found.greatest), Unit(1, "").figure(found.per_second))
    return (*cells, unit.figure(found.service), f"{found.late:,} of {found.due:,}") if found.due is not None else cells


def _with_tails(view: StepView) -> StepView:
    """A step of operations on records with the percentiles of its calls, by operation where there are several."""
    operations = list(dict.fromkeys(name for line in view.lines for name in line.tails))
    if not operations:
        return view
    several = len(operations) > 1
    picked = (0, 2) if several else range(len(TAIL) + 1)
    names = (*TAIL, "max")
    columns = tuple(f"{name} {names[at]}" if several else names[at] for name in operations for at in picked)

    def cells(line: Line) -> tuple[str, ...]:
        points = [line.tails[name].points[at] if name in line.tails else None for name in operations for at in picked]
        return tuple("–" if point is None else fitting("s", [point]).text(point) for point in points)

    lines = tuple(replace(line, details=cells(line)) if line.tails else line for line in view.lines)
    return replace(view, lines=lines, details=columns)


def _with_clients(view: StepView) -> StepView:
    """A step of many clients with how they fared: their iterations, how alike they were served, retries, and counts."""
    lines = []
    for line in view.lines:
        found = fared(line.row.rounds)
        lines.append(line if found is None else replace(line, details=_fared(found, line)))
    columns: tuple[str, ...] = CLIENTS if any(line.details for line in lines) else ()
    if all(line.details[-1:] in ((), ("–",)) for line in lines):  # no system here counts by itself
        columns, lines = columns[:-1], [replace(line, details=line.details[:-1]) for line in lines]
    return replace(view, lines=tuple(lines), details=columns)


def _fared(found: Fared, line: Line) -> tuple[str, ...]:
    """In words, in the order of CLIENTS."""
    tail = next(iter(line.tails.values()), None)
    points = [tail.percentiles[0], tail.percentiles[2], tail.greatest] if tail else [None, None, None]
    cells = ["–" if point is None else fitting("s", [point]).text(point) for point in points]
    told = [
        "–" if name not in found.counted else f"{found.counted[name]:,}" for name in ("inserts", "updates", "deletes")
    ]
    retries = ", ".join(f"{count:,} {reason}" for reason, count in sorted(found.retries.items())) or "0"
    return (
        *cells,
        f"{found.processes} × {found.threads}",
        *(fitting("s", [seconds]).text(seconds) for seconds in (found.fastest, found.slowest)),
        f"{found.jain:.3f}",
        retries,
        "/".join(told) if found.counted else "–",
    )


def _with_yardstick(view: StepView) -> StepView:
    """A step with each figure as a multiple of the yardstick's, before all others; if the scenario has one that ran."""
    multiples = [yardstick(view, line) for line in view.lines]
    if not any(multiples):
        return view
    others = ("–",) * len(view.details)
    lines = tuple(
        replace(line, details=(multiple or "–", *(line.details or others)))
        for line, multiple in zip(view.lines, multiples, strict=True)
    )
    return replace(view, lines=lines, details=(f"of {view.scenario.yardstick}", *view.details))


def _with_parts(view: StepView) -> StepView:
    """A step that loads objects with where the time of one goes, and what happens once."""
    lines = []
    for line in view.lines:
        found = parts(line.row.value, line.row.rounds)
        if found is not None:
            cells = [view.unit.figure(found.parts[name]) if name in found.parts else "–" for name in PARTS]
            once = [fitting("s", [seconds]).text(seconds) for seconds in (found.connect, found.prepare)]
            lines.append(replace(line, details=(*cells, *once)))
        else:
            lines.append(line)
    there = any(line.details for line in lines)
    return replace(view, lines=tuple(lines), details=(*PARTS, "connect", "prepare") if there else ())


def _with_load_parts(view: StepView) -> StepView:
    """A load with its parts, which add up to its figure, and with the making of its rows, which is not in it."""
    found = {line.row.engine: known for line in view.lines if (known := load_parts(line.row)) is not None}
    there = [name for name in LOADS if any(name in known.parts for known in found.values())]
    if not there:
        return view

    def cells(known: LoadParts) -> tuple[str, ...]:
        told = [view.unit.figure(known.parts[name]) if name in known.parts else "–" for name in there]
        return (*told, view.unit.figure(known.making))

    lines = tuple(
        replace(line, details=cells(known)) if (known := found.get(line.row.engine)) else line for line in view.lines
    )
    return replace(view, lines=lines, details=(*there, MAKING))


def _with_sizes(view: StepView, results: Sequence[TrialResult]) -> StepView:
    """A size step with what lies behind each size."""
    data, lines = view.data, []
    for line in view.lines:
        engine = line.row.engine
        found = footprint(view.scenario, view.step.name, engine, line.row.title, results, data.csv_bytes)
        if found:
            memory = data.memory.get(engine)
            cells = _of_records(found, view.unit, data.each(memory)) if data.records else _of_rows(found, view.unit)
            line = replace(line, details=cells)  # noqa: PLW2901
        lines.append(line)
    return replace(view, lines=tuple(lines), details=RECORD_SIZES if data.records else SIZES)


def _of_rows(found: Footprint, unit: Unit) -> tuple[str, ...]:
    """A footprint in words, in the order of SIZES."""
    row = "–" if found.per_row is None else f"{found.per_row:,.1f} B"
    return (unit.text(found.allocated), *_flush(found, unit), row, _times(found.csv_ratio), _times(found.amplification))


def _of_records(found: Footprint, unit: Unit, memory: str) -> tuple[str, ...]:
    """The same in the order of RECORD_SIZES. As many kilobytes for 1,000 records as bytes for one."""
    disk = "–" if found.per_row is None else f"{Unit(1, '').figure(found.per_row)} kB"
    return (unit.text(found.allocated), *_flush(found, unit), disk, _times(found.amplification), memory)


def _flush(found: Footprint, unit: Unit) -> tuple[str, str]:
    """The size before the flush, and how long that took."""
    before = "–" if found.before_flush is None else unit.text(found.before_flush)
    seconds = found.flush_seconds
    return before, "–" if seconds is None else fitting("s", [seconds]).text(seconds)


def _times(share: float | None) -> str:
    return "–" if share is None else f"×{share:.2f}"
