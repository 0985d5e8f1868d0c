"""Before and after a reranker: what the candidates allowed, and what the order made of it.

A reranker can only reorder its candidates, and leave some out. The ceiling is the greatest score of any such list; what
lies between the ceiling and a perfect list was lost before the reranker saw anything:

    before <= after <= ceiling <= perfect        (a reranker may also do harm: after < before)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.errors import DataError
from rankgauge.measures import Law, Measure, parse_measure
from rankgauge.measures.gain import gain_of
from rankgauge.model.ranked import Floats, RankedGrades
from rankgauge.words import LANGUAGES, Language

if TYPE_CHECKING:
    from rankgauge.comparison.comparison import Comparison

__all__ = ["Rerank", "RerankRow", "rerank_of"]

_TEXTS: dict[str, tuple[str, str]] = {
    "gained": (
        "{measure}: {before} to {after}; the best order of the candidates would reach {ceiling}, so the reranker made "
        "{share} of the {room} that reordering could win",
        "{measure}：{before} → {after}；候选文档的最佳排序可达 {ceiling}，重排实现了可提升空间 {room} 中的 {share}",
    ),
    "lost": (
        "{measure}: {before} to {after}, though the best order of the candidates would reach {ceiling}: the reranker "
        "does harm",
        "{measure}：{before} → {after}，而候选文档的最佳排序可达 {ceiling}：重排反而有害",
    ),
    "no room": (
        "{measure}: {before} to {after}; the candidates were already in their best order ({ceiling}), so reranking "
        "could win nothing",
        "{measure}：{before} → {after}；候选文档已是最佳排序（{ceiling}），重排没有提升空间",
    ),
    "beyond": (
        "{measure}: {missing} of a perfect score is out of reach of any order: those documents are not among the "
        "candidates",
        "{measure}：满分中有 {missing} 是任何排序都无法达到的，因为相应文档不在候选之中",
    ),
    "recall": (
        "the candidates hold {share} of the relevant documents",
        "候选文档包含 {share} 的相关文档",
    ),
    "not_candidates": (
        "warning: {n} documents of {after} are not among the candidates of {before}, in {queries} queries; it is not "
        "only a reordering, and may exceed the ceiling",
        "警告：{after} 有 {n} 个文档不在 {before} 的候选之中，涉及 {queries} 个查询；这不只是重排，可能超过上限",
    ),
}


@dataclass(frozen=True)
class RerankRow:
    """Means of one measure over the queries that count for both systems."""

    measure: str
    before: float
    after: float
    ceiling: float
    """Of the best list of candidates."""
    perfect: float
    """Of the best list the judgments allow."""

    @property
    def share(self) -> float | None:
        """How much of what reordering could win was won; None where there was nothing to win."""
        room = self.ceiling - self.before
        return (self.after - self.before) / room if room > 1e-9 else None

    def sentences(self, language: Language) -> list[str]:
        share = self.share
        lost = self.after < self.before - 1e-9
        key = "lost" if lost else "no room" if share is None else "gained"
        at = 0 if language == "en" else 1
        said = [
            _TEXTS[key][at].format(
                measure=self.measure,
                before=f"{self.before:.4f}",
                after=f"{self.after:.4f}",
                ceiling=f"{self.ceiling:.4f}",
                share="" if share is None else f"{100 * share:.0f} %",
                room=f"{self.ceiling - self.before:.4f}",
            )
        ]
        if self.perfect - self.ceiling > 1e-9:
            said.append(_TEXTS["beyond"][at].format(measure=self.measure, missing=f"{self.perfect - self.ceiling:.4f}"))
        return said


@dataclass(frozen=True)
class Rerank:
    """The split for all measures, the recall of the candidates, and documents that were no candidates."""

    before: str
    after: str
    rows: list[RerankRow]
    recall: float
    not_candidates: int
    not_candidate_queries: int

    def sentences(self, language: Language = "en") -> list[str]:
        at = 0 if language == "en" else 1
        said = [_TEXTS["recall"][at].format(share=f"{100 * self.recall:.1f} %")]
        for row in self.rows:
            said += row.sentences(language)
        if self.not_candidates:
            said.append(
                _TEXTS["not_candidates"][at].format(
                    n=self.not_candidates, queries=self.not_candidate_queries, before=self.before, after=self.after
                )
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        rows = [{**asdict(row), "share": row.share} for row in self.rows]
        sentences = {language: self.sentences(language) for language in LANGUAGES}
        return {**asdict(self), "rows": rows, "sentences": sentences}


def rerank_of(comparison: Comparison) -> Rerank:
    """The split of a comparison of exactly two systems: the candidates, and the same list reranked."""
    if len(comparison.systems) != 2 or not comparison.evaluations or comparison.qrels is None:
        raise DataError("--rerank compares exactly two runs: before=CANDIDATES after=RERANKED")
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
