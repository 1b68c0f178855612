"""The page of a history: one file with its charts inside it, those of the steps that changed first."""

import contextlib
from pathlib import Path

from dbbench.analysis.history import History
from dbbench.host import plain_file
from dbbench.report.history.words import change_lines, how, remarks, runs, step_name, summary
from dbbench.report.templating import inline, render


def write(shown: History, folder: Path) -> list[Path]:
    """Write index.html and a chart of each step, as SVG and PNG, into the folder."""
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
