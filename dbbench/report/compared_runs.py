"""Comparisons of runs for other programs, as JSON, and as a page of their own."""

import contextlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbbench.analysis.comparability import Side
from dbbench.analysis.compare import Comparison
from dbbench.analysis.gate import Gate
from dbbench.analysis.verdicts import ComparisonVerdict, Pair
from dbbench.host import atomic_json
from dbbench.report.charts import svg
from dbbench.report.charts.palette import THEMES
from dbbench.report.templating import render
from dbbench.report.terminal.comparison import gate_words, headline, how, notes, pair_detail, side_words, worded

#: A comparison, and its gate if there is one.
Compared = tuple[Comparison, Gate | None]


def as_json(found: Sequence[Compared]) -> str:
    """All of them as JSON; what is not known, or no number, is null. Seconds, bytes, rates by second."""
    return atomic_json.text({"comparisons": [_document(shown, gate) for shown, gate in found]})


def pictures(found: Sequence[Compared], folder: Path) -> list[Path]:
    """Write each comparison as a picture into a folder, as SVG and PNG."""
    with contextlib.chdir("/"):  # matplotlib reads a matplotlibrc of the current folder
        from dbbench.report.charts.forest import forest
        from dbbench.report.charts.layout import save
    written = []
    for number, (shown, _) in enumerate(found, 1):
        stem = folder / ("comparison" if len(found) == 1 else f"comparison-{number}")
        save(forest(shown), stem, ("svg", "png"))
        written += [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    return written


def page(found: Sequence[Compared]) -> str:
    """The text of a page, which loads nothing."""
    from markupsafe import Markup

    with contextlib.chdir("/"):  # matplotlib, as above
        from dbbench.report.charts.forest import forest
    drawn = (
        svg.written(forest(shown), f"comparison-{number}", THEMES["light"])
        for number, (shown, _) in enumerate(found, 1)
    )
    charts = [Markup(each.decode()) for each in drawn]  # noqa: S704 - it escapes its texts
    values = {
        "charts": charts,
        "found": found, "gate_words": gate_words, "headline": headline, "how": how, "notes": notes,
        "sides": lambda sides: "; ".join(map(side_words, sides)), "lines": lambda shown: [worded(pair, shown) for pair in shown.pairs], "look": _look,
    }  # fmt: skip
    return render("compare.html.j2", values)


def _look(pair: Pair) -> str:
    """The class of a verdict in the page's style."""
    return "worse" if pair.verdict.worse else "better" if pair.verdict.better else "note"


def _document(shown: Comparison, gate: Gate | None) -> dict[str, Any]:
    return {
        "old": [_run(side) for side in shown.old],
        "new": [_run(side) for side in shown.new],
        "metric": str(shown.new[0].metric),
        "machines_differ": [str(item) for item in shown.machines],
        "verdicts": {str(verdict): len(shown.of(verdict)) for verdict in ComparisonVerdict if shown.of(verdict)},
        "pairs": [_pair(pair) for pair in shown.pairs],
        "notes": notes(shown),
        "gate": None
        if gate is None
        else {"share": gate.share, "answer": str(gate.answer), "words": gate_words(shown, gate)},
    }


def _run(side: Side) -> dict[str, Any]:
    manifest = side.manifest
    return {
        "name": side.name,
        "created": manifest.created.isoformat(),
        "rounds": manifest.rounds,
        "dbbench": manifest.dbbench,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    ratio = pair.ratio
    known = ratio is not None and math.isfinite(ratio.value)
    return {
        "scenario": pair.scenario,
        "step": pair.step,
        "engine": pair.engine,
        "verdict": str(pair.verdict),
        "unit": pair.unit,
        "old": pair.old,
        "new": pair.new,
        "cost_ratio": ratio.value if ratio and known else None,
        "interval": [ratio.low, ratio.high] if ratio and ratio.low is not None and ratio.high is not None else None,
        "detail": pair_detail(pair),
        "verified": pair.verified,
        "rounds_needed": pair.needed,
        "smallest_visible_ratio": pair.visible,
    }
