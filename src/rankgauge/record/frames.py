"""Results as data frames, for notebooks: plain columns, nothing where a query does not count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankgauge.stats.intervals import Interval

if TYPE_CHECKING:
    import polars as pl

__all__ = ["bounds_of", "queries_frame"]


def bounds_of(intervals: Sequence[Interval | None]) -> dict[str, list[float | None]]:
    """The columns low and high."""
    return {
        "low": [None if interval is None else interval.low for interval in intervals],
        "high": [None if interval is None else interval.high for interval in intervals],
    }


def queries_frame(
    queries: Sequence[str], systems: Mapping[str, Mapping[str, Sequence[float | None]]], texts: Mapping[str, str]
) -> pl.DataFrame:
    """One row for each system and query: its text where texts are known, then a column for each measure."""
    import polars as pl

    measures = list(dict.fromkeys(measure for scores in systems.values() for measure in scores))
    columns: dict[str, Any] = {
        "system": pl.Series([name for name in systems for _ in queries], dtype=pl.String),
        "query": pl.Series([query for _ in systems for query in queries], dtype=pl.String),
    }
    if texts:
        columns["text"] = pl.Series([texts.get(query) for _ in systems for query in queries], dtype=pl.String)
    for measure in measures:
        values = [value for scores in systems.values() for value in scores[measure]]
        columns[measure] = pl.Series(values, dtype=pl.Float64)
    return pl.DataFrame(columns)
