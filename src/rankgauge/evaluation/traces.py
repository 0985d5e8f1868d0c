"""Traces beside a test set: which query each belongs to, its calls as one list, and what each call brought."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from rankgauge.errors import DataError, counted
from rankgauge.model.lengths import length_of
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.model.traces import Call, Trace, Traces
from rankgauge.record.traces import Spent
from rankgauge.stats.latency import percentile

__all__ = [
    "ORDERS",
    "Bound",
    "Budget",
    "Order",
    "bind",
    "budgets_of",
    "complete_at",
    "counted_tokens",
    "evidence_of",
    "run_of",
    "spent",
    "united",
]

Order = Literal["calls", "ranks", "rrf"]
ORDERS: tuple[Order, ...] = get_args(Order)
_RRF = 60
_MOST = 5
"""Budgets of calls that the word `calls` stands for."""
_BUDGET = re.compile(r"^(calls|documents|tokens)\s*(?:<=|≤|=<)\s*(\d+)$")


@dataclass(frozen=True)
class Bound:
    """The first trace of each query, and how it was found."""

    traces: dict[str, Trace]
    by_id: int
    by_text: int
    unbound: list[Trace]
    repeated: int


def bind(traces: Traces, test_set: TestSet) -> Bound:
    """Traces by query: by the query's id where the trace tells it, else by the text of its question, up to white space.

    A text that several queries have binds nothing. Of several traces of a query the first counts.
    """
    ids = {query.id for query in test_set}
    texts: dict[str, list[str]] = {}
    for query in test_set:
        texts.setdefault(_plain(query.text), []).append(query.id)
    found: dict[str, Trace] = {}
    unbound, counts = [], Counter[str]()
    for trace in traces:
        how, own = "by_id", trace.query_id if trace.query_id in ids else None
        if own is None:
            same = texts.get(_plain(trace.question), []) if trace.question.strip() else []
            how, own = "by_text", same[0] if len(same) == 1 else None
        if own is None:
            unbound.append(trace)
        elif own in found:
            counts["repeated"] += 1
        else:
            found[own] = trace
            counts[how] += 1
    return Bound(found, counts["by_id"], counts["by_text"], unbound, counts["repeated"])


def _plain(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class Budget:
    """What of a trace counts: its first calls, the first documents of their union, or calls whose tokens fit."""

    kind: Literal["calls", "documents", "tokens"]
    most: int

    def __str__(self) -> str:
        return f"{self.kind}<={self.most}"


def budgets_of(given: str | Sequence[str], traces: Iterable[Trace]) -> list[Budget]:
    """Budgets as they are written, `calls<=2`; the word `calls` alone stands for each number below the most there are,
    up to 5."""
    if not isinstance(given, Iterable):
        raise DataError(f"`budgets` must be a text such as 'calls<=2', or a list of them, not {given!r}"[:200])
    made: list[Budget] = []
    for text in [given] if isinstance(given, str) else given:
        if not isinstance(text, str):
            raise DataError(f"a budget is a text such as 'calls<=2', not {text!r}")
        found = _BUDGET.match(text.strip())
        if text.strip() == "calls":
            most = max((len(trace.calls) for trace in traces), default=0)
            made += [Budget("calls", n) for n in range(1, min(most, _MOST + 1))]
        elif found is None or int(found[2]) < 1:
            raise DataError(f"{text!r} is no budget; write calls<=2, documents<=20 or tokens<=4000, or calls for each")
        else:
            made.append(Budget(found[1], int(found[2])))  # type: ignore[arg-type]
    return list(dict.fromkeys(made))


def counted_tokens(trace: Trace, tokenizer: Callable[[str], int] | None) -> Trace:
    """The trace with the tokens of those calls counted that have texts and no number."""
    if tokenizer is None:
        return trace

    def counted(call: Call) -> Call:
        if call.tokens is not None or not call.texts:
            return call
        return replace(call, tokens=sum(length_of(text, tokenizer) for text in call.texts))

    return replace(trace, calls=list(map(counted, trace.calls)))


def _within(trace: Trace, budget: Budget | None) -> Sequence[Call]:
    """The calls that count."""
    if budget is None or budget.kind == "documents":
        return trace.calls
    if budget.kind == "calls":
        return trace.calls[: budget.most]
    used, kept = 0.0, 0
    for call in trace.calls:
        used += 0.0 if call.tokens is None and not call.documents else call.tokens or 0.0
        if used > budget.most:
            break
        kept += 1
    return trace.calls[:kept]


def united(calls: Sequence[Call], order: Order = "calls") -> list[str]:
    """The documents of several calls as one list, each once.

    calls  those of the first call, then what the second brought that is new, ...: the order in which they were seen
    ranks  by their best rank in any call; of equal ranks the earlier call comes first
    rrf    by the sum over calls of 1 / (60 + rank); of equal sums the one that was seen first
    """
    seen = dict.fromkeys(doc for call in calls for doc in call.documents)
    if order == "calls":
        return list(seen)
    scores: dict[str, float] = dict.fromkeys(seen, 0.0)
    best: dict[str, tuple[int, int]] = {}
    for number, call in enumerate(calls):
        for rank, doc in enumerate(call.documents, start=1):
            scores[doc] += 1 / (_RRF + rank)
            best[doc] = min(best.get(doc, (rank, number)), (rank, number))
    if order == "ranks":
        return sorted(seen, key=best.__getitem__)
    return sorted(seen, key=lambda doc: -scores[doc])


def run_of(traces: Mapping[str, Trace], order: Order = "calls", budget: Budget | None = None, name: str = "run") -> Run:
    """The unions as a run; a question without a call has an empty list."""
    if budget is not None and budget.kind == "tokens":
        without = [call for trace in traces.values() for call in trace.calls if call.tokens is None and call.documents]
        if without:
            raise DataError(
                f'{budget}: {counted(len(without), "call")} of {name} without a number of tokens; give "tokens" in the '
                "traces, or `tokenizer=` for traces that hold the texts"
            )
    lists: dict[str, list[str]] = {}
    for query, trace in traces.items():
        lists[query] = united(_within(trace, budget), order)
        if budget is not None and budget.kind == "documents":
            del lists[query][budget.most :]
    return Run(
        {query: {doc: float(len(docs) - i) for i, doc in enumerate(docs)} for query, docs in lists.items()}, name=name
    )


def complete_at(calls: Sequence[Call], needed: Sequence[frozenset[str]]) -> int | None:
    """The number of the call after which every group of evidence had one of its documents; None where none was."""
    left = list(needed)
    for number, call in enumerate(calls, start=1):
        seen = set(call.documents)
        left = [group for group in left if not group & seen]
        if not left:
            return number
    return None


def evidence_of(test_set: TestSet, rel: float) -> dict[str, list[frozenset[str]]]:
    """What each query needs: one document of each group, or, without groups, every relevant document."""
    found = {}
    for query in test_set:
        relevant = {doc for doc, grade in query.grades.items() if grade >= rel}
        groups = [frozenset(docs) & relevant for docs in query.groups.values()] or [frozenset([d]) for d in relevant]
        if any(groups):
            found[query.id] = [group for group in groups if group]
    return found


def spent(values: Iterable[float | None]) -> Spent | None:
    """What the questions that tell it took."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    return Spent(len(known), sum(known) / len(known), percentile(known, 0.5), percentile(known, 0.95))
