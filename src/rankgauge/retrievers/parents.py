"""Results that say which document they are a piece of: `parent_field` names the field that holds its id.

A hit then has both ids in one text until all are answered, so that kept answers bring them along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from rankgauge.errors import RetrieverError
from rankgauge.retrievers.answers import RetrievalResult
from rankgauge.retrievers.fields import ABSENT, Field, empty, fields_of, shown
from rankgauge.retrievers.hits import Hit, Listed, entries_of, hits_of
from rankgauge.retrievers.searcher import Response, Searcher

__all__ = ["ChunkSearcher", "parent_of", "parents_in", "watched"]

_BETWEEN: Final = "\x1f"


@dataclass(frozen=True, eq=False, repr=False)
class ChunkSearcher(Searcher):
    """A retriever whose results may be pieces of documents."""

    parent_field: str | None = None
    texts: Mapping[str, str] | None = None
    """By the ids of the pieces, where a context budget needs them: without any of a list the next calls would be in
    vain."""

    def _response(self, results: Any, k: int | None, seconds: float) -> Response:
        if self.parent_field is not None:
            entries = entries_of(results, k)
            rows = results.rows if isinstance(results, Listed) and len(results.rows) == len(entries) else entries
            answered = self._with_parents(self.parent_field, entries, rows, k, seconds)
            return answered._replace(raw=results)
        return super()._response(results, k, seconds)

    def _with_parents(
        self, parent_field: str, entries: list[Any], rows: Sequence[Any], k: int | None, seconds: float
    ) -> Response:
        """`rows` hold the fields of the results; of a service behind a URL, `entries` are ids and scores alone."""
        wanted = Field(parent_field, ())
        parents = [_parent(row, wanted, rank) for rank, row in enumerate(rows, start=1)]
        id_field = self.id_field
        if entries and id_field is None and not _has_id(entries[0]):
            id_field = parent_field  # results without ids of their own are known by their documents alone
        answered = replace(self, parent_field=None, id_field=id_field)._response(entries, k, seconds)
        by_id: dict[str, str] = {}
        for entry, parent in zip(entries, parents, strict=True):
            for own in _id_of(entry, id_field):
                if by_id.setdefault(own, parent) != parent:
                    raise RetrieverError(
                        f"the id {own!r} stands for pieces of two documents, {by_id[own]!r} and {parent!r}; name the "
                        "field with an id of each piece with id_field"
                    )

        if self.texts is not None and by_id and not any(own in self.texts for own in by_id):
            raise RetrieverError(
                f"the text of no result is known, such as that of {next(iter(by_id))!r}; a context budget is measured "
                "on the pieces that were retrieved: give their texts in the corpus under their own ids, or say what "
                "they are with collapse_chunks (a file of lines with id, doc and text)"
            )

        def joined(hits: Sequence[Hit]) -> list[Hit]:
            return [Hit(f"{by_id[hit.id]}{_BETWEEN}{hit.id}", hit.score) for hit in hits]

        kept = [one for one in answered.faults if one.kind != "duplicate" or id_field != parent_field]
        faults = [replace(one, given=tuple(joined(one.given))) for one in kept]
        return answered._replace(hits=joined(answered.hits), faults=faults)


def watched(
    searcher: Searcher, parent_field: str | None = None, texts: Mapping[str, str] | None = None
) -> ChunkSearcher:
    """The same retriever, whose results are looked at for the documents that they belong to."""
    known = {one.name: getattr(searcher, one.name) for one in fields(searcher)}
    return ChunkSearcher(**{**known, "parent_field": parent_field, "texts": texts})


def parent_of(joined: str) -> tuple[str, str]:
    """The document and the id of a piece, of a hit that has both; of another no document and its id."""
    parent, between, own = joined.partition(_BETWEEN)
    return (parent, own) if between else ("", joined)


def _parent(entry: Any, wanted: Field, rank: int) -> str:
    """The id of the document that a result is a piece of."""
    held = entry
    found = wanted.find(entry)[0]
    if found is ABSENT and isinstance(entry, tuple | list) and len(entry) == 2:  # a document beside its score
        held = entry[0]
        found = wanted.find(held)[0]
    if found is ABSENT or empty(found):
        seen = fields_of(held) if not isinstance(held, str | int) else f"seen: {shown(held)}"
        raise RetrieverError(
            f"result {rank} has no {wanted.given!r}; set parent_field otherwise, to the field that holds the id of "
            f"its document ({seen})"
        )
    return str(found)


def _id_of(entry: Any, id_field: str | None) -> Iterator[str]:
    """The id of one result, if it has one."""
    yield from (hit.id for hit in hits_of([entry], 1, id_field=id_field)[0])


def _has_id(entry: Any) -> bool:
    try:
        return any(_id_of(entry, None))
    except RetrieverError:
        return False


def parents_in(retrieval: RetrievalResult) -> tuple[RetrievalResult, dict[str, str]]:
    """The retrieval result under the ids of the pieces, and the document of each."""
    parents: dict[str, str] = {}
    answers = []
    for answer in retrieval.answers:
        hits = []
        for joined, score in answer.hits:
            parent, own = parent_of(joined)
            if parents.setdefault(own, parent) != parent:
                raise RetrieverError(
                    f"{retrieval.name}: the id {own!r} stands for pieces of two documents, {parents[own]!r} and "
                    f"{parent!r}; name the field with an id of each piece with id_field"
                )
            hits.append(Hit(own, score))
        answers.append(answer._replace(hits=hits))
    return replace(retrieval, answers=answers), parents
