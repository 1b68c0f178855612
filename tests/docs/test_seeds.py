"""The page of published texts is made of the suites, and what it names exists."""

import re

from dbbench.engine import registry
from dbbench.suite.loader import find_suite, load_suite
from docs import seeds_page


def test_the_page_has_every_system_with_its_figures() -> None:
    page = seeds_page.page()
    assert "- **ESENT** (`insert` 70,210/s;" in page
    assert [
        system for systems in seeds_page.SYSTEMS.values() for system in systems if f"- **{system}**" not in page
    ] == []
    assert [line for line in page.splitlines() if len(line) > 120] == []


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
