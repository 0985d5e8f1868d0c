"""The best of several versions, and its cross-validated score: chosen on some queries, scored on others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rankgauge.engine.averaging import aggregate
from rankgauge.live.evaluation import LiveEvaluation
from rankgauge.model.ranked import Ints
from rankgauge.record import HeldOut
from rankgauge.stats.selection import interval_of_best

__all__ = ["best_of", "held_out"]


def best_of(figures: Sequence[float], lower: bool) -> int:
    """The first of the best. NaN, the figure of a version of which no query counts, is never better than a number."""
    goodness = -np.array(figures) if lower else np.array(figures)
    return int(np.nan_to_num(goodness, nan=-math.inf).argmax())


def _folds(n: int, folds: int, seed: int, clusters: Ints | None) -> Iterator[Ints]:
    """Random parts of the queries; the turns of a conversation stay together."""
    groups = np.arange(n) if clusters is None else np.unique(clusters)
    for part in np.array_split(np.random.default_rng(seed).permutation(groups), folds):
        yield part if clusters is None else np.flatnonzero(np.isin(clusters, part))


def held_out(found: Sequence[LiveEvaluation], best: int, numbers: list[int], folds: int, seed: int) -> HeldOut | None:
    """Cross-validation; None with too few queries that count to hold any out."""
    measure = found[0].measures[0]
    how, lower = measure.definition.aggregate, measure.definition.lower_is_better
    values = np.stack([live.table.values[:, 0] for live in found])
    counted = np.stack([live.table.counted[:, 0] for live in found])
    kept = counted.any(axis=0)
    values, counted = values[:, kept], counted[:, kept]
    clusters = None if found[0].clusters is None else found[0].clusters[kept]
    n = values.shape[1]
    if (n if clusters is None else len(np.unique(clusters))) < 2 * folds or len(values) < 2:
        return None
    held, counts, chosen = np.zeros(n), np.zeros(n, dtype=bool), []
    for part in _folds(n, folds, seed, clusters):
        others = counted & ~np.isin(np.arange(n), part)
        rows = [row[among] for row, among in zip(values, others, strict=True)]
        choice = best_of([aggregate(how, row) if len(row) else math.nan for row in rows], lower)
        chosen.append(numbers[choice])
        held[part], counts[part] = values[choice, part], counted[choice, part]
    mean, interval = aggregate(how, held[counts]), None
    if how == "mean":
        interval = interval_of_best(
            values, counted, best, lower_is_better=lower, bounds=measure.bounds, seed=seed, clusters=clusters
        )
    if interval is not None:
        interval = replace(interval, low=min(interval.low, mean), high=max(interval.high, mean))
    return HeldOut(mean, interval, folds, chosen)
