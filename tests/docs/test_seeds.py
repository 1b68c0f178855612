"""The page of the published texts has each suite, and names what exists."""

from __future__ import annotations

import re

from dbbench.engine import registry
from dbbench.suite.loader import find_suite, load_suite
from docs import seeds_page


def test_every_suite_has_a_line_for_each_of_its_systems() -> None:
    """A system without a line, or a line without a system, is a KeyError."""
    assert re.findall(r"^## (.+)$", seeds_page.page(), re.MULTILINE) == list(seeds_page.SYSTEMS)


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
