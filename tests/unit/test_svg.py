"""Charts as SVG: texts, names and ids."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dbbench.report.charts.layout import Look
from dbbench.report.charts.size import sizes
from dbbench.report.run_view import view
from dbbench.report.write import write_report
from tests.fabricated import Fake, fabricate

HOSTILE = "<script>alert(1)</script> \"q\" 'a' \u202eright\x1b[31m \U0001f986 & so"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    fakes = {"a": Fake("A"), "b": Fake(HOSTILE, 3.0)}
    run = fabricate(tmp_path_factory.mktemp("svg") / "run", fakes, rounds=2)
    write_report(view(run), ("svg", "html"))
    return run.report


def test_charts_have_texts_a_role_a_title_and_a_description(drawn: Path) -> None:
    root = ElementTree.parse(drawn / "invoices-join-1.svg").getroot()
    assert root.attrib["role"] == "img"
    assert root[0].text == "Join 1: every column of each invoice and its shipments"
    assert "less is better" in (root[1].text or "")
    assert root.attrib["aria-labelledby"].split() == [root[0].attrib["id"], root[1].attrib["id"]]
    assert "A" in [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]


def test_hatched_bars_take_few_bytes(tmp_path: Path) -> None:
    """The page of the invoices has their charts in it."""

    def in_all_parts(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step["name"] == "database-size":
                step["facts"]["files"] += [{**step["facts"]["files"][0], "part": part} for part in ("journal", "other")]
                step["facts"].pop("index")

    engines = {name: Fake(name, 1.0 + place, size=2e7) for place, name in enumerate("abcdef")}
    run = fabricate(tmp_path / "run", engines, rounds=2, change=in_all_parts)
    write_report(view(run), ("svg", "html"))
    size = (run.report / "invoices-database-size.svg").read_text("utf-8")
    assert size.count("<pattern") == 2  # whatever the number of engines
    assert len(size) < 15_000
    assert (run.report / "index.html").stat().st_size < 300_000


def test_a_name_with_anything_in_it_stays_a_text(drawn: Path) -> None:
    for path in drawn.glob("*.svg"):
        root = ElementTree.parse(path).getroot()  # which is XML, whatever an engine calls itself
        assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    said = " ".join(root.itertext())
    assert "\x1b" not in said
    assert "<script>" in said
    assert "<script>alert" not in (drawn / "index.html").read_text("utf-8")


def test_no_two_things_on_a_page_have_one_id(drawn: Path) -> None:
    page = (drawn / "index.html").read_text("utf-8")
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {*re.findall(r'(?:href="|url\()#([^")]+)', page)} <= {*ids}


def test_what_is_not_ranked_makes_no_bar_of_a_size_short(tmp_path: Path) -> None:
    def in_parts(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step["name"] == "database-size":
                reserved = 50e6 if result["engine_name"] == "a" else 0.0
                parts = {"data": 10e6, "index": 0.0, "journal": 0.0, "other": 0.0, "reserved": reserved, "empty": 1e4}
                step["value"], step["facts"]["size_parts"] = 10e6, parts

    run = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B")}, rounds=1, change=in_parts)
    chart = sizes(view(run).scenarios[0].step("database-size"), Look())
    first = next(row for row in chart.rows if row.title == "A")
    assert chart.axis.high < 20
    assert first.cells[2] == "60.0 MB on disk"
    assert "log reserved (not ranked, cut off)" in [text for _, text in chart.keys]
