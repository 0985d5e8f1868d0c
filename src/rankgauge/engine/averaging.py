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

from rankgauge.errors import MeasureError
from rankgauge.measures.measure import AGGREGATES
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.model.text_rows import TextQueries

__all__ = ["FLOOR", "aggregate", "byte_order"]

FLOOR = 0.00001  # trec_eval's least value inside a geometric mean


def byte_order(queries: Sequence[str]) -> Ints:
    """Rows of the queries in the order of their ids as bytes. UTF-8 keeps the order of code points, so strings do."""
    if isinstance(queries, TextQueries) and (found := queries.byte_order()) is not None:
        return found
    rows = np.arange(len(queries))
    if all(map(le, queries, islice(queries, 1, None))):
        return rows
    return np.array(sorted(rows.tolist(), key=queries.__getitem__), dtype=np.int64)


def aggregate(how: str, values: Floats, counted: Bools | None = None, order: Ints | None = None) -> float:
    """Mean, sum or geometric mean: the `aggregate` of the measure, or of its record; 0 over no queries.

    `values` are one column of scores, of which `counted` takes some, in the `byte_order` of their queries or with it.
    """
    if how not in AGGREGATES:
        raise MeasureError(f"scores cannot be put together by {how!r}; known are: {', '.join(AGGREGATES)}")
    if counted is not None and counted.all():
        counted = None
    if order is not None:
        values, counted = values[order], None if counted is None else counted[order]
    kept = values if counted is None else values[counted]
    if not len(kept):
        return 0.0
    if how == "geometric":
        kept = np.log(np.maximum(kept, FLOOR))
    total = float(np.add.accumulate(kept)[-1])
    if how == "sum":
        return total
    return math.exp(total / len(kept)) if how == "geometric" else total / len(kept)
