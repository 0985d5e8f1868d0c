"""`evaluate_traces`: several retrieval calls for one question, scored as one list, call by call, and within budgets."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.comparison.comparing import compare_runs
from rankgauge.comparison.comparison import Comparison
from rankgauge.engine.scoring import score
from rankgauge.errors import DataError
from rankgauge.evaluation import DEFAULT_MEASURES, Evaluation, Scoring, hashed, make_plan, read_judgments, record_of
from rankgauge.evaluation.conversations import ConversationRule
from rankgauge.evaluation.traces import (
    ORDERS,
    Bound,
    Order,
    bind,
    budgets_of,
    complete_at,
    counted_tokens,
    evidence_of,
    run_of,
    spent,
    united,
)
from rankgauge.formats.traces import load_traces, traces_of
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet, as_testset
from rankgauge.model.traces import Trace, Traces
from rankgauge.record import Note, Record
from rankgauge.record.result import Result
from rankgauge.record.traces import CallMeans, TraceUse
from rankgauge.stats.settings import Settings
from rankgauge.words import tell

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TraceEvaluation", "evaluate_traces", "read_traces"]

_CALLS = 10
"""Calls whose lists are scored one by one."""
_SHOWN = 3


@dataclass(frozen=True)
class _System:
    """The traces of one system, bound."""

    name: str
    traces: Traces
    bound: Bound
    runs: dict[str, Run]
    """Its union, and that within each budget, by the name of the system that stands for it."""


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
    collapse_chunks: str | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
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
    given = traces if isinstance(traces, Mapping) else {name or _name_of(traces): traces}
    if not given:
        raise DataError("`traces` names no system: give traces, or several by name")
    systems = []
    for own, source in given.items():
        read = read_traces(source, str(own), query_id)
        read = Traces((counted_tokens(trace, tokenizer) for trace in read), name=str(own))
        systems.append(_bound(read, str(own), tested, order, budgets, alone=len(given) == 1))
    runs = {called: run for system in systems for called, run in system.runs.items()}
    sources: dict[str, Any] = scoring.sources(test_set, {})
    sources |= {f"traces:{own}": source for own, source in given.items()}
    notes = {system.name: _notes(system, tested) for system in systems}
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
    usage = {s.name: _usage(s, tested, scoring, evaluations[s.name], order, least) for s in systems}
    return TraceEvaluation(evaluations, runs, usage, notes, comparison, sources)


def _name_of(traces: Any) -> str:
    if isinstance(traces, str | os.PathLike):
        return os.path.basename(os.fspath(traces)).split(".")[0] or "traces"
    return str(getattr(traces, "name", "traces"))


def read_traces(source: Any, name: str = "traces", query_id: str | None = None) -> Traces:
    """Traces from whatever the caller has: themselves, a file, a collector, or what JSON holds of them."""
    if isinstance(source, str | os.PathLike):
        return load_traces(source, query_id=query_id)
    if isinstance(source, Traces):
        return source
    if isinstance(found := getattr(source, "traces", None), Traces):
        return found
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        listed = list(source)
        if all(isinstance(trace, Trace) for trace in listed):
            return Traces(listed, name=name)
        return traces_of(list(enumerate(listed, start=1)), name, query_id=query_id)
    raise DataError(
        f"{name}: a {type(source).__name__} is no traces; give a Traces, a TraceCollector, a list of traces, or the "
        "path of a file"
    )


def _bound(
    traces: Traces, name: str, tested: TestSet, order: Any, budgets: str | Sequence[str], *, alone: bool
) -> _System:
    bound = bind(traces, tested)
    if not bound.traces:
        example = next(iter(traces), None)
        told = "there is none" if example is None else f"such as {example.query_id or example.question!r}"
        raise DataError(
            f"{name}: no trace belongs to a query of the test set ({told}; the test set has {tested[0].id!r}): give "
            "each trace the query's id (query_id=), or the text of the query as its question"
        )
    runs = {
        str(budget) if alone else f"{name} {budget}": run_of(bound.traces, order, budget, name)
        for budget in budgets_of(budgets, bound.traces.values())
    }
    return _System(name, traces, bound, {**runs, name: run_of(bound.traces, order, None, name)})


def _notes(system: _System, tested: TestSet) -> list[Note]:
    """How many traces were bound, and what could not be."""
    bound, found = system.bound, []
    about = {"n": len(system.traces), "by_id": bound.by_id, "by_text": bound.by_text}
    found.append(Note("traces.bound", about))
    if bound.unbound:
        texts = [trace.query_id or trace.question or "?" for trace in bound.unbound[:_SHOWN]]
        values = {"n": len(bound.unbound), "all": len(system.traces), "examples": [repr(text) for text in texts]}
        found.append(Note("traces.unbound", values, "warning"))
    if bound.repeated:
        found.append(Note("traces.repeated", {"n": bound.repeated}, "warning"))
    if none := sum(not trace.calls for trace in bound.traces.values()):
        found.append(Note("traces.no_calls", {"n": none}, "warning"))
    return found


def _usage(system: _System, tested: TestSet, scoring: Scoring, whole: Evaluation, order: Order, rel: float) -> TraceUse:
    """Calls, documents, tokens and seconds of the questions, and what each call brought."""
    bound = system.bound.traces
    needed = evidence_of(tested, rel)
    merged = {query: _merged(trace, scoring.rule) for query, trace in bound.items()}
    complete = Counter(
        complete_at(merged[query].calls, groups) if query in merged else None for query, groups in needed.items()
    )
    most = max((len(trace.calls) for trace in bound.values()), default=0)
    numbers = range(1, min(most, _CALLS) + 1)
    by_call = [_call(system, whole, scoring, order, number, complete[number]) for number in numbers]
    return TraceUse(
        traces=len(system.traces),
        by_id=system.bound.by_id,
        by_text=system.bound.by_text,
        unbound=len(system.bound.unbound),
        repeated=system.bound.repeated,
        order=order,
        calls=dict(sorted(Counter(len(trace.calls) for trace in bound.values()).items())),
        documents=sum(len(united(trace.calls)) for trace in merged.values()) / len(bound),
        tokens=spent(trace.all_tokens for trace in bound.values()),
        seconds=spent(_seconds(trace) for trace in bound.values()),
        by_call=by_call,
        evidence=len(needed),
        never=complete[None],
    )


def _merged(trace: Trace, rule: str | Mapping[str, str] | Chunks | None) -> Trace:
    """The trace with documents in the place of their chunks."""
    if rule is None:
        return trace
    return replace(
        trace,
        calls=[
            replace(call, documents=[_document(doc, rule) for doc in call.documents], texts=()) for call in trace.calls
        ],
    )


def _document(chunk: str, rule: str | Mapping[str, str] | Chunks) -> str:
    if isinstance(rule, Chunks):
        rule = rule.parents
    if isinstance(rule, str):
        found = re.search(rule, chunk)
        return chunk if found is None else found.group(1 if found.re.groups else 0)
    return rule.get(chunk, chunk)


def _seconds(trace: Trace) -> float | None:
    known = [call.seconds for call in trace.calls]
    return sum(second for second in known if second is not None) if known and None not in known else None


def _call(system: _System, whole: Evaluation, scoring: Scoring, order: Order, number: int, complete: int) -> CallMeans:
    """The lists of the calls of this number, and the unions up to it."""
    having = {query: trace for query, trace in system.bound.traces.items() if len(trace.calls) >= number}
    own = {query: Trace([trace.calls[number - 1]]) for query, trace in having.items()}
    upto = {query: Trace(trace.calls[:number]) for query, trace in system.bound.traces.items()}
    alone, _ = scoring.opened(run_of(own, "calls", None, system.name), system.name)
    union, plan = scoring.opened(run_of(upto, order, None, system.name), system.name)
    judgments, _ = read_judgments(whole.test_set)
    skipped = plan.contract.with_changes(missing="skip")
    found, whole_so_far = (
        dict(zip(table.measures, table.aggregates.tolist(), strict=True))
        for table in (
            score(judgments, alone, plan.measures, skipped, texts=scoring.texts),
            score(judgments, union, plan.measures, plan.contract, texts=scoring.texts),
        )
    )
    return CallMeans(number, len(having), found, whole_so_far, complete)
