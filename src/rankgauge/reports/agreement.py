"""Agreement of labels, as a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.reports.document import Block, Cell, Column, Detail, Notes, Paragraph, Report, Table
from rankgauge.stats.raters import Coefficient
from rankgauge.testsets.agreement import LabelAgreement, Mean, PairAgreement
from rankgauge.words import Note

__all__ = ["agreement_report"]

_FIRST = ("cohen_kappa", "cohen_kappa_quadratic", "krippendorff_alpha_ordinal", "gwet_ac1")
_SHOWN = 4


def agreement_report(found: LabelAgreement) -> Report:
    """The decision, the figures behind it, and the verdicts that change."""
    return Report(Note("agreement.title"), list(_blocks(found)))


def _blocks(found: LabelAgreement) -> Iterator[Block]:
    yield Paragraph(found.lead, "lead", status=found.lead_status if found.comparisons else None)
    if len(found.sets) == 2:
        pair = found.pairs[0]
        about = {"other": pair.other, "reference": pair.reference, "pairs": pair.pairs, "queries": pair.queries}
        yield Paragraph(Note("agreement.of_two", {**about, "rel": found.rel}))
        means = {"sensitivity": pair.sensitivity, "specificity": pair.specificity, "bias": pair.bias}
        rows = [*_coefficients(pair, _FIRST), *(_row(name, mean) for name, mean in means.items())]
        yield Table("coefficients", _columns(), rows, light=True)
        yield from _confusion(pair, "evidence" if found.comparisons else "answer")
        rest = [name for name in pair.coefficients if name not in _FIRST]
        yield Table("more", _columns(), _coefficients(pair, rest), detail="evidence", light=True)
    else:
        about = {"n": len(found.sets), "shared": found.shared, "reference": found.sets[0].name, "rel": found.rel}
        yield Paragraph(Note("agreement.of_all", about))
        yield _others(found)
        rows = [_row(name, value) for name, value in found.overall.items()]
        yield Table("overall", _columns(), rows, Note("agreement.all_title"), detail="evidence")
        for pair in found.pairs:
            yield from _confusion(pair, "evidence")
    yield from _ranks(found)
    yield from _changes(found)
    if found.notes:
        yield Notes(found.notes)


def _columns() -> list[Column]:
    return [
        Column(Note("agreement.coefficient")),
        Column(Note("agreement.value"), "score"),
        Column(Note("agreement.interval"), "score"),
    ]


def _row(name: str, found: Coefficient | Mean | None) -> list[Cell]:
    interval = None if found is None else found.interval
    ends = None if interval is None else (interval.low, interval.high)
    return [Note(f"agreement.{name}"), None if found is None else found.value, ends]


def _coefficients(pair: PairAgreement, names: Sequence[str]) -> list[list[Cell]]:
    return [_row(name, found) for name, found in pair.coefficients.items() if name in names]


def _confusion(pair: PairAgreement, detail: Detail) -> Iterator[Block]:
    if not pair.grades:
        return
    by_grade = {one.grade: one.mean for one in pair.by_grade}
    columns = [Column(Note("agreement.grade")), *(Column(f"{grade:g}", "count") for grade in pair.grades)]
    columns.append(Column(Note("agreement.grade_bias"), "signed"))
    rows: list[list[Cell]] = [
        [f"{grade:g}", *counts, by_grade[grade].value if grade in by_grade else None]
        for grade, counts in zip(pair.grades, pair.confusion, strict=True)
    ]
    names = {"reference": pair.reference, "other": pair.other}
    title = Note("agreement.confusion_title", names)
    yield Table("confusion", columns, rows, title, detail=detail, light=True)


def _others(found: LabelAgreement) -> Table:
    def value(one: Coefficient | Mean | None) -> float | None:
        return None if one is None else one.value

    rows: list[list[Cell]] = []
    for pair in found.pairs:
        kappa = pair.kappa.interval
        alpha = pair.coefficients["krippendorff_alpha_ordinal"].value
        ends = None if kappa is None else (kappa.low, kappa.high)
        shares = [value(pair.sensitivity), value(pair.specificity), value(pair.bias)]
        rows.append([pair.other, pair.pairs, pair.kappa.value, ends, alpha, *shares])
    columns = [
        Column(Note("agreement.set")),
        Column(Note("agreement.pairs"), "count", drop=2),
        Column(Note("agreement.kappa"), "score"),
        Column(Note("agreement.interval"), "score"),
        Column(Note("agreement.alpha"), "score"),
        Column(Note("agreement.tpr"), "score", drop=1),
        Column(Note("agreement.tnr"), "score", drop=1),
        Column(Note("agreement.bias_short"), "signed"),
    ]
    return Table("others", columns, rows, light=len(rows) < _SHOWN)


def _ranks(found: LabelAgreement) -> Iterator[Block]:
    rows: list[list[Cell]] = [
        [pair.other, rank.measure, rank.tau, rank.tau_ap, rank.rbo] for pair in found.pairs for rank in pair.ranks
    ]
    if not rows:
        return
    columns = [Column(Note("agreement.set")), Column(Note("agreement.measure"))]
    columns += [Column(Note(f"agreement.{name}"), "tau") for name in ("tau", "tau_ap", "rbo")]
    title = Note("agreement.ranks_title", {"reference": found.sets[0].name})
    yield Table("ranks", columns, rows, title, light=True)


def _changes(found: LabelAgreement) -> Iterator[Block]:
    """Verdicts that change, those that are reversed first."""
    several = len(found.sets) > 2
    rows: list[list[Cell]] = [
        [
            *([pair.other] if several else []),
            change.measure,
            f"{change.b} - {change.a}",
            _verdict(change.reference, change.reference_difference),
            _verdict(change.other, change.other_difference),
        ]
        for pair in found.pairs
        for change in sorted(pair.changes, key=lambda change: not change.reversed)
    ]
    if not rows:
        return
    others = Note("agreement.by_set") if several else Note("agreement.by", {"name": found.sets[1].name})
    heads = [Note("agreement.set")] if several else []
    heads += [Note("agreement.measure"), Note("agreement.pair"), Note("agreement.by", {"name": found.sets[0].name})]
    columns, title = [Column(head) for head in (*heads, others)], Note("agreement.changes_title")
    more = [Note("agreement.more_changes", {"n": len(rows) - _SHOWN})] if len(rows) > _SHOWN else []
    yield Table("changes", columns, rows[:_SHOWN], title, more, light=True)
    if more:
        yield Table("all_changes", columns, rows[_SHOWN:], detail="evidence", light=True)


def _verdict(verdict: str, difference: float) -> Note:
    told = Note(f"comparison.verdict_{verdict}")
    return Note("agreement.verdict", {"verdict": told, "difference": difference})
