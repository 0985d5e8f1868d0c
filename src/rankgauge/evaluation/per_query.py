"""Scores of single queries as a table whose columns are found under any spelling of a measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from rankgauge.evaluation.scores import ByMeasure, Scores

__all__ = ["PerQuery"]


class PerQuery(pl.DataFrame):
    """A polars table: one row for each counted query, one column for each measure; `per_query["map"]` is its AP. Where
    the texts of the queries are known, they are the last column."""

    def __init__(self, scores: Scores, texts: Mapping[str, str]) -> None:
        table = scores.table
        keep = table.in_run if scores.contract.missing == "skip" else np.ones_like(table.in_run)
        columns: dict[str, Any] = {"query": pl.Series(table.queries, dtype=pl.String).filter(keep)}
        for j, name in enumerate(table.measures):
            columns[name] = table.values[keep, j]
        if texts:
            shown = pl.Series([texts.get(query) for query in table.queries], dtype=pl.String)
            columns["text"] = shown.filter(keep)
        super().__init__(columns)
        self._names = ByMeasure(scores.measures, scores.plan.asked, list(table.measures))

    def __getitem__(self, key: Any) -> Any:
        known = not isinstance(key, str) or key in self.columns
        return super().__getitem__(key if known else self._names[key])
