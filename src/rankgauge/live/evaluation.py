"""`LiveEvaluation`: what a live retriever answered and how good that is, and records of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import named_arguments
from rankgauge.comparison import Comparison
from rankgauge.comparison.recording import texts_of, with_lists
from rankgauge.engine.chunks import Parents, Rule, collapse, parents_by
from rankgauge.errors import RetrieverError
from rankgauge.evaluation import Evaluation, hashed, record_of
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.record import Calls, Cost, InputFile, Record
from rankgauge.retrievers.answers import RetrievalResult
from rankgauge.retrievers.parents import parent_of
from rankgauge.retrievers.stages import StageRecorder
from rankgauge.stats.latency import Latency
from rankgauge.stats.settings import Settings
from rankgauge.words import Note, tell
from rankgauge.words.visible import shortened

if TYPE_CHECKING:
    from rankgauge.engine.spans import SpanLabels

__all__ = ["LiveEvaluation", "RetrievalError", "judgments_of", "live_record"]


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
        self.whole_lists, self.spans = scored.whole_lists, scored.spans
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
        self.rule: Rule | None = None
        """What merged chunks into documents."""
        self.labels: SpanLabels | None = None
        """The labels brought onto chunks, where chunks were scored."""

    @cached_property
    def stages(self) -> dict[str, Run]:
        """The lists of the stages before the last, by name, of a retriever that tells them (`stages(query, k)`); of
        documents, where chunks were retrieved."""
        k = self.retrieval.k
        if self.recorder is None or self.test_set is None or k is None:
            return {}
        found = self.recorder.runs({query.id: query.text for query in self.test_set}, k)
        return found if self.rule is None else {name: self._merged(run, self.rule) for name, run in found.items()}

    def _merged(self, run: Run, rule: Rule) -> Run:
        """A stage's list of documents. A chunk that the rule does not cover stays as it is: the last list has none."""
        parent = parents_by(rule)[0]
        ids = {own: parent_of(own) for part in run.parts() for own in part["doc"]}
        return collapse(run, Parents({own: doc or parent(chunk) or chunk for own, (doc, chunk) in ids.items()}, ""))[0]

    @property
    def unknown_stages(self) -> dict[str, str]:
        """Queries whose answers were kept from before and whose earlier stages could not be asked again, with the
        error."""
        return dict(self.recorder.unknown) if self.stages and self.recorder is not None else {}

    @property
    def judged(self) -> Qrels:
        """The judgments that the lists were scored by: of chunks, where labels were brought onto these."""
        if self.labels is None or self.contract.overlap is None:
            return (self.test_set or TestSet([])).qrels
        return self.labels.qrels(self.contract.overlap)

    @property
    def cost(self) -> Cost | None:
        """What the answers cost; None where no cost was asked for or found."""
        return self.retrieval.cost

    def remedy(self, wanted: int) -> Note | None:
        chunks = max((len(answer.hits) for answer in self.retrieval.answers), default=0)
        documents = 0 if self.coverage.lengths is None else self.coverage.lengths.longest
        short = self.rule is not None and chunks > documents
        return self.retrieval.depth.remedy(self.retrieval.k, wanted, (chunks, documents) if short else None)

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
        own = [tell(note, "en") for note in self.live_notes if note.level == "warning"]
        scored = super().warnings
        return [*scored, *own] if self.coverage.id_mismatch is not None else [*own, *scored]  # that no id fits first

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
    corpus = corpus if found[0].labels is None else found[0].corpus
    known = {"qrels": judgments_of(found, test_set), "runs": runs, "test_set": test_set, "corpus": corpus}
    compared = Comparison.of(found, settings, baseline=baseline, **known)
    return compared.to_record(inputs=inputs or {}, slices=slices)


def _with_lists(
    found: Sequence[LiveEvaluation],
    inputs: Mapping[str, InputFile] | None,
    test_set: TestSet,
    corpus: Mapping[str, str] | None,
) -> Record:
    runs, record = {live.name: live.run for live in found}, record_of(found, inputs=inputs, test_set=test_set)
    qrels = judgments_of(found, test_set)
    corpus = corpus if found[0].labels is None else found[0].corpus
    if qrels is None:  # of several systems, each with its own chunks
        return replace(record, texts=texts_of(test_set))
    return with_lists(record, found, runs, qrels, test_set, corpus)


def judgments_of(found: Sequence[LiveEvaluation], test_set: TestSet) -> Qrels | None:
    """The judgments that all of them were scored by; None where chunks are judged and each has its own."""
    own = {None if live.labels is None else (id(live.labels.chunks), live.contract.overlap) for live in found}
    if len(own) > 1:
        return None
    return test_set.qrels if found[0].labels is None else found[0].judged
