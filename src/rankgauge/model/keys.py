"""(query, document) pairs as 64-bit keys, so that millions of them can be joined and compared without objects.

Equal pairs have equal keys. Unequal ones may, once in about 10^19, so whoever finds equal keys compares the texts too.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankgauge.model.ranked import Ints
from rankgauge.model.text_rows import has_repeats

__all__ = ["Hashes", "list_bounds", "pair_keys", "repeated_pairs"]

Hashes = NDArray[np.uint64]
_MIX = np.uint64(0x9E3779B97F4A7C15)


def list_bounds(queries: pl.Series) -> tuple[Ints, pl.Series]:
    """Where each run of equal queries starts (and where all end), and the query of each."""
    if not len(queries):
        return np.zeros(1, dtype=np.int64), queries
    changes = queries.ne_missing(queries.shift(1)).to_numpy().copy()
    changes[0] = True
    starts = np.flatnonzero(changes)
    return np.append(starts, len(queries)), queries.gather(starts)


def pair_keys(starts: Ints, heads: pl.Series, docs: pl.Series) -> Hashes:
    """One key for each row, from the bounds and queries of the lists and the documents of the rows."""
    queries = heads.hash().to_numpy()
    with np.errstate(over="ignore"):
        return docs.hash().to_numpy() + np.repeat(queries * _MIX, np.diff(starts))


def repeated_pairs(frame: pl.DataFrame, keys: Hashes) -> pl.DataFrame:
    """The (query, document) pairs that stand in the rows more than once."""
    ordered = np.sort(keys)
    if not has_repeats(ordered):
        return frame.select("query", "doc").head(0)
    suspects = frame.select("query", "doc").filter(np.isin(keys, ordered[1:][ordered[1:] == ordered[:-1]]))
    return suspects.filter(suspects.is_duplicated()).unique(maintain_order=True)
