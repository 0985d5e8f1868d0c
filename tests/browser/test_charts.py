"""Charts in a real browser: whole names, no text over another, square where that is meant, bars of one unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rankgauge.history.store import History
from rankgauge.reports import report
from rankgauge.reports.trend import trend_report
from rankgauge.words import Language
from tests.reports.samples import comparison_record, evaluation_record, live_record
from tests.reports.test_chart_files import LONG, _record
from tests.reports.test_trend import record_of_day

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("font")]

FAULTS = """[...document.querySelectorAll("figure.chart:not([hidden]) svg")].flatMap((svg) => {
  const name = svg.closest("figure").dataset.chart, frame = svg.getBoundingClientRect();
  const seen = new Map();
  for (const text of svg.querySelectorAll("text")) {
    if (!text.textContent.trim() || getComputedStyle(text).opacity === "0") continue;
    const box = text.getBoundingClientRect();
    const key = [text.textContent, Math.round(box.x), Math.round(box.y)].join("|"); // a halo has the same
    seen.set(key, { box, said: text.textContent });
  }
  const boxes = [...seen.values()];
  const faults = boxes.filter(({ said }) => said.includes("…")).map(({ said }) => `${name}: cut: ${said}`);
  boxes.forEach(({ box, said }, i) => {
    const beyond = [frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom];
    if (Math.max(...beyond) > 2) faults.push(`${name}: clipped: ${said}`);
    for (const other of boxes.slice(i + 1)) {
      const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (across > 3 && down > 4) faults.push(`${name}: ${said} over ${other.said}`);
    }
  });
  return faults;
})"""
"""What is cut, clipped or written over; turned texts have the boxes they are drawn in."""


@pytest.mark.parametrize(
    ("language", "width", "mode"), [("zh", 390, "dark"), ("en", 800, "light"), ("zh", 1400, "dark")]
)
def test_long_names_are_whole_and_nothing_lies_over_another(
    opened: Any,
    language: Language,
    width: int,
    mode: str,
) -> None:
    one = opened(_record(LONG).to_dict(), language, width=width, color_scheme=mode)
    assert all(one.figures().values())
    assert one.page.evaluate(FAULTS) == []
    assert one.page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [390, 1400])
def test_live_charts_are_whole(opened: Any, width: int) -> None:
    one = opened(live_record(), width=width)
    assert one.page.evaluate(FAULTS) == []


def test_scatter_is_square(opened: Any) -> None:
    for width in (400, 1300):
        one = opened(comparison_record(), width=width)
        box = "(rule) => { const box = rule.getBoundingClientRect(); return [box.width, box.height]; }"
        diagonal = one.page.locator("figure[data-chart=scatter] .mark-rule.role-mark line").first
        across, down = diagonal.evaluate(box)
        assert across == pytest.approx(down, abs=1)
        assert across > 200


def test_labels_have_the_ink_of_the_theme(opened: Any) -> None:
    for mode, ink in (("light", "rgb(28, 36, 48)"), ("dark", "rgb(231, 235, 241)")):
        one = opened(comparison_record(), color_scheme=mode)
        word = one.page.locator("figure[data-chart=differences] .mark-text text", has_text="mean").last
        assert word.evaluate("(text) => getComputedStyle(text).fill") == ink


def test_bars_of_all_systems_have_one_unit(opened: Any) -> None:
    """Columns differ in width, and equal scores have bars of equal length nevertheless."""
    record = evaluation_record()
    record["systems"][1]["name"] = "a-much-longer-name-of-a-system-than-bm25"
    one = opened(record)
    bars = one.page.evaluate(
        """[...document.querySelectorAll("#table tbody td.n[style]")].map((cell) => {
          const look = getComputedStyle(cell);
          const probe = document.createElement("div");
          probe.style.width = look.backgroundSize.split(" ").slice(0, -1).join(" ");
          cell.append(probe);
          const length = probe.getBoundingClientRect().width;
          probe.remove();
          return [cell.textContent, Math.round(length * 10) / 10, Math.round(cell.getBoundingClientRect().width)];
        })"""
    )
    assert len({width for _, _, width in bars}) > 1
    lengths: dict[str, set[float]] = {}
    for score, length, _ in bars:
        lengths.setdefault(score, set()).add(length)
    assert all(len(found) == 1 for found in lengths.values())
    full = max(length for found in lengths.values() for length in found)
    for score, found in lengths.items():
        assert found.pop() == pytest.approx(float(score) * full, abs=0.2)


def test_the_legend_of_grades_holds_in_light_and_dark(opened: Any) -> None:
    one = opened(comparison_record(), color_scheme="dark")
    one.page.click("#table tbody tr:first-child")
    told = one.page.inner_text("#query .legend")
    assert "darker" not in told
    assert "stands out" in told


def test_a_drawn_trend_can_be_read_on_a_telephone(browser: Any, tmp_path: Path) -> None:
    """It is scrolled, which a shadow tells, for in that width its words would be too small."""
    with History.open(tmp_path / "h.db") as history:
        for day in range(4):
            history.add(record_of_day(day))
        (tmp_path / "t.html").write_text(report(trend_report(history.trend("AP")), format="html"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto((tmp_path / "t.html").as_uri())
    small = (
        """[...document.querySelectorAll(".drawing .light text")].map((text) => text.getBoundingClientRect().height)"""
    )
    assert min(height for height in page.evaluate(small) if height) > 8
    drawing = page.locator(".drawing").first
    assert drawing.evaluate("(box) => box.scrollWidth > box.clientWidth && box.tabIndex === 0")
    assert "gradient" in drawing.evaluate("(box) => getComputedStyle(box).backgroundImage")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()
