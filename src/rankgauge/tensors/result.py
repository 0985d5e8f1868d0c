"""`TensorScores`: what `evaluate_tensors` gives back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.engine.averaging import FLOOR
from rankgauge.evaluation.plan import Plan
from rankgauge.evaluation.scores import ByMeasure
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.tensors.libraries import best_type, to_host
from rankgauge.tensors.ranking import Array

__all__ = ["TensorScores"]


@named_arguments
@dataclass(frozen=True, eq=False, repr=False)
class TensorScores:
    """Scores of each query, on the device of the scores that were given, and their means.

    `result.mean["nDCG@10"]` is a float, `result.per_query["nDCG@10"]` an array with one number for each query, under
    any spelling of the measure. Nothing leaves the device before `mean`, `interval` or `repr` is asked for. Systems are
    compared with `compare_scores({"a": a.per_query["nDCG@10"].tolist(), ...})`.
    """

    values: Array
    """One row for each query, one column for each measure."""
    counted: Array | None
    """Which of them enter the means; None where all do."""
    retrieved: Array
    """Documents of each query."""
    plan: Plan
    ranking: Array | None = None
    """Of `evaluate_embeddings(..., keep_ranking=True)`: the rows of the documents found, best first, then -1."""

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def measures(self) -> list[str]:
        """Names of the measures, in the order of the columns."""
        return [str(measure) for measure in self.plan.measures]

    @property
    def contract(self) -> Any:
        """Order of ties, and which queries count."""
        return self.plan.contract

    @cached_property
    def per_query(self) -> ByMeasure[Array]:
        """One number for each query, by measure."""
        return self._by_measure([self.values[:, j] for j in range(len(self.plan.measures))])

    @cached_property
    def aggregates(self) -> Array:
        """The mean of each measure over the queries that count (sum or geometric mean where the measure says so), on
        the device."""
        from array_api_compat import array_namespace, device

        xp, values = array_namespace(self.values), self.values
        dtype = best_type(xp, device(values))
        n = xp.full(1, float(len(self)), dtype=dtype, device=device(values))
        columns = []
        for j, measure in enumerate(self.plan.measures):
            how = measure.definition.aggregate
            column = xp.astype(values[:, j], dtype)
            if how == "geometric":
                column = xp.log(xp.clip(column, min=FLOOR))
            if self.counted is not None:
                kept = self.counted[:, j]
                column = xp.where(kept, column, xp.zeros_like(column))
                n = xp.sum(xp.astype(kept, dtype))[None]
            total = xp.sum(column)[None]
            if how != "sum":
                total = total / xp.clip(n, min=1.0)
            if how == "geometric":
                total = xp.where(n > 0, xp.exp(total), xp.zeros_like(total))
            columns.append(total)
        return xp.concat(columns)

    @cached_property
    def mean(self) -> ByMeasure[float]:
        """The same by measure, as floats."""
        return self._by_measure([float(value) for value in to_host(self.aggregates)])

    @cached_property
    def interval(self) -> ByMeasure[Interval | None]:
        """95 % confidence interval of each mean, as `evaluate` has it; None for sums, geometric means, and fewer than
        two queries. This copies the scores of all queries to the host."""
        intervals = []
        for j, measure in enumerate(self.plan.measures):
            column = np.array(to_host(self.values[:, j]), dtype=np.float64)
            if self.counted is not None:
                column = column[np.array(to_host(self.counted[:, j]), dtype=bool)]
            averaged = measure.definition.aggregate == "mean"
            intervals.append(mean_interval(column, bounds=measure.bounds) if averaged else None)
        return self._by_measure(intervals)

    def _by_measure(self, values: list[Any]) -> ByMeasure[Any]:
        return ByMeasure(self.plan.measures, self.plan.asked, values)

    def __repr__(self) -> str:
        from array_api_compat import device

        means = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        n = len(self)
        return f"TensorScores({n} {'query' if n == 1 else 'queries'} on {device(self.values)}: {means})"
