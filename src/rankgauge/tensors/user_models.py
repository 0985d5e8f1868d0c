"""User models of the C/W/L framework and compatibility, over arrays: as `rankgauge.measures.user_models`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.measures import Measure
from rankgauge.measures.parameters import check_top
from rankgauge.measures.user_models import DEEPEST
from rankgauge.model.ranked import Floats
from rankgauge.tensors.ranking import Array, RankedArrays, run_bounds

__all__: list[str] = []

Continuation = Callable[[RankedArrays, Array, Array, Measure], Array]


def _expected_gain(continuation: Continuation) -> Callable[[RankedArrays, Measure], Array]:
    """A kernel from a continuation function (gains, ranks, measure) -> C."""

    def kernel(ranked: RankedArrays, measure: Measure) -> Array:
        xp = ranked.xp
        top, bottom = check_top(measure, ranked.top_grade, "max_rel"), float(measure.get("min_rel"))

        def scaled() -> Array:
            gains = (xp.clip(ranked.grades, min=bottom, max=top) - bottom) / (top - bottom)
            return ranked.padded(gains[:, : min(ranked.width, DEEPEST)], DEEPEST)

        gains = ranked.cached(("scaled", bottom, top), scaled)
        onward = continuation(ranked, gains, ranked.numbers(DEEPEST), measure)
        onward = xp.broadcast_to(onward, gains.shape)
        reach = xp.concat((ranked.full(1.0, 1), xp.cumulative_prod(onward[:, :-1], axis=1)), axis=1)
        return ranked.total(reach * gains) / ranked.total(reach)

    return kernel


def _within(ranked: RankedArrays, rank: Array, measure: Measure) -> Array:
    return ranked.real(rank < float(measure.at or 0))


@_expected_gain
def bejeweled(ranked: RankedArrays, gains: Array, rank: Array, measure: Measure) -> Array:
    wanted = ranked.xp.cumulative_prod(ranked.real(ranked.running(gains) < float(measure.get("T"))), axis=1)
    return wanted * _within(ranked, rank, measure)


@_expected_gain
def inst(ranked: RankedArrays, gains: Array, rank: Array, measure: Measure) -> Array:
    base = rank + 2 * float(measure.get("T")) - ranked.running(gains)
    return ((base - 1.0) / base) ** 2


def _insq_onward(ranked: RankedArrays, gains: Array, rank: Array, measure: Measure) -> Array:
    base = rank + 2 * float(measure.get("T"))
    return ((base - 1.0) / base) ** 2


insq = _expected_gain(_insq_onward)


@_expected_gain
def scaled_dcg(ranked: RankedArrays, gains: Array, rank: Array, measure: Measure) -> Array:
    onward = ranked.table("scaled_dcg", DEEPEST, lambda rank: np.log2(rank + 1) / np.log2(rank + 2))
    return _within(ranked, rank, measure) * onward


@_expected_gain
def nerr8(ranked: RankedArrays, gains: Array, rank: Array, measure: Measure) -> Array:
    return _within(ranked, rank, measure) * (1.0 - gains)


@_expected_gain
def nerr9(ranked: RankedArrays, gains: Array, rank: Array, measure: Measure) -> Array:
    return _within(ranked, rank, measure) * rank / (rank + 1.0) * (1.0 - gains)


@_expected_gain
def nerr10(ranked: RankedArrays, gains: Array, rank: Array, measure: Measure) -> Array:
    return float(measure.get("p")) * (1.0 - gains)


@_expected_gain
def nerr11(ranked: RankedArrays, gains: Array, rank: Array, measure: Measure) -> Array:
    return _insq_onward(ranked, gains, rank, measure) * (1.0 - gains)


def compatibility(ranked: RankedArrays, measure: Measure) -> Array:
    """Rank-biased overlap of the list with the ideal list that is nearest to it.

    A document of ideal rank a and rank b adds sum over d = max(a, b)..D of p^(d-1) / d. Among equal grades the ideal
    list keeps the list's own order, and puts what was not retrieved last: a document's ideal rank is the number of
    judged documents above its grade, and of those in the list down to it that share its grade.
    """
    xp, p = ranked.xp, float(measure.get("p"))
    judged = int(ranked.judged.shape[1])
    longest = max(ranked.width, judged)
    left = ranked.table(("shared", p), longest, lambda depth: _from_depth(p ** (depth - 1.0) / depth))
    all_weight = ranked.table(("whole", p), longest, lambda depth: np.append(0.0, np.cumsum(p ** (depth - 1.0))))
    n = ranked.count(ranked.judged > 0)
    end = xp.astype(xp.maximum(ranked.retrieved, n), ranked.index_type)
    behind, whole = xp.take(left, end, axis=0), xp.take(all_weight, end, axis=0)

    # Judged documents and those of the list in one row, by grade; each judged one before the list's of its grade.
    both = xp.concat((ranked.judged, ranked.grades), axis=1)
    order = xp.argsort(both, axis=1, stable=True, descending=True)
    grades = xp.take_along_axis(both, order, axis=1)
    listed = ranked.real(order >= judged)
    above, _ = run_bounds(xp, xp.cumulative_sum(ranked.steps(grades), axis=1), ranked.index_type)
    in_list = xp.concat((ranked.full(0.0, 1), ranked.running(listed)), axis=1)
    listed_above = xp.take_along_axis(in_list, above, axis=1)
    judged_above = ranked.real(above) - listed_above
    ideal_rank = judged_above + in_list[:, 1:] - listed_above
    rank = ranked.real(order - judged + 1)
    counted = (listed > 0) & (grades > 0)
    place = xp.where(counted, xp.maximum(rank, ideal_rank), xp.ones_like(rank))
    shared = xp.take(left, xp.reshape(xp.astype(place - 1.0, ranked.index_type), (-1,)), axis=0)
    gained = ranked.real(counted) * (xp.reshape(shared, place.shape) - behind[:, None])
    score = ranked.ratio(ranked.total(gained), whole)
    if measure.get("normalize"):
        own = ranked.real(ranked.numbers(longest) <= n[:, None])
        best = ranked.total(own * (left[None, :-1] - behind[:, None]))
        score = ranked.ratio(score, ranked.ratio(best, whole))
    return score


def _from_depth(weight: Floats) -> Floats:
    """The weight of each depth and all behind it, and 0 behind the last: small numbers keep their digits."""
    return np.append(np.cumsum(weight[::-1])[::-1], 0.0)
