"""Nearest vectors by inner product: exact, and approximate with an HNSW graph."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from rankgauge.errors import DataError
from rankgauge.extras import check_installed, optional
from rankgauge.retrievers.checks import check_whole
from rankgauge.retrievers.interface import best_positions

__all__ = ["HNSW", "Exact", "ann_recall", "check_graph", "unit_vectors"]

Vectors = npt.NDArray[np.float32]
_TOLERANCE = 1e-6  # scores are sums of float32 products
_LIBRARY = ("faiss", "an HNSW index", "faiss-cpu")


def check_graph() -> None:
    """Raise an error unless what HNSW needs is installed."""
    check_installed(*_LIBRARY)


def unit_vectors(rows: Any, where: str = "the vectors") -> Vectors:
    """Rows of length 1, so that an inner product is a cosine; a row of zeros stays one."""
    array = np.asarray(rows, dtype=np.float64)
    if array.ndim != 2:
        raise DataError(f"{where} must be a table with one row for each text, not an array of shape {array.shape}")
    for row in np.flatnonzero(~np.isfinite(array).all(axis=1))[:1]:
        raise DataError(f"{where} hold a value that is NaN or infinite in row {row + 1}")
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    return np.ascontiguousarray(array / np.where(lengths > 0, lengths, 1), dtype=np.float32)


class Exact:
    """Compares a query with every vector."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def search(self, query: Vectors, k: int) -> list[tuple[int, float]]:
        """Positions and inner products of the k nearest, best first; of equal ones the earlier comes first."""
        scores = self.vectors @ query
        best = best_positions(scores, check_whole("k", k, 1))
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))


class HNSW:
    """A navigable small-world graph in layers (Malkov and Yashunin 2020), by faiss.

    M                neighbours of each vector; twice as many in the lowest layer
    ef_construction  candidates looked at for each vector while the graph is built
    ef_search        candidates kept while searching (never fewer than k): more find more and take longer

    The graph is built in one thread, so that it is the same every time.
    """

    def __init__(self, vectors: Vectors, *, M: int = 16, ef_construction: int = 200, ef_search: int = 64) -> None:
        M, self.ef_search = check_whole("M", M, 2), check_whole("ef_search", ef_search, 1)
        ef_construction = check_whole("ef_construction", ef_construction, 1)
        self._faiss = faiss = optional(*_LIBRARY)
        self._index = faiss.IndexHNSWFlat(vectors.shape[1], M, faiss.METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction = ef_construction
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            self._index.add(vectors)
        finally:
            faiss.omp_set_num_threads(threads)

    def with_ef_search(self, ef_search: int) -> HNSW:
        """The same graph, searched with another ef_search."""
        other = copy.copy(self)
        other.ef_search = check_whole("ef_search", ef_search, 1)
        return other

    def search(self, query: Vectors, k: int) -> list[tuple[int, float]]:
        """Positions and inner products of what was found, best first; of equal ones the earlier comes first."""
        k = min(check_whole("k", k, 1), self._index.ntotal)
        parameters = self._faiss.SearchParametersHNSW(efSearch=self.ef_search)
        scores, positions = self._index.search(query[None, :], k, params=parameters)
        found = [pair for pair in zip(positions[0].tolist(), scores[0].tolist(), strict=True) if pair[0] >= 0]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def ann_recall(approximate: Any, exact: Any, queries: Iterable[Any], k: int) -> float:
    """Share of the k nearest that an approximate search finds, averaged over queries.

    Takes two indexes and vectors, or two retrievers and texts. What scores as high as the k-th of the exact list counts
    as found: among equal ones it does not matter which is returned.
    """
    check_whole("k", k, 1)
    shares = []
    for query in queries:
        wanted = exact.search(query, k)
        if not wanted:
            continue
        bound = wanted[-1][1] - _TOLERANCE
        found = sum(score >= bound for _, score in approximate.search(query, len(wanted)))
        shares.append(found / len(wanted))
    if not shares:
        raise DataError("no query finds anything in the exact index: there is no recall to measure")
    return float(sum(shares)) / len(shares)
