"""Average precision and its relatives, and the reciprocal rank.

Notation: rel_i is 1 where document i is relevant, P@i the precision of the first i, R all relevant documents.
"""

from __future__ import annotations

import numpy as np

from rankgauge.errors import MeasureError
from rankgauge.measures.counting import ratio
from rankgauge.measures.measure import Form, Measure
from rankgauge.measures.parameters import check_scale, depth_of
from rankgauge.measures.ties import expected_precision_sum, expected_reciprocal_rank
from rankgauge.model.ranked import Floats, Ints, RankedGrades

__all__ = ["INFAP_EPSILON", "recall_points"]

INFAP_EPSILON = 0.00001
_TREC_ELEVEN = tuple(i / 10 for i in range(11))


def reciprocal_rank(ranked: RankedGrades, measure: Measure) -> Floats:
    rel, depth = measure.get("rel"), depth_of(measure, ranked)
    if ranked.has_ties:
        return expected_reciprocal_rank(ranked, rel, depth)
    relevant = ranked.relevant(rel)
    first = relevant & (ranked.so_far(relevant, ("rel", rel)) == 1) & (ranked.above < depth)
    return ranked.total(1.0 / ranked.ranks, first)


def average_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    rel, depth = measure.get("rel"), depth_of(measure, ranked)
    relevant = ranked.relevant(rel)
    total = ranked.n_relevant(rel).astype(np.float64)
    if measure.get("norm") == "min" and measure.at is not None:
        total = np.minimum(total, float(measure.at))
    linear = measure.get("grades") == "linear"
    worth = ranked.grades / check_scale(measure, ranked, "max_grade") if linear else np.ones(len(ranked.grades))
    if ranked.has_ties:
        return ratio(expected_precision_sum(ranked, relevant, worth, depth), total)
    precision = ranked.so_far(relevant, ("rel", rel)) / ranked.ranks
    return ratio(ranked.total(precision * worth, relevant & (ranked.above < depth)), total)


def check_ap(measure: Measure) -> None:
    if measure.get("grades") == "linear" and measure.get("max_grade") is None:
        raise MeasureError(
            "graded AP needs the top of your grade scale: write AP(grades='linear', max_grade=2)"
            + (f"@{measure.at}" if measure.at else "")
        )
    if measure.get("max_grade") == 0:
        raise MeasureError("AP: max_grade=0 leaves no grade above nothing; give the top of your grade scale")
    if measure.get("grades") == "binary" and measure.get("max_grade") is not None:
        raise MeasureError("AP(max_grade=...) goes with grades='linear'")
    if measure.get("norm") == "min" and measure.at is None:
        raise MeasureError("AP(norm='min') needs a depth: write AP(norm='min')@10")


def ap_caution(measure: Measure) -> str | None:
    return "graded_ap" if measure.get("grades") == "linear" else None


def ap_form(measure: Measure) -> Form:
    return "" if measure.get("grades") == "linear" else "sorted"


def inferred_ap(ranked: RankedGrades, measure: Measure) -> Floats:
    rel = measure.get("rel")
    relevant = ranked.relevant(rel)
    pooled = np.ones(len(ranked.grades), dtype=bool)
    known = ranked.grades >= 0
    found = ranked.so_far(relevant, ("rel", rel)) - 1
    in_pool = ranked.so_far(pooled, "pooled") - 1
    judged_before = ranked.so_far(known, "known") - 1
    before = ranked.ranks - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = (found + INFAP_EPSILON) / (judged_before + 2 * INFAP_EPSILON)
        inferred = 1.0 / ranked.ranks + (before / ranked.ranks) * (in_pool / before) * estimate
    inferred = np.where(before == 0, 1.0, inferred)
    return ratio(ranked.total(inferred, relevant), ranked.n_relevant(rel).astype(np.float64))


def binary_preference(ranked: RankedGrades, measure: Measure) -> Floats:
    rel = measure.get("rel")
    relevant = ranked.relevant(rel)
    total = ranked.n_relevant(rel)
    in_all = np.bincount(ranked.judged_owner[ranked.judged_grades >= 0], minlength=len(ranked)) - total
    nonrelevant = ~relevant & (ranked.grades >= 0)
    above = np.minimum(ranked.so_far(nonrelevant, ("nonrel", rel)), total[ranked.owner]).astype(np.float64)
    most = np.minimum(in_all, total)[ranked.owner].astype(np.float64)
    return ratio(ranked.total(1.0 - ratio(above, most), relevant), total.astype(np.float64))


def _interpolated(ranked: RankedGrades, rel: float, cuts: Ints) -> Floats:
    """max P@i over the ranks i at which at least `cut` relevant documents were found, for each query's cut."""
    relevant = ranked.relevant(rel)
    found = ranked.so_far(relevant, ("rel", rel))
    eligible = relevant & (found >= cuts[ranked.owner])
    best = np.zeros(len(ranked))
    np.maximum.at(best, ranked.owner[eligible], found[eligible] / ranked.ranks[eligible])
    return best


def _recall_cut(total: Ints, level: float, rule: str) -> Ints:
    wanted = level * total
    if rule == "trec_eval9":
        return np.asarray(wanted + 0.9, dtype=np.int64)
    return np.asarray(np.floor(wanted + 0.5), dtype=np.int64)


def interpolated_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    rel = measure.get("rel")
    cuts = _recall_cut(ranked.n_relevant(rel), float(measure.at or 0), measure.get("rule"))
    return _interpolated(ranked, rel, cuts)


def check_points(measure: Measure) -> None:
    recall_points(measure)


def recall_points(measure: Measure) -> tuple[float, ...]:
    text = measure.get("points")
    if text is None:
        return _TREC_ELEVEN
    try:
        points = tuple(float(part) for part in text.split(","))
    except ValueError:
        points = ()
    if not points or not all(0 <= point <= 1 for point in points):
        raise MeasureError(f"{measure.name}: points={text!r} are no recall levels; example: points='0.2,0.5,0.8'")
    return points


def average_interpolated_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    rel, points = measure.get("rel"), recall_points(measure)
    total = ranked.n_relevant(rel)
    sums = np.zeros(len(ranked))
    for level in sorted(points, reverse=True):  # highest recall first, as trec_eval adds them
        sums += _interpolated(ranked, rel, _recall_cut(total, level, measure.get("rule")))
    return sums / len(points)
