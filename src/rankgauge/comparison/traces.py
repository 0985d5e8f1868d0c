"""`evaluate_traces`: several retrieval calls for one question, scored as one list, call by call, and within budgets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.comparison.bound_traces import bound_system, name_of_traces, notes_on_binding, read_traces
from rankgauge.comparison.comparing import compare_runs
from rankgauge.comparison.comparison import Comparison
from rankgauge.comparison.trace_use import usage_of
from rankgauge.errors import DataError
from rankgauge.evaluation import DEFAULT_MEASURES, Evaluation, Scoring, hashed, make_plan, read_judgments, record_of
from rankgauge.evaluation.conversations import ConversationRule
from rankgauge.evaluation.traces import ORDERS, counted_tokens
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet, as_testset
from rankgauge.model.traces import Traces
from rankgauge.record import Note, Record
from rankgauge.record.result import Result
from rankgauge.record.traces import TraceUse
from rankgauge.stats.settings import Settings
from rankgauge.words import tell

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TraceEvaluation", "evaluate_traces"]


@named_arguments
class TraceEvaluation(Result):
    """Traces scored: `.evaluations` and `.runs` by system (the union of all calls, and of those within each budget),
    `.usage` (calls, tokens, when all evidence was there), `.comparison` of several systems, `.record`."""

    def __init__(
        self,
        evaluations: Mapping[str, Evaluation],
        runs: Mapping[str, Run],
        usage: Mapping[str, TraceUse],
        notes: Mapping[str, list[Note]],
        comparison: Comparison | None,
        sources: Mapping[str, Any],
    ) -> None:
        self.evaluations, self.runs, self.usage = dict(evaluations), dict(runs), dict(usage)
        self.trace_notes = dict(notes)
        """Notes on how the traces were bound, by system."""
        self.comparison, self.sources = comparison, dict(sources)

    @cached_property
    def record(self) -> Record:
        """The result document; of several systems that of their comparison."""
        return self.to_record()

    def to_record(self, *, provenance: bool = True) -> Record:
        """The result document; `provenance` hashes the files, which a result that is only shown does without."""
        inputs = hashed(self.sources) if provenance else {}
        if self.comparison is None:
            (only,) = self.evaluations.values()
            found = record_of([only], inputs=inputs, provenance=provenance, test_set=only.test_set)
        else:
            found = self.comparison.to_record(inputs=inputs, provenance=provenance)
        systems = [
            replace(
                system,
                traces=self.usage.get(system.name),
                notes=[*self.trace_notes.get(system.name, []), *system.notes],
            )
            for system in found.systems
        ]
        return replace(found, systems=systems)

    @property
    def notes(self) -> list[Note]:
        """What a careful reader must know beside the scores."""
        if self.comparison is not None:
            return self.comparison.notes
        told = [note for notes in self.trace_notes.values() for note in notes]
        return told + next(iter(self.evaluations.values())).notes

    @property
    def warnings(self) -> list[str]:
        """What a careful reader must be warned of, in English."""
        return [tell(note, "en") for note in self.notes if note.level == "warning"]

    def to_frame(self) -> pl.DataFrame:
        """One row for each system and measure: its mean, the confidence interval and the queries that count."""
        return self.record.to_frame()

    def to_json(self) -> str:
        return self.record.to_json()

    def __repr__(self) -> str:
        name = next(iter(self.usage))
        found = self.evaluations[name]
        means = ", ".join(f"{measure}={value:.4f}" for measure, value in found.mean.items())
        more = f"; {len(self.evaluations)} systems" if len(self.evaluations) > 1 else ""
        return f"TraceEvaluation({name!r}: {means}{more})"


@named_arguments
def evaluate_traces(
    test_set: TestSet | str | os.PathLike[str] | Any,
    traces: Traces | Mapping[str, Any] | str | os.PathLike[str] | Any,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    order: str = "calls",
    budgets: str | Sequence[str] = (),
    query_id: str | None = None,
    tokenizer: Callable[[str], int] | None = None,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    equivalence_margin: float = 0.01,
    seed: int = 0,
    samples: int | None = None,
    contract: str | Contract | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    conversations: ConversationRule = None,
    name: str | None = None,
) -> TraceEvaluation:
    """Score traces, in which one question has several retrieval calls, against a test set.

    `traces` are those of one system (a `Traces`, a `TraceCollector`, the path of a file), or of several by name, which
    are then compared. A trace belongs to the query whose id it tells (of spans, in the attribute `query_id`), else to
    the one whose text its question has. All calls of a question are one list: `order="calls"` puts documents in the
    order in which they were first seen, "ranks" by their best rank, "rrf" by reciprocal rank fusion.

    Each of the `budgets`, such as "calls<=1", "documents<=20" or "tokens<=4000", is one more system, compared with
    the others; "calls" stands for each number of calls. `tokenizer` counts the tokens of calls that hold texts and no
    number. With budgets, `baseline` is the first of them unless another system is named. The other choices are those of
    `compare`.
    """
    if order not in ORDERS:
        raise DataError(f"order {order!r} is not one of {', '.join(ORDERS)}")
    check_text("name", name)
    settings = Settings.of(test, correction, alpha, equivalence_margin, seed, samples)
    plan = make_plan(measures, contract, None, missing, no_relevant, None, depth, rel)
    scoring = Scoring(plan, collapse_chunks, corpus, conversations=conversations)
    judgments, known = read_judgments(test_set)
    tested = known if known is not None else as_testset(judgments)
    given = traces if isinstance(traces, Mapping) else {name or name_of_traces(traces): traces}
    if not given:
        raise DataError("`traces` names no system: give traces, or several by name")
    systems = []
    for own, source in given.items():
        read = read_traces(source, str(own), query_id)
        read = Traces((counted_tokens(trace, tokenizer) for trace in read), name=str(own))
        systems.append(bound_system(read, str(own), tested, order, budgets, alone=len(given) == 1))
    runs = {called: run for system in systems for called, run in system.runs.items()}
    sources: dict[str, Any] = scoring.sources(test_set, {})
    sources |= {f"traces:{own}": source for own, source in given.items()}
    notes = {system.name: notes_on_binding(system, tested) for system in systems}
    comparison = None
    if len(runs) > 1:
        first = next((called for called in runs if called not in notes), None) if len(systems) == 1 else None
        comparison = compare_runs(tested, runs, scoring, settings, baseline or first)
        for found in comparison.evaluations:
            found.whole_lists = True
        comparison.remarks += [
            note if len(notes) == 1 else Note("comparison.some_systems", {"systems": [own], "note": note}, note.level)
            for own, told in notes.items()
            for note in told
        ]
        evaluations = {found.name: found for found in comparison.evaluations if isinstance(found, Evaluation)}
    else:
        evaluations = {called: scoring.evaluation(tested, run, called) for called, run in runs.items()}
        for found in evaluations.values():
            found.whole_lists = True
    least = 1.0 if rel is None else float(rel)
    usage = {s.name: usage_of(s, tested, scoring, evaluations[s.name], order, least) for s in systems}
    return TraceEvaluation(evaluations, runs, usage, notes, comparison, sources)
