"""Checks of the texts of queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rankgauge.model.alike_queries import Asked, alike_queries, repeated, same_key
from rankgauge.model.query_words import content_words, folded, query_words
from rankgauge.model.testset import Query, TestSet
from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material, has_texts
from rankgauge.testsets.lint.registry import check

__all__ = ["answer_in_query", "leakage", "near_queries", "query_texts", "repeated_queries", "synthetic_words"]

_ANSWER = 4  # words of an answer that nobody types by chance
# An id that is no word of the language, as sha256 and covid-19 are.
_OPAQUE = re.compile(r"(?=.*\d{5}).{6,}|(?=.*\d{3})(?=.*[-_#:/]).{6,}")
_COPIED = 0.4  # share of the word pairs of generated queries that their source has; of people's queries 0.01 to 0.3
_MOST = 5000  # queries of which the words are compared


def asked(test_set: TestSet) -> list[Asked]:
    """The queries that stand for themselves: a turn of a conversation means what was said before it."""
    return [
        Asked(query.id, query.text, frozenset(query.relevant))
        for query in test_set
        if not query.conversation and query.text.strip()
    ]


@check("texts")
def query_texts(material: Material) -> Iterator[Finding]:
    """Texts without a letter or digit, and those of a single one."""
    empty, tiny = [], []
    for query in material.test_set:
        signs = [character for character in query.text if character.isalnum()]
        if not signs:
            empty.append({"query": query.id})
        elif len(signs) == 1:
            tiny.append({"query": query.id, "text": query.text})
    if empty:
        yield Finding("empty_query", "error", empty, safe=True)
    if tiny:
        yield Finding("tiny_query", "info", tiny)


@check("texts")
def repeated_queries(material: Material) -> Iterator[Finding]:
    """Queries with the same text; an error where their grades contradict each other."""
    same: list[dict[str, Any]] = []
    against: list[dict[str, Any]] = []
    for group in repeated(asked(material.test_set)):
        first = material.by_id[group[0].id]
        for one in group[1:]:
            other = material.by_id[one.id]
            doc = contradiction(first, other)
            item = {"query": first.id, "other": other.id, "text": first.text}
            if doc is None:
                same.append(item)
            else:
                against.append({**item, "doc": doc, "grade": first.grades[doc], "grade_other": other.grades[doc]})
    if against:
        yield Finding("contradicting_queries", "error", against)
    if same:
        yield Finding("repeated_queries", "warning", same, safe=True)


def contradiction(a: Query, b: Query) -> str | None:
    """A document that is relevant to one of two queries, and judged not to be, or by another grade, for the other."""
    if a.no_answer != b.no_answer and (a.relevant or b.relevant):
        return None
    both = a.grades.keys() & b.grades.keys()
    return min((doc for doc in both if a.grades[doc] != b.grades[doc]), default=None)


@check("texts")
def near_queries(material: Material) -> Iterator[Finding]:
    """Queries that ask the same in other words."""
    texts = {query.id: query.text for query in material.test_set}
    items = [
        {"query": one.first, "other": one.second, "text": texts[one.first], "text_other": texts[one.second]}
        for one in alike_queries(asked(material.test_set))
    ]
    if items:
        yield Finding("near_queries", "warning", items)


@check("texts", "against")
def leakage(material: Material) -> Iterator[Finding]:
    """Queries that another test set holds too."""
    assert material.against is not None
    if not has_texts(material.against):
        return
    own, others = asked(material.test_set), asked(material.against)
    known = {same_key(query.text): query for query in others}
    hit = [(query, known[same_key(query.text)]) for query in own if same_key(query.text) in known]
    told = {"other_set": material.against.name}
    if hit:
        items = [{"query": query.id, "other": other.id, "text": query.text} for query, other in hit]
        yield Finding("leaked_queries", "error", items, told)
    left = {query.id for query, _ in hit}
    mine = {query.id: query.text for query in own}
    theirs = {query.id: query.text for query in others}
    near = alike_queries([query for query in own if query.id not in left], others)
    if near:
        items = [
            {"query": one.first, "other": one.second, "text": mine[one.first], "text_other": theirs[one.second]}
            for one in near
        ]
        yield Finding("near_leaked", "warning", items, told)


@check("texts")
def answer_in_query(material: Material) -> Iterator[Finding]:
    """Queries that hold the id of a relevant document, or the answer itself."""
    ids, answers = [], []
    for query in material.answerable:
        text = query.text.casefold()
        named = next((doc for doc in query.relevant if _OPAQUE.fullmatch(doc) and _stands(doc.casefold(), text)), None)
        if named is not None and query.text != query.id:
            ids.append({"query": query.id, "doc": named, "text": query.text})
        asked_for = " ".join(query_words(query.text))
        answer = next((said for said in _answers(query, material.documents) if f" {said} " in f" {asked_for} "), None)
        if answer is not None:
            answers.append({"query": query.id, "answer": answer, "text": query.text})
    if ids:
        yield Finding("id_in_query", "warning", ids)
    if answers:
        yield Finding("answer_in_query", "warning", answers)


def _stands(name: str, text: str) -> bool:
    """Whether an id stands in a text, as a word of its own."""
    at = text.find(name)
    if at < 0:
        return False
    before, behind = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
    return not (before.isalnum() or behind.isalnum())


def _answers(query: Query, documents: Mapping[str, str]) -> Iterable[str]:
    """The gold passages of a query, and its relevant documents, where they are short enough to stand in it."""
    most = len(query.text) + 10
    told = [span.text for span in query.spans] + [documents.get(doc, "") for doc in query.relevant]
    for text in told:
        if 0 < len(text) <= most:
            words = query_words(text)
            if len(words) >= _ANSWER:
                yield " ".join(words)


@check("texts", "documents")
def synthetic_words(material: Material) -> Iterator[Finding]:
    """Generated queries that repeat their source: lexical retrieval finds it by what was copied."""
    made = [query for query in material.answerable if query.synthetic][:_MOST]
    shares = {query.id: share for query in made if (share := copied_share(query, material.documents)) is not None}
    if not shares:
        return
    mean = sum(shares.values()) / len(shares)
    if mean > _COPIED:
        worst = sorted(shares, key=lambda query: (-shares[query], query))
        items = [
            {"query": query, "share": shares[query], "text": material.by_id[query].text}
            for query in worst
            if shares[query] > _COPIED
        ]
        yield Finding("copied_words", "warning", items, {"share": mean, "of": len(shares)})


def copied_share(query: Query, documents: Mapping[str, str]) -> float | None:
    """The share of the pairs of neighbouring content words of a query that one of its relevant documents has."""
    words = content_words(query_words(query.text))
    pairs = {words[i : i + 2] for i in range(len(words) - 1)}
    sources = [documents[doc] for doc in query.relevant[:5] if doc in documents]
    if not pairs or not sources:
        return None
    return max(len(pairs & _pairs(text)) / len(pairs) for text in sources)


def _pairs(text: str) -> set[tuple[str, ...]]:
    words = content_words(query_words(folded(text)))
    return {words[i : i + 2] for i in range(len(words) - 1)}
