"""What the page's reader can do with it, in a real browser that has no network."""

from __future__ import annotations

import csv
import html
import math
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbbench.report.export.html_page import _script
from dbbench.report.run_view import View, view
from dbbench.report.sorting import sorted_by
from dbbench.report.templating import source
from dbbench.report.write import write_report
from dbbench.results.outcome import Outcome
from tests.browser.conftest import HOSTILE, Visit, faults, smallest_text
from tests.fabricated import FORBIDDEN, MANY, STORES, Fake, fabricate, longer_invoices

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.matrix

ALL = {**MANY, "hostile": Fake(HOSTILE, 5.0), "forbidden": Fake("Forbidden", 0.01, probed=FORBIDDEN)}
#: One of each kind: those that tie, return Arrow batches, have plans, are far behind, fail, are missing or withheld.
ENGINES = {
    name: ALL[name]
    for name in (
        "sqlite", "sqlite+apsw", "duckdb", "duckdb+arrow", "postgresql", "postgresql+pq", "mysql", "access", "turso",
        "oracle", "hostile", "forbidden",
    )
}  # fmt: skip
Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> View:
    found = view(fabricate(tmp_path_factory.mktemp("page") / "run", ENGINES, rounds=6))
    write_report(found, ("html",))
    return found


@pytest.fixture
def open_page(visit: Visit, shown: View) -> Open:
    """Opens the page, with a fragment and with what the browser is to be like."""
    path = shown.folder / "report" / "index.html"

    def opened(fragment: str = "", **like: Any) -> Page:
        page = visit(path, fragment, **like)
        if like.get("java_script_enabled", True):
            unfold(page, ".choose")
        return page

    return opened


def unfold(page: Page, which: str = "details") -> None:
    page.locator(which).evaluate_all("(all) => all.forEach((each) => { each.open = true; })")


def choose(page: Page, fragment: str) -> None:
    """What a link to this fragment of the same page does."""
    page.evaluate(
        "(to) => { history.replaceState(null, '', '#' + to); dispatchEvent(new HashChangeEvent('hashchange')); }",
        fragment,
    )


def bar_names(page: Page, step: str = "invoices.join-1") -> list[str]:
    return page.locator(f"section:has([id='{step}']) .bars li:not([hidden]) > :nth-child(2)").all_text_contents()


def bar_words(section: Locator) -> list[str]:
    """Rank, engine and ratio of each bar."""
    return [" ".join(text.split()) for text in section.locator(".bars li:not([hidden])").evaluate_all(
        "(all) => all.map((each) => [0, 1, 4].map((place) => each.children[place].textContent).join(' '))")]  # fmt: skip


def page_of(folder: Path, fakes: dict[str, Fake], *, publish: bool = False, **how: Any) -> Path:
    """The page of a run of these engines."""
    found = view(fabricate(folder / "run", fakes, **how), publish=publish)
    write_report(found, ("html",))
    return found.folder / "report" / "index.html"


def means(page: Page) -> dict[str, str]:
    return dict(page.locator(".heat tbody tr").evaluate_all(
        "(all) => all.map((each) => ['th', 'b'].map((part) => each.querySelector(part).innerText))"))  # fmt: skip


def test_the_script_and_the_figures_are_small(tmp_path: Path) -> None:
    text = page_of(tmp_path, ALL, rounds=6).read_text("utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert len(data[1]) <= 50_000
    assert len(_script().encode()) <= 21_000
    assert len(text.encode()) < 500_000


def test_all_is_shown_by_the_rules_of_the_report(open_page: Open, shown: View) -> None:
    page, scenario = open_page("#sort=name"), shown.scenarios[0]
    expected = [line.row.title for line in (*scenario.step("join-1").lines, *scenario.step("join-1").failed)]
    ratios = means(page)
    choose(page, "")
    assert [name.strip() for name in bar_names(page)] == [" ".join(title.split()) for title in expected]
    for standing in scenario.standings:
        if standing.mean_ratio and standing.engine != "hostile":
            told = float(ratios[standing.title].strip("×").replace(",", ""))
            assert told == pytest.approx(standing.mean_ratio, rel=0.01)


def test_the_page_has_every_chart_and_the_plans_and_leads_nowhere_else(open_page: Open) -> None:
    dom = open_page().content()
    assert (dom.count('class="heat"'), dom.count('<ul class="bars')) == (1, 8 + 3)  # with what trials used
    assert dom.count("<summary>Query plans</summary>") == 5
    assert "SEARCH A USING INTEGER PRIMARY KEY" in dom
    assert not re.search(r'(?:src|href)\s*=\s*"(?:https?:)?//', dom)


def test_the_page_of_records_has_percentiles_and_published_figures(visit: Visit, tmp_path: Path) -> None:
    dom = visit(page_of(tmp_path, {"a": Fake("A"), "b": Fake("B", 3.0)}, suite="esent", rounds=2)).content()
    assert dom.count('<ul class="bars') == 5 + 3
    assert dom.count("how long a call took") == 9  # in the text of each chart, in its title and in its label
    assert '<h2 id="then">Then and now' in dom


def test_engines_can_be_chosen_and_ratios_follow(open_page: Open) -> None:
    page = open_page()
    page.locator("summary", has_text="Engines").click()
    page.locator("#explore button", has_text="None").first.click()
    for title in ("SQLite (sqlite3)", "MariaDB (mysqlclient)"):
        page.get_by_label(title, exact=True).check()
    assert bar_names(page) == ["SQLite (sqlite3)", "MariaDB (mysqlclient)"]
    ratios = means(page)
    assert ratios["SQLite (sqlite3)"] == "×1.00"
    assert float(ratios["MariaDB (mysqlclient)"].strip("×")) == pytest.approx(2.6, rel=0.02)
    section = page.locator("section:has([id='invoices.join-1'])")
    assert section.locator(".finding").inner_text() == (
        "SQLite (sqlite3); then MariaDB (mysqlclient) ×2.59, from too few rounds to be sure."
    )
    verdict = page.locator(".verdict").inner_text()
    assert verdict.startswith("Of the figures shown, by the mean over the steps: SQLite (sqlite3) ×1.00;")
    assert "MariaDB" not in page.locator(".wins").inner_text()
    assert page.locator("tr[data-e]:visible", has_text="DuckDB (rows)").count() == 0


def test_ranks_are_among_the_engines_chosen(visit: Visit, tmp_path: Path) -> None:
    fakes = {"a": Fake("A"), "b": Fake("B", 2.0), "c": Fake("C", 2.01), "d": Fake("D", 4.0)}
    page = visit(page_of(tmp_path, fakes, rounds=6), "#engines=b,c,d")
    ranks = page.locator("section:has([id='invoices.join-1']) li:not([hidden]) > :first-child")
    assert ranks.all_text_contents() == ["1-2", "1-2", "3"]
    assert page.locator(".wins b").all_text_contents() == ["Tie: B, C"]


def test_what_speaks_of_no_hidden_engine_stays(visit: Visit, tmp_path: Path) -> None:
    fakes = {
        "a": Fake("Duck", plans={"join-1": "SEEK"}),
        "oracle": Fake("Duck 2", 1.7, plans={"join-1": "HASH"}),
        "third": Fake("Third", 9.0, plans={"join-1": "SEEK"}),
    }
    path = page_of(tmp_path, fakes, rounds=2, noise=0.0)
    page = visit(path, "#engines=oracle,third")
    unfold(page)
    section = page.locator("section:has([id='invoices.join-1'])")
    assert section.locator(".plan:visible").all_text_contents() == ["SEEK", "HASH"]
    assert section.locator("details details summary:visible").all_inner_texts() == ["Third", "Duck 2"]
    choose(page, "engines=a")
    assert page.locator("#method + p").is_visible()
    choose(page, "engines=a,oracle&steps=invoices.join-1&scale=log")
    assert section.locator(".finding").inner_text() == "Duck; then Duck 2 ×1.70, from too few rounds to be sure."
    assert page.locator(".verdict").inner_text().endswith("the best result, from too few rounds to be sure.")
    assert section.locator(".bars + * span:visible").count() >= 2


def test_no_choice_names_a_winner_where_a_figure_is_withheld(visit: Visit, tmp_path: Path) -> None:
    bad = {"join-2": (Outcome.FAILED, "no")}  # so nobody has a mean over all steps
    fakes = {"a": Fake("A", probed=FORBIDDEN), "b": Fake("B", 2.0, bad=bad), "c": Fake("C", 4.0, bad=bad)}
    page = visit(page_of(tmp_path, fakes, publish=True, rounds=6))
    for fragment in ("", "steps=invoices.join-1", "engines=b,c"):
        choose(page, fragment)
        ranks = page.locator("section:has([id='invoices.join-1']) li:not([hidden]) > :first-child")
        assert [text for text in ranks.all_text_contents() if text] == ["1-2", "3"]
        assert ({*means(page).values()} == {"–"}) is ("steps" not in fragment)
        assert page.locator(".wins b").count() == 0


@pytest.mark.parametrize("lacking", ["", "a"])
def test_a_choice_has_the_winners_that_the_report_has(visit: Visit, tmp_path: Path, lacking: str) -> None:
    """Two that are 1 % apart in too few rounds for ranks; and a best figure that lacks a round, and so has no rank."""

    def without_a_round(result: dict[str, Any]) -> None:
        if (result["engine_name"], result["round"]) == (lacking, 3):
            result["steps"] = [step for step in result["steps"] if step["name"] != "join-1"]

    fakes = {"a": Fake("A"), "b": Fake("B", 3.0 if lacking else 1.01), "c": Fake("C", 9.0)}
    path = page_of(tmp_path, fakes, rounds=8 if lacking else 2, noise=0.0, change=without_a_round)
    page = visit(path, "#steps=invoices.join-1")
    assert page.locator(".wins b").all_text_contents() == ([] if lacking else ["Tie: A, B"])


def test_arrow_batches_stand_apart_until_the_reader_wants_them_ranked(visit: Visit, tmp_path: Path) -> None:
    arrow = {"c": Fake("C", gives="batches"), "d": Fake("D", 3.0, gives="batches")}
    path = page_of(tmp_path, {"a": Fake("A", 2.0), "b": Fake("B", 5.0), **arrow}, rounds=8, noise=0.0)
    page = visit(path, "#steps=invoices.join-1")
    section = page.locator("section:has([id='invoices.join-1'])")
    assert bar_words(section) == ["1 A ×1.00", "2 B ×2.50", "C Arrow", "D Arrow"]
    assert section.locator(".finding").inner_text() == "A; then B ×2.50. Not ranked with rows: Arrow batches (C; D)."
    assert "Not ranked with rows: Arrow batches (C; D)" in page.locator(".verdict").inner_text()
    page.locator(".choose > summary").press("Enter")
    page.locator("#explore [name=forms]").select_option("all")
    assert bar_words(section) == ["1 C ×1.00", "2 A ×2.00", "3 D ×3.00", "4 B ×5.00"]
    assert page.url.endswith("&forms=all")
    assert section.locator(".finding").inner_text() == "C; then A ×2.00."
    # Without an engine that returns rows they are ranked anyway.
    choose(page, "engines=c,d&steps=invoices.join-1")
    assert bar_words(section) == ["1 C ×1.00", "2 D ×3.00"]


def test_a_filtered_link_names_no_hidden_engine(open_page: Open, shown: View) -> None:
    page = open_page("#engines=sqlite,postgresql")
    page.locator(".choose").evaluate("(controls) => { controls.hidden = true; }")
    unfold(page)
    hidden = {line.row.engine: line.row.title for line in shown.scenarios[0].step("join-1").lines}
    del hidden["sqlite"], hidden["postgresql"]
    assert len(hidden) > 7
    for also in ("", "&steps=invoices.join-1", "&base=sqlite"):
        choose(page, f"engines=sqlite,postgresql{also}")
        text = page.locator("body").inner_text()
        words = set(re.split(r"[^\w+@.-]+", text))
        assert [title for name, title in hidden.items() if title in text or (name in words and "+" in name)] == []
        assert "SQLite (sqlite3)" in page.locator(".verdict").inner_text()


def copied(page: Page, kind: str, place: str) -> str:
    """What a part of the page gives to the clipboard."""
    box = page.locator(f".copy:has(~ [data-live='{place}'])").last
    box.get_by_role("button", name=kind).click()
    return box.get_by_label("Copied text").input_value()


def test_a_size_that_a_server_told_is_never_ranked_with_files(visit: Visit, tmp_path: Path) -> None:
    there = {"url": "db://there"}
    fakes = {
        "a": Fake("A", size=1e6, probed=there), "b": Fake("B", size=2e6), "c": Fake("C", size=4e6),
        "d": Fake("D", size=3e6, probed=there),
    }  # fmt: skip
    page = visit(page_of(tmp_path, fakes, rounds=8))
    step = page.locator("section:has([id='invoices.database-size'])")

    def seen(choice: str) -> list[str]:
        choose(page, choice)
        return bar_words(step)

    told = "Not ranked with files: counted by the server at a URL"
    assert seen("") == ["1 B ×1.00", "2 C ×2.00", "A URL", "D URL"]
    assert step.locator(".finding").inner_text().endswith(f"{told} (A, 1.00 MB; D, 3.00 MB).")
    assert seen("engines=a,b") == ["1 B ×1.00", "A URL"]
    assert step.locator(".finding").inner_text() == f"{told} (A)."
    assert seen("engines=a,c&base=a") == ["1 C", "A URL"]
    assert seen("engines=a,d&base=b") == ["A URL", "D URL"]
    assert seen("engines=a,d") == ["A ×1.00", "D ×3.00"]
    assert [row.split()[-2] for row in seen("sort=size")] == ["B", "C", "A", "D"]


def test_the_figures_of_a_chart_can_be_copied(open_page: Open, shown: View) -> None:
    page = open_page("#engines=sqlite,duckdb,hostile")
    step = shown.scenarios[0].step("join-1")
    head, *rows = csv.reader(copied(page, "CSV", "invoices.join-1").splitlines())
    assert head == ["Engine", "Rank", "Value (ms)", "Low (ms)", "High (ms)", "Ratio"]
    lines = [line for line in (*step.lines, *step.failed) if line.row.engine in ("sqlite", "duckdb", "hostile")]
    for row, line in zip(rows, lines, strict=True):
        assert [float(cell) for cell in row[2:5]] == pytest.approx(
            [(value or 0) * 1000 for value in (line.row.value, line.row.low, line.row.high)], rel=1e-3
        )
    assert '"' in rows[[line.row.engine for line in lines].index("hostile")][0]
    table = copied(page, "Markdown", "invoices.join-1").splitlines()
    assert table[1] == "| " + " | ".join("---" for _ in head) + " |"
    assert len(table) == 2 + len(rows)
    assert "\\<img src=x" in "".join(table)
    assert not re.search(r"[^\\][<`*]", "".join(table[2:]))
    overview = copied(page, "Markdown", "in-invoices")
    assert re.search(r"\| ×\d+\.\d+ \d", overview)  # the ratio, and the figure under it
    assert page.locator(f"[role=region][aria-label='Overview: {shown.scenarios[0].scenario.title}']").count() == 1
    assert copied(page, "CSV", "in-invoices").startswith('"Engine","Mean ratio","bulk-insert (')
    assert copied(page, "CSV", "in-invoices-used").startswith('"Engine","Peak memory"')


def test_a_copied_table_has_ranks_and_ratios_of_the_choice(visit: Visit, tmp_path: Path) -> None:
    failed = {"join-1": (Outcome.TIMEOUT, "stopped after 600 s")}
    fakes = {"a": Fake("=A"), "b": Fake("+B", 2.0), "c": Fake("@C", 4.0), "d": Fake("-D", bad=failed)}
    page = visit(page_of(tmp_path, fakes, rounds=8, noise=0.0), "#engines=b,c,d")
    for base, b, c in (("", "1.00", "2.00"), ("&base=c", "0.500", "1.00")):
        choose(page, f"engines=b,c,d{base}")
        assert copied(page, "Markdown", "invoices.join-1").splitlines()[2:] == [
            f"| +B | 1 | 120 | 120 | 120 | {b} |", f"| @C | 2 | 240 | 240 | 240 | {c} |", "| -D |  | timeout |  |  |  |",
        ]  # fmt: skip
    choose(page, "")
    rows = csv.reader(copied(page, "CSV", "invoices.join-1").splitlines())
    assert [row[0] for row in rows] == ["Engine", "'=A", "'+B", "'@C", "'-D"]  # no text is a formula in a spreadsheet


def test_a_frame_shows_the_part_that_was_copied(open_page: Open) -> None:
    page = open_page("#engines=sqlite,duckdb")
    frame = copied(page, "iframe", "invoices.join-1")
    found = re.fullmatch(r'<iframe src="([^"]+)" title="dbbench"[^>]*></iframe>', frame)
    assert found
    again = open_page("#" + html.unescape(found[1]).partition("#")[2])
    assert again.locator("section:visible").count() == 1
    assert sorted(bar_names(again)) == ["DuckDB (rows)", "SQLite (sqlite3)"]


def test_the_script_loses_no_text_with_its_spaces() -> None:
    written, script = source("page.js"), _script()
    texts = re.findall(r'`[^`]*`|"(?:[^"\\]|\\.)*"', re.sub(r"(^|  )// .*$", "", written, flags=re.MULTILINE))
    assert len(texts) > 200
    assert [text for text in texts if text not in script] == []


def test_a_choice_that_changes_nothing_of_a_row_leaves_it_as_it_is(open_page: Open) -> None:
    page = open_page()
    rows = page.locator("section:has([id='invoices.scan-1']) .bars li:not([hidden])")
    page.locator("summary", has_text="Engines").click()
    count = rows.count()
    rows.evaluate_all("(rows) => rows.forEach((row) => { row.dataset.kept = 'yes'; })")
    page.get_by_label("MariaDB (mysqlclient)", exact=True).uncheck()  # neither the best nor the worst
    assert rows.count() == count - 1
    assert rows.evaluate_all("(rows) => rows.every((row) => row.dataset.kept)")


@pytest.mark.parametrize("suite", ["", "mixes", "virtual-file", "object-load", "order-entry", "vectors"])
def test_a_page_of_ten_engines_and_twenty_steps_is_under_300_kb(tmp_path: Path, suite: str) -> None:
    ten = dict(list((STORES if suite in ("mixes", "virtual-file") else MANY).items())[:10])
    found = view(fabricate(tmp_path / "run", ten, suite=suite or longer_invoices(tmp_path, 20), rounds=8))
    assert suite in ("mixes", "object-load", "order-entry", "vectors") or len(found.scenarios[0].steps) >= 17
    write_report(found, ("html",))
    assert (found.folder / "report" / "index.html").stat().st_size < 300_000


def test_an_overview_of_many_steps_has_bands_that_fit_and_are_copied_as_one(visit: Visit, tmp_path: Path) -> None:
    found = view(fabricate(tmp_path / "run", dict(list(MANY.items())[:10]), suite="decision-support", rounds=8))
    write_report(found, ("html",))
    path = found.folder / "report" / "index.html"
    assert path.stat().st_size < 300_000
    heads = len(found.scenarios[0].steps) + 2  # with the engine and the mean
    page = visit(path, width=1280)
    for fragment in ("", "engines=sqlite,duckdb,h2", "sort=name"):
        choose(page, fragment)
        bands = page.locator(".heat")
        assert bands.count() == 3
        region = page.locator(".wide:has(.heat)")
        assert region.evaluate("(region) => region.scrollWidth <= region.clientWidth")
        lines = copied(page, "Markdown", "in-decision-support").splitlines()
        assert {line.count(" | ") for line in lines} == {heads - 1}
        assert lines[0].split(" | ")[-1].strip("| ") == found.scenarios[0].steps[-1].step.name.replace("-", " ")
        assert len(lines) == 2 + bands.first.locator("tbody tr").count()
    plain = visit(path, java_script_enabled=False)
    assert plain.locator(".heat thead th").count() == heads + 2


def test_steps_can_be_chosen(open_page: Open) -> None:
    page = open_page("#steps=invoices.join-1,invoices.scan-1")
    assert page.locator("section:visible").count() == 2
    assert page.locator(".heat thead th").all_text_contents() == ["Engine", "mean", "join 1", "scan 1"]
    assert page.locator("nav .step:visible").all_inner_texts() == ["join 1", "scan 1", "what a trial used"]


def test_what_is_of_the_whole_run_goes_with_a_choice_and_comes_back(visit: Visit, tmp_path: Path) -> None:
    stores = {name: STORES[name] for name in ("lmdb", "rocksdb")}
    page = visit(page_of(tmp_path, stores, suite="mixes", rounds=6))
    page.locator(".choose > summary").press("Enter")
    of_all = page.locator("[id='all-scenarios'], .chart:not([data-live]) .heat, nav [href='#all-scenarios']")
    intervals = page.locator(".chart[data-live] td > b + small")

    def seen() -> tuple[int, bool]:
        return sum(of_all.evaluate_all("(all) => all.map((each) => each.checkVisibility())")), intervals.count() > 0

    assert seen() == (3, True)
    page.locator("#explore [name=base]").select_option("lmdb")
    assert seen() == (0, False)
    page.locator("#explore button", has_text="Reset").click()
    assert seen() == (3, True)


def test_the_state_is_in_the_address(open_page: Open) -> None:
    page = open_page()
    page.get_by_label("Sort by").select_option("name")
    page.get_by_label("Scale").select_option("linear")
    page.get_by_label("Ratios to").select_option("sqlite")
    assert page.url.endswith("#sort=name&scale=linear&base=sqlite")
    names = bar_names(page)
    again = open_page("#" + page.url.partition("#")[2])
    assert bar_names(again) == names == sorted(names, key=str.casefold)
    row = again.locator("section:has([id='invoices.join-1']) li", has_text="SQLite (sqlite3)").first
    assert "×1.00" in row.text_content()


def test_engines_can_be_sorted_by_size(open_page: Open, shown: View) -> None:
    names = bar_names(open_page("#sort=size"))
    assert len(names) == len(ENGINES)
    sizes = {line.row.title: line.row.value or 0 for line in shown.scenarios[0].step("database-size").lines}
    known = [sizes[name] for name in names if name in sizes]
    assert known == sorted(known)


@pytest.mark.parametrize(
    "fragment", ["#invoices.join-1", "#engines=nobody&sort=x&scale=%00&base=none", "#=&&=", "#a=%E0%A4"]
)
def test_any_fragment_leaves_a_whole_page(open_page: Open, fragment: str) -> None:
    page = open_page(fragment)
    assert page.locator("section").count() == 8


def test_a_row_tells_its_interval_and_versions_on_focus_and_hover(open_page: Open) -> None:
    page = open_page()
    row = page.locator("section:has([id='invoices.join-1']) .bars li", has_text="SQLite (sqlite3)")
    row.focus()
    tip = page.locator("#tip").inner_text()
    assert re.search(r"95 % interval: [\d.]+ to [\d.]+ ms", tip)
    assert "Server 1.2.3" in tip
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()
    row.hover()
    assert page.locator("#tip").is_visible()


def test_rounds_are_shown_in_their_order_with_the_null_engines(open_page: Open) -> None:
    page = open_page()
    strip = page.locator("details.strip").first
    strip.locator("summary").click()
    strip.locator("tr").first.wait_for()
    assert "null (the harness itself)" in strip.locator("td").all_text_contents()
    assert strip.locator("path").first.get_attribute("d").count("h0") == 6  # type: ignore[union-attr]


def test_parts_and_hatches_are_explained_and_sizes_have_no_rounds(open_page: Open) -> None:
    page = open_page()
    size = page.locator("section:has([id='invoices.database-size'])")
    assert size.locator(".keys").inner_text().split() == ["data", "indexes", "log", "in", "use"]
    assert size.locator(".strip").count() == 0
    note = page.locator("section:has([id='invoices.join-1']) > .note").first.inner_text()
    assert note.endswith("Hatched or hollow: Arrow batches. Plain: rows.")


def test_headings_have_links_that_keep_the_state(open_page: Open) -> None:
    page = open_page("#sort=name")
    page.locator("[id='invoices.scan-1'] .anchor").click()
    assert page.url.endswith("#sort=name&at=invoices.scan-1")
    links = page.locator("nav a").evaluate_all(
        "(all) => all.map((each) => document.querySelectorAll(`[id='${each.getAttribute('href').slice(1)}']`).length)"
    )
    assert {*links} == {1}


def test_a_link_leads_to_its_heading_wherever_the_page_was_opened(open_page: Open) -> None:
    page = open_page("#sort=name&at=invoices.scan-1")
    page.evaluate("() => { window.followed = new Promise((done) => addEventListener('hashchange', () => done())); }")
    page.locator("nav a", has_text="join 1").first.click()
    page.evaluate("window.followed")  # until it is; the page's policy forbids wait_for_function's second look
    assert 0 <= page.locator("[id='invoices.join-1']").evaluate("(head) => head.getBoundingClientRect().top") < 200


def test_without_scripts_and_in_print_the_charts_stand(open_page: Open) -> None:
    plain = open_page(java_script_enabled=False)
    assert plain.locator(".heat:visible td small").count() > 8 * len(ENGINES) * 0.8  # the overview
    assert plain.locator("section .bars:visible").count() == 8
    assert plain.locator("section .bars svg").first.bounding_box()["width"] > 200  # type: ignore[index]
    assert not plain.locator("#explore").is_visible()
    page = open_page("#engines=sqlite")
    assert page.locator(".chart svg:visible").count() == 0
    page.emulate_media(media="print")
    assert page.locator("section .bars:visible").count() == 8
    assert page.locator(".copy:visible").count() == 0
    assert page.locator(".heat tbody tr:visible").count() == 1  # it follows the choice


def test_printed_pages_are_full_and_charts_stay_with_their_headings(open_page: Open) -> None:
    page = open_page(width=718, height=1000)
    page.emulate_media(media="print")
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "1cm")
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", margin=margins)))
    high = (297 - 20) / 25.4 * 96  # pixels of a page
    assert page.evaluate("document.documentElement.scrollHeight") > 0.85 * pages * high > 4 * high
    assert page.locator(".heat").evaluate("(table) => table.getBoundingClientRect().right") <= 718
    for after in ("h2", ".finding", ".finding + .note", ".bars li"):
        assert page.locator(f"section {after}").first.evaluate("(box) => getComputedStyle(box).breakAfter") == "avoid"


def test_marks_move_to_the_axis_of_the_choice(visit: Visit, tmp_path: Path) -> None:
    fakes = {"a": Fake("A"), "b": Fake("B", 2.0), "c": Fake("C", 10.0)}
    page = visit(page_of(tmp_path, fakes, rounds=8, noise=0.0))
    step = page.locator("section:has([id='invoices.join-1'])")

    def ends() -> list[float]:
        """Where bars end, in pixels from where they begin."""
        widths = "(all) => all.map((each) => each.getBoundingClientRect().width)"
        return step.locator("li:not([hidden]) rect").evaluate_all(widths)

    a, b, c = ends()
    assert (b / a, c / a) == (pytest.approx(2, rel=0.01), pytest.approx(10, rel=0.01))
    page.locator(".choose > summary").press("Enter")
    page.locator("summary", has_text="Engines").click()
    page.locator("#explore [name=e][value=c]").uncheck()
    assert ends() == [pytest.approx(c / 2, rel=0.02), pytest.approx(c, rel=0.02)]
    assert step.locator(".ticks span").last.inner_text() == "100"
    page.locator("#explore [name=scale]").select_option("log")
    first, last = (float(each.get_attribute("cx")[:-1]) for each in step.locator("li:not([hidden]) circle").all())  # type: ignore[index]
    assert last - first == pytest.approx(math.log(2) / math.log(2 * 1.8 * 1.5) * 100, abs=0.5)
    page.locator("#explore button", has_text="Reset").click()
    assert ends() == [pytest.approx(each, abs=0.5) for each in (a, b, c)]


def test_nothing_becomes_markup(open_page: Open) -> None:
    page = open_page()
    assert page.title() == "Invoices – dbbench"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    page.locator(".bars li", has_text="onerror").first.focus()
    assert "<img src=x onerror=alert(1)>" in page.locator("#tip").inner_text()


def test_texts_are_large_enough_and_nothing_overflows(open_page: Open) -> None:
    page = open_page()
    for width in (1100, 700, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert smallest_text(page) >= 12


@pytest.mark.parametrize("suite", ["invoices", "mixes", "decision-support", "lifecycle"])
def test_the_answer_is_within_the_first_screen_and_the_next_chart_a_screen_away(
    visit: Visit, tmp_path: Path, suite: str
) -> None:
    names = ("lmdb", "rocksdb", "sqlite", "duckdb") if suite == "mixes" else ("sqlite", "duckdb", "postgresql", "h2")
    fakes = STORES if suite == "mixes" else MANY
    found = view(fabricate(tmp_path / "run", {name: fakes[name] for name in names}, suite=suite, rounds=6))
    write_report(found, ("html",))
    page = visit(found.folder / "report" / "index.html")
    for width, height in ((1280, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        timed = [step.step.name for each in found.scenarios for step in each.steps if not step.counted]
        assert page.locator(".wins a").count() == len([name for name in timed if not name.startswith("fill-")])
        assert ("durable than asked for" in page.locator(".verdict").inner_text()) == (suite == "mixes")
        assert page.locator(".finding[data-of]", has_text="durable than asked for").count() == 0  # it is said once
        fits = page.locator(".wide:has(.heat)").evaluate_all(
            "(all) => all.map((each) => each.scrollWidth <= each.clientWidth)"
        )
        assert width < 1280 or all(fits)
        for part in (".verdict", ".wins"):
            box = page.locator(part).bounding_box()
            assert box is not None
            assert 0 < box["y"] < box["y"] + box["height"] < height
        page.evaluate("scrollTo(0, 3000)")
        assert page.locator("nav").evaluate("(nav) => nav.getBoundingClientRect().top") == 0
        charts = page.locator(".live:not(.copy), .chart:visible, .bars:visible").evaluate_all(
            "(boxes) => boxes.map((box) => box.getBoundingClientRect()).map((box) => [box.top, box.bottom])"
        )
        assert max(below[0] - above[1] for above, below in pairwise(charts)) <= height
    page.set_viewport_size({"width": 718, "height": 1000})
    page.emulate_media(media="print")
    high = page.locator(".heat td").evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().height)")
    assert max(high) < 60  # no figure is broken into its letters
    heads = page.locator(".heat thead th:visible").evaluate_all(
        "(all) => all.map((each) => (each.style.overflowWrap = 'normal',"
        " each.scrollWidth <= each.clientWidth || each.textContent))"
    )
    assert set(heads) == {True}  # and no head
    figures = page.locator(".bars span:nth-child(4):visible").evaluate_all(
        "(all) => all.map((each) => each.scrollWidth <= each.clientWidth || each.textContent)"
    )
    assert set(figures) == {True}


@pytest.mark.parametrize(
    ("suite", "scheme"), [("", "light"), ("mixes", "dark"), ("object-load", "light"), ("vectors", "dark")]
)
def test_accessibility_by_axe(visit: Visit, shown: View, tmp_path: Path, suite: str, scheme: str) -> None:
    """The page of each kind of engine, and those of suites that have other charts."""
    path = shown.folder / "report" / "index.html"
    if suite:
        names = ("lmdb", "dbm.gnu") if suite == "mixes" else ("sqlite", "duckdb+arrow")
        fakes = STORES if suite == "mixes" else MANY
        path = page_of(tmp_path, {name: fakes[name] for name in names}, suite=suite, rounds=2)
    page = visit(path, color_scheme=scheme)
    if suite == "object-load":  # what is shown while others are folded up is shown afterwards, too
        assert faults(page) == []
    unfold(page)
    assert faults(page) == []


def test_a_page_that_was_sorted_begins_so_and_can_be_sorted_otherwise(visit: Visit, tmp_path: Path) -> None:
    fakes = {
        name: Fake(name.upper(), slow, more={"peak_memory": memory, "cpu_seconds": cpu, "written_bytes": written})
        for name, slow, memory, cpu, written in (
            ("a", 3.0, 95_000_000, 2.0, 50_000_000),
            ("b", 2.0, 300_000_000, 1.0, 60_000_000),
            ("c", 1.0, 200_000_000, 3.0, 40_000_000),
        )
    }
    found = view(fabricate(tmp_path / "run", fakes, rounds=6))
    found = sorted_by(found, "memory", found)
    write_report(found, ("html",))
    page = visit(found.folder / "report" / "index.html")
    assert bar_names(page) == ["A", "C", "B"]
    assert page.locator(".heat tbody th").all_text_contents() == ["A", "C", "B"]
    page.locator(".choose > summary").click()
    for sort, names in {"cpu": "BAC", "written": "CAB", "memory": "ACB", "best": "CBA"}.items():
        page.locator("#explore [name=sort]").select_option(sort)
        assert bar_names(page) == [*names]
    assert page.url.endswith("#sort=best")
