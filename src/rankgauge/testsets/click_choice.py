"""Which click model to believe: each is fitted to most of the lists and has to predict the clicks of the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rankgauge.model.clicks import ClickTable
from rankgauge.model.ranked import Floats
from rankgauge.stats.click_evidence import Positions
from rankgauge.stats.click_lists import ClickLog
from rankgauge.stats.click_models import MODELS, Fitted, by_rank_alone, clicks_over_expected, surprises

__all__ = ["FITS", "ClickModel", "TriedModel", "choose", "lists_of", "try_models"]

ClickModel = Literal["pbm", "cascade", "dbn", "coec"]
FITS: dict[str, Callable[..., Fitted]] = {**MODELS, "coec": clicks_over_expected}
CHAINS = ("cascade", "dbn")
"""Models that need to know what was shown together."""
_SIMPLEST = ("cascade", "pbm", "coec", "dbn")
"""By what they have to learn: attraction; examination of each rank, or its click rate; satisfaction."""
_PART = 200_000  # lists at a time
_COMPARED = 200_000  # lists that models are compared on, at most
_HELD_OUT = 0.2
_LEAST_LISTS = 20


@dataclass(frozen=True)
class TriedModel:
    """How well a model predicts clicks of lists that it was not fitted to."""

    model: str
    """`rank` is the click rate of each rank, whatever is shown there."""
    perplexity: float
    """Over all that was shown: 1 is perfect, 2 a coin."""
    by_rank: tuple[float | None, ...]
    behind: float = 0.0
    """By how many standard errors, over lists, its surprise is behind that of the best."""


def lists_of(table: ClickTable) -> ClickLog:
    """The lists, equal ones together."""
    depth = int(table.rank.max(initial=0)) + 1
    pairs = len(table.pair_query)
    place, pair, rank, clicked, times = table.place, table.pair, table.rank, table.clicked, table.times
    if not table.whole:  # every entry is a list of its own: only how often each was so counts
        key = (pair.astype(np.int64) * depth + rank) * 2 + clicked
        found, where = np.unique(key, return_inverse=True)
        times = np.bincount(where, weights=times, minlength=len(found)).astype(np.float64)
        clicked, rank = found % 2 == 1, (found // 2 % depth).astype(np.int32)
        pair = (found // 2 // depth).astype(np.int32)
        place = np.arange(len(found), dtype=np.int32)
    lists = int(place[-1]) + 1 if len(place) else 0
    starts = np.searchsorted(place, np.arange(0, lists + _PART, _PART))
    parts = []
    for first, (start, end) in enumerate(pairwise(starts)):
        own = slice(start, end)
        row = place[own] - first * _PART
        size = int(row[-1]) + 1 if len(row) else 0
        table_of = np.full((size, depth), -1, dtype=np.int32)
        flags = np.zeros((size, depth), dtype=bool)
        table_of[row, rank[own]], flags[row, rank[own]] = pair[own], clicked[own]
        weights = None
        if times is not None:
            weights = np.ones(size)
            weights[row] = times[own]
        parts.append(ClickLog.of(table_of, flags, pairs, weights))
    if len(parts) == 1:
        return parts[0]
    joined = (np.concatenate([getattr(part, name) for part in parts]) for name in ("pair", "clicked", "times"))
    table_of, flags, weights = joined
    return ClickLog.of(table_of, flags, pairs, weights)


def try_models(log: ClickLog, table: ClickTable, names: list[str], seed: int) -> list[TriedModel]:
    """Each model on lists that it was not fitted to, best first; none where there are too few lists."""
    if log.times.sum() < _LEAST_LISTS:
        return []
    training, rest = _some_queries(log, table, seed).split(_HELD_OUT, seed)
    if not len(training.pair) or not len(rest.pair):
        return []
    fits = [*(FITS[name](training) for name in names), by_rank_alone(training)]
    bits = {fitted.model: surprises(fitted, rest) for fitted in fits}
    total = {name: float((own * rest.times).sum()) for name, (own, _) in bits.items()}
    ordered = sorted(names, key=lambda name: total[name])
    best = bits[ordered[0]][0]
    return [_tried(name, *bits[name], best, rest) for name in [*ordered, "rank"]]


def _tried(name: str, by_list: Floats, by_rank: Floats, best: Floats, rest: ClickLog) -> TriedModel:
    times, lists = rest.per_rank(rest.shown), float(rest.times.sum())
    # A mean over ranks would give ranks that are hardly ever shown as much say as the first.
    mean = 2.0 ** float(by_rank.sum() / times.sum())
    found = tuple(float(2 ** (bits / n)) if n else None for bits, n in zip(by_rank, times, strict=True))
    more = by_list - best
    behind = float((more * rest.times).sum())
    error = float(np.sqrt(max((more**2 * rest.times).sum() - behind**2 / lists, 0.0)))
    return TriedModel(name, mean, found, behind / error if error else 0.0)


def _some_queries(log: ClickLog, table: ClickTable, seed: int) -> ClickLog:
    """All lists of as many queries as suffice to compare models: a share of all lists would leave less of each pair."""
    if len(log.pair) <= _COMPARED:
        return log
    query = table.pair_query[log.pair.max(axis=1)]
    own = np.bincount(query)
    order = np.random.default_rng(seed).permutation(len(own))
    taken = order[: int(np.searchsorted(np.cumsum(own[order]), _COMPARED)) + 1]
    use = np.isin(query, taken)
    return ClickLog(log.pair[use], log.clicked[use], log.times[use], log.pairs)


def choose(tried: list[TriedModel], known: Positions) -> str:
    """The simplest of the models that predict held-out clicks best, up to one standard error; without any, the one
    that asks for least."""
    for name in _SIMPLEST:
        if any(one.model == name and one.behind <= 1 for one in tried):
            return name
    return "pbm" if known.identified and known.moved else "coec"
