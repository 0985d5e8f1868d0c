"""The documentation's two sites as a reader has them, in a real browser: built strictly, served on this machine."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.parts import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.needs("chromium", "mkdocs")

SCROLLING = """[...document.querySelectorAll("pre, pre > code")]
  .filter((block) => block.scrollWidth > block.clientWidth + 1).map((block) => block.textContent.slice(0, 80))"""
SCHEME = "document.body.dataset.mdColorScheme"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of both sites."""
    folder = tmp_path_factory.mktemp("site")
    for settings, place in (("mkdocs.yml", folder), ("mkdocs.zh.yml", folder / "zh")):
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", settings, "--site-dir", place],
            cwd=ROOT,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "ignore"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    """A page that asks nobody but the site itself."""
    context = browser.new_context(base_url=site, viewport={"width": 1400, "height": 900}, color_scheme="light")
    context.set_default_timeout(15_000)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    yield context.new_page()
    context.close()
    assert [url for url in asked if not url.startswith((site, "data:", "blob:"))] == []


@pytest.mark.parametrize(
    ("folder", "text", "found"),
    [
        ("", "confidence interval", "explanation/intervals.html"),
        ("", "statistically significant", "explanation/statistics.html"),
        ("zh/", "置信区间", "explanation/intervals.html"),
        ("zh/", "显著性", "explanation/statistics.html"),
    ],
)
def test_search(page: Page, folder: str, text: str, found: str) -> None:
    page.goto(f"{folder}index.html")
    page.locator(".md-search__input").click()
    page.keyboard.type(text)
    page.keyboard.press("End")  # Chinese is inserted here without a key, and the search listens to keys
    first = page.locator(".md-search-result__item > a.md-search-result__link").first
    first.wait_for()
    assert f"/{folder}{found}" in str(first.get_attribute("href"))
    assert first.locator(".md-search-result__terms").count() == 0  # no word of the query is missing there
    assert first.locator("mark").count() > 0


def test_switch_of_language(page: Page) -> None:
    for start, language, end in (
        ("zh/how-to/gate.html", "en", "/how-to/gate.html"),
        ("how-to/gate.html", "zh", "/zh/how-to/gate.html"),
        ("reference/contracts.html", "zh", "/zh/index.html"),  # which is English alone
    ):
        page.goto(start, wait_until="domcontentloaded")
        page.locator("button[aria-label]:has(+ .md-select__inner)").hover()
        page.click(f".md-select__link[hreflang={language}]")
        page.wait_for_url(f"**{end}")
        assert page.url.endswith(end)
        assert page.get_attribute("html", "lang") == language


def test_links_from_chinese_into_english(page: Page) -> None:
    page.goto("zh/explanation/contract.html")
    page.locator("article a[href*='reference/contracts']").click()
    page.wait_for_url("**/reference/contracts.html")
    assert page.get_attribute("html", "lang") == "en"


def test_colours(page: Page) -> None:
    """Those of the system, then light, then dark."""
    page.emulate_media(color_scheme="dark")
    page.goto("index.html")
    seen = [page.evaluate(SCHEME)]
    for _ in range(3):
        page.locator("label.md-header__button[for^=__palette]:not([hidden])").click()
        seen.append(page.evaluate(SCHEME))
    assert seen == ["slate", "default", "slate", "slate"]
    page.reload()
    assert page.evaluate(SCHEME) == "slate"
    assert page.locator(".md-logo svg").first.is_visible()


def test_examples_fit_their_column(page: Page) -> None:
    for name in ("tutorial", "how-to/compare", "zh/how-to/compare", "zh/how-to/gate"):
        page.goto(f"{name}.html", wait_until="domcontentloaded")
        assert page.evaluate(SCROLLING) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") == 1400, name
