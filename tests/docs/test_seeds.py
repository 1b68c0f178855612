"""docs/seeds.md is what the suites say, and what it names exists."""

import re
from pathlib import Path

from dbbench.engine import registry
from dbbench.suite.loader import find_suite, load_suite
from docs import seeds_page


def test_the_page_is_what_the_suites_say() -> None:
    page = Path(__file__).parents[2] / "docs" / "seeds.md"
    assert page.read_text("utf-8") == seeds_page.page(), "run: python docs/seeds_page.py > docs/seeds.md"


def test_each_line_says_what_became_of_it_by_names_that_exist() -> None:
    engines = set(registry.names())
    for suite, lines in [*seeds_page.SYSTEMS.items(), *seeds_page.REST.items()]:
        charts = {chart.kind for scenario in load_suite(find_suite(suite)).scenarios for chart in scenario.charts}
        for became in lines.values():
            assert re.match("reproduced|differs: .|cannot be had: .", became)
            for named in re.findall(r"charts? `(\w+)`(?: and `(\w+)`)?", became):
                assert charts.issuperset(filter(None, named))
        for became in seeds_page.SYSTEMS[suite].values():
            assert engines.issuperset(set(re.findall("`([^`]+)`", became)) - {"--url"}), became
