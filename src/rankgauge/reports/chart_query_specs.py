"""Vega-Lite specifications of charts that show every query.

A page fills the same specification for other choices: what depends on measure and pair stands in it as {measure}, {a},
{b}, {lo}, {hi}, {systems} and {colors}; {sign} is -1 where lower is better.
"""

from __future__ import annotations

from rankgauge.reports.chart_specs import Spec
from rankgauge.reports.chart_theme import CATEGORIES, GREY, VERDICTS, words_of
from rankgauge.words import Language, template

__all__ = ["differences_spec", "distribution_spec", "scatter_spec"]


def _marks(language: Language) -> tuple[Spec, Spec]:
    """How a query that gained, stayed or lost is told, and its colour."""
    words = words_of(language)
    sides = [words("gained"), words("same"), words("lost")]
    side = {
        "calculate": f"datum.b===datum.a?'{sides[1]}':(datum.b-datum.a)*({{sign}})>0?'{sides[0]}':'{sides[2]}'",
        "as": "side",
    }
    colors = [VERDICTS["better"], VERDICTS["inconclusive"], VERDICTS["worse"]]
    return side, {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": sides, "range": colors},
        "legend": {"columns": 3},
    }


def _query_tooltip(language: Language, *more: Spec) -> list[Spec]:
    words = words_of(language)
    return [
        {"field": "query", "title": words("query")},
        {"field": "text", "title": words("text")},
        {"field": "a", "title": "{a}", "format": ".4f"},
        {"field": "b", "title": "{b}", "format": ".4f"},
        *more,
    ]


def scatter_spec(language: Language) -> Spec:
    """Each query once, one system across and the other up; queries with equal scores make one larger point."""
    words = words_of(language)
    side, color = _marks(language)
    place = ["x", "y"]
    scale = {"domain": ["{lo}", "{hi}"], "nice": False, "zero": False, "padding": 7}
    axes: Spec = {
        "x": {"type": "quantitative", "scale": scale, "title": words("score_of", measure="{measure}", system="{a}")},
        "y": {"type": "quantitative", "scale": scale, "title": words("score_of", measure="{measure}", system="{b}")},
    }
    return {
        "height": 340,
        "layer": [
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 4]},
                "encoding": {
                    "x": {"datum": "{lo}", **axes["x"]},
                    "y": {"datum": "{lo}", **axes["y"]},
                    "x2": {"datum": "{hi}"},
                    "y2": {"datum": "{hi}"},
                },
            },
            {
                "transform": [
                    side,
                    {"calculate": "round(datum.a*1000)/1000", "as": "x"},
                    {"calculate": "round(datum.b*1000)/1000", "as": "y"},
                    {"joinaggregate": [{"op": "count", "as": "n"}], "groupby": place},
                    {"window": [{"op": "row_number", "as": "first"}], "groupby": place},
                    {"filter": "datum.first===1"},
                    {"calculate": "datum.n>1?datum.query+' … ('+datum.n+')':datum.query", "as": "query"},
                ],
                "mark": {"type": "circle", "opacity": {"expr": "length(data('rows'))>1500?0.35:0.65"}},
                "encoding": {
                    "x": {"field": "x", **axes["x"]},
                    "y": {"field": "y", **axes["y"]},
                    "size": {
                        "field": "n",
                        "type": "quantitative",
                        "scale": {"type": "sqrt", "domain": [1, 60], "range": [34, 700], "clamp": True},
                        "legend": None,
                    },
                    "color": color,
                    "tooltip": _query_tooltip(language, {"field": "n", "title": words("n")}),
                },
            },
        ],
    }


def differences_spec(language: Language) -> Spec:
    """The queries' differences from the largest gain to the largest loss; where they are many, a bar is several."""
    words = words_of(language)
    side, color = _marks(language)
    y = {"type": "quantitative", "title": template("chart.change", language)}
    difference = {"calculate": "datum.b-datum.a", "as": "d"}
    return {
        "height": 340,
        "layer": [
            {
                "transform": [
                    difference,
                    {"calculate": "datum.d*({sign})", "as": "gain"},
                    side,
                    {"window": [{"op": "row_number", "as": "i"}], "sort": [{"field": "gain", "order": "descending"}]},
                    {"joinaggregate": [{"op": "count", "as": "all"}]},
                    {"calculate": "floor((datum.i-1)/ceil(datum.all/700))", "as": "block"},
                    {
                        "joinaggregate": [
                            {"op": "mean", "field": "d", "as": "height"},
                            {"op": "min", "field": "i", "as": "from"},
                            {"op": "max", "field": "i", "as": "to"},
                            {"op": "count", "as": "n"},
                        ],
                        "groupby": ["block"],
                    },
                    {"filter": "datum.i===datum.from"},
                    {"calculate": "datum.all<=120?0.1:0", "as": "gap"},
                    {"calculate": "datum.from-1+datum.gap", "as": "left"},
                    {"calculate": "datum.to-datum.gap+(datum.gap?0:0.3*datum.n)", "as": "right"},
                ],
                "mark": {"type": "rect", "strokeWidth": 0},
                "encoding": {
                    "x": {
                        "field": "left",
                        "type": "quantitative",
                        "title": words("by_query"),
                        "scale": {"nice": False, "zero": True},
                        "axis": {"grid": False, "tickMinStep": 1, "format": "d"},
                    },
                    "x2": {"field": "right"},
                    "y": {"field": "height", **y},
                    "y2": {"datum": 0},
                    "color": color,
                    "tooltip": _query_tooltip(
                        language,
                        {"field": "height", "title": words("difference"), "format": "+.4f"},
                        {"field": "n", "title": words("n")},
                    ),
                },
            },
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "color": GREY},
                "encoding": {"y": {"datum": 0, **y}},
            },
            {
                "transform": [
                    difference,
                    {"aggregate": [{"op": "mean", "field": "d", "as": "mean"}]},
                    {"calculate": f"'{words('average')} '+format(datum.mean,'+.3f')", "as": "word"},
                ],
                "encoding": {"y": {"field": "mean", **y}},
                "layer": [
                    {"mark": {"type": "rule", "color": CATEGORIES[0], "strokeDash": [5, 4], "strokeWidth": 1.5}},
                    {
                        "mark": {
                            "type": "text",
                            "align": "right",
                            "baseline": "bottom",
                            "dy": -4,
                            "color": CATEGORIES[0],
                            "fontSize": 12,
                            "fontWeight": 600,
                        },
                        "encoding": {"x": {"value": "width"}, "text": {"field": "word"}},
                    },
                ],
            },
        ],
    }


def distribution_spec(language: Language) -> Spec:
    """How many queries score how much, system by system, with the mean."""
    words, bins = words_of(language), 20
    color = {
        "field": "system",
        "type": "nominal",
        "scale": {"domain": "{systems}", "range": "{colors}"},
        "legend": None,
    }
    x = {
        "type": "quantitative",
        "title": template("chart.score", language),
        "scale": {"domain": ["{lo}", "{hi}"], "nice": False, "zero": False},
    }
    y = {
        "type": "quantitative",
        "title": None,
        "axis": {"format": "%", "tickCount": 3, "minExtent": 40, "maxExtent": 40},
    }
    return {
        "facet": {
            "row": {
                "field": "system",
                "type": "nominal",
                "sort": "{systems}",
                "title": None,
                "header": {"labelOrient": "top", "labelAnchor": "start", "labelPadding": 4, "labelLimit": 300},
            }
        },
        "spacing": 14,
        "spec": {
            "height": 64,
            "layer": [
                {
                    "transform": [
                        {"joinaggregate": [{"op": "count", "as": "all"}], "groupby": ["system"]},
                        {
                            "calculate": f"min({bins - 1},floor((datum.v-({{lo}}))/(({{hi}})-({{lo}}))*{bins}))",
                            "as": "k",
                        },
                        {
                            "aggregate": [{"op": "count", "as": "n"}, {"op": "min", "field": "all", "as": "all"}],
                            "groupby": ["system", "k"],
                        },
                        {"calculate": "datum.n/datum.all", "as": "share"},
                        {"calculate": f"({{lo}})+datum.k*(({{hi}})-({{lo}}))/{bins}", "as": "from"},
                        {"calculate": f"({{lo}})+(datum.k+1)*(({{hi}})-({{lo}}))/{bins}", "as": "to"},
                        {"calculate": "format(datum.from,'.4~f')+' – '+format(datum.to,'.4~f')", "as": "bin"},
                    ],
                    "mark": {"type": "rect", "opacity": 0.75, "xOffset": 0.5, "x2Offset": -0.5},
                    "encoding": {
                        "x": {"field": "from", **x},
                        "x2": {"field": "to"},
                        "y": {"field": "share", **y},
                        "y2": {"datum": 0},
                        "color": color,
                        "tooltip": [
                            {"field": "system", "title": words("system")},
                            {"field": "bin", "title": "{measure}"},
                            {"field": "n", "title": words("n")},
                            {"field": "share", "title": words("share"), "format": ".1%"},
                        ],
                    },
                },
                {
                    "transform": [{"aggregate": [{"op": "mean", "field": "v", "as": "mean"}], "groupby": ["system"]}],
                    "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [4, 3], "color": GREY},
                    "encoding": {
                        "x": {"field": "mean", **x},
                        "tooltip": [
                            {"field": "system", "title": words("system")},
                            {"field": "mean", "title": words("average"), "format": ".4f"},
                        ],
                    },
                },
            ],
        },
    }
