"""The part of a report that a comparison adds: verdicts, groups, and what could turn a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

from rankgauge.record import Agreement, ComparisonResult, Record, Rerank, Row, Slice, Standing, UnjudgedRange
from rankgauge.reports.charts import comparison_charts
from rankgauge.reports.document import (
    Beside,
    Block,
    Card,
    Cards,
    Cell,
    Charts,
    Column,
    Detail,
    Heading,
    Marked,
    Notes,
    Pair,
    Paragraph,
    Table,
    Target,
    data_table,
    note_about,
    said_once,
    table_of,
    word,
)
from rankgauge.reports.evaluation import ends_of
from rankgauge.words import Note

__all__ = ["changed_part", "comparison_data", "comparison_part", "ending_part", "verdict_cards"]

_CARDS = 6
_CHANGED = 5
_LONGEST = 40
_BLANK = "\u2007"
"""As wide as a digit."""


def _verdict(row: Row) -> Marked:
    return Marked((Note(f"comparison.verdict_{row.verdict}"),), row.verdict)


def verdict_cards(compared: ComparisonResult) -> Iterator[Block]:
    """Each verdict in a sentence, where they are few."""
    if len(compared.rows) <= _CARDS:
        yield Cards([Card(row.measure, row.note, names_itself=True) for row in compared.rows], "evidence")


def _columns(compared: ComparisonResult) -> list[tuple[Column, Callable[[Row], Cell]]]:
    level = 1 - compared.settings.alpha
    return [
        (Column(word("difference"), "signed", "difference"), lambda row: row.difference),
        (Column(word("interval", level=level), "bounds", under="difference"), lambda row: ends_of(row.interval)),
        (Column(word("relative_change"), "relative"), lambda row: row.relative_change),
        (Column(word("p"), "p", under="p_corrected"), lambda row: row.p_value),
        (Column(word("p_corrected"), "p", "p_corrected"), lambda row: row.p_corrected),
        (Column(word("effect"), "effect"), lambda row: row.effect),
        (Column(word("wins"), "count"), lambda row: f"{row.wins}/{row.ties}/{row.losses}"),
        (Column(word("detectable"), "score", detail="audit"), lambda row: row.detectable),
        (Column(word("verdict")), _verdict),
    ]


def comparison_part(record: Record, compared: ComparisonResult) -> Iterator[Block]:
    """The rows, the groups, and the ranges over labels and ties."""
    yield Heading(word("comparison"), "comparison")
    first = compared.rows[0]
    hint = word("rows_hint", a=first.a, b=first.b)
    yield Paragraph(hint, "hint", "audit")
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (Column(word("measure")), lambda row: row.measure),
        (Column(word("compared"), key="pair"), lambda row: Pair(row.a, row.b)),
        (
            Column(word("means"), under="pair", detail="audit"),
            lambda row: word("from_to", a=row.mean_a, b=row.mean_b),
        ),
    ]
    targets = [Target(row.measure, pair=(row.a, row.b)) for row in compared.rows]
    yield table_of("rows", compared.rows, [*columns, *_columns(compared)], detail="evidence", leads_to=targets)
    settings = compared.settings
    tested = {"test": settings.test, "correction": settings.correction, "alpha": settings.alpha}
    known = {**tested, "margin": settings.equivalence_margin, "family": compared.family}
    yield Paragraph(word("settings" if settings.equivalence_margin else "settings_plain", **known), "hint", "audit")
    caption = word("forest" if settings.equivalence_margin else "forest_plain")
    yield Charts("comparison", caption, partial(comparison_charts, record))
    if compared.groups:
        yield Heading(word("groups"), "groups")
        yield Paragraph(word("groups_hint"), "hint", "evidence")
        if any(not own.letters for entries in compared.groups.values() for own in entries):
            yield Paragraph(word("ranks_hint"), "hint", "evidence")
        yield Beside([_group_table(compared, name, entries) for name, entries in compared.groups.items()], "audit")
    ranges = list(_ranges(compared))
    if ranges:
        yield Heading(word("ranges"), "ranges")
        yield from ranges


def _group_table(compared: ComparisonResult, measure: str, entries: list[Standing]) -> Table:
    """Letters stand below one another, so that a group reads downwards; ranks where there are no letters."""
    alphabet = sorted({letter for own in entries for letter in own.letters})
    queries = next((row.queries for row in compared.rows if row.measure == measure), None)
    columns: list[tuple[Column, Callable[[Standing], Cell]]] = [
        (Column(measure, hint=None if queries is None else word("n_queries", n=queries)), lambda own: own.system),
        (Column(word("mean"), "score"), lambda own: own.mean),
        (
            Column(word("letters" if alphabet else "ranks")),
            lambda own: "".join(x if x in own.letters else _BLANK for x in alphabet) if alphabet else own.label,
        ),
    ]
    return table_of(f"groups-{measure}", entries, columns, detail="audit")


def changed_part(record: Record, compared: ComparisonResult) -> Iterator[Block]:
    """The queries that changed most, and the rows by tag."""
    if len(record.systems) == 2 and compared.changes:
        entry = compared.changes[0]
        listed = [*entry.gained[:_CHANGED], *reversed(entry.lost[:_CHANGED])]
        texts = [record.texts.get(change.query, "") for change in listed]
        columns = [Column(entry.a, "score"), Column(entry.b, "score"), Column(word("difference"), "signed")]
        title = word("changed", measure=entry.measure, a=entry.a, b=entry.b)
        heads = [Column(word("query")), *([Column(word("text"), most=_LONGEST)] if any(texts) else [])]
        rows: list[tuple[Cell, ...]] = [
            (change.query, *([text] if any(texts) else []), change.a, change.b, change.difference)
            for change, text in zip(listed, texts, strict=True)
        ]
        if rows:
            yield Table("changes", [*heads, *columns], rows, title, detail="evidence")
    if compared.slices:
        columns_by_tag: list[tuple[Column, Callable[[Slice], Cell]]] = [
            (Column(word("tag")), lambda part: part.tag),
            (Column(word("measure")), lambda part: part.row.measure),
            (Column(word("compared")), lambda part: Pair(part.row.a, part.row.b)),
            (Column(word("queries"), "count"), lambda part: part.row.queries),
            *((column, lambda part, cell=cell: cell(part.row)) for column, cell in _columns(compared)),
        ]
        yield table_of("slices", compared.slices, columns_by_tag, title=word("slices_title"))


def _ranges(compared: ComparisonResult) -> Iterator[Block]:
    """How far the difference could move by labels of unjudged documents and by other orders of tied ones."""
    unjudged, tied = compared.unjudged, compared.tied
    if unjudged is not None and unjudged.reason is not None:
        yield Paragraph(unjudged.reason, detail="evidence")
    elif unjudged is not None:
        for reason, names in said_once((reason, measure) for measure, reason in unjudged.reasons.items()):
            yield Paragraph(note_about(names, reason), detail="audit")
    order = list(dict.fromkeys(row.measure for row in compared.rows))
    open_rows = [] if unjudged is None else [row for row in unjudged.rows if row.documents]
    if open_rows:
        columns_of_ranges: list[tuple[Column, Callable[[UnjudgedRange], Cell]]] = [
            (Column(word("measure")), lambda row: row.measure),
            (Column(word("compared")), lambda row: Pair(row.a, row.b)),
            (Column(word("unjudged_documents"), "count"), lambda row: row.documents),
            (Column(word("range"), "bounds"), lambda row: (row.low, row.high)),
            (Column(word("bound")), lambda row: word("exact" if row.exact else "outer")),
            (Column(word("winner")), lambda row: _winner(row.changes_winner, known=row.exact)),
        ]
        open_rows.sort(key=lambda row: order.index(row.measure))
        yield table_of("unjudged", open_rows, columns_of_ranges, title=word("unjudged"), detail="evidence")
    if tied is not None:
        scores = [score for score in tied.systems if score.high - score.low > 1e-12]
        columns = [Column(word("measure")), Column(word("system"))]
        columns += [Column(word(name), "score") for name in ("least", "expected", "greatest")]
        shown = [(score.measure, score.system, score.low, score.expected, score.high) for score in scores]
        if shown:
            yield Table("tied", columns, shown, word("tied"), detail="evidence")
        moved = [row for row in tied.rows if row.high - row.low > 1e-12]
        if moved:
            columns = [Column(word("measure")), Column(word("compared"))]
            columns += [Column(word("range"), "bounds"), Column(word("winner"))]
            ends = [(r.measure, Pair(r.a, r.b), (r.low, r.high), _winner(r.changes_winner)) for r in moved]
            yield Table("tied-pairs", columns, ends, word("tied_pairs"), detail="audit")


def _winner(changes: bool, *, known: bool = True) -> Marked:
    """Whether another winner is possible, which an outer bound cannot tell."""
    if not changes:
        return Marked((word("stays"),))
    return Marked((word("turns"),), "warn") if known else Marked((word("unknown"),))


def ending_part(record: Record, compared: ComparisonResult) -> Iterator[Block]:
    """How alike measures and systems order, and what a reranker made of its candidates."""
    kinds: list[tuple[str, list[Agreement]]] = [
        (kind, [entry for entry in compared.agreement if entry.kind == kind]) for kind in ("measures", "systems")
    ]
    tables = [_agreement_table(kind, found, len(record.systems)) for kind, found in kinds if found]
    if tables:
        yield Heading(word("agreement"), "agreement")
        yield Beside(tables, "evidence")
    if compared.rerank is not None:
        yield from _rerank(compared.rerank)


def _agreement_table(kind: str, found: list[Agreement], systems: int) -> Table:
    """Of two systems every order agrees or not, so that is for the audit."""
    over = any(entry.of for entry in found)
    columns = [Column(word("measure" if kind == "measures" else "system")), Column("")]
    columns += [*([Column(word("over"))] if over else []), Column("τ", "tau")]
    rows = [
        (entry.a, entry.b, *([word("over_queries", of=entry.of) if entry.of else ""] if over else []), entry.tau)
        for entry in found
    ]
    detail: Detail = "evidence" if kind == "measures" and systems > 2 else "audit"
    return Table(f"agreement-{kind}", columns, rows, word(f"agreement_{kind}"), detail=detail)


def _rerank(found: Rerank) -> Iterator[Block]:
    yield Heading(word("rerank"), "rerank")
    names = ("before", "after", "ceiling", "perfect")
    columns = [Column(word("measure")), *(Column(word(name), "score") for name in names), Column(word("won"), "share")]
    rows = [(row.measure, row.before, row.after, row.ceiling, row.perfect, row.share) for row in found.rows]
    yield Table("rerank", columns, rows, detail="audit")
    see = Note("losses.see", {"before": found.before, "after": found.after})
    yield Notes([*found.notes, see], word("rerank_title"))


def comparison_data(compared: ComparisonResult) -> Table:
    """One row for each comparison, with plain numbers, for spreadsheets."""
    tagged = [*(("", row) for row in compared.rows), *((part.tag, part.row) for part in compared.slices)]
    return data_table("comparison", [{"tag": tag, **_data(row)} for tag, row in tagged])


def _data(row: Row) -> dict[str, Cell]:
    low, high = (None if math.isinf(end) else end for end in ends_of(row.interval) or (math.inf, math.inf))
    before = ("measure", "a", "b", "mean_a", "mean_b", "difference")
    after = ("relative_change", "p_value", "p_corrected", "effect", "wins", "ties", "losses", "queries", "detectable")
    return {
        **{name: getattr(row, name) for name in before},
        "low": low,
        "high": high,
        **{name: getattr(row, name) for name in (*after, "verdict")},
    }
