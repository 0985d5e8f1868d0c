"""Averages over queries: scores are added one by one in the byte order of the query ids, as trec_eval adds them.

`ndarray.sum` adds in pairs, and in the order of the rows. Its last bit may be another one, and where a mean lies
half-way between two printed figures, so may the digit that is printed. Added in byte order, a mean does not depend on
the order of the files either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from operator import le

import numpy as np

from rankgauge.measures import Measure
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.model.text_rows import TextQueries

__all__ = ["aggregate", "average", "byte_order", "mean_of"]

_FLOOR = 0.00001  # trec_eval's least value inside a geometric mean


def byte_order(queries: Sequence[str]) -> Ints:
    """Rows of the queries in the order of their ids as bytes. UTF-8 keeps the order of code points, so strings do."""
    if isinstance(queries, TextQueries) and (found := queries.byte_order()) is not None:
        return found
    rows = np.arange(len(queries))
    if all(map(le, queries, islice(queries, 1, None))):
        return rows
    return np.array(sorted(rows.tolist(), key=queries.__getitem__), dtype=np.int64)


def _total(values: Floats) -> float:
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


def average(values: Floats) -> float:
    """The mean of scores that stand in byte order of their queries; 0 where there are none."""
    return _total(values) / len(values) if len(values) else 0.0


def mean_of(values: Floats, counted: Bools, order: Ints) -> float:
    """The mean of one column, over the queries that count; `order` is the queries' `byte_order`."""
    return average(values[order][counted[order]])


def aggregate(measure: Measure, values: Floats, counted: Bools, order: Ints) -> float:
    """Mean, sum or geometric mean of one column over the queries that count, whichever the measure says."""
    how = measure.definition.aggregate
    if how == "mean":
        return mean_of(values, counted, order)
    kept = values[order][counted[order]]
    if how == "sum":
        return _total(kept)
    return math.exp(average(np.log(np.maximum(kept, _FLOOR)))) if len(kept) else 0.0
