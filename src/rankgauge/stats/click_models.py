"""Click models: how relevant documents are, from what people clicked, whatever the rank they were shown at.

A click needs that a document is examined and that it attracts. Examination depends on the rank (position-based model,
Craswell et al. 2008), ends with the first click (cascade, same source), or ends where a clicked document satisfies
(dynamic Bayesian network, Chapelle and Zhang 2009). All are fitted by expectation-maximisation on arrays.

Notation: a_qd attraction of a (query, document) pair, t_r examination of rank r, s_qd satisfaction, g persistence.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.model.ranked import Bools, Floats
from rankgauge.stats.click_fits import NARROW, STRENGTHS, Fitted, Prior, prior_of, variance_of, weight_of
from rankgauge.stats.click_lists import ClickLog, added
from rankgauge.stats.click_network import dynamic_bayesian

__all__ = [
    "MODELS",
    "ClickLog",
    "Fitted",
    "Prior",
    "by_rank_alone",
    "cascade",
    "click_chances",
    "clicks_over_expected",
    "coec",
    "dynamic_bayesian",
    "perplexity",
    "position_based",
    "rank_perplexities",
    "surprises",
]

_MOST_ROUNDS = 200
_STILL = 1e-4  # a largest change of a parameter below which nothing more is to be gained


def position_based(log: ClickLog, strength: float | None = None) -> Fitted:
    """P(click) = t_r a_qd; the first rank that is shown is always examined. Of a document that was not clicked:
    P(it attracts) = a (1 - t) / (1 - a t), P(it was examined) = t (1 - a) / (1 - a t)."""
    pair, rank, times, clicks = log.cells
    depth, missed = log.pair.shape[1], times - clicks
    shown = log.shows
    at_rank = added(rank, times, depth)
    shown_at = at_rank > 0
    # The first rank at which anything was shown stays at 1: attraction is relative to it.
    examination = 1.0 / np.maximum(np.arange(1, depth + 1) - int(np.argmax(shown_at)), 1)
    prior = _prior_at(log, examination, strength)
    attraction = np.full(log.pairs, prior.mean)
    for _ in range(_MOST_ROUNDS):
        a, t = attraction[pair], examination[rank]
        rest = missed / np.maximum(1 - a * t, NARROW)
        attracted = added(pair, clicks + rest * a * (1 - t), log.pairs)
        examined = added(rank, clicks + rest * t * (1 - a), depth)
        new_a = (attracted + prior.yes) / (shown + prior.strength)
        new_a = np.clip(new_a, NARROW, 1 - NARROW)
        new_t = np.where(shown_at, np.clip(examined / np.maximum(at_rank, 1.0), NARROW, 1.0), examination)
        moved = max(float(np.abs(new_a - attraction).max(initial=0)), float(np.abs(new_t - examination).max(initial=0)))
        attraction, examination = new_a, new_t
        prior = _prior_at(log, examination, strength)
        if moved < _STILL:
            break
    t = examination[rank]
    seen = added(pair, times * t, log.pairs)
    lost = added(pair, missed * (t / np.maximum(1 - attraction[pair] * t, NARROW)) ** 2, log.pairs)
    weight = weight_of(attraction, log.clicks / attraction**2 + lost, prior)
    return Fitted("pbm", attraction, np.ones(log.pairs), examination, 1.0, seen, weight, prior)


def _prior_at(log: ClickLog, examination: Floats, strength: float | None) -> Prior:
    """The prior, where each rank is examined so often."""
    pair, rank, times, _ = log.cells
    t = examination[rank]
    return prior_of(log.clicks, added(pair, times * t, log.pairs), added(pair, times * t * t, log.pairs), strength)


def cascade(log: ClickLog, strength: float | None = None) -> Fitted:
    """All documents down to the first click were examined, none behind it: a is clicks over examinations."""
    before: Bools = np.cumsum(log.clicked, axis=1) - log.clicked == 0
    seen = log.per_pair(before.astype(np.float64))
    first = log.per_pair((before & log.clicked).astype(np.float64))
    prior = prior_of(first, seen, seen, strength)
    attraction = np.clip((first + prior.yes) / (seen + prior.strength), NARROW, 1 - NARROW)
    examination = log.per_rank(before & log.shown) / np.maximum(log.per_rank(log.shown), 1)
    return Fitted("cascade", attraction, np.ones(log.pairs), examination, 1.0, seen, seen + prior.strength, prior)


def clicks_over_expected(log: ClickLog, strength: float | None = None) -> Fitted:
    """a is the click rate of the first rank times clicks over expected clicks; t_r that of rank r over the first's.

    With clicks that come at random (Poisson) and ratios that differ (gamma of mean 1), the ratio is drawn towards 1,
    and certain to (clicks + k) / (expected + k)^2.
    """
    rates = _rates(log)
    _, rank, times, clicked = log.cells
    at_first = rank == rank.min(initial=log.pair.shape[1])
    first = (float(clicked[at_first].sum()) + 0.5) / (float(times[at_first].sum()) + 1)
    _, expected = coec(log)
    clicks = log.clicks
    if strength is None:
        c, e = clicks[expected > 0], expected[expected > 0]
        variance = variance_of((c - e) ** 2 / e - 1, e, 2 + 1 / e, 1.0)  # E[(c - e)^2 / e] = 1 + e V
        strength = min(max(1 / max(variance, NARROW), first * STRENGTHS[0]), STRENGTHS[1])
    ratio = (clicks + strength) / (expected + strength)
    attraction = np.clip(first * ratio, NARROW, 1 - NARROW)
    spread = first**2 * ratio / (expected + strength)
    weight = np.maximum(attraction * (1 - attraction) / spread - 1, 1.0)
    prior = Prior(first, strength / first)
    return Fitted("coec", attraction, np.ones(log.pairs), rates / first, 1.0, expected / first, weight, prior)


def by_rank_alone(log: ClickLog, strength: float | None = None) -> Fitted:
    """P(click) is that of the rank, whatever is shown there: what a model of documents has to beat."""
    rates = _rates(log)
    ones = np.ones(log.pairs)
    return Fitted("rank", ones, ones, rates, 1.0, log.shows, ones, Prior(0.5, strength or 1.0))


def _rates(log: ClickLog) -> Floats:
    """Clicks per showing at each rank."""
    _, rank, times, clicks = log.cells
    depth = log.pair.shape[1]
    return np.asarray(added(rank, clicks, depth) / np.maximum(added(rank, times, depth), NARROW))


MODELS: dict[str, Callable[..., Fitted]] = {"pbm": position_based, "cascade": cascade, "dbn": dynamic_bayesian}
"""Those that tell examination from attraction, by name."""


def click_chances(fitted: Fitted, log: ClickLog) -> Floats:
    """The chance of a click at every place of every list, not knowing the clicks above it."""
    a = np.where(log.shown, fitted.attraction[np.maximum(log.pair, 0)], 0.0)
    if fitted.model not in ("cascade", "dbn"):
        return np.asarray(a * fitted.examination[None, : a.shape[1]])
    s = np.where(log.shown, fitted.satisfaction[np.maximum(log.pair, 0)], 0.0)
    on = np.where(log.shown, fitted.persistence * (1 - a * s), 1.0)  # of one that is examined, to the next
    reached = np.cumprod(np.concatenate([np.ones((len(a), 1)), on[:, :-1]], axis=1), axis=1)
    return np.asarray(a * reached)


def surprises(fitted: Fitted, log: ClickLog) -> tuple[Floats, Floats]:
    """How many bits the clicks and their absence come as, summed over each list, and over each rank of all lists."""
    by_list, by_rank = [], np.zeros(log.pair.shape[1])
    for part in log.parts():
        chance = np.clip(click_chances(fitted, part), NARROW, 1 - NARROW)
        own = np.where(part.shown, -np.where(part.clicked, np.log2(chance), np.log2(1 - chance)), 0.0)
        by_list.append(own.sum(axis=1))
        by_rank += part.per_rank(own)
    return np.concatenate(by_list) if by_list else np.zeros(0), by_rank


def rank_perplexities(fitted: Fitted, log: ClickLog) -> Floats:
    """2 to the mean surprise of clicks and their absence at each rank; not a number where nothing was shown."""
    times = log.per_rank(log.shown)
    return np.where(times > 0, 2 ** (surprises(fitted, log)[1] / np.maximum(times, 1.0)), np.nan)


def perplexity(fitted: Fitted, log: ClickLog) -> float:
    """2 to the mean surprise of clicks and their absence at each rank, averaged over the ranks: 1 is perfect, 2 is a
    coin. Held-out lists tell which model to trust."""
    found = rank_perplexities(fitted, log)
    return float(np.nanmean(found)) if not np.isnan(found).all() else float("nan")


def coec(log: ClickLog) -> tuple[Floats, Floats]:
    """Clicks over expected clicks of each pair, and the expected: what documents get on average at the ranks where it
    was shown (Zhang and Jones 2007). 1 is an average document."""
    pair, rank, times, _ = log.cells
    expected = added(pair, times * _rates(log)[rank], log.pairs)
    return np.where(expected > 0, log.clicks / np.maximum(expected, NARROW), 1.0), expected
