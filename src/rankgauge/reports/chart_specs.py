"""A chart, and Vega-Lite specifications of means and differences: plain dictionaries without their data, `rows`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankgauge.reports.chart_theme import CATEGORIES, GREY, VERDICTS, words_of
from rankgauge.words import Language, say

if TYPE_CHECKING:
    from rankgauge.stats.intervals import Interval

__all__ = [
    "LINE",
    "Chart",
    "Row",
    "Spec",
    "colors",
    "ends",
    "forest_spec",
    "interval_layer",
    "interval_text",
    "means_spec",
    "names_of",
    "plain",
    "rounded",
]

Spec = dict[str, Any]
Row = dict[str, Any]
LINE = 26
"""Height of one line of a forest plot."""
_DIGITS = 6


@dataclass(frozen=True)
class Chart:
    """A specification without its data, and the data."""

    name: str
    title: str
    spec: Spec
    rows: list[Row]
    height: int
    measure: str | None = None

    def complete(self) -> Spec:
        """The specification to draw."""
        return {"title": self.title, **self.spec, "data": {"name": "rows", "values": self.rows}}


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def ends(interval: Interval | None) -> Row:
    """The ends of an interval; an open one has no number."""
    known = {} if interval is None else {"low": interval.low, "high": interval.high}
    return {end: rounded(known[end]) if end in known and math.isfinite(known[end]) else None for end in ("low", "high")}


def plain(name: str) -> str:
    """A name as it may stand in a specification: Vega-Lite puts titles into expressions and does not escape a backslash
    or the end of a line there."""
    return re.sub(r"[\x00-\x1f\x7f\u2028\u2029]", " ", name).replace("\\", "∖")


def names_of(prefix: str, count: int) -> list[str]:
    """Names of charts of one kind."""
    return [prefix if i == 0 else f"{prefix}-{i + 1}" for i in range(count)]


def colors(systems: Sequence[str]) -> list[str]:
    """A colour for each system, the same in every chart."""
    return [CATEGORIES[i % len(CATEGORIES)] for i in range(len(systems))]


def means_spec(measures: list[str], systems: list[str], title: str, height: int, language: Language) -> Spec:
    words = words_of(language)
    x = {"type": "quantitative", "title": title, "scale": {"zero": False, "nice": True}}
    tooltip = [
        {"field": "system", "title": words("system")},
        {"field": "measure", "title": words("measure")},
        {"field": "value", "title": words("average"), "format": ".4f"},
        {"field": "interval", "title": words("interval")},
    ]
    return {
        "height": height,
        "transform": [interval_text(".4f")],
        "encoding": {
            "y": {"field": "measure", "type": "nominal", "sort": measures, "title": None, "axis": {"grid": False}},
            "yOffset": {"field": "system", "type": "nominal", "sort": systems},
            "color": {
                "field": "system",
                "type": "nominal",
                "scale": {"domain": systems, "range": colors(systems)},
                "legend": {"columns": min(4, len(systems))} if len(systems) > 1 else None,
            },
            "tooltip": tooltip,
        },
        "layer": [
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55, "strokeCap": "round"},
                "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 75, "opacity": 1},
                "encoding": {"x": {"field": "value", **x}},
            },
        ],
    }


def interval_text(form: str) -> Spec:
    """The interval in words for a tooltip; an end that is missing has no bound."""
    ends = f"isValid(datum.low)?format(datum.low,'{form}'):'−∞'", f"isValid(datum.high)?format(datum.high,'{form}'):'∞'"
    both = f"'[' + ({ends[0]}) + ', ' + ({ends[1]}) + ']'"
    return {"calculate": f"isValid(datum.low)||isValid(datum.high)?{both}:'–'", "as": "interval"}


def interval_layer(y: Spec) -> Spec:
    """Upright bars from the low to the high end, where both are known."""
    return {
        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
        "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.4, "strokeCap": "round"},
        "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
    }


def forest_spec(language: Language, title: str, margin: float | None) -> Spec:
    """Differences with intervals, the zero line and the band of differences that do not matter."""
    words = words_of(language)
    verdicts = {code: say(f"comparison.verdict_{code}", language) for code in VERDICTS}
    x = {"type": "quantitative", "title": title, "scale": {"zero": True, "nice": True}}
    color = {
        "field": "word",
        "type": "nominal",
        "scale": {"domain": list(verdicts.values()), "range": list(VERDICTS.values())},
        "legend": {"columns": 4},
    }
    shapes = ["triangle-up", "triangle-down", "square", "circle"]
    rule = {"type": "rule", "strokeWidth": 3, "opacity": 0.6, "strokeCap": "round"}
    both = "isValid(datum.low) && isValid(datum.high)"
    behind: list[Spec] = []  # without a place on the other axis these two are as high as the chart
    if margin:
        band = {"type": "rect", "color": GREY, "opacity": 0.16}
        ends = {"x": {"datum": -margin, **x}, "x2": {"datum": margin}}
        behind.append({"data": {"values": [{}]}, "mark": band, "encoding": ends})
    behind.append(
        {
            "data": {"values": [{}]},
            "mark": {"type": "rule", "color": GREY, "strokeWidth": 1.5},
            "encoding": {"x": {"datum": 0, **x}},
        }
    )
    layers = [
        _forest_rule(both, rule, {"field": "low", **x}, {"field": "high"}),
        # An end without a bound runs to the edge of the chart.
        _forest_rule(
            "datum.known && isValid(datum.low) && !isValid(datum.high)",
            rule,
            {"field": "low", **x},
            {"value": "width"},
        ),
        _forest_rule(
            "datum.known && !isValid(datum.low) && isValid(datum.high)", rule, {"field": "high", **x}, {"value": 0}
        ),
        _forest_rule("datum.known && !isValid(datum.low) && !isValid(datum.high)", rule, {"value": 0}, None),
        {
            "mark": {"type": "point", "filled": True, "size": 100, "opacity": 1},
            "encoding": {
                "x": {"field": "value", **x},
                "shape": {
                    "field": "word",
                    "type": "nominal",
                    "scale": {"domain": list(verdicts.values()), "range": shapes},
                },
            },
        },
    ]
    encoding: Spec = {
        "y": {
            "field": "label",
            "type": "nominal",
            "sort": {"field": "order", "op": "min"},
            "title": None,
            "axis": {"grid": True, "labelLimit": 320},
        },
        "color": color,
        "tooltip": [
            {"field": "measure", "title": words("measure")},
            {"field": "label", "title": words("pair")},
            {"field": "value", "title": words("difference"), "format": "+.4f"},
            {"field": "interval", "title": words("interval")},
            {"field": "word", "title": words("verdict")},
            {"field": "n", "title": words("n")},
        ],
    }
    return {
        "height": {"step": LINE},
        "transform": [
            {"calculate": _lookup("datum.verdict", verdicts), "as": "word"},
            interval_text("+.4f"),
        ],
        "layer": [*behind, {"encoding": encoding, "layer": layers}],
    }


def _lookup(field: str, table: Mapping[str, str]) -> str:
    """An expression that translates codes; both sides are words of this package, never data."""
    expression = f"{field}"
    for code, word in table.items():
        expression = f"{field}==='{code}'?'{word}':{expression}"
    return expression


def _forest_rule(test: str, mark: Spec, x: Spec, x2: Spec | None) -> Spec:
    ends = {"x": x, "x2": x2 if x2 is not None else {"value": "width"}}
    return {"transform": [{"filter": test}], "mark": mark, "encoding": ends}
