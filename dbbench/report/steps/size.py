"""A size in words."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from dbbench.analysis.footprint import Footprint
from dbbench.analysis.units import Unit, amount
from dbbench.report import step_view
from dbbench.report.step_view import StepView
from dbbench.suite.steps.size import SizeStep

#: What is on disk besides the figure, where the run kept the parts of its sizes.
PARTS = ("total on disk", "log reserved", "empty")
#: The further figures of a size.
SIZES = ("allocated", "before flush", "flush took", "per row", "of CSV", "written")
#: Those of records: kilobytes for 1,000 of them.
RECORD_SIZES = ("allocated", "before flush", "flush took", "disk/1,000", "written", "memory/1,000")
#: By how much the data cost more than at the size before, and what each row or record that was added since then costs.
GROWN, ADDED = "grown", "per added row"
#: What the engine's own compaction took.
COMPACTED = "compaction took"
#: After those, where the memory of an engine has a collector.
HEAP = "heap/1,000"


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
        data, lines = view.data, []
        names: tuple[str, ...] = (
            RECORD_SIZES if data.records else tuple(name.replace("CSV", data.form) for name in SIZES)
        )
        if view.in_parts:
            names = (*PARTS, *names)
        further = {name: word for name, word in _FURTHER.items() if any(map(word, view.footprints.values()))}
        names += tuple(further)
        if with_heap := any(found.heap is not None for found in view.footprints.values()):
            names += (HEAP,)
        for line in view.lines:
            engine = line.row.engine
            found = view.footprints.get(engine)
            if found:
                memory = data.memory.get(engine)
                cells = _of_records(found, view.unit, data.each(memory)) if data.records else _of_rows(found, view.unit)
                if view.in_parts:
                    cells = (*(amount("B", part) for part in (found.total, found.reserved, found.empty)), *cells)
                cells += tuple(word(found) or "–" for word in further.values())
                if with_heap:
                    cells += (data.each(found.heap),)
                line = replace(line, details=cells)  # noqa: PLW2901
            lines.append(line)
        return replace(view, lines=tuple(lines), details=names)

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


def _of_rows(found: Footprint, unit: Unit) -> tuple[str, ...]:
    """A footprint in words, in the order of SIZES."""
    row = "–" if found.per_row is None else f"{found.per_row:,.1f} B"
    return (unit.text(found.allocated), *_flush(found), row, _times(found.csv_ratio), _times(found.amplification))


def _of_records(found: Footprint, unit: Unit, memory: str) -> tuple[str, ...]:
    """The same in the order of RECORD_SIZES. As many kilobytes for 1,000 records as bytes for one."""
    disk = "–" if found.per_row is None else f"{Unit(1, '').figure(found.per_row)} kB"
    return (unit.text(found.allocated), *_flush(found), disk, _times(found.amplification), memory)


def _flush(found: Footprint) -> tuple[str, str]:
    """The size before the flush, and how long that took."""
    return amount("B", found.before_flush), amount("s", found.flush_seconds)


def _grown(found: Footprint) -> str:
    if found.grown is None:
        return ""
    sign = "+" if found.grown > 0 else "−" if found.grown < 0 else ""
    share = "" if found.grown_share is None else f" ({sign}{abs(found.grown_share):.1%})"
    return f"{sign}{amount('B', abs(found.grown))}{share}"


def _added(found: Footprint) -> str:
    return "" if found.per_added_row is None else f"{found.per_added_row:,.1f} B"


def _compacted(found: Footprint) -> str:
    return "" if found.compact_seconds is None else amount("s", found.compact_seconds)


#: Figures that not every size has -> how they are worded; empty where one has none.
_FURTHER: Mapping[str, Callable[[Footprint], str]] = {GROWN: _grown, ADDED: _added, COMPACTED: _compacted}


def _times(share: float | None) -> str:
    return "–" if share is None else f"×{share:.2f}"
