"""Click models: how relevant documents are, from what people clicked, whatever the rank they were shown at.

A click needs that a document is examined and that it attracts. Examination depends on the rank (position-based model,
Craswell et al. 2008), ends with the first click (cascade, same source), or ends where a clicked document satisfies
(dynamic Bayesian network, Chapelle and Zhang 2009). All are fitted by expectation-maximisation on arrays; a few
imagined clicks, as frequent as clicks are on average, keep rare pairs from the extremes.

Notation: a_qd attraction of a (query, document) pair, t_r examination of rank r, s_qd satisfaction, g persistence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import DataError
from rankgauge.model.ranked import Bools, Floats, Ints

__all__ = ["MODELS", "ClickLog", "Fitted", "coec", "perplexity"]

_MOST_ROUNDS = 200
_STILL = 1e-4  # a largest change of a parameter below which nothing more is to be gained
_NARROW = 1e-6  # no probability is taken for certain


def _added(number: NDArray[np.integer[Any]], values: Floats, n: int) -> Floats:
    """Sums of the values that have each of n numbers."""
    return np.bincount(number, weights=values, minlength=n).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog:
    """Lists that were shown, one row for each that differs in its documents or clicks, padded to the longest."""

    pair: NDArray[np.int32]
    """The number of the (query, document) pair at each rank; -1 behind the end of a list."""
    clicked: Bools
    times: Floats
    """How often each list was shown and clicked so."""
    pairs: int

    @classmethod
    def of(cls, pair: NDArray[np.int32], clicked: Bools, pairs: int, times: Floats | None = None) -> ClickLog:
        """A log of lists of which many may be alike."""
        if pair.ndim != 2 or pair.shape != clicked.shape:
            raise DataError("pairs and clicks are two tables of one shape: a row for each list, a column for each rank")
        clicked = clicked & (pair >= 0)
        marked = np.ascontiguousarray(pair.astype(np.int32) * 2 + clicked)
        if not marked.size:
            return cls(pair, clicked, np.zeros(len(pair)), pairs)
        rows = marked.view(np.dtype((np.void, marked.dtype.itemsize * marked.shape[1]))).ravel()
        _, first, place = np.unique(rows, return_index=True, return_inverse=True)
        count = np.bincount(place.ravel(), weights=times, minlength=len(first)).astype(np.float64)
        return cls(pair[first], clicked[first], count, pairs)

    @property
    def shown(self) -> Bools:
        return np.asarray(self.pair >= 0)

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Floats, Floats]:
        """(pair, rank, times shown, clicks) of everything that was shown at some rank."""
        depth = self.pair.shape[1]
        shown = self.shown
        key = self.pair.astype(np.int64) * depth + np.arange(depth)
        times = np.broadcast_to(self.times[:, None], shown.shape)[shown]
        found, place = np.unique(key[shown], return_inverse=True)
        shown_so = _added(place, times, len(found))
        clicks = _added(place, times * self.clicked[shown], len(found))
        return found // depth, found % depth, shown_so, clicks

    def per_pair(self, values: Floats | Bools) -> Floats:
        """Sums over all places at which each pair was shown, as often as it was."""
        shown = self.shown
        return _added(self.pair[shown], (values * self.times[:, None])[shown], self.pairs)

    def per_rank(self, values: Floats | Bools) -> Floats:
        """Sums over all lists, as often as they were shown."""
        return np.asarray((values * self.times[:, None]).sum(axis=0))

    def parts(self, rows: int = 200_000) -> list[ClickLog]:
        """The same lists in parts that need little memory at a time."""
        ends = [slice(i, i + rows) for i in range(0, len(self.pair), rows)]
        return [ClickLog(self.pair[own], self.clicked[own], self.times[own], self.pairs) for own in ends]

    def split(self, share: float, seed: int = 0) -> tuple[ClickLog, ClickLog]:
        """Two logs, the second with a random share of the lists."""
        second = np.random.default_rng(seed).binomial(self.times.astype(np.int64), share).astype(np.float64)
        counts = (self.times - second, second)
        first, rest = (ClickLog(self.pair[n > 0], self.clicked[n > 0], n[n > 0], self.pairs) for n in counts)
        return first, rest


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

    @property
    def relevance(self) -> Floats:
        """The chance that a pair attracts and satisfies."""
        return self.attraction if self.model != "dbn" else self.attraction * self.satisfaction


def _prior(log: ClickLog, strength: float) -> tuple[float, float]:
    """Imagined clicks, and lists without one."""
    _, _, times, clicks = log.cells
    share = float(clicks.sum() / times.sum()) if len(times) else 0.5
    share = min(max(share, _NARROW), 1 - _NARROW)
    return strength * share, strength * (1 - share)


def position_based(log: ClickLog, strength: float = 1.0) -> Fitted:
    """P(click) = t_r a_qd; the first rank is always examined. Of a document that was not clicked:
    P(it attracts) = a (1 - t) / (1 - a t), P(it was examined) = t (1 - a) / (1 - a t)."""
    pair, rank, times, clicks = log.cells
    depth, missed = log.pair.shape[1], times - clicks
    yes, no = _prior(log, strength)
    shown = _added(pair, times, log.pairs)
    at_rank = np.maximum(_added(rank, times, depth), 1.0)
    attraction, examination = np.full(log.pairs, yes / (yes + no)), 1.0 / np.arange(1, depth + 1)
    for _ in range(_MOST_ROUNDS):
        a, t = attraction[pair], examination[rank]
        rest = missed / np.maximum(1 - a * t, _NARROW)
        attracted = _added(pair, clicks + rest * a * (1 - t), log.pairs)
        examined = _added(rank, clicks + rest * t * (1 - a), depth)
        new_a, new_t = (attracted + yes) / (shown + yes + no), examined / at_rank
        new_t = np.clip(new_t / max(new_t[0], _NARROW), _NARROW, 1.0)
        moved = max(float(np.abs(new_a - attraction).max(initial=0)), float(np.abs(new_t - examination).max(initial=0)))
        attraction, examination = np.clip(new_a, _NARROW, 1 - _NARROW), new_t
        if moved < _STILL:
            break
    seen = _added(pair, times * examination[rank], log.pairs)
    return Fitted("pbm", attraction, np.ones(log.pairs), examination, 1.0, seen)


def cascade(log: ClickLog, strength: float = 1.0) -> Fitted:
    """All documents down to the first click were examined, none behind it: a is clicks over examinations."""
    yes, no = _prior(log, strength)
    before: Bools = np.cumsum(log.clicked, axis=1) - log.clicked == 0
    seen = log.per_pair(before.astype(np.float64))
    first = log.per_pair((before & log.clicked).astype(np.float64))
    attraction = np.clip((first + yes) / (seen + yes + no), _NARROW, 1 - _NARROW)
    examination = log.per_rank(before & log.shown) / np.maximum(log.per_rank(log.shown), 1)
    return Fitted("cascade", attraction, np.ones(log.pairs), examination, 1.0, seen)


def dynamic_bayesian(log: ClickLog, strength: float = 1.0) -> Fitted:
    """The first document is examined; a click satisfies with s; who is not satisfied goes on with g.

    All down to the last click was examined, and its clicks before the last satisfied nobody. Behind it, with
    T_r = P(no more clicks | r examined, not satisfied) = 1 - g + g (1 - a_{r+1}) T_{r+1}:
    P(satisfied) = s / (s + (1 - s) T_l), and examination goes down by g (1 - a_{r+1}) T_{r+1} / T_r from rank to rank.
    """
    yes, no = _prior(log, strength)
    attraction, satisfaction, persistence = np.full(log.pairs, yes / (yes + no)), np.full(log.pairs, 0.5), 0.9
    parts, clicks = log.parts(), log.per_pair(log.clicked.astype(np.float64))
    seen, examined = np.zeros(log.pairs), np.zeros(log.pair.shape[1])
    for _ in range(_MOST_ROUNDS):
        found = [_behind(part, attraction, satisfaction, persistence) for part in parts]
        seen = np.sum([one.seen for one in found], axis=0)
        satisfied = np.sum([one.satisfied for one in found], axis=0)
        examined = np.sum([one.examined for one in found], axis=0)
        went, could = sum(one.went_on for one in found), sum(one.could_go_on for one in found)
        new_a = np.clip((clicks + yes) / (seen + yes + no), _NARROW, 1 - _NARROW)
        new_s = np.clip((satisfied + strength / 2) / (clicks + strength), _NARROW, 1 - _NARROW)
        new_g = min(max(went / could if could else 1.0, _NARROW), 1 - _NARROW)
        changes = (new_a - attraction, new_s - satisfaction, np.array([new_g - persistence]))
        moved = max(float(np.abs(change).max(initial=0)) for change in changes)
        attraction, satisfaction, persistence = new_a, new_s, new_g
        if moved < _STILL:
            break
    examination = examined / np.maximum(log.per_rank(log.shown), 1)
    return Fitted("dbn", attraction, satisfaction, examination, persistence, seen)


@dataclass(frozen=True, eq=False, repr=False)
class _Behind:
    """Expectations over a part of a log."""

    seen: Floats
    satisfied: Floats
    examined: Floats
    went_on: float
    could_go_on: float


def _behind(log: ClickLog, attraction: Floats, satisfaction: Floats, persistence: float) -> _Behind:
    lists, depth = log.pair.shape
    shown, clicked, times = log.shown, log.clicked, log.times
    places = np.arange(depth)
    last = np.where(clicked.any(axis=1), depth - 1 - np.argmax(clicked[:, ::-1], axis=1), -1)
    a = np.where(shown, attraction[np.maximum(log.pair, 0)], 0.0)
    s = satisfaction[log.pair[np.arange(lists), np.maximum(last, 0)]]
    length = shown.sum(axis=1)
    # tail[:, r] = T_r: no more clicks behind rank r (counted from 1; 0 is before the first).
    tail = np.ones((lists, depth + 1))
    for rank in range(depth - 1, 0, -1):
        further = 1 - persistence + persistence * (1 - a[:, rank]) * tail[:, rank + 1]
        tail[:, rank] = np.where(rank < length, further, 1.0)
    behind = tail[np.arange(lists), last + 1]
    some = last >= 0
    gone = np.where(some, (1 - s) * behind, 0.0)
    satisfied = np.where(some, s / np.maximum(s + gone, _NARROW), 0.0)
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
    satisfied_by_pair = _added(
        log.pair[np.arange(lists), np.maximum(last, 0)][some], (times * satisfied)[some], log.pairs
    )
    return _Behind(log.per_pair(examined), satisfied_by_pair, log.per_rank(examined), went, could)


MODELS: dict[str, Callable[..., Fitted]] = {"pbm": position_based, "cascade": cascade, "dbn": dynamic_bayesian}
"""By name."""


def click_chances(fitted: Fitted, log: ClickLog) -> Floats:
    """The chance of a click at every place of every list, not knowing the clicks above it."""
    a = np.where(log.shown, fitted.attraction[np.maximum(log.pair, 0)], 0.0)
    if fitted.model == "pbm":
        return np.asarray(a * fitted.examination[None, : a.shape[1]])
    s = np.where(log.shown, fitted.satisfaction[np.maximum(log.pair, 0)], 0.0)
    on = fitted.persistence * (1 - a * s)  # of one that is examined, to the next
    reached = np.cumprod(np.concatenate([np.ones((len(a), 1)), on[:, :-1]], axis=1), axis=1)
    return np.asarray(a * reached)


def perplexity(fitted: Fitted, log: ClickLog) -> float:
    """2 to the mean surprise of clicks and their absence at each rank, averaged over the ranks: 1 is perfect, 2 is a
    coin. Held-out lists tell which model to trust."""
    chance = np.clip(click_chances(fitted, log), _NARROW, 1 - _NARROW)
    surprise = -np.where(log.clicked, np.log2(chance), np.log2(1 - chance))
    shown = log.shown
    total, times = log.per_rank(np.where(shown, surprise, 0.0)), log.per_rank(shown)
    return float(np.mean(2 ** (total[times > 0] / times[times > 0]))) if times.any() else float("nan")


def coec(log: ClickLog) -> tuple[Floats, Floats]:
    """Clicks over expected clicks of each pair, and the expected: what documents get on average at the ranks where it
    was shown (Zhang and Jones 2007). 1 is an average document."""
    pair, rank, times, clicks = log.cells
    at_rank = np.bincount(rank, weights=clicks) / np.maximum(np.bincount(rank, weights=times), 1.0)
    expected = _added(pair, times * at_rank[rank], log.pairs)
    own = _added(pair, clicks, log.pairs)
    return np.where(expected > 0, own / np.maximum(expected, _NARROW), 1.0), expected
