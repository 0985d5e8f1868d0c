"""A result's display on pages like those of notebooks, light and dark: aligned, readable, and the chart that suits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rankgauge import report
from rankgauge.reports.plot import plot
from tests.reports.samples import large_record, live_record, made

pytestmark = pytest.mark.needs("chromium")

# As JupyterLab styles tables of any output, and as its themes are told apart.
PAGE = """<!doctype html><style>body {{ background: {background}; color: {color}; }}
.jp-RenderedHTMLCommon:not(.jp-RenderedMarkdown) td, .jp-RenderedHTMLCommon:not(.jp-RenderedMarkdown) th {{
  text-align: right; }}</style><body {theme}><div class="jp-RenderedHTMLCommon">{result}{chart}</div>"""
LOOKS = {
    "lab light": ('data-jp-theme-light="true"', "#fff", "#212121", "dark", "light"),
    "lab dark": ('data-jp-theme-light="false"', "#111", "#eee", "light", "dark"),
    "vscode dark": ('class="vscode-dark"', "#1e1e1e", "#ddd", "light", "dark"),
    "browser light": ("", "#fff", "#000", "light", "light"),
    "browser dark": ("", "#121212", "#eee", "dark", "dark"),
    "white although dark is preferred": ("", "#fff", "#000", "dark", "dark"),
}
CONTRASTS = """() => {
  const tone = (text) => { const c = text.match(/[\\d.]+/g).map(Number).slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126*c[0]+0.7152*c[1]+0.0722*c[2]; };
  const page = tone(getComputedStyle(document.body).backgroundColor);
  const against = (color) => { const own = tone(color);
    return (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05); };
  const words = [...document.querySelectorAll(".rankgauge td, .rankgauge th, .rankgauge p, .rankgauge summary")]
    .map((element) => against(getComputedStyle(element).color));
  const marks = [...document.querySelectorAll(".rankgauge .rg-sign, .rankgauge circle")]
    .map((element) => against(getComputedStyle(element)[element.tagName === "circle" ? "fill" : "color"]));
  return [Math.min(...words), Math.min(...marks)];
}"""


@pytest.mark.parametrize("look", LOOKS)
def test_light_and_dark(browser: Any, look: str) -> None:
    theme, background, color, preferred, shown = LOOKS[look]
    record = made(live_record())
    chart = plot(record)._repr_mimebundle_()["text/html"]
    result = report(record, format="notebook")
    context = browser.new_context(offline=True, color_scheme=preferred, viewport={"width": 1000, "height": 900})
    page = context.new_page()
    page.set_content(PAGE.format(background=background, color=color, theme=theme, result=result, chart=chart))
    assert page.locator(".rankgauge-chart img:visible").count() == 1
    assert page.locator(f".rankgauge-chart img.rg-{shown}").is_visible()
    assert page.evaluate("document.querySelector('.rankgauge-chart img:not([style])').naturalWidth") > 600
    words, marks = page.evaluate(CONTRASTS)
    assert words >= 4.5
    assert marks >= 3  # as of drawings, for the words beside them say the same
    aligned = "(cell) => getComputedStyle(cell).textAlign"
    assert page.locator(".rankgauge td.rg-text").first.evaluate(aligned) == "left"
    assert page.locator(".rankgauge td.rg-number").first.evaluate(aligned) == "right"
    drawn = page.locator(".rankgauge svg").first
    assert drawn.get_attribute("aria-label").startswith("[")  # type: ignore[union-attr]
    assert not page.locator(".rankgauge details li").first.is_visible()
    page.locator(".rankgauge summary").click()
    assert page.locator(".rankgauge details li").first.is_visible()
    context.close()


def test_a_narrow_cell_shows_all_columns(browser: Any) -> None:
    """Groups and further measures are not out of sight where the output of a cell is half a screen wide."""
    record = json.dumps(large_record(systems=5, queries=60, measures=2)).replace(
        "retriever-", "retriever_with_long_name_"
    )
    result = report(made(json.loads(record)), format="notebook")
    for width in (1000, 800, 700):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.set_content(PAGE.format(background="#fff", color="#000", theme="", result=result, chart=""))
        table = page.locator(".rankgauge table").first
        assert table.locator("th", has_text="group").count() == 1
        assert table.evaluate("(table) => table.scrollWidth <= table.parentElement.clientWidth"), width
        page.close()
