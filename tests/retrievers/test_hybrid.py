"""Hybrids: the lists of their retrievers, fused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rankgauge.errors import RankgaugeError
from rankgauge.retrievers import BM25, Dense, Hit, Hybrid, Retriever, fuse_lists
from rankgauge.retrievers.builtin import hybrid as hybrid_of
from tests.retrievers.real import SMALL, collection, scores

QUERIES = ("delete a file", "json string", "wait for results", "zebra", "path")


@pytest.mark.parametrize("method", ["weighted", "rrf"])
@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_is_fusion(method: str, weight: float) -> None:
    bm25, dense = BM25(SMALL), Dense(SMALL)
    hybrid = hybrid_of(SMALL, weight=weight, method=method)
    for query in QUERIES:
        lists = [bm25.search(query, 100), dense.search(query, 100)]
        wanted = fuse_lists(lists, method, [1 - weight, weight])
        # Documents that only a list of weight 0 holds are left out.
        kept = {hit.id for hits, share in zip(lists, (1 - weight, weight), strict=True) if share for hit in hits}
        assert hybrid.search(query, 50) == [hit for hit in wanted if hit.id in kept]
        assert hybrid.search(query, 2) == hybrid.search(query, 50)[:2]


def test_weight_one_is_dense_and_weight_zero_is_bm25() -> None:
    bm25, dense = BM25(SMALL), Dense(SMALL)
    for query in QUERIES:
        only_words = [hit.id for hit in hybrid_of(SMALL, weight=0).search(query, 10)]
        only_vectors = [hit.id for hit in hybrid_of(SMALL, weight=1).search(query, 10)]
        assert only_words == [hit.id for hit in bm25.search(query, 10)]
        assert only_vectors == [hit.id for hit in dense.search(query, 10)]


def test_names_and_weights_by_name() -> None:
    parts = {"words": BM25(SMALL), "vectors": Dense(SMALL)}
    by_name = Hybrid(parts, weights={"vectors": 0.9, "words": 0.1})
    assert isinstance(by_name, Retriever)
    for query in QUERIES:
        assert by_name.search(query, 5) == Hybrid(list(parts.values()), weights=[0.1, 0.9]).search(query, 5)
    with pytest.raises(RankgaugeError, match="weights are for"):
        Hybrid(parts, weights={"vectors": 1, "word": 1})


def test_ids_and_depth() -> None:
    class Fixed:
        ids = ("a", "b", "c")
        asked: list[int] = []

        def search(self, query: str, k: int) -> list[Hit]:
            self.asked.append(k)
            return [Hit("a", 3), Hit("b", 2), Hit("c", 1)][:k]

    hybrid = Hybrid([Fixed(), BM25(SMALL)], depth=2)
    assert list(hybrid.ids) == ["a", "b", "c", *SMALL]
    assert {hit.id for hit in hybrid.search("zebra", 1)} == {"a"}
    assert len(hybrid.search("zebra", 3)) == 3
    assert Fixed.asked == [2, 3]


def test_threads() -> None:
    hybrid = hybrid_of(SMALL)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: hybrid.search(query, 5), QUERIES * 10))
    assert found == [hybrid.search(query, 5) for query in QUERIES * 10]


def test_better_than_words_alone(data: Path) -> None:
    """On CISI, whose questions share few words with the answers."""
    chosen = collection(data, "cisi")
    bm25, hybrid = BM25(chosen.documents), hybrid_of(chosen.documents)
    assert scores(hybrid, chosen, "AP")["AP"] > scores(bm25, chosen, "AP")["AP"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weight": 1.5}, "weight=1.5 must be a number between 0 and 1"),
        ({"method": "sum"}, "method='sum'"),
        ({"depth": 0}, "depth=0"),
        ({"norm": "max"}, "norm='max'"),
        ({"b": 2}, "b=2"),
        ({"dimensions": 0}, "dimensions=0"),
    ],
)
def test_bad_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        hybrid_of(SMALL, **parameters)  # type: ignore[arg-type]


def test_bad_retrievers() -> None:
    with pytest.raises(RankgaugeError, match="at least one retriever"):
        Hybrid([])
    with pytest.raises(RankgaugeError, match="a hybrid needs a retriever"):
        Hybrid(["bm25"])  # type: ignore[list-item]
