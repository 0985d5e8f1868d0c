"""Notes on what a live retriever answered: failures, ids that match nothing, lists that end too soon."""

from __future__ import annotations

from collections.abc import Mapping

from rankgauge.evaluation import Evaluation
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.answers import RetrievalResult
from rankgauge.words import Note

__all__ = ["doubtful_ids", "id_fields", "notes_on", "nothing_fits", "too_shallow", "whole_corpus"]

_FIELDS = 2  # that are named where no id matches


def id_fields(
    scored: Evaluation, retrieval: RetrievalResult, test_set: TestSet, corpus: Mapping[str, str] | None
) -> Note | None:
    """Fields of the results that hold ids which are known, where those that were read are not."""
    if scored.coverage.id_mismatch is None or retrieval.samples is None:
        return None
    judged = {query.id: query.grades.keys() for query in test_set}
    known = frozenset(doc for docs in judged.values() for doc in docs) if corpus is None else frozenset(corpus)
    if any(hit.id in known for answer in retrieval.answers for hit in answer.hits):
        return None  # the right field, and the wrong documents
    matches = (retrieval.samples.certain(known, judged) or retrieval.samples.matching(known))[:_FIELDS]
    near = [match for match in matches if 2 * match.share >= matches[0].share]  # others match by chance
    found = [Note("asking.id_field", match._asdict()) for match in near]
    return Note("asking.id_fields", {"fields": found}) if found else None


def doubtful_ids(scored: Evaluation, retrieval: RetrievalResult, test_set: TestSet) -> list[Note]:
    """Another field that matches far better than the ids that were read, which match by chance then."""
    if scored.coverage.id_mismatch is not None or retrieval.samples is None:
        return []
    ids = {answer.query: [hit.id for hit in answer.hits] for answer in retrieval.answers}
    found = retrieval.samples.better(ids, {query.id: query.grades.keys() for query in test_set})
    if found is None:
        return []
    field = Note("asking.id_field", found[1]._asdict())
    return [Note("asking.doubtful_ids", {"share": found[0], "field": field}, "warning")]


def too_shallow(scored: Evaluation, k: int | None) -> list[Note]:
    """A measure that looks deeper than the lists go."""
    if k is None:
        return []
    deeper = [str(m) for m in scored.measures if isinstance(m.at, int) and m.at > k]
    return [Note("live.shallow", {"k": k, "measures": deeper}, "warning")] if deeper else []


def whole_corpus(scored: Evaluation, corpus: Mapping[str, str] | None) -> list[Note]:
    """Measures whose depth takes in every document that there is."""
    if not corpus:
        return []
    deep = [str(m) for m in scored.measures if isinstance(m.at, int) and m.at >= len(corpus)]
    return [Note("live.whole_corpus", {"documents": len(corpus), "measures": deep}, "warning")] if deep else []


def nothing_fits(retrieved: Run, scored: Evaluation, budget: float) -> list[Note]:
    """Queries whose first chunk alone is longer than the context budget: they score 0 whatever was found."""
    kept = dict(zip(scored.table.queries, scored.table.retrieved.tolist(), strict=True))
    empty = [query for query, docs in retrieved.to_dict().items() if docs and kept.get(query) == 0]
    about = {"n": len(empty), "asked": len(kept), "budget": budget}
    return [Note("live.nothing_fits", about, "warning")] if empty else []


def notes_on(retrieval: RetrievalResult, test_set: TestSet, corpus: Mapping[str, str] | None) -> list[Note]:
    """What failed, what was wrong with the lists, and what can never be found."""
    notes, failed = [], retrieval.failed
    if len(failed) == 1:
        notes.append(Note("live.failed_query", {"asked": retrieval.asked, "query": failed[0]}, "warning"))
    elif failed:
        about = {"n": len(failed), "asked": retrieval.asked, "queries": list(map(repr, failed[:3]))}
        notes.append(Note("live.failed_queries", about, "warning"))
    notes += retrieval.notes
    gold = [(query.id, doc) for query in test_set for doc, grade in query.grades.items() if grade > 0]
    if corpus is not None and (gone := [(query, doc) for query, doc in gold if doc not in corpus]):
        queries = len({query for query, _ in gone})
        notes.append(Note("live.missing_gold", {"n": queries, "doc": gone[0][1], "query": gone[0][0]}, "warning"))
    return notes
