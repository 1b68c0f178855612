"""The site of several runs in a real browser that has no network: filters, links, dark, phone, print, without scripts."""

from pathlib import Path

import pytest

from dbbench.host.machine import in_words
from dbbench.report.site import write
from tests.browser.conftest import HOSTILE, OF_COLOURS, Visit, faults, smallest_text
from tests.fabricated import FORBIDDEN, MACHINE, MANY, Fake, fabricate

pytestmark = pytest.mark.matrix

LAPTOP = {**MACHINE, "cpu": 'A laptop\'s <b>"CPU"</b>'}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs: of two suites, on two machines, with engines that fail, are withheld, or have a hostile name."""
    folder = tmp_path_factory.mktemp("site")
    few = {name: MANY[name] for name in ("sqlite", "duckdb", "turso")}
    more = {**few, "hostile": Fake(HOSTILE, 5.0), "forbidden": Fake("Forbidden", 0.01, probed=FORBIDDEN)}
    made = [
        (few, "invoices", MACHINE),
        (more, "invoices", LAPTOP),
        ({"lmdb": Fake("LMDB"), "sqlite": MANY["sqlite"]}, "esent", MACHINE),
        ({"duckdb": MANY["duckdb"]}, "invoices", MACHINE),
    ]
    paths = []
    for day, (engines, suite, machine) in enumerate(made, 1):
        run = fabricate(folder / f"r{day}", engines, suite=suite, rounds=6, day=day)
        run.manifest = run.manifest.model_copy(update={"machine": machine})
        run.save()
        paths.append(run.path)
    assert write(paths, folder / "out") == []
    return folder / "out"


def test_runs_are_filtered_and_the_choice_is_in_the_address(visit: Visit, site: Path) -> None:
    page = visit(site / "index.html")
    rows = page.locator("tbody tr:visible")
    assert rows.count() == 4
    assert page.locator("output").inner_text() == "4 of 4"
    page.get_by_label("Engine").select_option("SQLite (sqlite3)")
    assert rows.count() == 3
    page.get_by_label("Suite").select_option("esent")
    assert rows.count() == 1
    assert page.locator("output").inner_text() == "1 of 4"
    again = visit(site / "index.html", "#" + page.url.partition("#")[2])
    assert again.locator("tbody tr:visible").all_inner_texts() == rows.all_inner_texts()
    page.evaluate("location.hash = 'engine=DuckDB (rows)'")
    page.locator("output", has_text="3 of 4").wait_for()
    page.get_by_label("Machine").select_option(in_words(LAPTOP))
    assert [row.split("\t")[2] for row in rows.all_inner_texts()] == [in_words(LAPTOP)]


def test_the_place_of_an_engine_behind_the_eighth_is_shown_where_it_is_chosen(visit: Visit, tmp_path: Path) -> None:
    engines = {f"e{number}": Fake(f"E{number}", 1.0 + number) for number in range(10)}
    assert write([fabricate(tmp_path / "r", engines, rounds=6).path], tmp_path / "out") == []
    page = visit(tmp_path / "out" / "index.html")
    assert page.get_by_text("E9", exact=True).last.is_hidden()
    page.get_by_label("Engine").select_option("E9")
    assert page.locator("td").get_by_text("E9", exact=True).is_visible()
    assert page.locator("summary").inner_text() == "2 more"


@pytest.mark.parametrize("fragment", ["#suite=none&engine=%00", "#=&&=", "#a=%E0%A4", "#__proto__=x&length=9"])
def test_any_fragment_leaves_a_whole_list(visit: Visit, site: Path, fragment: str) -> None:
    page = visit(site / "index.html", fragment)
    page.get_by_label("Engine").select_option("")
    assert page.locator("tbody tr").count() == 4


def test_each_link_leads_to_its_place_and_back(visit: Visit, site: Path) -> None:
    page = visit(site / "index.html")
    links = page.locator("tbody a").evaluate_all("(all) => all.map((each) => each.getAttribute('href'))")
    assert len(links) == 4
    for link in links:
        path, _, place = link.partition("#")
        run = visit(site / path, f"#{place}")
        assert run.locator(f"[id='{place}']").count() == 1
    run.get_by_role("link", name="All results").click()
    run.wait_for_url("**/index.html*")
    run.wait_for_load_state()
    assert run.locator("tbody tr").count() == 4


def test_machines_are_never_ranked_together(visit: Visit, site: Path) -> None:
    page = visit(site / "index.html")
    machines = page.locator("tbody td:nth-of-type(3)").all_inner_texts()
    assert sorted({*machines}) == sorted([in_words(MACHINE), in_words(LAPTOP)])
    assert "nothing here is ranked across them" in page.locator("body").inner_text()


def test_without_scripts_all_is_there(visit: Visit, site: Path) -> None:
    page = visit(site / "index.html", java_script_enabled=False)
    assert page.locator("tbody tr:visible").count() == 4
    assert not page.locator("form").is_visible()


def test_in_print_the_filters_are_left_out(visit: Visit, site: Path) -> None:
    page = visit(site / "index.html", "#suite=esent")
    page.emulate_media(media="print")
    assert page.locator("tbody tr:visible").count() == 1
    assert not page.locator("form").is_visible()


def pages(site: Path) -> list[Path]:
    """The list, and the page with the longest names."""
    return [site / "index.html", max((site / "runs").iterdir(), key=lambda page: "onerror" in page.read_text("utf-8"))]


def test_nothing_becomes_markup(visit: Visit, site: Path) -> None:
    for path in pages(site):
        page = visit(path)
        assert "owned" not in page.title()
        assert page.locator("img").count() == 0
        assert "<img src=x onerror=alert(1)>" in page.locator("body").inner_text()
        assert '<b>"CPU"</b>' in page.locator("body").inner_text()
    assert "withheld" in page.locator("body").inner_text()


def test_texts_are_large_enough_and_nothing_overflows(visit: Visit, site: Path) -> None:
    for path in pages(site):
        page = visit(path)
        for width in (1200, 700, 390):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert smallest_text(page) >= 12


def test_accessibility_by_axe(visit: Visit, site: Path) -> None:
    """The list in both colours; and the page of a run, of whose kind test_explore.py has a light one, in dark."""
    ground = "getComputedStyle(document.body).backgroundColor"
    listed, run = pages(site)
    page = visit(listed)
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) != "rgb(255, 255, 255)"
    assert faults(page, *OF_COLOURS) == []
    assert faults(visit(run, color_scheme="dark")) == []
