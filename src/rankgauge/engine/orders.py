"""Expected values over the orders of tied documents, for measures without a closed form.

All orders that a measure can tell apart are gone through, each with its chance. A query with more than `MOST_ORDERS` of
them gets the mean over `DRAWS` orders that are drawn at random, with a fixed seed.

Documents of one grade (and the same subtopics) may change places, and so may all that nobody judged. Below the depth
of a measure, or the end of the list, it does not matter where a document stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb, prod

import numpy as np

from rankgauge.engine.virtual import blind_to_zero
from rankgauge.measures import Law, Measure
from rankgauge.model.ranked import Floats, Ints, RankedGrades, tie_groups

__all__ = ["DRAWS", "MOST_ORDERS", "SEED", "drawn_orders", "expected_scores"]

MOST_ORDERS = 5_040  # all orders of seven documents
DRAWS = 256
SEED = 0
_CHUNK = 1_000_000  # hits and judgments of orders that are held in memory at a time


def expected_scores(ranked: RankedGrades, measure: Measure) -> tuple[Floats, int]:
    """The expected score of each query, and for how many queries orders had to be drawn."""
    if measure.get("judged_only") and ranked.limit is None:
        ranked = ranked.judged_only()
    groups = _groups(ranked, measure)
    plain = ranked.above + _place(ranked)
    scores = measure.score(_fixed(ranked, plain))
    drawn = []
    pieces: list[_Piece] = []
    size = 0
    for query, own in groups.items():
        if prod(group.orders for group in own) > MOST_ORDERS:
            drawn.append(query)
            continue
        scores[query] = 0.0
        for piece in _pieces(ranked, plain, query, own):
            pieces.append(piece)
            size += piece.above.size
            if size > _CHUNK:
                _add_up(scores, ranked, measure, pieces)
                pieces, size = [], 0
    _add_up(scores, ranked, measure, pieces)
    if drawn:
        rows = np.array(drawn)
        some = ranked.take(rows)
        scores[rows] = sum(measure.score(order) for order in drawn_orders(some)) / DRAWS
    return scores, len(drawn)


@dataclass(frozen=True, eq=False, repr=False)
class _Group:
    """Tied documents whose order matters: `hits` are the rows of the judged ones."""

    hits: slice
    tied: int
    inside: int
    """Ranks of the group that count; behind them it does not matter where a document stands."""
    kinds: tuple[int, ...]
    """How many documents there are of each kind that can be told apart; the others are of no kind."""
    members: Ints
    """Hits in the order of their kinds, those of no kind last."""

    @property
    def orders(self) -> int:
        return _count(self.inside, self.tied - self.inside, self.kinds)


@dataclass(frozen=True, eq=False, repr=False)
class _Piece:
    """Orders of one query: the documents above each hit, orders by hits, and the chance of each order."""

    query: int
    above: Ints
    chance: Floats


def _place(ranked: RankedGrades) -> Ints:
    """The number of each hit within its group, from 0."""
    first, sizes = tie_groups(ranked.owner, ranked.above)
    return np.arange(len(ranked.owner)) - np.repeat(first, sizes)


def _reach(ranked: RankedGrades, measure: Measure) -> float:
    """The rank behind which the order does not matter: the end of the list, or the measure's depth."""
    end = np.inf if ranked.limit is None else float(ranked.limit)
    definition = measure.definition
    is_depth = measure.at is not None and definition.at is not None and definition.at.kind is int
    # A measure with a closed form is here because its list is cut: what is below its depth still matters to it, such
    # as the ideal order of what was retrieved. So do documents that move up when those before them are dropped.
    moves = definition.ties == "exact" or (measure.get("judged_only") and ranked.limit is not None)
    return min(end, float(measure.at or 0)) if is_depth and Law.BLIND in definition.laws and not moves else end


def _groups(ranked: RankedGrades, measure: Measure) -> dict[int, list[_Group]]:
    """The groups of each query whose order can change the score."""
    reach = _reach(ranked, measure)
    blind = blind_to_zero(measure) and not measure.get("judged_only")
    topics = _subtopics(ranked)
    found: dict[int, list[_Group]] = {}
    first, sizes = tie_groups(ranked.owner, ranked.above)
    ends = first + sizes
    open_ = (ranked.tied[first] > 1) & (ranked.above[first] < reach)
    for start, end in zip(first[open_].tolist(), ends[open_].tolist(), strict=True):
        grades, tied, above = ranked.grades[start:end], int(ranked.tied[start]), int(ranked.above[start])
        kinds = [(grade, topics.get(start + i, ())) for i, grade in enumerate(grades.tolist())]
        counts = Counter(kind for kind in kinds if not (blind and kind[0] <= 0))
        order = {kind: i for i, kind in enumerate(counts)}
        members = np.argsort([order.get(kind, len(order)) for kind in kinds], kind="stable")
        inside = int(min(tied, reach - above))
        group = _Group(slice(start, end), tied, inside, tuple(counts.values()), members)
        if group.orders > 1:
            found.setdefault(int(ranked.owner[start]), []).append(group)
    return found


def _subtopics(ranked: RankedGrades) -> dict[int, tuple[tuple[int, float], ...]]:
    """(subtopic, grade) of every hit, where judgments have subtopics."""
    rows = ranked.subtopics
    if rows is None:
        return {}
    found: dict[int, list[tuple[int, float]]] = {}
    for hit, topic, grade in zip(rows.hit.tolist(), rows.subtopic.tolist(), rows.grade.tolist(), strict=True):
        found.setdefault(hit, []).append((topic, grade))
    return {hit: tuple(sorted(topics)) for hit, topics in found.items()}


@lru_cache(maxsize=4096)
def _count(inside: int, outside: int, kinds: tuple[int, ...]) -> int:
    """Orders that can be told apart, or any number above `MOST_ORDERS` if there are more.

    Of each kind some documents stand inside, at ranks of their own, and the others anywhere outside.
    """
    ways, placed = {inside: 1}, 0  # by how many ranks inside are still free
    for number in kinds:
        new: Counter[int] = Counter()
        for free, count in ways.items():
            room = outside - (placed - (inside - free))
            for within in range(max(0, number - room), min(number, free) + 1):
                new[free - within] += count * comb(free, within)
            if new.total() > MOST_ORDERS:
                return new.total()
        ways, placed = dict(new), placed + number
    return sum(ways.values())


@lru_cache(maxsize=256)
def _orders(inside: int, tied: int, kinds: tuple[int, ...], others: int) -> tuple[Ints, Floats]:
    """All orders that can be told apart, as places of the members from 0, and the chance of each."""
    places, ways = [], []

    def fill(free: Sequence[int], outside: int, number: int, own: list[int], count: int) -> None:
        """`outside` is the next place outside, `count` in how many ways the ones outside can stand."""
        if number == len(kinds):
            places.append([*own, *[*free, *range(outside, tied)][:others]])
            ways.append(count)
            return
        for within in range(max(0, kinds[number] - (tied - outside)), min(kinds[number], len(free)) + 1):
            without = kinds[number] - within
            more = count * comb(tied - outside, without)
            for chosen in combinations(free, within):
                rest = [place for place in free if place not in chosen]
                fill(rest, outside + without, number + 1, [*own, *chosen, *range(outside, outside + without)], more)

    fill(range(inside), inside, 0, [], 1)
    total = sum(ways)
    return np.array(places, dtype=np.int64).reshape(len(ways), -1), np.array([count / total for count in ways])


def _pieces(ranked: RankedGrades, plain: Ints, query: int, groups: Sequence[_Group]) -> Iterator[_Piece]:
    """All orders of one query, in pieces that fit into memory; `plain` is where hits of other groups stand."""
    start, end = int(ranked.starts[query]), int(ranked.starts[query + 1])
    judged = int(ranked.judged_starts[query + 1] - ranked.judged_starts[query])
    parts = [_orders(g.inside, g.tied, g.kinds, len(g.members) - sum(g.kinds)) for g in groups]
    total = prod(len(chance) for _, chance in parts)
    step = max(1, _CHUNK // (end - start + judged))
    for begin in range(0, total, step):
        number = np.arange(begin, min(begin + step, total))
        above, chance = np.tile(plain[start:end], (len(number), 1)), np.ones(len(number))
        for group, (places, chances) in zip(groups, parts, strict=True):
            number, choice = np.divmod(number, len(chances))
            columns = group.hits.start - start + group.members
            above[:, columns] = ranked.above[group.hits.start] + places[choice]
            chance = chance * chances[choice]
        yield _Piece(query, above, chance)


def _add_up(scores: Floats, ranked: RankedGrades, measure: Measure, pieces: Sequence[_Piece]) -> None:
    """Add the orders' scores, weighed with their chances, to those of their queries."""
    if not pieces:
        return
    query = np.repeat([piece.query for piece in pieces], [len(piece.chance) for piece in pieces])
    orders = _fixed(ranked.take(query), np.concatenate([piece.above.ravel() for piece in pieces]))
    chance = np.concatenate([piece.chance for piece in pieces])
    np.add.at(scores, query, chance * measure.score(orders))


def _fixed(ranked: RankedGrades, above: Ints) -> RankedGrades:
    """The ranking in which every hit has its place."""
    order = np.lexsort((above, ranked.owner))
    fixed = replace(
        ranked,
        above=above[order],
        tied=np.ones_like(above),
        grades=ranked.grades[order],
        subtopics=ranked.subtopics and ranked.subtopics.renumbered(np.argsort(order)),
        _cache={},
    )
    return fixed if ranked.limit is None else fixed.limited(ranked.limit)


def drawn_orders(ranked: RankedGrades) -> Iterator[RankedGrades]:
    """Random orders of the tied documents, as plain rankings."""
    rng = np.random.default_rng(SEED)
    first, sizes = tie_groups(ranked.owner, ranked.above)
    open_ = ranked.tied[first] > 1
    groups = list(zip(first[open_].tolist(), sizes[open_].tolist(), ranked.tied[first[open_]].tolist(), strict=True))
    for _ in range(DRAWS):
        above = ranked.above.copy()
        for start, count, tied in groups:
            above[start : start + count] += rng.choice(tied, size=count, replace=False)
        yield _fixed(ranked, above)
