"""User models of the C/W/L framework (Moffat, Bailey, Scholer and Thomas 2017) and compatibility.

A user at rank i goes on with chance C_i. The weight of rank i is proportional to the product of C_1..C_{i-1}, and the
score is the expected gain per document looked at. Like cwl_eval, lists are padded with no gain to 1,000 documents.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.errors import MeasureError
from rankgauge.measures.measure import Kernel, Measure
from rankgauge.measures.parameters import check_scale
from rankgauge.model.ranked import Floats, RankedGrades

__all__ = ["DEEPEST"]

DEEPEST = 1000
_BLOCK = 256
Continuation = Callable[[Floats, Floats, Measure], Floats]


def _expected_gain(continuation: Continuation) -> Kernel:
    """A kernel from a continuation function (gains, ranks, measure) -> C, for matrices of queries by ranks."""

    def kernel(ranked: RankedGrades, measure: Measure) -> Floats:
        top, bottom = check_scale(measure, ranked, "max_rel"), float(measure.get("min_rel"))
        scaled = (np.clip(ranked.grades, bottom, top) - bottom) / (top - bottom)
        rank = np.arange(1.0, DEEPEST + 1)
        result = np.zeros(len(ranked))
        for start in range(0, len(ranked), _BLOCK):
            stop = min(start + _BLOCK, len(ranked))
            rows = slice(ranked.starts[start], ranked.starts[stop])
            inside = ranked.above[rows] < DEEPEST
            gains = np.zeros((stop - start, DEEPEST))
            gains[ranked.owner[rows][inside] - start, ranked.above[rows][inside]] = scaled[rows][inside]
            onward = continuation(gains, rank, measure)
            reach = np.concatenate((np.ones((stop - start, 1)), np.cumprod(onward[:, :-1], axis=1)), axis=1)
            result[start:stop] = (reach * gains).sum(axis=1) / reach.sum(axis=1)
        return result

    return kernel


@_expected_gain
def bejeweled(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    wanted = np.cumsum(gains, axis=1) < float(measure.get("T"))
    return (np.logical_and.accumulate(wanted, axis=1) & (rank < float(measure.at or 0))).astype(np.float64)


@_expected_gain
def inst(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    wanted = float(measure.get("T"))
    base = rank + 2 * wanted - np.cumsum(gains, axis=1)
    return ((base - 1.0) / base) ** 2


def _insq_onward(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    base = rank + 2 * float(measure.get("T"))
    return np.broadcast_to(((base - 1.0) / base) ** 2, gains.shape)


insq = _expected_gain(_insq_onward)


@_expected_gain
def scaled_dcg(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    onward = np.where(rank < float(measure.at or 0), np.log2(rank + 1) / np.log2(rank + 2), 0.0)
    return np.broadcast_to(onward, gains.shape)


@_expected_gain
def nerr8(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    return np.where(rank < float(measure.at or 0), 1.0 - gains, 0.0)


@_expected_gain
def nerr9(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    return np.where(rank < float(measure.at or 0), rank / (rank + 1.0) * (1.0 - gains), 0.0)


@_expected_gain
def nerr10(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    return float(measure.get("p")) * (1.0 - gains)


@_expected_gain
def nerr11(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    return _insq_onward(gains, rank, measure) * (1.0 - gains)


def compatibility(ranked: RankedGrades, measure: Measure) -> Floats:
    """Rank-biased overlap of the list with the ideal list that is nearest to it.

    A document of ideal rank a and rank b is shared by the two prefixes of every depth from max(a, b) on, so each
    adds sum over d = max(a, b)..D of p^(d-1) / d, where D is the longer of the two lists.
    """
    p = float(measure.get("p"))
    result = np.zeros(len(ranked))
    n_relevant = np.bincount(ranked.judged_owner[ranked.judged_grades > 0], minlength=len(ranked))
    longest = int(max(ranked.retrieved.max(initial=0), n_relevant.max(initial=0)))
    depth = np.arange(1, longest + 1)
    weight = p ** (depth - 1.0)
    shared_from = np.concatenate(([0.0], np.cumsum(weight / depth)))
    all_weight = np.concatenate(([0.0], np.cumsum(weight)))
    for i in range(len(ranked)):
        if not n_relevant[i]:
            continue
        rows = slice(ranked.starts[i], ranked.starts[i + 1])
        grades = ranked.grades[rows]
        found = grades > 0
        ranks, grades = ranked.ranks[rows][found], grades[found]
        best = ranked.judged_grades[ranked.judged_starts[i] : ranked.judged_starts[i + 1]]
        best = best[best > 0]
        end = int(max(ranked.retrieved[i], len(best)))
        # Among equal grades the ideal list keeps the list's own order, and puts what was not retrieved last.
        ideal_rank = np.zeros(len(ranks), dtype=np.int64)
        for grade in np.unique(grades):
            same = grades == grade
            ideal_rank[same] = int((best > grade).sum()) + np.arange(1, int(same.sum()) + 1)
        both = np.maximum(ranks, ideal_rank)
        score = (shared_from[end] - shared_from[both - 1]).sum() / all_weight[end]
        if measure.get("normalize"):
            own = np.arange(1, len(best) + 1)
            score /= (shared_from[end] - shared_from[own - 1]).sum() / all_weight[end]
        result[i] = score
    return result


def check_range(measure: Measure) -> None:
    if measure.name == "INST" and measure.get("T") == 0:
        raise MeasureError(f"{measure.name}: T must be above 0: a user who is after nothing looks at nothing")
    if not measure.get("min_rel") < measure.get("max_rel"):
        raise MeasureError(f"{measure.name}: min_rel must be below max_rel")
