"""`anchor`: quoted passages bound to the characters of the documents they stand in, and nothing guessed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.formats import load_chunks, load_corpus, load_testset
from rankgauge.model.chunks import Chunks
from rankgauge.model.normal_text import same_text
from rankgauge.model.spans import Span
from rankgauge.model.testset import Query, TestSet
from rankgauge.testsets.finding import Found, Nearest, Place, find_nearest, find_passages
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["Anchored", "Several", "Unanchored", "anchor", "read_inputs", "with_spans"]

Several = Literal["all", "first"]
_NEAREST = 200  # passages that are compared with what is most like them
_MOST_TEXT = 200


@dataclass(frozen=True)
class Unanchored:
    """A passage that was left without a place, and why."""

    query: str
    span: int
    """Its number among the passages of the query, from 1."""
    text: str
    reason: Literal["several", "nowhere", "elsewhere", "misplaced"]
    """It stands in several places; in none; in other documents than the one named; or not where its place says."""
    places: Sequence[Place] = ()
    """The first of the places."""
    total: int = 0
    nearest: Nearest | None = None
    """Of one that stands nowhere: what is most like it."""


@named_arguments
@dataclass(frozen=True)
class Anchored:
    """A test set whose passages have places, and those that have none yet."""

    test_set: TestSet
    found: int
    """Passages that got a place."""
    kept: int
    """Passages that had one, and stand there; those made from chunks too."""
    from_chunks: int
    """Labels that named chunks and became passages."""
    left: list[Unanchored]

    @property
    def complete(self) -> bool:
        """Whether every passage has its place."""
        return not self.left

    @property
    def notes(self) -> list[Note]:
        """What was done, in keys and numbers."""
        notes = [Note("spans.anchored", {"found": self.found, "kept": self.kept})]
        if self.from_chunks:
            notes.append(Note("spans.from_chunks", {"n": self.from_chunks}))
        for reason in ("several", "elsewhere", "nowhere", "misplaced"):
            if n := sum(one.reason == reason for one in self.left):
                notes.append(Note(f"spans.left_{reason}", {"n": n}, "warning"))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, without the test set."""
        return {
            "format": "rankgauge.anchor",
            "version": 1,
            "anchored": self.found,
            "kept": self.kept,
            "from_chunks": self.from_chunks,
            "complete": self.complete,
            "left": [asdict(one) for one in self.left],
        }


@named_arguments
def anchor(
    test_set: TestSet | str | os.PathLike[str],
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    *,
    several: Several | None = None,
    chunks: Chunks | str | os.PathLike[str] | None = None,
) -> Anchored:
    """Bind quoted passages to the places where they stand in the corpus.

    Texts are compared up to white space, quotation marks, dashes, soft hyphens and the composition of letters. A
    passage that stands once is bound; one that stands in several places, or in none, is left and listed, unless
    `several` says that "all" places are meant, each as a passage of its own, or the "first". With `chunks`, relevant
    ids that name a chunk become passages too, so that the labels outlive the chunking. The test set itself is not
    changed.
    """
    tested, documents = read_inputs(test_set, corpus)
    if several is not None and several not in get_args(Several):
        raise DataError(f"`several={several!r}` is not one of 'all', 'first'")
    known = load_chunks(chunks) if isinstance(chunks, str | os.PathLike) else chunks
    if known is not None and not isinstance(known, Chunks):
        raise DataError(f"`chunks` must be Chunks or the path of a file of them, not a {type(known).__name__}")
    if documents is None and known is None:
        raise DataError("give the texts of the documents (`corpus=`), or the chunks that labels name (`chunks=`)")
    queries, from_chunks = list(tested), 0
    if known is not None:
        converted = [_from_chunks(query, known, documents) for query in queries]
        from_chunks = sum(n for _, n in converted)
        queries = [query for query, _ in converted]
    made = tested.with_queries(queries)
    if documents is None:
        placed = sum(span.anchored for query in queries for span in query.spans)
        left = [
            Unanchored(query.id, at, clipped(span.text, _MOST_TEXT), "nowhere")
            for query in queries
            for at, span in enumerate(query.spans, start=1)
            if not span.anchored
        ]
        return Anchored(made, 0, placed, from_chunks, left)
    return _anchored(made, documents, several, from_chunks)


def read_inputs(test_set: Any, corpus: Any) -> tuple[TestSet, Mapping[str, str] | None]:
    """A test set and a corpus, read where they are paths."""
    tested = load_testset(test_set) if isinstance(test_set, str | os.PathLike) else test_set
    if not isinstance(tested, TestSet):
        raise DataError(f"`test_set` must be a TestSet or the path of one, not a {type(tested).__name__}")
    documents = load_corpus(corpus) if isinstance(corpus, str | os.PathLike) else corpus
    if documents is not None and not isinstance(documents, Mapping):
        raise DataError(f"`corpus` must be texts by id, or the path of a file, not a {type(documents).__name__}")
    return tested, documents


def _from_chunks(query: Query, chunks: Chunks, corpus: Mapping[str, str] | None) -> tuple[Query, int]:
    """The query with its chunk labels as passages of documents; labels that name no chunk stay."""
    named = [doc for doc in query.relevant if doc in chunks]
    if not named:
        return query, 0
    if query.groups:
        raise DataError(
            f"query {query.id!r} has groups of chunks, which passages cannot keep; leave out `chunks=`, or its groups"
        )
    spans = list(query.spans)
    grades = {doc: grade for doc, grade in query.grades.items() if doc not in chunks}
    for own in named:
        chunk, grade = chunks[own], query.grades[own]
        if chunk.start is None or chunk.end is None:
            if not chunk.text:
                raise DataError(f"{chunks.name}: chunk {own!r} has neither a place nor a text to find it by")
            spans.append(Span(chunk.doc, text=chunk.text, grade=grade))
        else:
            text = chunk.text or (corpus or {}).get(chunk.doc, "")[chunk.start : chunk.end]
            fitting = text if len(text) == chunk.end - chunk.start else ""
            spans.append(Span(chunk.doc, chunk.start, chunk.end, fitting, grade))
        grades[chunk.doc] = max(grade, grades.get(chunk.doc, grade))
    return replace(query, grades=grades, spans=tuple(spans)), len(named)


def _stands(span: Span, corpus: Mapping[str, str]) -> bool:
    """Whether a span with a place is where it says; one without a text is, if its document is long enough."""
    text = corpus.get(span.doc)
    if text is None or span.end is None or span.end > len(text):
        return False
    return not span.text or same_text(text[span.start : span.end], span.text)


def with_spans(query: Query, spans: Sequence[Span]) -> Query:
    """The query with these passages; their documents are relevant, where it has no groups to keep to."""
    grades = dict(query.grades)
    for span in spans if not query.groups else ():
        if span.doc and span.grade > grades.get(span.doc, 0):
            grades[span.doc] = span.grade
    return replace(query, grades=grades, spans=tuple(dict.fromkeys(spans)))


def _anchored(test_set: TestSet, corpus: Mapping[str, str], several: Several | None, from_chunks: int) -> Anchored:
    quoted = [span.text for query in test_set for span in query.spans if not span.anchored]
    found = find_passages(quoted, corpus)
    left: list[Unanchored] = []
    queries, bound, kept = [], 0, 0
    for query in test_set:
        spans: list[Span] = []
        for number, span in enumerate(query.spans, start=1):
            if span.anchored:
                spans.append(span)
                if _stands(span, corpus):
                    kept += 1
                else:
                    left.append(Unanchored(query.id, number, _shown(span), "misplaced"))
                continue
            places, trouble = _places(span, found[span.text], several)
            if trouble is not None:
                spans.append(span)
                left.append(replace(trouble, query=query.id, span=number))
                continue
            spans += [_bound(span, place, corpus) for place in places]
            bound += 1
        queries.append(with_spans(query, spans))
    made = test_set.with_queries(queries)
    return Anchored(made, bound, kept, from_chunks, nearest_of(left, test_set, corpus))


def _shown(span: Span) -> str:
    return clipped(span.text or f"{span.doc}:{span.start}-{span.end}", _MOST_TEXT)


def _places(span: Span, found: Found, several: Several | None) -> tuple[Sequence[Place], Unanchored | None]:
    """The places of a quotation, or why it got none."""
    places = [place for place in found.places if not span.doc or place.doc == span.doc]
    total = found.docs.get(span.doc, 0) if span.doc else found.total
    text = clipped(span.text, _MOST_TEXT)
    if not total:
        if found.total:
            return (), Unanchored("", 0, text, "elsewhere", found.places, found.total)
        return (), Unanchored("", 0, text, "nowhere")
    if total == 1 or several == "first":
        return places[:1], None
    if several == "all":
        if len(places) < total:
            raise DataError(
                f"the passage {text[:60]!r} stands in {total} places, too many to mean all of them; quote more of it"
            )
        return places, None
    return (), Unanchored("", 0, text, "several", places, total)


def _bound(span: Span, place: Place, corpus: Mapping[str, str]) -> Span:
    """The span at its place, with the text as the document has it."""
    return Span(place.doc, place.start, place.end, corpus[place.doc][place.start : place.end], span.grade)


def nearest_of(left: list[Unanchored], test_set: TestSet, corpus: Mapping[str, str]) -> list[Unanchored]:
    """The same, where those that stand nowhere have the place that is most like them; of very many, the first."""
    texts = {query.id: [span.text for span in query.spans] for query in test_set}
    nowhere = [i for i, one in enumerate(left) if one.reason == "nowhere"][:_NEAREST]
    nearest = find_nearest([texts[left[i].query][left[i].span - 1] for i in nowhere], corpus)
    told = list(left)
    for i, near in zip(nowhere, nearest, strict=True):
        if near is not None:
            told[i] = replace(left[i], nearest=replace(near, text=clipped(near.text, _MOST_TEXT)))
    return told
