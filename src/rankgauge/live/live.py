"""`evaluate_retriever`: ask a live retriever every query of a test set, and score what it answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from rankgauge.errors import DataError, RetrieverError
from rankgauge.evaluation import DEFAULT_MEASURES, Evaluation, Plan, evaluate
from rankgauge.formats import load_testset
from rankgauge.live.answer_cache import open_journal, version_of
from rankgauge.live.live_checks import CHOICES, check_names, check_scoring, documents_of, keywords_of
from rankgauge.measures import Measure
from rankgauge.model.scores import ScoreTable
from rankgauge.model.testset import Corpus, TestSet
from rankgauge.retrievers.answers import RetrievalResult, counted, shortened
from rankgauge.retrievers.fingerprint import fingerprint
from rankgauge.retrievers.journal import Journal
from rankgauge.retrievers.runner import check_calls, run_queries
from rankgauge.retrievers.searcher import as_searcher

if TYPE_CHECKING:
    from rankgauge.stats.latency import Latency

__all__ = ["LiveEvaluation", "RetrievalError", "askable", "evaluate_retriever", "missing_gold"]


class RetrievalError(RetrieverError):
    """A pass whose figures would say nothing about the retriever: `retrieval` has the answers and errors there were."""

    def __init__(self, name: str, retrieval: RetrievalResult) -> None:
        super().__init__(shortened(f"{name}: {retrieval.reason}", 500))
        self.retrieval = retrieval


class LiveEvaluation(Evaluation):
    """Scores of a live retriever, with `.latency`, `.throughput`, `.failed` and the answers (`.retrieval`) beside them."""

    is_live = True

    def __init__(
        self, table: ScoreTable, plan: Plan, name: str, retrieval: RetrievalResult, notes: Sequence[tuple[str, str]]
    ) -> None:
        super().__init__(table, plan, name)
        self.retrieval, self.asked = retrieval, retrieval.k
        self.live_notes = list(notes)
        """Remarks on the calls, each in English and Chinese."""

    @property
    def latency(self) -> Latency:
        """Seconds of the calls that were made and answered now, at the stated concurrency; of kept answers there are
        none, and its count is 0 when all were kept."""
        return self.retrieval.latency

    @property
    def throughput(self) -> float | None:
        """Answered calls in a second; None where all answers came from the cache."""
        return self.retrieval.throughput if self.latency.count else None

    @property
    def failed(self) -> list[str]:
        """Queries without an answer; they count as empty lists."""
        return self.retrieval.failed

    @property
    def warnings(self) -> list[str]:
        return [*(english for english, _ in self.live_notes), *super().warnings]

    def __repr__(self) -> str:
        remarks = len(self.warnings)
        hint = f"; {counted(remarks, 'remark')}: see .warnings" if remarks else ""
        return f"Live{super().__repr__()[:-1]}{hint})"


def evaluate_retriever(
    retriever: Any,
    test_set: TestSet | str | os.PathLike[str],
    k: int = 10,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    name: str | None = None,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    concurrency: int = 1,
    timeout: float = 30.0,
    retries: int = 2,
    backoff: float = 0.5,
    max_failed: float = 0.05,
    cache: str | os.PathLike[str] | Journal | None = None,
    configuration: Mapping[str, Any] | None = None,
    id_field: str | None = None,
    score_field: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **choices: Any,
) -> LiveEvaluation:
    """Ask a retriever every query of the test set for k documents, and score the answers.

    A retriever is an object with `search(query, k)`, a function of query and k (both may be async), or a LangChain
    retriever. A query that fails counts as an empty list and is named; if more than `max_failed` of them fail, the pass
    is an error. `corpus`, texts by id or the path of a file, tells which documents exist. `choices` are those of
    `evaluate`.

    With `cache`, a folder, answers are kept as they come, and a later start asks only what is missing. They are found
    again by the query's text, k, the name, the corpus, and `configuration`: a dictionary of all that the answers depend
    on, such as the version of an index. Without it, the code of the retriever and its state are looked at; where that
    cannot be done, as with a connection, it is an error. A `Journal` of your own serves as `cache` too.
    """
    check_names("evaluate_retriever", choices, [*keywords_of(evaluate_retriever), *CHOICES])
    check_calls(k, concurrency, timeout=timeout, retries=retries, backoff=backoff, max_failed=max_failed)
    tested, documents = askable(test_set), documents_of(corpus)
    check_scoring(measures, choices, documents)
    searcher = as_searcher(retriever, name=name, id_field=id_field, score_field=score_field)
    called = name or searcher.name
    with ExitStack() as opened:
        journal = cache if isinstance(cache, Journal) else None
        if cache is not None and not isinstance(cache, Journal):
            key = {
                "system": called,
                "configuration": fingerprint(retriever, called) if configuration is None else dict(configuration),
                "fields": [id_field, score_field],
                "corpus": version_of(documents),
            }
            journal = opened.enter_context(open_journal(cache, called, key))
        retrieval = run_queries(
            searcher,
            {query.id: query.text for query in tested},
            k,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            backoff=backoff,
            max_failed=max_failed,
            journal=journal,
            known_ids=None if documents is None else frozenset(documents),
            progress=progress,
        )
    if retrieval.interrupted:
        raise KeyboardInterrupt(f"{called}: {retrieval.reason}")
    if not retrieval.valid:
        raise RetrievalError(called, retrieval)
    scored = evaluate(tested.qrels, retrieval.run, measures, name=called, corpus=documents, **choices)
    notes = [*_notes(retrieval, tested, documents), *_shallow(scored, k)]
    return LiveEvaluation(scored.table, scored.plan, called, retrieval, notes)


def askable(given: TestSet | str | os.PathLike[str]) -> TestSet:
    """A test set, read if need be. One without queries, or without texts to search with, is an error."""
    if not isinstance(given, TestSet | str | os.PathLike):
        raise DataError(
            f"a test set with the texts of the queries is needed, or its path, not a {type(given).__name__}"
        )
    test_set = given if isinstance(given, TestSet) else load_testset(given)
    if not len(test_set):
        raise DataError(f"{test_set.name}: there is no query to ask")
    if len(test_set) > 1 and all(query.text == query.id for query in test_set) and not _asks(test_set):
        raise DataError(
            f"{test_set.name}: it has ids of queries, but no texts to search with; give a test set whose entries have "
            'both, {"id": "q1", "query": "reset password", "relevant_docs": [...]}'
        )
    return test_set


def _asks(test_set: TestSet) -> bool:
    """Whether texts that are also the ids look like something to search for: several words, or no plain ids."""
    return any(" " in query.text.strip() or not query.text.isascii() for query in test_set)


def _shallow(scored: Evaluation, k: int) -> list[tuple[str, str]]:
    """A measure that looks deeper than the lists go."""
    deeper = [str(m) for m in scored.measures if isinstance(m.at, int) and m.at > k]
    if not deeper:
        return []
    names = ", ".join(deeper)
    return [
        (
            f"only {k} documents were asked for, so {names} cannot see more than the first {k}",
            f"只请求了 {k} 个文档，因此 {names} 只能看到前 {k} 个",
        )
    ]


def missing_gold(test_set: TestSet, corpus: Corpus | Mapping[str, str]) -> dict[str, list[str]]:
    """Relevant documents that are not in the corpus, by query."""
    missing = {
        query.id: [doc for doc, grade in query.grades.items() if grade > 0 and doc not in corpus] for query in test_set
    }
    return {query: docs for query, docs in missing.items() if docs}


def _notes(retrieval: RetrievalResult, test_set: TestSet, corpus: Mapping[str, str] | None) -> list[tuple[str, str]]:
    notes = []
    if retrieval.failed:
        n, first = len(retrieval.failed), ", ".join(map(repr, retrieval.failed[:3]))
        notes.append(
            (
                f"{n} of {retrieval.asked} queries failed, such as {first}; they count as empty lists"
                if n > 1
                else f"1 of {retrieval.asked} queries failed, {first}; it counts as an empty list",
                f"{retrieval.asked} 个查询中有 {n} 个失败，例如 {first}；按空列表计",
            )
        )
    notes += retrieval.remark_pairs
    if corpus is not None and (gone := missing_gold(test_set, corpus)):
        query, docs = next(iter(gone.items()))
        lost = counted(len(gone), "query", "queries")
        notes.append(
            (
                f"gold documents that are not in the index make {lost} missing_gold, such as {docs[0]!r} of {query!r}",
                f"有 {len(gone)} 个查询的标准文档不在索引中，无法得到满分，例如 {query!r} 的 {docs[0]!r}",
            )
        )
    return notes
