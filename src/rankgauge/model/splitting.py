"""Two parts of a test set that are alike: in tags and difficulty, and without queries that give the other part away.

Turns of one conversation and queries that are nearly the same stay in one part. Strata overlap, since a query has
several tags, so the parts are made by iterative stratification (Sechidis, Tsoumakas and Vlahavas 2011): the stratum
with the fewest queries left comes first, and each of its units goes to the part that lacks most of this stratum.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, get_args

from rankgauge.errors import DataError
from rankgauge.model.alike_queries import Asked, alike_queries, repeated
from rankgauge.model.near_duplicates import groups_of
from rankgauge.model.query import Query

__all__ = ["By", "check_by", "parts_of", "sample_of", "strata_of"]

By = Literal["tag", "difficulty"]
_THIRDS: Final = ("hard", "middle", "easy")


def check_by(by: str | Sequence[str] | None) -> tuple[By, ...]:
    given = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    if unknown := [one for one in given if one not in get_args(By)]:
        raise DataError(f"`by={unknown[0]!r}` is none of {', '.join(get_args(By))}")
    return given  # type: ignore[return-value]


def strata_of(
    queries: Sequence[Query], by: Collection[By], scores: Mapping[str, float] | None
) -> list[frozenset[str]]:
    """The strata of each query: its tags, and its third of the scores, of which the lowest are the hardest."""
    thirds = _thirds(queries, scores) if "difficulty" in by else {}
    found = []
    for query in queries:
        own = {f"tag {tag}" for tag in query.tags} or {"no tag"} if "tag" in by else set()
        found.append(frozenset(own | ({f"third {thirds[query.id]}"} if thirds else set())))
    return found


def _thirds(queries: Sequence[Query], scores: Mapping[str, float] | None) -> dict[str, str]:
    if scores is None:
        raise DataError(
            "how difficult a query is shows in the scores of a system: give them with `scores={query: score}`, such as "
            "those of one measure of evaluate(...).per_query"
        )
    if missing := [query.id for query in queries if query.id not in scores]:
        raise DataError(f"`scores` has none of query {missing[0]!r} ({len(missing)} of {len(queries)} are missing)")
    odd = [query.id for query in queries if not math.isfinite(scores[query.id])]
    if odd:
        raise DataError(f"`scores`: that of query {odd[0]!r} is no finite number")
    values = sorted(scores[query.id] for query in queries)
    bounds = [values[len(values) // 3], values[2 * len(values) // 3]] if values else []
    return {query.id: _THIRDS[sum(scores[query.id] >= bound for bound in bounds)] for query in queries}


def parts_of(
    queries: Sequence[Query],
    share: float,
    seed: int,
    by: Collection[By] = (),
    scores: Mapping[str, float] | None = None,
) -> set[int]:
    """The numbers of the queries of the first part."""
    units = groups_of([query.text for query in queries], [query.conversation for query in queries], _same(queries))
    chooser = random.Random(seed)
    if not by and len(units) == len(queries):
        return set(chooser.sample(range(len(queries)), round(share * len(queries))))
    chooser.shuffle(units)
    strata = strata_of(queries, by, scores)
    own = [Counter(name for i in unit for name in sorted(strata[i])) for unit in units]
    return {i for unit in _stratified(units, own, share, len(queries)) for i in unit}


def _same(queries: Sequence[Query]) -> list[tuple[int, int]]:
    """Queries that ask the same in other words, by the rules that find a leak between two test sets. What a turn of a
    conversation means depends on what was said before."""
    asked = [
        Asked(str(i), query.text, frozenset(query.relevant))
        for i, query in enumerate(queries)
        if query.text and not query.conversation
    ]
    pairs = [(one.first, one.second) for one in alike_queries(asked, every=True)]
    pairs += [(group[0].id, other.id) for group in repeated(asked) for other in group[1:]]
    return [(int(a), int(b)) for a, b in pairs]


def _stratified(
    units: Sequence[list[int]], own: Sequence[Mapping[str, int]], share: float, n: int
) -> list[list[int]]:
    """The units of the first part."""
    left: dict[str, set[int]] = {}
    for k, counts in enumerate(own):
        for name in counts:
            left.setdefault(name, set()).add(k)
    total = {name: sum(own[k][name] for k in members) for name, members in left.items()}
    wanted = [{name: part * count for name, count in total.items()} for part in (share, 1 - share)]
    room = [share * n, (1 - share) * n]
    first: list[list[int]] = []
    placed: set[int] = set()

    def place(k: int, stratum: str | None) -> None:
        placed.add(k)
        lacks = [room[p] if stratum is None else wanted[p][stratum] for p in (0, 1)]
        # Of equal ones the part with more room; what is asked for is a share of the queries.
        p = 0 if (round(lacks[0], 9), room[0]) >= (round(lacks[1], 9), room[1]) else 1
        if p == 0:
            first.append(units[k])
        room[p] -= len(units[k])
        for name, count in own[k].items():
            wanted[p][name] -= count
            left[name].discard(k)

    while any(left.values()):
        rarest = min((name for name in left if left[name]), key=lambda name: (len(left[name]), name))
        # Large units first: small ones even out what they leave.
        for k in sorted(left[rarest], key=lambda k: (-len(units[k]), k)):
            place(k, rarest)
    for k in sorted(set(range(len(units))) - placed, key=lambda k: (-len(units[k]), k)):
        place(k, None)
    return first


def sample_of(
    queries: Sequence[Query], n: int, seed: int, by: Collection[By], weights: Mapping[str, float] | None
) -> list[int]:
    """The numbers of n queries. With weights, each is drawn as likely as its weight says among those that are left
    (Efraimidis and Spirakis 2006); by tag, the tags take turns, the one with the fewest queries drawn first."""
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= len(queries):
        raise DataError(f"`n={n!r}` must be a whole number from 1 to {len(queries)}, the number of queries")
    if "difficulty" in by:
        raise DataError("a sample is drawn by tag, or by weights; `split` knows difficulty")
    keys = _keys(queries, seed, weights)
    order = sorted(range(len(queries)), key=lambda i: -keys[i])
    if not by:
        return sorted(order[:n])
    strata = strata_of(queries, by, None)
    waiting = {name: [i for i in order if name in strata[i]] for name in sorted(set[str]().union(*strata))}
    drawn: set[int] = set()
    taken = dict.fromkeys(waiting, 0)
    while len(drawn) < n:
        left = [name for name in waiting if waiting[name]]
        name = min(left, key=lambda name: (taken[name], len(waiting[name]), name))
        i = waiting[name].pop(0)
        if i not in drawn:
            drawn.add(i)
            for own in strata[i]:
                taken[own] += 1
    return sorted(drawn)


def _keys(queries: Sequence[Query], seed: int, weights: Mapping[str, float] | None) -> list[float]:
    chooser = random.Random(seed)
    draws = [chooser.random() for _ in queries]
    if weights is None:
        return draws
    values = [float(weights.get(query.id, weights.get(query.text, 0.0))) for query in queries]
    odd = [query.id for query, value in zip(queries, values, strict=True) if not math.isfinite(value) or value < 0]
    if odd:
        raise DataError(f"the weight of query {odd[0]!r} is no number from 0 on")
    if not any(values):
        raise DataError("no query has a weight above 0: `weights=` are by the ids of the queries, or by their texts")
    # log(u) / w, which has the order of u ** (1 / w)
    return [math.log(draw or 5e-324) / value if value else -math.inf for draw, value in zip(draws, values, strict=True)]
