"""Measures that count: precision, recall, success, set measures and plain counts.

Notation: h_k relevant documents among the first k, R relevant documents in all, n documents retrieved.
"""

from __future__ import annotations

import numpy as np

from rankgauge.errors import MeasureError
from rankgauge.measures.measure import Measure
from rankgauge.measures.parameters import depth_of
from rankgauge.measures.ties import probability_of_none
from rankgauge.model.ranked import Floats, RankedGrades

__all__: list[str] = []


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Numerator over denominator, 0 where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, 0.0)


def hits(ranked: RankedGrades, measure: Measure) -> Floats:
    """h_k: relevant documents among the first k (all of them without a depth)."""
    depth = depth_of(measure, ranked)
    rel = measure.get("rel")
    key = ("hits", depth, rel)
    return ranked.cached(key, lambda: ranked.count(depth, ranked.relevant(rel)))


def returned(ranked: RankedGrades, measure: Measure) -> Floats:
    """min(k, n)."""
    n = ranked.retrieved
    return (n if measure.at is None else np.minimum(n, int(measure.at))).astype(np.float64)


def relevant_in_all(ranked: RankedGrades, measure: Measure) -> Floats:
    return ranked.n_relevant(measure.get("rel")).astype(np.float64)


def precision(ranked: RankedGrades, measure: Measure) -> Floats:
    if measure.get("over") == "returned":
        return ratio(hits(ranked, measure), returned(ranked, measure))
    return hits(ranked, measure) / float(measure.at or 1)


def p_caution(measure: Measure) -> str | None:
    return "over_returned" if measure.get("over") == "returned" else None


def recall(ranked: RankedGrades, measure: Measure) -> Floats:
    total = relevant_in_all(ranked, measure)
    budget = measure.get("budget")
    if budget is not None:
        fits = ranked.prefix[f"budget={budget}"]
        inside = np.clip(fits[ranked.owner] - ranked.above, 0, ranked.tied) / ranked.tied
        return ratio(ranked.total(inside, ranked.relevant(measure.get("rel"))), total)
    if measure.get("capped") and measure.at is not None:
        total = np.minimum(total, float(measure.at))
    return ratio(hits(ranked, measure), total)


def check_recall(measure: Measure) -> None:
    others = measure.at is not None or measure.get("capped") or measure.get("judged_only")
    if measure.get("budget") is not None and others:
        raise MeasureError("R(budget=...) takes no depth, capped or judged_only: the budget is what cuts the list")
    if measure.get("capped") and measure.at is None:
        raise MeasureError("R(capped=True) needs a depth: write R(capped=True)@10")


def f_measure(ranked: RankedGrades, measure: Measure) -> Floats:
    square = float(measure.get("beta")) ** 2
    total = relevant_in_all(ranked, measure)
    return np.where(total > 0, (1 + square) * hits(ranked, measure) / (square * total + float(measure.at or 1)), 0.0)


def success(ranked: RankedGrades, measure: Measure) -> Floats:
    if ranked.has_ties:
        return 1.0 - probability_of_none(ranked, measure.get("rel"), depth_of(measure, ranked))
    return (hits(ranked, measure) > 0).astype(np.float64)


def judged(ranked: RankedGrades, measure: Measure) -> Floats:
    depth = depth_of(measure, ranked)
    return ratio(ranked.count(depth), returned(ranked, measure))


def unjudged(ranked: RankedGrades, measure: Measure) -> Floats:
    depth = depth_of(measure, ranked)
    known = ranked.count(depth, ranked.grades >= 0)
    return (returned(ranked, measure) - known) / float(measure.at or 1)


def r_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    total = ranked.n_relevant(measure.get("rel"))
    cut = np.floor(float(measure.get("mult")) * total + 0.9).astype(np.int64)
    reach = np.minimum(cut, ranked.deepest)[ranked.owner]
    inside = np.clip(reach - ranked.above, 0, ranked.tied) / ranked.tied
    return ratio(ranked.total(inside, ranked.relevant(measure.get("rel"))), cut.astype(np.float64))


def set_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    return ratio(hits(ranked, measure), returned(ranked, measure))


def set_relative_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    best = np.minimum(ranked.retrieved, ranked.n_relevant(measure.get("rel"))).astype(np.float64)
    return ratio(hits(ranked, measure), best)


def set_f(ranked: RankedGrades, measure: Measure) -> Floats:
    weight = float(measure.get("beta"))
    p, r = set_precision(ranked, measure), recall(ranked, measure)
    return ratio((weight + 1) * p * r, r + weight * p)


def set_ap(ranked: RankedGrades, measure: Measure) -> Floats:
    found = hits(ranked, measure)
    return ratio(found * found, returned(ranked, measure) * relevant_in_all(ranked, measure))


def accuracy(ranked: RankedGrades, measure: Measure) -> Floats:
    rel = measure.get("rel")
    relevant = ranked.relevant(rel) & (ranked.ranks <= (measure.at or np.iinfo(np.int64).max))
    found = ranked.total(np.ones(len(ranked.grades)), relevant)
    wrong = returned(ranked, measure) - found
    before = ranked.total(
        (ranked.ranks - ranked.so_far(relevant, ("accuracy", rel, measure.at))).astype(float), relevant
    )
    pairs = found * wrong
    return np.where(found == 0, 0.0, np.where(pairs == 0, 1.0, 1.0 - ratio(before, pairs)))


def number_retrieved(ranked: RankedGrades, measure: Measure) -> Floats:
    if measure.get("rel") is None:
        return ranked.retrieved.astype(np.float64)
    return hits(ranked, measure)


def number_nonrelevant_judged_retrieved(ranked: RankedGrades, measure: Measure) -> Floats:
    return ranked.count(ranked.deepest, ~ranked.relevant(measure.get("rel")) & (ranked.grades >= 0))


def number_of_queries(ranked: RankedGrades, measure: Measure) -> Floats:
    return np.ones(len(ranked))


def utility(ranked: RankedGrades, measure: Measure) -> Floats:
    found = hits(ranked, measure)
    kept: Floats = measure.get("hit") * found + measure.get("noise") * (ranked.retrieved - found)
    missed: Floats = measure.get("miss") * (relevant_in_all(ranked, measure) - found)
    return kept + missed
