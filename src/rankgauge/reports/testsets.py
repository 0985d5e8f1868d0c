"""Passages without a place, and what became of labels, as reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.reports.document import Block, Cell, Column, Notes, Paragraph, Report, Table
from rankgauge.testsets.anchoring import Anchored
from rankgauge.testsets.drift import LabelDrift
from rankgauge.testsets.finding import Nearest, Place
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["anchor_report", "drift_report"]

_SHOWN = 6
_MOST_TEXT = 40
_URGENT = ("orphaned", "several", "moved")


def anchor_report(found: Anchored) -> Report:
    """What was bound, then the first passages that were not."""
    return Report(Note("spans.title_anchor"), list(_anchor_blocks(found)))


def _anchor_blocks(found: Anchored) -> Iterator[Block]:
    yield Notes(found.notes)
    if not found.left:
        yield Paragraph(Note("spans.all_anchored"))
        return
    listed = [
        _item(f"reason_{one.reason}", one.query, one.text, one.places, one.total, one.nearest)
        for one in found.left[:_SHOWN]
    ]
    yield Notes([*listed, *_more(len(found.left))])


def _more(n: int) -> list[Note]:
    return [Note("spans.more_left", {"n": n - _SHOWN})] if n > _SHOWN else []


def _item(
    status: str, query: str, text: str, places: Sequence[Place], total: int, nearest: Nearest | None
) -> Note:
    """One passage: what is the matter, what it says, and where it, or what is like it, stands."""
    about = {"status": Note(f"spans.{status}"), "query": clipped(query, _MOST_TEXT), "text": clipped(text, _MOST_TEXT)}
    if nearest is not None:
        alike = {"place": _place(nearest.place), "similarity": nearest.similarity}
        return Note("spans.item_at", {**about, "where": Note("spans.alike", alike)})
    if not places:
        return Note("spans.item", about)
    first = _place(places[0])
    where = first if total <= 1 else Note("spans.more_places", {"place": first, "n": total - 1})
    return Note("spans.item_at", {**about, "where": where})


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
    listed = sorted((one for one in found.spans if one.status in _URGENT), key=lambda one: _URGENT.index(one.status))
    if listed:
        examples = [
            _item(f"status_{one.status}", one.query, one.text, one.places, len(one.places), one.nearest)
            for one in listed[:_SHOWN]
        ]
        yield Notes([*examples, *_more(len(listed))])
    if found.notes:
        yield Notes(found.notes)
