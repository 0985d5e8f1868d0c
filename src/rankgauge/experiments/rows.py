"""Rows of a comparison: one measure and pair each, tested and corrected as one family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.engine.averaging import byte_order, mean_of
from rankgauge.errors import MeasureError
from rankgauge.measures import Law, Measure
from rankgauge.measures.explanations import Language
from rankgauge.model.ranked import Bools, Floats
from rankgauge.stats.differences import Column
from rankgauge.stats.family import Settings, Verdict, compare_columns
from rankgauge.stats.intervals import Interval

__all__ = ["Row", "Scored", "System", "another_winner", "rows_of"]

_SAME = 1e-12  # scores closer than this are a tie: rounding, not a win


@dataclass(frozen=True)
class Row:
    """One measure and pair. The difference is b minus a; the verdict is about b, seen from a."""

    measure: str
    a: str
    b: str
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval | None
    """At 1 - alpha, adjusted like the p-value: it excludes 0 exactly if the corrected p-value is below alpha."""
    lift: float | None
    """Difference relative to a's mean."""
    p_value: float | None
    p_corrected: float | None
    effect: float | None
    """Mean difference over the standard deviation of the differences (Cohen's d for pairs)."""
    wins: int
    ties: int
    losses: int
    queries: int
    p_equivalent: float | None
    detectable: float | None
    verdict: Verdict

    def sentence(self, language: Language = "en") -> str:
        """The verdict in words."""
        from rankgauge.experiments.verdicts import row_sentence

        return row_sentence(self, language)


def another_winner(observed: float, low: float, high: float) -> bool:
    """Whether a range of a difference holds one of another sign than the observed one, beyond rounding."""
    falls, rises = low < -_SAME, high > _SAME
    if abs(observed) <= _SAME:
        return falls or rises
    return falls if observed > 0 else rises


@dataclass(frozen=True)
class Scored:
    """A measure as a comparison needs it: its name, whether less is better, and the bounds of a difference."""

    name: str
    lower_is_better: bool = False
    bounds: tuple[float, float] | None = None

    @staticmethod
    def of(measure: Measure) -> Scored:
        if measure.definition.aggregate != "mean":
            raise MeasureError(
                f"{measure} is no mean over queries, so its differences cannot be tested query by query; "
                "compare the measure it is made of, such as AP for GMAP"
            )
        bounded = Law.BOUNDED in measure.definition.laws
        return Scored(str(measure), measure.definition.lower_is_better, (-1.0, 1.0) if bounded else None)


@dataclass(frozen=True)
class System:
    """Scores of one system, queries by measures, and which of them count."""

    name: str
    values: Floats
    counted: Bools


def rows_of(
    measures: Sequence[Scored],
    systems: Mapping[str, System],
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    queries: Sequence[str],
    slices: Mapping[str, Bools] | None = None,
) -> list[Row]:
    """Rows of all measures and pairs, corrected as one family; with slices, these rows again for each slice."""
    columns, limits, keys = [], [], []
    everything = {"": np.ones(len(next(iter(systems.values())).values), dtype=bool)}
    for among in (slices or everything).values():
        for j, (a, b) in [(j, pair) for j in range(len(measures)) for pair in pairs]:
            keys.append((j, (a, b)))
            first, second = systems[a], systems[b]
            both = first.counted[:, j] & second.counted[:, j] & among
            values = np.where(both, second.values[:, j] - first.values[:, j], 0.0)
            values[np.abs(values) < _SAME] = 0.0
            columns.append(Column(values, both))
            limits.append(measures[j].bounds)
    found = compare_columns(columns, settings, limits)
    order = byte_order(queries)
    rows = []
    for (j, (a, b)), column, result in zip(keys, columns, found, strict=True):
        lower = measures[j].lower_is_better
        mean_a, mean_b = (mean_of(systems[name].values[:, j], column.counted, order) for name in (a, b))
        better = int((column.own < 0).sum()) if lower else int((column.own > 0).sum())
        worse = int((column.own > 0).sum()) if lower else int((column.own < 0).sum())
        rows.append(
            Row(
                measure=measures[j].name,
                a=a,
                b=b,
                mean_a=mean_a,
                mean_b=mean_b,
                difference=column.mean,
                interval=result.interval,
                lift=column.mean / mean_a if mean_a else None,
                p_value=result.p_value,
                p_corrected=result.p_corrected,
                effect=column.mean / column.deviation if column.deviation else (None if column.mean else 0.0),
                wins=better,
                ties=column.n - better - worse,
                losses=worse,
                queries=column.n,
                p_equivalent=result.p_equivalent,
                detectable=result.detectable,
                verdict=_seen(result.verdict, lower),
            )
        )
    return rows


def _seen(verdict: Verdict, lower_is_better: bool) -> Verdict:
    if not lower_is_better or verdict not in ("better", "worse"):
        return verdict
    return "worse" if verdict == "better" else "better"
