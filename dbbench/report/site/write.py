"""Writes the site. It is made anew each time; what an earlier one left there and this one hasn't is removed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from dbbench.errors import UserError
from dbbench.host import plain_file
from dbbench.host.metric import Metric
from dbbench.report.site.entry import Entry, entries, page_name, places, read, share
from dbbench.report.templating import render

#: Names the files of a site, so that a later one may replace them.
_LIST = "site.json"
_PAGE = re.compile(r"runs/[a-z0-9][a-z0-9.-]*\.html")

Report = Callable[[int, int], object]


def write(
    paths: Sequence[Path],
    out: Path,
    report: Report = lambda _done, _all: None,
    metric: Metric = Metric.WALL,
) -> list[str]:
    """Write a site of the runs to `out`; what was left out, in words.

    `report` is called after each run with how many are done, of how many. Raises UserError if no run can be read, or if
    `out` has something in it that is no site.
    """
    earlier = _earlier(out)
    pages: dict[str, list[Entry]] = {}
    left_out: list[str] = []
    try:
        folder = plain_file.folder(_made(out), "runs")
        for number, path in enumerate(paths, 1):
            try:
                shown = read(path, metric)
            except UserError as exc:
                text = str(exc)
                left_out.append(text if str(path) in text else f"{path}: {text}")
            else:
                name = page_name(shown, [*pages])
                text = render("site_run.html.j2", {"view": shown, "places": places, "share": share})
                plain_file.write(folder / f"{name}.html", text.encode())
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


def _made(out: Path) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    return out


def _order(entry: Entry) -> tuple[str, str, str]:
    """Sort key by suite and machine, for nothing else can be compared."""
    return entry.title, entry.machine, entry.date


def _earlier(out: Path) -> set[str]:
    """The pages of the site that is there. Raises UserError if something else is."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return set()
    try:
        known = json.loads(plain_file.read(out / _LIST))["pages"]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise UserError(f"{out} is not empty, and no site of dbbench's: choose another with --out") from exc
    return {name for name in known if isinstance(name, str) and _PAGE.fullmatch(name)}


def _index(found: Sequence[Entry]) -> str:
    from markupsafe import Markup

    script = _script()
    engines = {title for entry in found for title in entry.titles}
    return render(
        "site.html.j2",
        {
            "entries": found,
            "suites": dict.fromkeys(entry.suite for entry in found),
            "machines": dict.fromkeys(entry.machine for entry in found),
            "engines": sorted(engines, key=str.casefold),
            "script": Markup(script),  # noqa: S704 - our own file
            "digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        },
    )


def _script() -> str:
    """The filters of the list. The page allows this text alone, by its hash."""
    from importlib.resources import files

    return files("dbbench.report").joinpath("templates", "site.js").read_text("utf-8")
