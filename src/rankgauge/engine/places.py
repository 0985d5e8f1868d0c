"""Places of the judged documents in their lists, where their rows are known."""

from __future__ import annotations

import numpy as np

from rankgauge.model.ordering import is_descending, place_of_scores
from rankgauge.model.ranked import Floats, Ints

__all__ = ["places"]


def places(scores: Floats, starts: Ints, row: Ints, number: Ints) -> tuple[Ints, Ints]:
    """Documents with greater and with equal scores, for each hit; in sorted lists without ties, just its position."""
    first, end = starts[number], starts[number + 1]
    before, after = np.maximum(row - 1, first), np.minimum(row + 1, end - 1)
    tied = ((scores[before] == scores[row]) & (before < row)) | ((scores[after] == scores[row]) & (after > row))
    if not tied.any() and is_descending(scores, starts):
        return row - first, np.ones_like(row)
    return place_of_scores(scores, starts, number, scores[row])
