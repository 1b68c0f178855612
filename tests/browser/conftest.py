"""Debian's Chromium without a network, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

Visit = Callable[..., "Page"]
Contexts = Callable[..., "BrowserContext"]
HOSTILE = "<img src=x onerror=alert(1)></script><script>document.title='owned'</script> \"q\" ' \u202eleft \U0001f986 \x1b[31m"
#: The rules of axe-core that a colour scheme can break.
OF_COLOURS = ("color-contrast", "link-in-text-block")


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
        # One process for all pages: to start another takes as long as to load a small page.
        flags = ["--no-sandbox", "--renderer-process-limit=1"]
        running = playwright.chromium.launch(executable_path=found, args=flags)
        yield running
        running.close()


@pytest.fixture(scope="module")
def contexts(browser: Browser) -> Contexts:
    """What a browser is like -> one context for all pages that want it so; they keep nothing in it."""

    @cache
    def context(**like: Any) -> BrowserContext:
        made = browser.new_context(offline=True, **like)
        made.set_default_timeout(60_000)
        return made

    return context


@pytest.fixture
def visit(contexts: Contexts) -> Iterator[Visit]:
    """Opens a file, with a fragment and with what the browser is to be like; nothing may go wrong or be fetched."""
    pages, wrong = [], []

    def load(path: Path, fragment: str = "", width: int = 1100, height: int = 900, **like: Any) -> Page:
        page = contexts(**like).new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(request.url))
        page.goto(path.as_uri() + fragment)
        return page

    yield load
    for page in pages:
        page.close()
    assert wrong == []


def faults(page: Page, *rules: str) -> list[list[str]]:
    """What axe-core finds, of any impact, by some or all of its rules: the rule, and the first place."""
    axe = pytest.importorskip("axe_playwright_python.base")
    page.evaluate(axe.AXE_SCRIPT)
    options = {"resultTypes": ["violations"], "selectors": False, **({"runOnly": rules} if rules else {})}
    found: list[list[str]] = page.evaluate(
        """async (options) => (await axe.run(options)).violations.map((each) => [each.id, each.nodes[0].html])""",
        options,
    )
    return found


def smallest_text(page: Page) -> float:
    """Pixels of the smallest text that is shown outside charts."""
    return float(
        page.evaluate(
            """() => Math.min(...[...document.querySelectorAll('body *')]
            .filter((each) => each.checkVisibility() && !each.closest('svg, sup') && each.innerText?.trim())
            .map((each) => parseFloat(getComputedStyle(each).fontSize)))"""
        )
    )
