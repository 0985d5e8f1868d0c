"""Where systems differ: the queries that changed most, slices by tag, agreement of measures and of systems."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rankgauge.comparison.rows import on_common_queries, rows_of
from rankgauge.comparison.systems import ComparedSystems
from rankgauge.engine.averaging import byte_order
from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats
from rankgauge.model.testset import TestSet
from rankgauge.record import Agreement, Change, Changes, Slice
from rankgauge.stats.agreement import kendall_tau
from rankgauge.stats.differences import SAME

__all__ = ["agreement_of", "changes_of", "slices_of"]


def changes_of(compared: ComparedSystems, n: int = 10) -> list[Changes]:
    """For each measure and pair the n queries that gained and the n that lost most."""
    found = []
    for j, measure in enumerate(compared.measures):
        for a, b in compared.pairs:
            first, second = compared.compared[a], compared.compared[b]
            both = first.counted[:, j] & second.counted[:, j]
            difference = np.where(both, second.values[:, j] - first.values[:, j], 0.0)
            gain = -difference if measure.lower_is_better else difference
            order = np.argsort(-gain, kind="stable")
            numbers = np.stack([first.values[:, j], second.values[:, j], difference], axis=1)
            ends = [i for i in order[:n] if gain[i] > SAME], [i for i in order[::-1][:n] if gain[i] < -SAME]
            gained, lost = ([Change(str(compared.queries[i]), *numbers[i].tolist()) for i in end] for end in ends)
            found.append(Changes(measure.name, a, b, gained, lost))
    return found


def slices_of(compared: ComparedSystems, test_set: TestSet | None) -> list[Slice]:
    """Every comparison again for the queries of each tag, all of them corrected as one family."""
    if test_set is None or not any(query.tags for query in test_set):
        raise DataError(
            "slices need tags, and the judgments have none: give a test set in JSON whose queries have "
            '"tags": ["billing", ...]'
        )
    tags = {query.id: query.tags for query in test_set}
    names = sorted({tag for own in tags.values() for tag in own})
    among = {tag: np.array([tag in tags.get(str(query), ()) for query in compared.queries]) for tag in names}
    settings = compared.settings
    rows = rows_of(
        compared.measures, compared.compared, compared.pairs, settings, compared.queries, among, compared.clusters
    )
    per_tag = len(compared.measures) * len(compared.pairs)
    return [Slice(names[i // per_tag], row) for i, row in enumerate(rows)]


def agreement_of(compared: ComparedSystems) -> list[Agreement]:
    """Do the measures order the systems alike, and do the systems find the same queries hard?"""
    found: list[Agreement] = []
    names, signs = [m.name for m in compared.measures], [-1 if m.lower_is_better else 1 for m in compared.measures]
    pairs = list(combinations(range(len(names)), 2))
    if len(compared.systems) >= 3:
        means = [sign * _means(compared, j) for j, sign in enumerate(signs)]
        found += [
            Agreement("measures", names[i], names[j], "systems", "", kendall_tau(means[i], means[j])) for i, j in pairs
        ]
    else:
        for i, j in pairs:
            for system in compared.compared.values():
                both = system.counted[:, i] & system.counted[:, j]
                tau = kendall_tau(signs[i] * system.values[both, i], signs[j] * system.values[both, j])
                found.append(Agreement("measures", names[i], names[j], "queries", system.name, tau))
    for j, name in enumerate(names):
        for a, b in compared.pairs:
            first, second = compared.compared[a], compared.compared[b]
            both = first.counted[:, j] & second.counted[:, j]
            tau = kendall_tau(first.values[both, j], second.values[both, j])
            found.append(Agreement("systems", a, b, "queries", name, tau))
    return found


def _means(compared: ComparedSystems, j: int) -> Floats:
    """Means of the systems over the queries that count for all of them, without what rounding adds: equal means stay
    equal whatever the order of the queries. Where there are no such queries, all are 0, which orders nothing."""
    systems, order = on_common_queries(compared.systems), byte_order(compared.queries)
    return np.array([float(f"{system.mean(j, order):.12g}") for system in systems.values()])
