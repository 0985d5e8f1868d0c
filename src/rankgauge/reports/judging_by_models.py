"""What language models judged, what it cost and what speaks against it, as a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.reports.document import Block, Cell, Column, Notes, Outcome, Paragraph, Report, Table
from rankgauge.testsets.chat_cost import Budget
from rankgauge.testsets.chat_requests import Estimate
from rankgauge.testsets.judge_probe import JudgeProbe
from rankgauge.testsets.judge_result import JudgeFailure, JudgeReport, JudgeResult
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["estimate_report", "judge_report", "probe_report"]

_SHOWN = 3
_MOST_TEXT = 30
_MOST_GRADES = 11


def judge_report(found: JudgeResult) -> Report:
    """How many pairs have a grade, by whom and for how much; then what speaks against the grades."""
    return Report(Note("judge.title"), list(_blocks(found)))


def _blocks(found: JudgeResult) -> Iterator[Block]:
    yield Outcome(_said(found), "pass" if found.complete else "warn")
    yield _judges(found)
    if any(one.grades for one in found.judges):
        yield _grades(found.judges)
    for one in found.judges:
        if one.probe is not None:
            yield _probe_table(one.probe, len(found.judges) > 1)
    yield Notes(found.notes)
    if found.failures:
        shown = [_example(one) for one in found.failures[:_SHOWN]]
        more = len(found.failures) - len(shown)
        yield Notes([*shown, *([Note("judge.more_failures", {"n": more})] if more else [])], Note("judge.examples"))


def _said(found: JudgeResult) -> Note:
    """How many pairs have the grades of all judges; of several judges, all their grades."""
    earlier = sum(one.before for one in found.judges)
    before = Note("judge.before", {"n": earlier}) if earlier else Note("judge.nothing_before")
    done = sum(one.before + one.new for one in found.judges)
    about = {"n": done, "before": before, "judges": len(found.judges)}
    if found.complete:
        return Note("judge.done_several" if len(found.judges) > 1 else "judge.done", about)
    every = sum(one.pairs for one in found.judges)
    return Note("judge.not_done", {**about, "of": every, "failed": len(found.failures), "left": len(found.left)})


def _judges(found: JudgeResult) -> Table:
    columns = [Column(Note("judge.judge")), Column(Note("judge.new"), "count")]
    columns += [Column(Note("judge.earlier"), "count"), Column(Note("judge.failed"), "count")]
    columns += [Column(Note("judge.left"), "count"), Column(Note("judge.calls"), "count")]
    columns += [Column(Note("judge.tokens"), "count")]
    priced = found.spent.cost is not None
    if priced:
        columns.append(Column(Note("judge.cost", {"unit": found.spent.unit}), "figure"))
    rows: list[list[Cell]] = []
    for one in found.judges:
        spent = one.spent
        row: list[Cell] = [one.judge, one.new, one.before, one.failed, one.left, spent.calls, spent.tokens]
        rows.append([*row, *([spent.cost] if priced else [])])
    return Table("judges", columns, rows)


def _grades(judges: Sequence[JudgeReport]) -> Table:
    """How many pairs got each grade; means of samples are put to the nearest whole one."""
    whole = [_rounded(one) for one in judges]
    known = sorted({grade for counts in whole for grade in counts}, reverse=True)[:_MOST_GRADES]
    sampled = any(one.spread for one in judges)
    columns = [
        Column(Note("judge.judge")),
        *(Column(Note("judge.grade", {"grade": grade}), "count") for grade in known),
    ]
    columns += [Column(Note("judge.spread"), "figure")] if sampled else []
    rows: list[list[Cell]] = [
        [one.judge, *(counts.get(grade, 0) for grade in known), *([one.spread] if sampled else [])]
        for one, counts in zip(judges, whole, strict=True)
    ]
    return Table("grades", columns, rows, title=Note("judge.grades"))


def _rounded(one: JudgeReport) -> dict[int, int]:
    counts: dict[int, int] = {}
    for grade, n in one.grades.items():
        counts[round(grade)] = counts.get(round(grade), 0) + n
    return counts


def probe_report(found: JudgeProbe) -> Report:
    """What probes of a judge found."""
    return Report(Note("judge.title"), [_probe_table(found), Notes(found.notes)])


def _probe_table(probe: JudgeProbe, named: bool = False) -> Table:
    columns = [Column(Note("judge.probe")), Column(Note("judge.documents"), "count")]
    columns += [Column(Note(f"judge.{name}"), "share") for name in ("equal", "raised", "highest")]
    columns.append(Column(Note("judge.shift"), "effect"))
    rows: list[list[Cell]] = [
        [Note(f"judge.probe_{one.kind}"), one.n, one.equal, one.raised, one.to_highest, one.shift]
        for one in probe.figures
        if one.n
    ]
    return Table(
        "probe", columns, rows, title=Note("judge.probes_of", {"judge": probe.judge}) if named else Note("judge.probes")
    )


def _example(one: JudgeFailure) -> Note:
    reason = Note(f"judge.reason_{one.reason}")
    names = {"query": clipped(one.query, _MOST_TEXT), "doc": clipped(one.doc, _MOST_TEXT)}
    about = {**names, "reason": reason, "raw": one.raw, "detail": one.detail}
    key = "example_raw" if one.raw else "example_detail" if one.detail else "example"
    return Note(f"judge.{key}", about)


def estimate_report(found: Estimate, budget: Budget) -> Report:
    """What judging will cost."""
    return Report(Note("judge.title_estimate"), list(_estimate_blocks(found, budget)))


def _estimate_blocks(found: Estimate, budget: Budget) -> Iterator[Block]:
    if not found.calls and not found.kept:
        yield Paragraph(Note("judge.estimate_nothing"))
        return
    about = {"calls": found.calls, "prompt": found.prompt_tokens, "completion": found.completion_tokens}
    yield Paragraph(Note("judge.estimate", about))
    notes = [Note("judge.estimate_kept", {"n": found.kept})] if found.kept else []
    if found.cost is None:
        notes.append(Note("judge.estimate_no_prices"))
    else:
        notes.append(Note("judge.estimate_cost", {"cost": found.cost, "most": found.most_cost, "unit": found.unit}))
    if _is_over(found, budget):
        notes.append(Note("judge.estimate_over", level="warning"))
    yield Notes(notes)


def _is_over(found: Estimate, budget: Budget) -> bool:
    tokens = found.prompt_tokens + found.completion_tokens
    limits = ((budget.calls, found.calls), (budget.tokens, tokens), (budget.cost, found.cost))
    return any(limit is not None and figure is not None and figure > limit for limit, figure in limits)
