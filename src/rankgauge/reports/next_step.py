"""One step that fits the outcome: what a reader would do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.record import Record
from rankgauge.reports.columns import answer
from rankgauge.words import Note

if TYPE_CHECKING:
    from rankgauge.gating.outcome import GateResult  # a table of means does without the gate

__all__ = ["after_gate", "next_step"]


def next_step(record: Record) -> Note | None:
    """After an evaluation a comparison; after one that stays open more judgments or queries; else a gate. None where
    the report says it itself."""
    compared = record.comparison
    if compared is None or not compared.rows:
        return answer("next_compare") if len(record.systems) == 1 else None
    first = compared.rows[0].measure
    if all(row.verdict != "inconclusive" for row in compared.rows if row.measure == first):
        return answer("next_gate")
    if compared.unjudged is not None and any(row.changes_winner and row.exact for row in compared.unjudged.rows):
        return answer("next_judge")
    return answer("next_power" if record.contract is not None else "next_power_scores")


def after_gate(result: GateResult) -> Note | None:
    """What holds can be the next baseline; what lost is seen query by query; what stays open takes more queries."""
    if result.baseline is None:
        return None
    if result.status == "inconclusive":
        return answer("next_power")
    if result.status == "pass":
        return answer("next_set" if result.baseline.version is None else "next_promote")
    return answer("next_queries") if result.baseline.record is not None else None
