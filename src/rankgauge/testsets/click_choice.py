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
from rankgauge.stats.click_models import MODELS, Fitted, by_rank_alone, clicks_over_expected, rank_perplexities

__all__ = ["FITS", "ClickModel", "TriedModel", "choose", "lists_of", "try_models"]

ClickModel = Literal["pbm", "cascade", "dbn", "coec"]
FITS: dict[str, Callable[..., Fitted]] = {**MODELS, "coec": clicks_over_expected}
CHAINS = ("cascade", "dbn")
"""Models that need to know what was shown together."""
_PART = 200_000  # lists at a time
_COMPARED = 200_000  # lists that models are compared on, at most
_HELD_OUT = 0.2
_LEAST_LISTS = 20


@dataclass(frozen=True)
class TriedModel:
    """How well a model foretells clicks of lists that it was not fitted to."""

    model: str
    """`rank` is the click rate of each rank, whatever is shown there."""
    perplexity: float
    """Over all that was shown: 1 is perfect, 2 a coin."""
    by_rank: tuple[float | None, ...]


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
    tried = [_tried(FITS[name](training), rest) for name in names]
    tried.sort(key=lambda one: one.perplexity)
    return [*tried, _tried(by_rank_alone(training), rest)]


def _tried(fitted: Fitted, rest: ClickLog) -> TriedModel:
    found: Floats = rank_perplexities(fitted, rest)
    times = rest.per_rank(rest.shown)
    some = times > 0  # a mean over ranks would give ranks that are hardly ever shown as much say as the first
    mean = 2.0 ** float(np.average(np.log2(found[some]), weights=times[some]))
    by_rank = tuple(float(value) if own else None for value, own in zip(found, some, strict=True))
    return TriedModel(fitted.model, mean, by_rank)


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
    """The model that foretells held-out clicks best; without any, the one that asks for least."""
    if tried:
        return tried[0].model
    return "pbm" if known.identified and known.moved else "coec"
