"""docs/seeds.md is what the suites say, and what it names is there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from dbbench.engine import registry
from dbbench.suite.loader import find_suite, load_suite

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("seeds_page", DOCS / "seeds_page.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_suites_say(generator: ModuleType) -> None:
    assert (DOCS / "seeds.md").read_text("utf-8") == generator.page(), "run: python docs/seeds_page.py > docs/seeds.md"


def test_each_line_says_what_became_of_it_by_names_that_exist(generator: ModuleType) -> None:
    engines = set(registry.names())
    for suite, lines in [*generator.SYSTEMS.items(), *generator.REST.items()]:
        charts = {chart.kind for scenario in load_suite(find_suite(suite)).scenarios for chart in scenario.charts}
        for became in lines.values():
            assert re.match("reproduced|differs: .|cannot be had: .", became)
            for named in re.findall(r"charts? `(\w+)`(?: and `(\w+)`)?", became):
                assert charts.issuperset(filter(None, named))
        for became in generator.SYSTEMS[suite].values():
            assert engines.issuperset(set(re.findall("`([^`]+)`", became)) - {"--url"}), became
