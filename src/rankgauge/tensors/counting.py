"""Measures that count, over arrays: as `rankgauge.measures.counting` and `.evidence` compute them.

Notation: h_k relevant documents among the first k, R relevant documents in all, n documents retrieved.
"""

from __future__ import annotations

import numpy as np

from rankgauge.measures import Measure
from rankgauge.tensors.ranking import Array, RankedArrays, depth_of

__all__ = ["left_in_ties"]


def hits(ranked: RankedArrays, measure: Measure) -> Array:
    return ranked.hits(measure.get("rel"), depth_of(measure, ranked))


def returned(ranked: RankedArrays, measure: Measure) -> Array:
    """min(k, n)."""
    n = ranked.retrieved
    return n if measure.at is None else ranked.xp.clip(n, max=float(measure.at))


def relevant_in_all(ranked: RankedArrays, measure: Measure) -> Array:
    return ranked.n_relevant(measure.get("rel"))


def precision(ranked: RankedArrays, measure: Measure) -> Array:
    if measure.get("over") == "returned":
        return ranked.ratio(hits(ranked, measure), returned(ranked, measure))
    return hits(ranked, measure) / float(measure.at or 1)


def recall(ranked: RankedArrays, measure: Measure) -> Array:
    total = relevant_in_all(ranked, measure)
    if measure.get("capped") and measure.at is not None:
        total = ranked.xp.clip(total, max=float(measure.at))
    return ranked.ratio(hits(ranked, measure), total)


def f_measure(ranked: RankedArrays, measure: Measure) -> Array:
    square = float(measure.get("beta")) ** 2
    total = relevant_in_all(ranked, measure)
    value = (1 + square) * hits(ranked, measure) / (square * total + float(measure.at or 1))
    return ranked.xp.where(total > 0, value, ranked.xp.zeros_like(value))


def success(ranked: RankedArrays, measure: Measure) -> Array:
    if ranked.ties is not None:
        return 1.0 - none_among_first(ranked, measure.get("rel"), depth_of(measure, ranked))
    return ranked.real(hits(ranked, measure) > 0)


def left_in_ties(ranked: RankedArrays, rel: float, *, from_below: bool = False) -> tuple[Array, Array]:
    """For every rank: the chance that its document is relevant where none of its group above it was, and that it is
    not. Or where none of its group below it was."""
    xp, ties = ranked.xp, ranked.ties
    assert ties is not None
    rank = ranked.xp.arange(ranked.width, dtype=ranked.index_type, device=ranked.device)
    step = ties.above + ties.tied - 1 - rank if from_below else rank - ties.above
    left = ranked.real(ties.tied - step)
    members = ranked.sums_in_ties(ranked.relevant(rel))[1]
    found = xp.clip(members / left, max=1.0)
    return found, 1.0 - found


def none_among_first(ranked: RankedArrays, rel: float, depth: int) -> Array:
    """Chance that no relevant document is among the first `depth`."""
    return ranked.xp.prod(left_in_ties(ranked, rel)[1][:, :depth], axis=1)


def all_among_first(ranked: RankedArrays, rel: float, depth: int) -> Array:
    """Chance that every relevant document of the list is among the first `depth`: none stands below."""
    return ranked.xp.prod(left_in_ties(ranked, rel, from_below=True)[1][:, depth:], axis=1)


def judged(ranked: RankedArrays, measure: Measure) -> Array:
    known = ranked.spread(ranked.real(ranked.grades > -ranked.xp.inf))
    return ranked.ratio(ranked.total(known, depth_of(measure, ranked)), returned(ranked, measure))


def unjudged(ranked: RankedArrays, measure: Measure) -> Array:
    known = ranked.total(ranked.spread(ranked.real(ranked.grades >= 0)), depth_of(measure, ranked))
    return (returned(ranked, measure) - known) / float(measure.at or 1)


def r_precision(ranked: RankedArrays, measure: Measure) -> Array:
    rel, mult = measure.get("rel"), float(measure.get("mult"))
    cut = ranked.by_count(("rprec", mult), ranked.n_relevant(rel), lambda n: np.floor(mult * n + 0.9))
    inside = ranked.ranks <= cut[:, None]
    found = ranked.spread(ranked.relevant(rel)) * ranked.real(inside)
    return ranked.ratio(ranked.total(found), cut)


def set_precision(ranked: RankedArrays, measure: Measure) -> Array:
    return ranked.ratio(hits(ranked, measure), returned(ranked, measure))


def set_relative_precision(ranked: RankedArrays, measure: Measure) -> Array:
    best = ranked.xp.minimum(ranked.retrieved, ranked.n_relevant(measure.get("rel")))
    return ranked.ratio(hits(ranked, measure), best)


def set_f(ranked: RankedArrays, measure: Measure) -> Array:
    weight = float(measure.get("beta"))
    p, r = set_precision(ranked, measure), recall(ranked, measure)
    return ranked.ratio((weight + 1) * p * r, r + weight * p)


def set_ap(ranked: RankedArrays, measure: Measure) -> Array:
    found = hits(ranked, measure)
    return ranked.ratio(found * found, returned(ranked, measure) * relevant_in_all(ranked, measure))


def accuracy(ranked: RankedArrays, measure: Measure) -> Array:
    xp, rel, depth = ranked.xp, measure.get("rel"), depth_of(measure, ranked)
    relevant = ranked.relevant(rel)
    found = ranked.total(relevant, depth)
    wrong = returned(ranked, measure) - found
    above = ranked.total(relevant * (ranked.ranks - ranked.so_far(rel)), depth)
    pairs = found * wrong
    share = xp.where(pairs > 0, 1.0 - ranked.ratio(above, pairs), xp.ones_like(pairs))
    return xp.where(found > 0, share, xp.zeros_like(share))


def number_retrieved(ranked: RankedArrays, measure: Measure) -> Array:
    return ranked.retrieved if measure.get("rel") is None else hits(ranked, measure)


def number_nonrelevant_judged_retrieved(ranked: RankedArrays, measure: Measure) -> Array:
    return ranked.total(ranked.real((ranked.grades >= 0) & (ranked.grades < measure.get("rel"))))


def number_of_queries(ranked: RankedArrays, measure: Measure) -> Array:
    return ranked.full(1.0)


def utility(ranked: RankedArrays, measure: Measure) -> Array:
    found = hits(ranked, measure)
    kept = measure.get("hit") * found + measure.get("noise") * (ranked.retrieved - found)
    return kept + measure.get("miss") * (relevant_in_all(ranked, measure) - found)


def all_relevant(ranked: RankedArrays, measure: Measure) -> Array:
    """Each relevant document is a group of its own: where groups are asked for, every one has to be there too."""
    xp, rel, depth = ranked.xp, measure.get("rel"), depth_of(measure, ranked)
    total = ranked.n_relevant(rel)
    if ranked.ties is None:
        return ranked.real((total > 0) & (ranked.hits(rel, depth) == total))
    retrieved = ranked.total(ranked.relevant(rel)) == total
    chance = all_among_first(ranked, rel, depth)
    return xp.where(retrieved & (total > 0), chance, xp.zeros_like(chance))


def exact_set(ranked: RankedArrays, measure: Measure) -> Array:
    xp, found = ranked.xp, all_relevant(ranked, measure)
    same = returned(ranked, measure) == relevant_in_all(ranked, measure)
    return xp.where(same, found, xp.zeros_like(found))


def handled(ranked: RankedArrays, measure: Measure) -> Array:
    given = ranked.retrieved > 0
    threshold = measure.get("threshold")
    if threshold is not None:
        given = given & (ranked.top >= threshold)
    answered = ranked.real(given)
    return answered if measure.at is None else answered * success(ranked, measure)
