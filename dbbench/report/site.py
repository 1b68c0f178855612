"""A static site of many runs: a page for each, and one that lists them all.

It is made anew each time; what an earlier one left there and this one hasn't is removed.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dbbench.errors import UserError
from dbbench.host import machine, plain_file
from dbbench.host.metric import Metric
from dbbench.report.export.page_data import place
from dbbench.report.run_view import ScenarioView, View, view
from dbbench.report.step_view import times
from dbbench.report.templating import digest, render, source
from dbbench.report.write import write_report
from dbbench.results.chosen_run import Choice, ChosenRun
from dbbench.results.run_directory import Run

#: Names the files of a site, so that a later one may replace them.
_LIST = "site.json"
_PAGE = re.compile(r"runs/[a-z0-9][a-z0-9.-]*\.html")
Report = Callable[[int, int], object]


@dataclass(frozen=True)
class Place:
    """One engine's place in a scenario: how many times the best of each step it takes, as a mean."""

    title: str
    ratio: str
    #: The length of its bar in per cent: how fast it is beside the first.
    share: float = 0.0


@dataclass(frozen=True)
class Entry:
    """One scenario of a run, as a line of the list."""

    #: The run's page, relative to the list; its scenario's heading follows the #.
    page: str
    #: The name of the run's folder.
    label: str
    suite: str
    title: str
    machine: str
    date: str
    rounds: int
    scale: str
    places: tuple[Place, ...]
    warned: bool

    @property
    def titles(self) -> Sequence[str]:
        """The engines' titles, in their order."""
        return [place.title for place in self.places]


def read(path: Path, metric: Metric, out: Path) -> View:
    """What may be published of the run at `path`, for a page in `out`. Raises RunError; UserError without figures."""
    run = Run.open(path)
    chosen = ChosenRun(run, Choice(metric=metric)) if metric is not Metric.WALL else run
    return replace(view(chosen, publish=True, out=out), listed_in="../index.html")


def page_name(shown: View, taken: Sequence[str]) -> str:
    """A name for the run's page that no other has."""
    name = f"{shown.run.suite.name}-{shown.run.manifest.created:%Y%m%d-%H%M%S}"
    number = 1 + sum(other == name or other.startswith(f"{name}-") for other in taken)
    return name if number == 1 else f"{name}-{number}"


def entries(shown: View, name: str) -> list[Entry]:
    """The lines of a run: one for each scenario."""
    manifest = shown.run.manifest
    return [
        Entry(
            page=f"runs/{name}.html#{place(scenario)}",
            label=shown.run.path.resolve().name,
            suite=shown.run.suite.name,
            title=_title(shown, scenario),
            machine=machine.in_words(manifest.machine),
            date=f"{manifest.created:%Y-%m-%d}",
            rounds=manifest.rounds,
            scale=f"{manifest.scale:g}",
            places=tuple(places(scenario)),
            warned=bool(shown.warnings),
        )
        for scenario in shown.scenarios
    ]


def _title(shown: View, scenario: ScenarioView) -> str:
    if len(shown.scenarios) == 1:
        return shown.run.suite.title
    return f"{shown.run.suite.title}: {scenario.scenario.title}"


def places(scenario: ScenarioView) -> list[Place]:
    """The engines of a scenario in the order of their means."""
    best = min((standing.mean_ratio for standing in scenario.standings if standing.mean_ratio), default=0)
    found = []
    for standing in scenario.standings:
        title, mean = standing.title, standing.mean_ratio
        if standing.engine in scenario.withheld:
            found.append(Place(title, "withheld"))
        else:
            found.append(Place(title, f"×{times(mean)}", 100 * best / mean) if mean else Place(title, ""))
    return found


def write(
    paths: Sequence[Path], out: Path, report: Report = lambda _done, _all: None, metric: Metric = Metric.WALL
) -> list[str]:
    """Write a site of the runs to `out`; what was left out, in words.

    `report` is called after each run with how many are done, of how many. Raises UserError if no run can be read, or if
    `out` has something in it that is no site.
    """
    earlier = _earlier(out)
    pages: dict[str, list[Entry]] = {}
    left_out: list[str] = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        folder = plain_file.folder(out, "runs")
        for number, path in enumerate(paths, 1):
            try:
                with TemporaryDirectory() as made:
                    shown = read(path, metric, Path(made))
                    write_report(shown, ["html"])
                    page = (Path(made) / "report" / "index.html").read_bytes()
            except UserError as exc:
                text = str(exc)
                left_out.append(text if str(path) in text else f"{path}: {text}")
            else:
                name = page_name(shown, [*pages])
                plain_file.write(folder / f"{name}.html", page)
                pages[name] = entries(shown, name)
            report(number, len(paths))
        if not pages:
            raise UserError(f"no run to show: {'; '.join(left_out)}")
        found = sorted((one for each in pages.values() for one in each), key=_order)
        plain_file.write(out / "index.html", _index(found).encode())
        names = [f"runs/{name}.html" for name in pages]
        plain_file.write(out / _LIST, json.dumps({"pages": names}).encode())
        for name in earlier - {*names}:
            plain_file.inside(out, *name.split("/")).unlink(missing_ok=True)
    except OSError as exc:
        raise UserError(f"{out} can't be written: {exc.strerror or exc}") from exc
    return left_out


def _order(entry: Entry) -> tuple[str, str, str]:
    """Sort key by suite and machine, for nothing else can be compared."""
    return entry.title, entry.machine, entry.date


def _earlier(out: Path) -> set[str]:
    """The pages of an existing site. Raises UserError if the folder holds anything else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return set()
    try:
        known = json.loads(plain_file.read(out / _LIST))["pages"]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise UserError(f"{out} is not empty and not a dbbench site: choose another with --out") from exc
    return {name for name in known if isinstance(name, str) and _PAGE.fullmatch(name)}


def _index(found: Sequence[Entry]) -> str:
    from markupsafe import Markup

    script = source("site.js")
    engines = {title for entry in found for title in entry.titles}
    return render(
        "site.html.j2",
        {
            "entries": found,
            "suites": dict.fromkeys(entry.suite for entry in found),
            "machines": dict.fromkeys(entry.machine for entry in found),
            "engines": sorted(engines, key=str.casefold),
            "script": Markup(script),  # noqa: S704 - our own file
            "digest": digest(script),
        },
    )
