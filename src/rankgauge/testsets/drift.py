"""`label_drift`: the labels of a test set held against a corpus or chunks that have changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from rankgauge.arguments import named_arguments
from rankgauge.engine.spans import PlacedChunks
from rankgauge.errors import DataError
from rankgauge.formats import load_chunks, load_corpus
from rankgauge.model.chunks import Chunks
from rankgauge.model.normal_text import same_text
from rankgauge.model.spans import Span
from rankgauge.model.testset import TestSet
from rankgauge.testsets.anchoring import read_inputs, with_spans
from rankgauge.testsets.finding import Found, Nearest, Place, find_nearest, find_passages
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["DocumentDrift", "LabelDrift", "SpanDrift", "label_drift"]

Status = Literal["valid", "moved", "several", "orphaned", "unverified"]
STATUSES: tuple[Status, ...] = get_args(Status)
_NEAREST = 200
_MOST_TEXT = 200


@dataclass(frozen=True)
class SpanDrift:
    """What became of one passage."""

    query: str
    span: int
    """Its number among the passages of the query, from 1."""
    text: str
    status: Status
    """It stands where it stood; elsewhere, and only there; in several other places; nowhere; or it has no text to look
    for."""
    place: Place | None
    """Where the test set says it stands."""
    places: Sequence[Place] = ()
    """Where it stands now, where that is not its place; the first of them."""
    nearest: Nearest | None = None
    """Of an orphaned one: what is most like it."""
    chunks: int | None = None
    """How many chunks hold some of it; None where no chunks were given, or its place is not known."""
    split: bool = False
    """Whether no chunk holds all of it."""
    merged: bool = False
    """Whether a chunk holds all of it and of another passage of the same query."""


@dataclass(frozen=True)
class DocumentDrift:
    """What became of a document that labels name."""

    doc: str
    status: Literal["gone", "empty", "changed", "same", "present"]
    """Whether it changed is known only beside the old corpus; without it, it is there or not. An empty one has no text
    in the new corpus, whatever it had in the old one."""
    queries: int
    """How many queries call it relevant."""


@named_arguments
@dataclass(frozen=True)
class LabelDrift:
    """What became of every label, and a test set with the passages that moved at their new places."""

    spans: list[SpanDrift]
    documents: list[DocumentDrift]
    mended: TestSet
    """The test set with moved passages at their new places; all else is as it was."""
    chunked: bool
    """Whether chunks were given."""

    @property
    def counts(self) -> dict[str, int]:
        """Passages by what became of them."""
        found = Counter(one.status for one in self.spans)
        counts: dict[str, int] = {status: found[status] for status in STATUSES}
        if self.chunked:
            counts |= {"split": sum(one.split for one in self.spans), "merged": sum(one.merged for one in self.spans)}
            counts["in_no_chunk"] = sum(one.chunks == 0 for one in self.spans)
        return counts

    def __repr__(self) -> str:
        told = ", ".join(f"{n} {status}" for status, n in self.counts.items() if n)
        return f"LabelDrift({told or 'no passages'})"

    @property
    def document_counts(self) -> dict[str, int]:
        return dict(Counter(one.status for one in self.documents))

    @property
    def lost(self) -> list[SpanDrift]:
        """Passages that no program can mend: orphaned ones, and those that now stand in several places."""
        return [one for one in self.spans if one.status in ("orphaned", "several")]

    @property
    def lost_documents(self) -> list[DocumentDrift]:
        """Documents that nothing can find by what they say: those that are gone, and those without a text."""
        return [one for one in self.documents if one.status in ("gone", "empty")]

    @property
    def unchanged(self) -> bool:
        """Whether all labels still hold."""
        return not self.lost_documents and all(one.status in ("valid", "unverified") for one in self.spans)

    @property
    def notes(self) -> list[Note]:
        """What to know beside the counts."""
        notes = []
        if moved := self.counts["moved"]:
            notes.append(Note("spans.mendable", {"n": moved}))
        if unverified := self.counts["unverified"]:
            notes.append(Note("spans.unverified", {"n": unverified}, "warning"))
        if gone := [one for one in self.documents if one.status == "gone"]:
            notes.append(Note("spans.documents_gone", {"n": len(gone), "doc": gone[0].doc}, "warning"))
        if empty := [one for one in self.documents if one.status == "empty"]:
            notes.append(Note("spans.documents_empty", {"n": len(empty), "doc": empty[0].doc}, "warning"))
        if changed := [one for one in self.documents if one.status == "changed"]:
            notes.append(Note("spans.documents_changed", {"n": len(changed), "doc": changed[0].doc}, "warning"))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, without the test set: counts, and each label that did not stay as it was."""
        return {
            "format": "rankgauge.label-drift",
            "version": 1,
            "spans": self.counts,
            "documents": self.document_counts,
            "changed_spans": [
                asdict(one) for one in self.spans if one.status != "valid" or one.split or one.merged or one.chunks == 0
            ],
            "changed_documents": [asdict(one) for one in self.documents if one.status in ("gone", "empty", "changed")],
        }


@named_arguments
def label_drift(
    test_set: TestSet | str | os.PathLike[str],
    corpus: Mapping[str, str] | str | os.PathLike[str],
    *,
    old: Mapping[str, str] | str | os.PathLike[str] | None = None,
    chunks: Chunks | str | os.PathLike[str] | None = None,
) -> LabelDrift:
    """What became of the labels of a test set after the corpus was updated, or cut into other chunks.

    `old` is the corpus that the labels were made for: it gives texts to passages that have only a place, and tells
    which documents changed. `chunks` tells which passages are cut by the new chunks, or share one.
    """
    tested, new = read_inputs(test_set, corpus)
    if new is None:
        raise DataError("give the texts of the documents as they are now: `corpus=`")
    before = load_corpus(old) if isinstance(old, str | os.PathLike) else old
    if before is not None and not isinstance(before, Mapping):
        raise DataError(f"`old` must be texts by id, or the path of a file, not a {type(before).__name__}")
    cut = load_chunks(chunks) if isinstance(chunks, str | os.PathLike) else chunks
    if cut is not None and not isinstance(cut, Chunks):
        raise DataError(f"`chunks` must be Chunks or the path of a file of them, not a {type(cut).__name__}")
    if cut is not None and all(chunk.start is None for chunk in cut.values()):
        raise DataError(f"{cut.name}: no chunk has a place; give `start` and `end` of each")
    spans = _spans(tested, new, before)
    if cut is not None:
        spans = _chunked(spans, PlacedChunks(cut))
    return LabelDrift(spans, _documents(tested, new, before), _mended(tested, spans, new), cut is not None)


def _text_of(span: Span, old: Mapping[str, str] | None) -> str:
    """What a passage says; the old corpus tells that of one that has only a place."""
    if span.text or old is None or span.end is None:
        return span.text
    document = old.get(span.doc, "")
    return document[span.start : span.end] if span.end <= len(document) else ""


def _is_valid(span: Span, text: str, new: Mapping[str, str]) -> bool:
    document = new.get(span.doc)
    return (
        span.end is not None
        and document is not None
        and span.end <= len(document)
        and same_text(document[span.start : span.end], text)
    )


def _spans(test_set: TestSet, new: Mapping[str, str], old: Mapping[str, str] | None) -> list[SpanDrift]:
    known = [
        (query.id, number, span, _text_of(span, old))
        for query in test_set
        for number, span in enumerate(query.spans, start=1)
    ]
    valid = [bool(text.strip()) and _is_valid(span, text, new) for _, _, span, text in known]
    wanted = [text for (*_, text), holds in zip(known, valid, strict=True) if text.strip() and not holds]
    found = find_passages(wanted, new)
    spans = []
    for (query, number, span, text), holds in zip(known, valid, strict=True):
        place = None if span.start is None or span.end is None else Place(span.doc, span.start, span.end)
        made = SpanDrift(query, number, clipped(text, _MOST_TEXT), "valid", place)
        if not text.strip():
            made = replace(made, status="unverified", text=f"{span.doc}:{span.start}-{span.end}")
        elif not holds:
            status, places = _moved(span, found[text])
            made = replace(made, status=status, places=places)
        spans.append(made)
    texts = {(query, number): text for query, number, _, text in known}
    orphaned = [i for i, one in enumerate(spans) if one.status == "orphaned"][:_NEAREST]
    nearest = find_nearest([texts[spans[i].query, spans[i].span] for i in orphaned], new)
    for i, near in zip(orphaned, nearest, strict=True):
        if near is not None:
            spans[i] = replace(spans[i], nearest=replace(near, text=clipped(near.text, _MOST_TEXT)))
    return spans


def _moved(span: Span, found: Found) -> tuple[Status, Sequence[Place]]:
    """One place in its own document is where it moved to, or one place in all; a quotation without a place needs no
    more than to stand somewhere."""
    if not found.total:
        return "orphaned", ()
    own = [place for place in found.places if place.doc == span.doc]
    in_own = found.docs.get(span.doc, 0)
    if not span.anchored:
        return ("valid" if not span.doc or in_own else "moved" if found.total == 1 else "several"), found.places
    if in_own == 1:
        return "moved", own
    if found.total == 1:
        return "moved", found.places
    return "several", own or found.places


def _chunked(spans: Sequence[SpanDrift], placed: PlacedChunks) -> list[SpanDrift]:
    """The same with how the chunks cut them."""
    made, holders = [], Counter[tuple[str, str]]()
    whole: list[list[str]] = []
    for one in spans:
        at = one.place if one.status == "valid" else one.places[0] if one.status == "moved" else None
        if at is None:
            made.append(one)
            whole.append([])
            continue
        touching = list(placed.touching(at.doc, at.start, at.end))
        holding = [chunk for chunk, start, end in touching if start <= at.start and at.end <= end]
        holders.update((one.query, chunk) for chunk in holding)
        made.append(replace(one, chunks=len(touching), split=bool(touching) and not holding))
        whole.append(holding)
    return [
        replace(one, merged=any(holders[one.query, chunk] > 1 for chunk in holding))
        for one, holding in zip(made, whole, strict=True)
    ]


def _documents(test_set: TestSet, new: Mapping[str, str], old: Mapping[str, str] | None) -> list[DocumentDrift]:
    named = Counter(doc for query in test_set for doc in query.relevant)

    def status(doc: str) -> Literal["gone", "empty", "changed", "same", "present"]:
        if doc not in new:
            return "gone"
        if not new[doc].strip():
            return "empty"
        if old is None or doc not in old:
            return "present"
        return "same" if same_text(old[doc], new[doc]) else "changed"

    return [DocumentDrift(doc, status(doc), queries) for doc, queries in named.items()]


def _mended(test_set: TestSet, spans: Sequence[SpanDrift], new: Mapping[str, str]) -> TestSet:
    """Moved passages at their new places, with the text as it stands there; a document that is gone, and all whose
    passages moved to others, is named no longer."""
    moved = {(one.query, one.span): one.places[0] for one in spans if one.status == "moved"}
    queries = []
    for query in test_set:
        own: list[Span] = []
        for number, span in enumerate(query.spans, start=1):
            place = moved.get((query.id, number))
            if place is not None:
                text = new[place.doc][place.start : place.end]
                span = Span(place.doc, place.start, place.end, text, span.grade)
            own.append(span)
        if own == list(query.spans):
            queries.append(query)
            continue
        left = {span.doc for span in query.spans} - {span.doc for span in own}
        gone = {doc for doc in left if doc not in new and not query.groups}
        left_over = {doc: grade for doc, grade in query.grades.items() if doc not in gone}
        queries.append(with_spans(replace(query, grades=left_over, spans=()), own))
    return test_set.with_queries(queries)
