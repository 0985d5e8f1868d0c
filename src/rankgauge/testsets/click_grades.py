"""Relevance from clicks as grades: where grades begin, labels, and how far a test set's own grades agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.errors import DataError
from rankgauge.model.clicks import ClickTable
from rankgauge.model.labels import Label, Labels
from rankgauge.model.ranked import Floats, Ints
from rankgauge.model.testset import TestSet
from rankgauge.stats.agreement import kendall_tau
from rankgauge.stats.click_fits import Fitted
from rankgauge.stats.click_lists import ClickLog

__all__ = ["ClickAgreement", "agreement_of", "cuts_of", "labels_of", "own_cuts"]


@dataclass(frozen=True)
class ClickAgreement:
    """How far grades from clicks order documents as a test set's own grades do."""

    pairs: int
    queries: int
    """Those with at least two grades of each kind that differ."""
    tau: float | None
    """Kendall's tau-b within queries, averaged by their pairs; None where no query tells."""


def own_cuts(cuts: Any, scale: int) -> tuple[float, ...]:
    """Cuts as they were given."""
    listed = list(cuts) if isinstance(cuts, Sequence) else [cuts]
    numbers = all(isinstance(cut, int | float) and not isinstance(cut, bool) for cut in listed)
    if not numbers or not all(0 < cut < 1 for cut in listed) or sorted(set(listed)) != listed:
        raise DataError(f"`cuts={cuts!r}` must be rising numbers between 0 and 1, such as (0.05, 0.2, 0.5)")
    if len(listed) != scale:
        raise DataError(f"`cuts=` has {len(listed)} numbers, but grades up to `scale={scale}` need {scale}")
    return tuple(float(cut) for cut in listed)


def cuts_of(asked: Any, given: tuple[float, ...] | None, scale: int, relevance: Floats) -> tuple[float, ...]:
    """Where grades begin."""
    if given is not None:
        return given
    if asked == "quantiles" and len(relevance):
        return tuple(float(cut) for cut in np.quantile(relevance, np.arange(1, scale + 1) / (scale + 1)))
    return tuple((2.0 ** (grade - 0.5) - 1) / 2.0**scale for grade in range(1, scale + 1))


def labels_of(
    table: ClickTable,
    lists: ClickLog,
    fitted: Fitted,
    ends: tuple[Floats, Floats],
    use: Ints,
    names: Sequence[str],
    cuts: tuple[float, ...],
) -> Labels:
    """Labels query by query, the most relevant first."""
    relevance = fitted.relevance
    use = use[np.lexsort((-relevance[use], table.pair_query[use]))]
    grade, low, high = (np.searchsorted(cuts, values[use], side="right") for values in (relevance, *ends))
    judge, rubric = f"clicks-{fitted.model}", "relevance>=" + ",".join(f"{cut:.4g}" for cut in cuts)
    told = zip(relevance[use], ends[0][use], ends[1][use], lists.shows[use], lists.clicks[use], strict=True)
    return Labels(
        (
            Label(
                names[table.pair_query[pair]],
                table.docs[table.pair_doc[pair]],
                float(own),
                judge,
                "clicks",
                rubric=rubric,
                reason=f"relevance={r:.4f} [{a:.4f}, {b:.4f}] impressions={shows:.0f} clicks={clicks:.0f}",
                low=float(least),
                high=float(most),
            )
            for pair, own, least, most, (r, a, b, shows, clicks) in zip(use, grade, low, high, told, strict=True)
        ),
        name="clicks",
    )


def agreement_of(
    known: TestSet, table: ClickTable, relevance: Floats, use: Ints, names: Sequence[str]
) -> ClickAgreement | None:
    """Relevance from clicks beside the grades that the test set has."""
    graded = {query.id: query.grades for query in known}
    by_query: dict[str, list[tuple[float, float]]] = {}
    for pair in use:
        query, doc = names[table.pair_query[pair]], table.docs[table.pair_doc[pair]]
        if doc in graded[query]:
            by_query.setdefault(query, []).append((float(graded[query][doc]), float(relevance[pair])))
    pairs = sum(map(len, by_query.values()))
    if not pairs:
        return None
    found = []
    for own in by_query.values():
        grades, clicked = (np.array(values) for values in zip(*own, strict=True))
        tau = kendall_tau(grades, clicked) if len(own) > 1 else None
        if tau is not None:
            found.append((tau, len(own)))
    total = sum(size for _, size in found)
    return ClickAgreement(pairs, len(found), sum(tau * size for tau, size in found) / total if total else None)
