"""What a gate found, for people: a table for the terminal, and Markdown for a pull request or a CI summary."""

from __future__ import annotations

from collections.abc import Mapping

from rankgauge.gate.outcome import GateResult
from rankgauge.reports.tables import Table, render_markdown, render_terminal
from rankgauge.reports.visible import visible
from rankgauge.words import Language, tell
from rankgauge.words.numbers import KINDS

__all__ = ["headline", "render", "render_error", "warnings_of"]

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "comma": ", ",
        "colon": ": ",
        "pass": "holds",
        "regression": "REGRESSION",
        "broken": "MISSED",
        "inconclusive": "inconclusive",
        "measure": "measure",
        "before": "before",
        "now": "now",
        "change": "change",
        "worst": "at worst",
        "queries": "queries",
        "verdict": "verdict",
        "rule": "rule",
        "found": "found",
        "wanted": "wanted",
        "warning": "warning",
        "against": " against {baseline}",
        "number": "{name} (version {number})",
        "title_pass": "PASS: {system} holds{against}",
        "title_regression": "REGRESSION: {system} lost more than {max_loss}{against} in {names}",
        "title_broken": "FAIL: {system} breaks {count}: {names}",
        "one": "a rule",
        "several": "{n} rules",
        "title_inconclusive_true": "PASS, BUT NOT SURE: {system} may have lost more than {max_loss}{against} in {names}",
        "title_inconclusive_false": "FAIL: {system} seems to have lost more than {max_loss}{against} in {names}, though these "
        "queries cannot prove it",
        "title_inconclusive_none": "CANNOT TELL: {system} may have lost more than {max_loss}{against} in {names}",
    },
    "zh": {
        "comma": "、",
        "colon": "：",
        "pass": "通过",
        "regression": "退步",
        "broken": "未达到",
        "inconclusive": "无法判断",
        "measure": "指标",
        "before": "之前",
        "now": "现在",
        "change": "变化",
        "worst": "最坏",
        "queries": "查询数",
        "verdict": "结论",
        "rule": "规则",
        "found": "实际",
        "wanted": "要求",
        "warning": "警告",
        "against": "（相对基线 {baseline}）",
        "number": "{name} 第 {number} 版",
        "title_pass": "通过：{system} 符合要求{against}",
        "title_regression": "退步：{system} 在 {names} 上变差超过 {max_loss}{against}",
        "title_broken": "未通过：{system} 有 {count}未满足：{names}",
        "one": "一项规则",
        "several": "{n} 项规则",
        "title_inconclusive_true": "通过，但不确定：{system} 在 {names} 上的损失可能超过 {max_loss}{against}",
        "title_inconclusive_false": "未通过：{system} 在 {names} 上看来变差超过 {max_loss}{against}，但现有查询尚不足以证实",
        "title_inconclusive_none": "无法判断：{system} 在 {names} 上的损失可能超过 {max_loss}{against}",
    },
}


def headline(result: GateResult, language: Language) -> str:
    """The outcome in one line."""
    words, status = _WORDS[language], result.status
    names = [rule.name for rule in result.decisive]
    key = f"title_{status}"
    if status == "inconclusive":
        stopped = result.accepted is False and result.settings.on_inconclusive == "auto"
        key += "_true" if result.accepted else "_false" if stopped else "_none"
    max_loss = result.settings.max_loss
    return visible(
        words[key].format(
            system=result.system,
            against=_against(result, words),
            max_loss="" if max_loss is None else KINDS["percent_plain"](max_loss),
            names=words["comma"].join(names),
            count=words["one"] if len(names) == 1 else words["several"].format(n=len(names)),
        )
    )


def _against(result: GateResult, words: Mapping[str, str]) -> str:
    baseline = result.baseline
    if baseline is None:
        return ""
    name = baseline.name
    if baseline.version is not None:
        name = words["number"].format(name=name, number=baseline.version)
    return words["against"].format(baseline=name)


def render(
    result: GateResult,
    form: str,
    *,
    digits: int = 4,
    language: Language = "en",
    width: int | None = None,
    color: bool = False,
) -> str:
    """The result as `table` or `markdown`."""
    tables = [table for table in (_measures(result, digits, language), _others(result, language)) if table.rows]
    told = [
        visible(f"{rule.name}{_WORDS[language]['colon']}{tell(rule.note, language)}")
        for rule in result.rules
        if rule.status != "pass" and rule.kind == "measure"
    ]
    told += warnings_of(result, language)
    if form == "markdown":
        mark = {True: "✅", False: "❌", None: "❔"}[result.accepted]
        if result.accepted and result.status == "inconclusive":
            mark = "⚠️"
        parts = [f"### {mark} {_inline(headline(result, language))}\n", *map(render_markdown, tables)]
        if told:
            parts.append("".join(f"- {_inline(line)}\n" for line in told))
        return "\n".join(parts)
    title = headline(result, language)
    if color:
        shade = "32" if result.status == "pass" else "31" if result.accepted is False else "33"
        title = f"\x1b[1;{shade}m{title}\x1b[0m"
    parts = [f"{title}\n", *(render_terminal(table, width=width, color=color) for table in tables)]
    if told:
        parts.append("".join(f"{line}\n" for line in told))
    return "\n".join(parts)


def render_error(message: str) -> str:
    """Markdown for a gate that reached no verdict."""
    first, *rest = map(visible, message.splitlines() or [""])
    lines = [
        f"### ❌ ERROR: no verdict was reached\n\n{_inline(first)}",
        *(f"- {_inline(line.strip())}" for line in rest),
    ]
    return "\n".join(lines) + "\n"


def _inline(text: str) -> str:
    return text.replace("<", "&lt;")


def warnings_of(result: GateResult, language: Language) -> list[str]:
    words = _WORDS[language]
    return [
        visible(f"{words['warning']}{words['colon']}{text}")
        for text in (tell(note, language) for note in result.remarks)
    ]


def _measures(result: GateResult, digits: int, language: Language) -> Table:
    """Measures beside the baseline's."""
    words, rows = _WORDS[language], []
    for rule in result.rules:
        if rule.kind != "measure":
            continue
        values = rule.values
        changes = [KINDS["signed_percent"](values[key]) if key in values else "-" for key in ("change", "worst")]
        if values["reason"] != "bounds":
            changes[1] = "-"
        means = [f"{values[key]:.{digits}f}" for key in ("base", "new")]
        rows.append([visible(rule.name), *means, *changes, str(values["n"]), words[rule.status]])
    header = [words[key] for key in ("measure", "before", "now", "change", "worst", "queries", "verdict")]
    return Table(header, rows)


def _others(result: GateResult, language: Language) -> Table:
    """Targets, floors, latency and the rest."""
    words = _WORDS[language]
    rows = [
        [visible(rule.name), visible(tell(rule.note, language)), words[rule.status]]
        for rule in result.rules
        if rule.kind != "measure"
    ]
    return Table([words["rule"], words["found"], words["verdict"]], rows, 3)
