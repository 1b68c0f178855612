"""The contract's page has each part of it, and the smallest plugins of docs/plugins.md pass the kit as they stand."""

import re
from pathlib import Path

import pytest

import dbbench.engine
from dbbench.suite.data_types import TYPES
from docs import contract_page
from tests.conftest import Dbbench
from tests.plugins import declare

DOCS = Path(__file__).parents[2] / "docs"
#: Module -> its text, as it stands in the docs.
SMALLEST = {
    name: text
    for text, name in re.findall(
        r"```python\n(# (dbbench_tiny_\w+)\.py\n.*?)```", (DOCS / "plugins.md").read_text("utf-8"), re.DOTALL
    )
}


def test_every_attribute_and_method_has_a_meaning() -> None:
    assert re.findall(r"^- `[^`]*`:\n(?!  )|\|  \|$", contract_page.page(), re.MULTILINE) == []


def test_every_class_of_the_door_is_on_the_page_or_an_error() -> None:
    page = contract_page.page()
    elsewhere = {"MissingFeature", "Options", "Program", "ServerSetting", "Rows", "Pair", "WithoutRecords"}
    classes = {name for name in dbbench.engine.__all__ if name[0].isupper() and not name.isupper()}
    errors = {"ServerFailed", "Unavailable", "Unsupported", "UserError"}
    assert {
        name for name in classes - errors - elsewhere if f"`{name}`" not in page and f"### {name}\n" not in page
    } == set()


def test_every_type_of_a_column_is_on_the_page_with_its_arrow_type() -> None:
    section = contract_page.page().partition("\n## Column types\n")[2].partition("\n## ")[0]
    assert {*re.findall(r"^\| `(\w+)[^|]*\| `[^|]+` \| `", section, re.MULTILINE)} == {*TYPES}


@pytest.mark.parametrize("module", SMALLEST)
def test_the_smallest_have_25_lines(module: str) -> None:
    """Without empty ones, and the one that names the file."""
    assert len([line for line in SMALLEST[module].splitlines()[1:] if line.strip()]) <= 25


@pytest.mark.parametrize("module", ["dbbench_tiny_sql", "dbbench_tiny_store"])
def test_the_smallest_pass_the_kit(module: str, dbbench: Dbbench, tmp_path: Path) -> None:
    text = SMALLEST[module]
    (name,) = re.findall(r'^    name(?:, \w+)* = "([^"]+)"', text, re.MULTILINE)
    engine = re.findall(r"^class (\w+)", text, re.MULTILINE)[-1]
    (site := tmp_path / "site").mkdir()
    (site / f"{module}.py").write_text(text)
    declare(site, module, f"[dbbench.engines]\n{name} = {module}:{engine}\n")
    dbbench("plugin", "check", name, plugins=(str(site),), status=0)
