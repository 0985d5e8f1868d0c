"""Checks that take runs: how far the judgments reach, and what the queries can tell of systems."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from rankgauge.errors import DataError
from rankgauge.stats.power import detectable_difference, queries_needed
from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material
from rankgauge.testsets.lint.registry import check

__all__ = ["coverage", "foreign_runs", "pool", "saturation", "size"]

_LOW, _GAP = 0.5, 0.15  # of Judged@k: too little of one list, and too far below that of another
_ALL, _OTHERS = 0.99, 0.8  # shares of the judged documents in the list that they come from, and in the others
_MANY = 0.3  # share of the queries that tell nothing, from which on it is more than good to know


@check("runs")
def foreign_runs(material: Material) -> Iterator[Finding]:
    """Runs that hold none of the judged queries or documents: their ids are of another kind."""
    judged = {doc for query in material.test_set for doc in query.grades}
    for name, run in material.runs.items():
        queries = [query for query in run.queries if query in material.by_id]
        if not queries:
            item = {"run": name, "there": next(iter(run.queries), ""), "id": material.test_set[0].id}
            yield Finding("foreign_queries", "error", [item])
        elif judged and not any(doc in judged for query in queries for doc in run[query]):
            there = next((doc for query in queries for doc in run[query]), "")
            yield Finding("foreign_documents", "error", [{"run": name, "there": there, "id": min(judged)}])


@check("runs", "graded")
def coverage(material: Material) -> Iterator[Finding]:
    """Systems whose first documents are judged too little: what they alone found counts as a miss."""
    shares = {name: one.judged for name, one in material.scored.items() if one.judged is not None}
    if not shares:
        return
    best = max(shares.values())
    low = [
        {"run": name, "share": share, "best": best}
        for name, share in sorted(shares.items(), key=lambda pair: pair[1])
        if share < _LOW or best - share > _GAP
    ]
    if low:
        yield Finding("unjudged", "warning", low, {"of": len(shares)})


@check("runs")
def pool(material: Material) -> Iterator[Finding]:
    """Judgments that all come from the list of one system: whatever another one finds beyond it is not judged."""
    judged = [(query.id, doc) for query in material.answerable for doc in query.grades]
    if not judged:
        return
    lists = {
        name: {query.id: run[query.id] for query in material.answerable if query.id in run}
        for name, run in material.runs.items()
    }
    shares = {
        name: sum(doc in own.get(query, ()) for query, doc in judged) / len(judged) for name, own in lists.items()
    }
    first, *others = sorted(shares, key=lambda name: -shares[name])
    if shares[first] < _ALL:
        return
    if not others:
        yield Finding("in_one_run", "info", [{"run": first, "share": shares[first]}])
    elif shares[others[0]] < _OTHERS:
        item = {"run": first, "share": shares[first], "next": others[0], "share_next": shares[others[0]]}
        yield Finding("one_pool", "warning", [item])


@check("two_runs")
def saturation(material: Material) -> Iterator[Finding]:
    """Queries that every system answers perfectly, and queries that none answers at all."""
    scores, counted = material.every_system
    names = np.array(material.queries_scored(), dtype=object)
    n = int(counted.sum())
    told = {"systems": len(scores), "measure": material.measure, "of": n}
    for kind, alike in (("hopeless", (scores == 0).all(axis=0)), ("saturated", (scores == 1).all(axis=0))):
        own = [query for query in names[alike & counted] if material.by_id[query].relevant]
        if own:
            many = len(own) > _MANY * n
            items = [{"query": query} for query in own]
            yield Finding(kind, "warning" if many else "info", items, told)


@check("two_runs")
def size(material: Material) -> Iterator[Finding]:
    """What difference the queries find, or whether they find the one that matters; from the pair of runs whose
    differences spread most in the middle of all pairs."""
    scores, counted = material.every_system
    n = int(counted.sum())
    pairs = [scores[a, counted] - scores[b, counted] for a, b in combinations(range(len(scores)), 2)]
    spreads = sorted(float(own.std(ddof=1)) for own in pairs if n > 1)
    if not spreads or spreads[len(spreads) // 2] <= 0:
        return
    spread = spreads[len(spreads) // 2]
    found = detectable_difference(spread, n)
    told = {"measure": material.measure, "queries": n, "spread": spread, "found": found}
    if material.difference is None:
        yield Finding("resolution", "info", parameters=told)
        return
    try:
        needed = queries_needed(material.difference, spread)
    except DataError:
        return  # more than there are in the world
    if needed > n:
        command = f"rankgauge power --sd {spread:.3f} --difference {material.difference:g}"
        told |= {"wanted": material.difference, "needed": needed}
        yield Finding("too_few", "warning", [told], told, command=command)
