"""Everything on the page can be read: contrast, nothing clipped, no table that overflows unseen, at all widths, light
and dark, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from rankgauge.words import LANGUAGES, Language
from tests.reports.samples import large_record, live_record

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("font")]

CONTRAST = """(() => {
  const rgb = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const mixed = (top, below) => (part) => [part, top[part] * top.a + below[part] * (1 - top.a)];
  const over = (top, below) => ({ ...Object.fromEntries(["r", "g", "b"].map(mixed(top, below))), a: 1 });
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ({ r, g, b }) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found.a > 0) layers.push(found);
      if (found.a === 1) break;
    }
    return layers.reduceRight((below, top) => over(top, below), { r: 255, g: 255, b: 255, a: 1 });
  };
  const faults = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode, owner = node.parentElement, text = node.textContent.trim();
    if (!text || owner.closest("script, style, noscript, title, :disabled")) continue;
    if (!owner.checkVisibility({ opacityProperty: true })) continue;
    const look = getComputedStyle(owner), drawn = owner.closest("svg");
    if (drawn && look.stroke !== "none") continue; // a halo, on which the same text is written again
    const ground = behind(drawn ? drawn.parentElement : owner);
    const pair = [light(over(rgb(drawn ? look.fill : look.color), ground)), light(ground)].sort((x, y) => y - x);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    seen += 1;
    if (ratio < 4.5) faults.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return [seen, faults];
})()"""
"""How many texts there are, and those with too little contrast to what is behind them."""

CLIPPED = """(() => {
  const faults = [], wide = document.documentElement.clientWidth;
  const fault = (what, node) => faults.push(`${what}: ${node.tagName} ${node.textContent.trim().slice(0, 40)}`);
  const hides = (how) => how === "hidden" || how === "clip";
  for (const node of document.querySelectorAll("body *")) {
    if (!node.checkVisibility() || node.closest("svg, .hidden, .skip, select")) continue;
    if (node.closest("thead") && getComputedStyle(node.closest("thead")).clipPath !== "none") continue; // of cards
    const look = getComputedStyle(node), box = node.getBoundingClientRect();
    const own = [...node.childNodes].some((part) => part.nodeType === 3 && part.textContent.trim());
    if (hides(look.overflowX) && node.scrollWidth > node.clientWidth + 1) fault("clipped", node);
    if (own && hides(look.overflowY) && node.scrollHeight > node.clientHeight + 2) fault("cut below", node);
    if (own && !node.closest(".scroll, nav") && (box.right > wide + 1 || box.left < -1)) fault("outside", node);
    if (node.matches(".axis i")) {
      const frame = node.closest("th, td").getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1) fault("axis", node);
      const next = node.nextElementSibling?.matches(".end") ? node.nextElementSibling.getBoundingClientRect() : null;
      if (next && next.left < box.right + 2) fault("axis runs together", node);
    }
  }
  for (const box of document.querySelectorAll(".scroll")) {
    if (!box.checkVisibility() || box.scrollWidth <= box.clientWidth + 1) continue;
    const first = box.querySelector("tbody th");
    const kept = first && getComputedStyle(first).position === "sticky" && box.tabIndex === 0;
    if (!kept || !getComputedStyle(box).backgroundImage.includes("gradient")) fault("overflows unseen", box);
  }
  return faults;
})()"""
"""Texts that are cut or stand outside, and tables that go on without a sign of it."""


def redrawn(one: Any, change: Any) -> None:
    """A change that makes the page draw its charts again."""
    one.page.evaluate("delete document.documentElement.dataset.charts")
    change()
    one.drawn()


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_can_be_read(opened: Any, language: Language) -> None:
    one = opened(live_record(), language, width=1400)
    page = one.page
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    for width in (1400, 800, 390):
        if width != 1400:
            redrawn(one, lambda width=width: page.set_viewport_size({"width": width, "height": 900}))
        assert page.evaluate(CLIPPED) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") == width
    for mode in ("light", "dark"):
        if mode == "dark":
            redrawn(one, lambda: page.emulate_media(color_scheme="dark"))
        seen, faults = page.evaluate(CONTRAST)
        assert faults == [], mode
        assert seen > 300
    page.click("#table tbody tr:first-child")
    assert page.evaluate(CONTRAST)[1] == []
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate("document.querySelector('#query').scrollWidth <= document.querySelector('#query').clientWidth")


def test_many_systems_at_all_widths(opened: Any) -> None:
    """Letters are whole, the leaderboard's rows are cards on a telephone and keep difference and verdict."""
    one = opened(large_record(systems=10, queries=300, measures=5), width=800)
    page = one.page
    assert page.evaluate(CLIPPED) == []
    board = page.locator(".leaderboard").first
    letters = board.locator("td[data-head=group]")
    assert letters.count() == 10
    assert all(letters.evaluate_all("(cells) => cells.map((cell) => cell.scrollWidth <= cell.clientWidth)"))
    redrawn(one, lambda: page.set_viewport_size({"width": 390, "height": 900}))
    assert page.evaluate(CLIPPED) == []
    row = board.locator("tbody tr").nth(3)
    assert row.evaluate("(row) => getComputedStyle(row).display") == "grid"
    for part in (".verdict .badge", "td.n >> nth=1", ".plot svg"):
        box = row.locator(part).bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    assert row.locator(".plot svg").bounding_box()["width"] > 250  # the card's, not a share of a column
    assert row.locator("td.n").nth(1).inner_text().lstrip().startswith(("+", "−"))


INSIDE = """(selector) => [...document.querySelectorAll(selector)].filter((at) => at.checkVisibility()).map((part) => {
  const box = part.getBoundingClientRect(), held = part.closest("table").parentElement.getBoundingClientRect();
  return box.width > 0 && box.left >= held.left - 1 && box.right <= held.right + 1;
})"""
"""Whether each of these parts lies within the frame of its table."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_on_a_telephone_no_table_hides_its_verdict_or_difference(opened: Any, language: Language) -> None:
    """All rows are cards: what changed most, all pairs, ranges, latencies, versions, and every query."""
    page = opened(live_record(), language, width=390).page
    assert (
        page.locator("table").evaluate_all(
            """(all) => all.map((table) => [table.checkVisibility(), table.parentElement])
          .filter(([shown, frame]) => shown && frame.scrollWidth > frame.clientWidth + 1).length"""
        )
        == 0
    )
    for part in (".verdict .badge", "#table .gap", ".headed td:last-child", ".rows .n"):
        found = page.evaluate(INSIDE, part)
        assert found, part
        assert all(found), part
    assert page.locator(".headed thead th").first.is_visible()  # it says what the cards are
    page.locator("#table thead th[data-key=d] button").click()  # the heads stay, for they sort
    assert page.get_attribute("#table th[data-key=d]", "aria-sort") == "descending"
    page.locator("#table tbody tr").first.click()
    assert page.locator("#query-scores tbody tr:visible").count() == 2
    assert page.evaluate("document.querySelector('#query').scrollWidth <= document.querySelector('#query').clientWidth")


def test_the_difference_of_all_queries_names_its_systems(opened: Any) -> None:
    page = opened(large_record(systems=3, queries=30, measures=1)).page
    pairs = page.locator("#pair option").all_inner_texts()
    assert len(pairs) > 1
    for i, words in enumerate(pairs):
        page.select_option("#pair", index=i)
        assert page.inner_text("#table th[data-key=d] small") == words.replace("against", "−")
