"""Measures of cumulated gain and of cascades, over arrays: as `rankgauge.measures.gain`.

Notation: g_i grade of document i (0 if unjudged), gain(g) = g or 2^g - 1, discount 1 / log2(i + 1).
"""

from __future__ import annotations

import numpy as np

from rankgauge.errors import DataError
from rankgauge.measures import Measure
from rankgauge.measures.parameters import check_top
from rankgauge.model.ranked import Floats
from rankgauge.tensors.ranking import Array, RankedArrays, depth_of

__all__: list[str] = []

_MOST_LEVELS = 16
"""So many grades are counted one by one where the ideal list is asked for; more are sorted."""


def gain_of(ranked: RankedArrays, grades: Array, measure: Measure) -> Array:
    """Gain of each grade. Negative grades gain nothing."""
    xp = ranked.xp
    known = xp.clip(grades, min=0.0)
    gains = known
    if measure.get("gain") == "exp":
        _check_exponent(ranked, measure)
        gains = xp.pow(xp.full_like(known, 2.0), known) - 1.0
    for grade, gain in measure.get("gains") or ():
        gains = xp.where(grades == grade, xp.full_like(gains, gain), gains)
    return gains


def _check_exponent(ranked: RankedArrays, measure: Measure) -> None:
    digits = 128 if ranked.dtype == ranked.xp.float32 else 1024
    if ranked.top_grade >= digits:
        precision = "float32" if digits == 128 else "float64"
        raise DataError(
            f"{measure}: grade {ranked.top_grade:g} is too large for an exponential gain in {precision}; use "
            "gain='linear'"
        )


def _key(measure: Measure) -> tuple[object, ...]:
    return measure.get("gain"), measure.get("gains")


def gains(ranked: RankedArrays, measure: Measure) -> Array:
    return ranked.cached(("gains", *_key(measure)), lambda: gain_of(ranked, ranked.grades, measure))


def _log_of(rank: Floats, discount: str | None) -> Floats:
    """log2(i + 1) of each rank i; or log2(i) from rank 2 on, so that the first two ranks weigh alike."""
    return np.log2(np.maximum(rank, 2.0) if discount == "log2(i)" else rank + 1.0)


def _logs(ranked: RankedArrays, n: int, discount: str | None = None) -> Array:
    return ranked.table(("log2", discount), n, lambda rank: _log_of(rank, discount))


def dcg(ranked: RankedArrays, measure: Measure) -> Array:
    depth, discount = depth_of(measure, ranked), measure.get("discount")

    def add_up() -> Array:
        own = ranked.spread(gains(ranked, measure))[:, :depth]
        return ranked.total(own / _logs(ranked, depth, discount))

    return ranked.cached(("dcg", *_key(measure), discount, depth), add_up)


def ideal_gains(ranked: RankedArrays, measure: Measure) -> Array:
    """Gains of all judged documents above 0, best first, then zeros."""

    def arranged() -> Array:
        own = ranked.xp.clip(gain_of(ranked, ranked.judged, measure), min=0.0)
        return ranked.xp.sort(own, axis=1, descending=True)

    return ranked.cached(("ideal", *_key(measure)), arranged)


def ideal_dcg(ranked: RankedArrays, measure: Measure) -> Array:
    xp, source, discount = ranked.xp, measure.get("ideal"), measure.get("discount")
    if source == "retrieved":
        own = xp.sort(xp.clip(gains(ranked, measure), min=0.0), axis=1, descending=True)
    elif source == "judged" and ranked.whole and ranked.top_grade <= _MOST_LEVELS and not measure.get("gains"):
        return _counted_ideal(ranked, measure)
    else:
        own = ideal_gains(ranked, measure)
    depth = int(own.shape[1]) if measure.at is None else min(int(measure.at), int(own.shape[1]))
    worth = own[:, :depth] / _logs(ranked, depth, discount)
    if source == "returned":
        worth = worth * ranked.real(ranked.numbers(depth) <= ranked.retrieved[:, None])
    return ranked.total(worth)


def _counted_ideal(ranked: RankedArrays, measure: Measure) -> Array:
    """The same without sorting: a step from one grade to the next adds its gain at each of the first c ranks, where c
    documents have at least that grade."""
    xp, discount, depth = ranked.xp, measure.get("discount"), int(ranked.judged.shape[1])
    depth = depth if measure.at is None else min(int(measure.at), depth)

    def summed(rank: Floats) -> Floats:
        return np.append(0.0, np.cumsum(1.0 / _log_of(rank, discount)))

    discounts = ranked.table(("discounts", discount), depth, summed)

    def add_up() -> Array:
        total, before = ranked.full(0.0), 0.0
        for grade in range(1, int(ranked.top_grade) + 1):
            gain = 2.0**grade - 1.0 if measure.get("gain") == "exp" else float(grade)
            reached = xp.astype(xp.clip(ranked.n_relevant(float(grade)), max=float(depth)), ranked.index_type)
            total = total + (gain - before) * xp.take(discounts, reached, axis=0)
            before = gain
        return total

    return ranked.cached(("counted_ideal", *_key(measure), discount, depth), add_up)


def ndcg(ranked: RankedArrays, measure: Measure) -> Array:
    return ranked.ratio(dcg(ranked, measure), ideal_dcg(ranked, measure))


def _cascade(ranked: RankedArrays, grades: Array, top: float, depth: int) -> Array:
    """sum over ranks of (1/rank) s_i product of (1 - s_j) before, s = (2^g - 1) / 2^top."""
    xp = ranked.xp
    chance = (xp.pow(xp.full_like(grades, 2.0), xp.clip(grades, min=0.0)) - 1.0) / 2.0**top
    chance = chance[:, :depth]
    left = xp.cumulative_prod(1.0 - chance, axis=1)
    reach = xp.concat((ranked.full(1.0, 1), left[:, :-1]), axis=1)
    return ranked.total(reach * chance / ranked.numbers(int(chance.shape[1])))


def err(ranked: RankedArrays, measure: Measure) -> Array:
    top = check_top(measure, ranked.top_grade, "max_grade")
    return _cascade(ranked, ranked.grades, top, depth_of(measure, ranked))


def nerr(ranked: RankedArrays, measure: Measure) -> Array:
    top = check_top(measure, ranked.top_grade, "max_grade")
    best = ranked.cached("best", lambda: ranked.xp.sort(ranked.judged, axis=1, descending=True))
    depth = int(best.shape[1]) if measure.at is None else int(measure.at)
    return ranked.ratio(err(ranked, measure), _cascade(ranked, best, top, depth))


def _powers(ranked: RankedArrays, p: float, n: int) -> Array:
    """p^(i-1) of every rank i."""
    return ranked.table(("powers", p), n, lambda rank: p ** (rank - 1.0))


def rbp(ranked: RankedArrays, measure: Measure) -> Array:
    xp, p, depth = ranked.xp, float(measure.get("p")), depth_of(measure, ranked)
    if measure.get("grades") == "binary":
        worth = ranked.relevant(measure.get("rel"))
    else:
        top = xp.clip(xp.max(ranked.judged, axis=1), min=1.0)
        worth = xp.clip(ranked.grades, min=0.0) / top[:, None]
    return (1.0 - p) * ranked.total(ranked.spread(worth)[:, :depth] * _powers(ranked, p, depth))


def rbp_residual(ranked: RankedArrays, measure: Measure) -> Array:
    """Weight of the unjudged documents and of all that was never retrieved; 0 when every document is judged."""
    xp, p, n = ranked.xp, float(measure.get("p")), ranked.retrieved
    unjudged = ranked.real(~(ranked.grades >= 0) & (ranked.ranks <= n[:, None]))
    weight = xp.pow(xp.full_like(n, p), n) + (1.0 - p) * ranked.total(unjudged * _powers(ranked, p, ranked.width))
    return xp.where(ranked.total(unjudged) > 0, weight, xp.zeros_like(weight))


def binary_g(ranked: RankedArrays, measure: Measure) -> Array:
    xp, rel = ranked.xp, measure.get("rel")
    nonrelevant_before = ranked.ranks - ranked.so_far(rel)
    sums = ranked.total(ranked.relevant(rel) / xp.log2(2.0 + nonrelevant_before))
    return ranked.ratio(sums, ranked.n_relevant(rel))


def _side_by_side(ranked: RankedArrays, measure: Measure) -> tuple[Array, Array]:
    """Gains of the list and of the ideal list, both as long as the longer one."""
    own, ideal = gains(ranked, measure), ideal_gains(ranked, measure)
    width = max(ranked.width, int(ideal.shape[1]))
    return ranked.padded(own, width), ranked.padded(ideal, width)


def normalized_g(ranked: RankedArrays, measure: Measure) -> Array:
    xp = ranked.xp
    own, ideal = _side_by_side(ranked, measure)
    # Behind the ideal list each document costs 1.
    spent = ranked.running(xp.clip(ideal, min=1.0))
    counted = own != 0
    base = xp.where(counted, 2.0 + spent - ranked.running(own), xp.full_like(own, 2.0))
    return ranked.ratio(ranked.total(own / xp.log2(base)), ranked.total(ideal))


def ndcg_at_relevant(ranked: RankedArrays, measure: Measure) -> Array:
    own, ideal = _side_by_side(ranked, measure)
    logs = _logs(ranked, int(own.shape[1]))
    got, best = ranked.running(own / logs), ranked.running(ideal / logs)
    counted, n = ranked.real(own > 0), ranked.count(ideal > 0)
    found = ranked.total(counted * ranked.ratio(got, best))
    missed = (n - ranked.total(counted)) * ranked.ratio(got[:, -1], best[:, -1])
    return ranked.ratio(found + missed, n)


def ndcg_at_levels(ranked: RankedArrays, measure: Measure) -> Array:
    xp = ranked.xp
    own, ideal = _side_by_side(ranked, measure)
    logs = _logs(ranked, int(own.shape[1]))
    got, best = ranked.running(own / logs), ranked.running(ideal / logs)
    follows = xp.concat((ideal[:, 1:], ranked.full(0.0, 1)), axis=1)
    ends = ranked.real((ideal > 0) & (follows != ideal))
    at = ranked.ratio(got, best)
    # trec_eval counts the end of the list only past the first zero gain.
    longer = ranked.real(ranked.retrieved > ranked.count(ideal > 0) + 1.0)
    mean = ranked.ratio(ranked.total(ends * at) + longer * at[:, -1], ranked.total(ends) + longer)
    known = (ranked.n_relevant(measure.get("rel")) > 0) & (ideal[:, 0] > 0)
    return xp.where(known, mean, xp.zeros_like(mean))
