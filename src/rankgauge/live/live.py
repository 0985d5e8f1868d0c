"""`evaluate_retriever`: ask a live retriever every query of a test set, and score what it answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.comparison import Comparison
from rankgauge.errors import RetrieverError
from rankgauge.evaluation import DEFAULT_MEASURES, Evaluation, Scoring, hashed, make_plan, record_of, signatures
from rankgauge.live.checks import askable, check_scoring, documents_of
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.testset import TestSet
from rankgauge.record import Calls, InputFile, Record
from rankgauge.retrievers.answers import RetrievalResult
from rankgauge.retrievers.configuration import configuration_of, corpus_version, is_closed
from rankgauge.retrievers.journal import Journal, open_journal
from rankgauge.retrievers.runner import run_queries
from rankgauge.retrievers.searcher import as_searcher
from rankgauge.retrievers.work import CallSettings
from rankgauge.stats.latency import Latency
from rankgauge.stats.settings import Settings
from rankgauge.words import Note, tell
from rankgauge.words.visible import shortened

__all__ = ["Asking", "LiveEvaluation", "RetrievalError", "evaluate_retriever", "live_record"]


class RetrievalError(RetrieverError):
    """Too few queries were answered for figures that say something about the retriever: `retrieval` has the answers
    and errors there were, `reason` what is wrong with them."""

    def __init__(self, name: str, retrieval: RetrievalResult, reason: Note) -> None:
        super().__init__(shortened(f"{name}: {tell(reason, 'en')}", 500))
        self.retrieval, self.reason = retrieval, reason


@named_arguments
class LiveEvaluation(Evaluation):
    """Scores of a live retriever, with `.latency`, `.throughput`, `.failed` and the answers (`.retrieval`) beside."""

    def __init__(
        self, scored: Evaluation, retrieval: RetrievalResult, notes: Sequence[Note], sources: Mapping[str, Any]
    ) -> None:
        super().__init__(
            scored.table,
            scored.plan,
            scored.name,
            sources=sources,
            test_set=scored.test_set,
            conversations=scored.conversations,
        )
        self.retrieval, self.asked = retrieval, retrieval.k
        self.live_notes = list(notes)
        """Notes on the calls and the lists they gave."""
        self.resuming = False
        """Whether kept answers are those of an interrupted start of the same run."""
        self.proven = False
        """Whether kept answers are known to be those that the retriever would give now."""

    @property
    def latency(self) -> Latency:
        """Seconds of the calls that were made and answered now, at the stated concurrency; of kept answers there are
        none, and its count is 0 when all were kept."""
        return self.retrieval.latency

    @property
    def throughput(self) -> float | None:
        """Answered calls in a second (QPS); None where all answers came from the cache."""
        return self.retrieval.throughput if self.latency.count else None

    @property
    def failed(self) -> list[str]:
        """Queries without an answer; they count as empty lists."""
        return self.retrieval.failed

    @property
    def calls(self) -> Calls:
        """What the calls cost, as the record holds it."""
        retrieval = self.retrieval
        return Calls(
            k=retrieval.k,
            concurrency=retrieval.concurrency,
            latency=self.latency if self.latency.count else None,
            throughput=self.throughput,
            cached=0 if self.resuming else retrieval.cached,
            resumed=retrieval.cached if self.resuming else 0,
            proven=self.proven and retrieval.cached > 0,
            repeated=retrieval.repeated,
            failed=retrieval.failed,
            errors=retrieval.errors,
            notes=self.live_notes,
        )

    @property
    def warnings(self) -> list[str]:
        """What a careful reader must be warned of, in English."""
        return [*(tell(note, "en") for note in self.live_notes if note.level == "warning"), *super().warnings]

    def __repr__(self) -> str:
        remarks = len(self.warnings)
        hint = f"; {remarks} warning{'s' if remarks > 1 else ''}: see .warnings" if remarks else ""
        return f"{super().__repr__()[:-1]}{hint})"


def live_record(
    found: Sequence[LiveEvaluation],
    test_set: TestSet,
    settings: Settings | None = None,
    *,
    baseline: str | None = None,
    inputs: Mapping[str, InputFile] | None = None,
    slices: bool = False,
    corpus: Mapping[str, str] | None = None,
) -> Record:
    """Live evaluations on one test set as a record, compared where there are settings for it."""
    if settings is None:
        return record_of(found, inputs=inputs, test_set=test_set)
    runs = {live.name: live.retrieval.run for live in found}
    known = {"qrels": test_set.qrels, "runs": runs, "test_set": test_set, "corpus": corpus}
    compared = Comparison.of(found, settings, baseline=baseline, **known)
    return compared.to_record(inputs=inputs or {}, slices=slices)


@dataclass(frozen=True)
class Asking:
    """What retrievers are asked and how their answers are scored: all that can be wrong is found before a call."""

    test_set: TestSet
    corpus: Mapping[str, str] | None
    calls: CallSettings
    scoring: Scoring
    id_field: str | None
    score_field: str | None
    sources: Mapping[str, Any]

    @classmethod
    def of(
        cls, test_set: Any, corpus: Any, calls: CallSettings, scoring: Scoring, id_field: Any, score_field: Any
    ) -> Asking:
        calls.check()
        given = {"judgments": test_set, "corpus": corpus}
        before = signatures(given)
        tested, documents = askable(test_set), documents_of(corpus)
        scoring = replace(scoring, corpus=documents)
        check_scoring(scoring)
        sources = hashed(given, before)  # now: when all is asked, they may be others
        return cls(tested, documents, calls, scoring, id_field, score_field, sources)

    def ask(
        self,
        retriever: Any,
        name: str | None,
        kept: Callable[[str], AbstractContextManager[Journal | None]],
        progress: Callable[[int, int], None] | None = None,
    ) -> LiveEvaluation:
        """Every query asked, and the answers scored. `kept` opens what holds the answers of a system of this name."""
        searcher = as_searcher(retriever, name=name, id_field=self.id_field, score_field=self.score_field)
        called = name or searcher.name
        with kept(called) as journal:
            retrieval = run_queries(
                searcher,
                {query.id: query.text for query in self.test_set},
                journal=journal,
                known_ids=None if self.corpus is None else frozenset(self.corpus),
                progress=progress,
                **vars(self.calls),
            )
        if retrieval.interrupted:
            raise KeyboardInterrupt(f"{called}: {tell(retrieval.reason, 'en') if retrieval.reason else ''}")
        if retrieval.reason is not None:
            raise RetrievalError(called, retrieval, retrieval.reason)
        scored = self.scoring.evaluation(self.test_set, retrieval.run, called)
        notes = [*_notes(retrieval, self.test_set, self.corpus), *_shallow(scored, retrieval.k)]
        return LiveEvaluation(scored, retrieval, notes, self.sources)


@named_arguments
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
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    collapse_chunks: str | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    tokenizer: Callable[[str], int] | None = None,
) -> LiveEvaluation:
    """Ask a retriever every query of the test set for k documents, and score the answers.

    A retriever is an object with `search(query, k)`, a function of query and k (both may be async), or a LangChain
    retriever. A query that fails counts as an empty list and is named; if more than `max_failed` of them fail, it is an
    error. `corpus`, texts by id or the path of a file, tells which documents exist. The choices from `contract` on are
    those of `evaluate`.

    With `cache`, a folder, answers are kept as they come, and a later start asks only what is missing. They are found
    again by the query's text, k, the name, the corpus, and `configuration`: a dictionary of all that the answers depend
    on, such as the version of an index. Retrievers of `rankgauge.retrievers` say that themselves; for any other,
    `cache` without `configuration` is an error. A `Journal` of your own serves as `cache` too. Kept answers
    pass a gate only if they are those of a retriever of `rankgauge.retrievers` that asks no server, or with
    `allow="cached"`.
    """
    calls = CallSettings(k, concurrency, timeout, retries, backoff, max_failed)
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel)
    scoring = Scoring(plan, collapse_chunks, corpus, tokenizer)
    asking = Asking.of(test_set, corpus, calls, scoring, id_field, score_field)

    def kept(called: str) -> AbstractContextManager[Journal | None]:
        if cache is None or isinstance(cache, Journal):
            return nullcontext(cache)
        key = {
            "system": called,
            "configuration": configuration_of(retriever, called) if configuration is None else dict(configuration),
            "fields": [id_field, score_field],
            "corpus": corpus_version(asking.corpus),
        }
        return open_journal(cache, called, key)

    live = asking.ask(retriever, name, kept, progress)
    live.proven = configuration is None and not isinstance(cache, Journal) and is_closed(retriever)
    return live


def _shallow(scored: Evaluation, k: int) -> list[Note]:
    """A measure that looks deeper than the lists go."""
    deeper = [str(m) for m in scored.measures if isinstance(m.at, int) and m.at > k]
    return [Note("live.shallow", {"k": k, "measures": deeper}, "warning")] if deeper else []


def _notes(retrieval: RetrievalResult, test_set: TestSet, corpus: Mapping[str, str] | None) -> list[Note]:
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
