"""Is all that a gate reads of a record there, of the right kind, and without contradiction? A damaged record is named
before it is judged."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rankgauge.errors import FormatError
from rankgauge.gate.targets import LARGEST

__all__ = ["check_parts", "contradictions"]


def check_parts(record: Mapping[str, Any], name: str) -> None:
    """Raise `FormatError` with every fault of the parts that a gate reads."""
    faults = list(_faults(record))
    if faults:
        raise FormatError(name, [f"{fault}: the record is damaged" for fault in faults])


def _faults(record: Mapping[str, Any]) -> Iterator[str]:
    if not _is_time(record.get("created")):
        yield f"'created' is {record.get('created')!r}, which is no time"
    if "contract" not in record:
        yield "there is no contract"
    if not isinstance(record["provenance"].get("inputs", {}), Mapping):
        yield "the inputs are no table"
    if not _texts(record["queries"]):
        yield "the queries are no list of texts"
    tags = record.get("tags", {})
    if not isinstance(tags, Mapping) or not all(_texts(value) for value in tags.values()):
        yield "the tags are no lists of texts"
    measures: list[Any] = [entry.get("name") for entry in record["measures"] if isinstance(entry, Mapping)]
    kinds = [entry.get("aggregate") for entry in record["measures"] if isinstance(entry, Mapping)]
    if len(measures) < len(record["measures"]) or not _texts(measures) or not _texts(kinds):
        yield "the measures lack their names"
        return
    if not record["systems"]:
        yield "there is no system"
    whole = _texts(record["queries"])
    for system in record["systems"]:
        for fault in (*_scores(system, measures, len(record["queries"])), *_calls(system)):
            whole = False
            yield f"system {system['name']!r}, {fault}"
    if whole:
        yield from contradictions(record)


def contradictions(record: Mapping[str, Any]) -> Iterator[str]:
    """Where a record with all its parts says two things at once: a query twice, a mean that is not its scores'."""
    queries: list[str] = record["queries"]
    query, times = next(iter(Counter(queries).most_common(1)), ("", 0))
    if times > 1:
        yield f"query {query!r} stands twice"
    names = [system["name"] for system in record["systems"]]
    if len(set(names)) < len(names):
        yield "two systems have the same name"
    import numpy as np

    from rankgauge.engine.averaging import aggregate  # here, for it takes numpy, which a list does without
    from rankgauge.measures.measure import AGGREGATES

    hows = {about["name"]: about["aggregate"] for about in record["measures"] if about["aggregate"] in AGGREGATES}
    for system in record["systems"]:
        for measure, how in hows.items():
            told, values = system["means"].get(measure), system["per_query"].get(measure)
            if told is None or not values:
                continue
            counted = system["counted"].get(measure) or [True] * len(values)
            kept = [value for value, counts in zip(values, counted, strict=True) if counts]
            found = aggregate(how, np.array(kept, dtype=np.float64))
            if kept and not math.isclose(found, told["value"], rel_tol=1e-9, abs_tol=1e-12):
                what, said = {"geometric": "geometric mean"}.get(how, how), told["value"]
                yield f"system {system['name']!r}, {measure}: the {what} is {said:.6g}, its scores' {found:.6g}"


def _is_time(text: Any) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return False
    return True


def _scores(system: Mapping[str, Any], measures: list[str], n: int) -> Iterator[str]:
    for measure in measures:
        mean = system["means"].get(measure)
        told = mean if isinstance(mean, Mapping) else {}
        whole = _number(told.get("value")) and isinstance(told.get("queries"), int)
        if not whole or not _numbers(told.get("interval") or {}, ("low", "high")):
            yield f"{measure}: no mean"
        values = system["per_query"].get(measure)
        if n and not (isinstance(values, list) and len(values) == n):
            yield f"{measure}: not {n} scores"
            continue
        counted = system["counted"].get(measure)
        counts = counted if isinstance(counted, list) and len(counted) == n else [True] * n
        if counted is not None and not (isinstance(counted, list) and len(counted) == n):
            yield f"{measure}: not told which queries count"
        if n and any(counts[i] and not _number(value) for i, value in enumerate(values or [])):
            yield f"{measure}: a score is no number"


def _calls(system: Mapping[str, Any]) -> Iterator[str]:
    coverage, calls = system.get("coverage"), system.get("calls")
    if coverage is not None:
        judged = coverage.get("judged_at") if isinstance(coverage, Mapping) else ""
        if not _numbers({} if judged is None else judged, judged or ()):
            yield "coverage: not what it should be"
    if calls is not None:
        latency = calls.get("latency") if isinstance(calls, Mapping) else ""
        failed = calls.get("failed") if isinstance(calls, Mapping) else None
        wanted = ("count", "concurrency", "mean", "p50", "p95", "p99")
        timed = latency is None or (isinstance(latency, Mapping) and all(_number(latency.get(key)) for key in wanted))
        if not timed or not _texts(failed):
            yield "calls: not what it should be"


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _numbers(table: Any, keys: Any) -> bool:
    """A table whose values at the keys are numbers where they are there at all."""
    return isinstance(table, Mapping) and all(table.get(key) is None or _number(table[key]) for key in keys)
