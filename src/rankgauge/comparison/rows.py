"""Rows of a comparison: one measure and pair each, tested and corrected as one family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.errors import MeasureError
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.record import Row, ScoredMeasure
from rankgauge.stats.clusters import clustered, design_effect
from rankgauge.stats.differences import SAME, Column
from rankgauge.stats.family import compare_columns
from rankgauge.stats.settings import Settings, Verdict

__all__ = ["System", "check_averaged", "on_common_queries", "rows_of"]

_TURNED: dict[Verdict, Verdict] = {"better": "worse", "worse": "better"}
"""The verdict where less is better."""


@dataclass(frozen=True)
class System:
    """Scores of one system, queries by measures, and which of them count."""

    name: str
    values: Floats
    counted: Bools

    def mean(self, j: int, order: Ints, among: Bools | None = None) -> float:
        """Of measure j over the queries that count, or over some of them; `order` is the queries' byte order."""
        return aggregate("mean", self.values[:, j], self.counted[:, j] if among is None else among, order)


def check_averaged(measures: Sequence[ScoredMeasure]) -> None:
    """A measure that is no mean over queries cannot be compared query by query."""
    for measure in measures:
        if measure.aggregate != "mean":
            raise MeasureError(
                f"{measure.name} is no mean over queries, so its differences cannot be tested query by query; "
                "compare the measure it is made of, such as AP for GMAP"
            )


def on_common_queries(systems: Mapping[str, System]) -> dict[str, System]:
    """The systems with the queries that count for every one of them."""
    common = np.logical_and.reduce([system.counted for system in systems.values()])
    return {name: replace(system, counted=common) for name, system in systems.items()}


def rows_of(
    measures: Sequence[ScoredMeasure],
    systems: Mapping[str, System],
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    queries: Sequence[str],
    slices: Mapping[str, Bools] | None = None,
    clusters: Ints | None = None,
) -> list[Row]:
    """Rows of all measures and pairs, corrected as one family; with slices, these rows again for each slice. `clusters`
    numbers the conversations of the queries, where these are not independent."""
    columns, limits, keys = [], [], []
    everything = {"": np.ones(len(next(iter(systems.values())).values), dtype=bool)}
    for among in (slices or everything).values():
        for j, (a, b) in [(j, pair) for j in range(len(measures)) for pair in pairs]:
            keys.append((j, (a, b)))
            first, second = systems[a], systems[b]
            both = first.counted[:, j] & second.counted[:, j] & among
            values = np.where(both, second.values[:, j] - first.values[:, j], 0.0)
            values[np.abs(values) < SAME * max(_largest(first, j), _largest(second, j))] = 0.0
            limits.append(measures[j].widest)
            columns.append(Column(values, both, limits[-1] or _reach(first, second, j, settings.equivalence_margin)))
    units = [clustered(column, clusters) for column in columns]
    found = compare_columns(units, settings, limits)
    order = byte_order(queries)
    rows = []
    for (j, (a, b)), column, unit, result in zip(keys, columns, units, found, strict=True):
        sign = -1 if measures[j].lower_is_better else 1
        mean_a, mean_b = (systems[name].mean(j, order, column.counted) for name in (a, b))
        better, worse = int((sign * column.own > 0).sum()), int((sign * column.own < 0).sum())
        rows.append(
            Row(
                measure=measures[j].name,
                a=a,
                b=b,
                mean_a=mean_a,
                mean_b=mean_b,
                difference=column.mean,
                interval=result.interval,
                relative_change=_share(column.mean, mean_a),
                p_value=result.p_value,
                p_corrected=result.p_corrected,
                effect=column.mean / column.deviation if column.deviation else (None if column.mean else 0.0),
                wins=better,
                ties=column.n - better - worse,
                losses=worse,
                queries=column.n,
                p_equivalent=result.p_equivalent,
                detectable=result.detectable,
                verdict=_TURNED.get(result.verdict, result.verdict) if sign < 0 else result.verdict,
                conversations=None if clusters is None else unit.n,
                design_effect=None if clusters is None else design_effect(column, unit),
            )
        )
    return rows


def _share(difference: float, mean: float) -> float | None:
    share = difference / abs(mean) if mean else math.inf
    return share if math.isfinite(share) else None


def _largest(system: System, j: int) -> float:
    return float(np.abs(system.values[:, j]).max(initial=0.0))


def _reach(first: System, second: System, j: int, margin: float) -> tuple[float, float]:
    """How far apart two scores can be where the measure has no known bounds: 1 where all that were seen lie between 0
    and 1, else as far as any of them, and twice the margin at least. What was seen does not prove a margin."""
    seen = np.concatenate([first.values[:, j], second.values[:, j]])
    reach = 1.0 if seen.min() >= 0 and seen.max() <= 1 else max(float(np.ptp(seen)), 2 * margin)
    return (-reach, reach) if reach else (-math.inf, math.inf)
