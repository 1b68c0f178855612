"""The page: index.md and index.html are made from the same view, each by its template."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbbench.analysis.units import amount, duration
from dbbench.host import plain_file
from dbbench.report.remarks import worded
from dbbench.report.run_view import View
from dbbench.report.templating import render
from dbbench.report.verdict import conclusion, finding, verdict


def write(
    shown: View,
    form: str,
    stems: Sequence[str],
    *,
    escape: Callable[[object], str] | None = None,
    filters: Mapping[str, Callable[..., str]] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write index.FORM into the report's folder; `more` is what the template has besides."""
    from dbbench.report.charts.draw import of_several, of_step, stem

    values = {
        "view": shown,
        "stems": stems,
        "stem": stem,
        "of_several": of_several,
        "of_step": of_step,
        "amount": amount,
        "duration": duration,
        "worded": worded,
        "verdict": verdict,
        "finding": finding,
        "conclusion": conclusion(shown),
        "image": _image(shown, stems),
    }
    text = render(f"index.{form}.j2", {**values, **(more or {})}, escape=escape, filters=filters)
    path = plain_file.folder(shown.folder, "report") / f"index.{form}"
    plain_file.write(path, text.encode())
    return path


def _image(shown: View, stems: Sequence[str]) -> str:
    """The picture that stands for the page: the card, where it is drawn, or the first chart; else empty."""
    if (shown.folder / "report" / "card.png").is_file():
        return "card.png"
    return f"{stems[0]}.svg" if stems else ""
