"""Expected values over all orders of tied documents, in closed form.

Measures that add a weight per rank need no more than the mean weight of a tied group (`RankedGrades.weights`). Those
that depend on how many relevant documents came before are here, after McSherry and Najork, "Computing information
retrieval performance measures efficiently in the presence of tied scores" (ECIR 2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

from rankgauge.model.ranked import Bools, Floats, RankedGrades, tie_groups

__all__ = ["expected_precision_sum", "expected_reciprocal_rank", "probability_of_all", "probability_of_none"]


def _groups(ranked: RankedGrades, mask: Bools) -> Iterator[tuple[int, int, int, int]]:
    """(query, above, tied, members) of each tied group that holds hits of the mask, best group of a query first."""
    owner, above, tied = ranked.owner[mask], ranked.above[mask], ranked.tied[mask]
    first, sizes = tie_groups(owner, above)
    yield from zip(owner[first].tolist(), above[first].tolist(), tied[first].tolist(), sizes.tolist(), strict=True)


def probability_of_none(ranked: RankedGrades, rel: float, depth: int) -> Floats:
    """Chance that no relevant document is among the first `depth`: a product of hypergeometric terms."""
    chance = np.ones(len(ranked))
    for query, above, tied, members in _groups(ranked, ranked.relevant(rel)):
        slots = min(tied, max(depth - above, 0))
        chance[query] *= comb(tied - members, slots) / comb(tied, slots)
    return chance


def probability_of_all(ranked: RankedGrades, rel: float, depth: int) -> Floats:
    """Chance that every relevant document is among the first `depth`; 0 where one was not retrieved."""
    found = ranked.total(np.ones(len(ranked.grades)), ranked.relevant(rel))
    chance: Floats = (found == ranked.n_relevant(rel)).astype(np.float64)
    for query, above, tied, members in _groups(ranked, ranked.relevant(rel)):
        chance[query] *= comb(min(tied, max(depth - above, 0)), members) / comb(tied, members)
    return chance


def expected_reciprocal_rank(ranked: RankedGrades, rel: float, depth: int) -> Floats:
    """E[1 / rank of the first relevant document]: only the best group with relevant documents matters."""
    result = np.zeros(len(ranked))
    seen = -1
    for query, above, tied, members in _groups(ranked, ranked.relevant(rel)):
        if query == seen:
            continue
        seen = query
        still_none = 1.0
        for step in range(min(tied - members + 1, max(depth - above, 0))):
            found = members / (tied - step)
            result[query] += still_none * found / (above + step + 1)
            still_none *= 1.0 - found
    return result


def expected_precision_sum(ranked: RankedGrades, relevant: Bools, worth: Floats, depth: int) -> Floats:
    """E[sum of worth times P@rank over the relevant documents], for average precision.

    In a group of t documents after a others, r of them relevant and c relevant ones before, a relevant document
    is equally likely at each rank i = a+1..a+t and then expects (c + 1 + (i-a-1)(r-1)/(t-1)) / i.
    """
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, ranked.deepest + 1))))
    sums = np.zeros(len(ranked))
    worth = worth[relevant]
    position, query_seen, before = 0, -1, 0
    for query, start, tied, members in _groups(ranked, relevant):
        if query != query_seen:
            query_seen, before = query, 0
        end = min(start + tied, depth)
        if end > start:
            step = (members - 1) / (tied - 1) if tied > 1 else 0.0
            inverse = harmonic[end] - harmonic[start]
            mean = ((before + 1) * inverse + step * ((end - start) - (start + 1) * inverse)) / tied
            sums[query] += mean * worth[position : position + members].sum()
        position += members
        before += members
    return sums
