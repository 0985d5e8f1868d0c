"""Click models: how relevant documents are, from what people clicked, whatever the rank they were shown at.

A click needs that a document is examined and that it attracts. Examination depends on the rank (position-based model,
Craswell et al. 2008), ends with the first click (cascade, same source), or ends where a clicked document satisfies
(dynamic Bayesian network, Chapelle and Zhang 2009). All are fitted by expectation-maximisation on arrays.

What was rarely examined is drawn towards the mean of all pairs. How strongly, is estimated from how much pairs differ
beyond chance (empirical Bayes by moments); every attraction comes with the weight of its evidence.

Notation: a_qd attraction of a (query, document) pair, t_r examination of rank r, s_qd satisfaction, g persistence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankgauge.model.ranked import Bools, Floats
from rankgauge.stats.click_lists import ClickLog, added

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
_NARROW = 1e-6  # no probability is taken for certain
_STRENGTHS = (0.5, 1000.0)  # of imagined lists: the least and the most that are taken for an estimate
_LEAST_PLEASED = 0.05  # the share of satisfying clicks from which on they are told from others
_SATISFACTION = 2.0  # imagined clicks that say how often clicks satisfy on average


@dataclass(frozen=True)
class Prior:
    """What is held of a pair before it is looked at: a mean, and how many examinations that is worth."""

    mean: float
    strength: float

    @property
    def yes(self) -> float:
        return self.mean * self.strength

    @property
    def no(self) -> float:
        return (1 - self.mean) * self.strength


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """What a model makes of a log."""

    model: str
    attraction: Floats
    """Of each pair."""
    satisfaction: Floats
    """Of each pair: the chance that a click ends the search; 1 where the model knows no other."""
    examination: Floats
    """Of each rank; of models in which it depends on the clicks, the mean."""
    persistence: float
    seen: Floats
    """How often each pair was examined, as the model has it: what its attraction rests on."""
    weight: Floats
    """The certain observations that the relevance of each pair is worth, those of the prior among them: the sum of the
    parameters of a beta distribution of that mean and spread."""
    prior: Prior
    pleased: float = 1.0
    """How often clicks satisfy on average."""

    @property
    def by_attraction(self) -> bool:
        """Whether relevance is attraction alone: in a log in which hardly any click ends a search nothing tells which
        documents satisfy."""
        return self.model != "dbn" or self.pleased < _LEAST_PLEASED

    @property
    def relevance(self) -> Floats:
        """The chance that a pair attracts and satisfies."""
        return self.attraction if self.by_attraction else self.attraction * self.satisfaction


def _share(value: float) -> float:
    return min(max(value, _NARROW), 1 - _NARROW)


def _prior(clicks: Floats, seen: Floats, squares: Floats, strength: float | None) -> Prior:
    """The mean of all pairs, and how alike they are.

    With c clicks in n examinations (the sum of the chances t, squares that of t^2): E[n (c/n - m)^2] =
    m - u (m^2 + V) + n V with u = squares / n, solved for the variance V between pairs; a beta distribution of mean m
    and variance V is worth m (1 - m) / V - 1 examinations.
    """
    some = seen > _NARROW
    c, n, u = clicks[some], seen[some], squares[some] / seen[some]
    if not n.size or not c.sum():
        return Prior(_share(0.5 / (1 + float(n.sum()))) if n.size else 0.5, strength or 1.0)
    m = _share(float(c.sum() / n.sum()))
    if strength is not None:
        return Prior(m, strength)
    beyond, room = n * (c / n - m) ** 2 - (m - u * m * m), n - u
    variance = _variance(beyond, room, m * (1 - m) / 2)  # where each was seen once nothing tells them apart
    strength = m * (1 - m) / max(variance, _NARROW) - 1
    return Prior(m, min(max(strength, _STRENGTHS[0]), _STRENGTHS[1]))


def _variance(beyond: Floats, room: Floats, otherwise: float) -> float:
    """V, where each term of `beyond` is expected to be V times its room: the estimate and one standard error.

    Few pairs may be alike by chance; to take that for certain would make their intervals too narrow.
    """
    total = float(room.sum())
    if total <= 0:
        return otherwise
    estimate = max(float(beyond.sum()) / total, 0.0)
    return estimate + float(np.sqrt(((beyond - estimate * room) ** 2).sum())) / total


def _weight(a: Floats, information: Floats, prior: Prior) -> Floats:
    """The weight of attractions whose likelihood has so much information (Louis 1982: that of the complete data less
    what is missing)."""
    return np.asarray(a * (1 - a) * (information + prior.yes / a**2 + prior.no / (1 - a) ** 2))


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
        rest = missed / np.maximum(1 - a * t, _NARROW)
        attracted = added(pair, clicks + rest * a * (1 - t), log.pairs)
        examined = added(rank, clicks + rest * t * (1 - a), depth)
        new_a = (attracted + prior.yes) / (shown + prior.strength)
        new_a = np.clip(new_a, _NARROW, 1 - _NARROW)
        new_t = np.where(shown_at, np.clip(examined / np.maximum(at_rank, 1.0), _NARROW, 1.0), examination)
        moved = max(float(np.abs(new_a - attraction).max(initial=0)), float(np.abs(new_t - examination).max(initial=0)))
        attraction, examination = new_a, new_t
        prior = _prior_at(log, examination, strength)
        if moved < _STILL:
            break
    t = examination[rank]
    seen = added(pair, times * t, log.pairs)
    lost = added(pair, missed * (t / np.maximum(1 - attraction[pair] * t, _NARROW)) ** 2, log.pairs)
    weight = _weight(attraction, log.clicks / attraction**2 + lost, prior)
    return Fitted("pbm", attraction, np.ones(log.pairs), examination, 1.0, seen, weight, prior)


def _prior_at(log: ClickLog, examination: Floats, strength: float | None) -> Prior:
    """The prior, where each rank is examined so often."""
    pair, rank, times, _ = log.cells
    t = examination[rank]
    return _prior(log.clicks, added(pair, times * t, log.pairs), added(pair, times * t * t, log.pairs), strength)


def cascade(log: ClickLog, strength: float | None = None) -> Fitted:
    """All documents down to the first click were examined, none behind it: a is clicks over examinations."""
    before: Bools = np.cumsum(log.clicked, axis=1) - log.clicked == 0
    seen = log.per_pair(before.astype(np.float64))
    first = log.per_pair((before & log.clicked).astype(np.float64))
    prior = _prior(first, seen, seen, strength)
    attraction = np.clip((first + prior.yes) / (seen + prior.strength), _NARROW, 1 - _NARROW)
    examination = log.per_rank(before & log.shown) / np.maximum(log.per_rank(log.shown), 1)
    return Fitted("cascade", attraction, np.ones(log.pairs), examination, 1.0, seen, seen + prior.strength, prior)


def dynamic_bayesian(log: ClickLog, strength: float | None = None) -> Fitted:
    """The first document is examined; a click satisfies with s; who is not satisfied goes on with g.

    All down to the last click was examined, and its clicks before the last satisfied nobody. Behind it, with
    T_r = P(no more clicks | r examined, not satisfied) = 1 - g + g (1 - a_{r+1}) T_{r+1}:
    P(satisfied) = s / (s + (1 - s) T_l), and examination goes down by g (1 - a_{r+1}) T_{r+1} / T_r from rank to rank.
    """
    log = log.closed
    clicks = log.clicks
    prior = _prior(clicks, log.shows, log.shows, strength)
    attraction, satisfaction, persistence = np.full(log.pairs, prior.mean), np.full(log.pairs, 0.5), 0.9
    pleased, certain, parts = 0.5, _SATISFACTION if strength is None else strength, log.parts()
    for _ in range(_MOST_ROUNDS):
        found = _behind_all(parts, attraction, satisfaction, persistence)
        prior = _prior(clicks, found.seen, found.seen, strength)
        new_a = np.clip((clicks + prior.yes) / (found.seen + prior.strength), _NARROW, 1 - _NARROW)
        pleased = _share(float(found.satisfied.sum()) / max(float(clicks.sum()), 1.0))
        new_s = (found.satisfied + certain * pleased) / (clicks + certain)
        new_s = np.clip(new_s, _NARROW, 1 - _NARROW)
        new_g = _share(found.went_on / found.could_go_on if found.could_go_on else 1.0)
        changes = (new_a - attraction, new_s - satisfaction, np.array([new_g - persistence]))
        moved = max(float(np.abs(change).max(initial=0)) for change in changes)
        attraction, satisfaction, persistence = new_a, new_s, new_g
        if moved < _STILL:
            break
    found = _behind_all(parts, attraction, satisfaction, persistence)
    weight = _weight(attraction, clicks / attraction**2 + found.doubted / (1 - attraction) ** 2, prior)
    s_information = found.pleased_information + (clicks - found.last_clicks) / (1 - satisfaction) ** 2
    s_weight = _weight(satisfaction, s_information, Prior(pleased, certain))
    examination = found.examined / np.maximum(log.per_rank(log.shown), 1)
    if pleased >= _LEAST_PLEASED:
        weight = _product_weight(attraction, weight, satisfaction, s_weight)
    return Fitted("dbn", attraction, satisfaction, examination, persistence, found.seen, weight, prior, pleased)


def _product_weight(a: Floats, a_weight: Floats, s: Floats, s_weight: Floats) -> Floats:
    """The weight of a product of two independent shares: var(as) = s^2 var(a) + a^2 var(s) + var(a) var(s)."""
    spread_a, spread_s = a * (1 - a) / (a_weight + 1), s * (1 - s) / (s_weight + 1)
    spread = s**2 * spread_a + a**2 * spread_s + spread_a * spread_s
    return np.asarray(np.maximum(a * s * (1 - a * s) / spread - 1, _NARROW))


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
    ended = np.maximum(s + (1 - s) * behind, _NARROW)  # no more clicks behind the last
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
            share = persistence * (1 - a[:, rank]) * tail[:, rank + 1] / np.maximum(tail[:, rank], _NARROW)
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


def clicks_over_expected(log: ClickLog, strength: float | None = None) -> Fitted:
    """a is the click rate of the first rank times clicks over expected clicks; t_r that of rank r over the first's.

    With clicks that come at random (Poisson) and ratios that differ (gamma of mean 1), the ratio is drawn towards 1,
    and certain to (clicks + k) / (expected + k)^2.
    """
    rates = _rates(log)
    first = _share(float(rates[np.argmax(rates > 0)])) if (rates > 0).any() else _NARROW
    _, expected = coec(log)
    clicks = log.clicks
    if strength is None:
        c, e = clicks[expected > 0], expected[expected > 0]
        variance = _variance((c - e) ** 2 / e - 1, e, 1.0)  # E[(c - e)^2 / e] = 1 + e V
        strength = min(max(1 / max(variance, _NARROW), first * _STRENGTHS[0]), _STRENGTHS[1])
    ratio = (clicks + strength) / (expected + strength)
    attraction = np.clip(first * ratio, _NARROW, 1 - _NARROW)
    spread = first**2 * ratio / (expected + strength)
    weight = np.maximum(attraction * (1 - attraction) / spread - 1, _NARROW)
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
    return np.asarray(added(rank, clicks, depth) / np.maximum(added(rank, times, depth), _NARROW))


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
        chance = np.clip(click_chances(fitted, part), _NARROW, 1 - _NARROW)
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
    return np.where(expected > 0, log.clicks / np.maximum(expected, _NARROW), 1.0), expected
