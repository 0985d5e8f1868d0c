"""How far two lists of numbers order things alike: Kendall's tau-b, tau-AP, rank-biased overlap."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.model.ranked import Floats

__all__ = ["kendall_tau", "rank_biased_overlap", "tau_ap"]


def kendall_tau(x: Floats, y: Floats) -> float | None:
    """(concordant - discordant) / sqrt((pairs not tied in x) (pairs not tied in y)); None where one is constant."""
    n = len(x)
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    pairs = n * (n - 1) // 2
    tied_x, tied_y = _tied_pairs(x), _tied_pairs(np.sort(y))
    if pairs in (tied_x, tied_y):
        return None
    both = np.unique(np.stack([x, y]), axis=1, return_counts=True)[1].astype(np.int64)
    tied_both = int((both * (both - 1) // 2).sum())
    # In the order of x (and of y where x is tied), a pair is discordant exactly if y falls.
    discordant = _inversions(y)[1]
    concordant = pairs - tied_x - tied_y + tied_both - discordant
    return (concordant - discordant) / math.sqrt((pairs - tied_x) * (pairs - tied_y))


def _tied_pairs(ordered: Floats) -> int:
    sizes = np.diff(np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1], True])).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(values: Floats) -> tuple[Floats, int]:
    """The values sorted, and how many pairs stood in falling order."""
    n = len(values)
    if n <= 32:
        return np.sort(values), int(np.triu(values[:, None] > values[None, :], 1).sum())
    left, first = _inversions(values[: n // 2])
    right, second = _inversions(values[n // 2 :])
    across = int((len(left) - np.searchsorted(left, right, side="right")).sum())
    return np.sort(np.concatenate([left, right]), kind="stable"), first + second + across


def tau_ap(truth: Floats, estimate: Floats) -> float | None:
    """Tau-AP: how far the estimated order is right, mistakes at its top weighing most (Yilmaz et al. 2008).

    2 / (n - 1) sum over ranks i > 1 of C(i) / (i - 1), less 1; C(i) of the systems above rank i stand there rightly.
    Larger is better in both lists. Systems that tie take their ranks in every order alike, and a pair that the truth
    ties is right half of the time. None where one of the two is constant.
    """
    n = len(truth)
    if n < 2 or (truth == truth[0]).all() or (estimate == estimate[0]).all():
        return None
    total = 0.0
    for i in range(n):
        right = np.where(truth > truth[i], 1.0, np.where(truth == truth[i], 0.5, 0.0))
        above, level = estimate > estimate[i], estimate == estimate[i]
        first, tied = int(above.sum()), int(level.sum())
        inside = (float(right[level].sum()) - 0.5) / (tied - 1) if tied > 1 else 0.0  # of one that ties with it
        ahead = np.arange(tied)
        ranked = first + ahead > 0
        shares = (float(right[above].sum()) + ahead[ranked] * inside) / (first + ahead[ranked])
        total += float(shares.sum()) / tied
    return 2 * total / (n - 1) - 1


def rank_biased_overlap(x: Floats, y: Floats, p: float = 0.9) -> float | None:
    """Extrapolated RBO of two orders of the same things (Webber et al. 2010): the mean overlap of their first d,
    weighed by p^(d-1), and beyond the end that of all of them.

    (1 - p) / p sum_d X_d / d p^d + X_n / n p^n. What ties stands within the first d with the share of the tie that
    does (RBO^a, Corsi and Urbano 2024). None with fewer than two things.
    """
    n = len(x)
    if n < 2:
        return None
    depth = np.arange(1, n + 1)

    def within(values: Floats) -> Floats:
        above = (values[None, :] > values[:, None]).sum(axis=1)[:, None]
        tied = (values[None, :] == values[:, None]).sum(axis=1)[:, None]
        return np.asarray(np.clip(depth[None, :] - above, 0, tied) / tied)

    first, second = within(x), within(y)
    shared = (first * second).sum(axis=0) / depth
    return float((1 - p) / p * (shared * p**depth).sum() + shared[-1] * p**n)
