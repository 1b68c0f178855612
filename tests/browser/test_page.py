"""The page in a real browser."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dbbench.report.run_view import view
from dbbench.report.write import write_report
from tests.conftest import run_dbbench
from tests.fabricated import Fake, fabricate

pytestmark = pytest.mark.matrix

QUIET = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
]  # fmt: skip


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if "browser" in os.environ.get("DBBENCH_REQUIRE", "").split(","):
            pytest.fail("chromium is required and missing; apt install chromium")
        pytest.skip("no chromium; apt install chromium")
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which an engine's error tries to put markup into the page."""
    folder = tmp_path_factory.mktemp("page")
    engines = ("-e", "sqlite", "-e", "faulty-markup")
    command = ("suite", "invoices", "--scale", "0.05", "--rounds", "2", *engines, "--out", "run")
    run_dbbench(folder, *command, plugins=("faulty",))
    return folder / "run" / "report" / "index.html"


def browse(chromium: str, tmp_path: Path, *arguments: str) -> str:
    command = [chromium, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def test_the_page_shows_charts_tables_and_failures(chromium: str, page: Path, tmp_path: Path) -> None:
    dom = browse(chromium, tmp_path, "--dump-dom", page.as_uri())
    assert (dom.count('class="heat"'), dom.count('<ul class="bars')) == (1, 8 + 3)  # with what trials used
    assert "SQLite (sqlite3)" in dom
    assert "RuntimeError: " in dom
    assert "Join 2: sum of charges of each shipment, in order" in dom


def test_nothing_an_engine_says_becomes_markup(chromium: str, page: Path, tmp_path: Path) -> None:
    dom = browse(chromium, tmp_path, "--dump-dom", page.as_uri())
    assert "&lt;script&gt;document.title='owned'&lt;/script&gt;" in dom
    assert re.search(r"<title>(.*?)</title>", dom)[1] == "Invoices – dbbench"
    assert "<img src=x" not in dom


def test_plans_are_folded_up_under_each_query(chromium: str, page: Path, tmp_path: Path) -> None:
    dom = browse(chromium, tmp_path, "--dump-dom", page.as_uri())
    assert dom.count("<summary>Query plans</summary>") == 5
    assert "SEARCH A USING INTEGER PRIMARY KEY" in dom


def test_the_page_of_many_engines_is_whole(chromium: str, tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run"), publish=True)
    write_report(shown, ("html",))
    path = shown.folder / "report" / "index.html"
    dom = browse(chromium, tmp_path, "--dump-dom", path.as_uri())
    assert (dom.count('class="heat"'), dom.count('<ul class="bars')) == (1, 8 + 3)
    assert "withheld: Benchmark clause 5(e)" in dom
    picture = tmp_path / "page.png"
    browse(chromium, tmp_path, f"--screenshot={picture}", "--window-size=1100,3000", path.as_uri())
    assert picture.stat().st_size > 100_000


def test_the_page_of_records_has_percentiles_and_published_figures(chromium: str, tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 3.0)}, suite="esent", rounds=2))
    write_report(shown, ("html",))
    dom = browse(chromium, tmp_path, "--dump-dom", (shown.folder / "report" / "index.html").as_uri())
    assert dom.count('<ul class="bars') == 5 + 3
    assert dom.count("how long a call took") == 6  # in the text of each chart and in its title
    assert '<h2 id="then">Then and now' in dom


def test_the_page_loads_nothing_from_elsewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not re.search(r'(?:src|href)\s*=\s*"(?:https?:)?//', text)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_can_be_pictured(chromium: str, page: Path, tmp_path: Path, width: int) -> None:
    picture = tmp_path / "page.png"
    browse(chromium, tmp_path, f"--screenshot={picture}", f"--window-size={width},2400", page.as_uri())
    assert picture.stat().st_size > 30_000
