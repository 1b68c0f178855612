"""The page in a real browser."""

import re
from pathlib import Path

import pytest

from dbbench.report.run_view import view
from dbbench.report.write import write_report
from tests.browser.conftest import Visit
from tests.conftest import run_suite
from tests.fabricated import Fake, fabricate

pytestmark = pytest.mark.matrix


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which an engine's error tries to put markup into the page."""
    folder = tmp_path_factory.mktemp("page")
    run_suite(folder, "invoices", ["faulty-markup"], "--scale", "0.01", "--format", "html")
    return folder / "run" / "report" / "index.html"


def test_the_page_is_whole_and_nothing_an_engine_says_becomes_markup(visit: Visit, page: Path) -> None:
    seen = visit(page, width=1280, height=2400)
    dom = seen.content()
    assert (dom.count('class="heat"'), dom.count('<ul class="bars')) == (1, 8 + 3)  # with what trials used
    assert "Faulty: &lt;b&gt;markup&lt;/b&gt; &amp; more" in dom
    assert "RuntimeError: " in dom
    assert "Join 2: sum of charges of each shipment, in order" in dom
    assert "&lt;script&gt;document.title='owned'&lt;/script&gt;" in dom
    assert re.search(r"<title>(.*?)</title>", dom)[1] == "Invoices – dbbench"
    assert "<img src=x" not in dom
    assert dom.count("<summary>Query plans</summary>") == 5 - 1  # without the one that failed
    assert "SEARCH A USING INTEGER PRIMARY KEY" in dom
    for width in (1280, 400):
        seen.set_viewport_size({"width": width, "height": 2400})
        assert len(seen.screenshot()) > 30_000


def test_the_page_of_many_engines_is_whole(visit: Visit, tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", rounds=2), publish=True)
    write_report(shown, ("html",))
    seen = visit(shown.folder / "report" / "index.html", height=3000)
    dom = seen.content()
    assert (dom.count('class="heat"'), dom.count('<ul class="bars')) == (1, 8 + 3)
    assert dom.count("<summary>Query plans</summary>") == 5
    assert "SQLite (sqlite3)" in dom
    assert "withheld: Benchmark clause 5(e)" in dom
    assert len(seen.screenshot()) > 100_000


def test_the_page_of_records_has_percentiles_and_published_figures(visit: Visit, tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 3.0)}, suite="esent", rounds=2))
    write_report(shown, ("html",))
    dom = visit(shown.folder / "report" / "index.html").content()
    assert dom.count('<ul class="bars') == 5 + 3
    assert dom.count("how long a call took") == 6  # in the text of each chart and in its title
    assert '<h2 id="then">Then and now' in dom


def test_the_page_loads_nothing_from_elsewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not re.search(r'(?:src|href)\s*=\s*"(?:https?:)?//', text)
