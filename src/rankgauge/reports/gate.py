"""What a gate found as a report: the outcome, measures beside the baseline's, other rules, and each rule as a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from rankgauge.gating.outcome import GateResult, Rule
from rankgauge.reports.cells import Look, note_line, told
from rankgauge.reports.document import (
    Block,
    Cell,
    Check,
    Column,
    Marked,
    Notes,
    Outcome,
    Paragraph,
    Report,
    Status,
    Suite,
    note_about,
    table_of,
    word,
)
from rankgauge.words import Language, Note

__all__ = ["gate_error", "gate_report", "headline", "warnings_of"]

_MARKS = {"pass": "better", "regression": "worse", "broken": "worse", "inconclusive": "inconclusive"}


def gate_report(results: GateResult | Sequence[GateResult]) -> Report:
    """One or several results, one below the other."""
    listed = [results] if isinstance(results, GateResult) else list(results)
    blocks = [block for result in listed for block in _blocks(result)]
    return Report(word("gate"), blocks, suites=[_suite(result) for result in listed])


def headline(result: GateResult, language: Language) -> str:
    """The outcome in one line."""
    return told(_title(result), Look(language))


def warnings_of(result: GateResult, language: Language) -> list[str]:
    """What to know beside the rules, one line each."""
    return [note_line(note, Look(language)) for note in result.remarks]


def _title(result: GateResult) -> Note:
    names, key = [rule.name for rule in result.decisive], f"gate_{result.status}"
    if result.status == "broken" and len(names) > 1:
        key = "gate_broken_several"
    if result.status == "inconclusive":
        stopped = result.accepted is False and result.settings.on_inconclusive == "auto"
        key += "_accepted" if result.accepted else "_refused" if stopped else ""
    known: dict[str, Any] = {"system": result.system, "against": _against(result), "names": names, "n": len(names)}
    return word(key, **known, max_loss=result.settings.max_loss or 0.0)


def _against(result: GateResult) -> Note | str:
    if result.baseline is None:
        return ""
    version = result.baseline.version
    if version is None:
        return word("gate_against", baseline=result.baseline.name)
    return word("gate_against_version", baseline=result.baseline.name, version=version)


def _blocks(result: GateResult) -> Iterator[Block]:
    yield Outcome(_title(result), _outcome(result))
    measures = [rule for rule in result.rules if rule.kind == "measure"]
    others = [rule for rule in result.rules if rule.kind != "measure"]
    if measures:
        yield table_of("measures", measures, _MEASURES)
    if others:
        yield table_of("rules", others, _RULES)
    yield Notes([note_about([rule.name], rule.note) for rule in measures if rule.status != "pass"])
    if result.remarks:
        yield Notes(result.remarks, folded=True)


def _outcome(result: GateResult) -> Status:
    """What is not proven is to be looked at, whether it stops the gate or not."""
    if result.accepted is None:
        return "open"
    if result.status == "inconclusive":
        return "warn"
    return "pass" if result.accepted else "fail"


def _status(rule: Rule) -> Marked:
    return Marked((word(f"rule_{rule.status}"),), _MARKS[rule.status])


def _worst(rule: Rule) -> float | None:
    return rule.values.get("worst") if rule.values["reason"] == "bounds" else None


_MEASURES: list[tuple[Column, Callable[[Rule], Cell]]] = [
    (Column(word("measure")), lambda rule: rule.name),
    (Column(word("gate_before"), "score"), lambda rule: rule.values["base"]),
    (Column(word("gate_now"), "score"), lambda rule: rule.values["new"]),
    (Column(word("gate_change"), "relative"), lambda rule: rule.values.get("change")),
    (Column(word("gate_worst"), "relative"), _worst),
    (Column(word("queries"), "count"), lambda rule: rule.values["n"]),
    (Column(word("verdict")), _status),
]
_RULES: list[tuple[Column, Callable[[Rule], Cell]]] = [
    (Column(word("rule")), lambda rule: rule.name),
    (Column(word("found")), lambda rule: rule.note),
    (Column(word("verdict")), _status),
]


def _suite(result: GateResult) -> Suite:
    """A rule that stops the gate fails; one that is left open is skipped."""
    outcomes: dict[bool | None, Literal["pass", "fail", "open"]] = {True: "pass", False: "fail", None: "open"}
    checks = [
        Check(
            rule.name if rule.kind != "measure" else word("no_regression", measure=rule.name),
            outcomes[result.accepts(rule)],
            rule.status,
            rule.note,
        )
        for rule in result.rules
    ]
    return Suite(_title(result), f"rankgauge.{result.system}", checks, result.created, result.remarks)


def gate_error(message: str, record: str) -> Report:
    """A gate that reached no verdict: an error, for files that CI systems read."""
    first, *rest = message.splitlines() or [""]
    blocks: list[Block] = [Outcome(word("gate_error"), "fail"), Paragraph(first, "lead")]
    blocks += [Paragraph(line.strip()) for line in rest]
    check = Check(word("gate_of", record=record), "error", "error", message)
    return Report(word("gate"), blocks, suites=[Suite("rankgauge gate", "rankgauge", [check])])
