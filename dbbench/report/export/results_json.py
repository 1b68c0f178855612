"""results.json: a run with all rows, ratios and ranks, for other programs. Its shape is in `results_document`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dbbench.analysis.footprint import Footprint
from dbbench.analysis.resources import Resources
from dbbench.analysis.row import Row
from dbbench.analysis.standings import Standing
from dbbench.host import atomic_json
from dbbench.report.export.exporter import Exporter
from dbbench.report.export.results_document import (
    Growth,
    Interval,
    Overall,
    Ratio,
    ResultRow,
    ResultScenario,
    ResultsDocument,
    ResultStep,
    SystemUnderTest,
    Used,
)
from dbbench.report.remarks import notes, unsteady, worded
from dbbench.report.run_view import ScenarioView, View


def write(shown: View, _stems: Sequence[str] = ()) -> Path:
    """Write it into the view's folder."""
    path = shown.folder / "results.json"
    atomic_json.write(path, document(shown).model_dump(mode="json"))
    return path


def document(shown: View) -> ResultsDocument:
    """A run as its view has it, which has no figure that is withheld."""
    manifest = shown.run.manifest
    return ResultsDocument(
        dbbench=manifest.dbbench,
        suite=shown.run.suite.name,
        created=manifest.created,
        scale=manifest.scale,
        seed=manifest.seed,
        rounds=manifest.rounds,
        published=shown.published,
        stopped=shown.stopped,
        machine=manifest.machine,
        datasets=manifest.datasets,
        notes=(*shown.remarks, *shown.warnings),
        systems=tuple(
            SystemUnderTest(
                engine=system.name,
                title=system.title,
                versions=system.versions,
                settings=system.settings,
                license=system.license,
            )
            for system in shown.systems
        ),
        not_run=dict(shown.missing),
        scenarios=tuple(_scenario(scenario, shown) for scenario in shown.scenarios),
    )


def _scenario(scenario: ScenarioView, shown: View) -> ResultScenario:
    name = scenario.scenario.name
    return ResultScenario(
        name=name,
        durability=scenario.scenario.durability,
        overall=tuple(_standing(standing, scenario) for standing in scenario.standings),
        used=tuple(_used(used, scenario) for used in scenario.resources),
        steps=tuple(
            ResultStep(
                name=step.step.name,
                title=step.step.title,
                rows=tuple(
                    _row(row, step.footprints.get(row.engine))
                    for row in shown.rows
                    if (row.scenario, row.step) == (name, step.step.name)
                ),
            )
            for step in scenario.steps
        ),
    )


def _standing(standing: Standing, scenario: ScenarioView) -> Overall:
    if standing.engine in scenario.withheld:
        return Overall(engine=standing.engine, withheld=True, mean_ratio=None, interval=None)
    return Overall(
        engine=standing.engine,
        withheld=False,
        mean_ratio=standing.mean_ratio,
        interval=_interval(standing.low, standing.high),
    )


def _used(used: Resources, scenario: ScenarioView) -> Used:
    withheld = used.engine in scenario.withheld
    return Used(
        engine=used.engine,
        withheld=withheld,
        peak_memory=None if withheld else used.peak_memory,
        cpu_seconds=None if withheld else used.cpu_seconds,
        written_bytes=None if withheld else used.written_bytes,
        remarks=() if withheld else tuple(map(worded, used.remarks)),
    )


def _row(row: Row, found: Footprint | None) -> ResultRow:
    """A withheld row has no figure in it (see `publication`). `found` is its footprint, if it is of a size."""
    ratio = row.ratio and Ratio(value=row.ratio.value, interval=_interval(row.ratio.low, row.ratio.high))
    return ResultRow.model_validate(
        {
            "engine": row.engine, "title": row.title, "outcome": row.outcome, "ranked": row.ranked,
            "verified": row.checked, "withheld": row.withheld, "detail": "; ".join(notes(row)), "unsteady": unsteady(row),
            "metric": row.metric, "unit": row.unit, "direction": row.direction,
            "rank": str(row.rank) if row.rank else None,
            "rank_best": row.rank.best if row.rank else None,
            "rank_worst": row.rank.worst if row.rank else None,
            "value": row.value, "interval": _interval(row.low, row.high), "blocks": row.trial_means,
            "ratio": ratio, "harness_share": row.harness_share, "size_parts": row.kept_size_parts or None,
            "growth": _growth(found), "compact_seconds": row.compact_seconds,
        }
    )  # fmt: skip


def _growth(found: Footprint | None) -> Growth | None:
    if found is None or found.grown is None:
        return None
    return Growth(bytes=found.grown, share=found.grown_share, bytes_per_added_row=found.per_added_row)


def _interval(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else (low, high)


EXPORTER = Exporter("json", write, always=True)
