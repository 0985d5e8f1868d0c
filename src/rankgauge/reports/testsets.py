"""Passages without a place, and what became of labels, as reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.reports.document import Block, Cell, Column, Notes, Paragraph, Report, Table, Text
from rankgauge.testsets.anchoring import Anchored, Unanchored
from rankgauge.testsets.drift import LabelDrift, SpanDrift
from rankgauge.testsets.finding import Nearest, Place
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["anchor_report", "drift_report"]

_SHOWN = 10
_MOST_TEXT = 40


def anchor_report(found: Anchored) -> Report:
    """What was bound, then the first passages that were not."""
    return Report(Note("spans.title_anchor"), list(_anchor_blocks(found)))


def _anchor_blocks(found: Anchored) -> Iterator[Block]:
    yield Notes(found.notes)
    if not found.left:
        yield Paragraph(Note("spans.all_anchored"))
        return
    heads = [Column(Note(f"spans.{name}")) for name in ("query", "passage", "why", "where")]
    rows: list[list[Cell]] = [
        [
            clipped(one.query, _MOST_TEXT),
            clipped(one.text, _MOST_TEXT),
            Note(f"spans.reason_{one.reason}"),
            _where(one.places, one.total, one.nearest),
        ]
        for one in found.left[:_SHOWN]
    ]
    yield Table("left", heads, rows, notes=_more(found.left))


def _more(items: Sequence[Unanchored] | Sequence[SpanDrift]) -> list[Note]:
    return [Note("spans.more_left", {"n": len(items) - _SHOWN})] if len(items) > _SHOWN else []


def _where(places: Sequence[Place], total: int, nearest: Nearest | None) -> Text:
    if nearest is not None:
        return Note("spans.alike", {"place": _place(nearest.place), "similarity": nearest.similarity})
    if not places:
        return ""
    first = _place(places[0])
    return first if total <= 1 else Note("spans.more_places", {"place": first, "n": total - 1})


def _place(place: Place) -> Note:
    return Note("spans.place", {"doc": place.doc, "start": place.start, "end": place.end})


def drift_report(found: LabelDrift) -> Report:
    """Counts first, then the first labels that need a look."""
    return Report(Note("spans.title_drift"), list(_drift_blocks(found)))


def _drift_blocks(found: LabelDrift) -> Iterator[Block]:
    number = Column(Note("spans.count"), "count")
    shown = [(status, n) for status, n in found.counts.items() if n or status in ("valid", "moved", "orphaned")]
    if found.spans:
        rows: list[list[Cell]] = [[Note(f"spans.status_{status}"), n] for status, n in shown]
        yield Table("counts", [Column(Note("spans.status")), number], rows)
    if found.documents:
        documents: list[list[Cell]] = [[Note(f"spans.status_{key}"), n] for key, n in found.document_counts.items()]
        yield Table("documents", [Column(Note("spans.documents_head")), number], documents)
    urgent = {"orphaned": 0, "several": 1, "moved": 2}
    listed = sorted((one for one in found.spans if one.status in urgent), key=lambda one: urgent[one.status])
    if listed:
        heads = [Column(Note(f"spans.{name}")) for name in ("query", "passage", "became", "where")]
        examples: list[list[Cell]] = [
            [
                clipped(one.query, _MOST_TEXT),
                clipped(one.text, _MOST_TEXT),
                Note(f"spans.status_{one.status}"),
                _where(one.places, len(one.places), one.nearest),
            ]
            for one in listed[:_SHOWN]
        ]
        yield Table("spans", heads, examples, notes=_more(listed))
    if found.notes:
        yield Notes(found.notes)
