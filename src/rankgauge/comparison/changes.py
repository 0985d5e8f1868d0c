"""Where systems differ: the queries that changed most, slices by tag, agreement of measures and of systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankgauge.comparison.rows import Row, on_common_queries, rows_of
from rankgauge.engine.averaging import byte_order
from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats
from rankgauge.stats.agreement import kendall_tau

if TYPE_CHECKING:
    from rankgauge.comparison.comparison import Comparison

__all__ = ["Agreement", "Change", "Changes", "Slice", "agreement_of", "changes_of", "slices_of"]


@dataclass(frozen=True)
class Change:
    """One query and its scores under both systems."""

    query: str
    a: float
    b: float
    difference: float


@dataclass(frozen=True)
class Changes:
    """The queries that gained and lost most from a to b; gaining is what is better for the measure."""

    measure: str
    a: str
    b: str
    gained: list[Change]
    lost: list[Change]


@dataclass(frozen=True)
class Slice:
    """The queries with one tag."""

    tag: str
    row: Row


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b of two measures or of two systems, better scores first; None where one of them is constant."""

    kind: Literal["measures", "systems"]
    a: str
    b: str
    over: Literal["systems", "queries"]
    """What is ordered: systems by their means, or queries by their scores."""
    of: str
    """The system or measure whose scores of single queries these are; empty for means."""
    tau: float | None


def changes_of(comparison: Comparison, n: int = 10) -> list[Changes]:
    """For each measure and pair the n queries that gained and the n that lost most."""
    found = []
    for j, measure in enumerate(comparison.measures):
        for a, b in comparison.pairs:
            first, second = comparison.compared[a], comparison.compared[b]
            both = first.counted[:, j] & second.counted[:, j]
            difference = np.where(both, second.values[:, j] - first.values[:, j], 0.0)
            gain = -difference if measure.lower_is_better else difference
            order = np.argsort(-gain, kind="stable")
            sides: list[list[Change]] = []
            for rows in (order[:n][gain[order[:n]] > 1e-12], order[::-1][:n][gain[order[::-1][:n]] < -1e-12]):
                sides.append(
                    [
                        Change(
                            str(comparison.queries[i]),
                            float(first.values[i, j]),
                            float(second.values[i, j]),
                            float(difference[i]),
                        )
                        for i in rows.tolist()
                    ]
                )
            found.append(Changes(measure.name, a, b, *sides))
    return found


def slices_of(comparison: Comparison) -> list[Slice]:
    """Every comparison again for the queries of each tag, all of them corrected as one family."""
    if comparison.test_set is None or not any(query.tags for query in comparison.test_set):
        raise DataError(
            "slices need tags, and the judgments have none: give a test set in JSON whose queries have "
            '"tags": ["billing", ...]'
        )
    tags = {query.id: query.tags for query in comparison.test_set}
    names = sorted({tag for own in tags.values() for tag in own})
    among = {tag: np.array([tag in tags.get(str(query), ()) for query in comparison.queries]) for tag in names}
    settings = comparison.settings
    rows = rows_of(
        comparison.measures, comparison.compared, comparison.pairs, settings, comparison.queries, slices=among
    )
    per_tag = len(comparison.measures) * len(comparison.pairs)
    return [Slice(names[i // per_tag], row) for i, row in enumerate(rows)]


def agreement_of(comparison: Comparison) -> list[Agreement]:
    """Do the measures order the systems alike, and do the systems find the same queries hard?"""
    found: list[Agreement] = []
    names, signs = [m.name for m in comparison.measures], [-1 if m.lower_is_better else 1 for m in comparison.measures]
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    if len(comparison.systems) >= 3:
        means = [sign * _means(comparison, j) for j, sign in enumerate(signs)]
        found += [
            Agreement("measures", names[i], names[j], "systems", "", kendall_tau(means[i], means[j])) for i, j in pairs
        ]
    else:
        for i, j in pairs:
            for system in comparison.compared.values():
                both = system.counted[:, i] & system.counted[:, j]
                tau = kendall_tau(signs[i] * system.values[both, i], signs[j] * system.values[both, j])
                found.append(Agreement("measures", names[i], names[j], "queries", system.name, tau))
    for j, name in enumerate(names):
        for a, b in comparison.pairs:
            first, second = comparison.compared[a], comparison.compared[b]
            both = first.counted[:, j] & second.counted[:, j]
            tau = kendall_tau(first.values[both, j], second.values[both, j])
            found.append(Agreement("systems", a, b, "queries", name, tau))
    return found


def _means(comparison: Comparison, j: int) -> Floats:
    """Means of the systems over the queries that count for all of them, without what rounding adds: equal means stay
    equal whatever the order of the queries. Where there are no such queries, all are 0, which orders nothing."""
    systems, order = on_common_queries(comparison.systems), byte_order(comparison.queries)
    return np.array([float(f"{system.mean(j, order):.12g}") for system in systems.values()])
