"""Colours and fonts of the charts, and the way to their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from rankgauge.words import Language, say

__all__ = ["CATEGORIES", "FONT", "GREY", "VERDICTS", "Mode", "theme", "words_of"]

Mode = Literal["light", "dark"]

# Middle tones, three times as light or as dark as either background, and apart for the colour-blind.
CATEGORIES = (
    "#3b7dd8",
    "#e0782f",
    "#0f9d74",
    "#a45bd0",
    "#d0498c",
    "#8a8f2a",
    "#1f9fb5",
    "#b5543a",
    "#6b72d8",
    "#7d8694",
)
GREY = "#8a93a1"
VERDICTS = {"better": "#0f9d74", "worse": "#d9542b", "equivalent": "#3b7dd8", "inconclusive": "#7d8694"}

FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', 'Noto Sans SC', "
    "'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'WenQuanYi Micro Hei', sans-serif"
)

_INK: dict[Mode, dict[str, str]] = {
    "light": {"text": "#1c2430", "muted": "#566072", "grid": "#e6e9ee", "line": "#c3c9d2"},
    "dark": {"text": "#e7ebf1", "muted": "#a3adbb", "grid": "#2a323e", "line": "#465161"},
}


def theme(mode: Mode, *, background: str | None = None) -> dict[str, Any]:
    """Vega-Lite's configuration. Marks have their own colours, good on both backgrounds."""
    ink = _INK[mode]
    label = {"labelColor": ink["muted"], "labelFontSize": 12, "titleColor": ink["muted"], "titleFontSize": 12}
    return {
        "background": background,
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "title": {"color": ink["text"], "fontSize": 15, "fontWeight": 600, "anchor": "start", "offset": 12},
        "axis": {
            **label,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": ink["grid"],
            "domainColor": ink["line"],
            "tickColor": ink["line"],
            "labelPadding": 5,
            "labelLimit": 260,
        },
        "axisX": {"labelFlush": False, "tickCount": 7, "titleLimit": 560},
        "axisY": {"domain": False, "ticks": False, "titleLimit": 320},
        "legend": {
            **label,
            "title": None,
            "orient": "top",
            "direction": "horizontal",
            "symbolSize": 90,
            "symbolStrokeWidth": 2,
            "symbolOpacity": 1,
            "labelLimit": 220,
            "columnPadding": 16,
            "rowPadding": 4,
        },
        "header": {"labelColor": ink["text"], "labelFontSize": 12, "labelFontWeight": 600, "title": None},
        "range": {"category": list(CATEGORIES)},
    }


def words_of(language: Language) -> Callable[..., str]:
    """The charts' words in a language, by name."""

    def words(name: str, /, **parameters: Any) -> str:
        return say(f"chart.{name}", language, **parameters)

    return words
