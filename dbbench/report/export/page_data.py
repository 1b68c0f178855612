"""The data of the page's script: a run's figures in a compact form."""

import json
from collections.abc import Collection
from typing import Any

from dbbench.analysis.ranking import Rank
from dbbench.report.charts.palette import engine_order
from dbbench.report.remarks import unsteady
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import StepView


def page_data(shown: View) -> str:
    """The figures as JSON that is safe in a `<script>`: it has no `<`, `>` or `&`. Nothing withheld is in it."""
    text = json.dumps(_document(shown), separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def place(scenario: ScenarioView, step: str = "") -> str:
    """The id of a heading on the page."""
    return f"{scenario.scenario.name}.{step}" if step else f"in-{scenario.scenario.name}"


def _document(shown: View) -> dict[str, Any]:
    titles = {item.engine: item.title for scenario in shown.scenarios for item in scenario.standings}
    versions = {system.engine: system.versions for system in shown.systems}
    numbers = {name: number for number, name in enumerate(engine_order(shown))}
    return {
        **({"sort": shown.sort} if shown.sort else {}),
        **({"mixed": True} if shown.mixed else {}),
        "engines": [[name, titles[name], versions.get(name, "")] for name in numbers],
        "scenarios": [_scenario(scenario, shown, numbers) for scenario in shown.scenarios],
    }


def _scenario(scenario: ScenarioView, shown: View, numbers: dict[str, int]) -> dict[str, Any]:
    sizes = scenario.sizes
    return {
        "id": place(scenario),
        "steps": [_step(step, scenario, shown, numbers) for step in scenario.steps],
        "used": [
            [numbers[used.engine], *(_short(value) for value in (
                used.peak_memory, used.cpu_seconds, used.written_bytes, sizes.get(used.engine)))]
            for used in scenario.resources
            if used.engine in numbers and used.engine not in scenario.withheld
        ],
    }  # fmt: skip


def _step(step: StepView, scenario: ScenarioView, shown: View, numbers: dict[str, int]) -> dict[str, Any]:
    size, axis = step.unit.size, scenario.axis(step.step.name)
    # Where none that is shown was verified, but maybe one that is withheld, nobody has a mean.
    meanless = step.withheld and not any(line.row.verified and not line.withheld for line in step.lines)
    otherwise = shown.otherwise.get((scenario.scenario.name, step.step.name), {})
    return {
        "id": place(scenario, step.step.name),
        "name": step.step.name,
        "title": step.step.title,
        "unit": step.unit.symbol if step.unit.symbol.startswith("/") else f" {step.unit.symbol}",
        "higher": step.higher,
        **({"withheld": True} if step.withheld else {}),
        **({"held": True} if meanless else {}),
        "interval": step.interval,
        # What counts for the mean over steps: times and rates that were verified for some engine, without a mix's fill.
        "mean": step.step.unit != "B"
        and step.step.name not in scenario.fills
        and any(line.row.verified for line in step.lines),
        "log": axis == "logarithmic",
        "auto": axis == "auto",
        # Engines whose Arrow batches are ranked with rows only if the reader wants it, and what is shown to be better
        # if so.
        **(
            {
                "arrow": [numbers[line.row.engine] for line in step.lines if line.arrow],
                "other": {
                    numbers[name]: _better(row.rank, row.better, numbers)
                    for name, row in otherwise.items()
                    if name in numbers
                },
            }
            if otherwise
            else {"arrow": arrow}  # as where a figure is withheld: the reader has no choice
            if (arrow := [numbers[line.row.engine] for line in step.lines if line.arrow and line.row.apart])
            else {"elsewhere": elsewhere}  # by servers at a URL of their own size
            if step.counted and (elsewhere := [numbers[line.row.engine] for line in step.lines if line.row.at_url])
            else {}
        ),
        "rows": [
            [
                numbers[line.row.engine],
                _short(line.row.value, size),
                _short(line.row.low, size),
                _short(line.row.high, size),
                line.rank
                if step.withheld or (known := _better(line.row.rank, line.row.better, numbers)) is None
                else known,
                unsteady(line.row) if line.row.value is not None else line.value,
                line.row.verified,
                len(line.row.trial_means) if line.row.unit != "B" else 0,
            ]
            for line in (*step.best_first, *step.failed)
            if line.row.engine in numbers
        ],
    }


def _better(rank: Rank | None, better: Collection[str], numbers: dict[str, int]) -> list[int] | None:
    """The engines that are shown to be better, from which the script makes ranks; None if it can't."""
    if rank is None or rank.best != len(better) + 1:
        return None
    return sorted(numbers[engine] for engine in better)


def _short(value: float | None, size: float = 1.0) -> float | None:
    """A figure with digits to spare: the script rounds it to three, and to round twice may give another figure."""
    if value is None:
        return None
    short = float(f"{value / size:.7g}")
    return int(short) if short == int(short) else short
