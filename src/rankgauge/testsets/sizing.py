"""`plan_size`: how many queries, and labels for each, the decision between two systems takes, and what it costs.

The spread of the per-query differences comes from judgments that there are. Labels of fewer documents are tried by
scoring again with those among the first k of a run alone: the spread, the difference and the verdict may change. A
model that labels N queries of which people check m has the variance B / N + (1 - m / N) R / m, with B that of the
differences and R that of what the model leaves open (`stats.prediction_powered`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.evaluation import make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.ranked import Floats
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.stats.levels import check_number, check_power, check_whole
from rankgauge.stats.power import detectable_difference
from rankgauge.stats.prediction_powered import LEAST_CHECKED, Powered, prediction_powered
from rankgauge.testsets.label_sets import LabelSet, read_labels
from rankgauge.testsets.rescoring import ScoredRuns, in_memory, pooled
from rankgauge.testsets.size_options import Asked, PooledLabels, SizeOption, by_judge, by_people, rank
from rankgauge.words import Note

__all__ = ["SizePlan", "plan_size"]

_DEPTHS = (5, 10, 20, 50, 100)
_MARGIN = 0.01
"""The difference to be found where the one that was seen is smaller."""
_LEAST = 2


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
            if not 0 < (value if name == "budget" else abs(value)) < math.inf:
                raise DataError(f"`{name}={value!r}` must be a number above 0")
    prices = _price("label_price", label_price, 1.0), _price("call_price", call_price, 0.0)
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
    bounds = scored.measures[0].widest
    if difference is not None and bounds is not None and abs(difference) > bounds[1]:
        raise DataError(
            f"`difference={difference!r}`: scores of {scored.measures[0].name} differ by {bounds[1]:g} at most"
        )
    target = abs(difference) if difference is not None else max(abs(seen), _MARGIN)
    asked = Asked(target, budget, *prices, power, alpha, most)
    deviation = float(full.values.std(ddof=1))
    if not deviation > 0:
        raise DataError(f"{a} and {b} score alike on every query, which says nothing about the size of a test set")
    level = 1 - alpha
    options = []
    for pool in pools:
        shift = float(pool.values.mean()) - seen
        same = _sign(pool.values, level, bounds) == _sign(full.values, level, bounds)
        spread = float(pool.values.std(ddof=1))
        found = [by_people(pool, spread, asked)]
        if pool.judge is not None:
            found.append(by_judge(pool, pool.judge, asked))
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
        options=sorted(options, key=lambda option: rank(option, asked)),
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


def _pools(scored: ScoredRuns, labels: LabelSet, judge: LabelSet | None, queries: Sequence[str]) -> list[PooledLabels]:
    """From shallow to as deep as was judged."""
    own = labels.by_query()
    both = [] if judge is None else _shared(labels, judge)
    theirs = {} if judge is None else judge.by_query()
    found: list[PooledLabels] = []

    def made(depth: int | None, ranks: Mapping[str, Mapping[str, int]] | None, each: float) -> PooledLabels:
        def cut(grades: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
            kept = {q: docs.keys() if ranks is None else docs.keys() & ranks.get(q, {}) for q, docs in grades.items()}
            return {q: {doc: grades[q][doc] for doc in docs} for q, docs in kept.items()}

        first, second = scored.under(cut(own), queries).values()
        values = (second - first)[:, 0]
        powered = None
        if len(both) >= LEAST_CHECKED:
            f, g = scored.under(cut(theirs), both).values()
            row = {query: number for number, query in enumerate(queries)}
            bounds = scored.measures[0].widest
            powered = prediction_powered((g - f)[:, 0], values[[row[query] for query in both]], bounds=bounds)
        return PooledLabels(depth, each, values, powered)

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
