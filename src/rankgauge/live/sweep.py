"""Sweeps: settings of a system tried one by one, quality beside latency, and an honest figure for the best one.

The best of many settings looks better than it is, because it is also the luckiest on these queries. So the queries are
cut into folds; for each fold the best setting on the other queries is scored on it, and these scores together are what
tuning is worth on queries it has not seen. Best is what the measure's own aggregate says, over the queries that count.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np

from rankgauge.engine.averaging import aggregate
from rankgauge.errors import DataError
from rankgauge.formats.json_values import plain_value
from rankgauge.live.live import LiveEvaluation, askable, evaluate_retriever
from rankgauge.live.live_checks import CHOICES, check_names, check_scoring, documents_of, keywords_of
from rankgauge.live.trials import try_settings
from rankgauge.measures import Measure, parse_measure
from rankgauge.model.ranked import Ints
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.runner import check_calls
from rankgauge.stats.intervals import Interval
from rankgauge.stats.latency import Latency
from rankgauge.stats.selection import interval_of_best

__all__ = ["FOLDS", "HeldOut", "Sweep", "Version", "few_queries", "settings_of", "sweep"]

FOLDS = 5
_CALLS = ("k", "concurrency", "timeout", "retries", "backoff", "max_failed")
_ASKED = ("retriever", "test_set", "measures", "name", "progress")


@dataclass(frozen=True)
class Version:
    """One setting and what it gave."""

    number: int
    parameters: Mapping[str, Any]
    mean: float
    interval: Interval | None
    p50: float | None
    """Seconds of a call: median, and 95th percentile."""
    p95: float | None
    throughput: float | None
    ann_recall: float | None
    """Share of the exact search's documents that this setting finds."""
    on_front: bool = False
    """No other setting is at least as good and faster."""
    timed_before: int = 0
    """How many of the calls behind p50 and p95 were made and timed in an earlier start, at the same concurrency."""

    @property
    def label(self) -> str:
        return f"V{self.number}"


@dataclass(frozen=True)
class HeldOut:
    """The score of tuning on queries that had no part in it."""

    mean: float
    """The measure's aggregate over the queries that count, each scored by the version that the other folds chose."""
    interval: Interval | None
    """95 % confidence interval of the best version's true mean, which holds although that version was chosen as the
    best (`stats.selection`); it is made as wide as to hold `mean` too. None for measures that are no means."""
    folds: int
    chosen: list[int]
    """The version that each fold's other queries chose."""


@dataclass(frozen=True)
class Sweep:
    """All versions, the best one on all queries, and what choosing the best is worth on others."""

    measure: str
    versions: list[Version]
    best: Version
    held_out: HeldOut | None
    evaluations: list[LiveEvaluation]
    lower_is_better: bool = False
    failed: dict[str, str] = field(default_factory=dict)
    """Versions without a score, with the reason."""

    @property
    def optimism(self) -> float | None:
        """How much better the best version looks on the queries it was chosen on."""
        return None if self.held_out is None else self.best.mean - self.held_out.mean

    def to_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "lower_is_better": self.lower_is_better,
            "versions": [
                {**asdict(version), "parameters": _written(version.parameters), "label": version.label}
                for version in self.versions
            ],
            "best": self.best.label,
            "held_out": None if self.held_out is None else asdict(self.held_out),
            "optimism": self.optimism,
            "failed": self.failed,
        }


def _written(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a record can hold them: what JSON has no form for by its text."""
    found: dict[str, Any] = json.loads(json.dumps(plain_value(parameters), default=str))
    return found


def settings_of(grid: Mapping[str, Sequence[Any]], tries: int | None = None, seed: int = 0) -> list[dict[str, Any]]:
    """All combinations in order, or `tries` of them drawn at random. A value that is listed twice is tried once."""
    if not grid or not all(isinstance(values, Sequence) and not isinstance(values, str) for values in grid.values()):
        raise DataError("a sweep needs a list of values for each parameter, such as {'ef_search': [16, 64, 256]}")
    if not all(len(values) for values in grid.values()):
        raise DataError("a parameter of the sweep has no values")
    lists = [_different(values) for values in grid.values()]
    if tries is not None:
        _check("tries", tries, 1)
    _check("seed", seed, 0)
    total = math.prod(map(len, lists))
    if tries is None or tries >= total:
        return [dict(zip(grid, values, strict=True)) for values in itertools.product(*lists)]
    chosen = np.random.default_rng(seed).choice(total, size=tries, replace=False)
    shape = [len(values) for values in lists]
    places = (np.unravel_index(number, shape) for number in sorted(chosen.tolist()))  # the last parameter goes first
    return [{name: values[i] for name, values, i in zip(grid, lists, place, strict=True)} for place in places]


def _check(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise DataError(f"{name}={value!r} must be a whole number of at least {least}")


def _different(values: Sequence[Any]) -> list[Any]:
    """Plain values each once, in their order; 1 and 1.0 are two. Other objects may look alike and are all kept."""
    plain = (str, int, float, bool, list, tuple, dict, type(None))
    return list({repr(value) if type(value) in plain else id(value): value for value in values}.values())


def sweep(
    factory: Callable[..., Any],
    grid: Mapping[str, Sequence[Any]],
    test_set: TestSet | Any,
    *,
    measure: str | Measure = "nDCG@10",
    tries: int | None = None,
    folds: int | None = None,
    seed: int = 0,
    exact: Mapping[str, Any] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    **calls: Any,
) -> Sweep:
    """Try every setting of `factory(**setting)` on the test set.

    `exact` are parameters that make the search exact; the others' recall against it is then measured too. `calls` is
    what `evaluate_retriever` takes: k, concurrency, timeout and so on. Queries are cut into `folds` (5, if there are
    enough of them). With `cache`, a folder, answers are kept under their setting and `configuration`, or the code of
    the factory: a second start asks only what is missing, and takes the times of the kept answers as they were measured
    then (`Version.timed_before`).
    """
    named = keywords_of(sweep, without=("calls",))
    check_names("sweep", calls, [*named, *keywords_of(evaluate_retriever, without=(*_ASKED, "choices")), *CHOICES])
    if not isinstance(measure, str | Measure):
        raise DataError(f"a sweep goes by one measure, such as 'nDCG@10', not by {measure!r}")
    check_calls(**{"k": 10, **{name: calls[name] for name in _CALLS if name in calls}})
    settings = settings_of(grid, tries, seed)
    tested = askable(test_set)
    if folds is not None:
        _check("folds", folds, 2)
        if fault := few_queries(folds, len(tested)):
            raise DataError(fault)
    folds = folds or FOLDS
    calls["corpus"] = documents_of(calls.get("corpus"))
    check_scoring(measure, {name: calls[name] for name in CHOICES if name in calls}, calls["corpus"])
    name = str(parse_measure(measure))
    lower = parse_measure(measure).definition.lower_is_better
    tried = try_settings(factory, settings, tested, name, exact=exact or {}, progress=progress, **calls)
    found, numbers, reference = tried.found, tried.numbers, tried.reference
    versions = [
        _version(number, setting, live, name, reference)
        for number, setting, live in zip(numbers, [settings[n - 1] for n in numbers], found, strict=True)
    ]
    versions = _with_front(versions, lower)
    best = _best([live.mean[name] if live.table.counted.any() else math.nan for live in found], lower)
    held = _held_out(found, best, numbers, folds, seed)
    return Sweep(name, versions, versions[best], held, found, lower, tried.failed)


def few_queries(folds: int, queries: int) -> str:
    """What is wrong with so many folds; empty when there are enough queries for them."""
    return f"{folds} folds need {2 * folds} queries or more; the test set has {queries}" if 2 * folds > queries else ""


def _version(
    number: int, setting: Mapping[str, Any], live: LiveEvaluation, measure: str, reference: LiveEvaluation | None
) -> Version:
    """Its figures. Every call is timed once, when it is made; a kept answer brings the time of its call along."""
    retrieval = live.retrieval
    timed = [answer for answer in retrieval.answers if answer.error is None]
    latency = Latency.of((answer.seconds for answer in timed), retrieval.concurrency) if timed else None
    return Version(
        number,
        dict(setting),
        live.mean[measure],
        live.interval[measure],
        None if latency is None else latency.p50,
        None if latency is None else latency.p95,
        live.throughput,
        None if reference is None else _overlap(live, reference),
        timed_before=retrieval.cached,
    )


def _overlap(live: LiveEvaluation, reference: LiveEvaluation) -> float:
    """Mean share of the reference's documents that were found."""
    own = {answer.query: {hit.id for hit in answer.hits} for answer in live.retrieval.answers}
    shares = []
    for answer in reference.retrieval.answers:
        wanted = {hit.id for hit in answer.hits}
        if wanted:
            shares.append(len(own.get(answer.query, set()) & wanted) / len(wanted))
    return float(np.mean(shares)) if shares else 0.0


def _best(figures: Sequence[float], lower: bool) -> int:
    """The first of the best. NaN, the figure of a version of which no query counts, is never better than a number."""
    goodness = -np.array(figures) if lower else np.array(figures)
    return int(np.nan_to_num(goodness, nan=-math.inf).argmax())


def _with_front(versions: list[Version], lower: bool) -> list[Version]:
    """Mark the versions that no other beats in both quality and latency."""

    def beaten(version: Version) -> bool:
        for other in versions:
            if other is version or other.p50 is None or version.p50 is None:
                continue
            better = other.mean <= version.mean if lower else other.mean >= version.mean
            if better and other.p50 <= version.p50 and (other.mean, other.p50) != (version.mean, version.p50):
                return True
        return False

    return [Version(**{**vars(version), "on_front": not beaten(version)}) for version in versions]


def _folds(n: int, folds: int, seed: int) -> Iterator[Ints]:
    order = np.random.default_rng(seed).permutation(n)
    yield from np.array_split(order, folds)


def _held_out(found: Sequence[LiveEvaluation], best: int, numbers: list[int], folds: int, seed: int) -> HeldOut | None:
    """Cross-validation; None with too few queries that count to hold any out."""
    measure = found[0].measures[0]
    how, lower = measure.definition.aggregate, measure.definition.lower_is_better
    values = np.stack([live.table.values[:, 0] for live in found])
    counted = np.stack([live.table.counted[:, 0] for live in found])
    values, counted = values[:, counted.any(axis=0)], counted[:, counted.any(axis=0)]
    n = values.shape[1]
    if n < 2 * folds or len(values) < 2:
        return None
    held, counts, chosen = np.zeros(n), np.zeros(n, dtype=bool), []
    for part in _folds(n, folds, seed):
        others = counted & ~np.isin(np.arange(n), part)
        rows = [row[among] for row, among in zip(values, others, strict=True)]
        choice = _best([aggregate(how, row) if len(row) else math.nan for row in rows], lower)
        chosen.append(numbers[choice])
        held[part], counts[part] = values[choice, part], counted[choice, part]
    mean, interval = aggregate(how, held[counts]), None
    if how == "mean":
        interval = interval_of_best(values, counted, best, lower_is_better=lower, bounds=measure.bounds, seed=seed)
    if interval is not None:
        interval = replace(interval, low=min(interval.low, mean), high=max(interval.high, mean))
    return HeldOut(mean, interval, folds, chosen)
