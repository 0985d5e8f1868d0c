"""What people should review, and in which order.

A document waits where nobody labelled it, where labels disagree, where a judge was uncertain, and where only a model
has spoken. With runs, its worth is the influence of `judge_next`, with documents in doubt taken as open, times the
doubt; queries come by the sum of their documents' worth. Within a query the order is random, and neither ranks nor
systems nor grades are handed on: who sees them labels otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.engine.lists import top_rows
from rankgauge.evaluation import make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.labels import LabelPolicy, Labels
from rankgauge.model.pool import Pool
from rankgauge.model.testset import TestSet
from rankgauge.record import UnjudgedRange
from rankgauge.sensitivity.judge_next import worth_of
from rankgauge.stats.levels import check_whole
from rankgauge.testsets.review.doubt import Doubt, doubts
from rankgauge.testsets.review.judged import (
    Grades,
    PathLike,
    all_labels,
    check_policy,
    check_scale,
    current_grades,
    judgments_with_scale,
    opened_runs,
    read_labels,
    read_pool,
    read_tested,
    usual_scale,
)
from rankgauge.testsets.review.queued import Pair, QueuedPair, ReviewQueue, Why
from rankgauge.testsets.review.sharing import shared_out, shuffled
from rankgauge.testsets.review.standing import VerdictWatch
from rankgauge.words import Note

__all__ = ["review_queue"]

_LEAST_SEARCHED = 100
_SHORTLIST = 4
"""Documents whose influence is searched for each one of a batch; the others come behind them, by what their label alone
would change."""
_DEEPEST = 1 << 30


@dataclass(frozen=True)
class _Waiting:
    """A pair that may be reviewed, with all that orders it."""

    pair: Pair
    why: Why
    doubt: float = 1.0
    rank: int = _DEEPEST
    systems: int = 0
    effect: float | None = None
    promise: float = 0.0
    place: int = 0
    """Of its pair in a pool whose order is kept."""

    @property
    def order(self) -> tuple[int, float, float, float, int, int, Pair]:
        return self.place, -(self.effect or 0.0), -self.promise, -self.doubt, self.rank, -self.systems, self.pair


@named_arguments
def review_queue(
    test_set: TestSet | Qrels | Mapping[str, Any] | PathLike,
    labels: Labels | PathLike | None = None,
    runs: Mapping[str, Any] | None = None,
    *,
    pool: Pool | PathLike | None = None,
    number: int | None = 50,
    batch: int | None = None,
    measures: str | Measure | Sequence[str | Measure] = ("nDCG@10",),
    contract: str | Contract | None = None,
    depth: int = 20,
    scale: Sequence[float] | None = None,
    policy: LabelPolicy | None = None,
    conflicts: bool = False,
    reviewers: Sequence[str] = (),
    overlap: float = 0.0,
    seed: int = 0,
) -> ReviewQueue:
    """What to review first: the `number` documents whose labels matter most (all, where it is None), query by query;
    with `batch`, so many of them query by query, then as many again.

    `runs` maps names to runs: then the order is by the effect on their comparison, and what they return among the
    first `depth` may be reviewed. `pool` bounds what is reviewed; without runs it is ordered by rank, or keeps its
    order of queries where it names no systems, as one that was drawn. Without either it is what the labels leave in
    doubt, and what the test set holds and no person has labelled. `conflicts` leaves only pairs whose labels disagree.
    `reviewers` share the work by query, and a share of the documents, `overlap`, goes to two of them. The `scale` is 0
    to 3, or as far as grades of the test set and the labels go.
    """
    number = None if number is None else check_whole("number", number, 1)
    batch = None if batch is None else check_whole("batch", batch, 1)
    depth, seed = check_whole("depth", depth, 1), check_whole("seed", seed, 0)
    plan = make_plan(measures, contract)
    grades_of_scale = None if scale is None else check_scale(scale)
    tested, asked, opened = read_tested(test_set), read_pool(pool), opened_runs(runs)
    known, policy = all_labels(tested, read_labels(labels)), check_policy(policy, tested)
    grades_of_scale = grades_of_scale or usual_scale(tested, known)
    grades = current_grades(tested, known, policy)
    in_doubt = doubts(known, policy, grades_of_scale[-1] - grades_of_scale[0])
    retrieved = _retrieved(grades, opened, depth, plan.contract)
    waiting = _waiting(grades, in_doubt, _people(known), asked, retrieved if opened else None)
    if asked is not None and not opened and _has_own_order(asked):
        place = {one.pair: number for number, one in enumerate(asked)}
        waiting = {pair: replace(one, place=place[pair]) for pair, one in waiting.items()}
    if conflicts:
        waiting = {pair: one for pair, one in waiting.items() if one.why == "conflict"}
    notes = _unknown_queries(grades, known, asked)
    ranges: tuple[UnjudgedRange, ...] = ()
    if opened and waiting:
        open_ = {pair: one for pair, one in waiting.items() if pair in retrieved}
        qrels, among = judgments_with_scale(_without(grades, open_), grades_of_scale, plan.measures)
        # A query that a run lacks counts here whatever the contract says: that of the scale is in none.
        lenient = plan.contract if plan.contract.missing != "error" else plan.contract.with_changes(missing="zero")
        weights = {pair: one.doubt for pair, one in open_.items()}
        searched = max(_LEAST_SEARCHED, _SHORTLIST * (batch or number or len(waiting)))
        found = worth_of(qrels, opened, plan.measures, lenient, list(combinations(opened, 2)), among, weights, searched)
        if found.known:
            waiting = {
                pair: replace(one, effect=found.influence.get(pair, 0.0), promise=found.promise.get(pair, 0.0))
                for pair, one in waiting.items()
            }
        notes += [Note("judging.left_out", {"measure": name, "reason": why}) for name, why in found.reasons.items()]
    if len(opened) > 1:
        watch = VerdictWatch(tested, opened, measures, scale=grades_of_scale, policy=policy, contract=contract)
        ranges = watch.standing(known).ranges
    chosen = sorted(waiting.values(), key=lambda one: one.order)[:number]
    size = batch or max(1, len(chosen))
    batches = (_by_query(chosen[i : i + size], seed) for i in range(0, len(chosen), size))
    items, doubled = shared_out([one for part in batches for one in part], reviewers, overlap, seed)
    return ReviewQueue(tuple(items), len(waiting), doubled, ranges, tuple(notes))


def _people(labels: Labels) -> set[Pair]:
    """Pairs that a person has labelled."""
    return {pair for pair, voices in labels.voices.items() if any(one.kind == "person" for one in voices)}


def _has_own_order(pool: Pool) -> bool:
    """Whether a pool was not gathered from systems, by whose ranks it is ordered, but drawn: in the random order of
    `testset draw`, what is labelled first is a random sample too."""
    return not any(one.systems for one in pool)


def _waiting(
    grades: Grades,
    in_doubt: Mapping[Pair, Doubt],
    people: set[Pair],
    pool: Pool | None,
    retrieved: Mapping[Pair, tuple[int, int]] | None,
) -> dict[Pair, _Waiting]:
    """All that may be reviewed: of the pool, of what runs retrieved, or else of what the test set holds."""
    found = {pair: _Waiting(pair, doubt.why, doubt.size) for pair, doubt in in_doubt.items() if pair[0] in grades}
    if pool is not None:
        asked = {one.pair: one for one in pool if one.query in grades}
        found = {pair: one for pair, one in found.items() if pair in asked}
        for pair, one in asked.items():
            if pair not in people and pair not in found:
                why: Why = "unreviewed" if pair[1] in grades[pair[0]] else "unjudged"
                found[pair] = _Waiting(pair, why)
            if pair in found:
                found[pair] = replace(found[pair], rank=one.rank or _DEEPEST, systems=len(one.systems))
    elif retrieved is not None:
        for pair, (rank, systems) in retrieved.items():
            if pair in found:
                found[pair] = replace(found[pair], rank=rank, systems=systems)
            elif pair[1] not in grades[pair[0]]:
                found[pair] = _Waiting(pair, "unjudged", rank=rank, systems=systems)
    else:
        held = ((query, doc) for query, docs in grades.items() for doc in docs)
        found |= {pair: _Waiting(pair, "unreviewed", 0.0) for pair in held if pair not in people | found.keys()}
    return found


def _retrieved(grades: Grades, runs: Mapping[str, Any], depth: int, contract: Contract) -> dict[Pair, tuple[int, int]]:
    """What the runs return: the best rank of each, and in how many runs it is."""
    found: dict[Pair, tuple[int, int]] = {}
    qrels = Qrels(grades)
    for run in runs.values():
        rows = top_rows(qrels, run, contract, depth)
        for owner, doc, rank in zip(rows.owner.tolist(), rows.docs.to_list(), rows.ranks.tolist(), strict=True):
            pair = rows.queries[owner], doc
            best, systems = found.get(pair, (_DEEPEST, 0))
            found[pair] = min(best, rank), systems + 1
    return found


def _without(grades: Grades, open_: Mapping[Pair, _Waiting]) -> Grades:
    """The grades but those of some pairs, which count as unjudged then."""
    return {
        query: {doc: grade for doc, grade in docs.items() if (query, doc) not in open_}
        for query, docs in grades.items()
    }


def _by_query(chosen: Sequence[_Waiting], seed: int) -> list[QueuedPair]:
    """One query after the other: those first whose documents are worth most together, or else stand highest."""
    own: dict[str, list[_Waiting]] = {}
    for one in chosen:
        own.setdefault(one.pair[0], []).append(one)
    worth = {query: sum(one.effect or 0.0 for one in ones) for query, ones in own.items()}
    place = {query: i for i, query in enumerate(own)}
    ordered = []
    for query in sorted(own, key=lambda query: (-round(worth[query], 12), place[query])):
        ordered += sorted(own[query], key=lambda one: shuffled(seed, "order", *one.pair))
    return [QueuedPair(*one.pair, (), one.why, one.effect) for one in ordered]


def _unknown_queries(grades: Grades, labels: Labels, pool: Pool | None) -> list[Note]:
    """Queries of labels and pool that the test set does not have."""
    found = []
    for key, queries in (
        ("labels", {query for query, _ in labels.voices}),
        ("pool", set(pool.queries if pool else ())),
    ):
        if unknown := sorted(queries - grades.keys()):
            found.append(Note(f"review.unknown_{key}", {"n": len(unknown), "query": unknown[0]}, "warning"))
    return found
