"""Novelty and diversity: judgments by subtopic (the second column of TREC judgments).

A document relevant to subtopic s gains (1 - alpha)^c, where c relevant documents for s came before. Definitions follow
ndeval (TREC Web track); a subtopic without a relevant document is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from rankgauge.errors import DataError
from rankgauge.measures.counting import ratio, recall
from rankgauge.measures.measure import Kernel, Measure
from rankgauge.measures.parameters import depth_of
from rankgauge.model.ranked import Bools, Floats, Ints, RankedGrades

__all__ = ["groups_seen"]


@dataclass(frozen=True, eq=False, repr=False)
class _Topic:
    """One query: which retrieved and which judged documents are relevant to which subtopics."""

    subtopics: int
    found: list[tuple[int, list[int]]]
    """(rank, subtopics) of the relevant documents retrieved, in rank order."""
    pool: list[list[int]]
    """Subtopics of every relevant document."""

    def novelty(self, alpha: float, depth: int | None) -> Iterator[tuple[int, float]]:
        """(rank, gain) down the list."""
        left = np.ones(self.subtopics)
        for rank, topics in self.found:
            if depth is not None and rank > depth:
                return
            yield rank, float(left[topics].sum())
            left[topics] *= 1.0 - alpha

    def ideal(self, alpha: float, depth: int | None) -> Iterator[tuple[int, float]]:
        """(rank, gain) of the greedy best list; finding the true best one is NP-complete."""
        left = np.ones(self.subtopics)
        rest = [np.array(topics) for topics in self.pool]
        rank = 0
        while rest and (depth is None or rank < depth):
            gains = [left[topics].sum() for topics in rest]
            best = int(np.argmax(gains))
            rank += 1
            yield rank, float(gains[best])
            left[rest.pop(best)] *= 1.0 - alpha


def _topics(ranked: RankedGrades, measure: Measure) -> list[_Topic]:
    rel, rows = measure.get("rel"), ranked.subtopics
    if rows is None:
        raise DataError(
            f"{measure} needs judgments by subtopic: give judgments with a subtopic column "
            "(the second column of TREC judgments)"
        )

    def build() -> list[_Topic]:
        rank = np.append(ranked.ranks, 0)[rows.hit]
        bounds = zip(rows.starts[:-1].tolist(), rows.starts[1:].tolist(), strict=True)
        return [_topic(rows.document[a:b], rows.subtopic[a:b], rows.grade[a:b] >= rel, rank[a:b]) for a, b in bounds]

    return ranked.cached(("topics", rel), build)


def _topic(document: Ints, subtopic: Ints, relevant: Bools, rank: Ints) -> _Topic:
    names = np.unique(subtopic[relevant])
    number = {int(name): i for i, name in enumerate(names)}
    topics: dict[int, list[int]] = {}
    rank_of: dict[int, int] = {}
    for row in np.flatnonzero(relevant).tolist():
        topics.setdefault(int(document[row]), []).append(number[int(subtopic[row])])
        rank_of[int(document[row])] = int(rank[row])
    found = sorted((rank_of[doc], subs) for doc, subs in topics.items() if rank_of[doc])
    return _Topic(len(names), found, [topics[doc] for doc in sorted(topics)])


def _by_topic(score: Callable[[_Topic, Measure], float]) -> Kernel:
    """A kernel from the score of one query."""

    def kernel(ranked: RankedGrades, measure: Measure) -> Floats:
        topics = _topics(ranked, measure)
        return np.array([score(topic, measure) if topic.subtopics else 0.0 for topic in topics], dtype=np.float64)

    return kernel


def _depth(measure: Measure) -> int | None:
    return None if measure.at is None else int(measure.at)


Weight = Callable[[int, Measure], float]
"""What a rank weighs."""


def _reciprocal(rank: int, measure: Measure) -> float:
    return 1.0 / rank


def _log(rank: int, measure: Measure) -> float:
    return 1.0 / float(np.log2(rank + 1))


def _power(rank: int, measure: Measure) -> float:
    return float(measure.get("beta")) ** (rank - 1)


def _discounted(weight: Weight, *, normalized: bool) -> Kernel:
    """Discounted novelty, over that of the ideal list, or over what any collection could give (one new document
    for every subtopic at each rank)."""

    @_by_topic
    def score(topic: _Topic, measure: Measure) -> float:
        alpha, depth = float(measure.get("alpha") if measure.get("alpha") is not None else 0.5), _depth(measure)
        got = sum(gain * weight(rank, measure) for rank, gain in topic.novelty(alpha, depth))
        if normalized:
            best = sum(gain * weight(rank, measure) for rank, gain in topic.ideal(alpha, depth))
        else:
            end = depth if depth is not None else max([rank for rank, _ in topic.found], default=1)
            best = topic.subtopics * sum(
                (1 - alpha) ** (rank - 1) * weight(rank, measure) for rank in range(1, end + 1)
            )
        return got / best if best else 0.0

    return score


@_by_topic
def nrbp(topic: _Topic, measure: Measure) -> float:
    alpha, beta = float(measure.get("alpha")), float(measure.get("beta"))
    got = sum(gain * _power(rank, measure) for rank, gain in topic.novelty(alpha, None))
    return got * (1 - (1 - alpha) * beta) / topic.subtopics


@_by_topic
def precision_ia(topic: _Topic, measure: Measure) -> float:
    depth = _depth(measure) or 1
    return sum(len(subs) for rank, subs in topic.found if rank <= depth) / (depth * topic.subtopics)


@_by_topic
def average_precision_ia(topic: _Topic, measure: Measure) -> float:
    in_all, so_far, sums = (np.zeros(topic.subtopics) for _ in range(3))
    for topics in topic.pool:
        in_all[topics] += 1
    for rank, topics in topic.found:
        so_far[topics] += 1
        sums[topics] += so_far[topics] / rank
    return float((sums / in_all).mean())


def groups_seen(ranked: RankedGrades, measure: Measure) -> tuple[Floats, Floats]:
    """How many subtopics of each query have a relevant document among the first k, and how many there are."""
    topics, depth = _topics(ranked, measure), _depth(measure)
    seen = [{sub for rank, subs in t.found if depth is None or rank <= depth for sub in subs} for t in topics]
    return np.array([*map(len, seen)], dtype=np.float64), np.array([t.subtopics for t in topics], dtype=np.float64)


def subtopic_recall(ranked: RankedGrades, measure: Measure) -> Floats:
    """Judgments without subtopics have each relevant document as one of its own, which makes it recall."""
    if ranked.subtopics is None:
        return recall(ranked, measure)
    seen, subtopics = groups_seen(ranked, measure)
    return ratio(_expected_seen(ranked, measure) if ranked.has_ties else seen, subtopics)


def _expected_seen(ranked: RankedGrades, measure: Measure) -> Floats:
    """The expected number of subtopics seen, over tied orders: of each, the chance that not all of its documents stand
    behind the first k."""
    rows = ranked.subtopics
    assert rows is not None
    depth = depth_of(measure, ranked)
    owner = np.repeat(np.arange(len(ranked)), np.diff(rows.starts))
    found = (rows.hit >= 0) & (rows.grade >= measure.get("rel"))
    owner, subtopic, hit = owner[found], rows.subtopic[found], rows.hit[found]
    places = np.stack((owner, subtopic, ranked.above[hit], ranked.tied[hit]))
    places, members = np.unique(places, axis=1, return_counts=True)
    none: dict[tuple[int, int], float] = {}
    for (query, topic, above, tied), count in zip(places.T.tolist(), members.tolist(), strict=True):
        slots = min(tied, max(depth - above, 0))
        none[query, topic] = none.get((query, topic), 1.0) * comb(tied - count, slots) / comb(tied, slots)
    seen = np.zeros(len(ranked))
    for (query, _), chance in none.items():
        seen[query] += 1.0 - chance
    return seen


alpha_ndcg, alpha_dcg = _discounted(_log, normalized=True), _discounted(_log, normalized=False)
nerr_ia, err_ia = _discounted(_reciprocal, normalized=True), _discounted(_reciprocal, normalized=False)
normalized_nrbp = _discounted(_power, normalized=True)
