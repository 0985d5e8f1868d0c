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
from rankgauge.words import Language, Note, numbers

__all__ = ["gate_error", "gate_report", "headline", "warnings_of"]

_MARKS = {"pass": "pass", "regression": "worse", "broken": "fail", "inconclusive": "inconclusive"}


def gate_report(results: GateResult | Sequence[GateResult]) -> Report:
    """One or several results, one below the other. Only of one are measures told in sentences that no figures say:
    below several, they would not say which gate they are of."""
    listed = [results] if isinstance(results, GateResult) else list(results)
    blocks = [block for result in listed for block in _blocks(result, sentences=len(listed) == 1)]
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


def _blocks(result: GateResult, *, sentences: bool) -> Iterator[Block]:
    yield Outcome(_title(result), _outcome(result))
    measures = [rule for rule in result.rules if rule.kind == "measure"]
    others = [rule for rule in result.rules if rule.kind != "measure"]
    if measures:
        yield table_of("measures", measures, _columns(measures), light=True, notes=list(_legend(result, measures)))
    if others:
        yield table_of("rules", others, _RULES, light=True)
    # Where bounds decided, the figures of the table say all of it.
    told = [rule for rule in measures if rule.status != "pass" and rule.values["reason"] != "bounds"]
    if told and sentences:
        yield Notes([note_about([rule.name], rule.note) for rule in told], detail="evidence")
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


def _bound(name: str) -> Callable[[Rule], Cell]:
    """At worst or at best, where bounds decided."""
    return lambda rule: rule.values.get(name) if rule.values["reason"] == "bounds" else None


def _needed(rule: Rule) -> Cell:
    needed = rule.values.get("needed")
    return "" if needed is None else numbers.rough(needed)


def _columns(measures: Sequence[Rule]) -> list[tuple[Column, Callable[[Rule], Cell]]]:
    """Those of all measures, and how many queries would settle what is inconclusive."""
    wanted = any(rule.values.get("needed") is not None for rule in measures)
    return [*_MEASURES, *([(Column(word("gate_needed"), "count"), _needed)] if wanted else [])]


def _legend(result: GateResult, measures: Sequence[Rule]) -> Iterator[Note]:
    """What the last column is, and why it grows with the number of measures: a regression is claimed if any shows one,
    so its level is divided by their number, while a pass takes all of them and needs no correction."""
    still_open = [rule for rule in measures if rule.values.get("needed") is not None]
    if not still_open:
        return
    yield Note("gate.needed", {"n": max(rule.values["n"] for rule in still_open)})
    corrected = [rule.name for rule in still_open if rule.values["mean"] < 0]
    if corrected and len(measures) > 1:
        yield Note("gate.family", {"names": corrected, "alpha": result.settings.alpha, "family": len(measures)})


def _found(rule: Rule) -> Note:
    """What a rule found; the rule and the verdict stand beside it and are not told again."""
    told = rule.note.parameters
    if rule.note.key != "gate.target" or told["wanted"].key != "gate.wanted":
        return rule.note
    outcome = told["outcome"].key.removeprefix("gate.")
    if outcome in ("met", "missed"):
        return told["mean"]  # type: ignore[no-any-return]
    if outcome == "unreachable":
        return Note("gate.found_unreachable", {"mean": told["mean"], **told["outcome"].parameters})
    return Note("gate.found_unsure" if outcome.endswith("_unsure") else "gate.found_other", dict(told))


_MEASURES: list[tuple[Column, Callable[[Rule], Cell]]] = [
    (Column(word("measure")), lambda rule: rule.name),
    (Column(word("gate_before"), "score"), lambda rule: rule.values["base"]),
    (Column(word("gate_now"), "score"), lambda rule: rule.values["new"]),
    (Column(word("gate_change"), "relative"), lambda rule: rule.values.get("change")),
    (Column(word("gate_worst"), "relative"), _bound("worst")),
    (Column(word("gate_best"), "relative"), _bound("best")),
    (Column(word("queries"), "count", detail="evidence"), lambda rule: rule.values["n"]),
    (Column(word("verdict")), _status),
]
_RULES: list[tuple[Column, Callable[[Rule], Cell]]] = [
    (Column(word("rule")), lambda rule: rule.name),
    (Column(word("found")), _found),
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
