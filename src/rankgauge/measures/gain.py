"""Measures of cumulated gain and of cascades: DCG, nDCG, ERR, RBP and trec_eval's experimental ones.

Notation: g_i grade of document i (0 if unjudged), gain(g) = g or 2^g - 1, discount 1 / log2(i + 1).
"""

from __future__ import annotations

import numpy as np

from rankgauge.errors import DataError
from rankgauge.measures.counting import ratio
from rankgauge.measures.measure import Form, Measure
from rankgauge.measures.parameters import check_scale, depth_of
from rankgauge.model.ranked import Floats, Ints, RankedGrades, largest_first

__all__ = ["gain_of"]


def gain_of(grades: Floats, measure: Measure) -> Floats:
    """Gain of each grade. Negative grades gain nothing."""
    known = np.maximum(grades, 0.0)
    with np.errstate(over="ignore"):
        gains = np.exp2(known) - 1.0 if measure.get("gain") == "exp" else known
    if measure.get("gains") is not None:
        gains = gains.copy()
        for grade, gain in measure.get("gains"):
            gains[grades == grade] = gain
    if not np.isfinite(gains).all():
        raise DataError(f"{measure}: grade {grades.max():g} is too large for an exponential gain; use gain='linear'")
    return gains


def _logs(depth: int, discount: str | None = None) -> Floats:
    """log2(i + 1) of every rank i; or log2(i) from rank 2 on, as in the article of 2002, so that the first two ranks
    weigh alike. Gains are divided by it, not multiplied by its inverse: so rounds trec_eval."""
    if discount == "log2(i)":
        return np.log2(np.maximum(np.arange(1, depth + 1), 2))
    return np.log2(np.arange(2, depth + 2))


def _powers(p: float, depth: int) -> Floats:
    """p^(i-1) of every rank i, each from the one before, as trec_eval rounds them."""
    return np.cumprod(np.append(1.0, np.full(depth, p)))[:depth]


def _one_by_one(values: Floats) -> float:
    """Their sum, added from first to last; `ndarray.sum` adds in pairs, which can end in another last digit."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


def _ideal(values: Floats, owner: Ints, n: int, cut: Ints | int | None, discount: str | None = None) -> Floats:
    """DCG of the best order of the given gains, cut at one depth, or at a depth for each query."""
    keep = values > 0
    values, owner = values[keep], owner[keep]
    if not len(values):
        return np.zeros(n)
    if not ((values[1:] <= values[:-1]) | (owner[1:] != owner[:-1])).all():
        values = largest_first(values, owner)
    counts = np.bincount(owner, minlength=n)
    place = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    if cut is not None:
        inside = place < (cut if isinstance(cut, int) else cut[owner])
        values, owner, place = values[inside], owner[inside], place[inside]
    table = _logs(int(place.max(initial=0)) + 1, discount)
    return np.asarray(np.bincount(owner, weights=values / table[place], minlength=n), dtype=np.float64)


def dcg(ranked: RankedGrades, measure: Measure) -> Floats:
    depth, discount = depth_of(measure, ranked), measure.get("discount")

    def sum_up() -> Floats:
        gains, logs = gain_of(ranked.grades, measure), _logs(depth, discount)
        if ranked.has_ties:
            return ranked.total(gains * ranked.weights(1.0 / logs))
        return ranked.total(gains / np.append(logs, np.inf)[np.minimum(ranked.above, depth)])

    return ranked.cached(("dcg", measure.get("gain"), measure.get("gains"), discount, depth), sum_up)


def ideal_dcg(ranked: RankedGrades, measure: Measure) -> Floats:
    n, source, discount = len(ranked), measure.get("ideal"), measure.get("discount")
    depth = None if measure.at is None else int(measure.at)
    if source == "retrieved":
        return _ideal(gain_of(ranked.grades, measure), ranked.owner, n, depth, discount)

    def best() -> Floats:
        cut = depth if source == "judged" else np.minimum(ranked.retrieved, depth or ranked.retrieved)
        return _ideal(gain_of(ranked.judged_grades, measure), ranked.judged_owner, n, cut, discount)

    key = ("ideal_dcg", source, measure.get("gain"), measure.get("gains"), discount, measure.at)
    return ranked.cached(key, best)


def ndcg(ranked: RankedGrades, measure: Measure) -> Floats:
    return ratio(dcg(ranked, measure), ideal_dcg(ranked, measure))


def ndcg_form(measure: Measure) -> Form:
    """Losses (gains below 0) count in the list, but not in the ideal one."""
    losses = any(gain < 0 for _, gain in measure.get("gains") or ())
    return "" if losses or measure.get("ideal") == "retrieved" else "additive"


def ndcg_caution(measure: Measure) -> str | None:
    return None if measure.get("ideal") == "judged" else f"ideal_{measure.get('ideal')}"


def ideal_of_retrieved(measure: Measure) -> bool:
    return bool(measure.get("ideal") == "retrieved")


def _cascade(chance: Floats, rank: Ints, owner: Ints, n: int) -> Floats:
    """sum over ranks of (1/rank) chance_i product of (1 - chance_j) before, all queries side by side."""
    counts = np.bincount(owner, minlength=n)
    starts = np.cumsum(counts) - counts
    score, left = np.zeros(n), np.ones(n)
    queries = np.flatnonzero(counts)
    for step in range(int(counts.max()) if n else 0):
        queries = queries[counts[queries] > step]
        row = starts[queries] + step
        score[queries] += left[queries] * chance[row] / rank[row]
        left[queries] *= 1.0 - chance[row]
    return score


def _stopping(grades: Floats, top: float) -> Floats:
    return np.asarray((np.exp2(np.maximum(grades, 0.0)) - 1.0) / 2.0**top)


def err(ranked: RankedGrades, measure: Measure) -> Floats:
    top = check_scale(measure, ranked, "max_grade")
    keep = (ranked.grades > 0) & (ranked.above < depth_of(measure, ranked))
    return _cascade(_stopping(ranked.grades[keep], top), ranked.ranks[keep], ranked.owner[keep], len(ranked))


def nerr(ranked: RankedGrades, measure: Measure) -> Floats:
    top = check_scale(measure, ranked, "max_grade")
    place = np.arange(len(ranked.judged_grades)) - ranked.judged_starts[ranked.judged_owner]
    keep = (ranked.judged_grades > 0) & (place < (measure.at or np.iinfo(np.int64).max))
    grades, owner = ranked.judged_grades[keep], ranked.judged_owner[keep]
    return ratio(err(ranked, measure), _cascade(_stopping(grades, top), place[keep] + 1, owner, len(ranked)))


def rbp(ranked: RankedGrades, measure: Measure) -> Floats:
    p = float(measure.get("p"))
    weights = ranked.weights(_powers(p, depth_of(measure, ranked)))
    if measure.get("grades") == "binary":
        return (1.0 - p) * ranked.total(weights, ranked.relevant(measure.get("rel")))
    top = np.ones(len(ranked))
    np.maximum.at(top, ranked.judged_owner, ranked.judged_grades)
    return (1.0 - p) * ranked.total(np.maximum(ranked.grades, 0.0) / top[ranked.owner] * weights)


def rbp_residual(ranked: RankedGrades, measure: Measure) -> Floats:
    """Weight of the unjudged documents and of all that was never retrieved; 0 when every document is judged."""
    p, n = float(measure.get("p")), ranked.retrieved
    owner = np.repeat(np.arange(len(ranked)), n)
    first = np.cumsum(n) - n
    unjudged = np.ones(len(owner), dtype=bool)
    known = ranked.grades >= 0
    unjudged[first[ranked.owner[known]] + ranked.above[known]] = False
    place = (np.arange(len(owner)) - first[owner])[unjudged]
    owner = owner[unjudged]
    powers = _powers(p, int(n.max(initial=0)) + 1)
    weight = powers[n] + (1.0 - p) * np.bincount(owner, weights=powers[place], minlength=len(ranked))
    return np.where(np.bincount(owner, minlength=len(ranked)) > 0, weight, 0.0)


def binary_g(ranked: RankedGrades, measure: Measure) -> Floats:
    rel = measure.get("rel")
    relevant = ranked.relevant(rel)
    nonrelevant_before = ranked.ranks - ranked.so_far(relevant, ("rel", rel))
    sums = ranked.total(1.0 / np.log2(2.0 + nonrelevant_before), relevant)
    return ratio(sums, ranked.n_relevant(rel).astype(np.float64))


def _per_query(ranked: RankedGrades, measure: Measure) -> list[tuple[Ints, Floats, Floats]]:
    """(ranks, gains, ideal gains) of each query, where only documents with a gain count."""
    gains = gain_of(ranked.grades, measure)
    ideal = largest_first(gain_of(ranked.judged_grades, measure), ranked.judged_owner)
    rows = []
    for i in range(len(ranked)):
        inside = slice(ranked.starts[i], ranked.starts[i + 1])
        best = ideal[ranked.judged_starts[i] : ranked.judged_starts[i + 1]]
        rows.append((ranked.ranks[inside], gains[inside], best[best > 0]))
    return rows


def normalized_g(ranked: RankedGrades, measure: Measure) -> Floats:
    result = np.zeros(len(ranked))
    for i, (ranks, gains, ideal) in enumerate(_per_query(ranked, measure)):
        if not len(ideal):
            continue
        cost = np.concatenate(([0.0], np.cumsum(np.maximum(ideal, 1.0))))
        inside = np.minimum(ranks, len(ideal))
        spent = cost[inside] + (ranks - inside)
        counted = gains != 0
        sums = gains[counted] / np.log2(2.0 + spent[counted] - np.cumsum(gains)[counted])
        result[i] = _one_by_one(sums) / _one_by_one(ideal)
    return result


def ndcg_at_relevant(ranked: RankedGrades, measure: Measure) -> Floats:
    result = np.zeros(len(ranked))
    for i, (ranks, gains, ideal) in enumerate(_per_query(ranked, measure)):
        if not len(ideal):
            continue
        best = np.cumsum(ideal / _logs(len(ideal)))
        got = np.cumsum(gains / np.log2(ranks + 1.0))
        counted = gains > 0
        at_relevant = got[counted] / best[np.minimum(ranks[counted], len(ideal)) - 1]
        missed = len(ideal) - int(counted.sum())
        last = float(got[-1]) if len(got) else 0.0
        result[i] = (_one_by_one(at_relevant) + missed * last / best[-1]) / len(ideal)
    return result


def ndcg_at_levels(ranked: RankedGrades, measure: Measure) -> Floats:
    result = np.zeros(len(ranked))
    relevant_in_all = ranked.n_relevant(measure.get("rel"))
    for i, (ranks, gains, ideal) in enumerate(_per_query(ranked, measure)):
        if not len(ideal) or not relevant_in_all[i]:
            continue
        best = np.cumsum(ideal / _logs(len(ideal)))
        got = np.concatenate(([0.0], np.cumsum(gains / np.log2(ranks + 1.0))))
        ends = np.append(np.flatnonzero(np.diff(ideal)) + 1, len(ideal))
        points = [got[np.searchsorted(ranks, end, side="right")] / best[end - 1] for end in ends]
        if ranked.retrieved[i] > len(ideal) + 1:  # trec_eval counts the end of the list only past the first zero gain
            points.append(got[-1] / best[-1])
        result[i] = _one_by_one(np.array(points)) / len(points)
    return result
