"""The page's tables of live figures and of sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.reports.calls import calls_table
from rankgauge.reports.calls_charts import calls_charts, sweep_charts
from rankgauge.reports.calls_facts import (
    WORDS,
    calls_sentences,
    failed_versions,
    figure,
    left_out,
    milliseconds,
    served,
    shown_value,
    sweep_sentences,
    sweeps_of,
)
from rankgauge.reports.html_words import PAGE
from rankgauge.words import Language

__all__ = ["calls_view", "sweep_view"]

Record = Mapping[str, Any]
_DIGITS = 4


def _dash(text: str) -> str:
    return "–" if text == "-" else text


def _unbroken(name: str) -> str:
    """A figure and its unit on one line."""
    return name.replace(" ms", "\u00a0ms")


def calls_view(record: Record, language: Language) -> dict[str, Any]:
    """Latency and throughput of the live systems, and those that were left out; nothing for a record of files."""
    gone = left_out(record, language)
    if not served(record) and not gone:
        return {}
    table = calls_table(record, _DIGITS, language)
    return {
        "header": [_unbroken(name) for name in table.header],
        "rows": [[_dash(cell) for cell in row] for row in table.rows],
        "left_out": gone,
        "sentences": calls_sentences(record, language),
        "heights": [chart.height for chart in calls_charts(record, language)],
    }


def sweep_view(record: Record, language: Language) -> list[dict[str, Any]]:
    """The versions of each sweep, with the numbers of its charts among all charts of sweeps."""
    charts = list(enumerate(sweep_charts(record, language)))
    found = []
    for number, sweep in enumerate(sweeps_of(record)):
        ending = "" if number == 0 else f"-{number + 1}"
        own = {
            chart.name.removesuffix(ending): (i, chart.height) for i, chart in charts if chart.name in _names(ending)
        }
        found.append(
            {
                **_versions(sweep, language),
                "title": PAGE[language]["sweep_of"].format(n=len(sweep["versions"]), **_named(sweep)),
                "sentences": sweep_sentences(sweep, language),
                "failed": failed_versions(sweep, language),
                "failed_title": WORDS[language]["failed_title"],
                "charts": [{"kind": kind, "index": i, "height": height} for kind, (i, height) in own.items()],
            }
        )
    return found


def _names(ending: str) -> tuple[str, str]:
    return f"sweep{ending}", f"setting{ending}"


def _named(sweep: Record) -> dict[str, str]:
    return {"system": sweep["system"], "measure": sweep["measure"]}


def _number(value: float | None, digits: int = _DIGITS) -> str:
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def _versions(sweep: Record, language: Language) -> dict[str, Any]:
    words, names = WORDS[language], list(sweep["versions"][0]["parameters"])
    exact = any(version["ann_recall"] is not None for version in sweep["versions"])
    rows = []
    for version in sweep["versions"]:
        bounds = version["interval"]
        shown = [milliseconds(version["p50"]), milliseconds(version["p95"]), figure(version["throughput"])]
        rows.append(
            {
                "label": version["label"],
                "best": version["label"] == sweep["best"],
                "front": version["on_front"] and version["p50"] is not None,
                "parameters": [shown_value(version["parameters"][name]) for name in names],
                "mean": _number(version["mean"]),
                "interval": f"[{_number(bounds['low'], 3)}, {_number(bounds['high'], 3)}]" if bounds else "",
                "figures": [*map(_dash, shown), *([_number(version["ann_recall"])] if exact else [])],
            }
        )
    heads = [_unbroken("p50 ms"), _unbroken("p95 ms"), words["rate"], *([words["recall"]] if exact else [])]
    return {"version": words["version"], "measure": sweep["measure"], "names": names, "heads": heads, "rows": rows}
