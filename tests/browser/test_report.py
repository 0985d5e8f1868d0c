"""The page in a real browser, offline: it draws, searches, sorts and switches, and asks the network for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankgauge.reports import report
from rankgauge.words import Language
from tests.hostile import HOSTILE
from tests.parts import here
from tests.reports.samples import (
    comparison_record,
    evaluation_record,
    hostile_record,
    large_record,
    live_record,
    made,
)

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
pytestmark = pytest.mark.needs("chromium")

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


def test_charts_are_drawn_without_a_jump(opened: Any) -> None:
    one = opened(comparison_record())
    wanted = ("means", "comparison", "scatter", "differences", "distribution", "slices")
    assert one.figures() == dict.fromkeys(wanted, True)
    assert one.page.locator("figure svg .mark-symbol path").count() > 30
    assert one.page.evaluate("window.shift ?? 0") < 0.02


def test_choice_of_measure_moves_everything(opened: Any) -> None:
    one = opened(comparison_record())
    assert "+0.5949" in one.page.inner_text("#changed")
    one.page.evaluate("delete document.documentElement.dataset.charts")
    one.page.select_option("#measure", label="R@10")
    one.drawn()
    assert "R@10, bm25" in one.page.inner_html("figure[data-chart=scatter]")
    assert "R@10, difference of means" in one.page.inner_html("figure[data-chart=slices]")
    record = comparison_record()
    best = record["comparison"]["changes"][1]["gained"][0]["query"]
    assert best in one.page.locator(".change b").first.inner_text()
    assert one.column(4)[0] == f"{record['systems'][0]['per_query']['R@10'][0]:.4f}"


def test_search_sort_and_pages(opened: Any) -> None:
    one = opened(comparison_record())
    page = one.page
    assert len(one.column(1)) == 25
    assert page.inner_text("#count") == "30 of 30 queries"
    page.click("#next")
    assert one.column(1) == ["q26", "q27", "q28", "q29", "q30"]
    assert page.is_disabled("#next")
    page.fill("#search", "FILE")
    page.wait_for_function("!document.querySelector('#count').textContent.startsWith('30')")
    record = comparison_record()
    found = [q for q in record["queries"] if "file" in f"{record['texts'][q]} {record['tags'][q]}"]
    assert 0 < len(found) < 25
    assert one.column(1) == found
    page.fill("#search", "")
    page.wait_for_function("document.querySelector('#count').textContent.startsWith('30')")
    page.click("#table th[data-key=d] button")
    values = [float(text.replace("−", "-")) for text in one.column(3)]
    assert values == sorted(values, reverse=True)
    assert page.get_attribute("#table th[data-key=d]", "aria-sort") == "descending"
    page.keyboard.press("Enter")  # the heading keeps the focus
    values = [float(text.replace("−", "-")) for text in one.column(3)]
    assert values == sorted(values)
    page.click("#table th[data-key=q] button")
    assert one.column(1)[0] == "q01"


def test_lists_side_by_side(opened: Any) -> None:
    one = opened(comparison_record())
    first = one.page.locator(".change").first
    assert first.locator("h4").all_inner_texts() == ["bm25", "hybrid"]
    assert first.locator("li").count() == 20
    assert first.locator(".grade.none").count() > 0
    second = one.page.locator(".change").nth(1)
    assert second.locator("li").count() == 0
    second.locator("summary").press("Enter")
    second.locator("li").first.wait_for()
    look = "(mark) => getComputedStyle(mark).backgroundImage"
    assert "gradient" in first.locator(".grade.none").first.evaluate(look)
    assert first.locator(".grade:not(.none)").first.evaluate(look) == "none"


def test_dark_and_light(opened: Any) -> None:
    one = opened(evaluation_record(), color_scheme="dark")
    page = one.page
    color = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(color) == "rgb(14, 18, 24)"
    assert page.get_attribute("figure[data-chart=means]", "data-drawn") == "dark"
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.click("#theme")
    page.wait_for_selector("figure[data-chart=means][data-drawn=light]")
    assert page.evaluate(color) == "rgb(245, 246, 248)"
    assert page.get_attribute("#theme", "aria-pressed") == "false"
    page.reload()
    one.drawn()
    assert page.evaluate(color) == "rgb(245, 246, 248)"


def test_chinese_on_a_telephone(opened: Any) -> None:
    one = opened(comparison_record(), "zh", width=400)
    assert one.page.get_attribute("html", "lang") == "zh-CN"
    assert all(one.figures().values())
    assert one.page.evaluate("document.documentElement.scrollWidth") == 400
    assert "上升" in one.page.inner_html("figure[data-chart=scatter]")
    assert one.page.inner_text("#count") == "30 个查询中的 30 个"


def test_live_figures(opened: Any) -> None:
    one = opened(live_record())
    assert {"calls", "sweep", "setting"} <= set(one.figures())
    assert all(one.figures().values())
    assert one.page.evaluate("window.shift ?? 0") < 0.02
    shown = one.page.locator("figure[data-chart=calls]:not([hidden])")
    assert shown.count() == 1
    one.page.evaluate("delete document.documentElement.dataset.charts")
    one.page.select_option("#calls select", label="RR")
    one.drawn()
    assert shown.count() == 1
    assert ">RR</text>" in shown.inner_html()
    best = one.page.locator("figure[data-chart=sweep]").first.locator(".mark-symbol path[aria-label*=V5]")
    best.first.hover()
    one.page.wait_for_selector("#vg-tooltip-element.visible")
    assert "ef_search=64, index=hnsw" in one.page.inner_text("#vg-tooltip-element")


def test_live_figures_in_chinese_in_the_dark_on_a_telephone(opened: Any) -> None:
    one = opened(live_record(), "zh", width=400, color_scheme="dark")
    assert all(one.figures().values())
    assert one.page.evaluate("document.documentElement.scrollWidth") == 400
    assert "最佳版本" in one.page.locator("figure[data-chart=sweep]").first.inner_html()


def test_texts_are_only_texts(opened: Any) -> None:
    text = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\\{a}__proto__" + "".join(HOSTILE.values())
    one = opened(hostile_record(text))
    assert all(one.figures().values())
    assert one.page.locator("img").count() == 0
    assert one.page.evaluate("window.hacked") is None
    shown = one.page.locator(".change b").first.evaluate("(b) => b.textContent")
    assert "<img src=x onerror=alert(2)>\"'\\{a}__proto__\\x1b[31;1mred" in shown
    everything = one.page.evaluate("document.body.textContent + document.title")
    assert not set("\x00\x1b\x9b\u202e\u200b\ud800\ufffd") & set(re.sub(r"\ufffd(?=\W)", "", everything))


def test_one_system_and_none_by_query(opened: Any) -> None:
    one = opened(evaluation_record("bm25"))
    assert one.figures() == {"means": True, "distribution": True}
    assert one.page.locator("#table tbody tr").count() == 25
    record = evaluation_record()
    record["queries"] = []
    for system in record["systems"]:
        system |= {"per_query": {}, "counted": {}}
    assert opened(record).figures() == {"means": True}


def test_many_queries_open_fast(opened: Any) -> None:
    one = opened(large_record(systems=10, queries=7000, measures=2))
    assert one.page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") < 8000
    assert one.figures()["scatter"] is True
    assert one.page.locator("figure[data-chart=scatter] canvas").count() == 1
    assert one.page.locator("figure[data-chart=comparison]:not([hidden])").count() == 1
    assert re.fullmatch("Page 1 of 280", one.page.inner_text("#page"))
    one.page.fill("#search", "1048622")
    one.page.wait_for_function("document.querySelectorAll('#table tbody tr').length === 1")
