"""Comparison: systems compared on the same queries, where they differ, and what could turn a verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import named_arguments
from rankgauge.comparison.changes import agreement_of, changes_of, slices_of
from rankgauge.comparison.groups import groups_of
from rankgauge.comparison.notes import notes_of_comparison, notes_on_calls, uncertainty_notes
from rankgauge.comparison.recording import documents_of, lists_of, relevant_of, scores_record, texts_of
from rankgauge.comparison.rows import System
from rankgauge.comparison.systems import ComparedSystems
from rankgauge.comparison.verdicts import advice_of
from rankgauge.engine.chunks import collapse
from rankgauge.errors import counted
from rankgauge.evaluation import Scores, hashed, read_run, record_of
from rankgauge.evaluation.notes import notes_of
from rankgauge.measures import find_measure_name
from rankgauge.model.chunks import Chunks
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Bools
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.record import (
    Agreement,
    Changes,
    ComparisonResult,
    InputFile,
    LossesResult,
    Note,
    Record,
    Rerank,
    Row,
    ScoredMeasure,
    Slice,
    Standing,
    Tied,
    Unjudged,
)
from rankgauge.record.frames import bounds_of, queries_frame
from rankgauge.record.result import Result
from rankgauge.sensitivity.tied_orders import tied_ranges
from rankgauge.sensitivity.unjudged import ranges_and_reasons
from rankgauge.stats.settings import Settings
from rankgauge.visible import visible
from rankgauge.words import Language, tell

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.formats import RunParts
    from rankgauge.record.labels import LabelledTestSet

__all__ = ["Comparison"]

_DEPTH = 10  # of recall, where no measure is one


@named_arguments
class Comparison(ComparedSystems, Result):
    """Systems compared on the same queries: `.rows`, `.groups`, `.summary()`, `.record`, and where they differ."""

    def __init__(
        self,
        queries: Sequence[str],
        measures: Sequence[ScoredMeasure],
        systems: Mapping[str, System],
        settings: Settings,
        *,
        baseline: str | None = None,
        evaluations: Sequence[Scores] = (),
        qrels: Qrels | None = None,
        runs: Mapping[str, Any] | None = None,
        test_set: TestSet | None = None,
        collapse_chunks: str | re.Pattern[str] | Mapping[str, str] | Chunks | None = None,
        corpus: Mapping[str, str] | None = None,
        sources: Mapping[str, Any] | None = None,
        remarks: Sequence[Note] = (),
        stages: Mapping[str, Any] | None = None,
        conversations: Mapping[str, str] | None = None,
        synthetic: Mapping[str, str] | None = None,
        labelled: LabelledTestSet | None = None,
    ) -> None:
        tags = {tag for query in test_set or () for tag in query.tags}
        super().__init__(
            queries, measures, systems, settings, baseline=baseline, slices=len(tags), conversations=conversations
        )
        self.evaluations, self.qrels, self.test_set = evaluations, qrels, test_set
        self._runs, self._collapse, self.sources = runs or {}, collapse_chunks, dict(sources or {})
        self.corpus, self._stages = corpus, dict(stages or {})
        self._synthetic, self._labelled = dict(synthetic or {}), labelled  # of stored scores, which have no test set
        self.remarks = list(remarks)
        """Warnings about how the scores came together."""

    @classmethod
    def of(cls, evaluations: Sequence[Scores], settings: Settings, **known: Any) -> Comparison:
        """Evaluations on the same judgments and measures, compared; `known` is what `Comparison` takes beside them."""
        first = evaluations[0]
        scored = [ScoredMeasure.of(measure) for measure in first.measures]
        systems = {e.name: System(e.name, e.table.values, e.table.counted) for e in evaluations}
        known["conversations"] = first.conversations
        return cls(first.table.queries, scored, systems, settings, evaluations=evaluations, **known)

    def open_run(self, name: str) -> Run | RunParts:
        """A system's run, to look at its documents once more."""
        return self._opened_run(self._runs[name], name)

    def _opened_run(self, given: Any, name: str) -> Run | RunParts:
        run = read_run(given, name)
        return run if self._collapse is None else collapse(run, self._collapse)[0]

    @cached_property
    def losses(self) -> list[LossesResult]:
        """Where each system lost relevant documents on the way from the stages that all were made from."""
        if not self._stages or self.qrels is None:
            return []
        from rankgauge.comparison.losses import losses_of_list  # takes polars

        earlier = {str(name): self._opened_run(run, str(name)) for name, run in self._stages.items()}
        known = self.test_set or self.qrels
        return [
            losses_of_list(own, known, earlier, self.open_run(own.name), k=_DEPTH, corpus=self.corpus)
            for own in self.evaluations
        ]

    def row(self, measure: str, a: str, b: str) -> Row:
        """The row of a pair, by any spelling of the measure."""
        preset = self.evaluations[0].preset if self.evaluations else None
        passages = bool(self.evaluations) and self.evaluations[0].contract.overlap is not None
        name = find_measure_name(measure, [known.name for known in self.measures], preset, passages=passages)
        for row in self.rows:
            if (row.measure, row.a, row.b) == (name, a, b):
                return row
        raise KeyError(f"{measure}: {a} and {b} were not compared")

    @cached_property
    def groups(self) -> dict[str, list[Standing]]:
        """For each measure the systems, best first. Those that share a letter are not significantly different; ranks
        are the first and last one a system can hold. Only where all pairs were compared, and over the queries that
        count for every system."""
        return groups_of(self) if self.all_pairs else {}

    def changes(self, n: int = 10) -> list[Changes]:
        """For each measure and pair the n queries that gained and the n that lost most."""
        return changes_of(self, n)

    @cached_property
    def slices(self) -> list[Slice]:
        """Every row again for the queries of each tag of the test set, corrected across all of these rows."""
        return slices_of(self, self.test_set)

    @cached_property
    def agreement(self) -> list[Agreement]:
        """Kendall's tau between measures and between systems."""
        return agreement_of(self)

    @cached_property
    def unjudged(self) -> Unjudged:
        """The range of each difference over every labelling of the unjudged documents retrieved, and for measures
        without one the reason."""
        if self.qrels is None or not self.evaluations:
            return Unjudged([])
        first = self.evaluations[0]
        common = self._common()
        return ranges_and_reasons(self.qrels, self._opened(), first.measures, first.contract, self.pairs, common)

    @cached_property
    def tied(self) -> Tied:
        """Scores and differences over all orders of tied documents."""
        if self.qrels is None or not self.evaluations:
            return Tied([], [])
        first = self.evaluations[0]
        return tied_ranges(self.qrels, self._opened(), first.measures, first.contract, self.pairs, self._common())

    def _common(self) -> dict[str, Bools]:
        """The queries of all pairs, by measure; none where each pair has its own."""
        if not self.all_pairs:
            return {}
        counted = next(iter(self.compared.values())).counted
        return {measure.name: counted[:, j] for j, measure in enumerate(self.measures)}

    def _opened(self) -> dict[str, Run | RunParts]:
        return {evaluation.name: self.open_run(evaluation.name) for evaluation in self.evaluations}

    @cached_property
    def notes(self) -> list[Note]:
        """What a careful reader must know beside the rows."""
        return notes_of_comparison(self, self.groups, self.evaluations, self.remarks)

    def result(
        self, *, slices: bool = False, uncertainty: bool = True, rerank: Rerank | None = None
    ) -> ComparisonResult:
        """What the comparison found. `uncertainty` adds the ranges over unjudged documents and tied orders, which take
        a second look at the runs; `slices` adds the rows by tag."""
        doubted = uncertainty and self.qrels is not None
        return ComparisonResult(
            settings=self.settings,
            baseline=self.baseline,
            rows=self.rows,
            groups=self.groups,
            changes=self.changes(),
            slices=self.slices if slices else [],
            agreement=self.agreement,
            notes=self.notes + (uncertainty_notes(self.unjudged, self.tied) if doubted else []),
            unjudged=self.unjudged if doubted else None,
            tied=self.tied if doubted else None,
            rerank=rerank,
        )

    def to_record(
        self,
        *,
        inputs: Mapping[str, InputFile] | None = None,
        provenance: bool = True,
        slices: bool = False,
        uncertainty: bool = True,
        lists: bool = True,
        rerank: Rerank | None = None,
    ) -> Record:
        """The result document. `lists` adds the first documents of every query (of very many those that changed most),
        with their beginnings where a corpus is known; `inputs` are the files by role, where they are not those that
        were given to `compare`."""
        files = hashed(self.sources) if inputs is None and provenance else inputs
        if self.evaluations:
            record = record_of(self.evaluations, inputs=files, provenance=provenance, test_set=self.test_set)
        else:
            record = scores_record(self, inputs=files, provenance=provenance)
            made = replace(record.provenance, test_set=self._labelled)
            record = replace(record, provenance=made, synthetic=self._synthetic)
        found = self.result(slices=slices, uncertainty=uncertainty, rerank=rerank)
        texts, losses = texts_of(self.test_set), self.losses
        record = replace(record, kind="comparison", texts=texts, comparison=found, losses=losses)
        if not lists or self.qrels is None or not self.evaluations:
            return record
        listed = lists_of(self.queries, found.changes, self.qrels, self._opened(), self.evaluations)
        relevant = relevant_of(list(listed), self.qrels)
        return replace(record, lists=listed, relevant=relevant, documents=documents_of(listed, relevant, self.corpus))

    @cached_property
    def record(self) -> Record:
        """The result document with all its parts but the rows by tag."""
        return self.to_record()

    def summary(self, language: Language = "en") -> list[str]:
        """What to do, in a paragraph or two."""
        found = ComparisonResult(self.settings, self.baseline, self.rows, self.groups, notes=self.notes)
        systems = {one.name: notes_of(one) for one in self.evaluations}
        return [tell(note, language) for note in advice_of(found, self.measures, systems)]

    @property
    def warnings(self) -> list[str]:
        """What a careful reader must be warned of, in English."""
        notes = [*notes_on_calls(self.evaluations), *self.notes]
        return [tell(note, "en") for note in notes if note.level == "warning"]

    def to_frame(self) -> pl.DataFrame:
        """One row for each measure and pair."""
        import polars as pl

        names = [name for name in Row.__dataclass_fields__ if name != "interval"]
        columns: dict[str, Any] = {name: [getattr(row, name) for row in self.rows] for name in names}
        return pl.DataFrame({**columns, **bounds_of([row.interval for row in self.rows])})

    @property
    def per_query(self) -> pl.DataFrame:
        """One row for each system and query, one column for each measure, and the query's text where it is known;
        empty where a query does not count."""
        scores = {
            name: {
                measure.name: [
                    value if counts else None
                    for value, counts in zip(system.values[:, j].tolist(), system.counted[:, j].tolist(), strict=True)
                ]
                for j, measure in enumerate(self.measures)
            }
            for name, system in self.systems.items()
        }
        return queries_frame(self.queries, scores, texts_of(self.test_set))

    def to_json(self) -> str:
        return self.record.to_json()

    def __repr__(self) -> str:
        return f"Comparison({visible(', '.join(self.systems))}: {counted(len(self.rows), 'row')})"
