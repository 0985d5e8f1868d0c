"""What a system does with queries that have no answer."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.stats.intervals import Interval

__all__ = ["ChosenThreshold", "NoAnswer"]


@dataclass(frozen=True)
class ChosenThreshold:
    """The threshold of the first score with the greatest balanced accuracy."""

    threshold: float
    accuracy: float
    """Balanced accuracy on the queries it was chosen on, which flatters."""
    held_out: float | None
    """Cross-validated: chosen on the other folds; None with fewer than two queries of a kind."""
    folds: int = 0


@dataclass(frozen=True)
class NoAnswer:
    """Queries with an answer and without, and what became of them. A query is answered if its list is not empty and,
    with a threshold, the score of its first document reaches it; otherwise it is refused."""

    answerable: int
    unanswerable: int
    threshold: float | None
    answered: int
    """Of the queries with an answer."""
    refused: int
    """Of the queries without one."""
    handled: float
    """The share of all queries that were handled rightly: answered, or without an answer and refused."""
    interval: Interval | None
    """Of `handled`."""
    auroc: float | None = None
    """The chance that the first score of a query with an answer is greater than that of one without; ties count half,
    and an empty list is lowest. None where scores tell nothing, or one kind of query is missing."""
    auroc_interval: Interval | None = None
    best: ChosenThreshold | None = None
    """None where `auroc` is."""
    scored: bool = True
    """Whether first scores tell more than the length of the list; lists of ids have made-up ones."""

    @property
    def refusal_recall(self) -> float | None:
        """The share of the queries without an answer that were refused."""
        return self.refused / self.unanswerable if self.unanswerable else None

    @property
    def refusal_precision(self) -> float | None:
        """The share of the refused queries that have no answer; None where none was refused."""
        refused = self.refused + self.answerable - self.answered
        return self.refused / refused if refused else None
