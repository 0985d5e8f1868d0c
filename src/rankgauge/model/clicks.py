"""Clicks on lists that were shown, as compact arrays: one entry for each document of each list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rankgauge.model.ranked import Bools, Floats

__all__ = ["LEFT_OUT", "ClickTable"]

LEFT_OUT = (
    "broken",
    "no_query",
    "no_doc",
    "no_list",
    "no_position",
    "below_depth",
    "duplicate",
    "repeated_click",
    "never_shown",
    "short_dwell",
    "bad_dwell",
    "two_queries",
    "impossible_counts",
    "busy_session",
)
"""Why entries of a log do not count, in the order in which they are told."""


@dataclass(frozen=True, eq=False, repr=False)
class ClickTable:
    """What was shown and clicked. Documents of one list follow one another, down its ranks."""

    queries: Sequence[str]
    docs: Sequence[str]
    pair_query: NDArray[np.int32]
    """The query of each (query, document) pair."""
    pair_doc: NDArray[np.int32]
    place: NDArray[np.int32]
    """The number of the list of each entry, ascending."""
    pair: NDArray[np.int32]
    rank: NDArray[np.int32]
    """From 0."""
    clicked: Bools
    times: Floats | None
    """How often, where the log has counts."""
    whole: bool
    """Whether entries are known to have been shown together; else each stands for itself."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many entries do not count, by reason."""
    read: int = 0
    """Lines, rows or events."""
    sessions: int = 0
    busiest: float = 0.0
    """The share of lists that the session with the most has; 0 where sessions are not known."""
    bases: Mapping[int, int] = field(default_factory=dict)
    """In how many lists positions start at 0 and at 1, where both occur often."""

    @property
    def lists(self) -> int:
        return int(self.place[-1]) + 1 if len(self.place) else 0

    @property
    def shows(self) -> float:
        return float(len(self.pair)) if self.times is None else float(self.times.sum())

    @property
    def clicks(self) -> float:
        times = np.ones(len(self.pair)) if self.times is None else self.times
        return float(times[self.clicked].sum())
