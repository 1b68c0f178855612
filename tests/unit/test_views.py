"""Analysis ends before wording: what words or draws a step is handed typed figures, and computes none."""

import ast
from pathlib import Path

import pytest

REPORT = Path(__file__).parents[2] / "dbbench" / "report"
#: Words a figure; computes none.
WORDING = {"dbbench.analysis.units"}
VIEWS = sorted(
    [
        *(REPORT / "steps").glob("*.py"),
        *(REPORT / "charts").glob("*.py"),
        *(REPORT / name for name in ("step_view.py", "step_builder.py", "published_comparison.py")),
    ]
)


def computing(source: str) -> list[str]:
    """The functions of the analysis that a module imports: neither types nor constants, which begin with a capital."""
    return [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dbbench.analysis")
        for alias in node.names
        if node.module not in WORDING and not alias.name[0].isupper()
    ]


@pytest.mark.parametrize("path", VIEWS, ids=lambda path: str(path.relative_to(REPORT)))
def test_a_view_calls_nothing_of_the_analysis(path: Path) -> None:
    source = path.read_text("utf-8")
    assert computing(source) == []
    assert "from statistics import" not in source


def test_a_function_is_told_from_a_type() -> None:
    assert computing("from dbbench.analysis.recorded import Spread, TAIL, spread\n") == [
        "dbbench.analysis.recorded.spread"
    ]
    assert computing("from dbbench.analysis.units import fitting\n") == []
