"""Agreement of raters: how far several sets of grades say the same of the same items.

Every coefficient here is a function of sums over items, so its interval comes from leaving out one cluster after the
other (a jackknife): the items of one query are judged alike and are no independent evidence, so clusters are queries.

Notation: n_ik raters gave item i category k, n_i rated it; p_k the mean of n_ik / n_i; o_kl the coincidences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats, Ints
from rankgauge.stats.intervals import Interval, student_quantile

__all__ = ["COEFFICIENTS", "Coefficient", "Ratings", "coefficient", "weights_of"]

Weighting = Literal["nominal", "linear", "quadratic"]
Sums = tuple[Floats, Callable[[Floats], Floats]]
"""The sums of each cluster, and a coefficient as a function of their total."""
_LEVEL = 0.95
_NOISE = 1e-12
_CELLS = 4_000_000


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement: 1 is perfect, 0 what chance gives; None where all grades are one category."""

    value: float | None
    interval: Interval | None
    items: int
    """Items that at least two raters rated."""


class Ratings:
    """Grades of items by raters: a row for each item, a column for each rater, NaN where there is none.

    `clusters` numbers the group of each item, such as its query; without them each item stands for itself.
    """

    def __init__(self, grades: Floats, clusters: Ints | None = None) -> None:
        grades = np.asarray(grades, dtype=np.float64)
        if grades.ndim != 2 or grades.shape[1] < 2:
            raise DataError("agreement needs the grades of two raters or more, one column for each")
        own = np.arange(len(grades)) if clusters is None else np.asarray(clusters)
        rated = (~np.isnan(grades)).sum(axis=1) >= 2
        self.grades, own = grades[rated], own[rated]
        self.categories: Floats = np.unique(self.grades[~np.isnan(self.grades)])
        self.cluster: Ints = np.unique(own, return_inverse=True)[1].astype(np.int64)

    def __len__(self) -> int:
        return len(self.grades)

    @cached_property
    def counts(self) -> Floats:
        """n_ik."""
        return np.stack([(self.grades == category).sum(axis=1) for category in self.categories], axis=1).astype(float)

    def by_cluster(self, of_items: Floats) -> Floats:
        """Sums of what each item has, over the items of each cluster."""
        found = np.zeros((int(self.cluster.max(initial=-1)) + 1, *of_items.shape[1:]))
        np.add.at(found, self.cluster, of_items)
        return found

    @cached_property
    def pairs(self) -> Floats:
        """Of each cluster: the chance that two raters of an item give it k and l, added over its items."""
        n = self.counts.sum(axis=1)
        return self._both(1 / (n * (n - 1)))

    @cached_property
    def coincidences(self) -> Floats:
        """Of each cluster: n_ik (n_il - [k = l]) / (n_i - 1), added over its items."""
        return self._both(1 / (self.counts.sum(axis=1) - 1))

    def _both(self, weight: Floats) -> Floats:
        """Of each cluster: n_ik (n_il - [k = l]), weighed and added over its items, some of these at a time."""
        k = len(self.categories)
        found, step = np.zeros((int(self.cluster.max(initial=-1)) + 1, k, k)), max(1, _CELLS // (k * k))
        for start in range(0, len(self), step):
            part = slice(start, start + step)
            counts = self.counts[part]
            both = counts[:, :, None] * counts[:, None, :] - np.eye(k) * counts[:, :, None]
            np.add.at(found, self.cluster[part], both * weight[part, None, None])
        return found

    @cached_property
    def shares(self) -> Floats:
        """Of each cluster: n_ik / n_i, added over its items; and the number of items."""
        share = self.counts / self.counts.sum(axis=1, keepdims=True)
        return self.by_cluster(np.concatenate([share, np.ones((len(share), 1))], axis=1))

    @cached_property
    def table(self) -> Floats:
        """Of each cluster: how many items the first rater gave k and the second l."""
        if self.grades.shape[1] != 2:
            raise DataError("Cohen's kappa compares two raters; for more take Fleiss' kappa or Krippendorff's alpha")
        k = len(self.categories)
        places = np.searchsorted(self.categories, self.grades)
        found = np.zeros((int(self.cluster.max(initial=-1)) + 1, k, k))
        np.add.at(found, (self.cluster, places[:, 0], places[:, 1]), 1.0)
        return found


def weights_of(categories: Floats, weighting: Weighting) -> Floats:
    """How far two grades agree: 1 for the same, less the further apart they are, by their distance or its square."""
    if weighting == "nominal" or len(categories) < 2:
        return np.eye(len(categories))
    apart = np.abs(categories[:, None] - categories[None, :]) / (categories[-1] - categories[0])
    agreed: Floats = 1.0 - (apart if weighting == "linear" else apart**2)
    return agreed


def _chance_corrected(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected < 1 - 1e-12, (observed - expected) / (1 - expected), np.nan)


def _cohen(ratings: Ratings, weighting: Weighting) -> Sums:
    """(sum w t - sum w r c) / (1 - sum w r c), t the table of shares, r and c its margins (Cohen 1960, 1968)."""
    weights = weights_of(ratings.categories, weighting)

    def value(sums: Floats) -> Floats:
        share = sums / sums.sum(axis=(-2, -1), keepdims=True)
        chance = share.sum(axis=-1)[..., :, None] * share.sum(axis=-2)[..., None, :]
        return _chance_corrected((weights * share).sum(axis=(-2, -1)), (weights * chance).sum(axis=(-2, -1)))

    return ratings.table, value


def _by_pairs(ratings: Ratings, weighting: Weighting, chance: Callable[[Floats, Floats], Floats]) -> Sums:
    weights, k = weights_of(ratings.categories, weighting), len(ratings.categories)
    flat = ratings.pairs.reshape(len(ratings.pairs), k * k)

    def value(sums: Floats) -> Floats:
        items, share = sums[..., -1], sums[..., k * k : -1] / sums[..., -1:]
        observed = (weights.ravel() * sums[..., : k * k]).sum(axis=-1) / items
        return _chance_corrected(observed, chance(share, weights))

    return np.concatenate([flat, ratings.shares], axis=1), value


def _fleiss(ratings: Ratings, weighting: Weighting) -> Sums:
    """Agreement of two raters of an item, corrected for sum w_kl p_k p_l (Fleiss 1971)."""
    return _by_pairs(ratings, weighting, lambda p, w: np.einsum("...k,kl,...l->...", p, w, p))


def _gwet(ratings: Ratings, weighting: Weighting) -> Sums:
    """The same, corrected for sum w / (K (K - 1)) sum p_k (1 - p_k): AC1, and AC2 with weights (Gwet 2008)."""
    k = max(len(ratings.categories), 2)
    return _by_pairs(ratings, weighting, lambda p, w: w.sum() / (k * (k - 1)) * (p * (1 - p)).sum(axis=-1))


def _alpha(ratings: Ratings, level: Literal["nominal", "ordinal", "interval"]) -> Sums:
    """1 - (n - 1) sum o_kl d_kl / sum n_k n_l d_kl, d the squared distance of two categories at the level of
    measurement; ordinal: (sum of n_g for g from k to l, half of n_k and n_l)^2 (Krippendorff 2011)."""
    categories = ratings.categories

    def distance(n: Floats) -> Floats:
        if level == "nominal":
            return 1.0 - np.eye(len(categories))
        if level == "interval":
            return np.asarray((categories[:, None] - categories[None, :]) ** 2)
        middle = np.cumsum(n, axis=-1) - n / 2
        return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)

    def value(sums: Floats) -> Floats:
        n = sums.sum(axis=-1)
        d = distance(n)
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = (n[..., :, None] * n[..., None, :] * d).sum(axis=(-2, -1))
            apart = (n.sum(axis=-1) - 1) * (sums * d).sum(axis=(-2, -1)) / expected
        return np.where(expected > 0, 1.0 - apart, np.nan)

    return ratings.coincidences, value


COEFFICIENTS: dict[str, Callable[[Ratings], Sums]] = {
    "cohen_kappa": lambda ratings: _cohen(ratings, "nominal"),
    "cohen_kappa_linear": lambda ratings: _cohen(ratings, "linear"),
    "cohen_kappa_quadratic": lambda ratings: _cohen(ratings, "quadratic"),
    "fleiss_kappa": lambda ratings: _fleiss(ratings, "nominal"),
    "krippendorff_alpha": lambda ratings: _alpha(ratings, "nominal"),
    "krippendorff_alpha_ordinal": lambda ratings: _alpha(ratings, "ordinal"),
    "krippendorff_alpha_interval": lambda ratings: _alpha(ratings, "interval"),
    "gwet_ac1": lambda ratings: _gwet(ratings, "nominal"),
    "gwet_ac2": lambda ratings: _gwet(ratings, "quadratic"),
}
"""By name."""


def coefficient(name: str, ratings: Ratings, level: float = _LEVEL) -> Coefficient:
    """A coefficient with its interval: t with a degree less than there are clusters, by the jackknife over them.

    Perfect agreement of all that was seen does not prove it of the rest: with c clusters, what disagrees in fewer
    than 1 - (1 - level)^(1 / c) of them may well not have been seen; the coefficient with that is the lower bound.
    """
    if len(ratings.categories) < 2:
        return Coefficient(None, None, len(ratings))
    sums, value_of = COEFFICIENTS[name](ratings)
    total, clusters = sums.sum(axis=0), len(sums)
    value = float(value_of(total))
    if abs(value - 1.0) < _NOISE:  # perfect but for rounding
        value = 1.0
    if math.isnan(value):
        return Coefficient(None, None, len(ratings))
    if clusters < 2:
        return Coefficient(value, None, len(ratings))
    if value == 1.0:
        low = _with_disagreement(name, ratings, 1.0 - (1.0 - level) ** (1.0 / clusters))
        return Coefficient(value, Interval(low, 1.0, level, "unseen"), len(ratings))
    without = value_of(total - sums)
    if np.isnan(without).any():
        return Coefficient(value, None, len(ratings))
    error = math.sqrt((clusters - 1) / clusters * float(((without - without.mean()) ** 2).sum()))
    if error < _NOISE:  # all clusters say the same, which tells nothing of those that were not seen
        return Coefficient(value, None, len(ratings))
    half = student_quantile((1 + level) / 2, clusters - 1) * error
    interval = Interval(max(value - half, -1.0), min(value + half, 1.0), level, "jackknife")
    return Coefficient(value, interval, len(ratings))


def _with_disagreement(name: str, ratings: Ratings, share: float) -> float:
    """The coefficient if the last rater of this share of the items, spread evenly, had given the next category."""
    grades, n = ratings.grades.copy(), len(ratings)
    rows = np.linspace(0, n - 1, math.ceil(share * n)).astype(np.int64)
    last = grades.shape[1] - 1 - np.argmax(~np.isnan(grades[rows, ::-1]), axis=1)
    place = np.searchsorted(ratings.categories, grades[rows, last])
    grades[rows, last] = ratings.categories[np.where(place > 0, place - 1, 1)]
    sums, value_of = COEFFICIENTS[name](Ratings(grades))
    return max(-1.0, float(value_of(sums.sum(axis=0))))
