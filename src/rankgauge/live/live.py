"""`evaluate_retriever`: ask a live retriever every query of a test set, and score what it answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.comparison import Comparison
from rankgauge.comparison.recording import with_lists
from rankgauge.engine.chunks import Parents
from rankgauge.errors import DataError, RetrieverError
from rankgauge.evaluation import (
    DEFAULT_MEASURES,
    Evaluation,
    GivenChunks,
    Scoring,
    hashed,
    make_plan,
    record_of,
    signatures,
)
from rankgauge.live.asked import askable, doubts_about
from rankgauge.live.checks import check_scoring, documents_of
from rankgauge.live.chunked import check_documents, known_chunks, with_own
from rankgauge.live.notes import id_fields, notes_on, too_shallow
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.record import Calls, Cost, InputFile, Record
from rankgauge.retrievers.answers import RetrievalResult
from rankgauge.retrievers.configuration import configuration_of, corpus_version, is_closed
from rankgauge.retrievers.costs import check_cost
from rankgauge.retrievers.journal import Journal, open_journal
from rankgauge.retrievers.parents import parents_in, watched
from rankgauge.retrievers.runner import run_queries
from rankgauge.retrievers.searcher import as_searcher
from rankgauge.retrievers.stages import StageRecorder, is_staged
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
        self,
        scored: Evaluation,
        retrieval: RetrievalResult,
        notes: Sequence[Note],
        sources: Mapping[str, Any],
        run: Run | None = None,
    ) -> None:
        super().__init__(
            scored.table,
            scored.plan,
            scored.name,
            sources=sources,
            test_set=scored.test_set,
            conversations=scored.conversations,
        )
        self.retrieval, self.asked, self.live = retrieval, retrieval.k, True
        self.run = run or retrieval.run
        """The lists that were scored, as a run: it can be saved, fused and compared. Of documents, where chunks were
        retrieved."""
        self.corpus: Mapping[str, str] | None = None
        """The texts of the documents, of which the record holds the beginnings."""
        self.live_notes = list(notes)
        """Notes on the calls and the lists they gave."""
        self.resuming = False
        """Whether kept answers are those of an interrupted start of the same run."""
        self.proven = False
        """Whether kept answers are known to be those that the retriever would give now."""
        self.recorder: StageRecorder | None = None

    @cached_property
    def stages(self) -> dict[str, Run]:
        """The lists of the stages before the last, by name, of a retriever that tells them (`stages(query, k)`)."""
        k = self.retrieval.k
        if self.recorder is None or self.test_set is None or k is None:
            return {}
        return self.recorder.runs({query.id: query.text for query in self.test_set}, k)

    @property
    def cost(self) -> Cost | None:
        """What the answers cost; None where no cost was asked for or found."""
        return self.retrieval.cost

    def remedy(self, wanted: int) -> Note | None:
        return self.retrieval.depth.remedy(self.retrieval.k, wanted)

    @cached_property
    def record(self) -> Record:
        """The result document, with the texts of the queries and the first documents of their lists."""
        return _with_lists([self], hashed(self.sources), self.test_set or TestSet([]), self.corpus)

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
            cost=retrieval.cost,
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
    lists: bool = True,
) -> Record:
    """Live evaluations on one test set as a record, compared where there are settings for it. Without `lists` one that
    is not compared holds the scores alone, as a monitor keeps it at every check."""
    if settings is None and not lists:
        return record_of(found, inputs=inputs, test_set=test_set)
    if settings is None:
        return _with_lists(found, inputs, test_set, corpus)
    runs = {live.name: live.run for live in found}
    known = {"qrels": test_set.qrels, "runs": runs, "test_set": test_set, "corpus": corpus}
    compared = Comparison.of(found, settings, baseline=baseline, **known)
    return compared.to_record(inputs=inputs or {}, slices=slices)


def _with_lists(
    found: Sequence[LiveEvaluation],
    inputs: Mapping[str, InputFile] | None,
    test_set: TestSet,
    corpus: Mapping[str, str] | None,
) -> Record:
    runs = {live.name: live.run for live in found}
    return with_lists(record_of(found, inputs=inputs, test_set=test_set), found, runs, test_set, corpus)


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
    parent_field: str | None = None

    @classmethod
    def of(
        cls,
        test_set: Any,
        corpus: Any,
        calls: CallSettings,
        scoring: Scoring,
        id_field: Any,
        score_field: Any,
        queries: Any = None,
        parent_field: Any = None,
        *,
        own_texts: bool = False,
    ) -> Asking:
        """`own_texts` says that retrievers may bring texts along, which measures with a budget need."""
        calls.check()
        check_text("parent_field", parent_field)
        if parent_field is not None and (scoring.collapse_chunks is not None or scoring.chunks is not None):
            other = "collapse_chunks" if scoring.collapse_chunks is not None else "chunks"
            raise DataError(f"`parent_field` and `{other}` both say of which document a chunk is: give one of them")
        given = {"judgments": test_set, "queries": queries, "corpus": corpus}
        before = signatures(given)
        tested, documents = askable(test_set, queries), documents_of(corpus)
        scoring = replace(scoring, corpus=documents)
        check_scoring(scoring, own_texts=own_texts)
        sources = hashed(given, before)  # now: when all is asked, they may be others
        return cls(tested, documents, calls, scoring, id_field, score_field, sources, parent_field)

    def ask(
        self,
        retriever: Any,
        name: str | None,
        kept: Callable[[str], AbstractContextManager[Journal | None]],
        progress: Callable[[int, int], None] | None = None,
        cost: Any = None,
        cost_unit: str | None = None,
        *,
        stages: bool = False,
    ) -> LiveEvaluation:
        """Every query asked, and the answers scored. `kept` opens what holds the answers of a system of this name;
        `stages` keeps the lists of earlier stages too, which a sweep of many settings has no room for."""
        scoring = with_own(self.scoring, retriever, self.parent_field)
        check_scoring(scoring)
        made = as_searcher(retriever, name=name, id_field=self.id_field, score_field=self.score_field)
        recorder = None
        if stages and is_staged(retriever):
            recorder = StageRecorder(retriever, id_field=self.id_field, score_field=self.score_field)
            made = replace(made, call=recorder.search, is_async=False, takes_k=True)
        searcher = watched(made, self.parent_field)
        chunked = scoring.rule is not None or self.parent_field is not None or scoring.chunks is not None
        documents = self.corpus if self.corpus is not None or chunked else scoring.documents
        called = name or searcher.name
        with kept(called) as journal:
            retrieval = run_queries(
                searcher,
                {query.id: query.text for query in self.test_set},
                journal=journal,
                known_ids=None if documents is None or chunked else frozenset(documents),
                progress=progress,
                cost=cost,
                cost_unit=cost_unit,
                **vars(self.calls),
            )
        if retrieval.interrupted:
            raise KeyboardInterrupt(f"{called}: {tell(retrieval.reason, 'en') if retrieval.reason else ''}")
        if retrieval.reason is not None:
            raise RetrievalError(called, retrieval, retrieval.reason) from retrieval.cause
        if self.parent_field is not None:
            retrieval, parents = parents_in(retrieval)
            scoring = replace(scoring, collapse_chunks=Parents(parents, f"field {self.parent_field}"))
        elif not chunked:
            check_documents(called, retrieval, self.test_set, documents)
        if scoring.rule is not None and documents is not None:
            retrieval = replace(retrieval, known_ids=known_chunks(retrieval, scoring, documents))
        run, plan = scoring.opened(retrieval.run, called)
        scored = replace(scoring, plan=plan, collapse_chunks=None).evaluation(self.test_set, run, called)
        gold = documents if scoring.chunks is None else None  # where it holds chunks, labels are of documents
        fields = id_fields(scored, retrieval, self.test_set, gold)
        live = LiveEvaluation(scored, retrieval, [], self.sources, Run(run))
        live.recorder, live.id_fields, live.corpus = recorder, fields, documents
        live.live_notes += [*doubts_about(self.test_set), *notes_on(retrieval, self.test_set, gold)]
        live.live_notes += too_shallow(scored, retrieval.k)
        if fields is not None:  # which says the same, and what to do
            live.live_notes = [note for note in live.live_notes if note.key != "live.all_ids_unknown"]
        return live

    def keeping(
        self, cache: Any, configuration: Mapping[str, Any] | None, retriever: Any, cost: Any
    ) -> Callable[[str], AbstractContextManager[Journal | None]]:
        """What opens the journal of a system's answers, by the system's name."""

        def kept(called: str) -> AbstractContextManager[Journal | None]:
            if cache is None or isinstance(cache, Journal):
                return nullcontext(cache)
            key = {
                "system": called,
                "configuration": configuration_of(retriever, called) if configuration is None else dict(configuration),
                "fields": [self.id_field, self.score_field, self.parent_field],
                "corpus": corpus_version(self.corpus),
                # An answer that was kept without its cost cannot tell it later.
                **({} if cost is None else {"cost": cost if isinstance(cost, str) else "function"}),
            }
            return open_journal(cache, called, key)

        return kept


@named_arguments
def evaluate_retriever(
    retriever: Any,
    test_set: TestSet | Mapping[str, Any] | Sequence[Any] | str | os.PathLike[str] | Any,
    k: int | None = 10,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    name: str | None = None,
    queries: Mapping[str, str] | str | os.PathLike[str] | None = None,
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
    parent_field: str | None = None,
    cost: str | Callable[[str, Any], float | None] | None = None,
    cost_unit: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    threshold: float | None = None,
    collapse_chunks: str | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    tokenizer: Callable[[str], int] | None = None,
    chunks: GivenChunks | None = None,
    overlap: float | None = None,
) -> LiveEvaluation:
    """Ask a retriever every query of the test set for k documents, and score the answers.

    A retriever is an object with `search(query, k)`, a function of query and k (both may be async), or a LangChain
    retriever. With k=None it is not told how many, and all that it gives by itself count. `test_set` is a test set or
    its path, a dictionary {text: {document: grade}}, a list of queries, a data frame; or judgments, whose texts are
    then in `queries`, a mapping from id to text or the path of a file. A query that fails counts as an empty list and
    is named; if more than `max_failed` of them fail, it is an error. `corpus`, texts by id or the path of a file, tells
    which documents exist. `cost` tells what an answer cost, in a unit of the name `cost_unit`: a path into what the
    retriever returned ("usage.total_tokens"), a header ("header:x-cost"), or a function of the query's text and what
    was returned. The choices from `contract` on are those of `evaluate`.

    Where results are chunks, `collapse_chunks` says of which documents, or `parent_field`, the field of a result that
    holds the document's id, or a retriever has them as its attribute `chunks` (`Chunks`; also `corpus`, texts by id,
    for measures with a context budget). Chunks of which nothing is said are an error.

    With `cache`, a folder, answers are kept as they come, and a later start asks only what is missing. They are found
    again by the query's text, k, the name, the corpus, and `configuration`: a dictionary of all that the answers depend
    on, such as the version of an index. Retrievers of `rankgauge.retrievers` say that themselves; for any other,
    `cache` without `configuration` is an error. A `Journal` of your own serves as `cache` too. Kept answers
    pass a gate only if they are those of a retriever of `rankgauge.retrievers` that asks no server, or with
    `allow="cached"`.
    """
    calls = CallSettings(k, concurrency, timeout, retries, backoff, max_failed)
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel, threshold)
    scoring = Scoring(plan, collapse_chunks, corpus, tokenizer, chunks=chunks, overlap=overlap)
    check_cost(cost, cost_unit)
    own_texts = corpus is None  # of the retriever, which is looked at before the first call
    fields = (id_field, score_field, queries, parent_field)
    asking = Asking.of(test_set, corpus, calls, scoring, *fields, own_texts=own_texts)
    kept = asking.keeping(cache, configuration, retriever, cost)
    live = asking.ask(retriever, name, kept, progress, cost, cost_unit, stages=True)
    live.proven = configuration is None and not isinstance(cache, Journal) and is_closed(retriever)
    return live
