"""Before and after a reranker: what the candidates allowed, and what the order made of it.

A reranker can only reorder its candidates, and leave some out. The ceiling is the greatest score of any such list; what
lies between the ceiling and a perfect list was lost before the reranker saw anything:

    before <= after <= ceiling <= perfect        (a reranker may also do harm: after < before)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankgauge.comparison.comparison import Comparison
from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.errors import DataError
from rankgauge.measures import Law, Measure, parse_measure
from rankgauge.measures.gain import gain_of
from rankgauge.model.ranked import Floats, RankedGrades
from rankgauge.record import Rerank, RerankRow

__all__ = ["rerank_of"]


def rerank_of(comparison: Comparison) -> Rerank:
    """The split of a comparison of exactly two systems: the candidates, and the same list reranked."""
    if len(comparison.systems) != 2 or not comparison.evaluations or comparison.qrels is None:
        raise DataError("rerank compares exactly two runs: before=CANDIDATES after=RERANKED")
    from rankgauge.engine.lists import top_lists
    from rankgauge.engine.matching import match

    before, after = comparison.evaluations
    for measure in before.measures:
        if Law.MONOTONE not in measure.definition.laws or measure.get("budget") is not None:
            raise DataError(f"{measure} has no ceiling: sorting candidates by grade need not be its best order")
    contract = before.contract.with_changes(depth=None)
    candidates = match(comparison.qrels, comparison.open_run(before.name), contract).ranked
    ideal = _all_judged(candidates)
    order = byte_order(candidates.queries)
    rows = []
    for j, measure in enumerate(before.measures):
        both = before.table.counted[:, j] & after.table.counted[:, j]
        if not both.any():
            raise DataError(
                f"{measure}: {before.name} and {after.name} have no query in common, so there is no ceiling"
            )
        means = [
            aggregate(measure.definition.aggregate, values, both, order)
            for values in (
                before.table.values[:, j],
                after.table.values[:, j],
                _best_score(measure, candidates, before.contract.depth),
                _best_score(measure, ideal, before.contract.depth),
            )
        ]
        rows.append(RerankRow(str(measure), *means))
    rel = next((m.get("rel") for m in before.measures if m.definition.relevance and m.get("rel") is not None), 1.0)
    recall = _recall(candidates, rel)
    lists = [
        top_lists(comparison.qrels, comparison.open_run(name), contract, None) for name in (before.name, after.name)
    ]
    new = {q: {d.doc for d in docs} - {d.doc for d in lists[0].get(q, [])} for q, docs in lists[1].items()}
    counts = [len(docs) for docs in new.values() if docs]
    return Rerank(before.name, after.name, rows, recall, sum(counts), len(counts))


def _recall(candidates: RankedGrades, rel: float) -> float:
    measure: Measure = parse_measure("R") if rel == 1.0 else parse_measure(f"R(rel={rel:g})")
    has = candidates.n_relevant(rel) > 0
    scores = measure.score(candidates)
    return aggregate(measure.definition.aggregate, scores, has, byte_order(candidates.queries))


def _best_score(measure: Measure, ranked: RankedGrades, depth: int | None) -> Floats:
    """The greatest score that each query can get with these documents, in the best order and at the best length.

    Only a few measures can be better with fewer documents: those that divide by how many were returned, and those with
    losses. A list of the relevant documents alone is among the lengths tried.
    """
    best = _best_order(measure, ranked)
    best = best if depth is None else best.limited(depth)
    scores = measure.score(best)
    losses = any(gain < 0 for _, gain in measure.get("gains") or ())
    if losses or "returned" in (measure.get("over"), measure.get("ideal")):
        longest = int(np.diff(best.starts).max(initial=0))
        for length in range(1, min(longest, int(measure.at or longest)) + 1):
            scores = np.maximum(scores, measure.score(best.limited(length)))
    return scores


def _best_order(measure: Measure, ranked: RankedGrades) -> RankedGrades:
    """The same documents, greatest gain first; unjudged ones stand behind all but those with a loss."""
    gains = gain_of(ranked.grades, measure) if measure.get("gains") is not None else ranked.grades
    order = np.lexsort((-gains, ranked.owner))
    owner = ranked.owner[order]
    place = np.arange(len(order)) - ranked.starts[owner]
    if measure.get("gains") is not None:
        place += (gains[order] < 0) * (ranked.retrieved - np.diff(ranked.starts))[owner]
    return replace(
        ranked, above=place, tied=np.ones_like(place), grades=ranked.grades[order], subtopics=None, _cache={}
    )


def _all_judged(ranked: RankedGrades) -> RankedGrades:
    """Lists of all judged documents, in place of what was retrieved."""
    return replace(
        ranked,
        starts=ranked.judged_starts,
        above=np.zeros(len(ranked.judged_grades), dtype=np.int64),
        tied=np.ones(len(ranked.judged_grades), dtype=np.int64),
        grades=ranked.judged_grades,
        retrieved=np.maximum(ranked.retrieved, np.diff(ranked.judged_starts)),
        subtopics=None,
        _cache={},
    )
