"""Exact ranges for additive measures: only how many documents get which label has to be searched.

With n_j documents at level j or above, f(0) < f(1) < ... and score_s = (B_s + sum_d W_s(d) f(x_d)) / D_s, the greatest
difference is reached by giving the better labels to the documents with the greater W_b(d)/D_b - W_a(d)/D_a
(rearrangement inequality). Counts are searched box by box: since D never falls when labels rise, its values at the two
corners of a box bound all that lies within.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankgauge.engine.virtual import Labels, Problem, Ragged, System, blind_to_zero, score_labellings, score_probes
from rankgauge.model.ranked import Bools, Floats, Ints

__all__ = ["additive_differences"]

_WORK = 25_000_000  # labels and judgments of virtual queries, for one measure, pair and end of the range
_TOLERANCE = 1e-12


def additive_differences(problem: Problem) -> tuple[Floats, Floats, Bools]:
    """(low, high, exact) of score_b - score_a for each query."""
    sums = _Sums(problem)
    high, exact_high = _greatest(sums)
    low, exact_low = _greatest(sums.reversed())
    return -low, high, exact_high & exact_low


def _share(part: Floats, whole: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole != 0, part / whole, 0.0)


def _sums_of_greatest(weights: Floats, inside: Bools) -> tuple[Floats, Ints]:
    """For each query the sums of its 0, 1, 2 ... greatest weights, and how many of them are positive."""
    falling = -np.sort(np.where(inside, -weights, np.inf), axis=1)
    falling = np.where(inside, falling, 0.0)
    sums = np.concatenate((np.zeros((len(weights), 1)), np.cumsum(falling, axis=1)), axis=1)
    return sums, (falling > 0).sum(axis=1)


@dataclass
class _Side:
    """One system: B and W where every open document has the probe's grade, and 1 / D beside that of this case."""

    base: Floats
    weights: Floats
    retrieved: Ints
    reference: Floats
    there: bool = True


class _Sums:
    """An additive measure taken apart, with the kernel as the only source: a list with one judged document tells the
    weight of its rank, f of its grade, or 1 / D under other labels."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._blind = blind_to_zero(problem.measure)
        f, self._probe, self._top = self._worth()
        self.f, chosen = np.unique(f, return_index=True)  # levels of one f are as good as one
        self._levels = np.asarray(problem.levels, dtype=np.float64)[chosen]
        self.a, self.b = self._side(problem.a), self._side(problem.b)
        # One divisor for both, up to a factor: certain where both lists are of one length.
        n = len(problem.open)
        self.common: Bools = np.ones(n, dtype=bool)
        if problem.a is not None and problem.b is not None:
            self.common = problem.a.retrieved == problem.b.retrieved

    def reversed(self) -> _Sums:
        """The same with the two systems exchanged."""
        turned = copy(self)
        turned.a, turned.b = self.b, self.a
        turned.__dict__.pop("ordered", None)
        return turned

    def _worth(self) -> tuple[Floats, float, float]:
        """f of every level up to a common factor; a grade with the greatest f, and that f."""
        levels = np.asarray(self.problem.levels, dtype=np.float64)
        grades = np.unique(np.concatenate((levels, self.problem.judged.values)))
        known = Ragged(np.array([0, len(grades)]), grades)
        one, first = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        f = np.array(
            [score_probes(self.problem.measure, 10 * one, one, g, known, first, Labels.none())[0] for g in grades]
        )
        probe = int(np.argmax(f)) if f.max() > 0 else int(np.argmin(f))
        return f[np.searchsorted(grades, levels)], float(grades[probe]), float(f[probe])

    def _side(self, system: System | None) -> _Side:
        problem, n = self.problem, len(self.problem.open)
        inside = problem.inside
        nothing = np.zeros(n, dtype=np.int64)
        if system is None or self._top == 0:
            return _Side(np.zeros(n), np.zeros(inside.shape), nothing, np.zeros(n), there=False)
        number = np.arange(n)
        labels = Labels.dense(np.where(inside, self._probe, np.nan))
        measure, probe = problem.measure, self._probe
        reference = score_probes(measure, system.retrieved, nothing + 1, probe, problem.judged, number, labels)
        deepest = int(system.open_ranks.max(initial=1))
        rank, same = np.arange(1, deepest + 1), np.full(deepest, deepest)
        alone = Ragged(np.array([0, 1]), np.array([probe]))
        weight = score_probes(measure, same, rank, probe, alone, np.zeros_like(rank), Labels.none())
        share = np.append(0.0, _share(weight, np.full(deepest, weight[0])))
        unseen = replace(system, open_ranks=np.zeros_like(system.open_ranks))
        base = score_labellings(measure, unseen, problem.judged, number, labels)
        return _Side(base, share[system.open_ranks] * reference[:, None] / self._top, system.retrieved, reference)

    def scales(self, query: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """1 / D of both systems where counts[:, j] documents have level j + 1 or above."""
        problem = self.problem
        open_ = problem.open[query]
        counted = counts[:, 0] if self._blind and self._levels[0] == 0 and counts.shape[1] else open_
        row = np.repeat(np.arange(len(query)), counted)
        place = np.arange(len(row)) - np.repeat(np.cumsum(counted) - counted, counted)
        level = np.zeros(len(row), dtype=np.int64)
        for j in range(counts.shape[1]):
            level += place < counts[row, j]
        grade = self._levels[level]
        keep = (grade > 0) if self._blind else np.ones(len(row), dtype=bool)
        labels = Labels(row[keep], place[keep], grade[keep])

        def of(side: _Side) -> Floats:
            retrieved, first = side.retrieved[query], np.ones(len(query), dtype=np.int64)
            value = score_probes(problem.measure, retrieved, first, self._probe, problem.judged, query, labels)
            return _share(value, side.reference[query])

        if not self.a.there or not self.b.there:
            alone = of(self.b if self.b.there else self.a)
            return alone, alone
        b = of(self.b)
        return (b if self.common[query].all() else of(self.a)), b

    @cached_property
    def ordered(self) -> tuple[Floats, Floats, Ints]:
        """For a common divisor: what all labellings have, sums of the greatest weights, and how many are positive."""
        inside = self.problem.inside
        weights = np.where(inside, self.b.weights - self.a.weights, 0.0)
        base = self.b.base - self.a.base + self.f[0] * weights.sum(axis=1)
        return base, *_sums_of_greatest(weights, inside)

    def evaluate(self, box: _Boxes) -> tuple[Floats, Floats]:
        """For each box of counts: a bound on the difference, and a difference that is reached in it."""
        box.fill(self)
        common = self.common[box.query]
        bound, reached = np.empty(len(common)), np.empty(len(common))
        for part, how in ((common, self._together), (~common, self._apart)):
            if part.any():
                bound[part], reached[part] = how(box.where(part))
        return bound, reached

    def _together(self, box: _Boxes) -> tuple[Floats, Floats]:
        base, sums, positive = self.ordered

        def total(counts: Ints) -> Floats:
            return np.asarray(base[box.query] + sums[box.query[:, None], counts] @ np.diff(self.f))

        at_low, at_high = box.at_low[:, 1], box.at_high[:, 1]
        most = total(np.clip(positive[box.query, None], box.low, box.high))
        bound = most * np.where(most > 0, at_low, at_high)
        return bound, np.maximum(total(box.low) * at_low, total(box.high) * at_high)

    def limits(self) -> tuple[Ints, Ints]:
        """Least and greatest count that can be best, at every level.

        With a common divisor: if the greatest sum is above 0, labels on documents of negative weight lower the sum
        and raise D, so both get worse by them; if it is not, labels on all documents of positive weight raise both, and
        a sum below 0 gets better by either.
        """
        least, most = np.zeros_like(self.problem.open), self.problem.open.copy()
        base, sums, positive = self.ordered
        row = np.arange(len(base))
        above = base + sums[row, positive] * (self.f[-1] - self.f[0]) > 0
        most[self.common & above] = positive[self.common & above]
        least[self.common & ~above] = positive[self.common & ~above]
        return least, most

    def _apart(self, box: _Boxes) -> tuple[Floats, Floats]:
        low, high = box.at_low.T, box.at_high.T
        # 1 / D falls from the low corner to the high one, so a's least goes with b's greatest weights.
        bound = self._sum(box.query, box.low, box.high, high[0], low[1], low[0], high[1])
        at_low = self._sum(box.query, box.low, box.low, *low, *low)
        return bound, np.maximum(at_low, self._sum(box.query, box.high, box.high, *high, *high))

    def _sum(
        self, query: Ints, low: Ints, high: Ints, a: Floats, b: Floats, other_a: Floats, other_b: Floats
    ) -> Floats:
        """The greatest sum if the weights of a are scaled by `a` and those of b by `b` (or by the others, where that
        is more)."""
        inside = self.problem.inside[query]
        weight_a, weight_b = self.a.weights[query], self.b.weights[query]
        best = np.where(inside, b[:, None] * weight_b - a[:, None] * weight_a, 0.0)
        worst = np.where(inside, other_b[:, None] * weight_b - other_a[:, None] * weight_a, 0.0)
        sums, positive = _sums_of_greatest(best, inside)
        counts = np.clip(positive[:, None], low, high)
        base_a, base_b = self.a.base[query], self.b.base[query]
        base = np.maximum(b * base_b, other_b * base_b) - np.minimum(a * base_a, other_a * base_a)
        least = self.f[0] * (best if self.f[0] > 0 else worst).sum(axis=1)
        return np.asarray(base + least + np.take_along_axis(sums, counts, axis=1) @ np.diff(self.f))


@dataclass
class _Boxes:
    """Boxes of counts, boxes by levels, and 1 / D of both systems at their corners, NaN where not yet known."""

    query: Ints
    low: Ints
    high: Ints
    at_low: Floats
    at_high: Floats

    @staticmethod
    def of(query: Ints, low: Ints, high: Ints) -> _Boxes:
        unknown = np.full((len(query), 2), np.nan)
        return _Boxes(query, low, high, unknown, unknown.copy())

    def where(self, part: Bools) -> _Boxes:
        return _Boxes(self.query[part], self.low[part], self.high[part], self.at_low[part], self.at_high[part])

    def fill(self, sums: _Sums) -> None:
        point = (self.low == self.high).all(axis=1)
        for known, other, counts in ((self.at_low, self.at_high, self.low), (self.at_high, self.at_low, self.high)):
            known[point] = np.where(np.isnan(known[point]), other[point], known[point])
            missing = np.isnan(known[:, 0])
            if missing.any():
                known[missing] = np.stack(sums.scales(self.query[missing], counts[missing]), axis=1)

    def split(self) -> tuple[_Boxes, Ints]:
        """Each box cut in two along its longest side, and from which one each part is; counts never rise with the
        level."""
        row, side = np.arange(len(self.query)), np.argmax(self.high - self.low, axis=1)
        middle = (self.low[row, side] + self.high[row, side]) // 2
        upper_low, lower_high = self.low.copy(), self.high.copy()
        lower_high[row, side] = middle
        upper_low[row, side] = middle + 1
        upper_low = np.maximum.accumulate(upper_low[:, ::-1], axis=1)[:, ::-1]
        lower_high = np.minimum.accumulate(lower_high, axis=1)
        unknown = np.full_like(self.at_low, np.nan)
        both = _Boxes(
            np.concatenate((self.query, self.query)),
            np.concatenate((self.low, upper_low)),
            np.concatenate((lower_high, self.high)),
            np.concatenate((self.at_low, unknown)),
            np.concatenate((unknown, self.at_high)),
        )
        some = np.asarray((both.low <= both.high).all(axis=1))
        return both.where(some), np.concatenate((row, row))[some]


def _greatest(sums: _Sums) -> tuple[Floats, Bools]:
    """The greatest difference of each query; where the work ran out, a bound on it."""
    n, steps = len(sums.problem.open), len(sums.f) - 1
    none = np.zeros((n, steps), dtype=np.int64)
    best = sums.evaluate(_Boxes.of(np.arange(n), none, none))[1]
    exact = np.ones(n, dtype=bool)
    least, most = sums.limits()
    query = np.flatnonzero(most > 0) if steps else np.zeros(0, dtype=np.int64)
    low, high = (np.repeat(limit[query, None], steps, axis=1) for limit in (least, most))
    low[:, :1] = np.maximum(low[:, :1], 1)  # all labels at the bottom, where D may be 0, is done already
    box = _Boxes.of(query, low, high)
    bound = np.full(len(query), np.inf)
    relevant = np.diff(sums.problem.judged.starts)
    sorting = np.where(sums.common, 0, 4 * sums.problem.inside.shape[1])
    work = 0
    while len(box.query):
        work += int((relevant[box.query] + box.high[:, 0] + sorting[box.query]).sum())
        if work > _WORK and np.isfinite(bound).all():
            np.maximum.at(best, box.query, bound)
            exact[box.query] = False
            break
        bound, reached = sums.evaluate(box)
        np.maximum.at(best, box.query, reached)
        more = (bound > best[box.query] + _TOLERANCE) & (box.low != box.high).any(axis=1)
        box, parent = box.where(more).split()
        bound = bound[more][parent]
    return best, exact
