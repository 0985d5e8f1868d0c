"""Ways to label for a decision: by people alone, or by a judge whom people check; what each costs and finds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankgauge.model.ranked import Floats
from rankgauge.stats.power import detectable_difference, least_whole
from rankgauge.stats.prediction_powered import LEAST_CHECKED, Powered

__all__ = ["Asked", "PooledLabels", "SizeOption", "by_judge", "by_people", "rank"]

_MOST_SHIFT = 0.25
"""Of the difference to be found: labels of fewer documents may change it by no more."""
_STEPS = 60
"""Numbers of queries that are tried for a judge."""


@dataclass(frozen=True)
class SizeOption:
    """One way to label: by whom, how deep, how many queries; what it costs and finds."""

    by: Literal["people", "judge"]
    """People label everything; or the judge does, and people check some queries."""
    depth: int | None
    """Documents among the first so many of a run; None for as many as were judged."""
    queries: int
    checked: int
    """Queries that people label."""
    labels_per_query: float
    people_labels: int
    judge_labels: int
    cost: float
    detectable: float
    """The least true difference that is found with the power asked for."""
    shift: float
    """How much the difference of the systems changes if only documents within the depth are judged."""
    same_verdict: bool
    """Whether the verdict with the judgments there are stays the same."""
    enough: bool
    """Whether the difference asked for is found."""

    def trusted(self, difference: float) -> bool:
        """Whether so few labels do not change the answer itself."""
        return self.same_verdict and abs(self.shift) <= difference * _MOST_SHIFT


@dataclass(frozen=True)
class Asked:
    difference: float
    budget: float | None
    label_price: float
    call_price: float
    power: float
    alpha: float
    most: int


@dataclass(frozen=True)
class PooledLabels:
    """What labels of a pool of some depth give."""

    depth: int | None
    labels: float
    """For each query."""
    values: Floats
    """The per-query differences."""
    judge: Powered | None


def rank(option: SizeOption, asked: Asked) -> tuple[Any, ...]:
    """Those that do what is asked first; the cheapest of them, at the same cost the one of fewest queries. For a
    budget, or where none does what is asked, the one that finds most: the cheapest that fails is the smallest that was
    tried, and would say of a way to label how little it finds with next to no labels."""
    order: tuple[float, ...] = (option.cost, option.queries, option.detectable)
    if asked.budget is not None or not option.enough:
        order = (option.detectable, option.cost, option.queries)
    return not option.trusted(asked.difference), not option.enough and asked.budget is None, *order


def by_people(pool: PooledLabels, spread: float, asked: Asked) -> SizeOption | None:
    """So many queries as find the difference, or as the budget pays for."""
    price = pool.labels * asked.label_price
    if asked.budget is not None:
        n = asked.most if not price else min(asked.most, math.floor(asked.budget / price))
    else:
        n = least_whole(lambda n: _finds(spread, n, asked) <= asked.difference, LEAST_CHECKED, asked.most) or asked.most
        n = min(n, asked.most)
    if n < LEAST_CHECKED:
        return None
    return _option("people", pool, n, n, _finds(spread, n, asked), asked)


def by_judge(pool: PooledLabels, known: Powered, asked: Asked) -> SizeOption | None:
    """The number of queries, and of checked ones, at which the difference is found for the least cost; for a budget, or
    where none finds it, the two that find the smallest difference."""
    best: SizeOption | None = None
    for n in sorted({int(n) for n in np.geomspace(LEAST_CHECKED, asked.most, _STEPS).round()}):
        if asked.budget is not None:
            left = asked.budget - n * pool.labels * asked.call_price
            price = pool.labels * asked.label_price
            checked = n if not price else min(n, math.floor(left / price))
            if left < 0 or checked < LEAST_CHECKED:
                continue
        else:
            found = least_whole(lambda m, n=n: _powered(known, n, m, asked) <= asked.difference, LEAST_CHECKED, n)  # type: ignore[misc]
            checked = n if found is None or found > n else found
        made = _option("judge", pool, n, checked, _powered(known, n, checked, asked), asked)
        if best is None or rank(made, asked) < rank(best, asked):
            best = made
    return best


def _finds(spread: float, n: int, asked: Asked) -> float:
    found = detectable_difference(spread, n, asked.alpha, asked.power)
    assert found is not None
    return found


def _powered(known: Powered, queries: int, checked: int, asked: Asked) -> float:
    """With t of m - 2 degrees of freedom: one went into the slope."""
    error = math.sqrt(known.between / queries + (1 - checked / queries) * known.residual / checked)
    return _finds(error * math.sqrt(checked - 1), checked - 1, asked)


def _option(
    by: Literal["people", "judge"], pool: PooledLabels, queries: int, checked: int, detectable: float, asked: Asked
) -> SizeOption:
    people, machine = checked * pool.labels, queries * pool.labels if by == "judge" else 0.0
    return SizeOption(
        by=by,
        depth=pool.depth,
        queries=queries,
        checked=checked,
        labels_per_query=pool.labels,
        people_labels=round(people),
        judge_labels=round(machine),
        cost=people * asked.label_price + machine * asked.call_price,
        detectable=detectable,
        shift=0.0,
        same_verdict=True,
        enough=detectable <= asked.difference * (1 + 1e-9),
    )
