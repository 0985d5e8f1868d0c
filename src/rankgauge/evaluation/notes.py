"""What a careful reader must know beside the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from rankgauge.evaluation.caveats import caveats_of
from rankgauge.evaluation.conversations import conversation_notes
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.explanations import caution_of
from rankgauge.model.scores import ScoreTable
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["FEW_QUERIES", "notes_of"]

FEW_QUERIES = 25
_LOW_JUDGED = 0.8
_LONGEST_ID = 80
"""Characters of an id that are shown; longer ones are texts."""


def notes_of(scores: Scores) -> list[Note]:
    """All notes on an evaluation."""
    coverage, contract, judged = scores.coverage, scores.contract, scores.coverage.judged_queries
    notes: list[Note] = []

    def add(level: Literal["info", "warning"], key: str, **values: Any) -> None:
        notes.append(Note(f"evaluation.{key}", values, level))

    counted = int(scores.table.counted.any(axis=1).sum())
    add("info", "queries", counted=counted, judged=judged)
    if coverage.missing:
        kept = "skip" if contract.missing == "skip" else "zero"
        add("warning", f"missing_{kept}", n=coverage.missing, judged=judged)
    if not scores.live and not scores.whole_lists and (empty := _empty(scores)):  # of which others tell
        add("warning", "empty_lists", n=empty, judged=judged)
    if scores.rising is not None:
        add("warning", "rising", query=scores.rising)
    if coverage.no_answer:
        apart = contract.no_answer == "skip"
        counts = {"n": coverage.no_answer, "judged": judged}
        notes.append(Note("evidence.left_out", counts) if apart else Note("evidence.counted", counts, "warning"))
    notes += _scores_needed(scores)
    if coverage.ungrouped:
        notes.append(Note("evidence.ungrouped"))
    said = 0 if contract.no_answer == "skip" else coverage.no_answer
    if coverage.no_relevant > said:
        add("warning", f"no_relevant_{contract.no_relevant}", n=coverage.no_relevant - said, judged=judged)
    if coverage.not_judged:
        add("info", "not_judged", n=coverage.not_judged, run=coverage.run_queries)
    if coverage.id_mismatch is not None:
        run, judged_id = (clipped(one, _LONGEST_ID) for one in coverage.id_mismatch)
        ids: dict[str, Any] = {"run": run, "judged": judged_id}
        if len(coverage.id_mismatch[0]) > _LONGEST_ID:  # of a text, such as that of the document
            add("warning", "texts_for_ids", **ids)
        elif contract.collapse is not None:
            add("warning", "id_mismatch_merged", **ids, rule=contract.collapse)
        elif scores.id_fields is None:
            add("warning", "id_mismatch", **ids)
        else:
            notes.append(Note("asking.id_mismatch", {**ids, "fields": scores.id_fields}, "warning"))
    if coverage.only_relevant:
        add("info", "only_relevant")
    elif coverage.judged_at:
        shares = [Note("evaluation.judged_share", {"k": k, "share": share}) for k, share in coverage.judged_at.items()]
        add("info", "judged_at", shares=shares)
        k, share = next(iter(coverage.judged_at.items()))
        if share < _LOW_JUDGED and coverage.id_mismatch is None:  # whose warning says why
            add("warning", "judged_low", share=share, k=k)
    notes += caveats_of(scores)
    if coverage.passages is not None:
        from rankgauge.evaluation.passage_notes import passage_notes  # few labels are passages

        notes += passage_notes(coverage.passages, contract, scores.measures)
    elif scores.spans:  # it is wanted where chunks are merged into documents
        apart = contract.collapse is None
        notes.append(Note("spans.as_documents", {"spans": scores.spans}, "warning" if apart else "info"))
    if coverage.tied_documents:
        counts = {"documents": coverage.tied_documents, "queries": coverage.tied_queries, "judged": judged}
        live = "_live" if contract.ties == "trec" and scores.live else ""
        level: Literal["info", "warning"] = "info" if contract.ties == "expected" else "warning"
        add(level, f"ties_{contract.ties}{live}", ties=Note("evaluation.ties", counts))
    if scores.table.sampled:
        from rankgauge.engine.orders import DRAWS, MOST_ORDERS, SEED  # loaded only where orders were drawn

        drawn = [
            Note("evaluation.sampled_in", {"name": name, "n": n, "judged": judged})
            for name, n in scores.table.sampled.items()
        ]
        add("info", "sampled", names=drawn, most=MOST_ORDERS, draws=DRAWS, seed=SEED)
    if scores.synthetic:
        from rankgauge.evaluation.synthetic import synthetic_notes  # most queries are real

        notes += synthetic_notes(scores)
    if scores.clusters is not None:
        notes += conversation_notes(scores)
    elif 2 <= counted < FEW_QUERIES:
        add("info", "few", n=counted)
    for measure in scores.measures:
        if (text := caution_of(measure)) is not None:
            add("warning", "caution", name=str(measure), text=text)
    return notes


def _empty(scores: Scores) -> int:
    """How many lists are empty that should not be."""
    table = scores.table
    empty = table.in_run & (table.retrieved == 0)
    return int((empty if table.no_answer is None else empty & ~table.no_answer).sum())


def _scores_needed(scores: Scores) -> list[Note]:
    """Whether a threshold, or queries without an answer, ask for scores that are not there."""
    thresholds = {str(m): float(value) for m in scores.measures if (value := m.get("threshold")) is not None}
    if scores.table.scored:
        general = () if scores.plan.threshold is None or scores.no_answer is None else (scores.plan.threshold,)
        return _one_sided(scores.table, sorted({*thresholds.values(), *general}))
    if thresholds:
        return [Note("evidence.unscored_threshold", {"names": list(thresholds)}, "warning")]
    return [Note("evidence.unscored", level="warning")] if scores.coverage.no_answer else []


def _one_sided(table: ScoreTable, thresholds: Sequence[float]) -> list[Note]:
    """Thresholds that no first score reaches, or every one: they decide nothing. Distances are negative scores."""
    found = np.zeros(0) if table.top is None else table.top[(table.retrieved > 0) & np.isfinite(table.top)]
    if not len(found):
        return []
    low, high, notes = float(found.min()), float(found.max()), []
    for threshold in thresholds:
        about = {"threshold": threshold, "low": low, "high": high}
        if threshold > high:
            key = "evidence.above_distances" if high <= 0 < threshold else "evidence.above_all"
            notes.append(Note(key, {**about, "negative": -threshold}, "warning"))
        elif threshold <= low:
            notes.append(Note("evidence.below_all", about, "warning"))
    return notes
