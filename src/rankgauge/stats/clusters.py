"""Queries that are not independent of each other: the turns of one conversation, or the rewordings of one question.

Let conversation g of G have n_g queries that count, S_g the sum of their differences (or scores), n all queries and m
the mean over all queries. A column of queries becomes one of conversations with the values

    u_g = m + (G / n) (S_g - n_g m),      weights w_g = n_g G / n.

Their mean is m, and their standard error is the cluster-robust one of m, sqrt(G / (G - 1) sum (S_g - n_g m)^2) / n
(Liang and Zeger 1986), so that whatever takes a column's mean and spread (t, bootstrap-t, Johnson's correction,
equivalence, power) holds for conversations as it does for queries. The sums themselves, times G / n, are
u_g - m + w_g m: tests that swap the two systems turn the sign of these, whole conversations at a time.

The design effect is how many times larger the variance of the mean is than that of as many independent queries (Kish
1965).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankgauge.model.ranked import Ints
from rankgauge.stats.differences import Column

__all__ = ["cluster_numbers", "clustered", "design_effect"]


def cluster_numbers(queries: Sequence[str], conversations: Mapping[str, str]) -> Ints | None:
    """The number of each query's conversation, from 0 on in the order of their first queries. A query without one is a
    conversation of its own. None where no conversation has two of the queries: then all are independent."""
    if not conversations:
        return None
    known: dict[tuple[str, str], int] = {}
    found = [
        known.setdefault(("in", name) if (name := conversations.get(query, "")) else ("alone", query), len(known))
        for query in queries
    ]
    return None if len(known) == len(found) else np.array(found, dtype=np.int64)


def clustered(column: Column, clusters: Ints | None) -> Column:
    """A column of queries as one of conversations; the column itself where every query stands alone."""
    if clusters is None:
        return column
    size = int(clusters.max()) + 1
    within = clusters[column.counted]
    numbers = np.bincount(within, minlength=size).astype(np.float64)
    counted = numbers > 0
    groups = int(counted.sum())
    if not groups:
        return Column(np.zeros(size), counted, column.limits, numbers)
    weights = numbers * (groups / column.n)
    rest = np.bincount(within, weights=column.own - column.mean, minlength=size) * (groups / column.n)
    rest[np.abs(rest) < column.rounding] = 0.0  # what remains of equal differences
    return Column(np.where(counted, column.mean + rest, 0.0), counted, column.limits, weights)


def design_effect(queries: Column, units: Column) -> float | None:
    """The variance of the mean over conversations, over that of as many independent queries; None without a spread."""
    return (units.error / queries.error) ** 2 if queries.error and units.n > 1 else None
