"""A size in words."""

from dbbench.analysis.footprint import Footprint
from dbbench.analysis.units import Unit, amount
from dbbench.report import step_view
from dbbench.report.step_view import Line, StepView
from dbbench.suite.steps.size import SizeStep

#: By how much the data cost more than at the size before; and what the memory holds of an engine with a collector.
GROWN, HEAP = "grown", "heap/1,000"

_PARTS_NOTE = (
    "Ranked is what the data cost: all files after a flush, less the log reserved for later writes and less what an "
    "empty database takes. "
)
_TOTAL_NOTE = "This run kept no parts of sizes: ranked is the total of all files, logs included. "


class Wording(step_view.Wording[SizeStep]):
    """A size, with what lies behind it."""

    def work(self, step: SizeStep) -> str:
        """Whether the engine compacts before it."""
        return "after the engine's own compaction" if step.compact else ""

    def detailed(self, step: SizeStep, view: StepView) -> StepView:
        """The parts of each size, and what was written for it."""
        return view.with_details(lambda line: _cells(view, line))

    def details_note(self, step: SizeStep, view: StepView) -> str:
        """What the parts are; what was written, and for what."""
        written = _PARTS_NOTE if view.in_parts else _TOTAL_NOTE
        if GROWN in view.details:
            written += "Grown: what the data cost more than at the size before. "
        written += "Written: write amplification, the bytes written since the size before per byte of data"
        if view.data.records:
            heap = "; heap: what a runtime's collector counts as used, after a collection" * (HEAP in view.details)
            return (
                f"{written} as keys and values. For 1,000 records: disk, and the trial's peak memory above the null "
                f"engine's{heap}."
            )
        return f"{written} as {view.data.form}."


def _cells(view: StepView, line: Line) -> dict[str, str]:
    """A footprint in words. As many kilobytes for 1,000 records as bytes for one."""
    found = view.footprints.get(line.row.engine)
    if found is None:
        return {}
    data, cells = view.data, {}
    if view.in_parts:
        cells["total on disk"] = amount("B", found.total)
        cells["log reserved"] = amount("B", found.reserved)
        cells["empty"] = amount("B", found.empty)
    cells["allocated"] = view.unit.text(found.allocated)
    cells["before flush"] = amount("B", found.before_flush)
    cells["flush took"] = amount("s", found.flush_seconds)
    if data.records:
        cells["disk/1,000"] = "–" if found.per_row is None else f"{Unit(1, '').figure(found.per_row)} kB"
        cells["written"] = _times(found.amplification)
        cells["memory/1,000"] = data.each(data.memory.get(line.row.engine))
    else:
        cells["per row"] = "–" if found.per_row is None else f"{found.per_row:,.1f} B"
        cells[f"of {data.form}"] = _times(found.csv_ratio)
        cells["written"] = _times(found.amplification)
    cells[GROWN] = _grown(found)
    cells["per added row"] = "" if found.per_added_row is None else f"{found.per_added_row:,.1f} B"
    cells["compaction took"] = "" if found.compact_seconds is None else amount("s", found.compact_seconds)
    cells[HEAP] = "" if found.heap is None else data.each(found.heap)
    return cells


def _grown(found: Footprint) -> str:
    if found.grown is None:
        return ""
    sign = "+" if found.grown > 0 else "−" if found.grown < 0 else ""
    share = "" if found.grown_share is None else f" ({sign}{abs(found.grown_share):.1%})"
    return f"{sign}{amount('B', abs(found.grown))}{share}"


def _times(share: float | None) -> str:
    return "–" if share is None else f"×{share:.2f}"
