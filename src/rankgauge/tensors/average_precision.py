"""Average precision, its relatives and the reciprocal rank, over arrays: as `rankgauge.measures.average_precision`."""

from __future__ import annotations

import numpy as np

from rankgauge.measures import Measure
from rankgauge.measures.average_precision import INFAP_EPSILON, recall_points
from rankgauge.tensors.counting import left_in_ties
from rankgauge.tensors.ranking import Array, RankedArrays, depth_of

__all__: list[str] = []


def reciprocal_rank(ranked: RankedArrays, measure: Measure) -> Array:
    """1 / rank of the first relevant document. Where ties are open, sum over ranks i of P(the first is at i) / i."""
    xp, rel, depth = ranked.xp, measure.get("rel"), depth_of(measure, ranked)
    if ranked.ties is None:
        return xp.max(ranked.relevant(rel)[:, :depth] / ranked.ranks[:depth], axis=1)
    found, missed = left_in_ties(ranked, rel)
    reach = xp.cumulative_prod(missed, axis=1)
    first = xp.concat((ranked.full(1.0, 1), reach[:, :-1]), axis=1) * found
    return ranked.total(first / ranked.ranks, depth)


def average_precision(ranked: RankedArrays, measure: Measure) -> Array:
    xp, rel, depth = ranked.xp, measure.get("rel"), depth_of(measure, ranked)
    total = ranked.n_relevant(rel)
    if measure.get("norm") == "min" and measure.at is not None:
        total = xp.clip(total, max=float(measure.at))
    relevant = ranked.relevant(rel)
    worth = relevant
    if measure.get("grades") == "linear":
        top = float(measure.get("max_grade"))
        worth = relevant * xp.clip(ranked.grades, min=0.0) / top
    sums = ranked.cached(
        ("precision_sum", rel, depth, measure.get("grades"), measure.get("max_grade")),
        lambda: ranked.total(ranked.spread(worth) * _expected_found(ranked, rel) / ranked.ranks, depth),
    )
    return ranked.ratio(sums, total)


def _expected_found(ranked: RankedArrays, rel: float) -> Array:
    """Relevant documents down to each rank; where ties are open, what is expected of them if that rank holds one.

    In a group of t documents after c relevant ones, r of them relevant, step j: c + 1 + j (r - 1) / (t - 1).
    """
    if ranked.ties is None:
        return ranked.so_far(rel)
    before, members = ranked.sums_in_ties(ranked.relevant(rel))
    step = ranked.ranks - 1.0 - ranked.real(ranked.ties.above)
    others = ranked.xp.clip(ranked.real(ranked.ties.tied) - 1.0, min=1.0)
    return before + 1.0 + step * (members - 1.0) / others


def inferred_ap(ranked: RankedArrays, measure: Measure) -> Array:
    xp, rel = ranked.xp, measure.get("rel")
    relevant, ranks = ranked.relevant(rel), ranked.ranks
    found = ranked.so_far(rel) - 1.0
    in_pool = ranked.running(ranked.real(ranked.grades > -xp.inf)) - 1.0
    known = ranked.running(ranked.real(ranked.grades >= 0)) - 1.0
    estimate = (found + INFAP_EPSILON) / (xp.clip(known, min=0.0) + 2 * INFAP_EPSILON)
    inferred = 1.0 / ranks + in_pool / ranks * estimate
    inferred = xp.where(ranks == 1.0, xp.ones_like(inferred), inferred)
    return ranked.ratio(ranked.total(relevant * inferred), ranked.n_relevant(rel))


def binary_preference(ranked: RankedArrays, measure: Measure) -> Array:
    xp, rel = ranked.xp, measure.get("rel")
    total = ranked.n_relevant(rel)[:, None]
    in_all = ranked.count(ranked.judged >= 0)[:, None] - total
    nonrelevant = ranked.running(ranked.real((ranked.grades >= 0) & (ranked.grades < rel)))
    lost = ranked.ratio(xp.minimum(nonrelevant, total), xp.broadcast_to(xp.minimum(in_all, total), nonrelevant.shape))
    return ranked.ratio(ranked.total(ranked.relevant(rel) * (1.0 - lost)), total[:, 0])


def _interpolated(ranked: RankedArrays, rel: float, level: float, rule: str) -> Array:
    """max P@i over the ranks i at which enough relevant documents were found for the recall level."""
    more = 0.9 if rule == "trec_eval9" else 0.5
    cut = ranked.by_count(("recall", level, more), ranked.n_relevant(rel), lambda n: np.floor(level * n + more))
    found = ranked.so_far(rel)
    precise = ranked.cached(("precisions", rel), lambda: ranked.relevant(rel) * found / ranked.ranks)
    return ranked.xp.max(precise * ranked.real(found >= cut[:, None]), axis=1)


def interpolated_precision(ranked: RankedArrays, measure: Measure) -> Array:
    return _interpolated(ranked, measure.get("rel"), float(measure.at or 0), measure.get("rule"))


def average_interpolated_precision(ranked: RankedArrays, measure: Measure) -> Array:
    points = recall_points(measure)
    levels = [_interpolated(ranked, measure.get("rel"), level, measure.get("rule")) for level in points]
    return sum(levels[1:], start=levels[0]) / len(points)
