"""results.json: a run with all rows, ratios and ranks, for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbbench.analysis.resources import Resources
from dbbench.analysis.row import Row
from dbbench.analysis.standings import Standing
from dbbench.analysis.statistics import Estimate
from dbbench.host import atomic_json
from dbbench.report.export.exporter import Exporter
from dbbench.report.run_view import ScenarioView, View


def write(shown: View, _stems: Sequence[str] = ()) -> Path:
    """Write it into the view's folder. Times in seconds, sizes in bytes, rates by second."""
    path = shown.folder / "results.json"
    atomic_json.write(path, document(shown))
    return path


def document(shown: View) -> dict[str, Any]:
    """A run as its view has it, which has no figure that is withheld."""
    manifest = shown.run.manifest
    return {
        "dbbench": manifest.dbbench,
        "suite": shown.run.suite.name,
        "created": manifest.created.isoformat(),
        "scale": manifest.scale,
        "seed": manifest.seed,
        "rounds": manifest.rounds,
        "stopped": shown.stopped,
        "machine": manifest.machine,
        "datasets": manifest.datasets,
        "notes": [*shown.remarks, *shown.warnings],
        "systems": [
            {"engine": system.name, "title": system.title, "versions": system.versions, "settings": system.settings,
             "license": system.license}
            for system in shown.systems
        ],
        "not_run": dict(shown.missing),
        "scenarios": [_scenario(scenario, shown) for scenario in shown.scenarios],
    }  # fmt: skip


def _scenario(scenario: ScenarioView, shown: View) -> dict[str, Any]:
    name = scenario.scenario.name
    return {
        "name": name,
        "durability": scenario.scenario.durability,
        "overall": [_standing(standing, scenario) for standing in scenario.standings],
        "used": [_used(used, scenario) for used in scenario.resources],
        "steps": [
            {
                "name": step.step.name,
                "title": step.step.title,
                "rows": [_row(row) for row in shown.rows if (row.scenario, row.step) == (name, step.step.name)],
            }
            for step in scenario.steps
        ],
    }


def _standing(standing: Standing, scenario: ScenarioView) -> dict[str, Any]:
    found = {
        "engine": standing.engine,
        "mean_ratio": standing.mean_ratio,
        "interval": None if standing.low is None else [standing.low, standing.high],
    }
    return {"engine": standing.engine, "withheld": True} if standing.engine in scenario.withheld else found


def _used(used: Resources, scenario: ScenarioView) -> dict[str, Any]:
    if used.engine in scenario.withheld:
        return {"engine": used.engine, "withheld": True}
    return {
        "engine": used.engine,
        "peak_memory": used.peak_memory,
        "cpu_seconds": used.cpu_seconds,
        "written_bytes": used.written_bytes,
        "remarks": used.remarks,
    }


def _row(row: Row) -> dict[str, Any]:
    known = {"engine": row.engine, "title": row.title, "outcome": row.outcome, "ranked": row.ranked}
    known["verified"] = row.checked
    if row.withheld:
        return {**known, "withheld": row.withheld}
    return {
        **known,
        "detail": row.remarks,
        "unsteady": row.unsteady,
        "metric": row.metric,
        "unit": row.unit,
        "direction": row.direction,
        "rank": str(row.rank) if row.rank else None,
        "rank_best": row.rank.best if row.rank else None,
        "rank_worst": row.rank.worst if row.rank else None,
        "value": row.value,
        "interval": None if row.low is None else [row.low, row.high],
        "blocks": row.trial_means,
        "ratio": None if row.ratio is None else _estimate(row.ratio),
        "harness_share": row.harness_share,
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "interval": None if found.low is None else [found.low, found.high]}


EXPORTER = Exporter("json", write, usual=False, published=True)
