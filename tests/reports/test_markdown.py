"""Markdown for pull requests: the decision behind a mark, the leaderboard in words, the rest folded."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from rankgauge import compare, report
from rankgauge.gating.outcome import GateResult, Rule
from rankgauge.gating.rules import GateRules
from rankgauge.words import LANGUAGES, Language, Note, say
from tests.hostile import HOSTILE, RULES
from tests.reports.samples import comparison_record, hostile_record, live_record, made

QRELS = {f"q{i}": {"good": 1} for i in range(30)}
PERFECT = {query: {"good": 2.0, "bad": 1.0} for query in QRELS}
SECOND = {query: {"good": 1.0, "bad": 2.0} for query in QRELS}
THIRD = {query: {"good": 1.0, "bad": 2.0, "other": 3.0} for query in QRELS}
NOTHING = {query: {"bad": 1.0} for query in QRELS}
MIXED = {query: PERFECT[query] if i % 2 else NOTHING[query] for i, query in enumerate(QRELS)}


def shown(text: str) -> str:
    """What a reader sees without a click."""
    return re.sub(r"<details>.*?</details>\n?", "", text, flags=re.DOTALL)


def folds(text: str) -> list[tuple[str, str]]:
    """Summaries with what they hide."""
    return re.findall(r"<details>\n<summary>(.*?)</summary>\n\n(.*?)\n</details>", text, re.DOTALL)


@pytest.mark.parametrize(
    ("runs", "baseline", "mark"),
    [
        ({"a": SECOND, "b": PERFECT}, None, "✅"),
        ({"a": PERFECT, "b": SECOND}, None, "❌"),
        ({"a": PERFECT, "b": PERFECT}, None, "✅"),
        ({"a": SECOND, "b": MIXED}, None, "❔"),
        ({"a": SECOND, "b": PERFECT, "c": THIRD}, "a", "✅"),
        ({"a": PERFECT, "b": SECOND, "c": THIRD}, "a", "❌"),
        ({"a": SECOND, "b": MIXED, "c": THIRD}, "a", "⚠️"),
        ({"a": PERFECT, "b": SECOND, "c": THIRD}, None, "✅"),
        ({"a": SECOND, "b": MIXED, "c": THIRD}, None, "✅"),
        ({"a": SECOND, "b": PERFECT, "c": NOTHING}, "a", "✅"),
        ({"a": SECOND, "b": NOTHING}, None, "⚠️"),
        ({"a": SECOND, "b": MIXED, "c": SECOND}, "a", "❔"),
        ({"a": SECOND, "b": MIXED, "c": SECOND}, None, "❔"),
    ],
)
def test_the_decision_comes_first_behind_a_mark(runs: dict[str, Any], baseline: str | None, mark: str) -> None:
    text = report(compare(QRELS, runs, ["RR"], baseline=baseline), format="markdown")
    assert text.startswith(f"### {mark} ")
    assert len(re.findall("[✅❌❔]|⚠️", text)) == 1


def test_measures_that_disagree_are_to_be_looked_at() -> None:
    """One that is first more often, and one that always finds something."""
    third = {query: {"good": 2.0} if i % 3 == 0 else {"bad": 1.0} for i, query in enumerate(QRELS)}
    late = {query: {"good": 0.1} | {f"bad{i}": float(i + 1) for i in range(8)} for query in QRELS}
    two = report(compare(QRELS, {"first": third, "found": late}, ["P@1", "R@10"]), format="markdown")
    assert two.startswith("### ⚠️ found is better than first on R@10 and worse on P@1.")


def test_the_table_says_what_a_terminal_draws() -> None:
    found = compare(QRELS, {"a": SECOND, "b": PERFECT, "c": NOTHING}, ["RR", "P@1"], baseline="a")
    ends = {row.b: f"[{row.interval.low:+.4f}, {row.interval.high:+.4f}]" for row in found.rows[:2] if row.interval}
    lines = [line for line in shown(report(found, format="markdown")).splitlines() if line.startswith("|")]
    assert lines[:5] == [
        "| system | RR | vs a | 95 % CI | verdict | P@1 |",
        "|---|---:|---:|---|---|---:|",
        f"| b | 1.0000 | +0.5000 | {ends['b']} | ▲ better | 1.0000▲ |",
        "| a | 0.5000 |  |  | baseline | 0.0000 |",
        f"| c | 0.0000 | −0.5000 | {ends['c']} | ▼ worse | 0.0000 |".replace("-", "−"),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_remarks_and_evidence_are_folded(language: Language) -> None:
    record = made(live_record())
    text = report(record, format="markdown", language=language)
    (remarks, hidden), (evidence, details) = folds(text)
    assert remarks == say("answer.folded", language, n=hidden.count("\n- ") + hidden.startswith("- "))
    assert "RuntimeError: no such index" in hidden
    assert "RuntimeError" not in shown(text)
    assert evidence == say("answer.evidence", language)
    assert say("report.calls_title", language) in details
    assert say("report.calls_title", language) not in shown(text)
    answer = report(record, format="markdown", language=language, detail="answer")
    assert shown(answer).strip() == shown(text).strip()
    assert len(folds(answer)) == 1


@pytest.mark.parametrize("record", [comparison_record, live_record])
def test_github_reads_the_tables_inside(record: Any) -> None:
    """A table inside an element is one only between empty lines."""
    text = report(made(record()), format="markdown", detail="audit")
    parsed = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    assert sum(token.type == "table_open" for token in parsed) == len(
        re.findall(r"^\|(?:-+:?\|)+$", text, re.MULTILINE)
    )
    assert not [t.content for t in parsed if t.type == "inline" and t.content.startswith("|")]
    assert text.count("<details>") == text.count("</details>") == sum("<details>" in t.content for t in parsed)
    assert not re.search(r"[^\n]\n</details>|</summary>\n[^\n]", text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_names_stay_escaped(text: str) -> None:
    for detail in ("answer", "audit"):
        RULES["markdown"](report(made(hostile_record(text)), format="markdown", detail=detail))


def gate(status: Any, how: Any, mean: float = -0.1) -> GateResult:
    values = {"base": 0.5, "new": 0.4, "n": 30, "mean": mean, "change": -0.2, "worst": -0.3, "reason": "bounds"}
    rule = Rule("measure", "nDCG@10", status, values, Note("report.list", {"items": "why"}))
    remark = Note("report.list", {"items": "few queries"}, "warning")
    return GateResult("new", None, GateRules(on_inconclusive=how), [rule], [remark])


@pytest.mark.parametrize(
    ("status", "how", "mark"),
    [
        ("pass", "auto", "✅"),
        ("regression", "auto", "❌"),
        ("broken", "auto", "❌"),
        ("inconclusive", "auto", "⚠️"),  # it stops, but nothing is proven
        ("inconclusive", "fail", "⚠️"),
        ("inconclusive", "pass", "⚠️"),
        ("inconclusive", "report", "❔"),
    ],
)
def test_a_gate_has_the_same_shape(status: str, how: str, mark: str) -> None:
    text = report(gate(status, how), format="markdown")
    assert text.startswith(f"### {mark} ")
    assert folds(text) == [("1 remark", "- warning: few queries\n")]
    assert "nDCG@10: why" not in text  # its figures stand in the table
    assert "few queries" not in shown(text)
    RULES["markdown"](text)


def test_several_gates_keep_their_remarks() -> None:
    from rankgauge.reports.gate import gate_report

    text = report(gate_report([gate("pass", "auto"), gate("broken", "auto")]), format="markdown")
    assert re.findall("✅|❌|<details>", text) == ["✅", "<details>", "❌", "<details>"]
