"""Where relevant documents were lost, as a report of its own or as a part of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rankgauge.comparison.loss_notes import lead_notes, place_note
from rankgauge.record import LossesResult, LossPlace, LostDocument, Record
from rankgauge.reports.columns import answer
from rankgauge.reports.document import (
    Bar,
    Block,
    Cell,
    Charts,
    Column,
    Detail,
    Heading,
    Notes,
    Paragraph,
    Table,
    Target,
    data_table,
    table_of,
)
from rankgauge.words import Language, Note

__all__ = ["losses_answer", "losses_data", "losses_lines", "losses_part"]

_EXAMPLES = 3
_SYSTEMS = 2  # on the first screen, beside other figures
_LONGEST = 28  # characters of a query on the first screen
_LISTED = 40
_MANY = 1_000  # rows of a page


def _word(name: str, /, **parameters: Any) -> Note:
    return Note(f"losses.{name}", parameters)


def losses_lines(record: Record) -> Iterator[Block]:
    """One line for the systems with most to gain, beside other figures."""
    most = sorted(record.losses, key=lambda own: -max((part.gain for part in own.headroom), default=0.0))[:_SYSTEMS]
    if most:
        yield Notes([_word("of_system", system=own.system, text=lead_notes(own)[0]) for own in most])


def losses_answer(record: Record, found: LossesResult) -> Iterator[Block]:
    """The first screen: what can be gained where, the places, some queries, and what to mind."""
    lead, *rest = lead_notes(found)
    yield Paragraph(lead, "lead", status="pass" if not found.missed else "warn")
    for note in rest:
        yield Paragraph(note)
    yield _places(found)
    yield from _examples(record, found)
    if found.notes:
        folded = any(note.level == "warning" for note in found.notes)
        yield Notes(found.notes, answer("remarks", n=len(found.notes)), bulleted=True, folded=folded)


def losses_part(record: Record, *, alone: bool) -> Iterator[Block]:
    """The section: a chart of all systems, then each of them by tag, query and document. `alone` the first screen has
    the places already."""
    yield Heading(_word("heading"), "losses")
    yield Charts("losses", _word("chart"), partial(_charts, record))
    for found in record.losses:
        if not alone:
            for note in lead_notes(found):
                yield Paragraph(_word("of_system", system=found.system, text=note), detail="evidence")
            yield _places(found, "evidence")
            yield from _examples(record, found, "audit", name=found.system)
            yield Notes(found.notes, detail="evidence")
        name = "" if alone else found.system
        yield from _by_tag(record, found, name)
        yield from _by_query(record, found, name)
        yield from _documents(found, name)


def _charts(record: Record, language: Language, digits: int) -> Any:
    from rankgauge.reports.losses_chart import losses_charts  # which texts do without

    return losses_charts(record, language, digits)


def _places(found: LossesResult, detail: Detail = "answer") -> Table:
    grades = sum(place.grades for place in found.places) or 1.0
    graded = len({place.grades / place.documents for place in found.places if place.documents}) > 1
    columns: list[tuple[Column, Callable[[LossPlace], Cell]]] = [
        (Column(_word("place")), lambda place: place_note(found, place)),
        (Column(_word("documents"), "count"), lambda place: place.documents),
        (Column(_word("share"), "share"), lambda place: place.documents / max(1, found.documents)),
        (Column("", "bar", drop=2), lambda place: Bar(place.documents / max(1, found.documents))),
        (Column(_word("queries"), "count", drop=3), lambda place: place.queries),
        (
            Column(_word("gain", measure=found.measure), "signed", hint=_word("gain_hint")),
            lambda place: "" if place.kind == "found" else place.gain,
        ),
    ]
    if graded:
        column = Column(_word("by_grade"), "share", detail="evidence")
        columns.insert(3, (column, lambda place: place.grades / grades))
    return table_of(f"losses-{found.system}", found.places, columns, detail=detail, light=True)


def _keys_of_lead(found: LossesResult) -> set[str]:
    """The places behind the part with most to gain."""
    best = found.largest_headroom
    if best is None:
        return set()
    if best.kind in ("first", "stage"):
        return {f"stage:{best.stage}"}
    if best.kind == "order":
        return {"rank", "budget", *(f"stage:{name}" for name in found.stages[1:][-1:])}
    return {best.kind}


def _examples(
    record: Record, found: LossesResult, detail: Detail = "answer", *, name: str = ""
) -> Iterator[Block]:
    """The queries that lost most where most can be gained."""
    keys = _keys_of_lead(found)
    own = {query: [lost for lost in docs if lost.place in keys] for query, docs in found.lost.items()}
    counts = {
        query: sum(listed[i] for key, listed in found.per_query.items() if key in keys)
        for i, query in enumerate(record.queries)
        if own.get(query)
    }
    shown = sorted(counts, key=lambda query: -counts[query])[:_EXAMPLES]
    if not shown:
        return
    texts = [record.texts.get(query, "") for query in shown]
    heads = [Column(_word("query")), *([Column(_word("text"), drop=1, most=_LONGEST)] if any(texts) else [])]
    columns = [*heads, Column(_word("lost_here"), "count"), Column(_word("example"))]
    rows: list[tuple[Cell, ...]] = [
        (query, *([text] if any(texts) else []), counts[query], _example(found, own[query][0]))
        for query, text in zip(shown, texts, strict=True)
    ]
    targets = [Target(found.measure, found.system, query=query) for query in shown]
    title = _titled(name, _word("examples"))
    yield Table("losses-examples", columns, rows, title, detail=detail, light=True, leads_to=targets)


def _example(found: LossesResult, lost: LostDocument) -> Note | str:
    """A document, and where it still was."""
    place = next((i for i in reversed(range(len(lost.ranks))) if lost.ranks[i] is not None), None)
    if place is None:
        return lost.doc
    key = "example_rank" if found.stages[place] == found.system else "example_before"
    return _word(key, doc=lost.doc, rank=lost.ranks[place], stage=found.stages[place])


def _count_columns(found: LossesResult) -> list[Column]:
    return [Column(place_note(found, place), "count") for place in found.places]


def _titled(name: str, title: Note) -> Note:
    """A title, with the system where there are several."""
    return _word("of_system", system=name, text=title) if name else title


def _by_tag(record: Record, found: LossesResult, name: str) -> Iterator[Block]:
    numbers = {query: i for i, query in enumerate(record.queries)}
    rows: list[tuple[Cell, ...]] = []
    for tag, queries in sorted(record.queries_by_tag.items()):
        kept = [numbers[query] for query in queries if query in numbers]
        counts = [sum(found.per_query[place.key][i] for i in kept) for place in found.places]
        if sum(counts):
            rows.append((tag, sum(counts), *counts))
    if rows:
        columns = [Column(_word("tag")), Column(_word("relevant"), "count"), *_count_columns(found)]
        yield Table("losses-tags", columns, rows, _titled(name, _word("by_tag")), detail="evidence")


def _by_query(record: Record, found: LossesResult, name: str) -> Iterator[Block]:
    """The queries that lost anything, most first."""
    rows: list[tuple[int, tuple[Cell, ...]]] = []
    for i, query in enumerate(record.queries):
        counts = [found.per_query[place.key][i] for place in found.places]
        missed = sum(counts) - found.per_query["found"][i]
        if missed:
            text = [record.texts.get(query, "")] if record.texts else []
            rows.append((missed, (query, *text, sum(counts), *counts)))
    rows.sort(key=lambda row: -row[0])
    if rows:
        heads = [Column(_word("query")), *([Column(_word("text"), most=_LISTED)] if record.texts else [])]
        columns = [*heads, Column(_word("relevant"), "count"), *_count_columns(found)]
        shown = [row for _, row in rows[:_MANY]]
        yield Table("losses-queries", columns, shown, _titled(name, _word("by_query")), detail="evidence")


def _documents(found: LossesResult, name: str) -> Iterator[Block]:
    places = {place.key: place_note(found, place) for place in found.places}
    listed = [(query, lost) for query, docs in found.lost.items() for lost in docs][:_MANY]
    rows: list[tuple[Cell, ...]] = [
        (query, lost.doc, f"{lost.grade:g}", places[lost.place], *("" if rank is None else rank for rank in lost.ranks))
        for query, lost in listed
    ]
    if rows:
        columns = [Column(_word("query")), Column(_word("doc")), Column(_word("grade"), "count")]
        columns += [Column(_word("lost_at"))]
        columns += [Column(_word("rank_in", stage=stage), "count") for stage in found.stages]
        part = len(rows) < found.missed
        title = _word("by_document_first", n=len(rows), all=found.missed) if part else _word("by_document")
        yield Table("losses-documents", columns, rows, _titled(name, title), detail="audit")


def losses_data(record: Record) -> dict[str, Table]:
    """One row for each system and place, and every document that was lost, for spreadsheets."""
    places: list[dict[str, Cell]] = [
        {
            "system": found.system,
            "place": place.kind,
            "stage": place.stage,
            "documents": place.documents,
            "share": place.documents / max(1, found.documents),
            "grades": place.grades,
            "queries": place.queries,
            "gain": place.gain,
        }
        for found in record.losses
        for place in found.places
    ]
    lost: list[dict[str, Cell]] = [
        {
            "system": found.system,
            "query": query,
            "document": own.doc,
            "grade": own.grade,
            "lost": own.place,
            **{f"rank in {stage}": rank for stage, rank in zip(found.stages, own.ranks, strict=True)},
        }
        for found in record.losses
        for query, docs in found.lost.items()
        for own in docs
    ]
    return {"losses": data_table("losses", places), "documents": data_table("documents", lost)}
