"""The dynamic Bayesian network of Chapelle and Zhang (2009), whose clicks may satisfy and so end a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.model.ranked import Floats
from rankgauge.stats.click_fits import LEAST_PLEASED, NARROW, Fitted, Prior, prior_of, share_of, weight_of
from rankgauge.stats.click_lists import ClickLog, added

__all__ = ["dynamic_bayesian"]

_MOST_ROUNDS = 200
_STILL = 1e-4  # a largest change of a parameter below which nothing more is to be gained
_SATISFACTION = 2.0  # imagined clicks that say how often clicks satisfy on average


def dynamic_bayesian(log: ClickLog, strength: float | None = None) -> Fitted:
    """The first document is examined; a click satisfies with s; who is not satisfied goes on with g.

    All down to the last click was examined, and its clicks before the last satisfied nobody. Behind it, with
    T_r = P(no more clicks | r examined, not satisfied) = 1 - g + g (1 - a_{r+1}) T_{r+1}:
    P(satisfied) = s / (s + (1 - s) T_l), and examination goes down by g (1 - a_{r+1}) T_{r+1} / T_r from rank to rank.
    """
    log = log.closed
    clicks = log.clicks
    prior = prior_of(clicks, log.shows, log.shows, strength)
    attraction, satisfaction, persistence = np.full(log.pairs, prior.mean), np.full(log.pairs, 0.5), 0.9
    pleased, certain, parts = 0.5, _SATISFACTION if strength is None else strength, log.parts()
    for _ in range(_MOST_ROUNDS):
        found = _behind_all(parts, attraction, satisfaction, persistence)
        prior = prior_of(clicks, found.seen, found.seen, strength)
        new_a = np.clip((clicks + prior.yes) / (found.seen + prior.strength), NARROW, 1 - NARROW)
        pleased = share_of(float(found.satisfied.sum()) / max(float(clicks.sum()), 1.0))
        new_s = (found.satisfied + certain * pleased) / (clicks + certain)
        new_s = np.clip(new_s, NARROW, 1 - NARROW)
        new_g = share_of(found.went_on / found.could_go_on if found.could_go_on else 1.0)
        changes = (new_a - attraction, new_s - satisfaction, np.array([new_g - persistence]))
        moved = max(float(np.abs(change).max(initial=0)) for change in changes)
        attraction, satisfaction, persistence = new_a, new_s, new_g
        if moved < _STILL:
            break
    found = _behind_all(parts, attraction, satisfaction, persistence)
    weight = weight_of(attraction, clicks / attraction**2 + found.doubted / (1 - attraction) ** 2, prior)
    s_information = found.pleased_information + (clicks - found.last_clicks) / (1 - satisfaction) ** 2
    s_weight = weight_of(satisfaction, s_information, Prior(pleased, certain))
    examination = found.examined / np.maximum(log.per_rank(log.shown), 1)
    if pleased >= LEAST_PLEASED:
        weight = _product_weight(attraction, weight, satisfaction, s_weight)
    return Fitted("dbn", attraction, satisfaction, examination, persistence, found.seen, weight, prior, pleased)


def _product_weight(a: Floats, a_weight: Floats, s: Floats, s_weight: Floats) -> Floats:
    """The weight of a product of two independent shares: var(as) = s^2 var(a) + a^2 var(s) + var(a) var(s)."""
    spread_a, spread_s = a * (1 - a) / (a_weight + 1), s * (1 - s) / (s_weight + 1)
    spread = s**2 * spread_a + a**2 * spread_s + spread_a * spread_s
    return np.asarray(np.maximum(a * s * (1 - a * s) / spread - 1, NARROW))


@dataclass(frozen=True, eq=False, repr=False)
class _Behind:
    """Expectations over a part of a log."""

    seen: Floats
    satisfied: Floats
    examined: Floats
    went_on: float
    could_go_on: float
    doubted: Floats
    """Sums of the squared chances that a pair was examined where it was not clicked."""
    last_clicks: Floats
    pleased_information: Floats
    """About the satisfaction of each pair, from the lists whose last click it had."""


def _behind_all(parts: list[ClickLog], attraction: Floats, satisfaction: Floats, persistence: float) -> _Behind:
    """The expectations over all parts."""
    total: dict[str, Floats | float] = {}
    for part in parts:
        for name, value in vars(_behind(part, attraction, satisfaction, persistence)).items():
            total[name] = total[name] + value if name in total else value
    return _Behind(**total)  # type: ignore[arg-type]


def _behind(log: ClickLog, attraction: Floats, satisfaction: Floats, persistence: float) -> _Behind:
    lists, depth = log.pair.shape
    shown, clicked, times = log.shown, log.clicked, log.times
    places = np.arange(depth)
    last = np.where(clicked.any(axis=1), depth - 1 - np.argmax(clicked[:, ::-1], axis=1), -1)
    a = np.where(shown, attraction[np.maximum(log.pair, 0)], 0.0)
    last_pair = log.pair[np.arange(lists), np.maximum(last, 0)]
    s = satisfaction[last_pair]
    length = shown.sum(axis=1)
    # tail[:, r] = T_r: no more clicks behind rank r (counted from 1; 0 is before the first).
    tail = np.ones((lists, depth + 1))
    for rank in range(depth - 1, 0, -1):
        further = 1 - persistence + persistence * (1 - a[:, rank]) * tail[:, rank + 1]
        tail[:, rank] = np.where(rank < length, further, 1.0)
    behind = tail[np.arange(lists), last + 1]
    some = last >= 0
    ended = np.maximum(s + (1 - s) * behind, NARROW)  # no more clicks behind the last
    satisfied = np.where(some, s / ended, 0.0)
    examined = ((places[None, :] <= last[:, None]) & shown).astype(np.float64)
    went = float((times * np.maximum(last, 0)).sum())  # between ranks down to the last click all went on
    could = went
    chance = np.where(some, 1 - satisfied, 0.0)  # examined and not satisfied at the rank before
    for rank in range(depth):
        start = rank == last + 1
        here = shown[:, rank] & (rank > last)
        if rank == 0:
            step = np.where(here, 1.0, 0.0)  # no click at all: the first document was examined
        else:
            could += float((times * chance)[here].sum())
            share = persistence * (1 - a[:, rank]) * tail[:, rank + 1] / np.maximum(tail[:, rank], NARROW)
            step = np.where(here, chance * share, 0.0)
            went += float((times * step).sum())
        examined[:, rank] += step
        chance = np.where(here, step, np.where(start, 0.0, chance))

    def of_last(values: Floats) -> Floats:
        return added(last_pair[some], (times * values)[some], log.pairs)

    return _Behind(
        seen=log.per_pair(examined),
        satisfied=of_last(satisfied),
        examined=log.per_rank(examined),
        went_on=went,
        could_go_on=could,
        doubted=log.per_pair(np.where(clicked, 0.0, examined**2)),
        last_clicks=of_last(np.ones(lists)),
        pleased_information=of_last(((1 - behind) / ended) ** 2),
    )
