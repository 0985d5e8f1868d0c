"""An evaluation record as tables and remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.measures import find_measure
from rankgauge.measures.explanations import TARGETS, texts
from rankgauge.reports.calls import calls_parts
from rankgauge.reports.tables import Table, render_csv, render_latex, render_markdown, render_terminal
from rankgauge.words import Language

__all__ = ["FORMATS", "cautions", "contract_remark", "mean_table", "render", "target_remarks"]

FORMATS = ("table", "json", "csv", "markdown", "latex", "trec_eval")
Record = Mapping[str, Any]

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "colon": ": ",
        "comma": ", ",
        "system": "system",
        "query": "query",
        "contract": "contract",
        "interval": "mean [95 % interval over queries]",
        "warning": "warning",
        "good": "scenario targets reached",
        "of": "of {n} targets",
        "low": "low",
        "high": "high",
        "measure": "measure",
        "value": "value",
        "queries": "queries",
        "reading": "reading",
    },
    "zh": {
        "colon": "：",
        "comma": "，",
        "system": "系统",
        "query": "查询",
        "contract": "契约",
        "interval": "均值 [查询间 95 % 置信区间]",
        "warning": "警告",
        "good": "已达到目标",
        "of": "（共 {n} 项目标）",
        "low": "下限",
        "high": "上限",
        "measure": "指标",
        "value": "取值",
        "queries": "查询数",
        "reading": "解读",
    },
}


def render(
    record: Record,
    form: str,
    *,
    digits: int = 4,
    language: Language = "en",
    per_query: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """The record in one of `FORMATS` except json."""
    if form == "trec_eval":
        return "\n".join(_trec_lines(record, per_query)) + "\n"
    live = calls_parts(record, form, digits=digits, language=language, width=width, color=color)
    if form == "csv":
        if per_query:  # one table for a program to read
            return render_csv(_per_query_table(record, digits, language))
        return "\n".join([render_csv(_long_table(record, digits, language)), *live])
    table = mean_table(record, digits, language)
    if form == "latex":
        comments = "".join(f"% {warning}\n" for warning in cautions(record, language))
        shown = render_latex(_per_query_table(record, digits, language) if per_query else table)
        return "\n".join([comments + shown, *live])
    remarks = _remarks(record, language)
    if form == "markdown":
        parts = [render_markdown(table)]
        if per_query:
            parts.append(render_markdown(_per_query_table(record, digits, language)))
        parts += [*live, "\n".join(f"- {remark}" for remark in remarks) + "\n"]
        return "\n".join(parts)
    words = _WORDS[language]
    parts = [render_terminal(table, width=width, color=color)]
    if per_query:
        parts.append(render_terminal(_per_query_table(record, digits, language), width=width, color=color))
    parts += [*live, "".join(f"{remark}\n" for remark in [words["interval"], *remarks])]
    return "\n".join(parts)


def _number(value: float, digits: int, whole: bool) -> str:
    return str(round(value)) if whole else f"{value:.{digits}f}"


def _names(record: Record) -> list[str]:
    return [measure["name"] for measure in record["measures"]]


def _is_sum(record: Record) -> dict[str, bool]:
    return {measure["name"]: measure["aggregate"] == "sum" for measure in record["measures"]}


def mean_table(record: Record, digits: int, language: Language) -> Table:
    """One row for each system: mean and interval."""
    sums = _is_sum(record)
    rows = []
    for system in record["systems"]:
        cells = [system["name"]]
        for name in _names(record):
            entry = system["means"][name]
            cell = _number(entry["value"], digits, sums[name])
            if entry["interval"]:
                cell += f" [{entry['interval']['low']:.{digits}f}, {entry['interval']['high']:.{digits}f}]"
            cells.append(cell)
        rows.append(cells)
    return Table([_WORDS[language]["system"], *_names(record)], rows)


def _long_table(record: Record, digits: int, language: Language) -> Table:
    """One row for each system and measure, for spreadsheets."""
    sums, rows = _is_sum(record), []
    for system in record["systems"]:
        for name in _names(record):
            entry = system["means"][name]
            bounds = entry["interval"] or {}
            ends = [f"{bounds[end]:.{digits}f}" if bounds else "" for end in ("low", "high")]
            rows.append(
                [system["name"], name, _number(entry["value"], digits, sums[name]), *ends, str(entry["queries"])]
            )
    return Table(["system", "measure", "value", "low", "high", "queries"], rows, 2)


def _per_query_table(record: Record, digits: int, language: Language) -> Table:
    sums, rows = _is_sum(record), []
    skipped = record["contract"]["missing"] == "skip"
    for system in record["systems"]:
        columns = [system["per_query"][name] for name in _names(record)]
        counted = [system["counted"].get(name) for name in _names(record)]
        for i, query in enumerate(record["queries"]):
            if skipped and all(mask is not None and not mask[i] for mask in counted):
                continue
            values = [
                _number(column[i], digits, sums[name]) for name, column in zip(_names(record), columns, strict=True)
            ]
            rows.append([system["name"], query, *values])
    words = _WORDS[language]
    return Table([words["system"], words["query"], *_names(record)], rows, 2)


def _trec_lines(record: Record, per_query: bool) -> list[str]:
    """trec_eval's lines under its own names where it has the measure."""
    sums, lines = _is_sum(record), []
    known = {name: find_measure(name) for name in _names(record)}  # scores from elsewhere may have any name
    printed = {name: (about and about.trec_name) or name for name, about in known.items()}

    def line(name: str, query: str, value: float) -> str:
        shown = str(round(value)) if sums[name] else f"{value:6.4f}"
        return f"{printed[name]:<22}\t{query}\t{shown}"

    for system in record["systems"]:
        if per_query:
            order = sorted(range(len(record["queries"])), key=lambda i: record["queries"][i].encode())
            for i in order:
                for name in _names(record):
                    mask = system["counted"].get(name)
                    if mask is None or mask[i]:
                        lines.append(line(name, record["queries"][i], system["per_query"][name][i]))
        if len(record["systems"]) > 1:
            lines.append(f"{'runid':<22}\tall\t{system['name']}")
        lines += [line(name, "all", system["means"][name]["value"]) for name in _names(record)]
    return lines


def _remarks(record: Record, language: Language) -> list[str]:
    """Readings, targets and notes; what all systems share is said once."""
    words, remarks = _WORDS[language], []
    colon = words["colon"]
    systems: Sequence[Mapping[str, Any]] = record["systems"]
    if len(systems) == 1:
        for name in _names(record):
            remarks.append(f"{name}{colon}{systems[0]['means'][name]['sentence'][language]}")
    remarks += target_remarks(record, language)
    said: dict[tuple[str, str], list[str]] = {}
    for system in systems:
        for note in system["notes"][language]:
            said.setdefault((note["level"], note["text"]), []).append(system["name"])
    for (level, text), names in said.items():
        who = "" if len(names) == len(systems) else f"{words['comma'].join(names)}{colon}"
        mark = f"{words['warning']}{colon}" if level == "warning" else ""
        remarks.append(f"{mark}{who}{text}")
    return [*remarks, *contract_remark(record, language)]


def contract_remark(record: Record, language: Language) -> list[str]:
    """How the scores were counted; scores from elsewhere have no contract."""
    words, contract = _WORDS[language], record["contract"]
    if contract is None:
        return []
    chosen = ", ".join(
        f"{key}={value}" for key, value in contract.items() if key != "preset" and value not in (None, False)
    )
    return [f"{words['contract']}{words['colon']}{contract['preset']} ({chosen})"]


def cautions(record: Record, language: Language) -> list[str]:
    """Warnings of variants that inflate or mislead, which every print of them carries."""
    words = _WORDS[language]
    found = [note["text"] for s in record["systems"] for note in s["notes"][language] if note["key"] == "caution"]
    return [f"{words['warning']}{words['colon']}{text}" for text in dict.fromkeys(found)]


def target_remarks(record: Record, language: Language) -> list[str]:
    """Which scenarios' reference values the means reach."""
    words, names = _WORDS[language], texts(language).get("scenarios", {})
    goals = {m["name"]: m["targets"] for m in record["measures"] if m["targets"]}
    if not goals:
        return []
    lines = []
    for scenario in TARGETS:
        asked = ", ".join(f"{name} > {goal[scenario]:g}" for name, goal in goals.items())
        reached = {
            system["name"]: sum(system["means"][name]["value"] > goal[scenario] for name, goal in goals.items())
            for system in record["systems"]
        }
        counts = [
            f"{name} {n}/{len(goals)}" if len(reached) > 1 else f"{n}/{len(goals)}" for name, n in reached.items()
        ]
        about = f"{words['good']}, {names.get(scenario, scenario)} ({asked})"
        lines.append(f"{about}{words['colon']}{words['comma'].join(counts)}")
    return lines
