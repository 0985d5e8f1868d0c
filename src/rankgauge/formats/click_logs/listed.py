"""What a row that holds a whole list tells: which documents were clicked, and how long the visits took."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["clicked_of", "visits_of"]


def clicked_of(docs: Any, clicks: Any) -> tuple[list[bool], int] | None:
    """Which of the documents were clicked, and how many clicks were on others; None for what is no list.

    Clicks are a truth value for each document, ids of documents, or ranks from 1.
    """
    if not isinstance(docs, list) or not isinstance(clicks, list | None):
        return None
    own = clicks or []
    if _are_flags(docs, own):
        return [bool(value) for value in own], 0
    if own and all(isinstance(value, bool) for value in own):
        return None  # a truth value for each document, but of another list: no ranks
    names = [str(doc) for doc in docs]
    known = set(names)
    if all(isinstance(value, int) for value in own) and not any(str(value) in known for value in own):
        places = range(1, len(docs) + 1)
        return [rank in own for rank in places], sum(value not in places for value in set(own))
    chosen = {str(value) for value in own}
    return [name in chosen for name in names], len(chosen - known)


def visits_of(docs: list[Any], clicks: list[Any] | None, dwell: Any) -> list[float] | None:
    """Seconds of each document's visit, not a number where none is told; None for a list that fits neither the clicks
    nor the documents. One number for a row is the most that any of its visits took."""
    if not isinstance(dwell, list):
        return [_seconds(dwell)] * len(docs)
    own = clicks or []
    if len(dwell) != len(own) or _are_flags(docs, own):
        return [_seconds(value) for value in dwell] if len(dwell) == len(docs) else None
    found = [math.nan] * len(docs)
    for click, value in zip(own, dwell, strict=True):
        chosen = clicked_of(docs, [click])
        for place, flag in enumerate(chosen[0] if chosen else ()):
            if flag:
                found[place] = _seconds(value)
    return found


def _are_flags(docs: list[Any], clicks: list[Any]) -> bool:
    """Whether clicks are a truth value for each document."""
    return len(clicks) == len(docs) and all(value in (0, 1) and not isinstance(value, str) for value in clicks)


def _seconds(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
