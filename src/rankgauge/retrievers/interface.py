"""What all retrievers have in common, and how ranked lists are cut and continued."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rankgauge.errors import RankgaugeError
from rankgauge.retrievers.hits import Hit

__all__ = ["Retriever", "as_retriever", "best_positions", "continued"]


@runtime_checkable
class Retriever(Protocol):
    """Finds documents for a query, best first."""

    @property
    def ids(self) -> Sequence[str]:
        """All documents in the index."""

    def search(self, query: str, k: int) -> list[Hit]:
        """At most k different documents, best first, scores never rising."""


def as_retriever(value: Any, where: str) -> Retriever:
    if not callable(getattr(value, "search", None)):
        raise RankgaugeError(f"{where} needs a retriever, an object with search(query, k) and ids, not {value!r}")
    return value  # type: ignore[no-any-return]


def best_positions(scores: npt.NDArray[np.floating[Any]], k: int) -> npt.NDArray[np.intp]:
    """Positions of the k highest scores, best first; of equal scores the earlier position comes first."""
    if k < len(scores):
        # All that tie with the k-th best take part, so that which of them is kept does not depend on the partition.
        bound = np.partition(scores, len(scores) - k)[len(scores) - k]
        chosen = np.flatnonzero(scores >= bound)
    else:
        chosen = np.arange(len(scores))
    return chosen[np.argsort(-scores[chosen], kind="stable")][:k]


def continued(first: list[Hit], rest: Sequence[Hit]) -> list[Hit]:
    """A list whose further documents follow in their own order, their scores falling by one from the last."""
    low = first[-1].score if first else 0.0
    return [*first, *(Hit(hit.id, low - number) for number, hit in enumerate(rest, start=1))]
