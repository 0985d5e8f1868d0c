"""Layouts that name documents by their ids: SQuAD, LlamaIndex's pairs, OpenSearch's and Quepid's judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rankgauge.errors import DataError
from rankgauge.formats.imports.entries import each, entries_of, list_of, text_of
from rankgauge.formats.json_values import id_of, number_of
from rankgauge.model.spans import Span
from rankgauge.model.testset import Query

__all__ = [
    "embedding_corpus",
    "embedding_pairs",
    "judgment_lists",
    "opensearch",
    "quepid",
    "references",
    "squad",
    "squad_corpus",
]


def _paragraphs(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(document id, paragraph): the title and the number of the paragraph below it."""
    for article in entries_of(value["data"], "data"):
        for number, paragraph in enumerate(entries_of(article.get("paragraphs"), "paragraphs"), start=1):
            yield f"{article.get('title') or 'article'}#{number}", paragraph


def squad_corpus(value: Any) -> dict[str, str]:
    """Paragraphs are the documents."""
    return {doc: text_of(paragraph, "context") for doc, paragraph in _paragraphs(value)}


def squad(value: Any) -> list[Query]:
    """Questions with the spans of their answers; `is_impossible` ones have no answer. The same place annotated by
    several people is one span."""
    made = []
    for doc, paragraph in _paragraphs(value):
        context = text_of(paragraph, "context")

        def question(item: Mapping[str, Any], doc: str = doc, context: str = context) -> Query:
            own, text = id_of(item.get("id"), "question"), text_of(item, "question")
            if item.get("is_impossible"):
                return Query(text, {}, own, no_answer=True)
            spans = dict.fromkeys(
                _answer(answer, doc, context) for answer in entries_of(item.get("answers"), "answers")
            )
            if not spans:
                raise DataError('it has no "answers" and is not "is_impossible"')
            return Query(text, {doc: 1.0}, own, spans=tuple(spans))

        made += each(entries_of(paragraph.get("qas"), "qas"), question, place=doc)
    return made


def _answer(answer: Mapping[str, Any], doc: str, context: str) -> Span:
    text, start = text_of(answer, "text"), answer.get("answer_start")
    if not isinstance(start, int) or context[start : start + len(text)] != text:
        raise DataError(f"its answer {text[:60]!r} does not stand at {start!r} of the paragraph {doc!r}")
    return Span(doc, start, start + len(text), text)


def references(value: Any) -> list[Query]:
    """chunking_evaluation: rows of question, corpus_id and references, a JSON list of {"content", "start_index",
    "end_index"}, which are characters of the text that corpus_id names. A question that stands twice gets those of
    both rows."""
    asked: dict[str, dict[Span, None]] = {}

    def row(item: Mapping[str, Any]) -> None:
        text, doc = text_of(item, "question"), id_of(item.get("corpus_id"), "document")
        listed = entries_of(list_of(item.get("references")), "references")
        if not listed:
            raise DataError('it has no "references"')
        spans = [
            Span(doc, _index(part, "start_index"), _index(part, "end_index"), text_of(part, "content"))
            for part in listed
        ]
        asked.setdefault(text, {}).update(dict.fromkeys(spans))

    each(entries_of(value, "rows"), row)
    return [
        Query(text, dict.fromkeys((span.doc for span in spans), 1.0), spans=tuple(spans))
        for text, spans in asked.items()
    ]


def _index(part: Mapping[str, Any], key: str) -> int:
    found = part.get(key)
    if not isinstance(found, int) or isinstance(found, bool):
        raise DataError(f'a reference has no whole number under "{key}"')
    return found


def embedding_corpus(value: Any) -> dict[str, str]:
    """The texts of all nodes."""
    return {str(doc): text for doc, text in value["corpus"].items() if isinstance(text, str)}


def embedding_pairs(value: Any) -> list[Query]:
    """{"queries": {id: text}, "corpus": {id: text}, "relevant_docs": {id: [ids]}}"""
    queries, relevant, corpus = value["queries"], value["relevant_docs"], value["corpus"]
    if not all(isinstance(part, Mapping) for part in (queries, relevant, corpus)):
        raise DataError('"queries", "corpus" and "relevant_docs" must be objects')

    def pair(item: tuple[str, Any]) -> Query:
        own, text = item
        docs = relevant.get(own)
        if not isinstance(text, str) or not isinstance(docs, list) or not docs:
            raise DataError(f"query {own!r} has no text or no relevant_docs")
        ids = [id_of(doc, "document") for doc in docs]
        return Query(text, dict.fromkeys(ids, 1.0), own, texts={doc: corpus[doc] for doc in ids if doc in corpus})

    return each(list(queries.items()), pair)


def opensearch(value: Any) -> list[Query]:
    """{"judgmentRatings": [{"query": ..., "ratings": [{"docId": ..., "rating": "3.000"}]}]}"""

    def rated(item: Mapping[str, Any]) -> Query:
        text = text_of(item, "query")
        grades: dict[str, float] = {}
        for rating in entries_of(item.get("ratings"), "ratings"):
            _add(grades, id_of(rating.get("docId"), "document"), _rating(rating.get("rating")))
        return Query(text, grades)

    held = judgment_lists(value) or [value]
    if len(held) > 1:
        names = ", ".join(repr(one.get("name", one.get("id"))) for one in held)
        raise DataError(f"it holds {len(held)} lists of judgments: {names}; ask for one by its id")
    return each(entries_of(held[0]["judgmentRatings"], "judgmentRatings"), rated)


def judgment_lists(value: Any) -> list[Mapping[str, Any]]:
    """The lists of judgments in the answer to GET _plugins/_search_relevance/judgments, which is that of a search;
    none where it is something else."""
    for key in ("hits", "hits"):
        value = value.get(key) if isinstance(value, Mapping) else None
    found = [hit.get("_source") for hit in value if isinstance(hit, Mapping)] if isinstance(value, list) else []
    return [one for one in found if isinstance(one, Mapping) and "judgmentRatings" in one]


def quepid(value: Any) -> list[Query]:
    """{"query_doc_pairs": [{"query_text": ..., "doc_id": ..., "judgements": [{"rating": ...}]}]}

    Judges that differ are an error, since whose word counts is not ours to say.
    """
    grades: dict[str, dict[str, float]] = {}

    def pair(item: Mapping[str, Any]) -> None:
        own = grades.setdefault(text_of(item, "query_text"), {})
        for judgment in entries_of(item.get("judgements", item.get("judgments", [])), "judgements"):
            if judgment.get("rating") is not None:
                _add(own, id_of(item.get("doc_id"), "document"), _rating(judgment["rating"]))

    each(entries_of(value["query_doc_pairs"], "query_doc_pairs"), pair)
    return [Query(text, found) for text, found in grades.items() if found]


def _rating(value: Any) -> float:
    """A rating, which some tools write as a text."""
    try:
        return number_of(float(value) if isinstance(value, str) else value, "rating")
    except ValueError:
        raise DataError(f"the rating {value!r} is no number") from None


def _add(grades: dict[str, float], doc: str, grade: float) -> None:
    if grades.setdefault(doc, grade) != grade:
        raise DataError(f"document {doc!r} is rated {grades[doc]:g} and {grade:g}; keep one rating")
