"""What was searched in production: one entry for a search, or for a query with the number of its searches."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LoggedQuery"]


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A search as a log tells it; None where it does not tell."""

    text: str
    """Empty where the log has none."""
    count: int = 1
    """How many searches it stands for."""
    results: int | None = None
    score: float | None = None
    """Of the first result."""
    clicks: int | None = None
    failed: bool = False
    """Whether the call failed, or its user said that the results were bad."""
    time: str = ""
