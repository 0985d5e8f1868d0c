"""How well one number separates two kinds of queries: those that have an answer and those that have none.

AUROC is the chance that a query with an answer scores higher than one without, ties counting half (Mann and Whitney
1947). Each end of its interval is the farther one of two:

    DeLong's (DeLong, DeLong and Clarke-Pearson 1988): the variance as it is seen, on the logit scale, with Student's
    quantile and Welch's degrees of freedom, since one kind of query is often rare. It claims certainty where the two
    kinds do not overlap, and covers too little near that.

    Newcombe's score interval (2006, method 5): the true values that do not contradict the one observed, with the
    variance that they would have if scores were exponential. It assumes more, but holds up near 1.

Simulated with 3 to 40 rare queries, true values of 0.6 to 0.98 and up to 70 % empty lists, 95 % intervals hold the true
value in 94.9 to 99.8 % of samples; DeLong's alone in as few as 87 %.
"""

from __future__ import annotations

import math

import numpy as np

from rankgauge.model.ranked import Bools, Floats
from rankgauge.stats.intervals import Interval, normal_quantile, student_quantile

__all__ = ["FOLDS", "REPEATS", "auroc", "auroc_interval", "balanced_accuracy", "best_threshold", "held_out_accuracy"]

FOLDS = 5
REPEATS = 20
"""Times that queries are put into folds anew; a figure from one partition depends on its luck."""


def _chances(scores: Floats, others: Floats) -> Floats:
    """For each score the share of the others below it, ties counting half."""
    ordered = np.sort(others)
    below, up_to = (np.searchsorted(ordered, scores, side=side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * len(others)), dtype=np.float64)


def auroc(answerable: Floats, unanswerable: Floats) -> float:
    """The chance that the first scores higher than the second; both must hold a score."""
    return float(_chances(answerable, unanswerable).mean())


def auroc_interval(answerable: Floats, unanswerable: Floats, level: float = 0.95) -> Interval:
    """The interval of AUROC over queries like these."""
    m, n = len(answerable), len(unanswerable)
    over, under = _chances(answerable, unanswerable), 1.0 - _chances(unanswerable, answerable)
    value, parts = float(over.mean()), (_variance(over), _variance(under))
    low, high = _score_bounds(value, m, n, normal_quantile((1 + level) / 2))
    variance = sum(parts)
    if variance <= 0 or not 0 < value < 1:
        return Interval(low, high, level, "newcombe")
    freedom = variance**2 / sum(own**2 / (size - 1) for own, size in zip(parts, (m, n), strict=True) if own)
    t = student_quantile((1 + level) / 2, max(1, math.floor(freedom + 1e-9)))
    centre, half = math.log(value / (1 - value)), t * math.sqrt(variance) / (value * (1 - value))
    left, right = (1 / (1 + math.exp(-min(max(centre + side * half, -700.0), 700.0))) for side in (-1, 1))
    return Interval(min(low, left), max(high, right), level, "delong")


def _variance(chances: Floats) -> float:
    """Of their mean; 0 where one is too few to tell."""
    return float(np.var(chances, ddof=1)) / len(chances) if len(chances) > 1 else 0.0


def _score_bounds(value: float, m: int, n: int, z: float) -> tuple[float, float]:
    """The true values that the observed one does not contradict."""
    half = (m + n) / 2 - 1

    def inside(truth: float) -> bool:
        spread = truth * (1 - truth) * (1 + half * (1 - truth) / (2 - truth) + half * truth / (1 + truth)) / (m * n)
        return abs(truth - value) <= z * math.sqrt(spread)

    def end(out: float) -> float:
        low, high = value, out
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if inside(middle) else (low, middle)
        return low

    return end(0.0), end(1.0)


def balanced_accuracy(answered: Bools, answerable: Bools) -> float:
    """The mean of two shares: of those with an answer the answered ones, of the others the refused ones."""
    return float((answered[answerable].mean() + (~answered[~answerable]).mean()) / 2)


def best_threshold(scores: Floats, answerable: Bools) -> float | None:
    """The threshold of greatest balanced accuracy where queries that score at least as much are answered, half-way
    between two scores; the lowest of the best. None where no score is finite. A score of -inf is never answered."""
    known = np.unique(scores[np.isfinite(scores)])
    if not len(known):
        return None
    middles = known[:-1] / 2 + known[1:] / 2  # never too large
    cuts = np.concatenate((known[:1], np.where(middles > known[:-1], middles, known[1:])))
    with_answer, without = np.sort(scores[answerable]), np.sort(scores[~answerable])
    hit = 1.0 - np.searchsorted(with_answer, cuts, side="left") / len(with_answer)
    refused = np.searchsorted(without, cuts, side="left") / len(without)
    return float(cuts[int((hit + refused).argmax())])


def held_out_accuracy(scores: Floats, answerable: Bools, seed: int = 0) -> tuple[float, int] | None:
    """Balanced accuracy of thresholds chosen on the other folds, and the number of folds; the mean over `REPEATS`
    partitions. Each fold has its share of both kinds. None with fewer than two queries of a kind."""
    kinds = [np.flatnonzero(answerable), np.flatnonzero(~answerable)]
    folds = min(FOLDS, *map(len, kinds))
    if folds < 2 or not np.isfinite(scores).any():
        return None
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(REPEATS):
        fold = np.empty(len(scores), dtype=np.int64)
        for rows in kinds:
            fold[rng.permutation(rows)] = np.arange(len(rows)) % folds
        answered = np.zeros(len(scores), dtype=bool)
        for number in range(folds):
            held = fold == number
            threshold = best_threshold(scores[~held], answerable[~held])
            answered[held] = threshold is not None and scores[held] >= threshold
        found.append(balanced_accuracy(answered, answerable))
    return float(np.mean(found)), folds
