"""What the page's script reads: every score once, compactly, and the specifications of the charts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rankgauge.record import Record
from rankgauge.reports.chart_specs import Chart, colors, shown, spec_of, theme
from rankgauge.reports.charts import domain_of, pairs_of, scores_of, sign_of, slice_rows, slice_spec
from rankgauge.words import Language, group

__all__ = ["data_of", "script_json"]

_MANY = 600_000  # scores; more of them keep fewer digits, so that the file can still be mailed


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever the texts in it hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def data_of(record: Record, charts: Mapping[str, list[Chart]], language: Language, digits: int = 4) -> dict[str, Any]:
    """Everything the script needs, names with their controls spelled out; its words have their parameters open."""
    systems = [system.name for system in record.systems]
    measures = [about.name for about in record.measures]
    queries = record.queries
    kept = 6 if len(systems) * len(measures) * len(queries) <= _MANY else 4
    known = [[scores_of(system, measure) for measure in measures] for system in record.systems] if queries else []
    domains = [domain_of(value for system in known for value in system[j]) for j in range(len(measures))]
    changes = [] if record.comparison is None else record.comparison.changes
    named = {
        "systems": systems,
        "colors": colors(systems),
        "measures": [
            {"name": measure, "lo": low, "hi": high, "sign": sign_of(record, measure)}
            for measure, (low, high) in zip(measures, domains, strict=True)
        ],
        "pairs": [(systems.index(a), systems.index(b)) for a, b in pairs_of(record)],
        "queries": queries,
        "texts": [" ".join(record.texts.get(query, "").split()) for query in queries] if record.texts else [],
        "tags": [record.tags.get(query, []) for query in queries] if record.tags else [],
        "changes": [asdict(entry) for entry in changes],
        "lists": {
            query: {name: [asdict(document) for document in listed] for name, listed in lists.items()}
            for query, lists in record.lists.items()
        },
    }
    return {
        "words": group("html", language),
        "digits": digits,
        **shown(named),
        "scores": [[[_short(value, kept) for value in column] for column in system] for system in known],
        "charts": {
            **{kind: [_drawn(chart) for chart in listed] for kind, listed in charts.items()},
            **{kind: {"spec": spec_of(kind, language, digits)} for kind in ("scatter", "differences", "distribution")},
            "slices": {"spec": slice_spec(record, language, digits), "rows": shown(slice_rows(record))},
        },
        "themes": {"light": theme("light", background="transparent"), "dark": theme("dark", background="transparent")},
    }


def _drawn(chart: Chart) -> dict[str, Any]:
    return {"spec": chart.spec, **shown({"rows": chart.rows, "measure": chart.measure, "title": chart.title})}


def _short(value: float | None, digits: int) -> float | int | None:
    if value is None:
        return None
    rounded = round(value, digits)
    return int(rounded) if rounded == int(rounded) else rounded
