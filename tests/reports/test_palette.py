"""Contrast, computed over the palettes of charts and page, light and dark (WCAG 2.2: texts 4.5:1, marks 3:1)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import rankgauge.reports
from rankgauge.reports.chart_specs import CATEGORIES, GREY, VERDICTS, theme

TEMPLATES = Path(rankgauge.reports.__file__).parent / "templates"
CSS = (TEMPLATES / "style.css").read_text(encoding="utf-8")
INK = json.loads((TEMPLATES / "charts" / "colors.json").read_text())["ink"]


def _light(color: str) -> float:
    digits = color.lstrip("#")
    digits = "".join(2 * c for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((_light(a), _light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _page(mode: str) -> dict[str, str]:
    head = ":root {" if mode == "light" else ':root[data-theme="dark"] {'
    block = CSS.partition(head)[2].partition("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", block))


both = pytest.mark.parametrize("mode", ["light", "dark"])


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)


@both
def test_texts_of_charts(mode: Any) -> None:
    """Axes, titles and labels; a label in a drawing has the ink of the theme and stands on a halo of the sheet."""
    sheet = INK[mode]["sheet"]
    assert sheet == {"#fff": "#ffffff"}.get(_page(mode)["sheet"], _page(mode)["sheet"])
    config = theme(mode)
    inks = [config["axis"]["labelColor"], config["axis"]["titleColor"], config["legend"]["labelColor"]]
    inks += [config["title"]["color"], config["title"]["subtitleColor"], config["header"]["labelColor"]]
    inks += [config["style"]["ink"]["color"]]
    assert min(contrast(ink, sheet) for ink in inks) >= 4.5
    assert config["style"]["halo"]["stroke"] == config["style"]["halo"]["color"] == sheet


def test_no_text_of_a_chart_has_a_colour_of_its_own() -> None:
    """The colours of marks are too near to each other to write on one another with them."""

    def found(value: Any) -> list[Any]:
        if isinstance(value, list):
            return [mark for entry in value for mark in found(entry)]
        if not isinstance(value, dict):
            return []
        mark = value.get("mark")
        own = [mark] if isinstance(mark, dict) and mark.get("type") == "text" else []
        return own + [mark for entry in value.values() for mark in found(entry)]

    seen = []
    for path in (TEMPLATES / "charts").glob("*.json"):
        for mark in found(json.loads(path.read_text())):
            seen.append(mark)
            assert mark.get("style") in ("ink", "halo"), path.name
            assert "color" not in mark
    assert len(seen) > 6


@both
def test_marks_of_charts(mode: Any) -> None:
    for color in (*CATEGORIES, GREY, *VERDICTS.values()):
        assert contrast(color, INK[mode]["sheet"]) >= 3, color
    assert contrast(theme(mode)["style"]["mean"]["color"], INK[mode]["sheet"]) >= 4.5


@both
def test_texts_of_the_page(mode: str) -> None:
    colors = _page(mode)
    pairs = [(ink, sheet) for ink in ("text", "muted", "accent") for sheet in ("page", "sheet", "soft")]
    pairs += [(verdict, f"{verdict}-soft") for verdict in ("better", "worse", "equivalent", "inconclusive", "warn")]
    pairs += [(ink, sheet) for ink in ("better", "worse") for sheet in ("sheet", "soft", "bar")]
    pairs += [("text", "bar"), *((f"g{i}-ink", f"g{i}") for i in range(5))]
    low = {pair: round(contrast(colors[pair[0]], colors[pair[1]]), 2) for pair in pairs}
    assert {pair: value for pair, value in low.items() if value < 4.5} == {}


@both
def test_a_higher_grade_stands_out_more(mode: str) -> None:
    """What the legend says of the grades, in light and in dark."""
    colors = _page(mode)
    steps = [contrast(colors[f"g{grade}"], colors["sheet"]) for grade in range(1, 5)]
    assert steps == sorted(steps)
    assert steps[-1] > 2 * steps[0]


def test_dark_is_the_same_by_choice_and_by_preference() -> None:
    preferred = CSS.partition(':root:not([data-theme="light"]) {')[2].partition("}")[0]
    assert dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", preferred)) == _page("dark")
