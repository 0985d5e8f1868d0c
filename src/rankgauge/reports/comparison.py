"""A comparison record as tables and remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.comparison.verdicts import VERDICTS, shown_bounds, shown_p
from rankgauge.reports.calls import calls_parts
from rankgauge.reports.evaluation import contract_remark, mean_table, target_remarks
from rankgauge.reports.tables import Table, render_csv, render_latex, render_markdown, render_terminal
from rankgauge.words import Language

__all__ = ["FORMATS", "render"]

FORMATS = ("table", "json", "csv", "markdown", "latex", "html")
Record = Mapping[str, Any]

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "colon": ": ",
        "measure": "measure",
        "pair": "{a} → {b}",
        "compared": "compared",
        "difference": "difference",
        "interval": "{level} % interval",
        "relative_change": "relative_change",
        "p": "p",
        "corrected": "p corrected",
        "effect": "effect",
        "wins": "wins/ties/losses",
        "verdict": "verdict",
        "system": "system",
        "changes": "Queries that changed most, {measure}, {a} → {b}",
        "query": "query",
        "text": "text",
        "tag": "tag",
        "slices": "By tag, corrected across all of these rows",
        "queries": "queries",
        "unjudged": "Range of the difference over every labelling of the unjudged documents retrieved",
        "documents": "unjudged documents",
        "range": "range",
        "exact": "kind",
        "exact yes": "exact",
        "exact no": "outer bound",
        "flips": "winner",
        "flips yes": "could be the other",
        "flips perhaps": "not known",
        "flips no": "stays",
        "tied": "Least, expected and greatest mean over all orders of tied documents",
        "expected": "expected",
        "least": "least",
        "greatest": "greatest",
        "agreement": "how alike the measures order the systems (Kendall's tau)",
        "warning": "warning",
        "rerank": "What the candidates allowed and what the order did",
    },
    "zh": {
        "colon": "：",
        "measure": "指标",
        "pair": "{a} → {b}",
        "compared": "比较",
        "difference": "差值",
        "interval": "{level} % 区间",
        "relative_change": "相对变化",
        "p": "p",
        "corrected": "校正 p",
        "effect": "效应量",
        "wins": "胜/平/负",
        "verdict": "结论",
        "system": "系统",
        "changes": "变化最大的查询，{measure}，{a} → {b}",
        "query": "查询",
        "text": "文本",
        "tag": "标签",
        "slices": "按标签（对下列各行统一校正）",
        "queries": "查询数",
        "unjudged": "检索到的未标注文档取遍所有可能等级时差值的范围",
        "documents": "未标注文档数",
        "range": "范围",
        "exact": "性质",
        "exact yes": "精确",
        "exact no": "外界",
        "flips": "胜者",
        "flips yes": "可能改变",
        "flips perhaps": "尚不可知",
        "flips no": "不变",
        "tied": "同分文档取遍所有次序时均值的最小、期望与最大值",
        "expected": "期望",
        "least": "最小",
        "greatest": "最大",
        "agreement": "各指标对系统排序的一致程度（Kendall tau）",
        "warning": "警告",
        "rerank": "候选文档允许的上限与排序的贡献",
    },
}


def render(
    record: Record,
    form: str,
    *,
    digits: int = 4,
    language: Language = "en",
    width: int | None = None,
    color: bool = False,
    details: bool = True,
) -> str:
    """The record in one of `FORMATS` except json and html. `details` adds changed queries, slices and ranges."""
    rows = _row_table(record, digits, language)
    live = calls_parts(record, form, digits=digits, language=language, width=width, color=color)
    if form == "csv":
        return "\n".join([render_csv(_long_table(record, digits)), *live])
    if form == "latex":
        return "\n".join([render_latex(rows), *live])
    words, part = _WORDS[language], record["comparison"]
    tables: list[tuple[str, Table]] = [("", mean_table(record, digits, language)), ("", rows)]
    if details:
        tables += _details(record, digits, language)
    remarks = [f"- {line}" if form == "markdown" else line for line in _remarks(record, language)]
    draw = render_markdown if form == "markdown" else lambda t: render_terminal(t, width=width, color=color)
    pieces = ["\n".join(part["summary"][language]) + "\n"]
    for title, table in tables:
        head = f"**{title}**\n\n" if form == "markdown" else f"{title}\n"
        pieces.append((head if title else "") + draw(table))
    if "rerank" in part:
        pieces.append(words["rerank"] + "\n" + "".join(f"  {line}\n" for line in part["rerank"]["sentences"][language]))
    pieces += [*live, "\n".join(remarks) + "\n"]
    return "\n".join(pieces)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f} %"


def _cells(row: Mapping[str, Any], digits: int, language: Language) -> list[str]:
    bounds = row["interval"]
    return [
        f"{row['difference']:+.{digits}f}",
        "-" if bounds is None else shown_bounds(bounds["low"], bounds["high"], digits),
        _percent(row["relative_change"]),
        shown_p(row["p_value"]),
        shown_p(row["p_corrected"]),
        "-" if row["effect"] is None else f"{row['effect']:+.2f}",
        f"{row['wins']}/{row['ties']}/{row['losses']}",
        VERDICTS[language][row["verdict"]],
    ]


def _heads(record: Record, language: Language) -> list[str]:
    words = _WORDS[language]
    level = f"{100 * (1 - record['comparison']['settings']['alpha']):g}"
    return [
        words["difference"],
        words["interval"].format(level=level),
        words["relative_change"],
        words["p"],
        words["corrected"],
        words["effect"],
        words["wins"],
        words["verdict"],
    ]


def _row_table(record: Record, digits: int, language: Language) -> Table:
    words = _WORDS[language]
    rows = [
        [row["measure"], words["pair"].format(**row), *_cells(row, digits, language)]
        for row in record["comparison"]["rows"]
    ]
    return Table([words["measure"], words["compared"], *_heads(record, language)], rows, 2)


def _long_table(record: Record, digits: int) -> Table:
    """One row for each comparison, with plain numbers, for spreadsheets."""
    keys = ("mean_a", "mean_b", "difference", "low", "high", "relative_change", "p_value", "p_corrected", "effect")
    counts = ("wins", "ties", "losses", "queries")

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.{max(digits, 6)}g}"

    rows = []
    entries: Sequence[Mapping[str, Any]] = [
        *({"tag": "", **row} for row in record["comparison"]["rows"]),
        *record["comparison"]["slices"],
    ]
    for row in entries:
        flat = {**row, **{end: (row["interval"] or {}).get(end) for end in ("low", "high")}}
        rows.append(
            [
                row["tag"],
                row["measure"],
                row["a"],
                row["b"],
                *(number(flat[key]) for key in keys),
                *(str(row[key]) for key in counts),
                number(row["detectable"]),
                row["verdict"],
            ]
        )
    return Table(["tag", "measure", "a", "b", *keys, *counts, "detectable", "verdict"], rows, 4)


def _details(record: Record, digits: int, language: Language) -> list[tuple[str, Table]]:
    """The queries that changed most, slices, and the ranges over labels and ties."""
    words, part = _WORDS[language], record["comparison"]
    texts: Mapping[str, str] = record.get("texts") or {}
    tables: list[tuple[str, Table]] = []
    first = part["changes"][:1] if len(record["systems"]) == 2 else []
    for entry in first:
        changed = [
            [change["query"], _shortened(texts.get(change["query"], "")), *_change(change, digits)]
            for change in [*entry["gained"][:5], *reversed(entry["lost"][:5])]
        ]
        if changed:
            if not any(row[1] for row in changed):
                changed = [[row[0], *row[2:]] for row in changed]
            texted = len(changed[0]) == 5
            head = [words["query"], *([words["text"]] if texted else []), entry["a"], entry["b"], words["difference"]]
            tables.append((words["changes"].format(**entry), Table(head, changed, 2 if texted else 1)))
    if part["slices"]:
        slices = [
            [
                row["tag"],
                row["measure"],
                words["pair"].format(**row),
                str(row["queries"]),
                *_cells(row, digits, language),
            ]
            for row in part["slices"]
        ]
        head = [words["tag"], words["measure"], words["compared"], words["queries"], *_heads(record, language)]
        tables.append((words["slices"], Table(head, slices, 3)))
    ranges = part.get("unjudged", {}).get("rows", [])
    if ranges:
        shown = [
            [
                row["measure"],
                words["pair"].format(**row),
                str(row["documents"]),
                shown_bounds(row["low"], row["high"], digits),
                words["exact yes" if row["exact"] else "exact no"],
                words[_flips(row)],
            ]
            for row in ranges
        ]
        head = [words[key] for key in ("measure", "compared", "documents", "range", "exact", "flips")]
        tables.append((words["unjudged"], Table(head, shown, 2)))
    tied = [row for row in part.get("tied", {}).get("systems", []) if row["high"] - row["low"] > 1e-12]
    if tied:
        shown = [
            [row["measure"], row["system"], *(f"{row[key]:.{digits}f}" for key in ("low", "expected", "high"))]
            for row in tied
        ]
        head = [words[key] for key in ("measure", "system", "least", "expected", "greatest")]
        tables.append((words["tied"], Table(head, shown, 2)))
    return tables


def _flips(row: Mapping[str, Any]) -> str:
    """Whether labels could name another winner; an outer bound cannot tell."""
    if not row["changes_winner"]:
        return "flips no"
    return "flips yes" if row["exact"] else "flips perhaps"


def _change(change: Mapping[str, Any], digits: int) -> list[str]:
    return [f"{change['a']:.{digits}f}", f"{change['b']:.{digits}f}", f"{change['difference']:+.{digits}f}"]


def _shortened(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _remarks(record: Record, language: Language) -> list[str]:
    words, part = _WORDS[language], record["comparison"]
    colon = words["colon"]
    lines = [row["sentence"][language] for row in part["rows"]] if len(part["rows"]) <= 6 else []
    lines += target_remarks(record, language)
    taus = part["agreement"]["measures"][:10]
    if taus and len(record["systems"]) > 2:
        shown = [f"{t['a']} / {t['b']} {'-' if t['tau'] is None else format(t['tau'], '.2f')}" for t in taus]
        lines.append(f"{words['agreement']}{colon}{', '.join(shown)}")
    reason = part.get("unjudged", {}).get("reason")
    if reason:
        lines.append(reason[language])
    for note in part["notes"][language]:
        mark = f"{words['warning']}{colon}" if note["level"] == "warning" else ""
        lines.append(f"{mark}{note['text']}")
    return [*lines, *contract_remark(record, language)]
