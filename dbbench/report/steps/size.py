"""A size in words."""

from __future__ import annotations

from dataclasses import replace

from dbbench.analysis.footprint import Footprint
from dbbench.analysis.units import Unit, fitting
from dbbench.report import step_view
from dbbench.report.step_view import StepView
from dbbench.suite.steps.size import SizeStep

#: The further figures of a size.
SIZES = ("allocated", "before flush", "flush took", "per row", "of CSV", "written")
#: Those of records: kilobytes for 1,000 of them.
RECORD_SIZES = ("allocated", "before flush", "flush took", "disk/1,000", "written", "memory/1,000")
#: After those, where the memory of an engine has a collector.
HEAP = "heap/1,000"


class Wording(step_view.Wording[SizeStep]):
    """A size, with what lies behind it."""

    def detailed(self, step: SizeStep, view: StepView) -> StepView:
        """The parts of each size, and what was written for it."""
        data, lines = view.data, []
        names: tuple[str, ...] = RECORD_SIZES if data.records else SIZES
        if with_heap := any(found.heap is not None for found in view.footprints.values()):
            names += (HEAP,)
        for line in view.lines:
            engine = line.row.engine
            found = view.footprints.get(engine)
            if found:
                memory = data.memory.get(engine)
                cells = _of_records(found, view.unit, data.each(memory)) if data.records else _of_rows(found, view.unit)
                if with_heap:
                    cells += (data.each(found.heap),)
                line = replace(line, details=cells)  # noqa: PLW2901
            lines.append(line)
        return replace(view, lines=tuple(lines), details=names)

    def details_note(self, step: SizeStep, view: StepView) -> str:
        """What was written, and for what."""
        written = "Written: bytes that the process wrote since the size before, for each byte that it was given"
        if view.data.records:
            heap = "; heap: what a runtime's collector counts as used, after a collection" * (HEAP in view.details)
            return (
                f"{written} as keys and values. For 1,000 records: disk, and the trial's peak memory above the null "
                f"engine's{heap}."
            )
        return f"{written} as CSV."


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
