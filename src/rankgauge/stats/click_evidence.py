"""What clicks are worth: intervals of relevance, and whether positions varied enough to tell rank from relevance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats
from rankgauge.stats.click_lists import ClickLog
from rankgauge.stats.click_models import Fitted

__all__ = ["Positions", "positions", "relevance_intervals"]

_LEAST_SHARED = 10.0  # showings by which two ranks count as compared


def relevance_intervals(fitted: Fitted, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Both ends of a credible interval of each relevance: quantiles of a beta distribution of its mean and weight."""
    if not 0 < confidence < 1:
        raise DataError(f"`confidence={confidence!r}` must lie between 0 and 1, such as 0.95")
    from scipy.special import betaincinv

    mean, tail = fitted.relevance, (1 - confidence) / 2
    yes, no = mean * fitted.weight, (1 - mean) * fitted.weight
    low, high = (np.asarray(betaincinv(yes, no, share)) for share in (tail, 1 - tail))
    # Of a mean near 0 or 1 with little weight a quantile may not be found: then nothing is known on that side.
    low = np.minimum(np.where(np.isfinite(low), low, 0.0), mean)
    return low, np.maximum(np.where(np.isfinite(high), high, 1.0), mean)


@dataclass(frozen=True)
class Positions:
    """How far positions varied."""

    pairs: int
    """Pairs that were shown."""
    moved: int
    """Those shown at more than one rank."""
    shows_of_moved: float
    """The share of all showings that are theirs."""
    ranks: int
    """Ranks at which anything was shown."""
    apart: tuple[int, ...]
    """Ranks, from 1, that no pair ties to the first: how often they are examined is not known."""

    @property
    def identified(self) -> bool:
        """Whether the examination of all ranks can be told from attraction."""
        return not self.apart


def positions(log: ClickLog) -> Positions:
    """How far positions varied. Two ranks are compared by pairs that were shown at both, at least ten times in all."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pair, rank, times, _ = log.cells
    depth = log.pair.shape[1]
    pairs, shown = np.unique(pair, return_counts=True)
    moved = np.isin(pair, pairs[shown > 1])
    next_to = np.flatnonzero(pair[1:] == pair[:-1])  # the ranks of a pair follow one another
    shared = np.minimum(times[next_to], times[next_to + 1])
    tied = coo_array((shared, (rank[next_to], rank[next_to + 1])), shape=(depth, depth)).toarray()
    _, part = connected_components(tied >= _LEAST_SHARED, directed=False)
    ranks = np.unique(rank)
    apart = tuple(int(one) + 1 for one in ranks if part[one] != part[ranks[0]])
    total = float(times.sum())
    return Positions(
        len(pairs), int((shown > 1).sum()), float(times[moved].sum()) / total if total else 0.0, len(ranks), apart
    )
