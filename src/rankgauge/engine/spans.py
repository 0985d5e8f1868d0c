"""Labels that are passages, resolved against the chunks that a retriever searches.

A chunk is relevant to a passage if it holds at least a share of it (`overlap`), or lies wholly inside it. Where chunks
and passages have places, shares are of characters, else of the words that both texts have in common, in one run.

Each passage is a subtopic, found as soon as one chunk that is relevant to it is: a passage that stands in two chunks
counts once. If no chunk is relevant to a passage, it stays in the judgments as one that cannot be found. With chunks
that follow each other without gaps, that cannot happen up to an overlap of 0.5: of two chunks one has at least half of
the passage, and of three the middle one lies inside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.engine.quotations import quoted_in
from rankgauge.errors import DataError
from rankgauge.model.chunks import Chunks
from rankgauge.model.judgments import Qrels
from rankgauge.model.normal_text import same_text
from rankgauge.model.ranked import Ints
from rankgauge.model.spans import Span
from rankgauge.model.testset import Query, TestSet

if TYPE_CHECKING:
    import polars as pl

__all__ = ["OVERLAP", "OVERLAPS", "Cover", "PlacedChunks", "SpanLabels"]

OVERLAP = 0.5
OVERLAPS = (0.25, 0.5, 0.75, 1.0)
"""Thresholds whose scores are shown beside the one that was chosen."""
_WHOLE = 1 - 1e-9


@dataclass(frozen=True)
class Cover:
    """A chunk that holds some of a label, the share that it holds, and whether all of it lies inside the label."""

    chunk: str
    share: float
    inside: bool = False

    def relevant(self, overlap: float) -> bool:
        return self.inside or self.share >= min(overlap, _WHOLE)


@dataclass(frozen=True)
class _Label:
    grade: float
    covers: Sequence[Cover]
    told: str
    """Its id in the judgments where no chunk is relevant to it."""
    span: Span | None = None


@dataclass(frozen=True)
class _DocumentPlaces:
    starts: Ints
    ends: Ints
    reach: Ints
    """The greatest end so far."""
    ids: Sequence[str]


class PlacedChunks:
    """The chunks of each document that have a place, to be found by it."""

    def __init__(self, chunks: Chunks) -> None:
        places: dict[str, list[tuple[int, int, str]]] = {}
        for own, chunk in chunks.items():
            if chunk.start is not None and chunk.end is not None:
                places.setdefault(chunk.doc, []).append((chunk.start, chunk.end, own))
        self._documents = {}
        for doc, rows in places.items():
            rows.sort()
            starts, ends, ids = (list(column) for column in zip(*rows, strict=True))
            reach = np.maximum.accumulate(np.array(ends, dtype=np.int64))
            self._documents[doc] = _DocumentPlaces(
                np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64), reach, ids
            )

    def __contains__(self, doc: object) -> bool:
        return doc in self._documents

    def touching(self, doc: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """(chunk, start, end) of those that hold at least one of the characters, in their order."""
        own = self._documents.get(doc)
        if own is None:
            return
        first = int(np.searchsorted(own.reach, start, side="right"))
        behind = int(np.searchsorted(own.starts, end, side="left"))
        for at in range(first, behind):
            if own.ends[at] > start and own.ends[at] > own.starts[at]:
                yield own.ids[at], int(own.starts[at]), int(own.ends[at])

    def covers(self, span: Span) -> list[Cover]:
        """What each chunk holds of a span with a place."""
        assert span.start is not None
        assert span.end is not None
        found = []
        for chunk, start, end in self.touching(span.doc, span.start, span.end):
            common = min(end, span.end) - max(start, span.start)
            found.append(Cover(chunk, common / (span.end - span.start), common == end - start))
        return found


class SpanLabels:
    """The labels of a test set, each with the chunks that hold some of it; `qrels(overlap)` are the judgments."""

    def __init__(self, test_set: TestSet, chunks: Chunks, least: float = min(OVERLAPS)) -> None:
        """`least` is the smallest overlap that `qrels` will be asked for."""
        self.test_set, self.chunks, self._least = test_set, chunks, min(least, *OVERLAPS)
        self._placed = PlacedChunks(chunks)
        spans = {(query.id, at): span for query in test_set for at, span in enumerate(query.spans)}
        self._by_place = {key: span for key, span in spans.items() if span.anchored and self._is_placed(span)}
        by_text = {key: span for key, span in spans.items() if key not in self._by_place}
        self.by_text = len(by_text)
        """Spans that had to be found by their texts."""
        self._covers = {key: self._placed.covers(span) for key, span in self._by_place.items()}
        self._covers |= self._quoted(by_text) if by_text else {}
        self._units = {query.id: self._units_of(query) for query in test_set}

    def _is_placed(self, span: Span) -> bool:
        """Whether its document's chunks have places; one without chunks is simply not found."""
        return span.doc in self._placed or span.doc not in self.chunks.by_document

    def _quoted(self, spans: Mapping[tuple[str, int], Span]) -> dict[tuple[str, int], list[Cover]]:
        for (query, _), span in spans.items():
            if not span.text:
                raise DataError(
                    f"query {query!r}: the span {span.start} to {span.end} of {span.doc!r} has a place and no text, "
                    f"but the chunks of {span.doc!r} in {self.chunks.name} have no places; give chunks with `start` "
                    "and `end`, or spans with their texts"
                )
        if not self.chunks.texts:
            query, span = next((query, span) for (query, _), span in spans.items())
            raise DataError(
                f"query {query!r} quotes {span.text[:60]!r}, whose place is not known, and {self.chunks.name} has no "
                "texts to look for it; give chunks with texts, or find the places first: rankgauge testset anchor"
            )
        within = [None if not span.doc else self.chunks.by_document.get(span.doc, ()) for span in spans.values()]
        found = quoted_in([span.text for span in spans.values()], self.chunks.texts, within, self._least)
        return {
            key: [Cover(held.text, held.share, held.inside) for held in own]
            for key, own in zip(spans, found, strict=True)
        }

    def _units_of(self, query: Query) -> list[list[_Label]]:
        """The query's labels by what they are evidence of: each passage, each document without passages, each group."""
        spans: dict[str, list[_Label]] = {}
        quoted: list[_Label] = []
        for at, span in enumerate(query.spans):
            label = _Label(span.grade, self._covers[query.id, at], _told(span), span)
            (spans.setdefault(span.doc, []) if span.doc else quoted).append(label)
        documents = {doc: self._document(query, doc) for doc in query.grades if doc not in spans}
        units: list[list[_Label]] = []
        grouped: set[str] = set()
        for docs in query.groups.values():
            units.append([label for doc in docs for label in spans.get(doc) or [documents[doc]]])
            grouped |= set(docs)
        units += [[label] for doc, own in spans.items() if doc not in grouped for label in own]
        units += [[label] for label in quoted]
        units += [[label] for doc, label in documents.items() if doc not in grouped and label.grade > 0]
        return units

    def _document(self, query: Query, doc: str) -> _Label:
        """A label that names a chunk, or a document: then any of its chunks will do."""
        own = (doc,) if doc in self.chunks else self.chunks.by_document.get(doc, ())
        return _Label(query.grades[doc], [Cover(chunk, 1.0) for chunk in own], doc)

    def qrels(self, overlap: float) -> Qrels:
        """Judgments of chunks, passages as subtopics."""
        import polars as pl

        columns: dict[str, list[str]] = {"query": [], "subtopic": [], "doc": []}
        grades: list[float] = []
        rejected = 0

        def add(query: str, subtopic: str, doc: str, grade: float) -> None:
            for name, value in (("query", query), ("subtopic", subtopic), ("doc", doc)):
                columns[name].append(value)
            grades.append(grade)

        for query in self.test_set:
            relevant: set[str] = set()
            for number, unit in enumerate(self._units[query.id], start=1):
                best: dict[str, float] = {}
                for label in unit:
                    for cover in label.covers:
                        if cover.relevant(overlap):
                            best[cover.chunk] = max(label.grade, best.get(cover.chunk, label.grade))
                for chunk, grade in best.items():
                    add(query.id, str(number), chunk, grade)
                if not best:
                    add(query.id, str(number), unit[0].told, max(label.grade for label in unit))
                relevant |= set(best)
            for doc, grade in query.grades.items():
                if grade <= 0:
                    own = (doc,) if doc in self.chunks else self.chunks.by_document.get(doc, (doc,))
                    left = [chunk for chunk in own if chunk not in relevant]
                    rejected += len(left)
                    for chunk in left:
                        add(query.id, "0", chunk, grade)
            if not self._units[query.id] and all(grade > 0 for grade in query.grades.values()):
                add(query.id, "0", "(no label)", 0.0)  # so that it stays a judged query
        frame: pl.DataFrame = pl.DataFrame({**columns, "grade": grades}, schema_overrides={"grade": pl.Float64})
        made = Qrels.of_frame(frame, self.test_set.name)
        vars(made)["only_relevant"] = rejected == 0
        return made

    def in_no_chunk(self, overlap: float) -> int:
        """Labels that no chunk is relevant to."""
        return sum(
            not any(cover.relevant(overlap) for label in unit for cover in label.covers)
            for units in self._units.values()
            for unit in units
        )

    @property
    def labels(self) -> int:
        """Passages, and documents or groups where no passage is named."""
        return sum(map(len, self._units.values()))

    @property
    def spans(self) -> int:
        return len(self._covers)

    @cached_property
    def split(self) -> int:
        """Spans that are found, but of which no chunk holds all."""
        return sum(bool(own) and not any(one.share >= _WHOLE for one in own) for own in self._covers.values())

    @cached_property
    def misread(self) -> tuple[int, int]:
        """Passages that read otherwise in a chunk which should hold all of them, and how many could be compared.

        Places that were counted in bytes, or in another version of a text, give no error, only wrong scores.
        """
        wrong, compared = 0, 0
        for key, span in self._by_place.items():
            whole = [self.chunks[cover.chunk] for cover in self._covers[key] if cover.share >= _WHOLE]
            held = next((chunk for chunk in whole if chunk.text and span.text), None)
            if held is not None:
                compared += 1
                start = (span.start or 0) - (held.start or 0)
                wrong += not same_text(held.text[start : start + len(span.text)], span.text)
        return wrong, compared

    def gold(self) -> dict[str, list[Span]]:
        """The passages of each query, all with places, for the measures of characters; a label that names a chunk is
        the passage that the chunk holds."""
        found = {}
        for query in self.test_set:
            for span in query.spans:
                if not span.anchored:
                    raise DataError(
                        f"measures of characters need the places of all passages, and that of {span.text[:60]!r} of "
                        f"query {query.id!r} is not known; find them first: rankgauge testset anchor"
                    )
            documents = {span.doc for span in query.spans}
            whole = [self._held_by(query.id, doc) for doc in query.relevant if doc not in documents]
            found[query.id] = [*(span for span in query.spans if span.grade > 0), *whole]
        return found

    def _held_by(self, query: str, label: str) -> Span:
        """The passage that the chunk of a label holds."""
        chunk = self.chunks.get(label)
        if chunk is None or chunk.start is None or chunk.end is None:
            raise DataError(
                f"measures of characters need passages, and the label {label!r} of query {query!r} is no passage and "
                f"no chunk with a place in {self.chunks.name}; give the test set spans, or make passages of labels "
                "that name chunks: rankgauge testset anchor --chunks"
            )
        return Span(chunk.doc, chunk.start, chunk.end)

    def place_of(self, chunk: str) -> tuple[str, int, int]:
        """Document and characters of a chunk that was retrieved."""
        found = self.chunks.get(chunk)
        if found is None:
            raise DataError(
                f"chunk {chunk!r} was retrieved, but {self.chunks.name} does not have it; measures of characters need "
                "the place of every retrieved chunk"
            )
        if found.start is None or found.end is None:
            raise DataError(
                f"{self.chunks.name}: chunk {chunk!r} has no place; measures of characters need `start` and `end` of "
                "every retrieved chunk"
            )
        return found.doc, found.start, found.end

    @property
    def placed(self) -> PlacedChunks:
        return self._placed


def _told(span: Span) -> str:
    """The id under which a passage stands that cannot be found."""
    place = f"{span.doc}:{span.start}-{span.end}" if span.anchored else f"{span.doc} {span.text[:40]!r}".strip()
    return f"{place} (in no chunk)"
