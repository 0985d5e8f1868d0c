"""Exact and approximate nearest vectors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.retrievers import Dense, ann_recall
from rankgauge.retrievers.nearest import HNSW, Exact, unit_vectors
from tests.retrievers.real import SMALL

RNG = np.random.default_rng(7)
VECTORS = unit_vectors(RNG.standard_normal((2000, 32)))
QUERIES = unit_vectors(RNG.standard_normal((50, 32)))


@pytest.fixture(scope="module")
def graph() -> HNSW:
    return HNSW(VECTORS, M=6, ef_construction=40, ef_search=10)


def test_exact_is_a_sort() -> None:
    index = Exact(VECTORS)
    for query in QUERIES[:10]:
        wanted = sorted(enumerate((VECTORS @ query).tolist()), key=lambda pair: (-pair[1], pair[0]))
        assert index.search(query, 25) == wanted[:25]
        assert len(index.search(query, 5000)) == 2000


def test_equal_vectors_keep_their_order() -> None:
    same = np.tile(unit_vectors([[1.0, 2.0]]), (40, 1))
    assert [place for place, _ in Exact(same).search(same[0], 5)] == [0, 1, 2, 3, 4]


def test_recall_rises_with_ef_search_to_one(graph: HNSW) -> None:
    exact = Exact(VECTORS)
    recalls = [ann_recall(graph.with_ef_search(ef), exact, QUERIES, 10) for ef in (10, 20, 50, 100, 400, 2000)]
    assert recalls == sorted(recalls)
    assert recalls[0] < 0.9
    assert recalls[-1] == 1


def test_ef_search_changes_without_rebuilding(graph: HNSW) -> None:
    wide = graph.with_ef_search(500)
    assert wide._index is graph._index
    assert (graph.ef_search, wide.ef_search) == (10, 500)
    before = [graph.search(query, 10) for query in QUERIES]
    assert [wide.search(query, 10) for query in QUERIES] != before
    assert [graph.search(query, 10) for query in QUERIES] == before


def test_the_graph_is_the_same_every_time(graph: HNSW) -> None:
    again = HNSW(VECTORS, M=6, ef_construction=40, ef_search=10)
    assert [again.search(query, 10) for query in QUERIES] == [graph.search(query, 10) for query in QUERIES]


def test_threads_with_different_ef_search(graph: HNSW) -> None:
    indexes = [graph.with_ef_search(ef) for ef in (10, 100, 1000)] * 30
    wanted = [index.search(QUERIES[i % 50], 10) for i, index in enumerate(indexes)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda pair: pair[1].search(QUERIES[pair[0] % 50], 10), enumerate(indexes)))
    assert found == wanted


def test_found_scores_are_inner_products(graph: HNSW) -> None:
    for place, score in graph.search(QUERIES[0], 10):
        assert score == pytest.approx(float(VECTORS[place] @ QUERIES[0]), abs=1e-6)
    assert len(graph.search(QUERIES[0], 9999)) <= 2000


def test_recall_counts_equal_ones_as_found() -> None:
    class Last:
        """Returns the last of equal vectors, where the exact index returns the first."""

        def search(self, query: np.ndarray, k: int) -> list[tuple[int, float]]:
            return [(39 - i, 1.0) for i in range(k)]

    same = np.tile(unit_vectors([[1.0, 2.0]]), (40, 1))
    assert ann_recall(Last(), Exact(same), [same[0]], 5) == 1


def test_recall_of_retrievers() -> None:
    exact, graph = Dense(SMALL, dimensions=4), Dense(SMALL, dimensions=4, index="hnsw")
    assert ann_recall(graph, exact, ["delete a file", "json string", "zebra"], 3) == 1
    with pytest.raises(DataError, match="no query finds anything"):
        ann_recall(graph, exact, ["zebra"], 3)


def test_unit_vectors() -> None:
    assert np.linalg.norm(VECTORS, axis=1) == pytest.approx(np.ones(2000), abs=1e-6)
    assert unit_vectors([[0.0, 0.0]]).tolist() == [[0, 0]]
    with pytest.raises(DataError, match="NaN or infinite in row 2"):
        unit_vectors([[1.0], [np.nan]])
    with pytest.raises(DataError, match="shape"):
        unit_vectors([1.0, 2.0])


@pytest.mark.parametrize("parameters", [{"M": 1}, {"ef_construction": 0}, {"ef_search": 0}, {"M": 2.5}])
def test_bad_parameters(parameters: dict[str, int]) -> None:
    with pytest.raises(RankgaugeError, match=f"{next(iter(parameters))}=.* must be a whole number"):
        HNSW(VECTORS, **parameters)
    with pytest.raises(RankgaugeError, match="whole number"):
        Dense(SMALL, **parameters)
