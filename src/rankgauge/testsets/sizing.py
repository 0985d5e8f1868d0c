"""`plan_size`: how many queries, and how many labels for each, the decision between two systems takes, and what it costs.

The spread of the per-query differences comes from judgments that there are. Labels of fewer documents are tried by
scoring again with those among the first k of a run alone: the spread, the difference and the verdict may change. A model
that labels N queries of which people check m has the variance B / N + (1 - m / N) R / m, with B that of the
differences and R that of what the model leaves open (`stats.prediction_powered`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.evaluation import make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.ranked import Floats
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.stats.levels import check_number, check_power, check_whole
from rankgauge.stats.power import detectable_difference, least_whole
from rankgauge.stats.prediction_powered import LEAST_CHECKED, Powered, prediction_powered
from rankgauge.testsets.label_sets import LabelSet, read_labels
from rankgauge.testsets.rescoring import ScoredRuns, in_memory, pooled
from rankgauge.words import Note

__all__ = ["SizeOption", "SizePlan", "plan_size"]

_DEPTHS = (5, 10, 20, 50, 100)
_MARGIN = 0.01
"""The difference to be found where the one that was seen is smaller."""
_MOST_SHIFT = 0.25
"""Of the difference to be found: labels of fewer documents may change it by no more."""
_STEPS = 60
"""Numbers of queries that are tried for a model."""
_LEAST = 2


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


@named_arguments
@dataclass(frozen=True)
class SizePlan:
    """Options, the recommended one first."""

    measure: str
    a: str
    b: str
    difference: float
    """To be found."""
    given: bool
    """Whether it was asked for, or is what was seen."""
    seen: float
    seen_interval: Interval | None
    queries: int
    """Those the spread comes from."""
    deviation: float
    detectable: float
    """What these queries find as they are judged."""
    options: list[SizeOption]
    power: float
    alpha: float
    budget: float | None
    most_queries: int
    priced: bool
    """Whether prices were given; without them a label by people costs 1 and one by the judge nothing."""
    judge: Powered | None = None
    """What the judge's labels are worth on the difference, by the queries that people labelled too."""
    others: list[str] = field(default_factory=list)
    """Runs that were given beside the two that are nearest to a decision."""

    @property
    def recommended(self) -> SizeOption | None:
        """The first option, if it does what was asked for."""
        first = self.options[0]
        return first if first.enough and first.trusted(self.difference) else None

    @property
    def lead(self) -> Note:
        """The recommendation."""
        best = self.recommended
        about: dict[str, Any] = {"difference": self.difference, "measure": self.measure, "power": self.power}
        if best is None and self.budget is not None:
            first = self.options[0]
            return Note("sizing.lead_short", {**about, "detectable": first.detectable, "n": first.queries})
        if best is None:
            return Note("sizing.lead_none", {**about, "most": self.most_queries})
        about |= {"n": best.queries, "labels": round(best.labels_per_query), "cost": best.cost}
        about |= {"people": best.people_labels, "checked": best.checked}
        return Note(f"sizing.lead_{best.by}", about)

    @property
    def notes(self) -> list[Note]:
        """What to know beside the options."""
        seen = {"value": self.seen, "n": self.queries, "a": self.a, "b": self.b, "detectable": self.detectable}
        seen["interval"] = None if self.seen_interval is None else [self.seen_interval.low, self.seen_interval.high]
        notes = [Note("sizing.now", {**seen, "power": self.power})]
        if not self.given:
            key = "as_seen" if self.difference == abs(self.seen) else "as_margin"
            notes.append(Note(f"sizing.{key}", {"difference": self.difference}))
        notes.append(Note("sizing.uncertain", {"n": self.queries, "share": 1 / math.sqrt(2 * (self.queries - 1))}))
        if self.others:
            notes.append(Note("sizing.others", {"names": self.others, "a": self.a, "b": self.b}))
        if self.judge is not None:
            about = {"n": self.judge.checked, "reliance": self.judge.reliance}
            left = self.judge.residual / self.judge.between if self.judge.between else 0.0
            notes.append(Note("sizing.judge", {**about, "explained": max(0.0, 1 - left)}))
        if not self.priced:
            notes.append(Note("sizing.unpriced"))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        about = {one.name: getattr(self, one.name) for one in fields(self)}
        for name in ("seen_interval", "judge"):
            about[name] = None if about[name] is None else asdict(about[name])
        about["options"] = [asdict(option) for option in self.options]
        return {"format": "rankgauge.size", "version": 1, **about}


@dataclass(frozen=True)
class _Asked:
    difference: float
    budget: float | None
    label_price: float
    call_price: float
    power: float
    alpha: float
    most: int


@dataclass(frozen=True)
class _Pooled:
    """What labels of a pool of some depth give."""

    depth: int | None
    labels: float
    """For each query."""
    values: Floats
    """The per-query differences."""
    judge: Powered | None


@named_arguments
def plan_size(
    judgments: Any,
    runs: Mapping[str, Any],
    measure: str | Measure = "nDCG@10",
    *,
    difference: float | None = None,
    budget: float | None = None,
    judge: Any = None,
    label_price: float | None = None,
    call_price: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    most_queries: int = 1000,
    contract: str | Contract | None = None,
    rel: float | None = None,
) -> SizePlan:
    """How many queries, and labels for each, find a `difference` between two runs, or the most for a `budget`.

    `judgments` are labels by people of some queries; with `judge`, a model's labels of the same, letting it label and
    people check is an option too. Without a difference it is the one that was seen, 0.01 at least. Of more than two
    runs the best two are taken. `label_price` is that of a label by people, `call_price` of one by the model.
    """
    for name, value in (("difference", difference), ("budget", budget)):
        if value is not None:
            check_number(name, value)
            if not 0 < abs(value) < math.inf:
                raise DataError(f"`{name}={value!r}` must be a number above 0")
    prices = [_price("label_price", label_price, 1.0), _price("call_price", call_price, 0.0)]
    check_power(power, alpha)
    most = check_whole("most_queries", most_queries, LEAST_CHECKED)
    plan = make_plan(measure, contract, rel=rel)
    if len(plan.measures) != 1:
        raise DataError("the size is that of one decision: give one measure")
    scored = ScoredRuns(in_memory(runs, _LEAST), plan)
    labels, _ = read_labels(judgments, "judgments", people=True)
    machine = None if judge is None else read_labels(judge, "judge", people=False)[0]
    queries = list(labels.by_query())
    if len(queries) < _LEAST:
        raise DataError(f"{labels.name}: the spread of differences takes judgments of two queries or more")
    whole = scored.under(labels.by_query(), queries)
    a, b = _nearest(whole, lower=scored.measures[0].lower_is_better)
    pools = _pools(ScoredRuns({a: scored.runs[a], b: scored.runs[b]}, plan), labels, machine, queries)
    full = pools[-1]
    seen = float(full.values.mean())
    target = abs(difference) if difference is not None else max(abs(seen), _MARGIN)
    asked = _Asked(target, budget, *prices, power, alpha, most)
    deviation = float(full.values.std(ddof=1))
    if not deviation > 0:
        raise DataError(f"{a} and {b} score alike on every query, which says nothing about the size of a test set")
    bounds, level = scored.measures[0].widest, 1 - alpha
    options = []
    for pool in pools:
        shift = float(pool.values.mean()) - seen
        same = _sign(pool.values, level, bounds) == _sign(full.values, level, bounds)
        spread = float(pool.values.std(ddof=1))
        found = [_by_people(pool, spread, asked)]
        if pool.judge is not None:
            found.append(_by_judge(pool, pool.judge, asked))
        options += [replace(one, shift=shift, same_verdict=same) for one in found if one is not None]
    if not options:
        raise DataError(f"`budget={budget:g}` does not pay for {LEAST_CHECKED} queries; the cheapest are too dear")
    now = detectable_difference(deviation, len(queries), alpha, power)
    assert now is not None
    return SizePlan(
        measure=scored.measures[0].name,
        a=a,
        b=b,
        difference=target,
        given=difference is not None,
        seen=seen,
        seen_interval=mean_interval(full.values, level, bounds=bounds, shares=False),
        queries=len(queries),
        deviation=deviation,
        detectable=now,
        options=sorted(options, key=lambda option: _rank(option, asked)),
        power=power,
        alpha=alpha,
        budget=budget,
        most_queries=most,
        priced=label_price is not None or call_price is not None,
        judge=full.judge,
        others=[name for name in scored.runs if name not in (a, b)],
    )


def _price(name: str, given: Any, default: float) -> float:
    if given is None:
        return default
    check_number(name, given)
    if not 0 <= given < math.inf:
        raise DataError(f"`{name}={given!r}` must be a number from 0 on")
    return float(given)


def _nearest(scores: Mapping[str, Floats], *, lower: bool) -> tuple[str, str]:
    """Two runs as they were given; of more, the best by its mean and the next one."""
    names = list(scores)
    if len(names) == _LEAST:
        return names[0], names[1]
    means = {name: float(values.mean()) * (-1 if lower else 1) for name, values in scores.items()}
    best, second = sorted(names, key=lambda name: -means[name])[:_LEAST]
    return second, best


def _pools(scored: ScoredRuns, labels: LabelSet, judge: LabelSet | None, queries: Sequence[str]) -> list[_Pooled]:
    """From shallow to as deep as was judged."""
    own = labels.by_query()
    both = [] if judge is None else _shared(labels, judge)
    theirs = {} if judge is None else judge.by_query()
    found: list[_Pooled] = []

    def made(depth: int | None, ranks: Mapping[str, Mapping[str, int]] | None, each: float) -> _Pooled:
        def cut(grades: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
            return {q: {d: g for d, g in docs.items() if ranks is None or d in ranks.get(q, {})} for q, docs in grades.items()}

        first, second = scored.under(cut(own), queries).values()
        values = (second - first)[:, 0]
        powered = None
        if len(both) >= LEAST_CHECKED:
            f, g = scored.under(cut(theirs), both).values()
            row = {query: number for number, query in enumerate(queries)}
            bounds = scored.measures[0].widest
            powered = prediction_powered((g - f)[:, 0], values[[row[query] for query in both]], bounds=bounds)
        return _Pooled(depth, each, values, powered)

    judged = sum(map(len, own.values())) / len(queries)
    for depth in _DEPTHS:
        ranks = pooled(scored.runs.values(), queries, scored.plan, depth)
        each = sum(map(len, ranks.values())) / len(queries)
        if not each or each >= judged or (found and each == found[-1].labels):
            break
        found.append(made(depth, ranks, each))
    if judge is not None and len(both) < LEAST_CHECKED:
        raise DataError(
            f"people and the judge labelled {len(both)} of the queries wholly; with fewer than {LEAST_CHECKED} nothing "
            "can be said of the error of the judge"
        )
    return [*found, made(None, None, judged)]


def _shared(labels: LabelSet, judge: LabelSet) -> list[str]:
    """Queries of which the judge labelled all that people did."""
    theirs = judge.by_query()
    return [query for query, docs in labels.by_query().items() if docs.keys() <= theirs.get(query, {}).keys()]


def _sign(values: Floats, level: float, bounds: tuple[float, float] | None) -> int:
    interval = mean_interval(values, level, bounds=bounds, shares=False)
    return 0 if interval is None else int(interval.low > 0) - int(interval.high < 0)


def _rank(option: SizeOption, asked: _Asked) -> tuple[Any, ...]:
    """Those that do what is asked first; the cheapest of them, or for a budget the one that finds most."""
    order = (option.cost, option.detectable)
    if asked.budget is not None:
        order = (option.detectable, option.cost)
    return not option.trusted(asked.difference), not option.enough and asked.budget is None, *order


def _by_people(pool: _Pooled, spread: float, asked: _Asked) -> SizeOption | None:
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


def _by_judge(pool: _Pooled, known: Powered, asked: _Asked) -> SizeOption | None:
    """The number of queries, and of checked ones, at which the difference is found for the least cost; for a budget,
    the two that find the smallest difference."""
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
        if best is None or _rank(made, asked) < _rank(best, asked):
            best = made
    return best


def _finds(spread: float, n: int, asked: _Asked) -> float:
    found = detectable_difference(spread, n, asked.alpha, asked.power)
    assert found is not None
    return found


def _powered(known: Powered, queries: int, checked: int, asked: _Asked) -> float:
    """With t of m - 2 degrees of freedom: one went into the slope."""
    error = math.sqrt(known.between / queries + (1 - checked / queries) * known.residual / checked)
    return _finds(error * math.sqrt(checked - 1), checked - 1, asked)


def _option(
    by: Literal["people", "judge"], pool: _Pooled, queries: int, checked: int, detectable: float, asked: _Asked
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
