"""Every query of a test set asked of one retriever, and its answers scored."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from rankgauge.arguments import check_text
from rankgauge.engine.chunks import Parents
from rankgauge.errors import DataError
from rankgauge.evaluation import Scoring, hashed, signatures
from rankgauge.evaluation.passages import checked_chunks
from rankgauge.live.asked import askable, doubts_about
from rankgauge.live.checks import check_scoring, documents_of
from rankgauge.live.chunked import check_documents, known_chunks, partly_chunks, with_own
from rankgauge.live.evaluation import LiveEvaluation, RetrievalError
from rankgauge.live.notes import doubtful_ids, id_fields, notes_on, nothing_fits, too_shallow, whole_corpus
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.configuration import configuration_of, corpus_version
from rankgauge.retrievers.journal import Journal, open_journal
from rankgauge.retrievers.parents import parents_in, watched
from rankgauge.retrievers.runner import run_queries
from rankgauge.retrievers.searcher import as_searcher
from rankgauge.retrievers.stages import StageRecorder, is_staged
from rankgauge.retrievers.work import CallSettings
from rankgauge.words import tell

__all__ = ["Asking"]


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
        given = {**scoring.sources(test_set, {}), "queries": queries}
        before = signatures(given)
        tested, documents = askable(test_set, queries), documents_of(corpus)
        scoring = replace(scoring, corpus=documents)
        if scoring.chunks is not None:
            scoring = replace(scoring, chunks=checked_chunks(scoring.chunks))
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
        scoring = with_own(self.scoring, retriever, self.parent_field, self.test_set)
        check_scoring(replace(scoring, own_chunks=False))  # which says too that an overlap needs chunks
        scoring.check_labels(self.test_set)
        made = as_searcher(retriever, name=name, id_field=self.id_field, score_field=self.score_field)
        recorder = None
        if stages and is_staged(retriever):
            recorder = StageRecorder(retriever, watched(made, self.parent_field).read)
            made = replace(made, call=recorder.search, is_async=False, takes_k=True)
        budget = any(measure.get("budget") is not None for measure in scoring.plan.measures)
        searcher = watched(made, self.parent_field, scoring.documents if budget else None)
        chunked = scoring.rule is not None or self.parent_field is not None or scoring.chunks is not None
        documents = self.corpus if self.corpus is not None or chunked else scoring.documents
        called = name or searcher.name
        if scoring.passages is not None:
            scoring.passages.check_name(called)
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
        merged = scoring.changed(plan=plan, collapse_chunks=None, cut=None)
        scored = merged.evaluation(self.test_set, run, called)
        gold = documents if scoring.chunks is None else None  # where it holds chunks, labels are of documents
        fields = id_fields(scored, retrieval, self.test_set, gold)
        live = LiveEvaluation(scored, retrieval, [], self.sources, Run(run))
        live.recorder, live.id_fields, live.corpus, live.rule = recorder, fields, documents, scoring.rule
        if merged.passages is not None:
            live.labels = merged.passages.labels(self.test_set, merged.passages.chunks_of(called, run, self.test_set))
            live.corpus = live.labels.chunks.texts or None
        live.live_notes += [*doubts_about(self.test_set), *notes_on(retrieval, self.test_set, gold)]
        if not chunked:
            live.live_notes += doubtful_ids(scored, retrieval, self.test_set)
            live.live_notes += partly_chunks(retrieval, self.test_set, documents)
            live.live_notes += whole_corpus(scored, documents)
        live.live_notes += too_shallow(scored, retrieval.k)
        if scoring.cut is not None:
            live.whole_lists = True
            live.live_notes += nothing_fits(retrieval.run, live, scoring.cut)
        if fields is not None:  # which says the same, and what to do
            live.live_notes = [note for note in live.live_notes if note.key != "live.all_ids_unknown"]
        return live

    def keeping(
        self, cache: Any, configuration: Mapping[str, Any] | None, retriever: Any, cost: Any
    ) -> Callable[[str], AbstractContextManager[Journal | None]]:
        """What opens the journal of a system's answers, by the system's name."""
        if not isinstance(cache, str | os.PathLike | Journal | None):
            raise DataError(f"`cache` must be a folder, or a Journal, not {cache!r}"[:200])

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
