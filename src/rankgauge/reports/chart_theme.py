"""Colours, fonts and words of the charts."""

from __future__ import annotations

from typing import Any, Literal

from rankgauge.words import Language

__all__ = ["CATEGORIES", "FONT", "GREY", "VERDICTS", "WORDS", "Mode", "theme"]

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

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "means": "Means with intervals",
        "mean": "mean over queries, with its {level} interval",
        "means_of": "{measure}, with its {level} interval",
        "change": "{measure}, {b} − {a}",
        "with": "{measure}, {text}",
        "comparison": "Differences with intervals",
        "difference": "difference of means",
        "difference_of": "difference of means, {b} − {a}",
        "scatter": "Each query: {b} against {a}",
        "differences": "Each query's difference, {b} − {a}",
        "distribution": "How the scores of the queries are spread",
        "slices": "Difference by tag, {b} − {a}",
        "by_query": "queries, sorted by difference",
        "share": "share of queries",
        "score": "{measure} of a query",
        "score_of": "{measure}, {system}",
        "n": "queries",
        "query": "query",
        "text": "text",
        "system": "system",
        "measure": "measure",
        "interval": "interval",
        "verdict": "verdict",
        "pair": "pair",
        "tag": "tag",
        "better": "better",
        "worse": "worse",
        "equivalent": "equivalent",
        "inconclusive": "inconclusive",
        "gained": "gained",
        "same": "same",
        "lost": "lost",
        "average": "mean",
        "calls": "Quality against latency; dashed: the front",
        "sweep": "Versions of {system}: quality against latency",
        "setting": "Versions of {system}: score by {parameter}",
        "p50": "median latency (p50), ms",
        "p50_short": "p50, ms",
        "p95_short": "p95, ms",
        "p99_short": "p99, ms",
        "rate": "answers/s",
        "version": "version",
        "parameters": "parameters",
        "recall": "ANN recall",
        "best": "best version",
        "front": "on the front",
        "other": "other versions",
    },
    "zh": {
        "means": "均值与置信区间",
        "mean": "各查询的均值及其 {level} 置信区间",
        "means_of": "{measure} 及其 {level} 置信区间",
        "change": "{measure}（{b} − {a}）",
        "with": "{measure}，{text}",
        "comparison": "差值与置信区间",
        "difference": "均值之差",
        "difference_of": "均值之差（{b} − {a}）",
        "scatter": "逐查询对比：{b} 相对于 {a}",
        "differences": "逐查询差值（{b} − {a}）",
        "distribution": "各查询得分的分布",
        "slices": "按标签细分的差值（{b} − {a}）",
        "by_query": "查询（按差值排序）",
        "share": "查询占比",
        "score": "单个查询的 {measure}",
        "score_of": "{measure}（{system}）",
        "n": "查询数",
        "query": "查询",
        "text": "文本",
        "system": "系统",
        "measure": "指标",
        "interval": "置信区间",
        "verdict": "结论",
        "pair": "对比",
        "tag": "标签",
        "better": "更好",
        "worse": "更差",
        "equivalent": "相当",
        "inconclusive": "无法判断",
        "gained": "上升",
        "same": "持平",
        "lost": "下降",
        "average": "均值",
        "calls": "质量与延迟（虚线为前沿）",
        "sweep": "{system} 的各个版本：质量与延迟",
        "setting": "{system} 的各个版本：得分随 {parameter} 的变化",
        "p50": "延迟中位数 p50（毫秒）",
        "p50_short": "p50（毫秒）",
        "p95_short": "p95（毫秒）",
        "p99_short": "p99（毫秒）",
        "rate": "每秒应答",
        "version": "版本",
        "parameters": "参数",
        "recall": "ANN 召回率",
        "best": "最佳版本",
        "front": "位于前沿",
        "other": "其他版本",
    },
}

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
