"""What the page's script reads: every score once, compactly, and the specifications of the charts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from rankgauge.reports.calls_charts import calls_charts, sweep_charts
from rankgauge.reports.chart_query_specs import differences_spec, distribution_spec, scatter_spec
from rankgauge.reports.chart_specs import colors, forest_spec
from rankgauge.reports.chart_theme import WORDS, theme
from rankgauge.reports.charts import (
    Chart,
    comparison_charts,
    default_pair,
    domain_of,
    mean_charts,
    scores_of,
    sign_of,
    slice_rows,
)
from rankgauge.reports.html_words import SCRIPT
from rankgauge.words import Language

__all__ = ["data_of", "script_json"]

Record = Mapping[str, Any]
_MANY = 600_000  # scores; more of them keep fewer digits, so that the file can still be mailed


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever the texts in it hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def data_of(record: Record, language: Language) -> dict[str, Any]:
    """Everything the script needs."""
    systems = [system["name"] for system in record["systems"]]
    measures = [measure["name"] for measure in record["measures"]]
    queries = record["queries"]
    digits = 6 if len(systems) * len(measures) * len(queries) <= _MANY else 4
    known = [[scores_of(system, measure) for measure in measures] for system in record["systems"]] if queries else []
    texts, tags = record.get("texts") or {}, record.get("tags") or {}
    comparison = record.get("comparison") or {}
    domains = [domain_of(value for system in known for value in system[j]) for j in range(len(measures))]
    return {
        "words": SCRIPT[language],
        "systems": systems,
        "colors": colors(systems),
        "measures": [
            {"name": measure, "lo": low, "hi": high, "sign": sign_of(record, measure)}
            for measure, (low, high) in zip(measures, domains, strict=True)
        ],
        "pairs": _pairs(record, systems),
        "queries": queries,
        "texts": [texts.get(query, "") for query in queries] if texts else [],
        "tags": [tags.get(query, []) for query in queries] if tags else [],
        "scores": [[[_short(value, digits) for value in column] for column in system] for system in known],
        "changes": comparison.get("changes") or [],
        "lists": record.get("lists") or {},
        "charts": _charts(record, language),
        "themes": {"light": theme("light", background="transparent"), "dark": theme("dark", background="transparent")},
    }


def _short(value: float | None, digits: int) -> float | int | None:
    if value is None:
        return None
    rounded = round(value, digits)
    return int(rounded) if rounded == int(rounded) else rounded


def _pairs(record: Record, systems: list[str]) -> list[tuple[int, int]]:
    """Pairs to choose from: those compared, or each with each."""
    first = default_pair(record)
    if first is None:
        return []
    rows = (record.get("comparison") or {}).get("rows") or []
    place = {name: i for i, name in enumerate(systems)}
    compared = dict.fromkeys((place[row["a"]], place[row["b"]]) for row in rows)
    return list(compared) or [(i, j) for j in range(len(systems)) for i in range(j)]


def _charts(record: Record, language: Language) -> dict[str, Any]:
    def drawn(chart: Chart) -> dict[str, Any]:
        return {"spec": chart.spec, "rows": chart.rows, "measure": chart.measure, "title": chart.title}

    words = WORDS[language]
    margin = ((record.get("comparison") or {}).get("settings") or {}).get("margin")
    title = words["with"].replace("{text}", words["difference_of"])
    live = {"calls": calls_charts(record, language), "sweep": sweep_charts(record, language)}
    return {
        **{kind: [drawn(chart) for chart in charts] for kind, charts in live.items() if charts},
        "means": [drawn(chart) for chart in mean_charts(record, language)],
        "comparison": [drawn(chart) for chart in comparison_charts(record, language)],
        "scatter": {"spec": scatter_spec(language)},
        "differences": {"spec": differences_spec(language)},
        "distribution": {"spec": distribution_spec(language)},
        "slices": {"spec": forest_spec(language, title, margin), "rows": slice_rows(record)},
    }
