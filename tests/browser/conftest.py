"""A browser and pages in it, for all tests of what is shown in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankgauge.reports import report
from rankgauge.words import Language
from tests.parts import here
from tests.reports.samples import made

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
FIGURES = """[...document.querySelectorAll("figure.chart")].filter((figure) => !figure.hidden).map((figure) => {
  const drawing = figure.querySelector("svg, canvas");
  return [figure.dataset.chart, drawing ? drawing.getBoundingClientRect().width <= figure.clientWidth + 1 : null];
})"""
SHIFT = """new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift = (window.shift ?? 0) + entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        started = tool.chromium.launch(executable_path=here("chromium"), args=list(FLAGS))
        yield started
        started.close()


class Opened:
    """A page from a file, without a network, and everything that went wrong in it."""

    def __init__(self, browser: Browser, folder: Path, record: dict[str, Any], language: Language, **context: Any):
        self.faults: list[str] = []
        file = folder / "report.html"
        file.write_text(report(made(record), format="html", language=language), encoding="utf-8")
        size = {"width": context.pop("width", 1300), "height": 900}
        self.context = browser.new_context(offline=True, viewport=size, **context)
        self.context.set_default_timeout(15_000)
        self.page: Page = self.context.new_page()
        self.page.on("console", lambda message: self.faults.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.faults.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url[:80]}"))
        self.page.add_init_script(SHIFT)
        self.page.goto(file.as_uri())
        self.drawn()

    def _asked(self, url: str) -> None:
        if not url.startswith(("file:", "data:")):
            self.faults.append(f"asked for {url[:80]}")

    def drawn(self) -> None:
        """Wait until all charts are there."""
        self.page.wait_for_selector("html[data-charts=drawn]")

    def figures(self) -> dict[str, bool | None]:
        return dict(self.page.evaluate(FIGURES))

    def column(self, number: int) -> list[str]:
        return self.page.locator(f"#table tbody tr > :nth-child({number})").all_inner_texts()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    pages: list[Opened] = []

    def open_page(record: dict[str, Any], language: Language = "en", **context: Any) -> Opened:
        pages.append(Opened(browser, tmp_path, record, language, **context))
        return pages[-1]

    yield open_page
    for one in pages:
        faults = list(one.faults)
        one.context.close()
        assert faults == []
