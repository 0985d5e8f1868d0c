"""Retrievers that return chunks: what they bring along about them, and those of which nobody said so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rankgauge.engine.chunks import parents_by
from rankgauge.errors import DataError, counted
from rankgauge.evaluation import Scoring
from rankgauge.model.chunks import Chunks
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.answers import RetrievalResult
from rankgauge.words import Note

__all__ = ["carried", "check_documents", "has_passages", "known_chunks", "partly_chunks", "with_own"]

_MOSTLY = 0.5
"""Of the results: a field that holds ids of documents in as many is where they are meant to be read."""
_LONGEST_ID = 300
"""Characters; more are a text in the place of an id."""
_LOOKED_AT = 1000
"""Ids that are looked at for the id of a document at their beginning."""

_CUT = re.compile(r"(?:#|::|[-_./](?:chunk|part|page|p|c|s)[-_.]?)\d+$", re.IGNORECASE)
"""What makes the id of a chunk from that of its document, and hardly an id of another document."""
_FEW, _PART = 3, 0.02


def carried(retriever: Any) -> tuple[Chunks | None, Mapping[str, str] | None]:
    """The chunks that a retriever searches, and the texts by id, where it has them as `chunks` and `corpus`."""
    chunks = corpus = None
    with suppress(Exception):  # whatever another's attribute does
        chunks = retriever.chunks
    with suppress(Exception):
        corpus = retriever.corpus
    texts = isinstance(corpus, Mapping) and all(isinstance(text, str) for text in list(corpus.values())[:1])
    return chunks if isinstance(chunks, Chunks) else None, corpus if texts else None


def with_own(scoring: Scoring, retriever: Any, parent_field: str | None, test_set: TestSet) -> Scoring:
    """The scoring with what the retriever brings along: its chunks unless it is said what they are, and its own texts.
    Where labels are passages, these are looked for in the chunks; else chunks count as their documents."""
    chunks, corpus = carried(retriever)
    if corpus is not None:
        scoring = replace(scoring, corpus=corpus)
    if chunks is None or scoring.collapse_chunks is not None or scoring.chunks is not None or parent_field is not None:
        return scoring
    if has_passages(test_set):
        return replace(scoring, chunks=chunks)
    return replace(scoring, collapse_chunks=chunks)


def has_passages(test_set: TestSet) -> bool:
    """Whether labels are passages."""
    return any(query.spans for query in test_set)


def known_chunks(retrieval: RetrievalResult, scoring: Scoring, corpus: Mapping[str, str]) -> frozenset[str]:
    """The ids that were retrieved whose documents are in the corpus, or that are in it themselves."""
    assert scoring.rule is not None
    parent = parents_by(scoring.rule)[0]
    ids = {hit.id for answer in retrieval.answers for hit in answer.hits}
    return frozenset(own for own in ids if own in corpus or parent(own) in corpus)


def check_documents(
    name: str,
    retrieval: RetrievalResult,
    test_set: TestSet,
    corpus: Mapping[str, str] | None,
) -> None:
    """Raise an error where a retriever returns chunks and nobody said of which documents, or where the ids are in
    another field: it would score 0."""
    known = {doc for query in test_set for doc in query.grades} | set(corpus or ())
    ids = dict.fromkeys(hit.id for answer in retrieval.answers for hit in answer.hits)
    if not ids or any(own in known for own in ids):
        return
    n = counted(len(ids), "id")
    if (begun := _beginning(ids, known)) is not None:
        own, doc = begun
        raise DataError(
            f"{name}: none of the {n} that it returned is a known document, but {own!r} begins with the id {doc!r}: "
            f"chunks have such ids. Say of which documents with `collapse_chunks={_expression(own, doc)!r}`, whose "
            "first group is the document's id"
        )
    if retrieval.samples is None:
        return
    sure = retrieval.samples.certain(known, {query.id: query.grades.keys() for query in test_set})
    mostly = [match for match in retrieval.samples.matching(known)[:1] if match.share >= _MOSTLY]
    for argument, place, share in [*sure, *mostly][:1]:
        raise DataError(
            f"{name}: none of the {n} that it returned is a known document, but `{place}` matches {share:.0%} of the "
            f"results: use `{argument}={place!r}`"
            + (f", or `parent_field={place!r}` if they are chunks of such documents" if argument == "id_field" else "")
        )


def partly_chunks(retrieval: RetrievalResult, test_set: TestSet, corpus: Mapping[str, str] | None) -> list[Note]:
    """Ids of chunks among those of documents: as where only long documents were cut, of which none is found then."""
    known = {doc for query in test_set for doc in query.grades} | set(corpus or ())
    ids = dict.fromkeys(hit.id for answer in retrieval.answers for hit in answer.hits)
    cut = [own for own in ids if own not in known and (mark := _CUT.search(own)) and own[: mark.start()] in known]
    if len(cut) < max(_FEW, _PART * len(ids)) or len(cut) == len(ids):
        return []
    doc = _CUT.sub("", cut[0])
    end = _expression(cut[0], doc).removeprefix("^(.+)").removesuffix("$")
    about = {"n": len(cut), "ids": len(ids), "id": cut[0], "doc": doc, "rule": f"^(.+?)(?:{end})?$"}
    return [Note("asking.some_chunks", about, "warning")]


def _beginning(ids: Iterable[str], known: set[str]) -> tuple[str, str] | None:
    """An id that goes on behind the id of a document with a mark and a number or name."""
    for own, _ in zip((own for own in ids if len(own) <= _LONGEST_ID), range(_LOOKED_AT), strict=False):
        for mark in reversed([place for place, character in enumerate(own) if not character.isalnum()]):
            if own[:mark] in known:
                return own, own[:mark]
    return None


def _expression(own: str, doc: str) -> str:
    """A regular expression that finds the document of this chunk and of those with other numbers."""
    rest = own[len(doc) :]
    # Few backslashes: a plan, a shell and a message of Python each read them in another way.
    marks = [f"[{mark}]" if mark in ".$*+?{}|()" else f"\\{mark}" if mark in "[^\\" else mark for mark in rest]
    if not rest[-1:].isdecimal():
        return f"^(.+?){marks[0]}"
    return f"^(.+){re.sub('[0-9]+', '[0-9]+', ''.join(marks))}$"
