"""What a careful reader must know beside the scores."""

from __future__ import annotations

from typing import Any, Literal

from rankgauge.evaluation.caveats import caveats_of
from rankgauge.evaluation.conversations import conversation_notes
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.explanations import caution_of
from rankgauge.words import Note

__all__ = ["FEW_QUERIES", "notes_of"]

FEW_QUERIES = 25
_LOW_JUDGED = 0.8


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
    if coverage.no_relevant:
        add("warning", f"no_relevant_{contract.no_relevant}", n=coverage.no_relevant, judged=judged)
    if coverage.not_judged:
        add("info", "not_judged", n=coverage.not_judged, run=coverage.run_queries)
    if coverage.id_mismatch is not None:
        add("warning", "id_mismatch", run=coverage.id_mismatch[0], judged=coverage.id_mismatch[1])
    if coverage.only_relevant:
        add("info", "only_relevant")
    elif coverage.judged_at:
        shares = [Note("evaluation.judged_share", {"k": k, "share": share}) for k, share in coverage.judged_at.items()]
        add("info", "judged_at", shares=shares)
        k, share = next(iter(coverage.judged_at.items()))
        if share < _LOW_JUDGED:
            add("warning", "judged_low", share=share, k=k)
    notes += caveats_of(scores)
    if coverage.tied_documents:
        counts = {"documents": coverage.tied_documents, "queries": coverage.tied_queries, "judged": judged}
        live = "_live" if contract.ties == "trec" and scores.asked is not None else ""
        level: Literal["info", "warning"] = "info" if contract.ties == "expected" else "warning"
        add(level, f"ties_{contract.ties}{live}", ties=Note("evaluation.ties", counts))
    if scores.table.sampled:
        from rankgauge.engine.orders import DRAWS, MOST_ORDERS, SEED  # loaded only where orders were drawn

        drawn = [
            Note("evaluation.sampled_in", {"name": name, "n": n, "judged": judged})
            for name, n in scores.table.sampled.items()
        ]
        add("info", "sampled", names=drawn, most=MOST_ORDERS, draws=DRAWS, seed=SEED)
    if scores.clusters is not None:
        notes += conversation_notes(scores)
    elif 2 <= counted < FEW_QUERIES:
        add("info", "few", n=counted)
    for measure in scores.measures:
        if (text := caution_of(measure)) is not None:
            add("warning", "caution", name=str(measure), text=text)
    return notes
