"""A history as files: a page with its charts inside it, all of it as JSON, and what two well-known tools read.

`otava.csv` and `otava.yaml` are for Apache Otava, which looks for changes by its own method. `smaller-is-better.json`
and `bigger-is-better.json` have the newest run for the GitHub action "benchmark-action/github-action-benchmark" (tools
customSmallerIsBetter and customBiggerIsBetter).
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbbench.analysis.history import History, Series
from dbbench.host import atomic_json, plain_file
from dbbench.report.export.summary_csv import lines
from dbbench.report.history.words import change_lines, how, remarks, runs, step_name, summary
from dbbench.report.remarks import notes
from dbbench.report.templating import inline, render


def write(shown: History, folder: Path) -> list[Path]:
    """Write files for other programs and a page into the folder. Times in seconds, sizes in bytes, rates by second."""
    lower, higher = (
        [series for series in shown.series if series.direction == way and series.rows[-1]]
        for way in ("lower", "higher")
    )
    complete = [series for series in shown.series if all(series.rows)]
    texts = {
        "history.json": as_json(shown),
        "otava.csv": _otava_csv(shown, complete),
        "otava.yaml": _otava_yaml(shown, complete),
        "smaller-is-better.json": atomic_json.text([_bench(series, shown) for series in lower]),
        "bigger-is-better.json": atomic_json.text([_bench(series, shown) for series in higher]),
    }
    for name, text in texts.items():
        plain_file.write(folder / name, text.encode())
    return [*(folder / name for name in texts), *_page(shown, folder)]


def _page(shown: History, folder: Path) -> list[Path]:
    """Write index.html and a chart of each step, as SVG and PNG, those of the steps that changed first."""
    with contextlib.chdir("/"):  # matplotlib reads a matplotlibrc of the current folder
        from dbbench.report.charts.layout import save
        from dbbench.report.history.chart import step_chart

    changed = {(series.scenario, series.step) for series in shown.changed}
    steps = dict.fromkeys((series.scenario, series.step) for series in shown.series)
    charts, files = [], []
    for scenario, step in sorted(steps, key=lambda step: step not in changed):
        title = next(step_name(one, shown) for one in shown.series if (one.scenario, one.step) == (scenario, step))
        stem = folder / f"{scenario}-{step}"
        save(step_chart(shown, scenario, step), stem, ("svg", "png"))
        charts.append((title, inline(stem.with_suffix(".svg"))))
        files += [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    values = {
        "suite": shown.sides[-1].suite,
        "summary": summary(shown),
        "remarks": list(remarks(shown)),
        "changes": change_lines(shown),
        "how": how(shown),
        "charts": charts,
        "runs": list(zip(runs(shown), shown.sides, strict=True)),
    }
    text = render("history.html.j2", values)
    plain_file.write(folder / "index.html", text.encode())
    return [folder / "index.html", *files]


def as_json(shown: History) -> str:
    """All of it. Times in seconds, sizes in bytes, rates by second; what is not known is null."""
    return atomic_json.text(_document(shown))


def _document(shown: History) -> dict[str, Any]:
    return {
        "suite": shown.sides[-1].suite.name,
        "metric": str(shown.sides[-1].metric),
        "runs": [
            {
                "name": Path(side.name).name,
                "created": side.manifest.created.isoformat(),
                "dbbench": side.manifest.dbbench,
            }
            for side in shown.sides
        ],
        "machines_differ": [f"{side.name}: {item}" for side, item in shown.machines],
        "withheld": dict(shown.withheld),
        "left_out": [
            {"scenario": one.scenario, "step": one.step, "engine": one.engine, "runs": [at + 1 for at in one.unlike]}
            for one in shown.unlike
        ],
        "series": [
            {
                "scenario": series.scenario,
                "step": series.step,
                "engine": series.engine,
                "title": series.title,
                "unit": series.unit,
                "direction": series.direction,
                "values": series.values,
                "intervals": [[row.low, row.high] if row and row.low is not None else None for row in series.rows],
                "changes": [
                    {
                        "run": change.at + 1,
                        "before": change.before,
                        "after": change.after,
                        "cost_ratio": change.ratio,
                        "differs": [str(item) for item in change.causes],
                        "null_engine_too": change.null_too,
                        "provisional": change.provisional,
                    }
                    for change in series.changes
                ],
            }
            for series in shown.series
        ],
    }


def _name(series: Series) -> str:
    """The name of a metric: its distinguishing parts, joined by dots."""
    return f"{series.scenario}.{series.step}.{series.engine}"


def _otava_csv(shown: History, complete: Sequence[Series]) -> str:
    """One line for each run. A series with a gap is left out: Otava takes no empty cell."""
    rows = [["time", "run", "dbbench", *map(_name, complete)]]
    for number, side in enumerate(shown.sides):
        figures = [f"{series.values[number]:.9g}" for series in complete]
        rows.append([side.manifest.created.isoformat(), Path(side.name).name, side.manifest.dbbench, *figures])
    return lines(rows)


def _otava_yaml(shown: History, complete: Sequence[Series]) -> str:
    """Its configuration, as JSON, which is YAML too. `direction` is 1 where more is better."""
    metrics = {
        _name(series): {"column": _name(series), "direction": 1 if series.direction == "higher" else -1, "scale": 1}
        for series in complete
    }
    test = {
        "type": "csv",
        "file": "otava.csv",
        "time_column": "time",
        "attributes": ["run", "dbbench"],
        "metrics": metrics,
        "csv_options": {"delimiter": ",", "quotechar": '"'},
    }
    return atomic_json.text({"tests": {shown.sides[-1].suite.name: test}})


def _bench(series: Series, shown: History) -> dict[str, Any]:
    row = series.rows[-1]
    assert row is not None
    known = {"name": f"{step_name(series, shown)} / {series.title}", "unit": series.unit, "value": row.value}
    if row.low is not None and row.high is not None:
        known["range"] = f"{row.low:.9g} to {row.high:.9g}"
    return {**known, "extra": "; ".join(said)} if (said := notes(row)) else known
