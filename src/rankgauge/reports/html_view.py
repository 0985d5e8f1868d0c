"""The tables of the page, with figures rounded and put into words; the template only sets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.measures.explanations import TARGETS, texts
from rankgauge.reports.calls_facts import left_out, live_notes
from rankgauge.reports.charts import comparison_charts, mean_charts
from rankgauge.reports.html_calls import calls_view, sweep_view
from rankgauge.reports.html_words import PAGE
from rankgauge.words import Language

__all__ = ["view_of"]

Record = Mapping[str, Any]
_DIGITS = 4
_CARDS = 6
_NAMES = 3


def view_of(record: Record, language: Language) -> dict[str, Any]:
    """What the template shows without a script."""
    words = PAGE[language]
    comparison: Record = record.get("comparison") or {}
    names = [system["name"] for system in record["systems"]]
    notes = _notes(record, language)
    rows = [_row(row, language) for row in comparison.get("rows") or []]
    has_queries = bool(record["queries"])
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    return {
        "title": words[f"title_{'comparison' if rows else 'evaluation'}"].format(names=_listed(names, words)),
        "subtitle": words["made"].format(
            date=str(record.get("created", ""))[:10],
            queries=_count(_queries(record), words["one_query"], words["n_queries"]),
            systems=_count(len(names), words["one_system"], words["n_systems"]),
        ),
        "summary": (comparison.get("summary") or {}).get(language) or [],
        "cards": rows if len(rows) <= _CARDS else [row for row in rows if row["measure"] == measures[0]][:_CARDS],
        "readings": _readings(record, language) if len(names) == 1 else [],
        "targets": _targets(record, language),
        "warnings": _warnings(notes, words),
        "means": _means(record),
        "level": _level(record),
        "rows": rows,
        "settings": _settings(comparison, words),
        "margin": (comparison.get("settings") or {}).get("margin"),
        "groups": _groups(comparison),
        "unjudged": _unjudged(comparison, language),
        "tied": _tied(comparison),
        "agreement": _agreement(comparison, words),
        "rerank": _rerank(comparison.get("rerank") or {}, language),
        "calls": calls_view(record, language),
        "sweeps": sweep_view(record, language),
        "notes": notes,
        "has_queries": has_queries,
        "has_pairs": has_queries and len(names) > 1,
        "has_slices": has_queries and bool(comparison.get("slices")),
        "has_lists": bool(record.get("lists")),
        "heights": {
            "means": [chart.height for chart in mean_charts(record, language)],
            "comparison": [chart.height for chart in comparison_charts(record, language)],
            "distribution": len(names) * 99 + 42,
        },
        "by_measure": any(chart.measure for chart in comparison_charts(record, language)),
        "contract": _flat(record.get("contract") or {}),
        "measures": [
            {"name": m["name"], "formula": m.get("formula", ""), "lower": m.get("lower_is_better", False)}
            for m in record["measures"]
        ],
        "inputs": [
            {"name": name, "path": entry.get("path", ""), "sha256": entry.get("sha256", "")}
            for name, entry in (record.get("provenance") or {}).get("inputs", {}).items()
        ],
        "environment": _environment(record, words),
        "version": record.get("rankgauge", ""),
    }


def _number(value: float | None, digits: int = _DIGITS, *, sign: bool = False) -> str:
    """A figure with a real minus, or a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def _interval(bounds: Record | None, digits: int = _DIGITS, *, sign: bool = False) -> str:
    if not bounds:
        return ""
    low = "−∞" if bounds["low"] is None else _number(bounds["low"], digits, sign=sign)
    high = "∞" if bounds["high"] is None else _number(bounds["high"], digits, sign=sign)
    return f"[{low}, {high}]"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.1f} %".replace("-", "−")


def _count(n: int, one: str, many: str) -> str:
    return one if n == 1 else many.format(n=f"{n:,}")


def _listed(names: Sequence[str], words: Mapping[str, str]) -> str:
    if len(names) <= _NAMES:
        return words["comma"].join(names)
    shown = words["comma"].join(names[: _NAMES - 1])
    n = len(names) if words["lang"].startswith("zh") else len(names) - _NAMES + 1
    return words["and_more"].format(names=shown, n=n)


def _queries(record: Record) -> int:
    if record["queries"]:
        return len(record["queries"])
    return max((entry["queries"] for s in record["systems"] for entry in s["means"].values()), default=0)


def _level(record: Record) -> str:
    for system in record["systems"]:
        for entry in system["means"].values():
            if entry["interval"]:
                return f"{100 * entry['interval'].get('level', 0.95):g} %"
    return "95 %"


def _means(record: Record) -> list[dict[str, Any]]:
    rows = []
    for system in record["systems"]:
        cells = []
        for measure in record["measures"]:
            entry = system["means"][measure["name"]]
            whole = measure["aggregate"] == "sum"
            value = f"{round(entry['value']):,}" if whole else _number(entry["value"])
            cells.append({"value": value, "interval": _interval(entry["interval"], 3)})
        rows.append({"system": system["name"], "cells": cells})
    return rows


def _readings(record: Record, language: Language) -> list[dict[str, str]]:
    """One system's means in plain sentences."""
    means = record["systems"][0]["means"]
    cells = _means(record)[0]["cells"]
    return [
        {"measure": m["name"], **cell, "sentence": (means[m["name"]].get("sentence") or {}).get(language, "")}
        for m, cell in zip(record["measures"], cells, strict=True)
    ]


def _targets(record: Record, language: Language) -> list[dict[str, Any]]:
    """How many of a scenario's reference values each system's means exceed."""
    goals = {m["name"]: m["targets"] for m in record["measures"] if m.get("targets")}
    if not goals:
        return []
    names = texts(language).get("scenarios", {})
    return [
        {
            "scenario": names.get(scenario, scenario),
            "asked": ", ".join(f"{name} > {goal[scenario]:g}" for name, goal in goals.items()),
            "reached": [
                f"{sum(system['means'][name]['value'] > goal[scenario] for name, goal in goals.items())} / {len(goals)}"
                for system in record["systems"]
            ],
        }
        for scenario in TARGETS
    ]


def _row(row: Record, language: Language) -> dict[str, Any]:
    return {
        "measure": row["measure"],
        "a": row["a"],
        "b": row["b"],
        "pair": PAGE[language]["against"].format(a=row["a"], b=row["b"]),
        "mean_a": _number(row["mean_a"]),
        "mean_b": _number(row["mean_b"]),
        "difference": _number(row["difference"], sign=True),
        "interval": _interval(row["interval"], 3, sign=True),
        "relative_change": _percent(row.get("relative_change")),
        "p": _p(row.get("p_value")),
        "p_corrected": _p(row.get("p_corrected")),
        "effect": _number(row.get("effect"), 2, sign=True),
        "wtl": f"{row['wins']} / {row['ties']} / {row['losses']}",
        "detectable": _number(row.get("detectable"), 3),
        "verdict": row["verdict"],
        "word": PAGE[language].get(row["verdict"], row["verdict"]),
        "sentence": (row.get("sentence") or {}).get(language, ""),
    }


def _settings(comparison: Record, words: Mapping[str, str]) -> str:
    settings = comparison.get("settings")
    if not settings:
        return ""
    known = {"test": "–", "correction": "–", "alpha": "–", "family": "–", "margin": None, **settings}
    return words["settings" if known["margin"] else "settings_plain"].format(**known)


def _groups(comparison: Record) -> list[dict[str, Any]]:
    """Letters in columns of their own, so that a group reads downwards; ranks where there are no letters."""
    found = []
    counts = {row["measure"]: row["queries"] for row in comparison.get("rows") or []}
    for measure, entries in (comparison.get("groups") or {}).items():
        alphabet = sorted({letter for entry in entries for letter in entry["letters"]})
        rows = [
            {
                "system": entry["system"],
                "mean": _number(entry["mean"]),
                "letters": [letter if letter in entry["letters"] else "" for letter in alphabet],
                "ranks": "" if alphabet else "–".join(map(str, dict.fromkeys(entry.get("ranks") or ()))),
            }
            for entry in entries
        ]
        found.append({"measure": measure, "rows": rows, "width": len(alphabet), "queries": counts.get(measure)})
    return found


def _unjudged(comparison: Record, language: Language) -> dict[str, Any]:
    part: Record = comparison.get("unjudged") or {}
    return {
        "reasons": _reasons(part, language),
        "rows": [
            {
                "measure": row["measure"],
                "a": row["a"],
                "b": row["b"],
                "low": _number(row["low"], sign=True),
                "high": _number(row["high"], sign=True),
                "exact": row.get("exact", False),
                "documents": row.get("documents", ""),
                "changes": row["changes_winner"],
            }
            for row in part.get("rows") or []
        ],
    }


def _reasons(part: Record, language: Language) -> list[str]:
    """Why there is no range: for all measures alike, or for some."""
    if part.get("reason"):
        return [part["reason"][language]]
    said: dict[str, list[str]] = {}
    for measure, reason in (part.get("reasons") or {}).items():
        if reason:
            said.setdefault(reason[language], []).append(measure)
    colon, comma = ("：", "、") if language == "zh" else (": ", ", ")
    return [f"{comma.join(measures)}{colon}{reason}" for reason, measures in said.items()]


def _tied(comparison: Record) -> dict[str, Any]:
    part: Record = comparison.get("tied") or {}
    ends = ("low", "expected", "high")
    return {
        "systems": [
            {"measure": row["measure"], "system": row["system"], "sampled": row.get("sampled", False)}
            | {end: _number(row.get(end)) for end in ends}
            for row in part.get("systems") or []
        ],
        "rows": [
            {"measure": row["measure"], "a": row["a"], "b": row["b"], "changes": row["changes_winner"]}
            | {end: _number(row[end], sign=True) for end in ("low", "high")}
            for row in part.get("rows") or []
        ],
    }


def _agreement(comparison: Record, words: Mapping[str, str]) -> list[dict[str, Any]]:
    part: Record = comparison.get("agreement") or {}
    tables = []
    for kind, word in (("measures", "measure"), ("systems", "system")):
        rows = [
            {
                "a": row["a"],
                "b": row["b"],
                "over": words["over_queries"].format(of=row["of"]) if row.get("of") else "",
                "tau": _number(row["tau"], 2),
            }
            for row in part.get(kind) or []
        ]
        if rows:
            tables.append({"word": words[word], "rows": rows, "over": any(row["over"] for row in rows)})
    return tables


def _rerank(part: Record, language: Language) -> dict[str, Any]:
    """What the candidates allowed and what the order made of it."""
    means = ("before", "after", "ceiling", "perfect")
    rows = [
        {"measure": row["measure"], "share": "–" if row["share"] is None else f"{100 * row['share']:.0f} %"}
        | {name: _number(row[name]) for name in means}
        for row in part.get("rows") or []
    ]
    return {"rows": rows, "sentences": (part.get("sentences") or {}).get(language) or []} if part else {}


def _notes(record: Record, language: Language) -> list[dict[str, Any]]:
    """Warnings first; what all systems share is said once."""
    said: dict[tuple[str, str], list[str]] = {}
    for system in record["systems"]:
        for note in system["notes"].get(language, ()):
            said.setdefault((note["level"], note["text"]), []).append(system["name"])
    everyone = len(record["systems"])
    listed = [
        {"level": level, "text": text, "who": [] if len(names) == everyone else names}
        for (level, text), names in said.items()
    ]
    if own := ((record.get("comparison") or {}).get("notes") or {}).get(language):  # these name the systems themselves
        listed = [{"level": note["level"], "text": note["text"], "who": []} for note in own]
    listed += [{"level": "warning", "text": text, "who": []} for text in left_out(record, language)]
    listed += [{"level": "warning", "text": text, "who": [name]} for name, text in live_notes(record, language)]
    return sorted(listed, key=lambda note: note["level"] != "warning")


def _warnings(notes: Sequence[Record], words: Mapping[str, str]) -> str:
    n = sum(note["level"] == "warning" for note in notes)
    return "" if not n else words["one_warning"] if n == 1 else words["warnings"].format(n=n)


def _flat(values: Record, prefix: str = "") -> list[tuple[str, str]]:
    """Names and values of a nested part, as they are."""
    lines: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += _flat(value, f"{prefix}{name}.")
        elif value is not None and value is not False:
            shown = f"{value:.6g}" if isinstance(value, float) else str(value)
            lines.append((f"{prefix}{name}", shown))
    return lines


def _environment(record: Record, words: Mapping[str, str]) -> list[tuple[str, str]]:
    known = {words["created"]: str(record.get("created", "")).replace("T", " "), "rankgauge": record.get("rankgauge")}
    known |= {k: v for k, v in (record.get("provenance") or {}).items() if k != "inputs"}
    return _flat({name: value for name, value in known.items() if value})
