"""Which unjudged documents to judge next: those whose labels would narrow the ranges of the differences most.

The influence of a document is the width of the range of the mean difference, less its mean width over the labels that
the document may get, added up over the pairs and measures within whose depth it lies. That takes a search for every
document and label, so it is done for the most promising documents: those for which the label alone, all other documents
staying unjudged, changes the difference most. Where the divisor of an additive measure does not depend on labels, the
two are the same number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.engine.virtual import Labels
from rankgauge.errors import DataError
from rankgauge.evaluation import DEFAULT_MEASURES, Scoring, make_plan, read_judgments
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.model.testset import TestSet
from rankgauge.record import Note, UnjudgedRange
from rankgauge.sensitivity.label_search import cost_of_each, differences
from rankgauge.sensitivity.open_documents import Case
from rankgauge.sensitivity.pooling import retrieved, worth
from rankgauge.sensitivity.unjudged import range_of, ranged_cases, why_no_range
from rankgauge.stats.levels import check_whole
from rankgauge.words import tell

__all__ = ["Candidate", "JudgingPlan", "Worth", "judge_next", "judging_plan", "worth_of"]

_LOOKED_AT = 4_000_000  # hits and judgments of virtual queries with one label, for one measure and pair
_SHORTLIST = 4  # documents searched for each one that is asked for
_LEAST_SHORTLIST = 100
_SEARCH = 250_000  # hits and judgments that one search may cost; where it costs more, the label alone must do
_PORTION = 4_000_000
_POOLED = 10  # of measures without a depth, where nothing is judged yet


@dataclass(frozen=True)
class Candidate:
    """An unjudged document that is worth a judgment."""

    query: str
    doc: str
    ranks: dict[str, int | None]
    """Its rank in each system; None where it is not within the greatest depth."""
    influence: float


@dataclass(frozen=True)
class JudgingPlan:
    """The documents to judge next, and what they are worth."""

    candidates: list[Candidate]
    documents: int
    """All unjudged documents that touch one of the ranges."""
    ranges: list[UnjudgedRange]
    shown: list[UnjudgedRange]
    """The same ranges if only the candidates were open and the other documents stayed unjudged."""
    reasons: dict[str, Note]
    """Measures without a range, and why."""
    contract: Contract = field(default_factory=Contract)
    texts: dict[str, str] = field(default_factory=dict)
    """Of the queries, where the test set has any."""
    depth: int | None = None
    """Of the pool, where there is no label yet: the candidates are in the order of their worth (`pooling`), and
    nothing has a range."""

    @property
    def share(self) -> float:
        """How much of the ranges' width the candidates carry by themselves, between 0 and 1."""
        width = sum(found.high - found.low for found in self.ranges)
        return min(1.0, sum(found.high - found.low for found in self.shown) / width) if width > 0 else 1.0

    @property
    def left_out(self) -> list[Note]:
        return [
            Note("judging.left_out", {"measure": measure, "reason": reason}) for measure, reason in self.reasons.items()
        ]

    @property
    def notes(self) -> list[Note]:
        """What a reader must know beside the documents."""
        if not self.documents:
            return [Note("judging.none"), *self.left_out]
        if self.depth is not None:
            counts = {"shown": len(self.candidates), "all": self.documents, "depth": self.depth}
            return [Note("judging.unlabelled", counts)]
        shown = {"shown": len(self.candidates), "all": self.documents, "share": self.share}
        notes = [Note("judging.share", shown)]
        for found in self.ranges:
            if found.a and found.changes_winner:
                about = {"measure": found.measure, "a": found.a, "b": found.b}
                notes.append(Note("judging.changes" if found.exact else "judging.may_change", about))
        return [*notes, *self.left_out]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "format": "rankgauge.judge-next",
            "version": 1,
            "contract": self.contract.to_dict(),
            "documents": self.documents,
            **({} if self.depth is None else {"pooled": self.depth}),
            "share": None if self.depth is not None else self.share,
            "ranges": [asdict(found) | {"changes_winner": found.changes_winner} for found in self.ranges],
            "left_out": {measure: asdict(reason) for measure, reason in self.reasons.items()},
            "candidates": [
                asdict(candidate) | ({"text": self.texts[candidate.query]} if candidate.query in self.texts else {})
                for candidate in self.candidates
            ],
        }


@named_arguments
def judge_next(
    qrels: Qrels | TestSet | Mapping[str, Any] | str | os.PathLike[str] | Any,
    runs: Mapping[str, Any],
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    number: int = 50,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
) -> JudgingPlan:
    """Which documents to judge next: those whose judgments would most narrow what unjudged documents leave open.

    `runs` maps a name to a run of any kind that `evaluate` takes. With several of them, what is to be narrowed is the
    range of the difference of each pair; with one, that of its own means. The other choices are those of `evaluate`.
    Where there is no judgment at all, there are no ranges yet, and documents come by their ranks and by how much the
    systems disagree about them (`rankgauge.sensitivity.pooling`).
    """
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel)
    scoring = Scoring(plan, collapse_chunks)
    if not isinstance(runs, Mapping):
        raise DataError('runs are given by name: {"a": run, "b": run}')
    judgments, test_set = read_judgments(qrels)
    if test_set is not None and len(test_set) and not any(query.grades for query in test_set):
        opened = {str(name): scoring.opened(run, str(name))[0] for name, run in runs.items()}
        return _without_labels(test_set, opened, plan.measures, plan.contract, number)
    reason = why_no_range(judgments)
    if reason is not None:
        raise DataError(f"{judgments.name}: {tell(reason, 'en')}; add the documents you rejected with grade 0")
    settled = {str(name): scoring.opened(run, str(name)) for name, run in runs.items()}
    lists = {name: run for name, (run, _) in settled.items()}
    plan = next((plan for _, plan in settled.values()), plan)
    found = judging_plan(judgments, lists, plan.measures, plan.contract, list(combinations(lists, 2)), number)
    if not found.ranges:
        raise DataError("; ".join(tell(note, "en") for note in found.left_out))
    return replace(found, texts={query.id: query.text for query in test_set or () if query.text != query.id})


def _without_labels(
    test_set: TestSet, runs: Mapping[str, Any], measures: Sequence[Measure], contract: Contract, number: int
) -> JudgingPlan:
    """The pool of a test set without a label, in the order of what its labels would be worth."""
    n = check_whole("number", number, 1)
    depth = max((measure.at for measure in measures if isinstance(measure.at, int)), default=_POOLED)
    texts = {query.id: query.text for query in test_set if query.text != query.id}
    names = list(runs)
    if not names:
        raise DataError("there is no run to judge documents of")
    pool = list(retrieved(runs, depth, [query.id for query in test_set], contract))
    valued = sorted(((worth(one.ranks, names), i) for i, one in enumerate(pool)), key=lambda pair: (-pair[0], pair[1]))
    candidates = [
        Candidate(pool[i].query, pool[i].doc, {name: pool[i].ranks.get(name) for name in names}, value)
        for value, i in valued[:n]
    ]
    return JudgingPlan(candidates, len(pool), [], [], {}, contract, texts, depth)


def judging_plan(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    contract: Contract,
    pairs: Sequence[tuple[str, str]] = (),
    n: int = 50,
) -> JudgingPlan:
    """The n unjudged documents that would most narrow the ranges of the pairs, the most influential first; without
    pairs, the ranges of each run's own means."""
    n = check_whole("number", n, 1)
    wanted: list[tuple[str | None, str]] = [*pairs] or [(None, name) for name in runs]
    pool, ranged, reasons = ranged_cases(qrels, runs, measures, contract, wanted)
    if pool is None:
        return JudgingPlan([], 0, [], [], reasons, contract)
    cases, ranges = [case for case, _ in ranged], [found for _, found in ranged]
    alone = _all_alone(cases, len(pool.documents))
    promise = alone.sum(axis=0)
    touched = np.zeros(len(promise), dtype=bool)
    for case in cases:
        touched[case.document[case.document >= 0]] = True
    best = _first(promise, np.flatnonzero(touched), max(_SHORTLIST * n, _LEAST_SHORTLIST))
    influence = _all_searched(cases, best, alone)
    chosen = _first(influence, best, n)
    ranks = {name: pool.ranks(name) for name in runs}
    rows = pool.documents[chosen.tolist()]
    candidates = [
        Candidate(pool.queries[owner], doc, {name: found.get(number) for name, found in ranks.items()}, value)
        for number, owner, doc, value in zip(
            chosen.tolist(), rows["owner"].to_list(), rows["doc"].to_list(), influence[chosen].tolist(), strict=True
        )
    ]
    shown = [_only(case, chosen) for case in cases]
    return JudgingPlan(candidates, int(touched.sum()), ranges, shown, reasons, contract)


@dataclass(frozen=True)
class Worth:
    """What the labels of open documents are worth, by query and document."""

    influence: dict[tuple[str, str], float]
    """Of the most promising ones, which were searched."""
    promise: dict[tuple[str, str], float]
    """Of all: the greatest change of the differences that the label alone makes."""
    reasons: dict[str, Note]
    """Measures without a range, and why."""
    known: bool
    """Whether any measure has a range."""


def worth_of(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    contract: Contract,
    pairs: Sequence[tuple[str, str]],
    among: Mapping[str, Bools],
    weights: Mapping[tuple[str, str], float],
    n: int,
) -> Worth:
    """Influence and promise of open documents, times their weights; those of weight 0, or of none, are worth nothing.

    The n most promising are searched. `among` says which queries count, by measure.
    """
    wanted: list[tuple[str | None, str]] = [*pairs] or [(None, name) for name in runs]
    pool, ranged, reasons = ranged_cases(qrels, runs, measures, contract, wanted, among)
    if pool is None or not ranged:
        return Worth({}, {}, reasons, False)
    cases = [case for case, _ in ranged]
    owners = (pool.queries[owner] for owner in pool.documents["owner"].to_list())
    documents = list(zip(owners, pool.documents["doc"].to_list(), strict=True))
    weight = np.array([weights.get(pair, 0.0) for pair in documents])
    alone = _all_alone(cases, len(documents))
    promise = alone.sum(axis=0) * weight
    best = _first(promise, np.flatnonzero(promise > 0), n)
    influence = _all_searched(cases, best, alone) * weight
    found = {documents[number]: float(influence[number]) for number in best.tolist()}
    return Worth(found, dict(zip(documents, promise.tolist(), strict=True)), reasons, True)


def _all_alone(cases: Sequence[Case], documents: int) -> Floats:
    """What each label alone changes, cases by documents."""
    alone = np.zeros((len(cases), documents))
    for i, case in enumerate(cases):
        inside = case.problem.inside
        alone[i, case.document[inside]] = _alone(case)[inside]
    return alone


def _all_searched(cases: Sequence[Case], numbers: Ints, alone: Floats) -> Floats:
    """The influence of some documents, added up over the cases."""
    influence = np.zeros(alone.shape[1])
    for i, case in enumerate(cases):
        influence += _searched(case, numbers, alone[i])
    return influence


def _first(value: Floats, among: Ints, n: int) -> Ints:
    """The numbers of the n greatest; equal ones by number, which is by query and document id."""
    rounded = np.round(value[among], 12)
    return among[np.lexsort((among, -rounded))[:n]]


def _alone(case: Case) -> Floats:
    """For each open document: the greatest change of the mean difference that its label alone makes.

    Where there are too many documents, those deepest in the lists are taken to make none.
    """
    problem = case.problem
    change = np.zeros(case.document.shape)
    places = [np.where(s.open_ranks > 0, s.open_ranks, np.inf) for s in (problem.a, problem.b) if s is not None]
    row, doc = np.nonzero(problem.inside)
    order = np.argsort(np.minimum.reduce(places)[row, doc], kind="stable")
    near = np.cumsum(problem.sizes[row[order]]) <= _LOOKED_AT
    row, doc = row[order][near], doc[order][near]
    base = problem.difference(np.arange(len(problem.open)), Labels.none())
    for grade in problem.levels:
        labels = Labels(np.arange(len(row)), doc, np.full(len(row), grade))
        moved = np.abs(problem.difference(row, labels) - base[row])
        change[row, doc] = np.maximum(change[row, doc], moved)
    return np.asarray(change / max(1, case.counted))


def _searched(case: Case, numbers: Ints, alone: Floats) -> Floats:
    """The influence of some documents on one range, by searching it again for every label that each may get."""
    problem = case.problem
    influence = np.zeros(len(alone))
    row, doc = np.nonzero(np.isin(case.document, numbers) & problem.inside)
    costly = cost_of_each(problem)[row] > _SEARCH
    influence[case.document[row[costly], doc[costly]]] = alone[case.document[row[costly], doc[costly]]]
    row, doc = row[~costly], doc[~costly]
    levels = np.asarray(problem.levels)
    block = np.cumsum(cost_of_each(problem)[row] * (len(levels) + 1)) // _PORTION
    for number in np.unique(block):
        part = block == number
        here, document = row[part], doc[part]
        k = len(here)
        # Every document as it is, then with each label.
        query = np.tile(here, len(levels) + 1)
        fixed = np.arange(k, len(query))
        labels = Labels(fixed, np.tile(document, len(levels)), np.repeat(levels, k))
        closed = np.zeros((len(query), case.document.shape[1]), dtype=bool)
        closed[fixed, labels.doc] = True
        found = differences(problem.fixed(query, labels, closed))
        if found is None:
            continue
        width = (found[1] - found[0]).reshape(len(levels) + 1, k)
        shrunk = (width[0] - width[1:].mean(axis=0)) / max(1, case.counted)
        influence[case.document[here, document]] = shrunk
    return influence


def _only(case: Case, numbers: Ints) -> UnjudgedRange:
    """The range if only these documents were open."""
    keep = np.isin(case.document, numbers) & case.problem.inside
    problem = case.problem.fixed(np.arange(len(case.query)), Labels.none(), ~keep)
    found = range_of(replace(case, problem=problem))
    assert found is not None
    return found
