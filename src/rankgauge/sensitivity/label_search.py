"""The greatest difference between two systems over all labellings of the open documents, query by query.

Each search takes a `Problem` and gives `(high, exact)` for the queries it is asked for; the least difference is minus
the greatest one of the two systems exchanged. What a search may rely on is the measure's `form`.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np

from rankgauge.engine.virtual import Labels, Problem, Ragged, blind_to_zero, score_probes
from rankgauge.measures import Law
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.sensitivity.additive_search import additive_differences

__all__ = ["cost_of_each", "differences"]

_LABELLINGS = 4096  # of one query that are tried one by one
_WORK = 12_000_000  # hits and judgments of virtual queries, for one measure and pair


def differences(problem: Problem) -> tuple[Floats, Floats, Bools] | None:
    """(low, high, exact) of score_b - score_a for each query; None where a query has no bound at all."""
    n = len(problem.open)
    low, high, exact = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    form = problem.measure.definition.form(problem.measure)
    left = np.arange(n)
    if form == "first" and len(problem.levels) == 2:
        low, high = _first(problem)
        return low, high, np.ones(n, dtype=bool)
    if form == "additive":
        low, high, exact = additive_differences(problem)
        least, most = _bounds(problem) or (-np.inf, np.inf)
        return np.maximum(low, least), np.minimum(high, most), exact
    tried = _affordable(_labellings(problem), problem.sizes, left, _LABELLINGS)
    low[tried], high[tried] = _each(problem, tried)
    exact[tried] = True
    left = np.setdiff1d(left, tried)
    if form == "sorted" and len(left):
        tried = _affordable(_multisets(problem), 2 * problem.sizes, left, 1 << 16)
        high[tried] = _sorted(problem, tried)
        low[tried] = -_sorted(problem.reversed, tried)
        left = np.setdiff1d(left, tried)
    if len(left):
        bounds = _bounds(problem)
        if bounds is None:
            return None
        low[left], high[left] = bounds
    return low, high, exact


def _bounds(problem: Problem) -> tuple[float, float] | None:
    """What the difference can be at all."""
    gains = problem.measure.get("gains") or ()
    if Law.BOUNDED not in problem.measure.definition.laws or any(gain < 0 for _, gain in gains):
        return None
    return 0.0 if problem.a is None else -1.0, 0.0 if problem.b is None else 1.0


def cost_of_each(problem: Problem) -> Floats:
    """About how many hits and judgments the search has to score for each query."""
    form = problem.measure.definition.form(problem.measure)
    if form == "first":
        return problem.open.astype(np.float64)
    if form == "additive":
        return np.asarray(64.0 * problem.sizes)
    labellings = _labellings(problem)
    return np.asarray(np.where(labellings <= _LABELLINGS, labellings, 2 * _multisets(problem)) * problem.sizes)


def _labellings(problem: Problem) -> Floats:
    return np.asarray(np.rint(np.exp2(np.minimum(np.log2(len(problem.levels)) * problem.open, 64))))


def _multisets(problem: Problem) -> Floats:
    steps = len(problem.levels) - 1
    return np.array([comb(int(u) + steps, steps) for u in problem.open], dtype=np.float64)


def _affordable(rows: Floats, sizes: Ints, among: Ints, most: int) -> Ints:
    """Queries, the cheapest first, whose virtual queries can all be scored within the budget."""
    order = among[np.argsort((rows * sizes)[among], kind="stable")]
    spent = np.cumsum((rows * sizes)[order])
    return np.sort(order[(spent <= _WORK) & (rows[order] <= most)])


def _each(problem: Problem, queries: Ints) -> tuple[Floats, Floats]:
    """Least and greatest difference by trying every labelling."""
    low, high = np.zeros(len(queries)), np.zeros(len(queries))
    levels, zeros = np.asarray(problem.levels), not blind_to_zero(problem.measure)
    for u in np.unique(problem.open[queries]).tolist():
        digits = np.arange(len(levels) ** u)[:, None] // len(levels) ** np.arange(u) % len(levels)
        same = np.flatnonzero(problem.open[queries] == u)
        for some in np.array_split(same, max(1, len(same) * digits.size // 2_000_000)):
            number = np.repeat(queries[some], len(digits))
            labels = Labels.dense(np.tile(levels[digits], (len(some), 1)), zeros=zeros)
            value = problem.difference(number, labels).reshape(len(some), len(digits))
            low[some], high[some] = value.min(axis=1), value.max(axis=1)
    return low, high


def _sorted(problem: Problem, queries: Ints) -> Floats:
    """For every multiset of labels: b's best arrangement less a's worst one, each for itself; an outer bound."""
    high = np.zeros(len(queries))
    levels, zeros = np.asarray(problem.levels), not blind_to_zero(problem.measure)
    for u in np.unique(problem.open[queries]).tolist():
        counts = list(combinations_with_replacement(range(u + 1), len(levels) - 1))
        steps = np.array(counts, dtype=np.int64).reshape(len(counts), len(levels) - 1)
        # As many documents as step j says, the first ones, get at least level j.
        best_first = levels[(np.arange(u) < steps[:, :, None]).sum(axis=1)]
        same = np.flatnonzero(problem.open[queries] == u)
        for some in np.array_split(same, max(1, len(same) * best_first.size // 2_000_000)):
            number = np.repeat(queries[some], len(steps))
            value = np.zeros(len(number))
            for system, sign in ((problem.b, 1), (problem.a, -1)):
                if system is not None:
                    order = _by_worth(system.open_ranks[queries[some], :u], best=sign > 0)
                    labels = np.empty((len(some), len(steps), u))
                    np.put_along_axis(labels, order[:, None, :], best_first[None], axis=2)
                    value += sign * problem.score(system, number, Labels.dense(labels.reshape(-1, u), zeros=zeros))
            high[some] = value.reshape(len(some), len(steps)).max(axis=1)
    return high


def _by_worth(rank: Ints, *, best: bool) -> Ints:
    """Documents from where a good label does most (or, for the worst arrangement, least) to where it does least."""
    last = int(rank.max(initial=0)) + 1
    place = np.where(rank == 0, last, rank)
    return np.argsort(place if best else -place, axis=1, kind="stable")


def _first(problem: Problem) -> tuple[Floats, Floats]:
    """At most one relevant label suffices: the one that b's score comes from can only raise a's by less if alone."""
    none = Labels.none()
    number = np.arange(len(problem.open))
    row, doc = np.nonzero(np.arange(int(problem.open.max(initial=0))) < problem.open[:, None])
    nothing = Ragged(np.zeros(2, dtype=np.int64), np.zeros(0))
    grade = max(problem.levels)
    alone, base = np.zeros((2, len(row))), np.zeros((2, len(number)))
    for i, system in enumerate((problem.a, problem.b)):
        if system is not None:
            base[i] = problem.score(system, number, none)
            rank = system.open_ranks[row, doc]
            retrieved = system.retrieved[row]
            single = score_probes(problem.measure, retrieved, rank, grade, nothing, np.zeros_like(row), none)
            alone[i] = np.maximum(base[i][row], single)
    low, high = base[1] - base[0], base[1] - base[0]
    np.minimum.at(low, row, alone[1] - alone[0])
    np.maximum.at(high, row, alone[1] - alone[0])
    return low, high
