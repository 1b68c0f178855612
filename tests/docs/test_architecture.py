"""The table "Eleven changes people make most" of docs/architecture.md is true: one example of each is where it says."""

import re
from importlib import import_module
from typing import get_args

import pytest

from dbbench.report.write import EXPORTERS
from dbbench.suite.charts import AnyChart
from tests.docs.test_docs import CLI, ROOT, section

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
#: Change -> the files to open, and the tests.
TABLE = {
    change: (re.findall("`([^`]*/[^`]*|pyproject.toml)`", files), re.findall("`(tests/[^`]+)`", tests))
    for change, files, tests in re.findall(
        r"^\| (an? [\w ]+) \| (.*) \| (.*) \|$", section(PAGE, "## Eleven changes people make most"), re.MULTILINE
    )
}
#: Change -> an example's NAME; how code names it; the files of code that do, and are not in the table.
EXAMPLES = {
    "an engine": ("unqlite", r"\bunqlite\b", set()),
    "a driver for one": ("peewee", r"\bpeewee\b", {"scenarios/dbbench_scenarios/object-load.yaml"}),
    "an operation": ("", r"prepare_seek\b|\"seek\"", {"cli/templates/blocks.py.jinja", "cli/templates/records.py.jinja"}),
    "a suite": ("lifecycle", r"\blifecycle\b", set()),
    "a chart": ("spans", r"\bSpans\b|charts\.spans\b|['\"]-?spans['\"]", set()),
    "a metric": ("", r"\bUNDELAYED\b", {"analysis/paired.py", "results/trial.py"}),
    "an export format": ("html_page", r"\bhtml_page\b", set()),
    "a statistic": ("", r"\.original\b|\boriginal=|^    original: ", set()),
    "an engine attribute": (
        "", r"\burl_example\b", {"engine/base.py", "engine/layer.py", "testing/contract.py"},
    ),
    "a CLI command": ("explain", r"\bdbbench\.cli\.explain\b", set()),
}  # fmt: skip


@pytest.mark.parametrize(
    ("package", "first"),
    re.findall(r"^\| `(\w+)` \|.*\| (`.*`)[^|]*\|$", section(PAGE, "## The packages"), re.MULTILINE),
)
def test_what_to_look_at_first_exists(package: str, first: str) -> None:
    for module in re.findall("`([^`]+)`", first):
        path = ROOT / "dbbench" / package / module.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), path


def test_there_are_eleven() -> None:
    assert len(TABLE) == 11
    assert TABLE.keys() - EXAMPLES.keys() == {"a kind of step"}, "tests/system/test_new_kind.py adds one"


@pytest.mark.parametrize("change", TABLE)
def test_what_it_names_exists(change: str) -> None:
    files, tests = TABLE[change]
    for path in (*files, *tests):
        place = path.replace("NAME", "*").rstrip("/")
        assert any(ROOT.glob(place)) or any((ROOT / "dbbench").glob(place)), path


@pytest.mark.parametrize("change", EXAMPLES)
def test_an_example_is_in_these_files_alone(change: str) -> None:
    name, pattern, besides = EXAMPLES[change]
    files = [path.replace("NAME", name) for path in TABLE[change][0]]
    naming = {path for path, text in code().items() if re.search(pattern, text, re.MULTILINE)}
    assert {path for path in naming - besides if not path.startswith((*files, "plugins/dbbench_plugins/"))} == set()
    for path in files:
        assert (ROOT / path).exists() or (ROOT / "dbbench" / path).exists(), path


def code() -> dict[str, str]:
    """Each file of code, by its path in dbbench/ or else in the repository, with its text."""
    folders = [ROOT / folder for folder in ("dbbench", "plugins", "scenarios")]
    endings = {".py", ".yaml", ".j2", ".jinja"}
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in endings]
    return {
        str(path.relative_to(ROOT)).removeprefix("dbbench/"): path.read_text("utf-8")
        for path in (*paths, ROOT / "pyproject.toml")
    }


def test_every_kind_of_chart_has_a_module_that_draws_it() -> None:
    for model in get_args(get_args(AnyChart)[0]):
        (kind,) = get_args(model.model_fields["kind"].annotation)
        assert callable(import_module(f"dbbench.report.charts.{kind}").figures)


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_format_is_described(name: str) -> None:
    assert f"`{name}`" in section(CLI, "## `dbbench report RUN")
