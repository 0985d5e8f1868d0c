"""Systems compared, on one screen: the decision, a leaderboard, what limits it, and where it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rankgauge.comparison.verdicts import MIRRORED, contradicting, summary_notes
from rankgauge.record import Changes, ComparisonResult, Record, Row, ScoredMeasure, SystemResult
from rankgauge.reports.columns import LATER, answer, head_of, in_order, scale_of, time_columns, times_of, value_of
from rankgauge.reports.document import (
    Block,
    Cell,
    Column,
    Drawn,
    Marked,
    Paragraph,
    Scored,
    Status,
    Table,
    Target,
    word,
)
from rankgauge.stats.settings import Verdict
from rankgauge.words import Note

__all__ = ["changed_part", "leaderboard_part", "reference_of"]

_SHOWN = 2  # queries of each side that changed most
_LONGEST = 40  # characters of a query
_STATUS: dict[str, Status] = {
    **dict.fromkeys(("win", "take", "leads", "leads_all", "same", "all_identical"), "pass"),
    **dict.fromkeys(("open", "open_no_size", "leads_none"), "open"),
    "lose": "fail",
}
"""By the name of the advice; all else is to be looked at."""
_SHORT = 12  # characters of a name that can stand in the head of a narrow column


_NO_IDS = "comparison.no_ids"


class _Seen(NamedTuple):
    """One measure of a system beside the reference's."""

    difference: float
    ends: tuple[float, float] | None
    verdict: Verdict
    row: Row


def leaderboard_part(record: Record, compared: ComparisonResult) -> Iterator[Block]:
    """The decision and its evidence."""
    advice = summary_notes(record)
    doubts = contradicting([note for note in advice if note.key != _NO_IDS])
    for i, note in enumerate(advice):
        beside = i > 0 and note.key == _NO_IDS  # the decision is not about these systems
        status: Status | None = None if beside else "warn" if note in doubts else _status(note, compared)
        shown = i == 0 or beside or note in doubts
        alone = note in doubts and note.key != "comparison.take_or_not"  # which names the other measures itself
        words = answer("disagree", text=note) if alone else note
        yield Paragraph(words, "lead", "answer" if shown else "evidence", status if shown else None)
    if len(compared.pairs) == 1:
        yield _pair_table(record, compared)
    else:
        decided = next((note.parameters["measure"] for note in advice if "measure" in note.parameters), ())
        yield _leaderboard(record, compared, decided)
    yield from _limits(compared)


def _status(advice: Note, compared: ComparisonResult) -> Status:
    """Whether the advice is good news. Equivalent systems are, for nothing is lost. What decides nothing is open;
    a baseline is kept with a warning where some are worse and others inconclusive."""
    name = advice.key.removeprefix("comparison.")
    if name != "keep":
        return _STATUS.get(name, "warn")
    measures = advice.parameters["measure"]
    verdicts = {row.verdict for row in compared.rows if row.measure in measures}
    if "inconclusive" in verdicts:
        return "warn" if "worse" in verdicts else "open"
    return "pass" if "equivalent" in verdicts else "fail"


def reference_of(record: Record, compared: ComparisonResult) -> str:
    """The system that the others are seen beside: the baseline, else the best by the first measure."""
    if compared.baseline is not None:
        return compared.baseline
    standing = compared.groups.get(compared.rows[0].measure)
    if len(compared.pairs) == 1 or not standing:
        return compared.rows[0].a
    return standing[0].system


def _seen(compared: ComparisonResult, reference: str) -> dict[tuple[str, str], _Seen]:
    """By measure and system, each beside the reference."""
    seen: dict[tuple[str, str], _Seen] = {}
    for row in compared.rows:
        ends = None if row.interval is None else (row.interval.low, row.interval.high)
        if row.a == reference:
            seen[row.measure, row.b] = _Seen(row.difference, ends, row.verdict, row)
        elif row.b == reference:
            turned = None if ends is None else (-ends[1], -ends[0])
            seen[row.measure, row.a] = _Seen(-row.difference, turned, MIRRORED[row.verdict], row)
    return seen


def _verdict(verdict: Verdict) -> Marked:
    return Marked((Note(f"comparison.verdict_{verdict}"),), verdict)


def _leaderboard(record: Record, compared: ComparisonResult, decided: Sequence[str] = ()) -> Table:
    """Systems by the first measure, each with its difference from the reference; other measures are marked where they
    differ significantly. Those that the decision names stand first, for the last go where there is no room."""
    tested = {row.measure for row in compared.rows}
    first, *others = [about for about in record.measures if about.name in tested]
    others.sort(key=lambda about: about.name not in decided)
    reference = reference_of(record, compared)
    seen = _seen(compared, reference)
    own = {name: found for (measure, name), found in seen.items() if measure == first.name}
    scale = scale_of([found.ends for found in own.values() if found.ends], [found.difference for found in own.values()])
    letters = {standing.system: standing.label for standing in compared.groups.get(first.name, ())}
    lettered = any(standing.letters for standing in compared.groups.get(first.name, ()))
    mark = "baseline" if compared.baseline is not None else "best"

    def scored(system: SystemResult, about: ScoredMeasure) -> Cell:
        found = seen.get((about.name, system.name))
        verdict = found.verdict if found is not None else ""
        value = value_of(about, system.means[about.name].value)
        return Scored(value, verdict if verdict in ("better", "worse") else "")

    def row(system: SystemResult) -> tuple[Cell, ...]:
        found = own.get(system.name)
        return (
            system.name,
            value_of(first, system.means[first.name].value),
            "" if found is None else found.difference,
            None if found is None else Drawn(found.difference, found.ends, scale, zero=True),
            Marked((answer(mark),)) if found is None else _verdict(found.verdict),
            *([letters.get(system.name, "")] if letters else []),
            *(scored(system, about) for about in others),
            *times_of(record, system),
        )

    columns = [
        Column(word("system")),
        head_of(first),
        Column(answer("vs", a=reference) if len(reference) <= _SHORT else answer(f"vs_{mark}"), "signed"),
        Column(word("interval", level=1 - compared.settings.alpha), "plot", drop=1),
        Column(word("verdict")),
        *([Column(word("letters" if lettered else "ranks"), key="group", drop=3)] if letters else []),
        *(head_of(about, LATER + i) for i, about in enumerate(others)),
        *time_columns(record),
    ]
    systems = in_order(record, first)
    targets = [
        Target(first.name, system.name, next((p for p in compared.pairs if {*p} == {reference, system.name}), None))
        for system in systems
    ]
    legend = [answer("letters" if lettered else "ranks", measure=first.name)] if letters else []
    rows = [row(system) for system in systems]
    return Table("leaderboard", columns, rows, notes=legend, notes_on="group", light=True, leads_to=targets)


def _pair_table(record: Record, compared: ComparisonResult) -> Table:
    """One row for each measure of two systems."""
    a, b = compared.pairs[0]
    found = compared.rows
    ends = {row.measure: (row.interval.low, row.interval.high) for row in found if row.interval is not None}
    scale = scale_of([*ends.values()], [row.difference for row in found])
    rows = [
        (
            row.measure,
            row.mean_a,
            row.mean_b,
            row.difference,
            Drawn(row.difference, ends.get(row.measure), scale, zero=True),
            _verdict(row.verdict),
        )
        for row in found
    ]
    columns = [
        Column(word("measure")),
        Column(a, "score"),
        Column(b, "score"),
        Column(word("difference"), "signed"),
        Column(word("interval", level=1 - compared.settings.alpha), "plot", drop=1),
        Column(word("verdict")),
    ]
    targets = [Target(row.measure, pair=(a, b)) for row in found]
    return Table("leaderboard", columns, rows, light=True, leads_to=targets)


def _limits(compared: ComparisonResult) -> Iterator[Block]:
    """What these queries could have found, where something stayed open."""
    first = compared.rows[0].measure
    # Where all scores are equal there is no spread that a difference could be told from, with ever so many queries.
    rows = [row for row in compared.rows if row.measure == first and row.ties < row.queries]
    still_open = [row for row in rows if row.verdict == "inconclusive"]
    if not still_open or len(compared.pairs) == 1:  # of two systems the decision says so itself
        return
    least = [row.detectable for row in still_open if row.detectable is not None]
    fewest = min(still_open, key=lambda row: row.queries)
    about: dict[str, Any] = {"n": fewest.queries}
    if fewest.conversations is not None:
        about["conversations"] = fewest.conversations
    if least:
        about |= {"detectable": max(least), "measure": first}
    group = "answer" if fewest.conversations is None else "conversations"
    yield Paragraph(Note(f"{group}.limits" if least else f"{group}.limits_none", about))


def changed_part(record: Record, compared: ComparisonResult) -> Iterator[Block]:
    """The queries that changed most: both ways for two systems and for the two best, against a baseline those that
    tell of the largest difference."""
    first = compared.rows[0].measure
    rows = [row for row in compared.rows if row.measure == first]
    reference = reference_of(record, compared)
    beside = [row for row in rows if reference in (row.a, row.b)]
    if compared.baseline is None:  # the best beside the next
        chosen = min(beside, key=lambda row: abs(row.difference))
    else:
        decisive = [row for row in beside if row.verdict in ("better", "worse")] or beside
        chosen = max(decisive, key=lambda row: abs(row.difference))
    entry = next((own for own in compared.changes if (own.measure, own.a, own.b) == (first, chosen.a, chosen.b)), None)
    if entry is None:
        return
    if compared.baseline is None or len(compared.pairs) == 1 or chosen.verdict not in ("better", "worse"):
        listed, head = [*entry.gained[:_SHOWN], *reversed(entry.lost[:_SHOWN])], answer("changed")
    else:
        side = "gained" if chosen.verdict == "better" else "lost"
        side = side if getattr(entry, side) else "lost"
        listed, head = list(getattr(entry, side)[:_SHOWN]), answer(side, b=chosen.b)
    if listed:
        yield _changes_table(record, entry, listed, head, turned=len(compared.pairs) > 1 and entry.b == reference)


def _changes_table(record: Record, entry: Changes, listed: Sequence[Any], head: Note, *, turned: bool) -> Table:
    """One row for each query; `turned`, so that differences have the sign that they have in the leaderboard."""
    rows = []
    listed = listed[::-1] if turned else listed
    for change in listed:
        query = record.texts.get(change.query) or change.query
        a, b, difference = change.a, change.b, change.difference
        rows.append((query, b, a, -difference) if turned else (query, a, b, difference))
    names = (entry.b, entry.a) if turned else (entry.a, entry.b)
    columns = [
        Column(head, most=_LONGEST),
        *(Column(name, "score") for name in names),
        Column(word("difference"), "signed", drop=1),
    ]
    targets = [Target(entry.measure, pair=(entry.a, entry.b), query=change.query) for change in listed]
    return Table("changed", columns, rows, light=True, leads_to=targets)
