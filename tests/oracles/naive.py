"""Every measure once more, as slow and as plain as its definition reads.

A function takes a ranked list of document ids, {document: grade}, the number behind the `@` and the measure's
parameters by name. A document outside the grades is unjudged. Nothing here is shared with the package.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations, product
from typing import Any

Ranking = Sequence[str]
Grades = Mapping[str, float]

# --- order of a run ---------------------------------------------------------------------------------------------------


def as_float32(score: float) -> float:
    return struct.unpack("f", struct.pack("f", score))[0]


def ranking_of(scores: Mapping[str, float], ties: str = "trec", *, float32: bool = False) -> list[str]:
    """Document ids, best first.

    `trec` breaks ties by id, greatest first; `stable` leaves them in the order of the list; `given` does not sort.
    """
    if ties == "given":
        return list(scores)
    compared = {doc: as_float32(score) if float32 else float(score) for doc, score in scores.items()}
    if ties == "stable":
        return sorted(compared, key=lambda doc: -compared[doc])
    return sorted(compared, key=lambda doc: (compared[doc], doc), reverse=True)


def tied_orders(scores: Mapping[str, float]) -> list[list[str]]:
    """Every order of the list that its scores allow."""
    groups: dict[float, list[str]] = {}
    for doc in sorted(scores, key=lambda doc: scores[doc], reverse=True):
        groups.setdefault(scores[doc], []).append(doc)
    orders = product(*(permutations(group) for group in groups.values()))
    return [[doc for group in order for doc in group] for order in orders]


# --- words of the field -----------------------------------------------------------------------------------------------


def is_relevant(doc: str, grades: Grades, rel: float) -> bool:
    return doc in grades and grades[doc] >= rel


def in_all(grades: Grades, rel: float) -> int:
    return sum(grade >= rel for grade in grades.values())


def hits(ranking: Ranking, grades: Grades, rel: float) -> int:
    return sum(is_relevant(doc, grades, rel) for doc in ranking)


def cut(ranking: Ranking, at: float | None) -> Ranking:
    return ranking if at is None else ranking[: int(at)]


def over(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


def gain_of(grade: float, gain: str, gains: Mapping[float, float] | None) -> float:
    if gains and grade in gains:
        return gains[grade]
    return 2.0 ** max(grade, 0.0) - 1.0 if gain == "exp" else max(grade, 0.0)


# --- counting ---------------------------------------------------------------------------------------------------------


def precision(ranking: Ranking, grades: Grades, at: int, rel: float, over: str) -> float:
    divisor = at if over == "k" else min(at, len(ranking))
    return hits(ranking[:at], grades, rel) / divisor if divisor else 0.0


def recall(ranking: Ranking, grades: Grades, at: int | None, rel: float, capped: bool, budget: None) -> float:
    total = in_all(grades, rel)
    return over(hits(cut(ranking, at), grades, rel), min(total, at) if capped and at else total)


def recall_in_budget(ranking: Ranking, grades: Grades, rel: float, budget: int, length: Mapping[str, int]) -> float:
    """Recall of the longest prefix whose lengths add up to no more than the budget."""
    fits = max(n for n in range(len(ranking) + 1) if sum(length[doc] for doc in ranking[:n]) <= budget)
    return over(hits(ranking[:fits], grades, rel), in_all(grades, rel))


def f_measure(ranking: Ranking, grades: Grades, at: int, rel: float, beta: float) -> float:
    p = hits(ranking[:at], grades, rel) / at
    r = over(hits(ranking[:at], grades, rel), in_all(grades, rel))
    return over((1 + beta**2) * p * r, beta**2 * p + r)


def success(ranking: Ranking, grades: Grades, at: int, rel: float) -> float:
    return float(hits(ranking[:at], grades, rel) > 0)


def judged(ranking: Ranking, grades: Grades, at: int | None) -> float:
    seen = cut(ranking, at)
    return over(sum(doc in grades for doc in seen), len(seen))


def unjudged(ranking: Ranking, grades: Grades, at: int) -> float:
    """trec_eval counts a negative grade as not judged."""
    return sum(grades.get(doc, -1) < 0 for doc in ranking[:at]) / at


def r_precision(ranking: Ranking, grades: Grades, at: None, rel: float, mult: float) -> float:
    depth = math.floor(mult * in_all(grades, rel) + 0.9)
    return over(hits(ranking[:depth], grades, rel), depth)


def set_precision(ranking: Ranking, grades: Grades, at: int | None, rel: float) -> float:
    seen = cut(ranking, at)
    return over(hits(seen, grades, rel), len(seen))


def set_relative_precision(ranking: Ranking, grades: Grades, at: None, rel: float) -> float:
    return over(hits(ranking, grades, rel), min(len(ranking), in_all(grades, rel)))


def set_recall(ranking: Ranking, grades: Grades, at: int | None, rel: float) -> float:
    return over(hits(cut(ranking, at), grades, rel), in_all(grades, rel))


def set_f(ranking: Ranking, grades: Grades, at: None, rel: float, beta: float) -> float:
    """As in trec_eval, beta is not squared."""
    p, r = set_precision(ranking, grades, None, rel), set_recall(ranking, grades, None, rel)
    return over((beta + 1) * p * r, r + beta * p)


def set_ap(ranking: Ranking, grades: Grades, at: None, rel: float) -> float:
    return set_precision(ranking, grades, None, rel) * set_recall(ranking, grades, None, rel)


def accuracy(ranking: Ranking, grades: Grades, at: int | None, rel: float) -> float:
    """Share of (relevant, other) pairs in the right order; 1 when all are relevant, 0 when none is."""
    flags = [is_relevant(doc, grades, rel) for doc in cut(ranking, at)]
    pairs = [(i, j) for i, a in enumerate(flags) for j, b in enumerate(flags) if a and not b]
    if not any(flags):
        return 0.0
    return sum(i < j for i, j in pairs) / len(pairs) if pairs else 1.0


def number_of_queries(ranking: Ranking, grades: Grades, at: None) -> float:
    return 1.0


def number_retrieved(ranking: Ranking, grades: Grades, at: None, rel: float | None) -> float:
    return float(len(ranking) if rel is None else hits(ranking, grades, rel))


def number_relevant(ranking: Ranking, grades: Grades, at: None, rel: float) -> float:
    return float(in_all(grades, rel))


def number_relevant_retrieved(ranking: Ranking, grades: Grades, at: None, rel: float) -> float:
    return float(hits(ranking, grades, rel))


def number_nonrelevant_judged_retrieved(ranking: Ranking, grades: Grades, at: None, rel: float) -> float:
    return float(sum(0 <= grades.get(doc, -1) < rel for doc in ranking))


def utility(ranking: Ranking, grades: Grades, at: None, rel: float, hit: float, noise: float, miss: float) -> float:
    found = hits(ranking, grades, rel)
    return hit * found + noise * (len(ranking) - found) + miss * (in_all(grades, rel) - found)


# --- average precision and its relatives ------------------------------------------------------------------------------


def average_precision(
    ranking: Ranking,
    grades: Grades,
    at: int | None,
    rel: float,
    norm: str = "R",
    grades_as: str = "binary",
    max_grade: float | None = None,
) -> float:
    sums = 0.0
    for i, doc in enumerate(cut(ranking, at), start=1):
        if is_relevant(doc, grades, rel):
            weight = grades[doc] / max_grade if grades_as == "linear" else 1.0
            sums += weight * hits(ranking[:i], grades, rel) / i
    total = in_all(grades, rel)
    return over(sums, min(total, at) if norm == "min" else total)


def reciprocal_rank(ranking: Ranking, grades: Grades, at: int | None, rel: float) -> float:
    for i, doc in enumerate(cut(ranking, at), start=1):
        if is_relevant(doc, grades, rel):
            return 1.0 / i
    return 0.0


def inferred_ap(ranking: Ranking, grades: Grades, at: None, rel: float) -> float:
    """Expected precision at each relevant document; negative grades are in the pool but not judged."""
    epsilon, sums = 0.00001, 0.0
    for i, doc in enumerate(ranking, start=1):
        if not is_relevant(doc, grades, rel):
            continue
        if i == 1:
            sums += 1.0
            continue
        above = ranking[: i - 1]
        pooled = sum(other in grades for other in above)
        known = sum(grades.get(other, -1) >= 0 for other in above)
        share = (hits(above, grades, rel) + epsilon) / (known + 2 * epsilon)
        sums += 1 / i + (i - 1) / i * (pooled / (i - 1)) * share
    return over(sums, in_all(grades, rel))


def binary_preference(ranking: Ranking, grades: Grades, at: None, rel: float) -> float:
    """Judged non-relevant documents above each relevant one; negative grades count as not judged."""
    total = in_all(grades, rel)
    nonrelevant = [doc for doc, grade in grades.items() if 0 <= grade < rel]
    sums = 0.0
    for i, doc in enumerate(ranking):
        if is_relevant(doc, grades, rel):
            above = sum(other in nonrelevant for other in ranking[:i])
            sums += 1.0 - (min(above, total) / min(len(nonrelevant), total) if above else 0.0)
    return over(sums, total)


def interpolated_precision(ranking: Ranking, grades: Grades, at: float, rel: float, rule: str) -> float:
    wanted = at * in_all(grades, rel)
    least = int(wanted + 0.9) if rule == "trec_eval9" else math.floor(wanted + 0.5)
    points = [hits(ranking[:i], grades, rel) for i in range(1, len(ranking) + 1)]
    return max((found / i for i, found in enumerate(points, start=1) if found >= least), default=0.0)


def average_interpolated_precision(
    ranking: Ranking, grades: Grades, at: None, rel: float, rule: str, points: str | None
) -> float:
    levels = [i / 10 for i in range(11)] if points is None else [float(level) for level in points.split(",")]
    return sum(interpolated_precision(ranking, grades, level, rel, rule) for level in levels) / len(levels)


# --- gain and cascades ------------------------------------------------------------------------------------------------


def dcg_of(values: Sequence[float], discount: str = "log2(i+1)") -> float:
    """With log2(i) the first gain is taken as it is, and so is the second: log2(2) = 1."""
    if discount == "log2(i)":
        return sum(value if i == 1 else value / math.log2(i) for i, value in enumerate(values, start=1))
    return sum(value / math.log2(i + 1) for i, value in enumerate(values, start=1))


def gains_down(ranking: Ranking, grades: Grades, gain: str, gains: Mapping[float, float] | None) -> list[float]:
    return [gain_of(grades[doc], gain, gains) if doc in grades else 0.0 for doc in ranking]


def best_gains(docs: Sequence[str], grades: Grades, gain: str, gains: Mapping[float, float] | None) -> list[float]:
    """Gains above 0, greatest first."""
    return sorted((g for g in gains_down(docs, grades, gain, gains) if g > 0), reverse=True)


def dcg(
    ranking: Ranking, grades: Grades, at: int | None, gain: str, gains: Mapping[float, float] | None, discount: str
) -> float:
    return dcg_of(gains_down(cut(ranking, at), grades, gain, gains), discount)


def ndcg(
    ranking: Ranking,
    grades: Grades,
    at: int | None,
    gain: str,
    gains: Mapping[float, float] | None,
    discount: str,
    ideal: str,
) -> float:
    best = best_gains(ranking if ideal == "retrieved" else list(grades), grades, gain, gains)
    if ideal == "returned":
        best = best[: len(ranking)]
    return over(dcg(ranking, grades, at, gain, gains, discount), dcg_of(cut(best, at), discount))


def err_of(values: Sequence[float], top: float) -> float:
    score, looking = 0.0, 1.0
    for i, grade in enumerate(values, start=1):
        stops = (2.0 ** max(grade, 0.0) - 1.0) / 2.0**top
        score += looking * stops / i
        looking *= 1.0 - stops
    return score


def err(ranking: Ranking, grades: Grades, at: int | None, max_grade: float) -> float:
    return err_of([grades.get(doc, 0.0) for doc in cut(ranking, at)], max_grade)


def nerr(ranking: Ranking, grades: Grades, at: int | None, max_grade: float) -> float:
    best = cut(sorted(grades.values(), reverse=True), at)
    return over(err(ranking, grades, at, max_grade), err_of(best, max_grade))


def rbp(ranking: Ranking, grades: Grades, at: int | None, rel: float, p: float, grades_as: str = "binary") -> float:
    sums = 0.0
    for i, doc in enumerate(cut(ranking, at)):
        if grades_as == "scaled":
            worth = max(grades.get(doc, 0.0), 0.0) / max([1.0, *grades.values()])
        else:
            worth = float(is_relevant(doc, grades, rel))
        sums += (1 - p) * p**i * worth
    return sums


def rbp_residual(ranking: Ranking, grades: Grades, at: None, p: float) -> float:
    """trec_eval 10: what unjudged documents and the rest beyond the list could add; 0 when all are judged."""
    unknown = [i for i, doc in enumerate(ranking) if grades.get(doc, -1) < 0]
    return p ** len(ranking) + sum((1 - p) * p**i for i in unknown) if unknown else 0.0


def binary_g(ranking: Ranking, grades: Grades, at: None, rel: float) -> float:
    sums = 0.0
    for i, doc in enumerate(ranking):
        if is_relevant(doc, grades, rel):
            sums += 1 / math.log2(2 + i - hits(ranking[:i], grades, rel))
    return over(sums, in_all(grades, rel))


def normalized_g(ranking: Ranking, grades: Grades, at: None, gain: str, gains: Mapping[float, float] | None) -> float:
    found = gains_down(ranking, grades, gain, gains)
    best = best_gains(list(grades), grades, gain, gains)
    sums = 0.0
    for i, value in enumerate(found, start=1):
        cost = sum(max(b, 1.0) for b in best[:i]) + max(i - len(best), 0)
        sums += value / math.log2(2 + cost - sum(found[:i]))
    return over(sums, sum(best))


def ndcg_at_relevant(
    ranking: Ranking, grades: Grades, at: None, gain: str, gains: Mapping[float, float] | None
) -> float:
    """nDCG at the rank of every document with a gain; for those never retrieved, at the end of the list."""
    found = gains_down(ranking, grades, gain, gains)
    best = best_gains(list(grades), grades, gain, gains)
    if not best:
        return 0.0
    at_ranks = [dcg_of(found[:i]) / dcg_of(best[:i]) for i, value in enumerate(found, start=1) if value > 0]
    missed = len(best) - len(at_ranks)
    return (sum(at_ranks) + missed * dcg_of(found) / dcg_of(best)) / len(best)


def ndcg_at_levels(
    ranking: Ranking, grades: Grades, at: None, rel: float, gain: str, gains: Mapping[float, float] | None
) -> float:
    """nDCG where the ideal list drops to its next gain, and once more at the end of a list that goes on behind it.

    trec_eval passes over the first document without an ideal gain before it looks for the end of the list.
    """
    found = gains_down(ranking, grades, gain, gains)
    best = best_gains(list(grades), grades, gain, gains)
    if not best or not in_all(grades, rel):
        return 0.0
    drops = [i for i in range(1, len(best) + 1) if i == len(best) or best[i] != best[i - 1]]
    points = [dcg_of(found[:i]) / dcg_of(best[:i]) for i in drops]
    if len(ranking) > len(best) + 1:
        points.append(dcg_of(found) / dcg_of(best))
    return sum(points) / len(points)


# --- user models ------------------------------------------------------------------------------------------------------

PADDED = 1000


def expected_gain(
    ranking: Ranking, grades: Grades, min_rel: float, max_rel: float, goes_on: Callable[[int, float, float], float]
) -> float:
    """Mean gain of the documents looked at; `goes_on(rank, gain, gain so far)` is the chance to look at the next."""
    scaled = [
        (min(max(grades[doc], min_rel), max_rel) - min_rel) / (max_rel - min_rel) if doc in grades else 0.0
        for doc in ranking
    ]
    reach, so_far, weights, gained = 1.0, 0.0, 0.0, 0.0
    for rank in range(1, PADDED + 1):
        gain = scaled[rank - 1] if rank <= len(scaled) else 0.0
        weights += reach
        gained += reach * gain
        so_far += gain
        reach *= goes_on(rank, gain, so_far)
    return gained / weights


def bpm(ranking: Ranking, grades: Grades, at: int, T: float, min_rel: float, max_rel: float) -> float:
    return expected_gain(ranking, grades, min_rel, max_rel, lambda rank, gain, so_far: float(so_far < T and rank < at))


def inst(ranking: Ranking, grades: Grades, at: None, T: float, min_rel: float, max_rel: float) -> float:
    def goes_on(rank: int, gain: float, so_far: float) -> float:
        left = T - so_far
        return ((rank + T + left - 1) / (rank + T + left)) ** 2

    return expected_gain(ranking, grades, min_rel, max_rel, goes_on)


def insq(ranking: Ranking, grades: Grades, at: None, T: float, min_rel: float, max_rel: float) -> float:
    return expected_gain(
        ranking, grades, min_rel, max_rel, lambda rank, gain, so_far: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2
    )


def sdcg(ranking: Ranking, grades: Grades, at: int, min_rel: float, max_rel: float) -> float:
    """DCG of the scaled gains over the DCG of a list that is all of full gain."""
    scaled = [
        (min(max(grades[doc], min_rel), max_rel) - min_rel) / (max_rel - min_rel) if doc in grades else 0.0
        for doc in ranking[:at]
    ]
    return dcg_of(scaled) / dcg_of([1.0] * at)


def nerr8(ranking: Ranking, grades: Grades, at: int, min_rel: float, max_rel: float) -> float:
    return expected_gain(ranking, grades, min_rel, max_rel, lambda rank, gain, so_far: 1 - gain if rank < at else 0.0)


def nerr9(ranking: Ranking, grades: Grades, at: int, min_rel: float, max_rel: float) -> float:
    return expected_gain(
        ranking,
        grades,
        min_rel,
        max_rel,
        lambda rank, gain, so_far: rank / (rank + 1) * (1 - gain) if rank < at else 0.0,
    )


def nerr10(ranking: Ranking, grades: Grades, at: None, p: float, min_rel: float, max_rel: float) -> float:
    return expected_gain(ranking, grades, min_rel, max_rel, lambda rank, gain, so_far: p * (1 - gain))


def nerr11(ranking: Ranking, grades: Grades, at: None, T: float, min_rel: float, max_rel: float) -> float:
    return expected_gain(
        ranking,
        grades,
        min_rel,
        max_rel,
        lambda rank, gain, so_far: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 * (1 - gain),
    )


def overlap(first: Sequence[str], second: Sequence[str], p: float, depth: int) -> float:
    """Rank-biased overlap of two lists down to a depth."""
    shares = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, depth + 1)]
    weights = [p ** (d - 1) for d in range(1, depth + 1)]
    return sum(s * w for s, w in zip(shares, weights, strict=True)) / sum(weights)


def compatibility(ranking: Ranking, grades: Grades, at: None, p: float, normalize: bool) -> float:
    place = {doc: i for i, doc in enumerate(ranking)}
    ideal = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: (-grades[doc], place.get(doc, math.inf)))
    if not ideal:
        return 0.0
    depth = max(len(ranking), len(ideal))
    score = overlap(ranking, ideal, p, depth)
    return score / overlap(ideal, ideal, p, depth) if normalize else score


# --- diversity: the grades are {subtopic: {document: grade}} ----------------------------------------------------------

Subtopics = Mapping[str, Grades]


def topics_of(subtopics: Subtopics, rel: float) -> dict[str, set[str]]:
    """Subtopics that each document is relevant to."""
    topics: dict[str, set[str]] = {}
    for subtopic, grades in subtopics.items():
        for doc, grade in grades.items():
            if grade >= rel:
                topics.setdefault(doc, set()).add(subtopic)
    return topics


def subtopics_with_relevant(subtopics: Subtopics, rel: float) -> int:
    return sum(any(grade >= rel for grade in grades.values()) for grades in subtopics.values())


def novelty(doc: str, before: Sequence[str], topics: Mapping[str, set[str]], alpha: float) -> float:
    """Each subtopic gains (1 - alpha) to the number of its relevant documents before."""
    return sum(
        (1 - alpha) ** sum(subtopic in topics.get(other, ()) for other in before) for subtopic in topics.get(doc, ())
    )


def greedy(topics: Mapping[str, set[str]], alpha: float) -> list[str]:
    """The ideal list: at each rank the document of greatest novelty, of equal ones that with the greatest id."""
    chosen: list[str] = []
    while len(chosen) < len(topics):
        rest = [doc for doc in topics if doc not in chosen]
        chosen.append(max(rest, key=lambda doc: (novelty(doc, chosen, topics, alpha), doc)))
    return chosen


def novelty_sum(
    ranking: Ranking, topics: Mapping[str, set[str]], alpha: float, weight: Callable[[int], float]
) -> float:
    return sum(novelty(doc, ranking[:i], topics, alpha) * weight(i + 1) for i, doc in enumerate(ranking))


def _log(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _reciprocal(rank: int) -> float:
    return 1 / rank


def _over_ideal(
    ranking: Ranking, subtopics: Subtopics, at: int | None, rel: float, alpha: float, weight: Callable[[int], float]
) -> float:
    topics = topics_of(subtopics, rel)
    best = novelty_sum(cut(greedy(topics, alpha), at), topics, alpha, weight)
    return over(novelty_sum(cut(ranking, at), topics, alpha, weight), best)


def _over_most(
    ranking: Ranking, subtopics: Subtopics, at: int, rel: float, alpha: float, weight: Callable[[int], float]
) -> float:
    """Over what a list would gain whose every document is relevant to every subtopic."""
    most = sum((1 - alpha) ** (i - 1) * weight(i) for i in range(1, at + 1)) * subtopics_with_relevant(subtopics, rel)
    return over(novelty_sum(ranking[:at], topics_of(subtopics, rel), alpha, weight), most)


def alpha_ndcg(ranking: Ranking, subtopics: Subtopics, at: int | None, rel: float, alpha: float) -> float:
    return _over_ideal(ranking, subtopics, at, rel, alpha, _log)


def alpha_dcg(ranking: Ranking, subtopics: Subtopics, at: int, rel: float, alpha: float) -> float:
    return _over_most(ranking, subtopics, at, rel, alpha, _log)


def err_ia(ranking: Ranking, subtopics: Subtopics, at: int, rel: float) -> float:
    return _over_most(ranking, subtopics, at, rel, 0.5, _reciprocal)


def nerr_ia(ranking: Ranking, subtopics: Subtopics, at: int | None, rel: float) -> float:
    return _over_ideal(ranking, subtopics, at, rel, 0.5, _reciprocal)


def nrbp(ranking: Ranking, subtopics: Subtopics, at: None, rel: float, alpha: float, beta: float) -> float:
    gained = novelty_sum(ranking, topics_of(subtopics, rel), alpha, lambda rank: beta ** (rank - 1))
    return over((1 - (1 - alpha) * beta) * gained, subtopics_with_relevant(subtopics, rel))


def nnrbp(ranking: Ranking, subtopics: Subtopics, at: None, rel: float, alpha: float, beta: float) -> float:
    return _over_ideal(ranking, subtopics, None, rel, alpha, lambda rank: beta ** (rank - 1))


def _mean_over_subtopics(score: Callable[[Grades], float], subtopics: Subtopics, rel: float) -> float:
    """Subtopics without a relevant document are left out."""
    values = [score(grades) for grades in subtopics.values() if in_all(grades, rel)]
    return over(sum(values), len(values))


def p_ia(ranking: Ranking, subtopics: Subtopics, at: int, rel: float) -> float:
    return _mean_over_subtopics(lambda grades: hits(ranking[:at], grades, rel) / at, subtopics, rel)


def ap_ia(ranking: Ranking, subtopics: Subtopics, at: None, rel: float) -> float:
    return _mean_over_subtopics(lambda grades: average_precision(ranking, grades, None, rel), subtopics, rel)


def subtopic_recall(ranking: Ranking, subtopics: Subtopics, at: int | None, rel: float) -> float:
    return _mean_over_subtopics(lambda grades: float(hits(cut(ranking, at), grades, rel) > 0), subtopics, rel)


def all_groups(ranking: Ranking, subtopics: Subtopics, at: int | None, rel: float) -> float:
    return float(subtopic_recall(ranking, subtopics, at, rel) == 1)


# --- evidence that is needed together, and no answer ------------------------------------------------------------------


def all_relevant(ranking: Ranking, grades: Grades, at: int | None, rel: float) -> float:
    wanted = {doc for doc in grades if is_relevant(doc, grades, rel)}
    return float(bool(wanted) and wanted <= set(cut(ranking, at)))


def exact_set(ranking: Ranking, grades: Grades, at: int | None, rel: float) -> float:
    wanted = {doc for doc in grades if is_relevant(doc, grades, rel)}
    return float(bool(wanted) and wanted == set(cut(ranking, at)))


def handled(ranking: Ranking, grades: Grades, at: int | None, rel: float, threshold: None) -> float:
    """Of a query that has an answer, without a threshold: lists alone tell no more."""
    return float(bool(ranking) and (at is None or hits(cut(ranking, at), grades, rel) > 0))


# --- all of them ------------------------------------------------------------------------------------------------------

# --- characters of passages: a place is (document, start, end) -------------------------------------------------------

Where = tuple[str, int, int]


def characters(places: Sequence[Where]) -> set[tuple[str, int]]:
    return {(doc, at) for doc, start, end in places for at in range(start, end)}


def lengths(places: Sequence[Where]) -> int:
    return sum(end - start for _, start, end in places)


def char_precision(listed: Sequence[Where], gold: Sequence[Where], chunks: Sequence[Where], overlaps: str) -> float:
    found, all_of = characters(listed) & characters(gold), characters(listed)
    divisor = lengths(listed) if overlaps == "each" else len(all_of)
    return len(found) / divisor if divisor else 0.0


def char_recall(listed: Sequence[Where], gold: Sequence[Where], chunks: Sequence[Where], overlaps: str) -> float:
    found = characters(listed) & characters(gold)
    divisor = lengths(gold) if overlaps == "each" else len(characters(gold))
    return len(found) / divisor if divisor else 0.0


def char_iou(listed: Sequence[Where], gold: Sequence[Where], chunks: Sequence[Where], overlaps: str) -> float:
    found = characters(listed) & characters(gold)
    both = len(characters(listed) | characters(gold))
    if overlaps == "each":  # chunking_evaluation: lengths of the chunks, and the gold that none of them holds
        both = lengths(listed) + len(characters(gold) - characters(listed))
    return len(found) / both if both else 0.0


def char_best(listed: Sequence[Where], gold: Sequence[Where], chunks: Sequence[Where], overlaps: str) -> float:
    holding = characters([chunk for chunk in chunks if characters([chunk]) & characters(gold)])
    both = holding | characters(gold)
    return len(holding & characters(gold)) / len(both) if both else 0.0


CHARACTERS: dict[str, Callable[..., float]] = {
    "CharP": char_precision,
    "CharR": char_recall,
    "CharIoU": char_iou,
    "CharPBest": char_best,
}

ORACLES: dict[str, Callable[..., float]] = {
    "P": precision,
    "R": recall,
    "F1": f_measure,
    "Success": success,
    "Judged": judged,
    "Unjudged": unjudged,
    "Rprec": r_precision,
    "SetP": set_precision,
    "SetRelP": set_relative_precision,
    "SetR": set_recall,
    "SetF": set_f,
    "SetAP": set_ap,
    "Accuracy": accuracy,
    "NumQ": number_of_queries,
    "NumRet": number_retrieved,
    "NumRel": number_relevant,
    "NumRelRet": number_relevant_retrieved,
    "NumNonrelJudgedRet": number_nonrelevant_judged_retrieved,
    "Utility": utility,
    "AP": average_precision,
    "RR": reciprocal_rank,
    "infAP": inferred_ap,
    "Bpref": binary_preference,
    "IPrec": interpolated_precision,
    "AvgIPrec": average_interpolated_precision,
    "GMAP": average_precision,
    "GMBpref": binary_preference,
    "nDCG": ndcg,
    "DCG": dcg,
    "ERR": err,
    "nERR": nerr,
    "RBP": rbp,
    "RBPResidual": rbp_residual,
    "binG": binary_g,
    "G": normalized_g,
    "nDCGRel": ndcg_at_relevant,
    "RnDCG": ndcg_at_levels,
    "BPM": bpm,
    "INST": inst,
    "INSQ": insq,
    "SDCG": sdcg,
    "NERR8": nerr8,
    "NERR9": nerr9,
    "NERR10": nerr10,
    "NERR11": nerr11,
    "Compat": compatibility,
    "AllRel": all_relevant,
    "SetEM": exact_set,
    "Handled": handled,
}
DIVERSITY: dict[str, Callable[..., float]] = {
    "alpha_nDCG": alpha_ndcg,
    "alpha_DCG": alpha_dcg,
    "ERR_IA": err_ia,
    "nERR_IA": nerr_ia,
    "NRBP": nrbp,
    "nNRBP": nnrbp,
    "P_IA": p_ia,
    "AP_IA": ap_ia,
    "StRecall": subtopic_recall,
    "AllGroups": all_groups,
}
FLOOR = 0.00001
"""Least value inside a geometric mean."""


def oracle(
    name: str,
    at: float | None,
    parameters: Mapping[str, Any],
    ranking: Ranking,
    grades: Grades,
    subtopics: Subtopics | None = None,
) -> float:
    """The value of one measure for one query. A document's grade is its best one over the subtopics."""
    values = dict(parameters)
    if values.pop("judged_only", False):
        ranking = [doc for doc in ranking if grades.get(doc, -1) >= 0]
    if "gains" in values and values["gains"] is not None:
        values["gains"] = dict(values["gains"])
    if "grades" in values:
        values["grades_as"] = values.pop("grades")
    if name in DIVERSITY:
        assert subtopics is not None
        return DIVERSITY[name](ranking, subtopics, at, **values)
    return ORACLES[name](ranking, grades, at, **values)


def aggregate(how: str, values: Sequence[float]) -> float:
    """Mean, sum or geometric mean over queries; 0 where there is none."""
    if how == "sum":
        return sum(values)
    if not values:
        return 0.0
    if how == "geometric":
        return math.prod(max(value, FLOOR) for value in values) ** (1 / len(values))
    return sum(values) / len(values)
