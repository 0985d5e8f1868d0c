"""Maximal marginal relevance against its definition, word for word."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.retrievers import BM25, MMR, Dense, Hit, Retriever
from tests.retrievers.real import SMALL

RNG = np.random.default_rng(3)


class Fixed:
    """A retriever over random vectors that returns all documents, best first."""

    def __init__(self, count: int = 30, width: int = 6) -> None:
        self.vectors = {f"d{i}": RNG.standard_normal(width) for i in range(count)}
        self.ids = tuple(self.vectors)
        scores = sorted(RNG.uniform(0, 9, count), reverse=True)
        self.hits = [Hit(doc, float(score)) for doc, score in zip(self.ids, scores, strict=True)]

    def search(self, query: str, k: int) -> list[Hit]:
        return self.hits[:k]


def cosine(one: np.ndarray, two: np.ndarray) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


def naive(relevance: dict[str, float], vectors: dict[str, np.ndarray], lambda_: float) -> list[tuple[str, float]]:
    """Carbonell and Goldstein's argmax, computed anew for every place."""
    chosen: list[tuple[str, float]] = []
    while len(chosen) < len(relevance):
        values = {
            doc: lambda_ * relevance[doc]
            - (1 - lambda_) * max((cosine(vectors[doc], vectors[other]) for other, _ in chosen), default=-1.0)
            for doc in relevance
            if doc not in dict(chosen)
        }
        best = max(values, key=lambda doc: values[doc])
        chosen.append((best, values[best]))
    return chosen


@pytest.mark.parametrize("lambda_", [0, 0.3, 0.5, 0.9, 1])
@pytest.mark.parametrize("relevance", ["cosine", "scores"])
def test_definition(lambda_: float, relevance: str) -> None:
    base, query = Fixed(), RNG.standard_normal(6)
    mmr = MMR(base, base.vectors, encoder=lambda _: [query], lambda_=lambda_, relevance=relevance)
    low, high = base.hits[-1].score, base.hits[0].score
    relevant = {
        hit.id: cosine(query, base.vectors[hit.id]) if relevance == "cosine" else (hit.score - low) / (high - low)
        for hit in base.hits
    }
    found = mmr.search("query", 30)
    wanted = naive(relevant, base.vectors, lambda_)
    assert [hit.id for hit in found] == [doc for doc, _ in wanted]
    assert [hit.score for hit in found] == pytest.approx([value for _, value in wanted], abs=1e-5)
    assert mmr.search("query", 7) == found[:7]
    assert all(one.score >= two.score for one, two in pairwise(found))


def test_lambda_one_keeps_the_order() -> None:
    dense = Dense(SMALL)
    for query in ("delete a file", "json string", "wait"):
        wanted = [hit.id for hit in dense.search(query, 5)]
        assert [hit.id for hit in MMR(dense, dense, lambda_=1).search(query, 5)] == wanted
        bm25 = BM25(SMALL)
        by_scores = MMR(bm25, dense, lambda_=1, relevance="scores").search(query, 5)
        assert [hit.id for hit in by_scores] == [hit.id for hit in bm25.search(query, 5)]


def test_a_copy_goes_back() -> None:
    corpus = {**SMALL, "copy": SMALL["os.remove"]}
    dense = Dense(corpus)
    assert {hit.id for hit in dense.search("delete a file", 2)} == {"os.remove", "copy"}
    diverse = [hit.id for hit in MMR(dense, dense, lambda_=0.5).search("delete a file", 2)]
    assert len({"os.remove", "copy"} & set(diverse)) == 1


def test_beyond_depth_the_retrievers_order_follows() -> None:
    base = Fixed()
    mmr = MMR(base, base.vectors, relevance="scores", depth=10)
    assert isinstance(mmr, Retriever)
    assert mmr.ids == base.ids
    found = mmr.search("query", 25)
    assert {hit.id for hit in found[:10]} == {hit.id for hit in base.hits[:10]}
    assert [hit.id for hit in found[10:]] == [hit.id for hit in base.hits[10:25]]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert mmr.search("query", 5) == found[:5]


def test_nothing_found_and_equal_scores() -> None:
    dense = Dense(SMALL)
    assert MMR(dense, dense).search("zebra", 3) == []
    base = Fixed(4)
    base.hits = [Hit(doc, 1.0) for doc in base.ids]
    assert MMR(base, base.vectors, relevance="scores", lambda_=1).search("q", 4)[0] == Hit("d0", 1.0)


def test_errors() -> None:
    base = Fixed()
    with pytest.raises(RankgaugeError, match="lambda_=2 must be a number between 0 and 1"):
        MMR(base, base.vectors, lambda_=2)
    with pytest.raises(RankgaugeError, match="needs encoder="):
        MMR(base, base.vectors)
    with pytest.raises(RankgaugeError, match="relevance='both'"):
        MMR(base, base.vectors, relevance="both")
    with pytest.raises(RankgaugeError, match="vectors must be"):
        MMR(base, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError, match="MMR needs a retriever"):
        MMR("bm25", base.vectors)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="document 'd0' has no vector"):
        MMR(base, {"d1": [1.0]}, relevance="scores").search("q", 3)
