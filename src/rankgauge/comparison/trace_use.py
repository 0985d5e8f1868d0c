"""What the calls of traces took and brought: call by call, and until all evidence was there."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rankgauge.comparison.bound_traces import BoundSystem
from rankgauge.engine.chunks import Rule, parents_by
from rankgauge.engine.scoring import score
from rankgauge.evaluation import Evaluation, Scoring, read_judgments
from rankgauge.evaluation.traces import (
    Order,
    complete_at,
    evidence_of,
    run_of,
    spent,
    united,
)
from rankgauge.model.testset import TestSet
from rankgauge.model.traces import Trace
from rankgauge.record.traces import CallMeans, TraceUse

__all__ = ["usage_of"]

_CALLS = 10
"""Calls whose lists are scored one by one."""


def usage_of(
    system: BoundSystem, tested: TestSet, scoring: Scoring, whole: Evaluation, order: Order, rel: float
) -> TraceUse:
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


def _merged(trace: Trace, rule: Rule | None) -> Trace:
    """The trace with documents in the place of their chunks."""
    if rule is None:
        return trace
    parent = parents_by(rule)[0]
    calls = [replace(one, documents=[parent(doc) or doc for doc in one.documents], texts=()) for one in trace.calls]
    return replace(trace, calls=calls)


def _seconds(trace: Trace) -> float | None:
    known = [call.seconds for call in trace.calls]
    return sum(second for second in known if second is not None) if known and None not in known else None


def _call(
    system: BoundSystem, whole: Evaluation, scoring: Scoring, order: Order, number: int, complete: int
) -> CallMeans:
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
