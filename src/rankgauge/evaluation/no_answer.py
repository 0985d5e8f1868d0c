"""Queries without an answer: were they refused, and could a threshold of the first score tell them from the others?"""

from __future__ import annotations

import numpy as np

from rankgauge.model.ranked import Bools, Floats
from rankgauge.model.scores import ScoreTable
from rankgauge.record.no_answer import ChosenThreshold, NoAnswer
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.separation import (
    auroc,
    auroc_interval,
    balanced_accuracy,
    best_threshold,
    held_out_accuracy,
)

__all__ = ["no_answer_of"]


def no_answer_of(table: ScoreTable, threshold: float | None = None) -> NoAnswer | None:
    """The section of a record; None where every query has an answer."""
    if table.no_answer is None or table.top is None or table.answerable is None:
        return None
    rows = table.answerable | table.no_answer
    answerable, retrieved = table.answerable[rows], table.retrieved[rows]
    scores = np.where(retrieved > 0, table.top[rows], -np.inf)
    answered = scores > -np.inf if threshold is None else scores >= threshold
    right = answered == answerable
    both = bool(answerable.any() and not answerable.all())
    scored = table.scored
    given, withheld = scores[answerable], scores[~answerable]
    return NoAnswer(
        answerable=int(answerable.sum()),
        unanswerable=int((~answerable).sum()),
        threshold=threshold,
        answered=int(answered[answerable].sum()),
        refused=int((~answered[~answerable]).sum()),
        handled=int(right.sum()) / len(right),
        interval=mean_interval(right.astype(np.float64)),
        auroc=auroc(given, withheld) if both and scored else None,
        auroc_interval=auroc_interval(given, withheld) if both and scored else None,
        best=_best(scores, answerable) if both and scored else None,
        scored=scored,
    )


def _best(scores: Floats, answerable: Bools) -> ChosenThreshold | None:
    threshold = best_threshold(scores, answerable)
    if threshold is None:
        return None
    held = held_out_accuracy(scores, answerable)
    accuracy = balanced_accuracy(scores >= threshold, answerable)
    return ChosenThreshold(threshold, accuracy, *(held or (None, 0)))
