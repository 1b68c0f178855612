"""Debian's Chromium without a network, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Visit = Callable[..., "Page"]


def missing(what: str) -> None:
    if "browser" in os.environ.get("DBBENCH_REQUIRE", "").split(","):
        pytest.fail(f"{what} is required and missing")
    pytest.skip(f"no {what}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For a file of tests: as long as it is there Playwright's event loop runs, beside which Django refuses to work."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        missing("chromium: apt install chromium-headless-shell")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright: pip install playwright axe-playwright-python")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens a file, with a fragment and with what the browser is to be like; nothing may go wrong or be fetched."""
    contexts, wrong = [], []

    def load(path: Path, fragment: str = "", **like: Any) -> Page:
        context = browser.new_context(offline=True, **{"viewport": {"width": 1100, "height": 900}, **like})
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(request.url))
        page.goto(path.as_uri() + fragment)
        return page

    yield load
    for context in contexts:
        context.close()
    assert wrong == []


def faults(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds, of any impact: the rule, and the first place."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found]


def smallest_text(page: Page) -> float:
    """Pixels of the smallest text that is shown outside charts."""
    return float(
        page.evaluate(
            """() => Math.min(...[...document.querySelectorAll('body *')]
            .filter((each) => each.checkVisibility() && !each.closest('svg, sup') && each.innerText?.trim())
            .map((each) => parseFloat(getComputedStyle(each).fontSize)))"""
        )
    )
