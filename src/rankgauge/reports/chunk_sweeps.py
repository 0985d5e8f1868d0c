"""What a sweep over chunks adds to a report: which versions differ, and the score by context budget."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.record import ComparisonResult, Record, Row, SweepResult
from rankgauge.reports.chart_names import chart_name
from rankgauge.reports.chart_specs import Chart, colors, plain, rounded, spec_of
from rankgauge.reports.chart_specs import Row as Point
from rankgauge.words import Language, Note, say

__all__ = ["budget_charts", "chunk_notes", "same_as_best"]

_HEIGHT = 300
_LINES = 12
"""Versions that a chart of lines shows: the best ones."""


def chunk_notes(record: Record, sweep: SweepResult) -> Iterator[Note]:
    """The budget, and which versions are significantly different by the measure that chose the best."""
    if sweep.budget is not None:
        yield Note("chunks.at_budget", {"budget": sweep.budget})
    compared = sweep.comparison or _of_record(record, sweep)
    if compared is None:
        return
    rows = [row for row in compared.rows if row.measure == sweep.measure]
    about = {"measure": sweep.measure, "n": len(compared.rows), "correction": compared.settings.correction}
    if compared.baseline is not None:
        others = {_other(row, compared.baseline): _winner(row) for row in rows}
        against = {"measure": sweep.measure, "baseline": compared.baseline}
        yield Note("chunks.against", {**against, "n": sum(map(bool, others.values())), "of": len(others)})
        for key, wins in (("chunks.against_better", False), ("chunks.against_worse", True)):
            names = [name for name, winner in others.items() if winner and (winner == compared.baseline) == wins]
            if names:
                yield Note(key, {"names": names})
        return
    own = [row for row in rows if sweep.best in (row.a, row.b)]
    worse = [_other(row, sweep.best) for row in own if _winner(row) == sweep.best]
    same = same_as_best(record, sweep)
    known = {**about, "best": sweep.best}
    if worse and len(worse) == len(own):
        yield Note("chunks.told_apart_all", known)
    elif worse:
        yield Note("chunks.told_apart", {**known, "worse": worse})
    if same:
        yield Note("chunks.not_told_apart", {"measure": sweep.measure, "best": sweep.best, "same": same})


def same_as_best(record: Record, sweep: SweepResult) -> list[str]:
    """The versions that the best one was compared with and is not significantly different from."""
    compared = sweep.comparison or _of_record(record, sweep)
    rows = [] if compared is None else [row for row in compared.rows if row.measure == sweep.measure]
    return [_other(row, sweep.best) for row in rows if sweep.best in (row.a, row.b) and _winner(row) is None]


def _of_record(record: Record, sweep: SweepResult) -> ComparisonResult | None:
    """The comparison of the record, where its systems are the versions."""
    names = {system.name for system in record.systems}
    return record.comparison if names >= {version.label for version in sweep.versions} else None


def _winner(row: Row) -> str | None:
    """The version that is significantly better."""
    return {"better": row.b, "worse": row.a}.get(row.verdict)


def _other(row: Row, name: str) -> str:
    return row.b if row.a == name else row.a


def budget_charts(sweep: SweepResult, language: Language, digits: int = 4) -> list[Chart]:
    """The score by context budget, a line for each version; none where no budgets were measured."""
    sign = 1 if sweep.lower_is_better else -1
    drawn = sorted((one for one in sweep.versions if len(one.curve) > 1), key=lambda one: sign * one.mean)[:_LINES]
    if not drawn:
        return []
    labels = {one.label: plain(f"{one.label} {_parameters(one.parameters)}") for one in drawn}
    rows: list[Point] = [
        {
            "version": one.label,
            "label": labels[one.label],
            "parameters": _parameters(one.parameters),
            "budget": point.budget,
            "value": rounded(point.mean),
            "best": one.label == sweep.best,
        }
        for one in drawn
        for point in one.curve
    ]
    known = {
        "axis": say("chunks.budget_axis", language),
        "measure": plain(sweep.measure),
        "series": list(labels.values()),
        "colors": colors(list(labels.values())),
        "legend": {"columns": 3, "symbolType": "circle"},
    }
    spec = spec_of("budget", language, digits, **known)
    title = say("chunks.budget_title", language, system=plain(sweep.system))
    name = chart_name("budget", sweep.system, sweep.measure)
    return [Chart(name, title, spec, rows, _HEIGHT + 90 + 20 * (len(drawn) // 3), about=plain(sweep.measure))]


def _parameters(parameters: dict[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
