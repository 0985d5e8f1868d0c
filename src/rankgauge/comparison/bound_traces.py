"""Traces of one system, from whatever the caller has, bound to the queries of a test set."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import DataError
from rankgauge.evaluation.traces import Bound, bind, budgets_of, run_of
from rankgauge.formats.traces import load_traces, traces_of
from rankgauge.model.frames import is_frame, to_polars
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.model.traces import Trace, Traces
from rankgauge.record import Note

__all__ = ["BoundSystem", "bound_system", "name_of_traces", "notes_on_binding", "read_traces"]

_SHOWN = 3


@dataclass(frozen=True)
class BoundSystem:
    """The traces of one system, bound."""

    name: str
    traces: Traces
    bound: Bound
    runs: dict[str, Run]
    """Its union, and that within each budget, by the name of the system that stands for it."""


def name_of_traces(traces: Any) -> str:
    if isinstance(traces, str | os.PathLike):
        return os.path.basename(os.fspath(traces)).split(".")[0] or "traces"
    name = getattr(traces, "name", None)  # of a data frame, a column
    return name if isinstance(name, str) else "traces"


def read_traces(source: Any, name: str = "traces", query_id: str | None = None) -> Traces:
    """Traces from whatever the caller has: themselves, a file, a collector, a data frame of spans, or what JSON holds
    of them."""
    if isinstance(source, str | os.PathLike):
        return load_traces(source, query_id=query_id)
    if isinstance(source, Traces):
        return source
    if isinstance(found := getattr(source, "traces", None), Traces):
        return found
    if is_frame(source):
        if getattr(getattr(source, "index", None), "name", None) is not None:
            source = source.reset_index()  # Phoenix gives frames whose index is the id of the span
        return traces_of(list(enumerate(to_polars(source).to_dicts(), start=1)), name, query_id=query_id)
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        listed = list(source)
        if all(isinstance(trace, Trace) for trace in listed):
            return Traces(listed, name=name)
        return traces_of(list(enumerate(listed, start=1)), name, query_id=query_id)
    raise DataError(
        f"{name}: a {type(source).__name__} is no traces; give a Traces, a TraceCollector, a list of traces, a data "
        "frame of spans, or the path of a file"
    )


def bound_system(
    traces: Traces, name: str, tested: TestSet, order: Any, budgets: str | Sequence[str], *, alone: bool
) -> BoundSystem:
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
    return BoundSystem(name, traces, bound, {**runs, name: run_of(bound.traces, order, None, name)})


def notes_on_binding(system: BoundSystem, tested: TestSet) -> list[Note]:
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
    whole = _empty(system.runs[system.name])
    for name, run in system.runs.items():
        if (cut := _empty(run) - whole) > 0:
            found.append(Note("traces.nothing_fits", {"system": name, "n": cut, "asked": len(bound.traces)}, "warning"))
    return found


def _empty(run: Run) -> int:
    return sum(not docs for docs in run.to_dict().values())
